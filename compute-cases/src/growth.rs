//! Modules that grow: one kind of code as often as is asked for, to see how the work of a compiler grows with it.
//!
//! Needs: nothing.  Guarantees: valid SPIR-V 1.3 of one compute shader with one storage buffer of words at set 0, binding 0.

mod module;

use rspirv::spirv::{GroupOperation, LoopControl, Op, Scope, SelectionControl, StorageClass};

use module::{BOOL, BUFFER, Id, Module, OWN_POINTER, POINTER, WORD, ZERO};

/// A kind of code.
pub struct Growth {
    /// Its name.
    pub name: &'static str,
    /// What there is so many of.
    pub what: &'static str,
    /// A size that no shader of today has, and that a compiler should be done with, or refuse, in less than a second.
    pub large: u32,
    write: fn(&mut Module, u32),
}

impl Growth {
    /// All kinds.
    #[rustfmt::skip]
    pub const ALL: &[Growth] = &[
        Growth { name: "straight",     what: "operations in a row, each on the one before",          large: 10_000, write: straight },
        Growth { name: "live",         what: "words that are loaded first and all needed at the end", large: 1_000,  write: live },
        Growth { name: "stores",       what: "stores to neighbouring words",                          large: 4_000,  write: stores },
        Growth { name: "ifs",          what: "branches in a row that meet in a phi",                  large: 4_000,  write: ifs },
        Growth { name: "nested_ifs",   what: "branches in branches",                                  large: 20_000, write: nested_ifs },
        Growth { name: "dead_ifs",     what: "branches, each on what the one before chose, the last of which nobody reads", large: 20_000, write: dead_ifs },
        Growth { name: "loops",        what: "loops in a row",                                        large: 2_000,  write: loops },
        Growth { name: "nested_loops", what: "loops in loops",                                        large: 5_000,  write: nested_loops },
        Growth { name: "lanes",        what: "reductions over a subgroup in a row, each of the one before", large: 2_000, write: lanes },
        Growth { name: "switch",       what: "cases of a switch",                                     large: 16_000, write: switch },
        Growth { name: "selects",      what: "selects in a row, each of what the one before chose",   large: 4_000,  write: selects },
        Growth { name: "rows",         what: "loads from rows and stores between them",               large: 1_000,  write: rows },
        Growth { name: "phis",         what: "words that change places in each round of a loop",      large: 250,    write: phis },
        Growth { name: "arrays",       what: "variables that are indexed by what was loaded from the one before", large: 200, write: arrays },
        Growth { name: "counters",     what: "loops in a row that count to a word of memory, and load", large: 500,  write: counters },
        Growth { name: "invariants",   what: "words that are squared again and again in a loop, which loads from there", large: 400, write: invariants },
    ];

    /// A module with so many of them, little-endian.
    pub fn module(&self, size: u32) -> Vec<u8> {
        let mut module = Module::new();
        (self.write)(&mut module, size);
        module.finish()
    }
}

fn straight(module: &mut Module, size: u32) {
    let [mut x, y] = [0, 1].map(|index| module.load(index));
    for number in 0..size {
        x = match number % 3 {
            0 => module.make(Op::IMul, WORD, &[x, y]),
            1 => {
                let constant = module.constant(number);
                module.make(Op::IAdd, WORD, &[x, constant])
            }
            _ => module.make(Op::BitwiseXor, WORD, &[x, y]),
        };
    }
    module.store(0, x);
}

fn live(module: &mut Module, size: u32) {
    let words: Vec<Id> = (0..size).map(|index| module.load(index)).collect();
    let mut sum = words[0];
    for (number, word) in words.iter().rev().enumerate() {
        let other = words[(number * 7 + 3) % words.len()];
        let product = module.make(Op::IMul, WORD, &[*word, other]);
        sum = module.make(Op::BitwiseXor, WORD, &[sum, product]);
    }
    module.store(0, sum);
}

fn stores(module: &mut Module, size: u32) {
    let x = module.load(size);
    for index in 0..size {
        let constant = module.constant(index);
        let sum = module.make(Op::IAdd, WORD, &[x, constant]);
        module.store(index.wrapping_mul(5) % size, sum);
    }
}

fn ifs(module: &mut Module, size: u32) {
    let y = branches(module, size, true);
    module.store(0, y);
}

fn dead_ifs(module: &mut Module, size: u32) {
    branches(module, size, false);
}

/// Branches that meet in a phi; what the last one gives. With `stores` something else than the phi asks for each branch;
/// without, each branch asks for what the one before chose.
fn branches(module: &mut Module, size: u32, stores: bool) -> Id {
    let x = module.load(0);
    let mut y = module.load(1);
    let mut from = module.id();
    module.jump(from);
    module.label(from);
    for number in 0..size {
        let [yes, merge] = [(); 2].map(|()| module.id());
        let bit = module.constant(1 << (number % 16));
        let masked = module.make(Op::BitwiseAnd, WORD, &[if stores { x } else { y }, bit]);
        module.branch(masked, yes, merge, merge);
        module.label(yes);
        if stores {
            module.store(number + 2, y);
        }
        let sum = module.make(Op::IAdd, WORD, &[y, bit]);
        module.jump(merge);
        module.label(merge);
        y = module.make(Op::Phi, WORD, &[sum, yes, y, from]);
        from = merge;
    }
    y
}

fn nested_ifs(module: &mut Module, size: u32) {
    let x = module.load(0);
    let mut merges = vec![];
    for number in 0..size {
        let [yes, merge] = [(); 2].map(|()| module.id());
        let constant = module.constant(number + 1);
        let sum = module.make(Op::BitwiseXor, WORD, &[x, constant]);
        module.branch(sum, yes, merge, merge);
        module.label(yes);
        module.store(number + 1, sum);
        merges.push(merge);
    }
    while let Some(merge) = merges.pop() {
        module.jump(merge);
        module.label(merge);
    }
}

fn selects(module: &mut Module, size: u32) {
    let [mut x, y] = [0, 1].map(|index| module.load(index));
    for number in 0..size {
        let constant = module.constant(number + 1);
        let condition = module.make(Op::ULessThan, BOOL, &[x, constant]);
        let sum = module.make(Op::IAdd, WORD, &[x, y]);
        let other = module.make(Op::BitwiseXor, WORD, &[x, constant]);
        x = module.make(Op::Select, WORD, &[condition, sum, other]);
    }
    module.store(0, x);
}

/// A word at `row * width + column`, where the row is one of several in turn.
fn row(module: &mut Module, row: Id, width: Id, number: u32) -> Id {
    let [down, column] = [number / 8 % 4, number % 8].map(|constant| module.constant(constant));
    let row = module.make(Op::IAdd, WORD, &[row, down]);
    let start = module.make(Op::IMul, WORD, &[row, width]);
    let index = module.make(Op::IAdd, WORD, &[start, column]);
    module.make(Op::AccessChain, POINTER, &[BUFFER, ZERO, index])
}

fn rows(module: &mut Module, size: u32) {
    let [first, width] = [0, 1].map(|index| module.load(index));
    let mut sum = first;
    for number in 0..size {
        let place = row(module, first, width, number);
        let word = module.make(Op::Load, WORD, &[place]);
        sum = module.make(Op::IAdd, WORD, &[sum, word]);
        if number % 16 == 15 {
            let place = row(module, sum, width, number);
            module.op(Op::Store, &[place, sum]);
        }
    }
    module.store(0, sum);
}

/// A loop that counts to a word of memory.
struct Counted {
    /// The header, the latch and the merge of the loop, which `close` is given.
    ends: [Id; 3],
    counter: Id,
}

impl Counted {
    /// Begins a loop whose phis `more` makes: it is given the blocks that control comes from.
    fn open(module: &mut Module, bound: Id, more: impl FnOnce(&mut Module, [Id; 2])) -> Counted {
        let [before, header, inside, latch, merge, next] = [(); 6].map(|()| module.id());
        module.jump(before);
        module.label(before);
        module.jump(header);
        module.label(header);
        let counter = module.make(Op::Phi, WORD, &[ZERO, before, next, latch]);
        more(module, [before, latch]);
        let one = module.constant(1);
        let condition = module.make(Op::ULessThan, BOOL, &[counter, bound]);
        module.op(Op::LoopMerge, &[merge, latch, LoopControl::NONE.bits()]);
        module.op(Op::BranchConditional, &[condition, inside, merge]);
        module.label(inside);
        module.op(Op::IAdd, &[WORD, next, counter, one]);
        Counted {
            ends: [header, latch, merge],
            counter,
        }
    }

    /// A word that lies so many words behind that of the counter's number.
    fn load(&self, module: &mut Module, behind: u32) -> Id {
        let behind = module.constant(behind);
        let index = module.make(Op::IAdd, WORD, &[self.counter, behind]);
        let place = module.make(Op::AccessChain, POINTER, &[BUFFER, ZERO, index]);
        module.make(Op::Load, WORD, &[place])
    }
}

fn phis(module: &mut Module, size: u32) {
    let bound = module.load(size);
    let starts: Vec<Id> = (0..size).map(|index| module.load(index)).collect();
    let words: Vec<Id> = starts.iter().map(|_| module.id()).collect();
    let counted = Counted::open(module, bound, |module, [before, latch]| {
        for (number, (word, start)) in words.iter().zip(&starts).enumerate() {
            let next = words[(number + 1) % words.len()];
            module.op(Op::Phi, &[WORD, *word, *start, before, next, latch]);
        }
    });
    close(module, counted.ends);
    let sum = words
        .iter()
        .copied()
        .reduce(|sum, word| module.make(Op::IMul, WORD, &[sum, word]));
    if let Some(sum) = sum {
        module.store(0, sum);
    }
}

fn arrays(module: &mut Module, size: u32) {
    const LENGTH: u32 = 6;
    let length = module.constant(LENGTH);
    let [array, pointer] = [(); 2].map(|()| module.id());
    module.declare(Op::TypeArray, &[array, WORD, length]);
    let own = StorageClass::Function as u32;
    module.declare(Op::TypePointer, &[pointer, own, array]);
    let variables: Vec<Id> = (0..size)
        .map(|_| module.make(Op::Variable, pointer, &[own]))
        .collect();
    let mut sum = module.load(0);
    for (variable, number) in variables.into_iter().zip(0..) {
        for index in 0..LENGTH {
            let constant = module.constant(index);
            let place = module.make(Op::AccessChain, OWN_POINTER, &[variable, constant]);
            let word = module.load(number + index);
            module.op(Op::Store, &[place, word]);
        }
        let index = module.make(Op::UMod, WORD, &[sum, length]);
        let place = module.make(Op::AccessChain, OWN_POINTER, &[variable, index]);
        let word = module.make(Op::Load, WORD, &[place]);
        sum = module.make(Op::IAdd, WORD, &[sum, word]);
    }
    module.store(0, sum);
}

fn counters(module: &mut Module, size: u32) {
    let bound = module.load(0);
    for number in 0..size {
        let counted = Counted::open(module, bound, |_, _| {});
        let word = counted.load(module, number);
        module.store(number, word);
        close(module, counted.ends);
    }
}

fn invariants(module: &mut Module, size: u32) {
    /// A word is squared so often. Each square reads the one before twice, so 4096 paths lead through the expression.
    const LEVELS: u32 = 12;
    let bound = module.load(0);
    let counted = Counted::open(module, bound, |_, _| {});
    for number in 0..size {
        let constant = module.constant(number);
        let mut x = module.make(Op::IAdd, WORD, &[bound, constant]);
        for _ in 0..LEVELS {
            x = module.make(Op::IMul, WORD, &[x, x]);
        }
        let place = module.make(Op::AccessChain, POINTER, &[BUFFER, ZERO, x]);
        let word = module.make(Op::Load, WORD, &[place]);
        module.store(number, word);
    }
    close(module, counted.ends);
}

/// Opens a loop that is left when a word of memory is zero: its header, latch and merge, for `close`.
fn open(module: &mut Module, number: u32) -> [Id; 3] {
    let [header, inside, latch, merge] = [(); 4].map(|()| module.id());
    module.jump(header);
    module.label(header);
    let more = module.load(number);
    let condition = module.make(Op::INotEqual, BOOL, &[more, ZERO]);
    module.op(Op::LoopMerge, &[merge, latch, LoopControl::NONE.bits()]);
    module.op(Op::BranchConditional, &[condition, inside, merge]);
    module.label(inside);
    [header, latch, merge]
}

fn close(module: &mut Module, [header, latch, merge]: [Id; 3]) {
    module.jump(latch);
    module.label(latch);
    module.jump(header);
    module.label(merge);
}

fn loops(module: &mut Module, size: u32) {
    for number in 0..size {
        let ends = open(module, number);
        module.store(number + 1, ZERO);
        close(module, ends);
    }
}

fn nested_loops(module: &mut Module, size: u32) {
    let mut ends: Vec<[Id; 3]> = (0..size).map(|number| open(module, number)).collect();
    module.store(0, ZERO);
    while let Some(inner) = ends.pop() {
        close(module, inner);
    }
}

fn lanes(module: &mut Module, size: u32) {
    let scope = module.constant(Scope::Subgroup as u32);
    let mut x = module.load(0);
    for number in 0..size {
        let constant = module.constant(number);
        let sum = module.make(
            Op::GroupNonUniformIAdd,
            WORD,
            &[scope, GroupOperation::Reduce as u32, x],
        );
        x = module.make(Op::BitwiseXor, WORD, &[sum, constant]);
    }
    module.store(0, x);
}

fn switch(module: &mut Module, size: u32) {
    let x = module.load(0);
    let merge = module.id();
    let labels: Vec<Id> = (0..size).map(|_| module.id()).collect();
    module.op(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
    let cases = labels.iter().zip(0u32..);
    let cases = cases.flat_map(|(label, number)| [number, *label]);
    let operands: Vec<u32> = [x, merge].into_iter().chain(cases).collect();
    module.op(Op::Switch, &operands);
    for (label, number) in labels.into_iter().zip(1u32..) {
        module.label(label);
        let constant = module.constant(number);
        module.store(number, constant);
        module.jump(merge);
    }
    module.label(merge);
}
