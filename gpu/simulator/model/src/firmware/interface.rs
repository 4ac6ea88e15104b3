//! The interface in shared memory as the firmware knows it: where its blocks are, and how it reads and writes words.
//!
//! Guarantees: after [`Interface::read`] every block lies inside the shared section; the layout is the image's own and is
//! read once, at boot, so that a host that overwrites control blocks later changes nothing.
//!
//! Facts: hardware/csf-firmware.md 6 and 7.

use crate::diagnosis::FirmwareMisuse;
use crate::fabric::{Access, Fabric};
use crate::memory::PhysicalMemory;
use crate::mmu::{MCU_SPACE, Refusal, Source};
use alloc::vec::Vec;
use eitri_csf::interface::control::{
    GLB_FEATURES, GLB_GROUP_NUM, GLB_GROUP_STRIDE, GLB_INPUT_VA, GLB_INSTR_FEATURES, GLB_OUTPUT_VA,
    GLB_PRFCNT_SIZE, GLB_VERSION, GROUP_CONTROL_OFFSET, GROUP_FEATURES, GROUP_INPUT_VA,
    GROUP_OUTPUT_VA, GROUP_PROTM_SUSPEND_SIZE, GROUP_STREAM_NUM, GROUP_STREAM_STRIDE,
    GROUP_SUSPEND_SIZE, GROUPS, SHARED_VA, SHARED_VA_END, STREAM_CONTROL_OFFSET, STREAM_FEATURES,
    STREAM_INPUT_VA, STREAM_OUTPUT_VA, STREAMS, glb_prfcnt_size, stream_features,
};
use eitri_csf::interface::global::{GLB_INPUT, GLB_OUTPUT};
use eitri_csf::interface::group::{CSG_INPUT, CSG_OUTPUT};
use eitri_csf::interface::stream::{CS_KERNEL_INPUT, CS_KERNEL_OUTPUT};
use eitri_csf::table::{Block, Register, Width};

/// Bytes of a suspend buffer; any page-ish number serves a host that reads it.
pub(super) const SUSPEND_BYTES: u32 = 0x1000;

/// Why the firmware cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// An access waits for the lock of its address space: try again later.
    Wait,
    /// The microcontroller crashes.
    Crash,
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Stop {
        match refusal {
            Refusal::Stalled(_) => Stop::Wait,
            Refusal::Fault(_) | Refusal::Bus(_) => Stop::Crash,
        }
    }
}

/// An input or output block, by its address in the firmware's space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockAt(pub(crate) u32);

/// The blocks of one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamBlocks {
    pub(crate) input: BlockAt,
    pub(crate) output: BlockAt,
}

/// The blocks of one group slot.
#[derive(Clone, Debug)]
pub(crate) struct GroupBlocks {
    pub(crate) input: BlockAt,
    pub(crate) output: BlockAt,
    pub(crate) streams: Vec<StreamBlocks>,
}

/// Where everything is.
#[derive(Clone, Debug)]
pub(crate) struct Interface {
    pub(crate) input: BlockAt,
    pub(crate) output: BlockAt,
    pub(crate) groups: Vec<GroupBlocks>,
}

/// An access of the microcontroller.
pub(crate) fn mcu_access(address: u32) -> Access {
    Access {
        space: MCU_SPACE,
        address: address.into(),
        source: Source::Mcu,
    }
}

/// The firmware's view of memory.
pub(crate) struct Words<'a> {
    pub(crate) fabric: &'a mut Fabric,
    pub(crate) memory: &'a mut dyn PhysicalMemory,
}

impl Words<'_> {
    /// The value of a word, 32 or 64 bits, of a block.
    pub(crate) fn get(&mut self, block: BlockAt, word: Register) -> Result<u64, Stop> {
        let access = mcu_access(block.0.wrapping_add(word.offset));
        Ok(match word.width {
            Width::Bits32 => self.fabric.read32(self.memory, access)?.into(),
            Width::Bits64 => self.fabric.read64(self.memory, access)?,
        })
    }

    /// The value of a 32-bit word of a block.
    pub(crate) fn get32(&mut self, block: BlockAt, word: Register) -> Result<u32, Stop> {
        self.get(block, word).map(|value| value as u32)
    }

    /// Sets a word of a block.
    pub(crate) fn set(&mut self, block: BlockAt, word: Register, value: u64) -> Result<(), Stop> {
        let access = mcu_access(block.0.wrapping_add(word.offset));
        let bytes = value.to_le_bytes();
        let bytes = match word.width {
            Width::Bits32 => &bytes[..4],
            Width::Bits64 => &bytes[..],
        };
        Ok(self.fabric.write(self.memory, access, bytes)?)
    }

    pub(crate) fn set32(&mut self, block: BlockAt, word: Register, value: u32) -> Result<(), Stop> {
        self.set(block, word, value.into())
    }

    /// Reports an answer that the host has written over, and writes it again.
    pub(crate) fn defend(
        &mut self,
        block: BlockAt,
        word: Register,
        expected: u32,
    ) -> Result<(), Stop> {
        let found = self.get32(block, word)?;
        if found != expected {
            self.fabric.journal.report(FirmwareMisuse::OutputWritten {
                word: word.name,
                expected,
                found,
            });
            self.set32(block, word, expected)?;
        }
        Ok(())
    }

    /// Reports events of `mask` that are acknowledged though they were never raised; `raised` keeps those still open.
    pub(crate) fn check_events(
        &mut self,
        word: Register,
        req: u32,
        ack: u32,
        mask: u32,
        raised: &mut u32,
    ) {
        let open = (req ^ ack) & mask;
        *raised &= open;
        let bits = open & !*raised;
        if bits != 0 {
            self.fabric
                .journal
                .report(FirmwareMisuse::UnexpectedEventAck {
                    word: word.name,
                    bits,
                });
        }
    }

    /// The 64-bit word at an address that the host chose, in the firmware's space.
    pub(crate) fn get_at(&mut self, address: u64) -> Result<u64, Refusal> {
        let access = Access {
            address,
            ..mcu_access(0)
        };
        self.fabric.read64(self.memory, access)
    }

    /// Writes to an address that the host chose, in the firmware's space.
    pub(crate) fn set_at(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refusal> {
        let access = Access {
            address,
            ..mcu_access(0)
        };
        self.fabric.write(self.memory, access, bytes)
    }
}

/// Bytes from a block's start to the end of its last word.
fn length(block: &Block) -> u32 {
    let end = |word: &Register| word.at(word.count - 1).offset + word.width.bytes();
    block.registers.iter().map(end).max().unwrap_or(0)
}

impl Interface {
    /// Reads the layout that the image left in the shared section and fills in what only running firmware knows.
    ///
    /// # Errors
    /// If the blocks are out of range (diagnosed), or memory cannot be used.
    pub(super) fn read(words: &mut Words<'_>) -> Result<Interface, Stop> {
        let global = BlockAt(SHARED_VA);
        let version = words.fabric.interface;
        let count = words.get32(global, GLB_GROUP_NUM)?;
        let stride = words.get32(global, GLB_GROUP_STRIDE)?;
        check(words, GLB_GROUP_NUM, count, GROUPS.contains(&count))?;
        check(words, GLB_GROUP_STRIDE, stride, is_stride(stride))?;
        let input = block(words, global, GLB_INPUT_VA, &GLB_INPUT)?;
        let output = block(words, global, GLB_OUTPUT_VA, &GLB_OUTPUT)?;
        let mut groups = Vec::new();
        for number in 0..count {
            let control = BlockAt(SHARED_VA + GROUP_CONTROL_OFFSET + number * stride);
            groups.push(GroupBlocks::read(words, control)?);
        }
        words.set32(global, GLB_FEATURES, 0)?;
        let layout = words.fabric.config.product.samples();
        let firmware = layout.bytes() - layout.hardware_bytes();
        let samples = glb_prfcnt_size::HARDWARE.word(layout.hardware_bytes() / 256);
        let samples = glb_prfcnt_size::FIRMWARE.set32(samples, firmware / 256);
        words.set32(global, GLB_PRFCNT_SIZE, samples)?;
        words.set32(global, GLB_INSTR_FEATURES, 0x71)?;
        words.set32(global, GLB_VERSION, version.word())?;
        Ok(Interface {
            input,
            output,
            groups,
        })
    }
}

impl GroupBlocks {
    fn read(words: &mut Words<'_>, control: BlockAt) -> Result<GroupBlocks, Stop> {
        let count = words.get32(control, GROUP_STREAM_NUM)?;
        let stride = words.get32(control, GROUP_STREAM_STRIDE)?;
        check(words, GROUP_STREAM_NUM, count, STREAMS.contains(&count))?;
        check(words, GROUP_STREAM_STRIDE, stride, is_stride(stride))?;
        let input = block(words, control, GROUP_INPUT_VA, &CSG_INPUT)?;
        let output = block(words, control, GROUP_OUTPUT_VA, &CSG_OUTPUT)?;
        let product = words.fabric.config.product;
        let features =
            stream_features::REGISTERS_MINUS_1.word(product.stream_registers() as u32 - 1);
        let features = stream_features::SCOREBOARDS.set32(features, product.scoreboards() as u32);
        let features = stream_features::COMPUTE.set32(features, true);
        let features = stream_features::FRAGMENT.set32(features, true);
        let features = stream_features::TILER.set32(features, true);
        let mut streams = Vec::new();
        for number in 0..count {
            let at = BlockAt(control.0 + STREAM_CONTROL_OFFSET + number * stride);
            streams.push(StreamBlocks {
                input: block(words, at, STREAM_INPUT_VA, &CS_KERNEL_INPUT)?,
                output: block(words, at, STREAM_OUTPUT_VA, &CS_KERNEL_OUTPUT)?,
            });
            words.set32(at, STREAM_FEATURES, features)?;
        }
        words.set32(control, GROUP_FEATURES, 0)?;
        words.set32(control, GROUP_SUSPEND_SIZE, SUSPEND_BYTES)?;
        words.set32(control, GROUP_PROTM_SUSPEND_SIZE, SUSPEND_BYTES)?;
        Ok(GroupBlocks {
            input,
            output,
            streams,
        })
    }
}

fn is_stride(stride: u32) -> bool {
    (4..=0x1000).contains(&stride) && stride.is_multiple_of(4)
}

fn check(words: &mut Words<'_>, word: Register, value: u32, good: bool) -> Result<(), Stop> {
    if good {
        return Ok(());
    }
    words.fabric.journal.report(FirmwareMisuse::ControlBlock {
        name: word.name,
        value,
    });
    Err(Stop::Crash)
}

/// The block whose address stands in `word`; it must lie in the part of memory that firmware and host share.
fn block(
    words: &mut Words<'_>,
    control: BlockAt,
    word: Register,
    layout: &Block,
) -> Result<BlockAt, Stop> {
    let address = words.get32(control, word)?;
    let end = address.saturating_add(length(layout));
    if address.is_multiple_of(4) && address >= SHARED_VA && end <= SHARED_VA_END {
        return Ok(BlockAt(address));
    }
    words.fabric.journal.report(FirmwareMisuse::BlockOutside {
        name: word.name,
        address,
    });
    Err(Stop::Crash)
}
