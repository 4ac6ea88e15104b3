//! Memory as the tile buffer and the tiler reach it: through the address space and the L2.

use crate::fabric::{Access, Fabric};
use crate::memory::PhysicalMemory;
use crate::mmu::Refusal;
use crate::tile::GpuMemory;
use crate::tiler::HeapMemory;

/// Memory as the tile buffer and the tiler reach it: through the address space and the L2.
pub(super) struct Through<'a> {
    pub(super) fabric: &'a mut Fabric,
    pub(super) memory: &'a mut dyn PhysicalMemory,
    pub(super) access: Access,
}

impl GpuMemory for Through<'_> {
    type Refusal = Refusal;

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refusal> {
        self.fabric
            .write(self.memory, self.access.to(address), bytes)
    }
}

impl HeapMemory for Through<'_> {
    type Refusal = Refusal;

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Refusal> {
        self.fabric
            .read(self.memory, self.access.to(address), bytes)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refusal> {
        self.fabric
            .write(self.memory, self.access.to(address), bytes)
    }
}
