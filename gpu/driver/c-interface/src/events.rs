//! Events: commands wait for what the CPU or other commands of their space set.

use crate::device::{EitriDevice, done, make};
use crate::handles::{EitriEvent, EitriSpace, Handle};
use crate::record::{EitriRecorder, put};
use crate::status::{EitriStatus, Refusal};

/// Makes an event, which is not set.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `event` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_create_event(
    device: *mut EitriDevice,
    space: EitriSpace,
    event: *mut EitriEvent,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { make(device, event, |it| Ok(it.create_event(space.own()?)?)) }
}

/// Destroys an event that no job in flight uses.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_destroy_event(
    device: *mut EitriDevice,
    event: EitriEvent,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.destroy_event(event.own()?)?)) }
}

/// Sets an event: commands that wait for it go on.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_set_event(
    device: *mut EitriDevice,
    event: EitriEvent,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.set_event(event.own()?)?)) }
}

/// Resets an event.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_reset_event(
    device: *mut EitriDevice,
    event: EitriEvent,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.reset_event(event.own()?)?)) }
}

/// Says whether an event is set: `*is_set` is 1 or 0.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `is_set` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_get_event(
    device: *mut EitriDevice,
    event: EitriEvent,
    is_set: *mut u32,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            if is_set.is_null() {
                return Err(Refusal::Argument("is_set is null"));
            }
            is_set.write(it.event_status(event.own()?)?.into());
            Ok(())
        })
    }
}

/// Sets an event when all commands before are done.
///
/// # Safety
/// `recorder` is what the function that records was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_set_event(
    recorder: *mut EitriRecorder,
    event: EitriEvent,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |it| {
            it.set_event(event.own()?)?;
            Ok(())
        })
    }
}

/// Resets an event when all commands before are done.
///
/// # Safety
/// `recorder` is what the function that records was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_reset_event(
    recorder: *mut EitriRecorder,
    event: EitriEvent,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |it| {
            it.reset_event(event.own()?)?;
            Ok(())
        })
    }
}

/// Lets no command that comes after begin before an event is set.
///
/// # Safety
/// `recorder` is what the function that records was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_wait_event(
    recorder: *mut EitriRecorder,
    event: EitriEvent,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |it| {
            it.wait_event(event.own()?)?;
            Ok(())
        })
    }
}
