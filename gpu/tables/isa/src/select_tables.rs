//! The tables of selections: value, meaning, words; one table a kind of source.
//!
//! Facts: hardware/valhall-isa.md sections 7.3, 7.5 (item 10) and 19.2, data/valhall-isa.json `enums`.

use crate::select::{Select, SelectRow, SelectTable};

/// Same word in both dialects.
const fn row(value: u8, select: Select, word: &'static str) -> SelectRow {
    both(value, select, word, word)
}

const fn both(value: u8, select: Select, mesa24: &'static str, mesa26: &'static str) -> SelectRow {
    SelectRow {
        value,
        select,
        mesa24,
        mesa26,
    }
}

const fn table(name: &'static str, rows: &'static [SelectRow]) -> SelectTable {
    SelectTable {
        name,
        rows,
        also_read: &[],
    }
}

/// A 32-bit float source: all of it, or a half converted from f16.
#[rustfmt::skip]
pub static FLOAT32: SelectTable = table("32-bit float widen", &[
    row(0, Select::Identity, ""), row(1, Select::H0, "h0"), row(2, Select::H1, "h1"),
]);

/// A 16-bit float source.
#[rustfmt::skip]
pub static FLOAT16: SelectTable = table("16-bit float swizzle", &[
    row(0, Select::H00, "h00"), row(1, Select::H10, "h10"), row(2, Select::Identity, ""), row(3, Select::H11, "h11"),
]);

/// One half of a source, which must be named.
#[rustfmt::skip]
pub static HALF: SelectTable = table("half", &[row(0, Select::H0, "h0"), row(1, Select::H1, "h1")]);

/// One half of a source that Mesa 24.1 shows as a swizzle of two.
#[rustfmt::skip]
pub static HALF_AS_PAIR: SelectTable = table("half", &[
    both(0, Select::H0, "h00", "h0"), both(1, Select::H1, "h10", "h1"),
]);

/// One half of a source; Mesa 24.1 has a field of two bits for it and can say what no hardware takes.
#[rustfmt::skip]
pub static HALF_IN_PAIR: SelectTable = table("half", &[
    row(0, Select::H0, "h00"), row(1, Select::H1, "h10"), row(2, Select::Identity, ""), row(3, Select::H11, "h11"),
]);

/// The part of a matrix of halves that a lane holds.
#[rustfmt::skip]
pub static SUBMATRIX: SelectTable = table("submatrix", &[
    row(0, Select::F0, "f0"), row(1, Select::F1, "f1"), row(2, Select::Identity, ""),
]);

/// One byte of a source, which must be named.
#[rustfmt::skip]
pub static BYTE: SelectTable = table("byte", &[
    row(0, Select::B0, "b0"), row(1, Select::B1, "b1"), row(2, Select::B2, "b2"), row(3, Select::B3, "b3"),
]);

/// Two bytes of a source, for byte-to-half conversions: first + 4 * second.
#[rustfmt::skip]
pub static BYTE_PAIR: SelectTable = table("pair of bytes", &[
    row( 0, Select::B00, "b00"), row( 1, Select::B10, "b10"), row( 2, Select::B20, "b20"), row( 3, Select::B30, "b30"),
    row( 4, Select::B01, "b01"), row( 5, Select::B11, "b11"), row( 6, Select::B21, "b21"), row( 7, Select::B31, "b31"),
    row( 8, Select::B02, "b02"), row( 9, Select::B12, "b12"), row(10, Select::B22, "b22"), row(11, Select::B32, "b32"),
    row(12, Select::B03, "b03"), row(13, Select::B13, "b13"), row(14, Select::B23, "b23"), row(15, Select::B33, "b33"),
]);

/// A 32-bit integer source.
#[rustfmt::skip]
pub static INT32: SelectTable = table("32-bit widen", &[
    row(0, Select::Identity, ""), row(2, Select::H0, "h0"), row(3, Select::H1, "h1"),
    row(4, Select::B0, "b0"), row(5, Select::B1, "b1"), row(6, Select::B2, "b2"), row(7, Select::B3, "b3"),
]);

/// A 16-bit vector source of integers.
#[rustfmt::skip]
pub static INT16: SelectTable = table("16-bit swizzle", &[
    row( 0, Select::H00, "h00"), row( 1, Select::H10, "h10"), row( 2, Select::Identity, ""), row( 3, Select::H11, "h11"),
    row( 4, Select::B00, "b00"), row( 5, Select::B20, "b20"), row( 6, Select::B02, "b02"), row( 7, Select::B22, "b22"),
    row( 8, Select::B11, "b11"), row( 9, Select::B31, "b31"), row(10, Select::B13, "b13"), row(11, Select::B33, "b33"),
    row(12, Select::B01, "b01"), row(13, Select::B23, "b23"),
]);

/// An 8-bit vector source of integers.
#[rustfmt::skip]
pub static INT8: SelectTable = table("8-bit swizzle", &[
    row( 0, Select::Identity, ""), row( 1, Select::B3210, "b3210"), row( 2, Select::B0101, "b0101"), row( 3, Select::B2323, "b2323"),
    row( 4, Select::B0000, "b0000"), row( 5, Select::B1111, "b1111"), row( 6, Select::B2222, "b2222"), row( 7, Select::B3333, "b3333"),
    row( 8, Select::B2301, "b2301"), row( 9, Select::B1032, "b1032"), row(10, Select::B0011, "b0011"), row(11, Select::B2233, "b2233"),
]);

/// The first source of a 64-bit operation.
#[rustfmt::skip]
pub static INT64: SelectTable = table("64-bit widen", &[
    row(0, Select::Identity, ""), row(2, Select::H0, "h0"), row(3, Select::H1, "h1"),
    row(4, Select::B0, "b0"), row(5, Select::B1, "b1"), row(6, Select::B2, "b2"), row(7, Select::B3, "b3"),
    row(8, Select::W0, "w0"),
]);

/// The second source of a 64-bit operation: it can take the high word too (newer tables).
#[rustfmt::skip]
pub static INT64_SECOND: SelectTable = table("64-bit widen", &[
    row(0, Select::Identity, ""), row(2, Select::H0, "h0"), row(3, Select::H1, "h1"),
    row(4, Select::B0, "b0"), row(5, Select::B1, "b1"), row(6, Select::B2, "b2"), row(7, Select::B3, "b3"),
    row(8, Select::W0, "w0"), row(9, Select::W1, "w1"),
]);

/// The amount of a 32-bit or 64-bit shift: one byte.
#[rustfmt::skip]
pub static SHIFT: SelectTable = SelectTable { name: "shift amount", rows: &[
    row(4, Select::B0, "b00"), row(5, Select::B1, "b11"), row(6, Select::B2, "b22"), row(7, Select::B3, "b33"),
], also_read: &[
    row(4, Select::B0, "b0000"), row(5, Select::B1, "b1111"), row(6, Select::B2, "b2222"), row(7, Select::B3, "b3333"),
] };

/// The amounts of a shift of two halves: a byte each.
#[rustfmt::skip]
pub static SHIFT16: SelectTable = SelectTable { name: "shift amounts", rows: &[
    both( 0, Select::B02, "b02", "reserved"),
    row(4, Select::B00, "b00"), row(5, Select::B11, "b11"), row(6, Select::B22, "b22"), row(7, Select::B33, "b33"),
    both(10, Select::B01, "b01", "reserved"), both(11, Select::B23, "b23", "reserved"),
], also_read: &[
    row(4, Select::B00, "b0000"), row(5, Select::B11, "b1111"), row(6, Select::B22, "b2222"), row(7, Select::B33, "b3333"),
    row(10, Select::B01, "b0011"), row(11, Select::B23, "b2233"),
] };

/// The amounts of a shift of four bytes: the 8-bit swizzle, which Mesa 24.1 prints with the words of 16-bit shifts.
#[rustfmt::skip]
pub static SHIFT8: SelectTable = SelectTable { name: "shift amounts", rows: &[
    both( 0, Select::Identity, "b02", "reserved"),  both( 1, Select::B3210, "b3210", "reserved"),
    both( 2, Select::B0101, "b0101", "reserved"),   both( 3, Select::B2323, "b2323", "reserved"),
    row(4, Select::B0000, "b00"), row(5, Select::B1111, "b11"), row(6, Select::B2222, "b22"), row(7, Select::B3333, "b33"),
    both( 8, Select::B2301, "b2301", "reserved"),   both( 9, Select::B1032, "b1032", "reserved"),
    both(10, Select::B0011, "b01", "reserved"),     both(11, Select::B2233, "b23", "reserved"),
], also_read: &[
    row( 0, Select::Identity, "b0123"), row(4, Select::B0000, "b0000"), row(5, Select::B1111, "b1111"), row(6, Select::B2222, "b2222"),
    row( 7, Select::B3333, "b3333"), row(10, Select::B0011, "b0011"), row(11, Select::B2233, "b2233"),
] };

/// The lane of CLPER.i32: one byte, with the words of its integer widen in Mesa 24.1.
#[rustfmt::skip]
pub static LANE: SelectTable = table("lane", &[
    both(4, Select::B0, "b0", "b00"), both(5, Select::B1, "b1", "b11"), both(6, Select::B2, "b2", "b22"), both(7, Select::B3, "b3", "b33"),
]);

/// What a branch tests.
#[rustfmt::skip]
pub static COMBINE: SelectTable = table("combine", &[
    row(0, Select::Identity, ""), row(1, Select::H0, "h0"), row(2, Select::H1, "h1"), row(3, Select::And, "and"), row(4, Select::LowBits, "lowbits"),
]);
