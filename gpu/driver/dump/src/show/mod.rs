//! Showing a dump: from the fault down to fields, instructions and descriptors.
//!
//! Guarantees: what the dump does not say is called unknown, never guessed; bounded work whatever it holds.
//!
//! ```
//! use eitri_csf::registers::mcu::MCU_STATUS;
//! use eitri_dump::{Dump, show, write};
//!
//! let mut file = Vec::new();
//! write(&mut file, &[], |notes| notes.registers(&mut |tell| tell(MCU_STATUS.offset, 3)), |_, _| Ok(()))?;
//! let shown = show::entries(&Dump::parse(&file)?, &show::Options::default());
//! assert!(shown[0].to_string().contains("the firmware has crashed"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod candidates;
mod code;
mod compute;
mod draw;
mod entry;
mod facts;
mod fault;
mod framebuffer;
mod gpu;
mod job;
mod lines;
mod map;
mod programs;
mod stream;
mod trace;

pub use candidates::CandidateFacts;
pub use entry::Entry;
pub use facts::{Facts, FaultFacts, LabelFacts, MappingFacts, StreamFacts, facts};
pub use programs::{ProgramFacts, programs};

use crate::read::{Dump, Words};
use crate::walk::{Miss, Space, read_virtual};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use eitri_cs::Arch;
use eitri_csf::table::{Block, Width};
use map::Map;

/// How much is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Every instruction that is still in the rings, every job, and every register and interface word, not only those around
    /// the fault and those that are not zero.
    pub all: bool,
}

/// The dump with what is made of it once.
struct View<'d> {
    dump: &'d Dump<'d>,
    /// The generation; `None` if the dump does not say, or its streams are not known.
    arch: Option<Arch>,
    maps: Vec<Map>,
    options: Options,
    /// The programs that jobs were found to name.
    programs: RefCell<Vec<ProgramFacts>>,
}

impl<'d> View<'d> {
    fn new(dump: &'d Dump<'d>, options: Options) -> View<'d> {
        let arch = dump.gpu_id().and_then(|id| id.arch());
        View {
            dump,
            arch: arch.filter(|arch| eitri_cs::SUPPORTED.contains(*arch)),
            maps: dump.spaces().map(|space| Map::new(dump, space)).collect(),
            options,
            programs: RefCell::default(),
        }
    }

    /// The map of an address space.
    fn map(&self, space: u32) -> Option<&Map> {
        self.maps
            .iter()
            .find(|map| u32::from(map.space.number) == space)
    }

    /// The bytes at a virtual address; why not, and from where on, in words.
    fn read(&self, space: &Space, address: u64, bytes: &mut [u8]) -> Result<(), String> {
        let mut memory = self.dump;
        read_virtual(space, &mut memory, address, bytes).map_err(|(at, miss)| match miss {
            Miss::Entry { .. } => format!("{at:#x} is not mapped ({miss})"),
            miss => format!("{at:#x} can't be read: {miss}"),
        })
    }

    /// The 64-bit words at a virtual address, as many as are there; and why there are not more.
    fn words(&self, space: &Space, address: u64, count: usize) -> (Vec<u64>, Option<String>) {
        let mut words = Vec::new();
        for at in (address..).step_by(8).take(count) {
            let mut bytes = [0; 8];
            match self.read(space, at, &mut bytes) {
                Ok(()) => words.push(u64::from_le_bytes(bytes)),
                Err(why) => return (words, Some(why)),
            }
        }
        (words, None)
    }

    /// The words of an interface block, taken apart; those that are zero only if all are wanted.
    fn block(&self, block: &Block, words: Words<'_>) -> Entry {
        let mut entry = Entry::heading(block.name);
        for row in block.registers {
            for index in 0..row.count {
                let row = row.at(index);
                if let Some(value) = words.get(row)
                    && (value != 0 || self.options.all)
                {
                    entry.push(Entry::line(row.decode(value)));
                }
            }
        }
        // Words of a newer interface, which the tables do not have.
        for (offset, value) in words.iter() {
            let has = |row: &eitri_csf::table::Register| {
                let last = match row.width {
                    Width::Bits32 => 0,
                    Width::Bits64 => 4,
                };
                (0..row.count).any(|index| {
                    let at = row.at(index).offset;
                    offset == at || offset == at + last
                })
            };
            if !block.registers.iter().any(has) {
                entry.note(format!("unknown word {offset:#x}"), format!("{value:#x}"));
            }
        }
        entry
    }
}

/// Everything that is shown of a dump, the fault first.
pub fn entries(dump: &Dump<'_>, options: &Options) -> Vec<Entry> {
    let view = View::new(dump, *options);
    let faults = fault::find(dump);
    let mut entries = Vec::new();
    // Jobs name the programs among which the one that failed is.
    let streams = stream::entries(&view, &faults);
    let mut fault = fault::entry(&view, &faults);
    for remark in dump.remarks() {
        fault.note("the driver concludes", *remark);
    }
    entries.push(fault);
    entries.push(gpu::entry(&view));
    entries.extend(streams);
    let mut maps = Entry::heading("memory map");
    for map in &view.maps {
        if !map.ranges.is_empty() || view.options.all {
            maps.push(map.entry());
        }
    }
    entries.push(maps);
    entries.push(file(dump));
    entries
}

/// Whether no register, no interface word and no note of a dump tells of a fault.
pub fn is_free_of_faults(dump: &Dump<'_>) -> bool {
    fault::find(dump).is_empty()
}

/// What is in the file, and what is not.
fn file(dump: &Dump<'_>) -> Entry {
    let bytes: u64 = dump.memory().iter().map(|contents| contents.bytes).sum();
    let mut entry = Entry::heading("file");
    entry.note("written by", dump.producer().unwrap_or("unknown"));
    let regions = dump.memory().len();
    let text = format!("{bytes:#x} bytes in {regions} regions of physical memory");
    entry.note("memory", text);
    if dump.cut() != 0 {
        let text = format!(
            "{:#x} bytes that the headers promise are not in the file",
            dump.cut()
        );
        entry.note("cut short", text);
    }
    let incomplete = dump.incomplete();
    if incomplete.no_room != 0 {
        let text = format!(
            "{:#x} bytes, for which the writer had no room",
            incomplete.no_room
        );
        entry.note("left out", text);
    }
    if incomplete.unreadable != 0 {
        let text = format!(
            "{:#x} bytes are mapped where there is no memory",
            incomplete.unreadable
        );
        entry.note("left out", text);
    }
    if incomplete.tables != 0 {
        let text = format!("{} page tables were not walked", incomplete.tables);
        entry.note("left out", text);
    }
    if dump.other_notes() != 0 {
        entry.note("other notes", dump.other_notes());
    }
    entry
}
