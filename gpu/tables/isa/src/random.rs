//! Random legal instructions, for tests of this crate and of everyone who takes instructions.
//!
//! Guarantees: what is made encodes. Needs no allocator: randomness comes from the caller.

use crate::arch::Arch;
use crate::constants::Constant;
use crate::flow::Flow;
use crate::instr::{Instr, MAX_SOURCES};
use crate::op::Op;
use crate::register::{Dest, Mask, Reg, RegRange};
use crate::row::{Access, DestKind, Kind, Source};
use crate::rules;
use crate::select::{Select, SelectRow};
use crate::source::{Half, Operand, Src, Uniform};
use crate::special::Special;
use crate::values::{AtomicOp, FieldId, Flag, MemoryWidth, Value};

const COMPARE: FieldId = FieldId::Flag(Flag::Compare);

/// Random numbers below a bound.
struct Dice<'a, R> {
    next: &'a mut R,
}

impl<R: FnMut() -> u32> Dice<'_, R> {
    /// A number from 0 to `bound` - 1.
    fn below(&mut self, bound: u32) -> u32 {
        ((u64::from((self.next)()) * u64::from(bound)) >> 32) as u32
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    fn register(&mut self, even: bool) -> Reg {
        let index = self.below(u32::from(Reg::COUNT));
        Reg::from_bits(u64::from(if even { index & !1 } else { index }))
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        items.get(self.below(items.len() as u32) as usize).copied()
    }
}

impl Instr {
    /// A random legal instruction: `op` with operands, modifiers and flow drawn from `next`, each number of which should
    /// be uniform over all 32 bits. `None` if `arch` lacks the instruction.
    pub fn random(op: Op, arch: Arch, next: &mut impl FnMut() -> u32) -> Option<Self> {
        let row = op.row();
        if !row.archs.contains(arch) || row.text_only {
            return None;
        }
        let mut dice = Dice { next };
        let mut instr = Self::new(op);
        loop {
            let (flow, _, archs) = dice.pick(&Flow::ALL)?;
            if archs.contains(arch) {
                instr.flow = flow;
                break;
            }
        }
        for (index, field) in row.fields.iter().enumerate() {
            // Only an exchange compares, and it is drawn later.
            if field.id == COMPARE {
                continue;
            }
            let mut legal = (0..1 << field.width).filter(|value| field.allows(*value, arch));
            let count = legal.clone().count() as u32;
            let value = legal.nth(dice.below(count) as usize)?;
            instr.put(index, field, value);
        }
        for immediate in row.immediates {
            let on_arch = row.immediates_on(arch);
            let same = on_arch.iter().find(|other| other.id == immediate.id);
            let (least, greatest) = same?.range();
            let span = (greatest - least) as u64 + 1;
            let mut value = least + ((u64::from((dice.next)()) * span) >> 32) as i64;
            if row.kind == Kind::Atomic {
                value -= value % i64::from(row.ty.bits() / 8);
            }
            if !immediate.allows(value, arch) {
                value = 0;
            }
            instr.set_imm(immediate.id, value).ok()?;
        }
        if instr.atomic_op() == Some(AtomicOp::Axchg) && row.field(COMPARE).is_some() {
            instr.set_flag(Flag::Compare, dice.coin()).ok()?;
        }
        if row.dest != DestKind::None {
            instr.dest = Some(loop {
                let reg = dice.register(row.dest == DestKind::Pair);
                let dest = Dest {
                    reg,
                    mask: Mask::from_bits(u64::from(dice.below(4))),
                };
                if rules::dest(row, dest, arch).is_ok()
                    && rules::whole_if_needed(row, dest, arch).is_ok()
                {
                    break dest;
                }
            });
        }
        for spec in row.staging {
            let range = loop {
                let count = dice.below(if spec.count_width > 3 { 65 } else { 9 }) as u8;
                let first = dice.register(count > 1);
                let Some(range) = RegRange::new(first, count) else {
                    continue;
                };
                if rules::staging_count(op, spec, range).is_ok() && instr.takes(spec, range) {
                    break Some(range);
                }
            };
            match spec.access {
                Access::Read => instr.read = range,
                Access::Write => instr.write = range,
            }
        }
        // On some generations the number of registers tells one bit of the width of a checked access.
        let count = instr.read.or(instr.write).map_or(0, RegRange::count);
        if let Some(width) = row.field(FieldId::MemoryWidth)
            && arch >= Arch::V14
        {
            let narrow = width.extract(instr.fields) & 3;
            let wide = if count > 1 { 4 } else { 0 };
            instr
                .set(MemoryWidth::ALL[usize::from(narrow | wide)])
                .ok()?;
        }
        for (index, spec) in row.sources.iter().enumerate() {
            instr.sources[index] = Some(source(&mut dice, spec, arch));
            let legal = |sources: &[Option<Src>; MAX_SOURCES]| {
                let source = sources[index].as_ref().is_some_and(|source| {
                    rules::source(op, index, spec, source).is_ok()
                        && rules::takes_source(row, index, spec, source, arch).is_ok()
                });
                source
                    && rules::fau_page(row, sources, arch).is_ok()
                    && rules::message_limits(row, sources).is_ok()
            };
            if !legal(&instr.sources)
                && let Some(source) = &mut instr.sources[index]
            {
                // An even register is always legal.
                source.operand = Operand::Register {
                    reg: dice.register(true),
                    last_use: dice.coin(),
                };
            }
        }
        Some(instr)
    }
}

fn source(dice: &mut Dice<'_, impl FnMut() -> u32>, spec: &Source, arch: Arch) -> Src {
    let operand = match dice.below(5) {
        0 => Operand::Uniform(Uniform(dice.below(256) as u8)),
        1 => Operand::Constant(Constant::from_bits(u64::from(dice.below(32)))),
        2 => special(dice, arch),
        _ => Operand::Register {
            reg: dice.register(false),
            last_use: dice.coin(),
        },
    };
    let select = match spec.select {
        None => Select::Identity,
        Some(field) => {
            let legal = |row: &&SelectRow| field.legal.allows(row.value, arch);
            let count = field.table.rows.iter().filter(legal).count() as u32;
            let index = dice.below(count) as usize;
            let row = field.table.rows.iter().filter(legal).nth(index);
            row.map_or(Select::Identity, |row| row.select)
        }
    };
    Src {
        operand,
        select,
        abs: spec.abs.is_some() && dice.coin(),
        neg: spec.neg.is_some() && dice.coin(),
        not: spec.not.is_some() && dice.coin(),
    }
}

fn special(dice: &mut Dice<'_, impl FnMut() -> u32>, arch: Arch) -> Operand {
    let word = if dice.coin() { Half::W0 } else { Half::W1 };
    let row = Special::ALL[dice.below(Special::ALL.len() as u32) as usize];
    let special = if row.archs.contains(arch) {
        row.special
    } else {
        Special::LaneId
    };
    Operand::Special { special, word }
}
