//! The table against the data file of the facts, row by row.

use eitri_isa::field::{Field, Immediate};
use eitri_isa::row::{Access, DestKind, Layout, Row, Source};
use eitri_isa::{Arch, Op};
use serde_json::Value as Json;

const HIGH: u64 = 0xFFFF << 48;

fn data() -> Option<Json> {
    let text = eitri_testdata::read_shared("hardware/data/valhall-isa.json")?;
    Some(serde_json::from_str(&text).expect("the data file is JSON"))
}

fn rows(data: &Json) -> Vec<&Json> {
    ["instructions", "extended_instructions"]
        .iter()
        .flat_map(|key| data[key].as_array().expect("a list"))
        .collect()
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}

fn number(json: &Json) -> Option<u64> {
    match json {
        Json::String(hex) => u64::from_str_radix(hex.trim_start_matches("0x"), 16).ok(),
        other => other.as_u64(),
    }
}

/// Differences between a row and the data file's, each a sentence. What is named in `explained` is settled.
struct Differences<'a> {
    row: &'a Row,
    found: Vec<String>,
}

impl Differences<'_> {
    #[track_caller]
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, ours: T, theirs: T) {
        if ours != theirs {
            self.found.push(format!(
                "{}: {what}: ours {ours:?}, the data file's {theirs:?}",
                self.row.name
            ));
        }
    }
}

/// Opcode bits: primary, secondary, and the flag that makes RSHIFT arithmetic (a row of its own here).
fn opcode(json: &Json) -> (u64, u64) {
    let (mut mask, mut value) = (
        0x1FF << 48,
        number(&json["opcode"]["value"]).expect("an opcode") << 48,
    );
    for key in ["opcode2", "opcode3"] {
        let Some(pos) = json[key]["pos"].as_u64() else {
            continue;
        };
        mask |= number(&json[key]["mask"]).expect("a mask") << pos;
        value |= number(&json[key]["value"]).expect("a value") << pos;
    }
    if text(&json["name"]).starts_with("RSHIFT_") {
        mask |= 1 << 34;
    }
    if text(&json["name"]).starts_with("FMA_RSCALE") {
        // `extended_fields`: bit 50 is the flag round_zero.
        mask &= !(1 << 50);
    }
    (mask, value)
}

fn check_sources(found: &mut Differences<'_>, ours: &[Source], theirs: &[Json]) {
    found.same("sources", ours.len(), theirs.len());
    for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        let place = |json: &Json| json["pos"].as_u64().map(|pos| pos as u8);
        found.same("position of a source", Some(ours.pos), place(theirs));
        found.same(
            "size of a source",
            Some(u64::from(ours.size)),
            theirs["size"].as_u64(),
        );
        if let Some(float) = theirs["float"].as_bool() {
            found.same("float source", ours.float, float);
        }
        let modifiers = theirs["modifiers"].as_object().expect("modifiers");
        let name = found.row.name;
        // `extended_fields` gives FREXPM a sign, and FADD_LSCALE and FEXP a widen.
        let extended = name.starts_with("FREXPM")
            || name.starts_with("FADD_LSCALE")
            || (name == "FEXP.f32" && index == 1);
        if !extended {
            found.same("neg", ours.neg, modifiers.get("neg").and_then(place));
            found.same("abs", ours.abs, modifiers.get("abs").and_then(place));
        }
        found.same("not", ours.not, modifiers.get("not").and_then(place));
        let select = modifiers
            .iter()
            .find(|(key, _)| !matches!(key.as_str(), "neg" | "abs" | "not"));
        if extended || name.starts_with("LDEXP") {
            continue;
        }
        found.same(
            "position of a selection",
            ours.select.map(|select| select.pos),
            select.and_then(|(_, json)| place(json)),
        );
        let Some((_, json)) = select else { continue };
        let width = json["width"].as_u64().expect("a width");
        // The hardware's field of a half has one bit, whatever 24.1 shows (section 7.5, item 10).
        let half = ours
            .select
            .is_some_and(|select| select.table.name == "half");
        found.same(
            "width of a selection",
            ours.select.map(|select| u64::from(select.width)),
            Some(if half { 1 } else { width }),
        );
    }
}

fn check_fields(found: &mut Differences<'_>, row: &Row, theirs: &Json) {
    for modifier in theirs["modifiers"].as_array().expect("modifiers") {
        let name = text(&modifier["name"]);
        let Some(pos) = modifier["pos"].as_u64() else {
            continue;
        };
        if name == "signed" {
            continue;
        }
        let here: Vec<&Field> = row
            .fields
            .iter()
            .filter(|field| u64::from(field.pos) == pos)
            .collect();
        let [field] = here[..] else {
            found.found.push(format!(
                "{}: {} field(s) at bit {pos} for {name}",
                row.name,
                here.len()
            ));
            continue;
        };
        let width = modifier["width"].as_u64().expect("a width");
        // Wider in `extended_fields`: rounding of three bits, access hints of three, lane operations of four.
        let wider = matches!(name, "round_mode" | "memory_access" | "lane_operation");
        if !(wider && u64::from(field.width) > width) {
            found.same(name, u64::from(field.width), width);
        }
        let required = modifier["required"]
            .as_bool()
            .unwrap_or(field.is_required());
        found.same(
            "required modifier",
            (name, field.is_required()),
            (name, required),
        );
    }
}

fn check_immediates(found: &mut Differences<'_>, ours: &[Immediate], theirs: &[Json]) {
    found.same("immediates", ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(theirs) {
        found.same(
            "name of an immediate",
            ours.id.name(),
            text(&theirs["name"]),
        );
        let first = theirs["pieces"].get(0).unwrap_or(theirs);
        found.same(
            "position of an immediate",
            Some(u64::from(ours.pos)),
            first["pos"].as_u64(),
        );
        found.same(
            "width of an immediate",
            Some(u64::from(ours.width)),
            first["width"].as_u64(),
        );
        found.same(
            "signed immediate",
            ours.signed,
            theirs["signed"].as_bool().unwrap_or(false),
        );
        let upper = theirs["pieces"]
            .get(1)
            .map(|piece| (piece["pos"].as_u64(), piece["width"].as_u64()));
        let pair = ours
            .upper
            .map(|(pos, width)| (Some(u64::from(pos)), Some(u64::from(width))));
        found.same("upper bits of an immediate", pair, upper);
    }
}

fn check_row(row: &Row, theirs: &Json) -> Vec<String> {
    let mut found = Differences {
        row,
        found: Vec::new(),
    };
    let (mask, value) = opcode(theirs);
    found.same(
        "opcode",
        (row.matches.mask, row.matches.value),
        (mask, value),
    );
    let unit = format!("{:?}", row.unit).to_uppercase();
    found.same("unit", unit.as_str(), text(&theirs["unit"]));
    found.same(
        "message",
        Some(row.kind.is_message()),
        theirs["message"].as_bool(),
    );
    found.same("26.2 name", row.mesa26, theirs["mesa26_name"].as_str());
    let arch = |key: &str| {
        Arch::ALL
            .into_iter()
            .find(|arch| Some(u64::from(arch.major())) == theirs["arch"][key].as_u64())
    };
    found.same("first generation", row.archs.iter().next(), arch("min"));
    found.same("last generation", row.archs.iter().next_back(), arch("max"));
    let layout = match theirs["layout"].as_str() {
        Some("partial") => Layout::Partial,
        Some("opcode_only") => Layout::OpcodeOnly,
        _ => Layout::Full,
    };
    found.same("layout", row.layout, layout);
    found.same(
        "destination",
        row.dest != DestKind::None,
        theirs["dests"]
            .as_array()
            .is_some_and(|dests| !dests.is_empty()),
    );
    if let Some(bits) = theirs["type_bits"].as_u64() {
        // The file gives 32 bits to what has no type.
        let ours = if row.ty.bits() == 0 {
            32
        } else {
            u64::from(row.ty.bits())
        };
        found.same("bits of the type", ours, bits);
    }
    if theirs["signed"].as_bool() == Some(true) {
        found.same("signed", row.ty.is_signed(), true);
    }
    let staging = theirs["staging"].as_array().expect("staging");
    found.same("staging ranges", row.staging.len(), staging.len());
    for (ours, theirs) in row.staging.iter().zip(staging) {
        found.same(
            "written staging",
            Some(ours.access == Access::Write),
            theirs["write"].as_bool(),
        );
        found.same(
            "position of staging",
            Some(u64::from(ours.pos)),
            theirs["pos"].as_u64(),
        );
        let control = theirs["control"]
            .as_u64()
            .or(theirs["control"]["value"].as_u64());
        found.same("direction of staging", ours.control.map(u64::from), control);
        if let Some(pos) = theirs["count"]["pos"].as_u64() {
            found.same("count of staging", ours.count.map(u64::from), Some(pos));
            found.same(
                "bias of staging",
                Some(u64::from(ours.bias)),
                theirs["count"]["bias"].as_u64(),
            );
        }
    }
    check_sources(
        &mut found,
        row.sources,
        theirs["sources"].as_array().expect("sources"),
    );
    check_immediates(
        &mut found,
        row.immediates,
        theirs["immediates"].as_array().expect("immediates"),
    );
    check_fields(&mut found, row, theirs);
    found.found
}

#[test]
fn rows_agree_with_the_data_file() {
    let Some(data) = data() else { return };
    let mut wrong = Vec::new();
    for theirs in rows(&data) {
        match Op::from_name(text(&theirs["name"])) {
            Some(op) => wrong.extend(check_row(op.row(), theirs)),
            None => wrong.push(format!("{} has no row", theirs["name"])),
        }
    }
    assert_eq!(
        rows(&data).len(),
        Op::ALL.len(),
        "rows of the data file and rows here"
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Bits that the data file counts to a field and that this table demands to be 0, with the reason.
const SETTLED: [(&str, u64); 9] = [
    // Always slot 0 (`extended_fields`).
    ("ATEST", 0x1_C000_0000),
    // One bit chooses the half, whatever 24.1 shows; the second source's belongs to MKVEC alone (section 7.5, item 10).
    ("S16_TO_S32", 0x2400_0000),
    ("S16_TO_F32", 0x2400_0000),
    ("U16_TO_U32", 0x2400_0000),
    ("U16_TO_F32", 0x2400_0000),
    ("F16_TO_S32", 0x2400_0000),
    ("F16_TO_U32", 0x2400_0000),
    ("MKVEC.v2i16", 0x2800_0000),
    // A fetch has no level mode: its level is in the payload (section 11.10).
    ("TEX_FETCH", 0xE000),
];

#[test]
fn unclaimed_bits_agree_with_the_data_file() {
    let Some(data) = data() else { return };
    let mut wrong = Vec::new();
    for theirs in rows(&data) {
        let (Some(bits), Some(op)) = (
            number(&theirs["unclaimed_bits"]),
            Op::from_name(text(&theirs["name"])),
        ) else {
            continue;
        };
        let ours = !op.row().claimed() & !HIGH;
        let settled = SETTLED
            .iter()
            .find(|(name, _)| *name == op.name())
            .map_or(0, |(_, bits)| *bits);
        if ours ^ bits != settled {
            wrong.push(format!(
                "{}: ours {ours:#x}, the data file's {bits:#x}, differ in {:#x}",
                op.name(),
                ours ^ bits
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
