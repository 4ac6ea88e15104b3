//! Rows: one a field, and what they say about encoding a value.
//!
//! Everything derives from these: typed packing, access by name, printing, documentation.
//! Facts: hardware/descriptors.md 1.1.

use crate::arch::{Arch, ArchSet, SUPPORTED};
use crate::error::{FieldError, FieldProblem};

/// What the bits of a field mean.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Unsigned.
    Uint,
    /// Two's complement.
    Int,
    /// One bit.
    Bool,
    /// IEEE binary32.
    Float,
    /// GPU virtual address.
    Address,
    /// A value of an enumeration.
    Enum(&'static EnumTable),
    /// A structure inside this one.
    Struct(&'static Layout),
    /// 32 bits whose meaning depends on their use.
    UintOrFloat,
    /// Unsigned fixed point with 8 fraction bits.
    Ulod,
    /// Signed fixed point with 8 fraction bits.
    Slod,
    /// A 22-bit pixel format.
    PixelFormat,
    /// Four selectors of 3 bits, for R, G, B, A from bit 0 up.
    Swizzle,
}

/// What happens to a value before it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modifier {
    /// Stored as it is.
    Plain,
    /// Stored less this.
    Minus(u64),
    /// Stored shifted right by this; the bits shifted out must be 0.
    Shr(u32),
    /// The logarithm to base 2 is stored; the value is a power of two.
    Log2,
    /// Stored rounded up to a multiple of this.
    Align(u64),
}

/// One field.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name, as the facts spell it.
    pub name: &'static str,
    /// First bit, from bit 0 of byte 0 of the structure.
    pub start: u32,
    /// Bits.
    pub width: u32,
    /// Meaning of the bits.
    pub kind: Kind,
    /// What happens to a value before it is stored.
    pub modifier: Modifier,
    /// The value where nobody says another, before the modifier.
    pub default: u64,
    /// Whether the default is the only legal value: it tells structures apart.
    pub fixed: bool,
    /// Whether it is another view of bits that other fields of the structure have too.
    pub alternative: bool,
    /// Where the field exists.
    pub archs: ArchSet,
    /// Later places: from an architecture on, first bit and width. In order; an unused entry is `None`.
    pub moves: [Option<(Arch, u32, u32)>; 2],
    /// What it means, with units; a phrase without a full stop.
    pub about: &'static str,
}

impl Row {
    /// A plain field of every architecture with default 0.
    pub const fn new(name: &'static str, start: u32, width: u32, kind: Kind) -> Row {
        Row {
            name,
            start,
            width,
            kind,
            modifier: Modifier::Plain,
            default: 0,
            fixed: false,
            alternative: false,
            archs: SUPPORTED,
            moves: [None; 2],
            about: "",
        }
    }

    /// With this meaning.
    pub const fn about(self, about: &'static str) -> Row {
        Row {
            about: kept(about),
            ..self
        }
    }

    /// From `arch` on in these bits instead.
    pub const fn moved(self, arch: Arch, start: u32, width: u32) -> Row {
        let moves = match self.moves {
            [None, _] => [Some((arch, start, width)), None],
            [first, _] => [first, Some((arch, start, width))],
        };
        Row { moves, ..self }
    }

    /// The row as it is in `arch`. Without a loop: of a row that is known when it is compiled nothing is left but a comparison.
    #[inline(always)]
    pub const fn at(&self, arch: Arch) -> Row {
        let [first, second] = self.moves;
        let row = match first {
            Some((since, start, width)) if arch as u8 >= since as u8 => Row {
                start,
                width,
                ..*self
            },
            _ => *self,
        };
        match second {
            Some((since, start, width)) if arch as u8 >= since as u8 => Row {
                start,
                width,
                ..row
            },
            _ => row,
        }
    }

    /// Stored less `amount`.
    pub const fn minus(self, amount: u64) -> Row {
        self.modified(Modifier::Minus(amount))
    }

    /// Stored shifted right by `bits`.
    pub const fn shr(self, bits: u32) -> Row {
        self.modified(Modifier::Shr(bits))
    }

    /// Stored as a logarithm to base 2.
    pub const fn log2(self) -> Row {
        self.modified(Modifier::Log2)
    }

    /// Stored rounded up to a multiple of `bytes`.
    pub const fn align(self, bytes: u64) -> Row {
        self.modified(Modifier::Align(bytes))
    }

    const fn modified(self, modifier: Modifier) -> Row {
        Row { modifier, ..self }
    }

    /// With this default.
    pub const fn default(self, default: u64) -> Row {
        Row { default, ..self }
    }

    /// With this as the only legal value.
    pub const fn fixed(self, default: u64) -> Row {
        Row {
            default,
            fixed: true,
            ..self
        }
    }

    /// As another view of bits that other fields have too. Packing ORs the views.
    pub const fn alternative(self) -> Row {
        Row {
            alternative: true,
            ..self
        }
    }

    /// Only from `arch` on.
    pub const fn since(self, arch: Arch) -> Row {
        let archs = self.archs.and(ArchSet::since(arch));
        Row { archs, ..self }
    }

    /// Only up to `arch`.
    pub const fn until(self, arch: Arch) -> Row {
        let archs = self.archs.and(ArchSet::until(arch));
        Row { archs, ..self }
    }

    /// Not in `arch`.
    pub const fn except(self, arch: Arch) -> Row {
        let archs = self.archs.without(arch);
        Row { archs, ..self }
    }

    /// The largest number that the bits hold.
    #[inline(always)]
    pub const fn mask(&self) -> u64 {
        if self.width >= 64 {
            u64::MAX
        } else {
            (1 << self.width) - 1
        }
    }

    /// The stored form of a value.
    ///
    /// # Errors
    /// A [`FieldError`] when the modifier or the width can't take the value.
    #[inline(always)]
    pub const fn store(&self, value: u64) -> Result<u64, FieldError> {
        let stored = match self.modifier {
            Modifier::Plain => value,
            Modifier::Minus(amount) => match value.checked_sub(amount) {
                Some(stored) => stored,
                None => {
                    return Err(self.problem(FieldProblem::BelowLeast {
                        value,
                        least: amount,
                    }));
                }
            },
            Modifier::Shr(bits) => {
                if value & ((1 << bits) - 1) != 0 {
                    let multiple = 1 << bits;
                    return Err(self.problem(FieldProblem::NotMultiple { value, multiple }));
                }
                value >> bits
            }
            Modifier::Log2 => {
                if !value.is_power_of_two() {
                    return Err(self.problem(FieldProblem::NotPowerOfTwo { value }));
                }
                value.trailing_zeros() as u64
            }
            Modifier::Align(multiple) => match value.checked_next_multiple_of(multiple) {
                Some(stored) => stored,
                None => {
                    return Err(self.problem(FieldProblem::TooLarge {
                        value,
                        most: self.most(),
                    }));
                }
            },
        };
        if self.fixed && value != self.default {
            let only = self.default;
            return Err(self.problem(FieldProblem::NotTheOnlyValue { value, only }));
        }
        if stored > self.mask() {
            return Err(self.problem(FieldProblem::TooLarge {
                value,
                most: self.most(),
            }));
        }
        Ok(stored)
    }

    /// The value of a stored form.
    ///
    /// # Errors
    /// A [`FieldError`] when no value is stored so.
    #[inline]
    pub const fn load(&self, stored: u64) -> Result<u64, FieldError> {
        let value = match self.modifier {
            Modifier::Plain | Modifier::Align(_) => Some(stored),
            Modifier::Minus(amount) => stored.checked_add(amount),
            Modifier::Shr(bits) if stored <= u64::MAX >> bits => Some(stored << bits),
            Modifier::Log2 if stored < 64 => Some(1 << stored),
            Modifier::Shr(_) | Modifier::Log2 => None,
        };
        match value {
            Some(value) if self.fixed && value != self.default => {
                let only = self.default;
                Err(self.problem(FieldProblem::NotTheOnlyValue { value, only }))
            }
            Some(value) => Ok(value),
            None => Err(self.problem(FieldProblem::NoMeaning { stored })),
        }
    }

    /// The largest value that can be stored.
    const fn most(&self) -> u64 {
        match self.modifier {
            Modifier::Minus(amount) => self.mask().saturating_add(amount),
            Modifier::Shr(bits) => self.mask() << bits,
            // A multiple of 0 can't be: without this the compiler keeps a panic for it.
            Modifier::Align(multiple) => match self.mask().checked_rem(multiple) {
                Some(rest) => self.mask().saturating_sub(rest),
                None => self.mask(),
            },
            Modifier::Plain | Modifier::Log2 => self.mask(),
        }
    }

    /// The error for a value of a field that `arch` does not have.
    pub(crate) const fn missing(&self, arch: Arch) -> FieldError {
        self.problem(FieldProblem::NotInArch { arch })
    }

    /// A value that a caller needs to refuse for a reason of its own.
    pub(crate) const fn problem(&self, problem: FieldProblem) -> FieldError {
        FieldError {
            field: self.name,
            problem,
        }
    }
}

/// One structure.
#[derive(Debug)]
pub struct Layout {
    /// Name, as the facts spell it.
    pub name: &'static str,
    /// Bytes of the structure: the first row whose architectures contain the one in question counts.
    pub sizes: &'static [(ArchSet, u32)],
    /// Alignment in bytes to allocate it with; `None` where that of its surroundings is enough, which is at least 4. What a
    /// pointer's tag bits force, which may be less, is in the type of the pointer's field.
    pub align: Option<u32>,
    /// What it is for.
    pub about: &'static str,
    /// The section of hardware/descriptors.md that tells more.
    pub section: &'static str,
    /// Its fields, in the order of their first bits.
    pub rows: &'static [Row],
}

impl Layout {
    /// Bytes in `arch`; `None` where the structure does not exist.
    #[inline(always)]
    pub const fn size(&self, arch: Arch) -> Option<u32> {
        let mut index = 0;
        while index < self.sizes.len() {
            let (archs, bytes) = self.sizes[index];
            if archs.contains(arch) {
                return Some(bytes);
            }
            index += 1;
        }
        None
    }

    /// The fields of `arch`.
    pub fn fields(&self, arch: Arch) -> impl Iterator<Item = Row> + use<> {
        let there = self.rows.iter().filter(move |row| row.archs.contains(arch));
        there.map(move |row| row.at(arch))
    }

    /// The field of that name in `arch`: blanks, `_`, `-` and case don't count.
    pub fn field(&self, arch: Arch, name: &str) -> Option<Row> {
        self.fields(arch).find(|row| same_name(row.name, name))
    }

    /// The bits of 32-bit word `word` that some field of `arch` covers.
    pub fn covered(&self, arch: Arch, word: u32) -> u32 {
        self.fields(arch).fold(0, |bits, row| {
            let inside = match row.kind {
                // A nested structure may have holes of its own.
                Kind::Struct(layout) => nested_cover(layout, arch, &row, word),
                _ => span_in_word(row.start, row.width, word),
            };
            bits | inside
        })
    }
}

fn nested_cover(layout: &Layout, arch: Arch, row: &Row, word: u32) -> u32 {
    let mut bits = 0;
    for inner in layout.fields(arch) {
        let start = row.start + inner.start;
        let end = (start + inner.width).min(row.start + row.width);
        bits |= match inner.kind {
            Kind::Struct(deeper) => {
                let moved = Row { start, ..inner };
                nested_cover(deeper, arch, &moved, word)
            }
            _ => span_in_word(start, end.saturating_sub(start), word),
        };
    }
    bits
}

/// The bits of word `word` that `width` bits from `start` occupy.
pub(crate) fn span_in_word(start: u32, width: u32, word: u32) -> u32 {
    let (low, high) = (word * 32, word * 32 + 32);
    let (from, to) = (start.max(low), (start + width).min(high));
    if from >= to {
        return 0;
    }
    (((1u64 << (to - from)) - 1) << (from - low)) as u32
}

/// One value of an enumeration.
#[derive(Clone, Copy, Debug)]
pub struct EnumRow {
    /// Name, as the facts spell it.
    pub name: &'static str,
    /// Number.
    pub value: u32,
    /// Where it exists.
    pub archs: ArchSet,
}

impl EnumRow {
    /// A value of every architecture.
    pub const fn new(name: &'static str, value: u32) -> EnumRow {
        EnumRow {
            name,
            value,
            archs: SUPPORTED,
        }
    }

    /// Only from `arch` on.
    pub const fn since(self, arch: Arch) -> EnumRow {
        let archs = self.archs.and(ArchSet::since(arch));
        EnumRow { archs, ..self }
    }

    /// Only up to `arch`.
    pub const fn until(self, arch: Arch) -> EnumRow {
        let archs = self.archs.and(ArchSet::until(arch));
        EnumRow { archs, ..self }
    }

    /// Not in `arch`.
    pub const fn except(self, arch: Arch) -> EnumRow {
        let archs = self.archs.without(arch);
        EnumRow { archs, ..self }
    }
}

/// One enumeration.
#[derive(Debug)]
pub struct EnumTable {
    /// Name, as the facts spell it.
    pub name: &'static str,
    /// What it tells.
    pub about: &'static str,
    /// Its values, in order.
    pub rows: &'static [EnumRow],
}

impl EnumTable {
    /// Whether every architecture has all of its values.
    pub(crate) const fn same_everywhere(&self) -> bool {
        let mut index = 0;
        while index < self.rows.len() {
            if self.rows[index].archs.len() != SUPPORTED.len() {
                return false;
            }
            index += 1;
        }
        true
    }

    /// The row of a number in `arch`.
    pub fn of_value(&self, arch: Arch, value: u64) -> Option<&'static EnumRow> {
        self.values(arch).find(|row| u64::from(row.value) == value)
    }

    /// The row of a name in `arch`: blanks, `_`, `-` and case don't count.
    pub fn of_name(&self, arch: Arch, name: &str) -> Option<&'static EnumRow> {
        self.values(arch).find(|row| same_name(row.name, name))
    }

    /// The values of `arch`.
    pub fn values(&self, arch: Arch) -> impl Iterator<Item = &'static EnumRow> + use<> {
        self.rows.iter().filter(move |row| row.archs.contains(arch))
    }
}

/// Whether two names are the same but for case, blanks and punctuation.
pub fn same_name(left: &str, right: &str) -> bool {
    let letters = |text| {
        let kept = str::chars(text).filter(|letter| !matches!(letter, ' ' | '_' | '-' | '/'));
        kept.map(|letter| letter.to_ascii_lowercase())
    };
    letters(left).eq(letters(right))
}

/// A sentence of the tables, or nothing without the feature `text`: a driver does not want them in its image.
pub(crate) const fn kept(text: &'static str) -> &'static str {
    if cfg!(feature = "text") { text } else { "" }
}
