//! Workers: threads that a host lends the model, to execute workgroups ahead of their turn.
//!
//! The model is `no_std` and starts no thread. What it computes by workers it takes over only where one thread would have come to the
//! same (`work/ahead`), so nothing that can be seen depends on how many there are or on when they run.

use core::fmt::Debug;

/// Something that a worker does once.
pub type Task<'a> = &'a mut (dyn FnMut() + Send);

/// Threads of the host.
pub trait Workers: Debug + Send + Sync {
    /// How many run side by side, the caller's own included.
    fn count(&self) -> usize;

    /// Calls each task once, on any thread and in any order, and returns when all have returned.
    fn run(&self, tasks: &mut [Task<'_>]);
}
