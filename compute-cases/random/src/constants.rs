//! Constants and constructors.

use crate::generator::Generator;
use crate::types::{Kind, Type};
use crate::variables::Variable;

impl Generator {
    /// A constant.
    pub(crate) fn constant(&mut self, kind: Kind) -> String {
        let name = kind.one().name();
        match kind {
            Kind::Bool => self.of(&["true", "false"]).to_owned(),
            Kind::Float => format!("{:?}", self.fraction()),
            Kind::Half => {
                let quarters = self.rng.i32(-32..=32);
                format!("{name}({:?})", quarters as f32 / 4.0)
            }
            Kind::Int => match self.integer_constant() {
                // A minus is an operation, and this has no positive.
                i32::MIN => "int(0x80000000u)".to_owned(),
                value => value.to_string(),
            },
            Kind::Uint => format!("{}u", self.integer_constant().cast_unsigned()),
            Kind::Int64 => {
                let (wide, word) = (self.rng.i64(-i64::MAX..), self.integer_constant());
                let value = self.of(&[wide, i64::from(word)]);
                format!("{name}({value}L)")
            }
            Kind::Uint64 => {
                let (wide, word) = (self.rng.u64(..), self.integer_constant());
                let value = self.of(&[wide, u64::from(word.cast_unsigned())]);
                format!("{name}({value}UL)")
            }
            Kind::Int16 | Kind::Uint16 => format!("{name}({})", self.between(0, 32767)),
            Kind::Int8 | Kind::Uint8 => format!("{name}({})", self.between(0, 127)),
        }
    }

    /// A fraction of few bits.
    pub(crate) fn fraction(&mut self) -> f32 {
        let eighths = self.rng.i32(-64..=64) as f32 / 8.0;
        let whole = self.rng.i32(-256..=256) as f32;
        self.of(&[0.0, 1.0, -1.0, 2.0, 0.5, -0.25, eighths, whole])
    }

    fn integer_constant(&mut self) -> i32 {
        let (byte, any) = (self.rng.i32(-128..128), self.rng.i32(..));
        self.of(&[0, 1, 2, 3, -1, byte, byte & 127, any, i32::MAX])
    }

    /// A value made of its parts.
    pub(crate) fn constructed(&mut self, ty: &Type, scope: &[Variable], depth: u32) -> String {
        let depth = depth.saturating_sub(1);
        let parts: Vec<String> = match ty {
            Type::Array(element, length) => (0..*length)
                .map(|_| self.expression(element, scope, depth))
                .collect(),
            Type::Struct(_, members) => members
                .iter()
                .map(|member| self.expression(&member.ty, scope, depth))
                .collect(),
            Type::Matrix(columns, rows) => match self.between(0, 9) {
                // The diagonal.
                0..3 => vec![self.expression(&Kind::Float.one(), scope, depth)],
                3..7 => {
                    let column = Type::Vector(Kind::Float, *rows);
                    let columns = (0..*columns).map(|_| self.expression(&column, scope, depth));
                    columns.collect()
                }
                _ => {
                    let all = (0..columns * rows).map(|_| self.constant(Kind::Float));
                    all.collect()
                }
            },
            Type::Vector(kind, 1) => return self.constant(*kind),
            Type::Vector(kind, count) => self.components(*kind, *count, scope, depth),
        };
        format!("{}({})", ty.name(), parts.join(", "))
    }

    /// The arguments of a vector's constructor: one scalar for all components, a scalar for each, or a shorter vector and scalars.
    fn components(
        &mut self,
        kind: Kind,
        count: u32,
        scope: &[Variable],
        depth: u32,
    ) -> Vec<String> {
        let mut parts = vec![];
        let mut left = count;
        match self.between(0, 9) {
            0..3 => left = 1,
            3..6 if count > 2 => {
                let together = self.between(2, count - 1);
                parts.push(self.expression(&Type::Vector(kind, together), scope, depth));
                left -= together;
            }
            _ => {}
        }
        parts.extend((0..left).map(|_| self.expression(&kind.one(), scope, depth)));
        self.rng.shuffle(&mut parts);
        parts
    }
}
