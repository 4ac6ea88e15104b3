//! Board: the data that a board module states.
//!
//! Facts: hardware/boards.md section 9.

use crate::host::{Exit, Host};
use crate::region::{Region, RegisterBase};
use core::ops::Deref;

/// Memory, by how it is mapped.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Ordinary memory, cached, for the image: it is linked for the first address. Whole blocks of 2 MiB.
    pub image: Region,
    /// Ordinary memory for the heap, cached. Whole blocks of 2 MiB.
    pub heap: Region,
    /// Memory for what the GPU and the CPU both use: not cached where the GPU is not coherent.
    pub shared: Region,
    /// Registers, the GPU's window apart.
    pub devices: &'static [Region],
}

/// A PL011 UART.
#[derive(Clone, Copy, Debug)]
pub struct Pl011 {
    /// Its registers.
    pub base: RegisterBase,
    /// Its clock, in hertz.
    pub clock_hertz: u32,
    /// Its speed, in baud.
    pub baud: u32,
}

/// A GIC of version 3.
#[derive(Clone, Copy, Debug)]
pub struct Gic {
    /// The distributor.
    pub distributor: RegisterBase,
    /// The first redistributor.
    pub redistributors: RegisterBase,
    /// How many redistributors are in use: one a CPU.
    pub cpus: usize,
}

/// The number of a shared peripheral interrupt; the GIC's own number is 32 higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spi(pub u32);

/// How GPU and CPU see each other's writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coherency {
    /// Not by themselves: shared memory is mapped non-cacheable.
    None,
    /// The GPU looks into the CPU's caches (ACE-Lite).
    AceLite,
}

/// Where the GPU is.
#[derive(Clone, Copy, Debug)]
pub struct Gpu {
    /// Its register window; not at address 0.
    pub window: Region,
    /// The JOB line; level, active high, as the other two.
    pub job: Spi,
    /// The MMU line.
    pub mmu: Spi,
    /// The GPU line.
    pub gpu: Spi,
    /// Coherency.
    pub coherency: Coherency,
}

/// Everything that the kernel must be told about a machine. As long as it is no [`Board`], it is only data.
#[derive(Clone, Copy)]
pub struct Description {
    /// As people write it.
    pub name: &'static str,
    /// Memory map.
    pub memory: Memory,
    /// Console.
    pub console: Pl011,
    /// Interrupt controller.
    pub gic: Gic,
    /// The virtual timer's private interrupt (PPI number; the GIC's own number is 16 higher).
    pub virtual_timer_ppi: u32,
    /// The GPU.
    pub gpu: Gpu,
    /// Ends the image, and where the board can, tells the host how.
    pub exit: fn(Exit) -> !,
    /// The way to the host's files, on boards that have one.
    pub host: Option<&'static dyn Host>,
}

/// A description that is true: there are such registers and such memory where an image for this board runs.
///
/// Whoever has one may make pointers of its addresses. So only a board's own module makes it.
#[derive(Clone, Copy)]
pub struct Board(Description);

impl Board {
    /// The board of this description.
    ///
    /// # Safety
    /// On the machine that an image for this board runs on, `memory.image`, `memory.heap` and `memory.shared` are memory
    /// that nobody else uses once the image runs, and console, interrupt controller, GPU window and `memory.devices` are
    /// those devices' registers.
    ///
    /// # Panics
    /// While a board is compiled, when regions of it overlap, are not aligned, or begin at address 0.
    pub const unsafe fn new(description: Description) -> Board {
        description.check();
        Board(description)
    }

    /// What it is; the fields can also be had from the board itself, but not in constants.
    pub const fn description(&self) -> &Description {
        &self.0
    }
}

impl Deref for Board {
    type Target = Description;

    fn deref(&self) -> &Description {
        &self.0
    }
}

/// What blocks of the initial map are multiples of.
const BLOCK: usize = 2 << 20;
/// What pages are multiples of.
const PAGE: usize = 4096;

impl Description {
    const fn check(&self) {
        let memory = &self.memory;
        assert!(memory.image.is_whole(BLOCK), "image: no whole 2 MiB");
        assert!(memory.heap.is_whole(BLOCK), "heap: no whole 2 MiB");
        assert!(memory.shared.is_whole(PAGE), "shared: no whole pages");
        assert!(self.gpu.window.is_whole(PAGE), "window: no whole pages");
        let regions = [memory.image, memory.heap, memory.shared, self.gpu.window];
        let mut index = 0;
        while index < regions.len() {
            assert!(regions[index].base != 0, "memory at address 0");
            let mut other = 0;
            while other < index {
                assert!(!regions[index].overlaps(regions[other]), "an overlap");
                other += 1;
            }
            let mut device = 0;
            while device < memory.devices.len() {
                let registers = memory.devices[device];
                assert!(registers.is_whole(PAGE), "a device: no whole pages");
                assert!(!regions[index].overlaps(registers), "a device overlaps");
                device += 1;
            }
            index += 1;
        }
        assert!(self.is_device(self.console.base), "console: no device");
        assert!(self.is_device(self.gic.distributor), "GICD: no device");
        assert!(self.is_device(self.gic.redistributors), "GICR: no device");
    }

    const fn is_device(&self, registers: RegisterBase) -> bool {
        let mut index = 0;
        while index < self.memory.devices.len() {
            if self.memory.devices[index].contains(registers.address()) {
                return true;
            }
            index += 1;
        }
        false
    }
}
