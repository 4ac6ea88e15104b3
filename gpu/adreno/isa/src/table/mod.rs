//! The instruction table: one row an encoding, one file a category.
//!
//! A row is, in columns: the instruction, its mnemonic, the bits that tell it, generations, layout, how sure its meaning is
//! (T stated by the tables, P practice of a compiler, I inferred, U unknown), and what it does. What rows share stands once, in
//! layouts: [`crate::layout::Layout`]. Everything else in this crate derives from these rows.
//! Facts: hardware/ir3-isa.md sections 1 and 16; hardware/data/ir3-isa.json.

mod alu2;
mod alu3;
mod barrier;
// One line a field, columns lined up.
#[rustfmt::skip]
mod fields;
mod flow;
mod memory;
mod moves;
mod resource;
mod special;
mod texture;

use crate::field::Field;
use crate::generation::{Gen, Gens};
use crate::layout::{Count, Layout, OperandSpec, Role, Wide};
use crate::layout::{DestWidth, Latency, SourceWidth};
use crate::row::{Certainty, Row};

// Generations, as rows name them.
const ALL: Gens = Gens::ALL;
const A5XX: Gens = Gens::only(Gen::A5xx);
const A6XX: Gens = Gens::only(Gen::A6xx);
const A7XX: Gens = Gens::only(Gen::A7xx);
const A6XX_ON: Gens = Gens::since(Gen::A6xx);

// How sure a meaning is, as rows name it.
const T: Certainty = Certainty::Tables;
const P: Certainty = Certainty::Practice;
const I: Certainty = Certainty::Inferred;
const U: Certainty = Certainty::Unknown;

/// A layout without fields, for others to start from.
const EMPTY: Layout = Layout {
    text: "",
    variants: &[],
    fields: &[],
    indirect: &[],
    zero: 0,
    ignored: 0,
    usual: 0,
    sources: SourceWidth::Full,
    dest: DestWidth::Full,
    tex: None,
    operands: &[],
    latency: Latency::None,
};

/// An operand that is read.
const fn reads(field: Field, count: Count, wide: Wide) -> OperandSpec {
    OperandSpec {
        field,
        role: Role::Read,
        count,
        wide,
        skip: 0,
    }
}

/// An operand that is written.
const fn writes(field: Field, count: Count, wide: Wide) -> OperandSpec {
    OperandSpec {
        role: Role::Write,
        ..reads(field, count, wide)
    }
}

const ONE: Count = Count::Fixed(1);
const PAIR: Count = Count::Fixed(2);

/// The category in bits 61 to 63.
const fn category(number: u64) -> u64 {
    number << 61
}

/// Calls the macro of each family in turn, with the rows gathered so far, then `define!` with all of them.
macro_rules! gather {
    ({ $($rows:tt)* } []) => { define! { $($rows)* } };
    ({ $($rows:tt)* } [$family:ident $($rest:ident)*]) => {
        $family::$family! { gather_next { $($rows)* } [$($rest)*] }
    };
}

macro_rules! gather_next {
    ({ $($rows:tt)* } $rest:tt $module:ident $($family:tt)*) => { gather! { { $($rows)* { $module $($family)* } } $rest } };
}

macro_rules! define {
    ($({ $module:ident $(
        $op:ident $name:literal $bits:ident ($($value:literal),*) $gens:ident $layout:ident $certainty:ident $meaning:literal;
    )* })*) => {
        /// An instruction: one variant a row of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Op {
            $($(#[doc = concat!("`", $name, "`")] $op,)*)*
        }

        impl Op {
            /// Every instruction, category by category.
            pub const ALL: &'static [Self] = &[$($(Self::$op,)*)*];
        }

        /// The table.
        pub(crate) static ROWS: [Row; Op::ALL.len()] = [$($(
            Row {
                op: Op::$op,
                name: $name,
                value: $module::$bits($($value),*),
                gens: $gens,
                layout: &$module::$layout,
                certainty: $certainty,
                meaning: $meaning,
            },
        )*)*];
    };
}

gather! { {} [flow moves alu2 alu3 special texture memory resource barrier] }
