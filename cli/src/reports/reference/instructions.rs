//! Shader instructions as pages.

use super::{Code, Family, Page, Part, arch_text};
use eitri_isa::field::{Field, Words};
use eitri_isa::row::{Access, DestKind, Row};
use eitri_isa::{Arch, ArchSet, Bits, Op, SelectRow, Special, SpecialRow, What};

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
    let mut page = Page::new(Family::Instruction, row.name, row.meaning())
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
    let first = row.archs.iter().find(|arch| *arch >= Arch::V10);
    let arch = first.unwrap_or(Arch::V9);
    page.parts = parts(row, arch);
    other_layouts(row, arch, &mut page);
    if row.text_only {
        let note = "No hardware has it: only the text of Mesa 24.1 knows it.";
        page.notes.push(note.to_owned());
    }
    page
}

/// The parts of the word on a generation, from bit 0 up.
fn parts(row: &'static Row, arch: Arch) -> Vec<Part> {
    let mut parts: Vec<_> = row.bits(arch).map(|bits| part(row, bits, arch)).collect();
    parts.reverse();
    parts
}

/// Notes how the word is laid out on generations where it differs from that of `shown`.
fn other_layouts(row: &'static Row, shown: Arch, page: &mut Page) {
    let text = |part: &Part| {
        let top = part.low + part.width - 1;
        let bits = if part.width == 1 {
            format!("bit {top}")
        } else {
            format!("bits {}..{top}", part.low)
        };
        let values: Vec<_> = part.codes.iter().map(|code| code.name.as_str()).collect();
        let values = match values[..] {
            [] => String::new(),
            _ => format!(" ({})", values.join(", ")),
        };
        format!("{bits} {}{values}", part.name)
    };
    let lines = |arch| parts(row, arch).iter().map(text).collect::<Vec<_>>();
    let base = lines(shown);
    // Generations with the same differences share a note.
    let mut notes: Vec<(Vec<Arch>, Vec<String>)> = Vec::new();
    for arch in row.archs.iter().filter(|arch| *arch != shown) {
        let mut other = lines(arch);
        other.retain(|line| !base.contains(line));
        if other.is_empty() {
            continue;
        }
        match notes.iter_mut().find(|(_, same)| *same == other) {
            Some((archs, _)) => archs.push(arch),
            None => notes.push((vec![arch], other)),
        }
    }
    for (archs, lines) in notes {
        let archs: Vec<_> = archs.iter().map(Arch::to_string).collect();
        page.notes
            .push(format!("On {}: {}.", archs.join(", "), lines.join("; ")));
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
        DestKind::WholeSinceV11 => "a register, or (v9 and v10) one half of it",
        DestKind::Whole => "a register",
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

fn part(row: &Row, bits: Bits, arch: Arch) -> Part {
    let part =
        |name: &str, about: String| Part::new(bits.pos.into(), bits.width.into(), name, about);
    match bits.what {
        What::Fixed(value) => part("fixed", format!("always {value:#x}")),
        What::Ignored => part("ignored", "ignored by the hardware; write 0".to_owned()),
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
        What::Select(index, select) => {
            let name = format!("lanes {index}");
            let mut part = part(&name, format!("which lanes of source {index} are read"));
            let legal = |row: &&SelectRow| select.legal.allows(row.value, arch);
            let rows = select.table.rows.iter().filter(legal);
            part.codes = rows
                .map(|row| Code {
                    number: row.value.into(),
                    name: named(row.mesa24),
                    about: String::new(),
                })
                .collect();
            part
        }
        What::Field(field) => {
            let mut part = part(field.name, field.note.to_owned());
            part.codes = codes(field, arch);
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

/// The values that hardware of a generation takes.
fn codes(field: &Field, arch: Arch) -> Vec<Code> {
    match field.words {
        Words::Flag(word) => vec![Code {
            number: 1,
            name: word.to_owned(),
            about: String::new(),
        }],
        Words::Enum { words, default } => words
            .iter()
            .filter(|word| field.allows(word.value, arch))
            .map(|word| Code {
                number: word.value.into(),
                name: named(word.text),
                about: if default == Some(word.value) {
                    "default".to_owned()
                } else {
                    String::new()
                },
            })
            .collect(),
    }
}

fn named(word: &str) -> String {
    let name = if word.is_empty() { "(no word)" } else { word };
    name.to_owned()
}
