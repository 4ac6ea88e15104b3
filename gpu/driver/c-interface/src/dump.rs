//! Core dumps of the GPU, for `eitri` to read on a host.

use crate::device::{CDevice, EitriDevice, call, done, of_status};
use crate::handles::{EitriFence, Handle};
use crate::status::{EitriStatus, Refusal};
use core::ffi::c_void;
use core::time::Duration;
use eitri_dump::{Region, Sink, WriteError};
use eitri_runtime::{Fence, Status};

/// Runs of memory that a dump has at most.
const REGIONS: usize = 256;

/// There is no dump: nothing failed.
pub const EITRI_DUMP_NONE: u32 = 0;
/// The dump is whole.
pub const EITRI_DUMP_WHOLE: u32 = 1;
/// The dump ends early: the sink did not take it, or memory changed meanwhile.
pub const EITRI_DUMP_CUT: u32 = 2;

/// Where a dump goes: an ELF file for `eitri dump show` and `eitri dump replay`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriSink {
    /// Handed to `put`. May be null.
    pub context: *mut c_void,
    /// Takes the next bytes of the file, and gives 0; anything else ends the dump.
    pub put: Option<
        unsafe extern "C" fn(context: *mut c_void, data: *const c_void, bytes: usize) -> u32,
    >,
}

/// A sink that is there.
struct CSink {
    context: *mut c_void,
    put: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> u32,
}

/// The sink did not take bytes.
struct NotTaken;

impl Sink for CSink {
    type Error = NotTaken;

    fn put(&mut self, bytes: &[u8]) -> Result<(), NotTaken> {
        // SAFETY: who made the sink says that the function may be called with this context.
        match unsafe { (self.put)(self.context, bytes.as_ptr().cast(), bytes.len()) } {
            0 => Ok(()),
            _ => Err(NotTaken),
        }
    }
}

/// The sink of the caller's.
///
/// # Safety
/// `sink` is null, or there, and its function may be called with its context.
unsafe fn sink_of(sink: *const EitriSink) -> Result<CSink, Refusal> {
    const MISSING: Refusal = Refusal::Argument("sink, or sink.put, is null");
    // SAFETY: the caller's promise.
    let sink = unsafe { sink.as_ref() }.ok_or(MISSING)?;
    let (put, context) = (sink.put.ok_or(MISSING)?, sink.context);
    Ok(CSink { context, put })
}

/// Writes a dump. In a frame of its own: the list of regions is large.
#[inline(never)]
fn write(device: &mut CDevice, overdue: Option<Fence>, sink: &mut CSink) -> Result<(), Refusal> {
    let mut room = [Region::default(); REGIONS];
    let written = device.dump(overdue, &mut room, sink);
    written.map(|_| ()).map_err(|error| {
        Refusal::CannotBe(match error {
            WriteError::Sink(NotTaken) => "the dump ends early: sink.put did not take its bytes",
            WriteError::Memory(_) | WriteError::NotesChanged => {
                "the dump ends early: what is dumped changed meanwhile"
            }
            WriteError::Regions => "there is no dump: memory lies in too many parts",
        })
    })
}

/// Writes a core dump of the GPU: registers, the firmware's interface, all memory that is mapped, and the jobs in flight. `overdue`
/// names the job that has run out of time, if that is why; else it is null. Nothing is changed.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `overdue` is null, or there; `sink` is there, and its function may be called with its
/// context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_dump(
    device: *mut EitriDevice,
    overdue: *const EitriFence,
    sink: *const EitriSink,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            let mut sink = sink_of(sink)?;
            let overdue = overdue.as_ref().map(|fence| fence.own()).transpose()?;
            write(it, overdue, &mut sink)
        })
    }
}

/// As eitri_wait(); but when the GPU reports a failure, or the job is not done in time, a core dump is written first, while everything
/// is as it was. `*dumped` is one of EITRI_DUMP_….
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `sink` is there, and its function may be called with its context; `dumped` may be
/// written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_wait_or_dump(
    device: *mut EitriDevice,
    fence: EitriFence,
    limit: u64,
    sink: *const EitriSink,
    dumped: *mut u32,
) -> EitriStatus {
    let limit = Duration::from_nanos(limit);
    // SAFETY: the caller's promise.
    unsafe {
        call(device, |it| {
            if dumped.is_null() {
                return Err(Refusal::Argument("dumped is null"));
            }
            dumped.write(EITRI_DUMP_NONE);
            let (fence, mut sink) = (fence.own()?, sink_of(sink)?);
            let over = it.wait_or_fault(fence, limit);
            let overdue = match over {
                None => None,
                Some(Status::Pending) => Some(fence),
                Some(status) => return of_status(status),
            };
            // The status is the job's, also if the dump was cut short.
            dumped.write(match write(it, overdue, &mut sink) {
                Ok(()) => EITRI_DUMP_WHOLE,
                Err(_) => EITRI_DUMP_CUT,
            });
            of_status(match over {
                Some(status) => status,
                None => it.wait(fence, limit),
            })
        })
    }
}
