//! Back end: from lowered IR to Valhall machine code.
//!
//! `pipeline` is the page to read first: every pass, in order, and why in that order.
#![allow(dead_code)]

mod error;
mod pack;
mod pipeline;
mod mir;

mod select;

mod propagate_copies;
mod remove_dead;
mod legalise;
mod share_values;

mod split_edges;
mod lower_phis;
mod isolate_groups;
mod liveness;
mod allocate;
mod lower_branches;
mod scoreboard;
mod assign_slots;
mod insert_waits;
mod insert_flow;
mod mark_last_use;
mod check_waits;

#[cfg(test)]
mod random_function;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_select;
