//! A device tree as a board's boot loader hands it over: which machine it is, its memory, and the words for the image.
//!
//! For boards that QEMU has the place of.  Relies on: `vm-fdt`, which writes the tree.  Facts: hardware/boards.md 2.2 and 2.3.

use crate::outcome::Failure;
use eitri_boards::qemu_virt::{self, ANYWHERE_RAM};
use eitri_boards::{Board, Outline, Region, Target};
use miette::Diagnostic;
use thiserror::Error;
use vm_fdt::{FdtWriter, FdtWriterResult};

/// Why there is no tree.
#[derive(Debug, Error, Diagnostic)]
#[error("the device tree can't be written: {cause}")]
struct TreeError {
    cause: String,
}

/// The tree of a board, with `arguments` for the image.
pub(crate) fn build(board: Target, arguments: &str) -> Result<Vec<u8>, Failure> {
    let built = match board {
        Target::Board(board) => of_board(board, arguments),
        Target::Outline(outline) => of_outline(outline, arguments),
    };
    built.map_err(|cause| {
        let cause = cause.to_string();
        Failure::refused(TreeError { cause })
    })
}

fn of_board(board: &Board, arguments: &str) -> FdtWriterResult<Vec<u8>> {
    let memory = board.memory;
    tree(
        board.compatible,
        &[memory.image, memory.heap, memory.shared],
        |fdt| {
            let chosen = fdt.begin_node("chosen")?;
            fdt.property_string("bootargs", arguments)?;
            fdt.end_node(chosen)
        },
    )
}

/// A tree of which everything is read: the console, interrupt controller, timers and firmware are QEMU's, behind a bus as chips have
/// one.
fn of_outline(outline: &Outline, arguments: &str) -> FdtWriterResult<Vec<u8>> {
    const SPI: u32 = 0;
    const PPI: u32 = 1;
    const HIGH: u32 = 4;
    const GIC_HANDLE: u32 = 1;
    let qemu = qemu_virt::BOARD;
    let [distributor, redistributors] =
        [qemu.gic.distributor(), qemu.gic.of_cpus()].map(|base| base.address());
    let console = qemu.console.base().address();
    tree(outline.compatible, &[ANYWHERE_RAM], |fdt| {
        let chosen = fdt.begin_node("chosen")?;
        fdt.property_string("bootargs", arguments)?;
        fdt.property_string("stdout-path", "serial0:115200n8")?;
        fdt.end_node(chosen)?;
        let aliases = fdt.begin_node("aliases")?;
        fdt.property_string("serial0", &format!("/soc/serial@{console:x}"))?;
        fdt.end_node(aliases)?;
        let psci = fdt.begin_node("psci")?;
        fdt.property_string("compatible", "arm,psci-1.0")?;
        fdt.property_string("method", "smc")?;
        fdt.end_node(psci)?;
        let timer = fdt.begin_node("timer")?;
        fdt.property_string("compatible", "arm,armv8-timer")?;
        fdt.property_u32("interrupt-parent", GIC_HANDLE)?;
        let ppis = [13, qemu.physical_timer_ppi, qemu.virtual_timer_ppi, 10];
        let interrupts: Vec<u32> = ppis.iter().flat_map(|ppi| [PPI, *ppi, HIGH]).collect();
        fdt.property_array_u32("interrupts", &interrupts)?;
        fdt.end_node(timer)?;
        let soc = fdt.begin_node("soc")?;
        fdt.property_string("compatible", "simple-bus")?;
        fdt.property_u32("#address-cells", 2)?;
        fdt.property_u32("#size-cells", 2)?;
        fdt.property_null("ranges")?;
        let gic = fdt.begin_node(&format!("interrupt-controller@{distributor:x}"))?;
        fdt.property_string("compatible", "arm,gic-v3")?;
        fdt.property_null("interrupt-controller")?;
        fdt.property_u32("#interrupt-cells", 3)?;
        fdt.property_u32("phandle", GIC_HANDLE)?;
        let frames = [
            distributor as u64,
            0x1_0000,
            redistributors as u64,
            0x2_0000,
        ];
        fdt.property_array_u64("reg", &frames)?;
        fdt.end_node(gic)?;
        let serial = fdt.begin_node(&format!("serial@{console:x}"))?;
        fdt.property_string("compatible", "arm,pl011")?;
        fdt.property_array_u64("reg", &[console as u64, 0x1000])?;
        fdt.property_array_u32("interrupts", &[SPI, 1, HIGH])?;
        fdt.end_node(serial)?;
        fdt.end_node(soc)
    })
}

/// A tree with memory, and with what `rest` puts into it.
fn tree(
    compatible: &[&str],
    memory: &[Region],
    rest: impl FnOnce(&mut FdtWriter) -> FdtWriterResult<()>,
) -> FdtWriterResult<Vec<u8>> {
    let mut fdt = FdtWriter::new()?;
    let root = fdt.begin_node("")?;
    fdt.property_u32("#address-cells", 2)?;
    fdt.property_u32("#size-cells", 2)?;
    if let Some(name) = compatible.first() {
        fdt.property_string("compatible", name)?;
    }
    for region in memory {
        let node = fdt.begin_node(&format!("memory@{:x}", region.base))?;
        fdt.property_string("device_type", "memory")?;
        fdt.property_array_u64("reg", &[region.base as u64, region.bytes as u64])?;
        fdt.end_node(node)?;
    }
    rest(&mut fdt)?;
    fdt.end_node(root)?;
    fdt.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_boards::Gic;
    use eitri_boards::device_tree::DeviceTree;

    #[test]
    fn a_board_goes_on_with_its_tree() {
        for board in eitri_boards::ALL {
            let bytes = build(Target::Board(board), "eitri.only=power.").unwrap();
            let tree = DeviceTree::parse(&bytes).unwrap();
            tree.check(board)
                .unwrap_or_else(|error| panic!("{}: {error}", board.name));
            assert_eq!(tree.arguments(), "eitri.only=power.");
        }
    }

    #[test]
    fn the_tree_of_an_outline_says_all_that_is_needed() {
        for outline in eitri_boards::OUTLINES {
            let bytes = build(Target::Outline(outline), "inferred").unwrap();
            let tree = DeviceTree::parse(&bytes).unwrap();
            let console = tree.named_console().unwrap().console;
            let image = Region::new(ANYWHERE_RAM.base + 0x20_0000, 0x10_0000);
            let machine = tree.machine(outline, console, image, ANYWHERE_RAM.base);
            let machine = machine.unwrap_or_else(|error| panic!("{}: {error}", outline.name));
            assert!(ANYWHERE_RAM.contains(machine.heap.base), "{machine:x?}");
            assert!(
                matches!(machine.gic, Gic::V3 { cpus: 1, .. }),
                "a tree without CPUs has the one that reads it: {:?}",
                machine.gic
            );
        }
    }
}
