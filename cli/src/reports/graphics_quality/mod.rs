//! The quality of the compiler's code on the shaders of drawn scenes: a row a program, beside PanVK's figures for it.
//!
//! PanVK's figures for programs are static (`shared/scenes/PEERS.md`). What they execute was measured where PanVK drew the scenes on
//! the model (`testdata/data/panvk-executed.json`).

mod peer_executed;
mod peers;
mod table;

pub(crate) use peer_executed::PeerExecuted;
pub(crate) use peers::Peers;
pub(crate) use table::{Measured, Program, Table};
