//! Boards that files describe: the examples that people begin with, and what is told of wrong ones.

use eitri_boards::file::{read, rust_source};
use eitri_boards::steps::Step;
use eitri_boards::uart::Width;
use eitri_boards::{Console, DeviceType, Gic, Target};
use std::path::Path;

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/boards");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn a_board_is_as_its_file_says() {
    let board = read(&example("acme-x1.toml")).unwrap();
    let board = board.board().expect("all of it is known");
    assert_eq!(
        (board.name, board.compatible),
        ("acme-x1", &["acme,x1"][..])
    );
    assert_eq!(board.memory.image.base, 0x8020_0000);
    assert!(
        matches!(board.console, Console::Polled { kind, .. } if kind.width == Width::Byte && kind.status == 5),
        "{:?}",
        board.console
    );
    assert_eq!((board.virtual_timer_ppi, board.gpu.slowdown), (11, 1));
    let limit = board
        .gpu
        .power_on
        .iter()
        .find_map(|action| match action.step {
            Step::Poll { limit, .. } => Some(limit.as_millis()),
            _ => None,
        });
    assert_eq!(limit, Some(10));
    assert_eq!(
        board.lab.map(|lab| lab.lava),
        Some(DeviceType::Own("acme-x1"))
    );
}

/// The example with a GIC of version 2.
fn with_gic_v2() -> String {
    let v3 = "redistributors = 0x1110_0000\ncpus = 4";
    let good = example("acme-x1.toml");
    assert!(good.contains(v3), "the example has another GIC");
    good.replace(v3, "cpu_interface = 0x1110_0000")
}

#[test]
fn a_gic_of_version_2_has_a_cpu_interface() {
    let target = read(&with_gic_v2()).unwrap();
    let board = target.board().expect("all of it is known");
    let Gic::V2 { cpu_interface, .. } = board.gic else {
        panic!("{:?}", board.gic);
    };
    assert_eq!(cpu_interface.address(), 0x1110_0000);
    let source = rust_source(target).unwrap();
    let wanted = "gic: Gic::V2 { distributor: RegisterBase::new(0x11000000), cpu_interface: RegisterBase::new(0x11100000), }";
    assert!(source.contains(wanted), "{source}");
    let elsewhere = with_gic_v2().replace("cpu_interface = 0x1110", "cpu_interface = 0x1990");
    let error = read(&elsewhere).err().expect("no register is there");
    assert!(error.message.contains("GICC: no device"), "{error}");
}

#[test]
fn a_file_without_memory_is_an_outline() {
    let target = read(&example("acme-x2.toml")).unwrap();
    assert!(matches!(target, Target::Outline(outline) if outline.devices.len() == 1));
}

#[test]
fn what_does_not_agree_is_refused() {
    let good = example("acme-x1.toml");
    #[rustfmt::skip]
    let cases = [
        // (what stands there, what stands there instead, what is said)
        ("base = 0x9000_0000",         "base = 0x8100_0000",       "an overlap"),
        ("base = 0x9000_0000",         "base = 0x9000_1000",       "heap: no whole 2 MiB"),
        ("base = 0xBE00_0000",         "base = 0xA000_0000",       "memory that is not ours"),
        ("at = 0x1200_0014",           "at = 0x1900_0014",         "a step: no register"),
        ("limit = \"10 ms\"",          "limit = \"10\"",           "`10` is no time"),
        ("to = 0, header = 0x4000",    "to = 7, header = 0x4000",  "a message to nobody"),
        ("base = 0x1000_0000\nkind",   "base = 0x1900_0000\nkind", "console: no device"),
        ("room = 0x20",                "room = 0",                 "console: a status without a bit"),
        ("width = \"byte\"",           "width = \"half\"",         "unknown variant `half`"),
        ("cpus = 4",                   "cpu = 4",                  "unknown field `cpu`"),
        ("cpus = 4",                   "cpu_interface = 0x1110_0000", "one of version 2 has `cpu_interface`"),
        ("cpus = 4",                   "",                         "a GIC of version 3 has `redistributors` and `cpus`"),
        ("job = 92",                   "",                         "missing field `job`"),
        ("coherency = \"none\"",       "coherency = \"full\"",     "unknown variant `full`"),
        ("kind = { data",              "kind = \"x\" # { data",    "invalid value"),
        ("name = \"acme-x1\"\ntitle",  "name = \"X1\"\ntitle",     "a board's name has small letters"),
        ("[gic]",                      "[gic",                     ""),
    ];
    for (from, to, said) in cases {
        assert!(good.contains(from), "{from} is not in the example");
        let error = read(&good.replacen(from, to, 1)).err();
        let error = error.unwrap_or_else(|| panic!("{to} was taken"));
        assert!(error.message.contains(said), "{to}: {error}");
    }
}

#[test]
fn the_source_of_an_image_says_the_same() {
    let source = rust_source(read(&example("acme-x1.toml")).unwrap()).unwrap();
    for part in [
        "unsafe { Board::new(Description { name: \"acme-x1\", ",
        "image: Region { base: 0x80200000, bytes: 0x6000000, }",
        "Console::Polled { base: RegisterBase::new(0x10000000), kind: Kind { ",
        "width: Width::Byte",
        "limit: Duration::from_nanos(0x989680)",
        "Step::Delay(Duration::from_nanos(0x4e20))",
        "otherwise: &[Action { what: \"reset, released\", certainty: Certainty::Sourced, step: Step::Write { ",
        "expected: Some(Expected { ",
        "firmware: Firmware::Psci(Conduit::Smc)",
        "lab: Some(Lab { name: \"acme-x1\"",
        "pub(crate) const OUTSIDE: &[Target] = &[Target::Board(&BOARD)];",
    ] {
        assert!(source.contains(part), "no `{part}` in\n{source}");
    }
    let outline = rust_source(read(&example("acme-x2.toml")).unwrap()).unwrap();
    assert!(
        outline.contains("const OUTLINE: Outline = Outline { "),
        "{outline}"
    );
}

#[test]
fn every_board_of_ours_but_qemus_has_a_source() {
    for target in Target::all() {
        let source = rust_source(target);
        assert_eq!(
            source.is_ok(),
            target.name() != "qemu-virt",
            "{}",
            target.name()
        );
    }
}

/// The keys of a table, and of all tables in it.
fn keys(value: &toml::Value, found: &mut Vec<String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                found.push(key.clone());
                keys(value, found);
            }
        }
        toml::Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn the_page_names_what_the_examples_have() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/own-board.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut found = Vec::new();
    for name in ["acme-x1.toml", "acme-x2.toml"] {
        keys(&toml::from_str(&example(name)).unwrap(), &mut found);
    }
    assert!(found.len() > 100, "{found:?}");
    for key in found {
        let mut spans = page.split('`').skip(1).step_by(2);
        let word = |part: char| !part.is_alphanumeric() && part != '_' && part != '-';
        let named = spans.any(|span| span.split(word).any(|it| it == key));
        assert!(named, "docs/own-board.md does not say what `{key}` is");
    }
}
