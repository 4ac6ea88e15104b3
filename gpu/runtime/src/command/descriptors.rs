//! Descriptors that a dispatch needs, as words.
//!
//! Facts: hardware/descriptors.md sections 3, 4, 5 and 11.

use eitri_program::RegisterFile;

/// Bytes of a buffer, shader program or local storage descriptor.
pub(super) const DESCRIPTOR_BYTES: u64 = 32;
/// Bytes of an entry of the resource table.
pub(super) const RESOURCE_BYTES: u64 = 16;

fn split(address: u64) -> [u32; 2] {
    [address as u32, (address >> 32) as u32]
}

/// A buffer of `bytes` at `address`.
pub(super) fn buffer(address: u64, bytes: u32) -> [u32; 8] {
    let [low, high] = split(address);
    [9 | 1 << 4, bytes, low, high, 0, 0, 0, 0]
}

/// A table of `bytes` of descriptors at `address`.
pub(super) fn resource(address: u64, bytes: u32) -> [u32; 4] {
    let [low, high] = split(address);
    [low, high | 1 << 24, bytes, 0]
}

/// A compute shader.
pub(super) fn shader_program(address: u64, registers: RegisterFile, preload: u16) -> [u32; 8] {
    let [low, high] = split(address);
    let allocation = match registers {
        RegisterFile::Full => 0,
        RegisterFile::Half => 2,
    };
    [
        8 | 1 << 4 | allocation << 30,
        u32::from(preload),
        low,
        high,
        0,
        0,
        0,
        0,
    ]
}

/// Thread-local memory: log2 of bytes a thread / 16, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThreadStorage {
    pub(super) address: u64,
    pub(super) size_log2: u32,
}

/// Workgroup memory: log2 of instances a core, log2 of bytes an instance, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WorkgroupStorage {
    pub(super) address: u64,
    pub(super) instances_log2: u32,
    pub(super) size_log2: u32,
}

/// Local storage of a job.
pub(super) fn local_storage(
    thread: Option<ThreadStorage>,
    workgroup: Option<WorkgroupStorage>,
) -> [u32; 8] {
    let (w0, [w2, w3]) = match thread {
        None => (0, [0, 0]),
        Some(it) => {
            let [low, high] = split(it.address >> 8);
            (it.size_log2, [low, high | 1 << 28])
        }
    };
    let (w1, [w4, w5]) = match workgroup {
        None => (31, [0, 0]),
        Some(it) => (
            it.instances_log2 | (it.size_log2 + 1) << 8,
            split(it.address),
        ),
    };
    [w0, w1, w2, w3, w4, w5, 0, 0]
}
