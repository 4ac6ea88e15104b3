//! The macros that turn rows into types: a struct for each instruction, the enum of all, encode and decode.
//!
//! A family's macro hands its rows on to the next family, the last one to [`define_instructions`]: so one macro sees
//! every row, and each stands once.

/// Where a field stands: `high:low ARCHES, …`; one bit may go without `:low`, all architectures without `ARCHES`.
macro_rules! bits {
    ($( $high:literal $(: $low:literal)? $($archs:ident)? ),*) => {
        &[$( $crate::table::define::bits!(@one $high, ($($low)?), ($($archs)?)) ),*]
    };
    (@one $high:literal, (), $archs:tt) => { $crate::table::define::bits!(@one $high, ($high), $archs) };
    (@one $high:literal, ($low:literal), ()) => { $crate::table::define::bits!(@one $high, ($low), (ALL)) };
    (@one $high:literal, ($low:literal), ($archs:ident)) => {
        $crate::field::Bits { high: $high, low: $low, archs: $crate::arch::on::$archs }
    };
}
pub(crate) use bits;

/// The [`FieldInfo`](crate::field::FieldInfo) of a field as a row writes it.
macro_rules! field_info {
    ($field:ident) => {
        $crate::table::shared_fields::info::$field
    };
    ($field:ident = $key:ident) => {
        $crate::table::shared_fields::info::$key
    };
    ($field:ident : $ty:ident [$($bits:tt)*] $note:literal $(. $column:ident ($($argument:expr),*))*) => {
        $crate::field::FieldInfo::new(
            stringify!($field),
            <$ty as $crate::field::Value>::KIND,
            $crate::table::define::bits!($($bits)*),
            $note,
            const { &$crate::field::Columns::PLAIN$( .$column($($argument),*) )* },
        )
    };
}
pub(crate) use field_info;

/// The Rust type of a field as a row writes it.
macro_rules! field_type {
    ($field:ident) => {
        $crate::table::shared_fields::shared_type!($field)
    };
    ($field:ident = $key:ident) => {
        $crate::table::shared_fields::shared_type!($key)
    };
    ($field:ident : $ty:ident $($rest:tt)*) => {
        $ty
    };
}
pub(crate) use field_type;

/// The note of a field as a row writes it.
macro_rules! field_note {
    ($field:ident) => {
        $crate::table::shared_fields::shared_note!($field)
    };
    ($field:ident = $key:ident) => {
        $crate::table::shared_fields::shared_note!($key)
    };
    ($field:ident : $ty:ident [$($bits:tt)*] $note:literal $($rest:tt)*) => {
        $note
    };
}
pub(crate) use field_note;

/// All types from all rows.
macro_rules! define_instructions {
    ({ $(
        $(#[doc = $note:literal])* $name:ident $ty:ident $opcode:literal $archs:ident $category:ident $timing:ident {
            $( $field:ident
                $( = $key:ident )?
                $( : $field_ty:ident [$($bits:tt)*] $field_note:literal $(. $field_column:ident ($($field_argument:expr),*))* )?
            ; )*
        } $text:literal $(. $column:ident ($($argument:expr),*))* ;
    )* }) => {
        $(
            $(#[doc = $note])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $ty {
                $(
                    #[doc = field_note!($field $(= $key)? $(: $field_ty [$($bits)*] $field_note)?)]
                    pub $field: field_type!($field $(= $key)? $(: $field_ty)?),
                )*
            }

            const _: () = {
                // What the tables say of each field.
                #[allow(non_upper_case_globals, reason = "named as the fields are")]
                impl $ty {
                    $( const $field: $crate::field::FieldInfo = field_info!(
                        $field $(= $key)?
                        $(: $field_ty [$($bits)*] $field_note $(. $field_column($($field_argument),*))*)?
                    ); )*
                }

                impl $ty {
                    /// Its row of the tables.
                    pub const INFO: Info = Info::new(
                        stringify!($name),
                        concat!($($note),*).trim_ascii(),
                        $opcode,
                        $crate::arch::on::$archs,
                        Category::$category,
                        Timing::$timing,
                        &[$( $ty::$field ),*],
                        $text,
                    )$( .$column($($argument),*) )*;

                    /// The bits that mean something, for each architecture.
                    const DEFINED: [u64; Arch::ALL.len()] = defined_bits(&Self::INFO);

                    /// The word for it.
                    ///
                    /// # Errors
                    /// The architecture lacks it, or a field's value.
                    #[inline]
                    pub fn encode(&self, arch: Arch) -> Result<u64, EncodeError> {
                        #[allow(unused_mut)] // some instructions have no fields
                        let mut word = codec::start(&Self::INFO, arch)?;
                        $( word |= codec::put(Self::INFO.name, &$ty::$field, self.$field, arch)?; )*
                        Ok(word)
                    }

                    #[inline]
                    #[allow(unused_variables)] // some instructions have no fields
                    fn from_word(word: u64, arch: Arch) -> Result<Self, DecodeError> {
                        Ok($ty { $( $field: codec::get(Self::INFO.name, &$ty::$field, word, arch)?, )* })
                    }
                }

                impl Default for $ty {
                    fn default() -> Self {
                        $ty { $( $field: codec::default($ty::$field.columns.default), )* }
                    }
                }

                impl From<$ty> for Instr {
                    fn from(instr: $ty) -> Instr {
                        Instr::$ty(instr)
                    }
                }

                impl Instruction for $ty {
                    fn info(&self) -> &'static Info {
                        const { &$ty::INFO }
                    }

                    fn values(&self) -> Values {
                        Values::of([$( $crate::field::Value::to_bits(self.$field) ),*])
                    }
                }
            };
        )*

        impl Instruction for Instr {
            fn info(&self) -> &'static Info {
                Instr::info(self)
            }

            fn values(&self) -> Values {
                match self {
                    $( Instr::$ty(instr) => instr.values(), )*
                }
            }
        }

        /// A command-stream instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Instr {
            $( $(#[doc = $note])* $ty($ty), )*
        }

        /// Every row of the tables.
        pub const INSTRUCTIONS: &[&Info] = &[$( &$ty::INFO ),*];

        impl Instr {
            /// Its row of the tables.
            pub const fn info(&self) -> &'static Info {
                match self {
                    $( Instr::$ty(_) => &$ty::INFO, )*
                }
            }

            /// The word for it.
            ///
            /// # Errors
            /// The architecture lacks it, or a field's value.
            pub fn encode(&self, arch: Arch) -> Result<u64, EncodeError> {
                match self {
                    $( Instr::$ty(instr) => instr.encode(arch), )*
                }
            }

            /// The instruction that `word` holds, and those of its bits that are reserved and set: what they do is not
            /// known (hardware/command-stream.md 1.5), so a model reports them and goes on.
            ///
            /// # Errors
            /// As [`Instr::decode`], reserved bits aside.
            pub fn decode_ignoring_reserved(word: u64, arch: Arch) -> Result<(Instr, u64), DecodeError> {
                match (word >> 56) as u8 {
                    $(
                        $opcode if $ty::INFO.selects(word, arch) => {
                            let reserved = word & !$ty::DEFINED[arch.index()];
                            Ok((Instr::$ty($ty::from_word(word, arch)?), reserved))
                        }
                    )*
                    opcode => Err(codec::unknown(opcode, word, arch)),
                }
            }
        }
    };
}
pub(crate) use define_instructions;
