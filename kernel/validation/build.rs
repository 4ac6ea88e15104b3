//! Links the image for the board that `EITRI_BOARD` names, with the GPU's firmware that `EITRI_FIRMWARE` names in it.

fn main() {
    eitri_linker::link_for_board();
    // An image without it says so when it runs.
    eitri_linker::put_in("EITRI_FIRMWARE", "firmware");
}
