//! Waits: makes every instruction wait for the messages whose results or memory it needs.
//!
//! Needs: `assign_slots`; registers.  Guarantees: no value is read or overwritten before its message has arrived, and
//! memory accesses that may meet happen in program order. A wait acts after the instruction that carries it, so it is
//! put on the one before. The first instruction of a block has none before it: the wait goes to the ends of those
//! predecessors that need it, if they lead nowhere else or the block is a loop's header, or else on a NOP.
//! Facts: hardware/compiler-backend.md 8.2, 8.3, 8.6.

use std::collections::{BTreeMap, BTreeSet};

use crate::lists::Lists;
use crate::valhall::mir::{BlockId, Flow, Function, Instr, Location, Message, Op, Terminator};
use crate::valhall::waits::insert_flow::flow_at_end;
use crate::valhall::waits::scoreboard::Scoreboard;

/// Waits that instructions carry for a later block: by block and place in it, the slots.
type Early = BTreeMap<(BlockId, usize), u8>;

/// Inserts all waits and removes fences, which are nothing but waits.
pub(crate) fn insert_waits(function: &mut Function) {
    let predecessors = function.predecessors();
    let plain = UnderWay::find(function, &Early::new());
    let early = find_early(function, &predecessors, &plain);
    let under_way = match early.is_empty() {
        true => plain,
        false => UnderWay::find(function, &early),
    };
    for (id, entry) in function.block_ids().zip(under_way.at_starts) {
        let mut scoreboard = entry;
        let instrs = std::mem::take(&mut function.blocks[id.index()].instrs);
        let mut out: Vec<Instr> = Vec::with_capacity(instrs.len());
        for (index, mut instr) in instrs.into_iter().enumerate() {
            let needed = scoreboard.needed(&instr);
            if needed != 0 {
                wait_before(&mut out, needed, instr.location);
            }
            let early = early.get(&(id, index)).copied();
            step(&mut scoreboard, &instr, needed, early);
            match instr.op.message() {
                Message::Fence => continue,
                Message::Barrier => instr.flow = Flow::Wait(Flow::GENERAL | Flow::BARRIER),
                _ => instr.flow = early.map_or(Flow::None, Flow::Wait),
            }
            out.push(instr);
        }
        let block = &mut function.blocks[id.index()];
        let needed = needed_at_end(&scoreboard, &block.terminator);
        if needed != 0 {
            let location = out.last().map(|last| last.location);
            wait_before(&mut out, needed, location.unwrap_or_default());
        }
        block.instrs = out;
    }
}

/// Lanes that come apart or together load no varyings meanwhile: they share what those that run have left.
fn needed_at_end(scoreboard: &Scoreboard, terminator: &Terminator) -> u8 {
    match terminator {
        Terminator::End => 0,
        // Before the branch itself.
        Terminator::Branch { .. } => 0,
        Terminator::Jump(_) => scoreboard.varyings(),
    }
}

/// What an instruction does to the scoreboard, the waits `needed` before it and its own included.
fn step(scoreboard: &mut Scoreboard, instr: &Instr, needed: u8, early: Option<u8>) {
    if needed != 0 {
        scoreboard.drain(Flow::Wait(needed));
    }
    scoreboard.issue(instr);
    if let Some(early) = early {
        scoreboard.drain(Flow::Wait(early));
    }
}

/// Puts a wait on the last instruction, or on a new NOP where it has another flow.
fn wait_before(out: &mut Vec<Instr>, needed: u8, location: Location) {
    match out.last_mut().map(|last| &mut last.flow) {
        Some(flow @ Flow::None) => *flow = Flow::Wait(needed),
        Some(Flow::Wait(mask)) => *mask |= needed,
        _ => out.push(Instr {
            flow: Flow::Wait(needed),
            location,
            ..Instr::new(Op::Nop)
        }),
    }
}

/// What is under way at the end of a block.
fn at_end(function: &Function, id: BlockId, entry: &Scoreboard, early: &Early) -> Scoreboard {
    let mut scoreboard = entry.clone();
    for (index, instr) in function.block(id).instrs.iter().enumerate() {
        let needed = scoreboard.needed(instr);
        let early = early.get(&(id, index)).copied();
        step(&mut scoreboard, instr, needed, early);
    }
    let needed = needed_at_end(&scoreboard, &function.block(id).terminator);
    if needed != 0 {
        scoreboard.drain(Flow::Wait(needed));
    }
    scoreboard
}

/// What is under way, by block.
struct UnderWay {
    at_starts: Vec<Scoreboard>,
    at_ends: Vec<Scoreboard>,
}

impl UnderWay {
    fn find(function: &Function, early: &Early) -> UnderWay {
        let mut at_starts = vec![Scoreboard::default(); function.blocks.len()];
        let mut at_ends = at_starts.clone();
        if let Some(entry) = at_starts.first_mut() {
            *entry = Scoreboard::at_start(function.extra.stage);
        }
        let mut work: BTreeSet<BlockId> = function.block_ids().collect();
        while let Some(id) = work.pop_first() {
            let scoreboard = at_end(function, id, &at_starts[id.index()], early);
            for to in function.block(id).terminator.successors() {
                if at_starts[to.index()].join(&scoreboard) {
                    work.insert(to);
                }
            }
            at_ends[id.index()] = scoreboard;
        }
        UnderWay { at_starts, at_ends }
    }
}

/// Waits for first instructions, where all predecessors with something to wait for have a place for it.
fn find_early(function: &Function, predecessors: &Lists<BlockId>, plain: &UnderWay) -> Early {
    let mut early = Early::new();
    for id in function.block_ids() {
        let Some(first) = function.block(id).instrs.first() else {
            continue;
        };
        let needed = plain.at_starts[id.index()].needed(first);
        if needed == 0 {
            continue;
        }
        let from = predecessors.of(id.index()).iter();
        let busy: Vec<(BlockId, u8)> = from
            .map(|&from| (from, plain.at_ends[from.index()].busy() & needed))
            .filter(|&(_, slots)| slots != 0)
            .collect();
        let places: Option<Vec<usize>> = busy
            .iter()
            .map(|&(from, slots)| carrier(function, predecessors, (from, id), slots))
            .collect();
        for ((from, slots), place) in busy.iter().zip(places.into_iter().flatten()) {
            *early.entry((*from, place)).or_default() |= slots;
        }
    }
    early
}

/// The instruction near the end of a block that can carry a wait for `slots`, after all messages on them. `edge` leads from that
/// block to the one that waits. What leads to a loop's header may lead elsewhere, too: most lanes come to the header, where a
/// wait of its own would be an instruction in each round.
fn carrier(
    function: &Function,
    predecessors: &Lists<BlockId>,
    edge: (BlockId, BlockId),
    slots: u8,
) -> Option<usize> {
    let (id, to) = edge;
    let block = function.block(id);
    let is_header = predecessors.of(to.index()).iter().any(|from| *from >= to);
    if !is_header && block.terminator.successors().count() != 1 {
        return None;
    }
    // The last instruction may have to reconverge; a branch does so always.
    let taken = usize::from(flow_at_end(function, predecessors, id) != Flow::None);
    let place = block.instrs.len().checked_sub(1 + taken)?;
    let later = block.instrs[place + 1..]
        .iter()
        .filter_map(|instr| instr.slot);
    let signals = |slot: u8| slots >> slot & 1 != 0;
    let free =
        block.instrs[place].op.message() != Message::Fence && block.instrs[place].op != Op::Branchz;
    (free && !later.into_iter().any(signals)).then_some(place)
}
