//! The GPU without a driver: registers by their rows, and waits with a limit.
//!
//! Facts: hardware/csf-mmio.md 1 (access rules) and 16 (limits).

use crate::result::{Measurement, Trouble, Unit, failed};
use crate::setup::Setup;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_csf::Arch;
use eitri_csf::command::{GpuCommand, ResetKind};
use eitri_csf::product::GpuId;
use eitri_csf::registers::control::{
    COHERENCY_ENABLE, Coherency, GPU_COMMAND, L2_CONFIG, coherency_enable, l2_config,
};
use eitri_csf::registers::identity::GPU_ID;
use eitri_csf::registers::interrupts::{GPU_IRQ, gpu_irq};
use eitri_csf::registers::power::Domain;
use eitri_csf::table::{Register, Width};
use eitri_runtime::{Lines, Platform};

/// How long anything may take that takes microseconds when it works: hardware/csf-mmio.md 16 allows 20 ms for power.
pub(crate) const LIMIT: Duration = Duration::from_millis(20);
/// How long a reset may take.
pub(crate) const RESET: Duration = Duration::from_millis(500);
/// Between two looks.
const LOOK: Duration = Duration::from_micros(10);

/// The platform, while nobody drives the GPU.
pub(crate) struct Raw<'a, P> {
    pub(crate) platform: P,
    pub(crate) setup: &'a Setup<'a>,
    pub(crate) measured: Vec<Measurement>,
    /// The name of the running test.
    pub(crate) test: String,
}

impl<P: Platform> Raw<'_, P> {
    pub(crate) fn measure(&mut self, name: &str, value: u64, unit: Unit) {
        self.measured.push(Measurement {
            name: format!("{}.{name}", self.test),
            value,
            unit,
        });
    }

    pub(crate) fn read(&mut self, register: Register) -> u64 {
        let low = u64::from(self.platform.read32(register.offset));
        match register.width {
            Width::Bits32 => low,
            Width::Bits64 => low | u64::from(self.platform.read32(register.offset + 4)) << 32,
        }
    }

    pub(crate) fn write(&mut self, register: Register, value: u64) {
        self.platform.write32(register.offset, value as u32);
        if register.width == Width::Bits64 {
            self.platform
                .write32(register.offset + 4, (value >> 32) as u32);
        }
    }

    pub(crate) fn arch(&mut self) -> Option<Arch> {
        GpuId(self.read(GPU_ID) as u32).arch()
    }

    /// Waits until the bits of `mask` are `wanted`; how long that took.
    pub(crate) fn until(
        &mut self,
        register: Register,
        mask: u64,
        wanted: u64,
        limit: Duration,
    ) -> Result<Duration, Trouble> {
        let limit = limit * self.platform.slowdown().max(1);
        let start = self.platform.now();
        loop {
            let value = self.read(register);
            let now = self.platform.now();
            if value & mask == wanted {
                return Ok(now.since(start));
            }
            if now.since(start) > limit {
                let (name, offset) = (register.name, register.offset);
                return Err(failed!(
                    "{name} ({offset:#x}) = {value:#x} after {limit:?}: its bits {mask:#x} should be {wanted:#x}"
                ));
            }
            self.platform.wait(Lines::NONE, now.after(LOOK));
        }
    }

    /// Lets time pass.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.platform.now().after(time);
        while self.platform.now() < end {
            self.platform.wait(Lines::NONE, end);
        }
    }

    pub(crate) fn command(&mut self, command: GpuCommand) {
        self.write(GPU_COMMAND, command.word().into());
    }

    /// Resets the GPU; how long that took.
    pub(crate) fn reset(&mut self, kind: ResetKind) -> Result<Duration, Trouble> {
        let done = gpu_irq::RESET_COMPLETED.mask();
        self.write(GPU_IRQ.clear, done);
        self.command(GpuCommand::Reset(kind));
        let took = self.until(GPU_IRQ.rawstat, done, done, RESET)?;
        self.write(GPU_IRQ.clear, done);
        Ok(took)
    }

    /// What must stand before the L2 has power.
    pub(crate) fn prepare_l2(&mut self) {
        let none = coherency_enable::PROTOCOL.word(Coherency::None);
        self.write(COHERENCY_ENABLE, none.into());
        if let Some(hash) = self.platform.slice_hash() {
            for (number, value) in (0..).zip(hash) {
                let register = eitri_csf::registers::control::ASN_HASH.at(number);
                self.write(register, value.into());
            }
            let config = self.read(L2_CONFIG) as u32;
            let config = l2_config::ASN_HASH_ENABLE.set32(config, true);
            self.write(L2_CONFIG, config.into());
        }
    }

    /// Switches the first L2; how long that took.
    pub(crate) fn switch_l2(&mut self, on: bool) -> Result<Duration, Trouble> {
        let first = 1;
        let (register, wanted) = match on {
            true => (Domain::L2.power_on(), first),
            false => (Domain::L2.power_off(), 0),
        };
        self.write(register, first);
        let took = self.until(Domain::L2.ready(), first, wanted, LIMIT)?;
        self.until(Domain::L2.transition(), first, 0, LIMIT)?;
        Ok(took)
    }
}
