//! Candidates: the instructions of shaders that may have made an access that failed.
//!
//! Registers of a fault name the unit that made an access, and no program counter. So these are the instructions of the programs that
//! jobs before the command pointers name, as far as they make that kind of access through that unit. Which of them it was is for the
//! reader to say, unless there is only one.  Facts: hardware/gpu-mmu.md section 8, valhall-isa.md.

use super::View;
use super::entry::Entry;
use super::lines;
use crate::note::{Fault, Reporter};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use eitri_csf::fault::fault_access::AccessKind;
use eitri_csf::fault::{FaultSource, Unit};
use eitri_csf::registers::address_space::as_faultstatus;
use eitri_isa::row::Kind;
use eitri_isa::{Instr, Syntax};

/// Instructions that are shown as text.
const MOST: usize = 16;

/// An instruction that may have made the access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateFacts {
    /// Its GPU address.
    pub address: u64,
    /// The instruction.
    pub word: u64,
    /// Its text.
    pub text: String,
    /// Address of the first instruction of its program.
    pub program: u64,
    /// The line of the source that it comes from, as `file:line`; `None` where the dump has no lines of the program.
    pub source: Option<String>,
}

/// The candidates of a fault, by address; `None` where nothing says that a shader made the access. Needs the programs of jobs, which
/// [`super::stream::entries`] collects.
pub(super) fn find(view: &View<'_>, fault: &Fault) -> Option<Vec<CandidateFacts>> {
    if fault.reporter != Reporter::AddressSpace {
        return None;
    }
    let source = FaultSource {
        arch: view.arch?,
        id: as_faultstatus::SOURCE.get(fault.status) as u16,
        access: as_faultstatus::ACCESS.get(fault.status)?,
    };
    if !matches!(source.unit(), Some(Unit::ShaderCore(_))) {
        return None;
    }
    let requester = source.requester_name();
    if !matches!(requester, None | Some("load/store cache" | "texture unit")) {
        return None;
    }
    let programs = view.programs.borrow();
    let of_space = programs
        .iter()
        .filter(|program| u32::from(program.space) == fault.space);
    let mut found = Vec::new();
    for program in of_space {
        for (index, word) in program.words.iter().enumerate() {
            let address = program.address.saturating_add(8 * index as u64);
            let Ok(instr) = Instr::decode_text(*word, program.arch) else {
                break;
            };
            if makes(instr.row().kind, source.access, requester) {
                found.push(CandidateFacts {
                    address,
                    word: *word,
                    text: format!("{}", instr.display(program.arch, Syntax::Mesa24)),
                    program: program.address,
                    source: match program.sources.get(index) {
                        Some(Some((file, line))) => Some(lines::text(file, *line)),
                        _ => None,
                    },
                });
            }
        }
    }
    found.sort_by_key(|candidate| candidate.address);
    Some(found)
}

/// Whether an instruction of a kind makes such an access; `None`: through whatever unit.
fn makes(kind: Kind, access: AccessKind, requester: Option<&str>) -> bool {
    let texture = matches!(kind, Kind::Texture | Kind::VaryingTexture);
    let load_store = match access {
        AccessKind::Read => matches!(kind, Kind::Load | Kind::Attribute | Kind::Varying),
        AccessKind::Write => kind == Kind::Store,
        AccessKind::Atomic => kind == Kind::Atomic,
        AccessKind::Execute => false,
    };
    match requester {
        Some("texture unit") => texture,
        Some(_) => load_store,
        None => load_store || texture && access == AccessKind::Read,
    }
}

/// The candidates in words.
pub(super) fn entry(view: &View<'_>, fault: &Fault) -> Option<Entry> {
    let found = find(view, fault)?;
    let line = |candidate: &CandidateFacts| {
        let CandidateFacts {
            address,
            word,
            text,
            program,
            source,
        } = candidate;
        let line = source
            .as_ref()
            .map_or_else(String::new, |line| format!(", {line}"));
        format!("{address:#x}: {word:016x} {text}, of the program at {program:#x}{line}")
    };
    Some(match found.as_slice() {
        [] => Entry::new(
            "instruction",
            "unknown: no program of the last jobs makes such an access",
        ),
        [only] => Entry::new("instruction", line(only)),
        several => {
            let text = format!(
                "one of {}: registers name no program counter",
                several.len()
            );
            let mut entry = Entry::new("instruction", text);
            for candidate in several.iter().take(MOST) {
                entry.push(Entry::line(line(candidate)));
            }
            if several.len() > MOST {
                entry.note("more", format!("{} are not shown", several.len() - MOST));
            }
            entry
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_accesses_choose_instructions() {
        let cache = Some("load/store cache");
        assert!(makes(Kind::Store, AccessKind::Write, cache));
        assert!(!makes(Kind::Load, AccessKind::Write, cache));
        assert!(makes(Kind::Load, AccessKind::Read, cache));
        assert!(makes(Kind::Atomic, AccessKind::Atomic, cache));
        assert!(!makes(Kind::Texture, AccessKind::Read, cache));
        assert!(makes(Kind::Texture, AccessKind::Read, Some("texture unit")));
        assert!(makes(Kind::Texture, AccessKind::Read, None));
        assert!(!makes(Kind::Alu, AccessKind::Read, None));
    }
}
