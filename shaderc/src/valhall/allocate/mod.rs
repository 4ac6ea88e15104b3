//! Allocation: gives every word a register, and puts into memory what does not fit.
//!
//! Needs: `lower_phis`, `isolate_groups`.  Guarantees: no values are left; groups lie in consecutive registers, even
//! where they must; copies within a register are gone; `check_registers` has proved the answer in debug builds.
//! Tries the half file with several orders, then the full one, and spills only then: half the registers means twice
//! the threads.  Facts: hardware/compiler-backend.md 7, hardware/compiler-abi.md 3.10.

mod assign;
mod bundles;
mod check_registers;
mod file;
mod spill;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use self::assign::{Order, Until, assign};
use self::bundles::{Bundle, Bundles, Preloads};
use self::file::RegisterFile;
use self::spill::{Spills, spill};
use super::liveness;
use super::mir::{Function, Op, Register, Value, Word};

pub(crate) use self::check_registers::Wrong;

/// Choices that are open to the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct AllocateOptions {
    /// Use only this many of the low registers (and those that are preloaded). To try spilling on small functions.
    pub(crate) limit: Option<u32>,
    /// Never the half file.
    pub(crate) full_file: bool,
    /// Whether the answer is proved, as it always is in debug builds.
    pub(crate) check: bool,
}

/// What allocation reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Allocated {
    /// 32 or 64: what each thread is given.
    pub(crate) registers_per_thread: u32,
    /// Distinct registers named.
    pub(crate) registers_used: u32,
    /// Store instructions that spilling inserted.
    pub(crate) spills: usize,
    /// Load instructions that spilling inserted.
    pub(crate) fills: usize,
}

/// Why there is no allocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AllocateError {
    /// One instruction needs more registers than there are.
    TooFewRegisters,
    /// Spill slots and variables together exceed what can be addressed.
    ScratchFull,
    /// The checker found a wrong register: a defect of the compiler.
    Wrong(Box<Wrong>),
}

/// Each round spills something that was not spilled before, so this is never reached; it bounds the loop.
const MOST_ROUNDS: usize = 1000;

/// Allocates registers in place.
pub(crate) fn allocate(
    function: &mut Function,
    options: AllocateOptions,
) -> Result<Allocated, AllocateError> {
    let preloaded = function
        .preloads
        .iter()
        .fold(0, |mask, preload| mask | preload.register.bit());
    let limited = |file: RegisterFile| {
        options
            .limit
            .map_or(file, |count| file.limited(count, preloaded))
    };
    // What the checker compares with.
    let checks = cfg!(debug_assertions) || options.check;
    let original = checks.then(|| function.clone());
    let mut spills = Spills::default();
    let full = limited(RegisterFile::FULL);
    for round in 0..MOST_ROUNDS {
        let files = [(RegisterFile::HALF, 32), (RegisterFile::FULL, 64)];
        // Once something had to be spilled for 64 registers, 32 are hopeless.
        for (file, count) in files
            .into_iter()
            .skip(usize::from(round > 0 || options.full_file))
        {
            if let Some(registers) = place_all(function, limited(file)) {
                if let Some(original) = &original {
                    check_registers::check(original, function, &registers, &spills)
                        .map_err(|wrong| AllocateError::Wrong(Box::new(wrong)))?;
                }
                let registers_used = apply(function, &registers);
                return Ok(Allocated {
                    registers_per_thread: count,
                    registers_used,
                    spills: spills.stores,
                    fills: spills.loads,
                });
            }
        }
        let victims = find_victims(function, full, &spills);
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
type Registers = Vec<Option<Register>>;

/// Tries all ways to place everything in `file`.
fn place_all(function: &Function, file: RegisterFile) -> Option<Registers> {
    let liveness = liveness::compute(function);
    for preloads in [Preloads::Stay, Preloads::Move] {
        let bundles = Bundles::build(function, &liveness, preloads).into_vec();
        for order in [Order::Start, Order::Width, Order::Length] {
            let assigned = assign(&bundles, &[], file, order, Until::Failure);
            if assigned.failed.is_empty() {
                return Some(registers_of(function, &bundles, &assigned.bases));
            }
        }
    }
    None
}

fn registers_of(function: &Function, bundles: &[Bundle], bases: &[Option<usize>]) -> Registers {
    let mut registers = vec![None; function.values as usize];
    for (bundle, base) in bundles.iter().zip(bases) {
        for (value, word) in bundle.members() {
            registers[value.index()] = base.and_then(|base| Register::new((base + word) as u8));
        }
    }
    registers
}

/// The members of the bundles that find no place when those that are dear in memory choose first.
fn find_victims(
    function: &Function,
    file: RegisterFile,
    spills: &Spills,
) -> Vec<Vec<(Value, usize)>> {
    let liveness = liveness::compute(function);
    let bundles = Bundles::build(function, &liveness, Preloads::Move).into_vec();
    let spillable = |bundle: &Bundle| {
        bundle
            .members()
            .any(|(value, _)| !spills.keep.contains(&value))
    };
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
        // What must stay found no place: make room by the cheapest of the rest.
        let rest = (0..bundles.len()).filter(|&index| spillable(&bundles[index]));
        victims.extend(rest.min_by(|&a, &b| weights[a].total_cmp(&weights[b])));
    }
    victims
        .into_iter()
        .map(|index| bundles[index].members().collect())
        .collect()
}

/// Replaces values by their registers and drops what became nothing. Returns how many registers are named.
fn apply(function: &mut Function, registers: &Registers) -> u32 {
    let place = |word: Word| match word.value().and_then(|value| registers[value.index()]) {
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
            instr.dests.iter_mut().for_each(|word| *word = place(*word));
        }
        block.instrs.retain(|instr| {
            instr.op != Op::Nop && instr.as_copy().is_none_or(|(to, from)| to != from)
        });
        if let super::mir::Terminator::Branch { condition, .. } = &mut block.terminator
            && let super::mir::Operand::Word(word) = condition.operand
        {
            condition.operand = super::mir::Operand::Word(place(word));
        }
        for instr in &block.instrs {
            named.extend(
                instr
                    .reads()
                    .chain(instr.dests.iter().copied())
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
