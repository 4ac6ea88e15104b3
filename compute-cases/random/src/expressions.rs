//! Expressions of any type.

use crate::generator::Generator;
use crate::types::{Kind, Type};
use crate::variables::Variable;

/// Limits of an expression: the sources its operands may be taken from, and how deeply it may nest.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'s> {
    pub(crate) scope: &'s [Variable],
    pub(crate) depth: u32,
}

impl Generator {
    /// An expression of a type.
    pub(crate) fn expression(&mut self, ty: &Type, scope: &[Variable], depth: u32) -> String {
        if depth == 0 || self.chance(15) {
            return self.leaf(ty, scope, depth);
        }
        if self.chance(12)
            && let Some(call) = self.call_of(ty, scope, depth)
        {
            return call;
        }
        let operands = Operands {
            scope,
            depth: depth - 1,
        };
        if self.subgroups
            && self.chance(8)
            && let Some(text) = self.given_back(ty, operands)
        {
            return text;
        }
        let whole = matches!(ty, Type::Array(..) | Type::Struct(..));
        if self.chance(10) && (self.chooses_wholes || !whole) {
            let condition = self.operand(&Kind::Bool.one(), operands);
            let [yes, no] = self.operands(ty, operands);
            return format!("({condition} ? {yes} : {no})");
        }
        let made = match ty {
            Type::Array(..) | Type::Struct(..) => None,
            Type::Matrix(columns, rows) => self.matrix(*columns, *rows, operands),
            Type::Vector(kind, count) => match self.texel(*kind, *count, operands) {
                None => self.vector(*kind, *count, operands),
                texel => texel,
            },
        };
        made.unwrap_or_else(|| self.leaf(ty, scope, depth))
    }

    fn vector(&mut self, kind: Kind, count: u32, operands: Operands<'_>) -> Option<String> {
        match kind {
            Kind::Bool => self.bools(count, operands),
            Kind::Float | Kind::Half => self.fractions(kind, count, operands),
            _ => self.integers(kind, count, operands),
        }
    }

    pub(crate) fn operand(&mut self, ty: &Type, operands: Operands<'_>) -> String {
        self.expression(ty, operands.scope, operands.depth)
    }

    /// Operands of one type.
    pub(crate) fn operands<const N: usize>(
        &mut self,
        ty: &Type,
        operands: Operands<'_>,
    ) -> [String; N] {
        std::array::from_fn(|_| self.operand(ty, operands))
    }

    /// An operand of a vector's type, and one that is such a vector, or a scalar for all its components.
    pub(crate) fn vector_and_other(
        &mut self,
        (kind, count): (Kind, u32),
        operands: Operands<'_>,
    ) -> [String; 2] {
        let ty = Type::Vector(kind, count);
        let first = self.operand(&ty, operands);
        let other = self.of(&[ty, kind.one()]);
        [first, self.operand(&other, operands)]
    }

    /// A value that is there, or one made of such.
    fn leaf(&mut self, ty: &Type, scope: &[Variable], depth: u32) -> String {
        let held = match self.chance(80) {
            true => self.held(ty, scope, depth),
            false => None,
        };
        held.unwrap_or_else(|| self.constructed(ty, scope, depth))
    }

    /// Brings a fraction back to few bits.
    pub(crate) fn rounded(&mut self, ty: &Type, value: &str) -> String {
        if !self.rounded.contains(ty) {
            self.rounded.push(ty.clone());
        }
        format!("rounded({value})")
    }
}
