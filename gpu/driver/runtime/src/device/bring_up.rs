//! Bring-up, restart and shutdown: the steps in order, each reported.
//!
//! Facts: hardware/csf-mmio.md sections 16.1, 16.6, 16.8 and 16.9.

use super::caches::Caches;
use super::poll::Watch;
use super::power::{Power, supply};
use super::recovery::Phase;
use super::start::{FIRMWARE_SPACE, Ground, Start, pass, start};
use super::{Device, DeviceLost, Versions};
use crate::command::{EncodedInstructions, Uniforms};
use crate::firmware::{
    BootError, Interface, InterfaceError, LoadError, LoadedImage, RequestIgnored,
};
use crate::gpu::power::choose_coherency;
use crate::gpu::probe::probe;
use crate::gpu::reset::stop_gpu;
use crate::gpu::{HaltError, PowerStuck, ProbeError, Properties, ResetError, TimerClock};
use crate::hw::Hw;
use crate::links::Links;
use crate::memory::Memory;
use crate::mmu::{AddressSpace, MmuError};
use crate::platform::Platform;
use crate::report::{Reporter, Step, Steps};
use crate::scheduler::Scheduler;
use crate::seats::Seats;
use crate::slab::{DeviceNumber, Slab};
use crate::storage::{Storage, Tables};
use crate::vm::Vm;
use crate::warning::Warning;
use core::fmt;
use core::time::Duration;
use eitri_cs::builder::BuildFault;
use eitri_csf::interface::control::SHARED_VA_END;
use eitri_csf::page_table::PAGE_BYTES;
use eitri_csf::registers::control::Coherency;
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
    /// The platform's supply does not come.
    #[error(
        "the GPU's supply and clocks did not come on within {limit:?}\n  help: the platform switches them: Platform::begin_supply"
    )]
    NoSupply {
        /// Its time.
        limit: Duration,
    },
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
    /// Where they end (exclusive), if semaphores' addresses do not begin before. At most 4 GiB keeps code and shared memory inside
    /// 32 bits.
    pub end_address: u64,
    /// Bends the scheduler's choices, for tests; 0 does not.
    pub seed: u64,
    /// How long there is nothing to do before [`Device::poll`] switches the GPU off, until there is; `None`: it stays on.
    pub idle_off: Option<Duration>,
    /// How often in a row [`Device::poll`] starts a lost GPU again by itself before the device is given up. A job that ends
    /// well begins a new row.
    pub recoveries: u32,
}

impl Default for Options {
    /// 32 MiB to 4 GiB, as user-space drivers have it.
    fn default() -> Options {
        Options {
            first_address: 32 << 20,
            end_address: 4 << 30,
            seed: 0,
            idle_off: None,
            recoveries: 4,
        }
    }
}

/// Address spaces that are for jobs: all that there are but the firmware's, as far as there are registers for them.
const fn for_jobs(address_spaces: u32) -> u32 {
    address_spaces & 0xFFFF & !(1 << FIRMWARE_SPACE)
}

/// The instructions that recording writes, for streams as the firmware has them.
pub(super) fn words(
    properties: &Properties,
    interface: &Interface,
) -> Result<EncodedInstructions, BuildFault> {
    EncodedInstructions::new(
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
    #[inline(never)]
    fn bring_up_with(
        mut platform: P,
        firmware: &'d [u8],
        tables: Tables<'s, 'd>,
        options: Options,
        reporter: &mut impl Reporter,
    ) -> Result<Device<'s, 'd, P>, Failed<P>> {
        let mut steps = Steps::new(reporter);
        let it = &mut platform;
        if let Err(error) = supply(it) {
            return Err(Failed { platform, error });
        }
        let (properties, coherency) = match identify(it, &mut steps) {
            Ok(known) => known,
            // A GPU that is not known is left alone.
            Err(error) => {
                let error = error.into();
                return Err(Failed { platform, error });
            }
        };
        let mut memory = Memory::new();
        let mut prepared = match prepare(it, &mut memory, firmware, &properties, coherency) {
            Ok(prepared) => prepared,
            // Nothing was asked of the GPU yet.
            Err(error) => return Err(Failed { platform, error }),
        };
        let Prepared { space, image } = &mut prepared;
        let started = start(
            &mut steps,
            Start::slow(),
            Ground {
                platform: it,
                properties: &properties,
                coherency,
                space,
                image,
            },
        );
        let interface = match started {
            Ok(interface) => interface,
            Err(error) => {
                // One that does not reset has heard of no memory of ours yet.
                let reset = matches!(error, BringUpError::Reset(_));
                memory.set_gpu_runs_free(!reset && stop_gpu(it).is_err());
                prepared.release(it, &mut memory);
                return Err(Failed { platform, error });
            }
        };
        let hw = Hw {
            platform,
            properties,
            coherency,
            interface,
        };
        Ok(Device::new(hw, memory, prepared, tables, options))
    }

    /// The device of a GPU that was started.
    #[inline(always)]
    fn new(
        mut hw: Hw<P>,
        memory: Memory,
        prepared: Prepared<'d>,
        tables: Tables<'s, 'd>,
        options: Options,
    ) -> Device<'s, 'd, P> {
        let Prepared { space, image } = prepared;
        // A page between the shared section and the first object: an overrun of either faults.
        let first = image.shared_end().saturating_add(PAGE_BYTES);
        let for_firmware = first..u64::from(SHARED_VA_END);
        let now = hw.platform.now();
        let slots = all_slots(&hw.interface);
        let words = words(&hw.properties, &hw.interface);
        let number = DeviceNumber::next();
        Device {
            options,
            memory,
            firmware_vm: Vm::new(space, for_firmware),
            image,
            spaces: Slab::new(tables.spaces, number),
            groups: Slab::new(tables.groups, number),
            jobs: Slab::new(tables.jobs, number),
            points: Slab::new(tables.points, number),
            objects: Slab::new(tables.objects, number),
            backlog: super::backlog::Backlog::new(),
            numbered: [None; 32],
            spaces_move: false,
            spaces_faulted: false,
            in_flight: 0,
            restless: true,
            look_at: crate::platform::Instant(Duration::ZERO),
            look_without_jobs: crate::platform::Instant(Duration::ZERO),
            watches_jobs: false,
            versions: Versions::default(),
            recordings: 0,
            removals: 0,
            links: Links::new(tables.links),
            drawing: None,
            uniforms: Uniforms::new(),
            holders: None,
            words,
            caches: Caches::new(),
            slot_seats: Seats::new(slots),
            space_seats: Seats::new(for_jobs(hw.properties.address_spaces)),
            scheduler: Scheduler::new(options.seed),
            stamps: 0,
            watch: Watch::new(now),
            counters: None,
            hold_faults: false,
            held_loss: None,
            phase: Phase::Running,
            power: Power::ON,
            due: None,
            attempts: 0,
            recoveries: 0,
            last_loss: None,
            lost: None,
            hw,
        }
    }

    /// Resets the GPU and starts it again, and waits for it: what can be saved is saved first, as in a recovery that
    /// [`Device::poll`] makes by itself. It brings a device back that was given up, whose queues are dead.
    ///
    /// # Errors
    /// The first step that fails: then the GPU can't be used any more, until another restart succeeds.
    pub fn restart(&mut self, reporter: &mut impl Reporter) -> Result<(), BringUpError> {
        self.stop_for_restart();
        let mut steps = Steps::new(reporter);
        let mut next = Start::slow();
        let reset = pass(&mut steps, &mut next, self.ground());
        self.stopped(reset.is_ok());
        let started = reset.and_then(|_| start(&mut steps, next, self.ground()));
        match started {
            Ok(interface) => {
                self.set_interface(interface);
                self.run_again();
                Ok(())
            }
            Err(error) => {
                if !matches!(error, BringUpError::Reset(_)) {
                    let stopped = stop_gpu(&mut self.hw.platform);
                    self.stopped(stopped.is_ok());
                }
                self.give_up(DeviceLost::Restart(error));
                Err(error)
            }
        }
    }
}

/// A bit for each slot that is used.
pub(super) fn all_slots(interface: &Interface) -> u32 {
    let count = u32::try_from(interface.slots.len()).unwrap_or(0);
    1_u32.checked_shl(count).unwrap_or(0).wrapping_sub(1)
}

/// Finds out what the GPU is, and how it sees memory.
#[inline(never)]
fn identify<P: Platform, R: Reporter>(
    it: &mut P,
    steps: &mut Steps<'_, R>,
) -> Result<(Properties, Coherency), ProbeError> {
    let known = steps.take(
        it,
        Step::Probe,
        |it| {
            let properties = probe(it)?;
            let coherency = choose_coherency(it.coherency(), properties.coherency_features)?;
            Ok((properties, coherency))
        },
        |(properties, _), say| say(format_args!("{properties}")),
    )?;
    if let TimerClock::Cycles { hertz } = known.0.timers {
        let cycles_hertz = hertz;
        steps.warn(&Warning::TimestampStands { cycles_hertz });
    }
    Ok(known)
}

/// What a GPU is started with: all of it is in memory only.
pub(super) struct Prepared<'f> {
    pub(super) space: AddressSpace,
    pub(super) image: LoadedImage<'f>,
}

impl Prepared<'_> {
    /// Gives its memory back: the GPU is stopped.
    pub(super) fn release<P: Platform>(self, platform: &mut P, memory: &mut Memory) {
        self.image.release(platform, memory);
        self.space.release(platform, memory);
    }
}

/// Takes and maps memory for the firmware. If that fails nothing is kept.
#[inline(never)]
fn prepare<'f, P: Platform>(
    it: &mut P,
    memory: &mut Memory,
    firmware: &'f [u8],
    properties: &Properties,
    coherency: Coherency,
) -> Result<Prepared<'f>, BringUpError> {
    let bits = properties.va_bits;
    let mut space = AddressSpace::new(it, memory, bits, coherency)?;
    match LoadedImage::load(it, memory, &mut space, firmware) {
        Ok(image) => Ok(Prepared { space, image }),
        Err(error) => {
            space.release(it, memory);
            Err(error.into())
        }
    }
}
