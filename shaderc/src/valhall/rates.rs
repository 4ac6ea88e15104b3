//! Rates: how much each unit of a core does in a cycle, for all who count cycles.
//!
//! Facts: hardware/compiler-optimization.md 3 (rates of Mali-G610, the rule of the arithmetic units together).

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
