//! Phi lowering: each phi becomes a variable that the predecessors write at their ends.
//!
//! Needs: `split_edges`.  Guarantees: no phis; a value that a phi wrote is copied from its variable at the block's start.
//! The variables are fresh, so that copies of one edge may run in any order; the order chosen reads a phi's old value
//! before its variable is written, which lets `allocate` give both one register.
//! Facts: hardware/compiler-backend.md 7.2 (1).

use rustc_hash::FxHashMap as HashMap;
use smallvec::smallvec;

use eitri_isa::Arch;

use super::legalise::constants;
use super::mir::{BlockId, Function, Instr, Location, Op, Operand, Source, Value, Word};
use crate::target::Target;

/// A copy to place at the end of a predecessor.
struct EdgeCopy {
    variable: Value,
    from: Operand,
    /// The phi's own result.
    dest: Value,
}

/// Lowers every phi. True when there were any.
pub(crate) fn lower_phis(function: &mut Function, target: &Target) -> bool {
    let mut edges: Vec<Vec<EdgeCopy>> = function.blocks.iter().map(|_| Vec::new()).collect();
    let mut changed = false;
    for index in 0..function.blocks.len() {
        let phis = std::mem::take(&mut function.blocks[index].phis);
        changed |= !phis.is_empty();
        let mut starts = Vec::with_capacity(phis.len());
        for phi in phis {
            let variable = function.new_value();
            starts.push(Instr::copy(
                Word::Value(phi.dest),
                Word::Value(variable),
                Location::default(),
            ));
            for (from, operand) in phi.sources {
                edges[from.index()].push(EdgeCopy {
                    variable,
                    from: operand,
                    dest: phi.dest,
                });
            }
        }
        function.blocks[index].instrs.splice(0..0, starts);
    }
    for (index, copies) in edges.into_iter().enumerate() {
        let block = &mut function.blocks[BlockId(index as u32).index()];
        block.instrs.extend(
            order(copies)
                .into_iter()
                .map(|copy| move_to(copy.variable, copy.from, target.arch)),
        );
    }
    changed
}

/// Orders copies so that one that reads a phi's value stands before the one that writes this phi's variable.
/// In a cycle any order is right.
fn order(copies: Vec<EdgeCopy>) -> Vec<EdgeCopy> {
    // A copy must wait for those that read what its phi has given so far.
    let mut waits = vec![0usize; copies.len()];
    let by_dest: HashMap<Value, usize> = copies
        .iter()
        .enumerate()
        .map(|(number, copy)| (copy.dest, number))
        .collect();
    let waiting = |number: usize| {
        let Operand::Word(Word::Value(value)) = copies[number].from else {
            return None;
        };
        by_dest
            .get(&value)
            .copied()
            .filter(|other| *other != number)
    };
    for number in 0..copies.len() {
        if let Some(other) = waiting(number) {
            waits[other] += 1;
        }
    }
    let mut ordered = Vec::with_capacity(copies.len());
    let mut placed = vec![false; copies.len()];
    let place =
        |first: usize, waits: &mut [usize], placed: &mut [bool], ordered: &mut Vec<usize>| {
            // Each copy frees at most one other.
            let mut next = Some(first);
            while let Some(number) = next.filter(|number| !placed[*number]) {
                placed[number] = true;
                ordered.push(number);
                next = waiting(number).filter(|other| {
                    waits[*other] -= 1;
                    waits[*other] == 0
                });
            }
        };
    for number in 0..copies.len() {
        if waits[number] == 0 {
            place(number, &mut waits, &mut placed, &mut ordered);
        }
    }
    // The rest are cycles.
    for number in 0..copies.len() {
        place(number, &mut waits, &mut placed, &mut ordered);
    }
    let mut copies: Vec<Option<EdgeCopy>> = copies.into_iter().map(Some).collect();
    let taken = ordered
        .into_iter()
        .filter_map(|number| copies[number].take());
    taken.collect()
}

/// A move of any operand to a variable.
fn move_to(variable: Value, from: Operand, arch: Arch) -> Instr {
    let dest = Word::Value(variable);
    match from {
        Operand::Constant(bits) => constants::make(dest, bits, Location::default(), arch),
        _ => Instr {
            dests: smallvec![dest],
            sources: smallvec![Source::plain(from)],
            ..Instr::new(Op::Mov)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::valhall::mir::{Form, verify};

    #[test]
    fn a_rotation_reads_the_old_value_first() {
        let mut function = Function::parse(
            "b0:
              %0 = MOV.i32 t0
              jump b1
            b1:
              %1 = phi b0 %0, b2 %2
              %2 = phi b0 %0, b2 %3
              %3 = IADD.u32 %1, %2
              branch %3, b2, b3
            b2:
              jump b1
            b3:
              end",
        )
        .expect("text is MIR");
        assert!(lower_phis(&mut function, &Target::default()));
        assert_eq!(verify(&function, Form::Variables), []);
        assert!(
            function
                .to_string()
                .contains("b2:\n  %4 = MOV.i32 %2\n  %5 = MOV.i32 %3\n"),
            "{function}"
        );
    }
}
