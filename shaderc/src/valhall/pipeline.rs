//! Pipeline: the passes of the back end in order, and why in that order.
//!
//! The order is data ([`order`]), which docs/back-ends.md prints. The runner verifies after each pass while there are
//! values, and the checkers look at the answers of allocation and of waits.

use super::Choices;
use super::error::Error;
use super::mir::{Form, Function, Valhall};
use super::passes;
use super::registers::allocate::{AllocateError, AllocateOptions, Allocated, allocate};
use super::select::select;
use super::statistics::spill_cost;
use super::waits::check_waits::{Fences, check_waits};
use crate::ir;
use crate::link::VaryingLayout;
use crate::machine::variants::{self, Attempt, Base, Candidate, Variant};
use crate::order::{self, Condition, Stage, Step};
use crate::pass::Runner;
use eitri_isa::Arch;

/// From selection to what hoisting begins with.
const SELECTED: &[Stage<Function, Choices>] = &[
    Stage {
        why: "What selection read through is dead now, and legalisation should not find homes for its constants.",
        steps: &[
            Step::Improve(passes::PROPAGATE_COPIES),
            Step::Improve(passes::REMOVE_DEAD),
        ],
    },
    Stage {
        why: "Constants first: where they go decides what else an instruction may read.",
        steps: &[Step::Run(passes::LEGALISE_CONSTANTS)],
    },
    Stage {
        why: "Then the order of uniform words, which decides what has to be moved. Twice: a constant that was moved needs no \
              word any more, and without it the others may lie differently.",
        steps: &[Step::Times(
            2,
            &[
                Step::Improve(passes::ARRANGE_FAU),
                Step::Run(passes::LEGALISE_FAU),
            ],
        )],
    },
    Stage {
        why: "Legalisation moves the same constant for each reader.",
        steps: &[Step::Improve(passes::SHARE_MOVES)],
    },
    Stage {
        why: "Which halves can be selected is known now.",
        steps: &[Step::If(
            Condition {
                text: "values are to share registers",
                holds: |choices| choices.share_registers,
            },
            &[Step::Improve(passes::SHARE_REGISTERS)],
            &[Step::Improve(passes::JOIN_HALVES)],
        )],
    },
    Stage {
        why: "What needs what is plain as long as there are values.",
        steps: &[Step::Improve(passes::SKIP_TEXTURES)],
    },
];

/// What is tried, in this order.
const VARIANTS: &[Variant<Valhall>] = &[
    Variant {
        what: "loads are issued early, so that their results live longer",
        base: Base::Best,
        change: None,
        last: Some(passes::ISSUE_EARLY),
        without: None,
    },
    Variant {
        what: "several values share a register",
        base: Base::Best,
        change: Some(passes::SHARE_REGISTERS),
        last: Some(passes::ISSUE_EARLY),
        without: None,
    },
    Variant {
        what: "loads stay where they are",
        base: Base::Best,
        change: None,
        last: None,
        without: Some(passes::ISSUE_EARLY),
    },
    Variant {
        what: "no value lives through a loop that need not",
        base: Base::Unhoisted,
        change: None,
        last: None,
        without: Some(passes::HOIST_INVARIANTS),
    },
    Variant {
        what: "another order of instructions needs fewer registers",
        base: Base::Best,
        change: Some(passes::SCHEDULE),
        last: None,
        without: None,
    },
];

/// Before allocation.
const SPLIT: &[Stage<Function>] = &[
    Stage {
        why: "In the order that instructions will have.",
        steps: &[Step::Improve(passes::DELAY_SOURCES)],
    },
    Stage {
        why: "Copies at edges need an edge with a place for them.",
        steps: &[Step::Run(passes::SPLIT_EDGES)],
    },
];

/// From allocation to slots.
const ALLOCATED: &[Stage<Function>] = &[Stage {
    why: "Only now is it known which blocks hold no copies; the rest are final but for waits.",
    steps: &[
        Step::Improve(passes::THREAD_JUMPS),
        Step::Improve(passes::ROTATE_LOOPS),
        Step::Run(passes::LOWER_BRANCHES),
        Step::Improve(passes::REUSE_PLACES),
        Step::Run(passes::ASSIGN_SLOTS),
    ],
}];

/// From slots to the final instructions.
const SLOTTED: &[Stage<Function>] = &[
    Stage {
        why: "Fences become waits, and are gone.",
        steps: &[Step::Run(passes::INSERT_WAITS)],
    },
    Stage {
        why: "After waits: both want the last instruction's flow, and the block's end has no other place.",
        steps: &[Step::Run(passes::INSERT_FLOW)],
    },
    Stage {
        why: "After all other flow, of which an instruction has one.",
        steps: &[Step::Improve(passes::END_HELPERS)],
    },
    Stage {
        why: "Behind the waits, on which it depends.",
        steps: &[Step::Improve(passes::MARK_LAST_USE)],
    },
];

/// To what is packed.
const CHECKED: &[Stage<Function>] = &[Stage {
    why: "Nothing may come between a BLEND and its call any more.",
    steps: &[Step::Run(passes::EXPAND_BLENDS)],
}];

/// The order of passes as text, a line a step.
pub(super) fn order() -> String {
    [
        "select\n",
        &order::print(SELECTED),
        &format!("{}*\n", passes::HOIST_INVARIANTS.name),
        "; The cheapest of these variants, tried in turn while registers are short:\n",
        &variants::print(VARIANTS),
        "; Each variant is finished:\n",
        &order::print(SPLIT),
        "; Phis become copies inside: not before it is known what has to be spilled.\n",
        "allocate (spill, lower_phis, isolate_groups)\n",
        &order::print(ALLOCATED),
        &order::print(SLOTTED),
        &order::print(CHECKED),
        "pack\n",
    ]
    .concat()
}

/// A program ready to be packed.
pub(super) struct Lowered {
    pub(super) function: Function,
    pub(super) allocated: Allocated,
}

/// All passes up to packing; none if the runner stopped before the end, or the choices leave too few registers.
pub(super) fn lower(
    ir: &ir::Function,
    arch: Arch,
    choices: Choices,
    varyings: &VaryingLayout,
    runner: &mut Runner<'_>,
) -> Result<Option<Lowered>, Error> {
    // Selection follows operands and edges without looking twice.
    runner
        .time("verify", |()| ir::verify::verify(ir))
        .map_err(|broken| {
            Error::broken("lower", broken.iter().map(ToString::to_string).collect())
        })?;
    let mut make = |may_keep_addresses: bool,
                    rival: Option<&Lowered>|
     -> Result<(Option<Lowered>, bool), Error> {
        let target = runner.target;
        let selected = runner.time("select", |()| {
            select(ir, arch, &target, varyings, may_keep_addresses)
        })?;
        let mut function = selected.function;
        runner.after("select", &function);
        order::follow(SELECTED, &mut function, &choices, runner);
        let hoist = passes::HOIST_INVARIANTS;
        let made = variants::cheapest(
            function,
            hoist,
            VARIANTS,
            runner,
            |function, best, runner| finish(function, choices, best.or(rival), runner),
        )?;
        Ok((made, selected.keeps_addresses))
    };
    let (made, keeps_addresses) = make(true, None)?;
    if !keeps_addresses || made.as_ref().is_some_and(|made| !made.is_tight()) {
        return Ok(made);
    }
    // Registers are short: addresses that are made anew take none on the way.
    let (other, _) = make(false, made.as_ref())?;
    let candidates = made.into_iter().chain(other);
    Ok(candidates.min_by_key(Lowered::cost))
}

impl Candidate for Lowered {
    /// Threads, then spilling by how often it runs, then length.
    type Cost = (u32, u32, usize);

    /// Whether it needs more than half the registers, or memory for words.
    fn is_tight(&self) -> bool {
        self.allocated.registers_per_thread > 32 || self.allocated.spills > 0
    }

    fn cost(&self) -> Self::Cost {
        let memory = spill_cost(&self.function);
        let length = self
            .function
            .blocks
            .iter()
            .map(|block| block.instrs.len())
            .sum();
        (self.allocated.registers_per_thread, memory, length)
    }
}

/// The passes from SSA to the final order. `rival` is what the result is compared with.
fn finish(
    mut function: Function,
    choices: Choices,
    rival: Option<&Lowered>,
    runner: &mut Runner<'_>,
) -> Result<Attempt<Lowered>, Error> {
    order::follow(SPLIT, &mut function, &(), runner);
    if runner.is_over() {
        return Ok(Attempt::Stopped);
    }
    // What keeps all its words in registers is beaten by what needs half of them alone.
    let beaten_by_half = rival.is_some_and(|rival| rival.allocated.spills == 0);
    // What spills more than the rival is dearer, however short it is.
    let spilling = rival.filter(|rival| rival.allocated.spills > 0);
    let spilling = spilling.map(|rival| spill_cost(&rival.function));
    let options = AllocateOptions {
        limit: choices.register_limit,
        full_file: choices.full_registers,
        only_half: choices.half_registers || beaten_by_half && !choices.full_registers,
        most_spill_cost: spilling.into_iter().chain(choices.most_spill_cost).min(),
        check: runner.checks(),
    };
    let allocated = match allocate(&mut function, options, runner) {
        Ok(Some(allocated)) => allocated,
        Ok(None) => return Ok(Attempt::Stopped),
        Err(AllocateError::NoRoom) => return Ok(Attempt::Hopeless),
        Err(error) => return Err(error.into()),
    };
    function.form = Form::Registers;
    runner.after("allocate", &function);

    order::follow(ALLOCATED, &mut function, &(), runner);
    let fences = runner.checks().then(|| Fences::of(&function));
    order::follow(SLOTTED, &mut function, &(), runner);
    if runner.is_over() {
        return Ok(Attempt::Stopped);
    }
    if let Some(fences) = fences {
        check_waits(&function, &fences)
            .map_err(|broken| Error::broken("insert_waits", vec![broken.to_string()]))?;
    }
    order::follow(CHECKED, &mut function, &(), runner);
    if runner.is_over() {
        return Ok(Attempt::Stopped);
    }
    Ok(Attempt::Finished(Lowered {
        function,
        allocated,
    }))
}
