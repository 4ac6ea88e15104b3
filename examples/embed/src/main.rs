//! The runtime in somebody's own firmware: brings the GPU up, runs one shader on 64 numbers, and says what came of it.
#![no_std]
#![no_main]
#![allow(
    clippy::result_large_err,
    reason = "the runtime's errors carry what was seen, and there is no heap to put it on"
)]

use core::time::Duration;
use eitri_boards::Exit;
use eitri_kernel::{Kernel, print, println};
use eitri_mmio::{GenericTimer, Mmio, NoInterrupts};
use eitri_program::Program;
use eitri_runtime::{Bound, Device, Error, Options, PageAllocator, Platform, Storage};

eitri_kernel::image! {
    main: main,
    reads_tree: cfg!(feature = "device-tree"),
}

const FIRMWARE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/firmware"));
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/program"));
/// Memory for the GPU.
const MEMORY: usize = 16 << 20;

fn main(kernel: Kernel) -> Exit {
    let (window, memory) = (kernel.board.gpu.window, kernel.board.memory.shared.base);
    let (window, memory) = (window.base..window.end(), memory..memory + MEMORY);
    let map = [0; PageAllocator::words(MEMORY as u64)];
    // SAFETY: a board says the truth about its addresses, and this is called once.
    let platform = unsafe { Mmio::new(window, memory, map, GenericTimer, NoInterrupts) };
    let mut bytes = [1; 256];
    match platform.map(|platform| run(platform, &mut bytes)) {
        Ok(Ok(())) => {
            bytes.iter().take(16).for_each(|byte| print!("{byte} "));
            println!("...");
            return Exit::Success;
        }
        Ok(Err(error)) if cfg!(feature = "text") => println!("{error}"),
        Ok(Err(error)) => println!("{}", error.code()),
        Err(error) => println!("{error}"),
    }
    Exit::Failed
}

fn run(platform: impl Platform, bytes: &mut [u8]) -> Result<(), Error> {
    let mut storage = Storage::<1, 4, 16>::default();
    let options = Options::default();
    let mut device = Device::bring_up(platform, FIRMWARE, &mut storage, options, &mut ())?;
    let program = Program::parse(PROGRAM)?;
    let limit = Duration::from_secs(1);
    device.run(&program, [1, 1, 1], &[], &mut [Bound::new(0, bytes)], limit)?;
    device.shutdown(&mut ())?;
    Ok(())
}
