//! Links the image for the board that `EITRI_BOARD` names, with the drawings that `EITRI_DRAWINGS` names in it;
//! where `EITRI_SHOWN` is set, the first of them is shown.

fn main() {
    eitri_linker::link_for_board();
    // An image without drawings says so when it runs.
    eitri_linker::put_in("EITRI_DRAWINGS", "drawings.suite");
    // Nothing of displays is in an image that shows nothing.
    eitri_linker::put_in("EITRI_SHOWN", "shown");
}
