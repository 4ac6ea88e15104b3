//! Pairing of halves: operations on the components of vectors of 16-bit numbers are done two at once.
//!
//! Needs: words of 16 bits as such, before `narrow_words`.  Guarantees: of two operations that were paired both see what
//! they saw.  Never: moves what touches memory or other lanes; pairs operations of different instructions of the source,
//! whose operands would have to be brought together first.
//! How: a second component takes its first one along. What reads the first one waits for both; if it can't wait, since it
//! does more than compute, the two stay apart. Two choices by comparisons of 16 bits become one by a mask.
//! Facts: hardware/compiler-isel.md 3; hardware/compiler-optimization.md 3 (packed arithmetic doubles throughput).

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::ir::rewrite::Replaced;
use crate::ir::{Alu, BlockId, Builder, Function, Inst, InstData, Op, Type, Value, ValueDef};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "pair_halves",
    what: "16-bit operations on components of vectors are done in pairs",
    run,
};

/// How far apart the two of a pair may stand.
const WINDOW: usize = 16;

/// How many instructions may wait at once. More do only where two pairs wait for each other.
const MOST_WAITING: usize = 4 * WINDOW;

fn run(function: &mut Function, _: &Target) -> Changed {
    let mut pairs = Pairs::default();
    for block in function.layout.clone() {
        pair_block(function, block, &mut pairs);
    }
    if pairs.words.is_empty() {
        return Changed::No;
    }
    pair_phis(function, &mut pairs);
    pairs.replaced.everywhere(function);
    Changed::Yes
}

/// What was paired.
#[derive(Default)]
struct Pairs {
    /// By the two results: the word that has both.
    words: HashMap<(Value, Value), Value>,
    /// What stands for each of the results.
    replaced: Replaced,
    /// Operands that were brought together, in order: what they may have come from is worth pairing, too.
    joined: Vec<(Value, Value)>,
}

/// Whether two results can be computed at once.
fn is_pairable(function: &Function, data: &InstData) -> bool {
    let Op::Alu(alu) = data.op else { return false };
    let known = matches!(
        alu,
        Alu::FAdd
            | Alu::FSub
            | Alu::FMul
            | Alu::FFma
            | Alu::FMin
            | Alu::FMax
            | Alu::FSat
            | Alu::FNeg
            | Alu::FAbs
            | Alu::IAdd
            | Alu::ISub
            | Alu::IMul
            | Alu::INeg
            | Alu::IAbs
            | Alu::SMin
            | Alu::SMax
            | Alu::UMin
            | Alu::UMax
            | Alu::IAnd
            | Alu::IOr
            | Alu::IXor
            | Alu::INot
            | Alu::BitSelect
            | Alu::IShl
            | Alu::UShr
            | Alu::SShr
            | Alu::Select
    );
    known && function.ty(data.results[0]) == Type::W16
}

/// Whether the second can go with the first.
fn fits(function: &Function, first: &InstData, second: &InstData) -> bool {
    first.op == second.op
        && first.exact == second.exact
        && first.position == second.position
        && (first.op != Op::Alu(Alu::Select) || choose_alike(function, first, second))
}

/// Whether two choices have one condition, or two that can be computed at once.
fn choose_alike(function: &Function, first: &InstData, second: &InstData) -> bool {
    let (one, other) = (first.args[0], second.args[0]);
    if one == other {
        return true;
    }
    let compares = [one, other].map(|condition| Compare::of(function, condition));
    matches!(compares, [Some(one), Some(other)] if (one.alu, one.inverted) == (other.alu, other.inverted))
}

/// A comparison of integers of 16 bits, as one of which both halves can be done at once.
struct Compare {
    /// What gives the mask.
    alu: Alu,
    /// Whether the mask is of the opposite.
    inverted: bool,
    args: [Value; 2],
}

impl Compare {
    fn of(function: &Function, condition: Value) -> Option<Compare> {
        let data = function.def_inst(condition)?;
        let Op::Alu(alu) = data.op else { return None };
        let (alu, inverted) = match alu {
            Alu::IEq => (Alu::IEq2, false),
            Alu::INe => (Alu::IEq2, true),
            Alu::SLt => (Alu::SLt2, false),
            Alu::SGe => (Alu::SLt2, true),
            Alu::ULt => (Alu::ULt2, false),
            Alu::UGe => (Alu::ULt2, true),
            _ => return None,
        };
        let args = [data.args[0], data.args[1]];
        (function.ty(args[0]) == Type::W16).then_some(Compare {
            alu,
            inverted,
            args,
        })
    }
}

/// By instruction of a block that is the first or the second of a pair: the other.
fn find_pairs(function: &Function, insts: &[Inst]) -> HashMap<Inst, Inst> {
    let mut partner = HashMap::default();
    for (number, first) in insts.iter().enumerate() {
        let data = function.inst(*first);
        if partner.contains_key(first) || !is_pairable(function, data) {
            continue;
        }
        // What is computed from the first can't go with it.
        let mut tainted: HashSet<Value> = data.results.iter().copied().collect();
        for second in insts[number + 1..].iter().take(WINDOW) {
            let other = function.inst(*second);
            if other.args.iter().any(|arg| tainted.contains(arg)) {
                tainted.extend(&other.results);
                continue;
            }
            if !partner.contains_key(second)
                && fits(function, data, other)
                && is_pairable(function, other)
            {
                partner.insert(*first, *second);
                partner.insert(*second, *first);
                break;
            }
        }
    }
    partner
}

/// Instructions of a block that wait for the second of a pair, or for what waits.
struct Waiting {
    insts: Vec<Inst>,
    /// Their results.
    results: HashSet<Value>,
}

impl Waiting {
    fn add(&mut self, function: &Function, inst: Inst) {
        self.insts.push(inst);
        self.results.extend(&function.inst(inst).results);
    }

    fn is_ready(&self, data: &InstData) -> bool {
        !data.args.iter().any(|arg| self.results.contains(arg))
    }

    /// Takes the first that is ready for `emit`: it and its partner, or it alone.
    fn take_ready(&mut self, function: &Function, partner: &HashMap<Inst, Inst>) -> Option<Inst> {
        let ready = |inst: &Inst| {
            self.is_ready(function.inst(*inst))
                && partner.get(inst).is_none_or(|other| {
                    self.insts.contains(other) && self.is_ready(function.inst(*other))
                })
        };
        let place = self.insts.iter().position(ready)?;
        let inst = self.insts.remove(place);
        self.forget(function, inst);
        if let Some(other) = partner.get(&inst) {
            self.insts.retain(|waiting| waiting != other);
            self.forget(function, *other);
        }
        Some(inst)
    }

    fn forget(&mut self, function: &Function, inst: Inst) {
        for result in &function.inst(inst).results {
            self.results.remove(result);
        }
    }
}

fn pair_block(function: &mut Function, block: BlockId, pairs: &mut Pairs) {
    let insts = std::mem::take(&mut function.block_mut(block).insts);
    let mut partner = find_pairs(function, &insts);
    if partner.is_empty() {
        function.block_mut(block).insts = insts;
        return;
    }
    let order: HashMap<Inst, usize> = insts.iter().copied().zip(0..).collect();
    let mut waiting = Waiting {
        insts: vec![],
        results: HashSet::default(),
    };
    for inst in insts {
        let data = function.inst(inst);
        let waits = partner.contains_key(&inst) || !waiting.is_ready(data);
        if waits && data.op.is_pure() {
            waiting.add(function, inst);
        } else {
            // What it reads can't wait any longer.
            while !waiting.is_ready(function.inst(inst)) {
                separate(&mut waiting, function, block, &mut partner);
            }
            function.block_mut(block).insts.push(inst);
            continue;
        }
        while let Some(ready) = waiting.take_ready(function, &partner) {
            emit(function, block, ready, &partner, &order, pairs);
        }
        while waiting.insts.len() > MOST_WAITING {
            separate(&mut waiting, function, block, &mut partner);
        }
    }
    while !waiting.insts.is_empty() {
        separate(&mut waiting, function, block, &mut partner);
        while let Some(ready) = waiting.take_ready(function, &partner) {
            emit(function, block, ready, &partner, &order, pairs);
        }
    }
}

/// Lets the oldest instruction that waits go alone: it reads nothing that still waits.
fn separate(
    waiting: &mut Waiting,
    function: &mut Function,
    block: BlockId,
    partner: &mut HashMap<Inst, Inst>,
) {
    let inst = waiting.insts.remove(0);
    waiting.forget(function, inst);
    if let Some(other) = partner.remove(&inst) {
        partner.remove(&other);
    }
    function.block_mut(block).insts.push(inst);
}

/// Appends an instruction, together with its partner if it has one.
fn emit(
    function: &mut Function,
    block: BlockId,
    inst: Inst,
    partner: &HashMap<Inst, Inst>,
    order: &HashMap<Inst, usize>,
    pairs: &mut Pairs,
) {
    let Some(other) = partner.get(&inst) else {
        function.block_mut(block).insts.push(inst);
        return;
    };
    let (low, high) = match order[&inst] < order[other] {
        true => (inst, *other),
        false => (*other, inst),
    };
    let (low, high) = (function.inst(low).clone(), function.inst(high).clone());
    let mut b = Builder::new(function, block);
    (b.position, b.exact) = (low.position, low.exact);
    let word = both(&mut b, &low, &high, pairs);
    let results = (low.results[0], high.results[0]);
    pairs.words.insert(results, word);
    let parts = apart(&mut b, word);
    pairs.replaced.insert(results.0, parts[0]);
    pairs.replaced.insert(results.1, parts[1]);
}

/// The two halves of a word.
fn apart(b: &mut Builder<'_>, word: Value) -> [Value; 2] {
    let above = b.alu_word(Alu::UShr, word, 16);
    [word, above].map(|word| b.alu(Alu::U2U16, &[word]))
}

/// Both operations at once.
fn both(b: &mut Builder<'_>, low: &InstData, high: &InstData, pairs: &mut Pairs) -> Value {
    const SIGNS: u32 = 0x8000_8000;
    let Op::Alu(alu) = low.op else {
        // Nothing else is paired.
        return b.word(0);
    };
    let first = usize::from(alu == Alu::Select);
    let mut words = vec![];
    for (low, high) in low.args.iter().zip(&high.args).skip(first) {
        words.push(together(b, *low, *high, pairs));
    }
    let integers = match alu {
        Alu::IAdd => Some(Alu::IAdd2),
        Alu::ISub => Some(Alu::ISub2),
        Alu::IMul => Some(Alu::IMul2),
        Alu::IAbs => Some(Alu::IAbs2),
        Alu::SMin => Some(Alu::SMin2),
        Alu::SMax => Some(Alu::SMax2),
        Alu::UMin => Some(Alu::UMin2),
        Alu::UMax => Some(Alu::UMax2),
        Alu::IShl => Some(Alu::IShl2),
        Alu::UShr => Some(Alu::UShr2),
        Alu::SShr => Some(Alu::SShr2),
        // Bit by bit.
        Alu::IAnd | Alu::IOr | Alu::IXor | Alu::INot | Alu::BitSelect => Some(alu),
        _ => None,
    };
    if let Some(integers) = integers {
        return b.alu(integers, &words);
    }
    match alu {
        Alu::INeg => {
            let zero = b.word(0);
            b.alu(Alu::ISub2, &[zero, words[0]])
        }
        Alu::FSub => {
            let minus = b.alu_word(Alu::IXor, words[1], SIGNS);
            b.alu(Alu::FAdd2, &[words[0], minus])
        }
        Alu::FNeg => b.alu_word(Alu::IXor, words[0], SIGNS),
        Alu::FAbs => b.alu_word(Alu::IAnd, words[0], !SIGNS),
        Alu::Select => choose(b, [low.args[0], high.args[0]], [words[0], words[1]], pairs),
        Alu::FMul => b.alu(Alu::FMul2, &words),
        Alu::FFma => b.alu(Alu::FFma2, &words),
        Alu::FMin => b.alu(Alu::FMin2, &words),
        Alu::FMax => b.alu(Alu::FMax2, &words),
        Alu::FSat => b.alu(Alu::FSat2, &words),
        _ => b.alu(Alu::FAdd2, &words),
    }
}

/// In each half what its own condition chooses.
fn choose(
    b: &mut Builder<'_>,
    [low, high]: [Value; 2],
    [yes, no]: [Value; 2],
    pairs: &mut Pairs,
) -> Value {
    let compares = [low, high].map(|condition| Compare::of(b.function, condition));
    let [Some(first), Some(second)] = compares.map(|compare| compare.filter(|_| low != high))
    else {
        return b.select(low, yes, no);
    };
    let [a, c] = [0, 1].map(|part| together(b, first.args[part], second.args[part], pairs));
    let mask = b.alu(first.alu, &[a, c]);
    let arms = match first.inverted {
        false => [mask, yes, no],
        true => [mask, no, yes],
    };
    b.alu(Alu::BitSelect, &arms)
}

/// A word of two values of 16 bits, or of the low halves of two amounts.
fn together(b: &mut Builder<'_>, low: Value, high: Value, pairs: &mut Pairs) -> Value {
    if let Some(word) = pairs.words.get(&(low, high)) {
        return *word;
    }
    let is_half = b.function.ty(low) == Type::W16;
    if is_half {
        pairs.joined.push((low, high));
    }
    let halves = [low, high].map(|value| match b.function.as_bits(value) {
        Some(bits) => b.word(bits as u32 & 0xffff),
        None if is_half => b.alu(Alu::U2U32, &[value]),
        None => value,
    });
    b.alu(Alu::Pack16, &halves)
}

/// Phis whose results are brought together become one of words.
fn pair_phis(function: &mut Function, pairs: &mut Pairs) {
    let mut paired: HashSet<Value> = HashSet::default();
    let mut next = 0;
    while let Some(&(low, high)) = pairs.joined.get(next) {
        next += 1;
        let (ValueDef::Phi(block), ValueDef::Phi(other)) = (function.def(low), function.def(high))
        else {
            continue;
        };
        if block != other || low == high || paired.contains(&low) || paired.contains(&high) {
            continue;
        }
        let phis = &function.block(block).phis;
        let sources = |value: Value| {
            let phi = phis.iter().find(|phi| phi.result == value);
            phi.map(|phi| phi.sources.clone())
        };
        let (Some(low_sources), Some(high_sources)) = (sources(low), sources(high)) else {
            continue;
        };
        let high_sources: HashMap<BlockId, Value> = high_sources.into_iter().collect();
        paired.extend([low, high]);
        let word = function.new_phi(block, Type::W32);
        pairs.words.insert((low, high), word);
        let mut joined = vec![];
        for (from, low) in low_sources {
            // A phi has a source for each predecessor.
            let high = high_sources.get(&from).copied().unwrap_or(low);
            let mut b = Builder::new(function, from);
            joined.push((from, together(&mut b, low, high, pairs)));
        }
        let own = &mut function.block_mut(block).phis;
        own.retain(|phi| phi.result != low && phi.result != high);
        if let Some(phi) = own.iter_mut().find(|phi| phi.result == word) {
            phi.sources = joined;
        }
        // The halves stand before whatever reads them.
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        let parts = apart(&mut Builder::new(function, block), word);
        function.block_mut(block).insts.extend(insts);
        pairs.replaced.insert(low, parts[0]);
        pairs.replaced.insert(high, parts[1]);
    }
}
