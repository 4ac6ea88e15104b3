//! Draws that depend on what memory holds when they run.

use crate::handles::{EitriBuffer, Handle};
use crate::passes::{CPass, EitriPass, put_in};
use crate::status::{EitriStatus, Refusal};
use eitri_runtime::IndirectDraws;

/// Draws whose numbers lie in a buffer as Vulkan has them: count, instances, first and first instance; of indexed ones count, instances,
/// first, vertex offset and first instance.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriIndirectDraws {
    /// The buffer.
    pub buffer: EitriBuffer,
    /// Where the first one stands, a multiple of 4.
    pub offset: u64,
    /// The number of draws in the buffer; with `count`, the most that are drawn.
    pub draws: u32,
    /// Bytes from one to the next, a multiple of 4.
    pub stride: u32,
    /// The buffer of the word that says how many are drawn of them; 0: all are.
    pub count: EitriBuffer,
    /// Where that word stands, a multiple of 4.
    pub count_offset: u64,
    /// Not 0: vertices are those that the indices name.
    pub indexed: u32,
}

/// Draws as often, and as many, as a buffer says. EITRI_ACCESS_DRAWS orders what is read.
///
/// # Safety
/// `pass` is what the function that draws was given; `draws` is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_draw_indirect(
    pass: *mut EitriPass,
    draws: *const EitriIndirectDraws,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put_in(pass, |it| {
            let from = draws.as_ref().ok_or(Refusal::Argument("draws is null"))?;
            let count = match from.count.id {
                0 => None,
                _ => Some((from.count.own()?, from.count_offset)),
            };
            let draws = IndirectDraws {
                buffer: from.buffer.own()?,
                offset: from.offset,
                draws: from.draws,
                stride: from.stride,
                count,
            };
            match from.indexed {
                0 => it.draw_indirect(draws)?,
                _ => it.draw_indexed_indirect(draws)?,
            };
            Ok(())
        })
    }
}

/// Lets what is drawn from here on be drawn only if a word of a buffer is not 0, or if it is 0 where `inverted` is not 0.
/// EITRI_ACCESS_DRAWS orders what is read.
///
/// # Safety
/// `pass` is what the function that draws was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_begin_conditional(
    pass: *mut EitriPass,
    buffer: EitriBuffer,
    offset: u64,
    inverted: u32,
) -> EitriStatus {
    let work = |it: &mut CPass| {
        it.begin_conditional(buffer.own()?, offset, inverted != 0)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put_in(pass, work) }
}

/// Lets everything be drawn again.
///
/// # Safety
/// `pass` is what the function that draws was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_end_conditional(pass: *mut EitriPass) -> EitriStatus {
    let work = |it: &mut CPass| {
        it.end_conditional();
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put_in(pass, work) }
}
