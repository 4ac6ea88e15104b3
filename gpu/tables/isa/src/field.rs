//! Fields of an instruction word: modifiers and immediates, where they lie and what they may hold.
//!
//! Facts: data/valhall-isa.json `modifiers`, `immediates`, `extended_fields`; hardware/valhall-isa.md sections 5 and 7.

use crate::arch::{Arch, ArchSet};
use crate::values::{FieldId, Flag, Value, Word};

/// Which values the hardware takes, generation by generation. Text may know more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Legal {
    /// The generations that take `values`.
    pub archs: ArchSet,
    /// The values that those take, one bit a value.
    pub values: u16,
    /// The values that all other generations take.
    pub elsewhere: u16,
}

impl Legal {
    /// Every value, everywhere.
    pub const ANY: Self = Self::only(u16::MAX);

    /// These values alone, everywhere.
    pub(crate) const fn only(values: u16) -> Self {
        Self {
            archs: ArchSet::ALL,
            values,
            elsewhere: values,
        }
    }

    /// Any value on `archs`; on others the bits are 0.
    pub(crate) const fn on(archs: ArchSet) -> Self {
        Self {
            archs,
            values: u16::MAX,
            elsewhere: 0b1,
        }
    }

    /// True if hardware of `arch` takes `value`.
    pub const fn allows(&self, value: u8, arch: Arch) -> bool {
        self.on_arch(arch) & (1 << value) != 0
    }

    /// The values that hardware of `arch` takes, one bit a value.
    pub const fn on_arch(&self, arch: Arch) -> u16 {
        if self.archs.contains(arch) {
            self.values
        } else {
            self.elsewhere
        }
    }
}

/// How a modifier is written.
#[derive(Clone, Copy, Debug)]
pub enum Words {
    /// One word if the bit is set.
    Flag(&'static str),
    /// A word a value. The default, if there is one, prints nothing.
    Enum {
        /// The values, ascending.
        words: &'static [Word],
        /// What stands when nothing is written; `None`: it must be written.
        default: Option<u8>,
    },
}

/// In which place of a line a modifier is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// After the mnemonic.
    Head,
    /// After the mnemonic; 26.2 text has it twice, before and after the clamp (a fault of that tool).
    HeadTwiceIn26,
    /// After the mnemonic; 26.2 reads only its two low bits.
    HeadTwoBitsIn26,
    /// After the first source in 24.1 text, with these words by value; not in 26.2 text.
    FirstSourceIn24(&'static [&'static str]),
    /// After the mnemonic; not in 26.2 text.
    NotIn26,
}

/// A modifier: bits of the word with a meaning of their own.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Which modifier it is.
    pub id: FieldId,
    /// Its name, for people.
    pub name: &'static str,
    /// Its lowest bit.
    pub pos: u8,
    /// How many bits it has.
    pub width: u8,
    /// How it is written.
    pub words: Words,
    /// The values that text can say here, one bit a value.
    pub allowed: u16,
    /// The values that the hardware takes.
    pub legal: Legal,
    /// Where it is written.
    pub place: Place,
    /// What people should know about it.
    pub note: &'static str,
}

impl Field {
    /// A modifier with the values of `V`.
    pub(crate) const fn of<V: Value>(name: &'static str, pos: u8, width: u8) -> Self {
        Self::with_words(V::ID, name, pos, width, V::WORDS, V::DEFAULT_VALUE)
    }

    /// A modifier with a table of values of its own.
    pub(crate) const fn with_words(
        id: FieldId,
        name: &'static str,
        pos: u8,
        width: u8,
        words: &'static [Word],
        default: Option<u8>,
    ) -> Self {
        let mut allowed = 0;
        let mut index = 0;
        while index < words.len() {
            allowed |= 1 << words[index].value;
            index += 1;
        }
        Self {
            id,
            name,
            pos,
            width,
            words: Words::Enum { words, default },
            allowed,
            legal: Legal::ANY,
            place: Place::Head,
            note: "",
        }
    }

    /// A modifier of one bit, written with the flag's own word.
    pub(crate) const fn flag(flag: Flag, pos: u8) -> Self {
        let word = flag.word();
        Self {
            id: FieldId::Flag(flag),
            name: word,
            pos,
            width: 1,
            words: Words::Flag(word),
            allowed: 0b11,
            legal: Legal::ANY,
            place: Place::Head,
            note: "",
        }
    }

    /// The same flag, written with another word.
    pub(crate) const fn written(self, word: &'static str) -> Self {
        Self {
            words: Words::Flag(word),
            ..self
        }
    }

    /// The same modifier with only these values, one bit a value: neither text nor hardware knows the others.
    pub(crate) const fn only(self, allowed: u16) -> Self {
        Self {
            allowed: self.allowed & allowed,
            ..self
        }
    }

    /// The same modifier; of the values that text can say, the hardware takes only these.
    pub(crate) const fn legal(self, legal: Legal) -> Self {
        Self { legal, ..self }
    }

    /// The same modifier, which text knows and no hardware has: its bits are 0.
    pub(crate) const fn text_only(self) -> Self {
        self.legal(Legal::only(0b1))
            .note("no hardware has it: write 0")
    }

    /// The same modifier, written elsewhere.
    pub(crate) const fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// The same modifier with a note.
    pub(crate) const fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    /// Its bits in the word.
    pub const fn mask(&self) -> u64 {
        ((1 << self.width) - 1) << self.pos
    }

    /// Its value in a word.
    pub const fn extract(&self, word: u64) -> u8 {
        ((word >> self.pos) & ((1 << self.width) - 1)) as u8
    }

    /// True if it must be written.
    pub const fn is_required(&self) -> bool {
        matches!(self.words, Words::Enum { default: None, .. })
    }

    /// True if text can say `value`.
    pub const fn says(&self, value: u8) -> bool {
        self.allowed & (1 << value) != 0
    }

    /// True if hardware of `arch` takes `value`.
    pub fn allows(&self, value: u8, arch: Arch) -> bool {
        self.says(value)
            && self.legal.allows(value, arch)
            && self
                .word(value)
                .is_none_or(|word| word.archs.contains(arch))
    }

    /// True if hardware of `arch` has the field: it takes more than one value.
    pub fn exists(&self, arch: Arch) -> bool {
        (1..1 << self.width).any(|value| self.allows(value, arch))
    }

    /// The number of an enumerator here, by its tag.
    pub(crate) fn value_of_tag(&self, tag: u8) -> Option<u8> {
        match self.words {
            Words::Flag(_) => None,
            Words::Enum { words, .. } => words
                .iter()
                .find(|word| word.tag == tag)
                .map(|word| word.value),
        }
    }

    /// The row of an enumerated value; `None` for flags and reserved values.
    pub fn word(&self, value: u8) -> Option<&'static Word> {
        match self.words {
            Words::Flag(_) => None,
            Words::Enum { words, .. } => match words.get(value as usize) {
                Some(word) if word.value == value => Some(word),
                _ => words.iter().find(|word| word.value == value),
            },
        }
    }
}

/// Which immediate a field is. At most one immediate of an instruction has each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImmId {
    /// Displacement: bytes, or instructions for a branch.
    Offset,
    /// Index in a table, byte offset of a varying, or which special varying.
    Index,
    /// Descriptor table; 12 to 15 mean the internal tables 60 to 63.
    Table,
    /// Left shift of an address operand.
    Shift,
    /// Instructions that BLEND skips.
    Target,
    /// A 32-bit constant.
    Constant,
}

impl ImmId {
    /// Its name in text; the constant is written `#value` instead.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Offset => "offset",
            Self::Index => "index",
            Self::Table => "table",
            Self::Shift => "shift",
            Self::Target => "target",
            Self::Constant => "constant",
        }
    }
}

/// An immediate operand.
#[derive(Clone, Copy, Debug)]
pub struct Immediate {
    /// Which it is.
    pub id: ImmId,
    /// Its lowest bit.
    pub pos: u8,
    /// How many bits lie there.
    pub width: u8,
    /// True if it is two's complement.
    pub signed: bool,
    /// Its upper bits, if they lie elsewhere: position and width.
    pub upper: Option<(u8, u8)>,
    /// The values that the hardware takes, if not all that fit; only for narrow ones.
    pub legal: Option<Legal>,
}

impl Immediate {
    pub(crate) const fn new(id: ImmId, pos: u8, width: u8) -> Self {
        Self {
            id,
            pos,
            width,
            signed: false,
            upper: None,
            legal: None,
        }
    }

    pub(crate) const fn legal(self, legal: Legal) -> Self {
        Self {
            legal: Some(legal),
            ..self
        }
    }

    pub(crate) const fn signed(self) -> Self {
        Self {
            signed: true,
            ..self
        }
    }

    pub(crate) const fn upper(self, pos: u8, width: u8) -> Self {
        Self {
            upper: Some((pos, width)),
            ..self
        }
    }

    /// Its bits in the word.
    pub const fn mask(&self) -> u64 {
        let low = ((1 << self.width) - 1) << self.pos;
        match self.upper {
            None => low,
            Some((pos, width)) => low | (((1 << width) - 1) << pos),
        }
    }

    /// How many bits it has in all.
    pub const fn bits(&self) -> u8 {
        match self.upper {
            None => self.width,
            Some((_, width)) => self.width + width,
        }
    }

    /// The least and the greatest value.
    pub const fn range(&self) -> (i64, i64) {
        let bits = self.bits();
        if self.signed {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        }
    }

    /// True if hardware of `arch` takes `value`.
    pub fn allows(&self, value: i64, arch: Arch) -> bool {
        match (self.legal, u8::try_from(value)) {
            (None, _) => true,
            (Some(legal), Ok(value @ 0..16)) => legal.allows(value, arch),
            (Some(_), _) => false,
        }
    }

    /// Its value in a word.
    pub const fn extract(&self, word: u64) -> i64 {
        let mut value = (word >> self.pos) & ((1 << self.width) - 1);
        if let Some((pos, width)) = self.upper {
            value |= ((word >> pos) & ((1 << width) - 1)) << self.width;
        }
        if self.signed {
            let unused = 64 - self.bits() as u32;
            ((value << unused) as i64) >> unused
        } else {
            value as i64
        }
    }

    /// The bits of a word that hold `value`; `None` if it is out of range.
    pub const fn insert(&self, value: i64) -> Option<u64> {
        let (least, greatest) = self.range();
        if value < least || value > greatest {
            return None;
        }
        let bits = value as u64;
        let mut word = (bits & ((1 << self.width) - 1)) << self.pos;
        if let Some((pos, width)) = self.upper {
            word |= ((bits >> self.width) & ((1 << width) - 1)) << pos;
        }
        Some(word)
    }
}
