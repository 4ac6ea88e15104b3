//! Expressions of matrices.

use crate::expressions::Operands;
use crate::generator::Generator;
use crate::types::{Kind, Type};

impl Generator {
    pub(crate) fn matrix(
        &mut self,
        columns: u32,
        rows: u32,
        operands: Operands<'_>,
    ) -> Option<String> {
        let ty = Type::Matrix(columns, rows);
        let made = match self.between(0, 8) {
            0 | 1 => {
                let [a, b] = self.operands(&ty, operands);
                let operator = self.of(&["+", "-"]);
                format!("{a} {operator} {b}")
            }
            2 => {
                let matrix = self.operand(&ty, operands);
                format!("{matrix} * {}", self.operand(&Kind::Float.one(), operands))
            }
            3 => {
                let [a, b] = self.operands(&ty, operands);
                format!("matrixCompMult({a}, {b})")
            }
            4 => {
                let column = self.operand(&Type::Vector(Kind::Float, rows), operands);
                let row = self.operand(&Type::Vector(Kind::Float, columns), operands);
                format!("outerProduct({column}, {row})")
            }
            5 => {
                let inner = self.between(2, 4);
                let left = self.operand(&Type::Matrix(inner, rows), operands);
                let right = self.operand(&Type::Matrix(columns, inner), operands);
                format!("{left} * {right}")
            }
            6 => {
                let other = self.operand(&Type::Matrix(rows, columns), operands);
                return Some(format!("transpose({other})"));
            }
            7 => {
                let other = Type::Matrix(self.between(2, 4), self.between(2, 4));
                return Some(format!("{}({})", ty.name(), self.operand(&other, operands)));
            }
            _ => return None,
        };
        Some(self.rounded(&ty, &made))
    }
}
