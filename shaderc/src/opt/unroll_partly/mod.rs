//! Partial unrolling: a loop that counts makes several rounds at once as long as so many are left.
//!
//! Needs: no variables.  Guarantees: rounds are made in their order, and no round that the loop wouldn't make; what is left over is
//! made by the loop itself, which stays behind the copies.
//! How: before the loop stands a block that computes how far the copies may count and whether they run at all; the copies do
//! without the test that the loop counts for. What crosses rounds goes through variables, of which `promote_variables` makes
//! values again. Loads of neighbouring words in consecutive rounds become one where their address is aligned: where it may
//! or may not be, and all lanes agree, the copies ask once, before the first round.
//! Facts: hardware/compiler-ir.md 4.6 and 4.12; hardware/compiler-lowering.md 5.3.

mod copies;

use std::cell::OnceCell;

use crate::ir::alias::{Extent, split_offset};
use crate::ir::cfg::{Cfg, inst_blocks};
use crate::ir::loops::{Body, Loop, Loops};
use crate::ir::uniformity::Uniformity;
use crate::ir::{Access, BlockId, Function, Inst, Op, Space, Type};
use crate::opt::alignment::{Alignment, Requirement};
use crate::opt::loop_counter::Counter;
use crate::opt::loop_steps::Steps;
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "unroll_partly",
    what: "loops that count make several rounds at once",
    run,
};

/// Most instructions that all copies of a loop have together, if neighbouring loads become one.
const MOST_MERGING: usize = 384;
/// The same if only the loop's own work is saved.
const MOST_SAVING: usize = 64;
/// How often the copies run at least, where the number of rounds is bounded: what is computed before them costs time too.
const FEWEST: u32 = 2;
/// Functions with more instructions are left alone.
const MAX_FUNCTION: usize = 16_384;
/// Bytes of the widest access.
const WIDEST: u32 = 16;

/// A loop that is unrolled. No body lies in another.
struct Candidate {
    header: BlockId,
    /// The only block that enters it.
    entering: BlockId,
    body: Body,
    counter: Counter,
    rounds: u32,
    /// What must hold for the loads to be aligned.
    requirements: Vec<Requirement>,
    aligned: Vec<Aligned>,
}

/// A load or store whose address is aligned in the first of the copies' rounds, but for a constant.
struct Aligned {
    block: BlockId,
    inst: Inst,
    /// The constant in the first round, and what each round adds to it.
    offset: u32,
    step: u32,
}

fn run(function: &mut Function, _: &Target) -> Changed {
    let cfg = Cfg::of(function);
    if cfg.loops.is_empty() {
        return Changed::No;
    }
    let mut size = function.placed_insts().count();
    let uniformity = OnceCell::new();
    let places = inst_blocks(function);
    let loops = Loops::new(function, &cfg);
    let mut has_inner = vec![false; cfg.loops.len()];
    for natural in &cfg.loops {
        if let Some(parent) = natural.parent {
            has_inner[parent] = true;
        }
    }
    let mut candidates = vec![];
    for own in loops.iter().filter(|own| !has_inner[own.number()]) {
        let known = Known {
            function,
            cfg: &cfg,
            uniformity: &uniformity,
            places: &places,
        };
        let Some(candidate) = known.candidate(own) else {
            continue;
        };
        size += candidate.rounds as usize * body_size(function, &candidate.body);
        if size > MAX_FUNCTION {
            break;
        }
        candidates.push(candidate);
    }
    if candidates.is_empty() {
        return Changed::No;
    }
    copies::unroll(function, &candidates);
    Changed::Yes
}

/// Instructions and terminators of a loop.
fn body_size(function: &Function, body: &Body) -> usize {
    let blocks = body.blocks().iter();
    blocks
        .map(|block| function.block(*block).insts.len() + 1)
        .sum()
}

/// What is known of a function.
struct Known<'f> {
    function: &'f Function,
    cfg: &'f Cfg,
    /// Found when the first loop that counts asks for it.
    uniformity: &'f OnceCell<Uniformity>,
    places: &'f [Option<BlockId>],
}

impl<'f> Known<'f> {
    fn uniformity(&self) -> &'f Uniformity {
        let find = || Uniformity::new(self.function, self.cfg);
        self.uniformity.get_or_init(find)
    }

    /// What becomes of a loop; none if it stays as it is.
    fn candidate(&self, own: Loop<'_>) -> Option<Candidate> {
        let (function, header) = (self.function, own.header());
        let (entering, latch) = own.ends()?;
        if own.exits_by_round() || self.has_convergent(own) {
            return None;
        }
        let steps = Steps::new(function, self.cfg, self.places, own, latch);
        let counter = Counter::find(&steps, own, latch)?;
        // Lanes that make different numbers of rounds would each wait twice: behind the copies and behind the loop.
        if self.uniformity().parts(counter.block) {
            return None;
        }
        let body = own.body();
        let size = body_size(function, &body);
        let merging = self.merging(&steps, &body, latch, size);
        let (rounds, requirements, aligned) = match merging {
            Some((rounds, alignment, aligned)) => (rounds, alignment.requirements, aligned),
            None => {
                let rounds = [4, 2]
                    .into_iter()
                    .find(|rounds| rounds * size <= MOST_SAVING)?;
                (rounds as u32, vec![], vec![])
            }
        };
        let most = counter.most_rounds(&steps);
        if most.is_some_and(|most| most < FEWEST * rounds) {
            return None;
        }
        Some(Candidate {
            header,
            entering,
            body,
            counter,
            rounds,
            requirements,
            aligned,
        })
    }

    fn has_convergent(&self, own: Loop<'_>) -> bool {
        let insts = |block: &BlockId| &self.function.block(*block).insts;
        let mut insts = own.natural().iter().flat_map(insts);
        insts.any(|inst| {
            let op = self.function.inst(*inst).op;
            op.is_convergent() || matches!(op, Op::StoreOutput(_) | Op::Demote)
        })
    }

    /// The number of rounds at which most accesses of consecutive rounds become one, and what that takes. None if none do.
    fn merging<'s>(
        &'s self,
        steps: &'s Steps<'s>,
        body: &Body,
        latch: BlockId,
        size: usize,
    ) -> Option<(u32, Alignment<'s>, Vec<Aligned>)> {
        for rounds in [4, 2] {
            if rounds as usize * size > MOST_MERGING {
                continue;
            }
            let mut alignment = Alignment::in_loop(steps, self.uniformity(), rounds);
            let mut aligned = vec![];
            for block in body.blocks() {
                // What only some rounds do has no neighbour in the next.
                if !self.cfg.dominates(*block, latch) {
                    continue;
                }
                for inst in &self.function.block(*block).insts {
                    let neighbours = self.neighbours(steps, *inst);
                    let Some((step, access)) =
                        neighbours.filter(|(step, _)| rounds * step <= WIDEST)
                    else {
                        continue;
                    };
                    let data = self.function.inst(*inst);
                    let address = data.args[access.address_operands() - 1];
                    let (dynamic, offset) = split_offset(self.function, address);
                    let multiple = rounds * step;
                    if dynamic.is_none_or(|dynamic| alignment.require(dynamic, multiple)) {
                        aligned.push(Aligned {
                            block: *block,
                            inst: *inst,
                            offset,
                            step,
                        });
                    }
                }
            }
            if !aligned.is_empty() || self.has_window(steps, body, latch) {
                return Some((rounds, alignment, aligned));
            }
        }
        None
    }

    /// Of an access whose place in the next round is right behind that in this one: its bytes.
    fn neighbours(&self, steps: &Steps<'_>, inst: Inst) -> Option<(u32, Access)> {
        let data = self.function.inst(inst);
        let (Op::Load(access) | Op::Store(access)) = data.op else {
            return None;
        };
        let words = access.elem == Type::W32 && access.space != Space::Global;
        if !words || access.memory.is_volatile() {
            return None;
        }
        let step = steps.step(data.args[access.address_operands() - 1])?;
        (step == access.bytes()).then_some((step, access))
    }

    /// Whether a load reads what another one has read in one of the rounds before.
    fn has_window(&self, steps: &Steps<'_>, body: &Body, latch: BlockId) -> bool {
        let blocks = body.blocks().iter();
        let blocks = blocks.filter(|block| self.cfg.dominates(**block, latch));
        let insts = blocks.flat_map(|block| &self.function.block(*block).insts);
        let loads: Vec<(Extent, i32)> = insts
            .filter_map(|inst| {
                let data = self.function.inst(*inst);
                let Op::Load(access) = data.op else {
                    return None;
                };
                let step = steps.step(data.args[access.address_operands() - 1])?;
                let extent = Extent::of(self.function, data)?;
                (step != 0).then_some((extent, step.cast_signed()))
            })
            .collect();
        loads.iter().enumerate().any(|(number, (a, step))| {
            loads[number + 1..].iter().any(|(b, other)| {
                let apart = b.offset.wrapping_sub(a.offset);
                a.base == b.base
                    && step == other
                    && apart.checked_rem(*step) == Some(0)
                    && (1..4).contains(&apart.wrapping_div(*step).unsigned_abs())
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse::parse;

    /// Whether a loop over neighbouring words with so many operations besides is unrolled.
    fn is_unrolled(operations: usize) -> bool {
        let mut text = String::from(
            "
function main
workgroup 4 1 1
binding 0 0 storage
binding 0 1 storage written
b0:
  %n = load.buffer.constant @0.0, 0
  jump b1
b1:
  %i = phi.w32 b0: 0, b2: %next
  %sum = phi.w32 b0: 0, b2: %more
  %go = ult %i, %n
  branch %go, b2, b3
b2:
  %place = ishl %i, 2
  %x0 = load.buffer.constant @0.0, %place
",
        );
        for number in 0..operations {
            text += &format!("  %x{} = imul %x{number}, %sum\n", number + 1);
        }
        text += &format!(
            "  %more = iadd %sum, %x{operations}
  %next = iadd %i, 1
  jump b1
b3:
  store.buffer @0.1, 0, %sum
  return
"
        );
        let mut function = parse(&text).unwrap_or_else(|error| panic!("{error}"));
        run(&mut function, &Target::default()) == Changed::Yes
    }

    /// Two rounds of what is left of such a loop are the fewest.
    #[test]
    fn copies_that_merge_loads_are_bounded_by_all_their_instructions() {
        assert!(is_unrolled(MOST_MERGING / 2 - 16));
        assert!(!is_unrolled(MOST_MERGING / 2));
    }
}
