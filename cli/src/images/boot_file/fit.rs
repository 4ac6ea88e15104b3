//! A flattened image tree: a device tree whose properties are the files to boot, each with its checksum.
//!
//! Relies on: `vm-fdt`, which writes the tree.

use super::{Content, FormatError, time};
use vm_fdt::{FdtWriter, FdtWriterResult};

/// Name of the one configuration.
pub(super) const CONFIGURATION: &str = "board";

/// Name of the device tree that goes with the image.
const TREE: &str = "fdt";

/// The node that says the checksum of what is beside it.
fn checksum(fdt: &mut FdtWriter, bytes: &[u8]) -> FdtWriterResult<()> {
    let hash = fdt.begin_node("hash-1")?;
    fdt.property_string("algo", "crc32")?;
    fdt.property_u32("value", crc32fast::hash(bytes))?;
    fdt.end_node(hash)
}

/// The tree with the content as its one image, in its one configuration.
pub(super) fn encode(content: &Content<'_>) -> Result<Vec<u8>, FormatError> {
    tree(content).map_err(|cause| FormatError::Tree {
        cause: cause.to_string(),
    })
}

fn tree(content: &Content<'_>) -> FdtWriterResult<Vec<u8>> {
    let mut fdt = FdtWriter::new()?;
    let root = fdt.begin_node("")?;
    fdt.property_string("description", content.name)?;
    fdt.property_u32("timestamp", time())?;
    // Addresses below have two words.
    fdt.property_u32("#address-cells", 2)?;

    let images = fdt.begin_node("images")?;
    let image = fdt.begin_node("eitri")?;
    fdt.property_string("description", content.name)?;
    fdt.property("data", content.bytes)?;
    fdt.property_string("type", "kernel")?;
    fdt.property_string("arch", "arm64")?;
    // What is entered as Linux is: hardware/boards.md 2.2.
    fdt.property_string("os", "linux")?;
    fdt.property_string("compression", "none")?;
    fdt.property_u64("load", content.address)?;
    fdt.property_u64("entry", content.address)?;
    checksum(&mut fdt, content.bytes)?;
    fdt.end_node(image)?;
    if let Some(tree) = content.tree {
        let node = fdt.begin_node(TREE)?;
        fdt.property_string("description", "device tree")?;
        fdt.property("data", tree)?;
        fdt.property_string("type", "flat_dt")?;
        fdt.property_string("arch", "arm64")?;
        fdt.property_string("compression", "none")?;
        checksum(&mut fdt, tree)?;
        fdt.end_node(node)?;
    }
    fdt.end_node(images)?;

    let configurations = fdt.begin_node("configurations")?;
    fdt.property_string("default", CONFIGURATION)?;
    let board = fdt.begin_node(CONFIGURATION)?;
    fdt.property_string("description", content.name)?;
    fdt.property_string("kernel", "eitri")?;
    if content.tree.is_some() {
        fdt.property_string("fdt", TREE)?;
    }
    fdt.end_node(board)?;
    fdt.end_node(configurations)?;
    fdt.end_node(root)?;
    fdt.finish()
}
