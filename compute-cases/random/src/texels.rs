//! Images and buffers of texels: read anywhere, written by each invocation at a place of its own.

use crate::expressions::Operands;
use crate::generator::Generator;
use crate::types::{Kind, Type};
use crate::variables::Variable;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TexelKind {
    Sampled,
    Image,
    SampledBuffer,
    ImageBuffer,
}

#[derive(Clone, Debug)]
pub(crate) struct Texels {
    pub(crate) name: String,
    pub(crate) kind: TexelKind,
    /// `float` or `uint`.
    pub(crate) of: Kind,
    pub(crate) width: u32,
    /// 1 of a buffer.
    pub(crate) height: u32,
    /// Whether invocations write to it: each then reads its own alone.
    pub(crate) written: bool,
}

/// The number of the invocation, which every function sees.
const OWN: &str = "int(own)";

impl Texels {
    /// The place of an invocation.
    fn own(&self) -> String {
        match self.kind {
            TexelKind::Image => format!("ivec2({OWN}, 0)"),
            _ => OWN.to_owned(),
        }
    }
}

impl Generator {
    /// A texel as an expression, now and then.
    pub(crate) fn texel(
        &mut self,
        kind: Kind,
        count: u32,
        operands: Operands<'_>,
    ) -> Option<String> {
        let fitting = self.texels.iter().filter(|texels| texels.of == kind);
        let fitting: Vec<Texels> = fitting.cloned().collect();
        if fitting.is_empty() || !self.chance(15) {
            return None;
        }
        let texels = self.of(&fitting);
        let names = ["x", "y", "z", "w"];
        let components: String = (0..count).map(|_| self.of(&names)).collect();
        let name = &texels.name;
        let read = match texels.kind {
            _ if texels.written => format!("imageLoad({name}, {})", texels.own()),
            TexelKind::SampledBuffer => {
                format!("texelFetch({name}, {})", self.below(texels.width, operands))
            }
            TexelKind::ImageBuffer => {
                format!("imageLoad({name}, {})", self.below(texels.width, operands))
            }
            TexelKind::Image => {
                format!("imageLoad({name}, ivec2({}))", self.both(&texels, operands))
            }
            TexelKind::Sampled => self.sample(&texels, operands),
        };
        Some(format!("{read}.{components}"))
    }

    fn below(&mut self, length: u32, operands: Operands<'_>) -> String {
        let value = self.operand(&Kind::Uint.one(), operands);
        format!("int({value} % {length}u)")
    }

    fn both(&mut self, texels: &Texels, operands: Operands<'_>) -> String {
        let x = self.below(texels.width, operands);
        format!("{x}, {}", self.below(texels.height, operands))
    }

    /// A texel by its place, or a sample at its centre.
    fn sample(&mut self, texels: &Texels, operands: Operands<'_>) -> String {
        let (name, at) = (&texels.name, self.both(texels, operands));
        let size = match self.between(0, 2) {
            0 => return format!("texelFetch({name}, ivec2({at}), 0)"),
            1 => format!("vec2({}.0, {}.0)", texels.width, texels.height),
            _ => format!("vec2(textureSize({name}, 0))"),
        };
        format!("textureLod({name}, (vec2({at}) + 0.5) / {size}, 0.0)")
    }

    /// Writes a texel of the invocation's own.
    pub(crate) fn store_texel(&mut self, scope: &mut Vec<Variable>) {
        let written = self.texels.iter().filter(|texels| texels.written);
        let written: Vec<Texels> = written.cloned().collect();
        if written.is_empty() {
            return self.walk(scope);
        }
        let texels = self.of(&written);
        let value = self.expression(&Type::Vector(texels.of, 4), scope, 2);
        let (name, at) = (&texels.name, texels.own());
        self.line(&format!("imageStore({name}, {at}, {value});"));
    }
}
