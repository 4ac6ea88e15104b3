//! Instructions of draws, encoded and checked once for a device: those that every draw has.
//!
//! Facts: hardware/graphics-draw.md 3.1.

use eitri_cs::Arch;
use eitri_cs::builder::{BuildFault, Checked, Config};
use eitri_cs::instr::{RunIdvs, RunIdvs2};

/// The instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodedDraws {
    /// A draw without a program of varyings, and one with.
    run: [Checked; 2],
}

/// A draw with what the registers hold; `varies`: it has a program of varyings of its own.
pub(super) fn split_draw(varies: bool) -> RunIdvs {
    RunIdvs {
        malloc_enable: true,
        varying_fau_select: varies,
        fragment_srt_select: true,
        ..RunIdvs::default()
    }
}

/// The same where one program makes all of a vertex.
pub(super) fn merged_draw() -> RunIdvs2 {
    RunIdvs2 {
        malloc_enable: true,
        ..RunIdvs2::default()
    }
}

impl EncodedDraws {
    /// For streams of a configuration.
    ///
    /// # Errors
    /// If a stream does not have them.
    pub(crate) fn new(config: &Config) -> Result<EncodedDraws, BuildFault> {
        let run = |varies| {
            if config.arch < Arch::V12 {
                config.checked(split_draw(varies))
            } else {
                config.checked(merged_draw())
            }
        };
        Ok(EncodedDraws {
            run: [run(false)?, run(true)?],
        })
    }

    /// A draw with what the registers hold.
    pub(super) const fn run(&self, varies: bool) -> Checked {
        let [plain, varying] = self.run;
        if varies { varying } else { plain }
    }
}
