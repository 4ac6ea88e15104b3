//! The figures of a kernel, a column each.

use crate::reports::executed::Executed;
use eitri_shaderc::valhall::Statistics;

/// Which way is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Good {
    Less,
    More,
    /// Neither: it says how to read the others.
    Neither,
}

/// Where a figure comes from.
#[derive(Clone, Copy)]
pub(crate) enum Origin {
    /// Counted in the binary. With another number of loops left, such a figure can't be compared.
    Static(fn(&Statistics) -> f64),
    /// Counted while the model ran.
    Ran(fn(&Executed) -> f64),
}

/// A figure.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) good: Good,
    from: Origin,
}

impl Column {
    pub(crate) fn of(&self, statistics: &Statistics, executed: &Executed) -> f64 {
        match self.from {
            Origin::Static(figure) => figure(statistics),
            Origin::Ran(figure) => figure(executed),
        }
    }

    /// Whether another number of loops makes the figure incomparable.
    pub(crate) fn depends_on_loops(&self) -> bool {
        matches!(
            self.name,
            "instructions" | "fma" | "cvt" | "sfu" | "ls" | "cycles"
        )
    }
}

/// The column that says how many loops are left.
pub(crate) const LOOPS: &str = "loops";

use Good::{Less, More, Neither};
use Origin::{Ran, Static};

/// All figures, in the order of the file.
#[rustfmt::skip]
pub(crate) const COLUMNS: &[Column] = &[
    Column { name: "instructions",     good: Less,    from: Static(|it| it.instructions as f64) },
    Column { name: "fma",              good: Less,    from: Static(|it| it.fma) },
    Column { name: "cvt",              good: Less,    from: Static(|it| it.cvt) },
    Column { name: "sfu",              good: Less,    from: Static(|it| it.sfu) },
    Column { name: "ls",               good: Less,    from: Static(|it| it.load_store) },
    Column { name: "cycles",           good: Less,    from: Static(|it| it.cycles) },
    Column { name: "threads",          good: More,    from: Static(|it| it.threads.into()) },
    Column { name: "registers",        good: Less,    from: Static(|it| it.registers.into()) },
    Column { name: "uniforms",         good: Neither, from: Static(|it| it.uniforms as f64) },
    Column { name: LOOPS,              good: Neither, from: Static(|it| it.loops as f64) },
    Column { name: "spills",           good: Less,    from: Static(|it| it.spills as f64) },
    Column { name: "fills",            good: Less,    from: Static(|it| it.fills as f64) },
    Column { name: "ran-instructions", good: Less,    from: Ran(|it| it.instructions as f64) },
    Column { name: "ran-lanes",        good: Less,    from: Ran(|it| it.lane_instructions as f64) },
    Column { name: "ran-cycles",       good: Less,    from: Ran(Executed::cycles) },
    Column { name: "ran-clocks",       good: Less,    from: Ran(Executed::clocks) },
    Column { name: "ran-messages",     good: Less,    from: Ran(|it| it.messages.total() as f64) },
    Column { name: "ran-loads",        good: Neither, from: Ran(|it| it.messages.load as f64) },
    Column { name: "ran-stores",       good: Neither, from: Ran(|it| it.messages.store as f64) },
    Column { name: "ran-atomics",      good: Neither, from: Ran(|it| it.messages.atomic as f64) },
    Column { name: "ran-addresses",    good: Neither, from: Ran(|it| it.messages.address as f64) },
    Column { name: "ran-textures",     good: Neither, from: Ran(|it| it.messages.texture as f64) },
    Column { name: "ran-branches",     good: Neither, from: Ran(|it| it.branches as f64) },
    Column { name: "ran-barriers",     good: Neither, from: Ran(|it| it.barriers as f64) },
    Column { name: "ran-nops",         good: Neither, from: Ran(|it| it.nops as f64) },
    Column { name: "ran-stream",       good: Less,    from: Ran(|it| it.stream.instructions as f64) },
    Column { name: "ran-flushes",      good: Less,    from: Ran(|it| it.stream.flushes as f64) },
];

/// The place of a column.
pub(crate) fn index(name: &str) -> Option<usize> {
    COLUMNS.iter().position(|column| column.name == name)
}
