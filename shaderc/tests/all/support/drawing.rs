//! Drawing with the interpreter: a triangle that covers some pixels, each quad run whole.

use std::collections::BTreeMap;

use eitri_shaderc::interp::{
    Draw, Fragment, Outputs, Primitive, Resources, Shaded, Triangle, Vertex, interpret_quads,
    interpret_vertices,
};
use eitri_shaderc::ir::{Function, Output};

/// A draw to a viewport of that size, at the origin, with depths from 0 to 1.
pub fn draw_to([width, height]: [u32; 2]) -> Draw {
    let half = [width, height].map(|size| size as f32 / 2.0);
    Draw {
        viewport_scale: [half[0], half[1], 1.0],
        viewport_offset: [half[0], half[1], 0.0],
        samples: vec![[0.5; 2]],
        step_limit: 1 << 30,
        ..Draw::default()
    }
}

/// Vertices by number, with attributes.
pub fn vertices(attributes: &[BTreeMap<u8, [u32; 4]>]) -> Vec<Vertex> {
    let numbered = attributes.iter().enumerate();
    let vertices = numbered.map(|(index, attributes)| Vertex {
        index: index as u32,
        attributes: attributes.clone(),
        ..Vertex::default()
    });
    vertices.collect()
}

/// The triangle of three vertices.
#[track_caller]
pub fn triangle(vertex: &Function, draw: &Draw, given: &[Vertex]) -> Triangle {
    let shaded = interpret_vertices(vertex, draw, given, &Resources::default());
    let shaded = shaded.unwrap_or_else(|trap| panic!("{trap}\n{vertex}"));
    let [a, b, c] = shaded.as_slice() else {
        panic!("{} vertices", shaded.len());
    };
    Triangle::new([a, b, c]).unwrap_or_else(|| panic!("no positions: {vertex}"))
}

/// The quads of a picture, row by row. A pixel helps if its centre is outside of the triangle.
pub fn quads([width, height]: [u32; 2], triangle: &Triangle) -> Vec<[Fragment; 4]> {
    let mut quads = vec![];
    for y in (0..height).step_by(2) {
        for x in (0..width).step_by(2) {
            let quad = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[dx, dy]| {
                let pixel = [x + dx, y + dy];
                let centre = pixel.map(|at| at as f32 + 0.5);
                let inside = triangle.weights(centre).iter().all(|weight| *weight >= 0.0);
                Fragment {
                    pixel,
                    coverage: inside.into(),
                    centroid: [0.5; 2],
                    front_facing: true,
                    helper: !inside,
                    ..Fragment::default()
                }
            });
            quads.push(quad);
        }
    }
    quads
}

/// What each pixel that counts stored.
#[track_caller]
pub fn shade(
    fragment: &Function,
    draw: &Draw,
    primitive: &dyn Primitive,
    quads: &[[Fragment; 4]],
    resources: &mut Resources,
) -> BTreeMap<[u32; 2], Outputs> {
    let shaded = interpret_quads(fragment, draw, primitive, quads, resources);
    let shaded = shaded.unwrap_or_else(|trap| panic!("{trap}\n{fragment}"));
    let lanes = quads.iter().flatten().zip(shaded.into_iter().flatten());
    let count = lanes.filter(|(_, shaded): &(&Fragment, Shaded)| !shaded.helper);
    count
        .map(|(fragment, shaded)| (fragment.pixel, shaded.outputs))
        .collect()
}

/// A colour that was stored, as words.
#[track_caller]
pub fn color(outputs: &Outputs, wanted: u8) -> Vec<u32> {
    let mut all = outputs.iter();
    let found =
        all.find(|(output, _)| matches!(output, Output::Color { target, .. } if *target == wanted));
    let (_, words) = found.unwrap_or_else(|| panic!("no colour {wanted} in {outputs:?}"));
    words.clone()
}

/// The same as floats.
#[track_caller]
pub fn floats(outputs: &Outputs, wanted: u8) -> Vec<f32> {
    let words = color(outputs, wanted).into_iter();
    words.map(f32::from_bits).collect()
}

/// Values that differ by place and component, and are linear in the window.
pub struct Linear;

impl Linear {
    fn seed(location: u8, component: u8) -> f32 {
        f32::from(location) * 3.0 + f32::from(component) * 0.75 + 0.125
    }
}

impl Primitive for Linear {
    fn flat(&self, location: u8, component: u8) -> u32 {
        u32::from(location) * 4 + u32::from(component) + 1
    }

    fn interpolated(&self, location: u8, component: u8, [x, y]: [f32; 2]) -> u32 {
        let seed = Linear::seed(location, component);
        (seed + x * 0.25 - y * 0.5 * seed).to_bits()
    }

    fn reciprocal_w(&self, [x, _]: [f32; 2]) -> f32 {
        1.0 / (1.0 + x)
    }

    fn depth(&self, [x, y]: [f32; 2]) -> f32 {
        (x + 2.0 * y) / 64.0
    }
}
