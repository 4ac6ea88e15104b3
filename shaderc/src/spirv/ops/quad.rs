//! Derivatives and lanes that only help: what the lanes of a quad do for one another.
//!
//! A derivative is the difference to the lane beside or below, so it is the fine one. Coarse ones may be that.
//! Facts: hardware/graphics-compiler.md 3 (derivatives), 5.
use rspirv::spirv::Op;

use crate::ir::{Alu, Builder, LaneOp, Stage, SysVal, Value};
use crate::spirv::error::Invalid;
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::Translator;
use crate::spirv::types::Type;

/// A direction in the quad.
#[derive(Clone, Copy)]
enum Along {
    X,
    Y,
}

/// Translates an instruction of this family; false if it is of another.
pub(crate) fn instr(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<bool> {
    let Stage::Fragment(_) = t.builder.function.stage else {
        return Ok(false);
    };
    match op {
        Op::DemoteToHelperInvocation => t.demote(instr)?,
        Op::IsHelperInvocationEXT => {
            let helper = t.is_helper(instr)?;
            t.define(instr, [helper])?;
        }
        Op::DPdx | Op::DPdxFine | Op::DPdxCoarse => {
            by_component(t, instr, |b, value| derivative(b, Along::X, value))?
        }
        Op::DPdy | Op::DPdyFine | Op::DPdyCoarse => {
            by_component(t, instr, |b, value| derivative(b, Along::Y, value))?
        }
        Op::Fwidth | Op::FwidthFine | Op::FwidthCoarse => by_component(t, instr, |b, value| {
            let [x, y] = [Along::X, Along::Y].map(|along| {
                let difference = derivative(b, along, value);
                b.alu(Alu::FAbs, &[difference])
            });
            b.alu(Alu::FAdd, &[x, y])
        })?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn by_component(
    t: &mut Translator<'_>,
    instr: &Instr,
    each: impl Fn(&mut Builder<'_>, Value) -> Value,
) -> Result<()> {
    let operand = t.operand(instr, 0)?;
    let Type::Float { bits } = *operand.ty.component() else {
        return Err(instr.invalid(Invalid::TypeMismatch));
    };
    let scalars = operand.scalars.iter();
    let results = scalars.map(|value| match bits {
        16 => {
            let wide = t.builder.alu(Alu::F2F32, &[*value]);
            let result = each(&mut t.builder, wide);
            t.builder.alu(Alu::F2F16, &[result])
        }
        _ => each(&mut t.builder, *value),
    });
    let results: Vec<Value> = results.collect();
    t.define(instr, results)
}

/// What the right or lower lane has, less what the left or upper one has: both get the same.
fn derivative(b: &mut Builder<'_>, along: Along, value: Value) -> Value {
    let (swap, bit) = match along {
        Along::X => (LaneOp::QuadSwapX, 1),
        Along::Y => (LaneOp::QuadSwapY, 2),
    };
    let other = b.lanes(swap, &[value]);
    // A change of the sign afterwards would make -0 of equal values.
    let lane = b.sys_val(SysVal::LaneId);
    let side = b.alu_word(Alu::IAnd, lane, bit);
    let zero = b.word(0);
    let is_far = b.alu(Alu::INe, &[side, zero]);
    let far = b.select(is_far, value, other);
    let near = b.select(is_far, other, value);
    // Both sides must have been rounded alike: with a product taken into the difference, equal values would differ.
    let exact = std::mem::replace(&mut b.exact, true);
    let difference = b.alu(Alu::FSub, &[far, near]);
    b.exact = exact;
    difference
}
