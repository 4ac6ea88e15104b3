//! Programs: code pages, fetched once and decoded once per instruction.
//!
//! Guarantees: at most [`PAGES`] pages are kept, whatever a program jumps to.

use super::decode::{Trouble, decode};
use super::instruction::Instruction;
use crate::fabric::Fabric;
use crate::l2::Requester;
use crate::memory::{PAGE, PhysicalMemory};
use crate::mmu::{AccessKind, Refusal, Request, Source};
use alloc::boxed::Box;
use alloc::vec::Vec;
use eitri_isa::Arch;

/// Instructions of a page.
const WORDS: usize = (PAGE / 8) as usize;

/// Pages that are kept of one program.
const PAGES: usize = 32;

/// A page of code.
#[derive(Clone, Debug)]
struct CodePage {
    number: u64,
    words: Box<[u64]>,
    ready: Box<[Option<Instruction>]>,
}

/// The code of a program, as far as it was executed.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    arch: Arch,
    pages: Vec<CodePage>,
    /// The page of the last fetch.
    current: usize,
}

/// An instruction, and what was wrong with its word at its first decoding.
pub(crate) type Fetched<'a> = (&'a Instruction, Option<Trouble>);

impl Program {
    /// The generation of its instructions.
    pub(crate) fn arch(&self) -> Arch {
        self.arch
    }

    pub(crate) fn new(arch: Arch) -> Program {
        Program {
            arch,
            pages: Vec::new(),
            current: 0,
        }
    }

    /// The instruction at `pc`, which is a multiple of 8.
    ///
    /// # Errors
    /// If the page cannot be fetched.
    #[inline]
    pub(crate) fn fetch(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        space: u8,
        pc: u64,
    ) -> Result<Fetched<'_>, Refusal> {
        let number = pc / PAGE;
        if self.pages.get(self.current).map(|page| page.number) != Some(number) {
            self.current = match self.pages.iter().position(|page| page.number == number) {
                Some(index) => index,
                None => self.load(fabric, memory, space, pc)?,
            };
        }
        let index = (pc % PAGE / 8) as usize % WORDS;
        let page = &mut self.pages[self.current];
        let (arch, word) = (self.arch, page.words[index]);
        let mut trouble = None;
        let instruction = page.ready[index].get_or_insert_with(|| {
            let (instruction, problem) = decode(word, arch);
            trouble = problem;
            instruction
        });
        Ok((instruction, trouble))
    }

    /// The instruction at `pc`, a multiple of 8, if it lies in the page of the last fetch and was executed before.
    #[inline]
    pub(crate) fn decoded(&self, pc: u64) -> Option<&Instruction> {
        let page = self.pages.get(self.current)?;
        if page.number != pc / PAGE {
            return None;
        }
        page.ready.get((pc % PAGE / 8) as usize)?.as_ref()
    }

    fn load(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        space: u8,
        pc: u64,
    ) -> Result<usize, Refusal> {
        let request = Request {
            space,
            address: pc,
            kind: AccessKind::Execute,
            source: Source::Core(0),
        };
        let frame = fabric.translate(memory, request)? / PAGE * PAGE;
        let mut bytes = [0; PAGE as usize];
        fabric
            .load(memory, Requester::Other, frame, &mut bytes)
            .map_err(|error| fabric.bus_error(request, error))?;
        let words = bytes
            .chunks_exact(8)
            .map(|word| {
                word.iter()
                    .rev()
                    .fold(0, |value, byte| value << 8 | u64::from(*byte))
            })
            .collect();
        if self.pages.len() == PAGES {
            self.pages.clear();
        }
        self.pages.push(CodePage {
            number: pc / PAGE,
            words,
            ready: alloc::vec![None; WORDS].into_boxed_slice(),
        });
        Ok(self.pages.len() - 1)
    }
}
