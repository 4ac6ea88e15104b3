//! Linking: what a vertex shader hands to a fragment shader, and where it stands in the record of a vertex.
//!
//! Needs: both functions without dead code.  Guarantees: the vertex shader stores what the fragment shader reads and nothing
//! else; what is read and not stored is zero; both are compiled with one [`VaryingLayout`].
//! Facts: hardware/graphics-compiler.md 2.1 (the compact layout), 2.4.
use std::collections::BTreeMap;

use rustc_hash::FxHashSet as HashSet;

use crate::ir::rewrite::rewrite;
use crate::ir::{Alu, Builder, Function, Inst, Op, Output, Sampling, Stage, Value, Varying};

/// What stands where in the record of a vertex.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VaryingLayout {
    /// By location.
    pub slots: Vec<VaryingSlot>,
    /// Bytes of the record.
    pub record_bytes: u32,
}

/// A location in the record of a vertex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VaryingSlot {
    /// The location.
    pub location: u8,
    /// How many components, from the first.
    pub components: u8,
    /// Floats of 16 bits, not words of 32.
    pub half: bool,
    /// What becomes of it between the vertices.
    pub interpolation: Interpolation,
    /// Bytes from the start of the record.
    pub offset: u32,
}

/// What becomes of a varying between the vertices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interpolation {
    /// It is interpolated with perspective.
    Smooth,
    /// It stays what it is at the provoking vertex.
    Flat,
    /// It is interpolated without regard to perspective.
    NoPerspective,
}

impl VaryingLayout {
    /// The slot of a location.
    pub fn slot(&self, location: u8) -> Option<VaryingSlot> {
        let mut slots = self.slots.iter();
        slots.find(|slot| slot.location == location).copied()
    }

    /// Locations that are interpolated without regard to perspective, a bit each.
    pub fn noperspective(&self) -> u32 {
        let slots = self.slots.iter();
        let own = slots.filter(|slot| slot.interpolation == Interpolation::NoPerspective);
        own.fold(0, |mask, slot| mask | 1 << slot.location)
    }

    /// Puts slots one behind the other, each at a multiple of the power of two not less than its size.
    fn place(&mut self) {
        let mut end = 0;
        for slot in &mut self.slots {
            let size = u32::from(slot.components) * if slot.half { 2 } else { 4 };
            slot.offset = u32::next_multiple_of(end, size.next_power_of_two());
            end = slot.offset + size;
        }
        self.record_bytes = end;
    }
}

/// What is known of a location that a shader stores or loads.
#[derive(Clone, Copy)]
struct Use {
    /// Components up to the last one.
    count: u8,
    relaxed: bool,
    /// All loads give halves.
    half: bool,
    interpolation: Interpolation,
}

impl Use {
    /// Whether halves are handed on, of what is stored so: where vertices are mixed their own precision counts, elsewhere that
    /// of what is loaded.
    fn is_half(self, stored: Use) -> bool {
        match self.interpolation {
            Interpolation::Flat => self.half,
            Interpolation::Smooth | Interpolation::NoPerspective => self.relaxed && stored.relaxed,
        }
    }
}

/// Fits two stages to each other. Without a fragment shader nothing is handed on.
pub fn link(vertex: &mut Function, fragment: Option<&mut Function>) -> VaryingLayout {
    let stored = stored(vertex);
    let loaded = match fragment {
        Some(fragment) => {
            bound_loads(fragment, &stored);
            loaded(fragment)
        }
        None => BTreeMap::new(),
    };
    let slots = loaded.iter().filter_map(|(location, loaded)| {
        let stored = stored.get(location)?;
        Some(VaryingSlot {
            location: *location,
            components: loaded.count.min(stored.count),
            half: loaded.is_half(*stored),
            interpolation: loaded.interpolation,
            offset: 0,
        })
    });
    let mut layout = VaryingLayout {
        slots: slots.collect(),
        record_bytes: 0,
    };
    layout.place();
    bound_stores(vertex, &layout);
    if let Stage::Vertex(vertex) = &mut vertex.stage {
        vertex.noperspective = layout.noperspective();
    }
    layout
}

/// What a vertex shader stores, by location.
fn stored(vertex: &Function) -> BTreeMap<u8, Use> {
    let ops = vertex.placed_insts().map(|(_, inst)| vertex.inst(inst).op);
    let stores = ops.filter_map(|op| match op {
        Op::StoreOutput(Output::Varying {
            location,
            count,
            relaxed,
        }) => Some((
            location,
            Use {
                count,
                relaxed,
                half: false,
                interpolation: Interpolation::Smooth,
            },
        )),
        _ => None,
    });
    stores.collect()
}

/// What a fragment shader loads, by location.
fn loaded(fragment: &Function) -> BTreeMap<u8, Use> {
    let mut all: BTreeMap<u8, Use> = BTreeMap::new();
    for (_, inst) in fragment.placed_insts() {
        let Op::LoadVarying(varying) = fragment.inst(inst).op else {
            continue;
        };
        let own = Use {
            count: varying.first + varying.count,
            relaxed: varying.relaxed,
            half: varying.half,
            interpolation: match varying.sampling {
                Sampling::Flat => Interpolation::Flat,
                _ if varying.noperspective => Interpolation::NoPerspective,
                _ => Interpolation::Smooth,
            },
        };
        let known = all.entry(varying.location).or_insert(own);
        known.count = known.count.max(own.count);
        known.relaxed &= own.relaxed;
        known.half &= own.half;
        // What is read flat keeps its bits.
        if own.interpolation == Interpolation::Flat {
            known.interpolation = Interpolation::Flat;
        }
    }
    all
}

/// Loads no more than is stored and read.
fn bound_loads(fragment: &mut Function, stored: &BTreeMap<u8, Use>) {
    let used = used(fragment);
    rewrite(fragment, |b, data| {
        let Op::LoadVarying(varying) = data.op else {
            return None;
        };
        let there = stored
            .get(&varying.location)
            .map_or(0, |stored| stored.count);
        if varying.half {
            return bound_halves(b, varying, there, &data.args);
        }
        let is_read = |number: u8| {
            varying.first + number < there && used.contains(&data.results[usize::from(number)])
        };
        let first = (0..varying.count).find(|number| is_read(*number));
        let last = (0..varying.count).rfind(|number| is_read(*number));
        let zero = b.word(0);
        let mut words = vec![zero; varying.count.into()];
        if let (Some(first), Some(last)) = (first, last) {
            let load = Varying {
                first: varying.first + first,
                count: last - first + 1,
                ..varying
            };
            if load == varying {
                return None;
            }
            let loaded = b.inst(Op::LoadVarying(load), &data.args);
            words[first.into()..=last.into()].copy_from_slice(&loaded);
        }
        Some(words)
    });
}

/// The same of a load of halves, all of which are read; nothing where all are stored.
fn bound_halves(
    b: &mut Builder<'_>,
    varying: Varying,
    there: u8,
    args: &[Value],
) -> Option<Vec<Value>> {
    let count = there.saturating_sub(varying.first).min(varying.count);
    if count == varying.count {
        return None;
    }
    let mut words = vec![];
    if count > 0 {
        words.extend(b.inst(Op::LoadVarying(Varying { count, ..varying }), args));
    }
    if !count.is_multiple_of(2) {
        // The half behind the last one is any.
        let last = words.pop();
        words.extend(last.map(|word| b.alu_word(Alu::IAnd, word, 0xffff)));
    }
    let zero = b.word(0);
    words.resize(varying.words().into(), zero);
    Some(words)
}

/// The values that something reads.
fn used(function: &Function) -> HashSet<Value> {
    let mut used = HashSet::default();
    for block in &function.layout {
        let data = function.block(*block);
        let insts = data.insts.iter();
        used.extend(insts.flat_map(|inst| function.inst(*inst).args.iter().copied()));
        let phis = data.phis.iter();
        used.extend(phis.flat_map(|phi| phi.sources.iter().map(|(_, value)| *value)));
        used.extend(data.terminator.operand());
    }
    used
}

/// Stores what is loaded, and drops the others.
fn bound_stores(vertex: &mut Function, layout: &VaryingLayout) {
    for block in vertex.layout.clone() {
        let insts = std::mem::take(&mut vertex.block_mut(block).insts);
        let kept = insts
            .into_iter()
            .filter(|inst| bound_store(vertex, *inst, layout));
        let kept: Vec<Inst> = kept.collect();
        vertex.block_mut(block).insts = kept;
    }
}

/// Cuts a store to what is loaded; whether it stays.
fn bound_store(vertex: &mut Function, inst: Inst, layout: &VaryingLayout) -> bool {
    let data = vertex.inst_mut(inst);
    let Op::StoreOutput(Output::Varying { location, .. }) = data.op else {
        return true;
    };
    let Some(slot) = layout.slot(location) else {
        return false;
    };
    data.args.truncate(slot.components.into());
    data.op = Op::StoreOutput(Output::Varying {
        location,
        count: slot.components,
        relaxed: slot.half,
    });
    true
}
