//! Power sequences and watchdogs, on fakes, and against the sequences that the facts state.

mod fake;
mod imx95;
mod rk3588;
mod runner;
mod watchdog;
