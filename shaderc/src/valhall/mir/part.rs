//! Parts of registers: all of one, a half or a byte of it.
//!
//! Facts: hardware/valhall-isa.md 3 (halves are written alone), 7.3 (selections), 11 (lanes of loads and stores).

use std::fmt;

use eitri_isa::{Lanes, Select};

/// Bytes of a register, which are the units of allocation.
pub(crate) const REGISTER_BYTES: usize = 4;

/// How much of a register a value takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Width {
    /// 8 bits, that a load put there.
    Byte,
    /// 16 bits.
    Half,
    /// All 32 bits.
    #[default]
    Word,
}

impl Width {
    /// How many bytes.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Width::Byte => 1,
            Width::Half => 2,
            Width::Word => REGISTER_BYTES,
        }
    }
}

/// A part of a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Part {
    width: Width,
    /// Its first byte, a multiple of its bytes.
    byte: u8,
}

impl Part {
    /// All of it.
    pub(crate) const WHOLE: Part = Part {
        width: Width::Word,
        byte: 0,
    };

    /// What begins at a byte; none if nothing so wide does.
    pub(crate) fn new(width: Width, byte: usize) -> Option<Part> {
        let fits = byte < REGISTER_BYTES && byte.is_multiple_of(width.bytes());
        fits.then_some(Part {
            width,
            byte: byte as u8,
        })
    }

    /// All of a width.
    pub(crate) fn of_width(width: Width) -> impl Iterator<Item = Part> {
        (0..REGISTER_BYTES).filter_map(move |byte| Part::new(width, byte))
    }

    pub(crate) const fn width(self) -> Width {
        self.width
    }

    /// Its first byte.
    pub(crate) const fn byte(self) -> usize {
        self.byte as usize
    }

    /// What selects from it what `select` does from a word whose lowest part it is; none of what it has not.
    pub(crate) fn select(self, select: Select) -> Option<Select> {
        const HALVES: [(Select, Select); 2] =
            [(Select::H0, Select::H00), (Select::H1, Select::H11)];
        const BYTES: [(Select, Select); 4] = [
            (Select::B0, Select::B00),
            (Select::B1, Select::B11),
            (Select::B2, Select::B22),
            (Select::B3, Select::B33),
        ];
        let bytes = self.width.bytes();
        // The number in the register of what is number `inner` in the part, of things so many bytes long.
        let place = |inner: u8, size: usize| {
            let inner = usize::from(inner);
            ((inner + 1) * size <= bytes).then_some(inner + self.byte() / size)
        };
        match select.lanes() {
            _ if self == Part::WHOLE => Some(select),
            Lanes::Half(half) => Some(HALVES[place(half, 2)?].0),
            Lanes::Halves([one, other]) if one == other => Some(HALVES[place(one, 2)?].1),
            Lanes::Byte(byte) => Some(BYTES[place(byte, 1)?].0),
            Lanes::Bytes2([one, other]) if one == other => Some(BYTES[place(one, 1)?].1),
            _ => None,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.width {
            Width::Word => Ok(()),
            Width::Half => write!(f, "h{}", self.byte() / Width::Half.bytes()),
            Width::Byte => write!(f, "b{}", self.byte()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, Select, Width};

    #[test]
    fn what_is_selected_from_a_part_is_where_it_lies() {
        let cases = [
            (Width::Half, 2, Select::H0, Some(Select::H1)),
            (Width::Half, 2, Select::H00, Some(Select::H11)),
            (Width::Half, 2, Select::B0, Some(Select::B2)),
            (Width::Half, 2, Select::B11, Some(Select::B33)),
            (Width::Half, 0, Select::B1, Some(Select::B1)),
            (Width::Half, 0, Select::H1, None),
            (Width::Half, 0, Select::Identity, None),
            (Width::Half, 2, Select::H10, None),
            (Width::Half, 0, Select::B2, None),
            (Width::Byte, 3, Select::B0, Some(Select::B3)),
            (Width::Byte, 1, Select::B00, Some(Select::B11)),
            (Width::Byte, 0, Select::B1, None),
            (Width::Byte, 0, Select::H0, None),
            (Width::Word, 0, Select::H10, Some(Select::H10)),
        ];
        for (width, byte, select, expected) in cases {
            let part = Part::new(width, byte).expect("it is aligned");
            assert_eq!(part.select(select), expected, "{select:?} of {part}");
        }
    }

    #[test]
    fn parts_are_aligned() {
        assert_eq!(Part::new(Width::Half, 1), None);
        assert_eq!(Part::new(Width::Word, 2), None);
        assert_eq!(Part::new(Width::Byte, 4), None);
        let texts = |width| Part::of_width(width).map(|part| part.to_string());
        assert_eq!(texts(Width::Half).collect::<Vec<_>>(), ["h0", "h1"]);
        assert_eq!(
            texts(Width::Byte).collect::<Vec<_>>(),
            ["b0", "b1", "b2", "b3"]
        );
    }
}
