//! The device tree: QEMU's own, as it says for this machine, with the GPU, its clock and supply, and without what lies beyond the
//! addresses that the monitor shows.
//!
//! Facts: hardware/csf-mmio.md 1 and 2 (window, lines), the names of the binding `arm,mali-valhall-csf` in
//! hardware/csf-host-interface.md; boards.md 4.

use dtoolkit::Node;
use dtoolkit::error::FdtParseError;
use dtoolkit::fdt::Fdt;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use eitri_boards::Region;
use eitri_boards::qemu_virt::BOARD;

/// Handles of our nodes. QEMU's own begin at 0x8000.
#[rustfmt::skip]
mod handle {
    pub(super) const CLOCK:  u32 = 0x100;
    pub(super) const SUPPLY: u32 = 0x101;
    pub(super) const POINTS: u32 = 0x102;
}

/// Of the clock: what the model takes a cycle for.
const HERTZ: u64 = 1_000_000_000;
/// Of the supply, which is there because the driver asks for one.
const MICROVOLTS: u32 = 800_000;
/// An interrupt that is shared, and raised by its level.
const SHARED: u32 = 0;
const LEVEL_HIGH: u32 = 4;

/// What the tree is to say.
pub(super) struct Wanted<'a> {
    /// Memory that Linux may use.
    pub(super) memory: &'a [Region],
    /// Its command line.
    pub(super) command_line: &'a str,
    /// The SoC of the GPU.
    pub(super) soc: &'a str,
    /// Where the initial file system is.
    pub(super) initramfs: Region,
}

/// The tree, from QEMU's.
pub(super) fn with_gpu(of_qemu: &[u8], wanted: &Wanted<'_>) -> Result<Vec<u8>, FdtParseError> {
    let mut tree = DeviceTree::from_fdt(&Fdt::new(of_qemu)?);
    let root = &mut tree.root;
    // The configuration space of PCI lies above 256 GiB; interrupts as messages would need the monitor's help.
    remove(root, "pcie@");
    if let Some(controller) = child(root, "intc@") {
        remove(controller, "its@");
    }
    remove(root, "platform-bus@");
    remove(root, "memory@");
    root.add_child(memory(wanted.memory));
    if let Some(chosen) = child(root, "chosen") {
        // A moment after the last: addresses are the same in each run, for who looks one up.
        chosen.remove_property("kaslr-seed");
        for property in chosen_properties(wanted) {
            chosen.add_property(property);
        }
    }
    for node in gpu(wanted.soc) {
        root.add_child(node);
    }
    Ok(tree.to_dtb())
}

/// The child whose name begins so.
fn child<'a>(node: &'a mut DeviceTreeNode, name: &str) -> Option<&'a mut DeviceTreeNode> {
    node.children_mut()
        .find(|child| Node::name(&&**child).starts_with(name))
}

fn remove(node: &mut DeviceTreeNode, name: &str) {
    if let Some(name) = child(node, name).map(|child| Node::name(&&*child).to_owned()) {
        node.remove_child(&name);
    }
}

fn memory(regions: &[Region]) -> DeviceTreeNode {
    let base = regions.first().map_or(0, |region| region.base);
    let reg: Vec<u8> = regions.iter().flat_map(|region| cells(*region)).collect();
    node(
        &format!("memory@{base:x}"),
        vec![text("device_type", "memory"), bytes("reg", reg)],
    )
}

fn chosen_properties(wanted: &Wanted<'_>) -> [DeviceTreeProperty; 3] {
    let address = |name, address: usize| bytes(name, (address as u64).to_be_bytes().to_vec());
    [
        text("bootargs", wanted.command_line),
        address("linux,initrd-start", wanted.initramfs.base),
        address("linux,initrd-end", wanted.initramfs.end()),
    ]
}

/// The GPU and what it takes.
fn gpu(soc: &str) -> [DeviceTreeNode; 4] {
    let gpu = BOARD.gpu;
    let lines = [gpu.job, gpu.mmu, gpu.gpu].map(|spi| [SHARED, spi.0, LEVEL_HIGH]);
    [
        node(
            "gpu-clock",
            vec![
                text("compatible", "fixed-clock"),
                words("#clock-cells", &[0]),
                words("clock-frequency", &[HERTZ as u32]),
                words("phandle", &[handle::CLOCK]),
            ],
        ),
        node(
            "gpu-supply",
            vec![
                text("compatible", "regulator-fixed"),
                text("regulator-name", "gpu"),
                words("regulator-min-microvolt", &[MICROVOLTS]),
                words("regulator-max-microvolt", &[MICROVOLTS]),
                words("phandle", &[handle::SUPPLY]),
            ],
        ),
        operating_points(),
        node(
            &format!("gpu@{:x}", gpu.window.base),
            vec![
                bytes(
                    "compatible",
                    strings(&[of_soc(soc), "arm,mali-valhall-csf"]),
                ),
                bytes("reg", cells(gpu.window)),
                words("interrupts", lines.as_flattened()),
                bytes("interrupt-names", strings(&["job", "mmu", "gpu"])),
                words("clocks", &[handle::CLOCK; 3]),
                bytes("clock-names", strings(&["core", "coregroup", "stacks"])),
                words("operating-points-v2", &[handle::POINTS]),
                words("mali-supply", &[handle::SUPPLY]),
            ],
        ),
    ]
}

/// What the binding calls the GPU of an SoC. By this name the driver knows what the GPU needs there: the MT8196's has to have its slice
/// hash set.
fn of_soc(soc: &str) -> &'static str {
    match soc {
        "MT8196" => "mediatek,mt8196-mali",
        _ => "rockchip,rk3588-mali",
    }
}

/// The one speed that the clock has.
fn operating_points() -> DeviceTreeNode {
    let mut points = node(
        "gpu-operating-points",
        vec![
            text("compatible", "operating-points-v2"),
            words("phandle", &[handle::POINTS]),
        ],
    );
    points.add_child(node(
        &format!("opp-{HERTZ}"),
        vec![
            bytes("opp-hz", HERTZ.to_be_bytes().to_vec()),
            words("opp-microvolt", &[MICROVOLTS]),
        ],
    ));
    points
}

fn node(name: &str, properties: Vec<DeviceTreeProperty>) -> DeviceTreeNode {
    // Names are those above: letters, digits, hyphens, one address.
    let mut node = DeviceTreeNode::new_unchecked(name);
    for property in properties {
        node.add_property(property);
    }
    node
}

fn bytes(name: &str, value: Vec<u8>) -> DeviceTreeProperty {
    DeviceTreeProperty::new_unchecked(name, value)
}

fn text(name: &str, value: &str) -> DeviceTreeProperty {
    DeviceTreeProperty::new_unchecked(name, value)
}

fn words(name: &str, value: &[u32]) -> DeviceTreeProperty {
    DeviceTreeProperty::new_unchecked(name, value)
}

/// Texts, each with a 0 at its end.
fn strings(texts: &[&str]) -> Vec<u8> {
    texts
        .iter()
        .flat_map(|text| [text.as_bytes(), b"\0"].concat())
        .collect()
}

/// Address and size, 64 bits each.
fn cells(region: Region) -> Vec<u8> {
    let [base, size] = [region.base, region.bytes].map(|value| (value as u64).to_be_bytes());
    [base, size].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dtoolkit::Property;

    /// A tree as QEMU's is, in what matters here.
    fn of_qemu() -> Vec<u8> {
        let mut tree = DeviceTree::new();
        for name in ["memory@40000000", "pcie@10000000", "pl011@9000000"] {
            tree.root.add_child(node(name, vec![]));
        }
        let mut controller = node("intc@8000000", vec![]);
        controller.add_child(node("its@8080000", vec![]));
        tree.root.add_child(controller);
        tree.root
            .add_child(node("chosen", vec![text("stdout-path", "/pl011@9000000")]));
        tree.to_dtb()
    }

    fn made() -> DeviceTree {
        let wanted = Wanted {
            memory: &[
                Region::new(0x4000_0000, 0x4000_0000),
                Region::new(0xC000_0000, 0x1000_0000),
            ],
            command_line: "quiet",
            soc: "MT8196",
            initramfs: Region::new(0x4C00_0000, 0x3000),
        };
        let tree = with_gpu(&of_qemu(), &wanted).expect("QEMU's tree is read");
        DeviceTree::from_fdt(&Fdt::new(&tree).expect("what is written is read"))
    }

    fn value(tree: &DeviceTree, path: &str, name: &str) -> Vec<u8> {
        let node = tree.find_node(path).unwrap_or_else(|| panic!("no {path}"));
        let property = Node::property(&node, name).unwrap_or_else(|| panic!("{path}: no {name}"));
        property.value().to_vec()
    }

    #[test]
    fn the_gpu_is_there_with_its_window_and_its_lines() {
        let tree = made();
        let reg = [0x0B00_0000_u64.to_be_bytes(), 0x20_0000_u64.to_be_bytes()].concat();
        assert_eq!(value(&tree, "/gpu@b000000", "reg"), reg);
        let lines: Vec<u8> = [[0, 92, 4], [0, 93, 4], [0, 94, 4]]
            .concat()
            .into_iter()
            .flat_map(u32::to_be_bytes)
            .collect();
        assert_eq!(value(&tree, "/gpu@b000000", "interrupts"), lines);
        assert_eq!(
            value(&tree, "/gpu@b000000", "interrupt-names"),
            b"job\0mmu\0gpu\0"
        );
    }

    #[test]
    fn the_gpu_has_the_name_of_its_soc() {
        let compatible = value(&made(), "/gpu@b000000", "compatible");
        assert_eq!(compatible, b"mediatek,mt8196-mali\0arm,mali-valhall-csf\0");
    }

    #[test]
    fn memory_command_line_and_file_system_are_those_wanted() {
        let tree = made();
        assert_eq!(
            value(&tree, "/memory@40000000", "reg").len(),
            32,
            "two regions"
        );
        assert_eq!(value(&tree, "/chosen", "bootargs"), b"quiet\0");
        assert_eq!(
            value(&tree, "/chosen", "linux,initrd-end"),
            0x4C00_3000_u64.to_be_bytes()
        );
        assert_eq!(
            value(&tree, "/chosen", "stdout-path"),
            b"/pl011@9000000\0",
            "QEMU's own stays"
        );
    }

    #[test]
    fn what_the_monitor_does_not_show_is_gone() {
        let tree = made();
        assert!(tree.find_node("/pcie@10000000").is_none());
        assert!(tree.find_node("/intc@8000000").is_some());
        assert!(tree.find_node("/intc@8000000/its@8080000").is_none());
    }
}
