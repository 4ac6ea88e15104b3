//! The interface that running firmware offers: found by its control blocks, checked once.
//!
//! Guarantees: every block lies inside the shared section and is nobody else's; a group can go on in any slot that is used. What
//! other drivers insist on beyond that is a warning: counts out of their range, slots and streams that differ.
//! Facts: hardware/csf-firmware.md sections 6 and 7.

use super::channel::Channel;
use super::global::Global;
use crate::access::SharedBlock;
use crate::platform::{PhysicalAddress, Platform};
use crate::warning::Warning;
use core::fmt;
use core::ops::RangeInclusive;
use eitri_csf::interface::control::{
    GLB_CONTROL, GLB_FEATURES, GLB_GROUP_NUM, GLB_GROUP_STRIDE, GLB_INPUT_VA, GLB_OUTPUT_VA,
    GLB_VERSION, GROUP_CONTROL, GROUP_CONTROL_OFFSET, GROUP_FEATURES, GROUP_INPUT_VA,
    GROUP_OUTPUT_VA, GROUP_PROTM_SUSPEND_SIZE, GROUP_STREAM_NUM, GROUP_STREAM_STRIDE,
    GROUP_SUSPEND_SIZE, GROUPS, SHARED_VA, STREAM_CONTROL, STREAM_CONTROL_OFFSET, STREAM_FEATURES,
    STREAM_INPUT_VA, STREAM_OUTPUT_VA, STREAMS, Version, glb_group_num, group_features,
    group_stream_num, stream_features,
};
use eitri_csf::interface::global::{GLB_ACK, GLB_INPUT, GLB_OUTPUT, GLB_REQ};
use eitri_csf::interface::group::{CSG_ACK, CSG_INPUT, CSG_OUTPUT, CSG_REQ};
use eitri_csf::interface::stream::{CS_ACK, CS_KERNEL_INPUT, CS_KERNEL_OUTPUT, CS_REQ};
use eitri_csf::table::{Block, Register};
use heapless::Vec;
use thiserror::Error;

/// Slots that are used: every group on a slot needs a priority of its own, and there are sixteen.
pub(crate) const MAX_SLOTS: usize = 16;
/// Streams of a slot that are used: vertex-tiler, fragment, compute.
const MAX_STREAMS: usize = 3;
/// As many input and output blocks as there can be.
const MOST_BLOCKS: usize = 2 * (1 + MAX_SLOTS * (1 + MAX_STREAMS));

/// Why the interface of the firmware is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InterfaceError {
    /// The firmware has announced itself, but gives no version.
    #[error("GLB_VERSION = 0: the firmware has not filled its control block")]
    NotBooted,
    /// A count that can't be used.
    #[error("{register} = {value}, wanted {least} to {most}")]
    Count {
        /// The word.
        register: &'static str,
        /// Its value.
        value: u32,
        /// Least.
        least: u32,
        /// Most.
        most: u32,
    },
    /// A block that is not inside the shared section.
    #[error(
        "{block} at firmware address {address:#x} is not inside the shared section of {section:#x} bytes"
    )]
    Outside {
        /// Which block.
        block: &'static str,
        /// Its firmware address.
        address: u64,
        /// Bytes of the section.
        section: u64,
    },
    /// Control blocks that would lie over each other.
    #[error("{register} = {value:#x}, but the blocks that it sets apart have {least:#x} bytes")]
    Stride {
        /// The word.
        register: &'static str,
        /// Its value.
        value: u64,
        /// Least.
        least: u64,
    },
    /// One block for two users, who would answer for each other.
    #[error("{block} at firmware address {address:#x} is another block too")]
    Shared {
        /// Which block.
        block: &'static str,
        /// Its firmware address.
        address: u64,
    },
}

/// The blocks of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamBlocks {
    pub(crate) input: SharedBlock,
    pub(crate) output: SharedBlock,
}

impl StreamBlocks {
    /// The stream's requests.
    pub(crate) const fn requests(&self) -> Channel {
        Channel {
            input: self.input,
            output: self.output,
            req: &CS_REQ,
            ack: &CS_ACK,
        }
    }
}

/// The blocks of a group slot.
#[derive(Clone, Debug)]
pub(crate) struct SlotBlocks {
    pub(crate) number: u32,
    pub(crate) input: SharedBlock,
    pub(crate) output: SharedBlock,
    pub(crate) streams: Vec<StreamBlocks, MAX_STREAMS>,
}

impl SlotBlocks {
    /// The slot's requests.
    pub(crate) const fn requests(&self) -> Channel {
        Channel {
            input: self.input,
            output: self.output,
            req: &CSG_REQ,
            ack: &CSG_ACK,
        }
    }
}

/// A warning for each word that can be odd.
const MOST_WARNINGS: usize = 8;

/// What holds for all slots that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotFacts {
    pub(crate) features: u32,
    pub(crate) suspend_bytes: u32,
    pub(crate) protected_suspend_bytes: u32,
    pub(crate) streams: u32,
    pub(crate) stream_stride: u64,
    pub(crate) stream_features: u32,
}

/// The interface, checked.
#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) version: Version,
    pub(crate) features: u32,
    pub(crate) group_count: u32,
    pub(crate) global: Global,
    pub(crate) slots: Vec<SlotBlocks, MAX_SLOTS>,
    pub(crate) facts: SlotFacts,
    pub(crate) warnings: Vec<Warning, MOST_WARNINGS>,
}

impl Interface {
    /// Reads and checks the control blocks in the shared section.
    #[inline(never)]
    pub(crate) fn discover<P: Platform>(
        platform: &mut P,
        shared: (PhysicalAddress, u64),
    ) -> Result<Interface, InterfaceError> {
        let (base, bytes) = shared;
        let mut reader = Reader {
            platform,
            base,
            bytes,
            warnings: Vec::new(),
        };
        let global = reader.at_offset(const { Extent::of(&GLB_CONTROL) }, 0)?;
        let version = reader.word(global, GLB_VERSION);
        let version = Version::from_word(version).ok_or(InterfaceError::NotBooted)?;
        let features = reader.word(global, GLB_FEATURES);
        let groups = glb_group_num::GROUPS.get(reader.word(global, GLB_GROUP_NUM));
        reader.count(GLB_GROUP_NUM, groups, 1, GROUPS)?;
        let stride = u64::from(reader.word(global, GLB_GROUP_STRIDE));
        let input = reader.block(const { Extent::of(&GLB_INPUT) }, global, GLB_INPUT_VA)?;
        let output = reader.block(const { Extent::of(&GLB_OUTPUT) }, global, GLB_OUTPUT_VA)?;
        let requests = Channel {
            input,
            output,
            req: &GLB_REQ,
            ack: &GLB_ACK,
        };

        let mut slots = Vec::new();
        let mut first = None;
        let mut all = None;
        let mut used = groups;
        for number in 0..groups {
            let offset = stride.saturating_mul(u64::from(number));
            let offset = offset.saturating_add(u64::from(GROUP_CONTROL_OFFSET));
            let (slot, facts) = reader.slot(number, offset)?;
            let first = *first.get_or_insert(facts);
            if !reader.compare(number, first, facts) {
                used = used.min(number);
            }
            all = Some(all.map_or(facts, |all| combine(all, facts)));
            // Slots beyond those that are used are checked all the same.
            let _ = slots.push(slot);
        }
        let facts: SlotFacts = all.ok_or(InterfaceError::NotBooted)?;
        let needed = u64::from(facts.streams).saturating_mul(facts.stream_stride);
        let needed = needed.saturating_add(u64::from(STREAM_CONTROL_OFFSET));
        apart(GLB_GROUP_STRIDE, stride, needed)?;
        own_blocks(base, &requests, &slots)?;
        slots.truncate(used as usize);
        let global = Global { version, requests };
        Ok(Interface {
            version,
            features,
            group_count: groups,
            global,
            slots,
            facts,
            warnings: reader.warnings,
        })
    }

    /// Work registers of a stream.
    pub(crate) fn registers(&self) -> u32 {
        stream_features::REGISTERS_MINUS_1
            .get(self.facts.stream_features)
            .wrapping_add(1)
    }

    /// Scoreboard entries of a stream.
    pub(crate) fn scoreboards(&self) -> u32 {
        stream_features::SCOREBOARDS.get(self.facts.stream_features)
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SlotFacts {
            streams,
            suspend_bytes,
            ..
        } = self.facts;
        write!(
            f,
            "interface {}, features {:#x}, ",
            self.version, self.features
        )?;
        write!(f, "{} group slots of {streams} streams, ", self.group_count)?;
        write!(
            f,
            "{} registers, {} scoreboards, ",
            self.registers(),
            self.scoreboards()
        )?;
        write!(f, "suspend buffers of {suspend_bytes:#x} bytes")
    }
}

/// Reads control blocks with every address checked.
struct Reader<'a, P> {
    platform: &'a mut P,
    base: PhysicalAddress,
    bytes: u64,
    warnings: Vec<Warning, MOST_WARNINGS>,
}

impl<P: Platform> Reader<'_, P> {
    /// Checks a count: below what the driver needs it is refused, outside of what other drivers accept it is odd.
    fn count(
        &mut self,
        register: Register,
        value: u32,
        needed: u32,
        usual: RangeInclusive<u32>,
    ) -> Result<(), InterfaceError> {
        let (register, most) = (register.name, *usual.end());
        if value < needed {
            return Err(InterfaceError::Count {
                register,
                value,
                least: needed,
                most,
            });
        }
        if !usual.contains(&value) {
            self.warn(Warning::Count {
                register,
                value,
                least: *usual.start(),
                most,
            });
        }
        Ok(())
    }

    /// Compares a word with that of the first slot or stream.
    fn compare_word(
        &mut self,
        register: Register,
        slot: u32,
        value: u32,
        first: u32,
        answer: &'static str,
    ) {
        if value != first {
            self.warn(Warning::Unequal {
                register: register.name,
                slot,
                value,
                first,
                answer,
            });
        }
    }

    /// Keeps a warning, if it is the first of its word.
    fn warn(&mut self, warning: Warning) {
        let word = |warning: &Warning| match *warning {
            Warning::Count { register, .. } => (register, 0),
            Warning::Unequal { register, .. } => (register, 1),
            Warning::TimestampStands { .. } => ("", 0),
        };
        if self.warnings.iter().all(|it| word(it) != word(&warning)) {
            // There is room: it is as long as there are words that are looked at.
            let _ = self.warnings.push(warning);
        }
    }

    /// Compares a slot with the first; whether a group that was suspended in one can go on in the other.
    fn compare(&mut self, slot: u32, first: SlotFacts, other: SlotFacts) -> bool {
        let kind = |facts: SlotFacts| group_features::SUSPEND_TYPE.get(facts.features);
        let same = kind(first) == kind(other);
        let answer = if same {
            "the driver does not depend on it"
        } else {
            "a suspended group can't change between them: slots from there on are not used"
        };
        self.compare_word(GROUP_FEATURES, slot, other.features, first.features, answer);
        let larger = "memory is taken for the larger";
        let (its, firsts) = (other.suspend_bytes, first.suspend_bytes);
        self.compare_word(GROUP_SUSPEND_SIZE, slot, its, firsts, larger);
        let (its, firsts) = (other.protected_suspend_bytes, first.protected_suspend_bytes);
        self.compare_word(GROUP_PROTM_SUSPEND_SIZE, slot, its, firsts, larger);
        let answer = "the driver uses the first three";
        self.compare_word(GROUP_STREAM_NUM, slot, other.streams, first.streams, answer);
        let (its, firsts) = (other.stream_features, first.stream_features);
        self.compare_word(STREAM_FEATURES, slot, its, firsts, LEAST);
        same
    }

    fn slot(
        &mut self,
        number: u32,
        offset: u64,
    ) -> Result<(SlotBlocks, SlotFacts), InterfaceError> {
        let control = self.at_offset(const { Extent::of(&GROUP_CONTROL) }, offset)?;
        let streams = group_stream_num::STREAMS.get(self.word(control, GROUP_STREAM_NUM));
        self.count(GROUP_STREAM_NUM, streams, MAX_STREAMS as u32, STREAMS)?;
        let stride = u64::from(self.word(control, GROUP_STREAM_STRIDE));
        let mut facts = SlotFacts {
            features: self.word(control, GROUP_FEATURES),
            suspend_bytes: self.word(control, GROUP_SUSPEND_SIZE),
            protected_suspend_bytes: self.word(control, GROUP_PROTM_SUSPEND_SIZE),
            streams,
            stream_stride: stride,
            stream_features: 0,
        };
        apart(
            GROUP_STREAM_STRIDE,
            stride,
            const { Extent::of(&STREAM_CONTROL).bytes },
        )?;
        let mut slot = SlotBlocks {
            number,
            input: self.block(const { Extent::of(&CSG_INPUT) }, control, GROUP_INPUT_VA)?,
            output: self.block(const { Extent::of(&CSG_OUTPUT) }, control, GROUP_OUTPUT_VA)?,
            streams: Vec::new(),
        };
        let first = offset.saturating_add(u64::from(STREAM_CONTROL_OFFSET));
        for stream in 0..streams {
            let offset = first.saturating_add(stride.saturating_mul(u64::from(stream)));
            let control = self.at_offset(const { Extent::of(&STREAM_CONTROL) }, offset)?;
            let features = self.word(control, STREAM_FEATURES);
            if stream == 0 {
                facts.stream_features = features;
            }
            let first = facts.stream_features;
            self.compare_word(STREAM_FEATURES, number, features, first, LEAST);
            facts.stream_features = least(first, features);
            let blocks = StreamBlocks {
                input: self.block(
                    const { Extent::of(&CS_KERNEL_INPUT) },
                    control,
                    STREAM_INPUT_VA,
                )?,
                output: self.block(
                    const { Extent::of(&CS_KERNEL_OUTPUT) },
                    control,
                    STREAM_OUTPUT_VA,
                )?,
            };
            let _ = slot.streams.push(blocks);
        }
        Ok((slot, facts))
    }

    fn word(&mut self, control: SharedBlock, register: Register) -> u32 {
        control.read_word(self.platform, register)
    }

    /// The block whose firmware address stands in a control word.
    fn block(
        &mut self,
        block: Extent,
        control: SharedBlock,
        word: Register,
    ) -> Result<SharedBlock, InterfaceError> {
        let address = u64::from(self.word(control, word));
        let outside = InterfaceError::Outside {
            block: block.name,
            address,
            section: self.bytes,
        };
        let offset = address.checked_sub(u64::from(SHARED_VA)).ok_or(outside)?;
        self.at_offset(block, offset)
    }

    fn at_offset(&self, block: Extent, offset: u64) -> Result<SharedBlock, InterfaceError> {
        let inside = offset
            .checked_add(block.bytes)
            .is_some_and(|end| end <= self.bytes);
        if inside && offset & 3 == 0 {
            return Ok(SharedBlock::new(self.base.offset(offset)));
        }
        let address = u64::from(SHARED_VA).saturating_add(offset);
        Err(InterfaceError::Outside {
            block: block.name,
            address,
            section: self.bytes,
        })
    }
}

/// What is to be known of a block: found out when this is compiled, so that its rows are in no image.
#[derive(Clone, Copy)]
struct Extent {
    name: &'static str,
    /// Bytes from the beginning to the end of its last word.
    bytes: u64,
}

impl Extent {
    const fn of(block: &'static Block) -> Extent {
        let bytes = match block.registers.last() {
            None => 0,
            Some(last) => {
                let skipped = last.stride as u64 * last.count.saturating_sub(1) as u64;
                last.offset as u64 + skipped + last.width.bytes() as u64
            }
        };
        Extent {
            name: block.name,
            bytes,
        }
    }
}

fn apart(register: Register, value: u64, least: u64) -> Result<(), InterfaceError> {
    if value >= least {
        return Ok(());
    }
    Err(InterfaceError::Stride {
        register: register.name,
        value,
        least,
    })
}

/// No two users have one block between them. Ends are not compared: they depend on the version.
fn own_blocks(
    base: PhysicalAddress,
    global: &Channel,
    slots: &[SlotBlocks],
) -> Result<(), InterfaceError> {
    let mut seen: Vec<SharedBlock, MOST_BLOCKS> = Vec::new();
    let mut own = |block: &Block, place: SharedBlock| {
        if seen.contains(&place) {
            let offset = place.base().0.wrapping_sub(base.0);
            let address = u64::from(SHARED_VA).wrapping_add(offset);
            let block = block.name;
            return Err(InterfaceError::Shared { block, address });
        }
        // There is room: it is as long as there can be blocks.
        let _ = seen.push(place);
        Ok(())
    };
    own(&GLB_INPUT, global.input)?;
    own(&GLB_OUTPUT, global.output)?;
    for slot in slots {
        own(&CSG_INPUT, slot.input)?;
        own(&CSG_OUTPUT, slot.output)?;
    }
    for stream in slots.iter().flat_map(|slot| &slot.streams) {
        own(&CS_KERNEL_INPUT, stream.input)?;
        own(&CS_KERNEL_OUTPUT, stream.output)?;
    }
    Ok(())
}

/// The answer to streams that differ.
const LEAST: &str = "jobs use what all streams have";

/// What streams with these two features both have.
fn least(one: u32, other: u32) -> u32 {
    let (registers, scoreboards) = (
        stream_features::REGISTERS_MINUS_1,
        stream_features::SCOREBOARDS,
    );
    let word = registers.set32(one & other, registers.get(one).min(registers.get(other)));
    scoreboards.set32(word, scoreboards.get(one).min(scoreboards.get(other)))
}

/// What holds for the slots of both: buffers that are large enough for either, streams that are as good as either's.
fn combine(one: SlotFacts, other: SlotFacts) -> SlotFacts {
    SlotFacts {
        features: one.features,
        suspend_bytes: one.suspend_bytes.max(other.suspend_bytes),
        protected_suspend_bytes: one
            .protected_suspend_bytes
            .max(other.protected_suspend_bytes),
        streams: one.streams.max(other.streams),
        stream_stride: one.stream_stride.max(other.stream_stride),
        stream_features: least(one.stream_features, other.stream_features),
    }
}
