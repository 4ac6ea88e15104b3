//! Board: the data that a board module states.
//!
//! Facts: hardware/boards.md section 9.

use crate::host::{Exit, Host};

/// A range of physical addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First address; a multiple of 4096.
    pub base: usize,
    /// Length in bytes; a multiple of 4096.
    pub bytes: usize,
}

impl Region {
    /// The region of `bytes` bytes at `base`.
    pub const fn new(base: usize, bytes: usize) -> Region {
        assert!(base.is_multiple_of(4096) && bytes.is_multiple_of(4096));
        Region { base, bytes }
    }

    /// The first address after it.
    pub const fn end(self) -> usize {
        self.base + self.bytes
    }

    const fn overlaps(self, other: Region) -> bool {
        self.base < other.end() && other.base < self.end()
    }
}

/// Memory, by how it is mapped.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Ordinary memory, cached. The image lies in it, at its linked address.
    pub ram: Region,
    /// Ordinary memory for the heap, cached.
    pub heap: Region,
    /// Memory for what the GPU and the CPU both use: not cached where the GPU is not coherent.
    pub shared: Region,
    /// Registers, the GPU's window apart.
    pub devices: &'static [Region],
}

/// A PL011 UART.
#[derive(Clone, Copy, Debug)]
pub struct Pl011 {
    /// Address of its registers.
    pub base: usize,
    /// Its clock, in hertz.
    pub clock_hertz: u32,
    /// Its speed, in baud.
    pub baud: u32,
}

/// A GIC of version 3.
#[derive(Clone, Copy, Debug)]
pub struct Gic {
    /// Address of the distributor.
    pub distributor: usize,
    /// Address of the first redistributor.
    pub redistributors: usize,
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
    /// Its register window.
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

/// Everything that the kernel must be told about a board.
#[derive(Clone, Copy)]
pub struct Board {
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

impl Board {
    /// Stops the compilation when regions of the board overlap.
    pub(crate) const fn checked(self) -> Board {
        let memory = self.memory;
        assert!(!memory.ram.overlaps(memory.shared));
        assert!(!memory.heap.overlaps(memory.ram) && !memory.heap.overlaps(memory.shared));
        let mut index = 0;
        while index < memory.devices.len() {
            let device = memory.devices[index];
            assert!(!device.overlaps(memory.ram));
            assert!(!device.overlaps(memory.heap) && !device.overlaps(memory.shared));
            assert!(!device.overlaps(self.gpu.window));
            index += 1;
        }
        self
    }
}
