//! Words that commands write into buffers.

use crate::handles::{EitriBuffer, Handle};
use crate::memory::{NO_BYTES, array};
use crate::record::{EitriRecorder, put};
use crate::status::EitriStatus;
use core::ffi::c_void;

/// Fills `bytes` of a buffer from `offset` on with a word; both are multiples of 4. EITRI_ACCESS_COPIES orders it.
///
/// # Safety
/// `recorder` is what the function that records was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_fill_buffer(
    recorder: *mut EitriRecorder,
    buffer: EitriBuffer,
    offset: u64,
    bytes: u64,
    word: u32,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |it| {
            it.fill_buffer(buffer.own()?, offset, bytes, word)?;
            Ok(())
        })
    }
}

/// Writes bytes, which the commands keep, into a buffer at `offset`; both are multiples of 4. EITRI_ACCESS_COPIES orders it.
///
/// # Safety
/// `recorder` is what the function that records was given; `data` has so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_update_buffer(
    recorder: *mut EitriRecorder,
    buffer: EitriBuffer,
    offset: u64,
    data: *const c_void,
    bytes: usize,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |it| {
            let data = array(data.cast::<u8>(), bytes, NO_BYTES)?;
            it.update_buffer(buffer.own()?, offset, data)?;
            Ok(())
        })
    }
}
