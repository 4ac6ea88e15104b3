//! Random expressions with the value that each of them has: for tests of what is claimed of values.
//!
//! Where the IR leaves a result open ("some value": a division by zero, bits beyond a word) any value is drawn, since
//! lowering may give any. Where it does not, `interp::eval` says what the value is.
use proptest::prelude::*;

use super::{Access, Alu, Axis, Builder, Function, Held, Kind, Memory, Space, SysVal, Type, Value};
use crate::interp::eval::eval;

/// A function of one block, and the values that it has in one run.
pub(crate) struct Expressions {
    pub function: Function,
    /// Each value with its bits.
    pub values: Vec<(Value, u64)>,
}

impl std::fmt::Debug for Expressions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.function)?;
        let mut values = self.values.iter();
        values.try_for_each(|(value, bits)| writeln!(f, "{value} is {bits:#x}"))
    }
}

/// Functions with up to forty operations.
pub(crate) fn expressions() -> impl Strategy<Value = Expressions> {
    proptest::collection::vec(any::<u64>(), 8..300).prop_map(|choices| {
        let mut function = Function::new("main");
        let block = function.new_block();
        function.workgroup_size = [48, 5, 1];
        let mut generator = Generator {
            choices,
            next: 0,
            b: Builder::new(&mut function, block),
            values: vec![],
        };
        generator.inputs();
        while generator.next < generator.choices.len() {
            generator.operation();
        }
        let values = generator.values;
        Expressions { function, values }
    })
}

/// Operations of which bounds are known, drawn more often than the others.
#[rustfmt::skip]
const COMMON: &[Alu] = &[
    Alu::IAdd, Alu::IMul, Alu::IShl, Alu::UShr, Alu::IAnd, Alu::IOr, Alu::IXor, Alu::UMin, Alu::UMax, Alu::Select,
    Alu::UDiv, Alu::UMod, Alu::B2I, Alu::BitCount, Alu::Clz, Alu::U2U32,
];

struct Generator<'f> {
    choices: Vec<u64>,
    next: usize,
    b: Builder<'f>,
    values: Vec<(Value, u64)>,
}

impl Generator<'_> {
    /// The next choice; 0 beyond the last.
    fn choice(&mut self) -> u64 {
        self.next += 1;
        self.choices.get(self.next - 1).copied().unwrap_or(0)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.choice() % limit
    }

    /// Bits of a type: often the least, the greatest, or small ones.
    fn bits(&mut self, ty: Type) -> u64 {
        let bits = match self.below(5) {
            0 => self.below(4),
            1 => ty.mask().wrapping_sub(self.below(3)),
            2 => self.below(70),
            3 => 1 << self.below(64),
            _ => self.choice(),
        };
        bits & ty.mask()
    }

    /// What lanes and memory may give, each with its bits.
    fn inputs(&mut self) {
        for axis in [Axis::X, Axis::Y, Axis::Z] {
            let bits = self.below(self.b.function.workgroup_size[axis.index()].into());
            let value = self.b.sys_val(SysVal::LocalId(axis));
            self.values.push((value, bits));
        }
        let lane = self.below(self.b.function.lanes.count().into());
        let value = self.b.sys_val(SysVal::LaneId);
        self.values.push((value, lane));
        let elements = [
            (Type::W8, Held::Zero),
            (Type::W16, Held::Zero),
            (Type::W8, Held::Own),
            (Type::W16, Held::Own),
            (Type::W32, Held::Own),
            (Type::W64, Held::Own),
        ];
        for (elem, held) in elements {
            let access = Access {
                elem,
                held,
                memory: Memory::Plain,
                ..Access::words(Space::Shared, 1)
            };
            let place = self.b.word(0);
            let value = self.b.load(access, &[place])[0];
            let bits = self.bits(elem);
            self.values.push((value, bits));
        }
        let [left, right] = [self.values[0], self.values[1]];
        let less = self.b.alu(Alu::ULt, &[left.0, right.0]);
        self.values.push((less, (left.1 < right.1).into()));
    }

    /// A value of a type: a recent one, or a constant.
    fn operand(&mut self, ty: Type) -> (Value, u64) {
        let known: Vec<(Value, u64)> = {
            let values = self.values.iter().rev();
            let of_type = values.filter(|(value, _)| self.b.function.ty(*value) == ty);
            of_type.take(12).copied().collect()
        };
        if known.is_empty() || self.below(3) == 0 {
            let bits = self.bits(ty);
            return (self.b.function.constant_of(ty, bits), bits);
        }
        known[self.below(known.len() as u64) as usize]
    }

    fn operation(&mut self) {
        let list = match self.below(4) {
            0 => Alu::ALL,
            _ => COMMON,
        };
        let alu = list[self.below(list.len() as u64) as usize];
        if alu.operands().contains(&Kind::R) {
            return;
        }
        let words = [Type::W8, Type::W16, Type::W64];
        let other = words[self.below(3) as usize];
        let narrow = match alu {
            Alu::Select => true,
            _ => alu.widths().has(other),
        };
        let ty = match narrow && self.below(4) == 0 {
            true => other,
            false => Type::W32,
        };
        let mut bits = [0; 4];
        let mut args = vec![];
        for (kind, bits) in alu.operands().iter().zip(&mut bits) {
            let operand = match kind {
                Kind::N => [Type::W8, Type::W16, Type::W32, Type::W64][self.below(4) as usize],
                _ => kind.ty().unwrap_or(ty),
            };
            let (value, own) = self.operand(operand);
            args.push(value);
            *bits = own;
        }
        let result = self.b.alu(alu, &args);
        let made = self.b.function.def_inst(result);
        let width = made.map_or(ty, |data| self.b.function.width(data));
        let bits = match is_open(alu, width, bits) {
            true => self.bits(self.b.function.ty(result)),
            false => eval(alu, width, bits),
        };
        self.values.push((result, bits));
    }
}

/// Whether the table of operations says "some value" of the result for these operands.
fn is_open(alu: Alu, width: Type, [a, b, c, d]: [u64; 4]) -> bool {
    let beyond = |first: u64, count: u64| first + count > width.bits().into();
    let float = f32::from_bits(a as u32);
    match alu {
        Alu::UDiv | Alu::UMod | Alu::SDiv | Alu::SRem | Alu::SMod => b == 0,
        Alu::BitInsert => beyond(c, d),
        Alu::UBitExtract | Alu::SBitExtract => beyond(b, c),
        Alu::FrexpExp => width == Type::W16 || !float.is_finite(),
        Alu::FSign => width == Type::W16 || float.is_nan(),
        Alu::F2S64 | Alu::F2U64 => true,
        _ => false,
    }
}
