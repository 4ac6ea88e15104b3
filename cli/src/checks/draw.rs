//! Drawings without an operating system: the demos are drawn alike in QEMU and on the host, a screen shows one of them and the frames of a swapchain, and scenes have
//! the verdicts in QEMU that they have on the host.

use super::display::difference_on;
use super::{Case, swapchain};
use crate::commands::demo::programs;
use crate::draw::{self, Run, Verdict};
use crate::input::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use crate::runs::demo::drawn::{self, DrawnDemo};
use crate::runs::dispatch::{Done, Place, Talk};
use crate::runs::drawings;
use crate::runs::parallel;
use crate::runs::qemu::Setting;
use crate::runs::screen::{Pixmap, Screen};
use crate::workspace::Workspace;
use eitri_draw_scenes::Scene;
use eitri_drawing::Drawing;
use std::time::Duration;

/// Longest that the commands of a drawing may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Scenes that do not lie in a clone.
const SCENES: &str = "../shared/scenes";
/// Some of them, one or more of a kind: each is quick in QEMU, too, and passes.
#[rustfmt::skip]
const CHOSEN: &[&str] = &[
    "blend_formats", "centroid", "clear_by_load", "cull_and_front", "depth_compare", "derivatives", "index_types", "instancing",
    "interpolation", "mip_nearest", "points", "render_then_sample", "shared_edges", "target_formats_integer", "texture_formats",
    "triangle_list", "vertex_formats_real", "viewport_scissor", "write_masks",
];

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let demos = drawn::all();
    let programs = demos.iter().map(|demo| programs(workspace, demo));
    let programs = programs.collect::<Result<Vec<_>, _>>()?;
    let pairs = demos.iter().zip(&programs);
    let drawings: Vec<Drawing<'_>> = pairs
        .map(|(demo, [vertex, fragment])| demo.drawing([vertex, fragment]))
        .collect();
    let gpu = GpuChoice::default();
    let in_qemu = drawings::in_qemu(&drawings, gpu, LIMIT)?;
    let mut cases = Vec::new();
    for ((demo, drawing), qemu) in demos.iter().zip(&drawings).zip(in_qemu) {
        let host = drawings::on_host(drawing, gpu, LIMIT, None)?;
        let name = format!("{} is drawn alike in QEMU and on the host", demo.name);
        cases.push(Case::ran(name, differ(demo, &Ok(host), &qemu)));
    }
    if let (Some(demo), Some(drawing)) = (demos.first(), drawings.first()) {
        let host = drawings::on_host(drawing, gpu, LIMIT, None)?;
        let name = format!("a screen shows {}", demo.name);
        cases.push(Case::ran(name, on_screen(demo, drawing, &Ok(host))?));
    }
    cases.extend(swapchain::run(workspace)?);
    cases.extend(scenes(workspace)?);
    Ok(cases)
}

/// The picture that a run has left, or why there is none.
fn picture(done: &Result<Done, String>) -> Result<&[u8], String> {
    let Done {
        result, diagnoses, ..
    } = done.as_ref().map_err(String::clone)?;
    match (&result.failure, diagnoses.first(), result.buffers.first()) {
        (Some(failure), ..) => Err(failure.text.clone()),
        (None, Some(diagnosis), _) => Err(diagnosis.clone()),
        (None, None, Some(buffer)) => Ok(&buffer.bytes),
        (None, None, None) => Err("no picture came back".to_owned()),
    }
}

/// What is wrong with the pictures of the two places.
fn differ(
    demo: &DrawnDemo,
    host: &Result<Done, String>,
    qemu: &Result<Done, String>,
) -> Option<String> {
    let pictures = picture(host).and_then(|host| Ok((host, picture(qemu)?)));
    match pictures {
        Err(why) => Some(why),
        Ok((host, qemu)) if host != qemu => {
            let at = host.iter().zip(qemu).position(|(a, b)| a != b);
            Some(format!("the pictures differ at byte {at:?}"))
        }
        Ok((host, _)) => demo.check(host).err().map(|error| error.to_string()),
    }
}

/// What is wrong with QEMU's screen on which the picture is shown.
fn on_screen(
    demo: &DrawnDemo,
    drawing: &Drawing<'_>,
    host: &Result<Done, String>,
) -> Result<Option<String>, Failure> {
    let setting = Setting {
        gpu: GpuChoice::default(),
        limit: LIMIT,
        talk: Talk::Quiet,
        words: &[],
    };
    let screen = drawings::show(drawing, &Screen::Kept, &setting)?.unwrap_or_default();
    let pixels = match picture(host) {
        Ok(pixels) => pixels.as_chunks::<4>().0,
        Err(why) => return Ok(Some(why)),
    };
    Ok(match Pixmap::parse(&screen) {
        Ok(screen) => difference_on(&screen, pixels, demo.side() as usize),
        Err(error) => Some(error.to_string()),
    })
}

/// Draws chosen scenes in both places, if they are there: all pass.
fn scenes(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let folder = workspace.root().join(SCENES);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let read = CHOSEN.iter().map(|name| {
        let path = folder.join(name).join(format!("{name}.json"));
        Scene::read(&path)
    });
    let scenes = match read.collect::<Result<Vec<Scene>, _>>() {
        Ok(scenes) => scenes,
        Err(error) => {
            let name = "scenes are read".to_owned();
            return Ok(vec![Case::ran(name, Some(error.to_string()))]);
        }
    };
    let places = [(Place::Host, "on the host"), (Place::Qemu, "in QEMU")];
    let cases = places.map(|(place, words)| {
        let how = Run {
            place,
            gpu: GpuChoice::default(),
            optimised: false,
            limit: LIMIT,
            dump: false,
            jobs: parallel::available(),
            timelines: None,
        };
        let mut wrong = Vec::new();
        draw::run(&scenes, &how, |scene, drawn| {
            let why = match drawn.verdict {
                Verdict::Passed => return Ok(()),
                Verdict::Failed(why) | Verdict::Skipped(why) => why,
            };
            wrong.push(format!("{}: {why}", scene.file.name));
            Ok(())
        })?;
        let name = format!("{} scenes pass {words}", scenes.len());
        let failure = (!wrong.is_empty()).then(|| wrong.join("\n"));
        Ok(Case::ran(name, failure))
    });
    cases.into_iter().collect()
}
