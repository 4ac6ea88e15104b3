//! Words of other lanes: what another lane of the warp stored before a barrier is in one of its registers.
//!
//! All invocations of a workgroup run a barrier together, so right behind it a lane can read the register of any other. What it
//! loads from another one's slot, up to the next barrier, is what that one had stored by then: a store since would be a race.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap as HashMap;

use super::flow::Flow;
use super::slots::{Slot, effect, is_whole, number_of_invocations};
use crate::ir::alias::Extent;
use crate::ir::cfg::Cfg;
use crate::ir::range::Tested;
use crate::ir::{Alu, BlockId, Function, Inst, InstData, Op, Space, Terminator, Value};

/// Most warps of a workgroup in which all lanes exchange words where only some of them need one.
const MOST_WARPS: u32 = 8;

/// A load of another lane's slot.
pub(super) struct Exchange {
    pub(super) load: Inst,
    pub(super) slot: usize,
    /// The lane whose slot it is: its number is the own one xor this.
    pub(super) flip: u32,
}

/// Where lanes exchange words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Spot {
    /// Right behind a barrier: all warps do.
    Behind(Inst),
    /// In the first warp alone, on its way from one block to another. The block before ends with a test that only invocations
    /// of that warp pass.
    FirstWarp {
        from: BlockId,
        to: BlockId,
        /// The index of the invocation.
        index: Value,
    },
}

/// The loads of words that another lane of the warp knows, by where it tells them.
pub(super) fn exchanges(
    function: &Function,
    cfg: &Cfg,
    slots: &[Slot],
    flow: &Flow<'_>,
) -> BTreeMap<Spot, Vec<Exchange>> {
    let mut exchanges: BTreeMap<Spot, Vec<Exchange>> = BTreeMap::new();
    let size: u32 = function.workgroup_size.iter().product();
    // The last warp has all its lanes.
    if size == 0 || !size.is_multiple_of(function.lanes.count()) {
        return exchanges;
    }
    let known = function.layout.iter().flat_map(|block| flow.walk(*block));
    let known = known.filter(|(inst, _)| function.inst(*inst).op == Op::Barrier);
    let finder = Finder {
        function,
        cfg,
        slots,
        places: slots.iter().map(|slot| Place::of(function, slot)).collect(),
        known_at_barriers: known.collect(),
        warps: size / function.lanes.count(),
    };
    for block in &function.layout {
        for (at, inst) in function.block(*block).insts.iter().enumerate() {
            if let Some((spot, slot, flip)) = finder.find(*block, at, function.inst(*inst)) {
                exchanges.entry(spot).or_default().push(Exchange {
                    load: *inst,
                    slot,
                    flip,
                });
            }
        }
    }
    exchanges
}

struct Finder<'f> {
    function: &'f Function,
    cfg: &'f Cfg,
    slots: &'f [Slot],
    /// By slot.
    places: Vec<Option<Place>>,
    known_at_barriers: HashMap<Inst, u64>,
    /// Of a workgroup.
    warps: u32,
}

impl Finder<'_> {
    /// Where a load of a block can be told what it loads, of which slot, and by which lane.
    fn find(&self, block: BlockId, at: usize, data: &InstData) -> Option<(Spot, usize, u32)> {
        let mut slots = self.slots.iter().zip(&self.places).enumerate();
        slots.find_map(|(number, (slot, place))| {
            let place = place.as_ref()?;
            let (flip, bit) = match place.flip(self.function, slot, data)? {
                Flip::Always(flip) => (flip, None),
                Flip::IfClear(flip) => (flip, Some(flip)),
            };
            if !(1..self.function.lanes.count()).contains(&flip) {
                return None;
            }
            let tested = Tested::at(self.function, self.cfg, block);
            if bit.is_some_and(|bit| !tested.is_clear(self.function, place.index, bit)) {
                return None;
            }
            let (from, barrier) = self.barrier_before(number, (block, at))?;
            if self.known_at_barriers.get(&barrier)? & 1 << number == 0 {
                return None;
            }
            let first = bit.and_then(|_| self.first_warp(from, block, place.index));
            let behind = || {
                let pays = bit.is_none() || self.warps <= MOST_WARPS;
                (slot.access.count == 1 && pays).then_some(Spot::Behind(barrier))
            };
            Some((first.or_else(behind)?, number, flip))
        })
    }

    /// The way from one block to the next, if invocations of the first warp alone take it.
    fn first_warp(&self, from: BlockId, to: BlockId, index: Value) -> Option<Spot> {
        let Terminator::Branch {
            condition,
            then,
            otherwise,
        } = self.function.block(from).terminator
        else {
            return None;
        };
        let data = self.function.def_inst(condition)?;
        let bound = self.function.as_word(*data.args.get(1)?)?;
        let passes_below = match data.op {
            Op::Alu(Alu::ULt) => bound,
            Op::Alu(Alu::IEq) => bound.saturating_add(1),
            _ => return None,
        };
        let fits = data.args[0] == index && passes_below <= self.function.lanes.count();
        (fits && then == to && otherwise != to && self.warps > 1).then_some(Spot::FirstWarp {
            from,
            to,
            index,
        })
    }

    /// The barrier that every way to a place leads over last, and its block, if nothing behind it may write a slot of another
    /// invocation.
    fn barrier_before(
        &self,
        slot: usize,
        (mut block, mut end): (BlockId, usize),
    ) -> Option<(BlockId, Inst)> {
        loop {
            for inst in self.function.block(block).insts[..end].iter().rev() {
                let data = self.function.inst(*inst);
                if data.op == Op::Barrier {
                    return Some((block, *inst));
                }
                if effect(self.function, self.slots, data).forgets & 1 << slot != 0 {
                    return None;
                }
            }
            let &[above] = self.cfg.predecessors(block) else {
                return None;
            };
            block = above;
            end = self.function.block(block).insts.len();
        }
    }
}

/// Which lane's slot an address is of.
enum Flip {
    /// That of the lane whose number is the own one xor this.
    Always(u32),
    /// The same where the own number has no such bit.
    IfClear(u32),
}

/// How the slots of a workgroup lie.
struct Place {
    /// The index of the invocation in its workgroup.
    index: Value,
    /// Bytes from one to the next.
    stride: u32,
}

impl Place {
    /// Of slots in the order of invocations; none of others.
    fn of(function: &Function, slot: &Slot) -> Option<Place> {
        let (index, stride) = product(function, slot.own);
        number_of_invocations(function, index).then_some(Place { index, stride })
    }

    fn flip(&self, function: &Function, slot: &Slot, data: &InstData) -> Option<Flip> {
        let Op::Load(access) = data.op else {
            return None;
        };
        if access.space != Space::Shared || !is_whole(&access) || access.count != slot.access.count
        {
            return None;
        }
        let extent = Extent::of(function, data)?;
        let dynamic = extent.base.dynamic?;
        let apart = u32::try_from(extent.offset.checked_sub(slot.offset)?).ok()?;
        if dynamic == slot.own {
            let lanes = apart / self.stride;
            let one = apart.is_multiple_of(self.stride) && lanes.is_power_of_two();
            return one.then_some(Flip::IfClear(lanes));
        }
        let (index, stride) = product(function, dynamic);
        let flipped = flipped(function, index)?;
        let own = flipped.0 == self.index && stride == self.stride && apart == 0;
        own.then_some(Flip::Always(flipped.1))
    }
}

/// A value as a product of another one and a constant.
fn product(function: &Function, value: Value) -> (Value, u32) {
    let found = function.def_inst(value).and_then(|data| {
        let constant = function.as_word(*data.args.get(1)?)?;
        match data.op {
            Op::Alu(Alu::IShl) if constant < 32 => Some((data.args[0], 1 << constant)),
            Op::Alu(Alu::IMul) if constant != 0 => Some((data.args[0], constant)),
            _ => None,
        }
    });
    found.unwrap_or((value, 1))
}

/// A value as another one xor a constant.
fn flipped(function: &Function, value: Value) -> Option<(Value, u32)> {
    let data = function.def_inst(value)?;
    match data.op {
        Op::Alu(Alu::IXor) => Some((data.args[0], function.as_word(data.args[1])?)),
        _ => None,
    }
}
