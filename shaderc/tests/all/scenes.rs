//! The shaders of the drawn scenes: each becomes IR in the lowered form, or is refused for a feature that has a name.
use std::path::PathBuf;

use eitri_shaderc::interp::{
    Buffer, Fragment, Image, Outputs, Resources, Sampler, TexelFormat, interpret_vertices,
};
use eitri_shaderc::ir::verify::lowered;
use eitri_shaderc::ir::{BindingKind, Function, Output, Stage, TexelKind};
use eitri_shaderc::spirv::translate;
use eitri_shaderc::{Options, ShaderStage, front_end};

use crate::support::drawing::{Linear, draw_to, shade, vertices};

/// The features that shaders may be refused for: what the machine lacks, and what is not done yet.
const LACKING: &[&str] = &[];

/// All modules of vertex and fragment shaders of the scenes, if those are there.
fn modules() -> Vec<(PathBuf, ShaderStage)> {
    let Some(scenes) = eitri_testdata::shared("scenes") else {
        return vec![];
    };
    let folders =
        std::fs::read_dir(&scenes).unwrap_or_else(|error| panic!("{}: {error}", scenes.display()));
    let folders = folders.filter_map(|folder| Some(folder.ok()?.path()));
    let files = folders.filter_map(|folder| std::fs::read_dir(folder).ok());
    let files = files.flatten().filter_map(|file| Some(file.ok()?.path()));
    let modules = files.filter_map(|file| {
        let name = file.file_name()?.to_str()?;
        if name.ends_with(".vert.spv") {
            Some((file, ShaderStage::Vertex))
        } else if name.ends_with(".frag.spv") {
            Some((file, ShaderStage::Fragment))
        } else {
            None
        }
    });
    let mut modules: Vec<_> = modules.collect();
    modules.sort_by(|a, b| a.0.cmp(&b.0));
    modules
}

#[test]
fn all_shaders_are_lowered_or_refused_by_name() {
    let mut refused = vec![];
    for (path, stage) in modules() {
        let spirv =
            std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let options = Options {
            stage,
            check: true,
            ..Options::default()
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match front_end(&spirv, &options) {
            Ok(made) => {
                if let Err(violations) = lowered(&made.function, &options.target) {
                    let rules: Vec<String> = violations.iter().map(ToString::to_string).collect();
                    panic!("{name}:\n{}\n{}", rules.join("\n"), made.function);
                }
            }
            Err(errors) => {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                refused.push(format!("{name}: {}", errors.join("; ")));
            }
        }
    }
    let unnamed = refused
        .iter()
        .filter(|line| !LACKING.iter().any(|name| line.contains(name)));
    let unnamed: Vec<&str> = unnamed.map(String::as_str).collect();
    assert!(
        unnamed.is_empty(),
        "refused for something else:\n{}",
        unnamed.join("\n")
    );
}

/// Something for each binding.
fn resources(function: &Function) -> Resources {
    let mut resources = Resources::default();
    for binding in &function.bindings {
        for element in 0..binding.count {
            let key = (binding.set, binding.binding, element);
            let words = (0..1024u32).map(|word| (word % 61) as f32 / 64.0);
            let bytes: Vec<u8> = words.flat_map(f32::to_le_bytes).collect();
            if let BindingKind::Storage | BindingKind::Uniform = binding.kind {
                resources.buffers.insert(key, Buffer { bytes });
                continue;
            }
            let name = match binding.image.map(|image| image.texel) {
                Some(TexelKind::Signed) => "R32G32B32A32_SINT",
                Some(TexelKind::Unsigned) => "R32G32B32A32_UINT",
                Some(TexelKind::Float) | None => "R32G32B32A32_SFLOAT",
            };
            let format = TexelFormat::of_name(name).expect("it is a format");
            let mut image = Image::new(format, [8, 8, 1]);
            image.layers = 6;
            image.levels = 3;
            if binding.image.is_some_and(|image| image.shape.multisampled) {
                image.samples = 4;
                image.levels = 1;
            }
            let whole = image.packed_bytes();
            image.bytes = bytes.iter().copied().cycle().take(whole).collect();
            let sampler = Sampler {
                lod: [0.0, 8.0],
                ..Sampler::default()
            };
            resources.images.insert(key, image);
            resources.samplers.insert(key, sampler);
        }
    }
    resources
}

/// What a shader makes of some vertices or fragments: by invocation.
fn run(function: &Function) -> Vec<Outputs> {
    let mut resources = resources(function);
    let draw = draw_to([16, 16]);
    match function.stage {
        Stage::Compute => vec![],
        Stage::Vertex(_) => {
            let attributes = (0..6u32).map(|vertex| {
                let words = |location: u32| {
                    [0, 1, 2, 3].map(|component| {
                        let value = (vertex * 5 + location * 3 + component) as f32 / 8.0 + 0.5;
                        value.to_bits()
                    })
                };
                (0..16)
                    .map(|location| (location, words(location.into())))
                    .collect()
            });
            let given: Vec<_> = attributes.collect();
            interpret_vertices(function, &draw, &vertices(&given), &resources)
                .unwrap_or_else(|trap| panic!("{trap}\n{function}"))
        }
        Stage::Fragment(_) => {
            let quads = (0..4u32).map(|quad| {
                [0, 1, 2, 3].map(|lane| Fragment {
                    pixel: [2 * quad + lane % 2, 4 + lane / 2],
                    coverage: 1,
                    front_facing: quad % 2 == 0,
                    point: [0.25, 0.75],
                    primitive: quad,
                    helper: (quad, lane) == (1, 3),
                    ..Fragment::default()
                })
            });
            let quads: Vec<[Fragment; 4]> = quads.collect();
            let pixels = shade(function, &draw, &Linear, &quads, &mut resources);
            pixels.into_values().collect()
        }
    }
}

/// A position as it is in the window.
fn in_window(words: &[u32]) -> Vec<u32> {
    let [x, y, z, w] = [0, 1, 2, 3].map(|component| f32::from_bits(words[component]));
    let r = (1.0 / w).clamp(-32768.0, 32768.0);
    let draw = draw_to([16, 16]);
    let placed = [x, y, z].into_iter().enumerate().map(|(axis, value)| {
        let placed = value * r * draw.viewport_scale[axis] + draw.viewport_offset[axis];
        placed.to_bits()
    });
    placed.chain([r.to_bits()]).collect()
}

/// Whether two words are the same, or floats that are nearly so.
fn near(a: u32, b: u32) -> bool {
    let [x, y] = [a, b].map(f32::from_bits);
    let close = (x - y).abs() <= 1e-3 * (1.0 + x.abs().max(y.abs()));
    a == b || close || (x.is_nan() && y.is_nan())
}

/// The outputs of a shader as it was translated, where they come out of it lowered.
fn lowered_output((output, words): &(Output, Vec<u32>)) -> Vec<u32> {
    match output {
        Output::Position => in_window(words),
        Output::PointSize => vec![f32::from_bits(words[0]).max(1.0).to_bits()],
        _ => words.clone(),
    }
}

#[test]
fn lowering_changes_nothing_that_shaders_compute() {
    for (path, stage) in modules() {
        let spirv =
            std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let options = Options {
            stage,
            ..Options::default()
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (Ok(plain), Ok(made)) = (translate(&spirv, &options), front_end(&spirv, &options))
        else {
            continue;
        };
        let (before, after) = (run(&plain.function), run(&made.function));
        assert_eq!(before.len(), after.len(), "{name}: other fragments count");
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before.len(), after.len(), "{name}");
            for (old, new) in before.iter().zip(after) {
                let expected = lowered_output(old);
                let same = expected.iter().zip(&new.1).all(|(a, b)| near(*a, *b));
                assert!(
                    same && old.0 == new.0,
                    "{name}: {old:?}, not {new:?}\n{}",
                    made.function
                );
            }
        }
    }
}
