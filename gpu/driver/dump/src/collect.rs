//! Collecting: a dump of a GPU as it is, from its registers, the firmware's interface, and every page that is mapped.
//!
//! Runs in a bare-metal image after a fault: no allocation, bounded time whatever page tables and interface hold.
//! Guarantees: what is left out is counted in the dump.

use crate::interface::{Blocks, INPUT, Interface};
use crate::note::Incomplete;
use crate::regions::{Region, Regions};
use crate::source::{Memory, Source, Unreadable};
use crate::walk::{MOST_TABLES, Mapping, Met, SPACES, Space};
use crate::write::{Notes, Sink, WriteError, write};
use core::cell::Cell;
use eitri_csf::page_table::PAGE_BYTES;
use eitri_csf::product::GpuId;
use eitri_csf::registers::BLOCKS;
use eitri_csf::registers::address_space::ADDRESS_SPACE;
use eitri_csf::registers::doorbell::DOORBELLS;
use eitri_csf::registers::identity::{AS_PRESENT, GPU_ID};
use eitri_csf::registers::power::L2_READY;
use eitri_csf::table::{Mark, Register, Since, Width};

/// What a dump holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Bytes of memory.
    pub memory: u64,
    /// What is not in it.
    pub incomplete: Incomplete,
}

/// Writes a dump of `source` into `sink`. `room` is for the list of memory regions: one for each run of physical memory that is
/// mapped; some hundred are plenty where memory is given out in runs.
///
/// # Errors
/// [`WriteError`]; the sink then holds part of a file.
pub fn collect<S: Source, K: Sink>(
    source: &mut S,
    room: &mut [Region],
    sink: &mut K,
) -> Result<Summary, WriteError<K::Error>> {
    collect_part(source, Extent::ALL, room, sink)
}

/// The part of a GPU's state that a dump holds. Registers are in every dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Address spaces whose memory it holds, a bit each.
    pub spaces: u16,
    /// Group slots that it has notes of, a bit each.
    pub groups: u32,
}

impl Extent {
    /// Everything.
    pub const ALL: Extent = Extent {
        spaces: u16::MAX,
        groups: u32::MAX,
    };
}

/// As [`collect`], of some groups and address spaces alone.
///
/// # Errors
/// As [`collect`].
pub fn collect_part<S: Source, K: Sink>(
    source: &mut S,
    extent: Extent,
    room: &mut [Region],
    sink: &mut K,
) -> Result<Summary, WriteError<K::Error>> {
    let mut regions = Regions::new(room);
    let mut incomplete = Incomplete::default();
    let present = register(source, AS_PRESENT);
    let wanted = present & u64::from(extent.spaces);
    for number in (0..SPACES).filter(|number| wanted >> number & 1 != 0) {
        let space = Space::read(number, &mut |row| register(source, row));
        add_space(source, &space, &mut regions, &mut incomplete);
    }
    incomplete.no_room = regions.lost();
    let interface = if present & 1 == 0 {
        None
    } else {
        let firmware = Space::read(0, &mut |row| register(source, row));
        Interface::find(firmware, source)
    };
    let used = interface.map(|interface| Used::find(&interface, extent.groups, source));
    // One source serves notes and memory, one after the other.
    let source = InTurn::new(source);
    write(
        sink,
        regions.as_slice(),
        |notes| {
            let interface = interface.as_ref().zip(used.as_ref());
            source.with(|source| tell(source, notes, interface));
            notes.incomplete(incomplete);
        },
        |address, bytes| {
            let read = source.with(|source| source.read(address, bytes));
            read.unwrap_or(Err(Unreadable { address }))
        },
    )?;
    Ok(Summary {
        memory: regions.as_slice().iter().map(|region| region.bytes).sum(),
        incomplete,
    })
}

/// What several use one after the other, never at once: a cell that can't panic.
struct InTurn<'s, S>(Cell<Option<&'s mut S>>);

impl<'s, S> InTurn<'s, S> {
    fn new(it: &'s mut S) -> InTurn<'s, S> {
        InTurn(Cell::new(Some(it)))
    }

    /// `None` while somebody else uses it.
    fn with<T>(&self, action: impl FnOnce(&mut S) -> T) -> Option<T> {
        let it = self.0.take()?;
        let done = action(it);
        self.0.set(Some(it));
        Some(done)
    }
}

/// The value of a register, both words of one of 64 bits.
fn register(source: &mut impl Source, row: Register) -> u64 {
    let low = source.register(row.offset);
    let high = match row.width {
        Width::Bits32 => 0,
        Width::Bits64 => source.register(row.offset + 4),
    };
    u64::from(high) << 32 | u64::from(low)
}

fn is_readable(memory: &mut impl Memory, page: u64) -> bool {
    memory.read(page, &mut [0; 8]).is_ok()
}

fn add_space<S: Source>(
    source: &mut S,
    space: &Space,
    regions: &mut Regions<'_>,
    incomplete: &mut Incomplete,
) {
    let mut budget = MOST_TABLES;
    let mut add = |source: &mut S, page: u64| {
        if regions.contains(page) {
            return;
        }
        if is_readable(source, page) {
            regions.add(Region {
                start: page,
                bytes: PAGE_BYTES,
            });
        } else {
            incomplete.unreadable = incomplete.unreadable.saturating_add(PAGE_BYTES);
        }
    };
    let skipped = space.visit(source, &mut budget, &mut |source, met| match met {
        Met::Table(page) => add(source, page),
        Met::Mapping(Mapping {
            physical, bytes, ..
        }) => {
            let pages = physical..physical.saturating_add(bytes);
            for page in pages.step_by(PAGE_BYTES as usize) {
                add(source, page);
            }
        }
    });
    incomplete.tables += skipped;
}

/// The groups and streams that are worth a note, found once: the firmware may change its words meanwhile.
struct Used {
    groups: u32,
    streams: [u32; 32],
}

impl Used {
    fn find(interface: &Interface, wanted: u32, memory: &mut impl Memory) -> Used {
        let mut used = Used {
            groups: 0,
            streams: [0; 32],
        };
        let slots = 0..interface.groups();
        for slot in slots.filter(|slot| wanted.checked_shr(*slot).unwrap_or(0) & 1 != 0) {
            let group = interface.group(memory, slot);
            if !interface.is_group_used(memory, &group) {
                continue;
            }
            used.groups |= 1 << slot;
            for number in 0..interface.streams(memory, &group) {
                let stream = interface.stream(memory, &group, number);
                if interface.is_stream_used(memory, &stream)
                    && let Some(streams) = used.streams.get_mut(slot as usize)
                {
                    *streams |= 1 << number;
                }
            }
        }
        used
    }
}

/// The numbers of the bits that are set.
fn bits(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |bit| mask >> bit & 1 != 0)
}

fn tell<S: Source, K: Sink>(
    source: &mut S,
    notes: &mut Notes<'_, K>,
    interface: Option<(&Interface, &Used)>,
) {
    notes.producer(source.producer());
    notes.registers(&mut |tell| tell_registers(source, tell));
    source.faults(&mut |fault| notes.fault(fault));
    source.submissions(&mut |submission| notes.submission(submission));
    source.labels(&mut |label| notes.label(label));
    source.remarks(&mut |text| notes.remark(text));
    let Some((interface, used)) = interface else {
        return;
    };
    let space = interface.space();
    let global = interface.global(source);
    let memory = InTurn::new(source);
    let words = |blocks: Blocks, which: usize| {
        let memory = &memory;
        move |tell: &mut dyn FnMut(u32, u32)| {
            memory.with(|memory| blocks.tell(space, memory, which, tell));
        }
    };
    notes.firmware(
        &mut words(global, 0),
        &mut words(global, INPUT),
        &mut words(global, 2),
    );
    for (slot, streams) in (0..).zip(used.streams) {
        if used.groups >> slot & 1 == 0 {
            continue;
        }
        let group = memory.with(|memory| {
            let group = interface.group(memory, slot);
            (interface.space_of(memory, &group), group)
        });
        let Some((job_space, group)) = group else {
            continue;
        };
        let blocks: [crate::write::Pairs<'_>; 3] = [
            &mut words(group, 0),
            &mut words(group, INPUT),
            &mut words(group, 2),
        ];
        notes.group(slot, job_space, blocks);
        for number in bits(streams) {
            let stream = memory.with(|memory| {
                let stream = interface.stream(memory, &group, number);
                (interface.ring(memory, &stream), stream)
            });
            let Some((ring, stream)) = stream else {
                continue;
            };
            let blocks: [crate::write::Pairs<'_>; 3] = [
                &mut words(stream, 0),
                &mut words(stream, INPUT),
                &mut words(stream, 2),
            ];
            notes.stream(slot, number, ring, blocks);
        }
    }
}

fn tell_registers(source: &mut impl Source, tell: &mut dyn FnMut(u32, u32)) {
    registers(&mut |offset| source.register(offset), tell);
}

/// Tells the registers that drivers use and that can be read without effect, word by word: offset and value. `read` gives the word
/// at an offset.
pub fn registers(read: &mut dyn FnMut(u32) -> u32, tell: &mut dyn FnMut(u32, u32)) {
    let major = GpuId(read(GPU_ID.offset)).arch_version().0;
    let present = read(AS_PRESENT.offset);
    let powered = read(L2_READY.offset) | read(L2_READY.offset + 4) != 0;
    for block in BLOCKS {
        for row in block.registers {
            let exists = match row.since {
                Since::Arch(arch) => arch.major() <= major,
                Since::Interface(..) => false,
            };
            // The user page answers only while the GPU has power.
            let answers = powered || block.name != DOORBELLS.name;
            if !exists || !answers || !row.access.readable() || row.mark != Mark::Modelled {
                continue;
            }
            for index in 0..row.count {
                if block.name == ADDRESS_SPACE.name && present >> index & 1 == 0 {
                    continue;
                }
                let offset = row.at(index).offset;
                tell(offset, read(offset));
                if row.width == Width::Bits64 {
                    tell(offset + 4, read(offset + 4));
                }
            }
        }
    }
}
