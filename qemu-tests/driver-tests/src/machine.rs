//! Machines of this image: the board that QEMU is, with a GPU of its own for each.
//!
//! There is one at a time: another begins with a GPU that has just been switched on, and with all memory free. The driver of the one
//! before is done by then, and its GPU is gone, so nothing writes to that memory any more.

use crate::control::Control;
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::ops::Range;
use core::time::Duration;
use eitri_boards::qemu_virt::BOARD;
use eitri_driver_tests::Parts;
use eitri_kernel::time;
use eitri_model::{Config, Injection};
use eitri_on_board::MmioPlatform;
use eitri_runtime::{
    DmaRegion, Instant, Lines, PageAllocator, PhysicalAddress, Platform, SystemCoherency,
};
use spin::{Mutex, MutexGuard, Once};

const PAGE: u64 = 4096;

/// The board's platform, and the monitor's registers.
struct Board {
    gpu: MmioPlatform,
    control: Control,
}

static THE_BOARD: Once<Mutex<Board>> = Once::new();

/// States what machines are made of, before the first of them.
pub(crate) fn set_up(gpu: MmioPlatform, control: Control) {
    THE_BOARD.call_once(|| Mutex::new(Board { gpu, control }));
}

/// Nobody else wants it: this runs on one CPU, and no handler of an interrupt has it.
fn board() -> MutexGuard<'static, Board> {
    let board = THE_BOARD.get();
    board.expect("set up before the first test").lock()
}

/// What was wrong with the upkeep of caches, since the image began.
pub(crate) fn upkeep() -> Vec<String> {
    board().control.upkeep()
}

/// A machine with a GPU of its own, with as much memory of the board's as was asked for, or all.
pub(crate) fn new(config: &Config, bytes: Option<u64>) -> Rc<dyn Parts> {
    let memory = BOARD.memory.shared;
    let all = memory.bytes as u64;
    let bytes = bytes.unwrap_or(all).min(all);
    let map = vec![0; PageAllocator::words(bytes)];
    let start = PhysicalAddress(memory.base as u64);
    let pages = PageAllocator::new(start, bytes, map);
    let upkeep = upkeep().len();
    board().control.new_gpu(config);
    Rc::new(Machine(Rc::new(State {
        pages: RefCell::new(pages.expect("a bit for each page")),
        slice_hash: config.product.needs_hash,
        upkeep,
    })))
}

struct State {
    pages: RefCell<PageAllocator<Vec<u64>>>,
    slice_hash: Option<[u32; 3]>,
    /// How much was wrong with upkeep when it began.
    upkeep: usize,
}

#[derive(Clone)]
struct Machine(Rc<State>);

impl Parts for Machine {
    fn platform(&self) -> Box<dyn Platform> {
        Box::new(self.clone())
    }

    /// The board's own memory is not coherent.
    fn behind_caches(&self, _seed: u64) -> Box<dyn Platform> {
        self.platform()
    }

    fn inject(&self, injection: Injection) {
        board().control.inject(injection);
    }

    fn withdraw(&self, injection: Injection) {
        board().control.withdraw(injection);
    }

    fn diagnoses(&self) -> Vec<String> {
        let control = &mut board().control;
        let mut all = control.diagnoses();
        all.extend(control.upkeep().into_iter().skip(self.0.upkeep));
        all
    }

    fn lines(&self) -> Lines {
        board().control.lines()
    }

    fn cut_power(&self) {
        board().control.cut_power();
    }

    fn time(&self) -> Duration {
        time::now()
    }

    fn pass(&self, time: Duration) {
        let end = time::now().saturating_add(time);
        board().gpu.wait(Lines::NONE, Instant(end));
    }

    fn memory_in_use(&self) -> u64 {
        self.0.pages.borrow().in_use()
    }
}

// SAFETY: registers and memory are the board's, which keeps the rules. Memory is given out by this machine's own allocator, from
// all that the board has for its GPU; the board's own allocator is never asked, and one machine is in use at a time.
unsafe impl Platform for Machine {
    fn read32(&mut self, offset: u32) -> u32 {
        board().gpu.read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        board().gpu.write32(offset, value);
    }

    fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<DmaRegion> {
        let region = self.0.pages.borrow_mut().allocate(bytes, alignment)?;
        let Board { gpu, control } = &mut *board();
        control.new_pages(region.start().0, region.bytes() / PAGE);
        gpu.zero(region.start(), region.bytes());
        Some(region)
    }

    fn free(&mut self, region: DmaRegion) {
        self.0.pages.borrow_mut().free(region);
    }

    fn load32(&mut self, address: PhysicalAddress) -> u32 {
        board().gpu.load32(address)
    }

    fn store32(&mut self, address: PhysicalAddress, value: u32) {
        board().gpu.store32(address, value);
    }

    fn load64(&mut self, address: PhysicalAddress) -> u64 {
        board().gpu.load64(address)
    }

    fn store64(&mut self, address: PhysicalAddress, value: u64) {
        board().gpu.store64(address, value);
    }

    fn publish(&mut self) {
        board().gpu.publish();
    }

    fn observe(&mut self) {
        board().gpu.observe();
    }

    fn clean(&mut self, range: Range<PhysicalAddress>) {
        board().gpu.clean(range);
    }

    fn invalidate(&mut self, range: Range<PhysicalAddress>) {
        board().gpu.invalidate(range);
    }

    fn now(&mut self) -> Instant {
        board().gpu.now()
    }

    fn counter_hertz(&self) -> u64 {
        board().gpu.counter_hertz()
    }

    fn wait(&mut self, wanted: Lines, until: Instant) -> Lines {
        board().gpu.wait(wanted, until)
    }

    fn coherency(&self) -> SystemCoherency {
        board().gpu.coherency()
    }

    fn slowdown(&self) -> u32 {
        board().gpu.slowdown()
    }

    fn slice_hash(&self) -> Option<[u32; 3]> {
        self.0.slice_hash
    }

    fn write_words(&mut self, address: PhysicalAddress, words: &[u64]) {
        board().gpu.write_words(address, words);
    }

    fn write_bytes(&mut self, address: PhysicalAddress, bytes: &[u8]) {
        board().gpu.write_bytes(address, bytes);
    }

    fn read_bytes(&mut self, address: PhysicalAddress, bytes: &mut [u8]) {
        board().gpu.read_bytes(address, bytes);
    }

    fn zero(&mut self, address: PhysicalAddress, bytes: u64) {
        board().gpu.zero(address, bytes);
    }
}
