//! Blending: equations as Vulkan names them, and which of them the hardware has.
//!
//! Pure.  Facts: hardware/graphics-framebuffer.md 6.1 and 6.2.

use eitri_descriptors::blend::{
    Blend, BlendEquation, BlendFixedFunction, BlendFunction, BlendMode, BlendOperandA,
    BlendOperandB, BlendOperandC, InternalBlend,
};
use eitri_descriptors::formats::VkFormat;
use eitri_descriptors::resource::InternalConversion;
use eitri_descriptors::{Arch, Descriptor, DescriptorError, PixelFormat};

/// What a colour is multiplied with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlendFactor {
    /// 0.
    Zero,
    /// 1.
    One,
    /// The new colour.
    SrcColor,
    /// 1 less the new colour.
    OneMinusSrcColor,
    /// The colour that is there.
    DstColor,
    /// 1 less the colour that is there.
    OneMinusDstColor,
    /// The new alpha.
    SrcAlpha,
    /// 1 less the new alpha.
    OneMinusSrcAlpha,
    /// The alpha that is there.
    DstAlpha,
    /// 1 less the alpha that is there.
    OneMinusDstAlpha,
    /// The blend constants.
    Constant,
    /// 1 less the blend constants.
    OneMinusConstant,
}

/// How two products become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlendOp {
    /// New plus old.
    Add,
    /// New less old.
    Subtract,
    /// Old less new.
    ReverseSubtract,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
}

/// An equation, of colour or of alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlendComponent {
    /// What the new value is multiplied with.
    pub src: BlendFactor,
    /// What the value that is there is multiplied with.
    pub dst: BlendFactor,
    /// How they become one.
    pub op: BlendOp,
}

impl BlendComponent {
    /// The new value.
    pub const REPLACE: BlendComponent = BlendComponent {
        src: BlendFactor::One,
        dst: BlendFactor::Zero,
        op: BlendOp::Add,
    };
    /// The new value over the one that is there, by the new alpha.
    pub const OVER: BlendComponent = BlendComponent {
        src: BlendFactor::SrcAlpha,
        dst: BlendFactor::OneMinusSrcAlpha,
        op: BlendOp::Add,
    };
}

/// How a colour target is blended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColorBlend {
    /// Colour and alpha; without them the new values are written.
    pub equations: Option<[BlendComponent; 2]>,
    /// Channels that are written: bit 0 is red, bit 3 is alpha.
    pub write_mask: u8,
}

impl Default for ColorBlend {
    /// All channels, as they are.
    fn default() -> ColorBlend {
        ColorBlend {
            equations: None,
            write_mask: 0xF,
        }
    }
}

/// All channels.
const ALL: u8 = 0xF;

/// What a factor is, without its inversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// 0; inverted 1.
    Zero,
    Src,
    Dst,
    SrcAlpha,
    DstAlpha,
    Constant,
}

/// A factor: what it is, and whether it is 1 less that.
type Factor = (Base, bool);

/// A factor of colour, or of alpha, where colours are alphas.
fn factor(factor: BlendFactor, alpha: bool) -> Factor {
    use BlendFactor as F;
    let (base, inverted) = match factor {
        F::Zero => (Base::Zero, false),
        F::One => (Base::Zero, true),
        F::SrcColor => (Base::Src, false),
        F::OneMinusSrcColor => (Base::Src, true),
        F::DstColor => (Base::Dst, false),
        F::OneMinusDstColor => (Base::Dst, true),
        F::SrcAlpha => (Base::SrcAlpha, false),
        F::OneMinusSrcAlpha => (Base::SrcAlpha, true),
        F::DstAlpha => (Base::DstAlpha, false),
        F::OneMinusDstAlpha => (Base::DstAlpha, true),
        F::Constant => (Base::Constant, false),
        F::OneMinusConstant => (Base::Constant, true),
    };
    // Of alpha the colours are alphas.
    let base = match base {
        Base::Src if alpha => Base::SrcAlpha,
        Base::Dst if alpha => Base::DstAlpha,
        base => base,
    };
    (base, inverted)
}

const ZERO: Factor = (Base::Zero, false);
const ONE: Factor = (Base::Zero, true);

fn operand(base: Base) -> BlendOperandC {
    match base {
        Base::Zero => BlendOperandC::Zero,
        Base::Src => BlendOperandC::Src,
        Base::Dst => BlendOperandC::Dest,
        Base::SrcAlpha => BlendOperandC::SrcAlpha,
        Base::DstAlpha => BlendOperandC::DestAlpha,
        Base::Constant => BlendOperandC::Constant,
    }
}

/// `A + B * C` for an equation; `None` if there is none.
fn function(equation: BlendComponent, alpha: bool) -> Option<BlendFunction> {
    use BlendOperandA as A;
    use BlendOperandB as B;
    let (subtracts, reversed) = match equation.op {
        BlendOp::Add => (false, false),
        BlendOp::Subtract => (true, false),
        BlendOp::ReverseSubtract => (false, true),
        BlendOp::Min | BlendOp::Max => return None,
    };
    let (src, dst) = (factor(equation.src, alpha), factor(equation.dst, alpha));
    let make = |a, negate_a, b, negate_b, (base, inverted): Factor| BlendFunction {
        a: Some(a),
        negate_a,
        b,
        negate_b,
        c: Some(operand(base)),
        invert_c: inverted,
    };
    // In the order of the facts' table, which gives the words of theirs, too.
    if src == ZERO {
        if subtracts {
            return Some(make(A::Zero, false, B::Dest, true, dst));
        }
        return Some(make(A::Zero, false, B::Dest, false, dst));
    }
    if src == ONE && dst == ZERO && !reversed {
        return Some(make(A::Src, false, B::Src, false, ZERO));
    }
    if src == ONE {
        return Some(make(A::Src, reversed, B::Dest, subtracts, dst));
    }
    if dst == ZERO {
        return Some(make(A::Zero, false, B::Src, reversed, src));
    }
    if dst == ONE {
        return Some(make(A::Dest, subtracts, B::Src, reversed, src));
    }
    let ((src_base, src_inverted), (dst_base, dst_inverted)) = (src, dst);
    if src_base == dst_base && src_inverted == dst_inverted {
        let b = if subtracts || reversed {
            B::SrcMinusDest
        } else {
            B::SrcPlusDest
        };
        return Some(make(A::Zero, false, b, reversed, src));
    }
    if src_base == dst_base {
        return Some(match (subtracts, reversed) {
            (false, false) => make(A::Dest, false, B::SrcMinusDest, false, src),
            (true, _) => make(A::Dest, true, B::SrcPlusDest, false, src),
            (_, true) => make(A::Dest, false, B::SrcPlusDest, true, src),
        });
    }
    let old = matches!(src, (Base::Dst | Base::DstAlpha, false));
    let new = matches!(dst, (Base::Src | Base::SrcAlpha, false));
    let same_kind =
        (equation.src, equation.dst) == (BlendFactor::DstColor, BlendFactor::SrcColor) || alpha;
    if old && new && same_kind && !subtracts && !reversed {
        return Some(BlendFunction {
            c: Some(BlendOperandC::SrcX2),
            ..make(A::Zero, false, B::Dest, false, src)
        });
    }
    None
}

/// Whether float targets have a function (hardware/graphics-framebuffer.md 6.2).
fn of_floats(equation: BlendComponent) -> bool {
    use BlendFactor as F;
    let plain = |it: F| matches!(it, F::Zero | F::One | F::SrcAlpha | F::OneMinusSrcAlpha);
    let product = equation.op == BlendOp::Add
        && equation.src == F::Zero
        && matches!(equation.dst, F::OneMinusDstColor | F::DstAlpha);
    product || (plain(equation.src) && plain(equation.dst))
}

/// Whether an equation reads what is there.
fn reads(equation: BlendComponent) -> bool {
    use BlendFactor as F;
    let reading = |it: F| {
        matches!(
            it,
            F::DstColor | F::OneMinusDstColor | F::DstAlpha | F::OneMinusDstAlpha
        )
    };
    equation.dst != F::Zero
        || reading(equation.src)
        || matches!(equation.op, BlendOp::Min | BlendOp::Max)
}

fn uses_constant(equation: BlendComponent) -> bool {
    use BlendFactor as F;
    let it = |factor: F| matches!(factor, F::Constant | F::OneMinusConstant);
    it(equation.src) || it(equation.dst)
}

/// A colour target, as its blend descriptor has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TargetBlend {
    pub(crate) words: [u32; 4],
    /// It is written.
    pub(crate) is_on: bool,
    /// All of what was there is replaced.
    pub(crate) replaces: bool,
    /// It blends with the constants: colour, and alpha.
    pub(crate) constants: [bool; 2],
    /// Largest component, in bits.
    pub(crate) widest: u8,
}

/// No target.
pub(crate) const OFF: TargetBlend = TargetBlend {
    words: [0, 0xF012_2122, 0x1B, 0],
    is_on: false,
    replaces: false,
    constants: [false; 2],
    widest: 0,
};

/// The blend descriptor of a target, with the constant 0; `None` if the hardware does not have it.
pub(crate) fn target(
    arch: Arch,
    number: u32,
    format: &VkFormat,
    blend: &ColorBlend,
) -> Result<Option<TargetBlend>, DescriptorError> {
    let Some(row) = format.target() else {
        return Ok(None);
    };
    let blendable = row.internal_format().and_then(|row| row.blendable);
    let mask = if covers_all(format, blend.write_mask) {
        ALL
    } else {
        blend.write_mask & ALL
    };
    if mask == 0 {
        return Ok(Some(OFF));
    }
    let replacing = [BlendComponent::REPLACE; 2];
    let [color, alpha] = blend.equations.unwrap_or(replacing);
    let simple = |it: BlendComponent| {
        it.src == BlendFactor::One
            && it.dst == BlendFactor::Zero
            && matches!(it.op, BlendOp::Add | BlendOp::Subtract)
    };
    let opaque = mask == ALL && simple(color) && simple(alpha);
    let (rgb, of_alpha) = if opaque {
        let function = function(BlendComponent::REPLACE, false);
        (function, function)
    } else {
        let Some(blendable) = blendable else {
            return Ok(None);
        };
        if blendable.is_float && !(of_floats(color) && of_floats(alpha)) {
            return Ok(None);
        }
        (function(color, false), function(alpha, true))
    };
    let (Some(rgb), Some(of_alpha)) = (rgb, of_alpha) else {
        return Ok(None);
    };
    let mode = if opaque {
        BlendMode::Opaque
    } else {
        BlendMode::FixedFunction
    };
    // Red, green and blue with a one are no order of fixed functions (hardware/graphics-framebuffer.md 6.1).
    let conversion = match mode {
        BlendMode::FixedFunction => PixelFormat(row.conversion.0 & !0xFFF),
        _ => row.conversion,
    };
    let descriptor = Blend {
        load_destination: mask != ALL || reads(color) || reads(alpha),
        enable: true,
        srgb: format.srgb,
        round_to_fb_precision: true,
        equation: BlendEquation {
            rgb,
            alpha: of_alpha,
            color_mask: mask.into(),
        },
        internal: InternalBlend {
            shader: None,
            fixed_function: Some(BlendFixedFunction {
                num_comps: 4,
                rt: number,
                conversion: InternalConversion {
                    memory_format: conversion,
                    raw: false,
                },
            }),
            mode,
        },
        ..Blend::default()
    };
    let mut words = [0; 4];
    descriptor.pack(arch, &mut words)?;
    let is_fixed = mode == BlendMode::FixedFunction;
    let bits = blendable.map_or([0; 4], |it| it.bits);
    Ok(Some(TargetBlend {
        words,
        is_on: true,
        replaces: opaque,
        constants: [color, alpha].map(|it| is_fixed && uses_constant(it)),
        widest: bits.into_iter().max().unwrap_or(0),
    }))
}

/// Whether a mask has all channels that a format has.
fn covers_all(format: &VkFormat, mask: u8) -> bool {
    let channels = [b'R', b'G', b'B', b'A'];
    // The name begins with the channels, each with its bits.
    let own = format.name.split('_').next().unwrap_or("");
    let mut channels = channels.into_iter().zip([1, 2, 4, 8]);
    channels.all(|(letter, bit)| mask & bit != 0 || !own.bytes().any(|it| it == letter))
}

/// The descriptor's constant: a fraction with so many bits, in the upper ones of 16.
pub(crate) fn constant(value: f32, bits: u8) -> u32 {
    let bits = u32::from(bits.min(16));
    let most = (1_u32 << bits).wrapping_sub(1) << 16_u32.wrapping_sub(bits);
    (value.clamp(0.0, 1.0) * most as f32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    use BlendFactor::{
        Constant, DstAlpha, DstColor, One, OneMinusConstant, OneMinusDstAlpha, OneMinusDstColor,
        OneMinusSrcAlpha, OneMinusSrcColor, SrcAlpha, SrcColor, Zero,
    };

    fn format(name: &str) -> &'static VkFormat {
        VkFormat::of_name(Arch::V10, name).expect("a format")
    }

    #[track_caller]
    fn word(color: [BlendFactor; 2], alpha: [BlendFactor; 2], op: BlendOp, expected: u32) {
        let component = |[src, dst]: [BlendFactor; 2]| BlendComponent { src, dst, op };
        let blend = ColorBlend {
            equations: Some([component(color), component(alpha)]),
            write_mask: 0xF,
        };
        let found = target(Arch::V10, 0, format("R8G8B8A8_UNORM"), &blend).expect("packs");
        let found = found.expect("a fixed function").words[1];
        assert_eq!(found, expected, "{color:?} {alpha:?} {op:?}: {found:#x}");
    }

    /// The table of hardware/graphics-framebuffer.md 6.1.
    #[test]
    fn equations_are_as_the_facts_say() {
        let add = |color, expected| word(color, color, BlendOp::Add, expected);
        add([SrcAlpha, OneMinusSrcAlpha], 0xF050_3503);
        word(
            [SrcAlpha, OneMinusSrcAlpha],
            [One, OneMinusSrcAlpha],
            BlendOp::Add,
            0xF0D3_2503,
        );
        add([One, OneMinusSrcAlpha], 0xF0D3_2D32);
        add([One, One], 0xF093_2932);
        add([SrcAlpha, One], 0xF052_3523);
        word(
            [DstColor, Zero],
            [DstAlpha, Zero],
            BlendOp::Add,
            0xF062_1321,
        );
        word(
            [Zero, SrcColor],
            [Zero, SrcAlpha],
            BlendOp::Add,
            0xF053_1231,
        );
        add([DstAlpha, OneMinusDstAlpha], 0xF060_3603);
        add([Constant, OneMinusConstant], 0xF070_3703);
        word([One, One], [One, One], BlendOp::Subtract, 0xF09B_29B2);
        word(
            [One, One],
            [One, One],
            BlendOp::ReverseSubtract,
            0xF093_A93A,
        );
        add([Zero, One], 0xF093_1931);
        add([Zero, Zero], 0xF013_1131);
        let replaced = |name| {
            let blend = ColorBlend::default();
            let found = target(Arch::V10, 0, format(name), &blend).expect("packs");
            found.expect("no blending").words
        };
        // hardware/graphics.md 1.10.
        let words = [0xA00, 0xF012_2122, 0x19, 0xE_D000];
        assert_eq!(replaced("R8G8B8A8_UNORM"), words);
        assert_eq!(replaced("R32G32B32A32_UINT")[2], 0x19);
    }

    #[test]
    fn what_the_hardware_does_not_have_is_told() {
        let found = |name: &str, src, dst, op| {
            let component = BlendComponent { src, dst, op };
            let blend = ColorBlend {
                equations: Some([component; 2]),
                write_mask: 0xF,
            };
            target(Arch::V10, 0, format(name), &blend)
                .expect("packs")
                .is_some()
        };
        let rgba = "R8G8B8A8_UNORM";
        assert!(!found(rgba, One, One, BlendOp::Max));
        assert!(!found(rgba, SrcColor, DstAlpha, BlendOp::Add));
        assert!(found(
            rgba,
            OneMinusDstColor,
            OneMinusDstColor,
            BlendOp::Add
        ));
        assert!(found(rgba, OneMinusSrcColor, SrcColor, BlendOp::Subtract));
        assert!(!found("R16G16B16A16_SFLOAT", DstColor, Zero, BlendOp::Add));
        assert!(found(
            "R16G16B16A16_SFLOAT",
            SrcAlpha,
            OneMinusSrcAlpha,
            BlendOp::Add
        ));
        assert!(!found(
            "R32_SFLOAT",
            SrcAlpha,
            OneMinusSrcAlpha,
            BlendOp::Add
        ));
    }

    #[test]
    fn constants_stand_in_the_upper_bits() {
        assert_eq!(constant(1.0, 8), 0xFF00);
        assert_eq!(constant(0.5, 8), 0x7F80);
        assert_eq!(constant(2.0, 10), 0xFFC0);
    }
}
