//! The test of stencil, as C gives it.

use crate::comparison::compare;
use crate::status::Refusal;
use eitri_runtime::{StencilFace, StencilOp, StencilState};

/// Operations on the value of stencil, by Vulkan's numbers: it stays.
pub const EITRI_STENCIL_KEEP: u32 = 0;
/// It becomes 0.
pub const EITRI_STENCIL_ZERO: u32 = 1;
/// It becomes the reference.
pub const EITRI_STENCIL_REPLACE: u32 = 2;
/// It becomes one more, 255 at most.
pub const EITRI_STENCIL_INCREMENT_AND_CLAMP: u32 = 3;
/// It becomes one less, 0 at least.
pub const EITRI_STENCIL_DECREMENT_AND_CLAMP: u32 = 4;
/// Its bits are inverted.
pub const EITRI_STENCIL_INVERT: u32 = 5;
/// It becomes one more, and 0 behind 255.
pub const EITRI_STENCIL_INCREMENT_AND_WRAP: u32 = 6;
/// It becomes one less, and 255 before 0.
pub const EITRI_STENCIL_DECREMENT_AND_WRAP: u32 = 7;

/// A test of stencil, of front or back faces. All numbers but `compare`, `fail`, `depth_fail` and `pass` are below 256.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriStencil {
    /// EITRI_COMPARE_…: how the reference has to compare with the value that is there.
    pub compare: u32,
    /// EITRI_STENCIL_…, if it does not.
    pub fail: u32,
    /// EITRI_STENCIL_…, if it does and the test of depth fails.
    pub depth_fail: u32,
    /// EITRI_STENCIL_…, if both are passed.
    pub pass: u32,
    /// Bits that are compared.
    pub compare_mask: u32,
    /// Bits that are written.
    pub write_mask: u32,
    /// What is compared: eitri_pass_set_stencil_reference() changes it.
    pub reference: u32,
}

fn operation(number: u32) -> Result<StencilOp, Refusal> {
    const NONE: &str = "fail, depth_fail or pass is none of EITRI_STENCIL_…";
    Ok(match number {
        EITRI_STENCIL_KEEP => StencilOp::Keep,
        EITRI_STENCIL_ZERO => StencilOp::Zero,
        EITRI_STENCIL_REPLACE => StencilOp::Replace,
        EITRI_STENCIL_INCREMENT_AND_CLAMP => StencilOp::IncrSat,
        EITRI_STENCIL_DECREMENT_AND_CLAMP => StencilOp::DecrSat,
        EITRI_STENCIL_INVERT => StencilOp::Invert,
        EITRI_STENCIL_INCREMENT_AND_WRAP => StencilOp::IncrWrap,
        EITRI_STENCIL_DECREMENT_AND_WRAP => StencilOp::DecrWrap,
        _ => return Err(Refusal::Argument(NONE)),
    })
}

/// A value of stencil.
pub(crate) fn byte(number: u32) -> Result<u8, Refusal> {
    u8::try_from(number).map_err(|_| Refusal::Argument("a value of stencil is 256 or more"))
}

fn face(from: &EitriStencil) -> Result<StencilFace, Refusal> {
    Ok(StencilFace {
        compare: compare(from.compare)?,
        fail: operation(from.fail)?,
        depth_fail: operation(from.depth_fail)?,
        pass: operation(from.pass)?,
        compare_mask: byte(from.compare_mask)?,
        write_mask: byte(from.write_mask)?,
        reference: byte(from.reference)?,
    })
}

/// The test of front and back faces; a back that is null is as the front.
///
/// # Safety
/// Both are null, or there.
pub(crate) unsafe fn stencil(
    front: *const EitriStencil,
    back: *const EitriStencil,
) -> Result<Option<StencilState>, Refusal> {
    // SAFETY: the caller's promise.
    let (front, back) = unsafe { (front.as_ref(), back.as_ref()) };
    let Some(front) = front else {
        return match back {
            None => Ok(None),
            Some(_) => Err(Refusal::Argument(
                "stencil is null, and stencil_back is not",
            )),
        };
    };
    Ok(Some(StencilState {
        front: face(front)?,
        back: face(back.unwrap_or(front))?,
    }))
}
