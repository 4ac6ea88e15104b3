//! Shows a picture without a GPU, on the display that whoever started the image has left, and says so on the console.
//!
//! Each pixel is computed of its place alone, so that the host can say what the screen must show (`cli/src/checks/display.rs`).
#![no_std]
#![no_main]

extern crate alloc;

use alloc::vec::Vec;
use eitri_boards::Exit;
use eitri_kernel::display::Display;
use eitri_kernel::{Kernel, interrupts, println};
use eitri_picture::{Picture, PixelFormat};

eitri_kernel::image! {
    board: eitri_boards::qemu_virt::BOARD,
    main: main,
}

/// The picture's size: neither side divides a screen.
const WIDTH: usize = 90;
const HEIGHT: usize = 53;

/// Red, green, blue and alpha of a pixel: the check `uefi` expects the same.
fn pixel(x: usize, y: usize) -> [u8; 4] {
    [(x * 2) as u8, (y * 4) as u8, ((x ^ y) & 1) as u8 * 255, 255]
}

fn main(kernel: Kernel) -> Exit {
    let places = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| pixel(x, y)));
    let bytes: Vec<u8> = places.flatten().collect();
    let format = PixelFormat::R8G8B8A8;
    let picture = match Picture::new(WIDTH, HEIGHT, WIDTH * format.bytes(), format, &bytes) {
        Ok(picture) => picture,
        Err(error) => {
            println!("no picture: {error}");
            return Exit::Failed;
        }
    };
    let mut display = match Display::open(&kernel) {
        Ok(display) => display,
        Err(error) => {
            println!("no display: {error}");
            return Exit::Failed;
        }
    };
    let placement = display.show(&picture);
    let (width, height) = (display.mode().width(), display.mode().height());
    println!("display: shown {}, on {width} x {height}", placement.scale);
    loop {
        interrupts::sleep();
    }
}
