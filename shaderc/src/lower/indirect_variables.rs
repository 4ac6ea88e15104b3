//! Dynamically indexed variables: small ones to selects, others to scratch memory.
//!
//! In scratch the members of an array of structures stand side by side again, of which the front end has made a variable each: so
//! `merge_accesses` makes one access of those of one element. Where an array of structures is one variable, the number of the
//! structure is kept in range, not that of each word, so that its words stay together.
//!
//! Needs: `promote_variables` has run; no variables of other words than those of 32 bits.  Guarantees: after another run of that, no variable is left.
//! An element number out of range does something harmless.  Facts: hardware/compiler-ir.md 3.3 and 5.
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::ir::cfg::Cfg;
use crate::ir::range::Tested;
use crate::ir::rewrite::rewrite;
use crate::ir::{Access, Alu, Builder, Function, Op, Space, Type, Value, Var};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "indirect_variables",
    what: "dynamically indexed variables become selects or scratch memory",
    run,
};

/// Most elements that are selected among: each costs an instruction, but no access of memory.
const MAX_SELECTED: u32 = 12;
/// Most elements of all arrays that are selected among: each keeps a register.
const MAX_REGISTERS: u32 = 24;
/// Most members that stand side by side: as many words as an access has.
const MAX_MEMBERS: usize = 4;

/// Where a variable lies in scratch.
#[derive(Clone, Copy)]
struct Place {
    /// Byte offset of element 0.
    base: u32,
    /// Bytes from one element to the next are 2 to this power.
    shift: u32,
}

fn run(function: &mut Function, _: &Target) -> Changed {
    // By variable: the values that it is indexed by.
    let mut indices: Vec<Vec<Value>> = vec![vec![]; function.vars().count()];
    for (_, inst) in function.placed_insts() {
        let data = function.inst(inst);
        if let Op::LoadVar(var) | Op::StoreVar(var) = data.op
            && function.as_word(data.args[0]).is_none()
        {
            indices[var.index()].push(data.args[0]);
        }
    }
    let mut scratch = vec![None; indices.len()];
    for members in structures(function, &indices) {
        let (base, words) = (
            function.scratch_bytes,
            members.len().next_power_of_two() as u32,
        );
        let shift = 2 + words.trailing_zeros();
        let mut bytes = 0;
        for (number, member) in (0..).zip(members) {
            let base = base.saturating_add(4 * number);
            scratch[member.index()] = Some(Place { base, shift });
            bytes = function.var(member).len << shift;
        }
        // Far too much is refused by the back end.
        let bytes = bytes.next_multiple_of(16);
        function.scratch_bytes = function.scratch_bytes.saturating_add(bytes);
    }
    let together = together(function);
    let cfg = Cfg::of(function);
    let changed = rewrite(function, |b, data| {
        let (var, stored) = match data.op {
            Op::LoadVar(var) => (var, None),
            Op::StoreVar(var) => (var, Some(data.args[1])),
            _ => return None,
        };
        let element = data.args[0];
        let offset = |b: &mut Builder<'_>, place| {
            let tested = Tested::at(b.function, &cfg, b.block);
            match together.contains(&(var, element)) {
                true => offset_in_structure(b, var, place, element, &tested),
                false => offset(b, var, place, element, &tested),
            }
        };
        match (scratch[var.index()], stored) {
            (Some(place), None) => {
                let offset = offset(b, place);
                Some(vec![load(b, var, offset)])
            }
            (Some(place), Some(value)) => {
                let offset = offset(b, place);
                store(b, var, offset, value);
                Some(vec![])
            }
            (None, _) if b.function.as_word(element).is_some() => None,
            (None, None) => Some(vec![select(b, var, element)]),
            (None, Some(value)) => {
                replace(b, var, element, value);
                Some(vec![])
            }
        }
    });
    Changed::from_bool(changed)
}

/// By variable: whether it is small enough to be selected among, with those that are smaller.
fn selected(function: &Function, indices: &[Vec<Value>]) -> Vec<bool> {
    let mut selected = vec![false; indices.len()];
    let small = function.vars().filter(|(_, data)| data.len <= MAX_SELECTED);
    let mut small: Vec<(u32, Var)> = small.map(|(var, data)| (data.len, var)).collect();
    small.retain(|(_, var)| !indices[var.index()].is_empty());
    small.sort();
    let mut registers = 0;
    for (len, var) in small {
        registers += len;
        selected[var.index()] = registers <= MAX_REGISTERS;
    }
    selected
}

/// The variables that go to scratch, those together that stand side by side: arrays of one length that share an index.
fn structures(function: &Function, indices: &[Vec<Value>]) -> Vec<Vec<Var>> {
    let selected = selected(function, indices);
    let mut all: Vec<Vec<Var>> = vec![];
    // By index and length: the last structure that is indexed by it.
    let mut by_index: HashMap<(Value, u32), usize> = HashMap::default();
    for (var, data) in function.vars() {
        let own = &indices[var.index()];
        if own.is_empty() || selected[var.index()] {
            continue;
        }
        let mut shared = own
            .iter()
            .filter_map(|index| by_index.get(&(*index, data.len)));
        let number = shared
            .find(|number| all[**number].len() < MAX_MEMBERS)
            .copied();
        let number = number.unwrap_or(all.len());
        match all.get_mut(number) {
            Some(members) => members.push(var),
            None => all.push(vec![var]),
        }
        by_index.extend(own.iter().map(|index| ((*index, data.len), number)));
    }
    all
}

/// Element `low` to `high` by halving: each half's result selected by whether the number is below the middle.
fn select(b: &mut Builder<'_>, var: Var, element: Value) -> Value {
    let len = b.function.var(var).len;
    let loads = (0..len).map(|number| {
        let number = b.word(number);
        b.load_var(var, number)
    });
    let mut level: Vec<(u32, Value)> = (0..).zip(loads.collect::<Vec<Value>>()).collect();
    while level.len() > 1 {
        let mut next = vec![];
        for pair in level.chunks(2) {
            match pair {
                [(first, low), (second, high)] => {
                    let below = b.alu_word(Alu::ULt, element, *second);
                    next.push((*first, b.select(below, *low, *high)));
                }
                rest => next.extend_from_slice(rest),
            }
        }
        level = next;
    }
    level[0].1
}

fn replace(b: &mut Builder<'_>, var: Var, element: Value, value: Value) {
    for number in 0..b.function.var(var).len {
        let here = b.alu_word(Alu::IEq, element, number);
        let number = b.word(number);
        let old = b.load_var(var, number);
        let new = b.select(here, value, old);
        b.store_var(var, number, new);
    }
}

/// The byte offset in scratch, kept inside the variable.
fn offset(b: &mut Builder<'_>, var: Var, place: Place, element: Value, tested: &Tested) -> Value {
    let last = b.function.var(var).len - 1;
    let Place { base, shift } = place;
    if let Some(number) = b.function.as_word(element) {
        return b.word(base.wrapping_add(number.min(last) << shift));
    }
    let bytes = shifted_at_most(b, element, shift, last, tested);
    plus(b, bytes, base)
}

/// The same where the number of the structure is kept inside.
fn offset_in_structure(
    b: &mut Builder<'_>,
    var: Var,
    place: Place,
    element: Value,
    tested: &Tested,
) -> Value {
    let len = b.function.var(var).len;
    let Some(word) = structure_word(b.function, element, len) else {
        return offset(b, var, place, element, tested);
    };
    let number = plus(b, word.structure, word.further);
    let last = len / word.words - 1;
    let bytes = match word.words.is_power_of_two() {
        true => {
            let shift = word.words.trailing_zeros() + place.shift;
            shifted_at_most(b, number, shift, last, tested)
        }
        false => {
            let number = at_most(b, number, last, tested);
            b.alu_word(Alu::IMul, number, word.words << place.shift)
        }
    };
    plus(b, bytes, place.base.wrapping_add(word.word << place.shift))
}

/// The variables with element numbers that count words of structures of which other words are accessed by the same number.
fn together(function: &Function) -> HashSet<(Var, Value)> {
    let accesses = function.placed_insts().filter_map(|(_, inst)| {
        let data = function.inst(inst);
        let (Op::LoadVar(var) | Op::StoreVar(var)) = data.op else {
            return None;
        };
        let word = structure_word(function, data.args[0], function.var(var).len)?;
        let structure = (var, word.structure, word.further, word.words);
        Some((structure, word.word, (var, data.args[0])))
    });
    // By structure: a word of it, and whether there is another.
    let mut words: HashMap<_, (u32, bool)> = HashMap::default();
    for (structure, word, _) in accesses.clone() {
        let (first, others) = words.entry(structure).or_insert((word, false));
        *others |= *first != word;
    }
    let several =
        accesses.filter(|(structure, ..)| words.get(structure).is_some_and(|known| known.1));
    several.map(|(.., element)| element).collect()
}

/// A word of a structure in an array of them.
struct StructureWord {
    /// The number of the structure is this,
    structure: Value,
    /// and so many more.
    further: u32,
    /// The word in it.
    word: u32,
    /// Words that it has.
    words: u32,
}

/// What an element number like `number * words + word` counts, if so many elements are whole structures.
fn structure_word(function: &Function, element: Value, len: u32) -> Option<StructureWord> {
    let sum = |value: Value| {
        let data = function.def_inst(value)?;
        let constant = function.as_word(*data.args.get(1)?)?;
        (data.op == Op::Alu(Alu::IAdd)).then_some((data.args[0], constant))
    };
    let (product, constant) = sum(element).unwrap_or((element, 0));
    let data = function.def_inst(product)?;
    let factor = function.as_word(*data.args.get(1)?)?;
    let words = match data.op {
        Op::Alu(Alu::IShl) => 1_u32.checked_shl(factor)?,
        Op::Alu(Alu::IMul) => factor,
        _ => return None,
    };
    let whole = (2..=MAX_MEMBERS as u32).contains(&words) && len.is_multiple_of(words);
    // What is counted from the end is a negative constant.
    let constant = constant.cast_signed();
    whole.then_some(StructureWord {
        structure: data.args[0],
        further: constant.div_euclid(words.cast_signed()).cast_unsigned(),
        word: constant.rem_euclid(words.cast_signed()).cast_unsigned(),
        words,
    })
}

/// The offset of an element, at most that of the last. The offset is kept inside, not the number: so what is shifted is a
/// counter, beside which `keep_products` keeps it. A number that loses bits is out of range, and gives an element inside.
fn shifted_at_most(
    b: &mut Builder<'_>,
    element: Value,
    shift: u32,
    last: u32,
    tested: &Tested,
) -> Value {
    let is_inside = tested.upper_bound(b.function, element) <= last;
    let bytes = b.alu_word(Alu::IShl, element, shift);
    match is_inside {
        true => bytes,
        false => b.alu_word(Alu::UMin, bytes, last << shift),
    }
}

fn at_most(b: &mut Builder<'_>, value: Value, most: u32, tested: &Tested) -> Value {
    match tested.upper_bound(b.function, value) <= most {
        true => value,
        false => b.alu_word(Alu::UMin, value, most),
    }
}

fn plus(b: &mut Builder<'_>, value: Value, constant: u32) -> Value {
    match constant {
        0 => value,
        constant => b.alu_word(Alu::IAdd, value, constant),
    }
}

fn load(b: &mut Builder<'_>, var: Var, offset: Value) -> Value {
    let word = b.load(Access::words(Space::Scratch, 1), &[offset])[0];
    match b.function.var(var).ty {
        Type::Bool => b.alu_word(Alu::INe, word, 0),
        _ => word,
    }
}

fn store(b: &mut Builder<'_>, var: Var, offset: Value, value: Value) {
    let word = match b.function.var(var).ty {
        Type::Bool => b.alu(Alu::B2I, &[value]),
        _ => value,
    };
    b.store(Access::words(Space::Scratch, 1), &[offset], &[word]);
}
