//! Brings the GPU up, doubles 64 numbers on it, prints them, and ends the machine with what came of it.
#![no_std]
#![no_main]

mod start;

use core::fmt::{self, Write};
use core::ops::Range;
use core::panic::PanicInfo;
use core::time::Duration;
use eitri_mmio::{GenericTimer, Mmio, NoInterrupts};
use eitri_program::Program;
use eitri_runtime::{Bound, Device, Error, Options, PageAllocator, Storage};

/// What `eitri firmware stub` wrote, or the vendor's mali_csffw.bin.
const FIRMWARE: &[u8] = include_bytes!("../firmware.bin");
/// What `eitri compile` made of double.wgsl.
const PROGRAM: &[u8] = include_bytes!("../double.program");

/// The GPU's registers, as `eitri boot --help` has them.
const WINDOW: Range<usize> = 0x0B00_0000..0x0B20_0000;
/// Memory for the GPU, behind that of the firmware.
const MEMORY: Range<usize> = 0x5000_0000..0x5100_0000;
/// The data register of the console, a PL011.
const CONSOLE: *mut u8 = 0x0900_0000 as *mut u8;

/// The console.
struct Console;

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            // SAFETY: QEMU's PL011 takes a byte at any time; nothing else of ours uses this register.
            unsafe { CONSOLE.write_volatile(byte) };
        }
        Ok(())
    }
}

macro_rules! println {
    // Writing to the console does not fail.
    ($($text:tt)*) => { let _ = writeln!(Console, $($text)*); };
}

/// What `start` branches to, with a stack and with zeros in `.bss`.
extern "C" fn main() -> ! {
    let mut numbers = [0; 256];
    for (number, bytes) in (0u32..).zip(numbers.chunks_exact_mut(4)) {
        bytes.copy_from_slice(&number.to_le_bytes());
    }
    let status = match compute(&mut numbers) {
        Ok(()) => {
            println!("doubled: {:?} ...", &numbers.as_chunks::<4>().0[..8]);
            let wrong = (0u32..)
                .zip(numbers.as_chunks::<4>().0)
                .find(|(number, bytes)| u32::from_le_bytes(**bytes) != 2 * number);
            match wrong {
                None => 0,
                Some((number, _)) => {
                    println!("number {number} is wrong");
                    1
                }
            }
        }
        Err(error) => {
            println!("{error}");
            1
        }
    };
    start::exit(status)
}

fn compute(numbers: &mut [u8]) -> Result<(), Error> {
    let map = [0; PageAllocator::words((MEMORY.end - MEMORY.start) as u64)];
    // SAFETY: both ranges are this machine's, nothing else of ours lies in them, and this is called once.
    let platform = unsafe { Mmio::new(WINDOW, MEMORY, map, GenericTimer, NoInterrupts) };
    let platform = match platform {
        Ok(platform) => platform,
        Err(error) => {
            println!("{error}");
            start::exit(2)
        }
    };
    let mut storage = Storage::<1, 4, 16>::default();
    let mut device =
        Device::bring_up(platform, FIRMWARE, &mut storage, Options::default(), &mut ())?;
    let program = Program::parse(PROGRAM)?;
    let limit = Duration::from_secs(1);
    device.run(&program, [1, 1, 1], &[], &mut [Bound::new(0, numbers)], limit)?;
    device.shutdown(&mut ())?;
    Ok(())
}

#[panic_handler]
fn panic(panic: &PanicInfo<'_>) -> ! {
    println!("{panic}");
    start::exit(101)
}
