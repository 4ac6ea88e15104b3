//! The runtime on the model, as an embedder uses it: what becomes of jobs, queues, memory and the device when things go
//! well, and when they do not.

#![allow(
    clippy::result_large_err,
    reason = "the runtime's errors carry what was seen"
)]

mod bench;

mod coherency;
mod commands;
mod counters;
mod dump;
mod events_and_transfers;
mod flushes;
mod given;
mod heap;
mod injections;
mod left_in_use;
mod memory;
mod outcomes;
mod power;
mod recovery;
mod scheduling;
mod security;
mod semaphores;
mod soak;
mod timing;
