//! The files that boot loaders take: what an image becomes for each of them.
//!
//! Guarantees: the same image gives the same bytes; the time in a container is that of SOURCE_DATE_EPOCH, or 0.
//! Facts: hardware/boards.md sections 2.1 and 2.3; the containers are U-Boot's, and its own tools read them in the tests
//! (`checks/u_boot.rs`).

mod fit;
mod legacy;
pub(crate) mod tftp;
mod u_boot;

use crate::images::image::{Builder, Image};
use crate::outcome::Failure;
use crate::output::streams::outln;
use crate::output::whole_file;
use eitri_boards::device_tree::DeviceTree;
use eitri_boards::{Board, Depthcharge, Loader, Target};
use miette::Diagnostic;
use std::path::Path;
use thiserror::Error;

/// A form of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// As the linker left it, with symbols: for debuggers and for QEMU.
    Elf,
    /// What lies in memory, byte by byte. It begins with the arm64 Image header, so `image` is the same.
    Bin,
    /// The arm64 Image, for `booti`.
    Image,
    /// A flattened image tree with checksums, for `bootm`.
    Fit,
    /// U-Boot's older container, for `bootm`.
    Uimage,
    /// An application that UEFI firmware starts, and U-Boot by `bootefi`.
    Efi,
}

impl Format {
    /// The form that a board's own boot loader takes.
    pub(crate) fn of(board: Target) -> Format {
        match board.loader() {
            Loader::UBoot(_) => Format::Image,
            Loader::Uefi => Format::Efi,
            Loader::Depthcharge(_) => Format::Fit,
        }
    }

    /// What the name of such a file ends with.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Format::Elf => "elf",
            Format::Bin => "bin",
            Format::Image => "img",
            Format::Fit => "itb",
            Format::Uimage => "uimg",
            Format::Efi => "efi",
        }
    }
}

/// Why an image can't have a form.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum FormatError {
    #[error("U-Boot's older container holds addresses of 32 bits: {address:#x} is none")]
    #[diagnostic(help("--format image or fit"))]
    Address { address: u64 },
    #[error("U-Boot's older container holds less than 4 GiB, not {bytes:#x} bytes")]
    #[diagnostic(help("--format image or fit"))]
    Bytes { bytes: usize },
    #[error("an image that was built without its sources is no ELF file")]
    #[diagnostic(help("--format image, or `cargo eitri` in a checkout"))]
    NoElf,
    #[error("{board} is loaded by depthcharge, which takes no file of this form")]
    #[diagnostic(help(
        "--format fit, with --tree, or --format image for who puts it into an image tree"
    ))]
    NotForDepthcharge { board: &'static str },
    #[error(
        "{board} is loaded by depthcharge, which hands on the device tree that is in the image tree: there is none"
    )]
    #[diagnostic(help(
        "`eitri image --tree FILE`, with the machine's device tree as a .dtb file; or --format image"
    ))]
    NoTree { board: &'static str },
    #[error("--tree is no device tree: {cause}")]
    #[diagnostic(help("a .dtb file, such as /sys/firmware/fdt of the machine when it runs Linux"))]
    NoDeviceTree { cause: String },
    #[error("the image tree can't be written: {cause}")]
    Tree { cause: String },
}

/// What a container says of its content.
struct Content<'a> {
    /// For people: at most 32 bytes of it fit into the older container.
    name: &'a str,
    /// Where it is loaded, and entered.
    address: u64,
    bytes: &'a [u8],
    /// A device tree that goes with it.
    tree: Option<&'a [u8]>,
}

/// Whether the board's boot loader takes such a file.
pub(crate) fn takes(board: Target, format: Format, tree: Option<&[u8]>) -> Result<(), Failure> {
    if let Some(Err(cause)) = tree.map(DeviceTree::parse) {
        let cause = cause.to_string();
        return Err(Failure::refused(FormatError::NoDeviceTree { cause }));
    }
    let Loader::Depthcharge(_) = board.loader() else {
        return Ok(());
    };
    let board = board.name();
    match (format, tree) {
        (Format::Uimage | Format::Efi, _) => {
            Err(Failure::refused(FormatError::NotForDepthcharge { board }))
        }
        (Format::Fit, None) => Err(Failure::refused(FormatError::NoTree { board })),
        _ => Ok(()),
    }
}

/// The bytes of a file of this form, of which an image tree has the device tree too if there is one.
pub(crate) fn encode(
    image: &Image,
    board: Target,
    format: Format,
    tree: Option<&[u8]>,
) -> Result<Vec<u8>, Failure> {
    takes(board, format, tree)?;
    let raw = image.raw()?;
    let content = Content {
        name: &format!("eitri {}", board.name()),
        // What lies wherever its loader puts it says 0, as LAVA does: hardware/boards-labs.md 3.4.
        address: match board.board() {
            Some(_) => image.load_address()?,
            None => 0,
        },
        bytes: &raw,
        tree,
    };
    let encoded = match format {
        Format::Elf if image.has_parts() => {
            return Err(Failure::refused(FormatError::NoElf));
        }
        Format::Elf => Ok(image.elf.clone()),
        Format::Fit => fit::encode(&content),
        Format::Uimage => legacy::image(&content),
        Format::Bin | Format::Image => Ok(raw),
        Format::Efi => return Builder::new()?.build_uefi(board, &raw),
    };
    encoded.map_err(Failure::refused)
}

/// Writes an image in a form, or in the one that the board's own boot loader takes, and prints what boots it.
pub(crate) fn write(
    path: &str,
    image: &Image,
    board: Target,
    format: Option<Format>,
) -> Result<(), Failure> {
    let format = format.unwrap_or(Format::of(board));
    whole_file::write(path, &encode(image, board, format, None)?)?;
    if path == "-" || format == Format::Elf {
        return Ok(());
    }
    let name = Path::new(path).file_name().unwrap_or_default();
    let mut all = network_lines(board);
    all.extend(lines(board, format, &name.to_string_lossy()));
    outln!("{}", all.join("\n"))
}

/// What to do on a board to boot such a file of that name, as lines for its boot loader or for a person.
pub(crate) fn lines(board: Target, format: Format, name: &str) -> Vec<String> {
    match (board.loader(), board.board()) {
        (Loader::UBoot(_), Some(board)) => u_boot_lines(board, format, Some(name)),
        (Loader::Depthcharge(depthcharge), _) => depthcharge_lines(&depthcharge, format, name),
        (Loader::Uefi | Loader::UBoot(_), _) => uefi_lines(format, name),
    }
}

/// What to do where depthcharge is the boot loader.
// FACT: whether depthcharge wants the command line as text or as a file's name is not in the facts (hardware/boards-labs.md 3.4).
// Settled by one boot of a Chromebook over the network.
fn depthcharge_lines(depthcharge: &Depthcharge, format: Format, name: &str) -> Vec<String> {
    match format {
        Format::Fit => vec![
            format!("# at the prompt `{}`, with the server's address and", depthcharge.prompt),
            "# the command line (`inferred` allows the messages to the GPUEB) in place of the words in capitals:".to_owned(),
            format!("tftpboot SERVER {name} CMDLINE"),
        ],
        _ => vec![
            "# what puts this file and a device tree into an image tree, as LAVA does, boots it by that"
                .to_owned(),
        ],
    }
}

/// What to do where UEFI firmware is the boot loader, which takes no other form.
fn uefi_lines(format: Format, name: &str) -> Vec<String> {
    match format {
        Format::Efi => vec![
            format!(
                "# {name} starts by itself from a FAT file system, as \\EFI\\BOOT\\BOOTAA64.EFI;"
            ),
            "# or type in the UEFI shell, with what the image is to be told behind it:".to_owned(),
            format!("fs0:\\{name}"),
        ],
        _ => vec!["# UEFI firmware starts none of these: --format efi".to_owned()],
    }
}

/// What to type before U-Boot fetches a file from the network; nothing for another boot loader.
pub(crate) fn network_lines(board: Target) -> Vec<String> {
    match board.loader() {
        Loader::UBoot(prompt) => u_boot::network(&prompt),
        Loader::Depthcharge(_) | Loader::Uefi => Vec::new(),
    }
}

/// How a file may come to U-Boot without a network, as notes; nothing for another boot loader.
pub(crate) fn other_ways(board: Target, format: Format, name: &str) -> Vec<String> {
    match (board.loader(), board.board()) {
        (Loader::UBoot(prompt), Some(board)) => u_boot::address(board, format)
            .map(|at| u_boot::other_ways(&prompt, at, name))
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// How the image that judges a board's GPU is told the form of its results, for a person at U-Boot's prompt.
pub(crate) fn console_words(board: Target) -> Option<String> {
    let words =
        "# the results are TAP; for another form: setenv bootargs eitri.console=lava (or plain)";
    matches!(board.loader(), Loader::UBoot(_)).then(|| words.to_owned())
}

/// What to type at U-Boot's prompt to boot such a file: `served` by TFTP under that name, or loaded already.
pub(crate) fn u_boot_lines(board: &Board, format: Format, served: Option<&str>) -> Vec<String> {
    let at = u_boot::address(board, format);
    let load = served
        .zip(at)
        .map(|(name, at)| format!("tftpboot {at:#x} {name}"));
    let mut lines = u_boot::before();
    lines.extend(load);
    lines.extend(u_boot::start(board, format, None));
    lines
}

/// A file beside the image: the GPU's firmware, which the image itself then does not have.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    /// Where U-Boot puts it.
    pub(crate) at: usize,
    /// Its name on the server.
    pub(crate) name: String,
}

/// What to type at U-Boot's prompt to boot a file that is served under that name, with another beside it. That one is loaded
/// last: `filesize` is of what was.
pub(crate) fn u_boot_lines_with(
    board: &Board,
    format: Format,
    name: &str,
    beside: &Beside,
) -> Vec<String> {
    let at = u_boot::address(board, format);
    let mut lines = u_boot::before();
    lines.push("setenv initrd_high 0xffffffffffffffff".to_owned());
    lines.extend(at.map(|at| format!("tftpboot {at:#x} {name}")));
    lines.push(format!("tftpboot {:#x} {}", beside.at, beside.name));
    let file = format!("{:#x}:${{filesize}}", beside.at);
    lines.extend(u_boot::start(board, format, Some(&file)));
    lines
}

/// Where U-Boot loads such a file, if it takes it.
pub(crate) fn u_boot_address(board: &Board, format: Format) -> Option<usize> {
    u_boot::address(board, format)
}

/// What U-Boot's `source` reads: these lines without the notes to a person, in its container.
pub(crate) fn boot_script(lines: &[String]) -> Result<Vec<u8>, Failure> {
    let lines = lines.iter().filter(|line| !line.starts_with('#'));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    legacy::script(&text).map_err(Failure::refused)
}

/// Seconds since 1970, as makers of reproducible files set them.
fn time() -> u32 {
    let epoch = std::env::var("SOURCE_DATE_EPOCH");
    epoch.ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}
