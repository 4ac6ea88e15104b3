//! The pipeline: the passes in order, and why in that order. The page to read first.

use std::sync::OnceLock;

use crate::ir::Function;
use crate::lower::{
    access_sizes, bit_fields, critical_edges, division, explicit_derivatives, floats,
    guard_image_atomics, guard_texel_buffers, indirect_variables, least_levels, narrow_words,
    non_uniform, operand_order, perspective, promote_variables, robust_access, switches,
    texel_counts, wide_words, window_position,
};
use crate::opt::{
    algebra, bound_loops, choose_loaded, constant_tables, count_down, dead_code, dead_flow,
    demote_branches, distribute_shifts, flatten_branches, fold_constants, forward_stores,
    fuse_multiply_add, hoist_loads, idle_atomics, keep_own_words, keep_products, load_bytes,
    merge_accesses, pack_colors, pair_halves, push_uniform_buffers, reduce_strength, share_rows,
    share_values, split_offsets, test_alignment, thread_conditions, trim_shared, trivial_phis,
    unroll_loops, unroll_partly,
};
use crate::options::Robust;
use crate::order::{self, Condition, Group, Members, Stage, Step};
use crate::pass::{Pass, PassRow, Runner};
use crate::target::Target;

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

/// The passes of [`CLEAN_UP`] whose changes leave nothing to do for one that has run before them, by its name: its own, where one
/// run is enough. It waits until another pass has changed something. No entry is needed for right code, and a wrong one makes it
/// worse: a test runs what would wait.
pub fn needless_behind(pass: &str) -> &'static [&'static str] {
    match pass {
        "promote_variables" => &["promote_variables", "operand_order", "share_values"],
        "trivial_phis" => &["trivial_phis", "operand_order"],
        "fold_constants" => &[
            "fold_constants",
            "operand_order",
            "share_values",
            "dead_code",
        ],
        "operand_order" => &["operand_order", "share_values", "dead_code"],
        // Equal instructions have equal operands, so with one of them no operand dies.
        "share_values" | "dead_code" => &["operand_order", "share_values", "dead_code"],
        "dead_flow" => &["operand_order"],
        _ => &[],
    }
}

const CLEANED_UP: Step<Function, Asked> = Step::Fixpoint(&Group {
    name: "clean-up",
    passes: CLEAN_UP,
    needless_behind,
});

/// Deepest nest of loops that is unrolled: each level is a whole round of clean-up.
const MAX_UNROLLED: u32 = 16;

/// Deepest nest of branches that is flattened: each level is a whole round of clean-up.
const MAX_FLATTENED: u32 = 4;

/// What conditions of the pipeline ask.
struct Asked {
    target: Target,
    robust: Robust,
}

const PAIRS_HALVES: Condition<Asked> = Condition {
    text: "the target pairs halves",
    holds: |asked| asked.target.pairs_halves(),
};

const ROBUST: Condition<Asked> = Condition {
    text: "access is robust",
    holds: |asked| asked.robust == Robust::On,
};

/// From the front end's IR to the lowered form.
const STAGES: &[Stage<Function, Asked>] = &[
    Stage {
        why: "",
        steps: &[
            Step::Run(promote_variables::PASS),
            CLEANED_UP,
            Step::Improve(idle_atomics::PASS),
        ],
    },
    Stage {
        why: "What is stored and loaded between stages is as the machine has it before anything is made better.",
        steps: &[Step::IfChanged(
            &[
                Step::Run(window_position::PASS),
                Step::Run(perspective::PASS),
                Step::Improve(demote_branches::PASS),
            ],
            &[CLEANED_UP],
        )],
    },
    Stage {
        why: "Two halves at once, while they are known as such.",
        steps: &[Step::If(
            PAIRS_HALVES,
            &[
                Step::Improve(fuse_multiply_add::HALVES),
                Step::Improve(pair_halves::PASS),
            ],
            &[],
        )],
    },
    Stage {
        why: "Everything after works on words of 32 bits. Wide ones first: they may come of small ones.",
        steps: &[Step::IfChanged(
            &[Step::Run(wide_words::PASS), Step::Run(narrow_words::PASS)],
            &[CLEANED_UP],
        )],
    },
    Stage {
        why: "Inner loops first; with its inner loops gone an outer one may have become short. It makes indices constant.",
        steps: &[
            Step::Improve(bound_loops::PASS),
            Step::WhileChanged(
                MAX_UNROLLED,
                &[Step::Improve(unroll_loops::PASS)],
                &[CLEANED_UP],
            ),
        ],
    },
    Stage {
        why: "Now every index that can be constant is; the rest needs constant memory, selects or scratch.",
        steps: &[
            Step::Improve(constant_tables::PASS),
            Step::Run(indirect_variables::PASS),
            Step::Improve(keep_own_words::PASS),
            Step::Run(promote_variables::PASS),
            CLEANED_UP,
            Step::Improve(trim_shared::PASS),
        ],
    },
    Stage {
        why: "Which elements are constant is known by now. Before guards, which ask for sizes.",
        steps: &[
            Step::Run(explicit_derivatives::PASS),
            Step::Run(least_levels::PASS),
            Step::Run(non_uniform::PASS),
        ],
    },
    Stage {
        why: "Constants are known by now: division by one is much cheaper.",
        steps: &[
            Step::Run(switches::PASS),
            Step::Run(guard_image_atomics::PASS),
            Step::If(ROBUST, &[Step::Run(guard_texel_buffers::PASS)], &[]),
        ],
    },
    Stage {
        why: "Guards ask for sizes.",
        steps: &[
            Step::Run(texel_counts::PASS),
            Step::Run(division::PASS),
            Step::Run(bit_fields::PASS),
            Step::Run(floats::PASS),
            CLEANED_UP,
        ],
    },
    Stage {
        why: "After lowering, which shows what branches cost; it makes longer blocks for the two after it. With an inner branch \
              gone one around it may have become short.",
        steps: &[Step::IfChanged(
            &[Step::Improve(flatten_branches::PASS)],
            &[
                CLEANED_UP,
                Step::WhileChanged(
                    MAX_FLATTENED,
                    &[Step::Improve(flatten_branches::AROUND)],
                    &[CLEANED_UP],
                ),
            ],
        )],
    },
    Stage {
        why: "What became selects needs no way of its own; loops show the first of their tests at the top.",
        steps: &[Step::IfChanged(
            &[Step::Improve(thread_conditions::PASS)],
            &[CLEANED_UP],
        )],
    },
    Stage {
        why: "Before rounds are copied: each copy would load the same.",
        steps: &[Step::IfChanged(
            &[Step::Improve(hoist_loads::PASS)],
            &[CLEANED_UP],
        )],
    },
    Stage {
        why: "What a round costs shows by now, and rounds in one block have accesses that can be merged.",
        steps: &[Step::IfChanged(
            &[Step::Improve(unroll_partly::PASS)],
            &[Step::Run(promote_variables::PASS), CLEANED_UP],
        )],
    },
    Stage {
        why: "A byte lies where its word did: before guards, which hide what the offset is made of.",
        steps: &[Step::IfChanged(
            &[Step::Improve(load_bytes::PASS)],
            &[CLEANED_UP],
        )],
    },
    Stage {
        why: "Behind a guard stores can't be told apart from branches; before they are merged, since one may be dropped \
              alone.",
        steps: &[Step::If(
            ROBUST,
            &[Step::Run(robust_access::PASS), CLEANED_UP],
            &[],
        )],
    },
    Stage {
        why: "Stores that may be dropped are behind guards by now.",
        steps: &[
            Step::IfChanged(
                &[
                    Step::Improve(forward_stores::PASS),
                    // What is loaded again from a chosen place has gone.
                    Step::Improve(choose_loaded::PASS),
                    Step::Improve(split_offsets::PASS),
                    Step::Improve(test_alignment::PASS),
                ],
                &[CLEANED_UP],
            ),
            Step::Improve(fuse_multiply_add::PASS),
            Step::Improve(merge_accesses::PASS),
            Step::Improve(push_uniform_buffers::PASS),
            Step::Run(access_sizes::PASS),
            CLEANED_UP,
        ],
    },
    Stage {
        why: "Nobody asks any more what offsets are made of.",
        steps: &[Step::IfChanged(
            &[
                Step::Improve(share_rows::PASS),
                Step::Improve(distribute_shifts::PASS),
                Step::Improve(reduce_strength::PASS),
                Step::Improve(keep_products::PASS),
            ],
            &[CLEANED_UP],
        )],
    },
    Stage {
        why: "Offsets that are kept no longer read the counters of loops.",
        steps: &[Step::IfChanged(
            &[Step::Improve(count_down::PASS)],
            &[CLEANED_UP],
        )],
    },
    Stage {
        why: "Behind the last clean-up: algebra would turn operands round again, and dead_flow would remove the blocks on \
              critical edges.",
        steps: &[
            Step::Run(operand_order::PASS),
            Step::Run(critical_edges::PASS),
        ],
    },
];

/// Every pass over IR: those without which there is no code, and then those that make the code better.
pub fn passes() -> impl Iterator<Item = Pass> {
    let Members { needed, improving } = Members::of(STAGES);
    let linked = std::iter::once(pack_colors::PASS);
    needed.into_iter().chain(linked).chain(improving)
}

/// The same, for the list that users see; those of a back end are [`crate::Machine::passes`].
pub fn rows() -> impl Iterator<Item = PassRow> {
    let row = |needed| {
        move |pass: Pass| PassRow {
            name: pass.name,
            what: pass.what,
            needed,
        }
    };
    let Members { needed, improving } = Members::of(STAGES);
    let needed = needed.into_iter().map(row(true));
    use crate::front_end::{BLEND_COLORS, CONSTANT_VARYINGS, LINK, ROUND_FLAT_COLORS, TRANSLATE};
    let first = [TRANSLATE, BLEND_COLORS, LINK];
    first
        .into_iter()
        .chain(needed)
        .chain([
            CONSTANT_VARYINGS,
            ROUND_FLAT_COLORS,
            row(false)(pack_colors::PASS),
        ])
        .chain(improving.into_iter().map(row(false)))
}

/// The order of passes over IR as text, a line a step.
pub fn order() -> String {
    let names: Vec<&str> = CLEAN_UP.iter().map(|pass| pass.name).collect();
    let clean_up = names.join(", ");
    format!(
        "{}; clean-up: in turn, until none changes anything: {clean_up}\n\
         ; graphics: before all this blend_colors, a first clean-up of both stages, constant_varyings*, round_flat_colors*, pack_colors*, then link\n",
        order::print(STAGES)
    )
}

/// Takes what isn't needed out of the front end's IR, so that what a stage reads and writes is what it says.
pub fn prepare(function: &mut Function, runner: &mut Runner<'_>) {
    runner.run(function, promote_variables::PASS);
    for pass in CLEAN_UP {
        runner.run(function, *pass);
    }
}

/// Makes colours halves before the stages are linked: what it loads as halves of a location is handed on as halves.
pub fn pack_colors(function: &mut Function, runner: &mut Runner<'_>) {
    if runner.target.pairs_halves() {
        runner.improve(function, pack_colors::PASS);
    }
}

/// Passes that make loops faster and may keep more values in registers: where these run out, it may be better without. That
/// which gains least comes first.
pub(crate) const KEEPS_REGISTERS: [&[Pass]; 4] = [
    &[test_alignment::PASS],
    &[reduce_strength::PASS, keep_products::PASS],
    &[hoist_loads::PASS],
    &[unroll_partly::PASS],
];

/// Stages of the pipeline, in their order.
type Stages = &'static [Stage<Function, Asked>];

/// The stages before the first that has one of [`KEEPS_REGISTERS`], and the others.
fn parts() -> (Stages, Stages) {
    let keeps_registers = |stage: &Stage<Function, Asked>| {
        let Members { needed, improving } = Members::of(std::slice::from_ref(stage));
        let mut members = needed.iter().chain(&improving);
        members.any(|pass| {
            let mut keepers = KEEPS_REGISTERS.iter().copied().flatten();
            keepers.any(|other| other.name == pass.name)
        })
    };
    // Each compilation asks twice.
    static FIRST: OnceLock<usize> = OnceLock::new();
    let first = || STAGES.iter().position(keeps_registers);
    STAGES.split_at(*FIRST.get_or_init(|| first().unwrap_or(STAGES.len())))
}

/// From the front end's IR to the lowered form. Passes that make the code better may be left out.
pub fn lower(function: &mut Function, robust: Robust, runner: &mut Runner<'_>) {
    lower_first(function, robust, runner);
    lower_rest(function, robust, runner);
}

/// The first part of [`lower`]: none of its passes are among [`KEEPS_REGISTERS`].
pub(crate) fn lower_first(function: &mut Function, robust: Robust, runner: &mut Runner<'_>) {
    let target = runner.target;
    order::follow(parts().0, function, &Asked { target, robust }, runner);
}

/// The second part of [`lower`].
pub(crate) fn lower_rest(function: &mut Function, robust: Robust, runner: &mut Runner<'_>) {
    let target = runner.target;
    order::follow(parts().1, function, &Asked { target, robust }, runner);
}
