//! Uniformity: which values all lanes of a warp have in common, and at which branches they stay together.
//!
//! Needs: a function that `verify` accepts.  Guarantees: what is said to be uniform is the same in all lanes that compute it
//! together, and what an instruction is said to read uniformly in all that run it together; what is only not known to be is
//! varying. A value varies by its operands, by the
//! lanes that come to a phi from different sides, and by the round in which each lane has left a loop (temporal divergence).
//! Facts: hardware/compiler-ir.md 5 (divergence).
use std::collections::BTreeSet;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::cfg::{Cfg, inst_blocks};
use super::loops::Loops;
use super::{BlockId, Function, Inst, LaneOp, Op, ScanForm, Space, Value};
use crate::lists::Lists;

/// Blocks that are looked at for all branches and loops together before everything is taken to vary: code that nests
/// thousands deep.
const MOST_STEPS: usize = 1 << 18;

/// What varies in a function.
pub struct Uniformity {
    varying: Vec<bool>,
    /// By block: whether lanes part at its end.
    parts: Vec<bool>,
    /// Instructions that read what a loop has left behind, which lanes have left in different rounds.
    late: HashSet<Inst>,
}

/// Who depends on what, and what is still to be looked at.
struct Walk<'f> {
    function: &'f Function,
    cfg: &'f Cfg,
    loops: &'f Loops<'f>,
    places: Vec<Option<BlockId>>,
    /// By block: its place in reverse postorder.
    order: Vec<usize>,
    /// By value: the instructions, the blocks of the phis, and the blocks whose terminator reads it.
    insts: Lists<Inst>,
    phis: Lists<(BlockId, Value)>,
    ends: Lists<BlockId>,
    result: Uniformity,
    /// Loops that lanes leave in different rounds.
    divergent_exits: HashSet<usize>,
    steps: usize,
    /// What varies, the blocks where lanes part, and the loops with divergent exits, as far as they are still to be followed.
    pending: Vec<Value>,
    parting: Vec<BlockId>,
    pending_exits: Vec<usize>,
}

impl Uniformity {
    /// Analyses a function.
    pub fn new(function: &Function, cfg: &Cfg) -> Uniformity {
        let values = function.value_count();
        let mut order = vec![usize::MAX; function.block_count()];
        for (place, block) in cfg.rpo().iter().enumerate() {
            order[block.index()] = place;
        }
        let (insts, phis, ends) = users(function);
        let loops = Loops::new(function, cfg);
        let mut walk = Walk {
            function,
            cfg,
            loops: &loops,
            places: inst_blocks(function),
            order,
            insts,
            phis,
            ends,
            result: Uniformity {
                varying: vec![false; values],
                parts: vec![false; function.block_count()],
                late: HashSet::default(),
            },
            divergent_exits: HashSet::default(),
            steps: 0,
            pending: vec![],
            parting: vec![],
            pending_exits: vec![],
        };
        for (_, inst) in function.placed_insts() {
            if varies_itself(function, inst) {
                for result in &function.inst(inst).results {
                    walk.vary(*result);
                }
            }
        }
        // Lists, and no recursion: a loop's end may depend on the one before, thousands in a row.
        loop {
            if let Some(value) = walk.pending.pop() {
                walk.spread(value);
            } else if let Some(block) = walk.parting.pop() {
                walk.part(block);
            } else if let Some(own) = walk.pending_exits.pop() {
                walk.mark_temporal_divergence(own);
            } else {
                return walk.result;
            }
        }
    }

    /// Whether all lanes that compute the value together have the same.
    pub fn is_uniform(&self, value: Value) -> bool {
        !self.varying[value.index()]
    }

    /// Whether all lanes that run an instruction together have the same in an operand of it.
    pub fn is_uniform_in(&self, operand: Value, reader: Inst) -> bool {
        self.is_uniform(operand) && !self.late.contains(&reader)
    }

    /// Whether lanes that come to the end of a block together may go on to different blocks.
    pub fn parts(&self, block: BlockId) -> bool {
        self.parts[block.index()]
    }
}

impl Walk<'_> {
    fn vary(&mut self, value: Value) {
        if !std::mem::replace(&mut self.result.varying[value.index()], true) {
            self.pending.push(value);
        }
    }

    /// What depends on a value that varies.
    fn spread(&mut self, value: Value) {
        for number in 0..self.insts.of(value.index()).len() {
            self.reads_varying(self.insts.of(value.index())[number]);
        }
        for number in 0..self.phis.of(value.index()).len() {
            let (_, phi) = self.phis.of(value.index())[number];
            self.vary(phi);
        }
        self.parting.extend(self.ends.of(value.index()));
    }

    /// An instruction has an operand that varies.
    fn reads_varying(&mut self, inst: Inst) {
        let data = self.function.inst(inst);
        // What all lanes learn of all lanes is the same for each.
        let common = matches!(
            data.op,
            Op::Ballot(_) | Op::Lanes(LaneOp::First) | Op::Scan(_, ScanForm::Reduce)
        );
        if !common {
            for result in &data.results {
                self.vary(*result);
            }
        }
    }

    /// Lanes part at the end of a block: where they meet again, each brings its own value, and from a loop that only some
    /// leave each brings that of its last round.
    fn part(&mut self, block: BlockId) {
        if std::mem::replace(&mut self.result.parts[block.index()], true) {
            return;
        }
        // The innermost loop around the block that no lane has left.
        let mut around = self.cfg.innermost_loop(block);
        // By block: the side of the branch that leads to it, named by its first block. Where two meet, a new one begins.
        let mut sides: HashMap<BlockId, BlockId> = HashMap::default();
        let mut open: BTreeSet<(usize, BlockId)> = BTreeSet::new();
        let mut goes_round = false;
        let first = self.function.block(block).terminator.targets();
        let mut edges: Vec<(BlockId, BlockId)> =
            first.into_iter().map(|target| (target, target)).collect();
        loop {
            for (to, side) in edges.drain(..) {
                while let Some(own) = around.filter(|own| !self.cfg.in_loop(to, *own)) {
                    if self.divergent_exits.insert(own) {
                        self.pending_exits.push(own);
                    }
                    around = self.cfg.loops[own].parent;
                }
                let header = self.is_header_around(to, block);
                goes_round |= header;
                match sides.insert(to, side) {
                    None if !header => {
                        open.insert((self.order[to.index()], to));
                    }
                    Some(other) if other != side => {
                        sides.insert(to, to);
                        for phi in &self.function.block(to).phis {
                            self.vary(phi.result);
                        }
                    }
                    _ => {}
                }
            }
            let Some((_, at)) = open.pop_first() else {
                break;
            };
            // Everybody is here.
            if open.is_empty() && !goes_round && sides.get(&at) == Some(&at) {
                break;
            }
            self.steps += 1;
            if self.steps > MOST_STEPS {
                self.give_up();
                return;
            }
            let side = sides.get(&at).copied().unwrap_or(at);
            // The rounds of a loop that is entered on one side alone change nothing.
            let back =
                |to: &BlockId| self.cfg.dominates(*to, at) && !self.is_header_around(*to, block);
            let targets = self.function.block(at).terminator.targets();
            let further = targets.into_iter().filter(|to| !back(to));
            edges.extend(further.map(|to| (to, side)));
        }
    }

    /// Whether a block is the header of a loop around another.
    fn is_header_around(&self, header: BlockId, block: BlockId) -> bool {
        let own = self.cfg.innermost_loop(header);
        own.is_some_and(|own| self.cfg.loops[own].header == header && self.cfg.in_loop(block, own))
    }

    /// Everything may vary: right for any function.
    fn give_up(&mut self) {
        self.result.varying.fill(true);
        self.result.parts.fill(true);
        self.pending.clear();
        self.parting.clear();
        self.pending_exits.clear();
    }

    /// Temporal divergence: what a loop defines varies for all that read it outside. So does what a way out defines, which
    /// lanes take in the round in which they leave, for all that read it outside of the construct.
    fn mark_temporal_divergence(&mut self, number: usize) {
        let own = self.loops.get(number);
        let construct = own.construct();
        self.steps += construct.len();
        if self.steps > MOST_STEPS {
            self.give_up();
            return;
        }
        for block in construct {
            let goes_round = own.goes_round(block);
            let outside = |user: BlockId| match goes_round {
                true => !own.goes_round(user),
                false => !own.encloses(user),
            };
            let data = self.function.block(block);
            let phis = data.phis.iter().map(|phi| phi.result);
            let insts = data.insts.iter();
            let results = insts.flat_map(|inst| &self.function.inst(*inst).results);
            for value in phis.chain(results.copied()) {
                self.varies_where(value, outside);
            }
        }
    }

    /// A value varies for those of its users that stand in certain blocks.
    fn varies_where(&mut self, value: Value, there: impl Fn(BlockId) -> bool) {
        for inst in self.insts.of(value.index()).to_vec() {
            if self.places[inst.index()].is_some_and(&there) {
                self.result.late.insert(inst);
                self.reads_varying(inst);
            }
        }
        for (block, phi) in self.phis.of(value.index()).to_vec() {
            if there(block) {
                self.vary(phi);
            }
        }
        for block in self.ends.of(value.index()).to_vec() {
            if there(block) {
                self.parting.push(block);
            }
        }
    }
}

/// By value: the instructions, the blocks of the phis with their results, and the blocks whose terminator reads it.
fn users(function: &Function) -> (Lists<Inst>, Lists<(BlockId, Value)>, Lists<BlockId>) {
    let count = function.value_count();
    let insts = function.placed_insts().flat_map(|(_, inst)| {
        let args = function.inst(inst).args.iter();
        args.map(move |arg| (arg.index(), inst))
    });
    let blocks = function.layout.iter();
    let phis = blocks.clone().flat_map(|block| {
        let phis = function.block(*block).phis.iter();
        phis.flat_map(move |phi| {
            let sources = phi.sources.iter();
            sources.map(move |(_, source)| (source.index(), (*block, phi.result)))
        })
    });
    let ends = blocks.filter_map(|block| {
        let operand = function.block(*block).terminator.operand()?;
        Some((operand.index(), *block))
    });
    (
        Lists::gather(count, insts),
        Lists::gather(count, phis),
        Lists::gather(count, ends),
    )
}

/// Whether an instruction gives lanes different values though its operands are the same.
fn varies_itself(function: &Function, inst: Inst) -> bool {
    match function.inst(inst).op {
        Op::Alu(_) | Op::Uniform(_) | Op::Resource(_) | Op::BufferSize => false,
        Op::Ballot(_) => false,
        Op::Lanes(_) => false,
        Op::Scan(_, form) => form != ScanForm::Reduce,
        Op::SysVal(sys_val) => !sys_val.is_uniform(function),
        // Lanes of a warp are of different vertices, and their quads of different primitives.
        Op::LoadAttribute(_) | Op::LoadVarying(_) | Op::FragW(_) | Op::LoadTile(_) => true,
        // Scratch is each lane's own, and what changes at any time may change between two lanes.
        Op::Load(access) => access.space == Space::Scratch || access.memory.is_volatile(),
        // Those that are ordered: atomics, and texels that may change at any time.
        Op::Image(image) => image.effects().ordered,
        Op::Atomic(..) | Op::LoadVar(_) => true,
        Op::Store(_)
        | Op::Barrier
        | Op::Fence(_)
        | Op::StoreOutput(_)
        | Op::Demote
        | Op::StoreVar(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse::parse;

    /// The numbers of the values stored to shared memory that are uniform, in the order of the stores.
    #[track_caller]
    fn check(body: &str, expected: &[bool]) {
        let text = format!(
            "function main\nworkgroup 64 1 1\nshared 16\nbinding 0 0 storage written\nb0:\n{body}"
        );
        let function = parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let uniformity = Uniformity::new(&function, &Cfg::new(&function));
        let stores = function
            .placed_insts()
            .map(|(_, inst)| function.inst(inst))
            .filter(|data| matches!(data.op, Op::Store(_)));
        let got: Vec<bool> = stores
            .map(|data| uniformity.is_uniform(data.args[1]))
            .collect();
        assert_eq!(got, expected, "{function}");
    }

    #[test]
    fn values_vary_by_their_operands() {
        check(
            "  %x = local_id.x
               %y = local_id.y
               %w = workgroup_id.x
               %p = uniform.push.0
               %a = iadd %w, %p
               %b = iadd %a, %x
               %c = load.buffer @0.0, %a
               %d = load.buffer @0.0, %b
               %e = load.buffer.volatile @0.0, %a
               store.shared 0, %y
               store.shared 0, %a
               store.shared 0, %b
               store.shared 0, %c
               store.shared 0, %d
               store.shared 0, %e
               return\n",
            &[true, true, false, true, false, false],
        );
    }

    #[test]
    fn a_phi_varies_where_lanes_come_from_different_sides() {
        let text = |condition: &str| {
            format!(
                "  %x = {condition}
                   %c = ult %x, 7
                   branch %c, b1, b2
                 b1:
                   jump b3
                 b2:
                   jump b3
                 b3:
                   %p = phi.w32 b1: 1, b2: 2
                   store.shared 0, %p
                   return\n"
            )
        };
        check(&text("workgroup_id.x"), &[true]);
        check(&text("local_id.x"), &[false]);
    }

    #[test]
    fn what_a_loop_leaves_behind_varies_if_lanes_leave_it_in_different_rounds() {
        let text = |limit: &str| {
            format!(
                "  %x = {limit}
                   jump b1
                 b1:
                   %i = phi.w32 b0: 0, b2: %j
                   store.shared 0, %i
                   %c = ult %i, %x
                   branch %c, b2, b3
                 b2:
                   %j = iadd %i, 1
                   jump b1
                 b3:
                   %k = iadd %i, 1
                   store.shared 0, %k
                   return\n"
            )
        };
        check(&text("workgroup_id.x"), &[true, true]);
        // Inside, those that are still there count alike.
        check(&text("local_id.x"), &[true, false]);
    }

    #[test]
    fn a_loop_s_counter_varies_for_what_reads_it_behind_the_loop() {
        let text = "function main
             workgroup 64 1 1
             b0:
               %x = local_id.x
               jump b1
             b1:
               %i = phi.w32 b0: 0, b2: %j
               %a = shuffle %x, %i
               %c = ult %i, %x
               branch %c, b2, b3
             b2:
               %j = iadd %i, 1
               jump b1
             b3:
               %b = shuffle %x, %i
               return";
        let function = parse(text).unwrap_or_else(|error| panic!("{error}"));
        let uniformity = Uniformity::new(&function, &Cfg::new(&function));
        let shuffles = function.placed_insts().filter(|(_, inst)| {
            let op = function.inst(*inst).op;
            op == Op::Lanes(LaneOp::Shuffle)
        });
        let index = |inst| uniformity.is_uniform_in(function.inst(inst).args[1], inst);
        let uniform: Vec<bool> = shuffles.map(|(_, inst)| index(inst)).collect();
        assert_eq!(uniform, [true, false], "inside, and behind");
    }

    #[test]
    fn what_a_way_out_leaves_behind_varies_if_lanes_take_it_in_different_rounds() {
        let text = |key: &str| {
            format!(
                "  %key = {key}
                   jump b1
                 b1:
                   merge b4
                   %f = first %key
                   %same = ieq %f, %key
                   branch %same, b2, b3
                 b2:
                   %n = scan.iadd.reduce %key
                   store.shared 0, %n
                   jump b4
                 b3:
                   jump b1
                 b4:
                   %k = iadd %n, 1
                   store.shared 0, %k
                   return\n"
            )
        };
        check(&text("workgroup_id.x"), &[true, true]);
        // Those that leave together count alike.
        check(&text("local_id.x"), &[true, false]);
    }
}
