//! The pipeline: the passes in order, and why in that order. The page to read first.
use crate::ir::Function;
use crate::lower::{
    access_sizes, bit_fields, buffer_sizes, critical_edges, division, floats, indirect_variables,
    operand_order, promote_variables, switches,
};
use crate::opt::{algebra, dead_code, dead_flow, fold_constants, share_values, trivial_phis};
use crate::pass::{Pass, Runner};

/// Every pass, for `--print-after` and for the list that users see.
pub const PASSES: &[Pass] = &[
    promote_variables::PASS,
    indirect_variables::PASS,
    switches::PASS,
    buffer_sizes::PASS,
    division::PASS,
    bit_fields::PASS,
    floats::PASS,
    access_sizes::PASS,
    operand_order::PASS,
    critical_edges::PASS,
    trivial_phis::PASS,
    fold_constants::PASS,
    algebra::PASS,
    share_values::PASS,
    dead_code::PASS,
    dead_flow::PASS,
];

/// What every stage needs after it: each pass exposes work for the next.
const CLEAN_UP: &[Pass] = &[
    trivial_phis::PASS,
    fold_constants::PASS,
    operand_order::PASS, // rules look for constants last
    algebra::PASS,
    share_values::PASS,
    dead_code::PASS,
    dead_flow::PASS,
];

/// From the front end's IR to the lowered form.
pub fn lower(function: &mut Function, runner: &mut Runner<'_>) {
    // First, since nothing is known about values in variables.
    runner.run(function, promote_variables::PASS);
    runner.fixpoint(function, CLEAN_UP);
    // Indices that clean-up made constant need neither selects nor scratch.
    runner.run(function, promote_variables::PASS);
    runner.run(function, indirect_variables::PASS);
    runner.run(function, promote_variables::PASS);
    runner.fixpoint(function, CLEAN_UP);

    // Constants are known by now: division by one is much cheaper.
    runner.run(function, switches::PASS);
    runner.run(function, buffer_sizes::PASS);
    runner.run(function, division::PASS);
    runner.run(function, bit_fields::PASS);
    runner.run(function, floats::PASS);
    runner.run(function, access_sizes::PASS);
    runner.fixpoint(function, CLEAN_UP);

    // Last: clean-up would undo them.
    runner.run(function, operand_order::PASS);
    runner.run(function, critical_edges::PASS);
}
