//! Passes over machine IR: their names, what they do, and what they leave, one row each. Those that are `shared` stand in
//! `machine::passes`.

use super::expand_lanes::expand_lanes;
use super::fold_repeats::fold_repeats;
use super::insert_nops::insert_nops;
use super::insert_sync::insert_sync;
use super::legalise::legalise;
use super::lower_branches::{end_once, lower_branches};
use super::mark_joins::mark_joins;
use super::mir::Ir3;
use super::schedule::schedule;
use crate::machine::passes::{always, passes, tells};

#[rustfmt::skip]
passes! {
    Ir3;
    PROPAGATE_COPIES shared;
    REMOVE_DEAD      shared;
    LEGALISE         "legalise"         needed always!(legalise),         "constants get a place that their instruction can read";
    SHARE_MOVES      shared;
    HOIST_INVARIANTS shared;
    SCHEDULE         "schedule"         better tells!(schedule),          "instructions are reordered so that results are there when they are read";
    SPLIT_EDGES      shared;
    END_ONCE         "end_once"         needed tells!(end_once),          "the program ends in one place, the last";
    THREAD_JUMPS     shared;
    ROTATE_LOOPS     shared;
    EXPAND_LANES     "expand_lanes"     needed tells!(expand_lanes),      "what lanes do together becomes branches and loops";
    LOWER_BRANCHES   "lower_branches"   needed always!(lower_branches),   "terminators become branch instructions";
    INSERT_SYNC      "insert_sync"      needed always!(insert_sync),      "instructions wait for the results that they need";
    FOLD_REPEATS     "fold_repeats"     better tells!(fold_repeats),      "the same operation on registers in a row is one instruction";
    INSERT_NOPS      "insert_nops"      needed always!(insert_nops),      "readers of results keep their distance";
    MARK_JOINS       "mark_joins"       needed always!(mark_joins),       "lanes that were parked come together again";
}
