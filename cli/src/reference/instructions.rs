//! Shader instructions as pages.

use super::{Code, Family, Page, Part, arch_text};
use eitri_isa::field::{Field, Words};
use eitri_isa::row::{Access, DestKind, Kind, Layout, Row};
use eitri_isa::{Arch, ArchSet, Bits, Op, Special, SpecialRow, What};

pub(super) fn pages() -> Vec<Page> {
    Op::ALL.iter().map(|op| page(op.row())).collect()
}

/// The values that the hardware provides.
pub(super) fn special_values() -> Vec<Page> {
    let page = |row: &SpecialRow| {
        Page::new(
            Family::SpecialValue,
            row.name,
            "A value that the hardware provides to any source.",
        )
        .fact("page", row.page.to_string())
        .fact("index", row.index.to_string())
        .fact(
            "exists on",
            arch_text(ArchSet::ALL.iter(), |arch| row.archs.contains(arch)),
        )
    };
    Special::ALL.iter().map(page).collect()
}

/// The page of an instruction.
pub(super) fn page(row: &'static Row) -> Page {
    let (unit, cycles) = row.issue(Arch::V10);
    let mut page = Page::new(Family::Instruction, row.name, about(row.kind))
        .fact("opcode", format!("{:#x}", row.opcode()))
        .fact("unit", format!("{unit:?}"))
        .fact("cycles", cycles.to_string())
        .fact("message", if row.kind.is_message() { "yes" } else { "no" })
        .fact(
            "type",
            if row.ty.bits() == 0 {
                String::new()
            } else {
                format!("{:?}", row.ty).to_lowercase()
            },
        )
        .fact("destination", destination(row.dest))
        .fact("sources", sources(row))
        .fact(
            "exists on",
            arch_text(ArchSet::ALL.iter(), |arch| row.archs.contains(arch)),
        )
        .fact("Mesa 24.1 text", row.mesa24)
        .fact("Mesa 26.2 text", row.mesa26.unwrap_or(""));
    page.aliases = [Some(row.mesa24), row.mesa26]
        .into_iter()
        .flatten()
        .map(str::to_owned)
        .collect();
    // FADD finds FADD.f32 and FADD.v2f16.
    page.aliases
        .extend(row.name.split('.').next().map(str::to_owned));
    page.bits = 64;
    page.parts = row.bits().map(|bits| part(row, bits)).collect();
    page.parts.reverse();
    match row.layout {
        Layout::Full => {}
        Layout::Partial => page.notes.push("Not every field is known.".to_owned()),
        Layout::OpcodeOnly => page.notes.push(
            "Only the opcode is known: such a word is neither decoded nor encoded.".to_owned(),
        ),
    }
    page
}

fn about(kind: Kind) -> &'static str {
    match kind {
        Kind::Nop => "Does nothing but its flow control.",
        Kind::Alu => "Computes a destination from its sources, each thread alone.",
        Kind::CrossLane => "Computes a destination from values of other threads.",
        Kind::Branch => "May continue elsewhere; threads may diverge.",
        Kind::Discard => "Marks a fragment's thread as discarded.",
        Kind::Load => "Reads memory.",
        Kind::Store => "Writes memory.",
        Kind::Atomic => "Reads and writes memory as one.",
        Kind::Address => "Computes an address from a descriptor.",
        Kind::Attribute => "Fetches a vertex attribute or an image texel.",
        Kind::Varying => "Loads a varying.",
        Kind::VaryingTexture => "Loads a varying and samples a texture with it.",
        Kind::Texture => "Samples a texture.",
        Kind::TileLoad => "Reads the tile buffer.",
        Kind::TileStore => "Writes the tile buffer.",
        Kind::Coverage => "Tests coverage and depth.",
        Kind::Blend => "Blends a colour into the tile buffer.",
        Kind::Barrier => "Waits for the workgroup.",
        Kind::Clock => "Reads a counter.",
        Kind::System => "What it does is not established, or is a deliberate fault.",
    }
}

const fn destination(dest: DestKind) -> &'static str {
    match dest {
        DestKind::None => "none",
        DestKind::Word => "a register, or one half of it",
        DestKind::Narrowing => "a register, one half of it, or both halves narrowed",
        DestKind::Replicating => {
            "a register, one half of it, or (v11 and later) the same 16 bits in both halves"
        }
        DestKind::Pair => "a pair of registers",
    }
}

fn sources(row: &Row) -> String {
    let sizes: Vec<_> = row
        .sources
        .iter()
        .map(|source| format!("{} bits", source.size))
        .collect();
    let mut sources = sizes.join(", ");
    for staging in row.staging {
        let verb = match staging.access {
            Access::Read => "reads",
            Access::Write => "writes",
        };
        sources.push_str(if sources.is_empty() { "" } else { "; " });
        sources.push_str(&format!("{verb} staging registers"));
    }
    sources
}

fn part(row: &Row, bits: Bits) -> Part {
    let part =
        |name: &str, about: String| Part::new(bits.pos.into(), bits.width.into(), name, about);
    match bits.what {
        What::Fixed(value) => part("fixed", format!("always {value:#x}")),
        What::Flow => part(
            "flow",
            "what to wait for, and how the thread goes on".to_owned(),
        ),
        What::Page => part(
            "page",
            "page of uniforms and special values for the sources".to_owned(),
        ),
        What::Opcode(value) => part("opcode", format!("always {value:#x}")),
        What::Dest => part("destination", "number of the register".to_owned()),
        What::DestMask => part("destination mask", "which halves are written".to_owned()),
        What::StagingFirst(Access::Read) => part("staging read", "first register".to_owned()),
        What::StagingFirst(Access::Write) => part("staging written", "first register".to_owned()),
        What::StagingCount { access, bias } => {
            let name = if access == Access::Read {
                "count read"
            } else {
                "count written"
            };
            part(
                name,
                if bias == 0 {
                    "registers".to_owned()
                } else {
                    format!("registers, less {bias}")
                },
            )
        }
        What::Direction(value) => part(
            "direction",
            format!("of the staging registers: always {value}"),
        ),
        What::Source(index) => {
            let size = row
                .sources
                .get(usize::from(index))
                .map_or(0, |source| source.size);
            part(
                &format!("source {index}"),
                format!("register, uniform, constant or special value, {size} bits"),
            )
        }
        What::Neg(index) => part(
            &format!("negate {index}"),
            format!("negates source {index}"),
        ),
        What::Abs(index) => part(
            &format!("absolute {index}"),
            format!("takes the absolute value of source {index}"),
        ),
        What::Not(index) => part(
            &format!("invert {index}"),
            format!("inverts source {index}"),
        ),
        What::Select(index, _) => part(
            &format!("lanes {index}"),
            format!("which lanes of source {index} are read"),
        ),
        What::Field(field) => {
            let mut part = part(field.name, field.note.to_owned());
            part.codes = codes(field);
            part
        }
        What::Immediate(immediate) => {
            let sign = if immediate.signed {
                "signed"
            } else {
                "unsigned"
            };
            part(
                &format!("{:?}", immediate.id).to_lowercase(),
                format!("immediate, {sign}"),
            )
        }
    }
}

fn codes(field: &Field) -> Vec<Code> {
    match field.words {
        Words::Flag(word) => vec![Code {
            number: 1,
            name: word.to_owned(),
            about: String::new(),
        }],
        Words::Enum { words, default } => words
            .iter()
            .filter(|word| field.allowed >> word.value & 1 != 0)
            .map(|word| {
                let mut about = arch_text(ArchSet::ALL.iter(), |arch| word.archs.contains(arch));
                if default == Some(word.value) {
                    about = if about.is_empty() {
                        "default".to_owned()
                    } else {
                        format!("default, {about}")
                    };
                }
                let name = if word.text.is_empty() {
                    "(no word)"
                } else {
                    word.text
                };
                Code {
                    number: word.value.into(),
                    name: name.to_owned(),
                    about,
                }
            })
            .collect(),
    }
}
