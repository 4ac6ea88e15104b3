//! Recording a drawing's steps.

use crate::missing;
use crate::resources::{Made, MadePipeline};
use crate::sets::{MadeSet, Sets};
use eitri_drawing::{Drawing, Step, Using};
use eitri_job::WorkError;
use eitri_runtime::{Accesses, CommandBuffer, Device, Error, Platform, QueryCopy, Recorder};

/// Records steps of a drawing, each complete before the next.
pub(crate) fn record<P: Platform>(
    device: &mut Device<'_, '_, P>,
    commands: CommandBuffer,
    drawing: &Drawing<'_>,
    steps: &[Step<'_>],
    made: &Made<'_>,
    sets: &Sets,
) -> Result<(), WorkError> {
    let mut refused = None;
    let recorded = device.record(commands, |recorder| {
        let mut all = steps.iter();
        let recorded = all.try_for_each(|step| {
            self::step(recorder, drawing, step, made, sets)?;
            recorder.barrier(Accesses::ALL, Accesses::ALL)?;
            Ok(())
        });
        recorded.map_err(|error| match error {
            WorkError::Runtime(error) => error,
            error => {
                refused = Some(error);
                Error::NotRecorded
            }
        })
    });
    match refused {
        Some(error) => Err(error),
        None => Ok(recorded?),
    }
}

fn step<P: Platform>(
    recorder: &mut Recorder<'_, '_, '_, P>,
    drawing: &Drawing<'_>,
    step: &Step<'_>,
    made: &Made<'_>,
    sets: &Sets,
) -> Result<(), WorkError> {
    match step {
        Step::Pass(pass) => return crate::pass::record(recorder, drawing, pass, made, sets),
        Step::Dispatch { using, groups } => {
            bind(recorder, using, made, sets)?;
            recorder.dispatch(*groups)?;
        }
        Step::CopyBuffer { from, to, offset } => {
            let source = (made.buffer(from.buffer)?, from.offset);
            let target = (made.buffer(*to)?, *offset);
            // The stream copies words; a kernel copies bytes.
            if [from.offset, *offset, from.bytes]
                .iter()
                .all(|it| it.is_multiple_of(4))
            {
                recorder.copy_buffer(source, target, from.bytes)?;
            } else {
                recorder.copy_bytes(source, target, from.bytes)?;
            }
        }
        Step::Image(step) => crate::image_steps::record(recorder, step, made)?,
        Step::FillBuffer { range, value } => {
            let buffer = made.buffer(range.buffer)?;
            recorder.fill_buffer(buffer, range.offset, range.bytes, *value)?;
        }
        Step::UpdateBuffer {
            buffer,
            offset,
            data,
        } => {
            recorder.update_buffer(made.buffer(*buffer)?, *offset, data)?;
        }
        Step::BeginQuery(query) => {
            let (pool, how) = made.query(*query)?;
            recorder.begin_query(pool, query.0, how)?;
        }
        Step::EndQuery(_) => {
            recorder.end_query()?;
        }
        Step::CopyQuery { query, to, offset } => {
            let (pool, _) = made.query(*query)?;
            let how = QueryCopy {
                wide: false,
                wait: true,
                availability: false,
                stride: 4,
            };
            let to = (made.buffer(*to)?, *offset);
            recorder.copy_query_results_as(pool, (query.0, 1), to, how)?;
        }
    }
    Ok(())
}

/// Binds a pipeline and what its shaders see.
fn bind<P: Platform>(
    recorder: &mut Recorder<'_, '_, '_, P>,
    using: &Using<'_>,
    made: &Made<'_>,
    sets: &Sets,
) -> Result<(), WorkError> {
    let MadePipeline::Compute(pipeline) = made.pipeline(using.pipeline)? else {
        return Err(missing("compute pipeline"));
    };
    recorder.bind_pipeline(pipeline)?;
    for set in sets.of(using) {
        if let MadeSet::Compute(set) = set {
            recorder.bind_descriptor_set(set)?;
        }
    }
    recorder.push_constants(using.push)?;
    Ok(())
}
