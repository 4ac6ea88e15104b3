//! Packing and unpacking of small normalised and half-precision numbers.
use rspirv::spirv::GlslStd450Op as Glsl;

use crate::ir::{Alu, Builder, Value};

/// Small numbers in a word.
struct Format {
    count: usize,
    bits: u32,
    /// What 1.0 is stored as.
    one: f32,
    signed: bool,
}

#[rustfmt::skip]
fn format(glsl: Glsl) -> Option<Format> {
    Some(match glsl {
        Glsl::PackSnorm4x8  | Glsl::UnpackSnorm4x8  => Format { count: 4, bits: 8,  one: 127.0,   signed: true },
        Glsl::PackUnorm4x8  | Glsl::UnpackUnorm4x8  => Format { count: 4, bits: 8,  one: 255.0,   signed: false },
        Glsl::PackSnorm2x16 | Glsl::UnpackSnorm2x16 => Format { count: 2, bits: 16, one: 32767.0, signed: true },
        Glsl::PackUnorm2x16 | Glsl::UnpackUnorm2x16 => Format { count: 2, bits: 16, one: 65535.0, signed: false },
        _ => return None,
    })
}

/// Packs a vector or unpacks a word; none if the number of components is wrong.
pub(super) fn convert(b: &mut Builder<'_>, glsl: Glsl, operand: &[Value]) -> Option<Vec<Value>> {
    match (glsl, operand) {
        (Glsl::PackHalf2x16, [low, high]) => Some(vec![b.alu(Alu::PackHalf, &[*low, *high])]),
        (Glsl::UnpackHalf2x16, [word]) => Some(vec![
            b.alu(Alu::HalfLow, &[*word]),
            b.alu(Alu::HalfHigh, &[*word]),
        ]),
        (Glsl::PackHalf2x16 | Glsl::UnpackHalf2x16, _) => None,
        (
            Glsl::UnpackSnorm4x8
            | Glsl::UnpackUnorm4x8
            | Glsl::UnpackSnorm2x16
            | Glsl::UnpackUnorm2x16,
            [word],
        ) => Some(unpack(b, &format(glsl)?, *word)),
        (_, parts) => {
            let format = format(glsl)?;
            (parts.len() == format.count).then(|| vec![pack(b, &format, parts)])
        }
    }
}

fn pack(b: &mut Builder<'_>, format: &Format, parts: &[Value]) -> Value {
    let mut word = None;
    for (number, part) in parts.iter().enumerate() {
        let clamped = if format.signed {
            let raised = b.alu_float(Alu::FMax, *part, -1.0);
            b.alu_float(Alu::FMin, raised, 1.0)
        } else {
            b.alu(Alu::FSat, &[*part])
        };
        let scaled = b.alu_float(Alu::FMul, clamped, format.one);
        let rounded = b.alu(Alu::FRoundEven, &[scaled]);
        let integer = if format.signed {
            let integer = b.alu(Alu::F2I, &[rounded]);
            b.alu_word(Alu::IAnd, integer, (1 << format.bits) - 1)
        } else {
            b.alu(Alu::F2U, &[rounded])
        };
        let placed = match number as u32 * format.bits {
            0 => integer,
            shift => b.alu_word(Alu::IShl, integer, shift),
        };
        word = Some(match word {
            None => placed,
            Some(word) => b.alu(Alu::IOr, &[word, placed]),
        });
    }
    word.unwrap_or_else(|| b.word(0))
}

fn unpack(b: &mut Builder<'_>, format: &Format, word: Value) -> Vec<Value> {
    (0..format.count as u32)
        .map(|number| {
            let (offset, bits) = (b.word(number * format.bits), b.word(format.bits));
            if format.signed {
                let integer = b.alu(Alu::SBitExtract, &[word, offset, bits]);
                let value = b.alu(Alu::I2F, &[integer]);
                let scaled = b.alu_float(Alu::FMul, value, 1.0 / format.one);
                // The least integer lies below -1.
                b.alu_float(Alu::FMax, scaled, -1.0)
            } else {
                let integer = b.alu(Alu::UBitExtract, &[word, offset, bits]);
                let value = b.alu(Alu::U2F, &[integer]);
                b.alu_float(Alu::FMul, value, 1.0 / format.one)
            }
        })
        .collect()
}
