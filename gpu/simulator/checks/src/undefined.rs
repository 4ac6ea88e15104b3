//! Undefined values: which bits of a result are undefined when bits of operands are, and which operations give nothing defined.
//!
//! Must be told: the operation, its width, bits and undefined bits of its operands.  Finds: bits of the result that the defined bits
//! of the operands do not decide; exactly for bitwise operations, shifts by defined amounts, selections, extensions and comparisons
//! for equality; sums and products are undefined from the lowest undefined bit on; all else wholly.
//! Does not find: bits that are decided although one operand is undefined, beyond those (such as a float times zero).
use eitri_shaderc::ir::notes::Domain;
use eitri_shaderc::ir::{Alu, Type};

/// Why an operation gives nothing defined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// An integer divided by zero.
    DivisionByZero,
    /// The least integer divided by -1.
    DivisionOverflow,
    /// A shift by the width or more, or by less than zero.
    ShiftRange,
    /// A float that no integer of the type is near to.
    FloatToInt,
    /// A bit field that ends beyond the highest bit.
    BitFieldRange,
}

impl Fault {
    /// In a sentence.
    pub fn text(self) -> &'static str {
        match self {
            Fault::DivisionByZero => "an integer is divided by zero",
            Fault::DivisionOverflow => "the least integer is divided by -1, which does not fit",
            Fault::ShiftRange => "a shift by as many bits as the value has, or more",
            Fault::FloatToInt => "a float is converted to an integer that can't hold it",
            Fault::BitFieldRange => "a bit field ends beyond the highest bit",
        }
    }
}

/// What is wrong with the operands of an operation, if something is.
pub fn fault(alu: Alu, width: Type, args: [u64; 4]) -> Option<Fault> {
    let [a, b, c, d] = args;
    let least = 1u64 << (width.bits() - 1);
    let bits = u64::from(width.bits());
    let float = f64::from(f32::from_bits(a as u32));
    let outside = |low: f64, high: f64| !(float > low && float < high);
    let (found, fault) = match alu {
        Alu::UDiv | Alu::UMod => (b == 0, Fault::DivisionByZero),
        Alu::SDiv | Alu::SRem | Alu::SMod if b == 0 => (true, Fault::DivisionByZero),
        Alu::SDiv | Alu::SRem | Alu::SMod => {
            (a == least && b == width.mask(), Fault::DivisionOverflow)
        }
        Alu::IShl | Alu::UShr | Alu::SShr => (b >= bits, Fault::ShiftRange),
        Alu::F2I => (
            outside(-2_147_483_649.0, 2_147_483_648.0),
            Fault::FloatToInt,
        ),
        Alu::F2U => (outside(-1.0, 4_294_967_296.0), Fault::FloatToInt),
        Alu::F2S64 => (
            outside(-9_223_373_136_366_403_584.0, 9_223_372_036_854_775_808.0),
            Fault::FloatToInt,
        ),
        Alu::F2U64 => (
            outside(-1.0, 18_446_744_073_709_551_616.0),
            Fault::FloatToInt,
        ),
        Alu::UBitExtract | Alu::SBitExtract => (b.saturating_add(c) > bits, Fault::BitFieldRange),
        Alu::BitInsert => (c.saturating_add(d) > bits, Fault::BitFieldRange),
        _ => (false, Fault::ShiftRange),
    };
    found.then_some(fault)
}

/// What is wrong with the operands of a function of GLSL, in a sentence. Of floats those of 32 bits are looked at.
pub fn outside(domain: Domain, ty: Type, words: [u64; 3]) -> Option<&'static str> {
    let bits = 64 - ty.bits();
    let signed = words.map(|word| (word << bits).cast_signed() >> bits);
    let float = words.map(|word| f32::from_bits(word as u32));
    let is_float = ty == Type::W32;
    let (found, text) = match domain {
        Domain::SClamp => (
            signed[1] > signed[2],
            "clamp() to a least that is above the greatest",
        ),
        Domain::UClamp => (
            words[1] > words[2],
            "clamp() to a least that is above the greatest",
        ),
        Domain::FClamp => (
            is_float && float[1] > float[2],
            "clamp() to a least that is above the greatest",
        ),
        Domain::SmoothStep => (
            is_float && float[0] >= float[1],
            "smoothstep() with a first edge that is not below the second",
        ),
        Domain::Pow => (
            is_float && (float[0] < 0.0 || float[0] == 0.0 && float[1] <= 0.0),
            "pow() of a negative number, or of zero by nothing above zero",
        ),
        Domain::Negative => (
            is_float && float[0] < 0.0,
            "a root or logarithm of a negative number",
        ),
        Domain::BeyondOne => (
            is_float && float[0].abs() > 1.0,
            "asin() or acos() of a number beyond 1",
        ),
    };
    found.then_some(text)
}

/// All bits from the lowest that is set in a mask.
fn from_lowest(mask: u64) -> u64 {
    match mask {
        0 => 0,
        mask => u64::MAX << mask.trailing_zeros(),
    }
}

/// The bits of a result that are undefined; `undefined` has those of the operands, of which one at least is.
pub fn undefined_bits(
    alu: Alu,
    (width, result): (Type, Type),
    args: [u64; 4],
    undefined: [u64; 4],
) -> u64 {
    let all = match result {
        Type::Bool => 1,
        other => other.mask(),
    };
    let [a, b, c, _] = args;
    let [ua, ub, uc, _] = undefined;
    let any = |mask: u64| if mask == 0 { 0 } else { all };
    let bits = width.bits();
    let shift = (b % u64::from(bits.max(1))) as u32;
    let extended = |from: u32| {
        let top = ua >> (from - 1) & 1;
        ua | if top == 0 { 0 } else { u64::MAX << (from - 1) }
    };
    let found = match alu {
        Alu::IAnd | Alu::BAnd => (ua | ub) & !(!ua & !a | !ub & !b),
        Alu::IOr | Alu::BOr => (ua | ub) & !(!ua & a | !ub & b),
        Alu::IXor | Alu::BXor => ua | ub,
        Alu::INot | Alu::BNot | Alu::B2I | Alu::U2U8 | Alu::U2U16 | Alu::U2U32 | Alu::U2U64 => ua,
        Alu::S2S16 | Alu::S2S32 | Alu::S2S64 => extended(bits),
        Alu::Low64 => ua & 0xffff_ffff,
        Alu::High64 => ua >> 32,
        Alu::Pack64 => ua & 0xffff_ffff | ub << 32,
        Alu::IShl | Alu::UShr | Alu::SShr if ub != 0 => all,
        Alu::IShl => ua << shift,
        Alu::UShr => ua >> shift,
        Alu::SShr => extended(bits) >> shift,
        Alu::IMul if ua == 0 && a == 0 || ub == 0 && b == 0 => 0,
        Alu::IAdd | Alu::ISub | Alu::IMul | Alu::INeg => from_lowest(ua | ub),
        Alu::Select if ua & 1 != 0 => any((b ^ c) & all | ub | uc),
        Alu::Select if a & 1 != 0 => ub,
        Alu::Select => uc,
        Alu::BitSelect => ua & (b ^ c | ub | uc) | !ua & (a & ub | !a & uc),
        Alu::IEq | Alu::INe if (a ^ b) & !(ua | ub) & width.mask() != 0 => 0,
        Alu::UBitExtract if ub | uc == 0 => {
            let field = u64::MAX.checked_shr(64 - c.min(64) as u32).unwrap_or(0);
            ua.checked_shr(b.min(64) as u32).unwrap_or(0) & field
        }
        _ => any(undefined.iter().fold(0, |all, mask| all | mask)),
    };
    found & all
}

/// Whether an operation only brings values from one place or form to another.
pub fn only_moves(alu: Alu) -> bool {
    matches!(
        alu,
        Alu::Select | Alu::Pack64 | Alu::Low64 | Alu::High64 | Alu::U2U32 | Alu::B2I
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_shaderc::interp::eval::eval;
    use proptest::prelude::*;

    const EXACT: [Alu; 10] = [
        Alu::IAnd,
        Alu::IOr,
        Alu::IXor,
        Alu::IAdd,
        Alu::ISub,
        Alu::IMul,
        Alu::BitSelect,
        Alu::UShr,
        Alu::IShl,
        Alu::SShr,
    ];

    proptest! {
        /// A bit that is said to be defined is the same whatever the undefined bits of the operands are.
        #[test]
        fn defined_bits_do_not_depend_on_undefined_ones(
            number in 0..EXACT.len(),
            args: [u32; 3],
            masks: [u32; 3],
            others: [u32; 3],
        ) {
            let alu = EXACT[number];
            let wide = |words: [u32; 3]| [words[0].into(), words[1].into(), words[2].into(), 0u64];
            let (args, masks, others) = (wide(args), wide(masks), wide(others));
            let mut masks = masks;
            if matches!(alu, Alu::UShr | Alu::IShl | Alu::SShr) {
                masks[1] = 0;
            }
            let mixed: [u64; 4] =
                std::array::from_fn(|i| args[i] & !masks[i] | others[i] & masks[i]);
            let undefined = undefined_bits(alu, (Type::W32, Type::W32), args, masks);
            let differ = eval(alu, Type::W32, args) ^ eval(alu, Type::W32, mixed);
            prop_assert_eq!(differ & !undefined, 0, "{}", alu);
        }
    }

    #[test]
    fn what_decides_alone_makes_the_result_defined() {
        let word = (Type::W32, Type::W32);
        let and = undefined_bits(Alu::IAnd, word, [7, 1, 0, 0], [0, 0xff, 0, 0]);
        assert_eq!(and, 7);
        let away = undefined_bits(Alu::Select, word, [1, 5, 9, 0], [0, 0, u64::MAX, 0]);
        assert_eq!(away, 0);
        let differ = undefined_bits(
            Alu::IEq,
            (Type::W32, Type::Bool),
            [2, 1, 0, 0],
            [4, 0, 0, 0],
        );
        assert_eq!(differ, 0);
    }

    #[test]
    fn functions_have_domains() {
        let of = |domain, words: [f32; 3]| {
            outside(domain, Type::W32, words.map(|word| word.to_bits().into())).is_some()
        };
        assert!(of(Domain::FClamp, [0.0, 2.0, 1.0]));
        assert!(!of(Domain::FClamp, [0.0, 1.0, 1.0]));
        assert!(of(Domain::SmoothStep, [1.0, 1.0, 0.0]));
        assert!(of(Domain::Pow, [-1.0, 2.0, 0.0]));
        assert!(!of(Domain::Pow, [0.0, 2.0, 0.0]));
        assert!(!of(Domain::Negative, [f32::NAN, 0.0, 0.0]));
        let minus = u64::from(u32::MAX);
        assert!(outside(Domain::SClamp, Type::W32, [0, 0, minus]).is_some());
        assert!(outside(Domain::UClamp, Type::W32, [0, 0, minus]).is_none());
    }

    #[test]
    fn faults_are_those_of_the_operands() {
        let of = |alu, args| fault(alu, Type::W32, args);
        let float = |value: f32| u64::from(value.to_bits());
        assert_eq!(of(Alu::UDiv, [1, 0, 0, 0]), Some(Fault::DivisionByZero));
        assert_eq!(
            of(Alu::SDiv, [0x8000_0000, 0xffff_ffff, 0, 0]),
            Some(Fault::DivisionOverflow)
        );
        assert_eq!(of(Alu::SDiv, [0x8000_0001, 0xffff_ffff, 0, 0]), None);
        assert_eq!(of(Alu::SShr, [1, 32, 0, 0]), Some(Fault::ShiftRange));
        assert_eq!(of(Alu::IShl, [1, 31, 0, 0]), None);
        assert_eq!(of(Alu::F2I, [float(3e9), 0, 0, 0]), Some(Fault::FloatToInt));
        assert_eq!(of(Alu::F2U, [float(3e9), 0, 0, 0]), None);
        assert_eq!(
            of(Alu::F2U, [float(f32::NAN), 0, 0, 0]),
            Some(Fault::FloatToInt)
        );
        assert_eq!(
            of(Alu::UBitExtract, [1, 25, 8, 0]),
            Some(Fault::BitFieldRange)
        );
        assert_eq!(of(Alu::UBitExtract, [1, 24, 8, 0]), None);
    }
}
