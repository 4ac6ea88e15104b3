//! Textures of random fragment functions: coordinates lie away from where a texel or a level would be another one.

use super::super::Generator;
use super::{FETCHED, SAMPLED};
use eitri_shaderc::ir::{
    Alu, Binding, BindingKind, Dim, Function, ImageAction, ImageOp, ImageShape, ImageType, Lod,
    Memory, Op, TexelKind, Value,
};

/// Width and height of both images.
pub(super) const TEXELS: u32 = 16;
/// Levels of the image that is sampled.
pub(super) const LEVELS: u32 = 5;

const SHAPE: ImageShape = ImageShape {
    dim: Dim::D2,
    arrayed: false,
    multisampled: false,
};

/// Declares both images.
pub(super) fn declare(function: &mut Function) {
    for (binding, kind, texel) in [
        (SAMPLED, BindingKind::CombinedImageSampler, TexelKind::Float),
        (FETCHED, BindingKind::SampledImage, TexelKind::Unsigned),
    ] {
        function.bindings.push(Binding {
            set: 0,
            binding,
            count: 1,
            kind,
            written: false,
            restrict: false,
            non_uniform: false,
            min_bytes: 0,
            image: Some(ImageType {
                shape: SHAPE,
                texel,
            }),
            name: String::new(),
        });
    }
}

impl Generator<'_> {
    fn image(&mut self, action: ImageAction, binding: u32, operands: &[Value]) {
        let resource = super::super::buffer(self.b.function, binding);
        let op = ImageOp {
            memory: Memory::Constant,
            ..ImageOp::new(action, SHAPE)
        };
        let mut args = vec![resource; op.resources()];
        args.extend(operands);
        let results = self.b.inst(Op::Image(op), &args);
        for value in results {
            let word = match binding {
                SAMPLED => self.b.alu(Alu::F2U, &[value]),
                _ => value,
            };
            self.words.push(word);
        }
    }

    /// Coordinates that go on by 2 to the power `step` texels a pixel, so that derivatives ask for that level.
    fn coordinates(&mut self, pixel: [Value; 2], step: u32, half: f32) -> [Value; 2] {
        pixel.map(|at| {
            let float = self.b.alu(Alu::U2F, &[at]);
            let scale = (1 << step) as f32 / TEXELS as f32;
            let scale = self.b.float(scale);
            let half = self.b.float(half / TEXELS as f32);
            self.b.alu(Alu::FFma, &[float, scale, half])
        })
    }

    /// Samples at a level that the quad's coordinates ask for.
    pub(super) fn sample_by_quad(&mut self, pixel: [Value; 2], kind: u32) {
        let step = self.random.below(LEVELS);
        let [u, v] = self.coordinates(pixel, step, 0.5);
        match kind {
            0 => self.image(ImageAction::Sample(Lod::Implicit), SAMPLED, &[u, v]),
            _ => {
                let bias = self.random.below(3) as f32 - 1.0;
                let bias = self.b.float(bias);
                self.image(ImageAction::Sample(Lod::Bias), SAMPLED, &[u, v, bias]);
            }
        }
    }

    /// Reads a texel as no other lane has a say in.
    pub(super) fn texture(&mut self, pixel: [Value; 2], kind: u32) {
        let [x, y] = [self.masked(TEXELS - 1), self.masked(TEXELS - 1)];
        match kind {
            0 => {
                let level = self.b.word(0);
                self.image(ImageAction::Fetch, FETCHED, &[x, y, level]);
            }
            1 => {
                let [u, v] = self.coordinates([x, y], 0, 0.5);
                let level = self.masked(3);
                let level = self.b.alu(Alu::U2F, &[level]);
                self.image(ImageAction::Sample(Lod::Level), SAMPLED, &[u, v, level]);
            }
            2 => {
                // Between four texels.
                let [u, v] = self.coordinates([x, y], 0, 1.0);
                let component = self.random.below(4) as u8;
                self.image(ImageAction::Gather(component), SAMPLED, &[u, v]);
            }
            _ => {
                let step = self.random.below(LEVELS);
                let [u, v] = self.coordinates(pixel, 1, 0.5);
                let along = self.b.float((1 << step) as f32 / TEXELS as f32);
                let zero = self.b.float(0.0);
                let operands = [u, v, along, zero, zero, along];
                self.image(ImageAction::Sample(Lod::Gradients), SAMPLED, &operands);
            }
        }
    }
}
