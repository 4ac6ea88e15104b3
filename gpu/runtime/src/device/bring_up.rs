//! Bring-up, restart and shutdown: the steps in order, each reported.
//!
//! Facts: hardware/csf-mmio.md sections 16.1, 16.6, 16.8 and 16.9.

use super::power::{choose_coherency, l2_off, l2_on};
use super::reset::{reset, unmask};
use super::{Device, PowerStuck, ProbeError, ResetError};
use crate::firmware::{
    BootError, HaltError, Interface, InterfaceError, LoadError, LoadedImage, RequestIgnored, halt,
    start, stop,
};
use crate::memory::Memory;
use crate::mmu::{AddressSpace, MmuError};
use crate::platform::{Instant, Platform};
use crate::report::{Done, Reporter, Step};
use crate::vm::{Space, Vm};
use core::fmt;
use eitri_csf::command::ResetKind;
use eitri_csf::interface::control::SHARED_VA_END;
use eitri_csf::registers::interrupts::{GPU_IRQ, gpu_irq};
use heapless::Vec;
use thiserror::Error;

/// Why the GPU can't be brought up or down, by step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BringUpError {
    /// There is no GPU, or not one that is driven.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// It does not reset.
    #[error(transparent)]
    Reset(#[from] ResetError),
    /// Power does not come or go.
    #[error(transparent)]
    Power(#[from] PowerStuck),
    /// The firmware can't be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// An address space can't be set up.
    #[error(transparent)]
    Mmu(#[from] MmuError),
    /// The firmware does not boot.
    #[error(transparent)]
    Boot(#[from] BootError),
    /// The firmware's interface can't be used.
    #[error("the firmware's interface can't be used: {0}")]
    Interface(#[from] InterfaceError),
    /// The firmware does not answer.
    #[error(transparent)]
    Silent(#[from] RequestIgnored),
    /// The firmware does not stop.
    #[error(transparent)]
    Halt(#[from] HaltError),
}

/// How to bring up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where buffers begin in the address space of jobs; page aligned.
    pub first_address: u64,
    /// Where they end (exclusive). At most 4 GiB keeps code and shared memory inside 32 bits.
    pub end_address: u64,
}

impl Default for Options {
    /// 32 MiB to 4 GiB, as user-space drivers have it.
    fn default() -> Options {
        Options {
            first_address: 32 << 20,
            end_address: 4 << 30,
        }
    }
}

/// Sources of the GPU line that are always let through.
const GPU_SOURCES: u32 = gpu_irq::GPU_FAULT.mask32()
    | gpu_irq::GPU_PROTECTED_FAULT.mask32()
    | gpu_irq::RESET_COMPLETED.mask32()
    | gpu_irq::CLEAN_CACHES_COMPLETED.mask32();

impl<'f, P: Platform> Device<'f, P> {
    /// Brings the GPU up: from a GPU whose clock runs to one that takes jobs. `firmware` is the image
    /// (`mali_csffw.bin`) for this architecture; it must stay, because a restart reads it again.
    ///
    /// # Errors
    /// The first step that fails, with what it saw. The GPU is left as it was then.
    pub fn bring_up(
        mut platform: P,
        firmware: &'f [u8],
        options: Options,
        reporter: &mut impl Reporter,
    ) -> Result<Device<'f, P>, BringUpError> {
        let mut clock = Clock {
            reporter,
            since: Instant(core::time::Duration::ZERO),
        };
        let it = &mut platform;
        let mut memory = Memory::new();

        clock.begin(it, Step::Probe);
        let properties = super::probe::probe(it)?;
        clock.done(it, Step::Probe, format_args!("{properties}"));

        let coherency = choose_coherency(it.coherency(), properties.coherency_features);
        clock.begin(it, Step::Reset);
        let kind = reset(it)?;
        unmask(it, GPU_IRQ, GPU_SOURCES);
        clock.done(
            it,
            Step::Reset,
            format_args!("{} reset completed", reset_name(kind)),
        );

        clock.begin(it, Step::PowerOn);
        l2_on(it, coherency)?;
        clock.done(
            it,
            Step::PowerOn,
            format_args!("coherency: {}", coherency.about()),
        );

        clock.begin(it, Step::LoadFirmware);
        let bits = properties.va_bits;
        let mut space = AddressSpace::new(it, &mut memory, Space::Firmware.number(), bits)?;
        let image = LoadedImage::load(it, &mut memory, &mut space, firmware)?;
        let (sections, bytes) = image.size();
        let build = image.image().build_info().unwrap_or("unknown");
        clock.done(
            it,
            Step::LoadFirmware,
            format_args!("{sections} sections, {bytes:#x} bytes, build {build}"),
        );

        let interface = boot(it, &mut space, &image, properties.cores, &mut clock)?;

        clock.begin(it, Step::EnableJobSpace);
        let mut jobs = AddressSpace::new(it, &mut memory, Space::Jobs.number(), bits)?;
        jobs.enable(it)?;
        clock.done(
            it,
            Step::EnableJobSpace,
            format_args!("address space {}", Space::Jobs.number()),
        );

        // A page between the shared section and the first object: an overrun of either faults.
        let first = image
            .shared_end()
            .saturating_add(eitri_csf::page_table::PAGE_BYTES);
        let firmware_vm = Vm::new(Space::Firmware, space, first..u64::from(SHARED_VA_END));
        let job_vm = Vm::new(
            Space::Jobs,
            jobs,
            options.first_address..options.end_address,
        );
        Ok(Device {
            platform,
            properties,
            coherency,
            memory,
            firmware_vm,
            job_vm,
            image,
            interface,
            groups: Vec::new(),
            next_group: 0,
            lost: None,
        })
    }

    /// Starts the GPU again after it was lost: buffers, pipelines and their contents stay, queues are gone and must
    /// be destroyed and made again.
    ///
    /// # Errors
    /// The first step that fails: then the GPU can't be used any more.
    pub fn restart(&mut self, reporter: &mut impl Reporter) -> Result<(), BringUpError> {
        let mut clock = Clock {
            reporter,
            since: Instant(core::time::Duration::ZERO),
        };
        let it = &mut self.platform;
        clock.begin(it, Step::Reset);
        // A microcontroller that does not stop is stopped by the reset.
        let _ = stop(it);
        let kind = reset(it)?;
        unmask(it, GPU_IRQ, GPU_SOURCES);
        clock.done(
            it,
            Step::Reset,
            format_args!("{} reset completed", reset_name(kind)),
        );
        self.record_lost();
        self.firmware_vm.space.forget();
        self.job_vm.space.forget();

        let it = &mut self.platform;
        clock.begin(it, Step::PowerOn);
        l2_on(it, self.coherency)?;
        clock.done(
            it,
            Step::PowerOn,
            format_args!("coherency: {}", self.coherency.about()),
        );

        clock.begin(it, Step::LoadFirmware);
        self.image.reload(it);
        clock.done(
            it,
            Step::LoadFirmware,
            format_args!("every section written again"),
        );

        let cores = self.properties.cores;
        self.interface = boot(
            it,
            &mut self.firmware_vm.space,
            &self.image,
            cores,
            &mut clock,
        )?;
        clock.begin(it, Step::EnableJobSpace);
        self.job_vm.space.enable(it)?;
        clock.done(
            it,
            Step::EnableJobSpace,
            format_args!("address space {}", Space::Jobs.number()),
        );
        self.lost = None;
        Ok(())
    }

    /// Stops everything and cuts the L2's power; gives the platform back. What does not stop in order is reset, which
    /// cuts power too.
    ///
    /// # Errors
    /// What did not stop in order, or that the GPU does not even reset; with the platform, so that its owner can cut
    /// power all the same.
    pub fn shutdown(mut self, reporter: &mut impl Reporter) -> Result<P, (P, BringUpError)> {
        match self.power_down(reporter) {
            Ok(()) => Ok(self.platform),
            Err(error) => Err((self.platform, error)),
        }
    }

    fn power_down(&mut self, reporter: &mut impl Reporter) -> Result<(), BringUpError> {
        let mut clock = Clock {
            reporter,
            since: Instant(core::time::Duration::ZERO),
        };
        let alive = self.lost.is_none();
        let orderly = if alive {
            self.power_down_in_order(&mut clock)
        } else {
            Ok(())
        };
        if alive && orderly.is_ok() {
            return Ok(());
        }
        let it = &mut self.platform;
        clock.begin(it, Step::Reset);
        // A microcontroller that does not stop is stopped by the reset.
        let _ = stop(it);
        let reset = reset(it);
        self.firmware_vm.space.forget();
        self.job_vm.space.forget();
        orderly?;
        let kind = reset_name(reset?);
        clock.done(
            &mut self.platform,
            Step::Reset,
            format_args!("{kind} reset completed"),
        );
        Ok(())
    }

    fn power_down_in_order<R: Reporter>(
        &mut self,
        clock: &mut Clock<'_, R>,
    ) -> Result<(), BringUpError> {
        let it = &mut self.platform;
        let global = self.interface.global;
        clock.begin(it, Step::StopGroups);
        for group in &mut self.groups {
            group.terminate(it, &global)?;
        }
        let count = self.groups.len();
        clock.done(it, Step::StopGroups, format_args!("{count} groups"));

        clock.begin(it, Step::StopFirmware);
        halt(it, &global)?;
        stop(it)?;
        clock.done(
            it,
            Step::StopFirmware,
            format_args!("microcontroller halted and disabled"),
        );

        clock.begin(it, Step::DisableSpaces);
        self.job_vm.space.disable(it)?;
        self.firmware_vm.space.disable(it)?;
        clock.done(
            it,
            Step::DisableSpaces,
            format_args!("address spaces unmapped"),
        );

        clock.begin(it, Step::PowerOff);
        l2_off(it)?;
        clock.done(it, Step::PowerOff, format_args!("L2 off"));
        Ok(())
    }
}

const fn reset_name(kind: ResetKind) -> &'static str {
    match kind {
        ResetKind::Fast => "fast",
        ResetKind::Soft => "soft",
        ResetKind::Hard => "hard",
    }
}

/// From loaded firmware to firmware that answers: the part that bring-up and restart share.
fn boot<P: Platform, R: Reporter>(
    it: &mut P,
    space: &mut AddressSpace,
    image: &LoadedImage<'_>,
    cores: u64,
    clock: &mut Clock<'_, R>,
) -> Result<Interface, BringUpError> {
    clock.begin(it, Step::EnableFirmwareSpace);
    space.enable(it)?;
    clock.done(
        it,
        Step::EnableFirmwareSpace,
        format_args!("address space {}", Space::Firmware.number()),
    );

    clock.begin(it, Step::StartFirmware);
    start(it, space)?;
    clock.done(
        it,
        Step::StartFirmware,
        format_args!("boot notice received"),
    );

    clock.begin(it, Step::CheckInterface);
    let interface = Interface::discover(it, image.shared())?;
    clock.done(it, Step::CheckInterface, format_args!("{interface}"));

    clock.begin(it, Step::Configure);
    interface.global.configure(it, cores)?;
    clock.done(it, Step::Configure, format_args!("cores {cores:#x}"));

    clock.begin(it, Step::Ping);
    interface.global.ping(it)?;
    clock.done(it, Step::Ping, format_args!("answered"));
    Ok(interface)
}

/// Tells a reporter of steps, with the time they took.
struct Clock<'r, R> {
    reporter: &'r mut R,
    since: Instant,
}

impl<R: Reporter> Clock<'_, R> {
    fn begin<P: Platform>(&mut self, platform: &mut P, step: Step) {
        self.reporter.begin(step);
        self.since = platform.now();
    }

    fn done<P: Platform>(&mut self, platform: &mut P, step: Step, found: fmt::Arguments<'_>) {
        let took = platform.now().since(self.since);
        self.reporter.done(&Done { step, found, took });
    }
}
