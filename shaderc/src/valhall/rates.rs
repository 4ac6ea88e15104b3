//! Rates of a core of Mali-G610, as figures that compare compilers take them, and the rule of the arithmetic units together.
//!
//! Facts: hardware/compiler-optimization.md 3; the rates stand in `eitri_isa::rates`.

use eitri_isa::rates::Rates;

/// Lanes that run FMA instructions.
pub const FMA_LANES: f64 = Rates::G610.fma as f64;
/// Lanes that run CVT instructions.
pub const CVT_LANES: f64 = Rates::G610.cvt as f64;
/// Lanes that run SFU instructions.
pub const SFU_LANES: f64 = Rates::G610.sfu as f64;
/// Load/store messages.
pub const MESSAGES: f64 = Rates::G610.messages as f64;
/// Texels.
pub const TEXELS: f64 = Rates::G610.texels as f64;
/// Components of 16 bits that are interpolated.
pub const COMPONENTS: f64 = Rates::G610.components as f64;

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
