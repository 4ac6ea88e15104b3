//! Device: the GPU as its user holds it, with everything that belongs to it.
//!
//! Needs: [`Device::bring_up`].  Guarantees: no call hangs or panics, whatever the GPU or its firmware does; a GPU that is
//! lost is started again by `poll`; once the device is given up every call says why, until [`Device::restart`].
//! Facts: hardware/csf-mmio.md section 16, csf-scheduling.md.

mod aliases;
mod backlog;
mod blocking;
mod bring_up;
mod buffers;
mod caches;
mod counters;
mod dump;
mod exhausted_heaps;
mod faults;
mod groups;
mod images;
mod imports;
mod loss;
mod lost_contents;
mod mappings;
mod objects;
#[cfg(feature = "draw")]
mod parts;
mod poll;
mod power;
mod queues;
mod recovery;
mod references;
mod run;
mod scan_out;
mod schedule;
mod semaphores;
mod shutdown;
mod spaces;
mod start;
mod submit;
#[cfg(test)]
mod tests;
mod uses;
mod view_planes;

pub use aliases::Access;
use backlog::Backlog;
pub(crate) use backlog::Entry;
pub use bring_up::{BringUpError, Failed, Options};
pub use counters::{CountersError, Counts};
pub(crate) use exhausted_heaps::NoSuchHeap;
pub use images::ImagePart;
pub use loss::{DeviceLost, FirmwareCrash};
pub(crate) use objects::{Kind, Object};
pub use poll::Next;
pub use power::DevicePower;
pub use queues::QueueConfig;
pub use run::Bound;
pub use scan_out::ScanOut;
pub use semaphores::SemaphorePoint;
pub use submit::SubmitInfo;
pub(crate) use submit::SubmitParts;

use crate::command::{EncodedInstructions, Uniforms};
use crate::error::Error;
use crate::firmware::{LoadedImage, MAX_SLOTS};
use crate::gpu::Properties;
use crate::graphics::Drawing;
use crate::group::Group;
use crate::hw::Hw;
use crate::links::Links;
use crate::memory::Memory;
use crate::platform::{Instant, Platform};
use crate::queue::{Job, Points};
use crate::scheduler::Scheduler;
use crate::seats::Seats;
use crate::slab::{Key, Slab};
use crate::vm::Vm;
use crate::warning::Warning;
use caches::Caches;
use counters::CounterRing;
use eitri_cs::builder::BuildFault;
use eitri_csf::interface::control::Version;
use poll::Watch;
use power::Power;
use recovery::Phase;

/// Versions: numbers that nothing has had before, so that memory which kept something for one holds nothing for another.
#[derive(Debug, Default)]
pub(crate) struct Versions(u64);

impl Versions {
    /// The next; never 0.
    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        self.0
    }
}

/// A running GPU. `'s` is the lifetime of its storage, `'d` that of firmware and programs.
///
/// Its running phase never waits: [`Device::poll`] looks at what the GPU reports and does what is to be done,
/// [`Device::submit`] hands out a fence at once, [`Device::status`] tells what became of a job, and only
/// [`Device::cancel`] kills. [`Device::wait`] is a loop around them for programs that have nothing else to do.
///
/// Making and destroying what lies in memory of the GPU may wait for its MMU, for microseconds; while a lost GPU is being
/// stopped, until that is done. Bring-up, restart and shutdown wait for milliseconds.
///
/// A device is given up with [`Device::shutdown`]. One that is only dropped leaves its GPU running, with the memory that
/// it was given: that memory stays taken, as the rules of [`Platform`] say.
#[derive(Debug)]
#[must_use = "a device that is dropped leaves its GPU running"]
pub struct Device<'s, 'd, P> {
    pub(crate) hw: Hw<P>,
    pub(crate) options: Options,
    pub(crate) memory: Memory,
    /// The firmware's address space: its sections, suspend buffers, user pages.
    pub(crate) firmware_vm: Vm,
    pub(crate) image: LoadedImage<'d>,
    pub(crate) spaces: Slab<'s, Vm>,
    pub(crate) groups: Slab<'s, Group>,
    pub(crate) jobs: Slab<'s, Job>,
    /// The semaphores of jobs that have some.
    pub(crate) points: Slab<'s, Points>,
    pub(crate) objects: Slab<'s, Object<'d>>,
    pub(crate) links: Links<'s>,
    /// Versions of what is bound to descriptor sets and set for draws.
    pub(crate) versions: Versions,
    /// Recordings that were begun, ever: marks what the current one refers to.
    pub(crate) recordings: u32,
    /// As [`Device::removals`].
    removals: u64,
    /// The commands that hold what they use, as a list.
    holders: Option<Key>,
    /// The instructions that recording writes; or why this firmware's streams can't hold them.
    pub(crate) words: Result<EncodedInstructions, BuildFault>,
    /// What only devices that draw need: nothing of it is in an image that never does.
    pub(crate) drawing: Option<Drawing<'s, 'd, P>>,
    /// The uniforms of what is being recorded.
    pub(crate) uniforms: Uniforms,
    /// What the GPU's caches may hold.
    caches: Caches,
    slot_seats: Seats<MAX_SLOTS>,
    space_seats: Seats<32>,
    scheduler: Scheduler,
    /// Grows with every group that leaves its slot.
    stamps: u64,
    /// The groups on no slot that something is to be done about.
    backlog: Backlog,
    /// Spaces by their numbers in the hardware: those that were told last to have them.
    numbered: [Option<Key>; 32],
    /// Spaces may have to enter the hardware or to leave it.
    spaces_move: bool,
    /// A space has a fault.
    spaces_faulted: bool,
    /// Jobs in flight.
    in_flight: u32,
    /// Something is on its way, or was asked for: the next poll looks at everything.
    restless: bool,
    /// When a poll looks at everything even if nothing was reported.
    look_at: Instant,
    /// The same but for jobs in flight, which are looked at sooner in case an interrupt was lost.
    look_without_jobs: Instant,
    /// `look_at` is for jobs in flight, too.
    watches_jobs: bool,
    watch: Watch,
    /// Samples of the performance counters, once they were wanted.
    counters: Option<CounterRing>,
    /// Failures are left unanswered: see [`Device::hold_faults`].
    hold_faults: bool,
    /// A loss that is not answered yet.
    held_loss: Option<DeviceLost>,
    phase: Phase,
    power: Power,
    /// When `poll` wants to be called again.
    due: Option<Instant>,
    /// Starts in a row after which no job has ended well.
    attempts: u32,
    recoveries: u64,
    last_loss: Option<DeviceLost>,
    /// Why the device was given up.
    pub(crate) lost: Option<DeviceLost>,
}

impl<P: Platform> Device<'_, '_, P> {
    /// What the GPU is and has.
    pub fn properties(&self) -> &Properties {
        &self.hw.properties
    }

    /// The interface version that the running firmware offers.
    pub fn interface_version(&self) -> Version {
        self.hw.interface.version
    }

    /// The git hash of the firmware's build, if its image has one.
    pub fn firmware_build(&self) -> Option<&str> {
        self.image.image().build_info()
    }

    /// The platform, to look at. Only the runtime programs the GPU.
    pub fn platform(&self) -> &P {
        &self.hw.platform
    }

    /// Oddities of the firmware's interface, as the last start of the GPU has found them: [`Device::poll`] starts a lost GPU again
    /// without a [`Reporter`](crate::Reporter).
    pub fn warnings(&self) -> &[Warning] {
        &self.hw.interface.warnings
    }

    /// Why the GPU was lost the last time, whether it came back or not.
    pub fn last_loss(&self) -> Option<&DeviceLost> {
        self.last_loss.as_ref()
    }

    /// How often the GPU was lost and [`Device::poll`] has begun to start it again.
    pub fn recoveries(&self) -> u64 {
        self.recoveries
    }

    /// Why the device was given up, if it was: [`Options::recoveries`] says after how many starts.
    pub fn lost(&self) -> Option<&DeviceLost> {
        self.lost.as_ref()
    }

    /// Memory, in bytes, that is taken from the platform now.
    pub fn memory_in_use(&self) -> u64 {
        self.memory.in_use()
    }

    /// Memory, in bytes, that was destroyed but not given back to the platform: the GPU was lost and did not even reset,
    /// so that it may still be writing there.
    pub fn memory_withheld(&self) -> u64 {
        self.memory.withheld()
    }

    pub(crate) fn alive(&self) -> Result<(), Error> {
        match self.lost {
            Some(lost) => Err(lost.into()),
            None => Ok(()),
        }
    }
}
