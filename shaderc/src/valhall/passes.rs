//! Passes over machine IR: their names, what they do, and what they leave, one row each.

use super::assign_slots::assign_slots;
use super::insert_flow::insert_flow;
use super::insert_waits::insert_waits;
use super::isolate_groups::isolate_groups;
use super::legalise::arrange_fau::arrange_fau;
use super::legalise::constants::legalise_constants;
use super::legalise::fau::legalise_fau;
use super::lower_branches::lower_branches;
use super::lower_phis::lower_phis;
use super::mark_last_use::mark_last_use;
use super::mir::{Form, Function};
use super::propagate_copies::propagate_copies;
use super::remove_dead::remove_dead;
use super::schedule::schedule;
use super::share_values::share_values;
use super::split_edges::split_edges;
use super::thread_jumps::thread_jumps;

/// A pass over machine IR.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    pub(super) name: &'static str,
    /// What the function is afterwards, while the verifier knows it.
    pub(super) form: Option<Form>,
    pub(super) run: fn(&mut Function),
}

/// Before `lower_phis`.
const SSA: Option<Form> = Some(Form::Ssa);
/// After it.
const VARIABLES: Option<Form> = Some(Form::Variables);
/// With registers.
const REGISTERS: Option<Form> = None;

macro_rules! passes {
    ($( $id:ident $name:literal $form:ident $run:expr, $what:literal; )*) => {
        $( pub(super) const $id: Pass = Pass { name: $name, form: $form, run: $run }; )*

        /// Name of every pass over machine IR with what it does. Selection and allocation do more than change a function.
        pub const PASSES: &[(&str, &str)] = &[
            ("select", "IR becomes machine IR"),
            $( ($name, $what), )*
            ("allocate", "words get registers, or are spilled"),
        ];
    };
}

#[rustfmt::skip]
passes! {
    PROPAGATE_COPIES   "propagate_copies"   SSA       propagate_copies,            "what reads a copy reads the original";
    REMOVE_DEAD        "remove_dead"        SSA       remove_dead,                 "what nobody reads goes";
    LEGALISE_CONSTANTS "legalise_constants" SSA       legalise_constants,          "constants get a place that their instruction can read";
    ARRANGE_FAU        "arrange_fau"        SSA       arrange_fau,                 "uniform words are ordered so that few must be moved";
    LEGALISE_FAU       "legalise_fau"       SSA       legalise_fau,                "uniform words that can't be read together are moved to registers";
    SHARE_VALUES       "share_values"       SSA       share_values,                "equal moves in a block become one";
    SCHEDULE           "schedule"           SSA       |f| { schedule(f); },        "instructions are reordered so that fewer words live at once";
    SPLIT_EDGES        "split_edges"        SSA       |f| { split_edges(f); },     "edges to phis get a block for copies";
    LOWER_PHIS         "lower_phis"         VARIABLES |f| { lower_phis(f); },      "phis become copies";
    ISOLATE_GROUPS     "isolate_groups"     VARIABLES isolate_groups,              "words that must stand side by side get copies of their own";
    THREAD_JUMPS       "thread_jumps"       REGISTERS thread_jumps,                "jumps to jumps go where those go";
    LOWER_BRANCHES     "lower_branches"     REGISTERS lower_branches,              "terminators become branch instructions";
    ASSIGN_SLOTS       "assign_slots"       REGISTERS assign_slots,                "messages get slots";
    INSERT_WAITS       "insert_waits"       REGISTERS insert_waits,                "instructions wait for the messages that they need";
    INSERT_FLOW        "insert_flow"        REGISTERS insert_flow,                 "threads end, and come together again";
    MARK_LAST_USE      "mark_last_use"      REGISTERS mark_last_use,               "the last read of a register is marked";
}
