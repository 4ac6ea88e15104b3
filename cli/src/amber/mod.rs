//! Amber scripts on Eitri: what `eitri amber` is made of.
//!
//! A script is run in a process of its own (`workers` starts it, `case` is what it does), so that none can take others
//! down. The language itself is the crate `eitri-amber`; this is the device behind it.

mod assembly_lines;
pub(crate) mod case;
mod compile;
pub(crate) mod debugged;
pub(crate) mod expectations;
pub(crate) mod host_scripts;
mod jobs;
mod keep;
mod lacks;
mod older_glslang;
pub(crate) mod outputs;
mod picture;
pub(crate) mod report;
pub(crate) mod results;
pub(crate) mod scripts;
mod shader;
pub(crate) mod source;
pub(crate) mod status;
pub(crate) mod suite;
pub(crate) mod verdict;
pub(crate) mod workers;
