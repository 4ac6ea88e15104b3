//! An unmodified Linux under the EL2 monitor, with the model as its GPU.
//!
//! Kernel, firmware and user-space driver come from Debian's packages for arm64 ([`debian`]), unpacked beside the build and never
//! installed. What a command needs of them ([`root`]) goes into an initial RAM file system ([`initramfs`]); QEMU's own device tree
//! gains the GPU ([`device_tree`]); [`machine`] boots it all.
//! Facts: hardware/csf-mmio.md 1 (the binding), hardware/boards.md 4.

pub(crate) mod debian;
mod device_tree;
mod expected;
mod extra;
mod fault_dump;
mod faults;
mod initramfs;
mod kernel_modules;
mod libraries;
pub(crate) mod machine;
mod now;
mod programs;
mod record;
pub(crate) mod root;
pub(crate) mod runner;
mod screen;
mod watch;
