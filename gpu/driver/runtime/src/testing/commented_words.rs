//! Code as words: each is what the comment behind it says.

use eitri_isa::{Arch, Instr, Syntax};
use std::string::{String, ToString};

/// The comments of a source file behind words, in their order.
fn comments(source: &'static str) -> impl Iterator<Item = (u64, &'static str)> {
    source.lines().filter_map(|line| {
        let (word, text) = line.trim().split_once("// ")?;
        let start = word.find("0x")?;
        let digits: String = word.get(start + 2..start + 21)?.replace('_', "");
        Some((u64::from_str_radix(&digits, 16).ok()?, text.trim()))
    })
}

/// Checks the words of a source file against their comments, on each generation that the driver knows; how many comparisons it made.
#[track_caller]
pub(crate) fn check_commented_words(source: &'static str) -> usize {
    let mut found = 0;
    for arch in Arch::ALL {
        if !(10..=13).contains(&arch.major()) {
            continue;
        }
        for (word, text) in comments(source) {
            let instr = Instr::decode(word, arch).expect("legal");
            let decoded = instr.display(arch, Syntax::Mesa24).to_string();
            assert_eq!(decoded.trim(), text, "{word:#x} on {arch}");
            found += 1;
        }
    }
    found
}
