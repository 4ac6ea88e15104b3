//! A device tree as a board's boot loader hands it over: which machine it is, its memory, and the words for the image.
//!
//! For boards that QEMU has the place of.  Relies on: `vm-fdt`, which writes the tree.  Facts: hardware/boards.md 2.2 and 2.3.

use crate::outcome::Failure;
use eitri_boards::Board;
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
pub(crate) fn build(board: &Board, arguments: &str) -> Result<Vec<u8>, Failure> {
    tree(board, arguments).map_err(|cause| {
        let cause = cause.to_string();
        Failure::refused(TreeError { cause })
    })
}

fn tree(board: &Board, arguments: &str) -> FdtWriterResult<Vec<u8>> {
    let mut fdt = FdtWriter::new()?;
    let root = fdt.begin_node("")?;
    fdt.property_u32("#address-cells", 2)?;
    fdt.property_u32("#size-cells", 2)?;
    if let Some(name) = board.compatible.first() {
        fdt.property_string("compatible", name)?;
    }
    let memory = board.memory;
    for region in [memory.image, memory.heap, memory.shared] {
        let node = fdt.begin_node(&format!("memory@{:x}", region.base))?;
        fdt.property_string("device_type", "memory")?;
        fdt.property_array_u64("reg", &[region.base as u64, region.bytes as u64])?;
        fdt.end_node(node)?;
    }
    let chosen = fdt.begin_node("chosen")?;
    fdt.property_string("bootargs", arguments)?;
    fdt.end_node(chosen)?;
    fdt.end_node(root)?;
    fdt.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_boards::device_tree::DeviceTree;

    #[test]
    fn a_board_goes_on_with_its_tree() {
        for board in eitri_boards::ALL {
            let bytes = build(board, "eitri.only=power.").unwrap();
            let tree = DeviceTree::parse(&bytes).unwrap();
            tree.check(board)
                .unwrap_or_else(|error| panic!("{}: {error}", board.name));
            assert_eq!(tree.arguments(), "eitri.only=power.");
        }
    }
}
