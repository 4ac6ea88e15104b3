//! Words of 64 bits become pairs of 32, where the target has no operation for them.
//!
//! Needs: nothing.  Guarantees: 64 bits are only put together for accesses, and taken apart where an atomic or an
//! operation of the target gives them.  Facts: hardware/compiler-isel.md 5.
mod arithmetic;
mod bits;
mod divide;
mod floats;

use super::change_types::{ChangeTypes, Parts, change_types};
use super::switches;
use crate::ir::{Access, Alu, Builder, Function, InstData, LaneOp, Op, Space, Type, Value, Var};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "wide_words",
    what: "64-bit words become pairs of 32 bits",
    run,
};

/// The low and the high half.
type Pair = [Value; 2];

/// Most words of an access.
const MAX_WORDS: usize = 4;

fn run(function: &mut Function, target: &Target) -> Changed {
    let switched = switches::lower(function, |ty| ty == Type::W64);
    let wide: Vec<Var> = function
        .vars()
        .filter(|(_, data)| data.ty == Type::W64)
        .map(|(var, _)| var)
        .collect();
    let changed = change_types(function, &mut Wide { target: *target });
    for var in wide {
        halve(function, var);
    }
    Changed::from_bool(switched | changed)
}

/// Makes a variable one of twice as many words.
fn halve(function: &mut Function, var: Var) {
    let data = function.var_mut(var);
    if data.ty == Type::W64 {
        data.ty = Type::W32;
        data.len = data.len.saturating_mul(2);
    }
}

struct Wide {
    target: Target,
}

impl ChangeTypes for Wide {
    fn changes(&self, ty: Type) -> bool {
        ty == Type::W64
    }

    fn words(&self) -> usize {
        2
    }

    fn inst(&mut self, b: &mut Builder<'_>, data: &InstData, args: &[Parts]) -> Vec<Parts> {
        let pairs = |values: Vec<Value>| -> Vec<Parts> {
            let words = values.chunks(2);
            words
                .map(|words| Parts {
                    ty: Type::W64,
                    values: words.to_vec(),
                })
                .collect()
        };
        match data.op {
            Op::Alu(alu) => vec![self.alu(b, alu, b.function.ty(data.results[0]), args)],
            Op::Load(access) => {
                let words = load(b, access, args);
                match access.elem {
                    Type::W64 => pairs(words),
                    elem => words
                        .into_iter()
                        .map(|word| Parts::one(elem, word))
                        .collect(),
                }
            }
            Op::Store(access) => {
                store(b, access, args);
                vec![]
            }
            Op::LoadVar(var) => {
                halve(b.function, var);
                let places = elements(b, args[0].values[0]);
                pairs(places.map(|place| b.load_var(var, place)).to_vec())
            }
            Op::StoreVar(var) => {
                halve(b.function, var);
                let places = elements(b, args[0].values[0]);
                for (place, word) in places.into_iter().zip(args[1].values.clone()) {
                    b.store_var(var, place, word);
                }
                vec![]
            }
            // Half by half.
            Op::Lanes(lanes @ (LaneOp::First | LaneOp::QuadSwapX | LaneOp::QuadSwapY)) => {
                let halves = args[0].values.iter();
                pairs(halves.map(|half| b.lanes(lanes, &[*half])).collect())
            }
            Op::Lanes(lanes @ (LaneOp::Shuffle | LaneOp::ShuffleXor)) => {
                let lane = args[1].values[0];
                let halves = args[0].values.iter();
                pairs(halves.map(|half| b.lanes(lanes, &[*half, lane])).collect())
            }
            op => {
                let whole: Vec<Value> = args.iter().map(|parts| whole(b, parts)).collect();
                let results = b.inst(op, &whole);
                let results = results.into_iter().map(|value| apart(b, value));
                results.collect()
            }
        }
    }

    fn selector(&mut self, _: &mut Builder<'_>, parts: &Parts) -> Value {
        // `switches` has replaced those on 64 bits.
        parts.values[0]
    }
}

/// A value as one of 64 bits, or as it is.
fn whole(b: &mut Builder<'_>, parts: &Parts) -> Value {
    match parts.values.as_slice() {
        &[low, high] => {
            let halves = [(low, Alu::Low64), (high, Alu::High64)];
            let of = |(half, alu): (Value, Alu)| {
                let data = b.function.def_inst(half)?;
                (data.op == Op::Alu(alu)).then(|| data.args[0])
            };
            match halves.map(of) {
                [Some(low), Some(high)] if low == high => low,
                _ => b.alu(Alu::Pack64, &[low, high]),
            }
        }
        values => values[0],
    }
}

/// A value of 64 bits as its halves, any other as it is.
fn apart(b: &mut Builder<'_>, value: Value) -> Parts {
    let ty = b.function.ty(value);
    match ty {
        Type::W64 => Parts {
            ty,
            values: vec![b.alu(Alu::Low64, &[value]), b.alu(Alu::High64, &[value])],
        },
        _ => Parts::one(ty, value),
    }
}

/// The numbers of the two words of an element of a variable.
fn elements(b: &mut Builder<'_>, element: Value) -> Pair {
    let low = b.alu_word(Alu::IShl, element, 1);
    [low, b.alu_word(Alu::IAdd, low, 1)]
}

/// The access in words, in pieces that aren't too large: number of the first word of each, and the piece.
fn pieces(access: Access) -> Vec<(usize, Access)> {
    if access.elem != Type::W64 {
        return vec![(0, access)];
    }
    let words = 2 * usize::from(access.count);
    (0..words)
        .step_by(MAX_WORDS)
        .map(|first| {
            let piece = Access {
                elem: Type::W32,
                count: (words - first).min(MAX_WORDS) as u8,
                ..access
            };
            (first, piece)
        })
        .collect()
}

/// The address operands so many bytes further. Addresses of 64 bits are added to by the target.
fn address(b: &mut Builder<'_>, access: Access, args: &[Parts], bytes: u32) -> Vec<Value> {
    let mut address: Vec<Value> = vec![];
    for (number, parts) in args[..access.address_operands()].iter().enumerate() {
        let last = number + 1 == access.address_operands();
        address.push(match parts.values.as_slice() {
            [_, _] => {
                let start = whole(b, parts);
                match bytes {
                    0 => start,
                    _ => b.alu_bits(Alu::IAdd, start, bytes.into()),
                }
            }
            values if last && access.space != Space::Global && bytes != 0 => {
                b.alu_word(Alu::IAdd, values[0], bytes)
            }
            values => values[0],
        });
    }
    address
}

fn load(b: &mut Builder<'_>, access: Access, args: &[Parts]) -> Vec<Value> {
    let mut words = vec![];
    for (first, piece) in pieces(access) {
        let address = address(b, access, args, 4 * first as u32);
        words.extend(b.load(piece, &address));
    }
    words
}

fn store(b: &mut Builder<'_>, access: Access, args: &[Parts]) {
    let stored = args[access.address_operands()..].iter();
    let words: Vec<Value> = stored.flat_map(|parts| parts.values.clone()).collect();
    for (first, piece) in pieces(access) {
        let address = address(b, access, args, 4 * first as u32);
        let words = &words[first..first + usize::from(piece.count)];
        b.store(piece, &address, words);
    }
}

/// How an operation is done on halves of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    /// From others to 64 bits, and from 64 bits to others.
    Conversion,
    /// Half by half.
    Halves,
    /// Sums, products, comparisons.
    Arithmetic,
    Bits,
    /// Has neither operands nor results of 64 bits: `Alu::widths` says so.
    Never,
}

#[rustfmt::skip]
fn family(alu: Alu) -> Family {
    match alu {
        Alu::Pack64 | Alu::Low64 | Alu::High64 | Alu::U2U64 | Alu::S2S64 | Alu::U2U32 | Alu::S2S32 | Alu::U2U8 | Alu::U2U16
        | Alu::S2S16 | Alu::S64ToF | Alu::U64ToF | Alu::F2S64 | Alu::F2U64 => Family::Conversion,

        Alu::IAnd | Alu::IOr | Alu::IXor | Alu::INot | Alu::BitSelect => Family::Halves,

        Alu::Select | Alu::IAdd | Alu::ISub | Alu::INeg | Alu::IAbs | Alu::IMul | Alu::UMulHigh | Alu::SMulHigh | Alu::SSign
        | Alu::SMin | Alu::SMax | Alu::UMin | Alu::UMax
        | Alu::IEq | Alu::INe | Alu::SLt | Alu::SGe | Alu::ULt | Alu::UGe
        | Alu::UDiv | Alu::UMod | Alu::SDiv | Alu::SRem | Alu::SMod => Family::Arithmetic,

        Alu::IShl | Alu::UShr | Alu::SShr | Alu::BitReverse | Alu::BitCount | Alu::Clz | Alu::FindLsb | Alu::UFindMsb
        | Alu::SFindMsb | Alu::BitInsert | Alu::UBitExtract | Alu::SBitExtract => Family::Bits,

        Alu::UDot4x8 | Alu::SDot4x8 | Alu::RotL | Alu::REq
        | Alu::FEq | Alu::FNe | Alu::FLt | Alu::FGe
        | Alu::BAnd | Alu::BOr | Alu::BXor | Alu::BNot | Alu::B2I | Alu::B2F
        | Alu::FAdd | Alu::FSub | Alu::FMul | Alu::FFma | Alu::FNeg | Alu::FAbs | Alu::FMin | Alu::FMax | Alu::FSat
        | Alu::FFloor | Alu::FCeil | Alu::FTrunc | Alu::FRoundEven | Alu::FRcp | Alu::FRsq | Alu::FExp2 | Alu::FLog2
        | Alu::FSin | Alu::FCos | Alu::FLdexp | Alu::FrexpMant | Alu::FrexpExp | Alu::FDiv | Alu::FSqrt | Alu::FFract
        | Alu::FSign | Alu::FMod | Alu::FRem
        | Alu::F2I | Alu::F2U | Alu::I2F | Alu::U2F | Alu::PackHalf | Alu::HalfLow | Alu::HalfHigh | Alu::Pack16
        | Alu::FAdd2 | Alu::FMul2 | Alu::FFma2 | Alu::FMin2 | Alu::FMax2 | Alu::FSat2
        | Alu::IAdd2 | Alu::ISub2 | Alu::IMul2 | Alu::IAbs2 | Alu::SMin2 | Alu::SMax2 | Alu::UMin2 | Alu::UMax2
        | Alu::IShl2 | Alu::UShr2 | Alu::SShr2 | Alu::IEq2 | Alu::SLt2 | Alu::ULt2
        | Alu::FQuantize16 | Alu::F2F16 | Alu::F2F32 => Family::Never,
    }
}

/// Operands in parts.
#[derive(Clone, Copy)]
struct Operands<'a>(&'a [Parts]);

impl Operands<'_> {
    /// Both words of an operand.
    fn pair(self, index: usize) -> Pair {
        let values = &self.0[index].values;
        [values[0], values.get(1).copied().unwrap_or(values[0])]
    }

    /// The only word of an operand, or its low one.
    fn word(self, index: usize) -> Value {
        self.0[index].values[0]
    }
}

fn two(pair: Pair) -> Parts {
    Parts {
        ty: Type::W64,
        values: pair.to_vec(),
    }
}

impl Wide {
    /// A pure operation; `result` is the type that it gives.
    fn alu(&self, b: &mut Builder<'_>, alu: Alu, result: Type, args: &[Parts]) -> Parts {
        if alu != Alu::Pack64 && self.target.has(alu, Type::W64) {
            let whole: Vec<Value> = args.iter().map(|parts| whole(b, parts)).collect();
            let value = b.alu(alu, &whole);
            return apart(b, value);
        }
        let one = |value: Value| Parts::one(result, value);
        let operands = Operands(args);
        match family(alu) {
            Family::Conversion => convert(b, alu, result, args),
            Family::Halves => two([0, 1].map(|half| {
                let half: Vec<Value> = args.iter().map(|parts| parts.values[half]).collect();
                b.alu(alu, &half)
            })),
            Family::Arithmetic => arithmetic(b, alu, result, operands),
            Family::Bits => of_bits(b, alu, result, operands),
            Family::Never => one(operands.word(0)),
        }
    }
}

/// An operation of [`Family::Conversion`].
fn convert(b: &mut Builder<'_>, alu: Alu, result: Type, args: &[Parts]) -> Parts {
    let operands = Operands(args);
    let (word, pair) = (operands.word(0), operands.pair(0));
    let one = |value: Value| Parts::one(result, value);
    match alu {
        Alu::Pack64 => two([word, operands.word(1)]),
        Alu::High64 => one(pair[1]),
        Alu::U2U64 | Alu::S2S64 if args[0].ty == Type::W64 => two(pair),
        Alu::U2U64 | Alu::S2S64 => {
            let signed = alu == Alu::S2S64;
            let low = match (args[0].ty, signed) {
                (Type::W32, _) => word,
                (_, true) => b.alu(Alu::S2S32, &[word]),
                (_, false) => b.alu(Alu::U2U32, &[word]),
            };
            let high = if signed {
                b.alu_word(Alu::SShr, low, 31)
            } else {
                b.word(0)
            };
            two([low, high])
        }
        Alu::U2U8 | Alu::U2U16 | Alu::S2S16 => one(b.alu(alu, &[word])),
        Alu::S64ToF => one(floats::from_signed(b, pair)),
        Alu::U64ToF => one(floats::from_unsigned(b, pair)),
        Alu::F2S64 => two(floats::to_signed(b, word)),
        Alu::F2U64 => two(floats::to_unsigned(b, word)),
        // Those that cut the high word off.
        _ => one(word),
    }
}

/// An operation of [`Family::Arithmetic`].
fn arithmetic(b: &mut Builder<'_>, alu: Alu, result: Type, operands: Operands<'_>) -> Parts {
    let pair = |index: usize| operands.pair(index);
    match alu {
        Alu::Select => two(arithmetic::select(b, operands.word(0), pair(1), pair(2))),
        Alu::IAdd => two(arithmetic::add(b, pair(0), pair(1))),
        Alu::ISub => two(arithmetic::subtract(b, pair(0), pair(1))),
        Alu::INeg => two(arithmetic::negate(b, pair(0))),
        Alu::IAbs => two(arithmetic::absolute(b, pair(0))),
        Alu::IMul => two(arithmetic::multiply(b, pair(0), pair(1))),
        Alu::UMulHigh => two(arithmetic::unsigned_high(b, pair(0), pair(1))),
        Alu::SMulHigh => two(arithmetic::signed_high(b, pair(0), pair(1))),
        Alu::SSign => two(arithmetic::sign(b, pair(0))),
        Alu::SMin | Alu::SMax | Alu::UMin | Alu::UMax => {
            two(arithmetic::extreme(b, alu, pair(0), pair(1)))
        }
        Alu::UDiv | Alu::UMod | Alu::SDiv | Alu::SRem | Alu::SMod => {
            two(divide::divide(b, alu, pair(0), pair(1)))
        }
        _ => Parts::one(result, arithmetic::compare(b, alu, pair(0), pair(1))),
    }
}

/// An operation of [`Family::Bits`].
fn of_bits(b: &mut Builder<'_>, alu: Alu, result: Type, operands: Operands<'_>) -> Parts {
    let one = |value: Value| Parts::one(result, value);
    let word = |index: usize| operands.word(index);
    let x = operands.pair(0);
    match alu {
        Alu::IShl => two(bits::left(b, x, word(1))),
        Alu::UShr | Alu::SShr => two(bits::right(b, alu, x, word(1))),
        Alu::BitReverse => {
            let [low, high] = x.map(|half| b.alu(Alu::BitReverse, &[half]));
            two([high, low])
        }
        Alu::BitCount => {
            let counts = x.map(|half| b.alu(Alu::BitCount, &[half]));
            one(b.alu(Alu::IAdd, &counts))
        }
        Alu::Clz => one(bits::leading_zeros(b, x)),
        Alu::FindLsb => one(bits::lowest(b, x)),
        Alu::UFindMsb => one(bits::highest(b, x)),
        Alu::SFindMsb => {
            let sign = b.alu_word(Alu::SShr, x[1], 31);
            let magnitude = x.map(|half| b.alu(Alu::IXor, &[half, sign]));
            one(bits::highest(b, magnitude))
        }
        Alu::BitInsert => two(bits::insert(b, x, operands.pair(1), word(2), word(3))),
        _ => two(bits::extract(b, alu, x, word(1), word(2))),
    }
}
