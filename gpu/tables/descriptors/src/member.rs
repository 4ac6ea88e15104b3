//! Members: what a field of a typed structure can be, and how it meets its row.

use crate::arch::Arch;
use crate::error::{FieldError, FieldProblem};
use crate::row::{Kind, Row};
use crate::words::{bits, or_bits};

/// A type that a field can have.
pub trait Member: Copy + PartialEq {
    /// What the field's row says of it.
    const KIND: Kind;

    /// The row's default.
    fn initial(row: &Row) -> Self;

    /// ORs the value into the words of the outermost structure, which starts `base` bits before the row's own.
    ///
    /// # Errors
    /// When the row can't take the value.
    fn pack(self, row: &Row, arch: Arch, words: &mut [u32], base: u32) -> Result<(), FieldError>;

    /// Reads the value back.
    ///
    /// # Errors
    /// When the bits mean nothing.
    fn unpack(row: &Row, arch: Arch, words: &[u32], base: u32) -> Result<Self, FieldError>;
}

#[inline(always)]
fn pack_number(value: u64, row: &Row, words: &mut [u32], base: u32) -> Result<(), FieldError> {
    or_bits(words, base + row.start, row.width, row.store(value)?);
    Ok(())
}

#[inline]
fn unpack_number(row: &Row, words: &[u32], base: u32) -> Result<u64, FieldError> {
    row.load(bits(words, base + row.start, row.width))
}

/// Members that are numbers with nothing particular about them.
macro_rules! plain_members {
    ($($type:ty, $kind:ident, $to:expr, $from:expr;)*) => { $(
        impl Member for $type {
            const KIND: Kind = Kind::$kind;

            #[inline]
            fn initial(row: &Row) -> Self {
                $from(row.default)
            }

            #[inline(always)]
            fn pack(self, row: &Row, _: Arch, words: &mut [u32], base: u32) -> Result<(), FieldError> {
                pack_number($to(self), row, words, base)
            }

            #[inline]
            fn unpack(row: &Row, _: Arch, words: &[u32], base: u32) -> Result<Self, FieldError> {
                Ok($from(unpack_number(row, words, base)?))
            }
        }
    )* };
}

#[rustfmt::skip]
plain_members! {
    u64,         Uint,        |value| value,                            |raw| raw;
    bool,        Bool,        |value| value as u64,                     |raw| raw != 0;
    f32,         Float,       |value: f32| value.to_bits() as u64,      |raw| f32::from_bits(raw as u32);
    Address,     Address,     |value: Address| value.0,                 Address;
    RawOrFloat,  UintOrFloat, |value: RawOrFloat| value.0 as u64,       |raw| RawOrFloat(raw as u32);
    PixelFormat, PixelFormat, |value: PixelFormat| value.0 as u64,      |raw| PixelFormat(raw as u32);
    Swizzle,     Swizzle,     |value: Swizzle| value.0 as u64,          |raw| Swizzle(raw as u16);
}

impl Member for u32 {
    const KIND: Kind = Kind::Uint;

    #[inline]
    fn initial(row: &Row) -> u32 {
        row.default as u32
    }

    #[inline(always)]
    fn pack(self, row: &Row, _: Arch, words: &mut [u32], base: u32) -> Result<(), FieldError> {
        pack_number(self.into(), row, words, base)
    }

    #[inline]
    fn unpack(row: &Row, _: Arch, words: &[u32], base: u32) -> Result<u32, FieldError> {
        let stored = bits(words, base + row.start, row.width);
        // A modifier can make more of a narrow field than 32 bits hold.
        let value = row.load(stored)?;
        u32::try_from(value).map_err(|_| row.problem(FieldProblem::NoMeaning { stored }))
    }
}

impl Member for i32 {
    const KIND: Kind = Kind::Int;

    #[inline]
    fn initial(row: &Row) -> i32 {
        sign_extend(row.default, row.width) as i32
    }

    #[inline(always)]
    fn pack(self, row: &Row, _: Arch, words: &mut [u32], base: u32) -> Result<(), FieldError> {
        let stored = store_signed(row, self.into())?;
        or_bits(words, base + row.start, row.width, stored);
        Ok(())
    }

    #[inline]
    fn unpack(row: &Row, _: Arch, words: &[u32], base: u32) -> Result<i32, FieldError> {
        Ok(sign_extend(bits(words, base + row.start, row.width), row.width) as i32)
    }
}

/// A signed number in the bits of a row.
pub(crate) fn store_signed(row: &Row, value: i64) -> Result<u64, FieldError> {
    let stored = (value as u64) & row.mask();
    match sign_extend(stored, row.width) == value {
        true => Ok(stored),
        false => {
            let width = row.width;
            Err(row.problem(FieldProblem::OutOfRange { value, width }))
        }
    }
}

/// The number that `width` bits in two's complement mean.
pub(crate) fn sign_extend(stored: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    ((stored << unused) as i64) >> unused
}

/// A GPU virtual address; 0 is none. Its field says how many bits it has, and its row which alignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u64);

/// 32 bits whose meaning depends on their use: an integer, or a binary32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RawOrFloat(pub u32);

/// A GPU virtual address that is a multiple of `ALIGN` bytes; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Aligned<const ALIGN: u64>(u64);

impl<const ALIGN: u64> Aligned<ALIGN> {
    /// No address.
    pub const NULL: Aligned<ALIGN> = Aligned(0);

    /// The address; `None` if it is not aligned.
    pub const fn new(address: u64) -> Option<Aligned<ALIGN>> {
        if address.is_multiple_of(ALIGN) {
            Some(Aligned(address))
        } else {
            None
        }
    }

    /// The address as a number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl<const ALIGN: u64> From<Aligned<ALIGN>> for Address {
    fn from(address: Aligned<ALIGN>) -> Address {
        Address(address.0)
    }
}

impl<const ALIGN: u64> Member for Aligned<ALIGN> {
    const KIND: Kind = Kind::Address;

    #[inline]
    fn initial(row: &Row) -> Self {
        Aligned(row.default)
    }

    #[inline(always)]
    fn pack(self, row: &Row, _: Arch, words: &mut [u32], base: u32) -> Result<(), FieldError> {
        pack_number(self.0, row, words, base)
    }

    #[inline]
    fn unpack(row: &Row, _: Arch, words: &[u32], base: u32) -> Result<Self, FieldError> {
        let (value, multiple) = (unpack_number(row, words, base)?, ALIGN);
        Aligned::new(value).ok_or(row.problem(FieldProblem::NotMultiple { value, multiple }))
    }
}

/// A field that may be absent: all bits zero. Of an alternative, also one whose bits mean nothing in this view.
impl<T: Member> Member for Option<T> {
    const KIND: Kind = T::KIND;

    #[inline]
    fn initial(_: &Row) -> Self {
        None
    }

    #[inline(always)]
    fn pack(self, row: &Row, arch: Arch, words: &mut [u32], base: u32) -> Result<(), FieldError> {
        self.map_or(Ok(()), |value| value.pack(row, arch, words, base))
    }

    fn unpack(row: &Row, arch: Arch, words: &[u32], base: u32) -> Result<Self, FieldError> {
        let empty =
            |start: u32| bits(words, base + row.start + start, (row.width - start).min(32)) == 0;
        if (0..row.width).step_by(32).all(empty) {
            return Ok(None);
        }
        match T::unpack(row, arch, words, base) {
            Ok(value) => Ok(Some(value)),
            Err(_) if row.alternative => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A 22-bit pixel format: component order, format code, sRGB (hardware/descriptors.md 10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PixelFormat(pub u32);

/// Four selectors of 3 bits, for R, G, B and A from bit 0 up: 0 to 3 a component, 4 zero, 5 one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Swizzle(pub u16);

impl Swizzle {
    /// R, G, B, A.
    pub const IDENTITY: Swizzle = Swizzle(3 << 9 | 2 << 6 | 1 << 3);
}

/// A level of detail of at least 0: fixed point with 8 fraction bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ulod(pub f32);

/// A level of detail of either sign: fixed point with 8 fraction bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slod(pub f32);

/// Fixed point with 8 fraction bits, clamped to the field, half away from zero (hardware/descriptors.md 1.1).
pub(crate) fn store_lod(row: &Row, value: f64, signed: bool) -> u64 {
    let (low, high) = match signed {
        true => (-(1i64 << (row.width - 1)), (1i64 << (row.width - 1)) - 1),
        false => (0, (1i64 << row.width) - 1),
    };
    let scaled = value * 256.0;
    let away = if scaled < 0.0 {
        scaled - 0.5
    } else {
        scaled + 0.5
    };
    // A cast to integer truncates, saturates, and turns NaN into 0.
    ((away as i64).max(low).min(high) as u64) & row.mask()
}

pub(crate) fn load_lod(row: &Row, stored: u64, signed: bool) -> f64 {
    let number = if signed {
        sign_extend(stored, row.width)
    } else {
        stored as i64
    };
    number as f64 / 256.0
}

macro_rules! lod_members {
    ($($type:ident, $kind:ident, $signed:literal;)*) => { $(
        impl Member for $type {
            const KIND: Kind = Kind::$kind;

            fn initial(row: &Row) -> Self {
                $type(load_lod(row, row.default, $signed) as f32)
            }

            fn pack(self, row: &Row, _: Arch, words: &mut [u32], base: u32) -> Result<(), FieldError> {
                let stored = store_lod(row, self.0.into(), $signed);
                or_bits(words, base + row.start, row.width, stored);
                Ok(())
            }

            fn unpack(row: &Row, _: Arch, words: &[u32], base: u32) -> Result<Self, FieldError> {
                let stored = bits(words, base + row.start, row.width);
                Ok($type(load_lod(row, stored, $signed) as f32))
            }
        }
    )* };
}

lod_members! {
    Ulod, Ulod, false;
    Slod, Slod, true;
}
