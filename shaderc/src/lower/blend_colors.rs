//! Blending in the fragment shader: what the hardware can't mix by itself is mixed with what the tile holds.
//!
//! Needs: outputs stored in one block, behind all that is computed for them.  Guarantees: colours of the targets in
//! [`crate::ir::FragmentStage::blended`] replace what is there, all channels; the alpha that becomes coverage stays that of the
//! source; of targets in [`crate::ir::FragmentStage::fixed`] the hardware does the rest. Nothing is stored in targets that are not there.
//! Facts: hardware/graphics-compiler.md 8 (equations, logic operations, clamps), hardware/graphics-framebuffer.md 6.2.

use crate::color_state::{
    BlendComponent, BlendFactor, BlendOp, ColorState, ColorTarget, Components, InShader, LogicOp,
    Numbers,
};
use crate::ir::{
    Alu, BlockId, Builder, Function, Inst, Op, Output, Stage, SysVal, TexelKind, TileLoad, Uniform,
    Value,
};

/// Where a colour has its alpha.
const ALPHA: usize = 3;

/// Four components.
type Color = [Value; 4];

/// What an equation reads.
struct Sources {
    src: Color,
    dst: Color,
    /// The second colour of the fragment.
    second: Color,
    constants: Color,
}

/// Blends what the hardware doesn't.
pub(crate) fn blend_colors(function: &mut Function, state: &ColorState) {
    let Stage::Fragment(mut stage) = function.stage else {
        return;
    };
    // What the fixed function does not mix is mixed here, so with known formats nothing is left to a blend shader.
    let known = (0..).zip(&state.targets);
    stage.fixed = known.fold(0, |mask, (number, target)| {
        mask | u8::from(target.is_some()) << number
    });
    function.stage = Stage::Fragment(stage);
    let Some((block, first)) = stores(function) else {
        return;
    };
    let stored = &function.block(block).insts[first..];
    // By location, wherever that colour goes.
    let first_color = colors_of(function, stored).into_iter().find_map(|store| {
        let (inst, location, index, kind) = store;
        let is_first = (location, index, kind) == (0, 0, TexelKind::Float);
        is_first.then(|| (inst, function.inst(inst).args[ALPHA]))
    });
    if !state.locations.is_empty() {
        place_colors(function, block, &state.locations);
    }
    let stores = function.block_mut(block).insts.split_off(first);
    let colors = colors_of(function, &stores);
    let (colors, gone) = without_targets(colors, state);
    let is_gone = |inst: &Inst| gone.iter().any(|store| store.0 == *inst);
    let mut b = Builder::new(function, block);
    if state.alpha_to_one {
        let one = b.float(1.0);
        let floats = colors.iter().filter(|it| it.3 == TexelKind::Float);
        for &(inst, ..) in floats {
            b.function.inst_mut(inst).args[ALPHA] = one;
        }
    }
    let second = colors.iter().find(|(_, _, index, _)| *index == 1);
    let second = second.map(|&(inst, ..)| color_of(&b, inst));
    let ways = state.in_shader();
    let mut mixes_first = false;
    for &(inst, target, index, kind) in &colors {
        let number = usize::from(target);
        let (Some(Some(way)), Some(Some(format))) = (ways.get(number), state.targets.get(number))
        else {
            continue;
        };
        let Some(components) = Components::of(format.format).filter(|it| holds(*it, kind)) else {
            continue;
        };
        mixes_first |= target == 0;
        if index != 0 {
            continue;
        }
        b.position = b.function.inst(inst).position;
        let sample = match state.samples {
            0 | 1 => b.word(0),
            _ => {
                stage.sample_shading = true;
                b.sys_val(SysVal::SampleId)
            }
        };
        let there = b.inst(Op::LoadTile(TileLoad::Color { target, kind }), &[sample]);
        let there = present(&mut b, components, [there[0], there[1], there[2], there[3]]);
        let own = color_of(&b, inst);
        let given = [own, there, second.unwrap_or(own)];
        let mixed = blended(&mut b, (*way, kind), components, given);
        let mixed = masked(*format, mixed, there);
        b.function.inst_mut(inst).args = mixed.into_iter().collect();
        stage.blended |= 1 << target;
    }
    // The second colour is used up.
    let is_used = |inst: &Inst| {
        let dropped = colors.iter().find(|it| it.0 == *inst && it.2 == 1);
        !is_gone(inst) && dropped.is_none_or(|it| stage.blended >> it.1 & 1 == 0)
    };
    let kept: Vec<Inst> = stores.iter().copied().filter(is_used).collect();
    b.function.block_mut(block).insts.extend(kept);
    // It becomes coverage where the hardware would take another, or none: it takes that of the first target.
    let takes = |inst: Inst| colors.iter().any(|store| store.0 == inst && store.1 == 0);
    if let Some((inst, alpha)) = first_color
        && (mixes_first || state.alpha_to_one || !takes(inst))
    {
        b.inst(Op::StoreOutput(Output::CoverageAlpha), &[alpha]);
    }
    function.stage = Stage::Fragment(stage);
}

/// A store of a colour: the target, which of its colours, and what it is.
type ColorStore = (Inst, u8, u8, TexelKind);

/// The stores of colours among those of all outputs.
fn colors_of(function: &Function, stores: &[Inst]) -> Vec<ColorStore> {
    let colors = stores
        .iter()
        .filter_map(|&inst| match function.inst(inst).op {
            Op::StoreOutput(Output::Color {
                target,
                index,
                kind,
                ..
            }) => Some((inst, target, index, kind)),
            _ => None,
        });
    colors.collect()
}

/// Stores of colours that go somewhere, and those of targets that the pass has not. Of a state without targets nothing is known.
fn without_targets(
    colors: Vec<ColorStore>,
    state: &ColorState,
) -> (Vec<ColorStore>, Vec<ColorStore>) {
    let is_there = |store: &ColorStore| {
        let target = state.targets.get(usize::from(store.1));
        state.targets.is_empty() || target.is_some_and(Option::is_some)
    };
    colors.into_iter().partition(is_there)
}

/// The colour that a target is to hold, of the fragment's, what is there, and the fragment's second one.
fn blended(
    b: &mut Builder<'_>,
    (way, kind): (InShader, TexelKind),
    components: Components,
    [own, there, second]: [Color; 3],
) -> Color {
    match way {
        InShader::Logic(op) => combine(b, op, components, own, there),
        InShader::Equations(equations) if kind == TexelKind::Float => {
            mix(b, equations, components, [own, there, second])
        }
        // Integers are not mixed.
        InShader::Equations(_) => own,
    }
}

/// Colours go to the targets of their locations; those without one go.
fn place_colors(function: &mut Function, block: BlockId, locations: &[Option<u8>]) {
    let mut insts = std::mem::take(&mut function.block_mut(block).insts);
    insts.retain(|inst| {
        let data = function.inst_mut(*inst);
        let Op::StoreOutput(Output::Color { target, .. }) = &mut data.op else {
            return true;
        };
        match locations.get(usize::from(*target)).copied().flatten() {
            Some(placed) => *target = placed,
            None => return false,
        }
        true
    });
    function.block_mut(block).insts = insts;
}

/// Where outputs are stored: the block, and the place in it of the first store.
fn stores(function: &Function) -> Option<(BlockId, usize)> {
    let is_store = |inst: &Inst| matches!(function.inst(*inst).op, Op::StoreOutput(_));
    function.layout.iter().find_map(|&block| {
        let first = function.block(block).insts.iter().position(is_store)?;
        Some((block, first))
    })
}

fn color_of(b: &Builder<'_>, inst: Inst) -> Color {
    std::array::from_fn(|component| b.function.inst(inst).args[component])
}

/// Whether a format holds what a shader stores; of another kind a target holds nothing that anyone may expect.
fn holds(components: Components, kind: TexelKind) -> bool {
    match components.numbers {
        Numbers::Unorm | Numbers::Snorm | Numbers::Srgb | Numbers::Float => {
            kind == TexelKind::Float
        }
        Numbers::Uint => kind == TexelKind::Unsigned,
        Numbers::Sint => kind == TexelKind::Signed,
    }
}

/// What is there, with 0, 0, 0, 1 where the format has nothing.
fn present(b: &mut Builder<'_>, components: Components, there: Color) -> Color {
    let is_float = !matches!(components.numbers, Numbers::Uint | Numbers::Sint);
    std::array::from_fn(|channel| match (components.bits[channel], channel) {
        (0, ALPHA) if is_float => b.float(1.0),
        (0, ALPHA) => b.word(1),
        (0, _) => b.word(0),
        _ => there[channel],
    })
}

/// Channels that are not written stay what they are.
fn masked(target: ColorTarget, mixed: Color, there: Color) -> Color {
    std::array::from_fn(|channel| match target.blend.write_mask >> channel & 1 {
        0 => there[channel],
        _ => mixed[channel],
    })
}

/// A value in the range of the format.
fn clamped(b: &mut Builder<'_>, numbers: Numbers, value: Value) -> Value {
    let least = match numbers {
        Numbers::Unorm | Numbers::Srgb => 0.0,
        Numbers::Snorm => -1.0,
        Numbers::Float | Numbers::Uint | Numbers::Sint => return value,
    };
    let value = b.alu_float(Alu::FMax, value, least);
    b.alu_float(Alu::FMin, value, 1.0)
}

/// The equations of colour and of alpha.
fn mix(
    b: &mut Builder<'_>,
    [color, alpha]: [BlendComponent; 2],
    components: Components,
    [own, there, second]: [Color; 3],
) -> Color {
    let numbers = components.numbers;
    let constants = [0, 1, 2, 3].map(|number| b.uniform(Uniform::BlendConstant(number)));
    let sources = Sources {
        src: own.map(|value| clamped(b, numbers, value)),
        dst: there,
        second: second.map(|value| clamped(b, numbers, value)),
        constants: constants.map(|value| clamped(b, numbers, value)),
    };
    std::array::from_fn(|channel| {
        let equation = if channel == ALPHA { alpha } else { color };
        sources.equation(b, equation, channel)
    })
}

/// A factor.
enum Factor {
    Zero,
    One,
    Is(Value),
}

impl Sources {
    fn equation(&self, b: &mut Builder<'_>, equation: BlendComponent, channel: usize) -> Value {
        let (src, dst) = (self.src[channel], self.dst[channel]);
        let (less, more) = match equation.op {
            BlendOp::Min => return b.alu(Alu::FMin, &[src, dst]),
            BlendOp::Max => return b.alu(Alu::FMax, &[src, dst]),
            BlendOp::Add => (None, None),
            BlendOp::Subtract => (None, Some(())),
            BlendOp::ReverseSubtract => (Some(()), None),
        };
        let mut signed = |value, negative: Option<()>| match negative {
            Some(()) => b.alu(Alu::FNeg, &[value]),
            None => value,
        };
        let (src, dst) = (signed(src, less), signed(dst, more));
        let fs = self.factor(b, equation.src, channel);
        let fd = self.factor(b, equation.dst, channel);
        let first = match fs {
            Factor::Zero => None,
            Factor::One => Some(src),
            Factor::Is(factor) => Some(b.alu(Alu::FMul, &[src, factor])),
        };
        match (first, fd) {
            (None, Factor::Zero) => b.float(0.0),
            (Some(first), Factor::Zero) => first,
            (None, Factor::One) => dst,
            (Some(first), Factor::One) => b.alu(Alu::FAdd, &[first, dst]),
            (None, Factor::Is(factor)) => b.alu(Alu::FMul, &[dst, factor]),
            (Some(first), Factor::Is(factor)) => b.alu(Alu::FFma, &[dst, factor, first]),
        }
    }

    fn factor(&self, b: &mut Builder<'_>, factor: BlendFactor, channel: usize) -> Factor {
        use BlendFactor as F;
        let (value, inverted) = match factor {
            F::Zero => return Factor::Zero,
            F::One => return Factor::One,
            F::SrcAlphaSaturate if channel == ALPHA => return Factor::One,
            F::SrcAlphaSaturate => {
                let one = b.float(1.0);
                let rest = b.alu(Alu::FSub, &[one, self.dst[ALPHA]]);
                (b.alu(Alu::FMin, &[self.src[ALPHA], rest]), false)
            }
            F::SrcColor => (self.src[channel], false),
            F::OneMinusSrcColor => (self.src[channel], true),
            F::DstColor => (self.dst[channel], false),
            F::OneMinusDstColor => (self.dst[channel], true),
            F::SrcAlpha => (self.src[ALPHA], false),
            F::OneMinusSrcAlpha => (self.src[ALPHA], true),
            F::DstAlpha => (self.dst[ALPHA], false),
            F::OneMinusDstAlpha => (self.dst[ALPHA], true),
            F::Constant => (self.constants[channel], false),
            F::OneMinusConstant => (self.constants[channel], true),
            F::ConstantAlpha => (self.constants[ALPHA], false),
            F::OneMinusConstantAlpha => (self.constants[ALPHA], true),
            F::Src1Color => (self.second[channel], false),
            F::OneMinusSrc1Color => (self.second[channel], true),
            F::Src1Alpha => (self.second[ALPHA], false),
            F::OneMinusSrc1Alpha => (self.second[ALPHA], true),
        };
        match inverted {
            false => Factor::Is(value),
            true => {
                let one = b.float(1.0);
                Factor::Is(b.alu(Alu::FSub, &[one, value]))
            }
        }
    }
}

/// A logic operation on the codes of a format.
fn combine(
    b: &mut Builder<'_>,
    op: LogicOp,
    components: Components,
    own: Color,
    there: Color,
) -> Color {
    std::array::from_fn(|channel| {
        let bits = components.bits[channel];
        if bits == 0 {
            return own[channel];
        }
        let codes = [own, there].map(|color| code(b, components.numbers, bits, color[channel]));
        let result = logic(b, op, codes);
        number(b, components.numbers, bits, result)
    })
}

/// The largest code of a fraction.
fn largest(numbers: Numbers, bits: u32) -> u32 {
    let used = match numbers {
        Numbers::Snorm => bits.saturating_sub(1),
        _ => bits,
    };
    u32::MAX >> 32_u32.saturating_sub(used).min(31)
}

/// The integer that a format has for a value.
fn code(b: &mut Builder<'_>, numbers: Numbers, bits: u32, value: Value) -> Value {
    let convert = match numbers {
        Numbers::Unorm => Alu::F2U,
        Numbers::Snorm => Alu::F2I,
        Numbers::Srgb | Numbers::Float | Numbers::Uint | Numbers::Sint => return value,
    };
    let value = clamped(b, numbers, value);
    let scaled = b.alu_float(Alu::FMul, value, largest(numbers, bits) as f32);
    let rounded = b.alu(Alu::FRoundEven, &[scaled]);
    b.alu(convert, &[rounded])
}

/// The value of such an integer, of which the low bits count.
fn number(b: &mut Builder<'_>, numbers: Numbers, bits: u32, code: Value) -> Value {
    let above = 32_u32.saturating_sub(bits);
    let held = match numbers {
        _ if above == 0 => code,
        Numbers::Snorm | Numbers::Sint => {
            let high = b.alu_word(Alu::IShl, code, above);
            b.alu_word(Alu::SShr, high, above)
        }
        _ => b.alu_word(Alu::IAnd, code, u32::MAX >> above),
    };
    let convert = match numbers {
        Numbers::Unorm => Alu::U2F,
        Numbers::Snorm => Alu::I2F,
        Numbers::Srgb | Numbers::Float | Numbers::Uint | Numbers::Sint => return held,
    };
    let float = b.alu(convert, &[held]);
    b.alu_float(Alu::FMul, float, 1.0 / largest(numbers, bits) as f32)
}

fn logic(b: &mut Builder<'_>, op: LogicOp, [s, d]: [Value; 2]) -> Value {
    let mut not = |value| b.alu(Alu::INot, &[value]);
    match op {
        LogicOp::Clear => b.word(0),
        LogicOp::Set => b.word(u32::MAX),
        LogicOp::Copy => s,
        LogicOp::NoOp => d,
        LogicOp::Invert => not(d),
        LogicOp::CopyInverted => not(s),
        LogicOp::And => b.alu(Alu::IAnd, &[s, d]),
        LogicOp::Or => b.alu(Alu::IOr, &[s, d]),
        LogicOp::Xor => b.alu(Alu::IXor, &[s, d]),
        LogicOp::AndReverse => {
            let d = not(d);
            b.alu(Alu::IAnd, &[s, d])
        }
        LogicOp::AndInverted => {
            let s = not(s);
            b.alu(Alu::IAnd, &[s, d])
        }
        LogicOp::OrReverse => {
            let d = not(d);
            b.alu(Alu::IOr, &[s, d])
        }
        LogicOp::OrInverted => {
            let s = not(s);
            b.alu(Alu::IOr, &[s, d])
        }
        LogicOp::Nand => {
            let both = b.alu(Alu::IAnd, &[s, d]);
            b.alu(Alu::INot, &[both])
        }
        LogicOp::Nor => {
            let either = b.alu(Alu::IOr, &[s, d]);
            b.alu(Alu::INot, &[either])
        }
        LogicOp::Equivalent => {
            let other = b.alu(Alu::IXor, &[s, d]);
            b.alu(Alu::INot, &[other])
        }
    }
}

#[cfg(test)]
#[path = "blend_colors_tests.rs"]
mod tests;
