//! Expressions of `bool` and its vectors.

use crate::expressions::Operands;
use crate::generator::Generator;
use crate::types::{Kind, Type};

impl Generator {
    pub(crate) fn bools(&mut self, count: u32, operands: Operands<'_>) -> Option<String> {
        let ty = Type::Vector(Kind::Bool, count);
        if count > 1 {
            return self.bool_vector(&ty, count, operands);
        }
        let number = self.number().one();
        Some(match self.between(0, 7) {
            0..3 => {
                let [a, b] = self.operands(&number, operands);
                let compare = self.of(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({a} {compare} {b})")
            }
            3 => {
                let [a, b] = self.operands(&ty, operands);
                let logic = self.of(&["&&", "||", "^^", "==", "!="]);
                format!("({a} {logic} {b})")
            }
            4 => format!("(!{})", self.operand(&ty, operands)),
            5 => {
                let vector = Type::Vector(Kind::Bool, self.between(2, 4));
                let all = self.of(&["any", "all"]);
                format!("{all}({})", self.operand(&vector, operands))
            }
            6 => {
                let whole = self.any_type();
                if !whole.is_aggregate() {
                    return None;
                }
                let [a, b] = self.operands(&whole, operands);
                let compare = self.of(&["==", "!="]);
                format!("({a} {compare} {b})")
            }
            _ => format!("bool({})", self.operand(&number, operands)),
        })
    }

    fn bool_vector(&mut self, ty: &Type, count: u32, operands: Operands<'_>) -> Option<String> {
        let numbers = Type::Vector(self.number(), count);
        Some(match self.between(0, 7) {
            0..4 => {
                let [a, b] = self.operands(&numbers, operands);
                let compare = self.of(&[
                    "lessThan",
                    "lessThanEqual",
                    "greaterThan",
                    "greaterThanEqual",
                    "equal",
                    "notEqual",
                ]);
                format!("{compare}({a}, {b})")
            }
            4 => format!("not({})", self.operand(ty, operands)),
            5 => format!("{}({})", ty.name(), self.operand(&numbers, operands)),
            6 => {
                let [a, b] = self.operands(ty, operands);
                let compare = self.of(&["equal", "notEqual"]);
                format!("{compare}({a}, {b})")
            }
            _ => return None,
        })
    }
}
