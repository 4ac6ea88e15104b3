//! Statistics: what a program costs, counted statically, in the figures that other compilers print.
//!
//! Facts: hardware/compiler-optimization.md 4 (rules of the later versions); the rates are in `rates`.

use std::fmt;

use eitri_isa::rates::Rates;
use eitri_isa::row::Unit;

use super::mir::{Function, Instr, Modifier, Space};
use super::rates;
use super::registers::allocate::Allocated;

/// Weight of one access to a spill slot outside loops; each loop adds as much again.
const SPILL_WEIGHT: u32 = 10;

/// What a program costs.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Statistics {
    /// In the program, NOPs included.
    pub instructions: usize,
    /// Bytes of the program with the zeros that must follow it: a multiple of 128.
    pub code_bytes: usize,
    /// Cycles of the multiply-add unit.
    pub fma: f64,
    /// Cycles of the conversion unit.
    pub cvt: f64,
    /// Cycles of the special-function unit.
    pub sfu: f64,
    /// Cycles of the arithmetic units together.
    pub alu: f64,
    /// Cycles of the load/store unit.
    pub load_store: f64,
    /// Cycles of the unit that interpolates varyings.
    pub varying: f64,
    /// Cycles of the texture unit.
    pub texture: f64,
    /// Cycles of the busiest unit.
    pub cycles: f64,
    /// 2 when the registers allow full occupancy, else 1.
    pub threads: u32,
    /// Distinct registers named.
    pub registers: u32,
    /// 64-bit words of FAU.
    pub uniforms: usize,
    /// Blocks that begin a loop.
    pub loops: usize,
    /// Stores that spilling inserted.
    pub spills: usize,
    /// Loads that spilling inserted.
    pub fills: usize,
    /// Spills and fills, weighted by loop depth.
    pub spill_cost: u32,
}

/// Bytes of a program of so many instructions in memory: padded with zeros, since the fetcher runs ahead.
fn padded_bytes(instructions: usize) -> usize {
    (instructions * 8 + 16).next_multiple_of(128)
}

/// Counts a finished program.
pub(super) fn count(function: &Function, allocated: &Allocated) -> Statistics {
    let (mut fma, mut cvt, mut sfu, mut load_store) = (0u32, 0u32, 0u32, 0u32);
    let (mut components, mut texels) = (0u32, 0u32);
    let mut instructions = 0;
    let arch = function.extra.arch;
    let rates = Rates::of(arch);
    for block in &function.blocks {
        for instr in &block.instrs {
            instructions += 1;
            let Some((unit, cycles)) = instr.op.isa().map(|op| op.row().issue(arch)) else {
                continue;
            };
            match unit {
                Unit::Fma => fma += u32::from(cycles),
                Unit::Cvt => cvt += u32::from(cycles),
                Unit::Sfu => sfu += u32::from(cycles),
                Unit::Ls => load_store += 1,
                Unit::V => components += interpolated(instr),
                Unit::Vt | Unit::T => texels += 1,
                Unit::None => {}
            }
        }
    }
    let (fma, cvt, sfu) = (
        f64::from(fma) / f64::from(rates.fma),
        f64::from(cvt) / f64::from(rates.cvt),
        f64::from(sfu) / f64::from(rates.sfu),
    );
    let load_store = f64::from(load_store) / f64::from(rates.messages);
    let alu = rates::alu(fma, cvt, sfu);
    let varying = f64::from(components) / rates::COMPONENTS;
    let texture = f64::from(texels) / rates::TEXELS;
    Statistics {
        instructions,
        code_bytes: padded_bytes(instructions),
        fma,
        cvt,
        sfu,
        alu,
        load_store,
        varying,
        texture,
        cycles: alu.max(load_store).max(varying).max(texture),
        threads: if allocated.registers_per_thread <= 32 {
            2
        } else {
            1
        },
        registers: allocated.registers_used,
        uniforms: function.extra.fau.len().div_ceil(2),
        loops: function.loop_count(),
        spills: allocated.spills,
        fills: allocated.fills,
        spill_cost: spill_cost(function),
    }
}

/// Components of 16 bits that an instruction interpolates.
fn interpolated(instr: &Instr) -> u32 {
    let vectors = [
        (Modifier::Vector1, 1),
        (Modifier::Vector2, 2),
        (Modifier::Vector3, 3),
        (Modifier::Vector4, 4),
    ];
    let mut given = vectors.iter();
    let given = given.find(|(modifier, _)| instr.modifiers.contains(modifier));
    let components = given.map_or(1, |(_, count)| *count);
    let isa = instr.op.isa();
    let bits = isa.map_or(32, |op| op.row().ty.bits());
    components * u32::from(bits) / 16
}

/// Accesses to spill slots, weighted by loop depth.
pub(super) fn spill_cost(function: &Function) -> u32 {
    let blocks = function.blocks.iter().zip(function.loop_depths());
    let costs = blocks.map(|(block, depth)| {
        let slots = block.instrs.iter();
        let accesses = slots
            .filter(|instr| instr.space == Some(Space::Spill))
            .count();
        SPILL_WEIGHT * (depth + 1) * accesses as u32
    });
    costs.sum()
}

impl fmt::Display for Statistics {
    /// One line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} instructions, {} bytes, {:.4} cycles ({:.4} fma, {:.4} cvt, {:.4} sfu, {:.4} alu, {:.4} load_store, {:.4} varying, {:.4} texture), \
             {} threads, {} registers, {} uniforms, {} loops, {}:{} spills:fills",
            self.instructions,
            self.code_bytes,
            self.cycles,
            self.fma,
            self.cvt,
            self.sfu,
            self.alu,
            self.load_store,
            self.varying,
            self.texture,
            self.threads,
            self.registers,
            self.uniforms,
            self.loops,
            self.spills,
            self.fills
        )
    }
}
