//! Programs: code pages, fetched once and decoded once per instruction.
//!
//! Guarantees: at most [`PAGES`] pages are kept, whatever a program jumps to.

use super::decode::Trouble;
use super::float::FloatPolicy;
use super::host_code::{HostCode, Section, Translator};
use super::instruction::Instruction;
use crate::fabric::Fabric;
use crate::l2::Requester;
use crate::memory::{PAGE, PhysicalMemory};
use crate::mmu::{AccessKind, Refusal, Request, Source};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use eitri_isa::Arch;

/// Instructions of a page.
pub(super) const WORDS: usize = (PAGE / 8) as usize;

/// Pages that are kept of one program.
const PAGES: usize = 32;

/// Instructions of a page that are executed before its host code is asked for, and between one request and the next.
const HOT: u64 = 4096;

/// A page of code.
#[derive(Clone, Debug)]
struct CodePage {
    number: u64,
    /// The instruction that was executed first.
    start: usize,
    /// Instructions of it that were executed in runs, and how many it must be until host code is asked for.
    heat: u64,
    asks_at: u64,
    host_code: Option<Arc<dyn HostCode>>,
    words: Box<[u64]>,
    /// Of each word the number of its instruction in the program and 1; 0 before it is decoded.
    decoded: Box<[u16; WORDS]>,
}

impl CodePage {
    fn section(&self, arch: Arch, policy: FloatPolicy) -> Section<'_> {
        Section {
            arch,
            policy,
            words: &self.words,
            start: self.start,
        }
    }
}

/// The code of a program, as far as it was executed.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    arch: Arch,
    pages: Vec<CodePage>,
    /// Instructions of all pages, in the order of their first execution.
    instructions: Vec<Instruction>,
    /// The page of the last fetch.
    current: usize,
    /// Pages that were fetched so far.
    loads: u64,
    /// Whether an instruction reads what depends on the core that executes it.
    depends_on_core: bool,
}

/// The decoded instructions of a page.
#[derive(Clone, Copy)]
pub(crate) struct Decoded<'a> {
    number: u64,
    decoded: &'a [u16; WORDS],
    instructions: &'a [Instruction],
}

impl<'a> Decoded<'a> {
    /// The instruction at `pc`, a multiple of 8, if it lies in the page and was executed before.
    #[inline(always)]
    pub(crate) fn decoded(&self, pc: u64) -> Option<&'a Instruction> {
        if pc / PAGE != self.number {
            return None;
        }
        let number = self.decoded[(pc / 8) as usize % WORDS];
        self.instructions.get(usize::from(number).wrapping_sub(1))
    }
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
            instructions: Vec::new(),
            current: 0,
            loads: 0,
            depends_on_core: false,
        }
    }

    /// Pages that were fetched so far.
    pub(crate) fn loads(&self) -> u64 {
        self.loads
    }

    /// Whether an instruction that was executed so far reads what depends on the core that executes it.
    pub(crate) fn depends_on_core(&self) -> bool {
        self.depends_on_core
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
        if !self.go_on_at(pc) {
            self.current = self.load(fabric, memory, space, pc)?;
        }
        let index = (pc % PAGE / 8) as usize % WORDS;
        let page = &mut self.pages[self.current];
        let mut trouble = None;
        if page.decoded[index] == 0 {
            let (instruction, problem) = fabric.decoded.decode(page.words[index], self.arch);
            trouble = problem;
            self.depends_on_core |= instruction.depends_on_core();
            self.instructions.push(*instruction);
            // At most as many as `PAGES` have words: far below 65,536.
            page.decoded[index] = self.instructions.len() as u16;
        }
        let number = usize::from(page.decoded[index]) - 1;
        Ok((&self.instructions[number], trouble))
    }

    /// Goes on at `pc`, if its page was fetched before; whether it was.
    #[inline]
    pub(super) fn go_on_at(&mut self, pc: u64) -> bool {
        let is_there = |page: &CodePage| page.number == pc / PAGE;
        if self.pages.get(self.current).is_some_and(is_there) {
            return true;
        }
        let other = self.pages.iter().position(is_there);
        self.current = other.unwrap_or(self.current);
        other.is_some()
    }

    /// What was decoded so far of the page of the last fetch, if `pc` lies in it.
    #[inline]
    pub(crate) fn page(&self, pc: u64) -> Option<Decoded<'_>> {
        let page = self.pages.get(self.current)?;
        let number = pc / PAGE;
        (page.number == number).then_some(Decoded {
            number,
            decoded: &page.decoded,
            instructions: &self.instructions,
        })
    }

    /// Whether a turn may end behind the instruction at `pc`, which was the last to be fetched.
    #[inline]
    pub(super) fn ends_block(&self, pc: u64) -> bool {
        let page = self.page(pc);
        let instruction = page.as_ref().and_then(|page| page.decoded(pc));
        instruction.is_none_or(Instruction::ends_block)
    }

    /// The host code of the page of the last fetch, if `pc` lies in it.
    #[inline]
    pub(super) fn host_code(&self, pc: u64) -> Option<&Arc<dyn HostCode>> {
        let page = self.pages.get(self.current)?;
        (page.number == pc / PAGE)
            .then_some(page.host_code.as_ref())
            .flatten()
    }

    /// Whether host code of the page of the last fetch is to be asked for: at its first execution, and when many instructions more
    /// were executed without.
    #[inline]
    pub(super) fn wants_host_code(&mut self, executed: u64) -> bool {
        let Some(page) = self.pages.get_mut(self.current) else {
            return false;
        };
        page.heat += executed;
        page.host_code.is_none() && page.heat >= page.asks_at
    }

    /// Asks for host code of the page of the last fetch; at its first execution for what was made for another job.
    #[cold]
    pub(super) fn ask_for_host_code(&mut self, translator: &dyn Translator, policy: FloatPolicy) {
        let Some(page) = self.pages.get_mut(self.current) else {
            return;
        };
        let is_first = page.asks_at == 0;
        page.asks_at = page.heat + HOT;
        let section = page.section(self.arch, policy);
        page.host_code = match is_first {
            true => translator.find(&section),
            false => translator.translate(&section),
        };
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
        // Its words are kept, whatever is written to them later.
        fabric.spoil_recording();
        self.loads += 1;
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
            self.instructions.clear();
        }
        self.pages.push(CodePage {
            number: pc / PAGE,
            start: (pc % PAGE / 8) as usize,
            heat: 0,
            asks_at: 0,
            host_code: None,
            words,
            decoded: Box::new([0; WORDS]),
        });
        Ok(self.pages.len() - 1)
    }
}
