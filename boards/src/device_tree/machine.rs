//! Machine: memory, console, interrupt controller and timer of a machine that only its device tree describes.
//!
//! Never: guesses. What the tree does not say is an error; a console whose kind is not known here is driven only where the
//! command line has asked for what is inferred.
//! Facts: hardware/boards.md 2.2, 3.1 item 4 and 9; names of kinds of devices are those in QEMU's own tree (boards.md 4) and in the
//! device tree's specification.

use super::place::Place;
use super::{DeviceTree, MOST_BYTES, TreeError};
use crate::board::{Console, Gic};
use crate::outline::Outline;
use crate::region::{Region, RegisterBase};
use crate::uart::Kind;
use dtoolkit::{Node, Property};

/// What a machine that was read from its tree has.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// The image, where its loader has put it.
    pub image: Region,
    /// Memory for the heap.
    pub heap: Region,
    /// Memory for what the GPU and the CPU both use.
    pub shared: Region,
    /// Memory for the GPU's power controller.
    pub controller: Option<Region>,
    /// The console.
    pub console: Console,
    /// The interrupt controller.
    pub gic: Gic,
    /// The virtual timer's private interrupt.
    pub virtual_timer_ppi: u32,
    /// The physical timer's.
    pub physical_timer_ppi: u32,
    /// Registers of console, distributor, and what CPUs have of the interrupt controller.
    pub devices: [Region; 3],
}

/// A console that a tree names.
#[derive(Clone, Copy, Debug)]
pub struct NamedConsole {
    /// The UART.
    pub console: Console,
    /// Its kind is not known here: that it is a 16550 with registers of 32 bits is inferred.
    pub inferred: bool,
}

/// The word on the command line that allows what no source states.
pub const INFERRED: &str = "inferred";

/// Kinds of UARTs, as a device tree names them.
const PL011: &str = "arm,pl011";
const OF_16550: &[&str] = &["ns16550", "ns16550a"];
const GIC_V3: &str = "arm,gic-v3";
const GIC_V2: [&str; 2] = ["arm,gic-400", "arm,cortex-a15-gic"];
const TIMER: &str = "arm,armv8-timer";

const PAGE: usize = 4096;
/// What the heap and the memory of the GPU are multiples of.
const BLOCK: usize = 2 << 20;
const GIB: usize = 1 << 30;
/// Where addresses end that an image maps.
const END: usize = 1 << 39;
/// How much memory is wanted for each, and how little is still of use.
const HEAP_BYTES: [usize; 2] = [256 << 20, 32 << 20];
const SHARED_BYTES: [usize; 2] = [512 << 20, 64 << 20];

/// Makes a register's address of a number.
fn register(base: usize) -> Option<RegisterBase> {
    RegisterBase::checked(base).filter(|_| base < END)
}

impl DeviceTree<'_> {
    /// The UART that the boot loader has chosen (`stdout-path`), if it is one that can be driven. It is set up already.
    pub fn named_console(&self) -> Option<NamedConsole> {
        let place = self.stdout()?;
        let base = register(place.registers().next()?.base)?;
        let shift = number(place, "reg-shift");
        if place.is(PL011) {
            let console = Console::Pl011 { base, set_up: None };
            return Some(NamedConsole {
                console,
                inferred: false,
            });
        }
        let console = Console::Polled {
            base,
            kind: Kind::DW8250,
        };
        let known = OF_16550.iter().any(|kind| place.is(kind));
        match (known, shift) {
            (true, Some(2)) => Some(NamedConsole {
                console,
                inferred: false,
            }),
            // FACT: what an MT8196's UART is called in a tree is not in the facts; Linux calls its console ttyS0
            // (hardware/boards-labs.md 3.1), as it calls those of 16550s, and every such chip in the facts has them 4 bytes
            // apart. Settled by any tree of such a Chromebook.
            (false, None | Some(2)) if self.allows_inferred() => Some(NamedConsole {
                console,
                inferred: true,
            }),
            _ => None,
        }
    }

    /// Whether the command line allows what no source states.
    fn allows_inferred(&self) -> bool {
        let mut words = self.arguments().split_ascii_whitespace();
        words.any(|word| word == INFERRED)
    }

    /// The machine that it describes, of which an outline is known. The image lies at `image`, and the tree at `tree`.
    ///
    /// # Errors
    /// What it does not say, or what contradicts the outline.
    pub fn machine(
        &self,
        outline: &Outline,
        console: Console,
        image: Region,
        tree: usize,
    ) -> Result<Machine, TreeError> {
        if let Some((base, _)) = self
            .memory()
            .find(|(base, bytes)| outline.is_in(*base, *bytes))
        {
            let wanted = outline.title;
            return Err(TreeError::MemoryForDevices { wanted, base });
        }
        let (gic, [distributor, of_cpus]) = self.gic()?;
        let (virtual_timer_ppi, physical_timer_ppi) = self.timers()?;
        let page = Region {
            base: console.base().address() / PAGE * PAGE,
            bytes: PAGE,
        };
        let tree = Region {
            base: tree / BLOCK * BLOCK,
            bytes: MOST_BYTES + BLOCK,
        };
        let free = Free {
            tree: self,
            taken: [Some(image), Some(tree), None],
        };
        let heap = free.place("the heap", HEAP_BYTES)?;
        let free = Free {
            taken: [Some(image), Some(tree), Some(heap)],
            ..free
        };
        let all = free.place("what the GPU shares", SHARED_BYTES)?;
        let shared = Region {
            base: all.base,
            bytes: all.bytes - outline.controller_bytes,
        };
        let controller = (outline.controller_bytes != 0).then_some(Region {
            base: shared.end(),
            bytes: outline.controller_bytes,
        });
        Ok(Machine {
            image,
            heap,
            shared,
            controller,
            console,
            gic,
            virtual_timer_ppi,
            physical_timer_ppi,
            devices: [page, distributor, of_cpus],
        })
    }

    /// The interrupt controller's node.
    fn gic_place(&self) -> Option<Place<'_>> {
        let mut kinds = [GIC_V3].into_iter().chain(GIC_V2);
        kinds.find_map(|kind| Place::compatible(self.0, kind))
    }

    fn gic(&self) -> Result<(Gic, [Region; 2]), TreeError> {
        let silent = TreeError::Silent {
            what: "its interrupt controller, a GIC of version 2 or 3",
        };
        let read = || {
            let place = self.gic_place()?;
            let mut registers = place.registers();
            let (distributor, of_cpus) = (registers.next()?, registers.next()?);
            let whole = |region: Region| region.is_whole(PAGE) && region.bytes != 0;
            if !whole(distributor) || !whole(of_cpus) {
                return None;
            }
            let bases = (register(distributor.base)?, register(of_cpus.base)?);
            let gic = match place.is(GIC_V3) {
                true => Gic::V3 {
                    distributor: bases.0,
                    redistributors: bases.1,
                    cpus: self.cpus().max(1),
                },
                false => Gic::V2 {
                    distributor: bases.0,
                    cpu_interface: bases.1,
                },
            };
            Some((gic, [distributor, of_cpus]))
        };
        read().ok_or(silent)
    }

    /// How many CPUs the tree has.
    fn cpus(&self) -> usize {
        self.0.find_node("/cpus").map_or(0, |cpus| {
            let cpus = cpus.children();
            cpus.filter(|cpu| cpu.name_without_address() == "cpu")
                .count()
        })
    }

    /// PPIs of the virtual and of the physical timer.
    fn timers(&self) -> Result<(u32, u32), TreeError> {
        /// The timers that are listed before these: the secure one.
        const PHYSICAL: usize = 1;
        const VIRTUAL: usize = 2;
        /// The first cell of an interrupt that is private to a CPU.
        const PRIVATE: u32 = 1;
        let read = || {
            let gic = self.gic_place()?;
            let cells = usize::try_from(number(gic, "#interrupt-cells")?).ok()?;
            let timer = Place::compatible(self.0, TIMER)?;
            let mut properties = timer.node.properties();
            let listed = properties.find(|property| property.name() == "interrupts")?;
            let (words, _) = listed.value().as_chunks::<4>();
            let ppi = |index: usize| {
                let interrupt = words.chunks_exact(cells.max(2)).nth(index)?;
                let [kind, number, ..] = interrupt else {
                    return None;
                };
                let number = u32::from_be_bytes(*number);
                (u32::from_be_bytes(*kind) == PRIVATE && number < 16).then_some(number)
            };
            Some((ppi(VIRTUAL)?, ppi(PHYSICAL)?))
        };
        let what = "its timers' interrupts";
        read().ok_or(TreeError::Silent { what })
    }
}

/// A number of one word.
fn number(place: Place<'_>, name: &str) -> Option<u32> {
    super::number(place.node, name).and_then(|number| u32::try_from(number).ok())
}

/// The memory that is nobody's.
#[derive(Clone, Copy)]
struct Free<'a> {
    tree: &'a DeviceTree<'a>,
    /// What is taken besides what the tree reserves.
    taken: [Option<Region>; 3],
}

impl Free<'_> {
    /// A place of as many bytes as there are, from `most` down to `least`: whole blocks within a gibibyte's bounds, the lowest.
    fn place(&self, what: &'static str, [most, least]: [usize; 2]) -> Result<Region, TreeError> {
        let mut bytes = most;
        while bytes >= least {
            if let Some(base) = self.lowest(bytes) {
                return Ok(Region { base, bytes });
            }
            bytes /= 2;
        }
        Err(TreeError::TooLittleMemory { what, bytes: least })
    }

    /// Everything that is not to be used: base and bytes.
    fn used(&self) -> impl Iterator<Item = (u64, u64)> {
        let own = self.taken.iter().flatten();
        let own = own.map(|region| (region.base as u64, region.bytes as u64));
        self.tree.reserved().chain(self.tree.loaded()).chain(own)
    }

    fn lowest(&self, bytes: usize) -> Option<usize> {
        let begins = self.tree.memory().map(|(base, _)| base.max(BLOCK as u64));
        let ends = self.used().map(|(base, bytes)| base.saturating_add(bytes));
        let candidates = begins.chain(ends).filter_map(|begin| {
            let base = usize::try_from(begin)
                .ok()?
                .checked_next_multiple_of(BLOCK)?;
            Some([base, base.checked_next_multiple_of(GIB)?])
        });
        candidates
            .flatten()
            .filter(|base| self.is_free(*base, bytes))
            .min()
    }

    fn is_free(&self, base: usize, bytes: usize) -> bool {
        let region = Region { base, bytes };
        let Some(end) = base.checked_add(bytes) else {
            return false;
        };
        let mut used = self.used();
        let apart = |(base, bytes): (u64, u64)| {
            end as u64 <= base || base.saturating_add(bytes) <= region.base as u64
        };
        let in_a_gibibyte = base / GIB == (end - 1) / GIB;
        base != 0 && end <= END && in_a_gibibyte && self.tree.has_memory(region) && used.all(apart)
    }
}
