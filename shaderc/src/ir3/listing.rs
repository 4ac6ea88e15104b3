//! Listing: the program as text, for people and for tests that must not change unseen.
//!
//! One line an instruction: its index, its word, its text; labels where branches lead, and comments that say where a
//! branch goes and where the source line changes. The same input always gives the same text.

use std::fmt::Write as _;

use eitri_ir3_isa::Instr;

use super::mir::{BlockId, Function};
use super::pack::{GENERATION, block_starts};

/// The listing of a packed program.
pub(super) fn list(function: &Function, words: &[u64]) -> String {
    let mut targeted: Vec<BlockId> = function
        .blocks
        .iter()
        .flat_map(|block| &block.instrs)
        .filter_map(|instr| instr.target)
        .collect();
    targeted.sort();
    let mut text = String::new();
    let mut line = None;
    for (id, start) in function.block_ids().zip(block_starts(function)) {
        if targeted.binary_search(&id).is_ok() {
            push(&mut text, format_args!("{id}:"));
        }
        let instrs = &function.block(id).instrs;
        for (offset, (instr, word)) in instrs.iter().zip(words.iter().skip(start)).enumerate() {
            let place = (instr.location.file, instr.location.line);
            if place.1 != 0 && line != Some(place) {
                line = Some(place);
                let file = function.files.get(place.0 as usize);
                let file = file.map_or("", String::as_str);
                push(&mut text, format_args!("    ; {file}:{}", place.1));
            }
            let index = start + offset;
            let code = match Instr::decode(*word, GENERATION) {
                Ok(decoded) => decoded.display(GENERATION).to_string(),
                Err(_) => instr.to_string(),
            };
            match instr.target {
                Some(to) => push(
                    &mut text,
                    format_args!("{index:5}  {word:016x}  {code}  ; to {to}"),
                ),
                None => push(&mut text, format_args!("{index:5}  {word:016x}  {code}")),
            }
        }
    }
    text
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string can't fail.
    let _ = writeln!(text, "{line}");
}
