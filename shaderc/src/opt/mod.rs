//! Optimisation: one file a pass; `rules` is the table of algebraic rules.
//!
//! Facts: hardware/compiler-ir.md 4; hardware/compiler-optimization.md; hardware/compiler-correctness.md 1 and 5.
pub(crate) mod algebra;
pub(crate) mod bound_loops;
pub(crate) mod constant_tables;
pub(crate) mod constant_varyings;
pub(crate) mod count_down;
pub(crate) mod dead_code;
pub(crate) mod dead_flow;
mod decided;
pub(crate) mod demote_branches;
pub(crate) mod distribute_shifts;
pub(crate) mod flatten_branches;
pub(crate) mod fold_constants;
pub(crate) mod forward_stores;
pub(crate) mod fuse_multiply_add;
pub(crate) mod hoist_loads;
pub(crate) mod keep_own_words;
pub(crate) mod keep_products;
mod loop_counter;
mod loop_steps;
mod loop_variables;
pub(crate) mod merge_accesses;
pub(crate) mod pack_colors;
pub(crate) mod pair_halves;
pub(crate) mod push_uniform_buffers;
pub(crate) mod reduce_strength;
pub(crate) mod round_flat_colors;
mod rules;
pub(crate) mod share_values;
mod shifted_offsets;
pub(crate) mod split_offsets;
pub(crate) mod trim_shared;
pub(crate) mod trivial_phis;
pub(crate) mod unroll_loops;
pub(crate) mod unroll_partly;
mod whole_numbers;
