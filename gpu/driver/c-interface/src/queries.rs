//! Queries: times that commands store, and what they count.

use crate::device::{EitriDevice, done, make};
use crate::handles::{EitriBuffer, EitriQueries, EitriSpace, Handle};
use crate::memory::array_mut;
use crate::record::{EitriRecorder, put};
use crate::status::EitriStatus;

/// The result of a query.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriQueryResult {
    /// Not 0: it is there.
    pub is_there: u32,
    /// Ticks of the system's counter, or samples that passed.
    pub value: u64,
}

/// Makes so many queries, without results.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `queries` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_create_queries(
    device: *mut EitriDevice,
    space: EitriSpace,
    count: u32,
    queries: *mut EitriQueries,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        make(device, queries, |it| {
            Ok(it.create_query_pool(space.own()?, count)?)
        })
    }
}

/// Destroys queries that no job in flight uses.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_destroy_queries(
    device: *mut EitriDevice,
    queries: EitriQueries,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.destroy_query_pool(queries.own()?)?)) }
}

/// Reads the results of `count` queries from `first` on.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `results` has so many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_get_query_results(
    device: *mut EitriDevice,
    queries: EitriQueries,
    first: u32,
    results: *mut EitriQueryResult,
    count: u32,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            let queries = queries.own()?;
            let results = array_mut(results, count as usize, "results is null")?;
            for (to, number) in results.iter_mut().zip(0..count) {
                let mut found = [None];
                it.query_results(queries, first.saturating_add(number), &mut found)?;
                let [found] = found;
                *to = EitriQueryResult {
                    is_there: found.is_some().into(),
                    value: found.unwrap_or(0),
                };
            }
            Ok(())
        })
    }
}

/// Forgets the results of `count` queries from `first` on: a query is reset before it gets another result. No job in flight uses them.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_reset_queries(
    device: *mut EitriDevice,
    queries: EitriQueries,
    first: u32,
    count: u32,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            Ok(it.reset_queries(queries.own()?, first, count)?)
        })
    }
}

/// Forgets them when what was asked of them before is done.
///
/// # Safety
/// `recorder` is what the function that records was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_reset_queries(
    recorder: *mut EitriRecorder,
    queries: EitriQueries,
    first: u32,
    count: u32,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |it| {
            it.reset_queries(queries.own()?, first, count)?;
            Ok(())
        })
    }
}

/// Stores the time when all commands before are done: ticks of the system's counter.
///
/// # Safety
/// `recorder` is what the function that records was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_write_timestamp(
    recorder: *mut EitriRecorder,
    queries: EitriQueries,
    query: u32,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |it| {
            it.write_timestamp(queries.own()?, query)?;
            Ok(())
        })
    }
}

/// Copies results of `count` queries from `first` on into a buffer, 8 bytes each; waits for those that are not there yet.
///
/// # Safety
/// `recorder` is what the function that records was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_copy_query_results(
    recorder: *mut EitriRecorder,
    queries: EitriQueries,
    first: u32,
    count: u32,
    buffer: EitriBuffer,
    offset: u64,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |it| {
            it.copy_query_results(queries.own()?, first, count, (buffer.own()?, offset))?;
            Ok(())
        })
    }
}
