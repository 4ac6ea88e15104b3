//! The quality of the compiler's code on the shaders of drawn scenes: a row a program, beside PanVK's figures for it.
//!
//! PanVK's figures are static (`shared/scenes/PEERS.md`). What its programs would execute is estimated from them: where neither
//! program has a loop, as many warps as ours times what its code costs.

mod peers;
mod table;

pub(crate) use peers::Peers;
pub(crate) use table::{Measured, Program, Table};
