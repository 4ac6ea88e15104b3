//! Links the image for the board that `EITRI_BOARD` names, with the files of `EITRI_FIRMWARE` (such as the vendor's
//! `mali_csffw.bin`), `EITRI_VERTEX_PROGRAM` and `EITRI_FRAGMENT_PROGRAM` (cube.vert and cube.frag, compiled) in it.

fn main() {
    eitri_linker::link_for_board();
    eitri_linker::put_in("EITRI_FIRMWARE", "firmware");
    eitri_linker::put_in("EITRI_VERTEX_PROGRAM", "vertex");
    eitri_linker::put_in("EITRI_FRAGMENT_PROGRAM", "fragment");
}
