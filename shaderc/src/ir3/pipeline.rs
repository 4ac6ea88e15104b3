//! Pipeline: the passes of the back end in order, and why in that order.
//!
//! The order is data ([`order`]), which docs/back-ends.md prints. The runner verifies after each pass while there are values; what comes of allocation is proved by the allocator's checker, and
//! the finished words by `check`.

use super::Choices;
use super::allocate::{AllocateError, allocate, waves};
use super::error::Error;
use super::mir::{Function, Ir3};
use super::passes;
use super::select::select;
use super::statistics::{footprint, issue_cost, spill_cost};
use crate::ir;
use crate::machine::Form;
use crate::machine::allocate::Allocated;
use crate::machine::variants::{self, Attempt, Base, Candidate, Variant};
use crate::order::{self, Stage, Step};
use crate::pass::Runner;
use eitri_ir3_isa::device::Parts;

/// From selection to what hoisting begins with.
const SELECTED: &[Stage<Function>] = &[
    Stage {
        why: "What selection read through is dead now, and legalisation should not find homes for its constants.",
        steps: &[
            Step::Improve(passes::PROPAGATE_COPIES),
            Step::Improve(passes::REMOVE_DEAD),
            Step::Run(passes::LEGALISE),
        ],
    },
    Stage {
        why: "Legalisation moves the same constant for each reader; addresses of one block have parts in common.",
        steps: &[
            Step::Improve(passes::SHARE_MOVES),
            Step::Improve(passes::PROPAGATE_COPIES),
            Step::Improve(passes::REMOVE_DEAD),
        ],
    },
];

/// What is tried, in this order.
const VARIANTS: &[Variant<Ir3>] = &[
    Variant {
        what: "results are there when they are read",
        base: Base::Best,
        change: None,
        last: Some(passes::SCHEDULE),
        without: None,
    },
    Variant {
        what: "instructions stay where they are, so that what is begun early does not live longer",
        base: Base::Best,
        change: None,
        last: None,
        without: Some(passes::SCHEDULE),
    },
    Variant {
        what: "no value lives through a loop that need not",
        base: Base::Unhoisted,
        change: None,
        last: None,
        without: Some(passes::HOIST_INVARIANTS),
    },
];

/// Before allocation.
const SPLIT: &[Stage<Function>] = &[Stage {
    why: "Copies at edges need an edge with a place for them.",
    steps: &[Step::Run(passes::SPLIT_EDGES)],
}];

/// From allocation to the final instructions.
const ALLOCATED: &[Stage<Function>] = &[
    Stage {
        why: "All lanes come to one end; blocks that only ended jump there.",
        steps: &[Step::Run(passes::END_ONCE)],
    },
    Stage {
        why: "Only now is it known which blocks hold no copies.",
        steps: &[
            Step::Improve(passes::THREAD_JUMPS),
            Step::Improve(passes::ROTATE_LOOPS),
        ],
    },
    Stage {
        why: "After those: what lanes do together must stay together, which they see by its name.",
        steps: &[
            Step::Run(passes::EXPAND_LANES),
            Step::Run(passes::LOWER_BRANCHES),
        ],
    },
    Stage {
        why: "Before idle slots, since what waits needs a place that is a slot itself.",
        steps: &[Step::Run(passes::INSERT_SYNC)],
    },
    Stage {
        why: "What waits can't be a later step of another; and idle slots are counted from whole instructions.",
        steps: &[
            Step::Improve(passes::FOLD_REPEATS),
            Step::Run(passes::INSERT_NOPS),
        ],
    },
    Stage {
        why: "Behind idle slots: which instruction lanes wait at depends on the final order.",
        steps: &[Step::Run(passes::MARK_JOINS)],
    },
];

/// The order of passes as text, a line a step.
pub(super) fn order() -> String {
    [
        "select\n",
        &order::print(SELECTED),
        &format!("{}*\n", passes::HOIST_INVARIANTS.name),
        "; The cheapest of these variants, tried in turn while words are spilled or few waves run at once:\n",
        &variants::print(VARIANTS),
        "; Each variant is finished:\n",
        &order::print(SPLIT),
        "; Phis become copies inside: not before it is known what has to be spilled.\n",
        "allocate (spill, lower_phis, isolate_groups)\n",
        &order::print(ALLOCATED),
        "pack\n",
    ]
    .concat()
}

/// More waves than these hide little more.
const MANY_WAVES: u32 = 8;

/// A program ready to be packed.
pub(super) struct Lowered {
    pub(super) function: Function,
    pub(super) allocated: Allocated,
}

/// All passes up to packing; none if the runner stopped before the end.
pub(super) fn lower(
    ir: &ir::Function,
    parts: &Parts,
    choices: Choices,
    runner: &mut Runner<'_>,
) -> Result<Option<Lowered>, Error> {
    // Selection follows operands and edges without looking twice.
    runner
        .time("verify", |()| ir::verify::verify(ir))
        .map_err(|broken| {
            Error::broken("lower", broken.iter().map(ToString::to_string).collect())
        })?;
    let selected = runner.time("select", |()| select(ir, parts));
    let mut function = selected.map_err(|refused| match refused.is_empty() {
        true => Error::ConstantsFull,
        false => Error::Unsupported(refused),
    })?;
    runner.after("select", &function);

    order::follow(SELECTED, &mut function, &(), runner);
    let hoist = passes::HOIST_INVARIANTS;
    let found = variants::cheapest(function, hoist, VARIANTS, runner, |function, _, runner| {
        let finished = finish(function, parts, choices, runner)?;
        let costed = finished.map(|lowered| Attempt::Finished(Costed { lowered, parts }));
        Ok(costed.unwrap_or(Attempt::Stopped))
    })?;
    Ok(found.map(|costed| costed.lowered))
}

/// A program on a device, whose parts say what registers cost.
struct Costed<'p> {
    lowered: Lowered,
    parts: &'p Parts,
}

impl Costed<'_> {
    /// Waves that run at once, as far as they are few.
    fn waves(&self) -> u32 {
        waves(self.parts, footprint(&self.lowered.function)).min(MANY_WAVES)
    }
}

impl Candidate for Costed<'_> {
    /// Spilling by how often it runs, then waves that are missing, then idle slots.
    type Cost = (u32, u32, u32);

    fn cost(&self) -> Self::Cost {
        let function = &self.lowered.function;
        (
            spill_cost(function),
            MANY_WAVES - self.waves(),
            issue_cost(function),
        )
    }

    /// Whether words are spilled, or few waves run at once.
    fn is_tight(&self) -> bool {
        self.lowered.allocated.spills > 0 || self.waves() < MANY_WAVES
    }
}

/// The passes from SSA to the final order; none if the runner stopped before the end.
fn finish(
    mut function: Function,
    parts: &Parts,
    choices: Choices,
    runner: &mut Runner<'_>,
) -> Result<Option<Lowered>, Error> {
    order::follow(SPLIT, &mut function, &(), runner);
    if runner.is_over() {
        return Ok(None);
    }
    let allocated = allocate(&mut function, parts, choices.register_limit, runner);
    let allocated = allocated.map_err(|error| match error {
        AllocateError::TooFewRegisters | AllocateError::NoRoom => Error::TooFewRegisters,
        AllocateError::ScratchFull => Error::PrivateFull,
        AllocateError::Wrong(wrong) => Error::broken("allocate", vec![wrong.to_string()]),
    })?;
    let Some(allocated) = allocated else {
        return Ok(None);
    };
    function.form = Form::Registers;
    runner.after("allocate", &function);

    order::follow(ALLOCATED, &mut function, &(), runner);
    if runner.is_over() {
        return Ok(None);
    }
    Ok(Some(Lowered {
        function,
        allocated,
    }))
}
