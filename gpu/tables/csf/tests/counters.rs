//! The tables of counters against the facts' data file, field by field.

use eitri_csf::Arch;
use eitri_csf::counters::{BlockKind, Counter, HEADER_WORDS, SampleLayout, counters, find};
use serde_json::Value;
use std::collections::BTreeSet;

/// The data file; the copy that is kept must be that of the facts.
fn data() -> Value {
    let kept = std::fs::read_to_string(eitri_testdata::kept("perfcnt.json")).unwrap();
    if let Some(shared) = eitri_testdata::read_shared("hardware/data/perfcnt.json") {
        assert!(
            kept == shared,
            "testdata/data/perfcnt.json is not the facts' any more"
        );
    }
    serde_json::from_str(&kept).unwrap()
}

fn kind(name: &str) -> BlockKind {
    match name {
        "front_end" => BlockKind::FrontEnd,
        "tiler" => BlockKind::Tiler,
        "memory_system" => BlockKind::MemorySystem,
        "shader_core" => BlockKind::ShaderCore,
        other => panic!("the facts have a block {other}"),
    }
}

fn rows(block: BlockKind, arch: Arch) -> impl Iterator<Item = &'static Counter> {
    let counters = block.counters().iter();
    counters.filter(move |row| row.archs.contains(arch))
}

#[test]
fn every_counter_is_as_the_facts_say_and_there_are_no_others() {
    let data = data();
    let mut generations = BTreeSet::new();
    for layout in data["layouts"].as_array().unwrap() {
        let arch = Arch::from_major(layout["arch"].as_u64().unwrap() as u32).unwrap();
        generations.insert(arch.major());
        for block in layout["blocks"].as_array().unwrap() {
            let block_kind = kind(block["type"].as_str().unwrap());
            let theirs = block["counters"].as_array().unwrap();
            for theirs in theirs {
                let name = theirs["name"].as_str().unwrap();
                let what = format!("{name} of the {block_kind} on {arch}");
                let ours = rows(block_kind, arch).find(|row| row.name == name);
                let ours = ours.unwrap_or_else(|| panic!("no {what}"));
                assert_eq!(
                    Some(u64::from(ours.index)),
                    theirs["index"].as_u64(),
                    "{what}"
                );
                assert_eq!(
                    ours.unit.text(),
                    theirs["unit"].as_str().unwrap_or(""),
                    "{what}"
                );
                assert_eq!(ours.about, theirs["label"].as_str().unwrap_or(""), "{what}");
                let shift = theirs["shift"].as_u64().unwrap_or(0);
                assert_eq!(u64::from(ours.shift), shift, "{what}");
            }
            assert_eq!(
                rows(block_kind, arch).count(),
                theirs.len(),
                "counters of the {block_kind} on {arch}"
            );
        }
    }
    let known: BTreeSet<u32> = eitri_csf::arch::SUPPORTED.iter().map(Arch::major).collect();
    assert_eq!(generations, known);
    assert_eq!(data["header_words"].as_u64(), Some(HEADER_WORDS.into()));
}

#[test]
fn a_place_has_one_counter_and_a_name_one_place() {
    for arch in eitri_csf::arch::SUPPORTED.iter() {
        let words = SampleLayout::new(arch, 2, 0, 1, 1).block_bytes / 4;
        let (mut places, mut names) = (BTreeSet::new(), BTreeSet::new());
        for row in counters().filter(|row| row.archs.contains(arch)) {
            let index = u32::from(row.index);
            assert!((HEADER_WORDS..words).contains(&index), "{row:?} on {arch}");
            assert!(places.insert((row.block, row.index)), "{row:?} on {arch}");
            assert!(names.insert(row.name), "{} twice on {arch}", row.name);
            assert_eq!(find(&row.name.to_lowercase(), arch), Some(row));
            assert_eq!(row.enable_bit().trailing_zeros(), index / 4);
        }
    }
}
