//! Loops that walk along an array, as most programs do: each round takes an element's part into a sum.

use crate::generator::Generator;
use crate::types::{Kind, Type};
use crate::variables::Variable;

/// An array of at least so many elements is walked along.
const LEAST: u32 = 3;

impl Generator {
    pub(crate) fn walk(&mut self, scope: &mut Vec<Variable>) {
        let mut arrays = vec![];
        for variable in scope.iter() {
            arrays_in(&variable.text, &variable.ty, &mut arrays);
        }
        // Rather a long one.
        let long = arrays.iter().filter(|(_, _, length)| *length >= 8);
        let long: Vec<_> = long.cloned().collect();
        let chosen = match long.is_empty() || self.chance(30) {
            true => &arrays,
            false => &long,
        };
        if self.place.is_deep() || chosen.is_empty() {
            return self.declare_array(scope);
        }
        let (array, element, length) = self.of(chosen);
        let at = self.fresh("i");
        let mut parts = vec![];
        self.parts_of(&format!("{array}[{at}]"), &element, &mut parts);
        if parts.is_empty() {
            return self.declare_array(scope);
        }
        let (_, ty) = self.of(&parts);
        let sum = self.fresh("v");
        let first = self.expression(&ty, scope, 1);
        self.line(&format!("{} {sum} = {first};", ty.name()));
        scope.push(Variable::new(&sum, ty.clone(), true));
        let head = self.rounds(&at, length, scope);
        self.open(&head);
        let mut inner = scope.clone();
        inner.push(Variable::new(&at, Kind::Int.one(), false));
        let outside = self.place.enter_loop();
        for _ in 0..self.between(1, 2) {
            if self.chance(25) {
                let condition = self.condition(&inner);
                let jump = self.of(&["continue", "break"]);
                self.line(&format!("if ({condition}) {jump};"));
            }
            parts.retain(|(_, other)| *other == ty);
            let (part, _) = self.of(&parts);
            self.add_to(&sum, &ty, &part);
        }
        self.place.leave_loop(outside);
        self.close("}");
    }

    /// An array for later walks, where there is none yet.
    fn declare_array(&mut self, scope: &mut Vec<Variable>) {
        let ty = Type::Array(Box::new(self.plain_type()), 4);
        let name = self.fresh("v");
        let value = self.expression(&ty, scope, 1);
        self.line(&format!("{} {name} = {value};", ty.name()));
        scope.push(Variable::new(&name, ty, true));
    }

    /// The head of a loop whose counter stays below a length.
    fn rounds(&mut self, at: &str, length: u32, scope: &[Variable]) -> String {
        // The largest power of two that is not above the length.
        let power = 1 << length.ilog2();
        let begin = match self.between(0, 2) {
            0 => "0".to_owned(),
            1 => format!("(int(gl_LocalInvocationIndex) & {})", power / 2 - 1),
            _ => {
                let value = self.expression(&Kind::Int.one(), scope, 1);
                format!("({value} & {})", power / 2 - 1)
            }
        };
        let end = match self.chance(65) {
            true => length.to_string(),
            false => {
                let value = self.expression(&Kind::Int.one(), scope, 1);
                format!("({value} & {})", power - 1)
            }
        };
        let step = self.of(&[1, 1, 1, 2, 3]);
        match self.chance(20) {
            true => format!("for (int {at} = {end} - 1; {at} >= {begin}; {at} -= {step})"),
            false => format!("for (int {at} = {begin}; {at} < {end}; {at} += {step})"),
        }
    }

    fn add_to(&mut self, sum: &str, ty: &Type, part: &str) {
        let Type::Vector(kind, _) = ty else {
            return;
        };
        let value = match (kind, kind.bits()) {
            (Kind::Bool, _) => {
                let compare = self.of(&["equal", "notEqual"]);
                match ty {
                    Type::Vector(_, 1) => format!("{sum} != {part}"),
                    _ => format!("{compare}({sum}, {part})"),
                }
            }
            (Kind::Float | Kind::Half, _) => {
                let operator = self.of(&["+", "-", "*"]);
                self.rounded(ty, &format!("{sum} {operator} {part}"))
            }
            (_, 8 | 16) => {
                let operator = self.of(&["+", "^", "*"]);
                format!("{}({sum} {operator} {part})", ty.name())
            }
            _ => {
                let (a, b) = (self.of(&["+", "^", "*", "-"]), self.of(&["+", "^", "*"]));
                format!("({sum} {a} {part}) {b} {}", self.constant(*kind))
            }
        };
        self.line(&format!("{sum} = {value};"));
    }

    /// The vectors in a value.
    fn parts_of(&mut self, text: &str, ty: &Type, parts: &mut Vec<(String, Type)>) {
        match ty {
            Type::Vector(..) => parts.push((text.to_owned(), ty.clone())),
            Type::Matrix(columns, rows) => {
                let column = self.rng.u32(..*columns);
                let vector = Type::Vector(Kind::Float, *rows);
                parts.push((format!("{text}[{column}]"), vector));
            }
            Type::Array(element, length) => {
                let number = self.rng.u32(..*length);
                self.parts_of(&format!("{text}[{number}]"), element, parts);
            }
            Type::Struct(_, members) => {
                for member in members {
                    self.parts_of(&format!("{text}.{}", member.name), &member.ty, parts);
                }
            }
        }
    }
}

/// The arrays in a variable: how each is read, the type of its elements, and its length.
fn arrays_in(text: &str, ty: &Type, arrays: &mut Vec<(String, Type, u32)>) {
    match ty {
        Type::Array(element, length) => {
            if *length >= LEAST {
                arrays.push((text.to_owned(), (**element).clone(), *length));
            }
            arrays_in(&format!("{text}[{}]", length - 1), element, arrays);
        }
        Type::Struct(_, members) => {
            for member in members {
                arrays_in(&format!("{text}.{}", member.name), &member.ty, arrays);
            }
        }
        Type::Vector(..) | Type::Matrix(..) => {}
    }
}
