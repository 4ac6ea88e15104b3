//! Draws that are recorded once and run by passes, and the order of draws in a pass.

use crate::device::{CDevice, EitriDevice, done};
use crate::handles::{EitriCommands, Handle};
use crate::images::format;
use crate::memory::array;
use crate::passes::{CPass, EitriPass, MOST_COLORS, put_in};
use crate::status::{EitriStatus, Refusal};
use core::ffi::{c_char, c_void};
use eitri_runtime::{Accesses, Error, InheritedRendering};

/// The passes that may run draws: they have all of this alike.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriInherited {
    /// Vulkan's names of the formats of the colours, by location: at most 8.
    pub colors: *const *const c_char,
    /// How many.
    pub color_count: usize,
    /// Pixels along x.
    pub width: u32,
    /// Pixels along y.
    pub height: u32,
    /// Samples of a pixel; 0 is as 1.
    pub samples: u32,
    /// Not 0: there is depth.
    pub has_depth: u32,
    /// Not 0: there is stencil.
    pub has_stencil: u32,
}

/// Records draws in place of what commands held: `draw` is called once, with `context`, and calls the eitri_pass_… functions on the
/// pass. Passes run them by eitri_pass_execute(); passes that do are to be recorded again when the draws are.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; what `info` leads to has the sizes that it says; `draw` may be called with `context`,
/// returns, and keeps no pass.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_record_draws(
    device: *mut EitriDevice,
    commands: EitriCommands,
    info: *const EitriInherited,
    draw: Option<unsafe extern "C" fn(pass: *mut EitriPass, context: *mut c_void)>,
    context: *mut c_void,
) -> EitriStatus {
    let work = |it: &mut CDevice| {
        let draw = draw.ok_or(Refusal::Argument("draw is null"))?;
        // SAFETY: the caller's promise.
        let info = unsafe { info.as_ref() }.ok_or(Refusal::Argument("info is null"))?;
        let mut colors = heapless::Vec::<_, MOST_COLORS>::new();
        // SAFETY: the caller's promise.
        for name in unsafe { array(info.colors, info.color_count, "info.colors is null")? } {
            // SAFETY: the caller's promise.
            let color = Some(unsafe { format(it, *name)? });
            let most = "a pass has 8 colours at most";
            colors.push(color).map_err(|_| Refusal::Argument(most))?;
        }
        let inherited = InheritedRendering {
            width: info.width,
            height: info.height,
            samples: info.samples,
            colors: &colors,
            has_depth: info.has_depth != 0,
            has_stencil: info.has_stencil != 0,
            ..InheritedRendering::default()
        };
        let mut refusal = None;
        let recorded = it.record_draws(commands.own()?, &inherited, |pass| {
            // SAFETY: the caller's promise.
            match unsafe { EitriPass::record(pass, draw, context) } {
                Ok(()) => Ok(()),
                Err(Refusal::Driver(error)) => Err(error),
                // Nothing is to be kept of what was recorded: the refusal itself is answered below.
                Err(argument) => {
                    refusal = Some(argument);
                    Err(Error::NotRecorded)
                }
            }
        });
        match refusal {
            Some(refusal) => Err(refusal),
            None => Ok(recorded?),
        }
    };
    // SAFETY: the caller's promise.
    unsafe { done(device, work) }
}

/// Draws what eitri_record_draws() has recorded, as if it stood here. What is bound here is not bound there, and is here again behind
/// it.
///
/// # Safety
/// `pass` is what the function that draws was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_execute(
    pass: *mut EitriPass,
    draws: EitriCommands,
) -> EitriStatus {
    let work = |it: &mut CPass| {
        it.execute(draws.own()?)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put_in(pass, work) }
}

/// Orders draws: what those before have written to attachments those after read of them at the same pixel, as input attachments. It
/// costs nothing.
///
/// # Safety
/// `pass` is what the function that draws was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_barrier(pass: *mut EitriPass) -> EitriStatus {
    let work = |it: &mut CPass| {
        let written = Accesses::COLOR_WRITE | Accesses::DEPTH_STENCIL_WRITE;
        it.barrier(written, written | Accesses::INPUT_ATTACHMENT_READ)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put_in(pass, work) }
}
