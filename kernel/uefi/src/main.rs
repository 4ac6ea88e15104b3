//! The UEFI application: puts an image where it is linked for, and starts it as a boot loader would.
//!
//! It asks the firmware for the memory that the board's image uses, and does not go on where something else is there: the
//! firmware's own map is the truth about a board whose reserved memory changes from release to release. The image gets a
//! device tree with that map, with the application's command line (`/chosen/bootargs`), and with the screen that the firmware has set
//! up (`simple-framebuffer`). MMU and caches stay on; the image
//! turns them off (`kernel/src/entry.rs`).
//!
//! Facts: hardware/boards.md 2.4 item 4; hardware/boards-others.md 1.1.
#![cfg_attr(target_os = "uefi", no_std)]
#![cfg_attr(target_os = "uefi", no_main)]

#[cfg(target_os = "uefi")]
extern crate alloc;

#[cfg(target_os = "uefi")]
mod hand_over;
#[cfg(target_os = "uefi")]
mod memory;
#[cfg(target_os = "uefi")]
mod screen;
#[cfg(target_os = "uefi")]
mod tree;

#[cfg(target_os = "uefi")]
mod application {
    use crate::{hand_over, memory, screen, tree};
    use alloc::string::{String, ToString};
    use eitri_boards::Board;
    use uefi::proto::loaded_image::LoadedImage;
    use uefi::{Status, boot, entry, println};

    /// The board that the image is for.
    const BOARD: &Board = match eitri_boards::named(env!("EITRI_BOARD")) {
        Some(board) => board,
        None => panic!("the build script names a board that there is"),
    };

    static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/image"));

    /// What stands behind the application's name, or what whoever made the boot entry has put there.
    fn command_line() -> String {
        let own = boot::open_protocol_exclusive::<LoadedImage>(boot::image_handle());
        let Ok(own) = own else {
            return String::new();
        };
        let options = own.load_options_as_cstr16().map(ToString::to_string);
        let options = options.unwrap_or_default();
        // The shell puts the application's own name first.
        match options.split_once(' ') {
            Some((name, rest)) if name.to_ascii_lowercase().ends_with(".efi") => rest.to_string(),
            _ => options,
        }
    }

    #[entry]
    fn main() -> Status {
        if let Err(error) = uefi::helpers::init() {
            return error.status();
        }
        println!("eitri: image for {}", BOARD.title);
        let placed = memory::place(BOARD, IMAGE);
        let start = placed.and_then(|at| {
            let tree = tree::build(BOARD, &command_line(), screen::find())?;
            Ok((at, tree))
        });
        match start {
            Ok((at, tree)) => hand_over::start(at, IMAGE.len(), tree),
            Err(why) => {
                println!("eitri: {why}");
                Status::LOAD_ERROR
            }
        }
    }
}

#[cfg(not(target_os = "uefi"))]
fn main() {}
