//! Programs: the machine code that the jobs of a dump name, as words, for programs that check it.

use super::lines;
use super::map::Map;
use super::{Options, View};
use crate::read::Dump;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use eitri_cs::Arch;
use eitri_descriptors::shader::ShaderStage;

/// Most words that are taken of a program.
const MOST_WORDS: usize = 1 << 16;

/// A program in a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFacts {
    /// The generation.
    pub arch: Arch,
    /// The address space.
    pub space: u8,
    /// The stage that its descriptor names.
    pub stage: ShaderStage,
    /// Address of its first instruction.
    pub address: u64,
    /// Its words, up to the first word of zeros or the end of what the dump has.
    pub words: Vec<u64>,
    /// File and line that each word comes from, where the dump has the lines of the program; else none at all.
    pub sources: Vec<Option<(String, u32)>>,
}

/// The programs that jobs of a dump name, each once, by address space and address. Frame shaders, and blend shaders that only
/// descriptors name, are not among them.
pub fn programs(dump: &Dump<'_>) -> Vec<ProgramFacts> {
    let view = View::new(dump, Options { all: true });
    super::stream::entries(&view, &[]);
    let mut programs = view.programs.into_inner();
    programs.sort_by_key(|program| (program.space, program.address));
    programs
}

/// Takes the words of a program, if it is new and the dump has any.
pub(super) fn keep(view: &View<'_>, map: &Map, stage: ShaderStage, address: u64) {
    let mut programs = view.programs.borrow_mut();
    let space = map.space.number;
    let known = |program: &ProgramFacts| (program.space, program.address) == (space, address);
    let Some(arch) = view.arch else { return };
    if programs.iter().any(known) {
        return;
    }
    let mut words = Vec::new();
    for at in (address..).step_by(8).take(MOST_WORDS) {
        let mut bytes = [0; 8];
        let word = view.read(&map.space, at, &mut bytes);
        match word.map(|()| u64::from_le_bytes(bytes)) {
            Ok(0) | Err(_) => break,
            Ok(word) => words.push(word),
        }
    }
    if !words.is_empty() {
        let known = lines::of_program(view, map, address);
        let sources = known.iter().flat_map(|code| code.lines());
        let owned = sources.map(|place| place.map(|(file, line)| (file.to_owned(), line)));
        let sources = owned.collect();
        programs.push(ProgramFacts {
            arch,
            space,
            stage,
            address,
            words,
            sources,
        });
    }
}
