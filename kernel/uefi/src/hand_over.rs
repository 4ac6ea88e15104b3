//! Hand over: ends the firmware's boot services and enters the image.

use eitri_aarch64::CacheType;
use uefi::boot;

/// Enters the image of `bytes` bytes at `image`, with a device tree; does not come back.
pub(crate) fn start(image: usize, bytes: usize, tree: usize) -> ! {
    // SAFETY: nothing of the firmware's is used from here on; what its allocator gave stays where it is.
    let map = unsafe { boot::exit_boot_services(None) };
    // Its memory can't be given back any more.
    core::mem::forget(map);
    make_code(image, bytes);
    // SAFETY: an image with a header begins there (`memory::place`), which is entered with a tree in x0. It does not come back,
    // and no register has to be kept.
    unsafe {
        core::arch::asm!(
            "msr daifset, #0xf",
            "br {image}",
            image = in(reg) image,
            in("x0") tree,
            in("x1") 0,
            in("x2") 0,
            in("x3") 0,
            options(noreturn, nostack),
        )
    }
}

/// What was written as data is executed next.
fn make_code(base: usize, bytes: usize) {
    let value: u64;
    // SAFETY: reads a constant of the CPU.
    unsafe {
        core::arch::asm!("mrs {}, ctr_el0", out(reg) value, options(nostack, nomem, preserves_flags));
    }
    let line = CacheType(value).data_line_bytes();
    for address in (base..base + bytes).step_by(line) {
        // SAFETY: writes to memory what was written already.
        unsafe { core::arch::asm!("dc civac, {}", in(reg) address, options(nostack)) };
    }
    // SAFETY: no instruction of the range was executed before.
    unsafe { core::arch::asm!("dsb sy", "ic iallu", "dsb sy", "isb", options(nostack)) };
}
