//! The tests, by what they are about.

pub(crate) mod caches;
pub(crate) mod clock;
pub(crate) mod counters;
pub(crate) mod graphics;
pub(crate) mod interrupts;
pub(crate) mod memory;
pub(crate) mod mmu;
pub(crate) mod power;
pub(crate) mod queues;
pub(crate) mod recovery;
pub(crate) mod registers;
pub(crate) mod shader;
pub(crate) mod soak;
pub(crate) mod streams;
