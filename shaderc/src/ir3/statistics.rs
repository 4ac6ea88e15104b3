//! Statistics: what a program costs, counted statically, in the figures that the known compiler prints.
//!
//! Facts: hardware/compiler-ir3.md 9 (9); hardware/ir3-isa.md 9 (latencies), 14 (footprint, waves).

use std::fmt;

use eitri_ir3_isa::Latency;
use eitri_ir3_isa::device::Parts;
use eitri_ir3_isa::timing::typical_slots;
use eitri_ir3_program::ConstLayout;

use super::allocate::waves;
use super::insert_sync::category;
use super::mir::{Class, Function, Instr, Op, Register, Space, Word};
use crate::machine::Instruction;
use crate::machine::allocate::Allocated;

/// What a program costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// Issued if each word ran once: repetitions and idle slots count.
    pub instructions: u32,
    /// Of those, idle ones.
    pub nops: u32,
    /// Words of the program.
    pub words: u32,
    /// Words by category.
    pub categories: [u32; 8],
    /// Moves that leave bits as they are.
    pub moves: u32,
    /// Moves that convert.
    pub conversions: u32,
    /// Words with (ss).
    pub ss: u32,
    /// Slots that a wave waits there, by typical latencies.
    pub ss_stalls: u32,
    /// Words with (sy).
    pub sy: u32,
    /// Slots that a wave waits there, by typical latencies.
    pub sy_stalls: u32,
    /// Vec4 of full registers, halves included.
    pub full_registers: u32,
    /// Vec4 of half registers: 0, since both kinds are one file.
    pub half_registers: u32,
    /// Vec4 of the const file.
    pub constlen: u32,
    /// Waves that run at once, as far as registers allow.
    pub waves: u32,
    /// Blocks that begin a loop.
    pub loops: u32,
    /// Points of reconvergence that are open at once, at most.
    pub branch_stack: u32,
    /// Stores that spilling inserted.
    pub spills: u32,
    /// Loads that spilling inserted.
    pub fills: u32,
}

/// Vec4 of full registers that a program names. Each step of a repeated instruction writes the next register; what it reads has
/// been written.
pub(super) fn footprint(function: &Function) -> u32 {
    let end = |register: Register, steps: usize| match register.class() {
        Class::Full | Class::Half => register.units().end + steps * register.units().len(),
        _ => 0,
    };
    let instrs = function.blocks.iter().flat_map(|block| &block.instrs);
    let ends = instrs.map(|instr| {
        let read = instr.reads().filter_map(Word::register);
        let written = instr.writes().filter_map(Word::register);
        let read = read.map(|register| end(register, 0));
        let written = written.map(|register| end(register, instr.repeat.into()));
        read.chain(written).max().unwrap_or(0)
    });
    let arrived = function.preloads.iter();
    let arrived = arrived.map(|preload| end(preload.register, 0));
    let units = ends.chain(arrived).max().unwrap_or(0);
    units.div_ceil(8) as u32
}

/// Counts a finished program.
pub(super) fn count(
    function: &Function,
    parts: &Parts,
    allocated: &Allocated,
    constants: &ConstLayout,
) -> Statistics {
    let full_registers = footprint(function);
    let mut counted = Statistics {
        instructions: 0,
        nops: 0,
        words: 0,
        categories: [0; 8],
        moves: 0,
        conversions: 0,
        ss: 0,
        ss_stalls: 0,
        sy: 0,
        sy_stalls: 0,
        full_registers,
        half_registers: 0,
        constlen: constants.length().into(),
        waves: waves(parts, full_registers),
        loops: function.loop_count() as u32,
        branch_stack: function.extra.branch_stack,
        spills: allocated.spills as u32,
        fills: allocated.fills as u32,
    };
    for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
        let runs = 1 + u32::from(instr.repeat);
        let idle = match instr.op {
            Op::Nop => runs,
            _ => instr.nops.into(),
        };
        counted.words += 1;
        counted.instructions += runs + u32::from(instr.nops);
        counted.nops += idle;
        counted.categories[usize::from(category(instr))] += 1;
        match instr.types {
            Some((from, to)) if instr.op == Op::Move && from != to => counted.conversions += runs,
            _ if matches!(instr.op, Op::Move | Op::ReadShared | Op::WriteShared) => {
                counted.moves += runs;
            }
            _ => {}
        }
        counted.ss += u32::from(instr.sync.ss);
        counted.sy += u32::from(instr.sync.sy);
    }
    (counted.ss_stalls, counted.sy_stalls) = stalls(function);
    counted
}

/// Slots that a wave waits at (ss) and at (sy), if each block ran once and nothing was under way before it.
fn stalls(function: &Function) -> (u32, u32) {
    let (mut at_ss, mut at_sy) = (0, 0);
    for block in &function.blocks {
        let mut now: u32 = 0;
        // When all is there that was asked for.
        let (mut short, mut long) = (0u32, 0u32);
        for instr in &block.instrs {
            if instr.sync.ss {
                let wait = std::mem::take(&mut short).saturating_sub(now);
                (at_ss, now) = (at_ss + wait, now + wait);
            }
            if instr.sync.sy {
                let wait = std::mem::take(&mut long).saturating_sub(now);
                (at_sy, now) = (at_sy + wait, now + wait);
            }
            now += 1 + u32::from(instr.repeat) + u32::from(instr.nops);
            let shared = |word: Word| {
                word.register()
                    .is_some_and(|it| it.class() == Class::Shared)
            };
            let (count, to_shared) = (instr.writes().count() as u32, instr.writes().any(shared));
            let op = instr.op.isa(instr.atomic);
            let there = now + typical_slots(op, to_shared, count);
            match op.row().layout.latency {
                Latency::Slots if to_shared => short = short.max(there),
                Latency::None | Latency::Slots => {}
                Latency::Ss => short = short.max(there),
                Latency::Sy => long = long.max(there),
                Latency::SsAndSy => (short, long) = (short.max(there), long.max(there)),
            }
        }
    }
    (at_ss, at_sy)
}

/// Accesses to spill slots, each loop around them counting ten times.
pub(super) fn spill_cost(function: &Function) -> u32 {
    weighted(function, |instr| {
        u32::from(instr.space == Some(Space::Spill))
    })
}

/// Slots that a wave takes, each loop around them counting ten times.
pub(super) fn issue_cost(function: &Function) -> u32 {
    weighted(function, |instr| {
        1 + u32::from(instr.repeat) + u32::from(instr.nops)
    })
}

fn weighted(function: &Function, cost: impl Fn(&Instr) -> u32) -> u32 {
    let blocks = function.blocks.iter().zip(function.loop_depths());
    let costs = blocks.map(|(block, depth)| {
        let sum: u32 = block.instrs.iter().map(&cost).sum();
        10u32.pow(depth.min(6)).saturating_mul(sum)
    });
    costs.fold(0, u32::saturating_add)
}

impl fmt::Display for Statistics {
    /// One line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let categories: Vec<String> = self
            .categories
            .iter()
            .enumerate()
            .map(|(number, count)| format!("{count} cat{number}"))
            .collect();
        write!(
            f,
            "{} instr, {} nops, {} non-nops, {} mov, {} cov, {} words, {} half, {} full, {} constlen, {}, \
             {} sstall, {} (ss), {} systall, {} (sy), {} waves, {} branch stack, {} loops, {}:{} spills:fills",
            self.instructions,
            self.nops,
            self.instructions - self.nops,
            self.moves,
            self.conversions,
            self.words,
            self.half_registers,
            self.full_registers,
            self.constlen,
            categories.join(", "),
            self.ss_stalls,
            self.ss,
            self.sy_stalls,
            self.sy,
            self.waves,
            self.branch_stack,
            self.loops,
            self.spills,
            self.fills
        )
    }
}

#[cfg(test)]
mod tests {
    use super::stalls;
    use crate::ir3::insert_sync::insert_sync;
    use crate::ir3::mir::Ir3;
    use crate::machine::parse::read;

    #[test]
    fn a_wait_takes_as_long_as_a_result_typically_does_less_what_ran_meanwhile() {
        let mut function = read::<Ir3>(
            "b0:
              r0.x = ldib.b.u32 r1.x, 0, set:0, space:buffer
              r2.x = rcp r1.y
              r3.x = add.u r2.x, 1
              r3.y = add.u r3.x, 1
              r3.z = add.u r0.x, 1
              end",
        );
        insert_sync(&mut function);
        // 10 slots behind the second; 110 behind the first, of which 13 have passed.
        assert_eq!(stalls(&function), (10, 97));
    }
}
