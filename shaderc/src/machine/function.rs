//! Functions of machine IR: values, blocks, and how blocks follow one another.

use std::fmt;

use super::interface::{Machine, Reads, WordOf};
use super::verify::Form;
use crate::ir;
use crate::lists::Lists;
use crate::replaced::Numbered;

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

/// What in the IR an instruction was selected for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct Origin(u32);

impl Origin {
    /// An instruction.
    pub(crate) fn inst(inst: ir::Inst) -> Origin {
        Origin(2 * inst.0 + 2)
    }

    /// The end of a block.
    pub(crate) fn end(block: ir::BlockId) -> Origin {
        Origin(2 * block.0 + 1)
    }

    /// Whether it is known: what passes add between two instructions comes from neither.
    pub(crate) fn is_known(self) -> bool {
        self != Origin::default()
    }
}

/// Where in the source and in the IR an instruction comes from; zero when it is not known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct Location {
    /// Index in [`Function::files`].
    pub(crate) file: u32,
    pub(crate) line: u32,
    pub(crate) origin: Origin,
}

/// What one register will hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Value(pub(crate) u32);

impl Value {
    /// The value's place in tables that have an entry a value.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl Numbered for Value {
    fn at(index: usize) -> Value {
        Value(index as u32)
    }

    fn number(self) -> usize {
        self.index()
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

/// What an instruction reads or writes: a value, and after allocation a register of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Word<R> {
    Value(Value),
    Register(R),
}

impl<R> Word<R> {
    /// The value, while there is one.
    pub(crate) fn value(self) -> Option<Value> {
        match self {
            Word::Value(value) => Some(value),
            Word::Register(_) => None,
        }
    }

    /// The register, once there is one.
    pub(crate) fn register(self) -> Option<R> {
        match self {
            Word::Register(register) => Some(register),
            Word::Value(_) => None,
        }
    }
}

/// One value at the start of a block, chosen by the edge taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Phi<M: Machine> {
    pub(crate) dest: Value,
    /// One entry a predecessor.
    pub(crate) sources: Vec<(BlockId, M::Operand)>,
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Terminator<M: Machine> {
    Jump(BlockId),
    /// To `taken` when the condition holds, else to `otherwise`.
    Branch {
        condition: M::Condition,
        taken: BlockId,
        otherwise: BlockId,
    },
    /// The thread returns.
    End,
}

impl<M: Machine> Terminator<M> {
    /// The blocks that may come next.
    pub(crate) fn successors(&self) -> impl Iterator<Item = BlockId> + Clone + use<M> {
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

    /// The word that decides.
    pub(crate) fn read(&self) -> Option<WordOf<M>> {
        match self {
            Terminator::Branch { condition, .. } => condition.words().next(),
            Terminator::Jump(_) | Terminator::End => None,
        }
    }

    /// Calls `change` on the word that decides.
    pub(crate) fn map_read(&mut self, change: impl FnMut(WordOf<M>) -> WordOf<M>) {
        if let Terminator::Branch { condition, .. } = self {
            condition.map_words(change);
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
pub(crate) struct Block<M: Machine> {
    pub(crate) phis: Vec<Phi<M>>,
    pub(crate) instrs: Vec<M::Instr>,
    pub(crate) terminator: Terminator<M>,
    /// Where the terminator comes from.
    pub(crate) end: Location,
}

impl<M: Machine> Block<M> {
    /// An empty block.
    pub(crate) fn new(terminator: Terminator<M>) -> Block<M> {
        Block {
            phis: Vec::new(),
            instrs: Vec::new(),
            terminator,
            end: Location::default(),
        }
    }
}

/// A word that the hardware puts in a register before the first instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Preload<M: Machine> {
    pub(crate) dest: WordOf<M>,
    pub(crate) register: M::Register,
}

/// A whole program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Function<M: Machine> {
    pub(crate) blocks: Vec<Block<M>>,
    /// How far it has come.
    pub(crate) form: Form,
    /// By value: its class.
    pub(crate) values: Vec<M::Class>,
    pub(crate) preloads: Vec<Preload<M>>,
    /// Bytes of memory of each thread: the program's variables, then spill slots.
    pub(crate) scratch_bytes: u32,
    /// Names of source files, for listings.
    pub(crate) files: Vec<String>,
    /// What only this machine's functions have.
    pub(crate) extra: M::Extra,
}

impl<M: Machine> Default for Function<M> {
    fn default() -> Function<M> {
        Function {
            blocks: Vec::new(),
            form: Form::default(),
            values: Vec::new(),
            preloads: Vec::new(),
            scratch_bytes: 0,
            files: Vec::new(),
            extra: M::Extra::default(),
        }
    }
}

impl<M: Machine> Function<M> {
    /// A value that nothing uses yet, where the machine has one class.
    pub(crate) fn new_value(&mut self) -> Value
    where
        M::Class: Default,
    {
        self.new_value_of(M::Class::default())
    }

    /// A value that nothing uses yet.
    pub(crate) fn new_value_of(&mut self, class: M::Class) -> Value {
        let value = Value(self.values.len() as u32);
        self.values.push(class);
        value
    }

    /// The class of a value.
    pub(crate) fn class(&self, value: Value) -> M::Class {
        self.values[value.index()]
    }

    /// The class of a word.
    pub(crate) fn class_of(&self, word: WordOf<M>) -> M::Class {
        match word {
            Word::Value(value) => self.class(value),
            Word::Register(register) => super::interface::Register::class(register),
        }
    }

    /// Preloaded values.
    pub(crate) fn preloaded_values(&self) -> impl Iterator<Item = Value> {
        let preloads = self.preloads.iter();
        preloads.filter_map(|preload| preload.dest.value())
    }

    /// The ids of all blocks, in program order.
    pub(crate) fn block_ids(&self) -> impl Iterator<Item = BlockId> + Clone + use<M> {
        (0..self.blocks.len() as u32).map(BlockId)
    }

    /// The block with this id.
    pub(crate) fn block(&self, id: BlockId) -> &Block<M> {
        &self.blocks[id.index()]
    }

    /// The index of each block's first instruction in the program.
    pub(crate) fn block_starts(&self) -> Vec<usize> {
        let mut next = 0;
        let starts = self.blocks.iter().map(|block| {
            let start = next;
            next += block.instrs.len();
            start
        });
        starts.collect()
    }

    /// The predecessors of every block, by index, in program order.
    pub(crate) fn predecessors(&self) -> Lists<BlockId> {
        let edges = self.block_ids().flat_map(|id| {
            let successors = self.block(id).terminator.successors();
            successors.map(move |to| (to.index(), id))
        });
        Lists::gather(self.blocks.len(), edges)
    }

    /// How often each block runs, by guess, each time that the program does: ten times for every loop around it.
    pub(crate) fn frequencies(&self) -> impl Iterator<Item = u64> + use<M> {
        const ROUNDS: u64 = 10;
        let depths = self.loop_depths().into_iter();
        // Behind that they all are often enough, and sums of them still fit.
        depths.map(|depth| ROUNDS.pow(depth.min(6)))
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
            })
            .collect();
        headers.sort();
        headers.dedup();
        headers.len()
    }
}
