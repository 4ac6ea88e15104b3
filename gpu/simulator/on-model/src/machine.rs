//! A machine with the model in it, as the runtime's platform.
//!
//! Time is the model's: it passes while the driver waits, and a little with each register access.

use crate::memory::{Memory, Unwatched, Watcher};
use crate::patience::Patience;
use crate::recording::{Recorder, Recording};
use eitri_model::diagnosis::Diagnosis;
use eitri_model::{Budget, Config, Gpu, HostStep, PAGE, PhysicalMemory, Progress};
use eitri_runtime::{DmaRegion, Instant, Lines, PageAllocator, PhysicalAddress, Platform};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Physical memory of the usual machine.
const MEMORY_BYTES: u64 = 1 << 30;
/// Where it starts on the bus: not at 0, so that a forgotten address is found.
const MEMORY_BASE: u64 = 0x8000_0000;
/// Instructions of one slice of work: between two looks at the host's clock.
const SLICE: u64 = 2_000_000;

struct Parts {
    gpu: Gpu,
    memory: Memory,
    pages: PageAllocator<Vec<u64>>,
    /// First address that was never given out: from here on memory is zero as it is.
    fresh: u64,
    /// Memory that the driver has borrowed: it goes back to whoever it belongs to.
    lent: Vec<DmaRegion>,
    counter_hertz: u64,
    slice_hash: Option<[u32; 3]>,
    /// Real time after which waiting is given up.
    patience: Option<Patience>,
    /// Set when waiting is given up for another reason.
    stop: Option<&'static AtomicBool>,
    /// How far the driver's clock was moved ahead of the model's.
    skipped: Duration,
    capture: Capture,
    recorder: Option<Recorder>,
    diagnosed: Diagnosed,
}

/// Receiver of diagnoses and notes as they come.
type OnDiagnosis = Box<dyn FnMut(&Diagnosis, &Gpu, &mut dyn PhysicalMemory)>;

/// Who is told of diagnoses, and of how many that was done.
#[derive(Default)]
struct Diagnosed {
    receiver: Option<OnDiagnosis>,
    diagnoses: usize,
    notes: usize,
}

/// A copy of the GPU for a debugger.
enum Capture {
    /// Nobody wants one.
    No,
    /// One is wanted when a compute job starts.
    Wanted,
    /// It was taken: the GPU, and of its memory the pages that are not zero.
    Taken(Box<Captured>),
}

/// The GPU and its memory as they were when a compute job was about to start.
pub struct Captured {
    /// The GPU.
    pub gpu: Gpu,
    /// Where its memory starts, and how many bytes it has.
    pub memory: (u64, u64),
    /// The pages of the memory that are not zero, with their addresses.
    pub pages: Vec<(u64, Box<[u8; PAGE as usize]>)>,
}

impl Parts {
    fn lines(&self) -> Lines {
        let lines = self.gpu.lines();
        Lines {
            job: lines.job,
            mmu: lines.mmu,
            gpu: lines.gpu,
        }
    }

    fn now(&self) -> Instant {
        Instant(Duration::from_nanos(self.gpu.now()).saturating_add(self.skipped))
    }

    fn out_of_patience(&mut self) -> bool {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return true;
        }
        let begun = self.gpu.work_begun();
        let over = |it: &mut Patience| it.is_over(std::time::Instant::now(), begun);
        self.patience.as_mut().is_some_and(over)
    }

    /// Lets `time` nanoseconds pass, or what one slice of work takes, or less when a line rises.
    fn run(&mut self, time: u64) {
        if matches!(self.capture, Capture::Wanted) {
            return self.run_to_dispatch(time);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.run(&mut self.gpu, &mut self.memory, time);
            return self.tell_diagnoses();
        }
        let budget = Budget {
            time,
            instructions: SLICE,
        };
        self.gpu.run(&mut self.memory, budget);
        self.tell_diagnoses();
    }

    /// Records a step of the driver, if that is wanted.
    fn note(&mut self, step: impl FnOnce() -> HostStep) {
        if let Some(recorder) = &mut self.recorder {
            recorder.note(step());
        }
    }

    fn note_store(&mut self, address: PhysicalAddress, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.note(|| HostStep::Store {
                address: address.0,
                bytes: bytes.to_vec(),
            });
        }
    }

    /// Tells of the diagnoses that have come since the last call.
    fn tell_diagnoses(&mut self) {
        let Diagnosed {
            receiver: Some(receiver),
            diagnoses,
            notes,
        } = &mut self.diagnosed
        else {
            return;
        };
        let (all, all_notes) = (self.gpu.diagnoses(), self.gpu.notes());
        let new = all.iter().skip(*diagnoses);
        for diagnosis in new.chain(all_notes.iter().skip(*notes)) {
            receiver(diagnosis, &self.gpu, &mut Unwatched(&mut self.memory));
        }
        (*diagnoses, *notes) = (all.len(), all_notes.len());
    }
}

impl Parts {
    /// The same, instruction by instruction until a compute job is about to start.
    fn run_to_dispatch(&mut self, time: u64) {
        let end = self.gpu.now().saturating_add(time);
        loop {
            let budget = Budget {
                time: end.saturating_sub(self.gpu.now()),
                instructions: 1,
            };
            let progress = self.gpu.run(&mut self.memory, budget);
            if self.gpu.dispatch().is_some() {
                self.capture = Capture::Taken(Box::new(self.copy()));
                return;
            }
            if progress != Progress::Busy || self.gpu.now() >= end {
                return;
            }
        }
    }

    fn copy(&mut self) -> Captured {
        let mut pages = Vec::new();
        // Behind it nothing was ever written.
        for address in (MEMORY_BASE..self.fresh).step_by(PAGE as usize) {
            let bytes = self.memory.at(address, PAGE as usize);
            let Some(page) = bytes.and_then(|bytes| <[u8; PAGE as usize]>::try_from(bytes).ok())
            else {
                break;
            };
            if page.iter().any(|byte| *byte != 0) {
                pages.push((address, Box::new(page)));
            }
        }
        let size = self.fresh.saturating_sub(MEMORY_BASE);
        Captured {
            gpu: self.gpu.clone(),
            memory: (MEMORY_BASE, size),
            pages,
        }
    }
}

/// A machine that the model is the GPU of. Clones are the same machine: one may be a device's platform while another
/// looks at the model.
#[derive(Clone)]
pub struct Machine(Rc<RefCell<Parts>>);

impl Machine {
    /// A machine that has just been switched on.
    ///
    /// # Panics
    /// If the process has no room for the addresses of the memory.
    pub fn new(config: Config) -> Machine {
        Machine::with_memory(config, MEMORY_BYTES)
    }

    /// The same with so many bytes of memory, a multiple of 4096.
    ///
    /// # Panics
    /// If the process has no room for the addresses of the memory.
    pub fn with_memory(config: Config, bytes: u64) -> Machine {
        let map = vec![0; PageAllocator::words(bytes)];
        let pages = PageAllocator::new(PhysicalAddress(MEMORY_BASE), bytes, map);
        Machine(Rc::new(RefCell::new(Parts {
            counter_hertz: config.timestamp_hz,
            slice_hash: config.product.needs_hash,
            gpu: Gpu::new(config),
            memory: Memory::new(MEMORY_BASE, bytes),
            pages: pages.expect("a bit for each page"),
            fresh: MEMORY_BASE,
            lent: Vec::new(),
            patience: None,
            stop: None,
            skipped: Duration::ZERO,
            capture: Capture::No,
            recorder: None,
            diagnosed: Diagnosed::default(),
        })))
    }

    /// Stops waiting when for `limit` of real time no warp and no tile has begun: then the driver's clock jumps to the end of every
    /// wait, which is how a shader that never ends is caught. A long job that gets on is not stopped, on a busy machine neither.
    #[must_use]
    pub fn with_patience(self, limit: Duration) -> Machine {
        let patience = Patience::new(limit, std::time::Instant::now());
        self.0.borrow_mut().patience = Some(patience);
        self
    }

    /// Stops waiting, in the same way, as soon as `stop` is set.
    #[must_use]
    pub fn stopped_by(self, stop: &'static AtomicBool) -> Machine {
        self.0.borrow_mut().stop = Some(stop);
        self
    }

    /// Takes a copy of the GPU and its memory when the next compute job is about to start, for [`Machine::captured`].
    pub fn capture_dispatch(&self) {
        self.0.borrow_mut().capture = Capture::Wanted;
    }

    /// The copy that was asked for, if a compute job has come to its start.
    pub fn captured(&self) -> Option<Captured> {
        let capture = &mut self.0.borrow_mut().capture;
        match std::mem::replace(capture, Capture::No) {
            Capture::Taken(captured) => Some(*captured),
            Capture::No | Capture::Wanted => None,
        }
    }

    /// Records what the driver does from now on, for [`Machine::recording`]. The first thing that is done with a machine: a replay begins
    /// with memory of zeros.
    pub fn record(&self) {
        let parts = &mut *self.0.borrow_mut();
        parts.recorder = Some(Recorder::new(&parts.gpu));
    }

    /// What was recorded so far, if it was; recording ends.
    pub fn recording(&self) -> Option<Recording> {
        let parts = &mut *self.0.borrow_mut();
        let recorder = parts.recorder.take()?;
        let bytes = parts.fresh.saturating_sub(MEMORY_BASE);
        Some(recorder.end((MEMORY_BASE, bytes)))
    }

    /// Tells `receiver` of each diagnosis and note of work that the GPU does, when memory is still as it was then.
    pub fn on_diagnosis(
        &self,
        receiver: impl FnMut(&Diagnosis, &Gpu, &mut dyn PhysicalMemory) + 'static,
    ) {
        self.0.borrow_mut().diagnosed.receiver = Some(Box::new(receiver));
    }

    /// Tells somebody of the GPU's accesses to memory.
    pub(crate) fn watch(&self, watcher: Weak<dyn Watcher>) {
        self.0.borrow_mut().memory.watch(watcher);
    }

    /// The model.
    pub fn gpu<T>(&self, look: impl FnOnce(&mut Gpu) -> T) -> T {
        look(&mut self.0.borrow_mut().gpu)
    }

    /// The time that the driver sees.
    pub fn time(&self) -> Duration {
        self.0.borrow().now().0
    }

    /// Lets time pass in which the driver does nothing.
    pub fn pass(&self, time: Duration) {
        let parts = &mut *self.0.borrow_mut();
        let end = parts.gpu.now().saturating_add(time.as_nanos() as u64);
        while parts.gpu.now() < end {
            parts.run(end - parts.gpu.now());
        }
    }

    /// Bytes of memory that are given out.
    pub fn memory_in_use(&self) -> u64 {
        self.0.borrow().pages.in_use()
    }

    /// A register word, without counting it as an access of the driver's.
    pub(crate) fn look_at_register(&self, offset: u32) -> u32 {
        let parts = &mut *self.0.borrow_mut();
        parts.gpu.read32(&mut parts.memory, offset)
    }

    /// Bytes of memory; `None` where there is none.
    pub(crate) fn look_at_memory(&self, address: u64, bytes: &mut [u8]) -> Option<()> {
        let parts = &mut *self.0.borrow_mut();
        bytes.copy_from_slice(parts.memory.at(address, bytes.len())?);
        Some(())
    }

    fn word<const N: usize>(&self, address: PhysicalAddress) -> [u8; N] {
        let parts = &mut *self.0.borrow_mut();
        let bytes = parts.memory.at(address.0, N);
        // What is outside the memory reads as on a bus with nothing there.
        bytes.map_or([0xFF; N], |bytes| bytes.try_into().unwrap_or([0xFF; N]))
    }

    fn set<const N: usize>(&self, address: PhysicalAddress, word: [u8; N]) {
        let parts = &mut *self.0.borrow_mut();
        parts.note_store(address, &word);
        // A write to nothing is lost, as on a bus.
        let _ = parts.memory.write(address.0, &word);
    }
}

#[expect(
    unsafe_code,
    reason = "the promise of a platform; what reaches memory is the model's safe code"
)]
// SAFETY: the GPU is the model, which writes to the memory of this machine and to nothing else.
unsafe impl Platform for Machine {
    fn read32(&mut self, offset: u32) -> u32 {
        let parts = &mut *self.0.borrow_mut();
        let value = parts.gpu.read32(&mut parts.memory, offset);
        parts.note(|| HostStep::Read { offset, value });
        value
    }

    fn write32(&mut self, offset: u32, value: u32) {
        let parts = &mut *self.0.borrow_mut();
        parts.note(|| HostStep::Write { offset, value });
        parts.gpu.write32(&mut parts.memory, offset, value);
    }

    fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<DmaRegion> {
        let (region, old) = {
            let parts = &mut *self.0.borrow_mut();
            let region = parts.pages.allocate(bytes, alignment)?;
            let old = parts.fresh.saturating_sub(region.start().0);
            parts.fresh = parts.fresh.max(region.span().end.0);
            (region, old)
        };
        self.zero(region.start(), old.min(region.bytes()));
        Some(region)
    }

    fn free(&mut self, region: DmaRegion) {
        let parts = &mut *self.0.borrow_mut();
        match parts.lent.iter().position(|lent| *lent == region) {
            Some(place) => _ = parts.lent.swap_remove(place),
            None => parts.pages.free(region),
        }
    }

    /// All of the memory may be borrowed: whose a part of it is, the caller knows.
    fn lend(&mut self, memory: Range<PhysicalAddress>) -> Option<DmaRegion> {
        let bytes = memory.end.0.checked_sub(memory.start.0)?;
        let parts = &mut *self.0.borrow_mut();
        parts
            .memory
            .at(memory.start.0, usize::try_from(bytes).ok()?)?;
        let region = DmaRegion::new(memory.start, bytes);
        parts.lent.push(DmaRegion::new(memory.start, bytes));
        Some(region)
    }

    fn load32(&mut self, address: PhysicalAddress) -> u32 {
        u32::from_le_bytes(self.word(address))
    }

    fn store32(&mut self, address: PhysicalAddress, value: u32) {
        self.set(address, value.to_le_bytes());
    }

    fn load64(&mut self, address: PhysicalAddress) -> u64 {
        u64::from_le_bytes(self.word(address))
    }

    fn store64(&mut self, address: PhysicalAddress, value: u64) {
        self.set(address, value.to_le_bytes());
    }

    fn publish(&mut self) {}

    fn observe(&mut self) {}

    fn clean(&mut self, _: Range<PhysicalAddress>) {}

    fn invalidate(&mut self, _: Range<PhysicalAddress>) {}

    fn now(&mut self) -> Instant {
        self.0.borrow().now()
    }

    fn counter_hertz(&self) -> u64 {
        self.0.borrow().counter_hertz
    }

    fn wait(&mut self, wanted: Lines, until: Instant) -> Lines {
        let parts = &mut *self.0.borrow_mut();
        loop {
            let lines = parts.lines();
            let hit =
                (lines.job && wanted.job) || (lines.mmu && wanted.mmu) || (lines.gpu && wanted.gpu);
            let left = until.since(parts.now());
            if hit || left.is_zero() {
                return lines;
            }
            if parts.out_of_patience() {
                parts.skipped = parts.skipped.saturating_add(left);
                return lines;
            }
            parts.run(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
        }
    }

    fn slice_hash(&self) -> Option<[u32; 3]> {
        self.0.borrow().slice_hash
    }

    fn write_bytes(&mut self, address: PhysicalAddress, bytes: &[u8]) {
        let parts = &mut *self.0.borrow_mut();
        parts.note_store(address, bytes);
        if let Some(to) = parts.memory.at(address.0, bytes.len()) {
            to.copy_from_slice(bytes);
        }
    }

    fn read_bytes(&mut self, address: PhysicalAddress, bytes: &mut [u8]) {
        if let Some(from) = self.0.borrow_mut().memory.at(address.0, bytes.len()) {
            bytes.copy_from_slice(from);
        }
    }

    fn zero(&mut self, address: PhysicalAddress, bytes: u64) {
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        let parts = &mut *self.0.borrow_mut();
        if bytes != 0 {
            let address = address.0;
            parts.note(|| HostStep::Zero { address, bytes });
        }
        if let Some(to) = parts.memory.at(address.0, length) {
            to.fill(0);
        }
    }
}
