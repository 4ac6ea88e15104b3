//! Back end: from lowered IR to Valhall machine code.
//!
//! `pipeline` is the page to read first: every pass, in order, and why in that order.
#![allow(dead_code)]

mod allocate;
mod isolate_groups;
mod liveness;
mod lower_phis;
mod mir;
mod split_edges;
