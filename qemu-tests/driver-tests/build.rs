//! Links the image for the board that `EITRI_BOARD` names, with the files of `EITRI_FIRMWARE` (the GPU's) and `EITRI_PROGRAM` (all
//! programs that the tests run) in it.

fn main() {
    eitri_linker::link_for_board();
    eitri_linker::put_in("EITRI_FIRMWARE", "firmware");
    eitri_linker::put_in("EITRI_PROGRAM", "programs");
}
