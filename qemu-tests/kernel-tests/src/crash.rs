//! Crashes on purpose, in the way that the command line names, to test the report.
#![no_std]
#![no_main]

use eitri_boards::Exit;
use eitri_kernel::{Kernel, println};

eitri_kernel::image! {
    board: eitri_boards::qemu_virt::BOARD,
    main: main,
}

fn main(kernel: Kernel) -> Exit {
    let mut buffer = [0; 256];
    let host = kernel.board.host();
    let line = host.map(|host| host.command_line(&mut buffer));
    let Some(Ok(line)) = line else {
        println!("no command line");
        return Exit::Refused;
    };
    println!("crash: {line}");
    match line.split_whitespace().last() {
        Some("data-abort") => data_abort(),
        Some("undefined") => undefined(),
        Some("breakpoint") => breakpoint(),
        Some("execute-data") => execute_data(),
        Some("stack-overflow") => println!("{}", overflow(0)),
        Some("panic") => panic!("on purpose"),
        Some("memory") => memory(),
        _ => return Exit::Refused,
    }
    println!("it did not crash");
    Exit::Failed
}

#[inline(never)]
fn data_abort() {
    // SAFETY: nothing is mapped at this address: the access is taken as an exception.
    unsafe {
        core::arch::asm!("mov x0, #0x1234", "movk x0, #0x2000, lsl #16", "ldr x0, [x0]", out("x0") _)
    };
}

#[inline(never)]
fn undefined() {
    // SAFETY: the instruction is permanently undefined: an exception.
    unsafe { core::arch::asm!("udf #0x1234") };
}

#[inline(never)]
fn breakpoint() {
    // SAFETY: an exception.
    unsafe { core::arch::asm!("brk #0x3C") };
}

#[inline(never)]
fn execute_data() {
    static CODE: [u32; 4] = [0xD65F_03C0; 4];
    // SAFETY: constants are not executable: the call is taken as an exception.
    unsafe { core::arch::asm!("blr {}", in(reg) CODE.as_ptr(), clobber_abi("C")) };
}

#[inline(never)]
fn overflow(depth: u64) -> u64 {
    if depth == u64::MAX {
        return depth;
    }
    let frame = core::hint::black_box([depth; 128]);
    overflow(depth + 1) + frame[core::hint::black_box(64)]
}

/// Asks the heap for more than it has.
fn memory() {
    extern crate alloc;
    let hoard = alloc::vec![1u8; 1 << 30];
    core::hint::black_box(&hoard);
}
