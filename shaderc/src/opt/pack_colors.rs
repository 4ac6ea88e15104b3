//! Colours in halves: interpolated at 16 bits where the shader says that these are enough.
//!
//! Needs: no dead code; stages that are not linked yet.  Guarantees: loads of a location that is not interpolated give halves all or
//! not at all, so that `link` can have halves stored.  Guarantees: a colour is stored as halves only where its source says that 16 bits are enough: a target
//! of 8 bits would differ by the rounding of both, which scripts that compare pictures see.  Never: arithmetic in halves.
//! Facts: hardware/graphics-compiler.md 4 (halves as colours), 2.2 (conversion on load), compiler-optimization.md 3 (a component
//! of 32 bits takes the interpolator twice as long).
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::interp::eval::eval;
use crate::ir::{
    Alu, BlockId, Builder, Function, Inst, Op, Output, Sampling, TexelKind, Type, Value, Varying,
};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "pack_colors",
    what: "colours of relaxed precision are interpolated and stored as halves",
    run,
};

/// Two neighbouring components of a colour.
#[derive(Clone, Copy)]
enum Pair {
    /// Both constant: the halves.
    Constant(u32),
    /// Word `word` of what a load gives, if it gives halves; its high half is replaced by a constant.
    Loaded {
        load: Inst,
        word: usize,
        high: Option<u32>,
    },
}

/// A store of a colour that can be one of halves.
struct Store {
    block: BlockId,
    inst: Inst,
    pairs: [Pair; 2],
}

fn run(function: &mut Function, _: &Target) -> Changed {
    if function.stage.fragment().is_none() {
        return Changed::No;
    }
    let loads = loads(function);
    let mut stores = stores(function, &loads);
    drop_shared(function, &loads, &mut stores);
    if stores.is_empty() {
        return Changed::No;
    }
    let halves = narrow_loads(function, &stores);
    for store in &stores {
        pack(function, store, &halves);
    }
    Changed::Yes
}

/// What loads of interpolated varyings give: the load, and which of its components.
fn loads(function: &Function) -> HashMap<Value, (Inst, usize)> {
    let ops = function.placed_insts();
    let interpolated: HashSet<u8> = ops
        .filter_map(|(_, inst)| match function.inst(inst).op {
            Op::LoadVarying(it) if it.sampling != Sampling::Flat => Some(it.location),
            _ => None,
        })
        .collect();
    let mut loads = HashMap::default();
    for (_, inst) in function.placed_insts() {
        let data = function.inst(inst);
        let Op::LoadVarying(varying) = data.op else {
            continue;
        };
        if varying.sampling == Sampling::Flat && interpolated.contains(&varying.location) {
            continue;
        }
        // `perspective` multiplies others later, and that is arithmetic.
        if !varying.noperspective && !varying.half {
            let results = data.results.iter().copied().zip(0..);
            loads.extend(results.map(|(value, number)| (value, (inst, number))));
        }
    }
    loads
}

/// Stores of colours that constants and loads alone can make halves.
fn stores(function: &Function, loads: &HashMap<Value, (Inst, usize)>) -> Vec<Store> {
    let ops = function.placed_insts();
    let second = ops.filter_map(|(_, inst)| match function.inst(inst).op {
        Op::StoreOutput(Output::Color {
            target, index: 1, ..
        }) => Some(target),
        _ => None,
    });
    let with_second: HashSet<u8> = second.collect();
    let ops = function.placed_insts();
    let stores = ops.filter_map(|(block, inst)| {
        let data = function.inst(inst);
        let Op::StoreOutput(Output::Color {
            target,
            index: 0,
            kind: TexelKind::Float,
            relaxed,
            half: false,
        }) = data.op
        else {
            return None;
        };
        if with_second.contains(&target) || !relaxed {
            return None;
        }
        let pair = |low: Value, high: Value| pair_of(function, loads, low, high);
        let pairs = [
            pair(data.args[0], data.args[1])?,
            pair(data.args[2], data.args[3])?,
        ];
        Some(Store { block, inst, pairs })
    });
    stores.collect()
}

fn pair_of(
    function: &Function,
    loads: &HashMap<Value, (Inst, usize)>,
    low: Value,
    high: Value,
) -> Option<Pair> {
    let constant = |value: Value| function.as_word(value);
    if let (Some(low), Some(high)) = (constant(low), constant(high)) {
        return Some(Pair::Constant(packed(low, high)));
    }
    let &(load, number) = loads.get(&low)?;
    if number % 2 != 0 {
        return None;
    }
    let word = number / 2;
    if let Some(high) = constant(high) {
        let high = Some(packed(high, 0));
        return Some(Pair::Loaded { load, word, high });
    }
    let is_next = loads.get(&high) == Some(&(load, number + 1));
    is_next.then_some(Pair::Loaded {
        load,
        word,
        high: None,
    })
}

/// Bits of two floats as halves.
fn packed(low: u32, high: u32) -> u32 {
    eval(Alu::PackHalf, Type::W32, [low.into(), high.into(), 0, 0]) as u32
}

/// Loads that become loads of halves together or not at all.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Together {
    /// One load.
    Load(Inst),
    /// All of a location that is not interpolated: what its record holds has one form.
    Location(u8),
}

fn together(function: &Function, load: Inst) -> Together {
    match function.inst(load).op {
        Op::LoadVarying(Varying {
            location,
            sampling: Sampling::Flat,
            ..
        }) => Together::Location(location),
        _ => Together::Load(load),
    }
}

/// Drops stores of what something else reads as well: both forms would be loaded.
fn drop_shared(
    function: &mut Function,
    loads: &HashMap<Value, (Inst, usize)>,
    stores: &mut Vec<Store>,
) {
    let groups: HashMap<Inst, Together> = loads
        .values()
        .map(|(load, _)| (*load, together(function, *load)))
        .collect();
    let mut uses: HashMap<Together, usize> = HashMap::default();
    function.map_uses(|value| {
        let group = loads.get(&value).and_then(|(load, _)| groups.get(load));
        if let Some(group) = group {
            *uses.entry(*group).or_default() += 1;
        }
        value
    });
    loop {
        let mut own: HashMap<Together, usize> = HashMap::default();
        for pair in stores.iter().flat_map(|store| store.pairs) {
            if let Pair::Loaded { load, high, .. } = pair {
                *own.entry(groups[&load]).or_default() += if high.is_some() { 1 } else { 2 };
            }
        }
        let before = stores.len();
        stores.retain(|store| {
            store.pairs.iter().all(|pair| match pair {
                Pair::Constant(_) => true,
                Pair::Loaded { load, .. } => own.get(&groups[load]) == uses.get(&groups[load]),
            })
        });
        if stores.len() == before {
            return;
        }
    }
}

/// Turns loads into loads of halves; the words that each gives.
fn narrow_loads(function: &mut Function, stores: &[Store]) -> HashMap<Inst, Vec<Value>> {
    // Components of each load that are read.
    let mut wanted: HashMap<Inst, u8> = HashMap::default();
    for pair in stores.iter().flat_map(|store| store.pairs) {
        if let Pair::Loaded { load, word, high } = pair {
            let end = 2 * word as u8 + if high.is_some() { 1 } else { 2 };
            let count = wanted.entry(load).or_default();
            *count = end.max(*count);
        }
    }
    let mut halves = HashMap::default();
    for block in function.layout.clone() {
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        for inst in insts {
            let data = function.inst(inst).clone();
            let (Some(&count), Op::LoadVarying(varying)) = (wanted.get(&inst), data.op) else {
                function.block_mut(block).insts.push(inst);
                continue;
            };
            let mut b = Builder::new(function, block);
            b.position = data.position;
            let load = Varying {
                count,
                half: true,
                ..varying
            };
            halves.insert(inst, b.inst(Op::LoadVarying(load), &data.args).to_vec());
        }
    }
    halves
}

/// Stores a colour as halves.
fn pack(function: &mut Function, store: &Store, halves: &HashMap<Inst, Vec<Value>>) {
    let insts = &mut function.block_mut(store.block).insts;
    let place = insts.iter().position(|inst| *inst == store.inst);
    let behind = insts.split_off(place.unwrap_or(insts.len()));
    let position = function.inst(store.inst).position;
    let mut b = Builder::new(function, store.block);
    b.position = position;
    let words = store.pairs.map(|pair| match pair {
        Pair::Constant(word) => b.word(word),
        Pair::Loaded { load, word, high } => {
            // `narrow_loads` has made each of them.
            let low = halves.get(&load).and_then(|words| words.get(word).copied());
            let low = low.unwrap_or_else(|| b.word(0));
            match high {
                None => low,
                Some(high) => {
                    let high = b.word(high);
                    b.alu(Alu::Pack16, &[low, high])
                }
            }
        }
    });
    let data = b.function.inst_mut(store.inst);
    data.args = words.into_iter().collect();
    if let Op::StoreOutput(Output::Color { half, .. }) = &mut data.op {
        *half = true;
    }
    b.function.block_mut(store.block).insts.extend(behind);
}
