//! The table against itself.

use std::collections::BTreeSet;

use eitri_isa::field::Words;
use eitri_isa::meaning::TABLES;
use eitri_isa::row::{Access, DestKind, Row, Unit};
use eitri_isa::{Arch, Op, What};

/// Bits that two parts of an instruction share, with the names of the parts.
fn shared_bits(row: &Row) -> Vec<String> {
    let mut parts: Vec<(String, u64)> = vec![
        ("opcode".into(), row.matches.mask),
        ("placeholder".into(), row.fixed.mask),
        ("flow".into(), 0xF << 59),
        ("page".into(), 0b11 << 57),
    ];
    if row.dest != DestKind::None {
        parts.push(("destination".into(), 0xFF << 40));
    }
    // The direction bits of one word serve all its staging ranges.
    let staging = |access| row.staging(access).map_or(0, |staging| staging.mask());
    let (read, write) = (staging(Access::Read), staging(Access::Write));
    parts.push(("staging read".into(), read));
    parts.push(("staging write".into(), write & !(read & (0b11 << 46))));
    parts.extend(
        row.sources
            .iter()
            .enumerate()
            .map(|(index, source)| (format!("source {index}"), source.mask())),
    );
    parts.extend(
        row.immediates
            .iter()
            .map(|immediate| (immediate.id.name().into(), immediate.mask())),
    );
    parts.extend(
        row.fields
            .iter()
            .map(|field| (field.name.into(), field.mask())),
    );
    let mut wrong = Vec::new();
    for (index, (name, mask)) in parts.iter().enumerate() {
        for (other, other_mask) in &parts[index + 1..] {
            if mask & other_mask != 0 {
                wrong.push(format!(
                    "{}: {name} and {other} share {:#x}",
                    row.name,
                    mask & other_mask
                ));
            }
        }
    }
    wrong
}

#[test]
fn no_two_parts_of_an_instruction_share_bits() {
    let wrong: Vec<String> = Op::ALL
        .iter()
        .flat_map(|op| shared_bits(op.row()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn described_bits_cover_the_word_once() {
    for op in Op::ALL {
        let row = op.row();
        let mut end = 64;
        for bits in row.bits(Arch::V14) {
            assert_eq!(
                bits.pos + bits.width,
                end,
                "{}: a gap above bit {end}",
                row.name
            );
            let mask = (u64::MAX >> (64 - bits.width)) << bits.pos;
            let known = match bits.what {
                What::Fixed(_) | What::Ignored => true,
                // Another layout of the same row may claim other bits.
                _ => !row.layouts.is_empty() || row.claimed() & mask == mask,
            };
            assert!(known, "{}: {bits:?} are claimed by nothing", row.name);
            if let What::Opcode(value) = bits.what {
                assert_eq!(
                    row.matches.value & mask,
                    value << bits.pos,
                    "{}: {bits:?}",
                    row.name
                );
            }
            end = bits.pos;
        }
        assert_eq!(end, 0, "{}: bits below {end} are missing", row.name);
    }
}

#[test]
fn no_word_belongs_to_two_instructions() {
    // Pairs that may overlap. There are none: keep it so, or list them here; a pair that no longer overlaps fails too.
    let allowed: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut found = BTreeSet::new();
    for (index, a) in Op::ALL.iter().enumerate() {
        for b in &Op::ALL[index + 1..] {
            let (a, b) = (a.row(), b.row());
            let both = a.matches.mask & b.matches.mask;
            let apart = !a.archs.overlaps(b.archs);
            if a.matches.value & both == b.matches.value & both && !apart {
                found.insert((a.name, b.name));
            }
        }
    }
    assert_eq!(
        found, allowed,
        "left: pairs that overlap; right: pairs that may"
    );
}

#[test]
fn every_row_is_sound() {
    for op in Op::ALL {
        let row = op.row();
        assert_eq!(
            row.op, *op,
            "{}: rows and variants are out of step",
            row.name
        );
        assert_eq!(
            Op::from_name(row.name),
            Some(*op),
            "{}: the name is not its own",
            row.name
        );
        for field in row.fields {
            let ids = row
                .fields
                .iter()
                .filter(|other| other.id == field.id)
                .count();
            assert_eq!(ids, 1, "{}: two fields are {:?}", row.name, field.id);
            if let Words::Enum { words, default } = field.words {
                let bits = 1u32 << field.width;
                let fits = words.iter().all(|word| {
                    u32::from(word.value) < bits || field.allowed & (1 << word.value) == 0
                });
                assert!(
                    fits,
                    "{}: {} has a value wider than its bits",
                    row.name, field.name
                );
                assert!(
                    words.is_sorted_by_key(|word| word.value),
                    "{}: {} is not in order",
                    row.name,
                    field.name
                );
                let legal = default.is_none_or(|default| field.says(default));
                assert!(
                    legal,
                    "{}: the default of {} is not legal",
                    row.name, field.name
                );
            }
        }
    }
}

#[test]
fn units_and_costs_follow_the_generation() {
    #[track_caller]
    fn check(op: Op, arch: Arch, expected: (Unit, u8)) {
        assert_eq!(op.row().issue(arch), expected, "{op} on {arch}");
    }
    check(Op::FaddF32, Arch::V10, (Unit::Fma, 1));
    check(Op::IaddU64, Arch::V10, (Unit::Cvt, 2));
    check(Op::ClperI32, Arch::V10, (Unit::Sfu, 1));
    check(Op::ClperI32, Arch::V11, (Unit::Cvt, 2));
    check(Op::FroundF32, Arch::V13, (Unit::Fma, 2));
    check(Op::LshiftAndI32, Arch::V10, (Unit::Sfu, 1));
    check(Op::LshiftAndI32, Arch::V11, (Unit::Cvt, 1));
    check(Op::LrotAndI32, Arch::V11, (Unit::Sfu, 1));
    check(Op::LshiftAndV2i16, Arch::V11, (Unit::Sfu, 1));
    check(Op::ClzU32, Arch::V10, (Unit::Sfu, 1));
}

#[test]
fn every_meaning_belongs_to_an_instruction_of_its_table() {
    for (table, messages) in TABLES.into_iter().zip([false, true]) {
        for (index, meaning) in table.iter().enumerate() {
            let name = meaning.name;
            let mut rows = Op::ALL.iter().map(|op| op.row());
            let used = rows.any(|row| row.does.name == name && row.kind.is_message() == messages);
            assert!(used, "{name} is no instruction of this table");
            let others = &table[..index];
            assert!(
                others.iter().all(|other| other.name != name),
                "{name} stands twice"
            );
        }
    }
}

#[test]
fn sentences_are_sentences() {
    for op in Op::ALL {
        let sentence = op.row().meaning();
        let words = sentence.split(' ').count();
        assert!(words > 1 && sentence.ends_with('.'), "{op}: {sentence}");
    }
}
