//! What a back end says of its machine: the traits that its machine IR implements.

use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::ops::Range;

use smallvec::SmallVec;

use super::function::{BlockId, Function, Location, Value, Word};

/// A word of machine `M`.
pub(crate) type WordOf<M> = Word<<M as Machine>::Register>;

/// A run of words of machine `M`. Most are single or pairs, and then need no memory for them.
pub(crate) type WordsOf<M> = SmallVec<[WordOf<M>; 2]>;

/// Two words of machine `M`: what is written, and what it comes from.
pub(crate) type ToFrom<M> = (WordOf<M>, WordOf<M>);

/// A word of machine `M` that is made of others side by side, and they.
pub(crate) type Gather<M> = (WordOf<M>, WordsOf<M>);

/// A value that an instruction copies into another, from one of its units on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CopiedPart {
    pub(crate) to: Value,
    /// The unit of `to` where the first of `from` goes.
    pub(crate) unit: usize,
    pub(crate) from: Value,
}

/// All that an instruction does, if that is to copy values. Most that do copy one.
pub(crate) type Copies = SmallVec<[CopiedPart; 2]>;

/// A machine, as the passes that all back ends share see it.
pub(crate) trait Machine: Copy + Eq + Debug + 'static {
    /// What holds a value in the end.
    type Register: Register<Class = Self::Class>;
    /// Kinds of values.
    type Class: Class;
    type Instr: Instruction<Machine = Self>;
    /// What a phi chooses from.
    type Operand: Reads<Self::Register>;
    /// What a branch asks.
    type Condition: Reads<Self::Register>;
    /// What functions of this machine have beside code; printed before it, each line with its end.
    type Extra: Clone + Eq + Debug + Display + Default;

    /// Units of the longest run that coalescing may build: twice the longest payload is good.
    const WIDEST: usize;
    /// A group begins at a multiple of so many units, a power of two, whatever its classes ask.
    const GROUP_UNITS: usize;
    /// Bytes of a thread's memory that spill slots may reach.
    const SPILL_REACH: u32;

    /// A copy of one word, of this class, to another.
    fn copy(
        to: WordOf<Self>,
        from: WordOf<Self>,
        class: Self::Class,
        location: Location,
    ) -> Self::Instr;

    /// A move of what a phi chooses to the value, of this class, that stands for the phi.
    fn move_operand(
        to: Value,
        class: Self::Class,
        from: Self::Operand,
        extra: &Self::Extra,
    ) -> Self::Instr;

    /// A value, as what a phi chooses from.
    fn value_operand(value: Value) -> Self::Operand;

    /// Appends what puts a value into a spill slot. The last instruction is the one that says so by
    /// [`Instruction::spill_access`]; what it needs of its own is in values that `fresh` makes.
    fn spill(
        slot: SpillSlot<Self>,
        fresh: &mut impl FnMut(Self::Class) -> Value,
        out: &mut Vec<Self::Instr>,
    );

    /// Appends what brings a value back from a spill slot.
    fn reload(
        slot: SpillSlot<Self>,
        fresh: &mut impl FnMut(Self::Class) -> Value,
        out: &mut Vec<Self::Instr>,
    );

    /// A note that keeps the place of a copy between two values of one spill slot, which needs no instruction: it does
    /// nothing, and is gone after allocation. [`Instruction::note`] gives its number back.
    fn note(number: usize, location: Location) -> Self::Instr;
}

/// A value, and its place in a thread's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SpillSlot<M: Machine> {
    /// Bytes from the start, a multiple of 4; the slot has 4.
    pub(crate) offset: u32,
    pub(crate) value: Value,
    pub(crate) class: M::Class,
    pub(crate) location: Location,
}

/// What an instruction does with a spill slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SpillAccess<M: Machine> {
    Store { offset: u32, from: WordOf<M> },
    Load { offset: u32, to: WordOf<M> },
}

/// A kind of values: how many registers there are that may hold one, and where.
///
/// Registers are counted in *units*: the smallest that any of them consists of. Files of registers that never alias
/// have units of their own, one file behind the other.
pub(crate) trait Class: Copy + Eq + Hash + Debug {
    /// Units that a value takes, a power of two. The number of its first unit is a multiple of it.
    fn units(self) -> usize;

    /// The units that values of this class may lie in: from one multiple of [`Self::units`] to another.
    fn span(self) -> Range<usize>;

    /// Whether the allocator may keep such values in memory when registers run out.
    fn may_spill(self) -> bool;

    /// The name in the text of machine IR; none of the usual class.
    fn name(self) -> Option<&'static str>;
}

/// A register of the machine.
pub(crate) trait Register: Copy + Ord + Debug + Display {
    type Class: Class;

    /// The kind of values that it holds.
    fn class(self) -> Self::Class;

    /// Its first unit.
    fn unit(self) -> usize;

    /// The register for values of `class` that begins at a unit, if there is one.
    fn at(class: Self::Class, unit: usize) -> Option<Self>;
}

/// What reads words and is no instruction.
pub(crate) trait Reads<R>: Clone + Eq + Debug + Display {
    /// Every word read.
    fn words(&self) -> impl Iterator<Item = Word<R>>;

    /// Calls `change` on every word read.
    fn map_words(&mut self, change: impl FnMut(Word<R>) -> Word<R>);
}

/// An instruction of machine IR.
pub(crate) trait Instruction: Clone + Eq + Debug + Display {
    type Machine: Machine<Instr = Self>;
    /// What two instructions have in common that give the same.
    type Repeat: Eq + Hash;

    /// Every word read.
    fn reads(&self) -> impl Iterator<Item = WordOf<Self::Machine>>;

    /// Every word written.
    fn writes(&self) -> impl Iterator<Item = WordOf<Self::Machine>>;

    /// Calls `change` on every word read.
    fn map_reads(&mut self, change: impl FnMut(WordOf<Self::Machine>) -> WordOf<Self::Machine>);

    /// Calls `change` on every word written.
    fn map_writes(&mut self, change: impl FnMut(WordOf<Self::Machine>) -> WordOf<Self::Machine>);

    /// The runs of words that must lie in consecutive registers. One run may hold words that are written and words that
    /// are read.
    fn groups(&self) -> impl Iterator<Item = WordsOf<Self::Machine>>;

    /// Calls `change` on every word that is read as a part of a group, or that is tied to one that is written.
    fn map_bound_reads(
        &mut self,
        change: impl FnMut(WordOf<Self::Machine>) -> WordOf<Self::Machine>,
    );

    /// The values that it only copies into units of another one.
    fn copies(&self, function: &Function<Self::Machine>) -> Copies {
        let part = |unit: usize, to: WordOf<Self::Machine>, from: WordOf<Self::Machine>| {
            let (to, from) = (to.value()?, from.value()?);
            Some(CopiedPart { to, unit, from })
        };
        if let Some((to, from)) = self.as_copy() {
            return part(0, to, from).into_iter().collect();
        }
        let Some((to, words)) = self.as_gather() else {
            return Copies::new();
        };
        let mut filled = 0;
        let parts = words.into_iter().map(|from| {
            let unit = filled;
            filled += function.class_of(from).units();
            part(unit, to, from)
        });
        let parts: Option<Copies> = parts.collect();
        let fills = filled == function.class_of(to).units();
        parts.filter(|_| fills).unwrap_or_default()
    }

    /// Words written, each with the word read that must be the same register.
    fn ties(&self) -> impl Iterator<Item = ToFrom<Self::Machine>> {
        std::iter::empty()
    }

    /// Words that must lie in one register and no other, read ones among those that [`Self::map_bound_reads`] changes.
    fn fixed(
        &self,
    ) -> impl Iterator<Item = (WordOf<Self::Machine>, <Self::Machine as Machine>::Register)> {
        std::iter::empty()
    }

    /// Registers that hold nothing that is known any more when it is done.
    fn clobbers(&self) -> impl Iterator<Item = <Self::Machine as Machine>::Register> {
        std::iter::empty()
    }

    /// Of the words read, those that are still read when some of the words written have been written: they can't share
    /// a register with any of those.
    fn late_reads(&self) -> impl Iterator<Item = WordOf<Self::Machine>>;

    /// `(to, from)` when this only copies one word to another of its class.
    fn as_copy(&self) -> Option<ToFrom<Self::Machine>>;

    /// A concatenation: the wide word and its parts, lowest first. None if this is another instruction, or if the parts do
    /// not fill the word.
    fn as_gather(&self) -> Option<Gather<Self::Machine>> {
        None
    }

    /// Where in the source it comes from.
    fn location(&self) -> Location;

    /// Where a branch goes; of a program whose branches are instructions.
    fn jumps_to(&self) -> Option<BlockId>;

    /// Whether it stays though nobody reads what it writes.
    fn stays_unread(&self) -> bool;

    /// Whether it may run where it would not have run, and as often as it likes: it touches no memory, and gives the
    /// same for the same words wherever it stands.
    fn may_move(&self) -> bool;

    /// What it has in common with others that give the same in the same block: all but what they write. None of one that
    /// gives something else each time, or does more than to give something.
    fn repeats(&self) -> Option<Self::Repeat>;

    /// Whether it may stand in the program once more, on another way to the same place.
    fn may_repeat(&self) -> bool;

    /// Whether lanes do it together, so that its result depends on which of them are there.
    fn is_cross_lane(&self) -> bool;

    /// Whether lanes may wait for one another by what it reads: memory that is read anew each time, by an atomic too.
    fn may_wait(&self) -> bool;

    /// Whether making it again costs no more than loading its result: it reads no word, and gives the same each time.
    fn may_be_remade(&self) -> bool;

    /// Whether it makes the same as another, of which [`Self::may_be_remade`] is true.
    fn makes_same(&self, other: &Self) -> bool;

    /// The same at another place of the source.
    fn located(self, location: Location) -> Self;

    /// The spill slot that it stores to or loads from.
    fn spill_access(&self) -> Option<SpillAccess<Self::Machine>>;

    /// The number of a note that [`Machine::note`] made.
    fn note(&self) -> Option<usize>;

    /// Every value read.
    fn read_values(&self) -> impl Iterator<Item = Value> {
        self.reads().filter_map(Word::value)
    }

    /// Every value written.
    fn written_values(&self) -> impl Iterator<Item = Value> {
        self.writes().filter_map(Word::value)
    }
}
