//! Rows of a grid: offsets that differ by multiples of a uniform word share the rest, to which that is added.
//!
//! Needs: after `merge_accesses`, which asks what offsets are made of.  Guarantees: the same words, modulo 2^32.
//! How: of `((y + 1) * width + x) << 2` and of other rows, `(y * width + x) << 2` is computed once for a block. What is
//! added, here `width << 2`, takes no instruction: who records the dispatch works it out.
//! Facts: hardware/compiler-optimization.md 1.8 and 3: a shift or a product takes as long as four sums.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::ir::cfg::inst_blocks;
use crate::ir::reads::count_reads;
use crate::ir::rewrite::Replaced;
use crate::ir::{Alu, BlockId, Builder, Function, Inst, Op, Space, Type, Value, ValueDef};
use crate::opt::linear::{Form, Term, build, cost};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "share_rows",
    what: "offsets that are uniform words apart share the rest",
    run,
};

/// Most uniform words that are worked out for a function: a program has room for so many steps, and others need some.
const MOST_WORDS: usize = 16;
/// Deepest expression that is looked through.
const DEPTH: u32 = 8;

/// An offset.
struct Offset {
    inst: Inst,
    value: Value,
    /// What is uniform.
    apart: Vec<Term>,
    through: Vec<Value>,
}

/// Offsets that differ by uniform words: in a block, with the same rest.
type Groups = HashMap<(BlockId, Vec<Term>), Vec<Offset>>;

fn run(function: &mut Function, target: &Target) -> Changed {
    if !target.works_out_uniforms() {
        return Changed::No;
    }
    let mut groups: Vec<_> = groups(function).into_iter().collect();
    groups.retain(|(_, offsets)| offsets.len() > 1);
    if groups.is_empty() {
        return Changed::No;
    }
    groups.sort_by_key(|((block, _), offsets)| (*block, offsets[0].value));
    let readers = count_reads(function);
    let mut left = MOST_WORDS;
    let mut replaced = Replaced::default();
    for ((block, rest), offsets) in groups {
        let words: HashSet<&Vec<Term>> = offsets
            .iter()
            .map(|offset| &offset.apart)
            .filter(|apart| apart.iter().any(|term| !term.uniforms.is_empty()))
            .collect();
        let sums = offsets.iter().filter(|offset| !offset.apart.is_empty());
        let added = cost(&rest) + sums.count();
        let is_worth = !words.is_empty() && added < saved(function, &readers, &offsets);
        if is_worth && words.len() <= left {
            left -= words.len();
            share(function, block, &rest, &offsets, &mut replaced);
        }
    }
    if left == MOST_WORDS {
        return Changed::No;
    }
    replaced.everywhere(function);
    Changed::Yes
}

fn groups(function: &Function) -> Groups {
    let places = inst_blocks(function);
    let mut groups = Groups::default();
    let mut seen = HashSet::default();
    for (block, inst) in function.placed_insts() {
        let data = function.inst(inst);
        let Some(access) = data.op.access().filter(|a| a.space == Space::Buffer) else {
            continue;
        };
        let value = data.args[access.address_operands() - 1];
        let ValueDef::Result(inst, _) = function.def(value) else {
            continue;
        };
        if places[inst.index()] != Some(block) || !seen.insert(value) {
            continue;
        }
        let Some(form) = Form::of(function, value) else {
            continue;
        };
        let (apart, rest): (Vec<Term>, Vec<Term>) = form
            .terms
            .into_iter()
            .partition(|term| term.value.is_none());
        groups.entry((block, rest)).or_default().push(Offset {
            inst,
            value,
            apart,
            through: form.through,
        });
    }
    groups
}

/// Whether a word is made of uniform words and constants.
fn is_worked_out(function: &Function, value: Value, depth: u32) -> bool {
    if function.as_word(value).is_some() {
        return true;
    }
    let (Some(data), Some(depth)) = (function.def_inst(value), depth.checked_sub(1)) else {
        return false;
    };
    match data.op {
        Op::Uniform(_) => true,
        Op::Alu(_) => {
            let mut args = data.args.iter();
            args.all(|arg| is_worked_out(function, *arg, depth))
        }
        _ => false,
    }
}

/// What is no longer computed: what nobody else reads on the way to the offsets.
fn saved(function: &Function, readers: &[u32], offsets: &[Offset]) -> usize {
    let offset_values: HashSet<Value> = offsets.iter().map(|offset| offset.value).collect();
    let through = offsets.iter().flat_map(|offset| &offset.through).copied();
    let through: HashSet<Value> = through.collect();
    let mut own: HashMap<Value, u32> = HashMap::default();
    for value in &through {
        for arg in function.def_inst(*value).iter().flat_map(|data| &data.args) {
            *own.entry(*arg).or_default() += 1;
        }
    }
    let goes = |value: &&Value| {
        let all = readers[value.index()];
        offset_values.contains(*value) || own.get(*value) == Some(&all)
    };
    let costs = |value: &Value| match function.def_inst(*value).map(|data| data.op) {
        Some(Op::Alu(_)) if is_worked_out(function, *value, DEPTH) => 0,
        Some(Op::Alu(Alu::IShl | Alu::IMul)) => 2,
        _ => 1,
    };
    through.iter().filter(goes).map(costs).sum()
}

/// Computes the rest before the first of the offsets, and each of them where it was computed.
fn share(
    function: &mut Function,
    block: BlockId,
    rest: &[Term],
    offsets: &[Offset],
    replaced: &mut Replaced,
) {
    let by_inst: HashMap<Inst, &Offset> = offsets.iter().map(|own| (own.inst, own)).collect();
    let mut shared = None;
    for inst in std::mem::take(&mut function.block_mut(block).insts) {
        if let Some(offset) = by_inst.get(&inst) {
            let mut builder = Builder::new(function, block);
            builder.position = builder.function.inst(inst).position;
            let rest = *shared.get_or_insert_with(|| build(&mut builder, rest));
            let value = match offset.apart.as_slice() {
                [] => rest,
                apart => {
                    let apart = build(&mut builder, apart);
                    builder.alu(Alu::IAdd, &[rest, apart])
                }
            };
            debug_assert_eq!(builder.function.ty(value), Type::W32);
            replaced.insert(offset.value, value);
        }
        function.block_mut(block).insts.push(inst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse::parse;

    /// Whether so many rows of a grid share what they have in common.
    fn is_shared(rows: usize) -> bool {
        let mut text = String::from(
            "function main
            workgroup 4 4 1
            binding 0 0 storage
            binding 0 1 storage written
            b0:
              %x = local_id.x
              %y = local_id.y
              %width = uniform.num_workgroups.x
              %sum0 = iadd %x, %y\n",
        );
        for row in 0..rows {
            let next = row + 1;
            text += &format!(
                "%y{row} = iadd %y, {row}
                 %r{row} = imul %y{row}, %width
                 %s{row} = iadd %r{row}, %x
                 %a{row} = ishl %s{row}, 2
                 %v{row} = load.buffer.constant @0.0, %a{row}
                 %sum{next} = iadd %sum{row}, %v{row}\n"
            );
        }
        text += &format!(
            "%at = ishl %x, 2
             store.buffer @0.1, %at, %sum{rows}
             return"
        );
        let mut function = parse(&text).unwrap_or_else(|error| panic!("{error}"));
        run(&mut function, &Target::default()) == Changed::Yes
    }

    /// The first row is nothing apart, each other one a uniform word.
    #[test]
    fn as_many_rows_share_as_there_is_room_for_their_words() {
        assert!(is_shared(MOST_WORDS + 1), "all words are taken");
        assert!(!is_shared(MOST_WORDS + 2), "a word too many");
    }
}
