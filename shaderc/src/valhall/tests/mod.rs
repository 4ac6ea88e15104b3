//! Tests of passes on small programs as text and on random functions.

mod allocate;
mod graphics;
pub(super) mod random_function;
mod select;
mod share_registers;
mod shared;
mod spill;
mod split_vertex;
mod textures;
pub(super) mod waits;
