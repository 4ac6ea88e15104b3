//! Comparisons, as C gives them: of a reference with a value of stencil or with a texel.

use crate::status::Refusal;
use eitri_runtime::Func;

/// Comparisons of a reference with a value, by Vulkan's numbers: one that never holds.
pub const EITRI_COMPARE_NEVER: u32 = 0;
/// The reference is less.
pub const EITRI_COMPARE_LESS: u32 = 1;
/// Both are equal.
pub const EITRI_COMPARE_EQUAL: u32 = 2;
/// The reference is less or equal.
pub const EITRI_COMPARE_LESS_OR_EQUAL: u32 = 3;
/// The reference is greater.
pub const EITRI_COMPARE_GREATER: u32 = 4;
/// The two values differ.
pub const EITRI_COMPARE_NOT_EQUAL: u32 = 5;
/// The reference is greater or equal.
pub const EITRI_COMPARE_GREATER_OR_EQUAL: u32 = 6;
/// One that always holds.
pub const EITRI_COMPARE_ALWAYS: u32 = 7;

/// The driver's comparison.
pub(crate) fn compare(number: u32) -> Result<Func, Refusal> {
    Ok(match number {
        EITRI_COMPARE_NEVER => Func::Never,
        EITRI_COMPARE_LESS => Func::Less,
        EITRI_COMPARE_EQUAL => Func::Equal,
        EITRI_COMPARE_LESS_OR_EQUAL => Func::Lequal,
        EITRI_COMPARE_GREATER => Func::Greater,
        EITRI_COMPARE_NOT_EQUAL => Func::NotEqual,
        EITRI_COMPARE_GREATER_OR_EQUAL => Func::Gequal,
        EITRI_COMPARE_ALWAYS => Func::Always,
        _ => return Err(Refusal::Argument("compare is none of EITRI_COMPARE_…")),
    })
}
