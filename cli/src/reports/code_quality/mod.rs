//! The quality of the compiler's code on compute kernels: figures, kept in a text file, compared with older ones and with
//! those of other compilers.
//!
//! Static figures are counted in the binary, executed ones by the model with the kernels' own inputs
//! (`shared/kernels/README.md`).

mod change;
mod column;
mod measure;
mod peers;
mod ratios;
mod table;

pub(crate) use change::Change;
pub(crate) use measure::measure;
pub(crate) use peers::Peers;
pub(crate) use ratios::robust_cost;
pub(crate) use table::Table;
