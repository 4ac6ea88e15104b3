//! Links the image for the board that `EITRI_BOARD` names, with the job that `EITRI_JOB` names in it, and what of that is shown, which
//! `EITRI_SHOWN` names.

fn main() {
    eitri_linker::link_for_board();
    eitri_linker::put_in("EITRI_JOB", "job.bundle");
    eitri_linker::put_in("EITRI_SHOWN", "shown");
}
