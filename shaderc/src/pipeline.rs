//! The pipeline: the passes in order, and why in that order. The page to read first.
use crate::ir::Function;
use crate::lower::{
    access_sizes, bit_fields, critical_edges, division, floats, guard_image_atomics,
    guard_texel_buffers, indirect_variables, narrow_words, non_uniform, operand_order,
    promote_variables, robust_access, switches, texel_counts, wide_words,
};
use crate::opt::{
    algebra, constant_tables, dead_code, dead_flow, flatten_branches, fold_constants,
    forward_stores, fuse_multiply_add, merge_accesses, pair_halves, push_uniform_buffers,
    share_values, trivial_phis, unroll_loops,
};
use crate::options::Robust;
use crate::pass::{Changed, Pass, PassRow, Runner};

/// Passes over IR without which there is no code: they bring it into the lowered form, or make it safe.
const NEEDED: &[Pass] = &[
    promote_variables::PASS,
    wide_words::PASS,
    narrow_words::PASS,
    indirect_variables::PASS,
    non_uniform::PASS,
    switches::PASS,
    guard_image_atomics::PASS,
    guard_texel_buffers::PASS,
    texel_counts::PASS,
    division::PASS,
    bit_fields::PASS,
    floats::PASS,
    robust_access::PASS,
    access_sizes::PASS,
    operand_order::PASS,
    critical_edges::PASS,
];

/// Passes over IR that make the code better.
const IMPROVING: &[Pass] = &[
    unroll_loops::PASS,
    constant_tables::PASS,
    flatten_branches::PASS,
    fuse_multiply_add::HALVES,
    pair_halves::PASS,
    forward_stores::PASS,
    fuse_multiply_add::PASS,
    merge_accesses::PASS,
    push_uniform_buffers::PASS,
    trivial_phis::PASS,
    fold_constants::PASS,
    algebra::PASS,
    share_values::PASS,
    dead_code::PASS,
    dead_flow::PASS,
];

/// Every pass over IR.
pub fn passes() -> impl Iterator<Item = Pass> {
    NEEDED.iter().chain(IMPROVING).copied()
}

/// The same, for the list that users see; those of the back end are [`crate::valhall::PASSES`].
pub fn rows() -> impl Iterator<Item = PassRow> {
    let row = |needed| {
        move |pass: &Pass| PassRow {
            name: pass.name,
            what: pass.what,
            needed,
        }
    };
    let needed = NEEDED.iter().map(row(true));
    let first = std::iter::once(crate::front_end::TRANSLATE);
    first.chain(needed).chain(IMPROVING.iter().map(row(false)))
}

/// What every stage needs after it: each pass exposes work for the next. The only passes that are repeated until none
/// changes anything; each change makes [`crate::measure::Measure`] smaller, so they come to an end.
pub const CLEAN_UP: &[Pass] = &[
    promote_variables::PASS, // an index may have become constant
    trivial_phis::PASS,
    fold_constants::PASS,
    operand_order::PASS, // rules look for constants last
    algebra::PASS,
    share_values::PASS,
    dead_code::PASS,
    dead_flow::PASS,
];

/// Deepest nest of loops that is unrolled: each level is a whole round of clean-up.
const MAX_UNROLLED: u32 = 16;

/// From the front end's IR to the lowered form. Passes that make the code better may be left out.
pub fn lower(function: &mut Function, robust: Robust, runner: &mut Runner<'_>) {
    runner.run(function, promote_variables::PASS);
    runner.fixpoint(function, CLEAN_UP);
    // Two halves at once, while they are known as such.
    if runner.target.pairs_halves() {
        runner.improve(function, fuse_multiply_add::HALVES);
        runner.improve(function, pair_halves::PASS);
    }
    // Everything after works on words of 32 bits. Wide ones first: they may come of small ones.
    let wide = runner.run(function, wide_words::PASS);
    let narrow = runner.run(function, narrow_words::PASS);
    if [wide, narrow].contains(&Changed::Yes) {
        runner.fixpoint(function, CLEAN_UP);
    }
    // Inner loops first; with its inner loops gone an outer one may have become short. It makes indices constant.
    for _ in 0..MAX_UNROLLED {
        if runner.improve(function, unroll_loops::PASS) == Changed::No {
            break;
        }
        runner.fixpoint(function, CLEAN_UP);
    }
    // Now every index that can be constant is; the rest needs constant memory, selects or scratch.
    runner.improve(function, constant_tables::PASS);
    runner.run(function, indirect_variables::PASS);
    runner.run(function, promote_variables::PASS);
    runner.fixpoint(function, CLEAN_UP);

    // Which elements are constant is known by now. Before guards, which ask for sizes.
    runner.run(function, non_uniform::PASS);
    // Constants are known by now: division by one is much cheaper.
    runner.run(function, switches::PASS);
    runner.run(function, guard_image_atomics::PASS);
    if robust == Robust::On {
        runner.run(function, guard_texel_buffers::PASS);
    }
    // Guards ask for sizes.
    runner.run(function, texel_counts::PASS);
    runner.run(function, division::PASS);
    runner.run(function, bit_fields::PASS);
    runner.run(function, floats::PASS);
    runner.fixpoint(function, CLEAN_UP);

    // After lowering, which shows what branches cost; it makes longer blocks for the two after it.
    runner.improve(function, flatten_branches::PASS);
    runner.fixpoint(function, CLEAN_UP);
    if robust == Robust::On {
        // Behind a guard stores can't be told apart from branches; before they are merged, since one may be dropped alone.
        runner.run(function, robust_access::PASS);
        runner.fixpoint(function, CLEAN_UP);
    }
    // Stores that may be dropped are behind guards by now.
    if runner.improve(function, forward_stores::PASS) == Changed::Yes {
        runner.fixpoint(function, CLEAN_UP);
    }
    runner.improve(function, fuse_multiply_add::PASS);
    runner.improve(function, merge_accesses::PASS);
    runner.improve(function, push_uniform_buffers::PASS);
    runner.run(function, access_sizes::PASS);
    runner.fixpoint(function, CLEAN_UP);

    // Last: clean-up would undo them.
    runner.run(function, operand_order::PASS);
    runner.run(function, critical_edges::PASS);
}
