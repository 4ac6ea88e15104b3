//! The user pages of a stream: where the ring is filled and emptied. One 4 KiB page each, in address space 0.
//!
//! Offsets only grow and are never wrapped: the place in the ring is `offset & (CS_SIZE - 1)`.
//! Facts: hardware/csf-firmware.md section 10.

use crate::table::{fields, registers};

fields! {
    /// `CS_ACTIVE`.
    cs_active {
        0 ACTIVE: bool = "a hardware interface works on the stream";
    }
}

registers! {
    /// User input, written by the host.
    block CS_USER_INPUT_PAGE Shared 0 = "ring position of the host";
    0x0 CS_INSERT       64 RW V10 Modelled - "byte offset up to which the ring is filled; only grows";
    0x8 CS_EXTRACT_INIT 64 RW V10 Modelled - "where to start reading when the stream is started";
}

registers! {
    /// User output, written by the hardware.
    block CS_USER_OUTPUT_PAGE Shared 0 = "ring position of the hardware";
    0x0 CS_EXTRACT 64 R V10 Modelled -         "byte offset up to which the ring was consumed; says nothing about completion";
    0x8 CS_ACTIVE  32 R V10 Modelled cs_active "whether the hardware works on the stream";
}
