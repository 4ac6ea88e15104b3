//! Tests of the way to the GPU: registers, interrupts, memory; and, when the command line names one, a misuse of it.
#![no_std]
#![no_main]

mod tap;

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use eitri_boards::Exit;
use eitri_boards::qemu_virt::{BOARD, MONITOR_RAM};
use eitri_csf::registers::control::GPU_COMMAND;
use eitri_csf::registers::identity::GPU_ID;
use eitri_csf::registers::interrupts::GPU_IRQ;
use eitri_kernel::{Kernel, cpus, println};
use eitri_on_board::{Caching, MmioPlatform, take_gpu};
use eitri_runtime::{Lines, Platform};
use tap::{Outcome, Test, expect};

eitri_kernel::image! {
    board: eitri_boards::qemu_virt::BOARD,
    main: main,
}

const TESTS: &[Test<MmioPlatform>] = &[
    ("there is a GPU", there_is_a_gpu),
    ("the mask of the GPU line keeps what is written", mask_keeps),
    (
        "a reset raises the GPU line, which wakes the image",
        reset_interrupt,
    ),
    (
        "the line goes down when its cause is cleared",
        line_goes_down,
    ),
    ("a second reset does the same again", reset_interrupt),
    ("memory is zeroed, aligned and apart", memory),
    ("a wait without lines lasts", delay),
    ("another CPU sees the GPU", another_cpu),
];

fn main(kernel: Kernel) -> Exit {
    let mut buffer = [0; 256];
    let line = kernel
        .board
        .host()
        .map(|host| host.command_line(&mut buffer));
    let misuse = match line {
        Some(Ok(line)) => line
            .split_whitespace()
            .find_map(|word| word.strip_prefix("misuse=")),
        _ => None,
    };
    let window = kernel.board.gpu.window.base;
    match misuse {
        Some("wide") => wide(window),
        Some("pair") => pair(window),
        Some("hang") => loop {
            core::hint::spin_loop();
        },
        Some("monitor") => touch_monitor(),
        Some(_) => return Exit::Refused,
        None => {}
    }
    match take_gpu(kernel.board, Caching::None) {
        Ok(mut platform) => tap::run(TESTS, &mut platform),
        Err(error) => {
            println!("no platform: {error:?}");
            Exit::Failed
        }
    }
}

fn there_is_a_gpu(gpu: &mut MmioPlatform) -> Outcome {
    let id = gpu.read32(GPU_ID.offset);
    expect(
        id >> 28 >= 10,
        "GPU_ID of architecture 10 or later",
        id.into(),
    )
}

/// RESET_COMPLETED; hardware/csf-mmio.md section 7.
const RESET_COMPLETED: u32 = 1 << 8;
/// Hardware/csf-mmio.md section 6.
const SOFT_RESET: u32 = 0x101;

fn mask_keeps(gpu: &mut MmioPlatform) -> Outcome {
    for mask in [RESET_COMPLETED, 0] {
        gpu.write32(GPU_IRQ.mask.offset, mask);
        let read = gpu.read32(GPU_IRQ.mask.offset);
        expect(read == mask, "the mask", read.into())?;
    }
    Ok(())
}

fn wait_for_gpu(gpu: &mut MmioPlatform, limit: Duration) -> Lines {
    let until = gpu.now().after(limit);
    gpu.wait(Lines::GPU, until)
}

fn reset_interrupt(gpu: &mut MmioPlatform) -> Outcome {
    gpu.write32(GPU_IRQ.clear.offset, u32::MAX);
    gpu.write32(GPU_IRQ.mask.offset, RESET_COMPLETED);
    gpu.write32(GPU_COMMAND.offset, SOFT_RESET);
    let lines = wait_for_gpu(gpu, Duration::from_secs(1));
    expect(lines.gpu && !lines.job, "the GPU line", lines.gpu.into())?;
    let status = gpu.read32(GPU_IRQ.status.offset);
    expect(status == RESET_COMPLETED, "RESET_COMPLETED", status.into())
}

fn line_goes_down(gpu: &mut MmioPlatform) -> Outcome {
    let again = wait_for_gpu(gpu, Duration::from_millis(20));
    expect(again.gpu, "the level, still", again.gpu.into())?;
    gpu.write32(GPU_IRQ.clear.offset, RESET_COMPLETED);
    let after = wait_for_gpu(gpu, Duration::from_millis(20));
    expect(!after.gpu, "no line", after.gpu.into())
}

fn memory(gpu: &mut MmioPlatform) -> Outcome {
    let none = ("memory", 0);
    let first = gpu.allocate(4096, 4096).ok_or(none)?.start();
    let region = gpu.allocate(1 << 20, 1 << 16).ok_or(none)?;
    let second = region.start();
    expect(second.0.is_multiple_of(1 << 16), "alignment", second.0)?;
    expect(second.0 >= first.0 + 4096, "another place", second.0)?;
    expect(gpu.load32(second) == 0, "zero", gpu.load32(second).into())?;
    gpu.write_bytes(second, &[1, 2, 3, 4, 5]);
    let word = gpu.load32(second);
    expect(word == 0x0403_0201, "what was written", word.into())?;
    gpu.store64(second, 0x0123_4567_89AB_CDEF);
    let (low, whole) = (gpu.load32(second), gpu.load64(second));
    expect(low == 0x89AB_CDEF, "the low word first", low.into())?;
    expect(whole == 0x0123_4567_89AB_CDEF, "both words", whole)?;
    gpu.free(region);
    let again = gpu.allocate(1 << 20, 1 << 16).ok_or(none)?.start();
    expect(gpu.load64(again) == 0, "zero again", gpu.load64(again))?;
    let too_much = gpu.allocate(1 << 40, 4096);
    expect(too_much.is_none(), "no memory of 1 TiB", 0)
}

fn delay(gpu: &mut MmioPlatform) -> Outcome {
    let before = gpu.now();
    gpu.wait(Lines::NONE, before.after(Duration::from_millis(5)));
    let passed = gpu.now().since(before);
    expect(
        passed >= Duration::from_millis(5),
        "5 ms",
        passed.as_micros() as u64,
    )
}

/// It was started by the firmware, and the monitor has to be under it too.
fn another_cpu(gpu: &mut MmioPlatform) -> Outcome {
    static SEEN: AtomicU32 = AtomicU32::new(0);
    let others = cpus::others();
    let cpu = others.first().copied().ok_or(("a second CPU", 0))?;
    let read = || {
        let id = BOARD.gpu.window.base + GPU_ID.offset as usize;
        // SAFETY: a register that the kernel's map has, and whose reads have no effect.
        SEEN.store(
            unsafe { (id as *const u32).read_volatile() },
            Ordering::Relaxed,
        );
    };
    let running = cpus::run(cpu, read).map_err(|_| ("a CPU that is started", 0))?;
    running.wait();
    let (seen, own) = (SEEN.load(Ordering::Relaxed), gpu.read32(GPU_ID.offset));
    expect(seen == own, "GPU_ID as this CPU reads it", seen.into())
}

/// Two words at once.
fn wide(window: usize) {
    // SAFETY: the monitor stops the image.
    unsafe { core::arch::asm!("ldr {0}, [{0}]", inout(reg) window => _) };
}

/// A pair of registers, which no syndrome describes.
fn pair(window: usize) {
    // SAFETY: the monitor stops the image.
    unsafe { core::arch::asm!("ldp {0:w}, {1:w}, [{0}]", inout(reg) window => _, out(reg) _) };
}

/// Asks the MMU off and reads where the monitor is.
fn touch_monitor() {
    // SAFETY: the image does not go on.
    unsafe {
        core::arch::asm!(
            "mrs {0}, sctlr_el1",
            "bic {0}, {0}, #1",
            "msr sctlr_el1, {0}",
            "isb",
            "mov {0}, #{monitor}",
            "ldr {0}, [{0}]",
            out(reg) _,
            monitor = const MONITOR_RAM.base,
        );
    }
}
