//! State that a pass sets for the draws that follow.

use crate::passes::{CPass, EitriPass, put_in};
use crate::status::{EitriStatus, Refusal};
use crate::stencil::byte;
use eitri_runtime::{Rect, Viewport};

/// Where vertices go: clip coordinates from -1 to 1 to `width` pixels from `x` on, and so on. A negative height turns the picture over.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriViewport {
    /// Left edge.
    pub x: f32,
    /// Upper edge.
    pub y: f32,
    /// Pixels along x.
    pub width: f32,
    /// Pixels along y.
    pub height: f32,
    /// Depth of what is nearest.
    pub near: f32,
    /// Depth of what is furthest.
    pub far: f32,
}

/// Sets the viewport of the draws that follow.
///
/// # Safety
/// `pass` is what the function that draws was given; `viewport` is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_set_viewport(
    pass: *mut EitriPass,
    viewport: *const EitriViewport,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put_in(pass, |it| {
            let missing = Refusal::Argument("viewport is null");
            let viewport = viewport.as_ref().ok_or(missing)?;
            it.set_viewport(Viewport {
                x: viewport.x,
                y: viewport.y,
                width: viewport.width,
                height: viewport.height,
                depth: [viewport.near, viewport.far],
            });
            Ok(())
        })
    }
}

/// Sets the pixels that the draws that follow may touch.
///
/// # Safety
/// `pass` is what the function that draws was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_set_scissor(
    pass: *mut EitriPass,
    x: i32,
    y: i32,
    width: u32,
    height: u32,
) -> EitriStatus {
    let work = |it: &mut CPass| {
        it.set_scissor(Rect {
            x,
            y,
            width,
            height,
        });
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put_in(pass, work) }
}

/// Sets what the tests of stencil compare with, and replace by, for front and back faces; both are below 256.
///
/// # Safety
/// `pass` is what the function that draws was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_set_stencil_reference(
    pass: *mut EitriPass,
    front: u32,
    back: u32,
) -> EitriStatus {
    let work = |it: &mut CPass| {
        it.set_stencil_reference(byte(front)?, byte(back)?);
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put_in(pass, work) }
}
