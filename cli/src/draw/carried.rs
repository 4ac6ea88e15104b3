//! Scenes as an image carries them to a board: drawn here first, so that the image knows what their results should be.

use super::plan::Limits;
use super::play::{Drawn, Run};
use super::verdict::Verdict;
use crate::outcome::Failure;
use crate::progress;
use crate::runs::parallel;
use eitri_draw_scenes::Scene;
use eitri_drawing::Drawing;
use eitri_drawing::suite::{SuiteError, encode};
use miette::Diagnostic;
use thiserror::Error;

/// Why scenes can't go into an image.
#[derive(Debug, Error, Diagnostic)]
enum NotCarried {
    #[error("{name} fails on the model, so that a board can't be judged by it: {why}")]
    Fails { name: String, why: String },
    #[error("none of the scenes can be drawn")]
    None,
    #[error("the scenes can't be carried: {0}")]
    NoSuite(SuiteError),
}

/// The scenes with the firmware of the GPU. Those that can't be drawn are left out; `left_out` hears why.
pub(crate) fn suite(
    scenes: &[Scene],
    how: &Run<'_>,
    firmware: &[u8],
    mut left_out: impl FnMut(&str, &str),
) -> Result<Vec<u8>, Failure> {
    let count = progress::count(scenes.len());
    let mut drawn: Vec<Drawn> = Vec::new();
    parallel::in_order::<_, _, Failure>(
        scenes,
        how.jobs,
        |scene| how.on_host(scene),
        |scene, one| {
            drawn.push(one);
            count.done(&scene.file.name, || Ok(()))
        },
    )?;
    drop(count);
    let mut prepared = Vec::new();
    for (scene, drawn) in scenes.iter().zip(&drawn) {
        let name = &scene.file.name;
        match &drawn.verdict {
            Verdict::Passed => {}
            Verdict::Skipped(why) => {
                left_out(name, why);
                continue;
            }
            Verdict::Failed(why) => return Err(fails(name, why)),
        }
        match how.prepare(scene) {
            Ok(one) => prepared.push((one, drawn)),
            // It was drawn a moment ago.
            Err(_) => return Err(fails(name, "it can't be compiled again")),
        }
    }
    if prepared.is_empty() {
        return Err(Failure::refused(NotCarried::None));
    }
    let limits = Limits {
        dump: false,
        ..how.limits()
    };
    let drawings = prepared.iter().map(|(prepared, drawn)| {
        let expected = prepared.scene.expect.iter().zip(&drawn.results);
        let wanted = expected.map(|(expectation, bytes)| expectation.wanted(bytes));
        let wanted = wanted.collect();
        let drawing = prepared.drawing(limits);
        let drawing = drawing.map_err(|_| fails(&prepared.scene.file.name, "it has no drawing"))?;
        Ok(Drawing { wanted, ..drawing })
    });
    let drawings = drawings.collect::<Result<Vec<_>, Failure>>()?;
    encode(firmware, &drawings).map_err(|error| Failure::refused(NotCarried::NoSuite(error)))
}

fn fails(name: &str, why: &str) -> Failure {
    let (name, why) = (name.to_owned(), why.to_owned());
    Failure::check(NotCarried::Fails { name, why })
}
