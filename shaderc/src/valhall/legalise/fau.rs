//! FAU rules: how many uniforms, table entries and special values one instruction may read.
//!
//! Guarantees: at most two different ones an instruction, uniforms and specials of one page and, outside messages, of
//! one 64-bit word; table entries only with page 0. The rest is moved to registers first, as little as possible.
//! A message reads no special of page 3.  Facts: hardware/valhall-isa.md 2.3, hardware/compiler-backend.md 5.2.

use smallvec::{SmallVec, smallvec};

use super::constants;
use crate::valhall::mir::{
    FauWord, Function, Half, Instr, Message, Op, Operand, Source, Special, Word,
};

/// Something that is read without a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Read {
    Uniform(u8),
    Table(u8),
    Special(Special, Half),
}

impl Read {
    fn of(operand: Operand) -> Option<Read> {
        match operand {
            Operand::Fau(word) => Some(Read::Uniform(word)),
            Operand::Table(entry) => Some(Read::Table(entry)),
            Operand::Special(special, half) => Some(Read::Special(special, half)),
            Operand::Word(_) | Operand::Pair(..) | Operand::Constant(_) => None,
        }
    }

    fn page(self) -> u8 {
        match self {
            Read::Uniform(word) => word / 64,
            Read::Table(_) => 0,
            Read::Special(special, _) => special.page(),
        }
    }

    /// The 64-bit word that it belongs to; none for table entries.
    fn slot(self) -> Option<(Option<Special>, u8)> {
        match self {
            Read::Uniform(word) => Some((None, word / 2)),
            Read::Special(special, _) => Some((Some(special), 0)),
            Read::Table(_) => None,
        }
    }
}

/// What one instruction reads without a register: in order, each once.
type Reads = SmallVec<[Read; 4]>;

fn reads_of(instr: &Instr) -> Reads {
    let sources = instr.sources.iter();
    let mut reads: Reads = sources
        .filter_map(|source| Read::of(source.operand))
        .collect();
    reads.sort_unstable();
    reads.dedup();
    reads
}

/// True when one instruction may read all of these. Compilers differ on what messages may read and whether table entries may
/// stand beside another page than 0: this is the stricter of each, which is right everywhere (hardware/valhall-isa.md 2.3,
/// hardware/compiler-backend.md 5.2).
fn legal(reads: &[Read], message: bool) -> bool {
    let alone = |read: &Read| !(message && read.page() == 3);
    // A message may read two slots.
    let one_slot = |a: &Read, b: &Read| match (a.slot(), b.slot()) {
        (Some(a), Some(b)) => message || a == b,
        (None, _) | (_, None) => true,
    };
    reads.iter().all(alone)
        && match reads {
            [] | [_] => true,
            [a, b] => a.page() == b.page() && one_slot(a, b),
            _ => false,
        }
}

/// Checks one instruction.
pub(crate) fn is_legal(instr: &Instr) -> bool {
    legal(&reads_of(instr), instr.op.message() != Message::No)
}

/// The largest legal part of what an instruction reads.
fn keep(reads: &[Read], message: bool) -> Reads {
    let subsets = (0u32..1 << reads.len()).map(|bits| -> Reads {
        let numbered = reads.iter().enumerate();
        let taken = numbered.filter(|(index, _)| bits >> index & 1 != 0);
        taken.map(|(_, read)| *read).collect()
    });
    // A special costs most to move and a constant least, so among equally many the first is best kept last.
    let worth = |set: &Reads| {
        let specials = set.iter();
        let specials = specials.filter(|read| matches!(read, Read::Special(..)));
        (set.len(), specials.count())
    };
    subsets
        .filter(|set| legal(set, message))
        .max_by_key(worth)
        .unwrap_or_default()
}

/// Moves out what instructions may not read together.
pub(crate) fn legalise_fau(function: &mut Function) {
    for index in 0..function.blocks.len() {
        if function.blocks[index].instrs.iter().all(is_legal) {
            continue;
        }
        let instrs = std::mem::take(&mut function.blocks[index].instrs);
        let mut out = Vec::with_capacity(instrs.len());
        for mut instr in instrs {
            if !is_legal(&instr) {
                repair(function, &mut instr, &mut out);
            }
            out.push(instr);
        }
        function.blocks[index].instrs = out;
    }
}

fn repair(function: &mut Function, instr: &mut Instr, out: &mut Vec<Instr>) {
    let reads = reads_of(instr);
    let kept = keep(&reads, instr.op.message() != Message::No);
    for moved in reads.iter().filter(|read| !kept.contains(read)) {
        let dest = Word::Value(function.new_value());
        let operand = operand_of(*moved);
        let constant = match *moved {
            Read::Uniform(word) => match function.extra.fau.get(usize::from(word)) {
                Some(&FauWord::Constant(bits)) => Some(bits),
                _ => None,
            },
            Read::Table(_) | Read::Special(..) => None,
        };
        out.push(match constant {
            Some(bits) => constants::make(dest, bits, instr.location, function.extra.arch),
            None => Instr {
                dests: smallvec![dest],
                sources: smallvec![Source::plain(operand)],
                location: instr.location,
                ..Instr::new(Op::Mov)
            },
        });
        for source in instr
            .sources
            .iter_mut()
            .filter(|source| source.operand == operand)
        {
            source.operand = Operand::Word(dest);
        }
    }
}

fn operand_of(read: Read) -> Operand {
    match read {
        Read::Uniform(word) => Operand::Fau(word),
        Read::Table(entry) => Operand::Table(entry),
        Read::Special(special, half) => Operand::Special(special, half),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, moves: &[&str]) {
        let mut function = Function::parse(&format!("b0:\n {line}\n end")).expect("text is MIR");
        legalise_fau(&mut function);
        let instrs = &function.blocks[0].instrs;
        let got: Vec<String> = instrs[..instrs.len() - 1]
            .iter()
            .map(|instr| instr.sources[0].to_string())
            .collect();
        assert_eq!(got, moves, "{function}");
        assert!(instrs.iter().all(is_legal), "{function}");
    }

    #[test]
    fn what_may_not_stand_together_is_moved() {
        check("%0 = FMA.f32 u0, u1, %1", &[]);
        check("%0 = FMA.f32 u0, u2, %1", &["u0"]);
        check("%0 = FMA.f32 u0, u1, t0", &["u0"]);
        check("%0 = IADD.u32 u64, t1", &["u64"]);
        check("%0 = LD_BUFFER.i32 u0, u3", &[]);
        check("%0 = IADD.u32 workgroup_local_pointer, t1", &["t1"]);
    }
}
