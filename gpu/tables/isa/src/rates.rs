//! Rates: how much each unit of a shader core does in a cycle.
//!
//! Whoever counts cycles takes them from here: the compiler's statistics, the reports, and the model's virtual time.
//!
//! Facts: hardware/compiler-optimization.md 3 (rates, the rule of the arithmetic units together).

use crate::arch::Arch;

/// Threads of a warp.
pub const WARP: u32 = 16;

/// How much each unit of a core does in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rates {
    /// Lanes of multiply and add of floats.
    pub fma: u32,
    /// Lanes of conversions, comparisons and integer addition.
    pub cvt: u32,
    /// Lanes of special functions, integer multiplication and shifts.
    pub sfu: u32,
    /// Messages to memory, or lines of the cache that they touch.
    pub messages: u32,
    /// Texels, filtered bilinearly.
    pub texels: u32,
    /// Components of 16 bits that are interpolated.
    pub components: u32,
    /// Pixels that leave the rasteriser.
    pub pixels: u32,
}

impl Rates {
    /// Those of Mali-G610.
    pub const G610: Rates = Rates {
        fma: 64,
        cvt: 64,
        sfu: 16,
        messages: 1,
        texels: 8,
        components: 16,
        pixels: 4,
    };

    /// Those of the usual product of an architecture.
    ///
    /// ```
    /// use eitri_isa::{Arch, rates::Rates};
    ///
    /// assert_eq!(Rates::of(Arch::V10).fma, 64);
    /// assert_eq!(Rates::of(Arch::V12).fma, 128);
    /// ```
    pub const fn of(arch: Arch) -> Rates {
        // FACT: only the multiply-add rate of v12 and v13 is published (hardware/compiler-optimization.md 3), nothing of
        // v11; all else is taken to be as in Mali-G610. Settled by timing an arithmetic loop of each unit on a board of each
        // generation.
        let fma = match arch {
            Arch::V12 | Arch::V13 | Arch::V14 => 128,
            Arch::V9 | Arch::V10 | Arch::V11 => 64,
        };
        Rates { fma, ..Rates::G610 }
    }
}
