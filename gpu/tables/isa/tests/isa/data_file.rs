//! The table against the data file of the facts, row by row: what text needs. Where bits lie and what they may hold is compared
//! with Arm's own tables (`arm_tables`).

use eitri_isa::field::{Field, Immediate};
use eitri_isa::row::{Access, DestKind, Row, Source};
use eitri_isa::{Arch, Op};
use serde_json::Value as Json;

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

/// The generation from which an item of a row counts, if it has its own.
fn first_arch(json: &Json, row: &Row) -> Arch {
    let number = json["arch"]["min"].as_u64();
    let found = Arch::ALL
        .into_iter()
        .find(|arch| Some(u64::from(arch.major())) == number);
    found
        .or(row.archs.iter().next())
        .expect("a row has a generation")
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
    }
}

/// Modifiers of the data file that are something else here, with the reason.
const SETTLED: [&str; 6] = [
    // A row of its own: ARSHIFT.
    "signed",
    // Two values of one field, which text writes as two words.
    "sqrt",
    "log",
    // Selections of a source.
    "submatrix0",
    "submatrix1",
    // Always 0.
    "footprint",
];

fn check_fields(found: &mut Differences<'_>, row: &Row, theirs: &Json) {
    for modifier in theirs["modifiers"].as_array().expect("modifiers") {
        let name = text(&modifier["name"]);
        let Some(pos) = modifier["pos"].as_u64() else {
            continue;
        };
        if SETTLED.contains(&name) {
            continue;
        }
        let here: Vec<&Field> = row
            .fields_on(first_arch(modifier, row))
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

fn check_immediates(found: &mut Differences<'_>, row: &Row, theirs: &[Json]) {
    for theirs in theirs {
        let ours = row.immediates_on(first_arch(theirs, row));
        let same = |ours: &&Immediate| ours.id.name() == text(&theirs["name"]);
        let Some(ours) = ours.iter().find(same) else {
            found
                .found
                .push(format!("{}: no immediate {}", row.name, theirs["name"]));
            continue;
        };
        let first = theirs["pieces"].get(0).unwrap_or(theirs);
        found.same(
            "position of an immediate",
            Some(u64::from(ours.pos)),
            first["pos"].as_u64(),
        );
        // The name of a built-in varying has three bits; text has four (section 20).
        let special = row.name == "LD_VAR_SPECIAL";
        found.same(
            "width of an immediate",
            Some(u64::from(ours.width) + u64::from(special)),
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
    let unit = format!("{:?}", row.unit).to_uppercase();
    // Where Mesa's cost model differs from the hardware, the hardware counts.
    let first = theirs["unit_by_arch"].get(0).unwrap_or(theirs);
    found.same("unit", unit.as_str(), text(&first["unit"]));
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
        // The direction of ATOM1_RETURN is a part of its opcode here: another direction is ATOM1.
        if !row.name.starts_with("ATOM1_RETURN") {
            found.same("direction of staging", ours.control.map(u64::from), control);
        }
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
        row,
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
