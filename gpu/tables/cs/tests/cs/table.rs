//! The tables say what the data file of the facts says: every instruction, field, value, on every architecture.

use crate::facts;

use eitri_cs::field::{Access, EnumInfo, Extent, FieldInfo, FieldKind, When};
use eitri_cs::instr::INSTRUCTIONS;
use eitri_cs::table::{Info, Resources, SpanKind, Timing};
use eitri_cs::{Arch, Instr, SUPPORTED};
use serde_json::Value;

fn rows(arch: Arch) -> impl Iterator<Item = &'static Info> {
    let has = move |info: &&Info| info.archs.contains(arch);
    INSTRUCTIONS.iter().copied().filter(has)
}

#[test]
fn every_instruction_is_as_the_facts_say() {
    let data = facts::data();
    for arch in SUPPORTED.iter() {
        let facts = &data["arches"][arch.major().to_string()];
        let instructions = facts["instructions"].as_array().unwrap();
        for fact in instructions {
            let name = fact["name"].as_str().unwrap();
            let info = rows(arch).find(|info| info.name == name);
            check_instruction(
                info.unwrap_or_else(|| panic!("{arch} lacks {name}")),
                fact,
                facts,
                arch,
            );
        }
        assert_eq!(
            rows(arch).count(),
            instructions.len(),
            "instructions of {arch}"
        );
    }
}

fn check_instruction(info: &Info, fact: &Value, facts: &Value, arch: Arch) {
    let what = format!("{} on {arch}", info.name);
    assert_eq!(u64::from(info.opcode), fact["opcode"], "opcode of {what}");
    let sub = info.sub_opcode.filter(|_| arch == Arch::V13);
    match (sub, &fact["sub_opcode"]) {
        (None, Value::Null) => {}
        (Some(sub), fact_sub) => {
            assert_eq!(u64::from(sub.low), fact_sub["start"], "{what}");
            assert_eq!(
                u64::from(sub.high - sub.low + 1),
                fact_sub["width"],
                "{what}"
            );
            assert_eq!(u64::from(sub.value), fact_sub["value"], "{what}");
            assert_eq!(sub.group.name(), fact["group"], "{what}");
        }
        (None, _) => panic!("{what} has a second opcode"),
    }
    let reserved = !info.defined_bits(arch);
    assert_eq!(
        reserved,
        facts::hex(&fact["reserved_mask"]),
        "reserved bits of {what}"
    );
    let asynchronous = fact["async"].as_str().unwrap();
    let completes_on = fact["completes_on"].as_str();
    assert_eq!(
        timing(info.timing),
        (asynchronous, completes_on),
        "timing of {what}"
    );
    let blocks = matches!(info.timing, Timing::Blocking);
    assert_eq!(
        blocks,
        fact.get("blocks").is_some(),
        "whether {what} blocks"
    );
    assert_eq!(
        info.staging.is_some(),
        fact.get("reads_sr_map").is_some(),
        "registers of {what}"
    );
    if fact["endpoint"] == "compute" {
        assert_eq!(info.needs, Resources::COMPUTE, "resources of {what}");
    }
    let fields = fact["fields"].as_array().unwrap();
    let has = |field: &&FieldInfo| field.bits(arch).is_some();
    assert_eq!(
        info.fields.iter().filter(has).count(),
        fields.len(),
        "fields of {what}"
    );
    for field in fields {
        let name = field["name"].as_str().unwrap();
        let ours = info.field(name);
        check_field(
            ours.unwrap_or_else(|| panic!("{what} lacks {name}")),
            field,
            facts,
            arch,
            &what,
        );
    }
}

fn timing(timing: Timing) -> (&'static str, Option<&'static str>) {
    match timing {
        Timing::Inline | Timing::Blocking => ("never", None),
        Timing::Endpoint => ("always", Some("endpoint")),
        Timing::Other => ("always", Some("other")),
        Timing::SignalSlot => ("always", Some("signal_slot")),
        Timing::Deferrable => ("if_deferred", Some("signal_slot")),
        Timing::DeferrableShared => ("if_deferred", Some("shared_entry")),
    }
}

fn check_field(info: &FieldInfo, fact: &Value, facts: &Value, arch: Arch, what: &str) {
    let what = format!("{} of {what}", info.name);
    let bits = info
        .bits(arch)
        .unwrap_or_else(|| panic!("{what} is missing"));
    assert_eq!(u64::from(bits.low), fact["start"], "start of {what}");
    assert_eq!(u64::from(bits.width()), fact["width"], "width of {what}");
    let (kind, class) = match info.kind {
        FieldKind::Unsigned => ("uint", None),
        FieldKind::Signed => ("int", None),
        FieldKind::Bool => ("bool", None),
        FieldKind::Enum(values) => {
            // v10 and v11 call it a bool; the two words of its text are those of the later enum.
            if values.name == "cs_sync_error_reject" && arch <= Arch::V11 {
                ("bool", None)
            } else {
                assert_eq!(values.name, fact["enum"], "{what}");
                check_enum(values, &facts["enums"][values.name]);
                ("enum", None)
            }
        }
        FieldKind::Reg if info.columns.extent != Extent::Kind => ("reg", Some("tuple")),
        FieldKind::Reg => ("reg", Some("32")),
        FieldKind::Pair => ("reg", Some("64")),
        FieldKind::RegMask => ("mask", None),
        FieldKind::Slot => ("sb_slot", None),
        FieldKind::SlotMask => ("sb_mask", None),
        FieldKind::Bytes8 => {
            assert_eq!(fact["modifier"]["amount"], 3, "{what}");
            ("uint", None)
        }
    };
    assert_eq!(fact["type"], kind, "type of {what}");
    assert_eq!(fact["reg_class"].as_str(), class, "class of {what}");
    let access = match info.columns.access {
        Access::None => None,
        Access::Read => Some("read"),
        Access::Write => Some("write"),
    };
    assert_eq!(fact["access"].as_str(), access, "access of {what}");
    let extent = match info.columns.extent {
        Extent::Kind => None,
        Extent::Mask(field) | Extent::Count(field) => Some(field),
    };
    assert_eq!(fact["extent"].as_str(), extent, "extent of {what}");
    let when = match info.columns.when {
        When::Always => None,
        When::Is("draw_id_register_enable", 1) => Some("draw_id_register_enable == 1"),
        When::IsNot("condition", 6) => Some("condition != ALWAYS"),
        other => panic!("{what}: {other:?}"),
    };
    assert_eq!(fact["when"].as_str(), when, "condition of {what}");
    if let Some(default) = fact["default"].as_u64() {
        assert_eq!(info.columns.default, default, "default of {what}");
    }
}

fn check_enum(info: &EnumInfo, fact: &Value) {
    let facts = fact.as_object().unwrap();
    assert_eq!(info.values.len(), facts.len(), "values of {}", info.name);
    for value in info.values {
        assert_eq!(
            facts[value.name], value.code,
            "{}.{}",
            info.name, value.name
        );
    }
}

#[test]
fn no_two_fields_share_bits() {
    for arch in SUPPORTED.iter() {
        for info in rows(arch) {
            let mut taken = 0xff << 56;
            if let Some(sub) = info.sub_opcode.filter(|_| arch == Arch::V13) {
                for bit in sub.low..=sub.high {
                    taken |= 1 << bit;
                }
            }
            for field in info.fields {
                if let Some(bits) = field.bits(arch) {
                    let (name, field) = (info.name, field.name);
                    assert_eq!(
                        taken & bits.mask(),
                        0,
                        "{field} of {name} on {arch} overlaps"
                    );
                    taken |= bits.mask();
                }
            }
        }
    }
}

#[test]
fn a_field_stands_in_one_place_on_each_architecture() {
    for info in INSTRUCTIONS {
        for field in info.fields {
            for arch in SUPPORTED.iter() {
                let places = field.bits.iter().filter(|bits| bits.archs.contains(arch));
                assert!(
                    places.count() <= 1,
                    "{} of {} on {arch}",
                    field.name,
                    info.name
                );
            }
        }
    }
}

#[test]
fn no_two_instructions_overlap() {
    for arch in SUPPORTED.iter() {
        for a in rows(arch) {
            let taken_by = rows(arch).filter(|b| b.selects(a.fixed_bits(), arch));
            let names: Vec<_> = taken_by.map(|info| info.name).collect();
            assert_eq!(names, [a.name], "on {arch}");
            if let Some(sub) = a.sub_opcode {
                let same_place = |b: &Info| b.sub_opcode.map(|b| (b.group, b.low, b.high));
                for b in rows(arch).filter(|b| b.opcode == a.opcode) {
                    let expected = Some((sub.group, sub.low, sub.high));
                    assert_eq!(same_place(b), expected, "{} and {}", a.name, b.name);
                }
            }
        }
    }
}

#[test]
fn spans_cover_the_word() {
    for arch in SUPPORTED.iter() {
        for info in rows(arch) {
            let mut next = 63;
            let mut reserved = 0;
            for span in info.spans(arch) {
                assert_eq!(i32::from(span.high), next, "{info} on {arch}");
                next = i32::from(span.low) - 1;
                if span.what == SpanKind::Reserved {
                    reserved |= u64::MAX >> (63 - (span.high - span.low)) << span.low;
                }
            }
            assert_eq!(next, -1, "{info} on {arch}");
            assert_eq!(reserved, !info.defined_bits(arch), "{info} on {arch}");
        }
    }
}

#[test]
fn instructions_have_names() {
    let name = |name, arch| Info::named(name, arch).map(|info| info.name);
    assert_eq!(name("add_immediate32", Arch::V10), Some("ADD_IMM32"));
    assert_eq!(name("ADD_IMM32", Arch::V10), Some("ADD_IMM32"));
    assert_eq!(name("sync_wait64", Arch::V12), Some("SYNC_WAIT64"));
    assert_eq!(name("RUN_IDVS2", Arch::V11), None);
}

#[test]
fn vectors_decode_and_encode() {
    let data = facts::data();
    for vector in data["vectors"].as_array().unwrap() {
        let word = facts::hex(&vector["word"]);
        for arch in vector["arches"].as_array().unwrap().iter().map(facts::arch) {
            let what = format!("{word:#018x} on {arch}");
            let instr = Instr::decode(word, arch).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(vector["instruction"], instr.info().name, "{what}");
            for (name, expected) in vector["fields"].as_object().unwrap() {
                let field = instr.info().field(name).unwrap();
                let bits = field.bits(arch).unwrap();
                let expected = match (expected.as_str(), field.kind) {
                    (Some(name), FieldKind::Enum(info)) => {
                        info.values.iter().find(|v| v.name == name).unwrap().code
                    }
                    _ => expected.as_i64().unwrap().cast_unsigned() & bits.max(),
                };
                assert_eq!(bits.of(word), expected, "{name} of {what}");
            }
            assert_eq!(instr.encode(arch), Ok(word), "{what}");
        }
    }
}

#[test]
fn examples_decode_and_encode() {
    let data = facts::data();
    for example in data["examples"].as_array().unwrap() {
        let arch = facts::arch(&example["arch"]);
        for line in example["listing"].as_array().unwrap() {
            let word = facts::hex(&line["word"]);
            let what = format!("{} of {}", line["text"], example["name"]);
            let instr = Instr::decode(word, arch).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(instr.encode(arch), Ok(word), "{what}");
        }
    }
}
