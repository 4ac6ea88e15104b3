//! A triangle: planes through what its vertices have.
//!
//! Guarantees: computed in binary64, so that it is the value and not a machine's. It tells nothing of coverage.
use std::collections::BTreeMap;

use super::graphics::{Outputs, Primitive};
use crate::ir::Output;

/// A triangle whose vertices have been shaded: window positions with 1/w, and what they hand on.
#[derive(Clone, Debug)]
pub struct Triangle {
    /// x, y, z and 1/w by vertex; the first provokes.
    position: [[f64; 4]; 3],
    /// By location: words by vertex.
    varyings: BTreeMap<u8, [Vec<u32>; 3]>,
}

impl Triangle {
    /// The triangle of what a vertex shader in the lowered form stored for three vertices; none without positions.
    pub fn new(vertices: [&Outputs; 3]) -> Option<Triangle> {
        let of = |outputs: &Outputs, wanted: &dyn Fn(Output) -> bool| {
            let mut all = outputs.iter();
            all.find(|(output, _)| wanted(*output))
                .map(|(_, words)| words.clone())
        };
        let position = |outputs: &Outputs| {
            let words = of(outputs, &|output| output == Output::Position)?;
            let floats: Vec<f64> = words
                .iter()
                .map(|word| f32::from_bits(*word).into())
                .collect();
            floats.try_into().ok()
        };
        let [a, b, c] = vertices;
        let mut varyings = BTreeMap::new();
        for (output, _) in a {
            if let Output::Varying { location, .. } = *output {
                let own = |output: Output| matches!(output, Output::Varying { location: other, .. } if other == location);
                varyings.insert(location, [of(a, &own)?, of(b, &own)?, of(c, &own)?]);
            }
        }
        Some(Triangle {
            position: [position(a)?, position(b)?, position(c)?],
            varyings,
        })
    }

    /// How much each vertex counts at a place of the window, without regard to perspective; the sum is 1.
    pub fn weights(&self, at: [f32; 2]) -> [f64; 3] {
        let at = at.map(f64::from);
        let corner = |vertex: usize| [self.position[vertex][0], self.position[vertex][1]];
        let double_area = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
            (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        };
        let [a, b, c] = [corner(0), corner(1), corner(2)];
        let all = double_area(a, b, c);
        [
            double_area(at, b, c) / all,
            double_area(a, at, c) / all,
            double_area(a, b, at) / all,
        ]
    }

    fn plane(&self, at: [f32; 2], component: usize) -> f64 {
        let weights = self.weights(at);
        (0..3)
            .map(|vertex| weights[vertex] * self.position[vertex][component])
            .sum()
    }

    fn word(&self, vertex: usize, location: u8, component: u8) -> u32 {
        let words = self.varyings.get(&location);
        let word = words.and_then(|words| words[vertex].get(usize::from(component)));
        word.copied().unwrap_or(0)
    }
}

impl Primitive for Triangle {
    fn flat(&self, location: u8, component: u8) -> u32 {
        self.word(0, location, component)
    }

    fn interpolated(&self, location: u8, component: u8, at: [f32; 2]) -> u32 {
        let weights = self.weights(at);
        let sum = (0..3).map(|vertex| {
            let value = f64::from(f32::from_bits(self.word(vertex, location, component)));
            weights[vertex] * value * self.position[vertex][3]
        });
        let value = sum.sum::<f64>() / self.plane(at, 3);
        (value as f32).to_bits()
    }

    fn reciprocal_w(&self, at: [f32; 2]) -> f32 {
        self.plane(at, 3) as f32
    }

    fn depth(&self, at: [f32; 2]) -> f32 {
        self.plane(at, 2) as f32
    }
}
