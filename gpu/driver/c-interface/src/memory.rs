//! Buffers, and memory of the caller's.

use crate::device::{EitriDevice, done, make};
use crate::handles::{EitriBuffer, EitriSpace, Handle};
use crate::platform::on_bus;
use crate::status::{EitriStatus, Refusal};
use core::ffi::c_void;
use core::slice;

/// An array of the caller's, of any length; a null pointer is one of none.
///
/// # Safety
/// There are so many, for as long as `'a` says, and nobody changes them.
pub(crate) unsafe fn array<'a, T>(
    first: *const T,
    count: usize,
    missing: &'static str,
) -> Result<&'a [T], Refusal> {
    match (count, first.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(Refusal::Argument(missing)),
        // SAFETY: the caller's promise.
        (count, false) => Ok(unsafe { slice::from_raw_parts(first, count) }),
    }
}

/// The same to be written to.
///
/// # Safety
/// As [`array`], and nobody else has them.
pub(crate) unsafe fn array_mut<'a, T>(
    first: *mut T,
    count: usize,
    missing: &'static str,
) -> Result<&'a mut [T], Refusal> {
    match (count, first.is_null()) {
        (0, _) => Ok(&mut []),
        (_, true) => Err(Refusal::Argument(missing)),
        // SAFETY: the caller's promise.
        (count, false) => Ok(unsafe { slice::from_raw_parts_mut(first, count) }),
    }
}

pub(crate) const NO_BYTES: &str = "bytes are given, and the pointer to them is null";

/// Makes a buffer of so many bytes in an address space, full of zeros.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `buffer` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_create_buffer(
    device: *mut EitriDevice,
    space: EitriSpace,
    bytes: u64,
    buffer: *mut EitriBuffer,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        make(device, buffer, |it| {
            Ok(it.create_buffer(space.own()?, bytes)?)
        })
    }
}

/// Makes a buffer of memory of the caller's: `bytes` from `bus_address` on, both multiples of 4096, inside of what the platform lends
/// (`lent_bus_address`). It holds what it held. Caches of the CPU are the caller's to see to; eitri_read_buffer() and
/// eitri_write_buffer() don't reach it.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `buffer` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_import_buffer(
    device: *mut EitriDevice,
    space: EitriSpace,
    bus_address: u64,
    bytes: u64,
    buffer: *mut EitriBuffer,
) -> EitriStatus {
    let memory = on_bus(bus_address, bytes);
    // SAFETY: the caller's promise.
    unsafe {
        make(device, buffer, |it| {
            Ok(it.import_buffer(space.own()?, memory)?)
        })
    }
}

/// Destroys a buffer that no job in flight uses.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_destroy_buffer(
    device: *mut EitriDevice,
    buffer: EitriBuffer,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.destroy_buffer(buffer.own()?)?)) }
}

/// Writes bytes into a buffer; `offset` is a multiple of 4.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `data` has so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_write_buffer(
    device: *mut EitriDevice,
    buffer: EitriBuffer,
    offset: u64,
    data: *const c_void,
    bytes: usize,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            let data = array(data.cast::<u8>(), bytes, NO_BYTES)?;
            Ok(it.write_buffer(buffer.own()?, offset, data)?)
        })
    }
}

/// Reads bytes of a buffer; `offset` is a multiple of 4. What jobs that are done have written is seen.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `data` has so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_read_buffer(
    device: *mut EitriDevice,
    buffer: EitriBuffer,
    offset: u64,
    data: *mut c_void,
    bytes: usize,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            let data = array_mut(data.cast::<u8>(), bytes, NO_BYTES)?;
            Ok(it.read_buffer(buffer.own()?, offset, data)?)
        })
    }
}
