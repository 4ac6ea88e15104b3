//! Blending: equations as Vulkan names them, and which of them the hardware has.
//!
//! Both sides ask: the driver makes descriptors of those that it has, the compiler puts the others into the fragment shader.
//! Facts: hardware/graphics-framebuffer.md 6.1 and 6.2.

use crate::blend::{BlendFunction, BlendMode, BlendOperandA, BlendOperandB, BlendOperandC};
use crate::formats::VkFormat;

/// What a colour is multiplied with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// The fourth blend constant.
    ConstantAlpha,
    /// 1 less the fourth blend constant.
    OneMinusConstantAlpha,
    /// The new alpha, or 1 less the alpha that is there, whichever is less; 1 of alpha.
    SrcAlphaSaturate,
    /// The second colour of the fragment.
    Src1Color,
    /// 1 less the second colour.
    OneMinusSrc1Color,
    /// The alpha of the second colour.
    Src1Alpha,
    /// 1 less the alpha of the second colour.
    OneMinusSrc1Alpha,
}

/// How two products become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// An operation on the bits of the new colour, S, and of the one that is there, D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogicOp {
    /// 0.
    Clear,
    /// S & D.
    And,
    /// S & !D.
    AndReverse,
    /// S.
    Copy,
    /// !S & D.
    AndInverted,
    /// D.
    NoOp,
    /// S ^ D.
    Xor,
    /// S | D.
    Or,
    /// !(S | D).
    Nor,
    /// !(S ^ D).
    Equivalent,
    /// !D.
    Invert,
    /// S | !D.
    OrReverse,
    /// !S.
    CopyInverted,
    /// !S | D.
    OrInverted,
    /// !(S & D).
    Nand,
    /// All ones.
    Set,
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

/// A factor of colour, or of alpha, where colours are alphas; `None` if no fixed function has it.
fn factor(factor: BlendFactor, alpha: bool) -> Option<Factor> {
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
        F::Constant | F::ConstantAlpha => (Base::Constant, false),
        F::OneMinusConstant | F::OneMinusConstantAlpha => (Base::Constant, true),
        F::SrcAlphaSaturate if alpha => ONE,
        F::SrcAlphaSaturate
        | F::Src1Color
        | F::OneMinusSrc1Color
        | F::Src1Alpha
        | F::OneMinusSrc1Alpha => return None,
    };
    // Of alpha the colours are alphas.
    let base = match base {
        Base::Src if alpha => Base::SrcAlpha,
        Base::Dst if alpha => Base::DstAlpha,
        base => base,
    };
    Some((base, inverted))
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
    let (src, dst) = (factor(equation.src, alpha)?, factor(equation.dst, alpha)?);
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
            F::DstColor
                | F::OneMinusDstColor
                | F::DstAlpha
                | F::OneMinusDstAlpha
                | F::SrcAlphaSaturate
        )
    };
    equation.dst != F::Zero
        || reading(equation.src)
        || matches!(equation.op, BlendOp::Min | BlendOp::Max)
}

/// Which of the constants an equation uses: those of colours, and that of alpha.
fn constants(equation: BlendComponent, alpha: bool) -> [bool; 2] {
    use BlendFactor as F;
    let factors = [equation.src, equation.dst];
    let of_color = |it: &F| matches!(it, F::Constant | F::OneMinusConstant);
    let of_alpha = |it: &F| matches!(it, F::ConstantAlpha | F::OneMinusConstantAlpha);
    let color = factors.iter().any(of_color);
    // In the equation of alpha a colour's factor is its alpha.
    [
        color && !alpha,
        (color && alpha) || factors.iter().any(of_alpha),
    ]
}

/// How the hardware blends by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedFunction {
    /// Nothing is written, the new colour is written as it is, or it is mixed with the one that is there.
    pub mode: BlendMode,
    /// The function of colours.
    pub rgb: BlendFunction,
    /// The function of alpha.
    pub alpha: BlendFunction,
    /// Channels that are written: bit 0 is red, bit 3 is alpha.
    pub mask: u8,
    /// The colour that is there is read.
    pub loads: bool,
    /// Constants that are used: those of colours, and that of alpha. The hardware has one, so all that are used must be equal.
    pub constants: [bool; 2],
}

/// How the hardware blends a colour into a target of that format by itself; `None` if it can't: then the fragment shader has to
/// (hardware/graphics-framebuffer.md 6.2).
pub fn fixed_function(format: &VkFormat, blend: &ColorBlend) -> Option<FixedFunction> {
    let row = format.target()?;
    let mask = match covers_all(format, blend.write_mask) {
        true => ALL,
        false => blend.write_mask & ALL,
    };
    let equations = blend.equations.unwrap_or([BlendComponent::REPLACE; 2]);
    let [color, alpha] = match has_channel(format, b'A') {
        true => equations,
        // What alpha becomes nobody sees.
        false => [on_alpha_1(equations[0]), BlendComponent::REPLACE],
    };
    let simple = |it: BlendComponent| {
        it.src == BlendFactor::One
            && it.dst == BlendFactor::Zero
            && matches!(it.op, BlendOp::Add | BlendOp::Subtract)
    };
    let replace = function(BlendComponent::REPLACE, false)?;
    let opaque = FixedFunction {
        mode: BlendMode::Opaque,
        rgb: replace,
        alpha: replace,
        mask,
        loads: false,
        constants: [false; 2],
    };
    if mask == 0 {
        let mode = BlendMode::Off;
        return Some(FixedFunction { mode, ..opaque });
    }
    if mask == ALL && simple(color) && simple(alpha) {
        return Some(opaque);
    }
    let blendable = row.internal_format()?.blendable?;
    if blendable.is_float && !(of_floats(color) && of_floats(alpha)) {
        return None;
    }
    let [of_color, of_alpha] = [constants(color, false), constants(alpha, true)];
    Some(FixedFunction {
        mode: BlendMode::FixedFunction,
        rgb: function(color, false)?,
        alpha: function(alpha, true)?,
        mask,
        loads: mask != ALL || reads(color) || reads(alpha),
        constants: [of_color[0] || of_alpha[0], of_color[1] || of_alpha[1]],
    })
}

/// An equation of colour where the alpha that is there is 1: that of a format without alpha, whose tile may hold another
/// (hardware/graphics-framebuffer.md 6.1).
fn on_alpha_1(equation: BlendComponent) -> BlendComponent {
    use BlendFactor as F;
    let factor = |factor: F| match factor {
        F::DstAlpha => F::One,
        F::OneMinusDstAlpha | F::SrcAlphaSaturate => F::Zero,
        factor => factor,
    };
    BlendComponent {
        src: factor(equation.src),
        dst: factor(equation.dst),
        op: equation.op,
    }
}

/// Whether a format has a channel, by its letter.
fn has_channel(format: &VkFormat, letter: u8) -> bool {
    // The name begins with the channels, each with its bits.
    let own = format.name.split('_').next().unwrap_or("");
    own.bytes().any(|it| it == letter)
}

/// Whether a mask has all channels that a format has.
fn covers_all(format: &VkFormat, mask: u8) -> bool {
    let mut channels = [b'R', b'G', b'B', b'A'].into_iter().zip([1, 2, 4, 8]);
    channels.all(|(letter, bit)| mask & bit != 0 || !has_channel(format, letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arch;

    /// A format without alpha has 1 there, whatever the tile holds: no function reads it.
    #[test]
    fn nothing_reads_an_alpha_that_a_format_has_not() {
        use BlendFactor::{DstAlpha, One, OneMinusDstAlpha, SrcAlpha, SrcAlphaSaturate, Zero};
        let made = |name: &str, src, dst| {
            let format = VkFormat::of_name(Arch::V10, name).expect("a format");
            let op = BlendOp::Add;
            let equations = Some([BlendComponent { src, dst, op }; 2]);
            let blend = ColorBlend {
                equations,
                ..ColorBlend::default()
            };
            fixed_function(format, &blend)
        };
        for name in ["R8_UNORM", "R8G8_UNORM", "R5G6B5_UNORM_PACK16"] {
            for (read, like) in [
                ((DstAlpha, Zero), (One, Zero)),
                ((SrcAlpha, DstAlpha), (SrcAlpha, One)),
                ((SrcAlpha, OneMinusDstAlpha), (SrcAlpha, Zero)),
                ((SrcAlphaSaturate, One), (Zero, One)),
            ] {
                let [found, wanted] = [read, like].map(|(src, dst)| made(name, src, dst));
                assert!(found.is_some(), "{name}: {read:?}");
                assert_eq!(found, wanted, "{name}: {read:?} is as {like:?}");
            }
        }
        let own = made("R8G8B8A8_UNORM", DstAlpha, Zero);
        assert_ne!(own, made("R8G8B8A8_UNORM", One, Zero), "this one has alpha");
    }
}
