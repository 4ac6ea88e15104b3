//! A swapchain with no operating system: `examples/cube`, whose frames a screen shows as a CPU sees the cube, read where they lie and copied.

use super::Case;
use super::display::difference_on;
use crate::input::gpu_choice::GpuChoice;
use crate::input::shader_file;
use crate::outcome::Failure;
use crate::runs::demo::drawn::screen_triangle::{Corner, inside};
use crate::runs::dispatch::Talk;
use crate::runs::qemu::{Machine, Setting};
use crate::runs::screen::{Pixmap, Screen};
use crate::workspace::Workspace;
use eitri_shaderc::Options;
use std::time::Duration;

/// Longest that all frames may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Pixels along a side of the cube's picture, and how far it turns from one frame to the next: `examples/cube`.
const SIDE: usize = 256;
const STEP: f64 = 0.05;
/// More than there are images, so that each is drawn again.
const FRAMES: &str = "frames=5";
const LAST: f64 = 4.0;
/// Pixels at edges, where a rounding decides.
const ALLOWED: usize = 80;
/// Steps by which a component may differ.
const STEPS: u8 = 2;

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let [vertex, fragment] = programs(workspace)?;
    let machine = Machine::with_cube(&eitri_model::stub_firmware(), [&vertex, &fragment])?;
    let shown = |words| {
        let setting = Setting {
            gpu: GpuChoice::default(),
            limit: LIMIT,
            talk: Talk::Quiet,
            words,
        };
        machine.shown(&setting, &Screen::Kept)
    };
    let direct = shown(&[FRAMES])?.unwrap_or_default();
    let copied = shown(&[FRAMES, "copy"])?.unwrap_or_default();
    let frame = frame(&direct);
    let on_copy = frame
        .as_ref()
        .ok()
        .and_then(|frame| match Pixmap::parse(&copied) {
            Ok(screen) => difference_on(&screen, frame, SIDE),
            Err(error) => Some(error.to_string()),
        });
    Ok(vec![
        Case::ran(
            "a screen reads a swapchain's frames where they lie",
            match &frame {
                Ok(frame) => differs(frame),
                Err(why) => Some(why.clone()),
            },
        ),
        Case::ran("a swapchain's frames are copied to a screen", on_copy),
    ])
}

/// The programs of the cube's shaders.
fn programs(workspace: &Workspace) -> Result<[Vec<u8>; 2], Failure> {
    let folder = workspace.root().join("examples/cube");
    let load = |name: &str| shader_file::load(&folder.join(name).to_string_lossy());
    let (vertex, fragment) = (load("cube.vert")?, load("cube.frag")?);
    let options = Options::default();
    let compiled = eitri_shaderc::compile_graphics(
        (&vertex.spirv, &options),
        Some((&fragment.spirv, &options)),
    );
    let compiled = compiled.map_err(|errors| Failure::refused(NotCompiled(errors)))?;
    let fragment = compiled.fragment.map(|stage| stage.program);
    Ok([compiled.vertex.program, fragment.unwrap_or_default()])
}

#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("the shaders of examples/cube: {0}")]
struct NotCompiled(eitri_shaderc::Errors);

/// The frame that a screen of its size shows.
fn frame(screen: &[u8]) -> Result<Vec<[u8; 4]>, String> {
    let screen = Pixmap::parse(screen).map_err(|error| error.to_string())?;
    if (screen.width, screen.height) != (SIDE, SIDE) {
        let found = (screen.width, screen.height);
        return Err(format!("a screen of {found:?} pixels"));
    }
    let pixels = screen.pixels.as_chunks::<3>().0.iter();
    Ok(pixels
        .map(|[red, green, blue]| [*red, *green, *blue, 255])
        .collect())
}

/// How the last frame differs from the picture that a CPU draws, if it does.
fn differs(frame: &[[u8; 4]]) -> Option<String> {
    let expected = expected(LAST * STEP);
    let near = |a: &[u8; 4], b: &[u8; 3]| a.iter().zip(b).all(|(a, b)| a.abs_diff(*b) <= STEPS);
    let pairs = frame.iter().zip(&expected).enumerate();
    let mut wrong = pairs.filter(|(_, (found, expected))| !near(found, expected));
    let (at, (found, expected)) = wrong.next()?;
    let count = wrong.count() + 1;
    (count > ALLOWED).then(|| {
        let (x, y) = (at % SIDE, at / SIDE);
        format!(
            "{count} pixels differ; the first at {x}, {y} is {found:?}, a CPU says {expected:?}"
        )
    })
}

/// The cube after a turn, by a CPU: what cube.vert and cube.frag say, in double precision.
fn expected(angle: f64) -> Vec<[u8; 3]> {
    let (sin, cos) = angle.sin_cos();
    let (tilt_sin, tilt_cos) = 0.5_f64.sin_cos();
    let on_screen = |[x, y, z]: [f64; 3]| {
        let (x, z) = (cos * x + sin * z, cos * z - sin * x);
        let (y, z) = (
            tilt_cos * y - tilt_sin * z,
            tilt_sin * y + tilt_cos * z + 4.5,
        );
        let half = SIDE as f64 / 2.0;
        Corner {
            x: half + half * 1.9 * x / z,
            y: half + half * 1.9 * y / z,
            z: (z - 1.0) * 10.0 / 9.0 / z,
            over_w: 1.0 / z,
        }
    };
    let triangles: Vec<_> = triangles()
        .map(|places| (places, places.map(on_screen)))
        .collect();
    let pixel = |at: usize| {
        let (x, y) = ((at % SIDE) as f64 + 0.5, (at / SIDE) as f64 + 0.5);
        let hits = triangles
            .iter()
            .filter_map(|(places, corners)| Some((places, inside(*corners, x, y)?)));
        let nearest = hits.min_by(|(_, a), (_, b)| a.depth.total_cmp(&b.depth));
        let color = nearest.map_or([0.1, 0.1, 0.15], |(places, found)| {
            [0, 1, 2].map(|axis: usize| {
                let pairs = found.weights.iter().zip(places);
                0.5 + 0.4
                    * pairs
                        .map(|(weight, place)| weight * place[axis])
                        .sum::<f64>()
            })
        });
        color.map(|part| (part * 255.0).round() as u8)
    };
    (0..SIDE * SIDE).map(pixel).collect()
}

/// The corners of twelve triangles, two a side.
fn triangles() -> impl Iterator<Item = [[f64; 3]; 3]> {
    let halves = [
        [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0]],
        [[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]],
    ];
    let sides = (0..3).flat_map(|axis: usize| [-1.0, 1.0].map(|out| (axis, out)));
    sides.flat_map(move |(axis, out)| {
        halves.map(|half| {
            half.map(|[across, down]| {
                let mut place = [out; 3];
                place[(axis + 1) % 3] = across;
                place[(axis + 2) % 3] = down;
                place
            })
        })
    })
}
