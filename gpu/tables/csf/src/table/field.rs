//! Fields: bits of a register with a name, a type, and names for their numbers.
//!
//! A field's type says what its numbers mean and, in request words, who does what with the bit.
//! Facts: hardware/csf-firmware.md section 11 for the roles of request bits.

use core::marker::PhantomData;

/// What a bit of a request or acknowledge word does (hardware/csf-firmware.md section 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Not a request.
    Plain,
    /// A request by toggling: pending while REQ and ACK differ.
    Toggle,
    /// A level or value: done when ACK equals it.
    Level,
    /// An event by firmware: raised while REQ and ACK differ, acknowledged by copying ACK into REQ.
    Event,
}

/// One named value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The number in the field.
    pub number: u64,
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub about: &'static str,
}

/// A type that a field holds.
pub trait FieldType: Copy {
    /// What reading gives: the type itself, or an `Option` where some numbers have no meaning.
    type Read;
    /// Names of the numbers, if they have names.
    const VALUES: &'static [Value] = &[];
    /// What the bits do in a request word.
    const ROLE: Role = Role::Plain;
    /// The type from the field's bits, shifted down.
    fn from_bits(bits: u64) -> Self::Read;
    /// The field's bits, shifted down.
    fn to_bits(self) -> u64;
}

impl FieldType for u64 {
    type Read = u64;
    fn from_bits(bits: u64) -> u64 {
        bits
    }
    fn to_bits(self) -> u64 {
        self
    }
}

impl FieldType for u32 {
    type Read = u32;
    fn from_bits(bits: u64) -> u32 {
        bits as u32
    }
    fn to_bits(self) -> u64 {
        u64::from(self)
    }
}

impl FieldType for bool {
    type Read = bool;
    fn from_bits(bits: u64) -> bool {
        bits != 0
    }
    fn to_bits(self) -> u64 {
        u64::from(self)
    }
}

macro_rules! request_bit {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub bool);

        impl FieldType for $name {
            type Read = bool;
            const ROLE: Role = Role::$name;
            fn from_bits(bits: u64) -> bool {
                bits != 0
            }
            fn to_bits(self) -> u64 {
                u64::from(self.0)
            }
        }
    )*};
}

request_bit! {
    /// A bit that requests by toggling ([`Role::Toggle`]).
    Toggle
    /// A bit whose value is the request ([`Role::Level`]).
    Level
    /// A bit by which firmware reports an event ([`Role::Event`]).
    Event
}

/// A field of a register: some bits with a name and a type.
#[derive(Debug)]
pub struct Field<T = u64> {
    row: FieldRow,
    holds: PhantomData<T>,
}

/// A field without its type, for tables that hold many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldRow {
    /// Name, upper case.
    pub name: &'static str,
    /// Lowest bit.
    pub low: u8,
    /// Highest bit.
    pub high: u8,
    /// Names of values; empty for plain numbers.
    pub values: &'static [Value],
    /// What it does in a request word.
    pub role: Role,
    /// What it means, with unit.
    pub about: &'static str,
}

impl FieldRow {
    /// The bits of the field in the register.
    pub const fn mask(&self) -> u64 {
        let width = self.high - self.low + 1;
        if width >= 64 {
            u64::MAX
        } else {
            ((1 << width) - 1) << self.low
        }
    }

    /// The field's number in `word`.
    pub const fn raw(&self, word: u64) -> u64 {
        (word & self.mask()) >> self.low
    }

    /// The named value that `word` holds here, if it has a name.
    pub fn value_name(&self, word: u64) -> Option<&'static Value> {
        let number = self.raw(word);
        self.values.iter().find(|value| value.number == number)
    }
}

impl<T: FieldType> Field<T> {
    pub(crate) const fn new(name: &'static str, high: u8, low: u8, about: &'static str) -> Self {
        let (values, role) = (T::VALUES, T::ROLE);
        let row = FieldRow {
            name,
            low,
            high,
            values,
            role,
            about: super::kept(about),
        };
        Field {
            row,
            holds: PhantomData,
        }
    }

    /// The row of this field: name, place, text.
    pub const fn row(&self) -> FieldRow {
        self.row
    }

    /// The bits of the field in the register.
    pub const fn mask(&self) -> u64 {
        self.row.mask()
    }

    /// The bits of the field in a 32-bit register.
    pub const fn mask32(&self) -> u32 {
        self.row.mask() as u32
    }

    /// The field's value in `word`.
    pub fn get(&self, word: impl Into<u64>) -> T::Read {
        T::from_bits(self.row.raw(word.into()))
    }

    /// Whether `value` can be written without losing bits.
    pub fn fits(&self, value: T) -> bool {
        self.row.raw(value.to_bits() << self.row.low) == value.to_bits()
    }

    /// `word` with the field set to `value`, of which bits that do not fit are dropped ([`Field::fits`] tells).
    pub fn set(&self, word: u64, value: T) -> u64 {
        let mask = self.row.mask();
        (word & !mask) | ((value.to_bits() << self.row.low) & mask)
    }

    /// As [`Field::set`], in a 32-bit register.
    pub fn set32(&self, word: u32, value: T) -> u32 {
        self.set(u64::from(word), value) as u32
    }

    /// A 32-bit register with only this field set.
    pub fn word(&self, value: T) -> u32 {
        self.set32(0, value)
    }
}

/// All bits of `fields` that have this role.
pub const fn role_mask(fields: &[FieldRow], role: Role) -> u32 {
    let mut mask = 0;
    let mut i = 0;
    while i < fields.len() {
        if fields[i].role as u8 == role as u8 {
            mask |= fields[i].mask() as u32;
        }
        i += 1;
    }
    mask
}
