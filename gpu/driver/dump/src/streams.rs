//! Streams: what the firmware's interface says of each stream now, for tools that watch a GPU.
//!
//! Guarantees: bounded, whatever the interface holds.  Facts: hardware/csf-firmware.md 9 to 11.

use crate::interface::Interface;
use crate::note::Ring;
use crate::source::Source;
use crate::walk::Space;
use alloc::vec::Vec;
use eitri_csf::interface::group::CsgState;
use eitri_csf::table::{Register, Width};

/// A stream that the host has asked to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamNow {
    /// The group slot.
    pub slot: u32,
    /// The number of the stream in its group.
    pub stream: u32,
    /// The address space that the group works in.
    pub space: Space,
    /// The state that the host wants of the group; `None` for a number that is no state.
    pub requested: Option<CsgState>,
    /// The state that the group has reached.
    pub reached: Option<CsgState>,
    /// Its ring.
    pub ring: Ring,
    /// GPU addresses of the user pages in address space 0: input, output.
    pub user_pages: [u64; 2],
}

/// The streams of all slots that the host has asked to start; none before the firmware has booted.
pub fn streams<S: Source>(source: &mut S) -> Vec<StreamNow> {
    let mut found = Vec::new();
    let firmware = space(source, 0);
    let Some(interface) = Interface::find(firmware, source) else {
        return found;
    };
    for slot in 0..interface.groups() {
        let group = interface.group(source, slot);
        if !interface.is_group_used(source, &group) {
            continue;
        }
        let asked = interface.asked_of(source, &group);
        let space = space(source, asked.space);
        for stream in 0..interface.streams(source, &group) {
            let blocks = interface.stream(source, &group, stream);
            if !interface.is_stream_started(source, &blocks) {
                continue;
            }
            found.push(StreamNow {
                slot,
                stream,
                space,
                requested: asked.requested,
                reached: asked.reached,
                ring: interface.ring(source, &blocks),
                user_pages: interface.user_pages(source, &blocks),
            });
        }
    }
    found
}

/// An address space, by its registers.
fn space(source: &mut impl Source, number: u8) -> Space {
    Space::read(number, &mut |row: Register| {
        let low = source.register(row.offset);
        let high = match row.width {
            Width::Bits32 => 0,
            Width::Bits64 => source.register(row.offset + 4),
        };
        u64::from(high) << 32 | u64::from(low)
    })
}
