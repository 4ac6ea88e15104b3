//! Passes over machine IR: their names, what they do, and what they leave, one row each.

use super::expand_lanes::expand_lanes;
use super::fold_repeats::fold_repeats;
use super::insert_nops::insert_nops;
use super::insert_sync::insert_sync;
use super::legalise::legalise;
use super::lower_branches::{end_once, lower_branches};
use super::mark_joins::mark_joins;
use super::mir::Function;
use super::schedule::schedule;
use crate::machine::Form;
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
    PROPAGATE_COPIES "propagate_copies" better always!(propagate_copies), "what reads a copy reads the original";
    REMOVE_DEAD      "remove_dead"      better always!(remove_dead),      "what nobody reads goes";
    LEGALISE         "legalise"         needed always!(legalise),         "constants get a place that their instruction can read";
    SHARE_MOVES      "share_moves"      better tells!(share_moves),       "equal instructions of a block become one";
    HOIST_INVARIANTS "hoist_invariants" better tells!(hoist_invariants),  "what gives the same in every round of a loop is computed before it";
    SCHEDULE         "schedule"         better tells!(schedule),          "instructions are reordered so that results are there when they are read";
    SPLIT_EDGES      "split_edges"      needed tells!(split_edges),       "edges to phis get a block for copies";
    LOWER_PHIS       "lower_phis"       needed |f, _| { lower_phis(f); f.form = Form::Variables; Changed::Yes }, "phis become copies";
    ISOLATE_GROUPS   "isolate_groups"   needed always!(isolate_groups),   "words that must stand side by side get copies of their own";
    END_ONCE         "end_once"         needed tells!(end_once),          "the program ends in one place, the last";
    THREAD_JUMPS     "thread_jumps"     better always!(thread_jumps),     "jumps to jumps go where those go";
    ROTATE_LOOPS     "rotate_loops"     better tells!(rotate_loops),      "loops test at their bottom";
    EXPAND_LANES     "expand_lanes"     needed tells!(expand_lanes),      "what lanes do together becomes branches and loops";
    LOWER_BRANCHES   "lower_branches"   needed always!(lower_branches),   "terminators become branch instructions";
    INSERT_SYNC      "insert_sync"      needed always!(insert_sync),      "instructions wait for the results that they need";
    FOLD_REPEATS     "fold_repeats"     better tells!(fold_repeats),      "the same operation on registers in a row is one instruction";
    INSERT_NOPS      "insert_nops"      needed always!(insert_nops),      "readers of results keep their distance";
    MARK_JOINS       "mark_joins"       needed always!(mark_joins),       "lanes that were parked come together again";
}
