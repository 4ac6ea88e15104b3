//! Blending in the shader against arithmetic that this file does itself.

use super::blend_colors;
use crate::color_state::{
    BlendComponent, BlendFactor, BlendOp, ColorBlend, ColorState, ColorTarget, InShader, LogicOp,
};
use crate::interp::{Draw, Fragment, Primitive, Resources, interpret_quads};
use crate::ir::parse::parse;
use crate::ir::verify::verify;
use crate::ir::{Function, Output, TexelKind};
use eitri_descriptors::Arch;
use eitri_descriptors::formats::VkFormat;

const FACTORS: [BlendFactor; 19] = [
    BlendFactor::Zero,
    BlendFactor::One,
    BlendFactor::SrcColor,
    BlendFactor::OneMinusSrcColor,
    BlendFactor::DstColor,
    BlendFactor::OneMinusDstColor,
    BlendFactor::SrcAlpha,
    BlendFactor::OneMinusSrcAlpha,
    BlendFactor::DstAlpha,
    BlendFactor::OneMinusDstAlpha,
    BlendFactor::Constant,
    BlendFactor::OneMinusConstant,
    BlendFactor::ConstantAlpha,
    BlendFactor::OneMinusConstantAlpha,
    BlendFactor::SrcAlphaSaturate,
    BlendFactor::Src1Color,
    BlendFactor::OneMinusSrc1Color,
    BlendFactor::Src1Alpha,
    BlendFactor::OneMinusSrc1Alpha,
];

const CONSTANTS: [f32; 4] = [0.125, 0.5, 1.5, 0.25];

/// Gives each location its words.
struct Flat([[u32; 4]; 2]);

impl Primitive for Flat {
    fn flat(&self, location: u8, component: u8) -> u32 {
        self.0[usize::from(location)][usize::from(component)]
    }

    fn interpolated(&self, location: u8, component: u8, _: [f32; 2]) -> u32 {
        self.flat(location, component)
    }

    fn reciprocal_w(&self, _: [f32; 2]) -> f32 {
        1.0
    }

    fn depth(&self, _: [f32; 2]) -> f32 {
        0.0
    }
}

fn shader(kind: TexelKind, second: bool) -> Function {
    let kind = kind.name();
    let second = match second {
        true => format!("  output.color.0.1.{kind} %e, %f, %g, %h\n"),
        false => String::new(),
    };
    let text = format!(
        "function main
stage fragment
b0:
  %a, %b, %c, %d = varying.0.0.4.flat
  %e, %f, %g, %h = varying.1.0.4.flat
  output.color.0.0.{kind} %a, %b, %c, %d
{second}  return
"
    );
    parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

fn state(format: &str, equations: Option<[BlendComponent; 2]>, write_mask: u8) -> ColorState {
    ColorState {
        targets: vec![Some(ColorTarget {
            format: VkFormat::of_name(Arch::V10, format).expect("a format"),
            blend: ColorBlend {
                equations,
                write_mask,
            },
        })],
        ..ColorState::default()
    }
}

/// What a shader stores in colour 0 once its colours are blended, and the alpha that becomes coverage.
fn run(
    mut function: Function,
    state: &ColorState,
    words: [[u32; 4]; 2],
    tile: [u32; 4],
) -> ([u32; 4], Option<u32>) {
    blend_colors(&mut function, state);
    verify(&function).unwrap_or_else(|errors| panic!("{errors:?}\n{function}"));
    let again = parse(&function.to_string()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.stage, function.stage, "the text form");
    let draw = Draw {
        blend_constants: CONSTANTS,
        samples: vec![[0.5; 2]],
        step_limit: 1 << 16,
        ..Draw::default()
    };
    let mut fragment = Fragment {
        coverage: 1,
        ..Fragment::default()
    };
    fragment.tile[0] = tile;
    let mut none = Resources::default();
    let shaded = interpret_quads(&function, &draw, &Flat(words), &[[fragment; 4]], &mut none);
    let shaded = shaded.unwrap_or_else(|trap| panic!("{trap}\n{function}"));
    let outputs = &shaded[0][0].outputs;
    let find = |is: &dyn Fn(Output) -> bool| outputs.iter().find(|(output, _)| is(*output));
    let color = find(&|it| matches!(it, Output::Color { index: 0, .. }));
    let (_, color) = color.unwrap_or_else(|| panic!("no colour\n{function}"));
    let second = find(&|it| matches!(it, Output::Color { index: 1, .. }));
    let blended = function.stage.fragment().expect("a stage").blended;
    assert_eq!((blended, second), (1, None), "{function}");
    let alpha = find(&|it| it == Output::CoverageAlpha);
    (
        color.as_slice().try_into().expect("four components"),
        alpha.map(|(_, words)| words[0]),
    )
}

/// A factor of a channel.
fn factor(it: BlendFactor, channel: usize, [s, d, t, k]: [[f32; 4]; 4]) -> f32 {
    match it {
        BlendFactor::Zero => 0.0,
        BlendFactor::One => 1.0,
        BlendFactor::SrcColor => s[channel],
        BlendFactor::OneMinusSrcColor => 1.0 - s[channel],
        BlendFactor::DstColor => d[channel],
        BlendFactor::OneMinusDstColor => 1.0 - d[channel],
        BlendFactor::SrcAlpha => s[3],
        BlendFactor::OneMinusSrcAlpha => 1.0 - s[3],
        BlendFactor::DstAlpha => d[3],
        BlendFactor::OneMinusDstAlpha => 1.0 - d[3],
        BlendFactor::Constant => k[channel],
        BlendFactor::OneMinusConstant => 1.0 - k[channel],
        BlendFactor::ConstantAlpha => k[3],
        BlendFactor::OneMinusConstantAlpha => 1.0 - k[3],
        BlendFactor::SrcAlphaSaturate if channel == 3 => 1.0,
        BlendFactor::SrcAlphaSaturate => s[3].min(1.0 - d[3]),
        BlendFactor::Src1Color => t[channel],
        BlendFactor::OneMinusSrc1Color => 1.0 - t[channel],
        BlendFactor::Src1Alpha => t[3],
        BlendFactor::OneMinusSrc1Alpha => 1.0 - t[3],
    }
}

/// Checks an equation of colour, with another of alpha, if it is the shader's affair at all; whether it was.
fn check_equation(format: &str, range: [f32; 2], equation: BlendComponent) -> bool {
    let alpha = BlendComponent {
        src: equation.dst,
        dst: equation.src,
        op: equation.op,
    };
    let state = state(format, Some([equation, alpha]), 0xf);
    if state.in_shader() == [None] {
        return false;
    }
    // Some are outside of the fractions' range.
    let (s, t, d) = (
        [0.25, 1.5, -0.5, 0.75],
        [0.5, 0.0, 2.0, 0.375],
        [0.0, 0.5, 1.0, 0.625],
    );
    let words = [s, t].map(|color: [f32; 4]| color.map(f32::to_bits));
    let (color, coverage) = run(
        shader(TexelKind::Float, true),
        &state,
        words,
        d.map(f32::to_bits),
    );
    let clamp = |color: [f32; 4]| color.map(|it| it.clamp(range[0], range[1]));
    let of = [clamp(s), d, clamp(t), clamp(CONSTANTS)];
    for channel in 0..4 {
        let it = if channel == 3 { alpha } else { equation };
        let (src, dst) = (of[0][channel], of[1][channel]);
        let product = |value: f32, by| value * factor(by, channel, of);
        let expected = match it.op {
            BlendOp::Add => product(src, it.src) + product(dst, it.dst),
            BlendOp::Subtract => product(src, it.src) - product(dst, it.dst),
            BlendOp::ReverseSubtract => product(dst, it.dst) - product(src, it.src),
            BlendOp::Min => src.min(dst),
            BlendOp::Max => src.max(dst),
        };
        let got = f32::from_bits(color[channel]);
        assert_eq!(got, expected, "{format} {it:?}, channel {channel}");
    }
    assert_eq!(coverage, Some(s[3].to_bits()), "the source's alpha covers");
    true
}

#[test]
fn every_equation_is_computed_as_vulkan_says() {
    let mut checked = 0;
    for (format, range) in [
        ("R8G8B8A8_UNORM", [0.0, 1.0]),
        ("R8G8B8A8_SNORM", [-1.0, 1.0]),
        ("R16G16B16A16_SFLOAT", [f32::MIN, f32::MAX]),
    ] {
        for src in FACTORS {
            for dst in FACTORS {
                for op in [BlendOp::Add, BlendOp::Subtract, BlendOp::ReverseSubtract] {
                    let equation = BlendComponent { src, dst, op };
                    checked += u32::from(check_equation(format, range, equation));
                }
            }
        }
        for op in [BlendOp::Min, BlendOp::Max] {
            let (src, dst) = (BlendFactor::Zero, BlendFactor::SrcAlpha);
            assert!(check_equation(
                format,
                range,
                BlendComponent { src, dst, op }
            ));
        }
    }
    assert!(
        checked > 2000,
        "{checked} equations are the shader's affair"
    );
}

/// What an operation makes of the new bits and those that are there.
type OfBits = fn(u32, u32) -> u32;

const LOGIC: [(LogicOp, OfBits); 15] = [
    (LogicOp::Clear, |_, _| 0),
    (LogicOp::And, |s, d| s & d),
    (LogicOp::AndReverse, |s, d| s & !d),
    (LogicOp::AndInverted, |s, d| !s & d),
    (LogicOp::NoOp, |_, d| d),
    (LogicOp::Xor, |s, d| s ^ d),
    (LogicOp::Or, |s, d| s | d),
    (LogicOp::Nor, |s, d| !(s | d)),
    (LogicOp::Equivalent, |s, d| !(s ^ d)),
    (LogicOp::Invert, |_, d| !d),
    (LogicOp::OrReverse, |s, d| s | !d),
    (LogicOp::CopyInverted, |s, _| !s),
    (LogicOp::OrInverted, |s, d| !s | d),
    (LogicOp::Nand, |s, d| !(s & d)),
    (LogicOp::Set, |_, _| u32::MAX),
];

#[test]
fn logic_operations_combine_the_codes_of_the_format() {
    let (s, d) = ([0xa5, 0x0f, 0x80, 0x33], [0xc3, 0xff, 0x01, 0x5a]);
    for (op, of) in LOGIC {
        let with = |format: &str| ColorState {
            logic_op: Some(op),
            ..state(format, None, 0xf)
        };
        let expected: [u32; 4] = std::array::from_fn(|channel| of(s[channel], d[channel]) & 0xff);
        let (words, _) = run(
            shader(TexelKind::Unsigned, false),
            &with("R8G8B8A8_UINT"),
            [s; 2],
            d,
        );
        assert_eq!(words, expected, "{op:?} of unsigned integers");
        let signed = |it: u32| i32::from(it as u8 as i8).cast_unsigned();
        let (words, _) = run(
            shader(TexelKind::Signed, false),
            &with("R8G8B8A8_SINT"),
            [s.map(signed); 2],
            d.map(signed),
        );
        assert_eq!(
            words,
            expected.map(signed),
            "{op:?} of integers with a sign"
        );
        let fraction = |code: u32| (code as f32 / 255.0).to_bits();
        let (words, _) = run(
            shader(TexelKind::Float, false),
            &with("R8G8B8A8_UNORM"),
            [s.map(fraction); 2],
            d.map(fraction),
        );
        let codes = words.map(|word| (f32::from_bits(word) * 255.0).round() as u32);
        assert_eq!(codes, expected, "{op:?} of fractions");
    }
}

#[test]
fn channels_that_are_masked_stay_what_they_are() {
    let state = state("R32G32B32A32_UINT", None, 0b0101);
    let (words, coverage) = run(
        shader(TexelKind::Unsigned, false),
        &state,
        [[1, 2, 3, 4]; 2],
        [5, 6, 7, 8],
    );
    assert_eq!((words, coverage), ([1, 6, 3, 8], None));
}

#[test]
fn a_format_without_alpha_has_the_alpha_1() {
    let equation = BlendComponent {
        src: BlendFactor::OneMinusDstAlpha,
        dst: BlendFactor::DstAlpha,
        op: BlendOp::Max,
    };
    let equation = BlendComponent {
        op: BlendOp::Add,
        src: BlendFactor::Src1Alpha,
        ..equation
    };
    let state = state("R16_SFLOAT", Some([equation; 2]), 0xf);
    assert_eq!(
        state.in_shader(),
        [Some(InShader::Equations([equation; 2]))]
    );
    let half = [0.5f32.to_bits(); 4];
    let (words, _) = run(shader(TexelKind::Float, true), &state, [half; 2], half);
    assert_eq!(f32::from_bits(words[0]), 0.75, "0.5 * 0.5 + 0.5 * 1");
}

#[test]
fn alpha_to_one_comes_behind_coverage() {
    let mut function = shader(TexelKind::Float, false);
    let state = ColorState {
        alpha_to_one: true,
        ..state("R8G8B8A8_UNORM", None, 0xf)
    };
    blend_colors(&mut function, &state);
    let text = function.to_string();
    let ends = text.lines().filter(|line| line.contains("output."));
    let ends: Vec<&str> = ends.map(str::trim).collect();
    assert_eq!(
        ends,
        [
            "output.color.0.0.float %0, %1, %2, 1.0",
            "output.coverage_alpha %3"
        ],
        "{text}"
    );
    assert!(!text.contains("tile."), "nothing is blended: {text}");
}

#[test]
fn many_samples_are_read_each_by_its_number() {
    let mut function = shader(TexelKind::Unsigned, false);
    let state = ColorState {
        samples: 4,
        ..state("R8G8B8A8_UINT", None, 1)
    };
    blend_colors(&mut function, &state);
    let text = function.to_string();
    assert!(
        text.contains("stage fragment sample_shading blended=1"),
        "{text}"
    );
    assert!(text.contains(" = sample_id"), "{text}");
}

#[test]
fn nothing_is_stored_where_the_pass_has_no_target() {
    let stores = |targets: &[Option<&str>]| {
        let mut function = parse(
            "function main
stage fragment
b0:
  %a, %b, %c, %d = varying.0.0.4.flat
  output.color.0.0.float %a, %b, %c, %d
  output.color.1.0.float %b, %c, %d, %a
  output.color.3.0.float %c, %d, %a, %b
  return
",
        )
        .unwrap_or_else(|error| panic!("{error}"));
        let target = |name: &&str| state(name, None, 0xf).targets[0];
        let state = ColorState {
            targets: targets
                .iter()
                .map(|name| name.as_ref().and_then(target))
                .collect(),
            ..ColorState::default()
        };
        blend_colors(&mut function, &state);
        verify(&function).unwrap_or_else(|errors| panic!("{errors:?}\n{function}"));
        let text = function.to_string();
        let stores = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("output."));
        let places = stores.filter_map(|store| store.split(' ').next());
        places.map(str::to_owned).collect::<Vec<_>>()
    };
    let one = Some("R8G8B8A8_UNORM");
    assert_eq!(stores(&[one]), ["color.0.0.float"], "one target");
    assert_eq!(
        stores(&[None, one]),
        ["color.1.0.float", "coverage_alpha"],
        "the alpha of colour 0 still becomes coverage"
    );
    assert_eq!(
        stores(&[]),
        ["color.0.0.float", "color.1.0.float", "color.3.0.float"],
        "nothing is known of the targets"
    );
}

/// By Vulkan, that of location 0, wherever it goes.
#[test]
fn the_alpha_of_the_first_location_becomes_coverage() {
    let text = |locations: &[Option<u8>]| {
        let mut function = parse(
            "function main
stage fragment
b0:
  %a, %b, %c, %d = varying.0.0.4.flat
  output.color.0.0.float %a, %b, %c, %d
  output.color.1.0.float %d, %c, %b, %a
  return
",
        )
        .unwrap_or_else(|error| panic!("{error}"));
        let one = state("R8G8B8A8_UNORM", None, 0xf).targets[0];
        let state = ColorState {
            targets: vec![one, one],
            locations: locations.to_vec(),
            ..ColorState::default()
        };
        blend_colors(&mut function, &state);
        verify(&function).unwrap_or_else(|errors| panic!("{errors:?}\n{function}"));
        let text = function.to_string();
        let ends = text.lines().filter(|line| line.contains("output."));
        ends.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        text(&[Some(1), Some(0)]),
        [
            "output.color.1.0.float %0, %1, %2, %3",
            "output.color.0.0.float %3, %2, %1, %0",
            "output.coverage_alpha %3"
        ],
        "they change places"
    );
    assert_eq!(
        text(&[None, Some(0)]),
        [
            "output.color.0.0.float %3, %2, %1, %0",
            "output.coverage_alpha %3"
        ],
        "the first goes nowhere"
    );
    assert_eq!(
        text(&[Some(0), None]),
        ["output.color.0.0.float %0, %1, %2, %3"],
        "the hardware takes it"
    );
}
