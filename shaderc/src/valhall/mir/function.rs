//! Functions of machine IR: blocks, instructions, and what the program needs from the runtime.

use std::fmt;

use smallvec::{SmallVec, smallvec};

use super::FauWord;
use super::modifier::{Flow, Modifier};
use super::op::Op;
use super::operand::{Operand, Register, Source, Space, Value, Word};
use super::verify::Form;

/// A block's place in [`Function::blocks`], which is also its place in the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct BlockId(pub(crate) u32);

impl BlockId {
    /// The block's place in tables that have an entry a block.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

/// Where in the source an instruction comes from; zero when it is not known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct Location {
    /// Index in [`Function::files`].
    pub(crate) file: u32,
    pub(crate) line: u32,
}

/// Words that an instruction reads or writes as a run. Most are single, and then need no memory for them.
pub(crate) type Words = SmallVec<[Word; 2]>;
/// What an instruction reads. Few have more than three.
pub(crate) type Sources = SmallVec<[Source; 3]>;
/// The modifiers of an instruction.
pub(crate) type Modifiers = SmallVec<[Modifier; 8]>;

/// A machine instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Instr {
    pub(crate) op: Op,
    /// Sorted, each once.
    pub(crate) modifiers: Modifiers,
    /// Words written: the destination, or a message's written run.
    pub(crate) dests: Words,
    /// A message's read run.
    pub(crate) staging: Words,
    pub(crate) sources: Sources,
    /// Offset of a message in bytes, or the constant of the `_IMM` forms.
    pub(crate) immediate: Option<i64>,
    /// Where a branch goes; only between `lower_branches` and `pack`.
    pub(crate) target: Option<BlockId>,
    /// Memory that a message touches.
    pub(crate) space: Option<Space>,
    /// Whether it stays in order with the other volatile accesses.
    pub(crate) volatile: bool,
    /// Slot that a message signals; set by `assign_slots`.
    pub(crate) slot: Option<u8>,
    pub(crate) flow: Flow,
    pub(crate) location: Location,
}

impl Instr {
    /// `op` with nothing on it.
    pub(crate) fn new(op: Op) -> Instr {
        Instr {
            op,
            modifiers: Modifiers::new(),
            dests: Words::new(),
            staging: Words::new(),
            sources: Sources::new(),
            immediate: None,
            target: None,
            space: None,
            volatile: false,
            slot: None,
            flow: Flow::None,
            location: Location::default(),
        }
    }

    /// A copy of one word to another.
    pub(crate) fn copy(to: Word, from: Word, location: Location) -> Instr {
        Instr {
            dests: smallvec![to],
            sources: smallvec![Source::plain(Operand::Word(from))],
            location,
            ..Instr::new(Op::Mov)
        }
    }

    /// The instruction with one more modifier.
    pub(crate) fn with(mut self, modifier: Modifier) -> Instr {
        self.add_modifier(modifier);
        self
    }

    /// Adds a modifier, keeping the list sorted.
    pub(crate) fn add_modifier(&mut self, modifier: Modifier) {
        if let Err(at) = self.modifiers.binary_search(&modifier) {
            self.modifiers.insert(at, modifier);
        }
    }

    /// Every word read: sources, then staging.
    pub(crate) fn reads(&self) -> impl Iterator<Item = Word> {
        self.sources
            .iter()
            .flat_map(|source| source.operand.words())
            .chain(self.staging.iter().copied())
    }

    /// Every value read.
    pub(crate) fn read_values(&self) -> impl Iterator<Item = Value> {
        self.reads().filter_map(Word::value)
    }

    /// Every value written.
    pub(crate) fn written_values(&self) -> impl Iterator<Item = Value> {
        self.dests.iter().filter_map(|word| word.value())
    }

    /// `(to, from)` when this only copies one word.
    pub(crate) fn as_copy(&self) -> Option<(Word, Word)> {
        match (self.op, self.dests.as_slice(), self.sources.as_slice()) {
            (Op::Mov, &[to], [source]) if source.is_plain() => match source.operand {
                Operand::Word(from) => Some((to, from)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The runs of words that must lie in consecutive registers: written, read staging, 64-bit sources.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Words> {
        let pairs = self
            .sources
            .iter()
            .filter_map(|source| match source.operand {
                Operand::Pair(low, high) => Some(smallvec![low, high]),
                _ => None,
            });
        let runs = [self.dests.clone(), self.staging.clone()]
            .into_iter()
            .filter(|run| run.len() > 1);
        runs.chain(pairs)
    }

    /// Calls `change` on every word read.
    pub(crate) fn map_reads(&mut self, mut change: impl FnMut(Word) -> Word) {
        for source in &mut self.sources {
            source.operand = match source.operand {
                Operand::Word(word) => Operand::Word(change(word)),
                Operand::Pair(low, high) => Operand::Pair(change(low), change(high)),
                other => other,
            };
        }
        for word in &mut self.staging {
            *word = change(*word);
        }
    }
}

/// One value at the start of a block, chosen by the edge taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Phi {
    pub(crate) dest: Value,
    /// One entry a predecessor.
    pub(crate) sources: Vec<(BlockId, Operand)>,
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Terminator {
    Jump(BlockId),
    /// To `taken` when the condition's word is not zero, else to `otherwise`.
    Branch {
        condition: Source,
        taken: BlockId,
        otherwise: BlockId,
    },
    /// The thread returns.
    End,
}

impl Terminator {
    /// The blocks that may come next.
    pub(crate) fn successors(&self) -> impl Iterator<Item = BlockId> {
        let (first, second) = match *self {
            Terminator::Jump(to) => (Some(to), None),
            Terminator::Branch {
                taken, otherwise, ..
            } => (Some(taken), Some(otherwise)),
            Terminator::End => (None, None),
        };
        first
            .into_iter()
            .chain(second.filter(|&block| Some(block) != first))
    }

    /// The value that decides.
    pub(crate) fn read(&self) -> Option<Word> {
        match self {
            Terminator::Branch { condition, .. } => condition.operand.words().next(),
            Terminator::Jump(_) | Terminator::End => None,
        }
    }

    /// Calls `change` on every successor.
    pub(crate) fn map_successors(&mut self, mut change: impl FnMut(BlockId) -> BlockId) {
        match self {
            Terminator::Jump(to) => *to = change(*to),
            Terminator::Branch {
                taken, otherwise, ..
            } => {
                *taken = change(*taken);
                *otherwise = change(*otherwise);
            }
            Terminator::End => {}
        }
    }
}

/// Instructions that run one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Block {
    pub(crate) phis: Vec<Phi>,
    pub(crate) instrs: Vec<Instr>,
    pub(crate) terminator: Terminator,
}

impl Block {
    /// An empty block.
    pub(crate) fn new(terminator: Terminator) -> Block {
        Block {
            phis: Vec::new(),
            instrs: Vec::new(),
            terminator,
        }
    }
}

/// A word that the hardware puts in a register before the first instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Preload {
    pub(crate) dest: Word,
    pub(crate) register: Register,
}

/// A whole program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Function {
    pub(crate) blocks: Vec<Block>,
    /// How far it has come.
    pub(crate) form: Form,
    /// How many values there are; the next new one has this number.
    pub(crate) values: u32,
    pub(crate) preloads: Vec<Preload>,
    /// Uniform words, by number.
    pub(crate) fau: Vec<FauWord>,
    /// Bytes of thread-local memory: the program's variables, then spill slots.
    pub(crate) scratch_bytes: u32,
    /// Names of source files, for listings.
    pub(crate) files: Vec<String>,
}

impl Function {
    /// A value that nothing uses yet.
    pub(crate) fn new_value(&mut self) -> Value {
        let value = Value(self.values);
        self.values += 1;
        value
    }

    /// The ids of all blocks, in program order.
    pub(crate) fn block_ids(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.blocks.len() as u32).map(BlockId)
    }

    /// The block with this id.
    pub(crate) fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// The predecessors of every block, in program order.
    pub(crate) fn predecessors(&self) -> Vec<Vec<BlockId>> {
        let mut predecessors = vec![Vec::new(); self.blocks.len()];
        for id in self.block_ids() {
            for successor in self.block(id).terminator.successors() {
                predecessors[successor.index()].push(id);
            }
        }
        predecessors
    }

    /// How many loops each block lies in: program order makes a back edge an edge to the same or an earlier block,
    /// and a loop the blocks between its two ends.
    pub(crate) fn loop_depths(&self) -> Vec<u32> {
        let mut ends = vec![None; self.blocks.len()];
        for id in self.block_ids() {
            for successor in self
                .block(id)
                .terminator
                .successors()
                .filter(|&successor| successor <= id)
            {
                ends[successor.index()] = Some(id.index());
            }
        }
        // By block: how many loops begin there, and end before it.
        let mut begins = vec![0; self.blocks.len()];
        let mut ended = vec![0; self.blocks.len() + 1];
        for (start, end) in ends.iter().enumerate() {
            if let &Some(end) = end {
                begins[start] += 1;
                ended[end + 1] += 1;
            }
        }
        let mut depth = 0;
        let changes = begins.iter().zip(&ended);
        changes
            .map(|(begins, ended)| {
                depth = depth + begins - ended;
                depth
            })
            .collect()
    }

    /// How many blocks begin a loop.
    pub(crate) fn loop_count(&self) -> usize {
        let mut headers: Vec<BlockId> = self
            .block_ids()
            .flat_map(|id| {
                self.block(id)
                    .terminator
                    .successors()
                    .filter(move |&to| to <= id)
                    .collect::<Vec<_>>()
            })
            .collect();
        headers.sort();
        headers.dedup();
        headers.len()
    }
}
