//! Compute shaders, what is bound to them, and running one in a single call.

use crate::device::{EitriDevice, done, make};
use crate::handles::{EitriBuffer, EitriPipeline, EitriSet, EitriSpace, Handle};
use crate::memory::{NO_BYTES, array, array_mut};
use crate::status::{EitriStatus, Refusal};
use core::ffi::c_void;
use core::time::Duration;
use eitri_program::Program;
use eitri_runtime::{BindingElement, Bound, BufferRange};

/// Bytes that eitri_run() binds to a binding of a shader.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriBinding {
    /// The set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// What it holds before, and after.
    pub data: *mut c_void,
    /// How many bytes.
    pub bytes: usize,
}

/// Bindings of eitri_run() at most.
const MOST_BOUND: usize = 16;

/// What eitri_run() runs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriRun {
    /// The shader: what `eitri compile` wrote. It stays until the device is closed.
    pub program: *const c_void,
    /// Its bytes.
    pub program_bytes: usize,
    /// Workgroups along x, y and z.
    pub workgroups: [u32; 3],
    /// Push constants; null if there are none.
    pub push: *const c_void,
    /// Their bytes.
    pub push_bytes: usize,
    /// What is bound.
    pub bindings: *const EitriBinding,
    /// How many bindings: at most 16.
    pub binding_count: usize,
    /// The longest that it may take, in nanoseconds.
    pub limit: u64,
}

/// Runs a compute shader once, and waits for it. Everything that it needs is made before and given back after.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; what `run` leads to has the sizes that it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_run(device: *mut EitriDevice, run: *const EitriRun) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            let run = run.as_ref().ok_or(Refusal::Argument("run is null"))?;
            let program = array(run.program.cast::<u8>(), run.program_bytes, NO_BYTES)?;
            let push = array(run.push.cast::<u8>(), run.push_bytes, NO_BYTES)?;
            let mut bound = heapless::Vec::<Bound<'_>, MOST_BOUND>::new();
            for it in array(run.bindings, run.binding_count, "run.bindings is null")? {
                let bytes = array_mut(it.data.cast::<u8>(), it.bytes, NO_BYTES)?;
                let (set, binding) = (it.set, it.binding);
                let next = Bound {
                    set,
                    binding,
                    bytes,
                };
                let most = "there are more than 16 bindings";
                bound.push(next).map_err(|_| Refusal::Argument(most))?;
            }
            let program = Program::parse(program)?;
            let limit = Duration::from_nanos(run.limit);
            Ok(it.run(&program, run.workgroups, push, &mut bound, limit)?)
        })
    }
}

/// Makes a pipeline of a compute shader that `eitri compile` wrote. The program stays until the pipeline is destroyed.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `program` has so many bytes; `pipeline` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_create_pipeline(
    device: *mut EitriDevice,
    space: EitriSpace,
    program: *const c_void,
    program_bytes: usize,
    pipeline: *mut EitriPipeline,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        make(device, pipeline, |it| {
            let program = array(program.cast::<u8>(), program_bytes, NO_BYTES)?;
            Ok(it.create_pipeline(space.own()?, &Program::parse(program)?)?)
        })
    }
}

/// Destroys a pipeline that no job in flight uses.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_destroy_pipeline(
    device: *mut EitriDevice,
    pipeline: EitriPipeline,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.destroy_pipeline(pipeline.own()?)?)) }
}

/// Makes the set of this number of a pipeline's bindings, with nothing bound.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `set` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_create_set(
    device: *mut EitriDevice,
    pipeline: EitriPipeline,
    number: u32,
    set: *mut EitriSet,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        make(device, set, |it| {
            Ok(it.create_descriptor_set(pipeline.own()?, number)?)
        })
    }
}

/// Destroys a set that no job in flight uses.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_destroy_set(device: *mut EitriDevice, set: EitriSet) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.destroy_descriptor_set(set.own()?)?)) }
}

/// Binds bytes of a buffer, from `offset` on (a multiple of 16), to a binding of a set. Commands that were recorded with the set are
/// recorded again.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_bind_buffer(
    device: *mut EitriDevice,
    set: EitriSet,
    binding: u32,
    buffer: EitriBuffer,
    offset: u64,
    bytes: u64,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            Ok(it.bind_range(
                set.own()?,
                BindingElement::first(binding),
                buffer.own()?,
                BufferRange { offset, bytes },
            )?)
        })
    }
}
