//! The interface in memory that host and firmware share: control, input and output blocks, and how they shake hands.
//!
//! Control blocks are read-only for the host and say where the others are. The host writes input blocks, firmware
//! writes output blocks. Only the first group control (0x1000) and the first stream control inside it (0x40) are at
//! fixed places: all else by the counts, strides and addresses that the control blocks give.
//! Facts: hardware/csf-firmware.md sections 6 to 11.

// What the firmware says of itself.
pub mod control;

// Requests and answers, from the whole down to a stream.
pub mod global;

pub mod group;

pub mod stream;

pub mod user_pages;

pub mod sync_object;

// The rules that request and acknowledge words follow.
pub mod handshake;

use crate::table::Block;

/// All blocks of the interface.
pub static BLOCKS: [&Block; 13] = [
    &control::GLB_CONTROL,
    &control::GROUP_CONTROL,
    &control::STREAM_CONTROL,
    &global::GLB_INPUT,
    &global::GLB_OUTPUT,
    &group::CSG_INPUT,
    &group::CSG_OUTPUT,
    &stream::CS_KERNEL_INPUT,
    &stream::CS_KERNEL_OUTPUT,
    &user_pages::CS_USER_INPUT_PAGE,
    &user_pages::CS_USER_OUTPUT_PAGE,
    &sync_object::SYNC64,
    &sync_object::SYNC32,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_differ_from_registers() {
        let mut names = std::collections::BTreeSet::new();
        let blocks = BLOCKS.iter().chain(&crate::registers::BLOCKS);
        for row in blocks.flat_map(|block| block.registers) {
            assert!(names.insert(row.name), "{}", row.name);
        }
    }
}
