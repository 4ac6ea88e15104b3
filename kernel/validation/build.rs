//! Links the image for the board that `EITRI_BOARD` names, with the GPU's firmware that `EITRI_FIRMWARE` names in it, and the
//! scripts that `EITRI_SUITE` does.

fn main() {
    eitri_linker::link_for_board();
    // An image without it says so when it runs.
    eitri_linker::put_in("EITRI_FIRMWARE", "firmware");
    eitri_linker::put_in("EITRI_SUITE", "scripts.suite");
}
