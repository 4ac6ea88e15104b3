//! Colours of a pipeline: formats of its targets, and how what the fragment shader stores is mixed with what they hold.
//!
//! The hardware mixes most of it by itself; the rest becomes part of the shader (`lower::blend_colors`). Both sides ask the same
//! table which is which, so a driver finds in the program what it still has to set up.
//! Facts: hardware/graphics-framebuffer.md 6.2 (what the hardware has), hardware/graphics-compiler.md 8 (inlined blending).

use eitri_descriptors::blend::BlendMode;
use eitri_descriptors::blending::fixed_function;
pub use eitri_descriptors::blending::{BlendComponent, BlendFactor, BlendOp, ColorBlend, LogicOp};
use eitri_descriptors::formats::VkFormat;

/// What a pipeline does with colours.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ColorState {
    /// By number; none where the pass has no attachment.
    pub targets: Vec<Option<ColorTarget>>,
    /// The target of each location, none where it goes nowhere; empty if each is the target of its own number.
    pub locations: Vec<Option<u8>>,
    /// The attachment of the pass that each input attachment is, by its index: it is read from the tile. Where there is none, the
    /// image is read.
    pub inputs: Vec<Option<InputPlace>>,
    /// An operation on bits, in place of all equations.
    pub logic_op: Option<LogicOp>,
    /// Alpha becomes 1, once it has become coverage.
    pub alpha_to_one: bool,
    /// Alpha never becomes coverage.
    pub no_alpha_to_coverage: bool,
    /// Bits of the blend constants, if they stay what they are: where they may change the shader reads them.
    pub constants: Option<[u32; 4]>,
    /// Samples of a pixel; 0 counts as 1.
    pub samples: u32,
}

/// The attachment of the pass that an input attachment is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputPlace {
    /// A colour, by its target.
    Color(u8),
    /// Depth and stencil: depth for a shader that reads floats, else stencil.
    DepthStencil,
}

/// A colour attachment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColorTarget {
    /// Its format.
    pub format: &'static VkFormat,
    /// How it is blended.
    pub blend: ColorBlend,
}

/// What components of a format are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Numbers {
    /// Fractions from 0 to 1.
    Unorm,
    /// Fractions from -1 to 1.
    Snorm,
    /// Fractions from 0 to 1, coded by sRGB.
    Srgb,
    Float,
    Uint,
    Sint,
}

/// The components of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Components {
    pub(crate) numbers: Numbers,
    /// Of red, green, blue and alpha; 0 if there is none.
    pub(crate) bits: [u32; 4],
}

/// What a target makes of a channel of a colour that replaces what is there, where a half can hold the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rounding {
    /// Nothing: the format has no such channel.
    Any,
    /// A float of 16 bits.
    Half,
    /// A fraction from 0 to 1 of so many bits.
    Fraction(u32),
}

/// Widest fraction of which a half names each code: its steps below 1 are 2048ths.
const WIDEST_FRACTION: u32 = 10;

/// What the fragment shader does in place of the hardware.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InShader {
    /// It computes the equations of colour and of alpha.
    Equations([BlendComponent; 2]),
    /// It combines bits.
    Logic(LogicOp),
}

impl Components {
    /// The components that the name of a format tells, such as `B10G11R11_UFLOAT_PACK32`.
    pub(crate) fn of(format: &VkFormat) -> Option<Components> {
        let mut parts = format.name.split('_');
        let (channels, numbers) = (parts.next()?, parts.next()?);
        let numbers = match numbers {
            "UNORM" => Numbers::Unorm,
            "SNORM" => Numbers::Snorm,
            "SRGB" => Numbers::Srgb,
            "SFLOAT" | "UFLOAT" => Numbers::Float,
            "UINT" => Numbers::Uint,
            "SINT" => Numbers::Sint,
            _ => return None,
        };
        let mut bits = [0; 4];
        let mut rest = channels;
        while let Some(letter) = rest.chars().next() {
            let number = &rest[letter.len_utf8()..];
            let end = number.find(|it: char| !it.is_ascii_digit());
            let (digits, next) = number.split_at(end.unwrap_or(number.len()));
            if let Some(channel) = "RGBA".find(letter) {
                bits[channel] = digits.parse().ok()?;
            }
            rest = next;
        }
        Some(Components { numbers, bits })
    }
}

impl ColorState {
    /// What a target makes of the channels of a colour; none where halves can't hold it, where it is mixed with what is there, or
    /// where its alpha has another reader.
    pub(crate) fn rounding(&self, target: u8) -> Option<[Rounding; 4]> {
        let ColorTarget { format, blend } = (*self.targets.get(usize::from(target))?)?;
        let replace = [BlendComponent::REPLACE; 2];
        let replaces = blend.equations.is_none_or(|it| it == replace);
        let may_cover = target == 0 && !self.no_alpha_to_coverage;
        if !replaces || self.logic_op.is_some() || may_cover {
            return None;
        }
        let Components { numbers, bits } = Components::of(format)?;
        let mut channels = [Rounding::Any; 4];
        for (channel, bits) in channels.iter_mut().zip(bits) {
            *channel = match numbers {
                _ if bits == 0 => Rounding::Any,
                Numbers::Unorm if bits <= WIDEST_FRACTION => Rounding::Fraction(bits),
                Numbers::Float if bits == 16 => Rounding::Half,
                _ => return None,
            };
        }
        Some(channels)
    }

    /// What the shader does for each target; none for what the hardware does.
    pub(crate) fn in_shader(&self) -> Vec<Option<InShader>> {
        // The hardware has one constant, of one width.
        let mut constant = None;
        let targets = self.targets.iter();
        targets
            .map(|target| self.of_target((*target)?, &mut constant))
            .collect()
    }

    fn of_target(&self, target: ColorTarget, constant: &mut Option<(u32, u8)>) -> Option<InShader> {
        let components = Components::of(target.format)?;
        let mut blend = target.blend;
        if let Some(op) = self.logic_op {
            blend.equations = None;
            let has_bits = !matches!(components.numbers, Numbers::Float | Numbers::Srgb);
            if has_bits && op != LogicOp::Copy && blend.write_mask != 0 {
                return Some(InShader::Logic(op));
            }
        }
        let way = InShader::Equations(blend.equations.unwrap_or([BlendComponent::REPLACE; 2]));
        let Some(function) = fixed_function(target.format, &blend) else {
            return Some(way);
        };
        if function.mode != BlendMode::FixedFunction || function.constants == [false; 2] {
            return None;
        }
        let row = target.format.target()?.internal_format()?;
        let width = row.blendable?.bits.into_iter().max()?;
        let Some(value) = self.one_constant(function.constants) else {
            return Some(way);
        };
        match *constant.get_or_insert((value, width)) == (value, width) {
            true => None,
            false => Some(way),
        }
    }

    /// The bits of the constant, if all that are used are equal and stay so.
    fn one_constant(&self, [color, alpha]: [bool; 2]) -> Option<u32> {
        let [red, green, blue, own] = self.constants?;
        let equal = !color || (red == green && green == blue);
        let both = !(color && alpha) || red == own;
        (equal && both).then_some(if color { red } else { own })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_descriptors::Arch;

    fn format(name: &str) -> &'static VkFormat {
        VkFormat::of_name(Arch::V10, name).expect("a format")
    }

    fn state(name: &str, src: BlendFactor, dst: BlendFactor, op: BlendOp) -> ColorState {
        let equation = BlendComponent { src, dst, op };
        ColorState {
            targets: vec![Some(ColorTarget {
                format: format(name),
                blend: ColorBlend {
                    equations: Some([equation; 2]),
                    write_mask: 0xf,
                },
            })],
            constants: Some([0; 4]),
            ..ColorState::default()
        }
    }

    #[test]
    fn formats_are_read_from_their_names() {
        let of = |name: &str| Components::of(format(name)).expect("components");
        assert_eq!(of("B8G8R8A8_SRGB").numbers, Numbers::Srgb);
        assert_eq!(of("B10G11R11_UFLOAT_PACK32").bits, [11, 11, 10, 0]);
        assert_eq!(of("A2B10G10R10_UNORM_PACK32").bits, [10, 10, 10, 2]);
        assert_eq!(of("R32G32_UINT").bits, [32, 32, 0, 0]);
        assert_eq!(of("R32G32_UINT").numbers, Numbers::Uint);
    }

    #[test]
    fn the_shader_does_what_the_hardware_does_not() {
        use BlendFactor::*;
        let rgba = "R8G8B8A8_UNORM";
        let in_shader = |state: ColorState| state.in_shader()[0].is_some();
        assert!(!in_shader(state(rgba, One, One, BlendOp::Add)));
        assert!(in_shader(state(rgba, One, One, BlendOp::Max)));
        assert!(in_shader(state(rgba, Src1Color, One, BlendOp::Add)));
        assert!(in_shader(state(rgba, SrcAlphaSaturate, One, BlendOp::Add)));
        assert!(!in_shader(state(rgba, Constant, Zero, BlendOp::Add)));
        let mut differ = state(rgba, Constant, Zero, BlendOp::Add);
        differ.constants = Some([0, 0, 1, 0]);
        assert!(in_shader(differ.clone()), "three constants are not one");
        differ.constants = None;
        assert!(in_shader(differ.clone()), "they may change");
        differ.logic_op = Some(LogicOp::Xor);
        let logic = Some(InShader::Logic(LogicOp::Xor));
        assert_eq!(differ.in_shader(), [logic]);
        differ.targets[0].as_mut().expect("a target").format = format("R8G8B8A8_SRGB");
        assert_eq!(differ.in_shader(), [None], "sRGB has no logic operations");
        let mut masked = state("R8G8B8A8_UINT", One, Zero, BlendOp::Add);
        masked.targets[0]
            .as_mut()
            .expect("a target")
            .blend
            .write_mask = 3;
        assert!(in_shader(masked), "integers are written whole");
    }
}
