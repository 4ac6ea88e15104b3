//! Rounds: which turn of its loops a lane is in, so that lanes are compared where they do the same.
use eitri_shaderc::interp::LaneSet;
use eitri_shaderc::ir::{BindingId, BlockId, Function, Inst};
use rustc_hash::FxHashMap;

/// The turns of all lanes of a workgroup. Empty if no binding has several elements: then nobody asks.
pub(super) struct Rounds {
    wanted: bool,
    /// By block, its place in the layout.
    places: Vec<usize>,
    /// Headers, each with the place of the last block that jumps back to it.
    loops: Vec<(BlockId, usize)>,
    /// By warp, lane and loop.
    turns: Vec<Vec<Vec<u32>>>,
    /// What the first lane has chosen, by instruction and turns.
    chosen: FxHashMap<(Inst, Vec<u32>), u64>,
}

impl Rounds {
    pub(super) fn new(function: &Function) -> Rounds {
        let mut places = vec![usize::MAX; function.block_count()];
        for (place, block) in function.layout.iter().enumerate() {
            places[block.index()] = place;
        }
        let mut loops: Vec<(BlockId, usize)> = vec![];
        for block in &function.layout {
            let place = places[block.index()];
            for target in function.block(*block).terminator.targets() {
                if places[target.index()] > place {
                    continue;
                }
                match loops.iter_mut().find(|(header, _)| *header == target) {
                    Some((_, last)) => *last = (*last).max(place),
                    None => loops.push((target, place)),
                }
            }
        }
        Rounds {
            wanted: function.bindings.iter().any(|binding| binding.count > 1),
            places,
            loops,
            turns: vec![],
            chosen: FxHashMap::default(),
        }
    }

    pub(super) fn begin(&mut self, warps: &[usize]) {
        self.chosen.clear();
        let none = vec![0; self.loops.len()];
        self.turns = warps
            .iter()
            .map(|lanes| vec![none.clone(); *lanes])
            .collect();
    }

    pub(super) fn enter(&mut self, warp: usize, lanes: LaneSet, from: BlockId, to: BlockId) {
        if !self.wanted {
            return;
        }
        let Some(number) = self.loops.iter().position(|(header, _)| *header == to) else {
            return;
        };
        let back = self.places[from.index()] >= self.places[to.index()];
        for lane in lanes.iter() {
            let turn = &mut self.turns[warp][lane][number];
            *turn = if back { *turn + 1 } else { 0 };
        }
    }

    /// Whether a lane chooses another element at an instruction than those before it in the same turn of the loops around.
    pub(super) fn differs(
        &mut self,
        (warp, lane): (usize, usize),
        (inst, block): (Inst, BlockId),
        binding: BindingId,
        element: u64,
    ) -> bool {
        let place = self.places[block.index()];
        let around = self.loops.iter().zip(&self.turns[warp][lane]);
        let turns = around
            .filter(|((header, last), _)| (self.places[header.index()]..=*last).contains(&place))
            .map(|(_, turn)| *turn)
            .chain([binding.index() as u32]);
        let first = self
            .chosen
            .entry((inst, turns.collect()))
            .or_insert(element);
        *first != element
    }
}
