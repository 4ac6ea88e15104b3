//! Rows: special functions (category 4).
//!
//! Facts: hardware/ir3-isa.md sections 1, 3, 4 and 16.

use super::fields::{ALU_SRC, DST, DST_CONV, FULL52, JP, REPEAT, SAT, SRC_R, SS, SY, UL};
use super::{EMPTY, ONE, category, reads, writes};
use crate::field::Field;
use crate::layout::{DestWidth, Latency, Layout, SourceWidth, Wide};

/// The opcode: bits 53 to 58.
pub(super) const fn cat4(opcode: u64) -> u64 {
    category(4) | opcode << 53
}

pub(super) const SPECIAL: Layout = Layout {
    text: "{SY}{SS}{JP}{SAT}{REPEAT}{UL}{NAME} {DST_HALF}{DST}, {SRC}",
    fields: &[
        ALU_SRC, DST, REPEAT, SAT, SRC_R, SS, UL, DST_CONV, FULL52, JP, SY,
    ],
    ignored: 0x000f_8000_ffff_0000,
    sources: SourceWidth::ByFull,
    dest: DestWidth::ByConv,
    operands: &[
        reads(Field::Src, ONE, Wide::Source),
        writes(Field::Dst, ONE, Wide::Dest),
    ],
    latency: Latency::Ss,
    ..EMPTY
};

#[rustfmt::skip]
macro_rules! special {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest special
            //instruction name    value      gens layout  ? meaning
            Rcp           "rcp"   cat4(0x00) ALL SPECIAL P "1/a";
            Rsq           "rsq"   cat4(0x01) ALL SPECIAL P "1/sqrt(a)";
            Log2          "log2"  cat4(0x02) ALL SPECIAL P "base-2 logarithm";
            Exp2          "exp2"  cat4(0x03) ALL SPECIAL P "2^a";
            Sin           "sin"   cat4(0x04) ALL SPECIAL P "sine / cosine of a in radians; argument must be reduced to [-pi, pi]";
            Cos           "cos"   cat4(0x05) ALL SPECIAL P "sine / cosine of a in radians; argument must be reduced to [-pi, pi]";
            Sqrt          "sqrt"  cat4(0x06) ALL SPECIAL P "square root";
            Hrsq          "hrsq"  cat4(0x09) ALL SPECIAL P "half-precision variant (half destination) of the same function";
            Hlog2         "hlog2" cat4(0x0a) ALL SPECIAL P "half-precision variant (half destination) of the same function";
            Hexp2         "hexp2" cat4(0x0b) ALL SPECIAL P "half-precision variant (half destination) of the same function";
        }
    };
}
pub(crate) use special;
