//! Commands: recorded by a function of the caller's, submitted as often as wanted.

use crate::device::{CDevice, EitriDevice, done, make};
use crate::handles::{
    EitriBuffer, EitriCommands, EitriFence, EitriPipeline, EitriQueue, EitriSet, EitriSpace, Handle,
};
use crate::memory::{NO_BYTES, array};
use crate::platform::CPlatform;
use crate::status::{EitriStatus, Refusal};
use core::ffi::c_void;
use core::ptr;
use eitri_runtime::{Accesses, Error, Recorder};

pub(crate) type CRecorder = Recorder<'static, 'static, 'static, CPlatform>;

/// Commands that are being recorded. Good inside of the function that was given to eitri_record() alone.
pub struct EitriRecorder {
    /// Of that function's duration, whatever its type says. Null while a pass of it is recorded.
    recorder: *mut CRecorder,
    /// The first refusal: what comes after it is not recorded.
    refusal: Option<Refusal>,
}

/// Shaders read and write buffers and images.
pub const EITRI_ACCESS_SHADERS: u32 = 1;
/// Copies and fills read and write.
pub const EITRI_ACCESS_COPIES: u32 = 2;
/// Passes read and write their attachments.
pub const EITRI_ACCESS_ATTACHMENTS: u32 = 4;
/// Draws read vertices and indices; draws and dispatches read their counts.
pub const EITRI_ACCESS_DRAWS: u32 = 8;
/// The CPU reads after the job.
pub const EITRI_ACCESS_CPU: u32 = 16;

/// Makes commands, with nothing recorded.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `commands` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_create_commands(
    device: *mut EitriDevice,
    space: EitriSpace,
    commands: *mut EitriCommands,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        make(device, commands, |it| {
            Ok(it.create_command_buffer(space.own()?)?)
        })
    }
}

/// Destroys commands that are not in flight.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_destroy_commands(
    device: *mut EitriDevice,
    commands: EitriCommands,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.destroy_command_buffer(commands.own()?)?)) }
}

/// Records commands in place of what they held: `record` is called once, with `context`, and calls the eitri_cmd_… functions on the
/// recorder. If one of those is refused, what follows is not recorded, and eitri_record() answers the first refusal.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `record` may be called with `context`, returns, and keeps no recorder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_record(
    device: *mut EitriDevice,
    commands: EitriCommands,
    record: Option<unsafe extern "C" fn(recorder: *mut EitriRecorder, context: *mut c_void)>,
    context: *mut c_void,
) -> EitriStatus {
    let work = |it: &mut CDevice| {
        let record = record.ok_or(Refusal::Argument("record is null"))?;
        let mut refusal = None;
        let recorded = it.record(commands.own()?, |recorder| {
            let mut outer = EitriRecorder {
                recorder: ptr::from_mut(recorder).cast(),
                refusal: None,
            };
            // SAFETY: the caller's promise.
            unsafe { record(&raw mut outer, context) };
            match outer.refusal {
                None => Ok(()),
                Some(Refusal::Driver(error)) => Err(error),
                // Nothing is to be kept of what was recorded: the refusal itself is answered below.
                Some(argument) => {
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

/// Records something, unless something before was refused.
///
/// # Safety
/// `recorder` is null, or what `eitri_record` gave to the function that is running.
pub(crate) unsafe fn put(
    recorder: *mut EitriRecorder,
    work: impl FnOnce(&mut CRecorder) -> Result<(), Refusal>,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    let Some(outer) = (unsafe { recorder.as_mut() }) else {
        return EitriStatus::Argument;
    };
    let within = outer.recorder;
    if within.is_null() {
        return EitriStatus::State;
    }
    if outer.refusal.is_none() {
        // What the work's callbacks record into this recorder meanwhile is refused.
        outer.recorder = ptr::null_mut();
        // SAFETY: it is there while the function runs, and taken out: nobody else has it.
        outer.refusal = work(unsafe { &mut *within }).err();
        outer.recorder = within;
    }
    outer.refusal.as_ref().map_or(EitriStatus::Ok, of_refusal)
}

/// The status of a refusal whose text is not said yet.
pub(crate) fn of_refusal(refusal: &Refusal) -> EitriStatus {
    match refusal {
        Refusal::Driver(error) => EitriStatus::from(error),
        Refusal::Argument(_) => EitriStatus::Argument,
        Refusal::CannotBe(_) => EitriStatus::Refused,
    }
}

/// Uses a pipeline for the dispatches that follow.
///
/// # Safety
/// `recorder` is what the function that records was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_bind_pipeline(
    recorder: *mut EitriRecorder,
    pipeline: EitriPipeline,
) -> EitriStatus {
    let work = |it: &mut CRecorder| {
        it.bind_pipeline(pipeline.own()?)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put(recorder, work) }
}

/// Uses a set for the dispatches that follow.
///
/// # Safety
/// `recorder` is what the function that records was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_bind_set(
    recorder: *mut EitriRecorder,
    set: EitriSet,
) -> EitriStatus {
    let work = |it: &mut CRecorder| {
        it.bind_descriptor_set(set.own()?)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put(recorder, work) }
}

/// Uses these push constants for the dispatches that follow; `bytes` is a multiple of 4.
///
/// # Safety
/// `recorder` is what the function that records was given; `data` has so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_push_constants(
    recorder: *mut EitriRecorder,
    data: *const c_void,
    bytes: usize,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |it| {
            it.push_constants(array(data.cast::<u8>(), bytes, NO_BYTES)?)?;
            Ok(())
        })
    }
}

/// Runs so many workgroups.
///
/// # Safety
/// `recorder` is what the function that records was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_dispatch(
    recorder: *mut EitriRecorder,
    x: u32,
    y: u32,
    z: u32,
) -> EitriStatus {
    let work = |it: &mut CRecorder| {
        it.dispatch([x, y, z])?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put(recorder, work) }
}

/// Runs as many workgroups as three words of a buffer say when the commands run.
///
/// # Safety
/// `recorder` is what the function that records was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_dispatch_indirect(
    recorder: *mut EitriRecorder,
    counts: EitriBuffer,
    offset: u64,
) -> EitriStatus {
    let work = |it: &mut CRecorder| {
        it.dispatch_indirect(counts.own()?, offset)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put(recorder, work) }
}

fn accesses(bits: u32) -> Result<Accesses, Refusal> {
    let pass = Accesses::COLOR_READ
        | Accesses::COLOR_WRITE
        | Accesses::DEPTH_STENCIL_READ
        | Accesses::DEPTH_STENCIL_WRITE
        | Accesses::INPUT_ATTACHMENT_READ;
    let draws = Accesses::INDEX_READ | Accesses::VERTEX_READ | Accesses::INDIRECT_READ;
    let all = [
        (
            EITRI_ACCESS_SHADERS,
            Accesses::SHADER_READ | Accesses::SHADER_WRITE,
        ),
        (
            EITRI_ACCESS_COPIES,
            Accesses::TRANSFER_READ | Accesses::TRANSFER_WRITE,
        ),
        (EITRI_ACCESS_ATTACHMENTS, pass),
        (EITRI_ACCESS_DRAWS, draws),
        (EITRI_ACCESS_CPU, Accesses::HOST_READ),
    ];
    let known = all.iter().fold(0, |known, (bit, _)| known | bit);
    if bits & !known != 0 {
        return Err(Refusal::Argument("accesses have bits that mean nothing"));
    }
    let these = all.iter().filter(|(bit, _)| bits & bit != 0);
    Ok(these.fold(Accesses::NONE, |sum, (_, access)| sum | *access))
}

/// Orders commands: what those before do (EITRI_ACCESS_…, or of several) comes before what those after do, and is seen by them.
///
/// # Safety
/// `recorder` is what the function that records was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_barrier(
    recorder: *mut EitriRecorder,
    before: u32,
    after: u32,
) -> EitriStatus {
    let work = |it: &mut CRecorder| {
        it.barrier(accesses(before)?, accesses(after)?)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put(recorder, work) }
}

/// Copies bytes from one buffer to another, whatever they are multiples of. Parts of one buffer must not overlap.
///
/// # Safety
/// `recorder` is what the function that records was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_copy_buffer(
    recorder: *mut EitriRecorder,
    from: EitriBuffer,
    from_offset: u64,
    to: EitriBuffer,
    to_offset: u64,
    bytes: u64,
) -> EitriStatus {
    let work = |it: &mut CRecorder| {
        it.copy_bytes((from.own()?, from_offset), (to.own()?, to_offset), bytes)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put(recorder, work) }
}

/// Submits commands to a queue: they run when those before them allow it. `fence` names the job.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `fence` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_submit(
    device: *mut EitriDevice,
    queue: EitriQueue,
    commands: EitriCommands,
    fence: *mut EitriFence,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        make(device, fence, |it| {
            Ok(it.submit(queue.own()?, commands.own()?)?)
        })
    }
}
