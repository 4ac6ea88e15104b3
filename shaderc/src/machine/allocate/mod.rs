//! Allocation: gives every word a register, and puts into memory what does not fit.
//!
//! Needs: `lower_phis`, `isolate_groups`.  Guarantees: no values are left; groups lie in consecutive registers, even
//! where they must; copies within a register are gone; `check_registers` has proved the answer in debug builds.
//! Tries each file in turn with several orders, and spills only when the last has no room: the caller orders them by what
//! more registers cost.  Facts: hardware/compiler-backend.md 7.

mod assign;
mod bundles;
pub(crate) mod check_registers;
mod file;
pub(crate) mod spill;

use std::collections::BTreeSet;

use self::assign::{Order, Until, assign};
use self::bundles::{Bundle, Bundles, Preloads};
use self::spill::{Spills, spill};
use super::liveness::{self, Liveness};
use super::{Class, Function, Instruction, Machine, Register, Value, Word, WordOf};

pub(crate) use self::check_registers::Wrong;
pub(crate) use self::file::RegisterFile;

/// What is open to the caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllocateOptions<'f> {
    /// Register files, the most welcome one first. Only for the last are values kept in memory.
    pub(crate) files: &'f [RegisterFile],
    /// Whether the answer is proved, as it always is in debug builds.
    pub(crate) check: bool,
}

/// What allocation reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Allocated {
    /// Which of the files it was.
    pub(crate) file: usize,
    /// Distinct registers named.
    pub(crate) registers_used: u32,
    /// Stores to slots that spilling inserted.
    pub(crate) spills: usize,
    /// Loads from slots that spilling inserted.
    pub(crate) fills: usize,
}

/// Why there is no allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AllocateError<M: Machine> {
    /// One instruction needs more registers than there are.
    TooFewRegisters,
    /// Spill slots and variables together exceed what can be addressed.
    ScratchFull,
    /// The checker found a wrong register: a defect of the compiler.
    Wrong(Box<Wrong<M>>),
}

/// Each round spills something that was not spilled before, so this is never reached; it bounds the loop.
const MOST_ROUNDS: usize = 1000;

/// Allocates registers in place.
pub(crate) fn allocate<M: Machine>(
    function: &mut Function<M>,
    options: AllocateOptions<'_>,
) -> Result<Allocated, AllocateError<M>> {
    let Some(last) = options.files.len().checked_sub(1) else {
        return Err(AllocateError::TooFewRegisters);
    };
    // What the checker compares with.
    let checks = cfg!(debug_assertions) || options.check;
    let original = checks.then(|| function.clone());
    let mut spills = Spills::default();
    for round in 0..MOST_ROUNDS {
        let liveness = liveness::compute(function);
        // Once something had to be spilled for the last file, the others are hopeless.
        let first = if round > 0 { last } else { 0 };
        if let Some((file, registers)) = place_all(function, &liveness, options.files, first) {
            if let Some(original) = &original {
                check_registers::check(original, function, &registers, &spills)
                    .map_err(|wrong| AllocateError::Wrong(Box::new(wrong)))?;
            }
            let registers_used = apply(function, &registers);
            return Ok(Allocated {
                file,
                registers_used,
                spills: spills.stores,
                fills: spills.loads,
            });
        }
        let victims = find_victims(function, &liveness, &options.files[last], &spills);
        if victims.is_empty() {
            return Err(AllocateError::TooFewRegisters);
        }
        if !spill(function, &mut spills, &victims) {
            return Err(AllocateError::ScratchFull);
        }
    }
    Err(AllocateError::TooFewRegisters)
}

/// By value, its register.
type Registers<M> = Vec<Option<<M as Machine>::Register>>;

/// Tries all ways to place everything in one of the files, from `first` on. Gives the file's number and the registers.
fn place_all<M: Machine>(
    function: &Function<M>,
    liveness: &Liveness,
    files: &[RegisterFile],
    first: usize,
) -> Option<(usize, Registers<M>)> {
    let mut bundles: [Option<Vec<Bundle>>; 2] = [None, None];
    for (number, file) in files.iter().enumerate().skip(first) {
        for (bundles, preloads) in bundles.iter_mut().zip([Preloads::Stay, Preloads::Move]) {
            let bundles = bundles
                .get_or_insert_with(|| Bundles::build(function, liveness, preloads).into_vec());
            for order in [Order::Start, Order::Width, Order::Length] {
                let assigned = assign(bundles, &[], file, order, Until::Failure);
                if assigned.failed.is_empty() {
                    return Some((number, registers_of(function, bundles, &assigned.bases)));
                }
            }
        }
    }
    None
}

fn registers_of<M: Machine>(
    function: &Function<M>,
    bundles: &[Bundle],
    bases: &[Option<usize>],
) -> Registers<M> {
    let mut registers = vec![None; function.values.len()];
    for (bundle, base) in bundles.iter().zip(bases) {
        for (value, unit) in bundle.members() {
            let class = function.class(value);
            registers[value.index()] = base.and_then(|base| M::Register::at(class, base + unit));
        }
    }
    registers
}

/// The members of the bundles that find no place when those that are dear in memory choose first.
fn find_victims<M: Machine>(
    function: &Function<M>,
    liveness: &Liveness,
    file: &RegisterFile,
    spills: &Spills,
) -> Vec<Vec<(Value, usize)>> {
    let bundles = Bundles::build(function, liveness, Preloads::Move).into_vec();
    let may_spill = |(value, _): (Value, usize)| {
        !spills.keep.contains(&value) && function.class(value).may_spill()
    };
    let spillable = |bundle: &Bundle| bundle.members().any(may_spill);
    let weight = |bundle: &Bundle| {
        if !spillable(bundle) {
            return f64::INFINITY;
        }
        let uses: f64 = bundle
            .members()
            .map(|(value, _)| liveness.uses[value.index()])
            .sum();
        uses / f64::from(bundle.length().max(1))
    };
    let weights: Vec<f64> = bundles.iter().map(weight).collect();
    let assigned = assign(&bundles, &weights, file, Order::Weight, Until::End);
    let mut victims: Vec<usize> = assigned
        .failed
        .iter()
        .copied()
        .filter(|&index| spillable(&bundles[index]))
        .collect();
    if victims.is_empty() {
        // What must stay found no place, or this order has room for all and the others have not: make room by the cheapest
        // of the rest that may lie where it may.
        let rest = (0..bundles.len()).filter(|&index| {
            let rivals = |failed: &usize| bundles[*failed].may_meet(&bundles[index]);
            let failed = &assigned.failed;
            spillable(&bundles[index]) && (failed.is_empty() || failed.iter().any(rivals))
        });
        victims.extend(rest.min_by(|&a, &b| weights[a].total_cmp(&weights[b])));
    }
    let members = |index: usize| bundles[index].members().filter(|&member| may_spill(member));
    victims
        .into_iter()
        .map(|index| members(index).collect())
        .collect()
}

/// Replaces values by their registers and drops what became nothing. Returns how many registers are named.
fn apply<M: Machine>(function: &mut Function<M>, registers: &Registers<M>) -> u32 {
    let place = |word: WordOf<M>| match word.value().and_then(|value| registers[value.index()]) {
        Some(register) => Word::Register(register),
        None => word,
    };
    let mut named = BTreeSet::new();
    for preload in &mut function.preloads {
        preload.dest = place(preload.dest);
    }
    for block in &mut function.blocks {
        for instr in &mut block.instrs {
            instr.map_reads(place);
            instr.map_writes(place);
        }
        block.instrs.retain(|instr| {
            instr.note().is_none() && instr.as_copy().is_none_or(|(to, from)| to != from)
        });
        block.terminator.map_read(place);
        for instr in &block.instrs {
            named.extend(
                instr
                    .reads()
                    .chain(instr.writes())
                    .filter_map(Word::register),
            );
        }
        named.extend(block.terminator.read().and_then(Word::register));
    }
    // A preload that nobody reads any more needs no register.
    function
        .preloads
        .retain(|preload| preload.dest.register().is_some());
    named.len() as u32
}
