//! The platform on memory of this process: what it touches, and what it leaves alone.

use eitri_mmio::{Clock, Interrupts, Misplaced, Mmio, NoInterrupts, Soc, Upkeep};
use eitri_runtime::{Instant, Lines, PageAllocator, PhysicalAddress, Platform, SystemCoherency};
use std::ops::Range;
use std::time::Duration;

const PAGES: usize = 4;

#[repr(align(4096))]
struct Memory([u32; 1024 * PAGES]);

/// Ticks with each look.
struct Ticks(u64);

impl Clock for Ticks {
    fn now(&mut self) -> Instant {
        self.0 += 1;
        Instant(Duration::from_micros(self.0))
    }

    fn hertz(&self) -> u64 {
        1_000_000
    }
}

/// Memory that nothing else refers to.
fn leaked(value: u32) -> Range<usize> {
    let memory = Box::leak(Box::new(Memory([value; 1024 * PAGES])));
    let range = memory.0.as_mut_ptr_range();
    range.start as usize..range.end as usize
}

fn platform<I: Interrupts>(
    window: Range<usize>,
    memory: Range<usize>,
    interrupts: I,
) -> Result<Mmio<[u64; 1], Ticks, I>, Misplaced> {
    assert_eq!(PageAllocator::words((4096 * PAGES) as u64), 1);
    // SAFETY: the ranges are of `leaked`, or are refused.
    unsafe { Mmio::new(window, memory, [0], Ticks(0), interrupts) }
}

#[test]
fn registers_and_words_are_where_they_were_said_to_be() {
    let (window, memory) = (leaked(0), leaked(0));
    let base = memory.start as u64;
    let mut platform = platform(window, memory.clone(), NoInterrupts).expect("placed");
    platform.write32(8, 0x1234);
    assert_eq!((platform.read32(4), platform.read32(8)), (0, 0x1234));
    platform.store64(PhysicalAddress(base + 8), 0x1_0000_0002);
    assert_eq!(platform.load32(PhysicalAddress(base + 8)), 2);
    assert_eq!(platform.load32(PhysicalAddress(base + 12)), 1);
    platform.write_words(PhysicalAddress(base + 32), &[3, 4 << 32 | 5]);
    assert_eq!(platform.load64(PhysicalAddress(base + 32)), 3);
    assert_eq!(platform.load32(PhysicalAddress(base + 44)), 4);
    platform.write_bytes(PhysicalAddress(base + 16), b"seven by");
    let mut bytes = [0; 7];
    platform.read_bytes(PhysicalAddress(base + 16), &mut bytes);
    assert_eq!(&bytes, b"seven b");
}

#[test]
fn what_is_outside_is_not_touched() {
    let (window, memory) = (leaked(5), leaked(5));
    let (end, begin) = (memory.end as u64, memory.start as u64);
    let beyond = (window.end - window.start) as u32;
    let mut platform = platform(window, memory, NoInterrupts).expect("placed");
    assert_eq!(platform.read32(beyond), 0);
    platform.write32(beyond, 1);
    for address in [end, end - 4, begin + 4, begin.wrapping_sub(8), u64::MAX] {
        // Behind the end, across it, not aligned, before the begin.
        assert_eq!(platform.load64(PhysicalAddress(address)), 0, "{address:#x}");
        platform.store64(PhysicalAddress(address), 1);
    }
    // Words of which the last, or the first, is outside are not written at all.
    platform.write_words(PhysicalAddress(end - 8), &[1, 1]);
    platform.write_words(PhysicalAddress(begin.wrapping_sub(8)), &[1, 1]);
    assert_eq!(platform.load32(PhysicalAddress(begin)), 5);
    assert_eq!(platform.load32(PhysicalAddress(begin + 4)), 5);
    assert_eq!(platform.load32(PhysicalAddress(end - 4)), 5);
}

#[test]
fn memory_is_zeroed_when_it_is_given_out() {
    let memory = leaked(7);
    let mut platform = platform(leaked(0), memory, NoInterrupts).expect("placed");
    let region = platform.allocate(8192, 4096).expect("free pages");
    for at in (0..8192).step_by(8) {
        assert_eq!(platform.load64(region.start().offset(at)), 0);
    }
    assert_eq!(platform.load32(region.start().offset(8192)), 7);
    platform.free(region);
    assert!(platform.allocate(4 * 4096, 4096).is_some());
    assert!(platform.allocate(4096, 4096).is_none());
}

#[test]
fn ranges_that_make_no_sense_are_refused() {
    let good = leaked(0);
    let refused =
        |window: Range<usize>, memory: Range<usize>| platform(window, memory, NoInterrupts).err();
    assert_eq!(refused(0..4096, good.clone()), Some(Misplaced::Window));
    assert_eq!(refused(4098..8192, good.clone()), Some(Misplaced::Window));
    assert_eq!(refused(8192..8192, good.clone()), Some(Misplaced::Window));
    let odd = good.start + 8..good.end;
    assert_eq!(refused(leaked(0), odd), Some(Misplaced::Memory));
    let many = good.start..good.start + 4096 * 65;
    assert_eq!(refused(leaked(0), many), Some(Misplaced::Memory));
}

/// Returns early, as interrupts may.
struct Early(u32);

impl Interrupts for Early {
    fn wait(&mut self, wanted: Lines, _: Instant) -> Lines {
        self.0 += 1;
        wanted
    }
}

#[test]
fn a_wait_for_a_line_may_end_early_and_a_delay_does_not() {
    let mut platform = platform(leaked(0), leaked(0), Early(0)).expect("placed");
    let until = Instant(Duration::from_micros(50));
    assert_eq!(platform.wait(Lines::JOB, until), Lines::JOB);
    assert!(platform.now() < until);
    platform.wait(Lines::NONE, until);
    assert!(platform.now() >= until);
}

/// What was asked for, in order.
type Asked = std::rc::Rc<std::cell::RefCell<Vec<(&'static str, Range<usize>)>>>;

/// Caches that note what was asked for.
struct Noted(Asked);

impl Upkeep for Noted {
    unsafe fn clean(&mut self, range: Range<usize>) {
        self.0.borrow_mut().push(("clean", range));
    }

    unsafe fn invalidate(&mut self, range: Range<usize>) {
        self.0.borrow_mut().push(("invalidate", range));
    }
}

#[test]
fn memory_may_have_another_address_on_the_bus() {
    const BUS: u64 = 0x8_0000_3000;
    let (window, memory) = (leaked(0), leaked(0));
    let bus = PhysicalAddress(BUS);
    // SAFETY: the ranges are of `leaked`; there is no bus.
    let platform =
        unsafe { Mmio::new_at(window, memory.clone(), bus, [0], Ticks(0), NoInterrupts) };
    let noted = Noted(std::rc::Rc::default());
    let log = noted.0.clone();
    let mut platform = platform.expect("placed").with_soc(Soc {
        caching: noted,
        coherency: SystemCoherency::None,
        slowdown: 1,
        slice_hash: None,
        fused_cores: None,
    });
    // An alignment is the bus's.
    let region = platform.allocate(4096, 8192).expect("a page");
    assert_eq!(region.start(), PhysicalAddress(BUS + 0x1000));
    let word = region.start().offset(8);
    platform.store64(word, 7);
    assert_eq!(platform.load64(word), 7);
    // The CPU's own address is none of the bus.
    assert_eq!(
        platform.load64(PhysicalAddress(memory.start as u64 + 0x1008)),
        0
    );
    platform.clean(word.span(16));
    platform.invalidate(PhysicalAddress(0)..PhysicalAddress(u64::MAX));
    let at = memory.start + 0x1008;
    let wanted = [("clean", at..at + 16), ("invalidate", memory)];
    assert_eq!(*log.borrow(), wanted);
}

/// Memory of a display is lent as a whole or in part, stays as it is, and is none to allocate.
#[test]
fn what_is_to_be_lent_is_lent_and_nothing_else() {
    let (window, memory, display) = (leaked(0), leaked(0), leaked(7));
    let (start, end) = (display.start as u64, display.end as u64);
    let bus = |from: u64, to: u64| PhysicalAddress(from)..PhysicalAddress(to);
    let mut platform = platform(window, memory, NoInterrupts).expect("placed");
    assert_eq!(
        platform.lend(bus(start, end)),
        None,
        "nothing is to be lent"
    );
    // SAFETY: no GPU is there.
    let mut platform = unsafe { platform.with_lent(bus(start, end)) };
    for refused in [
        bus(start - 4096, end),
        bus(start, end + 4096),
        bus(end, start),
    ] {
        assert_eq!(platform.lend(refused.clone()), None, "{refused:x?}");
    }
    let page = platform.lend(bus(start + 4096, start + 8192));
    let page = page.expect("it is to be lent");
    assert_eq!(page.span(), bus(start + 4096, start + 8192));
    platform.free(page);
    let all = platform.allocate((4096 * PAGES) as u64, 4096);
    let all = all.expect("nothing is taken");
    assert!(all.start().0 < start || all.start().0 >= end);
}
