//! Shared memory: what is not known to lie inside of what the workgroup has is moved inside.
//!
//! Accesses of a block from one base are clamped together, so that their addresses still are constants apart.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::ir::alias::split_offset;
use crate::ir::cfg::Cfg;
use crate::ir::range::{Tested, upper_bound};
use crate::ir::{Access, Alu, Builder, Function, Inst, Op, Space, Value};

/// Keeps offsets in shared memory inside of what the workgroup has.
pub(super) fn clamp_shared(function: &mut Function) -> bool {
    let cfg = Cfg::of(function);
    let shared = function.shared_bytes;
    let mut outside: HashSet<Inst> = HashSet::default();
    for block in &function.layout {
        let mut tested = None;
        for inst in &function.block(*block).insts {
            let data = function.inst(*inst);
            let Some(access) = data
                .op
                .access()
                .filter(|access| access.space == Space::Shared)
            else {
                continue;
            };
            let tested = tested.get_or_insert_with(|| Tested::at(function, &cfg, *block));
            let inside = shared
                .checked_sub(access.bytes())
                .is_none_or(|last| tested.upper_bound(function, data.args[0]) <= last);
            if !inside {
                outside.insert(*inst);
            }
        }
    }
    if outside.is_empty() {
        return false;
    }
    for block in function.layout.clone() {
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        let own = insts.iter().filter(|inst| outside.contains(inst));
        let reaches = reaches(function, own.copied());
        // By base: its lowest address, clamped.
        let mut lowest: HashMap<Value, Value> = HashMap::default();
        for inst in insts {
            if outside.contains(&inst) {
                let mut builder = Builder::new(function, block);
                builder.position = builder.function.inst(inst).position;
                let clamped = clamp_access(&mut builder, inst, &reaches, &mut lowest);
                function.inst_mut(inst).args[0] = clamped;
            }
            function.block_mut(block).insts.push(inst);
        }
    }
    true
}

/// What the accesses of a block from one base reach together.
struct Reach {
    /// The constant parts of the lowest and the highest offset.
    low: i32,
    high: i32,
    /// Bytes of the longest.
    bytes: u32,
    /// The largest alignment, and the constant part of an offset that has it.
    align: (u32, i32),
}

impl Reach {
    fn of(constant: i32, access: Access) -> Reach {
        Reach {
            low: constant,
            high: constant,
            bytes: access.bytes(),
            align: (access.align.into(), constant),
        }
    }

    fn and(self, other: Reach) -> Reach {
        Reach {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            bytes: self.bytes.max(other.bytes),
            align: match self.align.0 >= other.align.0 {
                true => self.align,
                false => other.align,
            },
        }
    }

    /// The last offset for the lowest of them at which all lie inside, each aligned as it has to be; none if they never do.
    fn last(&self, shared: u32) -> Option<u32> {
        let span = self.high.checked_sub(self.low)?.cast_unsigned();
        let last = shared.checked_sub(self.bytes)?.checked_sub(span)?;
        let (align, at) = self.align;
        let above = at.wrapping_sub(self.low).cast_unsigned();
        last.checked_sub(last.wrapping_add(above) & (align - 1))
    }
}

/// The base and the constant part of the offset of an access of shared memory.
fn shared_place(function: &Function, inst: Inst) -> Option<(Value, i32, Access)> {
    let data = function.inst(inst);
    let access = data.op.access()?;
    let (dynamic, constant) = split_offset(function, data.args[0]);
    Some((dynamic?, constant.cast_signed(), access))
}

/// By base: what accesses of a block reach. All of them are made, so where one is outside it does not matter where the others are.
fn reaches(function: &Function, insts: impl Iterator<Item = Inst>) -> HashMap<Value, Reach> {
    let mut reaches: HashMap<Value, Reach> = HashMap::default();
    for (base, constant, access) in insts.filter_map(|inst| shared_place(function, inst)) {
        let own = Reach::of(constant, access);
        let all = match reaches.remove(&base) {
            Some(before) => before.and(own),
            None => own,
        };
        reaches.insert(base, all);
    }
    reaches
}

/// An offset in shared memory that lies inside: a constant apart from the lowest of its base, where that can be clamped for all.
fn clamp_access(
    builder: &mut Builder<'_>,
    inst: Inst,
    reaches: &HashMap<Value, Reach>,
    lowest: &mut HashMap<Value, Value>,
) -> Value {
    let shared = builder.function.shared_bytes;
    let offset = builder.function.inst(inst).args[0];
    let place = shared_place(builder.function, inst).and_then(|(base, constant, _)| {
        let reach = reaches.get(&base)?;
        Some((base, constant, reach.low, reach.last(shared)?))
    });
    if let Some((base, constant, low, last)) = place {
        let lowest = *lowest.entry(base).or_insert_with(|| {
            let offset = match low {
                0 => base,
                low => builder.alu_word(Alu::IAdd, base, low.cast_unsigned()),
            };
            clamp(builder, offset, last)
        });
        return match constant.wrapping_sub(low) {
            0 => lowest,
            above => builder.alu_word(Alu::IAdd, lowest, above.cast_unsigned()),
        };
    }
    let access = builder.function.inst(inst).op.access();
    let (bytes, align) = access.map_or((4, 4), |access| (access.bytes(), access.align.into()));
    clamp(builder, offset, shared.saturating_sub(bytes) & !(align - 1))
}

/// The smaller of an offset and a constant. The number of an element is clamped before it is made an offset, since addresses take a
/// shift in, where the shift loses no bits: an index that wraps lies where it wraps to.
fn clamp(builder: &mut Builder<'_>, offset: Value, last: u32) -> Value {
    let (dynamic, constant) = split_offset(builder.function, offset);
    let shifted = dynamic.and_then(|dynamic| {
        let data = builder.function.def_inst(dynamic)?;
        let by = builder.function.as_word(data.args[1..].first().copied()?)?;
        let is_shift = data.op == Op::Alu(Alu::IShl) && by < 8 && constant.trailing_zeros() >= by;
        let number = data.args[0];
        let keeps_all = || upper_bound(builder.function, number) < 1 << (31 - by);
        (is_shift && keeps_all()).then_some((number, by))
    });
    let Some((number, by)) = shifted else {
        return builder.alu_word(Alu::UMin, offset, last);
    };
    let number = match constant.cast_signed() >> by {
        0 => number,
        more => builder.alu_word(Alu::IAdd, number, more.cast_unsigned()),
    };
    let number = builder.alu_word(Alu::UMin, number, last >> by);
    builder.alu_word(Alu::IShl, number, by)
}
