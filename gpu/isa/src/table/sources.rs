//! Source operands that rows share.
//!
//! A name is the source's letter (A is source 0), `F` if it is a float, its bits, and what may be done to it:
//! `N` neg and abs, `W` float widen, `S` float swizzle, `I` integer widen or swizzle, and others by name.
//! Facts: hardware/valhall-isa.md sections 2 and 7.3.

use crate::row::{SelectField, Source};
use crate::select::SelectTable;
use crate::select_tables::{
    BYTE, BYTE_PAIR, COMBINE, FLOAT16, FLOAT32, HALF, HALF_AS_PAIR, INT8, INT16, INT32, INT64,
    INT64_SECOND, LANE, SHIFT, SHIFT8, SHIFT16,
};

const fn int(index: u8, size: u8) -> Source {
    Source {
        pos: 8 * index,
        size,
        float: false,
        neg: None,
        abs: None,
        not: None,
        select: None,
    }
}

const fn float(index: u8, size: u8) -> Source {
    Source {
        float: true,
        ..int(index, size)
    }
}

impl Source {
    /// Neg and abs: 38 and 39 for source 0, two lower for each further source.
    const fn neg_abs(self) -> Self {
        let index = self.pos / 8;
        Self {
            neg: Some(38 - 2 * index),
            abs: Some(39 - 2 * index),
            ..self
        }
    }

    const fn select(self, pos: u8, width: u8, table: &'static SelectTable) -> Self {
        Self {
            select: Some(SelectField { pos, width, table }),
            ..self
        }
    }

    /// The two-bit selection of floats and bytes: at 28 for source 0, two lower for each further source.
    const fn narrow(self, table: &'static SelectTable) -> Self {
        self.select(28 - self.pos / 4, 2, table)
    }

    /// The one-bit selection of a half, at the same places.
    const fn half(self, table: &'static SelectTable) -> Self {
        self.select(28 - self.pos / 4, 1, table)
    }

    /// The four-bit selection of integers: at 36 for source 0, at 26 for source 1.
    const fn wide(self, table: &'static SelectTable) -> Self {
        self.select(if self.pos == 0 { 36 } else { 26 }, 4, table)
    }

    const fn not(self) -> Self {
        Self {
            not: Some(35),
            ..self
        }
    }

    /// The source that follows a 64-bit address and its gap.
    const fn at16(self) -> Self {
        Self { pos: 16, ..self }
    }
}

pub const A8: Source = int(0, 8);
pub const B8: Source = int(1, 8);
pub const C8: Source = int(2, 8);
pub const A16: Source = int(0, 16);
pub const B16: Source = int(1, 16);
pub const C16: Source = int(2, 16);
pub const D16: Source = int(3, 16);
pub const A32: Source = int(0, 32);
pub const B32: Source = int(1, 32);
pub const C32: Source = int(2, 32);
pub const D32: Source = int(3, 32);
pub const A64: Source = int(0, 64);
pub const B32_AT16: Source = int(1, 32).at16();

pub const AF16: Source = float(0, 16);
pub const BF16: Source = float(1, 16);
pub const CF16: Source = float(2, 16);
pub const DF16: Source = float(3, 16);
pub const AF32: Source = float(0, 32);
pub const BF32: Source = float(1, 32);
pub const CF32: Source = float(2, 32);
pub const DF32: Source = float(3, 32);

pub const AF16_N: Source = float(0, 16).neg_abs();
pub const BF16_N: Source = float(1, 16).neg_abs();
pub const AF32_N: Source = float(0, 32).neg_abs();
pub const BF32_N: Source = float(1, 32).neg_abs();
pub const CF32_N: Source = float(2, 32).neg_abs();

pub const AF32_W: Source = float(0, 32).narrow(&FLOAT32);
pub const AF32_N_W: Source = AF32_N.narrow(&FLOAT32);
pub const BF32_N_W: Source = BF32_N.narrow(&FLOAT32);
pub const CF32_N_W: Source = CF32_N.narrow(&FLOAT32);
pub const B32_W: Source = int(1, 32).narrow(&FLOAT32);

pub const A16_S: Source = int(0, 16).narrow(&FLOAT16);
pub const B16_S: Source = int(1, 16).narrow(&FLOAT16);
pub const C16_S: Source = int(2, 16).narrow(&FLOAT16);
pub const AF16_S: Source = float(0, 16).narrow(&FLOAT16);
pub const AF16_N_S: Source = AF16_N.narrow(&FLOAT16);
pub const BF16_N_S: Source = BF16_N.narrow(&FLOAT16);
pub const CF16_N_S: Source = float(2, 16).neg_abs().narrow(&FLOAT16);

pub const A16_PAIR: Source = int(0, 16).half(&HALF_AS_PAIR);
pub const B16_PAIR: Source = int(1, 16).half(&HALF_AS_PAIR);
pub const AF16_N_PAIR: Source = AF16_N.half(&HALF_AS_PAIR);
pub const AF16_N_HALF: Source = AF16_N.half(&HALF);
pub const BF16_N_HALF: Source = BF16_N.half(&HALF);

pub const A8_BYTE: Source = int(0, 8).narrow(&BYTE);
pub const A8_BYTE_HIGH: Source = int(0, 8).select(38, 2, &BYTE);
pub const B8_BYTE_HIGH: Source = int(1, 8).select(36, 2, &BYTE);
pub const A8_BYTES: Source = int(0, 8).wide(&BYTE_PAIR);

pub const A8_I: Source = int(0, 8).wide(&INT8);
pub const B8_I: Source = int(1, 8).wide(&INT8);
pub const A16_I: Source = int(0, 16).wide(&INT16);
pub const B16_I: Source = int(1, 16).wide(&INT16);
pub const A32_I: Source = int(0, 32).wide(&INT32);
pub const B32_I: Source = int(1, 32).wide(&INT32);
pub const A64_I: Source = int(0, 64).wide(&INT64);
pub const B64_I: Source = int(1, 64).wide(&INT64_SECOND);

pub const B8_SHIFT: Source = int(1, 8).wide(&SHIFT);
pub const B8_SHIFT16: Source = int(1, 8).wide(&SHIFT16);
pub const B8_SHIFT8: Source = int(1, 8).wide(&SHIFT8);
pub const B32_LANE: Source = int(1, 32).wide(&LANE);
pub const A32_TEST: Source = int(0, 32).select(37, 3, &COMBINE);

pub const C8_NOT: Source = int(2, 8).not();
pub const C16_NOT: Source = int(2, 16).not();
pub const C32_NOT: Source = int(2, 32).not();
pub const C64_NOT: Source = int(2, 64).not();
