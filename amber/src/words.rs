//! Closed sets of words: one table a set, from which reading, printing and error messages derive.

use alloc::string::String;
use alloc::vec::Vec;

/// A set of words of the language.
pub trait Word: Copy + PartialEq + 'static {
    /// What the words are, for messages: `a filter`.
    const WHAT: &'static str;
    /// Every spelling; the first of a meaning is the one that is printed.
    const ALL: &'static [(&'static str, Self)];

    /// The meaning of a word.
    fn from_text(text: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(word, _)| *word == text);
        found.map(|(_, meaning)| *meaning)
    }

    /// How it is written.
    fn text(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, meaning)| *meaning == self);
        // Every meaning has a row: the macro writes both from the same line.
        found.map_or("", |(word, _)| word)
    }

    /// All words, for messages.
    fn choices() -> String {
        let words: Vec<String> = Self::ALL
            .iter()
            .map(|(word, _)| format!("`{word}`"))
            .collect();
        words.join(", ")
    }
}

/// An enumeration whose members are words; `|` gives other spellings that are read too.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident, $what:literal: $($variant:ident = $text:literal $(| $also:literal)*,)+) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`.")] $variant,)+
        }

        impl $crate::words::Word for $name {
            const WHAT: &'static str = $what;
            const ALL: &'static [(&'static str, $name)] =
                &[$(($text, $name::$variant), $(($also, $name::$variant),)*)+];
        }
    };
}
pub(crate) use words;
