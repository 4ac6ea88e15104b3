//! Expressions of fractions: `float`, `float16_t` and their vectors.

use crate::expressions::Operands;
use crate::generator::Generator;
use crate::types::{Kind, Type};

impl Generator {
    pub(crate) fn fractions(
        &mut self,
        kind: Kind,
        count: u32,
        operands: Operands<'_>,
    ) -> Option<String> {
        let ty = Type::Vector(kind, count);
        let name = ty.name();
        let choice = self.between(0, 19);
        Some(match choice {
            0..4 => {
                let a = self.operand(&ty, operands);
                let same = choice < 3 || count == 1;
                let other = if same { ty.clone() } else { kind.one() };
                let b = self.operand(&other, operands);
                let operator = self.of(&["+", "-", "*"]);
                self.rounded(&ty, &format!("{a} {operator} {b}"))
            }
            4 => {
                let function = self.of(&["floor", "ceil", "trunc", "abs", "sign", "fract"]);
                format!("{function}({})", self.operand(&ty, operands))
            }
            5 => {
                let [a, b] = self.vector_and_other((kind, count), operands);
                format!("{}({a}, {b})", self.of(&["min", "max"]))
            }
            6 => {
                let scalar = kind.one().name();
                let (low, high) = (self.between(0, 7), self.between(0, 7));
                let value = self.operand(&ty, operands);
                format!("clamp({value}, {scalar}(-{low}.0), {scalar}({high}.0))")
            }
            7 => {
                let [a, b] = self.operands(&ty, operands);
                let choice = self.operand(&Type::Vector(Kind::Bool, count), operands);
                format!("mix({a}, {b}, {choice})")
            }
            8 => {
                let [a, b] = self.operands(&ty, operands);
                format!("step({a}, {b})")
            }
            9 => {
                let integer = self.integer();
                let value = self.operand(&Type::Vector(integer, count), operands);
                let most = if kind == Kind::Half { 7 } else { 127 };
                format!("{name}({value} & {}({most}))", integer.one().name())
            }
            10 => {
                let bools = Type::Vector(Kind::Bool, count);
                format!("{name}({})", self.operand(&bools, operands))
            }
            11 => format!("(-({}))", self.operand(&ty, operands)),
            12 => {
                let [a, b, c] = self.operands(&ty, operands);
                self.rounded(&ty, &format!("fma({a}, {b}, {c})"))
            }
            13 => self.converted_fraction(kind, count, operands)?,
            _ if kind == Kind::Float => return self.floats(choice, count, operands),
            _ => return None,
        })
    }

    /// A fraction of the other width.
    fn converted_fraction(
        &mut self,
        kind: Kind,
        count: u32,
        operands: Operands<'_>,
    ) -> Option<String> {
        let ty = Type::Vector(kind, count);
        if kind == Kind::Half {
            let wide = self.operand(&Type::Vector(Kind::Float, count), operands);
            let wide = format!("clamp({wide}, -8.0, 8.0)");
            return Some(self.rounded(&ty, &format!("{}({wide})", ty.name())));
        }
        if !self.halves {
            return None;
        }
        let narrow = self.operand(&Type::Vector(Kind::Half, count), operands);
        Some(format!("{}({narrow})", ty.name()))
    }

    /// Functions that `float` alone has.
    fn floats(&mut self, choice: u32, count: u32, operands: Operands<'_>) -> Option<String> {
        let ty = Type::Vector(Kind::Float, count);
        Some(match (choice, count) {
            (14, _) => {
                let by = self.of(&["2.0", "4.0", "16.0", "0.5"]);
                format!("mod({}, {by})", self.operand(&ty, operands))
            }
            (15, _) => {
                let value = self.operand(&ty, operands);
                let exponent = self.rng.i32(-2..=2);
                let exponents = Type::Vector(Kind::Int, count).name();
                self.rounded(&ty, &format!("ldexp({value}, {exponents}({exponent}))"))
            }
            (16, _) => {
                let value = self.operand(&ty, operands);
                let by = self.of(&["2.0", "4.0", "0.5", "8.0"]);
                self.rounded(&ty, &format!("{value} / {by}"))
            }
            (17, 1) => {
                let vector = Type::Vector(Kind::Float, self.between(2, 4));
                let [a, b] = self.operands(&vector, operands);
                self.rounded(&ty, &format!("dot({a}, {b})"))
            }
            (17, 3) => {
                let [a, b] = self.operands(&ty, operands);
                self.rounded(&ty, &format!("cross({a}, {b})"))
            }
            (18, 2..) => {
                let other = self.between(2, 4);
                let vector = self.operand(&Type::Vector(Kind::Float, other), operands);
                let product = match self.chance(50) {
                    true => {
                        let matrix = self.operand(&Type::Matrix(other, count), operands);
                        format!("{matrix} * {vector}")
                    }
                    false => {
                        let matrix = self.operand(&Type::Matrix(count, other), operands);
                        format!("{vector} * {matrix}")
                    }
                };
                self.rounded(&ty, &product)
            }
            (19, 4) => {
                let word = self.operand(&Kind::Uint.one(), operands);
                format!("floor(unpackUnorm4x8({word}) * 255.0 + 0.5)")
            }
            _ => return None,
        })
    }
}
