//! Instructions of machine IR.

use smallvec::{SmallVec, smallvec};

use super::op::{AtomicKind, Condition, Effect, Op, Type};
use super::operand::{Operand, Source};
use super::register::Class;
use super::{Ir3, Word, Words};
use crate::ir::{Combine, ScanForm};
use crate::machine::{self, BlockId, Location, SpillAccess};

/// What an instruction reads. Few have more than three.
pub(crate) type Sources = SmallVec<[Source; 3]>;

/// Memory that an access touches; accesses to different spaces never meet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Space {
    /// Read-only for the whole dispatch.
    Constant,
    /// Storage buffers, and all that has an address.
    Buffer,
    /// Memory of the workgroup.
    Shared,
    /// The program's own variables in private memory.
    Private,
    /// Spilled words in private memory.
    Spill,
}

/// Waits for what is outstanding, before the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct Sync {
    /// For results of short latency, and for sources that are still to be read.
    pub(crate) ss: bool,
    /// For results of long latency.
    pub(crate) sy: bool,
}

/// What the operands of a texture instruction have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct TextureFlags {
    /// Three coordinates, not two.
    pub(crate) three: bool,
    /// A layer.
    pub(crate) arrayed: bool,
    /// A reference that texels are compared with.
    pub(crate) compare: bool,
    /// Offsets in texels.
    pub(crate) offset: bool,
}

/// A machine instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Instr {
    pub(crate) op: Op,
    /// Words written: the destination, or a run of them.
    pub(crate) dests: Words,
    pub(crate) sources: Sources,
    /// The run of words that is stored, or that an atomic works with; of textures, what stands behind the coordinates.
    pub(crate) data: Words,
    /// The run of words that says where a texel is.
    pub(crate) coordinates: Words,
    /// What those of a texture instruction have.
    pub(crate) texture: TextureFlags,
    /// Whether sources are half registers.
    pub(crate) half: bool,
    /// What the element of an access is, or what a move makes of what: from, to.
    pub(crate) types: Option<(Type, Type)>,
    pub(crate) condition: Option<Condition>,
    /// A compare whose result is a predicate: it stays in the block that asks it.
    pub(crate) predicate: bool,
    pub(crate) atomic: Option<AtomicKind>,
    /// What a scan does.
    pub(crate) scan: Option<(Combine, ScanForm)>,
    /// The set of the descriptor, which is the number of its bindless base.
    pub(crate) set: Option<u8>,
    /// Bytes that are added to an address; of `ldc`, the component.
    pub(crate) offset: i32,
    /// Clamps a float to 0 and 1.
    pub(crate) saturate: bool,
    /// A conversion to halves rounds to nearest even, not to zero.
    pub(crate) round_even: bool,
    /// Of a branch: on the opposite of the predicate.
    pub(crate) not: bool,
    /// Where a branch goes; only after `lower_branches`.
    pub(crate) target: Option<BlockId>,
    /// Memory that it accesses, or of a fence orders: without one, all that other waves see.
    pub(crate) space: Option<Space>,
    /// Whether it stays in order with the other volatile accesses.
    pub(crate) volatile: bool,
    /// Times that it runs again, each time with the next registers.
    pub(crate) repeat: u8,
    /// Idle slots after it.
    pub(crate) nops: u8,
    pub(crate) sync: Sync,
    /// Lanes that wait here join.
    pub(crate) join: bool,
    pub(crate) location: Location,
}

impl Instr {
    /// `op` with nothing on it.
    pub(crate) fn new(op: Op) -> Instr {
        Instr {
            op,
            dests: Words::new(),
            sources: Sources::new(),
            data: Words::new(),
            coordinates: Words::new(),
            texture: TextureFlags::default(),
            half: false,
            types: None,
            condition: None,
            predicate: false,
            atomic: None,
            scan: None,
            set: None,
            offset: 0,
            saturate: false,
            round_even: false,
            not: false,
            target: None,
            space: None,
            volatile: false,
            repeat: 0,
            nops: 0,
            sync: Sync::default(),
            join: false,
            location: Location::default(),
        }
    }

    /// `op` on full registers, into one.
    pub(crate) fn on(op: Op, sources: &[Source]) -> Instr {
        Instr {
            sources: Sources::from_slice(sources),
            ..Instr::new(op)
        }
    }

    /// A copy of a word of this class.
    pub(crate) fn copy(to: Word, from: Word, class: Class) -> Instr {
        Instr::moved(to, Source::word(from), class)
    }

    /// A move of anything into a word of this class.
    pub(crate) fn moved(to: Word, from: Source, class: Class) -> Instr {
        let ty = match class {
            Class::Half => Type::U16,
            Class::Full | Class::Shared | Class::Predicate => Type::U32,
        };
        Instr {
            dests: smallvec![to],
            half: class == Class::Half,
            ..Instr::converted(ty, ty, from)
        }
    }

    /// A conversion that has no destination yet.
    pub(crate) fn converted(from: Type, to: Type, source: Source) -> Instr {
        Instr {
            half: from.is_half(),
            types: Some((from, to)),
            ..Instr::on(Op::Move, &[source])
        }
    }

    /// The same with a destination.
    pub(crate) fn to(self, dest: Word) -> Instr {
        Instr {
            dests: smallvec![dest],
            ..self
        }
    }

    /// Whether it only orders, joins or waits.
    pub(crate) fn is_nop(&self) -> bool {
        self.op == Op::Nop
    }
}

impl machine::Instruction for Instr {
    type Machine = Ir3;
    /// Its text, without what it writes and where it comes from: that says everything that it has.
    type Repeat = String;

    fn reads(&self) -> impl Iterator<Item = Word> {
        let sources = self.sources.iter();
        sources
            .flat_map(|source| source.operand.read_words())
            .chain(self.data.iter().copied())
            .chain(self.coordinates.iter().copied())
    }

    fn writes(&self) -> impl Iterator<Item = Word> {
        self.dests.iter().copied()
    }

    fn map_reads(&mut self, mut change: impl FnMut(Word) -> Word) {
        for source in &mut self.sources {
            source.operand = source.operand.with_words(&mut change);
        }
        let runs = self.data.iter_mut().chain(&mut self.coordinates);
        runs.for_each(|word| *word = change(*word));
    }

    fn map_writes(&mut self, mut change: impl FnMut(Word) -> Word) {
        self.dests.iter_mut().for_each(|word| *word = change(*word));
    }

    fn groups(&self) -> impl Iterator<Item = Words> {
        let pairs = self
            .sources
            .iter()
            .filter_map(|source| match source.operand {
                Operand::Pair(low, high) => Some(smallvec![low, high]),
                _ => None,
            });
        let runs: SmallVec<[Words; 2]> = match self.op {
            // One vector: the result, the value, and what is expected.
            op if op.is_descriptor_atomic() => {
                smallvec![self.dests.iter().chain(&self.data).copied().collect()]
            }
            // What they write beside their result is for themselves.
            op if op.is_sequence() => SmallVec::new(),
            _ => smallvec![self.dests.clone(), self.data.clone()],
        };
        let runs = runs.into_iter().chain([self.coordinates.clone()]);
        runs.filter(|run| run.len() > 1).chain(pairs)
    }

    fn map_bound_reads(&mut self, mut change: impl FnMut(Word) -> Word) {
        for source in &mut self.sources {
            if let Operand::Pair(..) = source.operand {
                source.operand = source.operand.with_words(&mut change);
            }
        }
        if self.data.len() > 1 || self.op.is_descriptor_atomic() {
            self.data.iter_mut().for_each(|word| *word = change(*word));
        }
        if self.coordinates.len() > 1 {
            let words = self.coordinates.iter_mut();
            words.for_each(|word| *word = change(*word));
        }
    }

    fn late_reads(&self) -> impl Iterator<Item = Word> {
        // Several instructions in the end: what they write they write before the last has read.
        let late = self.op.is_sequence();
        self.sources
            .iter()
            .filter(move |_| late)
            .flat_map(|source| source.operand.read_words())
    }

    fn as_copy(&self) -> Option<(Word, Word)> {
        let (from_type, to_type) = self.types.filter(|_| self.op == Op::Move)?;
        match (self.dests.as_slice(), self.sources.as_slice()) {
            (&[to], [source]) if source.is_plain() && from_type == to_type => {
                match source.operand {
                    Operand::Word(from) => Some((to, from)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn location(&self) -> Location {
        self.location
    }

    fn jumps_to(&self) -> Option<BlockId> {
        self.target
    }

    fn stays_unread(&self) -> bool {
        // The IR has removed the loads that may go.
        self.op.effect() != Effect::Pure && self.op.effect() != Effect::Lanes
    }

    fn may_move(&self) -> bool {
        self.op.effect() == Effect::Pure && !self.predicate
    }

    fn repeats(&self) -> Option<String> {
        let width = if self.half { "half" } else { "full" };
        let bare = Instr {
            dests: Words::new(),
            location: Location::default(),
            ..self.clone()
        };
        (self.op.effect() == Effect::Pure).then(|| format!("{width} {bare}"))
    }

    fn may_repeat(&self) -> bool {
        self.op.effect() != Effect::Lanes && self.op.effect() != Effect::Order
    }

    fn is_cross_lane(&self) -> bool {
        self.op.effect() == Effect::Lanes
    }

    fn may_wait(&self) -> bool {
        match self.op.effect() {
            Effect::Store => !self.dests.is_empty(),
            Effect::Load => self.volatile,
            _ => false,
        }
    }

    fn may_be_remade(&self) -> bool {
        let fixed =
            |source: &Source| matches!(source.operand, Operand::Immediate(_) | Operand::Const(_));
        self.op == Op::Move && self.sources.iter().all(fixed)
    }

    fn makes_same(&self, other: &Instr) -> bool {
        (self.op, &self.sources, self.types) == (other.op, &other.sources, other.types)
    }

    fn located(self, location: Location) -> Instr {
        Instr { location, ..self }
    }

    fn spill_access(&self) -> Option<SpillAccess<Ir3>> {
        let offset = u32::try_from(self.offset).ok()?;
        match (self.space?, self.dests.as_slice(), self.data.as_slice()) {
            (Space::Spill, [], &[from]) => Some(SpillAccess::Store { offset, from }),
            (Space::Spill, &[to], []) => Some(SpillAccess::Load { offset, to }),
            _ => None,
        }
    }

    fn note(&self) -> Option<usize> {
        let number = usize::try_from(self.offset).ok();
        number.filter(|_| self.op == Op::Note)
    }
}
