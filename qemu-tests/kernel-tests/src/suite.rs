//! Tests of the kernel, run inside it. The result is in TAP: a plan, then one line a test.

extern crate alloc;

use crate::tap::{self, Outcome, Test, expect};
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use core::time::Duration;
use cortex_a::registers::MDCR_EL2::{TDA, TDE, TPM, TPMCR};
use cortex_a::registers::{CurrentEL, MPIDR_EL1, Readable, SCTLR_EL1, SPSel};
use eitri_aarch64::Translation;
use eitri_boards::device_tree;
use eitri_boards::{Board, Exit};
use eitri_kernel::interrupts::{self, Interrupt};
use eitri_kernel::memory;
use eitri_kernel::{IrqMutex, Kernel, cpus, firmware, heap, linked, tick, time};
use embedded_hal::delay::DelayNs;

// An entry in place of the image's own, for EL2: traps as a careless loader may leave them. The host puts a branch here.
core::arch::global_asm!(
    r#"
    .section .text.entry_with_traps, "ax"
    .global entry_with_traps
    entry_with_traps:
        mrs     x9, mdcr_el2
        orr     x9, x9, #{debug}
        orr     x9, x9, #{counters}
        msr     mdcr_el2, x9
        isb
        b       image_start
    "#,
    debug = const TDA::SET.value | TDE::SET.value,
    counters = const TPM::SET.value | TPMCR::SET.value,
);

unsafe extern "C" {
    /// The entry above.
    fn entry_with_traps();
}

/// Keeps the entry in the image.
#[used]
static ENTRY_WITH_TRAPS: unsafe extern "C" fn() = entry_with_traps;

const TESTS: &[Test<Kernel>] = &[
    ("runs at EL1 on its own stack", runs_at_el1),
    ("the MMU and both caches are on", caches_are_on),
    (
        "debug registers and performance counters do not trap",
        debug_and_counters,
    ),
    (
        "code is cached, shared memory is not, registers are a device",
        attributes,
    ),
    (
        "the initial map had the image, the heap and the console alone",
        initial_map,
    ),
    (
        "nothing is mapped beside the board's memory",
        board_alone_is_mapped,
    ),
    ("code and constants can't be written", read_only),
    ("the page below the stack is not mapped", guard_page),
    ("the heap gives memory and takes it back", heap_works),
    ("the counter counts, and a delay lasts", counter_counts),
    (
        "the timer's interrupt comes, when it should",
        timer_interrupt,
    ),
    ("something is done every so often", ticks_come),
    (
        "FP and SIMD registers survive an interrupt",
        registers_survive,
    ),
    (
        "an interrupt that is disabled does not come",
        disabled_interrupt,
    ),
    ("the device tree is this machine's", tree_agrees),
    ("the firmware answers as the tree says", firmware_answers),
    (
        "another CPU does one thing after another",
        another_cpu_works,
    ),
    ("two CPUs share what a lock guards", two_cpus_share),
    ("the host gives a command line", command_line),
    ("defmt logs beside text", logs),
];

pub(crate) fn main(mut kernel: Kernel) -> Exit {
    tap::run(TESTS, &mut kernel)
}

/// What [`attribute_of`] said while the initial map was in use, by name; `board` has the places.
static INITIALLY: [AtomicU64; 7] = [const { AtomicU64::new(0) }; 7];

pub(crate) fn look_at_initial_map(board: &'static Board) {
    let memory = board.memory;
    let places = [
        memory.image.base,
        memory.heap.base,
        board.console.base().address(),
        // What lies beside them: below the image, where the GPU and the CPU meet, and the GPU.
        memory.image.base - 1,
        memory.shared.base,
        board.gpu.window.base,
        // What another image could have, and this one has not.
        memory.image.end() - 1,
    ];
    for (place, found) in places.into_iter().zip(&INITIALLY) {
        found.store(attribute_of(place), Ordering::Relaxed);
    }
}

fn initial_map(_: &mut Kernel) -> Outcome {
    let [image, heap, console, below, shared, window, behind] = INITIALLY
        .each_ref()
        .map(|found| found.load(Ordering::Relaxed));
    expect(image == 0xFF, "a write-back image (0xff)", image)?;
    expect(heap == 0xFF, "a write-back heap (0xff)", heap)?;
    expect(console == 0x04, "the console's registers (0x04)", console)?;
    expect(below & FAULT != 0, "a fault below the image", below)?;
    expect(shared & FAULT != 0, "a fault in shared memory", shared)?;
    expect(window & FAULT != 0, "a fault in the GPU's window", window)?;
    expect(behind & FAULT != 0, "a fault behind the image", behind)
}

fn board_alone_is_mapped(kernel: &mut Kernel) -> Outcome {
    let memory = kernel.board.memory;
    let beside = [
        memory.image.base - 1,
        // Behind the device tree, which QEMU puts behind the image.
        memory.image.end() + device_tree::MOST_BYTES,
        linked::image().end(),
        memory.shared.base - 1,
        memory.heap.end(),
    ];
    for beside in beside {
        let found = attribute_of(beside);
        expect(
            found & FAULT != 0,
            "a fault beside the board's memory",
            found,
        )?;
    }
    Ok(())
}

fn runs_at_el1(_: &mut Kernel) -> Outcome {
    let level = CurrentEL.read(CurrentEL::EL);
    expect(level == 1, "EL1", level)?;
    expect(SPSel.get() & 1 == 0, "SP_EL0", SPSel.get())
}

fn caches_are_on(_: &mut Kernel) -> Outcome {
    let control = SCTLR_EL1.get();
    let wanted = (SCTLR_EL1::M::SET + SCTLR_EL1::C::SET + SCTLR_EL1::I::SET).value;
    expect(control & wanted == wanted, "M, C and I set", control)
}

fn debug_and_counters(_: &mut Kernel) -> Outcome {
    let (counters, debug): (u64, u64);
    // SAFETY: reading these registers changes nothing. One that traps to EL2 ends the test, since nothing is there.
    unsafe {
        core::arch::asm!(
            "mrs {debug}, mdscr_el1",
            "mrs {counters}, pmcr_el0",
            debug = out(reg) debug,
            counters = out(reg) counters,
            options(nomem, nostack, preserves_flags),
        );
    }
    let _ = debug;
    // PMCR_EL0.N: as many as EL2 leaves to EL1.
    let count = counters >> 11 & 0x1F;
    expect(count > 0, "event counters for EL1", count)
}

/// Above all attribute bytes.
const FAULT: u64 = 0x100;

fn attribute_of(address: usize) -> u64 {
    match memory::translate(address) {
        Translation::Mapped { attribute, .. } => u64::from(attribute),
        Translation::Fault(status) => FAULT | u64::from(status),
    }
}

fn attributes(kernel: &mut Kernel) -> Outcome {
    let code = attribute_of(main as fn(Kernel) -> Exit as usize);
    expect(code == 0xFF, "write-back code (0xff)", code)?;
    let shared = attribute_of(kernel.board.memory.shared.base);
    expect(shared == 0x44, "non-cacheable shared memory (0x44)", shared)?;
    let console = attribute_of(kernel.board.console.base().address());
    expect(console == 0x04, "device registers (0x04)", console)
}

fn read_only(_: &mut Kernel) -> Outcome {
    let code = memory::may_write(main as fn(Kernel) -> Exit as usize);
    expect(!code, "no write to code", u64::from(code))?;
    let constants = memory::may_write(TESTS.as_ptr() as usize);
    expect(!constants, "no write to constants", u64::from(constants))?;
    let variables = memory::may_write((&raw const TICKS) as usize);
    expect(variables, "a write to variables", u64::from(variables))
}

fn guard_page(_: &mut Kernel) -> Outcome {
    let below = linked::main_stack().base - 16;
    let translated = attribute_of(below);
    expect(
        translated & FAULT != 0,
        "a fault below the stack",
        translated,
    )
}

fn heap_works(_: &mut Kernel) -> Outcome {
    let (before, _) = heap::usage();
    let mut numbers: Vec<u64> = (0..10_000).collect();
    numbers.reverse();
    let sum: u64 = numbers.iter().sum();
    expect(sum == 49_995_000, "the sum of what was stored", sum)?;
    let (during, _) = heap::usage();
    expect(
        during >= before + 80_000,
        "80000 bytes in use",
        during as u64,
    )?;
    drop(numbers);
    let (after, _) = heap::usage();
    expect(after == before, "all given back", after as u64)
}

fn counter_counts(_: &mut Kernel) -> Outcome {
    expect(
        time::counter_hertz() > 0,
        "a frequency",
        time::counter_hertz(),
    )?;
    let before = time::now();
    time::Delay.delay_us(2000);
    let passed = time::now() - before;
    expect(
        passed >= Duration::from_micros(2000),
        "2000 us or more",
        passed.as_micros() as u64,
    )
}

static TICKS: AtomicU32 = AtomicU32::new(0);

fn on_tick(_: Interrupt) {
    // SAFETY: a handler may use these registers as any function may.
    unsafe {
        core::arch::asm!(
            "movi v0.16b, #0", "movi v7.16b, #0", "movi v8.16b, #0", "movi v16.16b, #0", "movi v31.16b, #0",
            out("v0") _, out("v7") _, out("v8") _, out("v16") _, out("v31") _,
            options(nostack, nomem),
        );
    }
    TICKS.fetch_add(1, Ordering::Relaxed);
    time::alarm_off();
}

fn wait_for_tick(limit: Duration) {
    let start = time::now();
    while TICKS.load(Ordering::Relaxed) == 0 && time::now() - start < limit {
        core::hint::spin_loop();
    }
}

fn timer_interrupt(kernel: &mut Kernel) -> Outcome {
    let timer = Interrupt::Private(kernel.board.virtual_timer_ppi);
    interrupts::register(timer, on_tick).map_err(|_| ("a handler", 0))?;
    interrupts::enable(timer);
    TICKS.store(0, Ordering::Relaxed);
    // From before the alarm is set: the machine that QEMU runs on may be busy in between.
    let start = time::now();
    time::alarm_at(start + Duration::from_millis(3));
    wait_for_tick(Duration::from_secs(2));
    let waited = time::now() - start;
    let ticks = TICKS.load(Ordering::Relaxed);
    expect(ticks == 1, "one tick", u64::from(ticks))?;
    expect(
        waited >= Duration::from_millis(3),
        "3 ms or more",
        waited.as_micros() as u64,
    )
}

fn count(_: &'static Board) {
    TICKS.fetch_add(1, Ordering::Relaxed);
}

fn ticks_come(kernel: &mut Kernel) -> Outcome {
    TICKS.store(0, Ordering::Relaxed);
    let start = time::now();
    let period = Duration::from_millis(2);
    tick::every(kernel.board, period, count).map_err(|_| ("a tick", 0))?;
    let limit = start + Duration::from_secs(2);
    while TICKS.load(Ordering::Relaxed) < 4 && time::now() < limit {
        core::hint::spin_loop();
    }
    let waited = time::now() - start;
    tick::never();
    let ticks = TICKS.load(Ordering::Relaxed);
    expect(ticks == 4, "four ticks", u64::from(ticks))?;
    // The first comes at once.
    expect(
        waited >= 3 * period,
        "6 ms or more",
        waited.as_micros() as u64,
    )
}

fn registers_survive(kernel: &mut Kernel) -> Outcome {
    let timer = Interrupt::Private(kernel.board.virtual_timer_ppi);
    interrupts::register(timer, on_tick).map_err(|_| ("a handler", 0))?;
    interrupts::enable(timer);
    TICKS.store(0, Ordering::Relaxed);
    time::alarm_at(time::now() + Duration::from_millis(1));
    let pattern: u64 = 0x0123_4567_89AB_CDEF;
    let sum: u64;
    // SAFETY: touches only registers that it names, and reads the counter of ticks.
    unsafe {
        core::arch::asm!(
            "dup v0.2d, {pattern}",
            "dup v7.2d, {pattern}",
            "dup v8.2d, {pattern}",
            "dup v16.2d, {pattern}",
            "dup v31.2d, {pattern}",
            "2: ldr {sum:w}, [{ticks}]",
            "cbz {sum:w}, 2b",
            "and v0.16b, v0.16b, v7.16b",
            "and v0.16b, v0.16b, v8.16b",
            "and v0.16b, v0.16b, v16.16b",
            "and v0.16b, v0.16b, v31.16b",
            "umov {sum}, v0.d[1]",
            pattern = in(reg) pattern,
            ticks = in(reg) TICKS.as_ptr(),
            sum = out(reg) sum,
            out("v0") _, out("v7") _, out("v8") _, out("v16") _, out("v31") _,
            options(nostack, readonly),
        );
    }
    expect(sum == pattern, "the pattern", sum)
}

fn disabled_interrupt(kernel: &mut Kernel) -> Outcome {
    let timer = Interrupt::Private(kernel.board.virtual_timer_ppi);
    interrupts::disable(timer);
    TICKS.store(0, Ordering::Relaxed);
    time::alarm_at(time::now());
    wait_for_tick(Duration::from_millis(5));
    time::alarm_off();
    let ticks = TICKS.load(Ordering::Relaxed);
    expect(ticks == 0, "no tick", u64::from(ticks))
}

fn tree_agrees(kernel: &mut Kernel) -> Outcome {
    let tree = kernel.tree.ok_or(("a device tree", 0))?;
    let agrees = tree.check(kernel.board).is_ok();
    expect(agrees, "a tree that agrees with the board", 0)?;
    expect(tree.conduit().is_some(), "a way to the firmware", 0)
}

fn firmware_answers(_: &mut Kernel) -> Outcome {
    let version = firmware::psci_version().ok_or(("a version of PSCI", 0))?;
    expect(version.major == 1, "PSCI 1.x", u64::from(version.major))
}

fn another() -> Result<cpus::Cpu, (&'static str, u64)> {
    let others = cpus::others();
    others.first().copied().ok_or(("a second CPU", 0))
}

fn another_cpu_works(_: &mut Kernel) -> Outcome {
    static DONE: AtomicU64 = AtomicU64::new(0);
    let (cpu, own) = (another()?, MPIDR_EL1.get());
    for wanted in 1..=3 {
        let running = cpus::run(cpu, move || {
            let is_other = MPIDR_EL1.get() != own;
            DONE.fetch_add(u64::from(is_other), Ordering::Relaxed);
        });
        running
            .map_err(|_| ("a CPU that is started", wanted))?
            .wait();
        let done = DONE.load(Ordering::Relaxed);
        expect(done == wanted, "a thing done by the other", done)?;
    }
    let code = cpus::run(cpu, || {
        DONE.store(
            attribute_of(main as fn(Kernel) -> Exit as usize),
            Ordering::Relaxed,
        )
    });
    code.map_err(|_| ("a CPU", 0))?.wait();
    let code = DONE.load(Ordering::Relaxed);
    expect(code == 0xFF, "the same map: write-back code (0xff)", code)
}

/// As two CPUs that submit to one device behind a lock do.
fn two_cpus_share(_: &mut Kernel) -> Outcome {
    const EACH: u64 = 1000;
    static NUMBERS: IrqMutex<Vec<u64>> = IrqMutex::new(Vec::new());
    let add = |from: u64| (0..EACH).for_each(|n| NUMBERS.with(|all| all.push(from + n)));
    let running = cpus::run(another()?, move || add(EACH)).map_err(|_| ("a CPU", 0))?;
    add(0);
    running.wait();
    let mut numbers = NUMBERS.with(core::mem::take);
    numbers.sort_unstable();
    let all = (0..2 * EACH).eq(numbers.iter().copied());
    expect(all, "every number of both", numbers.len() as u64)
}

fn command_line(kernel: &mut Kernel) -> Outcome {
    let host = kernel.board.host().ok_or(("a host", 0))?;
    let mut buffer = [0; 256];
    let line = host
        .command_line(&mut buffer)
        .map_err(|_| ("a command line", 0))?;
    let found = line.split_whitespace().any(|word| word == "selftest");
    expect(found, "the word selftest in it", line.len() as u64)
}

fn logs(_: &mut Kernel) -> Outcome {
    defmt::warn!("a frame in the middle of text, {=u32}", 42);
    Ok(())
}
