//! Flat colours as their target holds them: rounded once a vertex, so that halves can hand them on.
//!
//! A colour that is not interpolated and replaces what a target of fractions holds is clamped and rounded by that target. The
//! vertex shader can do both: the nearest half of `k / 255` is again `k` in the target, and takes the interpolator half as long.
//! Needs: both stages without dead code; colours blended; before [`super::pack_colors`] for [`find`], before `link` for
//! [`round`].  Guarantees: a target holds the same bits.  Never: rounds what is interpolated, mixed with what is there, or read
//! by anything else; an alpha that may become coverage.
//! Facts: hardware/graphics-model.md 4.4 (fractions are clamped and rounded to nearest, ties to even),
//! hardware/graphics-compiler.md 4 (halves as colours).
use std::collections::BTreeMap;

use rustc_hash::FxHashMap as HashMap;

use crate::color_state::{ColorState, Rounding};
use crate::ir::rewrite::rewrite_where;
use crate::ir::{
    Alu, Builder, Function, Inst, InstData, Op, Output, Sampling, TexelKind, Value, Varying,
};

/// From here on floats of 32 bits are whole numbers: a sum with it is rounded to one, ties to even.
const WHOLE: f32 = 8_388_608.0;

/// By location: what targets make of its components.
pub(crate) type Rounded = BTreeMap<u8, [Rounding; 4]>;

/// Components of flat varyings.
struct Loads {
    /// The location and the component that a value is.
    of: HashMap<Value, (u8, u8)>,
    /// How often something reads a component of a location.
    uses: BTreeMap<u8, usize>,
}

/// A store of a colour whose target makes the same of it if it is rounded before.
struct Store {
    inst: Inst,
    channels: [Rounding; 4],
}

/// Marks stores of colours for which 16 bits are enough, if their flat varyings are rounded as the result says.
pub(crate) fn find(fragment: &mut Function, state: &ColorState) -> Rounded {
    let mut stores = stores(fragment, state);
    if stores.is_empty() {
        return Rounded::new();
    }
    let loads = loads(fragment);
    stores.retain(|store| is_plain(fragment, &loads, store));
    let rounded = loop {
        let (rounded, uses) = wanted(fragment, &loads, &stores);
        let before = stores.len();
        stores.retain(|store| {
            fragment.inst(store.inst).args.iter().all(|value| {
                let load = loads.of.get(value);
                load.is_none_or(|(location, _)| {
                    rounded.contains_key(location) && uses.get(location) == loads.uses.get(location)
                })
            })
        });
        if stores.len() == before {
            break rounded;
        }
    };
    for store in &stores {
        mark(fragment, store);
    }
    rounded
}

/// Rounds what a vertex shader stores to those locations of which the fragment shader loads halves.
pub(crate) fn round(vertex: &mut Function, fragment: &Function, rounded: &Rounded) {
    let ops = fragment
        .placed_insts()
        .map(|(_, inst)| fragment.inst(inst).op);
    let halves = ops.filter_map(|op| match op {
        Op::LoadVarying(Varying {
            location,
            sampling: Sampling::Flat,
            half: true,
            ..
        }) => Some((location, *rounded.get(&location)?)),
        _ => None,
    });
    let halves: Rounded = halves.collect();
    let location = |op: Op| match op {
        Op::StoreOutput(Output::Varying { location, .. }) => Some(location),
        _ => None,
    };
    let is_own = |_: &Function, data: &InstData| {
        location(data.op).is_some_and(|location| halves.contains_key(&location))
    };
    rewrite_where(vertex, is_own, |b, data| {
        let channels = halves.get(&location(data.op)?)?;
        b.exact = true;
        let args = data.args.iter().zip(channels);
        let args: Vec<Value> = args
            .map(|(value, channel)| match channel {
                Rounding::Any | Rounding::Half => *value,
                Rounding::Fraction(bits) => fraction(b, *value, *bits),
            })
            .collect();
        Some(b.inst(data.op, &args).to_vec())
    });
}

/// The largest code of a fraction.
fn largest(bits: u32) -> f32 {
    ((1_u32 << bits) - 1) as f32
}

/// The fraction of so many bits that is nearest to a value.
// FACT: which way a board rounds a colour just between two codes is inferred: hardware/graphics-model.md 4.4 has ties to even,
// hardware/graphics-framebuffer.md 6.4 "nearest" alone. Settled by drawing a flat 0.5 to a target of 8 bits on any board.
fn fraction(b: &mut Builder<'_>, value: Value, bits: u32) -> Value {
    let above = b.alu_float(Alu::FMax, value, 0.0);
    let inside = b.alu_float(Alu::FMin, above, 1.0);
    // One rounding, of the sum.
    let [scale, whole] = [largest(bits), WHOLE].map(|it| b.float(it));
    let sum = b.alu(Alu::FFma, &[inside, scale, whole]);
    let code = b.alu_float(Alu::FAdd, sum, -WHOLE);
    b.alu_float(Alu::FMul, code, 1.0 / largest(bits))
}

/// The same of a constant.
fn constant_fraction(value: f32, bits: u32) -> f32 {
    let number = if value.is_nan() { 0.0 } else { value };
    let inside = f64::from(number.clamp(0.0, 1.0));
    let code = (inside * f64::from(largest(bits))).round_ties_even();
    (code / f64::from(largest(bits))) as f32
}

/// Stores of colours that replace what their targets hold.
fn stores(fragment: &Function, state: &ColorState) -> Vec<Store> {
    let placed = fragment.placed_insts();
    let second = placed.filter_map(|(_, inst)| match fragment.inst(inst).op {
        Op::StoreOutput(Output::Color {
            target, index: 1, ..
        }) => Some(target),
        _ => None,
    });
    let with_second: Vec<u8> = second.collect();
    let placed = fragment.placed_insts();
    let stores = placed.filter_map(|(_, inst)| {
        let Op::StoreOutput(Output::Color {
            target,
            index: 0,
            kind: TexelKind::Float,
            half: false,
            ..
        }) = fragment.inst(inst).op
        else {
            return None;
        };
        let channels = state.rounding(target)?;
        (!with_second.contains(&target)).then_some(Store { inst, channels })
    });
    stores.collect()
}

/// Flat varyings, and who reads them.
fn loads(fragment: &mut Function) -> Loads {
    let mut of = HashMap::default();
    for (_, inst) in fragment.placed_insts() {
        let data = fragment.inst(inst);
        let Op::LoadVarying(varying) = data.op else {
            continue;
        };
        if varying.sampling == Sampling::Flat && !varying.half {
            let results = data.results.iter().zip(varying.first..);
            of.extend(results.map(|(value, component)| (*value, (varying.location, component))));
        }
    }
    let mut uses: BTreeMap<u8, usize> = BTreeMap::new();
    fragment.map_uses(|value| {
        if let Some((location, _)) = of.get(&value) {
            *uses.entry(*location).or_default() += 1;
        }
        value
    });
    Loads { of, uses }
}

/// Whether a store has nothing but constants and flat varyings where its target has fractions.
fn is_plain(fragment: &Function, loads: &Loads, store: &Store) -> bool {
    let args = fragment.inst(store.inst).args.iter().zip(store.channels);
    let mut args = args.map(|(value, channel)| match channel {
        Rounding::Any | Rounding::Half => true,
        Rounding::Fraction(_) => fragment.as_word(*value).is_some() || loads.of.contains_key(value),
    });
    args.all(|plain| plain)
}

/// What some stores want of locations, and how often they read each. A location of which they want different things is left out.
fn wanted(fragment: &Function, loads: &Loads, stores: &[Store]) -> (Rounded, BTreeMap<u8, usize>) {
    let mut rounded = Rounded::new();
    let mut uses: BTreeMap<u8, usize> = BTreeMap::new();
    let mut torn = vec![];
    for store in stores {
        for (value, channel) in fragment.inst(store.inst).args.iter().zip(store.channels) {
            let Some((location, component)) = loads.of.get(value) else {
                continue;
            };
            *uses.entry(*location).or_default() += 1;
            let known = rounded.entry(*location).or_insert([Rounding::Any; 4]);
            let known = &mut known[usize::from(*component)];
            match (*known, channel) {
                (Rounding::Any, channel) => *known = channel,
                (_, Rounding::Any) => {}
                (known, channel) if known == channel => {}
                _ => torn.push(*location),
            }
        }
    }
    rounded.retain(|location, _| !torn.contains(location));
    (rounded, uses)
}

/// Says that 16 bits are enough for a colour, and rounds its constants.
fn mark(fragment: &mut Function, store: &Store) {
    let args = fragment.inst(store.inst).args.clone();
    for ((number, value), channel) in args.iter().enumerate().zip(store.channels) {
        if let (Some(bits), Rounding::Fraction(width)) = (fragment.as_word(*value), channel) {
            let constant = fragment.float(constant_fraction(f32::from_bits(bits), width));
            fragment.inst_mut(store.inst).args[number] = constant;
        }
    }
    if let Op::StoreOutput(Output::Color { relaxed, .. }) = &mut fragment.inst_mut(store.inst).op {
        *relaxed = true;
    }
}

#[cfg(test)]
#[path = "round_flat_colors_tests.rs"]
mod tests;
