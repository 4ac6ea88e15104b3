//! Allocation: gives every word a register, and puts into memory what does not fit.
//!
//! Needs: SSA, with edges split for phis.  Guarantees: no values are left; groups lie in consecutive registers, even
//! where they must; copies within a register are gone; `check_spilled` and `check_registers` have proved the answer in
//! debug builds.
//! Tries each file in turn with several orders, and spills only when the last has no room: the caller orders them by what
//! more registers cost. Then the function is still in SSA form, and `machine::spill` leaves no more values alive than
//! there are registers; where those lie so that some word finds no place all the same, fewer. What no such choice has room
//! for is put into memory whole, by `spill`.  Facts: hardware/compiler-backend.md 7.

mod assign;
mod bundles;
pub(crate) mod check_registers;
mod file;
mod occupied;
mod origins;
pub(crate) mod spill;

use self::assign::{Order, Until, assign};
use self::bundles::{Bundle, Bundles, Joins, clobbered, copies_preloads, grain_of, most_taken};
use self::origins::Origins;
use self::spill::{Spills, spill};
use super::isolate_groups::isolate_written_groups;
use super::liveness::{self, Liveness};
use super::passes::Shared;
use super::spill::{Analysis, SpillError, check_spilled, spill_ssa};
use super::{Class, CopiedPart, Function, Instruction, Machine, Register, Value, Word, WordOf};
use crate::pass::Runner;

pub(crate) use self::check_registers::Wrong;
pub(crate) use self::file::RegisterFile;

/// Whether a function is worth registers.
pub(crate) type IsWorth<'f, M> = &'f dyn Fn(&Function<M>) -> bool;

/// What is open to the caller.
#[derive(Clone, Copy)]
pub(crate) struct AllocateOptions<'f, M: Machine> {
    /// Register files, the most welcome one first. Only for the last are values kept in memory.
    pub(crate) files: &'f [RegisterFile],
    /// Whether a function that keeps values in memory is worth registers: asked before it has any. Where it is not, or without
    /// this, what finds no room in the files has no answer.
    pub(crate) is_worth_spilling: Option<IsWorth<'f, M>>,
    /// Whether the answer is proved, as it always is in debug builds.
    pub(crate) check: bool,
}

/// What allocation reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Allocated {
    /// Which of the files it was.
    pub(crate) file: usize,
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
    /// The files have no room, and nothing may be kept in memory, or not as much as would have to be.
    NoRoom,
    /// Spill slots and variables together exceed what can be addressed.
    ScratchFull,
    /// The checker found a wrong register: a defect of the compiler.
    Wrong(Box<Wrong<M>>),
}

/// Each round spills something that was not spilled before, so this is never reached; it bounds the loop.
const MOST_ROUNDS: usize = 1000;

/// Allocates registers in place; none if the runner stopped before the end.
pub(crate) fn allocate<M: Machine>(
    function: &mut Function<M>,
    options: AllocateOptions<'_, M>,
    runner: &mut Runner<'_>,
) -> Result<Option<Allocated>, AllocateError<M>> {
    let Some(last) = options.files.last() else {
        return Err(AllocateError::TooFewRegisters);
    };
    // So few values always fit, and need not be kept in SSA form.
    let units: usize = function.values.iter().map(|class| class.units()).sum();
    let few = units <= last.bases(1).count() / 2;
    let kept = (options.is_worth_spilling.is_some() && !few).then(|| function.clone());
    lower(function, runner);
    if runner.is_over() {
        return Ok(None);
    }
    let placed = runner.time("allocate", |()| place(function, options, None))?;
    if placed.is_some() {
        return Ok(placed);
    }
    let Some(is_worth) = options.is_worth_spilling else {
        return Err(AllocateError::NoRoom);
    };
    if let Some(kept) = kept
        && let Some((spilled, allocated)) = spill_to_fit(kept, options, is_worth, runner)?
    {
        *function = spilled;
        return Ok(Some(allocated));
    }
    if runner.is_over() {
        return Ok(None);
    }
    runner
        .time("allocate", |()| {
            spill_and_place(function, options, is_worth)
        })
        .map(Some)
}

/// Spills in SSA form, until what is left finds a place; none if it never does, or the runner stopped before the end.
fn spill_to_fit<M: Machine>(
    kept: Function<M>,
    options: AllocateOptions<'_, M>,
    is_worth: IsWorth<'_, M>,
    runner: &mut Runner<'_>,
) -> Result<Option<(Function<M>, Allocated)>, AllocateError<M>> {
    let units = options
        .files
        .last()
        .map_or(0, |file| most_units(&kept, file));
    let rooms = rooms(units, grain_of(&kept));
    let analysis = match runner.time("spill", |()| Analysis::of(kept)) {
        Ok(analysis) => analysis,
        Err(SpillError::ScratchFull) => return Err(AllocateError::ScratchFull),
        Err(SpillError::Refused) => return Ok(None),
    };
    let original = analysis.function();
    for room in rooms {
        let (mut spilled, spills) = match runner.time("spill", |()| spill_ssa(&analysis, room)) {
            Ok(spilled) => spilled,
            Err(SpillError::ScratchFull) => return Err(AllocateError::ScratchFull),
            Err(SpillError::Refused) => return Ok(None),
        };
        if spills.is_empty() {
            continue;
        }
        if (cfg!(debug_assertions) || options.check)
            && let Some(wrong) = check_spilled(original, &spilled, &spills)
        {
            return Err(AllocateError::Wrong(Box::new(Wrong::Spilled(wrong))));
        }
        runner.after("spill", &spilled);
        // With less room yet more is in memory.
        if !is_worth(&spilled) {
            return Err(AllocateError::NoRoom);
        }
        lower(&mut spilled, runner);
        if runner.is_over() {
            return Ok(None);
        }
        // With nearly all registers in use no runs are free for long.
        isolate_written_groups(&mut spilled);
        let before = Spilled {
            original,
            program: None,
            spills: &spills,
        };
        let placed = runner.time("allocate", |()| place(&mut spilled, options, Some(before)))?;
        if let Some(allocated) = placed {
            return Ok(Some((spilled, allocated)));
        }
    }
    Ok(None)
}

/// From SSA form to what is allocated.
fn lower<M: Machine>(function: &mut Function<M>, runner: &mut Runner<'_>) {
    runner.run(function, Shared::<M>::LOWER_PHIS.pass);
    // After phis, so that the copies of both kinds are coalesced together.
    runner.run(function, Shared::<M>::ISOLATE_GROUPS.pass);
}

/// How many units of those that a value may lie in there are at most.
fn most_units<M: Machine>(function: &Function<M>, file: &RegisterFile) -> usize {
    let spans = function.values.iter().filter(|class| class.may_spill());
    let units = |class: &M::Class| {
        let span = class.span();
        file.bases(1).filter(|unit| span.contains(unit)).count()
    };
    spans.map(units).max().unwrap_or(0)
}

/// How many of so many units to leave alive, one after the other: groups and what lives across others leave holes between them.
/// More than half: with fewer, values are better put into memory whole.
fn rooms(most: usize, grain: usize) -> impl Iterator<Item = usize> {
    const LESS: [usize; 7] = [0, 2, 4, 6, 8, 12, 16];
    LESS.into_iter()
        .map(move |less| most.saturating_sub(less * grain))
        .filter(move |room| 2 * room > most)
}

/// What a function was, and what has become of it.
#[derive(Clone, Copy)]
struct Spilled<'f, M: Machine> {
    /// Before anything was spilled.
    original: &'f Function<M>,
    /// Before values were put into memory whole; the function itself if none were.
    program: Option<&'f Function<M>>,
    spills: &'f Spills,
}

/// Places all that is there, without spilling any more. After spilling only the largest file is tried.
fn place<M: Machine>(
    function: &mut Function<M>,
    options: AllocateOptions<'_, M>,
    spilled: Option<Spilled<'_, M>>,
) -> Result<Option<Allocated>, AllocateError<M>> {
    let liveness = liveness::compute(function);
    let (first, joins): (_, &[Joins]) = match spilled {
        // A move more is better than an access more.
        Some(_) => (
            options.files.len() - 1,
            &[Joins::All, Joins::ButPreloads, Joins::None],
        ),
        None => (0, &[Joins::All, Joins::ButPreloads]),
    };
    let placed = place_all(function, &liveness, options.files, first, joins);
    let Some((file, registers)) = placed else {
        return Ok(None);
    };
    let none = Spills::default();
    let spills = spilled.map_or(&none, |spilled| spilled.spills);
    if cfg!(debug_assertions) || options.check {
        let original = spilled.map_or(&*function, |spilled| spilled.original);
        let program = spilled.and_then(|spilled| spilled.program);
        let before = [original, program.unwrap_or(function)];
        check_registers::check(before, function, &registers, spills)
            .map_err(|wrong| AllocateError::Wrong(Box::new(wrong)))?;
    }
    apply(function, &registers);
    Ok(Some(Allocated {
        file,
        spills: spills.stores,
        fills: spills.loads,
    }))
}

/// Puts values into memory whole, and brings them back for each use, until the rest finds a place.
fn spill_and_place<M: Machine>(
    function: &mut Function<M>,
    options: AllocateOptions<'_, M>,
    is_worth: IsWorth<'_, M>,
) -> Result<Allocated, AllocateError<M>> {
    let original = function.clone();
    let mut spills = Spills::default();
    for _ in 0..MOST_ROUNDS {
        let spilled = Spilled {
            original: &original,
            program: Some(&original),
            spills: &spills,
        };
        if let Some(allocated) = place(function, options, Some(spilled))? {
            return Ok(allocated);
        }
        let liveness = liveness::compute(function);
        let last = &options.files[options.files.len() - 1];
        let victims = find_victims(function, &liveness, last, &spills);
        if victims.is_empty() {
            return Err(AllocateError::TooFewRegisters);
        }
        if !spill(function, &mut spills, &victims) {
            return Err(AllocateError::ScratchFull);
        }
        if !is_worth(function) {
            return Err(AllocateError::NoRoom);
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
    joins: &[Joins],
) -> Option<(usize, Registers<M>)> {
    let mut bundles: [Option<(Vec<Bundle>, usize)>; 3] = [None, None, None];
    let grain = grain_of(function);
    let clobbers = clobbered(liveness, grain);
    let moves_preloads = copies_preloads(function);
    let origins = Origins::find(function, liveness, grain);
    let most_live = origins.most_live(liveness);
    for (number, file) in files.iter().enumerate().skip(first) {
        let file = &file.coarse(grain);
        let room = file.bases(1).count();
        if most_live > room {
            continue;
        }
        for (bundles, &joins) in bundles.iter_mut().zip(joins) {
            // These would be the same bundles as before.
            if joins == Joins::ButPreloads && !moves_preloads {
                continue;
            }
            let build = || {
                let bundles = Bundles::build(function, liveness, &origins, joins, grain).into_vec();
                let taken = most_taken(&bundles);
                (bundles, taken)
            };
            let (bundles, taken) = &*bundles.get_or_insert_with(build);
            // No order finds room for more than there is.
            if *taken > room {
                continue;
            }
            for order in [Order::Start, Order::Width, Order::Length] {
                let assigned = assign(bundles, &clobbers, &[], file, order, Until::Failure);
                if assigned.failed.is_empty() {
                    return Some((
                        number,
                        registers_of(function, bundles, &assigned.bases, grain),
                    ));
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
    grain: usize,
) -> Registers<M> {
    let mut registers = vec![None; function.values.len()];
    for (bundle, base) in bundles.iter().zip(bases) {
        for (value, unit) in bundle.members() {
            let class = function.class(value);
            let at = |base: usize| M::Register::at(class, (base + unit) * grain);
            registers[value.index()] = base.and_then(at);
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
    let grain = grain_of(function);
    let origins = Origins::find(function, liveness, grain);
    let bundles =
        Bundles::build(function, liveness, &origins, Joins::ButPreloads, grain).into_vec();
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
    let file = &file.coarse(grain);
    let clobbers = clobbered(liveness, grain);
    let assigned = assign(
        &bundles,
        &clobbers,
        &weights,
        file,
        Order::Weight,
        Until::End,
    );
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

/// Replaces values by their registers and drops what became nothing.
fn apply<M: Machine>(function: &mut Function<M>, registers: &Registers<M>) {
    let place = |word: WordOf<M>| match word.value().and_then(|value| registers[value.index()]) {
        Some(register) => Word::Register(register),
        None => word,
    };
    for preload in &mut function.preloads {
        preload.dest = place(preload.dest);
    }
    let mut blocks = std::mem::take(&mut function.blocks);
    for block in &mut blocks {
        block
            .instrs
            .retain(|instr| instr.note().is_none() && !is_in_place(instr, function, registers));
        for instr in &mut block.instrs {
            instr.map_reads(place);
            instr.map_writes(place);
        }
        block.terminator.map_read(place);
    }
    function.blocks = blocks;
    // A preload that nobody reads any more needs no register.
    function
        .preloads
        .retain(|preload| preload.dest.register().is_some());
}

/// Whether an instruction only copies what already is where it goes.
fn is_in_place<M: Machine>(
    instr: &M::Instr,
    function: &Function<M>,
    registers: &Registers<M>,
) -> bool {
    let copies = instr.copies(function);
    let unit = |value: Value| registers[value.index()].map(Register::unit);
    let stays = |copy: &CopiedPart| {
        let to = unit(copy.to).map(|to| to + copy.unit);
        to.is_some() && to == unit(copy.from)
    };
    !copies.is_empty() && copies.iter().all(stays)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_half_of_the_registers_are_tried() {
        assert_eq!(rooms(24, 1).collect::<Vec<_>>(), [24, 22, 20, 18, 16]);
        assert_eq!(rooms(48, 2).collect::<Vec<_>>(), [48, 44, 40, 36, 32]);
        assert_eq!(rooms(0, 1).count(), 0);
    }
}
