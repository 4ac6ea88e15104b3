//! Host code: what a translator of shaders needs of the model, and what the model needs of it.
//!
//! The model executes every instruction by itself. A host that can make code of its own processor at run time may give the model a
//! [`Translator`] ([`crate::Engine`]): it gets the code that is hot and may hand back a [`HostCode`], which from then on executes
//! instructions between messages. What an instruction means stands in `alu`; translated code does the same, bit for bit.
//!
//! Guarantees: registers, lanes, counters, time and diagnoses are those of single steps, whenever translated code arrives.
//! Never: unsafe code; whoever translates has it.

pub use super::alu::{
    Alu, Arithmetic, Bits, Combine, Compare, Condition, Convert, FloatType, FlushNan, Integer,
    Logic, MuxMode, Reduction, ResultType, RscaleMode, Shift, ShiftKind, Special, Wide,
};
pub use super::float::{Clamp, FloatPolicy, Round};
pub use super::instruction::{From, Source, Test, WideSource};
pub use super::lanes::{Lanes, Part, WARP};
pub use super::select::{Extend, Select, SelectWide};
pub use super::trial::{Left, Trial};
pub use super::warp::Warp;
pub use eitri_isa::{Arch, Flow, Half, Special as SpecialValue};

use super::decode::decode;
use super::execute::{compute, compute_wide, of_lanes};
use super::flow::branch;
use super::instruction::{Instruction, Operation};
use super::messages::{Around, Memory};
use super::registers::note_registers;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Debug;

/// Instructions of a page of code.
pub const PAGE_WORDS: usize = super::program::WORDS;

/// Instructions after which a turn may end in the middle of a run: at every multiple.
pub const STRIDE: usize = 32;

/// Makes host code of shaders. One is shared by everything in the process that executes shaders.
pub trait Translator: Debug + Send + Sync {
    /// The code of a section if it was translated before; takes little time. A job asks once for each page, when it comes to it.
    fn find(&self, section: &Section<'_>) -> Option<Arc<dyn HostCode>>;

    /// Asks for the code of a section that is hot. `None`: not yet, or never; the model asks again when it has become hotter.
    fn translate(&self, section: &Section<'_>) -> Option<Arc<dyn HostCode>>;
}

/// Translated code.
pub trait HostCode: Debug + Send + Sync {
    /// Whether it can begin at the instruction with this number in its page.
    fn begins_at(&self, place: usize) -> bool;

    /// Executes from the warp's place on, as long as `running` allows and nothing but steps comes. Returns whether the warp's turn may
    /// end there.
    fn run(&self, running: &mut Running<'_>) -> bool;
}

/// Code that is to be translated: what can be reached from an instruction in its page.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// The generation of the instructions.
    pub arch: Arch,
    /// How floats are treated.
    pub policy: FloatPolicy,
    /// The page's words.
    pub words: &'a [u64],
    /// Number of the instruction that was executed first.
    pub start: usize,
}

impl Section<'_> {
    /// The instructions that can be reached without leaving the page, by their place, as far as host code may execute them; in the
    /// place of another stands `None`.
    pub fn steps(&self) -> BTreeMap<usize, Option<Step>> {
        let mut steps = BTreeMap::new();
        let mut open = Vec::from([self.start]);
        while let Some(place) = open.pop() {
            let Some(word) = self.words.get(place) else {
                continue;
            };
            if steps.contains_key(&place) {
                continue;
            }
            let (instruction, trouble) = decode(*word, self.arch);
            let ends = match instruction.operation {
                Operation::Branch { .. } => false,
                Operation::Kaboom | Operation::Invalid | Operation::NotModelled => true,
                Operation::BranchTo { .. } => true,
                _ => instruction.flow == Flow::End,
            };
            if !ends {
                open.push(place + 1);
            }
            if let Operation::Branch { offset, .. } = instruction.operation {
                open.extend((place + 1).checked_add_signed(offset as isize));
            }
            // What is wrong with a word is reported when the model decodes it itself.
            let computes = instruction.is_straight && !reads_other_special(&instruction);
            let translates = (computes || instruction.may_be_direct)
                && trouble.is_none()
                && !instruction.repeats_a_last_use();
            steps.insert(place, translates.then_some(Step(instruction)));
        }
        steps
    }
}

/// Whether a source is a special value that [`Running`] does not have.
fn reads_other_special(instruction: &Instruction) -> bool {
    let narrow = instruction.sources.iter().map(|source| source.from);
    let wide = instruction.wide.iter().map(|source| source.from);
    narrow.chain(wide).any(|from| match from {
        From::Special(special, _) => !matches!(
            special,
            SpecialValue::LaneId
                | SpecialValue::WorkgroupLocalPointer
                | SpecialValue::ThreadLocalPointer
        ),
        _ => false,
    })
}

impl Instruction {
    /// Whether a register dies that the instruction writes: a case for single steps.
    fn repeats_a_last_use(&self) -> bool {
        self.last_use & self.writes != 0 && self.last_use & !self.reads != 0
    }
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Does {
    /// Nothing but its flow control.
    Nothing,
    /// Computes 32 bits.
    Alu(Alu),
    /// Computes 64 bits.
    Wide(Wide),
    /// Computes from what other lanes hold ([`Running::compute`]).
    OfLanes,
    /// Sends a message ([`Running::send`]).
    Message,
    /// Branches by a number of instructions.
    Branch {
        /// What of the source is tested.
        test: Test,
        /// Lanes go for which the test does not hold.
        if_zero: bool,
        /// From the following instruction on.
        offset: i32,
    },
}

/// An instruction that host code may execute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step(Instruction);

impl Step {
    /// What it does.
    pub fn does(&self) -> Does {
        match self.0.operation {
            Operation::Alu(alu) => Does::Alu(alu),
            Operation::Wide(wide) => Does::Wide(wide),
            Operation::Branch {
                test,
                if_zero,
                offset,
            } => Does::Branch {
                test,
                if_zero,
                offset,
            },
            Operation::Message(_) => Does::Message,
            Operation::LaneMask { .. } | Operation::OtherLane { .. } => Does::OfLanes,
            _ => Does::Nothing,
        }
    }

    /// Its 32-bit sources.
    pub fn sources(&self) -> &[Source; 4] {
        &self.0.sources
    }

    /// Its 64-bit sources.
    pub fn wide_sources(&self) -> &[WideSource; 3] {
        &self.0.wide
    }

    /// How many sources it has.
    pub fn source_count(&self) -> usize {
        self.0.source_count.into()
    }

    /// The register that it writes, and which bits.
    pub fn destination(&self) -> (u8, u32) {
        (self.0.dest & 63, self.0.mask)
    }

    /// Its flow control.
    pub fn flow(&self) -> Flow {
        self.0.flow
    }

    /// Registers that it reads, a bit a register.
    pub fn reads(&self) -> u64 {
        self.0.reads
    }

    /// Registers that it writes.
    pub fn writes(&self) -> u64 {
        self.0.writes
    }

    /// Registers that are dead afterwards.
    pub fn last_use(&self) -> u64 {
        self.0.last_use
    }

    /// What it adds to [`Running::issued`].
    pub fn issued(&self) -> u64 {
        self.0.issued.bits()
    }

    /// The instruction's word.
    pub fn word(&self) -> u64 {
        self.0.word
    }

    /// The number of uniform words that it needs to be there.
    pub fn uniforms(&self) -> usize {
        let narrow = self.0.sources.iter().map(|source| (source.from, false));
        let wide = self.0.wide.iter().map(|source| (source.from, true));
        let needed = narrow.chain(wide).map(|(from, wide)| match from {
            From::Uniform(index) => usize::from(index | u8::from(wide)) + 1,
            _ => 0,
        });
        needed.max().unwrap_or(0)
    }

    /// Whether a turn may end behind it, wherever it stands.
    pub fn ends_block(&self) -> bool {
        self.0.ends_block()
    }
}

/// A warp whose instructions host code executes, and what it may ask of the model.
pub struct Running<'a> {
    /// The warp.
    pub warp: &'a mut Warp,
    /// Address of the page of code.
    pub page: u64,
    /// The turn: from so many instructions on it ends where it may.
    pub wanted: u64,
    /// No instruction is executed beyond so many.
    pub most: u64,
    /// Instructions executed.
    pub executed: u64,
    /// Those of them that not all live lanes executed.
    pub diverged: u64,
    /// Cycles of issue by unit ([`Step::issued`]).
    pub issued: u64,
    pub(super) around: Around<'a>,
    pub(super) memory_unit: &'a mut Memory,
    /// Whether messages may be sent.
    pub(super) sends: bool,
    pub(super) buffers: &'a mut [Lanes; 4],
}

impl Running<'_> {
    /// Registers that the program has, a bit a register.
    pub fn allocated(&self) -> u64 {
        self.around.environment.allocated
    }

    /// The uniform words.
    pub fn uniforms(&self) -> &[u32] {
        &self.around.environment.uniforms
    }

    /// The workgroup's memory: the special value of its pointer.
    pub fn workgroup_memory(&self) -> u64 {
        self.around.environment.workgroup_memory(self.around.place)
    }

    /// The memory of the thread in lane 0, and the bytes from one thread's to the next one's: the special value of a thread's pointer.
    pub fn thread_memory(&self) -> (u64, u64) {
        let environment = self.around.environment;
        environment.thread_memory(self.warp, self.around.place)
    }

    /// Computes what a step computes, in the running lanes.
    pub fn compute(&mut self, step: &Step) {
        let Around {
            fabric,
            environment,
            place,
            ..
        } = &mut self.around;
        let around = (*environment, *place);
        match step.0.operation {
            Operation::Alu(alu) => {
                compute(fabric, around, self.warp, &step.0, alu, self.buffers);
            }
            Operation::Wide(wide) => compute_wide(fabric, around, self.warp, &step.0, wide),
            _ => of_lanes(fabric, around, self.warp, &step.0),
        }
    }

    /// Sends a step's message from the running lanes, with all that follows but its flow control and what becomes of its registers.
    /// `false`, with nothing done, if that takes a single step.
    pub fn send(&mut self, step: &Step) -> bool {
        self.sends
            && self
                .memory_unit
                .send_directly(&mut self.around, self.warp, &step.0)
    }

    /// Whether the running lanes may use the registers in `used`, of which they read those in `read`: these hold values, and no
    /// message that the running lanes have sent and not waited for writes one of `used`.
    pub fn may_use(&self, used: u64, read: u64) -> bool {
        self.warp.may_use(used, read)
    }

    /// Notes what a run of instructions left of registers: those that it wrote, and those that are dead behind it.
    pub fn note_registers(&mut self, written: u64, dead: u64) {
        let lanes = self.warp.lanes;
        note_registers(self.warp, lanes, 0, dead);
        note_registers(self.warp, lanes, written & !dead, 0);
        self.warp.written |= written;
    }

    /// The running lanes have waited for these slots.
    pub fn wait(&mut self, slots: u8) {
        self.warp.waited(slots);
    }

    /// The lanes in `taken` go to `target`, the others on behind the instruction at the warp's place, or they end. Returns whether
    /// lanes can run, which then are the warp's.
    pub fn branch(&mut self, taken: u16, target: u64, others_end: bool) -> bool {
        let flow = if others_end { Flow::End } else { Flow::None };
        branch(self.warp, taken, flow, |_| target);
        self.warp.choose()
    }

    /// Decides anew which lanes run; whether any can.
    pub fn choose(&mut self) -> bool {
        self.warp.choose()
    }
}
