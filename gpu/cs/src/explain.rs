//! Explanations: finds what the tables know by the names that people write, and prints it.
//!
//! Guarantees: every name of [`names`] is found; a word never makes it panic.  Never: knows what a command line is.
//!
//! ```
//! use eitri_cs::explain::find;
//!
//! let text = find("job_size_x").map(|topic| topic.to_string());
//! let expected = "r37 JOB_SIZE_X: workgroup count, X\n  read by RUN_COMPUTE, RUN_COMPUTE_INDIRECT; v10-v13\n";
//! assert_eq!(text.as_deref(), Some(expected));
//! ```

use core::fmt;

use crate::arch::Arch;
use crate::enums::ENUMS;
use crate::field::{Access, Bits, EnumInfo, FieldInfo, FieldKind, sign_extend};
use crate::instr::{DecodeError, INSTRUCTIONS, Instr};
use crate::staging::{StagingMap, StagingRegister, StagingWhen};
use crate::table::{ALIASES, Alias, Info, Resources, SpanKind, Timing};
use crate::text::{Syntax, disassemble};

/// Something that the tables know.
#[derive(Clone, Copy, Debug)]
pub enum Topic {
    /// An instruction.
    Instruction(&'static Info),
    /// An opcode with several instructions.
    Group(&'static str),
    /// Another name for an instruction.
    Alias(&'static Alias),
    /// Named values.
    Values(&'static EnumInfo),
    /// Staging registers of this name.
    Staging(&'static str),
    /// A word, on an architecture, and the instruction that it is.
    Word(u64, Arch, &'static Info),
}

/// The names by which something is found. To suggest the nearest from.
pub fn names() -> impl Iterator<Item = &'static str> {
    let instructions = INSTRUCTIONS.iter().flat_map(|info| names_of(info));
    let groups = INSTRUCTIONS.iter().filter_map(|info| group(info));
    let aliases = ALIASES.iter().map(|alias| alias.name);
    let values = ENUMS.iter().map(|info| info.name);
    let staging = staging().map(|(_, row)| row.name);
    instructions
        .chain(groups)
        .chain(aliases)
        .chain(values)
        .chain(staging)
}

/// What `name` names, in upper or lower case: an instruction, an alias, an opcode, a set of named values or one of
/// them, a staging register.
pub fn find(name: &str) -> Option<Topic> {
    let same = |other: &str| other.eq_ignore_ascii_case(name);
    let has_name = |info: &&&'static Info| names_of(info).into_iter().any(same);
    let has_value = |info: &&&EnumInfo| info.values.iter().any(|value| same(value.name));
    let values = || ENUMS.iter().copied();
    None.or_else(|| {
        INSTRUCTIONS
            .iter()
            .find(has_name)
            .map(|i| Topic::Instruction(i))
    })
    .or_else(|| {
        INSTRUCTIONS
            .iter()
            .filter_map(|i| group(i))
            .find(|g| same(g))
            .map(Topic::Group)
    })
    .or_else(|| {
        ALIASES
            .iter()
            .find(|alias| same(alias.name))
            .map(Topic::Alias)
    })
    .or_else(|| values().find(|info| same(info.name)).map(Topic::Values))
    .or_else(|| {
        staging()
            .map(|(_, row)| row.name)
            .find(|n| same(n))
            .map(Topic::Staging)
    })
    .or_else(|| ENUMS.iter().find(has_value).copied().map(Topic::Values))
}

/// What a word is.
///
/// # Errors
/// As [`Instr::decode`].
pub fn find_word(word: u64, arch: Arch) -> Result<Topic, DecodeError> {
    Ok(Topic::Word(word, arch, Instr::decode(word, arch)?.info()))
}

/// The name of an instruction, and the word that opens its text on the first and on the last architecture.
fn names_of(info: &'static Info) -> [&'static str; 3] {
    [
        info.name,
        info.mnemonic(Arch::V10),
        info.mnemonic(Arch::V13),
    ]
}

fn group(info: &Info) -> Option<&'static str> {
    info.sub_opcode.map(|sub| sub.group)
}

fn staging() -> impl Iterator<Item = (StagingMap, &'static StagingRegister)> {
    let rows = |map: StagingMap| map.rows().iter().map(move |row| (map, row));
    StagingMap::ALL.into_iter().flat_map(rows)
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Topic::Instruction(info) => {
                heading(f, info)?;
                layout(f, info)?;
                staged(f, info, None)
            }
            Topic::Group(name) => {
                writeln!(f, "{name}: an opcode of v13 with a second opcode")?;
                let members = INSTRUCTIONS.iter().filter(|info| group(info) == Some(name));
                for info in members {
                    writeln!(f, "  {}: {} ({})", info.name, info.note, info.arches)?;
                }
                Ok(())
            }
            Topic::Alias(alias) => {
                let (name, note, mode, index) = (alias.name, alias.note, alias.mode, alias.index);
                writeln!(f, "{name}: {note}")?;
                writeln!(
                    f,
                    "  LOGIC_OP32 with mode {mode:?} and index {index:?}; v11-v13"
                )
            }
            Topic::Values(info) => {
                writeln!(f, "{}: {}", info.name, info.note)?;
                for value in info.values {
                    writeln!(f, "  {:>2}  {}: {}", value.code, value.name, value.note)?;
                }
                Ok(())
            }
            Topic::Staging(name) => {
                let mut rows = staging().filter(|(_, row)| row.name == name);
                rows.try_for_each(|(map, row)| register(f, map, row))
            }
            Topic::Word(word, arch, info) => {
                match disassemble(word, arch, Syntax::Eitri) {
                    Ok(text) => writeln!(f, "{word:016x}: {text}")?,
                    Err(error) => writeln!(f, "{word:016x}: {error}")?,
                }
                heading(f, info)?;
                for span in info.spans(arch) {
                    bits(f, span.high, span.low)?;
                    match span.what {
                        SpanKind::Opcode(opcode) => writeln!(f, "opcode {opcode}")?,
                        SpanKind::SubOpcode(sub) => writeln!(f, "second opcode {}", sub.value)?,
                        SpanKind::Reserved => writeln!(f, "reserved, 0")?,
                        SpanKind::Field(field) => {
                            write!(f, "{} = ", field.name)?;
                            if let Some(bits) = field.bits(arch) {
                                held(f, field, bits, bits.of(word))?;
                            }
                            writeln!(f, ": {}", field.note)?;
                        }
                    }
                }
                staged(f, info, Some((word, arch)))
            }
        }
    }
}

fn heading(f: &mut fmt::Formatter<'_>, info: &Info) -> fmt::Result {
    writeln!(f, "{}: {}", info.name, info.note)?;
    write!(f, "  {}; ", info.arches)?;
    f.write_str(match info.timing {
        Timing::Inline => "done before the next instruction",
        Timing::Blocking => "blocks the stream",
        Timing::Endpoint => "asynchronous, counted on the endpoint slot",
        Timing::Other => "asynchronous, counted on the other slot",
        Timing::SignalSlot => "asynchronous, counted on signal_slot",
        Timing::Deferrable => "in line, or deferred and counted on signal_slot",
        Timing::DeferrableShared => "in line, or deferred and counted on a shared slot",
    })?;
    let needs = [
        (Resources::COMPUTE, "compute"),
        (Resources::FRAGMENT, "fragment"),
        (Resources::TILER, "tiler"),
        (Resources::IDVS, "idvs"),
        (Resources::RAY_TRACING, "rt"),
    ];
    for (_, name) in needs.iter().filter(|(bit, _)| info.needs.contains(*bit)) {
        write!(f, "; needs the resource {name}")?;
    }
    writeln!(f)
}

/// All fields, from the highest bit down, with the architectures on which they stand there.
fn layout(f: &mut fmt::Formatter<'_>, info: &'static Info) -> fmt::Result {
    bits(f, 63, 56)?;
    writeln!(f, "opcode {} ({:#04x})", info.opcode, info.opcode)?;
    for high in (0..56).rev() {
        if let Some(sub) = info.sub_opcode.filter(|sub| sub.high == high) {
            bits(f, high, sub.low)?;
            writeln!(f, "second opcode {} (v13; before: reserved)", sub.value)?;
        }
        for field in info.fields {
            for place in field.bits.iter().filter(|bits| bits.high == high) {
                bits(f, high, place.low)?;
                field_line(f, info, field, place)?;
            }
        }
    }
    Ok(())
}

fn bits(f: &mut fmt::Formatter<'_>, high: u8, low: u8) -> fmt::Result {
    if high == low {
        write!(f, "  {high:>2}      ")
    } else {
        write!(f, "  {high:>2}:{low:<2}   ")
    }
}

fn field_line(
    f: &mut fmt::Formatter<'_>,
    info: &Info,
    field: &FieldInfo,
    place: &Bits,
) -> fmt::Result {
    write!(f, "{}", field.name)?;
    if place.arches != info.arches {
        write!(f, " ({})", place.arches)?;
    }
    write!(f, ": {}", field.note)?;
    match field.kind {
        FieldKind::Enum(values) => {
            for (i, value) in values.values.iter().enumerate() {
                let separator = if i == 0 { ";" } else { "," };
                write!(f, "{separator} {} {}", value.code, value.word)?;
            }
        }
        FieldKind::Signed => f.write_str("; signed")?,
        FieldKind::Slot => f.write_str("; a slot")?,
        FieldKind::SlotMask => f.write_str("; a mask of slots")?,
        FieldKind::RegMask => f.write_str("; a mask")?,
        FieldKind::Bytes8 => f.write_str("; stored divided by 8")?,
        FieldKind::Unsigned | FieldKind::Bool | FieldKind::Reg | FieldKind::Pair => {}
    }
    let verb = match field.access {
        Access::None => "",
        Access::Read => ", read",
        Access::Write => ", written",
    };
    match field.kind {
        FieldKind::Reg => write!(f, "; a register{verb}")?,
        FieldKind::Pair => write!(f, "; a register pair{verb}")?,
        _ => {}
    }
    if field.default != 0 {
        write!(f, "; default {}", field.default)?;
    }
    writeln!(f)
}

/// What a field holds.
fn held(f: &mut fmt::Formatter<'_>, field: &FieldInfo, bits: Bits, value: u64) -> fmt::Result {
    match field.kind {
        FieldKind::Enum(info) => {
            let named = info.values.iter().find(|known| known.code == value);
            write!(
                f,
                "{value} {}",
                named.map_or("(undefined)", |known| known.name)
            )
        }
        FieldKind::Signed => write!(f, "{}", sign_extend(value, bits.width())),
        FieldKind::Reg => write!(f, "r{value}"),
        FieldKind::Pair => write!(f, "d{value}"),
        FieldKind::Bytes8 => write!(f, "{}", value * 8),
        FieldKind::SlotMask | FieldKind::RegMask => write!(f, "{value:#x}"),
        FieldKind::Unsigned | FieldKind::Bool | FieldKind::Slot => write!(f, "{value}"),
    }
}

/// The staging registers that the job reads; of a given word only those that it may read.
fn staged(
    f: &mut fmt::Formatter<'_>,
    info: &'static Info,
    word: Option<(u64, Arch)>,
) -> fmt::Result {
    let Some(map) = info.staging else {
        return Ok(());
    };
    writeln!(f, "  registers that the job reads:")?;
    for row in map.rows() {
        let is_read = match word {
            Some((word, arch)) => row.arches.contains(arch) && row.may_be_read(info, word, arch),
            None => row.arches.overlaps(info.arches),
        };
        if is_read {
            f.write_str("    ")?;
            staging_row(f, row)?;
            if word.is_none() && row.arches != info.arches {
                write!(f, " ({})", row.arches)?;
            }
            writeln!(f)?;
        }
    }
    Ok(())
}

fn staging_row(f: &mut fmt::Formatter<'_>, row: &StagingRegister) -> fmt::Result {
    let class = if row.is_pair { "d" } else { "r" };
    let number = row.register.number();
    write!(f, "{class}{number} {}: {}", row.name, row.note)?;
    match row.when {
        StagingWhen::Always => Ok(()),
        StagingWhen::Field(field, value) => write!(f, ", when {field} is {value}"),
        StagingWhen::Registers(say) => write!(f, ", when {say}"),
        StagingWhen::Never => f.write_str(", not read: nothing selects it"),
    }
}

/// A staging register by itself: who reads it, and its bits.
fn register(f: &mut fmt::Formatter<'_>, map: StagingMap, row: &StagingRegister) -> fmt::Result {
    staging_row(f, row)?;
    f.write_str("\n  read by")?;
    let readers = INSTRUCTIONS
        .iter()
        .filter(|info| info.staging == Some(map) && info.arches.overlaps(row.arches));
    for (i, info) in readers.enumerate() {
        let separator = if i == 0 { "" } else { "," };
        write!(f, "{separator} {}", info.name)?;
    }
    writeln!(f, "; {}", row.arches)?;
    let Some(word) = row.word else {
        return Ok(());
    };
    for field in word.fields {
        let places = field.bits.iter();
        for place in places.filter(|place| place.arches.overlaps(row.arches)) {
            bits(f, place.high, place.low)?;
            write!(f, "{}: {}", field.name, field.note)?;
            if let FieldKind::Enum(values) = field.kind {
                for (i, value) in values.values.iter().enumerate() {
                    let separator = if i == 0 { ";" } else { "," };
                    write!(f, "{separator} {} {}", value.code, value.word)?;
                }
            }
            writeln!(f)?;
        }
    }
    Ok(())
}
