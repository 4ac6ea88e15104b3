//! Reports: what commands print or write about programs, runs and the hardware tables.

pub(crate) mod code_forms;
pub(crate) mod code_quality;
pub(crate) mod counter_table;
pub(crate) mod descriptor_vectors;
pub(crate) mod executed;
pub(crate) mod fidelity;
pub(crate) mod graphics_quality;
pub(crate) mod open_facts;
pub(crate) mod pressure;
pub(crate) mod reference;
pub(crate) mod report;
pub(crate) mod spent;
pub(crate) mod svd;
pub(crate) mod timeline;
pub(crate) mod waveform;
