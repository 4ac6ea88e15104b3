//! Power sequences and watchdogs, on fakes, and against the sequences that the facts state.

mod cix_p1;
mod every_board;
mod fake;
mod imx95;
mod mt8196;
mod rk3588;
mod runner;
mod watchdog;
