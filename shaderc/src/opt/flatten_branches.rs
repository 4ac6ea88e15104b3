//! If-conversion: short branches without effects become straight code and selects.
//!
//! Needs: nothing.  Guarantees: only moves what may run needlessly: pure operations and loads of constant memory.
//! Never: moves what asks the texture unit. A request takes it as long as eight instructions take the arithmetic units, and lanes
//! that part anyway execute both sides either way.
//! Facts: hardware/compiler-ir.md 4.5: a branch that diverges costs a warp of 16 more than a few instructions; one that all
//! lanes take together costs no more than itself.
use crate::ir::cfg::Cfg;
use crate::ir::layout::order_blocks;
use crate::ir::uniformity::Uniformity;
use crate::ir::{BlockId, Builder, Function, ImageAction, Op, Terminator, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "flatten_branches",
    what: "short branches without effects become selects",
    run,
};

/// The same around branches that have become straight code: what may be skipped is less than it was.
pub(crate) const AROUND: Pass = Pass {
    name: "flatten_around",
    what: "very short branches around those become selects, too",
    run: run_around,
};

/// Most instructions on both sides together, selects included, where lanes may part.
const MAX_APART: usize = 24;
/// The same where they stay together.
const MAX_TOGETHER: usize = 8;
/// The same around branches that were flattened before.
const MAX_AROUND: usize = 4;

/// A side of a branch: the block on the way to the join, if there is one.
type Side = Option<BlockId>;

fn run(function: &mut Function, _: &Target) -> Changed {
    flatten_all(function, MAX_APART, MAX_TOGETHER)
}

fn run_around(function: &mut Function, _: &Target) -> Changed {
    flatten_all(function, MAX_AROUND, MAX_AROUND)
}

fn flatten_all(function: &mut Function, apart: usize, together: usize) -> Changed {
    let cfg = Cfg::of(function);
    // By block: how many lead to it.
    let mut entered = vec![0; function.block_count()];
    for block in cfg.rpo() {
        entered[block.index()] = cfg.predecessors(*block).len();
    }
    let mut blocks = function.layout.iter();
    if !blocks.any(|block| candidate(function, &entered, *block, apart).is_some()) {
        return Changed::No;
    }
    // Where both limits are the same nobody asks who parts.
    let uniformity = (apart != together).then(|| Uniformity::new(function, &cfg));
    let parts = |block: BlockId| uniformity.as_ref().is_none_or(|own| own.parts(block));
    let mut changed = Changed::No;
    // From the end, so that inner branches come before those around them.
    for block in function.layout.clone().into_iter().rev() {
        let most = match parts(block) {
            true => apart,
            false => together,
        };
        if let Some((sides, join)) = candidate(function, &entered, block, most) {
            flatten(function, block, sides, join);
            // The block itself is left of the two that led there.
            entered[join.index()] -= 1;
            changed = Changed::Yes;
        }
    }
    if changed == Changed::Yes {
        order_blocks(function);
    }
    changed
}

/// The two sides of a branch that meet again at once, if it is worth flattening.
fn candidate(
    function: &Function,
    entered: &[usize],
    block: BlockId,
    most: usize,
) -> Option<([Side; 2], BlockId)> {
    let Terminator::Branch {
        then, otherwise, ..
    } = function.block(block).terminator
    else {
        return None;
    };
    let next = |side: BlockId| match function.block(side).terminator {
        Terminator::Jump(target) if entered[side.index()] == 1 => Some(target),
        _ => None,
    };
    let (sides, join) = match (next(then), next(otherwise)) {
        (Some(a), Some(b)) if a == b => ([Some(then), Some(otherwise)], a),
        (Some(a), _) if a == otherwise => ([Some(then), None], a),
        (_, Some(b)) if b == then => ([None, Some(otherwise)], b),
        _ => return None,
    };
    if join == block || sides.contains(&Some(join)) {
        return None;
    }
    let mut count = function.block(join).phis.len();
    for side in sides.into_iter().flatten() {
        let data = function.block(side);
        let movable = |inst| {
            let op = function.inst(inst).op;
            op.is_pure() && !reads_texels(op)
        };
        if !data.phis.is_empty() || !data.insts.iter().all(|inst| movable(*inst)) {
            return None;
        }
        count += data.insts.len();
    }
    (count <= most).then_some((sides, join))
}

/// Whether an operation asks the texture unit.
fn reads_texels(op: Op) -> bool {
    let Op::Image(image) = op else {
        return false;
    };
    match image.action {
        ImageAction::Fetch
        | ImageAction::Sample(_)
        | ImageAction::Gather(_)
        | ImageAction::QueryLod => true,
        ImageAction::Read
        | ImageAction::Write(_)
        | ImageAction::Atomic(_)
        | ImageAction::Size
        | ImageAction::Levels
        | ImageAction::Samples => false,
    }
}

fn flatten(function: &mut Function, block: BlockId, sides: [Side; 2], join: BlockId) {
    let Terminator::Branch { condition, .. } = function.block(block).terminator else {
        return;
    };
    for side in sides.into_iter().flatten() {
        let insts = std::mem::take(&mut function.block_mut(side).insts);
        function.block_mut(block).insts.extend(insts);
    }
    let position = function.block(block).position;
    for number in 0..function.block(join).phis.len() {
        let sources = function.block(join).phis[number].sources.clone();
        let value_from = |side: Side| -> Option<Value> {
            let from = side.unwrap_or(block);
            let source = sources.iter().find(|(other, _)| *other == from);
            source.map(|(_, value)| *value)
        };
        let (Some(yes), Some(no)) = (value_from(sides[0]), value_from(sides[1])) else {
            continue;
        };
        let value = if yes == no {
            yes
        } else {
            let mut builder = Builder::new(function, block);
            builder.position = position;
            builder.select(condition, yes, no)
        };
        let phi = &mut function.block_mut(join).phis[number];
        phi.sources.retain(|(from, _)| {
            let gone = [sides[0].unwrap_or(block), sides[1].unwrap_or(block)];
            !gone.contains(from)
        });
        phi.sources.push((block, value));
    }
    // The sides are reached no more: `order_blocks` drops them.
    function.block_mut(block).terminator = Terminator::Jump(join);
}
