//! Accesses to buffers, shared memory and memory by address: bounds, alignment, undefined bytes, races.
use eitri_shaderc::interp::{LaneSet, Values, located};
use eitri_shaderc::ir::notes::Classes;
use eitri_shaderc::ir::{Access as IrAccess, AtomicOp, BindingId, Held, Inst, Op, Space, Value};

use super::{SHARED, Watch};
use crate::event::{Access, Kind, Reach};
use crate::finding::{Level, Rule};
use crate::origin::{Origin, Source};
use crate::shadow::Shadow;

/// Where an element of an access lies.
#[derive(Clone, Copy)]
struct Place {
    /// An element of a binding, or [`SHARED`]; none of memory of the invocation or the program.
    object: Option<u32>,
    at: u64,
    inside: bool,
}

/// What an access is taken for that nothing is noted of: the compiler's own.
const OWN: Reach = Reach {
    private: false,
    coherent: None,
    atomic: None,
};

impl Watch<'_> {
    pub(super) fn access(
        &mut self,
        warp: usize,
        lanes: LaneSet,
        inst: Inst,
        access: IrAccess,
        values: Values<'_>,
    ) {
        self.decide_by_operands(warp, lanes, inst, access.address_operands());
        self.check_resource(warp, lanes, inst, values);
        let outside = self.check_indices(warp, lanes, inst, values);
        for lane in lanes.iter() {
            if outside.has(lane as u64) {
                self.define_lane(warp, lane, inst);
                continue;
            }
            for number in 0..usize::from(access.count) {
                self.element_access((warp, lane), inst, (access, number), values);
            }
        }
    }

    fn define_lane(&mut self, warp: usize, lane: usize, inst: Inst) {
        for result in &self.function.inst(inst).results {
            self.warps[warp].set(*result, lane, (0, 0));
        }
    }

    /// One element of one lane's access.
    fn element_access(
        &mut self,
        (warp, lane): (usize, usize),
        inst: Inst,
        (access, number): (IrAccess, usize),
        values: Values<'_>,
    ) {
        let data = self.function.inst(inst);
        let bytes = access.elem.bytes();
        let place = self.place(lane, inst, (access, number), values);
        let aligned = place.at.is_multiple_of(access.align.into());
        if access.space == Space::Global && number == 0 && !aligned {
            let message = format!(
                "the address ends in {:#x}, and {} bytes are accessed that must lie at a multiple of {}",
                place.at % 16,
                access.bytes(),
                access.align
            );
            self.tell_lane(Rule::Misaligned, Level::Error, message, inst, (warp, lane));
        }
        if !place.inside {
            self.outside_memory((warp, lane), inst, place, bytes);
            self.define_lane(warp, lane, inst);
            return;
        }
        let Some(object) = place.object else {
            self.define_lane(warp, lane, inst);
            return;
        };
        self.shadow_access((warp, lane), inst, (access, number), (object, place.at));
        if object != SHARED && self.elements[object as usize].constant {
            return;
        }
        let kind = match data.op {
            Op::Store(_) => Kind::Write,
            Op::Atomic(..) => Kind::Update,
            _ => Kind::Read,
        };
        let operand = data.args.get(access.address_operands() + number);
        let note = self.note(inst);
        let event = Access {
            agent: self.agent(warp, lane),
            object,
            class: match object {
                SHARED => Classes::SHARED,
                _ => Classes::BUFFER,
            },
            start: place.at,
            bytes,
            kind,
            reach: note.and_then(|note| note.reach).unwrap_or(OWN),
            order: note.and_then(|note| note.order),
            value: match (kind, operand) {
                (Kind::Write, Some(value)) => values.get(*value, lane),
                _ => 0,
            },
            fixed: operand.is_some_and(|value| self.is_fixed(*value)),
            site: inst.index() as u32,
        };
        self.race(&event);
    }

    /// Whether a value is the same in all invocations, as far as its definition tells.
    pub(super) fn is_fixed(&self, value: Value) -> bool {
        let constant = self.function.as_bits(value).is_some();
        let data = self.function.def_inst(value);
        constant || data.is_some_and(|data| matches!(data.op, Op::Uniform(_)))
    }

    fn place(
        &self,
        lane: usize,
        inst: Inst,
        (access, number): (IrAccess, usize),
        values: Values<'_>,
    ) -> Place {
        let data = self.function.inst(inst);
        let bytes = u64::from(access.elem.bytes());
        let base = values.get(data.args[access.address_operands() - 1], lane);
        let at = base.wrapping_add(bytes * number as u64);
        let within = |object: u32, at: u64| {
            let size = self
                .elements
                .get(object as usize)
                .map_or(0, |own| own.bytes);
            Place {
                object: Some(object),
                at,
                inside: at.checked_add(bytes).is_some_and(|end| end <= size),
            }
        };
        match access.space {
            Space::Buffer => {
                let resource = values.get(data.args[0], lane);
                within(self.object(resource), at & u64::from(u32::MAX))
            }
            Space::Global => match located(at) {
                Some((number, offset)) => within(number as u32, offset),
                None => within(u32::MAX - 1, at),
            },
            Space::Shared => Place {
                object: Some(SHARED),
                at,
                inside: at.saturating_add(bytes) <= self.function.shared_bytes.into(),
            },
            Space::Scratch | Space::Data => Place {
                object: None,
                at,
                inside: true,
            },
        }
    }

    /// The number of the element that a resource names.
    pub(super) fn object(&self, resource: u64) -> u32 {
        let binding = (resource >> 32) as usize;
        let first = self.first_elements.get(binding).copied().unwrap_or(0);
        first.saturating_add(resource as u32)
    }

    fn outside_memory(&mut self, who: (usize, usize), inst: Inst, place: Place, bytes: u32) {
        let message = match place.object {
            Some(SHARED) => format!(
                "byte {} of shared memory, which has {}",
                place.at, self.function.shared_bytes
            ),
            Some(object) => match self.elements.get(object as usize) {
                Some(own) => format!(
                    "bytes {} to {} of {}, which has {} bytes",
                    place.at,
                    place.at + u64::from(bytes) - 1,
                    self.object_name(object, inst),
                    own.bytes
                ),
                None => format!("address {:#x} lies in no buffer", place.at),
            },
            None => return,
        };
        self.tell_lane(Rule::OutOfBounds, Level::Warning, message, inst, who);
    }

    fn shadow_access(
        &mut self,
        (warp, lane): (usize, usize),
        inst: Inst,
        (access, number): (IrAccess, usize),
        (object, at): (u32, u64),
    ) {
        let data = self.function.inst(inst);
        let bytes = access.elem.bytes();
        let site = inst.index() as u32;
        let operands = access.address_operands();
        let loads = !matches!(data.op, Op::Store(_));
        let mut held = (0, 0);
        if loads {
            if !self.shadow(object).is_defined_at(at, bytes) {
                let never = self.origins.id(Origin {
                    source: Source::Memory,
                    site,
                    settled: true,
                });
                held = self.shadow(object).load(at, bytes, never);
            }
            let result = data.results[number.min(data.results.len() - 1)];
            let bits = match access.held {
                Held::Sign if held.0 != 0 => u64::from(u32::MAX),
                _ => held.0,
            };
            self.warps[warp].set(result, lane, (bits, held.1));
        }
        let stored = match data.op {
            Op::Store(_) => self.warps[warp].get(data.args[operands + number], lane),
            Op::Atomic(op, _) => {
                let mut stored = (0, 0);
                for value in &data.args[operands..] {
                    let (bits, origin) = self.warps[warp].get(*value, lane);
                    if bits != 0 {
                        stored = (bits, origin);
                        if object != SHARED {
                            let what = "an atomic is done with it";
                            self.decided(origin, data.position, what, (warp, lane));
                            stored = (0, 0);
                        }
                    }
                }
                match op {
                    AtomicOp::Exchange => stored,
                    _ if stored.0 != 0 => stored,
                    _ => held,
                }
            }
            _ => return,
        };
        self.shadow_mut(object).store(at, bytes, stored, site);
    }

    pub(super) fn shadow(&self, object: u32) -> &Shadow {
        match object {
            SHARED => &self.shared,
            object => &self.elements[object as usize].shadow,
        }
    }

    pub(super) fn shadow_mut(&mut self, object: u32) -> &mut Shadow {
        match object {
            SHARED => &mut self.shared,
            object => &mut self.elements[object as usize].shadow,
        }
    }

    /// Compares indices with the lengths of the arrays that they are for; the lanes in which one is outside.
    pub(super) fn check_indices(
        &mut self,
        warp: usize,
        lanes: LaneSet,
        inst: Inst,
        values: Values<'_>,
    ) -> LaneSet {
        let mut outside = LaneSet(0);
        let Some(note) = self.note(inst) else {
            return outside;
        };
        for index in &note.indices {
            let width = self.function.ty(index.value);
            let unused = 64 - width.bits();
            for lane in lanes.iter() {
                let bits = values.get(index.value, lane);
                let number = match index.signed {
                    true => i128::from((bits << unused).cast_signed() >> unused),
                    false => i128::from(bits),
                };
                let limit = match index.len {
                    Some(len) => i128::from(len),
                    None => (1i128 << 32) / i128::from(index.stride.max(1)),
                };
                if (0..limit).contains(&number) || outside.has(lane as u64) {
                    continue;
                }
                outside.0 |= 1 << lane;
                let of = match index.len {
                    Some(len) => format!("which has {len} elements"),
                    None => "beyond all that a buffer can hold".to_owned(),
                };
                let name = note.named.as_ref().map_or("", |named| named.name.as_str());
                let message = format!("element {number} of an array in `{name}`, {of}");
                self.tell_lane(
                    Rule::OutOfBounds,
                    Level::Warning,
                    message,
                    inst,
                    (warp, lane),
                );
            }
        }
        outside
    }

    /// Whether all lanes of the workgroup use the same element of a binding, if they must.
    pub(super) fn check_resource(
        &mut self,
        warp: usize,
        lanes: LaneSet,
        inst: Inst,
        values: Values<'_>,
    ) {
        let data = self.function.inst(inst);
        let Some(note) = self.note(inst).filter(|note| !note.non_uniform) else {
            return;
        };
        let Some((resource, binding)) = data.args.first().and_then(|resource| {
            let binding: BindingId = self.function.binding_of(*resource)?;
            let several = self.function.binding(binding)?.count > 1;
            several.then_some((*resource, binding))
        }) else {
            return;
        };
        let Some(block) = self.block_of(inst) else {
            return;
        };
        for lane in lanes.iter() {
            let element = values.get(resource, lane);
            if self
                .rounds
                .differs((warp, lane), (inst, block), binding, element)
            {
                let name = note.named.as_ref().map_or("", |named| named.name.as_str());
                let message = format!(
                    "the element of `{name}` differs between invocations of the workgroup, and is not marked NonUniform"
                );
                self.tell_lane(
                    Rule::NonUniform,
                    Level::Warning,
                    message,
                    inst,
                    (warp, lane),
                );
                return;
            }
        }
    }
}
