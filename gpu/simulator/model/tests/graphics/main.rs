//! Captured submissions of an unmodified PanVK, drawn by the model.
//!
//! A case is one of `../shared/hardware/worked`: memory and registers of each job as recorded. Its jobs run one after another,
//! the last one reads the image back, and the picture is compared with the recorded one. Skipped where `../shared` is missing.
//! Facts: hardware/worked/README.md "Executing a case from its JSON".

#[path = "../bench/mod.rs"]
mod bench;

mod capture;
mod damaged;
mod heap;
mod pictures;
mod player;
mod reference;
mod units;
