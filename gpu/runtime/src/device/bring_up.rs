//! Bring-up, restart and shutdown: the steps in order, each reported.
//!
//! Facts: hardware/csf-mmio.md sections 16.1, 16.6, 16.8 and 16.9.

use super::{Device, DeviceLost};
use crate::firmware::{
    BootError, Interface, InterfaceError, LoadError, LoadedImage, RequestIgnored, halt, start,
};
use crate::gpu::interrupts::{mask_all, unmask};
use crate::gpu::mcu::stop;
use crate::gpu::power::{choose_coherency, l2_off, l2_on};
use crate::gpu::probe::probe;
use crate::gpu::reset::{reset, stop_gpu};
use crate::gpu::{HaltError, PowerStuck, ProbeError, Properties, ResetError};
use crate::memory::Memory;
use crate::mmu::{AddressSpace, MmuError};
use crate::platform::Platform;
use crate::report::{Reporter, Step, Steps};
use crate::vm::{Space, Vm};
use core::fmt;
use eitri_csf::command::ResetKind;
use eitri_csf::interface::control::SHARED_VA_END;
use eitri_csf::page_table::PAGE_BYTES;
use eitri_csf::registers::control::Coherency;
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

/// A GPU that could not be brought up or down, and the platform, which is its owner's again.
pub struct Failed<P> {
    /// The platform.
    pub platform: P,
    /// The step that failed, with what it saw.
    pub error: BringUpError,
}

impl<P> fmt::Debug for Failed<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.error, f)
    }
}

impl<P> fmt::Display for Failed<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl<P> core::error::Error for Failed<P> {}

impl<P> From<Failed<P>> for BringUpError {
    fn from(failed: Failed<P>) -> BringUpError {
        failed.error
    }
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
    /// The first step that fails, with what it saw, and the platform: the GPU was stopped, and the platform has its
    /// memory back, so that it can be tried again.
    pub fn bring_up(
        mut platform: P,
        firmware: &'f [u8],
        options: Options,
        reporter: &mut impl Reporter,
    ) -> Result<Device<'f, P>, Failed<P>> {
        let mut steps = Steps::new(reporter);
        let it = &mut platform;
        let (properties, coherency) = match identify(it, &mut steps) {
            Ok(known) => known,
            // A GPU that is not known is left alone.
            Err(error) => {
                let error = error.into();
                return Err(Failed { platform, error });
            }
        };
        let mut memory = Memory::new();
        let mut prepared = match power_up(it, &mut steps, coherency).and_then(|()| {
            prepare(
                it,
                &mut memory,
                &mut steps,
                firmware,
                &properties,
                coherency,
            )
        }) {
            Ok(prepared) => prepared,
            Err(error) => {
                // What does not stop either has no memory of ours yet.
                let _ = stop_gpu(it);
                return Err(Failed { platform, error });
            }
        };
        let Prepared { space, jobs, image } = &mut prepared;
        let booted = boot(it, &mut steps, space, jobs, image, properties.cores);
        let interface = match booted {
            Ok(interface) => interface,
            Err(error) => {
                memory.set_gpu_runs_free(stop_gpu(it).is_err());
                prepared.release(it, &mut memory);
                return Err(Failed { platform, error });
            }
        };
        let Prepared { space, jobs, image } = prepared;
        // A page between the shared section and the first object: an overrun of either faults.
        let first = image.shared_end().saturating_add(PAGE_BYTES);
        let for_firmware = first..u64::from(SHARED_VA_END);
        let for_jobs = options.first_address..options.end_address;
        Ok(Device {
            platform,
            properties,
            coherency,
            memory,
            firmware_vm: Vm::new(Space::Firmware, space, for_firmware),
            job_vm: Vm::new(Space::Jobs, jobs, for_jobs),
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
    /// The first step that fails: then the GPU can't be used any more, until another restart succeeds.
    pub fn restart(&mut self, reporter: &mut impl Reporter) -> Result<(), BringUpError> {
        let started = self.start_again(reporter);
        if let Err(error) = started {
            self.lost = None;
            self.lose(DeviceLost::Restart(error));
        }
        started
    }

    fn start_again(&mut self, reporter: &mut impl Reporter) -> Result<(), BringUpError> {
        let mut steps = Steps::new(reporter);
        self.fail_queues();
        // A microcontroller that does not stop is stopped by the reset.
        let _ = stop(&mut self.platform);
        power_up(&mut self.platform, &mut steps, self.coherency)?;
        self.memory.set_gpu_runs_free(false);
        self.firmware_vm.space.forget();
        self.job_vm.space.forget();
        let it = &mut self.platform;
        let image = &self.image;
        steps.take(
            it,
            Step::LoadFirmware,
            |it| {
                image.reload(it);
                Ok::<_, BringUpError>(())
            },
            |(), say| say(format_args!("every section written again")),
        )?;
        let (space, jobs) = (&mut self.firmware_vm.space, &mut self.job_vm.space);
        self.interface = boot(it, &mut steps, space, jobs, image, self.properties.cores)?;
        self.lost = None;
        Ok(())
    }

    /// Stops everything and cuts the L2's power; gives the platform back, and all memory to it. What does not stop in
    /// order is reset, which cuts power too. Whoever still holds a buffer holds nothing.
    ///
    /// # Errors
    /// What did not stop in order, or that the GPU does not even reset; with the platform, so that its owner can cut
    /// power all the same. The memory of a GPU that does not reset is not given back.
    pub fn shutdown(mut self, reporter: &mut impl Reporter) -> Result<P, Failed<P>> {
        let down = self.power_down(reporter);
        self.fail_queues();
        while let Some(group) = self.groups.pop() {
            let mut objects = group.into_objects();
            while let Some(object) = objects.pop() {
                let pages = object.into_pages();
                self.memory.give_back(&mut self.platform, pages);
            }
        }
        let prepared = Prepared {
            space: self.firmware_vm.space,
            jobs: self.job_vm.space,
            image: self.image,
        };
        prepared.release(&mut self.platform, &mut self.memory);
        match down {
            Ok(()) => Ok(self.platform),
            Err(error) => Err(Failed {
                platform: self.platform,
                error,
            }),
        }
    }

    fn power_down(&mut self, reporter: &mut impl Reporter) -> Result<(), BringUpError> {
        let mut steps = Steps::new(reporter);
        let orderly = match self.lost {
            None => self.power_down_in_order(&mut steps),
            Some(_) => Ok(()),
        };
        if self.lost.is_none() && orderly.is_ok() {
            mask_all(&mut self.platform);
            return Ok(());
        }
        let reset = steps.take(&mut self.platform, Step::Reset, stop_gpu, |kind, say| {
            say(format_args!("{} reset completed", reset_name(*kind)))
        });
        self.memory.set_gpu_runs_free(reset.is_err());
        self.firmware_vm.space.forget();
        self.job_vm.space.forget();
        orderly?;
        reset?;
        Ok(())
    }

    fn power_down_in_order<R: Reporter>(
        &mut self,
        steps: &mut Steps<'_, R>,
    ) -> Result<(), BringUpError> {
        let it = &mut self.platform;
        let global = self.interface.global;
        let groups = &mut self.groups;
        steps.take(
            it,
            Step::StopGroups,
            |it| {
                for group in groups.iter_mut() {
                    group.terminate(it, &global)?;
                }
                Ok::<_, BringUpError>(groups.len())
            },
            |count, say| say(format_args!("{count} groups")),
        )?;
        steps.take(
            it,
            Step::StopFirmware,
            |it| halt(it, &global).and_then(|()| stop(it)),
            |(), say| say(format_args!("microcontroller halted and disabled")),
        )?;
        let (space, jobs) = (&mut self.firmware_vm.space, &mut self.job_vm.space);
        steps.take(
            it,
            Step::DisableSpaces,
            |it| jobs.disable(it).and_then(|()| space.disable(it)),
            |(), say| say(format_args!("address spaces unmapped")),
        )?;
        steps.take(it, Step::PowerOff, l2_off, |(), say| {
            say(format_args!("L2 off"));
        })?;
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

/// Finds out what the GPU is, and how it sees memory.
fn identify<P: Platform, R: Reporter>(
    it: &mut P,
    steps: &mut Steps<'_, R>,
) -> Result<(Properties, Coherency), ProbeError> {
    steps.take(
        it,
        Step::Probe,
        |it| {
            let properties = probe(it)?;
            let coherency = choose_coherency(it.coherency(), properties.coherency_features)?;
            Ok((properties, coherency))
        },
        |(properties, _), say| say(format_args!("{properties}")),
    )
}

/// From whatever was left to a GPU with its L2 on and everything else off.
fn power_up<P: Platform, R: Reporter>(
    it: &mut P,
    steps: &mut Steps<'_, R>,
    coherency: Coherency,
) -> Result<(), BringUpError> {
    steps.take(
        it,
        Step::Reset,
        |it| {
            let kind = reset(it)?;
            unmask(it, GPU_IRQ, GPU_SOURCES);
            Ok::<_, ResetError>(kind)
        },
        |kind, say| say(format_args!("{} reset completed", reset_name(*kind))),
    )?;
    steps.take(
        it,
        Step::PowerOn,
        |it| l2_on(it, coherency),
        |(), say| say(format_args!("coherency: {}", coherency.about())),
    )?;
    Ok(())
}

/// What a GPU is started with: all of it is in memory only.
struct Prepared<'f> {
    space: AddressSpace,
    jobs: AddressSpace,
    image: LoadedImage<'f>,
}

impl Prepared<'_> {
    /// Gives its memory back: the GPU is stopped.
    fn release<P: Platform>(self, platform: &mut P, memory: &mut Memory) {
        self.image.release(platform, memory);
        self.jobs.release(platform, memory);
        self.space.release(platform, memory);
    }
}

/// Copies and maps the firmware, and makes the space of jobs. If that fails nothing is kept.
fn prepare<'f, P: Platform, R: Reporter>(
    it: &mut P,
    memory: &mut Memory,
    steps: &mut Steps<'_, R>,
    firmware: &'f [u8],
    properties: &Properties,
    coherency: Coherency,
) -> Result<Prepared<'f>, BringUpError> {
    let bits = properties.va_bits;
    let jobs = AddressSpace::new(it, memory, Space::Jobs.number(), bits, coherency)?;
    let space = AddressSpace::new(it, memory, Space::Firmware.number(), bits, coherency);
    let mut space = match space {
        Ok(space) => space,
        Err(error) => {
            jobs.release(it, memory);
            return Err(error.into());
        }
    };
    let loaded = steps.take(
        it,
        Step::LoadFirmware,
        |it| LoadedImage::load(it, memory, &mut space, firmware),
        |image, say| {
            let (sections, bytes) = image.size();
            let build = image.image().build_info().unwrap_or("unknown");
            say(format_args!(
                "{sections} sections, {bytes:#x} bytes, build {build}"
            ));
        },
    );
    match loaded {
        Ok(image) => Ok(Prepared { space, jobs, image }),
        Err(error) => {
            space.release(it, memory);
            jobs.release(it, memory);
            Err(error.into())
        }
    }
}

/// From loaded firmware to firmware that answers and a space that takes jobs: what bring-up and restart share.
fn boot<P: Platform, R: Reporter>(
    it: &mut P,
    steps: &mut Steps<'_, R>,
    space: &mut AddressSpace,
    jobs: &mut AddressSpace,
    image: &LoadedImage<'_>,
    cores: u64,
) -> Result<Interface, BringUpError> {
    steps.take(
        it,
        Step::EnableFirmwareSpace,
        |it| space.enable(it),
        |(), say| say(format_args!("address space {}", Space::Firmware.number())),
    )?;
    steps.take(
        it,
        Step::StartFirmware,
        |it| start(it, space),
        |(), say| say(format_args!("boot notice received")),
    )?;
    let interface = steps.take(
        it,
        Step::CheckInterface,
        |it| Interface::discover(it, image.shared()),
        |interface, say| say(format_args!("{interface}")),
    )?;
    let global = interface.global;
    steps.take(
        it,
        Step::Configure,
        |it| global.configure(it, cores),
        |(), say| say(format_args!("cores {cores:#x}")),
    )?;
    steps.take(
        it,
        Step::Ping,
        |it| global.ping(it),
        |(), say| say(format_args!("answered")),
    )?;
    steps.take(
        it,
        Step::EnableJobSpace,
        |it| jobs.enable(it),
        |(), say| say(format_args!("address space {}", Space::Jobs.number())),
    )?;
    Ok(interface)
}
