//! Passes over machine IR: their names, what they do, and what they leave, one row each.

use super::assign_slots::assign_slots;
use super::insert_flow::insert_flow;
use super::insert_waits::insert_waits;
use super::legalise::arrange_fau::arrange_fau;
use super::legalise::constants::legalise_constants;
use super::legalise::fau::legalise_fau;
use super::lower_branches::lower_branches;
use super::mark_last_use::mark_last_use;
use super::mir::{Form, Function};
use super::schedule::schedule;
use crate::machine::hoist_invariants::hoist_invariants;
use crate::machine::isolate_groups::isolate_groups;
use crate::machine::lower_phis::lower_phis;
use crate::machine::propagate_copies::propagate_copies;
use crate::machine::remove_dead::remove_dead;
use crate::machine::rotate_loops::rotate_loops;
use crate::machine::share_moves::share_moves;
use crate::machine::split_edges::split_edges;
use crate::machine::thread_jumps::thread_jumps;
use crate::pass::{Changed, PassRow};

/// A pass over machine IR.
pub(super) type Pass = crate::pass::Pass<Function>;

macro_rules! passes {
    ($( $id:ident $name:literal $need:ident $run:expr, $what:literal; )*) => {
        $( pub(super) const $id: Pass = Pass { name: $name, what: $what, run: $run }; )*

        /// Every pass over machine IR. Selection, allocation and packing do more than change a function.
        pub const PASSES: &[PassRow] = &[
            PassRow { name: "select", what: "IR becomes machine IR", needed: true },
            $( PassRow { name: $name, what: $what, needed: passes!(@ $need) }, )*
            PassRow { name: "allocate", what: "words get registers, or are spilled", needed: true },
            PassRow { name: "pack", what: "instructions become words of the program", needed: true },
        ];
    };
    (@ needed) => { true };
    (@ better) => { false };
}

/// A pass that doesn't say whether it changed anything.
macro_rules! always {
    ($pass:path) => {
        |function, _| {
            $pass(function);
            Changed::Yes
        }
    };
}

/// A pass that says so by a truth value.
macro_rules! tells {
    ($pass:path) => {
        |function, _| Changed::from_bool($pass(function))
    };
}

#[rustfmt::skip]
passes! {
    PROPAGATE_COPIES   "propagate_copies"   better always!(propagate_copies),       "what reads a copy reads the original";
    REMOVE_DEAD        "remove_dead"        better always!(remove_dead),            "what nobody reads goes";
    LEGALISE_CONSTANTS "legalise_constants" needed |f, t| { legalise_constants(f, t); Changed::Yes }, "constants get a place that their instruction can read";
    ARRANGE_FAU        "arrange_fau"        better always!(arrange_fau),            "uniform words are ordered so that few must be moved";
    LEGALISE_FAU       "legalise_fau"       needed always!(legalise_fau),           "uniform words that can't be read together are moved to registers";
    SHARE_MOVES        "share_moves"        better always!(share_moves) ,           "equal moves in a block become one";
    HOIST_INVARIANTS   "hoist_invariants"   better tells!(hoist_invariants),        "what gives the same in every round of a loop is computed before it";
    SCHEDULE           "schedule"           better tells!(schedule),                "instructions are reordered so that fewer words live at once";
    SPLIT_EDGES        "split_edges"        needed tells!(split_edges),             "edges to phis get a block for copies";
    LOWER_PHIS         "lower_phis"         needed |f, _| { lower_phis(f); f.form = Form::Variables; Changed::Yes }, "phis become copies";
    ISOLATE_GROUPS     "isolate_groups"     needed always!(isolate_groups),         "words that must stand side by side get copies of their own";
    THREAD_JUMPS       "thread_jumps"       better always!(thread_jumps),           "jumps to jumps go where those go";
    ROTATE_LOOPS       "rotate_loops"       better tells!(rotate_loops),            "loops test at their bottom";
    LOWER_BRANCHES     "lower_branches"     needed always!(lower_branches),         "terminators become branch instructions";
    ASSIGN_SLOTS       "assign_slots"       needed always!(assign_slots),           "messages get slots";
    INSERT_WAITS       "insert_waits"       needed always!(insert_waits),           "instructions wait for the messages that they need";
    INSERT_FLOW        "insert_flow"        needed always!(insert_flow),            "threads end, and come together again";
    MARK_LAST_USE      "mark_last_use"      better always!(mark_last_use),          "the last read of a register is marked";
}
