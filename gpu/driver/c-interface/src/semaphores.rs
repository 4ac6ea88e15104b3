//! Semaphores: jobs of several queues, and the CPU, wait for one another.

use crate::device::{CDevice, EitriDevice, call, done, make};
use crate::handles::{EitriCommands, EitriFence, EitriQueue, EitriSemaphore, EitriSpace, Handle};
use crate::memory::array;
use crate::status::{EitriStatus, Refusal};
use core::time::Duration;
use eitri_runtime::{Access, SemaphorePoint, SubmitInfo};

/// Points of each kind that a job has at most.
const MOST_POINTS: usize = 4;

/// A value of a semaphore: reached when the semaphore has it, or a larger one.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriPoint {
    /// The semaphore.
    pub semaphore: EitriSemaphore,
    /// The value.
    pub value: u64,
}

impl EitriPoint {
    fn own(self) -> Result<SemaphorePoint, Refusal> {
        Ok(SemaphorePoint {
            semaphore: self.semaphore.own()?,
            value: self.value,
        })
    }
}

/// The semaphores of a job: those that it waits for, and those that it signals.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriSubmit {
    /// What it waits for before it begins: at most 4.
    pub waits: *const EitriPoint,
    /// How many.
    pub wait_count: usize,
    /// What it signals when it is over, whether it is done or has failed: at most 4. Each value is larger than those before it.
    pub signals: *const EitriPoint,
    /// How many.
    pub signal_count: usize,
}

/// Makes a semaphore with a value.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `semaphore` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_create_semaphore(
    device: *mut EitriDevice,
    value: u64,
    semaphore: *mut EitriSemaphore,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { make(device, semaphore, |it| Ok(it.create_semaphore(value)?)) }
}

/// Destroys a semaphore that no job in flight uses.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_destroy_semaphore(
    device: *mut EitriDevice,
    semaphore: EitriSemaphore,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.destroy_semaphore(semaphore.own()?)?)) }
}

/// Lets the queues of a space wait for a semaphore and, if `signals` is not 0, signal it. Once for each space.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_map_semaphore(
    device: *mut EitriDevice,
    semaphore: EitriSemaphore,
    space: EitriSpace,
    signals: u32,
) -> EitriStatus {
    let access = match signals {
        0 => Access::Read,
        _ => Access::ReadWrite,
    };
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            Ok(it.map_semaphore(semaphore.own()?, space.own()?, access)?)
        })
    }
}

/// Says what value a semaphore has.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `value` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_get_semaphore_value(
    device: *mut EitriDevice,
    semaphore: EitriSemaphore,
    value: *mut u64,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            if value.is_null() {
                return Err(Refusal::Argument("value is null"));
            }
            value.write(it.semaphore_value(semaphore.own()?)?);
            Ok(())
        })
    }
}

/// Gives a semaphore a value, if its own is smaller: jobs that wait for it go on.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_signal_semaphore(
    device: *mut EitriDevice,
    semaphore: EitriSemaphore,
    value: u64,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            Ok(it.signal_semaphore(semaphore.own()?, value)?)
        })
    }
}

/// Waits until a semaphore has a value, or a larger one, for so many nanoseconds at most: EITRI_STATUS_OK if it has, EITRI_STATUS_PENDING
/// if not yet.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_wait_semaphore(
    device: *mut EitriDevice,
    semaphore: EitriSemaphore,
    value: u64,
    limit: u64,
) -> EitriStatus {
    let point = EitriPoint { semaphore, value };
    let work = |it: &mut CDevice| {
        let reached = it.wait_for(point.own()?, Duration::from_nanos(limit))?;
        Ok(match reached {
            true => EitriStatus::Ok,
            false => EitriStatus::Pending,
        })
    };
    // SAFETY: the caller's promise.
    unsafe { call(device, work) }
}

/// As eitri_submit(), with semaphores that the job waits for and signals.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; what `info` leads to has the sizes that it says; `fence` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_submit_with(
    device: *mut EitriDevice,
    queue: EitriQueue,
    commands: EitriCommands,
    info: *const EitriSubmit,
    fence: *mut EitriFence,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        make(device, fence, |it| {
            let info = info.as_ref().ok_or(Refusal::Argument("info is null"))?;
            let waits = array(info.waits, info.wait_count, "info.waits is null")?;
            let signals = array(info.signals, info.signal_count, "info.signals is null")?;
            let info = SubmitInfo {
                waits: &points(waits)?,
                signals: &points(signals)?,
                ..SubmitInfo::default()
            };
            Ok(it.submit_with(queue.own()?, commands.own()?, info)?)
        })
    }
}

fn points(from: &[EitriPoint]) -> Result<heapless::Vec<SemaphorePoint, MOST_POINTS>, Refusal> {
    let mut points = heapless::Vec::new();
    for point in from {
        let most = "a job has 4 points to wait for and 4 to signal at most";
        points
            .push(point.own()?)
            .map_err(|_| Refusal::Argument(most))?;
    }
    Ok(points)
}
