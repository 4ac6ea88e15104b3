//! `eitri draw` of glTF models: files that are written here, and pictures that a CPU makes of the same scenes.

mod files;
mod glb;
mod pictures;
mod reference;
mod refused;
mod scene;

use crate::eitri::eitri;
use glb::File;
use reference::{World, code};
use scene::{Camera, ENVIRONMENT, LIGHT, LIGHT_COLOR, Part};
use std::path::{Path, PathBuf};

/// Pixels of a row, and rows.
const SIZE: [usize; 2] = [72, 48];
/// Steps of 255 by which a component may differ: colours are rounded when they are stored, and shaders have 32 bits.
const STEPS: f64 = 2.0;
/// The share of pixels that are not compared, because a side of a surface or of a texel is near.
const LEFT_OUT: f64 = 0.35;

/// A camera in front of everything.
const FRONT: Camera = Camera {
    place: [0.2, 0.1, 4.0],
    turn: 0.05,
    half_height: 0.4,
    parallel: false,
};

/// Writes a file, draws it, and gives the pixels.
fn draw(file: &File, options: &[&str]) -> Vec<[u8; 4]> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.glb");
    std::fs::write(&path, file.glb()).unwrap();
    drawn(&path, options)
}

/// Draws a file, and gives the pixels.
#[track_caller]
fn drawn(path: &Path, options: &[&str]) -> Vec<[u8; 4]> {
    let picture = path.with_extension("png");
    let numbers = |numbers: [f64; 3]| numbers.map(|number| number.to_string()).join(",");
    let (light, color, around) = (numbers(LIGHT), numbers(LIGHT_COLOR), numbers(ENVIRONMENT));
    let size = SIZE.map(|side| side.to_string()).join("x");
    let mut arguments = vec![
        "draw",
        path.to_str().unwrap(),
        "-o",
        picture.to_str().unwrap(),
    ];
    arguments.extend(["--size", &size, "--light", &light, "--light-color", &color]);
    arguments.extend(["--environment", &around]);
    arguments.extend(options);
    let output = eitri(&arguments, b"");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let name = path.file_stem().unwrap().to_string_lossy();
    let lines = format!("ok {name}\n1 passed, 0 failed, 0 skipped\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), lines, "{stderr}");
    pixels(&picture)
}

/// The pixels of a PNG file of red, green, blue and alpha.
fn pixels(path: &PathBuf) -> Vec<[u8; 4]> {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!([info.width, info.height].map(|side| side as usize), SIZE);
    bytes.as_chunks::<4>().0.to_vec()
}

/// Compares pixels with what a CPU sees, wherever nothing changes abruptly within `reach` pixels.
#[track_caller]
fn compare(drawn: &[[u8; 4]], parts: &[Part], camera: Camera, reach: f64) {
    let world = World::new(parts, camera, SIZE);
    let (mut left_out, mut on_surfaces) = (0, 0);
    for (at, pixel) in drawn.iter().enumerate() {
        let (x, y) = ((at % SIZE[0]) as f64 + 0.5, (at / SIZE[0]) as f64 + 0.5);
        let seen = world.seen(x, y);
        let around = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]].map(|[dx, dy]| {
            let near = world.seen(x + dx * reach, y + dy * reach);
            let pairs = near.color.iter().zip(&seen.color);
            let steady = pairs
                .clone()
                .all(|(a, b)| (code(*a) - code(*b)).abs() < 6.0);
            steady && near.surfaces == seen.surfaces
        });
        if around.contains(&false) {
            left_out += 1;
            continue;
        }
        on_surfaces += usize::from(!seen.surfaces.is_empty());
        let expected = seen.color.map(code);
        let pairs = pixel.iter().zip(expected);
        let good = pairs
            .clone()
            .all(|(found, expected)| (f64::from(*found) - expected).abs() <= STEPS);
        assert!(
            good && pixel[3] == 255,
            "the pixel at ({x}, {y}) is {pixel:?}, a CPU says {expected:.1?}"
        );
    }
    let share = f64::from(left_out) / drawn.len() as f64;
    assert!(share < LEFT_OUT, "{share} of the pixels are not compared");
    assert!(
        on_surfaces > drawn.len() / 8,
        "only {on_surfaces} pixels show the model"
    );
}
