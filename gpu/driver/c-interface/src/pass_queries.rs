//! Queries in passes: samples that pass, and times.

use crate::handles::{EitriQueries, Handle};
use crate::passes::{CPass, EitriPass, put_in};
use crate::status::EitriStatus;
use eitri_runtime::Occlusion;

/// Begins to count the samples that pass the tests of depth and stencil, into a query that was reset: as many as pass if `exact` is not
/// 0, else 1 if any does.
///
/// # Safety
/// `pass` is what the function that draws was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_begin_query(
    pass: *mut EitriPass,
    queries: EitriQueries,
    query: u32,
    exact: u32,
) -> EitriStatus {
    let how = match exact {
        0 => Occlusion::Any,
        _ => Occlusion::Precise,
    };
    let work = |it: &mut CPass| {
        it.begin_query(queries.own()?, query, how)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put_in(pass, work) }
}

/// Ends counting: the result is there when the pass is done.
///
/// # Safety
/// `pass` is what the function that draws was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_end_query(pass: *mut EitriPass) -> EitriStatus {
    let work = |it: &mut CPass| {
        it.end_query()?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put_in(pass, work) }
}

/// Stores the time when the pass is done: ticks of the system's counter.
///
/// # Safety
/// `pass` is what the function that draws was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_pass_write_timestamp(
    pass: *mut EitriPass,
    queries: EitriQueries,
    query: u32,
) -> EitriStatus {
    let work = |it: &mut CPass| {
        it.write_timestamp(queries.own()?, query)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { put_in(pass, work) }
}
