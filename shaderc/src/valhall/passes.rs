//! Passes over machine IR: their names, what they do, and what they leave, one row each. Those that are `shared` stand in
//! `machine::passes`.

use super::expand_blends::expand_blends;
use super::helper_lanes::{end_helpers, skip_textures};
use super::legalise::arrange_fau::arrange_fau;
use super::legalise::constants::legalise_constants;
use super::legalise::fau::legalise_fau;
use super::lower_branches::lower_branches;
use super::mir::Valhall;
use super::order::issue_early::issue_early;
use super::order::reuse_places::reuse_places;
use super::order::schedule::schedule;
use super::registers::share_registers::{join_halves, share_registers};
use super::waits::assign_slots::assign_slots;
use super::waits::insert_flow::insert_flow;
use super::waits::insert_waits::insert_waits;
use super::waits::mark_last_use::mark_last_use;
use crate::machine::passes::{always, passes, tells};
use crate::pass::Changed;

#[rustfmt::skip]
passes! {
    Valhall;
    PROPAGATE_COPIES   shared;
    REMOVE_DEAD        shared;
    LEGALISE_CONSTANTS "legalise_constants" needed |f, t| { legalise_constants(f, t); Changed::Yes }, "constants get a place that their instruction can read";
    ARRANGE_FAU        "arrange_fau"        better always!(arrange_fau),            "uniform words are ordered so that few must be moved";
    LEGALISE_FAU       "legalise_fau"       needed always!(legalise_fau),           "uniform words that can't be read together are moved to registers";
    SHARE_MOVES        shared;
    JOIN_HALVES        "join_halves"        better tells!(join_halves),             "halves that are joined to words are made where these will be";
    SHARE_REGISTERS    "share_registers"    better tells!(share_registers),         "values of which 16 or 8 bits are read share registers";
    SKIP_TEXTURES      "skip_textures"      better tells!(skip_textures),           "helper lanes leave out textures whose results nobody in their quad needs";
    HOIST_INVARIANTS   shared;
    ISSUE_EARLY        "issue_early"        better tells!(issue_early),             "loads are issued before what does not need them";
    SCHEDULE           "schedule"           better tells!(schedule),                "instructions are reordered so that fewer words live at once";
    DELAY_SOURCES      shared;
    SPLIT_EDGES        shared;
    THREAD_JUMPS       shared;
    ROTATE_LOOPS       shared;
    LOWER_BRANCHES     "lower_branches"     needed always!(lower_branches),         "terminators become branch instructions";
    REUSE_PLACES       "reuse_places"       better tells!(reuse_places),            "loads of varyings take up where others were interpolated";
    ASSIGN_SLOTS       "assign_slots"       needed always!(assign_slots),           "messages get slots";
    INSERT_WAITS       "insert_waits"       needed always!(insert_waits),           "instructions wait for the messages that they need";
    INSERT_FLOW        "insert_flow"        needed always!(insert_flow),            "threads end, and come together again";
    END_HELPERS        "end_helpers"        better always!(end_helpers),            "helper lanes end where none is needed any more";
    MARK_LAST_USE      "mark_last_use"      better always!(mark_last_use),          "the last read of a register is marked";
    EXPAND_BLENDS      "expand_blends"      needed always!(expand_blends),          "each BLEND is followed by the call of a blend shader";
}
