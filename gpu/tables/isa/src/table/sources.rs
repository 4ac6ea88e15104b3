//! Source operands that rows share.
//!
//! A name is the source's letter (A is source 0), `F` if it is a float, its bits, and what may be done to it:
//! `N` neg and abs, `W` float widen, `S` float swizzle, `I` integer widen or swizzle, and others by name.
//! Facts: hardware/valhall-isa.md sections 2 and 7.3.

use crate::arch::{Arch, ArchSet};
use crate::field::Legal;
use crate::row::{SelectField, Source};
use crate::select::SelectTable;
use crate::select_tables::{
    BYTE, BYTE_PAIR, COMBINE, FLOAT16, FLOAT32, HALF, HALF_AS_PAIR, HALF_IN_PAIR, INT8, INT16,
    INT32, INT64, INT64_SECOND, LANE, SHIFT, SHIFT8, SHIFT16, SUBMATRIX,
};

const fn int(index: u8, size: u8) -> Source {
    Source {
        pos: 8 * index,
        size,
        even: false,
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
            select: Some(SelectField {
                pos,
                width,
                table,
                legal: Legal::ANY,
            }),
            ..self
        }
    }

    /// Of the selections that text can say, the hardware takes only these.
    const fn legal(self, legal: Legal) -> Self {
        let select = match self.select {
            Some(select) => Some(SelectField { legal, ..select }),
            None => None,
        };
        Self { select, ..self }
    }

    /// Written as a pair is, although it reads less.
    const fn even(self) -> Self {
        Self { even: true, ..self }
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

/// Every selection, from v11 on; before, the bits are 0.
const SINCE_V11: Legal = Legal::on(ArchSet::since(Arch::V11));
/// Every selection up to v10; from v11 on the bits are 0.
const UNTIL_V10: Legal = Legal::on(ArchSet::until(Arch::V10));
/// The bits are 0, whatever text can say.
const NEVER: Legal = Legal::only(0b1);
/// One of the two halves, which must be named.
const HALVES: Legal = Legal::only(0b11);
/// A part, which must be named: a half, a byte or the low word.
const PARTS: Legal = Legal::only(0b1_1111_1100);
/// Anything but a word of a pair.
const NOT_WORDS: Legal = Legal::only(0b1111_1101);

/// Source operands, a line each.
macro_rules! sources {
    ($($name:ident = $value:expr;)*) => {
        $(pub const $name: Source = $value;)*
    };
}

#[rustfmt::skip]
sources! {
    A8           = int(0, 8);
    B8           = int(1, 8);
    C8           = int(2, 8);
    A16          = int(0, 16);
    B16          = int(1, 16);
    C16          = int(2, 16);
    D16          = int(3, 16);
    A32          = int(0, 32);
    B32          = int(1, 32);
    C32          = int(2, 32);
    D32          = int(3, 32);
    A64          = int(0, 64);
    B32_AT16     = int(1, 32).at16();

    AF16         = float(0, 16);
    BF16         = float(1, 16);
    CF16         = float(2, 16);
    DF16         = float(3, 16);
    AF32         = float(0, 32);
    BF32         = float(1, 32);
    CF32         = float(2, 32);
    DF32         = float(3, 32);

    AF16_N       = float(0, 16).neg_abs();
    BF16_N       = float(1, 16).neg_abs();
    AF32_N       = float(0, 32).neg_abs();
    BF32_N       = float(1, 32).neg_abs();
    CF32_N       = float(2, 32).neg_abs();

    AF32_W       = float(0, 32).narrow(&FLOAT32);
    AF32_N_WV11  = AF32_N_W.legal(SINCE_V11);
    AF32_N_WV10  = AF32_N_W.legal(UNTIL_V10);
    AF32_N_W24   = AF32_N_W.legal(NEVER);
    AF32_N_W     = AF32_N.narrow(&FLOAT32);
    BF32_N_W     = BF32_N.narrow(&FLOAT32);
    CF32_N_W     = CF32_N.narrow(&FLOAT32);
    B32_W        = int(1, 32).narrow(&FLOAT32);

    A16_S        = int(0, 16).narrow(&FLOAT16);
    B16_S        = int(1, 16).narrow(&FLOAT16);
    C16_S        = int(2, 16).narrow(&FLOAT16);
    AF16_S       = float(0, 16).narrow(&FLOAT16);
    AF16_N_S     = AF16_N.narrow(&FLOAT16);
    BF16_N_S     = BF16_N.narrow(&FLOAT16);
    CF16_N_S     = float(2, 16).neg_abs().narrow(&FLOAT16);

    A16_PAIR     = int(0, 16).half(&HALF_AS_PAIR);
    B16_PAIR     = int(1, 16).half(&HALF_AS_PAIR);
    AF16_N_PAIR  = AF16_N.half(&HALF_AS_PAIR);
    AF16_N_HALF2 = AF16_N.narrow(&HALF_IN_PAIR).legal(HALVES);
    AF16_N_HALF  = AF16_N.half(&HALF);
    BF16_N_HALF  = BF16_N.half(&HALF);

    A8_BYTE      = int(0, 8).narrow(&BYTE);
    A8_BYTE_HIGH = int(0, 8).select(38, 2, &BYTE);
    B8_BYTE_HIGH = int(1, 8).select(36, 2, &BYTE);
    A8_BYTES     = int(0, 8).wide(&BYTE_PAIR);

    A8_I         = int(0, 8).wide(&INT8);
    B8_I         = int(1, 8).wide(&INT8);
    A16_I        = int(0, 16).wide(&INT16);
    B16_I        = int(1, 16).wide(&INT16);
    A32_I        = int(0, 32).wide(&INT32);
    A32_IV11     = A32_I.legal(SINCE_V11);
    B32_I        = int(1, 32).wide(&INT32);
    A64_I        = int(0, 64).wide(&INT64);
    B64_I        = int(1, 64).wide(&INT64_SECOND);
    A64_PART     = A64_I.legal(PARTS);
    B64_PART     = B64_I.legal(PARTS);
    A64_SHIFTED  = A64_I.legal(NOT_WORDS);

    B8_SHIFT     = int(1, 8).wide(&SHIFT);
    B8_SHIFT64   = B8_SHIFT.even();
    B8_SHIFT16   = int(1, 8).wide(&SHIFT16);
    B8_SHIFT8    = int(1, 8).wide(&SHIFT8);
    B32_LANE     = int(1, 32).wide(&LANE);
    A32_TEST     = int(0, 32).select(37, 3, &COMBINE);

    A32_MATRIX   = int(0, 32).narrow(&SUBMATRIX).legal(HALVES);
    B32_MATRIX   = int(1, 32).narrow(&SUBMATRIX).legal(HALVES);
    B32_MATRIX2  = int(1, 32).narrow(&SUBMATRIX).legal(Legal::only(0b100));

    C8_NOT       = int(2, 8).not();
    C16_NOT      = int(2, 16).not();
    C32_NOT      = int(2, 32).not();
    C64_NOT      = int(2, 64).not();
}
