//! Registers: how many threads get of them, and which values share one.

pub(super) mod share_registers;

pub(super) mod allocate;
