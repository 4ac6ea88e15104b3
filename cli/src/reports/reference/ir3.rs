//! Instructions of Adreno as pages.

use super::{Code, Family, Page, Part};
use eitri_ir3_isa::field::{FieldSpec, Kind};
use eitri_ir3_isa::row::Row;
use eitri_ir3_isa::values::Name;
use eitri_ir3_isa::{Bits, Gen, Instr, Latency, Op, What};

/// The instructions of a generation, or of all.
pub(crate) fn pages(generation: Option<Gen>) -> Vec<Page> {
    let rows = Op::ALL.iter().map(|op| op.row());
    rows.filter(|row| generation.is_none_or(|generation| row.gens.contains(generation)))
        .map(page)
        .collect()
}

/// The page of a word, with the numbers of its fields.
pub(crate) fn word(word: u64, generation: Gen) -> Option<Page> {
    let instr = Instr::decode(word, generation).ok()?;
    let mut page = page(instr.row());
    for part in &mut page.parts {
        part.value = Some(word >> part.low & (u64::MAX >> (64 - part.width)));
    }
    page.about = format!("{}: {}", instr.display(generation), page.about);
    page.name = format!("{} {word:#018x}", page.name);
    if let Some(loss) = instr.loss(generation) {
        page.notes.push(format!("Not told by the text: {loss}."));
    }
    Some(page)
}

fn page(row: &'static Row) -> Page {
    let latency = match row.layout.latency {
        Latency::None => "",
        Latency::Slots => "its slots have passed",
        Latency::Ss => "(ss)",
        Latency::Sy => "(sy)",
        Latency::SsAndSy => "(ss) and (sy)",
    };
    let mut page = Page::new(Family::Ir3Instruction, row.name, row.meaning)
        .fact("category", row.category().to_string())
        .fact("exists on", row.gens.to_string())
        .fact("text", row.layout.text)
        .fact("results after", latency)
        .fact("certainty", row.certainty.name());
    page.bits = 64;
    page.parts = row.parts().map(part).collect();
    page
}

fn part(bits: Bits) -> Part {
    let part =
        |name: &str, about: String| Part::new(bits.low.into(), bits.width.into(), name, about);
    let field = |spec: &'static FieldSpec, about: String| {
        let mut part = part(spec.field.name(), about);
        part.codes = codes(spec);
        part
    };
    match bits.what {
        What::Opcode(value) => part("opcode", format!("always {value:#x}")),
        What::Ignored => part("ignored", "ignored by the hardware; write 0".to_owned()),
        What::Zero => part("zero", "always 0".to_owned()),
        What::Field(spec) => field(spec, spec.about().to_owned()),
        What::Indirect(spec) => field(spec, format!("of an indirect descriptor: {}", spec.about())),
    }
}

fn codes(spec: &FieldSpec) -> Vec<Code> {
    let code = |number: u32, name: &str| Code {
        number: number.into(),
        name: name.to_owned(),
        about: String::new(),
    };
    let named = |name: &Name| match name.text {
        "" => code(name.value, "(nothing)"),
        text => code(name.value, text),
    };
    match spec.kind {
        Kind::Flag(text) => vec![code(1, text)],
        // Fields of other widths share the names: some say more than this one holds.
        Kind::Enum(names) => {
            let held = names
                .iter()
                .filter(|name| u64::from(name.value) >> spec.width() == 0);
            held.map(named).collect()
        }
        _ => Vec::new(),
    }
}
