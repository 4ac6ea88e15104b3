//! The macros behind the tables: rows to typed structures and enumerations.

/// One structure: its rows, a typed structure, packing and unpacking.
///
/// A row is `field: Type, "Name", start, width, attributes… => "meaning";`; the attributes are the methods of
/// [`Row`](crate::row::Row).
macro_rules! descriptor {
    (
        $(#[doc = $doc:literal])+
        $type:ident $name:literal, bytes $([$($bytes:tt)*])+, align $align:expr, section $section:literal;
        $( $field:ident: $member:ty, $label:literal, $start:literal, $width:literal
            $(, $attribute:ident($($argument:expr),*))* => $about:literal; )*
    ) => {
        $(#[doc = $doc])+
        #[doc = concat!("\n\nFacts: hardware/descriptors.md ", $section, ".")]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $type {
            $( #[doc = concat!("`", $label, "`, ", stringify!($width), " bits from bit ", stringify!($start), ": ", $about, ".")]
            pub $field: $member, )*
        }

        const _: () = {
            use $crate::arch::Arch;
            use $crate::descriptor::Descriptor;
            use $crate::error::FieldError;
            use $crate::member::Member;
            use $crate::row::{Kind, Layout, Row};

            // Each field's row. Without its meaning, which no code that packs has to carry.
            #[allow(non_upper_case_globals, reason = "named as the fields are")]
            impl $type {
                $( const $field: Row = $crate::table::macros::descriptor!(@row $member, $label, $start, $width $(, $attribute($($argument),*))*); )*
            }

            // A constant, so that sizes and places are known where another crate packs.
            const LAYOUT: &Layout = &Layout {
                name: $name,
                sizes: &[ $( $crate::table::macros::descriptor!(@size $($bytes)*) ),+ ],
                align: $align,
                about: $crate::row::kept(concat!($($doc),+)),
                section: $section,
                rows: &[ $( $type::$field.about($about) ),* ],
            };

            impl Descriptor for $type {
                const LAYOUT: &'static Layout = LAYOUT;

                #[inline(always)]
                #[allow(unused_variables, reason = "a structure may be all padding")]
                fn pack_at(&self, arch: Arch, words: &mut [u32], base: u32) -> Result<(), FieldError> {
                    $(
                        if $type::$field.archs.contains(arch) {
                            self.$field.pack(&$type::$field.at(arch), arch, words, base)?;
                        } else if self.$field != <$member as Member>::initial(&$type::$field) {
                            return Err($type::$field.missing(arch));
                        }
                    )*
                    Ok(())
                }

                #[allow(unused_variables, reason = "a structure may be all padding")]
                fn unpack_at(arch: Arch, words: &[u32], base: u32) -> Result<$type, FieldError> {
                    Ok($type { $(
                        $field: match $type::$field.archs.contains(arch) {
                            true => <$member as Member>::unpack(&$type::$field.at(arch), arch, words, base)?,
                            false => <$member as Member>::initial(&$type::$field),
                        },
                    )* })
                }
            }

            impl Default for $type {
                #[inline]
                fn default() -> $type {
                    $type { $( $field: <$member as Member>::initial(&$type::$field), )* }
                }
            }

            impl Member for $type {
                const KIND: Kind = Kind::Struct(LAYOUT);

                #[inline]
                fn initial(_: &Row) -> $type {
                    $type::default()
                }

                #[inline(always)]
                fn pack(self, row: &Row, arch: Arch, words: &mut [u32], base: u32) -> Result<(), FieldError> {
                    self.pack_at(arch, words, base + row.start)
                }

                fn unpack(row: &Row, arch: Arch, words: &[u32], base: u32) -> Result<$type, FieldError> {
                    $type::unpack_at(arch, words, base + row.start)
                }
            }
        };
    };
    (@row $member:ty, $label:literal, $start:literal, $width:literal $(, $attribute:ident($($argument:expr),*))*) => {
        Row::new($label, $start, $width, <$member as Member>::KIND)$(.$attribute($($argument),*))*
    };
    (@size $bytes:literal) => { ($crate::arch::SUPPORTED, $bytes) };
    (@size $bytes:literal until $arch:ident) => { ($crate::arch::until($arch), $bytes) };
    (@size $bytes:literal since $arch:ident) => { ($crate::arch::since($arch), $bytes) };
}

/// One enumeration: its rows, and a typed enumeration.
///
/// A row is `Variant, "Name", number, attributes…;`; the attributes are the methods of
/// [`EnumRow`](crate::row::EnumRow).
macro_rules! enumeration {
    (
        $(#[doc = $doc:literal])+
        $type:ident $name:literal;
        $( $variant:ident, $label:literal, $value:literal $(, $attribute:ident($argument:expr))*; )*
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type {
            $( #[doc = concat!("`", $label, "`.")] $variant = $value, )*
        }

        impl $type {
            /// Its table.
            pub const TABLE: &'static $crate::row::EnumTable = {
                use $crate::row::{EnumRow, EnumTable};
                const ROWS: &[EnumRow] = &[ $( EnumRow::new($label, $value)$(.$attribute($argument))* ),* ];
                &EnumTable { name: $name, about: $crate::row::kept(concat!($($doc),+)), rows: ROWS }
            };

            /// The number that the hardware reads.
            #[inline]
            pub const fn number(self) -> u32 {
                self as u32
            }

            /// The value of a number, whatever the architecture.
            pub const fn from_number(number: u32) -> Option<$type> {
                match number {
                    $( $value => Some($type::$variant), )*
                    _ => None,
                }
            }
        }

        impl $crate::member::Member for $type {
            const KIND: $crate::row::Kind = $crate::row::Kind::Enum($type::TABLE);

            #[inline]
            fn initial(row: &$crate::row::Row) -> $type {
                // A test holds that every default is a value; the first one stands in where 0 is none.
                const FIRST: $type = [$( $type::$variant ),*][0];
                $type::from_number(row.default as u32).unwrap_or(FIRST)
            }

            #[inline(always)]
            fn pack(
                self,
                row: &$crate::row::Row,
                arch: $crate::arch::Arch,
                words: &mut [u32],
                base: u32,
            ) -> Result<(), $crate::error::FieldError> {
                const EVERYWHERE: bool = $type::TABLE.same_everywhere();
                let value = u64::from(self.number());
                if !EVERYWHERE && $type::TABLE.of_value(arch, value).is_none() {
                    let problem = $crate::error::FieldProblem::NotInEnum { value, of: $name };
                    return Err(row.problem(problem));
                }
                value.pack(row, arch, words, base)
            }

            fn unpack(
                row: &$crate::row::Row,
                arch: $crate::arch::Arch,
                words: &[u32],
                base: u32,
            ) -> Result<$type, $crate::error::FieldError> {
                let value = u64::unpack(row, arch, words, base)?;
                let problem = $crate::error::FieldProblem::NotInEnum { value, of: $name };
                let known = $type::TABLE.of_value(arch, value).is_some();
                match u32::try_from(value).ok().and_then($type::from_number) {
                    Some(found) if known => Ok(found),
                    _ => Err(row.problem(problem)),
                }
            }
        }
    };
}

pub(crate) use {descriptor, enumeration};
