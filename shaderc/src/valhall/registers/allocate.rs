//! Register files: half of the registers means twice the threads, so half the file is tried before the whole, and only the
//! whole spills.
//!
//! Facts: hardware/compiler-abi.md 3.10.

use crate::machine::allocate::{self, RegisterFile};
use crate::pass::Runner;
use crate::valhall::mir::{Function, Instruction as _, REGISTER_BYTES, Register, Valhall};
use crate::valhall::statistics::spill_cost;
use crate::valhall::waits::scoreboard::register_mask;

/// Why there is no allocation.
pub(crate) type AllocateError = allocate::AllocateError<Valhall>;

/// Choices that are open to the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct AllocateOptions {
    /// Use only this many of the low registers (and those that are preloaded). To try spilling on small functions.
    pub(crate) limit: Option<u32>,
    /// Never the half file.
    pub(crate) full_file: bool,
    /// Never more than the half file, and no spilling: there is no answer where that has no room.
    pub(crate) only_half: bool,
    /// What spilling may cost: there is no answer where it would cost more.
    pub(crate) most_spill_cost: Option<u32>,
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

/// The registers of the half file: r0 to r15 and r48 to r63.
const HALF: u64 = 0xffff_0000_0000_ffff;

/// The first of the registers that the hardware may preload, and that a limit doesn't touch if it does.
const FIRST_PRELOADED: u32 = 48;

/// Allocates registers in place; none if the runner stopped before the end.
pub(crate) fn allocate(
    function: &mut Function,
    options: AllocateOptions,
    runner: &mut Runner<'_>,
) -> Result<Option<Allocated>, AllocateError> {
    let preloaded = function
        .preloads
        .iter()
        .fold(0, |mask, preload| mask | preload.register.bit());
    let allowed = options.limit.map_or(u64::MAX, |count| {
        let low = count.min(FIRST_PRELOADED);
        ((1 << low) - 1) | preloaded
    });
    let file = |mask: u64| {
        RegisterFile::of(Register::COUNT * REGISTER_BYTES, |unit| {
            mask & allowed & (1 << (unit / REGISTER_BYTES)) != 0
        })
    };
    let files = [(32, HALF), (64, u64::MAX)];
    let tried = match options.only_half {
        true => &files[..1],
        false => &files[usize::from(options.full_file)..],
    };
    let most = options.most_spill_cost.unwrap_or(u32::MAX);
    let is_worth_spilling = |function: &Function| spill_cost(function) <= most;
    let allocated = allocate::allocate(
        function,
        allocate::AllocateOptions {
            files: &tried
                .iter()
                .map(|&(_, mask)| file(mask))
                .collect::<Vec<_>>(),
            is_worth_spilling: (!options.only_half).then_some(&is_worth_spilling),
            check: options.check,
        },
        runner,
    )?;
    Ok(allocated.map(|allocated| Allocated {
        registers_per_thread: tried[allocated.file].0,
        registers_used: registers_used(function),
        spills: allocated.spills,
        fills: allocated.fills,
    }))
}

/// How many registers are named.
fn registers_used(function: &Function) -> u32 {
    let blocks = function.blocks.iter().map(|block| {
        let words = block.instrs.iter();
        let words = words.flat_map(|instr| instr.reads().chain(instr.writes()));
        register_mask(words.chain(block.terminator.read()))
    });
    blocks.fold(0, |all, mask| all | mask).count_ones()
}
