//! Puts the image that `EITRI_IMAGE` names into the application, with the name of the board that it is for.

fn main() {
    eitri_linker::target();
    eitri_linker::put_in("EITRI_IMAGE", "image");
}
