//! What must come of a random pipeline: both functions by the interpreter, and what fixed functions make of their outputs.

use super::inputs::{
    DEPTH_BEFORE, FIRST_INSTANCE, FIRST_VERTEX, INTEGERS, Inputs, POSITION, SMALL, STENCIL_BEFORE,
};
use super::{ColorTarget, Pipeline, SIZE};
use eitri_shaderc::interp::{
    Draw, Fragment, Outputs, Primitive, Shaded, TexelFormat, Triangle, Vertex, interpret_quads,
    interpret_vertices,
};
use eitri_shaderc::ir::{Function, Output, PositionSpace, Stage};
use std::collections::BTreeMap;

/// What is left when a pipeline has drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Picture {
    /// By target: texels, row by row.
    pub colors: Vec<Vec<u8>>,
    pub depth: Option<Vec<u8>>,
    pub stencil: Option<Vec<u8>>,
    /// What the fragment function left in its buffer.
    pub output: Vec<u8>,
}

impl Picture {
    /// Whether texels of a colour differ: something was drawn.
    pub fn has_drawn(&self) -> bool {
        self.colors.iter().any(|texels| {
            let bytes = texels.len() / (SIZE[0] * SIZE[1]) as usize;
            let mut all = texels.chunks(bytes.max(1));
            let first = all.next();
            all.any(|texel| Some(texel) != first)
        })
    }

    /// Where two differ first; none if they don't.
    pub fn difference(&self, other: &Picture) -> Option<String> {
        let mut parts = vec![];
        for (number, (own, got)) in self.colors.iter().zip(&other.colors).enumerate() {
            parts.push((format!("colour {number}"), own, got));
        }
        let planes = [
            ("depth", &self.depth, &other.depth),
            ("stencil", &self.stencil, &other.stencil),
        ];
        for (name, own, got) in planes {
            if let (Some(own), Some(got)) = (own, got) {
                parts.push((name.to_owned(), own, got));
            }
        }
        parts.push(("the buffer".to_owned(), &self.output, &other.output));
        parts.into_iter().find_map(|(name, own, got)| {
            let at = own.iter().zip(got).position(|(own, got)| own != got)?;
            let pixel = at / (own.len() / (SIZE[0] * SIZE[1]) as usize);
            let [x, y] = [pixel % SIZE[0] as usize, pixel / SIZE[0] as usize];
            let word = |bytes: &[u8]| {
                let end = bytes.len().min(at / 4 * 4 + 4);
                format!("{:02x?}", &bytes[at / 4 * 4..end])
            };
            Some(format!(
                "{name} at {x}, {y}, byte {at}: {}, not {}",
                word(got),
                word(own)
            ))
        })
    }
}

/// Where the samples of a pixel lie, of four and of one.
const PLACES: [[f32; 2]; 4] = [
    [0.375, 0.125],
    [0.875, 0.375],
    [0.125, 0.625],
    [0.625, 0.875],
];
const CENTER: [[f32; 2]; 1] = [[0.5; 2]];

fn places(pipeline: &Pipeline) -> &'static [[f32; 2]] {
    match pipeline.samples {
        1 => &CENTER,
        _ => &PLACES,
    }
}

fn draw(pipeline: &Pipeline, inputs: &Inputs) -> Draw {
    let half = SIZE.map(|size| size as f32 / 2.0);
    Draw {
        base_vertex: FIRST_VERTEX,
        base_instance: FIRST_INSTANCE,
        viewport_scale: [half[0], half[1], 1.0],
        viewport_offset: [half[0], half[1], 0.0],
        samples: places(pipeline).to_vec(),
        push_constants: inputs.push.clone(),
        step_limit: 4_000_000,
        ..Draw::default()
    }
}

fn vertices(inputs: &Inputs) -> Vec<Vertex> {
    let vertices = (0..3).map(|number| {
        let words = [
            (POSITION, inputs.positions[number].map(f32::to_bits)),
            (INTEGERS, inputs.integers[number]),
            (
                SMALL,
                inputs.small[number].map(|byte| i32::from(byte).cast_unsigned()),
            ),
        ];
        Vertex {
            index: FIRST_VERTEX + number as u32,
            output_mask: 7,
            attributes: words.into(),
            ..Vertex::default()
        }
    });
    vertices.collect()
}

/// The outputs of a vertex in the form in which the tiler has them.
fn in_window(function: &Function, noperspective: u32, draw: &Draw, outputs: &mut Outputs) {
    let Stage::Vertex(stage) = function.stage else {
        return;
    };
    if stage.position == PositionSpace::Window {
        return;
    }
    let position = outputs
        .iter()
        .find(|(output, _)| *output == Output::Position);
    let w = position.map_or(1.0, |(_, words)| f32::from_bits(words[3]));
    for (output, words) in outputs {
        match *output {
            Output::Position => {
                for (axis, word) in words[..3].iter_mut().enumerate() {
                    let ndc = f32::from_bits(*word) / w;
                    let at = ndc * draw.viewport_scale[axis] + draw.viewport_offset[axis];
                    *word = at.to_bits();
                }
                words[3] = (1.0 / w).to_bits();
            }
            Output::Varying { location, .. } if noperspective >> location & 1 != 0 => {
                for word in words {
                    *word = (f32::from_bits(*word) * w).to_bits();
                }
            }
            _ => {}
        }
    }
}

/// The quads in which the triangle covers a sample, one after the other.
fn quads(
    triangle: &Triangle,
    front_facing: bool,
    (held, places): (&[[u32; 4]], &[[f32; 2]]),
) -> Vec<[Fragment; 4]> {
    let mut quads = vec![];
    for y in (0..SIZE[1]).step_by(2) {
        for x in (0..SIZE[0]).step_by(2) {
            for (sample, place) in (0..).zip(places) {
                let quad = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[dx, dy]| {
                    let pixel = [x + dx, y + dy];
                    let at = [0, 1].map(|axis| pixel[axis] as f32 + place[axis]);
                    let inside = triangle.weights(at).iter().all(|weight| *weight >= 0.0);
                    let mut fragment = Fragment {
                        pixel,
                        sample,
                        coverage: u32::from(inside) << sample,
                        centroid: [0.5; 2],
                        front_facing,
                        helper: !inside,
                        depth: DEPTH_BEFORE,
                        stencil: STENCIL_BEFORE,
                        ..Fragment::default()
                    };
                    fragment.tile[..held.len()].copy_from_slice(held);
                    fragment
                });
                if quad.iter().any(|fragment| !fragment.helper) {
                    quads.push(quad);
                }
            }
        }
    }
    quads
}

/// Whether corners in the window run against the clock, y down.
fn is_front(positions: &[[f32; 4]; 3]) -> bool {
    let corner = |number: usize| {
        let [x, y, _, w] = positions[number];
        [x / w, y / w]
    };
    let sum: f32 = (0..3)
        .map(|number| {
            let ([x, y], [next_x, next_y]) = (corner(number), corner((number + 1) % 3));
            x * next_y - next_x * y
        })
        .sum();
    sum < 0.0
}

fn texel(target: &ColorTarget, words: [u32; 4]) -> Vec<u8> {
    let format = TexelFormat::of_name(&target.format.to_uppercase()).expect("it is a format");
    format.store(words)
}

/// The picture that two functions give, which may have gone through passes or not.
///
/// # Errors
/// What the interpreter says.
pub fn picture(
    (vertex, fragment): (&Function, &Function),
    pipeline: &Pipeline,
    inputs: &Inputs,
) -> Result<Picture, String> {
    let draw = draw(pipeline, inputs);
    let mut resources = inputs.resources();
    let shaded = interpret_vertices(vertex, &draw, &vertices(inputs), &resources);
    let mut shaded = shaded.map_err(|trap| format!("vertices: {trap}"))?;
    for outputs in &mut shaded {
        in_window(vertex, pipeline.noperspective, &draw, outputs);
    }
    let [a, b, c] = shaded.as_slice() else {
        return Err(format!("{} vertices", shaded.len()));
    };
    let triangle = Triangle::new([a, b, c]).ok_or("there are no positions")?;
    let given = (inputs.held.as_slice(), places(pipeline));
    let quads = quads(&triangle, is_front(&inputs.positions), given);
    let primitive: &dyn Primitive = &triangle;
    let shaded = interpret_quads(fragment, &draw, primitive, &quads, &mut resources);
    let shaded = shaded.map_err(|trap| format!("fragments: {trap}"))?;
    let mut stored: BTreeMap<[u32; 2], Outputs> = BTreeMap::new();
    for (fragment, Shaded { outputs, helper }) in
        quads.iter().flatten().zip(shaded.into_iter().flatten())
    {
        let masked = |(output, words): &(Output, Vec<u32>)| {
            *output == Output::SampleMask && words[0] >> fragment.sample & 1 == 0
        };
        // Of several samples the first is compared.
        if !helper && fragment.sample == 0 && !outputs.iter().any(masked) {
            stored.insert(fragment.pixel, outputs);
        }
    }
    let output = &resources.buffers[&(0, super::super::OUTPUT, 0)];
    Ok(Picture {
        output: output.bytes.clone(),
        ..planes(pipeline, inputs, &stored)
    })
}

/// Colours, depth and stencil values of all pixels.
fn planes(pipeline: &Pipeline, inputs: &Inputs, stored: &BTreeMap<[u32; 2], Outputs>) -> Picture {
    let pixels = (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| [x, y]));
    let pixels: Vec<[u32; 2]> = pixels.collect();
    let find = |pixel: &[u32; 2], wanted: &dyn Fn(Output) -> bool| {
        let outputs = stored.get(pixel)?;
        let found = outputs.iter().find(|(output, _)| wanted(*output));
        found.map(|(_, words)| words.clone())
    };
    let mut colors = vec![];
    for (number, target) in pipeline.targets.iter().enumerate() {
        let is_it = |output| matches!(output, Output::Color { target, .. } if usize::from(target) == number);
        let texels = pixels.iter().flat_map(|pixel| {
            let words = find(pixel, &is_it);
            let words = words.map_or(inputs.held[number], |words| {
                [words[0], words[1], words[2], words[3]]
            });
            texel(target, words)
        });
        colors.push(texels.collect());
    }
    let plane = |output: Output, before: u32| {
        let words = pixels.iter().map(|pixel| {
            let words = find(pixel, &|other| other == output);
            words.map_or(before, |words| words[0])
        });
        words.collect::<Vec<u32>>()
    };
    let depth = plane(Output::Depth, DEPTH_BEFORE.to_bits());
    let depth = depth.into_iter().flat_map(u32::to_le_bytes).collect();
    let stencil = plane(Output::Stencil, STENCIL_BEFORE.into());
    let stencil = stencil.into_iter().map(|word| word as u8).collect();
    Picture {
        colors,
        depth: pipeline.depth.then_some(depth),
        stencil: pipeline.stencil.then_some(stencil),
        output: vec![],
    }
}
