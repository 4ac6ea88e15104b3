//! Offsets behind large constants: of loads from one place in a buffer, the constants are added last, so that they show.
//!
//! Needs: before `merge_accesses`, which asks what offsets have in common.  Guarantees: the same words, modulo 2^32.
//! How: `(x + constant) << 2` becomes `(x << 2) + (constant << 2)` where several loads of a block share `x`. `algebra` does
//! that for small constants alone: large ones are often those of hashes, whose sums are rotated.

use rustc_hash::FxHashMap as HashMap;

use crate::ir::{Alu, BlockId, Builder, Function, Inst, Op, Space, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "split_offsets",
    what: "loads that are a large constant apart share the rest of their offsets",
    run,
};

/// An offset like `(part + constant) << shift`.
#[derive(Clone, Copy)]
struct Sum {
    part: Value,
    constant: u32,
    shift: u32,
}

/// What loads have in common: their block, their resource, and the part with its shift.
type Group = (BlockId, Value, Value, u32);

fn run(function: &mut Function, _: &Target) -> Changed {
    let mut groups: HashMap<Group, Vec<(Inst, Sum)>> = HashMap::default();
    for (block, inst) in function.placed_insts() {
        let data = function.inst(inst);
        if let Op::Load(access) = data.op
            && access.space == Space::Buffer
            && let Some(sum) = sum(function, data.args[1])
        {
            let group = (block, data.args[0], sum.part, sum.shift);
            groups.entry(group).or_default().push((inst, sum));
        }
    }
    groups.retain(|_, loads| loads.len() > 1);
    if groups.is_empty() {
        return Changed::No;
    }
    let mut sums: HashMap<Inst, Sum> = HashMap::default();
    sums.extend(groups.into_values().flatten());
    for block in function.layout.clone() {
        for inst in std::mem::take(&mut function.block_mut(block).insts) {
            if let Some(sum) = sums.get(&inst) {
                let mut builder = Builder::new(function, block);
                builder.position = builder.function.inst(inst).position;
                let shifted = builder.alu_word(Alu::IShl, sum.part, sum.shift);
                let constant = sum.constant << sum.shift;
                let offset = builder.alu_word(Alu::IAdd, shifted, constant);
                function.inst_mut(inst).args[1] = offset;
            }
            function.block_mut(block).insts.push(inst);
        }
    }
    Changed::Yes
}

fn sum(function: &Function, offset: Value) -> Option<Sum> {
    let operation = |value: Value, wanted: Alu| {
        let data = function.def_inst(value)?;
        let constant = function.as_word(*data.args.get(1)?)?;
        (data.op == Op::Alu(wanted)).then_some((data.args[0], constant))
    };
    let (sum, shift) = operation(offset, Alu::IShl)?;
    let (part, constant) = operation(sum, Alu::IAdd)?;
    (shift < 32).then_some(Sum {
        part,
        constant,
        shift,
    })
}
