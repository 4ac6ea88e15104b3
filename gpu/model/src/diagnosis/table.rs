//! Misuses as a table: a row gives a name, its data, its sentence, and the section that has the rule.

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
