//! Code of shaders: the instructions from an address on.

use super::View;
use super::entry::Entry;
use super::lines;
use super::map::Map;
use alloc::format;
use alloc::vec::Vec;
use eitri_isa::{Arch, Flow, ImmId, Instr, Op, Syntax};

/// Instructions that are shown of a shader.
const MOST_INSTRUCTIONS: u64 = 1024;

/// The program at `address`: to the end that no branch leads past, a word that is none, or what is not in the dump.
pub(super) fn program(view: &View<'_>, map: &Map, arch: Arch, address: u64) -> Entry {
    let sources = lines::of_program(view, map, address);
    let mut sources = sources.iter().flat_map(|code| code.lines());
    let mut source = None;
    let mut shown = Vec::new();
    let mut count = 0;
    let mut furthest = address;
    let mut at = address;
    let why = loop {
        let number = (at - address) / 8;
        if number == MOST_INSTRUCTIONS {
            break format!("stopped after {MOST_INSTRUCTIONS} instructions");
        }
        let mut bytes = [0; 8];
        if let Err(miss) = view.read(&map.space, at, &mut bytes) {
            break format!("stopped at {at:#x}: {miss}");
        }
        let word = u64::from_le_bytes(bytes);
        if word == 0 {
            break format!("stopped at {at:#x}: a word of zeros");
        }
        let place = sources.next().flatten();
        if let Some((file, line)) = place
            && place != source
        {
            shown.push(Entry::line(format!("; {}", lines::text(file, line))));
        }
        source = place;
        count += 1;
        match Instr::decode_text(word, arch) {
            Ok(instr) => {
                let text = instr.display(arch, Syntax::Mesa24);
                shown.push(Entry::line(format!("{at:#x}: {word:016x} {text}")));
                let next = at.saturating_add(8);
                if instr.op() == Op::Branchz
                    && let Some(offset) = instr.imm(ImmId::Offset)
                {
                    furthest = furthest.max(next.saturating_add_signed(offset.saturating_mul(8)));
                }
                if instr.flow == Flow::End && furthest <= at {
                    return Entry::new("code", format!("{count} instructions")).with(shown);
                }
            }
            Err(error) => {
                shown.push(Entry::line(format!("{at:#x}: {word:016x} error: {error}")));
                break format!("stopped at {at:#x}: a word that is no instruction");
            }
        }
        at = at.saturating_add(8);
    };
    Entry::new("code", why).with(shown)
}
