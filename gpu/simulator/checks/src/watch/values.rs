//! Undefined bits of values: from operands to results, from lane to lane, over branches.
use eitri_shaderc::interp::{LaneSet, Values};
use eitri_shaderc::ir::notes::Source as Asked;
use eitri_shaderc::ir::{Alu, BlockId, Function, Inst, LaneOp, Type, Value, Var};

use super::Watch;
use crate::finding::{Level, Rule};
use crate::origin::{Origin, OriginId, Source};
use crate::undefined::{fault, only_moves, outside, undefined_bits};

/// What is undefined in a warp.
pub(super) struct WarpShadow {
    /// By value: in which lanes some bits are undefined.
    lanes: Vec<u64>,
    /// Values that are undefined in some lane: mostly none, and then nothing has to be followed.
    undefined: usize,
    /// By value and lane: which bits, and from where. Only where `lanes` has the lane.
    bits: Vec<(u64, OriginId)>,
    stride: usize,
    /// By lane and element of all variables.
    vars: Vec<(u64, OriginId)>,
    var_base: Vec<usize>,
    var_words: usize,
    /// By lane, the block in which it last chose a way.
    pub(super) branches: Vec<Option<BlockId>>,
}

impl WarpShadow {
    pub(super) fn new(function: &Function, lanes: usize, stride: usize) -> WarpShadow {
        let mut var_base = vec![];
        let mut var_words = 0;
        for (_, var) in function.vars() {
            var_base.push(var_words);
            var_words += var.len as usize;
        }
        WarpShadow {
            lanes: vec![0; function.value_count()],
            undefined: 0,
            bits: vec![(0, 0); function.value_count() * stride],
            stride,
            vars: vec![(u64::MAX, 0); var_words * lanes],
            var_base,
            var_words,
            branches: vec![None; lanes],
        }
    }

    /// The same for a warp of the next workgroup: nothing of the one before is left.
    pub(super) fn renew(&mut self, lanes: usize) {
        // What is in `bits` counts only where `lanes` says so.
        self.lanes.fill(0);
        self.undefined = 0;
        self.vars.clear();
        self.vars.resize(self.var_words * lanes, (u64::MAX, 0));
        self.branches.clear();
        self.branches.resize(lanes, None);
    }

    /// The lanes of some in which a value is not wholly defined.
    pub(super) fn undefined_lanes(&self, value: Value, lanes: LaneSet) -> LaneSet {
        LaneSet(self.lanes[value.index()] & lanes.0)
    }

    /// The undefined bits of a value, and their origin.
    pub(super) fn get(&self, value: Value, lane: usize) -> (u64, OriginId) {
        match self.lanes[value.index()] >> lane & 1 {
            0 => (0, 0),
            _ => self.bits[value.index() * self.stride + lane],
        }
    }

    pub(super) fn set(&mut self, value: Value, lane: usize, bits: (u64, OriginId)) {
        if bits.0 == 0 {
            return self.define(value, LaneSet(1 << lane));
        }
        let lanes = &mut self.lanes[value.index()];
        self.undefined += usize::from(*lanes == 0);
        *lanes |= 1 << lane;
        self.bits[value.index() * self.stride + lane] = bits;
    }

    fn define(&mut self, value: Value, lanes: LaneSet) {
        if self.undefined == 0 {
            return;
        }
        let own = &mut self.lanes[value.index()];
        let left = *own & !lanes.0;
        self.undefined -= usize::from(*own != 0 && left == 0);
        *own = left;
    }

    /// Whether every value is defined in every lane.
    pub(super) fn is_defined(&self) -> bool {
        self.undefined == 0
    }

    fn element(&self, function: &Function, lane: usize, var: Var, index: u64) -> Option<usize> {
        let inside = index < function.var(var).len.into();
        inside.then(|| lane * self.var_words + self.var_base[var.index()] + index as usize)
    }
}

/// All bits of a type.
fn all_bits(ty: Type) -> u64 {
    match ty {
        Type::Bool => 1,
        other => other.mask(),
    }
}

impl Watch<'_> {
    pub(super) fn define_results(&mut self, warp: usize, lanes: LaneSet, inst: Inst) {
        for result in &self.function.inst(inst).results {
            self.warps[warp].define(*result, lanes);
        }
    }

    /// Tells of undefined values among the first operands of an instruction, by which it finds what it works on.
    pub(super) fn decide_by_operands(
        &mut self,
        warp: usize,
        lanes: LaneSet,
        inst: Inst,
        count: usize,
    ) {
        if self.warps[warp].is_defined() {
            return;
        }
        let data = self.function.inst(inst);
        for value in &data.args[..count.min(data.args.len())] {
            for lane in self.warps[warp].undefined_lanes(*value, lanes).iter() {
                let (_, origin) = self.warps[warp].get(*value, lane);
                self.decided(
                    origin,
                    data.position,
                    "an address comes from it",
                    (warp, lane),
                );
            }
        }
    }

    pub(super) fn alu(
        &mut self,
        warp: usize,
        lanes: LaneSet,
        inst: Inst,
        alu: Alu,
        values: Values<'_>,
    ) {
        let checked = self.note(inst).is_some_and(|note| note.arithmetic);
        if !checked && self.warps[warp].is_defined() {
            return;
        }
        let data = self.function.inst(inst);
        let result = data.results[0];
        let shadow = &mut self.warps[warp];
        let undefined = data
            .args
            .iter()
            .fold(0, |all, value| all | shadow.lanes[value.index()]);
        let width = self.function.width(data);
        if undefined & lanes.0 == 0 {
            let is_good = |lane: usize| {
                let mut args = [0; 4];
                for (arg, value) in args.iter_mut().zip(&data.args) {
                    *arg = values.get(*value, lane);
                }
                fault(alu, width, args).is_none()
            };
            if !checked || lanes.iter().all(is_good) {
                return shadow.define(result, lanes);
            }
        }
        let types = (width, self.function.ty(result));
        for lane in lanes.iter() {
            let (mut args, mut masks, mut origin) = ([0; 4], [0; 4], 0);
            for (number, value) in data.args.iter().take(4).enumerate() {
                args[number] = values.get(*value, lane);
                let (bits, from) = self.warps[warp].get(*value, lane);
                masks[number] = bits;
                origin = if origin == 0 { from } else { origin };
            }
            let found = match checked {
                true => fault(alu, width, args).filter(|_| masks == [0; 4]),
                false => None,
            };
            let bits = match found {
                Some(fault) => {
                    origin = self.origins.id(Origin {
                        source: Source::Arithmetic(fault),
                        site: inst.index() as u32,
                        settled: true,
                    });
                    all_bits(types.1)
                }
                None if masks == [0; 4] => 0,
                None => undefined_bits(alu, types, args, masks),
            };
            if bits != 0 && !only_moves(alu) {
                origin = self.origins.settled(origin, inst.index() as u32);
            }
            self.warps[warp].set(result, lane, (bits, origin));
        }
    }

    pub(super) fn lanes(
        &mut self,
        warp: usize,
        lanes: LaneSet,
        inst: Inst,
        op: LaneOp,
        values: Values<'_>,
    ) {
        let data = self.function.inst(inst);
        let asked = self.note(inst).and_then(|note| note.source);
        let results: Vec<(usize, (u64, OriginId))> = lanes
            .iter()
            .map(|lane| {
                let own = lane as i64;
                let word = |value: Value| i64::from(values.get(value, lane) as u32);
                let from = match asked {
                    Some(Asked::Lane(value) | Asked::Same(value)) => word(value),
                    Some(Asked::Xor(value)) => own ^ word(value),
                    Some(Asked::Up(value)) => own - word(value),
                    Some(Asked::Down(value)) => own + word(value),
                    None | Some(Asked::Given) => match op {
                        LaneOp::First => lanes.iter().next().map_or(0, |lane| lane as i64),
                        LaneOp::Shuffle => word(data.args[1]),
                        LaneOp::ShuffleXor => own ^ word(data.args[1]),
                        LaneOp::QuadSwapX => own ^ 1,
                        LaneOp::QuadSwapY => own ^ 2,
                    },
                };
                // What only helps holds what no result depends on.
                let helpers = self.drawn.as_ref().map(|drawn| drawn.helpers());
                let has = |lane: u64| helpers.is_some_and(|helpers| helpers.has(lane));
                if has(lane as u64) || u64::try_from(from).is_ok_and(has) {
                    return (lane, (0, 0));
                }
                let is_there = (0..i64::from(self.warp_size)).contains(&from);
                if is_there && lanes.has(from as u64) {
                    return (lane, self.warps[warp].get(data.args[0], from as usize));
                }
                if asked.is_none() {
                    return (lane, (0, 0));
                }
                let source = match is_there {
                    true => Source::InactiveLane,
                    false => Source::NoLane,
                };
                let origin = self.origins.id(Origin {
                    source,
                    site: inst.index() as u32,
                    settled: true,
                });
                if is_there {
                    self.remember_missing(inst, warp, from as usize);
                }
                (lane, (all_bits(self.function.ty(data.results[0])), origin))
            })
            .collect();
        if let Some(Asked::Same(value)) = asked {
            self.check_same(warp, lanes, inst, value, values);
        }
        if let Some(number) = data.args.get(1) {
            for lane in self.warps[warp].undefined_lanes(*number, lanes).iter() {
                let (_, origin) = self.warps[warp].get(*number, lane);
                self.decided(
                    origin,
                    data.position,
                    "a lane is chosen by it",
                    (warp, lane),
                );
            }
        }
        for (lane, bits) in results {
            self.warps[warp].set(data.results[0], lane, bits);
        }
    }

    /// Tells of functions of GLSL whose operands are outside of what they are defined for. An undefined operand is none of these.
    pub(super) fn check_domains(
        &mut self,
        warp: usize,
        lanes: LaneSet,
        inst: Inst,
        values: Values<'_>,
    ) {
        let Some(note) = self.note(inst) else { return };
        for (domain, operands) in &note.domains {
            for lane in lanes.iter() {
                let shadow = &self.warps[warp];
                let defined = |value: &Value| shadow.get(*value, lane).0 == 0;
                let words = operands.map(|value| values.get(value, lane));
                if operands.iter().all(defined)
                    && let Some(text) = outside(*domain, self.function.ty(operands[0]), words)
                {
                    let (rule, level) = (Rule::Arithmetic, Level::Warning);
                    self.tell_lane(rule, level, text.to_owned(), inst, (warp, lane));
                }
            }
        }
    }

    fn check_same(
        &mut self,
        warp: usize,
        lanes: LaneSet,
        inst: Inst,
        value: Value,
        values: Values<'_>,
    ) {
        let mut numbers = lanes.iter().map(|lane| values.get(value, lane));
        let first = numbers.next();
        if numbers.any(|number| Some(number) != first) {
            let message = "a broadcast comes from lanes that differ".to_owned();
            self.tell_at(Rule::Subgroup, Level::Warning, message, inst, warp);
        }
    }

    /// What lanes compute together: undefined in all if it is in one.
    pub(super) fn together(&mut self, warp: usize, lanes: LaneSet, inst: Inst) {
        let data = self.function.inst(inst);
        let some = self.warps[warp]
            .undefined_lanes(data.args[0], lanes)
            .iter()
            .next();
        for result in &data.results {
            match some {
                None => self.warps[warp].define(*result, lanes),
                Some(from) => {
                    let (_, origin) = self.warps[warp].get(data.args[0], from);
                    let bits = all_bits(self.function.ty(*result));
                    for lane in lanes.iter() {
                        self.warps[warp].set(*result, lane, (bits, origin));
                    }
                }
            }
        }
    }

    pub(super) fn load_var(
        &mut self,
        warp: usize,
        lanes: LaneSet,
        inst: Inst,
        var: Var,
        values: Values<'_>,
    ) {
        let data = self.function.inst(inst);
        let site = inst.index() as u32;
        self.decide_by_operands(warp, lanes, inst, 1);
        self.check_indices(warp, lanes, inst, values);
        let all = all_bits(self.function.ty(data.results[0]));
        if self.is_translators(var) {
            return self.define_results(warp, lanes, inst);
        }
        for lane in lanes.iter() {
            let index = values.get(data.args[0], lane);
            let element = self.warps[warp].element(self.function, lane, var, index);
            let (bits, origin) = element.map_or((0, 0), |at| self.warps[warp].vars[at]);
            let origin = match (bits & all, origin) {
                (0, _) => 0,
                (_, 0) => self.origins.id(Origin {
                    source: Source::Variable,
                    site,
                    settled: false,
                }),
                (_, origin) => self.origins.moved(origin, site),
            };
            self.warps[warp].set(data.results[0], lane, (bits & all, origin));
        }
    }

    pub(super) fn store_var(
        &mut self,
        warp: usize,
        lanes: LaneSet,
        inst: Inst,
        var: Var,
        values: Values<'_>,
    ) {
        let data = self.function.inst(inst);
        self.decide_by_operands(warp, lanes, inst, 1);
        self.check_indices(warp, lanes, inst, values);
        for lane in lanes.iter() {
            let index = values.get(data.args[0], lane);
            let bits = self.warps[warp].get(data.args[1], lane);
            if let Some(at) = self.warps[warp].element(self.function, lane, var, index) {
                self.warps[warp].vars[at] = bits;
            }
        }
    }

    /// Phis take the undefined bits of where lanes come from.
    pub(super) fn enter_block(&mut self, warp: usize, lanes: LaneSet, from: BlockId, to: BlockId) {
        if self.warps[warp].is_defined() {
            return;
        }
        let phis = &self.function.block(to).phis;
        let source = |phi: &eitri_shaderc::ir::Phi| {
            let source = phi.sources.iter().find(|(block, _)| *block == from);
            source.map(|(_, value)| (phi.result, *value))
        };
        let pairs: Vec<(Value, Value)> = phis.iter().filter_map(source).collect();
        let shadow = &mut self.warps[warp];
        let mut incoming = vec![];
        for (result, value) in pairs {
            for lane in shadow.undefined_lanes(value, lanes).iter() {
                incoming.push((result, lane, shadow.get(value, lane)));
            }
        }
        for phi in phis {
            shadow.define(phi.result, lanes);
        }
        for (result, lane, bits) in incoming {
            shadow.set(result, lane, bits);
        }
    }
}
