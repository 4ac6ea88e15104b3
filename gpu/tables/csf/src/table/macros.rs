//! The macros that turn rows into constants: `fields!`, `registers!`, `values!`.

/// Fields of one register layout: a module with one constant a field, and the rows for tables.
///
/// `HIGH:LOW NAME: TYPE "about";` or `BIT NAME: TYPE "about";`, lowest first; `also` introduces other readings.
macro_rules! fields {
    (@low $high:literal) => { $high };
    (@low $high:literal $low:literal) => { $low };
    ($($(#[$doc:meta])* $module:ident {
        $($high:literal $(: $low:literal)? $name:ident : $type:ty = $about:literal;)*
        $(also $($high2:literal $(: $low2:literal)? $name2:ident : $type2:ty = $about2:literal;)*)?
    })*) => {$(
        $(#[$doc])*
        #[allow(unused_imports, reason = "not every layout has a field of every type")]
        pub mod $module {
            use super::*;
            use $crate::table::{Event, Field, FieldRow, Level, Toggle};
            $(
                #[doc = $about]
                pub const $name: Field<$type> =
                    Field::new(stringify!($name), $high, fields!(@low $high $($low)?), $about);
            )*
            $($(
                #[doc = $about2]
                pub const $name2: Field<$type2> =
                    Field::new(stringify!($name2), $high2, fields!(@low $high2 $($low2)?), $about2);
            )*)?
            /// The rows of this layout, lowest bit first.
            pub const FIELDS: &[FieldRow] = &[$($name.row()),*];
            /// Other readings of the same bits.
            pub const ALSO: &[FieldRow] = &[$($($name2.row()),*)?];
        }
    )*};
}

/// One block of registers: a constant a row, and the block with all of them.
macro_rules! registers {
    (@fields -) => { &[] };
    (@fields $module:ident) => { $module::FIELDS };
    (@also -) => { &[] };
    (@also $module:ident) => { $module::ALSO };
    (@count) => { (1, 0) };
    (@count $count:literal $stride:literal) => { ($count, $stride) };
    (
        $(#[$doc:meta])*
        block $block:ident $place:ident $base:literal = $block_about:literal;
        $($offset:literal $name:ident $([$count:literal; $stride:literal])? $bits:literal $access:ident $since:ident
          $mark:ident $fields:tt $about:literal;)*
    ) => {
        $(
            #[doc = $about]
            pub const $name: $crate::table::Register = $crate::table::Register {
                name: stringify!($name),
                offset: $base + $offset,
                width: $crate::table::Width::from_bits($bits),
                access: $crate::table::Access::$access,
                since: $crate::table::since::$since,
                mark: $crate::table::Mark::$mark,
                count: { let (count, _): (u32, u32) = registers!(@count $($count $stride)?); count },
                stride: { let (_, stride): (u32, u32) = registers!(@count $($count $stride)?); stride },
                fields: if $crate::table::TEXT { registers!(@fields $fields) } else { &[] },
                also: if $crate::table::TEXT { registers!(@also $fields) } else { &[] },
                about: $crate::table::kept($about),
            };
        )*
        $(#[$doc])*
        pub static $block: $crate::table::Block = $crate::table::Block {
            name: stringify!($block),
            place: $crate::table::Place::$place,
            registers: &[$($name),*],
            about: $crate::table::kept($block_about),
        };
        const _: () = $crate::table::check_registers(&[$($name),*]);
    };
}

/// An enumeration whose numbers, names and texts stand in one place.
macro_rules! values {
    ($($(#[$doc:meta])* $name:ident $(: $role:ident)? { $($number:literal $value:ident $about:literal;)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $(#[doc = $about] $value = $number,)*
        }

        impl $name {
            /// The value with this number, if there is one.
            pub const fn from_number(number: u64) -> Option<$name> {
                match number {
                    $($number => Some($name::$value),)*
                    _ => None,
                }
            }

            /// Its number.
            pub const fn number(self) -> u32 {
                self as u32
            }

            /// What it means.
            pub const fn about(self) -> &'static str {
                match self {
                    $($name::$value => $about,)*
                }
            }
        }

        impl $crate::table::FieldType for $name {
            type Read = Option<$name>;
            const VALUES: &'static [$crate::table::Value] = &[
                $($crate::table::Value { number: $number, name: stringify!($value), about: $about },)*
            ];
            $(const ROLE: $crate::table::Role = $crate::table::Role::$role;)?
            fn from_bits(bits: u64) -> Option<$name> {
                $name::from_number(bits)
            }
            fn to_bits(self) -> u64 {
                self as u64
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Debug::fmt(self, f)
            }
        }
    )*};
}

pub(crate) use {fields, registers, values};
