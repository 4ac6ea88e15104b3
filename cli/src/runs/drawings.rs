//! Drawings, played: one in this process, or several by one image in QEMU.

use crate::input::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use crate::runs::dispatch::Done;
use crate::runs::host::{self, HostGpu, Recorded, Stream};
use crate::runs::known_lines::KnownLines;
use crate::runs::qemu::{self, Machine, Setting};
use crate::runs::screen::Screen;
use eitri_drawing::Drawing;
use eitri_drawing::suite::{self, SuiteError};
use eitri_job::result::JobResult;
use eitri_model::{Drawn, Fidelity, Sink};
use miette::Diagnostic;
use std::ops::RangeInclusive;
use std::time::Duration;
use thiserror::Error;

/// A drawing that has no form in which it can be played.
#[derive(Debug, Error, Diagnostic)]
#[error("the drawings can't be put into a form that is played")]
struct NoForm(#[source] SuiteError);

fn no_form(error: SuiteError) -> Failure {
    Failure::refused(NoForm(error))
}

/// Plays a drawing in this process; `lines` are those of its programs. `trace` is told what happens inside of the GPU.
pub(crate) fn on_host(
    drawing: &Drawing<'_>,
    gpu: GpuChoice,
    limit: Duration,
    lines: KnownLines,
    trace: Option<Box<dyn Sink>>,
) -> Result<Done, Failure> {
    played(drawing, HostGpu::new(gpu, limit, trace).naming(lines)).map(|(done, _)| done)
}

/// As [`on_host`], with what the GPU has drawn.
pub(crate) fn counted_on_host(
    drawing: &Drawing<'_>,
    gpu: GpuChoice,
    limit: Duration,
    trace: Option<Box<dyn Sink>>,
) -> Result<(Done, Drawn), Failure> {
    played(drawing, HostGpu::new(gpu, limit, trace))
}

/// Plays a drawing as [`on_host`] does, on a GPU with one core, and records all that the driver does.
pub(crate) fn record(
    drawing: &Drawing<'_>,
    gpu: GpuChoice,
    limit: Duration,
) -> Result<Recorded, Failure> {
    let firmware = eitri_model::stub_firmware();
    let bytes = suite::encode(&firmware, std::slice::from_ref(drawing)).map_err(no_form)?;
    let read = suite::read(&bytes).map_err(no_form)?;
    let drawings: Result<Vec<Drawing<'_>>, SuiteError> = read.entries.collect();
    let drawings = drawings.map_err(no_form)?;
    host::record_by(gpu, limit, |machine, stream| {
        for drawing in &drawings {
            let (_, Ok(_)) =
                eitri_player::play(machine.clone(), read.firmware, drawing, &mut (), stream);
        }
    })
}

fn played(drawing: &Drawing<'_>, host: HostGpu) -> Result<(Done, Drawn), Failure> {
    // As an image reads it: what has no form there should not pass here.
    let firmware = eitri_model::stub_firmware();
    let bytes = suite::encode(&firmware, std::slice::from_ref(drawing)).map_err(no_form)?;
    let read = suite::read::<Drawing<'_>>(&bytes).map_err(no_form)?;
    let mut stream = Stream::default();
    for drawing in read.entries {
        let drawing = drawing.map_err(no_form)?;
        let platform = host.platform();
        let (_, Ok(_)) =
            eitri_player::play(platform, read.firmware, &drawing, &mut (), &mut stream);
    }
    Ok((host.done(&stream)?, host.drawn()))
}

/// Plays drawings in QEMU, each with so much time. The image is booted as often as it takes to come to the last one; gives what came
/// of each, or why nothing did.
pub(crate) fn in_qemu(
    drawings: &[Drawing<'_>],
    gpu: GpuChoice,
    limit: Duration,
) -> Result<Vec<Result<Done, String>>, Failure> {
    if drawings.is_empty() {
        return Ok(Vec::new());
    }
    let suite = suite::encode(&eitri_model::stub_firmware(), drawings).map_err(no_form)?;
    let machine = Machine::with_drawings(&suite, false)?;
    let boot = |numbers| boot(&machine, numbers, gpu, limit);
    let mut played = Vec::new();
    while played.len() < drawings.len() {
        let first = played.len() + 1;
        let mut ran = boot(first..=drawings.len())?;
        let diagnosed = |done: &Done| !done.diagnoses.is_empty();
        if ran.len() > 1 && ran.iter().flatten().any(diagnosed) {
            // Which of them a diagnosis is of, a boot of each alone tells.
            let last = played.len() + ran.len();
            ran.clear();
            for number in first..=last {
                ran.extend(boot(number..=number)?);
            }
        }
        played.extend(ran);
    }
    Ok(played)
}

/// Shows a drawing in QEMU, picture by picture, on bare metal; gives what the screen showed, if that is kept.
pub(crate) fn show(
    drawing: &Drawing<'_>,
    screen: &Screen,
    setting: &Setting<'_>,
) -> Result<Option<Vec<u8>>, Failure> {
    let drawings = std::slice::from_ref(drawing);
    let suite = suite::encode(&eitri_model::stub_firmware(), drawings).map_err(no_form)?;
    qemu::run_drawing_shown(&suite, setting, screen)
}

/// Boots the image for these drawings; gives what came of each up to the last, or the one that took the image down. What the monitor
/// says of how the GPU was used is with the first.
fn boot(
    machine: &Machine,
    numbers: RangeInclusive<usize>,
    gpu: GpuChoice,
    limit: Duration,
) -> Result<Vec<Result<Done, String>>, Failure> {
    let folder =
        tempfile::tempdir().map_err(|cause| Failure::unwritable(std::env::temp_dir(), cause))?;
    let count = u32::try_from(numbers.clone().count()).unwrap_or(u32::MAX);
    let ran = qemu::run_drawings(machine, folder.path(), &numbers, gpu, limit * count)?;
    let mut played: Vec<Result<Done, String>> = Vec::new();
    for number in numbers {
        let Ok(bytes) = std::fs::read(folder.path().join(number.to_string())) else {
            played.push(Err(format!("{}\n{}", ran.ended, ran.console)));
            break;
        };
        let result = JobResult::parse(&bytes).map_err(|error| error.to_string());
        let diagnoses = Vec::new();
        played.push(result.map(|result| Done {
            result,
            diagnoses,
            cores: Vec::new(),
            fidelity: Fidelity::default(),
        }));
    }
    if let Some(Ok(first)) = played.first_mut() {
        first.diagnoses = ran.diagnoses;
    }
    Ok(played)
}
