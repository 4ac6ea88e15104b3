//! Words of 8 and 16 bits become words of 32, with anything above. What the target does on two binary16 at once is done so,
//! on the same value twice; the rest of binary16 is computed in binary32 and rounded.
//!
//! Where values of 16 bits have registers of their size, they stay. Only what the target has not at that width is done on
//! words, which its operands are extended to and its result is cut off from.
//! Needs: no words of 64 bits that come of small ones.  Guarantees: none of 8 bits is left, nor of 16 without a register,
//! but as elements of accesses, of which those that fill words become words.  How: what depends on the bits above extends
//! its operands first; the rest doesn't care.
//! Facts: hardware/compiler-isel.md 4.5, 4.6; hardware/compiler-correctness.md 1.1 (binary32 has bits enough for the two
//! roundings of a sum, product, quotient or square root to be one).

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::access_sizes::further;
use super::change_types::{ChangeTypes, Parts, change_types};
use crate::ir::{Access, Alu, Builder, Function, Held, InstData, Op, Type, Value, Values, Var};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "narrow_words",
    what: "8 and 16-bit words become words of 32 bits",
    run,
};

/// What is known of the words that stand for small ones.
#[derive(Default)]
struct Narrow {
    /// Those with zeros above so many bits.
    zero: HashMap<Value, u32>,
    /// Those with the sign above so many bits.
    sign: HashMap<Value, u32>,
    /// Those whose halves are equal.
    equal_halves: HashSet<Value>,
    /// By word that a 16-bit value was zero-extended to: that value. It stands for the word only where 16 bits of it count.
    halves: HashMap<Value, Value>,
    target: Target,
}

/// Whether values of a type are smaller than a word.
fn is_small(ty: Type) -> bool {
    matches!(ty, Type::W8 | Type::W16)
}

fn run(function: &mut Function, target: &Target) -> Changed {
    let mut narrow = Narrow {
        target: *target,
        ..Narrow::default()
    };
    let changed = change_types(function, &mut narrow);
    let small: Vec<Var> = function
        .vars()
        .filter(|(_, data)| is_small(data.ty))
        .map(|(var, _)| var)
        .collect();
    for var in small {
        function.var_mut(var).ty = Type::W32;
    }
    Changed::from_bool(changed)
}

/// An access of small elements as one of the words that they fill, and one of the rest with its distance.
fn split(access: Access) -> (Option<Access>, Option<(Access, u32)>) {
    const WORD: u32 = 4;
    // Of memory that may change at any time each element is looked at as the source says.
    let joins = u32::from(access.align) >= WORD && !access.memory.is_volatile();
    let words = match joins {
        true => access.bytes() / WORD,
        false => 0,
    };
    let whole = (words > 0).then_some(Access {
        elem: Type::W32,
        count: words as u8,
        ..access
    });
    let left = access.bytes() - WORD * words;
    let rest = (left > 0).then_some((
        Access {
            count: (left / access.elem.bytes()) as u8,
            align: match words {
                0 => access.align,
                _ => WORD as u8,
            },
            held: Held::Zero,
            ..access
        },
        WORD * words,
    ));
    (whole, rest)
}

impl ChangeTypes for Narrow {
    fn changes(&self, ty: Type) -> bool {
        is_small(ty) && !(ty == Type::W16 && self.target.has_halves())
    }

    fn words(&self) -> usize {
        1
    }

    fn concerns(&self, function: &Function, data: &InstData) -> bool {
        let mut values = data.args.iter().chain(&data.results);
        values.any(|value| is_small(function.ty(*value))) && !self.stays(function, data)
    }

    fn selects(&self, ty: Type) -> bool {
        is_small(ty)
    }

    fn inst(&mut self, b: &mut Builder<'_>, data: &InstData, args: &[Parts]) -> Vec<Parts> {
        let args: Vec<Parts> = args.iter().map(|parts| self.extended(b, parts)).collect();
        let args = args.as_slice();
        let values: Vec<Value> = args.iter().map(|parts| parts.values[0]).collect();
        let made = match data.op {
            Op::Alu(alu) => vec![self.alu(b, alu, data, args)],
            Op::Load(access) => self.load(b, access, &values),
            Op::Store(access) => {
                self.store(b, access, args);
                vec![]
            }
            Op::LoadVar(var) => vec![self.var(b, var, |b| b.load_var(var, values[0]))],
            Op::StoreVar(var) => {
                let zero = b.word(0);
                self.var(b, var, |b| {
                    b.store_var(var, values[0], values[1]);
                    zero
                });
                vec![]
            }
            // Nothing else has small operands.
            op => b.inst(op, &values).to_vec(),
        };
        let types = data.results.iter().map(|value| b.function.ty(*value));
        let types: Vec<Type> = types.collect();
        let pairs = types.into_iter().zip(made);
        pairs
            .map(|(ty, value)| Parts::one(ty, self.cut(b, ty, value)))
            .collect()
    }

    fn selector(&mut self, b: &mut Builder<'_>, parts: &Parts) -> Value {
        let parts = self.extended(b, parts);
        self.zero(b, &parts)
    }
}

/// What an operation on words needs above the width of its operands, to stand for one on narrow ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wants {
    /// Nothing: the low bits of the result depend on the low bits of the operands alone.
    LowBits,
    Zeros,
    Signs,
    /// More than an operation on words.
    Other,
}

#[rustfmt::skip]
fn wants(alu: Alu) -> Wants {
    match alu {
        Alu::IAdd | Alu::ISub | Alu::IMul | Alu::INeg | Alu::IAnd | Alu::IOr | Alu::IXor | Alu::INot | Alu::BitSelect
        | Alu::Select | Alu::BitInsert | Alu::UBitExtract | Alu::SBitExtract => Wants::LowBits,
        Alu::UMin | Alu::UMax | Alu::UDiv | Alu::UMod | Alu::BitCount | Alu::FindLsb | Alu::UFindMsb
        | Alu::IEq | Alu::INe | Alu::ULt | Alu::UGe => Wants::Zeros,
        Alu::IAbs | Alu::SMin | Alu::SMax | Alu::SDiv | Alu::SRem | Alu::SMod | Alu::SSign | Alu::SFindMsb
        | Alu::SLt | Alu::SGe => Wants::Signs,
        _ => Wants::Other,
    }
}

impl Narrow {
    /// Whether the target does it on values of 16 bits.
    fn stays(&self, function: &Function, data: &InstData) -> bool {
        let mut values = data.args.iter().chain(&data.results);
        if values.any(|value| self.changes(function.ty(*value))) {
            return false;
        }
        let from = |ty| function.ty(data.args[0]) == ty;
        match data.op {
            Op::Alu(Alu::U2U16 | Alu::F2F16) => from(Type::W32),
            Op::Alu(alu) => self.target.has(alu, Type::W16),
            Op::Load(access) | Op::Store(access) => {
                self.target.has_access(access.space, access.elem)
            }
            _ => false,
        }
    }

    /// What stands for a value, as a word: one of 16 bits that stays is extended.
    fn extended(&mut self, b: &mut Builder<'_>, parts: &Parts) -> Parts {
        let half = parts.values[0];
        if b.function.ty(half) != Type::W16 {
            return parts.clone();
        }
        let word = match b.function.as_bits(half) {
            Some(bits) => b.word(bits as u32),
            None => b.alu(Alu::U2U32, &[half]),
        };
        self.zero.insert(word, 16);
        self.halves.insert(word, half);
        Parts::one(parts.ty, word)
    }

    /// The 16-bit value that a word was extended from, where the word stands for a value of that type: as a byte it has a
    /// sign of its own.
    fn half(&self, ty: Type, word: Value) -> Option<Value> {
        self.halves.get(&word).copied().filter(|_| ty == Type::W16)
    }

    /// A result of a type, where values of that type stay.
    fn cut(&self, b: &mut Builder<'_>, ty: Type, value: Value) -> Value {
        if ty != Type::W16 || self.changes(ty) || b.function.ty(value) == ty {
            return value;
        }
        match (self.half(ty, value), b.function.as_word(value)) {
            (Some(half), _) => half,
            (None, Some(word)) => b.function.constant_of(ty, (word & 0xffff).into()),
            (None, None) => b.alu(Alu::U2U16, &[value]),
        }
    }

    /// Does something to a variable, which has words from now on.
    fn var(
        &self,
        b: &mut Builder<'_>,
        var: Var,
        each: impl FnOnce(&mut Builder<'_>) -> Value,
    ) -> Value {
        b.function.var_mut(var).ty = Type::W32;
        each(b)
    }

    /// Elements from memory: those that fill words as parts of these, the rest one by one.
    fn load(&mut self, b: &mut Builder<'_>, access: Access, address: &[Value]) -> Vec<Value> {
        let bits = access.elem.bits();
        let mut elements = vec![];
        let (whole, rest) = split(access);
        for word in whole.map_or_else(Values::new, |whole| b.load(whole, address)) {
            elements.push(word);
            for below in (bits..32).step_by(bits as usize) {
                let element = b.alu_word(Alu::UShr, word, below);
                self.zero.insert(element, 32 - below);
                elements.push(element);
            }
        }
        if let Some((rest, bytes)) = rest {
            let address = further(b, address, bytes);
            let words = b.load(rest, &address);
            self.zero.extend(words.iter().map(|word| (*word, bits)));
            elements.extend(words);
        }
        elements
    }

    fn store(&mut self, b: &mut Builder<'_>, access: Access, args: &[Parts]) {
        let bits = access.elem.bits();
        let (address, elements) = args.split_at(access.address_operands());
        let address: Vec<Value> = address.iter().map(|parts| parts.values[0]).collect();
        let (whole, rest) = split(access);
        let mut elements = elements.iter();
        if let Some(whole) = whole {
            let mut words = vec![];
            for _ in 0..whole.count {
                let mut word = None;
                for (below, parts) in (0..32).step_by(bits as usize).zip(elements.by_ref()) {
                    // Those above cut off what is above the last one, and what joins two halves reads no more of them.
                    let element = match below + bits {
                        32 => parts.values[0],
                        _ if bits == 16 => parts.values[0],
                        _ => self.zero(b, parts),
                    };
                    word = Some(match word {
                        None => element,
                        Some(word) if bits == 16 => b.alu(Alu::Pack16, &[word, element]),
                        Some(word) => {
                            let element = b.alu_word(Alu::IShl, element, below);
                            b.alu(Alu::IOr, &[word, element])
                        }
                    });
                }
                words.extend(word);
            }
            b.store(whole, &address, &words);
        }
        if let Some((rest, bytes)) = rest {
            let address = further(b, &address, bytes);
            let words: Vec<Value> = elements.map(|parts| parts.values[0]).collect();
            b.store(rest, &address, &words);
        }
    }

    /// With zeros above.
    fn zero(&mut self, b: &mut Builder<'_>, parts: &Parts) -> Value {
        let value = parts.values[0];
        let bits = parts.ty.bits();
        if !is_small(parts.ty) || self.zero.get(&value).is_some_and(|known| *known <= bits) {
            return value;
        }
        if let Some(word) = b.function.as_word(value) {
            return b.word(word & parts.ty.mask() as u32);
        }
        let extended = b.alu_word(Alu::IAnd, value, parts.ty.mask() as u32);
        self.zero.insert(extended, bits);
        extended
    }

    /// With the sign above.
    fn sign(&mut self, b: &mut Builder<'_>, parts: &Parts) -> Value {
        let value = parts.values[0];
        let bits = parts.ty.bits();
        if !is_small(parts.ty) || self.sign.get(&value).is_some_and(|known| *known <= bits) {
            return value;
        }
        if let Some(half) = self.half(parts.ty, value) {
            let extended = b.alu(Alu::S2S32, &[half]);
            self.sign.insert(extended, bits);
            return extended;
        }
        let above = 32 - bits;
        if let Some(word) = b.function.as_word(value) {
            return b.word((word.cast_signed() << above >> above).cast_unsigned());
        }
        let top = b.alu_word(Alu::IShl, value, above);
        let extended = b.alu_word(Alu::SShr, top, above);
        self.sign.insert(extended, bits);
        extended
    }

    /// The binary16 as binary32.
    fn float(&mut self, b: &mut Builder<'_>, parts: &Parts) -> Value {
        if let Some(half) = self.half(parts.ty, parts.values[0]) {
            return b.alu(Alu::F2F32, &[half]);
        }
        match parts.ty {
            Type::W16 => b.alu(Alu::HalfLow, &parts.values),
            _ => parts.values[0],
        }
    }

    /// An operation on two binary16, both of which are the same.
    fn twice(&mut self, b: &mut Builder<'_>, alu: Alu, args: &[Value]) -> Value {
        let mut operands = vec![];
        for arg in args {
            operands.push(match b.function.as_word(*arg) {
                Some(word) => b.word((word & 0xffff) * 0x0001_0001),
                None if self.equal_halves.contains(arg) => *arg,
                None => b.alu(Alu::Pack16, &[*arg, *arg]),
            });
        }
        let result = b.alu(alu, &operands);
        self.equal_halves.insert(result);
        result
    }

    /// With the sign inverted in both halves.
    fn negated(&mut self, b: &mut Builder<'_>, value: Value) -> Value {
        let negated = b.alu_word(Alu::IXor, value, 0x8000_8000);
        self.like(negated, value)
    }

    /// A value whose halves are equal if the other's are.
    fn like(&mut self, value: Value, other: Value) -> Value {
        if self.equal_halves.contains(&other) {
            self.equal_halves.insert(value);
        }
        value
    }

    /// A binary32 rounded to binary16.
    fn round(&mut self, b: &mut Builder<'_>, value: Value) -> Value {
        if !self.changes(Type::W16) {
            return b.alu(Alu::F2F16, &[value]);
        }
        let none = b.float(0.0);
        let half = b.alu(Alu::PackHalf, &[value, none]);
        self.zero.insert(half, 16);
        half
    }

    fn alu(&mut self, b: &mut Builder<'_>, alu: Alu, data: &InstData, args: &[Parts]) -> Value {
        let plain: Vec<Value> = args.iter().map(|parts| parts.values[0]).collect();
        let ty = b.function.width(data);
        if let Some(pair) = self.in_halves(b, alu, ty, &plain) {
            return on_halves(b, pair, &plain);
        }
        match wants(alu) {
            Wants::LowBits => b.alu(alu, &plain),
            Wants::Zeros => {
                let words = self.zeros(b, args);
                b.alu(alu, &words)
            }
            Wants::Signs => {
                let words = self.signs(b, args);
                b.alu(alu, &words)
            }
            Wants::Other => match self.integer(b, alu, ty, args) {
                Some(value) => value,
                None => self.floats(b, alu, ty, args),
            },
        }
    }

    /// An operation on integers that one on words and nothing else does not stand for; none if it isn't one.
    fn integer(
        &mut self,
        b: &mut Builder<'_>,
        alu: Alu,
        ty: Type,
        args: &[Parts],
    ) -> Option<Value> {
        let first = args.first()?;
        let plain = |index: usize| args[index].values[0];
        let bits = ty.bits();
        Some(match alu {
            // What is cut off may as well stay.
            Alu::U2U8 => plain(0),
            Alu::U2U16 | Alu::U2U32 | Alu::U2U64 => self.zero(b, first),
            Alu::S2S16 | Alu::S2S32 | Alu::S2S64 => self.sign(b, first),
            Alu::IShl => {
                let by = b.alu_word(Alu::IAnd, plain(1), bits - 1);
                b.alu(alu, &[plain(0), by])
            }
            Alu::UShr | Alu::SShr => {
                let by = b.alu_word(Alu::IAnd, plain(1), bits - 1);
                let word = match alu {
                    Alu::UShr => self.zero(b, first),
                    _ => self.sign(b, first),
                };
                b.alu(alu, &[word, by])
            }
            Alu::UMulHigh | Alu::SMulHigh => {
                let (factors, shift) = match alu {
                    Alu::UMulHigh => (self.zeros(b, args), Alu::UShr),
                    _ => (self.signs(b, args), Alu::SShr),
                };
                let product = b.alu(Alu::IMul, &factors);
                b.alu_word(shift, product, bits)
            }
            Alu::BitReverse => {
                let reversed = b.alu(alu, &[plain(0)]);
                b.alu_word(Alu::UShr, reversed, 32 - bits)
            }
            Alu::Clz => {
                let word = self.zero(b, first);
                let zeros = b.alu(alu, &[word]);
                b.alu_word(Alu::IAdd, zeros, (bits.cast_signed() - 32).cast_unsigned())
            }
            _ => return None,
        })
    }

    /// An operation on floats: on both halves at once where there is one, else on words.
    fn floats(&mut self, b: &mut Builder<'_>, alu: Alu, ty: Type, args: &[Parts]) -> Value {
        let plain: Vec<Value> = args.iter().map(|parts| parts.values[0]).collect();
        match alu {
            Alu::FNeg => self.negated(b, plain[0]),
            Alu::FAbs => {
                let value = b.alu_word(Alu::IAnd, plain[0], 0x7fff_7fff);
                self.like(value, plain[0])
            }
            Alu::FAdd if ty == Type::W16 => self.twice(b, Alu::FAdd2, &plain),
            Alu::FSub if ty == Type::W16 => {
                let minus = self.negated(b, plain[1]);
                self.twice(b, Alu::FAdd2, &[plain[0], minus])
            }
            Alu::FMul if ty == Type::W16 => self.twice(b, Alu::FMul2, &plain),
            Alu::FFma if ty == Type::W16 => self.twice(b, Alu::FFma2, &plain),
            Alu::FMin if ty == Type::W16 => self.twice(b, Alu::FMin2, &plain),
            Alu::FMax if ty == Type::W16 => self.twice(b, Alu::FMax2, &plain),
            Alu::FSat if ty == Type::W16 => self.twice(b, Alu::FSat2, &plain),
            Alu::F2F16 => self.round(b, plain[0]),
            Alu::F2F32 => self.float(b, &args[0]),
            _ => {
                let floats: Vec<Value> = args.iter().map(|parts| self.float(b, parts)).collect();
                let result = b.alu(alu, &floats);
                match alu.result() {
                    crate::ir::Kind::F => self.round(b, result),
                    _ => result,
                }
            }
        }
    }

    /// The operation on both halves whose low half is what an operation on integers of 16 bits gives, where that spares
    /// extending its operands. What comes of the high half is cut off.
    fn in_halves(&self, b: &Builder<'_>, alu: Alu, ty: Type, args: &[Value]) -> Option<Alu> {
        if ty != Type::W16 || !self.target.pairs_halves() {
            return None;
        }
        // By a known amount a word is shifted right as well as its half, which leaves zeros above.
        let known = || {
            args.get(1)
                .is_some_and(|by| b.function.as_word(*by).is_some())
        };
        match alu {
            Alu::IAbs => Some(Alu::IAbs2),
            Alu::SMin => Some(Alu::SMin2),
            Alu::SMax => Some(Alu::SMax2),
            Alu::UMin => Some(Alu::UMin2),
            Alu::UMax => Some(Alu::UMax2),
            Alu::SShr => Some(Alu::SShr2),
            Alu::IShl if !known() => Some(Alu::IShl2),
            Alu::UShr if !known() => Some(Alu::UShr2),
            _ => None,
        }
    }

    fn zeros(&mut self, b: &mut Builder<'_>, args: &[Parts]) -> Vec<Value> {
        args.iter().map(|parts| self.zero(b, parts)).collect()
    }

    fn signs(&mut self, b: &mut Builder<'_>, args: &[Parts]) -> Vec<Value> {
        args.iter().map(|parts| self.sign(b, parts)).collect()
    }
}

/// An operation on both halves of words of which the low ones count. Of constants both are the same: those are found
/// more often among the constants that need no place.
fn on_halves(b: &mut Builder<'_>, alu: Alu, args: &[Value]) -> Value {
    let words = args.iter().map(|arg| match b.function.as_word(*arg) {
        Some(word) => b.word((word & 0xffff) * 0x0001_0001),
        None => *arg,
    });
    let words: Vec<Value> = words.collect();
    b.alu(alu, &words)
}
