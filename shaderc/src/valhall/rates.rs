//! Rates: how much each unit of a core does in a cycle, for all who count cycles.
//!
//! Facts: hardware/compiler-optimization.md 3 (rates of Mali-G610, the rule of the arithmetic units together).

use eitri_isa::Arch;

/// Lanes that run FMA instructions.
pub const FMA_LANES: f64 = 64.0;
/// Lanes that run CVT instructions.
pub const CVT_LANES: f64 = 64.0;
/// Lanes that run SFU instructions.
pub const SFU_LANES: f64 = 16.0;
/// Load/store messages.
pub const MESSAGES: f64 = 1.0;
/// Texels.
pub const TEXELS: f64 = 8.0;
/// Components of 16 bits that are interpolated.
pub const COMPONENTS: f64 = 16.0;

/// How much each unit of a core of some architecture does in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rates {
    /// Lanes of multiply and add of floats.
    pub(super) fma: u32,
    /// Lanes of conversions, comparisons and integer addition.
    pub(super) cvt: u32,
    /// Lanes of special functions, integer multiplication and shifts.
    pub(super) sfu: u32,
    /// Messages to memory.
    pub(super) messages: u32,
}

impl Rates {
    /// Those of the usual product of an architecture.
    pub(super) fn of(arch: Arch) -> Rates {
        // FACT: only the multiply-add rate of v12 and v13 is published (hardware/compiler-optimization.md 3), nothing of
        // v11; all else is taken to be as in Mali-G610. They weigh costs against each other and decide nothing that must
        // be right. Settled by timing an arithmetic loop of each unit on a board of each generation.
        let fma = match arch {
            Arch::V12 | Arch::V13 | Arch::V14 => 128,
            Arch::V9 | Arch::V10 | Arch::V11 => 64,
        };
        Rates {
            fma,
            cvt: 64,
            sfu: 16,
            messages: 1,
        }
    }
}

/// Cycles of the arithmetic units together, from those of each.
///
/// ```
/// use eitri_shaderc::valhall::rates;
///
/// assert_eq!(rates::alu(1.0, 2.0, 4.0), 4.0);
/// assert_eq!(rates::alu(4.0, 2.0, 4.0), 7.0);
/// ```
pub fn alu(fma: f64, cvt: f64, sfu: f64) -> f64 {
    (fma + cvt + sfu / 4.0).max(sfu)
}
