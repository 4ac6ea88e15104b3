//! The firmware's interface, found through address space 0: where the blocks of groups and streams lie.
//!
//! The firmware may have crashed and the words may be anything: counts are bounded, and a block that can't be read is left out.
//! Facts: hardware/csf-firmware.md sections 6 to 10.

use crate::note::{NONE, Ring};
use crate::source::Memory;
use crate::walk::{Space, read_virtual};
use eitri_csf::interface::control::{
    GLB_CONTROL, GLB_GROUP_NUM, GLB_GROUP_STRIDE, GLB_INPUT_VA, GLB_OUTPUT_VA, GLB_VERSION,
    GROUP_CONTROL, GROUP_CONTROL_OFFSET, GROUP_INPUT_VA, GROUP_OUTPUT_VA, GROUP_STREAM_NUM,
    GROUP_STREAM_STRIDE, GROUPS, SHARED_VA, STREAM_CONTROL, STREAM_CONTROL_OFFSET, STREAM_INPUT_VA,
    STREAM_OUTPUT_VA, STREAMS, glb_group_num, group_stream_num,
};
use eitri_csf::interface::global::{GLB_INPUT, GLB_OUTPUT};
use eitri_csf::interface::group::{
    CSG_ACK, CSG_CONFIG, CSG_INPUT, CSG_OUTPUT, CSG_REQ, CsgState, csg_config, csg_req,
};
use eitri_csf::interface::stream::{
    CS_ACK, CS_BASE, CS_KERNEL_INPUT, CS_KERNEL_OUTPUT, CS_REQ, CS_SIZE, CS_USER_INPUT,
    CS_USER_OUTPUT,
};
#[cfg(feature = "alloc")]
use eitri_csf::interface::stream::{CsState, cs_req};
use eitri_csf::interface::user_pages::{CS_EXTRACT, CS_INSERT};
use eitri_csf::table::{Block, Register, Width};

/// Three blocks that belong together: control, input, output; `None` where one is not in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    addresses: [Option<u64>; 3],
    tables: [&'static Block; 3],
}

/// The interface of a booted firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interface {
    space: Space,
    groups: u32,
    group_stride: u64,
}

/// What the host asks of a group.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Its address space.
    pub(crate) space: u8,
    /// The state that the host wants.
    pub(crate) requested: Option<CsgState>,
    /// The state that it has reached.
    pub(crate) reached: Option<CsgState>,
}

/// Where a word of a block at `address` lies.
fn word(space: &Space, memory: &mut impl Memory, address: u64, row: Register) -> Option<u64> {
    let mut bytes = [0; 8];
    let width = row.width.bytes() as usize;
    let at = address.checked_add(row.offset.into())?;
    read_virtual(space, memory, at, bytes.get_mut(..width)?).ok()?;
    Some(u64::from_le_bytes(bytes))
}

impl Blocks {
    fn new(
        space: &Space,
        memory: &mut impl Memory,
        addresses: [Option<u64>; 3],
        tables: [&'static Block; 3],
    ) -> Blocks {
        let mut blocks = Blocks { addresses, tables };
        for (address, table) in blocks.addresses.iter_mut().zip(tables) {
            let rows = table.registers;
            let readable = |at: u64, memory: &mut _| {
                rows.iter()
                    .all(|row| word(space, memory, at, row.at(row.count - 1)).is_some())
            };
            *address = address.filter(|at| readable(*at, memory));
        }
        blocks
    }

    /// Tells the words of block `which`: offset in the block, value.
    pub(crate) fn tell(
        &self,
        space: &Space,
        memory: &mut impl Memory,
        which: usize,
        tell: &mut dyn FnMut(u32, u32),
    ) {
        let (address, table) = (self.addresses.get(which), self.tables.get(which));
        let (Some(Some(at)), Some(table)) = (address.copied(), table) else {
            return;
        };
        for row in table.registers {
            for index in 0..row.count {
                let row = row.at(index);
                // It could be read when it was looked for; what became unreadable since reads as all ones, as on a bus.
                let value = word(space, memory, at, row).unwrap_or(u64::MAX);
                tell(row.offset, value as u32);
                if row.width == Width::Bits64 {
                    tell(row.offset + 4, (value >> 32) as u32);
                }
            }
        }
    }

    fn get(&self, space: &Space, memory: &mut impl Memory, which: usize, row: Register) -> u64 {
        let address = self.addresses.get(which).copied().flatten();
        address
            .and_then(|at| word(space, memory, at, row))
            .unwrap_or(0)
    }
}

/// What a block is, in [`Blocks`].
pub(crate) const INPUT: usize = 1;
const OUTPUT: usize = 2;

impl Interface {
    /// The interface in address space 0; `None` if the firmware has not booted or its shared section is not there.
    pub(crate) fn find(space: Space, memory: &mut impl Memory) -> Option<Interface> {
        let get = |row, memory: &mut _| word(&space, memory, SHARED_VA.into(), row);
        if get(GLB_VERSION, memory)? == 0 {
            return None;
        }
        let groups = glb_group_num::GROUPS.get(get(GLB_GROUP_NUM, memory)?);
        Some(Interface {
            space,
            groups: groups.min(*GROUPS.end()),
            group_stride: get(GLB_GROUP_STRIDE, memory)?,
        })
    }

    pub(crate) fn space(&self) -> &Space {
        &self.space
    }

    pub(crate) fn groups(&self) -> u32 {
        self.groups
    }

    /// The blocks of the whole.
    pub(crate) fn global(&self, memory: &mut impl Memory) -> Blocks {
        let shared = u64::from(SHARED_VA);
        let mut at = |row| word(&self.space, memory, shared, row);
        let addresses = [Some(shared), at(GLB_INPUT_VA), at(GLB_OUTPUT_VA)];
        let tables = [&GLB_CONTROL, &GLB_INPUT, &GLB_OUTPUT];
        Blocks::new(&self.space, memory, addresses, tables)
    }

    /// The blocks of group slot `slot`.
    pub(crate) fn group(&self, memory: &mut impl Memory, slot: u32) -> Blocks {
        let control = u64::from(SHARED_VA)
            + u64::from(GROUP_CONTROL_OFFSET)
            + u64::from(slot) * self.group_stride;
        let mut at = |row| word(&self.space, memory, control, row);
        let addresses = [Some(control), at(GROUP_INPUT_VA), at(GROUP_OUTPUT_VA)];
        let tables = [&GROUP_CONTROL, &CSG_INPUT, &CSG_OUTPUT];
        Blocks::new(&self.space, memory, addresses, tables)
    }

    /// How many streams a group has.
    pub(crate) fn streams(&self, memory: &mut impl Memory, group: &Blocks) -> u32 {
        let count = group.get(&self.space, memory, 0, GROUP_STREAM_NUM);
        group_stream_num::STREAMS.get(count).min(*STREAMS.end())
    }

    /// The blocks of a stream.
    pub(crate) fn stream(&self, memory: &mut impl Memory, group: &Blocks, stream: u32) -> Blocks {
        let stride = group.get(&self.space, memory, 0, GROUP_STREAM_STRIDE);
        let control = group.addresses[0].map(|at| {
            at.saturating_add(STREAM_CONTROL_OFFSET.into())
                .saturating_add(stride.saturating_mul(stream.into()))
        });
        let mut at = |row| control.and_then(|control| word(&self.space, memory, control, row));
        let addresses = [control, at(STREAM_INPUT_VA), at(STREAM_OUTPUT_VA)];
        let tables = [&STREAM_CONTROL, &CS_KERNEL_INPUT, &CS_KERNEL_OUTPUT];
        Blocks::new(&self.space, memory, addresses, tables)
    }

    /// Whether a group was ever asked for anything.
    pub(crate) fn is_group_used(&self, memory: &mut impl Memory, group: &Blocks) -> bool {
        group.get(&self.space, memory, INPUT, CSG_REQ) != 0
            || group.get(&self.space, memory, OUTPUT, CSG_ACK) != 0
    }

    /// The address space of a group that is on its slot; [`NONE`] otherwise.
    pub(crate) fn space_of(&self, memory: &mut impl Memory, group: &Blocks) -> u32 {
        let ack = group.get(&self.space, memory, OUTPUT, CSG_ACK);
        let config = group.get(&self.space, memory, INPUT, CSG_CONFIG);
        match csg_req::STATE.get(ack) {
            Some(CsgState::Start | CsgState::Resume) => csg_config::JASID.get(config),
            _ => NONE,
        }
    }

    /// What the host asks of a group, and how far it is.
    #[cfg(feature = "alloc")]
    pub(crate) fn asked_of(&self, memory: &mut impl Memory, group: &Blocks) -> Asked {
        let config = group.get(&self.space, memory, INPUT, CSG_CONFIG);
        let req = group.get(&self.space, memory, INPUT, CSG_REQ);
        let ack = group.get(&self.space, memory, OUTPUT, CSG_ACK);
        Asked {
            // A field of four bits.
            space: csg_config::JASID.get(config) as u8,
            requested: csg_req::STATE.get(req),
            reached: csg_req::STATE.get(ack),
        }
    }

    /// Whether the host asks for a stream to run.
    #[cfg(feature = "alloc")]
    pub(crate) fn is_stream_started(&self, memory: &mut impl Memory, stream: &Blocks) -> bool {
        let req = stream.get(&self.space, memory, INPUT, CS_REQ);
        cs_req::STATE.get(req) == Some(CsState::Start)
    }

    /// The user pages of a stream: input, output.
    #[cfg(feature = "alloc")]
    pub(crate) fn user_pages(&self, memory: &mut impl Memory, stream: &Blocks) -> [u64; 2] {
        [CS_USER_INPUT, CS_USER_OUTPUT].map(|row| stream.get(&self.space, memory, INPUT, row))
    }

    /// Whether a stream was ever asked for anything.
    pub(crate) fn is_stream_used(&self, memory: &mut impl Memory, stream: &Blocks) -> bool {
        stream.get(&self.space, memory, INPUT, CS_REQ) != 0
            || stream.get(&self.space, memory, OUTPUT, CS_ACK) != 0
            || stream.get(&self.space, memory, INPUT, CS_BASE) != 0
    }

    /// The ring of a stream; positions are 0 where the user pages can't be read.
    pub(crate) fn ring(&self, memory: &mut impl Memory, stream: &Blocks) -> Ring {
        let mut input = |row| stream.get(&self.space, memory, INPUT, row);
        let (address, bytes) = (input(CS_BASE), input(CS_SIZE));
        let (user_input, user_output) = (input(CS_USER_INPUT), input(CS_USER_OUTPUT));
        let mut page = |at, row| word(&self.space, memory, at, row).unwrap_or(0);
        Ring {
            address,
            bytes,
            insert: page(user_input, CS_INSERT),
            extract: page(user_output, CS_EXTRACT),
        }
    }
}
