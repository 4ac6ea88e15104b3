//! Lanes: what they do together becomes moves, branches and loops.
//!
//! Needs: registers.  Guarantees: no operation is left that stands for a sequence. A shared register that one way of a
//! branch writes is read after the ways have come together.
//! How: a ballot is the mask of the lanes that a branch lets through. For a shuffle all lanes stay in a loop, in which the
//! lowest lane that still waits says whom it waits for, that lane says what it has, and all that wait for it take it. For a
//! scan one lane after the other, from the lowest, adds what it has to what a shared register holds, and leaves the loop.
//! Facts: hardware/ir3-isa.md 2 (writes of shared registers), 13.

use super::mir::{
    Asked, Block, BlockId, Class, Condition, Function, Instr, Op, Operand, Register, Source,
    Terminator, Word,
};
use crate::ir::{Combine, ScanForm};

// What scans leave out: `brcst.active` would combine eight lanes in three steps (hardware/ir3-isa.md 13), but few devices have
// it, and it sums floats in another order.

/// The shared registers that these sequences use: r54.x, r54.y; the workgroup's id is in the first ones.
const SHARED: [Word; 2] = [
    Word::Register(Register::new(Class::Shared, 24)),
    Word::Register(Register::new(Class::Shared, 25)),
];

/// Expands all. One walk over the function: a block becomes several where it holds sequences with control flow.
pub(super) fn expand_lanes(function: &mut Function) -> bool {
    let has_sequence = |block: &Block| block.instrs.iter().any(|instr| instr.op.is_sequence());
    if !function.blocks.iter().any(has_sequence) {
        return false;
    }
    let mut expanded = Expanded::default();
    let starts: Vec<BlockId> = std::mem::take(&mut function.blocks)
        .into_iter()
        .map(|block| expanded.add(block))
        .collect();
    // Terminators of the old blocks name those by their old numbers.
    for end in expanded.ends {
        let terminator = &mut expanded.blocks[end].terminator;
        terminator.map_successors(|to| starts[to.index()]);
    }
    function.blocks = expanded.blocks;
    true
}

/// The function that is being made.
#[derive(Default)]
struct Expanded {
    blocks: Vec<Block>,
    /// The blocks that old blocks end with.
    ends: Vec<usize>,
}

impl Expanded {
    /// Adds an old block, expanded. Returns the first block that stands for it.
    fn add(&mut self, mut old: Block) -> BlockId {
        let start = BlockId(self.blocks.len() as u32);
        let instrs = std::mem::take(&mut old.instrs);
        let terminator = std::mem::replace(&mut old.terminator, Terminator::End);
        let mut block = old;
        for instr in instrs {
            if !instr.op.is_sequence() {
                block.instrs.push(instr);
                continue;
            }
            let first = BlockId(self.blocks.len() as u32 + 1);
            let mut made = expand(&instr, &mut block, first);
            if let Some(last) = made.pop() {
                self.blocks.push(std::mem::replace(&mut block, last));
                self.blocks.append(&mut made);
            }
        }
        block.terminator = terminator;
        self.ends.push(self.blocks.len());
        self.blocks.push(block);
        start
    }
}

/// Expands an instruction: instructions at the end of `head`, and the blocks behind it, which begin with the number `first`.
/// What follows the instruction goes to the last of them.
fn expand(instr: &Instr, head: &mut Block, first: BlockId) -> Vec<Block> {
    match instr.op {
        Op::Active => active(instr, head),
        Op::First => first_lane(instr, head),
        Op::Ballot => ballot(instr, head, first),
        Op::ReadLane => read_lane(instr, head, first),
        Op::Scan => scan(instr, head, first),
        _ => shuffle(instr, head, first),
    }
}

/// `instr` at the place of another in the source.
fn at(of: &Instr, instr: Instr) -> Instr {
    Instr {
        location: of.location,
        ..instr
    }
}

fn write_shared(to: Word, from: Source) -> Instr {
    Instr::on(Op::WriteShared, &[from]).to(to)
}

fn read_shared(to: Word, from: Word) -> Instr {
    Instr::on(Op::ReadShared, &[Source::word(from)]).to(to)
}

fn compare(condition: Condition, to: Word, a: Source, b: Source) -> Instr {
    Instr {
        condition: Some(condition),
        ..Instr::on(Op::CmpsU, &[a, b]).to(to)
    }
}

fn block(instrs: Vec<Instr>, terminator: Terminator) -> Block {
    Block {
        instrs,
        ..Block::new(terminator)
    }
}

fn none() -> Source {
    Source::plain(Operand::Immediate(0))
}

/// The words of the mask of those that are here, and their way to each lane.
fn read_mask(instr: &Instr, words: &[Word]) -> (Instr, Vec<Instr>) {
    let mask = Instr {
        dests: SHARED.into(),
        ..Instr::new(Op::ActiveMask)
    };
    let reads = words.iter().zip(SHARED);
    let reads = reads.map(|(&to, from)| at(instr, read_shared(to, from)));
    (at(instr, mask), reads.collect())
}

/// Results: both words of the mask.
fn active(instr: &Instr, block: &mut Block) -> Vec<Block> {
    let (mask, reads) = read_mask(instr, &instr.dests);
    block.instrs.push(mask);
    block.instrs.extend(reads);
    vec![]
}

/// Source: the value. Result: that of the lowest lane, which is what a move to a shared register takes.
fn first_lane(instr: &Instr, block: &mut Block) -> Vec<Block> {
    let [said, _] = SHARED;
    let write = write_shared(said, instr.sources[0]);
    let read = read_shared(instr.dests[0], said);
    block
        .instrs
        .extend([write, read].map(|made| at(instr, made)));
    vec![]
}

/// Sources: the condition, and 0. Results: both words of the mask, and a predicate.
fn ballot(instr: &Instr, head: &mut Block, first: BlockId) -> Vec<Block> {
    let (condition, zero) = (instr.sources[0], instr.sources[1]);
    let (words, predicate) = (&instr.dests[..2], instr.dests[2]);
    let join = BlockId(first.0 + 1);
    for shared in SHARED {
        head.instrs.push(at(instr, write_shared(shared, zero)));
    }
    head.instrs.push(at(
        instr,
        compare(Condition::Ne, predicate, condition, none()),
    ));
    head.terminator = Terminator::Branch {
        condition: Asked::Each {
            predicate,
            not: false,
        },
        taken: first,
        otherwise: join,
    };
    let (mask, reads) = read_mask(instr, words);
    vec![
        block(vec![mask], Terminator::Jump(join)),
        block(reads, Terminator::End),
    ]
}

/// Sources: the value, whose is wanted, the own lane, and 0. Results: what was wanted, and a predicate.
fn read_lane(instr: &Instr, head: &mut Block, first: BlockId) -> Vec<Block> {
    let [value, from, lane, zero] = [0, 1, 2, 3].map(|number| instr.sources[number]);
    let (result, predicate) = (instr.dests[0], instr.dests[1]);
    let join = BlockId(first.0 + 1);
    let [said, _] = SHARED;
    // A lane that is not there gives 0.
    head.instrs.push(at(instr, write_shared(said, zero)));
    let is_it = compare(Condition::Eq, predicate, lane, from);
    head.instrs.push(at(instr, is_it));
    head.terminator = Terminator::Branch {
        condition: Asked::Each {
            predicate,
            not: false,
        },
        taken: first,
        otherwise: join,
    };
    vec![
        block(
            vec![at(instr, write_shared(said, value))],
            Terminator::Jump(join),
        ),
        block(vec![at(instr, read_shared(result, said))], Terminator::End),
    ]
}

/// Sources: the value, and what changes nothing. Results: what the lane gets, and two words.
fn scan(instr: &Instr, head: &mut Block, first: BlockId) -> Vec<Block> {
    let (value, neutral) = (instr.sources[0], instr.sources[1]);
    let [result, before, sum] = [0, 1, 2].map(|number| instr.dests[number]);
    let [loop_head, elected, others, end] = [0, 1, 2, 3].map(|number| BlockId(first.0 + number));
    let [all, _] = SHARED;
    head.instrs.push(at(instr, write_shared(all, neutral)));
    head.terminator = Terminator::Jump(loop_head);
    // What a lane gets is in the place of the word that it is.
    let (combine, form) = instr.scan.unwrap_or((Combine::IAdd, ScanForm::Reduce));
    let (before, sum) = match form {
        ScanForm::Exclusive => (result, sum),
        ScanForm::Inclusive => (before, result),
        ScanForm::Reduce => (before, sum),
    };
    let mut adds = vec![read_shared(before, all)];
    adds.extend(combined(combine, sum, Source::word(before), value));
    adds.push(write_shared(all, Source::word(sum)));
    let read = (form == ScanForm::Reduce).then(|| read_shared(result, all));
    let own = |instrs: Vec<Instr>, terminator: Terminator| {
        let instrs = instrs.into_iter().map(|made| at(instr, made));
        block(instrs.collect(), terminator)
    };
    vec![
        own(
            vec![],
            Terminator::Branch {
                condition: Asked::Others,
                taken: others,
                otherwise: elected,
            },
        ),
        own(adds, Terminator::Jump(end)),
        own(vec![], Terminator::Jump(loop_head)),
        own(read.into_iter().collect(), Terminator::End),
    ]
}

/// What two words are together, in a third.
fn combined(combine: Combine, to: Word, a: Source, b: Source) -> Vec<Instr> {
    let so_far = Source::word(to);
    let op = match combine {
        // A product of two words is that of their halves.
        Combine::IMul => {
            return vec![
                Instr::on(Op::MullU, &[a, b]).to(to),
                Instr::on(Op::MadshM16, &[a, b, so_far]).to(to),
                Instr::on(Op::MadshM16, &[b, a, so_far]).to(to),
            ];
        }
        Combine::IAdd => Op::AddU,
        Combine::FAdd => Op::AddF,
        Combine::FMul => Op::MulF,
        Combine::SMin => Op::MinS,
        Combine::SMax => Op::MaxS,
        Combine::UMin => Op::MinU,
        Combine::UMax => Op::MaxU,
        Combine::FMin => Op::MinF,
        Combine::FMax => Op::MaxF,
        Combine::And => Op::AndB,
        Combine::Or => Op::OrB,
        Combine::Xor => Op::XorB,
    };
    vec![Instr::on(op, &[a, b]).to(to)]
}

/// Sources: the value, whose is wanted, the own lane, and 0. Results: what was wanted, three words and a predicate.
fn shuffle(instr: &Instr, head: &mut Block, first: BlockId) -> Vec<Block> {
    let [value, from, lane, zero] = [0, 1, 2, 3].map(|number| instr.sources[number]);
    let [result, waits, served, given, predicate] =
        [0, 1, 2, 3, 4].map(|number| instr.dests[number]);
    let [loop_head, more, ask, asked, tell, told, end] =
        [0, 1, 2, 3, 4, 5, 6].map(|number| BlockId(first.0 + number));
    let [chosen, said] = SHARED;
    let branch = |taken: BlockId, otherwise: BlockId| Terminator::Branch {
        condition: Asked::Each {
            predicate,
            not: false,
        },
        taken,
        otherwise,
    };
    // When nobody waits any more, all leave together.
    let leave = Terminator::Branch {
        condition: Asked::All {
            predicate,
            not: true,
        },
        taken: end,
        otherwise: more,
    };
    let one = Source::plain(Operand::Immediate(1));
    let moved = |to: Word, from: Source| Instr::moved(to, from, Class::Full);
    // A lane that is not there gives 0.
    head.instrs.push(at(instr, moved(result, none())));
    head.instrs.push(at(instr, moved(waits, one)));
    head.instrs.push(at(instr, write_shared(said, zero)));
    head.terminator = Terminator::Jump(loop_head);

    let waiting = compare(Condition::Ne, predicate, Source::word(waits), none());
    let own = |instrs: Vec<Instr>, terminator: Terminator| {
        let instrs = instrs.into_iter().map(|made| at(instr, made));
        block(instrs.collect(), terminator)
    };
    let is_served = compare(Condition::Eq, predicate, Source::word(served), lane);
    // Whether it is for this lane, in the place of the number, which nobody needs any more.
    let is_for = compare(Condition::Eq, served, Source::word(served), from);
    let select = |to: Word, yes: Source| {
        Instr::on(Op::SelB32, &[yes, Source::word(served), Source::word(to)]).to(to)
    };
    vec![
        own(vec![waiting], leave),
        own(vec![], branch(ask, asked)),
        own(vec![write_shared(chosen, from)], Terminator::Jump(asked)),
        own(
            vec![read_shared(served, chosen), is_served],
            branch(tell, told),
        ),
        own(vec![write_shared(said, value)], Terminator::Jump(told)),
        own(
            vec![
                read_shared(given, said),
                is_for,
                select(result, Source::word(given)),
                select(waits, zero),
            ],
            Terminator::Jump(loop_head),
        ),
        block(vec![], Terminator::End),
    ]
}
