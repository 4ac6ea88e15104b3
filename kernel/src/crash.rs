//! Crash: what is printed when an image can't go on, and how it ends.
//!
//! Guarantees: a report names what happened, where, all registers and the return addresses; a crash inside a report
//! ends the image at once, with the status of the first.

use crate::{console, firmware, interrupts, linked, logger, println};
use aarch64_rt::RegisterState;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};
use cortex_a::registers::{ESR_EL1, FAR_EL1, Readable, SP_EL0};
use eitri_aarch64::{Syndrome, frames};
use eitri_boards::{Ending, Exit, Region};
use spin::Once;

static ENDING: Once<Ending> = Once::new();
static REPORTING: AtomicBool = AtomicBool::new(false);

/// Tells how the image ends.
pub(crate) fn end_as(ending: Ending) {
    ENDING.call_once(|| ending);
}

/// Ends the image: tells the host, or resets the machine.
pub(crate) fn end(status: Exit) -> ! {
    match ENDING.get() {
        Some(Ending::Host(host)) => host.end(status),
        Some(Ending::Reset) => {
            console::flush();
            firmware::reset();
        }
        None => {}
    }
    loop {
        interrupts::sleep();
    }
}

/// Takes the console from whoever had it. Ends the image if a report is under way already.
fn begin_report(status: Exit) {
    if REPORTING.swap(true, Ordering::Relaxed) {
        end(status);
    }
    console::seize();
    logger::abandon_frame();
}

/// The frame record at an address of one of the image's stacks.
fn record(address: u64) -> Option<[u64; 2]> {
    let stacks = [linked::main_stack(), linked::boot_stack()];
    let end = address.checked_add(16)?;
    let inside = |stack: &Region| stack.base as u64 <= address && end <= stack.end() as u64;
    if !stacks.iter().any(inside) || !address.is_multiple_of(8) {
        return None;
    }
    // SAFETY: it is aligned and inside a stack, which is mapped.
    Some(unsafe { (address as *const [u64; 2]).read_volatile() })
}

fn print_frames(frame: u64) {
    println!("return addresses, innermost first:");
    for (index, address) in frames(frame, record).enumerate() {
        println!("  {index:2}: {address:#018x}");
    }
}

/// Reports a panic and ends the image. What [`crate::image!`] makes the panic handler.
#[inline(never)]
pub fn panicked(info: &PanicInfo<'_>) -> ! {
    interrupts::masked(|| {
        begin_report(Exit::Panic);
        // A line of its own for whoever watches many boards: hardware/boards-labs.md 1.
        println!("\nEITRI-CRASH panic");
        println!("{info}");
        let frame: u64;
        // SAFETY: reads a register.
        unsafe {
            core::arch::asm!("mov {}, x29", out(reg) frame, options(nomem, nostack, preserves_flags));
        }
        print_frames(frame);
        end(Exit::Panic)
    })
}

/// x19 to x28.
pub(crate) type Preserved = [u64; 10];

/// Reports an exception and ends the image.
pub(crate) fn report(what: &str, state: &RegisterState, preserved: &Preserved) -> ! {
    begin_report(Exit::Exception);
    let syndrome = Syndrome(ESR_EL1.get());
    let (far, stack) = (FAR_EL1.get(), SP_EL0.get());
    println!(
        "\nEITRI-CRASH exception esr={:#x} elr={:#x} far={far:#x}",
        syndrome.0, state.elr
    );
    println!("{what}: {syndrome}");
    println!("  at   {:#018x}", state.elr);
    if syndrome.has_address() {
        println!("  for  {far:#018x}{}", place(far));
    }
    println!("registers:");
    let general = |index: usize| match index {
        0..=18 => state.registers[index],
        19..=28 => preserved[index - 19],
        29 => state.fp,
        // aarch64-rt calls it `sp`, and saves x30 there.
        _ => state.sp,
    };
    for row in 0..8 {
        let columns = (4 * row)..(4 * row + 4).min(31);
        for index in columns {
            crate::print!("  x{index:<2} {:016x}", general(index));
        }
        println!();
    }
    println!("  sp  {stack:016x}  spsr {:08x}", state.spsr);
    print_frames(state.fp);
    end(Exit::Exception)
}

/// What an address that faulted is near to.
fn place(address: u64) -> &'static str {
    /// Pages without a mapping below the stacks, as the linker script leaves them.
    const GUARD: usize = 4096;
    let guards = [linked::main_stack(), linked::boot_stack()].map(|stack| Region {
        base: stack.base - GUARD,
        bytes: GUARD,
    });
    let within = |region: &Region| region.contains(address as usize);
    if guards.iter().any(within) {
        ", below the stack: it overflowed"
    } else if within(&linked::text()) {
        ", in the code"
    } else if within(&linked::rodata()) {
        ", in the constants"
    } else if address < 4096 {
        ", a null pointer"
    } else {
        ""
    }
}
