//! Runs: jobs from their compilation to their results, in this process, in QEMU, or from a dump.

pub(crate) mod boot;
pub(crate) mod boot_dump;
pub(crate) mod case_run;
pub(crate) mod checked;
pub(crate) mod checking;
pub(crate) mod color_state;
pub(crate) mod debug_protocol;
pub(crate) mod debugged;
pub(crate) mod debugged_dump;
pub(crate) mod demo;
pub(crate) mod dispatch;
pub(crate) mod drawings;
pub(crate) mod drawn_checks;
pub(crate) mod every_gpu;
pub(crate) mod host;
pub(crate) mod host_model;
pub(crate) mod ir3_case;
pub(crate) mod job_clock;
pub(crate) mod parallel;
pub(crate) mod printf;
pub(crate) mod qemu;
pub(crate) mod qmp;
pub(crate) mod replay;
pub(crate) mod screen;
pub(crate) mod tail;
pub(crate) mod work_progress;
