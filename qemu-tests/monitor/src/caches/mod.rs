//! Caches that the GPU does not see, before the memory that it shares with the image.
//!
//! As on a board without coherent caches: what the image stores stays in its cache until it cleans the line, and what it
//! has fetched it goes on reading until it invalidates the line. Memory is what the GPU sees. The image's cache instructions come
//! here because `HCR_EL2.TPCP` traps them. Its loads and stores do too (`lines`), or go to a copy of each page (`pages`): that is
//! quick, and does not tell who stored.
//!
//! Guarantees: upkeep that is missing is told, with the place in memory.

mod lines;
mod pages;

use crate::physical_memory::GuestMemory;
use crate::report::{Code, say};
use crate::settings::Coherence;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use eitri_aarch64::Upkeep;
use eitri_cache_line::{Bytes, LINE, Missing};
use eitri_model::{Accessor, BusError, PhysicalMemory, Source};
use lines::Lines;
use pages::Pages;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// Of one GPU's memory so much is told.
const MOST_SAID: usize = 16;

/// A line of the memory that the two share, which is RAM.
fn in_memory(at: u64) -> Bytes {
    let mut bytes = [0; LINE as usize];
    let _ = GuestMemory.read(at, &mut bytes);
    bytes
}

/// What was said, of one line once.
#[derive(Default)]
struct Told {
    lines: BTreeSet<u64>,
    texts: Vec<String>,
}

impl Told {
    fn tell(&mut self, missing: &Missing<Code, Accessor>) {
        if self.lines.len() < MOST_SAID && self.lines.insert(missing.line()) {
            let text = format!("cache: {missing}");
            say!("diagnosis: {text}");
            self.texts.push(text);
        }
    }
}

/// How they are played.
enum Kind {
    /// There are none.
    Coherent,
    Lines(Lines),
    Pages(Pages),
}

/// The caches, and memory behind them.
pub(crate) struct Caches {
    kind: Kind,
    told: Told,
    /// Who of the GPU makes its accesses.
    accessor: Accessor,
}

impl Caches {
    /// No caches, or empty ones.
    pub(crate) fn new(coherence: Coherence) -> Caches {
        Caches {
            kind: match coherence {
                Coherence::Whole => Kind::Coherent,
                Coherence::NoneByLines => Kind::Lines(Lines::default()),
                Coherence::NoneByPages => Kind::Pages(Pages::new()),
            },
            told: Told::default(),
            accessor: Accessor::Unit(Source::Mcu),
        }
    }

    /// There is another GPU, and a driver that begins anew: nothing is in the caches.
    pub(crate) fn renew(&mut self) {
        self.told.lines.clear();
        match &mut self.kind {
            Kind::Coherent => {}
            Kind::Lines(lines) => *lines = Lines::default(),
            Kind::Pages(pages) => pages.forget_all(),
        }
    }

    /// Pages of the memory have a new owner: as `control::NEW_PAGES` has it.
    pub(crate) fn renew_pages(&mut self, word: u64) {
        let first = word & !(PAGE - 1);
        for page in 0..=word % PAGE {
            let page = first + page * PAGE;
            match &mut self.kind {
                Kind::Coherent => {}
                Kind::Lines(lines) => lines.forget(page),
                Kind::Pages(pages) => pages.forget(page),
            }
        }
    }

    /// The image writes a register: from here on the GPU may look.
    pub(crate) fn announce(&mut self) {
        match &mut self.kind {
            Kind::Coherent => {}
            Kind::Lines(lines) => lines.announce(),
            Kind::Pages(pages) => pages.announce(&mut self.told),
        }
    }

    /// The image touches shared memory that stage 2 leaves out. Tells whether it finds it there from now on, so that the
    /// instruction can be done again.
    pub(crate) fn is_shown(&mut self, address: u64) -> bool {
        match &mut self.kind {
            Kind::Pages(pages) => pages.show(address),
            Kind::Coherent | Kind::Lines(_) => false,
        }
    }

    /// A load of `bytes` bytes, inside of a line, by some code.
    pub(crate) fn load(&mut self, address: u64, bytes: u32, code: Code) -> u64 {
        match &mut self.kind {
            Kind::Lines(lines) => lines.load(&mut self.told, address, bytes, code),
            Kind::Coherent | Kind::Pages(_) => 0,
        }
    }

    /// A store of `bytes` bytes, inside of a line, by some code.
    pub(crate) fn store(&mut self, address: u64, bytes: u32, value: u64, code: Code) {
        if let Kind::Lines(lines) = &mut self.kind {
            lines.store(address, bytes, value, code);
        }
    }

    /// A cache instruction.
    pub(crate) fn upkeep(&mut self, upkeep: Upkeep, address: u64, code: impl Fn() -> Code) {
        match &mut self.kind {
            Kind::Coherent => {}
            Kind::Lines(lines) => lines.upkeep(&mut self.told, upkeep, address, code),
            Kind::Pages(pages) => pages.upkeep(&mut self.told, upkeep, address, code),
        }
    }

    /// What was wrong, from the beginning on.
    pub(crate) fn told(&mut self) -> &[String] {
        if let Kind::Pages(pages) = &mut self.kind {
            pages.announce(&mut self.told);
        }
        &self.told.texts
    }

    /// The GPU reads: what of it was stored and not cleaned?
    fn look(&mut self, address: u64, bytes: usize) {
        let (told, reads) = (&mut self.told, self.accessor);
        match &mut self.kind {
            Kind::Coherent => {}
            Kind::Lines(lines) => lines.look(told, address, bytes as u64, reads),
            Kind::Pages(pages) => pages.look(address, bytes, reads),
        }
    }

    /// The GPU writes.
    fn written(&mut self, address: u64, bytes: usize) {
        if let Kind::Lines(lines) = &mut self.kind {
            lines.written(address, bytes as u64, self.accessor);
        }
    }
}

impl PhysicalMemory for Caches {
    fn accessed_by(&mut self, accessor: Accessor) {
        self.accessor = accessor;
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        self.look(address, bytes.len());
        GuestMemory.read(address, bytes)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        self.written(address, bytes.len());
        GuestMemory.write(address, bytes)
    }

    fn read32(&mut self, address: u64) -> Result<u32, BusError> {
        self.look(address, 4);
        GuestMemory.read32(address)
    }

    fn read64(&mut self, address: u64) -> Result<u64, BusError> {
        self.look(address, 8);
        GuestMemory.read64(address)
    }

    fn write32(&mut self, address: u64, value: u32) -> Result<(), BusError> {
        self.written(address, 4);
        GuestMemory.write32(address, value)
    }

    fn write64(&mut self, address: u64, value: u64) -> Result<(), BusError> {
        self.written(address, 8);
        GuestMemory.write64(address, value)
    }
}
