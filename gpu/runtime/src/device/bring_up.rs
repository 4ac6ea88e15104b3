//! Bring-up, restart and shutdown: the steps in order, each reported.
//!
//! Facts: hardware/csf-mmio.md sections 16.1, 16.6, 16.8 and 16.9.

use super::caches::Caches;
use super::poll::Watch;
use super::spaces::release_all;
use super::{Device, DeviceLost};
use crate::command::Words;
use crate::firmware::{
    BootError, Interface, InterfaceError, LoadError, LoadedImage, RequestIgnored, halt, start,
};
use crate::gpu::interrupts::{mask_all, unmask};
use crate::gpu::mcu::stop;
use crate::gpu::power::{choose_coherency, l2_off, l2_on};
use crate::gpu::probe::probe;
use crate::gpu::reset::{reset, stop_gpu};
use crate::gpu::{HaltError, PowerStuck, ProbeError, Properties, ResetError};
use crate::group::{Doom, Group, GroupMemory, Residency};
use crate::links::Links;
use crate::memory::Memory;
use crate::mmu::{AddressSpace, MmuError};
use crate::platform::Platform;
use crate::report::{Reporter, Step, Steps};
use crate::scheduler::Scheduler;
use crate::seats::Seats;
use crate::slab::Slab;
use crate::storage::{Storage, Tables};
use crate::vm::Vm;
use core::fmt;
use eitri_cs::builder::BuildFault;
use eitri_csf::command::ResetKind;
use eitri_csf::interface::control::SHARED_VA_END;
use eitri_csf::page_table::PAGE_BYTES;
use eitri_csf::registers::control::Coherency;
use eitri_csf::registers::interrupts::{GPU_IRQ, gpu_irq};
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
    /// The device was lost while it was being stopped.
    #[error("the device was lost while its groups were being stopped")]
    Lost,
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
    /// Where memory begins in an address space of jobs; page aligned.
    pub first_address: u64,
    /// Where they end (exclusive). At most 4 GiB keeps code and shared memory inside 32 bits.
    pub end_address: u64,
    /// Bends the scheduler's choices, for tests; 0 does not.
    pub seed: u64,
}

impl Default for Options {
    /// 32 MiB to 4 GiB, as user-space drivers have it.
    fn default() -> Options {
        Options {
            first_address: 32 << 20,
            end_address: 4 << 30,
            seed: 0,
        }
    }
}

/// Sources of the GPU line that are always let through.
const GPU_SOURCES: u32 = gpu_irq::GPU_FAULT.mask32()
    | gpu_irq::GPU_PROTECTED_FAULT.mask32()
    | gpu_irq::RESET_COMPLETED.mask32()
    | gpu_irq::CLEAN_CACHES_COMPLETED.mask32();

/// The firmware's own space, which it has for good.
const FIRMWARE_SPACE: u32 = 0;

/// Address spaces that are for jobs: all that there are but the firmware's, as far as there are registers for them.
const fn for_jobs(address_spaces: u32) -> u32 {
    address_spaces & 0xFFFF & !(1 << FIRMWARE_SPACE)
}

/// The instructions that recording writes, for streams as the firmware has them.
fn words(properties: &Properties, interface: &Interface) -> Result<Words, BuildFault> {
    Words::new(
        properties.arch,
        interface.registers(),
        interface.scoreboards(),
    )
}

impl<'s, 'd, P: Platform> Device<'s, 'd, P> {
    /// Brings the GPU up: from a GPU whose clock runs to one that takes jobs. `firmware` is the image
    /// (`mali_csffw.bin`) for this architecture; it must stay, because a restart reads it again. What `storage` held is
    /// dropped.
    ///
    /// # Errors
    /// The first step that fails, with what it saw, and the platform: the GPU was stopped, and the platform has its
    /// memory back, so that it can be tried again.
    pub fn bring_up<const QUEUES: usize, const JOBS: usize, const OBJECTS: usize>(
        platform: P,
        firmware: &'d [u8],
        storage: &'s mut Storage<'d, QUEUES, JOBS, OBJECTS>,
        options: Options,
        reporter: &mut impl Reporter,
    ) -> Result<Device<'s, 'd, P>, Failed<P>> {
        Device::bring_up_with(platform, firmware, storage.tables(), options, reporter)
    }

    /// The same, whatever the sizes of the tables are.
    fn bring_up_with(
        mut platform: P,
        firmware: &'d [u8],
        tables: Tables<'s, 'd>,
        options: Options,
        reporter: &mut impl Reporter,
    ) -> Result<Device<'s, 'd, P>, Failed<P>> {
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
        let Prepared { space, image } = &mut prepared;
        let booted = boot(it, &mut steps, space, image, &properties);
        let interface = match booted {
            Ok(interface) => interface,
            Err(error) => {
                memory.set_gpu_runs_free(stop_gpu(it).is_err());
                prepared.release(it, &mut memory);
                return Err(Failed { platform, error });
            }
        };
        let Prepared { space, image } = prepared;
        // A page between the shared section and the first object: an overrun of either faults.
        let first = image.shared_end().saturating_add(PAGE_BYTES);
        let for_firmware = first..u64::from(SHARED_VA_END);
        let now = platform.now();
        let slots = all_slots(&interface);
        let words = words(&properties, &interface);
        Ok(Device {
            platform,
            properties,
            coherency,
            options,
            memory,
            firmware_vm: Vm::new(space, for_firmware),
            image,
            interface,
            spaces: Slab::new(tables.spaces),
            groups: Slab::new(tables.groups),
            jobs: Slab::new(tables.jobs),
            objects: Slab::new(tables.objects),
            links: Links::new(tables.links),
            words,
            caches: Caches::new(),
            slot_seats: Seats::new(slots),
            space_seats: Seats::new(for_jobs(properties.address_spaces)),
            scheduler: Scheduler::new(options.seed),
            stamps: 0,
            watch: Watch::new(now),
            counters: None,
            hold_faults: false,
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
        self.save_caches();
        // A microcontroller that does not stop is stopped by the reset.
        let _ = stop(&mut self.platform);
        power_up(&mut self.platform, &mut steps, self.coherency)?;
        self.memory.set_gpu_runs_free(false);
        self.forget_spaces();
        if let Some(counters) = &mut self.counters {
            counters.forget();
        }
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
        let space = &mut self.firmware_vm.space;
        self.interface = boot(it, &mut steps, space, image, &self.properties)?;
        self.words = words(&self.properties, &self.interface);
        self.slot_seats = Seats::new(all_slots(&self.interface));
        self.watch = Watch::new(self.platform.now());
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
        let (platform, memory) = (&mut self.platform, &mut self.memory);
        for index in 0..self.groups.capacity() {
            let group = self
                .groups
                .key_at(index)
                .and_then(|key| self.groups.remove(key));
            let Some(group) = group else { continue };
            let GroupMemory {
                rings,
                pages,
                suspend,
                protected,
            } = group.memory;
            let mappings = [Some(rings), Some(pages), Some(suspend), protected];
            for mapping in mappings.into_iter().flatten() {
                memory.give_back(platform, mapping.into_pages());
            }
        }
        for index in 0..self.objects.capacity() {
            let object = self
                .objects
                .key_at(index)
                .and_then(|key| self.objects.remove(key));
            if let Some(object) = object {
                memory.give_back(platform, object.mapping.into_pages());
            }
        }
        if let Some(counters) = self.counters.take() {
            memory.give_back(platform, counters.mapping.into_pages());
        }
        release_all(platform, memory, &mut self.spaces);
        let prepared = Prepared {
            space: self.firmware_vm.space,
            image: self.image,
        };
        prepared.release(platform, memory);
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
        self.forget_spaces();
        orderly?;
        reset?;
        Ok(())
    }

    fn power_down_in_order<R: Reporter>(
        &mut self,
        steps: &mut Steps<'_, R>,
    ) -> Result<(), BringUpError> {
        steps.take_with(
            self,
            |device| &mut device.platform,
            Step::StopGroups,
            Self::stop_groups,
            |count, say| say(format_args!("{count} groups")),
        )?;
        let it = &mut self.platform;
        let global = self.interface.global;
        steps.take(
            it,
            Step::StopFirmware,
            |it| halt(it, &global).and_then(|()| stop(it)),
            |(), say| say(format_args!("microcontroller halted and disabled")),
        )?;
        let (firmware, spaces) = (&mut self.firmware_vm.space, &mut self.spaces);
        steps.take(
            it,
            Step::DisableSpaces,
            |it| {
                for (_, vm) in spaces.iter_mut() {
                    vm.space.disable(it)?;
                }
                firmware.disable(it)
            },
            |(), say| say(format_args!("address spaces unmapped")),
        )?;
        steps.take(it, Step::PowerOff, l2_off, |(), say| {
            say(format_args!("L2 off"));
        })?;
        Ok(())
    }

    /// Drops every group, and waits until the firmware has done so; how many there were.
    fn stop_groups(&mut self) -> Result<usize, BringUpError> {
        let count = self.groups.len();
        for (_, group) in self.groups.iter_mut() {
            group.doom = group.doom.or(Some(Doom::Cancelled));
        }
        self.settle();
        let off = |group: &Group| matches!(group.residency, Residency::Off | Residency::Dead);
        match (self.lost, self.groups.iter().all(|(_, group)| off(group))) {
            (Some(DeviceLost::Silent(ignored)), _) => Err(ignored.into()),
            (None, true) => Ok(count),
            // It was lost on the way, for a reason of its own: what is left is a reset.
            _ => Err(BringUpError::Lost),
        }
    }
}

/// A bit for each slot that is used.
fn all_slots(interface: &Interface) -> u32 {
    let count = u32::try_from(interface.slots.len()).unwrap_or(0);
    1_u32.checked_shl(count).unwrap_or(0).wrapping_sub(1)
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
    image: LoadedImage<'f>,
}

impl Prepared<'_> {
    /// Gives its memory back: the GPU is stopped.
    fn release<P: Platform>(self, platform: &mut P, memory: &mut Memory) {
        self.image.release(platform, memory);
        self.space.release(platform, memory);
    }
}

/// Copies and maps the firmware. If that fails nothing is kept.
fn prepare<'f, P: Platform, R: Reporter>(
    it: &mut P,
    memory: &mut Memory,
    steps: &mut Steps<'_, R>,
    firmware: &'f [u8],
    properties: &Properties,
    coherency: Coherency,
) -> Result<Prepared<'f>, BringUpError> {
    let bits = properties.va_bits;
    let mut space = AddressSpace::new(it, memory, bits, coherency)?;
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
        Ok(image) => Ok(Prepared { space, image }),
        Err(error) => {
            space.release(it, memory);
            Err(error.into())
        }
    }
}

/// From loaded firmware to firmware that answers: what bring-up and restart share.
fn boot<P: Platform, R: Reporter>(
    it: &mut P,
    steps: &mut Steps<'_, R>,
    space: &mut AddressSpace,
    image: &LoadedImage<'_>,
    properties: &Properties,
) -> Result<Interface, BringUpError> {
    steps.take(
        it,
        Step::EnableFirmwareSpace,
        |it| space.enable(it, FIRMWARE_SPACE),
        |(), say| say(format_args!("address space {FIRMWARE_SPACE}")),
    )?;
    steps.take(
        it,
        Step::StartFirmware,
        |it| start(it, space, properties.arch),
        |(), say| say(format_args!("boot notice received")),
    )?;
    let interface = steps.take(
        it,
        Step::CheckInterface,
        |it| Interface::discover(it, image.shared()),
        |interface, say| say(format_args!("{interface}")),
    )?;
    let (global, cores) = (interface.global, properties.cores);
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
    Ok(interface)
}
