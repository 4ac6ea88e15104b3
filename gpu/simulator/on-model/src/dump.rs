//! The machine as what a core dump is taken from: the model's registers and the machine's memory.

use crate::Machine;
use eitri_dump::{Memory, Source, Unreadable};

impl Memory for Machine {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        self.look_at_memory(address, bytes)
            .ok_or(Unreadable { address })
    }
}

impl Source for Machine {
    fn register(&mut self, offset: u32) -> u32 {
        self.look_at_register(offset)
    }

    fn producer(&self) -> &str {
        concat!("Eitri ", env!("CARGO_PKG_VERSION"), ", on the model")
    }
}
