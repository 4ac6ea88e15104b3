//! Outlines: what an image finds out of a device tree alone, and what it says about a tree that is silent.

use dtoolkit::model::{DeviceTree as Model, DeviceTreeNode, DeviceTreeProperty};
use eitri_boards::device_tree::{DeviceTree, Machine};
use eitri_boards::mt8196::OUTLINE;
use eitri_boards::uart::Kind;
use eitri_boards::{Console, Gic, Region};

fn words(name: &str, words: &[u32]) -> DeviceTreeProperty {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    DeviceTreeProperty::new(name, bytes.as_slice()).unwrap()
}

fn text(name: &str, text: &str) -> DeviceTreeProperty {
    let bytes = [text.as_bytes(), &[0]].concat();
    DeviceTreeProperty::new(name, bytes.as_slice()).unwrap()
}

fn node(name: &str, properties: Vec<DeviceTreeProperty>) -> DeviceTreeNode {
    let mut node = DeviceTreeNode::new(name).unwrap();
    for property in properties {
        node.add_property(property);
    }
    node
}

/// A machine with 4 GiB of memory from 2 GiB on, whose UART lies behind a bus that moves addresses.
struct Tree {
    /// Where there is memory.
    memory: Vec<[u32; 4]>,
    /// What is reserved.
    reserved: Vec<[u32; 4]>,
    /// What the UART is.
    uart: Vec<DeviceTreeProperty>,
    arguments: &'static str,
    /// What the interrupt controller is.
    gic: &'static str,
    /// A node that is left out.
    without: &'static str,
}

const IMAGE: Region = Region {
    base: 0x8020_0000,
    bytes: 0x12_3000,
};
const TREE: usize = 0x9000_0008;

impl Default for Tree {
    fn default() -> Tree {
        Tree {
            memory: vec![[0, 0x8000_0000, 1, 0]],
            reserved: Vec::new(),
            uart: vec![text("compatible", "ns16550a"), words("reg-shift", &[2])],
            arguments: "",
            gic: "arm,gic-v3",
            without: "",
        }
    }
}

impl Tree {
    fn bytes(&self) -> Vec<u8> {
        let mut tree = Model::new();
        for cells in ["#address-cells", "#size-cells"] {
            tree.root.add_property(words(cells, &[2]));
        }
        let mut add = |node: DeviceTreeNode| tree.root.add_child(node);
        for range in &self.memory {
            add(node(
                &format!("memory@{:x}", range[1]),
                vec![words("reg", range)],
            ));
        }
        let cells = || vec![words("#address-cells", &[2]), words("#size-cells", &[2])];
        let mut reserved = node("reserved-memory", cells());
        for range in &self.reserved {
            reserved.add_child(node(
                &format!("firmware@{:x}", range[1]),
                vec![words("reg", range)],
            ));
        }
        add(reserved);
        let mut cpus = node(
            "cpus",
            vec![words("#address-cells", &[1]), words("#size-cells", &[0])],
        );
        for cpu in 0..8 {
            cpus.add_child(node(&format!("cpu@{cpu}"), vec![words("reg", &[cpu])]));
        }
        cpus.add_child(node("cpu-map", Vec::new()));
        add(cpus);
        add(node(
            "interrupt-controller@c000000",
            vec![
                text("compatible", self.gic),
                words("#interrupt-cells", &[4]),
                words(
                    "reg",
                    &[0, 0x0C00_0000, 0, 0x4_0000, 0, 0x0C04_0000, 0, 0x20_0000],
                ),
            ],
        ));
        let ppi = |number| [1, number, 4, 0];
        add(node(
            "timer",
            vec![
                text("compatible", "arm,armv8-timer"),
                words(
                    "interrupts",
                    [ppi(13), ppi(14), ppi(11), ppi(10)].as_flattened(),
                ),
            ],
        ));
        let mut soc = node(
            "soc",
            vec![words("#address-cells", &[1]), words("#size-cells", &[1])],
        );
        soc.add_property(words("ranges", &[0x1000, 0, 0x1600_0000, 0x10_0000]));
        let mut uart = node("serial@2000", self.uart.clone());
        uart.add_property(words("reg", &[0x2000, 0x1000]));
        soc.add_child(uart);
        add(soc);
        add(node("aliases", vec![text("serial0", "/soc/serial@2000")]));
        add(node(
            "chosen",
            vec![
                text("stdout-path", "serial0:115200n8"),
                text("bootargs", self.arguments),
                words("linux,initrd-start", &[0x8800_0000]),
                words("linux,initrd-end", &[0x8810_0000]),
            ],
        ));
        if !self.without.is_empty() {
            tree.root.remove_child(self.without);
        }
        tree.to_dtb()
    }

    fn console(&self) -> Option<(Console, bool)> {
        let bytes = self.bytes();
        let named = DeviceTree::parse(&bytes).unwrap().named_console()?;
        Some((named.console, named.inferred))
    }

    fn machine(&self) -> Result<Machine, String> {
        let bytes = self.bytes();
        let tree = DeviceTree::parse(&bytes).unwrap();
        let console = tree.named_console().expect("a console").console;
        let machine = tree.machine(&OUTLINE, console, IMAGE, TREE);
        machine.map_err(|error| error.to_string())
    }
}

#[test]
fn a_gic_of_version_2_is_known_by_its_name() {
    for gic in ["arm,gic-400", "arm,cortex-a15-gic"] {
        let tree = Tree {
            gic,
            ..Tree::default()
        };
        let machine = tree.machine().unwrap();
        let Gic::V2 {
            distributor,
            cpu_interface,
        } = machine.gic
        else {
            panic!("{gic}: {:?}", machine.gic);
        };
        let found = (distributor.address(), cpu_interface.address());
        assert_eq!(found, (0x0C00_0000, 0x0C04_0000));
        assert_eq!(machine.virtual_timer_ppi, 11);
    }
    let unknown = Tree {
        gic: "acme,gic",
        ..Tree::default()
    };
    let error = unknown.machine().unwrap_err();
    assert!(error.contains("interrupt controller"), "{error}");
}

fn overlap(one: Region, other: Region) -> bool {
    one.base < other.end() && other.base < one.end()
}

#[test]
fn everything_is_found() {
    let machine = Tree::default().machine().unwrap();
    // Behind the bus 0x2000 is 0x1000 into what begins at 0x1600_0000 before it.
    assert_eq!(machine.console.base().address(), 0x1600_1000);
    assert_eq!(machine.gic.distributor().address(), 0x0C00_0000);
    assert_eq!(machine.gic.of_cpus().address(), 0x0C04_0000);
    assert!(
        matches!(machine.gic, Gic::V3 { cpus: 8, .. }),
        "{:?}",
        machine.gic
    );
    assert_eq!(
        (machine.virtual_timer_ppi, machine.physical_timer_ppi),
        (11, 14)
    );
    let controller = machine.controller.expect("memory for the GPUEB");
    assert_eq!(controller.bytes, OUTLINE.controller_bytes);
    let file = Region {
        base: 0x8800_0000,
        bytes: 0x10_0000,
    };
    let tree = Region {
        base: TREE,
        bytes: 2 << 20,
    };
    let all = [IMAGE, file, tree, machine.heap, machine.shared, controller];
    for (index, one) in all.iter().enumerate() {
        for other in &all[..index] {
            assert!(!overlap(*one, *other), "{one:x?} and {other:x?}");
        }
    }
    let devices = [OUTLINE.devices, &machine.devices].concat();
    // SAFETY: nothing of it becomes a pointer.
    let board = unsafe { OUTLINE.on(&machine, devices.leak()) };
    assert_eq!(board.map(|board| board.name), Ok("mt8196"));
}

#[test]
fn a_console_is_driven_only_if_its_kind_is_known_or_somebody_has_asked() {
    let with = |uart: Vec<DeviceTreeProperty>, arguments| {
        let tree = Tree {
            uart,
            arguments,
            ..Tree::default()
        };
        tree.console()
    };
    let known = with(
        vec![
            text("compatible", "vendor,uart\0ns16550a"),
            words("reg-shift", &[2]),
        ],
        "",
    );
    assert!(
        matches!(
            known,
            Some((
                Console::Polled {
                    kind: Kind::DW8250,
                    ..
                },
                false
            ))
        ),
        "{known:?}"
    );
    let pl011 = with(vec![text("compatible", "arm,pl011")], "");
    assert!(
        matches!(pl011, Some((Console::Pl011 { set_up: None, .. }, false))),
        "{pl011:?}"
    );
    // Registers one byte apart are another kind.
    let bytes = vec![text("compatible", "ns16550a")];
    assert!(with(bytes, "inferred").is_none());
    let other = || vec![text("compatible", "vendor,uart")];
    assert!(with(other(), "").is_none());
    let asked = with(other(), "eitri.only=power. inferred");
    assert!(
        matches!(
            asked,
            Some((
                Console::Polled {
                    kind: Kind::DW8250,
                    ..
                },
                true
            ))
        ),
        "{asked:?}"
    );
    let apart = vec![text("compatible", "vendor,uart"), words("reg-shift", &[0])];
    assert!(with(apart, "inferred").is_none());
}

#[track_caller]
fn refused(tree: Tree, said: &str) {
    assert_eq!(tree.machine().map(drop), Err(said.to_owned()));
}

#[test]
fn what_a_tree_does_not_say_is_told() {
    let without = |without| Tree {
        without,
        ..Tree::default()
    };
    refused(
        without("interrupt-controller@c000000"),
        "the device tree does not say what the machine's is: its interrupt controller, a GIC of version 2 or 3",
    );
    refused(
        without("timer"),
        "the device tree does not say what the machine's is: its timers' interrupts",
    );
    refused(
        without("memory@80000000"),
        "the device tree has no 0x2000000 bytes of memory in one piece for the heap",
    );
    let no_console = without("aliases");
    assert!(no_console.console().is_none());
}

#[test]
fn another_machines_tree_is_refused() {
    refused(
        Tree {
            memory: vec![[0, 0x4000_0000, 0, 0x4000_0000]],
            ..Tree::default()
        },
        "the device tree is another machine's: its memory at 0x40000000 lies where MT8196: Chromebook \"Navi\" has registers",
    );
}

#[test]
fn reserved_memory_is_left_alone() {
    // What is left: 64 MiB below 4 GiB, and 192 MiB above.
    let reserved = vec![
        [0, 0x8000_0000, 0, 0x5000_0000],
        [0, 0xD400_0000, 0, 0xA000_0000],
    ];
    let machine = Tree {
        reserved,
        ..Tree::default()
    }
    .machine()
    .unwrap();
    let heap = Region {
        base: 0x1_7400_0000,
        bytes: 0x800_0000,
    };
    assert_eq!(machine.heap, heap, "half of what is wanted");
    assert_eq!(machine.shared.base, 0xD000_0000, "what is left");
    let refuse = vec![[0, 0x8000_0000, 1, 0]];
    refused(
        Tree {
            reserved: refuse,
            ..Tree::default()
        },
        "the device tree has no 0x2000000 bytes of memory in one piece for the heap",
    );
}
