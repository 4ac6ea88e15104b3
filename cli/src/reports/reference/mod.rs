//! Reference: what the hardware tables know, as pages: for `eitri explain` and the documents under docs/reference.
//!
//! A page is one thing with a name: an instruction, a descriptor, a register, a code, a format. Its parts are bits of a
//! word or of a structure. Everything is read from the leaves' tables; nothing about hardware is written here.

mod counters;
mod descriptors;
mod diagram;
mod formats;
mod instructions;
pub(crate) mod ir3;
mod json;
mod markdown;
mod products;
mod registers;
mod streams;
mod text;
mod values;

pub(crate) use json::SCHEMA;
pub(crate) use markdown::documents;
pub(crate) use registers::numbered;
pub(crate) use values::{hexadecimal, register_value};

use eitri_csf::Arch;

/// What a page is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    Instruction,
    Ir3Instruction,
    SpecialValue,
    StreamInstruction,
    StagingRegister,
    Descriptor,
    Enumeration,
    Format,
    Register,
    Exception,
    Counter,
    Product,
    Architecture,
    Value,
}

impl Family {
    /// As people and JSON call it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Family::Instruction => "shader instruction",
            Family::Ir3Instruction => "IR3 instruction",
            Family::SpecialValue => "special value",
            Family::StreamInstruction => "command-stream instruction",
            Family::StagingRegister => "staging register",
            Family::Descriptor => "descriptor",
            Family::Enumeration => "enumeration",
            Family::Format => "pixel format",
            Family::Register => "register",
            Family::Exception => "exception code",
            Family::Counter => "performance counter",
            Family::Product => "product",
            Family::Architecture => "architecture",
            Family::Value => "value",
        }
    }
}

/// One thing that the tables know.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) family: Family,
    pub(crate) name: String,
    /// Other names by which people look for it.
    pub(crate) aliases: Vec<String>,
    /// One sentence.
    pub(crate) about: String,
    /// Single facts: `("size", "32 bytes")`.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// Bits, lowest first; may overlap where bits have several readings.
    pub(crate) parts: Vec<Part>,
    /// Bits of the whole; 0 where there are none.
    pub(crate) bits: u32,
    /// Codes of an enumeration.
    pub(crate) codes: Vec<Code>,
    /// Further sentences.
    pub(crate) notes: Vec<String>,
}

/// Bits of a word or structure that belong together.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The lowest bit, counted from bit 0 of the whole.
    pub(crate) low: u32,
    pub(crate) width: u32,
    pub(crate) name: String,
    /// What the bits mean, and how a value is stored in them.
    pub(crate) about: String,
    /// Where it is so; empty if everywhere.
    pub(crate) arches: String,
    /// Legal values, if they have names.
    pub(crate) codes: Vec<Code>,
    /// The number in a value that is being explained.
    pub(crate) value: Option<u64>,
}

/// A number with a name.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) number: u64,
    pub(crate) name: String,
    /// What it means, or where it exists.
    pub(crate) about: String,
}

impl Page {
    fn new(family: Family, name: impl Into<String>, about: impl Into<String>) -> Page {
        Page {
            family,
            name: name.into(),
            aliases: Vec::new(),
            about: about.into().trim().to_owned(),
            facts: Vec::new(),
            parts: Vec::new(),
            bits: 0,
            codes: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn fact(mut self, name: &'static str, value: impl Into<String>) -> Page {
        let value = value.into();
        if !value.is_empty() {
            self.facts.push((name, value));
        }
        self
    }

    /// Whether a person who writes `name` means this page: case, blanks and punctuation don't count.
    pub(crate) fn answers_to(&self, name: &str) -> bool {
        let mut names = std::iter::once(&self.name).chain(&self.aliases);
        names.any(|known| same(known, name))
    }
}

impl Part {
    fn new(low: u32, width: u32, name: impl Into<String>, about: impl Into<String>) -> Part {
        Part {
            low,
            width,
            name: name.into(),
            about: about.into().trim().to_owned(),
            arches: String::new(),
            codes: Vec::new(),
            value: None,
        }
    }

    /// `w3[12:0]` in a structure, `[12:0]` in a word.
    fn place(&self, bits: u32) -> String {
        let (low, high) = (self.low, self.low + self.width - 1);
        let span = |low: u32, high: u32| match low == high {
            true => format!("[{low}]"),
            false => format!("[{high}:{low}]"),
        };
        match (bits <= 64, low / 32 == high / 32) {
            (true, _) => span(low, high),
            (false, true) => format!("w{}{}", low / 32, span(low % 32, high % 32)),
            (false, false) => format!("w{}[{}]..w{}[{}]", low / 32, low % 32, high / 32, high % 32),
        }
    }
}

/// Every page, family by family, in the order of the tables.
pub(crate) fn pages() -> Vec<Page> {
    let families = [
        instructions::pages(),
        instructions::special_values(),
        streams::pages(),
        streams::staging_registers(),
        descriptors::pages(),
        descriptors::enumerations(),
        formats::pages(),
        registers::pages(),
        registers::exceptions(),
        counters::pages(),
        products::pages(),
    ];
    families.into_iter().flatten().collect()
}

/// Whether two names are the same to a person.
fn same(left: &str, right: &str) -> bool {
    let letters = |text: &str| -> Vec<char> {
        let kept = text.chars().filter(|letter| letter.is_alphanumeric());
        kept.flat_map(char::to_lowercase).collect()
    };
    let left = letters(left);
    !left.is_empty() && left == letters(right)
}

/// `v10`, `v10 and v11`, `v12 and later`: the run of architectures for which `has` holds; empty if all.
fn arch_text(known: impl Iterator<Item = Arch>, has: impl Fn(Arch) -> bool) -> String {
    let known: Vec<Arch> = known.collect();
    let there: Vec<Arch> = known.iter().copied().filter(|arch| has(*arch)).collect();
    match there.as_slice() {
        _ if there.len() == known.len() => String::new(),
        [] => "nowhere".to_owned(),
        [one] => one.to_string(),
        several => several
            .iter()
            .map(Arch::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_says_what_it_is_and_answers_to_its_name() {
        for page in pages() {
            assert!(
                page.answers_to(&page.name),
                "{} does not answer to its name",
                page.name
            );
            assert!(!page.about.is_empty(), "{} has no sentence", page.name);
            for part in &page.parts {
                let inside = part.width > 0 && part.low + part.width <= page.bits;
                assert!(
                    inside,
                    "{}.{} is outside the {} bits",
                    page.name, part.name, page.bits
                );
            }
        }
    }
}
