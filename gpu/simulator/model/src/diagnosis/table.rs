//! Misuses as a table: a row gives a name, its data, its sentence, and the section that has the rule.

/// Whose misuse it is: names and small numbers (slot, stream, space) say who; wide numbers (addresses, values, bits) are
/// data that change with every turn of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Subject {
    names: [&'static str; 2],
    numbers: u64,
}

/// A field of a misuse: what it adds to the subject.
pub(super) trait Part {
    fn add_to(&self, subject: &mut Subject);
}

impl Part for &'static str {
    fn add_to(&self, subject: &mut Subject) {
        subject.names = [subject.names[1], self];
    }
}

impl Part for u8 {
    fn add_to(&self, subject: &mut Subject) {
        subject.numbers = subject.numbers << 8 | u64::from(*self);
    }
}

impl Part for super::WarpPlace {
    fn add_to(&self, _subject: &mut Subject) {}
}

impl Part for super::FragmentPlace {
    fn add_to(&self, _subject: &mut Subject) {}
}

macro_rules! data {
    ($($type:ty)*) => {$(
        impl Part for $type {
            fn add_to(&self, _subject: &mut Subject) {}
        }
    )*};
}
data! { u16 u32 u64 }

/// Declares an enumeration of misuses: each with its data, its sentence and the section that has the rule.
macro_rules! misuses {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$about:meta])* $variant:ident $({ $($field:ident: $type:ty),* $(,)? })? = $text:literal, $rule:literal;)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(missing_docs, reason = "the sentence of each variant says what its fields are")]
        pub enum $name {
            $(
                #[doc = concat!($text, " (", $rule, ").")]
                $(#[$about])*
                $variant $({ $($field: $type),* })?,
            )*
        }

        impl $name {
            /// Whether both are of one kind and one subject: the first is kept, the others are counted.
            pub(super) fn is_same(&self, other: &Self) -> bool {
                core::mem::discriminant(self) == core::mem::discriminant(other)
                    && self.subject() == other.subject()
            }

            fn subject(&self) -> $crate::diagnosis::table::Subject {
                #[allow(unused_mut, reason = "not every misuse has data")]
                let mut subject = $crate::diagnosis::table::Subject::default();
                match self {
                    $($name::$variant $({ $($field),* })? => {
                        $($($crate::diagnosis::table::Part::add_to($field, &mut subject);)*)?
                    })*
                }
                subject
            }

            /// The section of the facts that has the rule.
            pub fn rule(&self) -> &'static str {
                match self {
                    $($name::$variant { .. } => $rule,)*
                }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    $($name::$variant $({ $($field),* })? => write!(f, $text),)*
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and small numbers tell one subject from another; wide numbers don't.
    #[test]
    fn names_and_small_numbers_say_who() {
        let of = |parts: &[&dyn Part]| {
            let mut subject = Subject::default();
            parts.iter().for_each(|part| part.add_to(&mut subject));
            subject
        };
        let first = of(&[&"CSG_REQ", &"STATE", &1_u8, &2_u8]);
        for (other, is_same) in [
            (of(&[&"CSG_REQ", &"STATE", &1_u8, &2_u8]), true),
            (
                of(&[
                    &"CSG_REQ",
                    &"STATE",
                    &0x5000_u64,
                    &1_u8,
                    &7_u32,
                    &2_u8,
                    &9_u16,
                ]),
                true,
            ),
            (of(&[&"CSG_ACK", &"STATE", &1_u8, &2_u8]), false),
            (of(&[&"CSG_REQ", &"EP_CFG", &1_u8, &2_u8]), false),
            (of(&[&"STATE", &1_u8, &2_u8]), false),
            (of(&[&"CSG_REQ", &"STATE", &2_u8, &1_u8]), false),
            (of(&[&"CSG_REQ", &"STATE", &2_u8]), false),
        ] {
            assert_eq!(other == first, is_same, "{other:?}, {first:?}");
        }
    }
}
