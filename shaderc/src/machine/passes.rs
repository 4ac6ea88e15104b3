//! Rows of passes: those that back ends share, and how a back end lists them among its own.
//!
//! A row says the pass's name, whether what comes after can do without it, what it does, and what it leaves to the runner.

use std::marker::PhantomData;

use super::delay_sources::delay_sources;
use super::hoist_invariants::hoist_invariants;
use super::isolate_groups::isolate_groups;
use super::lower_phis::lower_phis;
use super::propagate_copies::propagate_copies;
use super::remove_dead::remove_dead;
use super::rotate_loops::rotate_loops;
use super::share_moves::share_moves;
use super::split_edges::split_edges;
use super::thread_jumps::thread_jumps;
use super::{Form, Function, Machine};
use crate::pass::{Changed, Pass, PassRow};

/// A pass over machine IR, and whether it is needed.
pub(crate) struct Row<M: Machine> {
    pub(crate) pass: Pass<Function<M>>,
    pub(crate) needed: bool,
}

impl<M: Machine> Row<M> {
    /// What users see of it.
    pub(crate) const fn shown(&self) -> PassRow {
        PassRow {
            name: self.pass.name,
            what: self.pass.what,
            needed: self.needed,
        }
    }
}

/// A pass that doesn't say whether it changed anything.
macro_rules! always {
    ($pass:path) => {
        |function, _| {
            $pass(function);
            crate::pass::Changed::Yes
        }
    };
}
pub(crate) use always;

/// A pass that says so by a truth value.
macro_rules! tells {
    ($pass:path) => {
        |function, _| crate::pass::Changed::from_bool($pass(function))
    };
}
pub(crate) use tells;

/// A row of its parts.
macro_rules! row {
    ($name:literal $need:ident $run:expr, $what:literal) => {
        crate::machine::passes::Row {
            pass: crate::pass::Pass { name: $name, what: $what, run: $run },
            needed: crate::machine::passes::row!(@ $need),
        }
    };
    (@ needed) => { true };
    (@ better) => { false };
}
pub(crate) use row;

/// The passes of a back end, in their order: `NAME shared;` is a row of [`Shared`].
macro_rules! passes {
    ($machine:ty; $( $id:ident $name:tt $( $need:ident $run:expr, $what:literal )?; )*) => {
        $( pub(super) const $id: crate::pass::Pass<crate::machine::Function<$machine>> =
            crate::machine::passes::passes!(@row $machine; $id $name $( $need $run, $what )?).pass; )*

        /// Every pass over machine IR. Selection, allocation and packing do more than change a function.
        pub const PASSES: &[crate::pass::PassRow] = &[
            crate::machine::passes::SELECT,
            $( crate::machine::passes::passes!(@row $machine; $id $name $( $need $run, $what )?).shown(), )*
            crate::machine::passes::SPILL,
            crate::machine::passes::Shared::<$machine>::LOWER_PHIS.shown(),
            crate::machine::passes::Shared::<$machine>::ISOLATE_GROUPS.shown(),
            crate::machine::passes::ALLOCATE,
            crate::machine::passes::PACK,
        ];
    };
    (@row $machine:ty; $id:ident shared) => { crate::machine::passes::Shared::<$machine>::$id };
    (@row $machine:ty; $id:ident $name:literal $need:ident $run:expr, $what:literal) => {{
        const ROW: crate::machine::passes::Row<$machine> =
            crate::machine::passes::row!($name $need $run, $what);
        ROW
    }};
}
pub(crate) use passes;

/// What every back end does beside its passes.
pub(crate) const SELECT: PassRow = PassRow {
    name: "select",
    what: "IR becomes machine IR",
    needed: true,
};
pub(crate) const SPILL: PassRow = PassRow {
    name: "spill",
    what: "values for which there are no registers are kept in memory, in SSA form",
    needed: true,
};
pub(crate) const ALLOCATE: PassRow = PassRow {
    name: "allocate",
    what: "words get registers, or are spilled",
    needed: true,
};
pub(crate) const PACK: PassRow = PassRow {
    name: "pack",
    what: "instructions become words of the program",
    needed: true,
};

/// The rows that back ends share.
pub(crate) struct Shared<M>(PhantomData<M>);

#[rustfmt::skip]
impl<M: Machine> Shared<M> {
    pub(crate) const PROPAGATE_COPIES: Row<M> = row!("propagate_copies" better always!(propagate_copies), "what reads a copy reads the original");
    pub(crate) const REMOVE_DEAD:      Row<M> = row!("remove_dead"      better always!(remove_dead),      "what nobody reads goes");
    pub(crate) const SHARE_MOVES:      Row<M> = row!("share_moves"      better tells!(share_moves),       "equal instructions of a block become one");
    pub(crate) const HOIST_INVARIANTS: Row<M> = row!("hoist_invariants" better tells!(hoist_invariants),  "what gives the same in every round of a loop is computed before it");
    pub(crate) const DELAY_SOURCES:    Row<M> = row!("delay_sources"    better tells!(delay_sources),     "what a phi takes is computed behind the readers of what it gives");
    pub(crate) const SPLIT_EDGES:      Row<M> = row!("split_edges"      needed tells!(split_edges),       "edges to phis get a block for copies");
    pub(crate) const LOWER_PHIS:       Row<M> = row!("lower_phis"       needed |f, _| { lower_phis(f); f.form = Form::Variables; Changed::Yes }, "phis become copies");
    pub(crate) const ISOLATE_GROUPS:   Row<M> = row!("isolate_groups"   needed always!(isolate_groups),   "words that must stand side by side get copies of their own");
    pub(crate) const THREAD_JUMPS:     Row<M> = row!("thread_jumps"     better always!(thread_jumps),     "jumps to jumps go where those go");
    pub(crate) const ROTATE_LOOPS:     Row<M> = row!("rotate_loops"     better tells!(rotate_loops),      "loops test at their bottom");
}
