//! FAU arrangement: which uniform words share a 64-bit word.
//!
//! One arithmetic instruction reads one 64-bit word of FAU, so two uniforms that it reads must lie in the same one, or
//! one of them takes a move. The runtime fills words one by one, so their order is free; only the halves of an address
//! stay side by side, since they are read as one.
//! Facts: hardware/compiler-backend.md 5.2, hardware/compiler-optimization.md 1.8.

use std::collections::BTreeMap;

use eitri_program::DrawWord;

use crate::valhall::mir::{AddressHalf, FauWord, Function, Message, Operand, Terminator};

/// Puts words that are read together side by side, and drops those that nobody reads.
pub(crate) fn arrange_fau(function: &mut Function) {
    let count = function.extra.fau.len();
    let mut used = vec![false; count];
    let mut together: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for (block, often) in function.blocks.iter().zip(function.frequencies()) {
        for instr in &block.instrs {
            let mut words: Vec<usize> = instr
                .sources
                .iter()
                .filter_map(|source| word_of(source.operand))
                .collect();
            words.sort_unstable();
            words.dedup();
            words
                .iter()
                .filter(|&&word| word < count)
                .for_each(|&word| used[word] = true);
            // A message may read two.
            if instr.op.message() == Message::No
                && let &[a, b] = words.as_slice()
            {
                *together.entry((a, b)).or_default() += often;
            }
        }
        let phis = block
            .phis
            .iter()
            .flat_map(|phi| &phi.sources)
            .map(|&(_, operand)| operand);
        let condition = match &block.terminator {
            Terminator::Branch { condition, .. } => Some(condition.operand),
            Terminator::Jump(_) | Terminator::End => None,
        };
        phis.chain(condition)
            .filter_map(word_of)
            .filter(|&word| word < count)
            .for_each(|word| used[word] = true);
    }
    let glued: Vec<(usize, usize)> = function
        .extra
        .fau
        .windows(2)
        .enumerate()
        .filter(|(low, pair)| used[*low] && is_address(pair))
        .map(|(low, _)| (low, low + 1))
        .collect();
    let is_pinned = |word: &FauWord| matches!(word, FauWord::Draw(DrawWord::BlendConstant(_)));
    let pinned = function.extra.fau.iter().take_while(|word| is_pinned(word));
    let order = order(&used, pinned.count(), &glued, together);
    let places: BTreeMap<usize, u8> = order
        .iter()
        .enumerate()
        .filter_map(|(place, word)| Some(((*word)?, u8::try_from(place).ok()?)))
        .collect();
    let old = std::mem::take(&mut function.extra.fau);
    function.extra.fau = order
        .iter()
        .map(|word| word.map_or(FauWord::Constant(0), |word| old[word]))
        .collect();
    renumber(function, &places);
}

fn word_of(operand: Operand) -> Option<usize> {
    match operand {
        Operand::Fau(word) => Some(usize::from(word)),
        Operand::Word(_)
        | Operand::Pair(..)
        | Operand::Constant(_)
        | Operand::Table(_)
        | Operand::Special(..) => None,
    }
}

/// Whether two words are the halves of one address.
fn is_address(pair: &[FauWord]) -> bool {
    let [low, high] = AddressHalf::ALL;
    match *pair {
        [FauWord::BufferAddress(first, of), second] => {
            of == low && second == FauWord::BufferAddress(first, high)
        }
        [FauWord::DataAddress(of), second] => of == low && second == FauWord::DataAddress(high),
        _ => false,
    }
}

/// The words in their new order: those that stay where they are, those that are one, then pairs, the heaviest first, then the rest.
fn order(
    used: &[bool],
    pinned: usize,
    glued: &[(usize, usize)],
    together: BTreeMap<(usize, usize), u64>,
) -> Vec<Option<usize>> {
    let mut pairs: Vec<((usize, usize), u64)> = together.into_iter().collect();
    pairs.sort_by_key(|&(pair, weight)| (std::cmp::Reverse(weight), pair));
    let mut free = used.to_vec();
    let mut order: Vec<Option<usize>> = (0..pinned).map(Some).collect();
    free[..pinned].fill(false);
    for &(low, high) in glued {
        (free[low], free[high]) = (false, false);
        order.extend([Some(low), Some(high)]);
    }
    for ((a, b), _) in pairs {
        if free[a] && free[b] {
            (free[a], free[b]) = (false, false);
            order.extend([Some(a), Some(b)]);
        }
    }
    order.extend((0..free.len()).filter(|&word| free[word]).map(Some));
    order
}

fn renumber(function: &mut Function, places: &BTreeMap<usize, u8>) {
    let change = |operand: &mut Operand| {
        if let Some(&place) = word_of(*operand).and_then(|word| places.get(&word)) {
            *operand = Operand::Fau(place);
        }
    };
    for block in &mut function.blocks {
        block
            .phis
            .iter_mut()
            .flat_map(|phi| &mut phi.sources)
            .for_each(|(_, operand)| change(operand));
        block
            .instrs
            .iter_mut()
            .flat_map(|instr| &mut instr.sources)
            .for_each(|source| change(&mut source.operand));
        if let Terminator::Branch { condition, .. } = &mut block.terminator {
            change(&mut condition.operand);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_of_an_address_stay_together() {
        let mut function = Function::parse(
            "fau u0 = push 0
            fau u1 = push 4
            fau u2 = address_low 0x1000000
            fau u3 = address_high 0x1000000
            fau u4 = data low
            fau u5 = data high
            b0:
              %0 = MOV.i32 u1
              STORE.i32 @%0, u2, imm:0, space:buffer
              end",
        )
        .expect("text is MIR");
        arrange_fau(&mut function);
        let text = function.to_string();
        let wanted =
            "fau u0 = address_low 0x1000000\nfau u1 = address_high 0x1000000\nfau u2 = push 4\nb0:";
        assert!(text.starts_with(wanted), "{text}");
        assert!(text.contains("STORE.i32 @%0, u0, imm:0"), "{text}");
    }

    #[test]
    fn words_read_together_share_a_slot_and_unread_ones_go() {
        let mut function = Function::parse(
            "fau u0 = push 0
            fau u1 = push 4
            fau u2 = push 8
            fau u3 = constant 0x7
            b0:
              %0 = FMA.f32 u0, u3, u3
              %1 = MOV.i32 u2
              branch %0, b1, b1
            b1:
              end",
        )
        .expect("text is MIR");
        arrange_fau(&mut function);
        let text = function.to_string();
        assert!(
            text.starts_with("fau u0 = push 0\nfau u1 = constant 0x7\nfau u2 = push 8\nb0:"),
            "{text}"
        );
        assert!(
            text.contains("FMA.f32 u0, u1, u1") && text.contains("MOV.i32 u2"),
            "{text}"
        );
    }
}
