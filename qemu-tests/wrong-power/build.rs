//! Links the image for the board that `EITRI_BOARD` names.

fn main() {
    eitri_linker::link_for_board();
}
