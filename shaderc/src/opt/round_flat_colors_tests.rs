//! Rounding of flat colours: which stores and locations, and that a target holds the same.

use super::{Rounded, constant_fraction, find, round};
use crate::color_state::{BlendComponent, BlendFactor, BlendOp, ColorState, Rounding};
use crate::color_state::{ColorBlend, ColorTarget};
use crate::interp::eval::eval;
use crate::ir::parse::parse;
use crate::ir::verify::verify;
use crate::ir::{Alu, Function, Op, Output, Type};
use crate::opt::{fold_constants, pack_colors};
use crate::pass::Changed;
use crate::target::Target;
use eitri_descriptors::Arch;
use eitri_descriptors::formats::VkFormat;

const REPLACED: Option<[BlendComponent; 2]> = None;
const EIGHT: [Rounding; 4] = [Rounding::Fraction(8); 4];

fn function(text: &str) -> Function {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn fragment(body: &str) -> Function {
    function(&format!(
        "function main\nstage fragment\nb0:\n{body}  return\n"
    ))
}

/// State of targets of these formats.
fn state(formats: &[&str], equations: Option<[BlendComponent; 2]>) -> ColorState {
    let targets = formats.iter().map(|format| {
        Some(ColorTarget {
            format: VkFormat::of_name(Arch::V10, format).expect("a format"),
            blend: ColorBlend {
                equations,
                write_mask: 0xf,
            },
        })
    });
    ColorState {
        targets: targets.collect(),
        no_alpha_to_coverage: true,
        ..ColorState::default()
    }
}

/// What is rounded, and the fragment shader behind `pack_colors`.
fn found(body: &str, state: &ColorState) -> (Rounded, String) {
    let mut fragment = fragment(body);
    let rounded = find(&mut fragment, state);
    (pack_colors::PASS.run)(&mut fragment, &Target::default());
    verify(&fragment).unwrap_or_else(|errors| panic!("{errors:?}\n{fragment}"));
    (rounded, fragment.to_string())
}

const PLAIN: &str = "  %a, %b, %c, %d = varying.3.0.4.flat
  output.color.0.0.float %a, %b, %c, %d
";

#[test]
fn a_flat_color_of_a_target_of_fractions_is_rounded_and_loaded_as_halves() {
    let (rounded, text) = found(PLAIN, &state(&["R8G8B8A8_UNORM"], REPLACED));
    assert_eq!(rounded, Rounded::from([(3, EIGHT)]));
    assert!(text.contains("varying.3.0.4.flat.half"), "{text}");
    let (rounded, _) = found(PLAIN, &state(&["A2B10G10R10_UNORM_PACK32"], REPLACED));
    let channels = [10, 10, 10, 2].map(Rounding::Fraction);
    assert_eq!(rounded, Rounded::from([(3, channels)]));
}

#[test]
fn constants_beside_it_are_rounded_as_well() {
    let body = "  %a, %b = varying.3.0.2.flat
  output.color.0.0.float %a, %b, 0.3, 1.0
";
    let (_, text) = found(body, &state(&["R5G6B5_UNORM_PACK16"], REPLACED));
    let nine = constant_fraction(0.3, 5).to_bits();
    let halves = eval(
        Alu::PackHalf,
        Type::W32,
        [nine.into(), 1.0f32.to_bits().into(), 0, 0],
    );
    let store = format!("output.color.0.0.float.relaxed.half %5, {:#x}", halves);
    assert!(text.contains(&store), "{store}\n{text}");
}

#[test]
fn halves_of_a_target_of_halves_need_no_rounding() {
    let target = state(&["R16G16B16A16_SFLOAT"], REPLACED);
    let (rounded, text) = found(PLAIN, &target);
    assert_eq!(rounded, Rounded::from([(3, [Rounding::Half; 4])]));
    assert!(text.contains("varying.3.0.4.flat.half"), "{text}");
    // There the hardware rounds as the target would: what is interpolated, too.
    let (_, text) = found(&PLAIN.replace("flat", "center"), &target);
    assert!(text.contains("varying.3.0.4.center.half"), "{text}");
}

#[test]
fn colors_that_something_else_depends_on_stay() {
    let add = BlendComponent {
        src: BlendFactor::One,
        dst: BlendFactor::One,
        op: BlendOp::Add,
    };
    let eight = state(&["R8G8B8A8_UNORM"], REPLACED);
    let smooth = PLAIN.replace("flat", "center");
    let read_again = format!(
        "{PLAIN}  %e = flt %a, 0.5
  demote %e
"
    );
    let second = format!("{PLAIN}  output.color.0.1.float 1.0, 1.0, 1.0, 1.0\n");
    let computed = PLAIN.replace(
        "  output.color.0.0.float %a",
        "  %n = fneg %a\n  output.color.0.0.float %n",
    );
    let two = format!("{PLAIN}  output.color.1.0.float %a, %b, %c, %d\n");
    let logic = ColorState {
        logic_op: Some(crate::color_state::LogicOp::Xor),
        ..eight.clone()
    };
    let covers = ColorState {
        no_alpha_to_coverage: false,
        ..eight.clone()
    };
    for (what, body, state) in [
        ("blended", PLAIN, state(&["R8G8B8A8_UNORM"], Some([add; 2]))),
        ("a logic operation", PLAIN, logic),
        ("alpha may become coverage", PLAIN, covers),
        ("wide", PLAIN, state(&["R16G16B16A16_UNORM"], REPLACED)),
        ("sRGB", PLAIN, state(&["R8G8B8A8_SRGB"], REPLACED)),
        ("no format", PLAIN, ColorState::default()),
        ("interpolated", &smooth, eight.clone()),
        ("read again", &read_again, eight.clone()),
        ("a second colour", &second, eight.clone()),
        ("computed", &computed, eight),
        (
            "two targets that round differently",
            &two,
            state(&["R8G8B8A8_UNORM", "R5G6B5_UNORM_PACK16"], REPLACED),
        ),
        (
            "a target that rounds nothing",
            &two,
            state(&["R8G8B8A8_UNORM", "R32G32B32A32_SFLOAT"], REPLACED),
        ),
    ] {
        let (rounded, text) = found(body, &state);
        let is_kept = |location: &u8| !text.contains(&format!("varying.{location}.0.4.flat.half"));
        assert!(rounded.keys().all(is_kept), "{what}\n{text}");
        assert!(!text.contains(".half"), "{what}\n{text}");
    }
}

#[test]
fn a_color_of_two_equal_targets_is_rounded_once() {
    let two = format!("{PLAIN}  output.color.1.0.float %a, %b, %c, %d\n");
    let (rounded, text) = found(&two, &state(&["R8G8B8A8_UNORM"; 2], REPLACED));
    assert_eq!(rounded, Rounded::from([(3, EIGHT)]));
    assert_eq!(text.matches(".relaxed.half").count(), 2, "{text}");
}

/// The code that a target of fractions has for a float, by one rounding.
fn code(value: f32, largest: f64) -> u32 {
    let inside = f64::from(if value.is_nan() { 0.0 } else { value }).clamp(0.0, 1.0);
    // A product of 24 and 10 bits is exact.
    (inside * largest).round_ties_even() as u32
}

/// What a vertex shader hands on for a constant, as a half made a float again.
fn handed_on(value: f32, bits: u32) -> f32 {
    let text = format!(
        "function main\nstage vertex\nb0:\n  output.varying.3.1 {:#x}\n  return\n",
        value.to_bits()
    );
    let mut vertex = function(&text);
    let fragment =
        fragment("  %a = varying.3.0.1.flat.half\n  output.color.0.0.float %a, %a, %a, %a\n");
    let rounded = Rounded::from([(3, [Rounding::Fraction(bits); 4])]);
    round(&mut vertex, &fragment, &rounded);
    verify(&vertex).unwrap_or_else(|errors| panic!("{errors:?}\n{vertex}"));
    while (fold_constants::PASS.run)(&mut vertex, &Target::default()) == Changed::Yes {}
    let stored = vertex.placed_insts().find_map(|(_, inst)| {
        let data = vertex.inst(inst);
        matches!(data.op, Op::StoreOutput(Output::Varying { .. })).then(|| data.args[0])
    });
    let word = stored.and_then(|value| vertex.as_word(value));
    let word = word.unwrap_or_else(|| panic!("not folded\n{vertex}"));
    let half = eval(Alu::PackHalf, Type::W32, [word.into(), 0, 0, 0]);
    f32::from_bits(eval(Alu::HalfLow, Type::W32, [half, 0, 0, 0]) as u32)
}

#[test]
fn a_target_holds_the_same_code() {
    for (bits, step) in [(1, 1), (2, 1), (4, 1), (5, 1), (6, 5), (8, 11), (10, 61)] {
        let largest = f64::from((1_u32 << bits) - 1);
        let edges = (0..=(1_u32 << bits))
            .rev()
            .step_by(step)
            .flat_map(|number| {
                // Around each place between two codes, and each code.
                [-0.5, 0.0].into_iter().flat_map(move |part| {
                    let at = ((f64::from(number) + part) / largest) as f32;
                    [at, at.next_up(), at.next_down()]
                })
            });
        let others = [
            -1.0,
            -0.0,
            2.0,
            1e30,
            f32::INFINITY,
            f32::NAN,
            f32::MIN_POSITIVE,
        ];
        for value in edges.chain(others) {
            let wanted = code(value, largest);
            let half = handed_on(value, bits);
            assert_eq!(
                code(half, largest),
                wanted,
                "{value} of {bits} bits as {half}"
            );
            if !value.is_nan() {
                let constant = constant_fraction(value, bits);
                assert_eq!(code(constant, largest), wanted, "{value} of {bits} bits");
            }
        }
    }
}
