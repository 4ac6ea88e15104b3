//! Drawings without an operating system: the demos are drawn alike in QEMU and on the host, a screen shows one of them and the frames of a swapchain, and scenes and
//! a model come out in QEMU as on the host, where an image without a host judges them, too.

use super::display::difference_on;
use super::{Case, swapchain};
use crate::commands::demo::programs;
use crate::commands::draw::read_scenes;
use crate::draw::{self, ModelArguments, Run, Verdict};
use crate::input::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use crate::runs::demo::drawn::{self, DrawnDemo};
use crate::runs::dispatch::{Done, Place, Talk};
use crate::runs::drawings;
use crate::runs::known_lines::KnownLines;
use crate::runs::parallel;
use crate::runs::qemu::{self, Machine, Setting};
use crate::runs::screen::{Pixmap, Screen};
use crate::workspace::Workspace;
use eitri_draw_scenes::Scene;
use eitri_drawing::suite::{self, SuiteError};
use eitri_drawing::{Drawing, Nearness, Wanted};
use std::time::Duration;

/// Longest that the commands of a drawing may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Scenes that do not lie in a clone.
const SCENES: &str = "../shared/scenes";
/// A model, and pixels that QEMU draws quickly.
const MODEL: &str = "cli/demo/box.gltf";
const MODEL_SIZE: [u32; 2] = [64, 48];
/// Some of them, one or more of a kind: each is quick in QEMU, too, and passes.
#[rustfmt::skip]
const CHOSEN: &[&str] = &[
    "blend_formats", "centroid", "clear_by_load", "cull_and_front", "depth_compare", "derivatives", "index_types", "instancing",
    "interpolation", "mip_nearest", "points", "render_then_sample", "shared_edges", "target_formats_integer", "texture_formats",
    "triangle_list", "vertex_formats_real", "viewport_scissor", "write_masks",
];

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let demos = drawn::all();
    let programs = demos.iter().map(programs);
    let programs = programs.collect::<Result<Vec<_>, _>>()?;
    let pairs = demos.iter().zip(&programs);
    let drawings: Vec<Drawing<'_>> = pairs
        .map(|(demo, [vertex, fragment])| demo.drawing([vertex, fragment]))
        .collect();
    let gpu = GpuChoice::default();
    let in_qemu = drawings::in_qemu(&drawings, gpu, LIMIT)?;
    let mut cases = Vec::new();
    for ((demo, drawing), qemu) in demos.iter().zip(&drawings).zip(in_qemu) {
        let host = drawings::on_host(drawing, gpu, LIMIT, KnownLines::default(), None)?;
        let name = format!("{} is drawn alike in QEMU and on the host", demo.name);
        cases.push(Case::ran(name, differ(demo, &Ok(host), &qemu)));
    }
    if let (Some(demo), Some(drawing)) = (demos.first(), drawings.first()) {
        let host = drawings::on_host(drawing, gpu, LIMIT, KnownLines::default(), None)?;
        let name = format!("a screen shows {}", demo.name);
        cases.push(Case::ran(name, on_screen(demo, drawing, &Ok(host))?));
    }
    cases.extend(swapchain::run(workspace)?);
    cases.extend(scenes(workspace)?);
    cases.push(judged_alone(workspace)?);
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

/// The chosen scenes, and a model.
fn chosen(workspace: &Workspace) -> Result<Vec<Scene>, Failure> {
    let root = workspace.root();
    let mut paths = vec![root.join(MODEL)];
    let folder = root.join(SCENES);
    if folder.is_dir() {
        let chosen = CHOSEN.iter();
        paths.extend(chosen.map(|name| folder.join(name).join(format!("{name}.json"))));
    }
    read_scenes(&paths, &ModelArguments::of_size(MODEL_SIZE), None)
}

pub(super) fn how(place: Place) -> Run<'static> {
    Run {
        place,
        gpu: GpuChoice::default(),
        optimised: false,
        limit: LIMIT,
        dump: false,
        jobs: parallel::available(),
        check: false,
        timelines: None,
        pixel: None,
    }
}

/// Draws chosen scenes and a model in both places: all pass, with the same contents.
fn scenes(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let scenes = chosen(workspace)?;
    let mut contents = Vec::new();
    let mut cases = Vec::new();
    for (place, words) in [(Place::Host, "on the host"), (Place::Qemu, "in QEMU")] {
        let mut wrong = Vec::new();
        let mut results = Vec::new();
        draw::run(&scenes, &how(place), |scene, drawn| {
            results.push(drawn.results);
            let why = match drawn.verdict {
                Verdict::Passed => return Ok(()),
                Verdict::Failed(why) | Verdict::Skipped(why) => why,
            };
            wrong.push(format!("{}: {why}", scene.file.name));
            Ok(())
        })?;
        let name = format!("{} scenes and models pass {words}", scenes.len());
        let failure = (!wrong.is_empty()).then(|| wrong.join("\n"));
        cases.push(Case::ran(name, failure));
        contents.push(results);
    }
    let [host, qemu] = &contents[..] else {
        return Ok(cases);
    };
    let pairs = scenes.iter().zip(host.iter().zip(qemu));
    let differ = pairs.filter(|(_, (host, qemu))| host != qemu);
    let differ: Vec<&str> = differ.map(|(scene, _)| &*scene.file.name).collect();
    let failure = (!differ.is_empty()).then(|| format!("these differ: {}", differ.join(", ")));
    cases.push(Case::ran("they are the same in both places", failure));
    Ok(cases)
}

/// An image judges what it draws by itself: it finds a model good, and names the row in which another is expected.
fn judged_alone(workspace: &Workspace) -> Result<Case, Failure> {
    const NAME: &str = "an image without a host names the row that differs";
    let paths = [workspace.root().join(MODEL)];
    let scenes = read_scenes(&paths, &ModelArguments::of_size(MODEL_SIZE), None)?;
    let gpu = GpuChoice::default();
    let firmware = eitri_model::stub_firmware();
    let bytes = draw::suite(&scenes, &how(Place::Host), &firmware, |_, _| {})?;
    let ruined = |error: SuiteError| Ok(Case::ran(NAME, Some(error.to_string())));
    let drawings =
        suite::read(&bytes).and_then(|read| read.entries.collect::<Result<Vec<Drawing<'_>>, _>>());
    let drawing = match drawings.map(|drawings| drawings.into_iter().next()) {
        Ok(Some(drawing)) => drawing,
        Ok(None) => return Ok(Case::ran(NAME, Some("it carries nothing".to_owned()))),
        Err(error) => return ruined(error),
    };
    let Some(wanted) = drawing.wanted.first() else {
        return Ok(Case::ran(NAME, Some("nothing is expected".to_owned())));
    };
    // Another red at the fourth pixel of row 7.
    let mut other = wanted.bytes.to_vec();
    let at = (7 * wanted.row_texels as usize + 3) * wanted.texel_bytes as usize;
    if let Some(byte) = other.get_mut(at) {
        *byte ^= 0x80;
    }
    let exact = Wanted {
        bytes: &other,
        rule: Nearness::Steps {
            steps: 0,
            texels: 0,
        },
        ..*wanted
    };
    let wrong = Drawing {
        name: "other",
        wanted: vec![exact],
        ..drawing.clone()
    };
    let both = match suite::encode(&firmware, &[drawing, wrong]) {
        Ok(both) => both,
        Err(error) => return ruined(error),
    };
    let machine = Machine::with_drawings(&both, false)?;
    let ran = qemu::run_drawings_alone(&machine, &["rows"], gpu, LIMIT * 2)?;
    let lines: Vec<&str> = ran.console.lines().map(str::trim_end).collect();
    let has = |wanted: &str| lines.iter().any(|line| line.starts_with(wanted));
    let wanted = [
        "1..2",
        "# box result 0: crc32 ",
        "ok 1 - box",
        "# row 7: 1 texels off, at 3 ",
        "not ok 2 - other",
        "# Fail: result 0: 1 of ",
        "# 1 passed, 1 failed, 0 skipped",
        "# done",
    ];
    let missing = wanted.iter().find(|line| !has(line));
    let failure = missing.map(|line| format!("no line `{line}`: {}\n{}", ran.ended, ran.console));
    Ok(Case::ran(NAME, failure))
}
