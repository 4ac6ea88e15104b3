//! Links the image for the board that `EITRI_BOARD` names, with the scripts that `EITRI_SUITE` names in it.

fn main() {
    eitri_linker::link_for_board();
    // An image without scripts says so when it runs.
    eitri_linker::put_in("EITRI_SUITE", "scripts.suite");
}
