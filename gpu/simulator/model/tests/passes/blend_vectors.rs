//! Blending against vectors that were computed elsewhere: by fixed function, and by programs where hardware has no equation.
//!
//! Facts: hardware/descriptors.md 21; data/graphics-vectors.json and graphics-vectors2.json.

use super::vector_files::{FIRST, SECOND, bits, float, list, number};
use super::{Colour, Pass, Rectangle};
use eitri_descriptors::target::{ColorBufferInternalFormat, ColorFormat};
use serde_json::Value;

/// Blends the colour in u6 to u9 by the operand in u0 and u1.
const BLEND: &str = "
    MOV.i32 r0, u6
    MOV.i32 r1, u7
    MOV.i32 r2, u8
    MOV.i32 r3, u9
    BLEND.slot0.v4.f32.end @r0:r1:r2:r3, u0, r60, target:0x0";

/// Fixed function on target 0, whose memory is RGBA8.
const OPERAND: [u32; 2] = [0x1a, 0x0e_d000];

#[test]
fn equations_blend_as_every_vector() {
    for vector in list(SECOND, "blend_words") {
        let equation = bits(&vector["w1"]);
        assert_eq!(
            blended(&vector, Some(equation)),
            wanted(&vector),
            "{vector}"
        );
    }
}

/// Code of C for a factor, and whether it is inverted.
fn factor(name: &str) -> (u32, bool) {
    let inverted = name == "one" || name.starts_with("1-");
    let code = match name.trim_start_matches("1-") {
        "zero" | "one" => 1,
        "src" => 2,
        "dst" => 3,
        "srca" => 5,
        "dsta" => 6,
        "const" => 7,
        other => panic!("no factor {other}"),
    };
    (code, inverted)
}

/// The function of an operator and two factors; `None` where hardware has none (hardware/descriptors.md 21, the table).
fn function(op: &str, source: &str, destination: &str) -> Option<u32> {
    const ZERO: u32 = 1;
    const SRC: u32 = 2;
    const DEST: u32 = 3;
    let (sub, rsub) = match op {
        "add" => (false, false),
        "sub" => (true, false),
        "rsub" => (false, true),
        _ => return None,
    };
    let word = |a: u32, negate_a: bool, b: u32, negate_b: bool, c: (u32, bool)| {
        Some(
            a | u32::from(negate_a) << 3
                | b << 4
                | u32::from(negate_b) << 7
                | c.0 << 8
                | u32::from(c.1) << 11,
        )
    };
    let (s, d) = (factor(source), factor(destination));
    let inverse = s.0 == d.0 && s.1 != d.1;
    match (source, destination) {
        ("zero", _) => word(ZERO, false, 3, sub, d),
        ("one", _) => word(SRC, rsub, 3, sub, d),
        (_, "zero") => word(ZERO, false, 2, rsub, s),
        (_, "one") => word(DEST, sub, 2, rsub, s),
        _ if s == d => word(ZERO, false, u32::from(!(sub || rsub)), rsub, s),
        ("dst", "src") if op == "add" => word(ZERO, false, 3, false, (4, false)),
        _ if inverse => word(DEST, sub, u32::from(sub || rsub), rsub, s),
        _ => None,
    }
}

/// What a factor is of component `index`, in `register`. Sources are r0 to r3, what the tile holds r4 to r7, the constant u11,
/// 1 is u12.
fn factor_text(name: &str, index: usize, register: &str) -> String {
    let base = match name.trim_start_matches("1-") {
        "zero" => return format!("MOV.i32 {register}, 0x0"),
        "one" => return format!("MOV.i32 {register}, u12"),
        "src" => format!("r{index}"),
        "dst" => format!("r{}", 4 + index),
        "srca" => "r3".to_string(),
        "dsta" => "r7".to_string(),
        "const" => "r9".to_string(),
        other => panic!("no factor {other}"),
    };
    if name.starts_with("1-") {
        format!("FADD.f32 {register}, u12, {base}.neg")
    } else {
        format!("MOV.i32 {register}, {base}")
    }
}

/// A program that blends the colour in u6 to u9 into what the tile holds, as blend shaders do; u10 names the own pixel.
fn program(vector: &Value) -> String {
    let text = |name: &str| vector[name].as_str().expect("a name");
    let component = |index: usize| {
        let (source, old, result) = (index, 4 + index, 12 + index);
        let sum = match text("op") {
            "min" => return format!("FMIN.f32 r{result}, r{source}, r{old}"),
            "max" => return format!("FMAX.f32 r{result}, r{source}, r{old}"),
            "add" => format!("FMA.f32 r{result}, r{old}, r11, r10"),
            "sub" => format!("FMA.f32 r{result}, r{old}.neg, r11, r10"),
            "rsub" => format!("FMA.f32 r{result}, r{old}, r11, r10.neg"),
            other => panic!("no operation {other}"),
        };
        let factors = [("src_factor", "r10"), ("dst_factor", "r11")];
        let [one, other] = factors.map(|(name, register)| factor_text(text(name), index, register));
        format!("{one}\n{other}\nFMA.f32 r10, r{source}, r10, 0x0.neg\n{sum}")
    };
    let components: Vec<String> = (0..4).map(component).collect();
    format!(
        "MOV.i32 r0, u6
        MOV.i32 r1, u7
        MOV.i32 r2, u8
        MOV.i32 r3, u9
        MOV.i32 r9, u11
        MOV.i32 r8, u10
        NOP.wait
        LD_TILE.v4.f32.slot0.wait0 @r4:r5:r6:r7, r8, r60, u1
        {}
        BLEND.slot0.v4.f32.end @r12:r13:r14:r15, u0, r60, target:0x0",
        components.join("\n")
    )
}

/// What a target of RGBA8 holds after a draw of a vector's colour, by an equation or by a program that knows none.
#[track_caller]
fn blended(vector: &Value, equation: Option<u32>) -> [u8; 4] {
    let four = |name: &str| [0, 1, 2, 3].map(|index| vector[name][index].clone());
    let source = four("src").map(|value| float(&value).to_bits());
    let old = four("dst").map(|value| number(&value) as u8);
    let constant = float(&vector["constant"]);
    // Left-justified in 16 bits, as the driver computes it for components of 8 bits.
    let field = (f64::from(constant) * f64::from(255 << 8)) as u32;
    let [fixed, format] = OPERAND;
    // Opaque, where the program has blended.
    let mode = if equation.is_some() { fixed } else { 0x19 };
    let own_pixel = 0xff00_0000;
    let rest = [own_pixel, constant.to_bits(), 1.0_f32.to_bits(), 0];
    let text: &'static str = match equation {
        Some(_) => BLEND,
        None => Box::leak(program(vector).into_boxed_str()),
    };
    let pass = Pass {
        uniforms: [&[mode, format, 0, 0, 0, 0][..], &source, &rest].concat(),
        draws: vec![Rectangle {
            program: text,
            ..Rectangle::default()
        }],
        colour: Colour {
            internal: ColorBufferInternalFormat::R8G8B8A8,
            format: ColorFormat::R8G8B8A8,
            clear: u32::from_le_bytes(old),
            blend: [
                1 << 9 | 1 | field << 16,
                equation.unwrap_or(0),
                mode,
                format,
            ],
            ..Colour::default()
        },
        ..Pass::default()
    };
    pass.run().colour([3, 5], 0, 0).to_le_bytes()
}

fn wanted(vector: &Value) -> [u8; 4] {
    [0, 1, 2, 3].map(|index| number(&vector["result"][index]) as u8)
}

#[test]
fn every_pair_of_factors_blends_as_the_vectors_say() {
    let mut fixed = 0;
    for vector in list(FIRST, "blend_rgba8") {
        let text = |name: &str| vector[name].as_str().expect("a name");
        let function = function(text("op"), text("src_factor"), text("dst_factor"));
        let equation = function.map(|function| 0xf << 28 | function << 12 | function);
        fixed += u32::from(equation.is_some());
        // The vectors allow a difference of 1; their exact values are not near a tie.
        assert_eq!(
            blended(&vector, equation),
            wanted(&vector),
            "{equation:x?}: {vector}"
        );
        // A program can do what hardware can.
        assert_eq!(
            blended(&vector, None),
            wanted(&vector),
            "by a program: {vector}"
        );
    }
    assert!(fixed >= 5, "{fixed} vectors have an equation");
}
