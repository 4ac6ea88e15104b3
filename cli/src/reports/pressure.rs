//! Register pressure: the registers whose values are read later, instruction by instruction of a program for Valhall.
//!
//! Relies on what `eitri_isa` says an instruction reads and writes (`hardware/valhall-isa.md` 2 to 4), and on the blocks of the
//! listing. A register of which a part is written stays live above, since the rest is kept.

use super::code_forms::{is_end, is_jump};
use eitri_isa::{Arch, Instr, RegAccess};
use eitri_shaderc::ListingRow as Row;

/// A bit a register.
pub(crate) type Registers = u64;

/// What an instruction does to the live registers above it.
struct Effect {
    reads: Registers,
    overwrites: Registers,
}

/// For each row the registers that are live below it; `None` if a row is no instruction of `arch`.
pub(crate) fn live(rows: &[Row<'_>], arch: Arch) -> Option<Vec<Registers>> {
    let effects: Vec<Effect> = rows
        .iter()
        .map(|row| {
            Instr::decode(row.word, arch)
                .ok()
                .map(|instr| effect(&instr))
        })
        .collect::<Option<_>>()?;
    let start_of = |block: u32| rows.iter().position(|row| row.block >= block);
    let successors: Vec<[Option<usize>; 2]> = rows
        .iter()
        .enumerate()
        .map(|(number, row)| {
            let goes_on = !is_jump(&row.text) && !is_end(&row.text);
            let next = (goes_on && number + 1 < rows.len()).then_some(number + 1);
            [next, row.to.and_then(start_of)]
        })
        .collect();
    let mut above: Vec<Registers> = vec![0; rows.len()];
    let mut below = above.clone();
    // Sets only grow: it ends after as many rounds as loops nest, and one that changes nothing.
    loop {
        let mut changed = false;
        for number in (0..rows.len()).rev() {
            let next = successors[number].iter().flatten();
            below[number] = next.fold(0, |live, next| live | above[*next]);
            let effect = &effects[number];
            let live = below[number] & !effect.overwrites | effect.reads;
            changed |= above[number] != live;
            above[number] = live;
        }
        if !changed {
            return Some(below);
        }
    }
}

fn effect(instr: &Instr) -> Effect {
    let bits = |access: &RegAccess| {
        let registers = access.registers.iter();
        registers.fold(0, |set: Registers, register| {
            set | 1 << (register.index() & 63)
        })
    };
    let whole = |access: &RegAccess| access.bits >= 32 * u16::from(access.registers.count());
    let overwrites = instr.writes().filter(whole);
    Effect {
        reads: instr.reads().fold(0, |set, access| set | bits(&access)),
        overwrites: match instr.keeps_rest() {
            true => 0,
            false => overwrites.fold(0, |set, access| set | bits(&access)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_shaderc::build::shader_text::{Language, to_spirv};
    use eitri_shaderc::{Options, compile};

    /// The values of the first loads wait for the last: pressure is highest between, and nothing lives at the end.
    #[test]
    fn pressure_rises_to_the_uses_and_falls_to_nothing() {
        let text = "@group(0) @binding(0) var<storage, read_write> d: array<u32>;\n\
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n\
            let a = d[id.x]; let b = d[id.x + 64u]; let c = d[id.x + 128u];\n\
            var s = 0u; for (var i = 0u; i < a; i++) { s += b ^ (c + i); }\n\
            d[id.x] = s; }\n";
        let spirv = to_spirv(Language::Wgsl, "s.wgsl", text).expect("good text");
        let compiled = compile(&spirv, &Options::default()).expect("a good shader");
        let rows: Vec<_> = compiled.listing.rows().collect();
        let live = live(&rows, Arch::V10).expect("instructions of v10");
        let counts: Vec<u32> = live.iter().map(|set| set.count_ones()).collect();
        let most = counts.iter().max().copied().unwrap_or(0);
        assert!(most >= 4, "a, b, c, s and i live in the loop: {counts:?}");
        assert_eq!(counts.last(), Some(&0), "{counts:?}");
    }
}
