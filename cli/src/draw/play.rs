//! Drawings, played: each in this process, or all of them by one image in QEMU.

use super::lack::Lack;
use super::pixel_history::{PixelArgument, PixelHistory};
use super::plan::Limits;
use super::prepared::Prepared;
use super::shaders::Manner;
use super::verdict::{self, Verdict};
use crate::input::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use crate::reports::timeline::{Timeline, Timelines};
use crate::runs::dispatch::{Done, Place};
use crate::runs::drawings;
use crate::runs::drawn_checks::{self, Checked, Module, STEP_LIMIT, Subject};
use crate::runs::host::Recorded;
use crate::runs::parallel;
use eitri_draw_scenes::Scene;
use eitri_drawing::Drawing;
use eitri_job::result::FailureKind;
use eitri_model::{Fidelity, Sink};
use std::convert::Infallible;
use std::num::NonZero;
use std::time::{Duration, Instant};

/// How scenes are drawn.
pub(crate) struct Run<'r> {
    pub(crate) place: Place,
    pub(crate) gpu: GpuChoice,
    /// Whether the optimised modules are taken.
    pub(crate) optimised: bool,
    /// Longest that the commands of one scene may take.
    pub(crate) limit: Duration,
    /// Whether a core dump is wanted of scenes that fail.
    pub(crate) dump: bool,
    /// Scenes at once, in this process.
    pub(crate) jobs: NonZero<usize>,
    /// Whether shaders are checked: by a model in this process, wherever scenes are drawn.
    pub(crate) check: bool,
    /// Where the timelines of scenes go that are drawn on the host.
    pub(crate) timelines: Option<&'r Timelines>,
    /// The pixel whose history is wanted, of scenes that are drawn on the host.
    pub(crate) pixel: Option<PixelArgument>,
}

/// Time of a scene, from GPU power-off to its results, and counts of what the GPU drew.
pub(crate) struct Measured {
    pub(crate) took: Duration,
    pub(crate) drawn: eitri_model::Drawn,
}

/// What came of a scene.
pub(crate) struct Drawn {
    pub(crate) verdict: Verdict,
    /// The contents of each expectation's place; none if it was not played to its end.
    pub(crate) results: Vec<Vec<u8>>,
    /// A core dump, if one was wanted and it failed.
    pub(crate) dump: Vec<u8>,
    /// How far what was drawn can be trusted, if that was followed.
    pub(crate) fidelity: Fidelity,
    /// What the checkers found, if they ran.
    pub(crate) checked: Checked,
    /// The history of a pixel, if one was wanted.
    pub(crate) history: Option<String>,
}

impl Drawn {
    fn without_results(verdict: Verdict) -> Drawn {
        Drawn {
            verdict,
            results: Vec::new(),
            dump: Vec::new(),
            fidelity: Fidelity::default(),
            checked: Checked::default(),
            history: None,
        }
    }
}

/// Draws scenes; gives what came of each to `receive`, in order.
///
/// # Errors
/// The first error of `receive`; or if there can't be an image.
pub(crate) fn run(
    scenes: &[Scene],
    how: &Run<'_>,
    mut receive: impl FnMut(&Scene, Drawn) -> Result<(), Failure>,
) -> Result<(), Failure> {
    match how.place {
        Place::Host => {
            let work = |scene: &Scene| how.on_host(scene);
            parallel::in_order(scenes, how.jobs, work, receive)
        }
        Place::Qemu => {
            let drawn = how.in_qemu(scenes)?;
            let mut all = scenes.iter().zip(drawn);
            all.try_for_each(|(scene, drawn)| receive(scene, drawn))
        }
    }
}

impl Run<'_> {
    pub(super) fn prepare<'s>(&self, scene: &'s Scene) -> Result<Prepared<'s>, Verdict> {
        let manner = Manner {
            optimised: self.optimised,
            target: self.gpu.target(),
            representation: false,
        };
        Prepared::new(scene, self.gpu.arch(), manner)
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            limit_ms: u32::try_from(self.limit.as_millis()).unwrap_or(u32::MAX),
            dump: self.dump,
        }
    }

    pub(super) fn on_host(&self, scene: &Scene) -> Drawn {
        self.try_on_host(scene)
            .unwrap_or_else(Drawn::without_results)
    }

    fn try_on_host(&self, scene: &Scene) -> Result<Drawn, Verdict> {
        let prepared = self.prepare(scene)?;
        let drawing = prepared.drawing(self.limits())?;
        let timeline = Timeline::default();
        let trace = self.timelines.map(|_| timeline.sink());
        let history = self.pixel.map(PixelHistory::new);
        let trace = match &history {
            Some(history) => Some(history.sink(trace)),
            None => trace,
        };
        let done = drawings::on_host(&drawing, self.gpu, self.limit, prepared.lines(), trace);
        // Behind the job: scenes are drawn several at once.
        let checked = self.checked(&drawing, prepared.modules());
        if let Some(timelines) = self.timelines {
            timelines.add(&scene.file.name, &timeline);
        }
        let done = done.map_err(|error| Verdict::Failed(error.to_string()))?;
        Ok(Drawn {
            checked,
            history: history.map(|history| history.text()),
            ..judged(scene, done)
        })
    }

    /// What checkers find in a drawing, if they are wanted; `modules` are those of its programs.
    fn checked(&self, drawing: &Drawing<'_>, modules: &[Module]) -> Checked {
        if !self.check {
            return Checked::default();
        }
        drawn_checks::run(&Subject {
            drawing,
            modules,
            gpu: self.gpu,
            limit: self.limit,
            step_limit: STEP_LIMIT,
            all_written: false,
        })
    }

    /// The same of several drawings, in their order.
    fn all_checked(&self, drawings: &[Drawing<'_>], modules: &[&[Module]]) -> Vec<Checked> {
        let pairs: Vec<(&Drawing<'_>, &[Module])> =
            drawings.iter().zip(modules.iter().copied()).collect();
        let mut all = Vec::new();
        let work = |(drawing, modules): &(&Drawing<'_>, &[Module])| self.checked(drawing, modules);
        let Ok(()) = parallel::in_order(&pairs, self.jobs, work, |_, checked| {
            all.push(checked);
            Ok::<(), Infallible>(())
        });
        all
    }

    /// Draws a scene on the host and records all that the driver does, for a debugger.
    ///
    /// # Errors
    /// What becomes of the scene without being drawn.
    pub(crate) fn record(&self, scene: &Scene) -> Result<Recorded, Verdict> {
        let prepared = self.prepare(scene)?;
        let drawing = prepared.drawing(self.limits())?;
        let recorded = drawings::record(&drawing, self.gpu, self.limit);
        recorded.map_err(|error| Verdict::Failed(error.to_string()))
    }

    /// Draws a scene on the host and takes the time, without that of reading and compiling it.
    ///
    /// # Errors
    /// What became of the scene, if it does not come out as expected.
    pub(crate) fn measure(&self, scene: &Scene) -> Result<Measured, Verdict> {
        self.measure_traced(scene, None)
    }

    /// As [`Run::measure`]; `trace` is told what happens inside of the GPU.
    ///
    /// # Errors
    /// What became of the scene, if it does not come out as expected.
    pub(crate) fn measure_traced(
        &self,
        scene: &Scene,
        trace: Option<Box<dyn Sink>>,
    ) -> Result<Measured, Verdict> {
        let prepared = self.prepare(scene)?;
        let drawing = prepared.drawing(self.limits())?;
        let start = Instant::now();
        let played = drawings::counted_on_host(&drawing, self.gpu, self.limit, trace);
        let took = start.elapsed();
        let (done, drawn) = played.map_err(|error| Verdict::Failed(error.to_string()))?;
        match judged(scene, done).verdict {
            Verdict::Passed => Ok(Measured { took, drawn }),
            other => Err(other),
        }
    }

    fn in_qemu(&self, scenes: &[Scene]) -> Result<Vec<Drawn>, Failure> {
        let mut prepared = Vec::new();
        let all: Vec<&Scene> = scenes.iter().collect();
        let collect = |_: &&Scene, one| {
            prepared.push(one);
            Ok(())
        };
        parallel::in_order::<_, _, Failure>(
            &all,
            parallel::available(),
            |scene| self.prepare(scene),
            collect,
        )?;
        // What is drawn, by its number in the image; and what becomes of the others.
        let mut drawings = Vec::new();
        let mut modules = Vec::new();
        let mut numbers = Vec::new();
        for one in &prepared {
            let drawing = one.as_ref().map_err(Verdict::clone);
            let drawing = drawing.and_then(|prepared| {
                let drawing = prepared.drawing(self.limits())?;
                Ok((drawing, prepared.modules()))
            });
            numbers.push(drawing.map(|(drawing, own)| {
                drawings.push(drawing);
                modules.push(own);
                drawings.len()
            }));
        }
        let played = drawings::in_qemu(&drawings, self.gpu, self.limit)?;
        let checked = self.all_checked(&drawings, &modules);
        let mut played = played.into_iter().zip(checked);
        let drawn = scenes.iter().zip(numbers).map(|(scene, number)| {
            // Numbers are in order, and each has its place.
            match number.map(|_| played.next()) {
                Err(verdict) => Drawn::without_results(verdict),
                Ok(Some((Ok(done), checked))) => Drawn {
                    checked,
                    ..judged(scene, done)
                },
                Ok(Some((Err(why), checked))) => Drawn {
                    checked,
                    ..Drawn::without_results(Verdict::Failed(why))
                },
                Ok(None) => {
                    let why = "the image did not come to it".to_owned();
                    Drawn::without_results(Verdict::Failed(why))
                }
            }
        });
        Ok(drawn.collect())
    }
}

/// What a scene's expectations say of a drawing's result.
fn judged(scene: &Scene, done: Done) -> Drawn {
    let Done {
        result,
        diagnoses,
        fidelity,
        ..
    } = done;
    if let Some(failure) = &result.failure {
        let text = failure.text.trim_end().to_owned();
        let verdict = match failure.kind {
            FailureKind::Unsupported => Verdict::Skipped(Lack::NotYet(text).to_string()),
            FailureKind::Refused | FailureKind::Device => Verdict::Failed(text),
        };
        return Drawn {
            dump: result.dump,
            fidelity,
            ..Drawn::without_results(verdict)
        };
    }
    let results: Vec<Vec<u8>> = result.buffers.into_iter().map(|it| it.bytes).collect();
    Drawn {
        verdict: verdict::check(scene, &results, &diagnoses),
        results,
        dump: result.dump,
        fidelity,
        checked: Checked::default(),
        history: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::ModelArguments;
    use std::path::Path;

    #[test]
    fn checkers_shade_the_same_wherever_a_scene_is_drawn() {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/box.gltf");
        let scene = ModelArguments::of_size([16, 12]).scene(&model).unwrap();
        let how = Run {
            place: Place::Qemu,
            gpu: GpuChoice::default(),
            optimised: false,
            limit: Duration::from_secs(60),
            dump: false,
            jobs: NonZero::<usize>::MIN,
            check: true,
            timelines: None,
            pixel: None,
        };
        let prepared = how.prepare(&scene).unwrap();
        let drawing = prepared.drawing(how.limits()).unwrap();
        let modules = prepared.modules();
        let in_qemu = how.all_checked(&[drawing.clone(), drawing], &[modules, modules]);
        let steps: Vec<u64> = in_qemu.iter().map(|checked| checked.steps).collect();
        let on_host = how.on_host(&scene).checked.steps;
        assert_ne!(on_host, 0);
        assert_eq!(steps, [on_host, on_host]);
    }
}
