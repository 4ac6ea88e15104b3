//! The table against Arm's own: every instruction, every generation, every bit.
//!
//! A record of `isa-arm-tables.json` accounts for all 64 bits of a word. From each one a legal word is made, then every bit is
//! inverted and every field swept over all its values: decoding must take exactly the words that the records take. The other
//! way round, random instructions of ours must be words that a record takes.

use std::collections::{BTreeMap, BTreeSet};

use eitri_isa::row::{DestKind, Unit};
use eitri_isa::{Arch, DecodeError, Instr, Op, Rule, What};
use serde_json::Value as Json;

use crate::properties::dice;

/// Arm's instructions that are no row of their own here, and the row that has their words.
const ELSEWHERE: [(&str, &str); 1] = [
    // Mesa 24.1 text writes FATAN_TABLE as FATAN_ASSIST with the flag `second` (section 1.2).
    ("FATAN_TABLE.f32", "FATAN_ASSIST.f32"),
];

/// Rows that Arm's tables lack in every generation: 24.1 text knows them, no hardware has them (section 9.9).
const TEXT_ONLY: [&str; 7] = [
    "CLPER.v2u16",
    "CLPER.v4u8",
    "CLPER.s32",
    "CLPER.v2s16",
    "CLPER.v4s8",
    "CLPER.u64",
    "CLPER.s64",
];

/// A field of a record.
#[derive(Debug)]
struct Field {
    name: String,
    pos: u8,
    width: u8,
    legal: Legal,
}

/// The values that a field may hold.
#[derive(Debug)]
enum Legal {
    All,
    Set(BTreeSet<u64>),
    MultipleOf(u64),
}

impl Field {
    fn of(self: &Field, word: u64) -> u64 {
        (word >> self.pos) & self.ones()
    }

    fn ones(&self) -> u64 {
        (1 << self.width) - 1
    }

    fn with(&self, word: u64, value: u64) -> u64 {
        (word & !(self.ones() << self.pos)) | (value << self.pos)
    }

    fn takes(&self, value: u64) -> bool {
        match &self.legal {
            Legal::All => true,
            Legal::Set(values) => values.contains(&value),
            Legal::MultipleOf(step) => value.is_multiple_of(*step),
        }
    }

    /// A value that it takes; one register where it counts registers.
    fn some(&self) -> u64 {
        let one = self.name.contains("count") && !self.name.contains("minus") && self.takes(1);
        match &self.legal {
            _ if one => 1,
            Legal::Set(values) => *values.first().expect("a field has a value"),
            Legal::All | Legal::MultipleOf(_) => 0,
        }
    }

    /// Values to try: all of a narrow field, single bits of a wide one.
    fn values(&self) -> Vec<u64> {
        if self.width <= 8 {
            (0..1 << self.width).collect()
        } else {
            (0..self.width).map(|bit| 1 << bit).collect()
        }
    }
}

/// A record of the file.
struct Record {
    name: String,
    archs: (u8, u8),
    mask: u64,
    value: u64,
    zero: u64,
    ignored: u64,
    page: Option<u64>,
    unit: String,
    cycles: u64,
    /// Position and size of each source.
    sources: Vec<(u8, u8)>,
    fields: Vec<Field>,
}

impl Record {
    fn on(&self, arch: Arch) -> bool {
        (u32::from(self.archs.0)..=u32::from(self.archs.1)).contains(&arch.major())
    }

    /// True if the word is this instruction and legal.
    fn takes(&self, word: u64) -> bool {
        word & self.mask == self.value
            && word & self.zero == 0
            && self.page.is_none_or(|page| (word >> 57) & 3 == page)
            && self.fields.iter().all(|field| field.takes(field.of(word)))
            && (0..self.sources.len()).all(|index| self.source_is_even(index, word))
    }

    /// A 64-bit source names an even register or word, unless it reads no more than a part of it (section 2).
    fn source_is_even(&self, index: usize, word: u64) -> bool {
        let (pos, size) = self.sources[index];
        let byte = (word >> pos) & 0xFF;
        let widen = format!("widen{index}");
        let part = self.fields.iter().find(|field| field.name == widen);
        let reads_all = part.is_none_or(|field| matches!(field.of(word), 0 | 9));
        size < 64 || byte & 1 == 0 || byte >= 0xC0 || !reads_all
    }

    /// A legal word: source n reads register 2n.
    fn word(&self) -> u64 {
        let mut word = self.value | (self.page.unwrap_or(0) << 57);
        for (index, (pos, _)) in self.sources.iter().enumerate() {
            word |= (2 * index as u64) << pos;
        }
        self.fields
            .iter()
            .fold(word, |word, field| field.with(word, field.some()))
    }
}

fn hex(json: &Json) -> u64 {
    json.as_str().map_or(0, |text| {
        u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("hexadecimal")
    })
}

fn number(json: &Json) -> u8 {
    json.as_u64().expect("a number") as u8
}

/// The file, and the values that each of its tables names.
fn records() -> Vec<Record> {
    let path = eitri_testdata::kept("isa-arm-tables.json");
    let text = std::fs::read_to_string(&path).expect("testdata/data/isa-arm-tables.json");
    let file: Json = serde_json::from_str(&text).expect("JSON");
    let names = &file["value_names"];
    let records = file["records"].as_array().expect("records");
    records.iter().map(|json| record(json, names)).collect()
}

fn record(json: &Json, names: &Json) -> Record {
    let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
    let fields = json["fields"].as_object().expect("fields");
    let mut fields: Vec<Field> = fields
        .iter()
        .map(|(name, json)| field(name, json, names))
        .collect();
    // `common`: present in every record, not repeated.
    let register = |field: &Field| field.name == "staging_register";
    if !fields.iter().any(register) && hex(&json["must_be_zero"]) >> 40 & 0x3F == 0 {
        fields.push(Field {
            name: "register".to_owned(),
            pos: 40,
            width: 6,
            legal: Legal::All,
        });
    }
    Record {
        name: text("name"),
        archs: (number(&json["arch"]["min"]), number(&json["arch"]["max"])),
        mask: hex(&json["match"]["mask"]),
        value: hex(&json["match"]["value"]),
        zero: hex(&json["must_be_zero"]),
        ignored: hex(&json["ignored"]),
        page: json["fau_page_must_be"].as_u64(),
        unit: text("unit"),
        cycles: json["cycles"].as_u64().expect("cycles"),
        sources: json["sources"]
            .as_array()
            .expect("sources")
            .iter()
            .map(|source| (number(&source["pos"]), number(&source["size"])))
            .collect(),
        fields,
    }
}

fn field(name: &str, json: &Json, names: &Json) -> Field {
    let set = |values: &Json| -> BTreeSet<u64> {
        let values = values.as_array().expect("a list");
        values
            .iter()
            .map(|value| value.as_u64().expect("a value"))
            .collect()
    };
    // A value that its table of names leaves out is reserved.
    let named = || -> Option<BTreeSet<u64>> {
        let tables = match &json["values"] {
            Json::String(table) => vec![table.clone()],
            Json::Array(tables) => tables
                .iter()
                .map(|t| t.as_str().expect("a name").to_owned())
                .collect(),
            _ => return None,
        };
        let keys = tables
            .iter()
            .flat_map(|table| names[table].as_object().expect("a table").keys());
        Some(keys.map(|key| key.parse().expect("a number")).collect())
    };
    let legal = if let Some(value) = json["must_be"].as_u64() {
        Legal::Set([value].into())
    } else if json["allowed"].is_array() {
        Legal::Set(set(&json["allowed"]))
    } else if let Some(step) = json["multiple_of"].as_u64() {
        Legal::MultipleOf(step)
    } else {
        named().map_or(Legal::All, Legal::Set)
    };
    Field {
        name: name.to_owned(),
        pos: number(&json["pos"]),
        width: number(&json["width"]),
        legal,
    }
}

/// The row that has the words of a record.
fn op_of(record: &Record) -> Op {
    let elsewhere = ELSEWHERE.iter().find(|(name, _)| *name == record.name);
    let name = elsewhere.map_or(record.name.as_str(), |(_, row)| row);
    Op::from_name(name).unwrap_or_else(|| panic!("{} has no row", record.name))
}

/// Records by opcode, those of a generation.
struct Arm<'a> {
    by_opcode: BTreeMap<u64, Vec<&'a Record>>,
}

impl<'a> Arm<'a> {
    fn new(records: &'a [Record], arch: Arch) -> Self {
        let mut by_opcode: BTreeMap<u64, Vec<&Record>> = BTreeMap::new();
        for record in records.iter().filter(|record| record.on(arch)) {
            for opcode in 0..512 {
                let word = opcode << 48;
                if (word ^ record.value) & record.mask & (0x1FF << 48) == 0 {
                    by_opcode.entry(opcode).or_default().push(record);
                }
            }
        }
        Self { by_opcode }
    }

    /// True if hardware takes the word.
    fn takes(&self, word: u64) -> bool {
        let records = self.by_opcode.get(&((word >> 48) & 0x1FF));
        word >> 63 == 0 && records.is_some_and(|list| list.iter().any(|record| record.takes(word)))
    }
}

/// Rules that the records do not hold but the prose does: pairs and ranges start at an even register and end at r63 (sections 3
/// and 4), and matrices come from registers alone (section 2.3).
fn settled_by_the_prose(op: Op, word: u64, arch: Arch) -> bool {
    let Err(DecodeError::Rule(rule)) = Instr::decode(word, arch) else {
        return false;
    };
    match rule {
        Rule::OddDestination { .. } | Rule::OddRange { .. } => true,
        Rule::RangeCount { first, count, .. } => first + count > 64,
        Rule::RegistersOnly { .. } => op.row().registers_only,
        _ => false,
    }
}

#[track_caller]
fn check(
    wrong: &mut Vec<String>,
    arm: &Arm<'_>,
    arch: Arch,
    record: &Record,
    word: u64,
    what: &str,
) {
    let ours = Instr::decode(word, arch);
    if ours.is_ok() == arm.takes(word) || settled_by_the_prose(op_of(record), word, arch) {
        return;
    }
    let ours = ours
        .map(|instr| instr.op().name())
        .map_err(|error| error.to_string());
    wrong.push(format!(
        "{} on {arch}: {word:016x} ({what}): Arm's tables {}, ours {ours:?}",
        record.name,
        if arm.takes(word) {
            "take it"
        } else {
            "refuse it"
        },
    ));
}

#[test]
fn every_bit_of_every_record_is_taken_alike() {
    let records = records();
    let mut wrong = Vec::new();
    for arch in Arch::ALL {
        let arm = Arm::new(&records, arch);
        for record in records.iter().filter(|record| record.on(arch)) {
            let word = record.word();
            assert!(
                record.takes(word),
                "{} on {arch}: {word:016x} should be legal",
                record.name
            );
            check(&mut wrong, &arm, arch, record, word, "a legal word");
            // The flow field has a table of its own (section 6).
            for bit in (0..59).chain([63]) {
                check(
                    &mut wrong,
                    &arm,
                    arch,
                    record,
                    word ^ (1 << bit),
                    &format!("bit {bit}"),
                );
            }
            for field in &record.fields {
                for value in field.values() {
                    let what = format!("{} = {value}", field.name);
                    check(
                        &mut wrong,
                        &arm,
                        arch,
                        record,
                        field.with(word, value),
                        &what,
                    );
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differences: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(60)]
    );
}

#[test]
fn ignored_bits_change_nothing() {
    for record in records() {
        let word = record.word();
        for arch in Arch::ALL.into_iter().filter(|arch| record.on(*arch)) {
            let decoded = Instr::decode(word, arch).expect("a legal word");
            for bit in (0..64).filter(|bit| record.ignored >> bit & 1 != 0) {
                let with = Instr::decode(word | 1 << bit, arch).unwrap_or_else(|error| {
                    panic!(
                        "{} on {arch}: bit {bit} is ignored, yet {error}",
                        record.name
                    )
                });
                let encoded = with.encode(arch).expect("what decodes encodes");
                // The register type of textures is kept, since people read it.
                let kept = encoded & !word & 0xC00_0000;
                assert!(
                    encoded == word | kept,
                    "{} on {arch}: bit {bit} is ignored, yet {with:?} is not {decoded:?}",
                    record.name
                );
            }
        }
    }
}

#[test]
fn every_field_of_a_record_lies_where_a_part_of_the_row_does() {
    let mut wrong = Vec::new();
    for record in records() {
        let row = op_of(&record).row();
        for arch in Arch::ALL.into_iter().filter(|arch| record.on(*arch)) {
            let parts: Vec<_> = row.bits(arch).collect();
            let many = |field: &&Field| {
                field
                    .values()
                    .iter()
                    .filter(|value| field.takes(**value))
                    .count()
                    > 1
            };
            for field in record.fields.iter().filter(many) {
                let inside = parts
                    .iter()
                    .find(|part| part.pos <= field.pos && field.pos < part.pos + part.width);
                let part = inside.expect("parts cover the word");
                let holds = part.pos + part.width >= field.pos + field.width;
                // VAR_TEX_DUAL has both its widths in one modifier.
                let second = field.name == "secondary_width" && field.pos == 25;
                let starts = part.pos == field.pos || second;
                if matches!(part.what, What::Fixed(_) | What::Ignored) || !holds || !starts {
                    wrong.push(format!(
                        "{} on {arch}: {} at {}: ours is {part:?}",
                        record.name, field.name, field.pos
                    ));
                }
            }
            for (index, (pos, _)) in record.sources.iter().enumerate() {
                if row.sources.get(index).map(|source| source.pos) != Some(*pos) {
                    wrong.push(format!(
                        "{} on {arch}: source {index} lies at {pos}",
                        record.name
                    ));
                }
            }
            if row.sources.len() != record.sources.len() {
                wrong.push(format!(
                    "{} on {arch}: {} sources",
                    record.name,
                    record.sources.len()
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differences: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(40)]
    );
}

#[test]
fn units_and_cycles_are_arms() {
    for record in records() {
        let row = op_of(&record).row();
        for arch in Arch::ALL.into_iter().filter(|arch| record.on(*arch)) {
            let (unit, cycles) = row.issue(arch);
            // Our message units are divisions of Arm's one (section 14).
            let unit = match unit {
                Unit::Fma | Unit::Cvt | Unit::Sfu => format!("{unit:?}").to_uppercase(),
                _ => "MSG".to_owned(),
            };
            assert_eq!(unit, record.unit, "{} on {arch}: unit", record.name);
            // 64-bit arithmetic counts double in our statistics (section 14); Arm's tables do not say so.
            let doubled = if row.dest == DestKind::Pair { 2 } else { 1 };
            assert_eq!(
                u64::from(cycles),
                record.cycles * doubled,
                "{} on {arch}: cycles",
                record.name
            );
        }
    }
}

#[test]
fn both_have_the_same_instructions() {
    let records = records();
    for op in Op::ALL {
        for arch in Arch::ALL {
            let theirs = records
                .iter()
                .any(|record| record.on(arch) && op_of(record) == *op);
            let ours = op.row().archs.contains(arch) && !op.row().text_only;
            assert_eq!(ours, theirs, "{op} on {arch}: left ours, right Arm's");
        }
    }
    let text_only: Vec<_> = Op::ALL
        .iter()
        .filter(|op| op.row().text_only)
        .map(|op| op.name())
        .collect();
    assert_eq!(
        text_only, TEXT_ONLY,
        "left: rows that only text knows; right: the list with the reason"
    );
    for (name, row) in ELSEWHERE {
        assert!(
            records.iter().any(|record| record.name == name),
            "{name} is in no record"
        );
        assert!(
            Op::from_name(name).is_none() && Op::from_name(row).is_some(),
            "{name} is stale"
        );
    }
}

#[test]
fn what_we_make_is_legal() {
    let records = records();
    let mut next = dice(7);
    let mut wrong = Vec::new();
    for arch in Arch::ALL {
        let arm = Arm::new(&records, arch);
        for op in Op::ALL {
            for _ in 0..30 {
                let Some(instr) = Instr::random(*op, arch, &mut next) else {
                    continue;
                };
                let word = instr
                    .encode(arch)
                    .unwrap_or_else(|error| panic!("{arch}: {instr:?}: {error}"));
                if !arm.takes(word) {
                    wrong.push(format!("{op} on {arch}: {word:016x}"));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} words: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(40)]
    );
}
