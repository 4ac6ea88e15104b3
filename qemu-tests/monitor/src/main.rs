//! The EL2 monitor: lets the model play the GPU for an image that does not know.
//!
//! QEMU starts it at EL2, with the image in memory at its place. It shows the image all of the machine but the GPU's
//! register window, starts it at EL1, and then runs whenever the image touches the window, sleeps, or is interrupted:
//! accesses go to the model, the model's lines come back as virtual interrupts, and the model gets its share of time.
//! Or it shows the image another board (`board=`): that board's memory map, window, console and interrupts, and stand-ins for
//! what is around its GPU.
//!
//! It talks on the semihosting console, a channel of its own; every line begins with `monitor: `.
//! Exists for QEMU only, so it names the board; the image under test is not linked with anything in here.
//! Facts: hardware/boards.md section 4, csf-mmio.md section 1.
#![no_std]
#![no_main]
#![warn(missing_docs)]

extern crate alloc;

// Boot.
mod entry;
mod own_memory;
mod report;

// The machine that the image sees.
mod abort;
mod around;
mod cpu_interface;
mod cpus;
mod distributor;
mod guest;
mod hold;
mod interrupts;
mod machine;
mod redistributor;
mod stage2;
mod vectors;

// The GPU.
mod bell;
mod caches;
mod dump;
mod gpu;
mod host_gpu;
mod model_gpu;
mod physical_memory;
mod stepped_gpu;

mod run;
mod settings;
mod trace;

use guest::Guest;
use report::say;
use settings::{Coherence, Settings};

fn main() -> ! {
    // SAFETY: the linker script has set this memory aside, and the initial map has it.
    unsafe { eitri_kernel::heap::open(eitri_kernel::linked::heap()) };
    own_memory::map();
    vectors::install();
    let settings = match Settings::read() {
        Ok(settings) => settings,
        Err(error) => {
            say!("{error}");
            report::end(eitri_boards::Exit::Refused)
        }
    };
    machine::show(settings.board, settings.memory_above);
    let interrupts = interrupts::open();
    stage2::show_machine(settings.coherence == Coherence::Whole);
    let gpu = gpu::Gpu::new(&settings);
    let board = settings.board;
    say!(
        "GPU of {} at {:#x}, image at {:#x}, limit {} ms",
        settings.product.part.soc,
        board.gpu.window.base,
        board.memory.image.base,
        settings.limit.as_millis()
    );
    let entry = settings.entry.unwrap_or(board.memory.image.base as u64);
    let guest = Guest::at(entry, settings.device_tree);
    run::begin(gpu, &settings);
    run::on_cpu(guest, interrupts)
}
