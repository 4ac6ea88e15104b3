//! What is typed at U-Boot's prompt.
//!
//! Facts: hardware/boards.md section 2.3. Addresses are the board's own, so nothing depends on how U-Boot's environment
//! was set up; the device tree is the one that U-Boot runs with.

use super::{Format, fit};
use eitri_boards::{Board, Prompt};

/// Where the file is loaded. What `booti` takes is entered where it lies; a container is unpacked from memory that the
/// image itself does not occupy.
pub(super) fn address(board: &Board, format: Format) -> Option<usize> {
    match format {
        Format::Elf => None,
        Format::Bin | Format::Image => Some(board.memory.image.base),
        Format::Fit | Format::Uimage | Format::Efi => Some(board.memory.heap.base),
    }
}

/// What sets up the network, by which the files come.
pub(super) fn network(prompt: &Prompt) -> Vec<String> {
    let before = prompt.before_network.iter().copied();
    let lines = before.chain([
        "setenv autoload no",
        "dhcp",
        "# if the files are not on the DHCP server: setenv serverip ADDRESS",
    ]);
    lines.map(str::to_owned).collect()
}

/// How else than over the network the file comes to its address, for a person: notes, no lines of a script. The names of files are those
/// on the card.
pub(super) fn other_ways(prompt: &Prompt, at: usize, name: &str) -> Vec<String> {
    let card = prompt.card.map(|card| {
        format!("# from an SD card's first partition, in place of the network: mmc dev {card}; load mmc {card}:1 {at:#x} {name}")
    });
    let serial = format!("# over the serial line (YMODEM; 10 KiB/s at 115200 baud): loady {at:#x}");
    card.into_iter().chain([serial]).collect()
}

/// What comes first: the device tree stays where it is, out of the memory that the image wants.
pub(super) fn before() -> Vec<String> {
    vec!["setenv fdt_high 0xffffffffffffffff".to_owned()]
}

/// What starts a file that was loaded, with another beside it (`ADDRESS:BYTES`). A tree's configuration is named: a U-Boot that looks for the one that fits its own
/// device tree would find none.
pub(super) fn start(board: &Board, format: Format, beside: Option<&str>) -> Option<String> {
    let at = address(board, format)?;
    let what = match format {
        Format::Elf => return None,
        Format::Bin | Format::Image => format!("booti {at:#x}"),
        Format::Fit => format!("bootm {at:#x}#{}", fit::CONFIGURATION),
        Format::Uimage => format!("bootm {at:#x}"),
        Format::Efi => return Some(format!("bootefi {at:#x}")),
    };
    let beside = beside.unwrap_or("-");
    Some(format!("{what} {beside} ${{fdtcontroladdr}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_that_has_its_network_on_pcie_looks_for_it_first() {
        let rock = eitri_boards::Target::named("rk3588").unwrap();
        let lines = super::super::network_lines(rock);
        assert_eq!(lines[..3], ["pci enum", "setenv autoload no", "dhcp"]);
        let orange = eitri_boards::Target::named("orangepi5").unwrap();
        let lines = super::super::network_lines(orange);
        assert_eq!(lines[..2], ["setenv autoload no", "dhcp"]);
        let script = super::super::boot_script(&lines).unwrap();
        let text = String::from_utf8_lossy(&script);
        assert!(text.ends_with("setenv autoload no\ndhcp\n"), "{text}");
    }

    #[test]
    fn an_image_comes_from_a_card_or_over_the_serial_line_too() {
        let rock = eitri_boards::Target::named("rk3588").unwrap();
        let ways = super::super::other_ways(rock, Format::Image, "eitri.img");
        assert!(
            ways[0].ends_with("mmc dev 1; load mmc 1:1 0x2000000 eitri.img"),
            "{ways:?}"
        );
        assert!(ways[1].ends_with("loady 0x2000000"), "{ways:?}");
        // A person reads them; a script must not do all of it.
        assert!(ways.iter().all(|way| way.starts_with("# ")));
        let uefi = eitri_boards::Target::named("cix-p1").unwrap();
        assert!(super::super::other_ways(uefi, Format::Efi, "x").is_empty());
    }

    #[test]
    fn containers_are_loaded_where_the_image_does_not_go() {
        for board in eitri_boards::ALL {
            let image = board.memory.image;
            for format in [Format::Fit, Format::Uimage, Format::Efi] {
                let at = address(board, format).unwrap_or(image.base);
                assert!(!image.contains(at), "{}: {at:#x}", board.name);
            }
            assert_eq!(address(board, Format::Image), Some(image.base));
        }
    }
}
