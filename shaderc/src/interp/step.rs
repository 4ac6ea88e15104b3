//! Instructions: what each does to the lanes that run it.
//!
//! Needs: `run`, which says which lanes run which instruction.  Never: decides where a lane goes on.
use super::eval::eval;
use super::halves;
use super::image_ops;
use super::lanes::{self, Mask};
use super::observer::{LaneSet, Observer};
use super::quads::{self, Coordinates};
use super::run::{LaneInput, Machine, Warp};
use super::trap::Trap;
use crate::ir::{
    Access, AtomicOp, Dim, Held, ImageAction, ImageOp, Inst, InstData, Op, Space, SysVal, TileLoad,
    Type,
};

impl<O: Observer> Machine<'_, O> {
    /// Runs an instruction for some lanes.
    pub(super) fn step(&mut self, warp: &mut Warp, mask: Mask, inst: Inst) -> Result<(), Trap> {
        let data = self.function.inst(inst);
        if let Op::Alu(alu) = data.op {
            let width = self.function.width(data);
            for lane in mask.lanes() {
                let mut args = [0; 4];
                for (arg, value) in args.iter_mut().zip(&data.args) {
                    *arg = warp.get(*value, lane);
                }
                warp.set(data.results[0], lane, eval(alu, width, args));
            }
            return Ok(());
        }
        if let Op::Lanes(op) = data.op {
            let read = |number: usize, lane: usize| warp.get(data.args[number], lane);
            for (lane, bits) in lanes::eval(op, mask, read) {
                warp.set(data.results[0], lane, bits);
            }
            return Ok(());
        }
        if let Op::Ballot(_) = data.op {
            let words = lanes::ballot(mask, |lane| warp.get(data.args[0], lane));
            for lane in mask.lanes() {
                for (result, word) in data.results.iter().zip(words) {
                    warp.set(*result, lane, word);
                }
            }
            return Ok(());
        }
        if let Op::Scan(combine, form) = data.op {
            let read = |lane: usize| warp.get(data.args[0], lane);
            for (lane, bits) in lanes::scan(combine, form, mask, read) {
                warp.set(data.results[0], lane, bits);
            }
            return Ok(());
        }
        if let Op::Image(image) = data.op
            && image.needs_quad()
        {
            return self.by_derivatives(warp, mask, inst, image);
        }
        for lane in mask.lanes() {
            self.step_lane(warp, lane, inst)?;
        }
        if O::ACTIVE && data.op == Op::Demote {
            let helpers = mask.lanes().filter(|lane| warp.lanes[*lane].helper);
            let helpers = helpers.fold(0, |all, lane| all | 1 << lane);
            self.observer.help(self.current, LaneSet(helpers));
        }
        Ok(())
    }

    /// Samples, or asks for a level, by what lanes of quads have in common.
    fn by_derivatives(
        &mut self,
        warp: &mut Warp,
        mask: Mask,
        inst: Inst,
        image: ImageOp,
    ) -> Result<(), Trap> {
        let data = self.function.inst(inst);
        for lane in mask.lanes() {
            let first = image.resources();
            let of = |lane: usize| -> Coordinates {
                let words = data.args[first..][..image.shape.dim.coordinates()].iter();
                let mut floats = words.map(|value| f32::from_bits(warp.get(*value, lane) as u32));
                std::array::from_fn(|_| floats.next().map_or(0.0, f64::from))
            };
            let own = of(lane);
            let along = quads::derivatives(lane, mask, |other| match image.shape.dim {
                Dim::Cube => quads::on_face(own, of(other)),
                _ => of(other),
            });
            let args = data.args.iter().map(|value| warp.get(*value, lane));
            let args: Vec<u64> = args.collect();
            let words = image_ops::by_derivatives(image, &args, along, &mut self.bound);
            let words = words.ok_or_else(|| self.bad_address(warp, lane, inst))?;
            for (result, word) in data.results.iter().zip(words) {
                warp.set(*result, lane, word.into());
            }
        }
        Ok(())
    }

    /// Loads an input, stores an output, or makes a lane one that only helps; none if this isn't a stage that does.
    fn between_stages(&self, warp: &mut Warp, lane: usize, data: &InstData) -> Option<()> {
        let args = data.args.iter().map(|value| warp.get(*value, lane));
        let args: Vec<u64> = args.collect();
        let own = &mut warp.lanes[lane];
        let words: Vec<u32> = match (data.op, &own.input) {
            (Op::LoadAttribute(it), LaneInput::Vertex(vertex)) => {
                let words = vertex
                    .attributes
                    .get(&it.location)
                    .copied()
                    .unwrap_or_default();
                words[it.first.into()..][..it.count.into()].to_vec()
            }
            (Op::LoadTile(it), LaneInput::Fragment(fragment)) => match it {
                TileLoad::Color { target, .. } => fragment.tile.get(usize::from(target))?.to_vec(),
                TileLoad::Depth => vec![fragment.depth.to_bits()],
                TileLoad::Stencil => vec![fragment.stencil.into()],
            },
            (Op::LoadVarying(it), LaneInput::Fragment(fragment)) => {
                let of = |number: u8| {
                    let place = (it.location, it.first + number);
                    let drawing = self.drawing?;
                    let word = drawing.varying(fragment, place, it.sampling, &args)?;
                    if !it.noperspective {
                        return Some(word);
                    }
                    // The vertex shader has multiplied by w.
                    let w = drawing.reciprocal_w(fragment, it.sampling, &args)?;
                    let product = f32::from_bits(word) * f32::from_bits(w);
                    Some(product.to_bits())
                };
                let words = (0..it.count).map(of).collect::<Option<Vec<u32>>>()?;
                match it.half {
                    true => halves::packed(&words),
                    false => words,
                }
            }
            (Op::FragW(sampling), LaneInput::Fragment(fragment)) => {
                vec![self.drawing?.reciprocal_w(fragment, sampling, &args)?]
            }
            (Op::StoreOutput(output), LaneInput::Vertex(_) | LaneInput::Fragment(_)) => {
                let words = args.iter().map(|word| *word as u32).collect();
                own.outputs.push(halves::as_floats(output, words));
                vec![]
            }
            (Op::Demote, LaneInput::Fragment(_)) => {
                own.helper |= args[0] != 0;
                vec![]
            }
            _ => return None,
        };
        for (result, word) in data.results.iter().zip(words) {
            warp.set(*result, lane, word.into());
        }
        Some(())
    }

    fn step_lane(&mut self, warp: &mut Warp, lane: usize, inst: Inst) -> Result<(), Trap> {
        let data = self.function.inst(inst);
        let bits = |number: usize| warp.get(data.args[number], lane);
        if warp.lanes[lane].helper && changes_memory(data.op) {
            // It is as if it weren't there.
            for result in &data.results {
                warp.set(*result, lane, 0);
            }
            return Ok(());
        }
        let result = match data.op {
            // `step` has done these.
            Op::Alu(_) | Op::Lanes(_) | Op::Ballot(_) | Op::Scan(..) => return Ok(()),
            Op::SysVal(sys_val) => {
                let number = lane as u32;
                let lane = &warp.lanes[lane];
                let word: u32 = match sys_val {
                    SysVal::LaneId => number,
                    SysVal::LocalId(axis) => lane.local_id[axis.index()],
                    SysVal::WorkgroupId(axis) => self.workgroup[axis.index()],
                    SysVal::GlobalId(axis) => self.global_id(lane)[axis.index()],
                    other => {
                        let drawing = self.drawing;
                        let word = drawing.and_then(|it| it.sys_val(&lane.input, other));
                        word.ok_or_else(|| Trap::Stage(self.function.show_inst(inst)))?
                    }
                };
                word.into()
            }
            Op::Uniform(uniform) => match self.uniform(uniform) {
                Some(word) => word.into(),
                None => return Err(Trap::Stage(self.function.show_inst(inst))),
            },
            Op::LoadAttribute(_)
            | Op::LoadVarying(_)
            | Op::FragW(_)
            | Op::LoadTile(_)
            | Op::StoreOutput(_)
            | Op::Demote => {
                let done = self.between_stages(warp, lane, data);
                return done.ok_or_else(|| Trap::Stage(self.function.show_inst(inst)));
            }
            Op::Resource(binding) => u64::from(binding.0) << 32 | bits(0),
            Op::BufferSize => match self.bound.size(bits(0)) {
                Some(size) => size.into(),
                None => return Err(self.bad_address(warp, lane, inst)),
            },
            Op::Load(access) => {
                let offset = self.offset(warp, lane, inst, access)?;
                for (number, result) in data.results.iter().enumerate() {
                    let at = offset.wrapping_add(u64::from(access.elem.bytes()) * number as u64);
                    let word = self
                        .read(warp, lane, data, access, at)
                        // What only helps may have computed any address.
                        .or((O::ACTIVE || warp.lanes[lane].helper).then_some(0))
                        .ok_or_else(|| self.bad_address(warp, lane, inst))?;
                    let word = match access.held {
                        Held::Own | Held::Zero => word,
                        Held::Sign if access.elem == Type::W8 => {
                            i32::from(word as i8).cast_unsigned().into()
                        }
                        Held::Sign => i32::from(word as i16).cast_unsigned().into(),
                    };
                    warp.set(*result, lane, word);
                }
                return Ok(());
            }
            Op::Store(access) => {
                let offset = self.offset(warp, lane, inst, access)?;
                for (number, value) in data.args[access.address_operands()..].iter().enumerate() {
                    let at = offset.checked_add(u64::from(access.elem.bytes()) * number as u64);
                    let word = warp.get(*value, lane);
                    let written = at.and_then(|at| self.write(warp, lane, data, access, at, word));
                    if written.is_none() && !O::ACTIVE {
                        return Err(self.bad_address(warp, lane, inst));
                    }
                }
                return Ok(());
            }
            Op::Atomic(op, access) => {
                let first = access.address_operands();
                let value = bits(first);
                let expected = (op == AtomicOp::CompareExchange).then(|| bits(first + 1));
                let at = self.offset(warp, lane, inst, access)?;
                let old = match access.space {
                    Space::Buffer => {
                        let buffer = self.bound.buffer(bits(0));
                        buffer.and_then(|buffer| buffer.get(at, access.elem.bytes()))
                    }
                    _ => self.read(warp, lane, data, access, at),
                };
                let written = old.and_then(|old| {
                    let new = atomic(op, access.elem, old, value, expected);
                    self.write(warp, lane, data, access, at, new)
                });
                match (old, written) {
                    (Some(old), Some(())) => old,
                    _ if O::ACTIVE => 0,
                    _ => return Err(self.bad_address(warp, lane, inst)),
                }
            }
            Op::Image(image) => {
                let args: Vec<u64> = data
                    .args
                    .iter()
                    .map(|value| warp.get(*value, lane))
                    .collect();
                let words = image_ops::eval(image, &args, &mut self.bound);
                let words = words.ok_or_else(|| self.bad_address(warp, lane, inst))?;
                if O::ACTIVE {
                    self.changes += u64::from(changes_texel(image, &args, &words));
                }
                for (result, word) in data.results.iter().zip(words) {
                    warp.set(*result, lane, word.into());
                }
                return Ok(());
            }
            Op::LoadVar(var) => {
                let index = bits(0);
                if index < self.function.var(var).len.into() {
                    warp.lanes[lane].vars[self.var_base[var.index()] + index as usize]
                } else {
                    0
                }
            }
            Op::StoreVar(var) => {
                let (index, value) = (bits(0), bits(1));
                if index < self.function.var(var).len.into() {
                    warp.lanes[lane].vars[self.var_base[var.index()] + index as usize] = value;
                }
                return Ok(());
            }
            // Accesses take effect one at a time, so memory is always in order. `block` sees to barriers.
            Op::Barrier | Op::Fence(_) => return Ok(()),
        };
        warp.set(data.results[0], lane, result);
        Ok(())
    }

    /// The byte offset or address of an access, which must be aligned as it says.
    fn offset(&self, warp: &Warp, lane: usize, inst: Inst, access: Access) -> Result<u64, Trap> {
        let args = &self.function.inst(inst).args;
        let offset = warp.get(args[access.address_operands() - 1], lane);
        if O::ACTIVE || offset.is_multiple_of(access.align.into()) {
            Ok(offset)
        } else {
            Err(self.bad_address(warp, lane, inst))
        }
    }

    /// An element of memory.
    fn read(
        &mut self,
        warp: &Warp,
        lane: usize,
        data: &InstData,
        access: Access,
        at: u64,
    ) -> Option<u64> {
        let bytes = access.elem.bytes();
        match access.space {
            // Offsets have 32 bits and wrap.
            Space::Buffer => {
                let resource = warp.get(data.args[0], lane);
                self.bound.load(resource, at & u64::from(u32::MAX), bytes)
            }
            Space::Global => {
                let (buffer, offset) = self.bound.at_address(at)?;
                buffer.get(offset, bytes)
            }
            Space::Shared => self.shared.get(at, bytes),
            Space::Scratch => warp.lanes[lane].scratch.get(at, bytes),
            Space::Data => Some(self.data.get(at, bytes).unwrap_or(0)),
        }
    }

    /// Writes an element of memory.
    fn write(
        &mut self,
        warp: &mut Warp,
        lane: usize,
        data: &InstData,
        access: Access,
        at: u64,
        word: u64,
    ) -> Option<()> {
        let bytes = access.elem.bytes();
        if O::ACTIVE {
            let before = self.read(warp, lane, data, access, at);
            let own = access.space == Space::Scratch;
            self.changes += u64::from(!own && before != Some(word & access.elem.mask()));
        }
        match access.space {
            Space::Buffer => {
                let resource = warp.get(data.args[0], lane);
                self.bound.buffer(resource)?.set(at, bytes, word)
            }
            Space::Global => {
                let (buffer, offset) = self.bound.at_address(at)?;
                buffer.set(offset, bytes, word)
            }
            Space::Shared => self.shared.set(at, bytes, word),
            Space::Scratch => warp.lanes[lane].scratch.set(at, bytes, word),
            Space::Data => None,
        }
    }

    fn bad_address(&self, warp: &Warp, lane: usize, inst: Inst) -> Trap {
        let data = self.function.inst(inst);
        let operands = data.op.access().map_or(1, Access::address_operands);
        Trap::Address {
            global_id: self.global_id(&warp.lanes[lane]),
            inst: self.function.show_inst(inst),
            address: data.args[..operands]
                .iter()
                .map(|value| warp.get(*value, lane))
                .collect(),
        }
    }
}

/// Whether an operation on an image changes it, as far as its operands and results tell.
fn changes_texel(image: ImageOp, args: &[u64], results: &[u32]) -> bool {
    match (image.action, results.first()) {
        (ImageAction::Write(_), _) => true,
        (ImageAction::Atomic(op), Some(old)) => {
            let operands = &args[args.len() - image.words()..];
            let old = u64::from(*old);
            let expected = operands.get(1).copied();
            atomic(op, Type::W32, old, operands[0], expected) != old
        }
        _ => false,
    }
}

/// Whether others may see what an operation does.
fn changes_memory(op: Op) -> bool {
    let own = op
        .access()
        .is_some_and(|access| access.space == Space::Scratch);
    op.effects().writes && !own && !matches!(op, Op::StoreVar(_))
}

/// The word that an atomic operation leaves.
pub(super) fn atomic(op: AtomicOp, elem: Type, old: u64, value: u64, expected: Option<u64>) -> u64 {
    let signed = |word: u64| match elem {
        Type::W64 => word.cast_signed(),
        _ => i64::from(word as i32),
    };
    let smaller = signed(value) < signed(old);
    let new = match op {
        AtomicOp::Add => old.wrapping_add(value),
        AtomicOp::SMin if smaller => value,
        AtomicOp::SMax if !smaller => value,
        AtomicOp::SMin | AtomicOp::SMax => old,
        AtomicOp::UMin => old.min(value),
        AtomicOp::UMax => old.max(value),
        AtomicOp::And => old & value,
        AtomicOp::Or => old | value,
        AtomicOp::Xor => old ^ value,
        AtomicOp::Exchange => value,
        AtomicOp::CompareExchange => {
            if expected == Some(old) {
                value
            } else {
                old
            }
        }
    };
    new & elem.mask()
}
