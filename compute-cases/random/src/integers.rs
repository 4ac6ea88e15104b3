//! Expressions of integers of all widths. None is undefined: shifts are by less than the width, divisors are positive, and a negative
//! number has no remainder.

use crate::expressions::Operands;
use crate::generator::Generator;
use crate::types::{Kind, Type};

impl Generator {
    pub(crate) fn integers(
        &mut self,
        kind: Kind,
        count: u32,
        operands: Operands<'_>,
    ) -> Option<String> {
        let ty = Type::Vector(kind, count);
        let (name, one) = (ty.name(), kind.one().name());
        let choice = self.between(0, 23);
        let made = match choice {
            0..4 => {
                let a = self.operand(&ty, operands);
                let other = self.of(&[ty.clone(), ty.clone(), kind.one()]);
                let b = self.operand(&other, operands);
                let operator = self.of(&["+", "-", "*", "+", "-", "*", "&", "|", "^"]);
                format!("({a} {operator} {b})")
            }
            4 => {
                let [a, b] = self.operands(&ty, operands);
                let shift = self.of(&["<<", ">>"]);
                format!("({a} {shift} ({b} & {one}({})))", kind.bits() - 1)
            }
            5 => {
                let (a, by) = (self.operand(&ty, operands), self.rng.u32(..kind.bits()));
                let shift = self.of(&["<<", ">>"]);
                format!("({a} {shift} {by})")
            }
            6 | 7 => self.quotient(choice == 6, &ty, &one, operands),
            8 => format!("(~({}))", self.operand(&ty, operands)),
            9 => format!("(-({}))", self.operand(&ty, operands)),
            _ => return self.integer_functions(choice, (kind, count), operands),
        };
        // Arithmetic of small ones is promoted.
        Some(match kind.bits() {
            8 | 16 => format!("{name}({made})"),
            _ => made,
        })
    }

    /// A quotient, and a remainder of what has no sign.
    fn quotient(&mut self, by_value: bool, ty: &Type, one: &str, operands: Operands<'_>) -> String {
        let Type::Vector(kind, _) = *ty else {
            return self.operand(ty, operands);
        };
        let a = self.operand(ty, operands);
        let operator = match kind.is_signed() {
            true => "/",
            false => self.of(&["/", "%"]),
        };
        if !by_value {
            let by = self.of(&[3, 5, 7, 10, 16, 100, 64, 127]);
            return format!("({a} {operator} {one}({by}))");
        }
        let b = self.operand(ty, operands);
        match kind.is_signed() {
            true => format!("({a} / (({b} & {one}(15)) + {one}(1)))"),
            false => {
                let least = self.between(1, 100);
                format!("({a} {operator} max({b}, {}({least})))", ty.name())
            }
        }
    }

    fn integer_functions(
        &mut self,
        choice: u32,
        (kind, count): (Kind, u32),
        operands: Operands<'_>,
    ) -> Option<String> {
        let ty = Type::Vector(kind, count);
        let (name, one) = (ty.name(), kind.one().name());
        let of = |kind| Type::Vector(kind, count);
        Some(match choice {
            10 => {
                let [a, b] = self.vector_and_other((kind, count), operands);
                format!("{}({a}, {b})", self.of(&["min", "max"]))
            }
            11 if kind.is_signed() => {
                let function = self.of(&["abs", "sign"]);
                format!("{function}({})", self.operand(&ty, operands))
            }
            12 => {
                let value = self.operand(&ty, operands);
                let (low, high) = (self.between(0, 20), self.between(20, 99));
                format!("clamp({value}, {one}({low}), {one}({high}))")
            }
            13 => {
                let other = self.integer();
                format!("{name}({})", self.operand(&of(other), operands))
            }
            14 => format!("{name}({})", self.operand(&of(Kind::Bool), operands)),
            15 => {
                let value = self.operand(&of(Kind::Float), operands);
                match (kind.is_signed(), kind.bits()) {
                    (true, 8) => format!("{name}(clamp({value}, -100.0, 100.0))"),
                    (true, _) => format!("{name}({value})"),
                    (false, _) => format!("{name}(min(abs({value}), 200.0))"),
                }
            }
            _ if kind.is_word() => return self.words(choice, (kind, count), operands),
            16 if count == 1 && kind == Kind::Uint64 => {
                let pair = Type::Vector(Kind::Uint, 2);
                format!("packUint2x32({})", self.operand(&pair, operands))
            }
            _ => return None,
        })
    }

    /// Functions that integers of 32 bits alone have.
    fn words(
        &mut self,
        choice: u32,
        (kind, count): (Kind, u32),
        operands: Operands<'_>,
    ) -> Option<String> {
        let ty = Type::Vector(kind, count);
        let name = ty.name();
        Some(match (choice, count) {
            (16, _) => {
                let [a, b] = self.operands(&ty, operands);
                let choice = self.operand(&Type::Vector(Kind::Bool, count), operands);
                format!("mix({a}, {b}, {choice})")
            }
            (17, _) => {
                let value = self.operand(&ty, operands);
                format!("bitfieldExtract({value}, {})", self.bit_range(operands))
            }
            (18, _) => {
                let [a, b] = self.operands(&ty, operands);
                format!("bitfieldInsert({a}, {b}, {})", self.bit_range(operands))
            }
            (19, _) => format!("bitfieldReverse({})", self.operand(&ty, operands)),
            (20, _) => {
                let function = self.of(&["bitCount", "findLSB", "findMSB"]);
                let word = self.word();
                let value = self.operand(&Type::Vector(word, count), operands);
                format!("{name}({function}({value}))")
            }
            (21, 1) => {
                let [a, b] = self.operands(&ty, operands);
                let half = self.of(&["high_product", "low_product"]);
                format!("{half}({a}, {b})")
            }
            (22, 1) if kind == Kind::Uint => {
                let [a, b] = self.operands(&ty, operands);
                let function = self.of(&["sum_with_carry", "difference_with_borrow"]);
                format!("{function}({a}, {b})")
            }
            (23, 1) if kind == Kind::Uint => {
                // 0 or 1: no other fraction is exact.
                let fractions = self.operand(&Type::Vector(Kind::Float, 4), operands);
                format!("packUnorm4x8(clamp({fractions} * 256.0, 0.0, 1.0))")
            }
            (23, 2) if kind == Kind::Uint && self.integers.contains(&Kind::Uint64) => {
                let wide = self.operand(&Kind::Uint64.one(), operands);
                format!("unpackUint2x32({wide})")
            }
            _ => return None,
        })
    }

    /// The first bit and the number of bits of a field, within a word.
    fn bit_range(&mut self, operands: Operands<'_>) -> String {
        if self.chance(50) {
            let first = self.between(0, 31);
            return format!("{first}, {}", self.between(0, 32 - first));
        }
        let [first, count] = self.operands(&Kind::Int.one(), operands);
        format!("{first} & 15, {count} & 15")
    }
}
