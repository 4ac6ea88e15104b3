//! Variables: what of them is read, and what is written.

use crate::generator::Generator;
use crate::types::{Kind, Type};

/// A variable that can be seen.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// How it is read: a name, or the path to a member of a block.
    pub(crate) text: String,
    pub(crate) ty: Type,
    pub(crate) writable: bool,
    /// Whether it lies in a block. Arrays and structures there have a layout, which glslang 12 forgets in expressions, so they are
    /// copied by declarations alone.
    pub(crate) in_block: bool,
}

impl Variable {
    pub(crate) fn new(text: &str, ty: Type, writable: bool) -> Variable {
        Variable {
            text: text.to_owned(),
            ty,
            writable,
            in_block: false,
        }
    }

    pub(crate) fn of_block(text: &str, ty: Type, writable: bool) -> Variable {
        Variable {
            in_block: true,
            ..Variable::new(text, ty, writable)
        }
    }

    /// Whether a value of a type may be taken from it within an expression.
    fn gives(&self, ty: &Type) -> bool {
        !self.in_block || matches!(ty, Type::Vector(..) | Type::Matrix(..))
    }
}

/// What can be written to.
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) ty: Type,
    /// The variable that it is in.
    pub(crate) root: String,
}

const COMPONENTS: [[&str; 4]; 3] = [
    ["x", "y", "z", "w"],
    ["r", "g", "b", "a"],
    ["s", "t", "p", "q"],
];

impl Generator {
    /// An index below a length.
    pub(crate) fn index(&mut self, length: u32, scope: &[Variable], depth: u32) -> String {
        if depth == 0 || length == 1 || self.chance(50) {
            return self.rng.u32(..length).to_string();
        }
        let kind = self.word();
        if length.is_power_of_two() {
            let value = self.expression(&kind.one(), scope, depth - 1);
            let suffix = if kind == Kind::Uint { "u" } else { "" };
            return format!("({value} & {}{suffix})", length - 1);
        }
        let value = self.expression(&Kind::Uint.one(), scope, depth - 1);
        format!("({value} % {length}u)")
    }

    /// Components of a vector: each at most once if they are written.
    fn swizzle(&mut self, of: u32, count: u32, written: bool) -> String {
        let names = self.of(&COMPONENTS);
        let mut order: Vec<usize> = (0..of as usize).collect();
        self.rng.shuffle(&mut order);
        let one = |number: usize| match order.get(number) {
            Some(component) if written => names[*component],
            _ => names[self.rng.usize(..of as usize)],
        };
        let text: String = (0..count as usize).map(one).collect();
        format!(".{text}")
    }

    /// A value of a type within a value of another; none if there is none.
    fn reach(
        &mut self,
        text: &str,
        within: &Type,
        wanted: &Type,
        (scope, depth): (&[Variable], u32),
        written: bool,
    ) -> Option<String> {
        if within == wanted {
            return Some(text.to_owned());
        }
        let at = (scope, depth);
        match (within, wanted) {
            (Type::Array(element, length), _) => {
                let index = self.index(*length, scope, depth);
                self.reach(&format!("{text}[{index}]"), element, wanted, at, written)
            }
            (Type::Struct(_, members), _) => {
                let mut members = members.clone();
                self.rng.shuffle(&mut members);
                members.iter().find_map(|member| {
                    let path = format!("{text}.{}", member.name);
                    self.reach(&path, &member.ty, wanted, at, written)
                })
            }
            (Type::Matrix(columns, rows), Type::Vector(Kind::Float, count)) if count <= rows => {
                let index = self.index(*columns, scope, depth);
                let column = Type::Vector(Kind::Float, *rows);
                self.reach(&format!("{text}[{index}]"), &column, wanted, at, written)
            }
            (Type::Vector(kind, of), Type::Vector(other, count)) if kind == other && *of > 1 => {
                if *count == 1 && self.chance(40) {
                    let index = self.index(*of, scope, depth);
                    return Some(format!("{text}[{index}]"));
                }
                let fits = count <= of || (!written && self.chance(50));
                fits.then(|| text.to_owned() + &self.swizzle(*of, *count, written))
            }
            _ => None,
        }
    }

    /// A value of a type that some variable holds.
    pub(crate) fn held(&mut self, ty: &Type, scope: &[Variable], depth: u32) -> Option<String> {
        let mut order: Vec<usize> = (0..scope.len()).collect();
        self.rng.shuffle(&mut order);
        let mut some = order.into_iter().take(12);
        some.find_map(|number| {
            let variable = &scope[number];
            if !variable.gives(ty) {
                return None;
            }
            self.reach(&variable.text, &variable.ty, ty, (scope, depth), false)
        })
    }

    /// A place of a type that can be written, in none of some variables.
    pub(crate) fn place_of(
        &mut self,
        ty: &Type,
        scope: &[Variable],
        but: &[String],
    ) -> Option<Written> {
        let mut order: Vec<usize> = (0..scope.len()).collect();
        self.rng.shuffle(&mut order);
        order.into_iter().find_map(|number| {
            let variable = &scope[number];
            if !variable.writable || !variable.gives(ty) || but.contains(&variable.text) {
                return None;
            }
            let text = self.reach(&variable.text, &variable.ty, ty, (scope, 0), true)?;
            Some(Written {
                text,
                ty: ty.clone(),
                root: variable.text.clone(),
            })
        })
    }

    /// A variable, or some part of one, that can be written.
    pub(crate) fn any_place(&mut self, scope: &[Variable]) -> Option<Written> {
        let writable: Vec<&Variable> = scope.iter().filter(|variable| variable.writable).collect();
        if writable.is_empty() {
            return None;
        }
        let variable = writable[self.rng.usize(..writable.len())];
        let root = variable.text.clone();
        let (mut text, mut ty) = (root.clone(), variable.ty.clone());
        loop {
            let whole = self.between(0, 99);
            match &ty {
                Type::Array(element, length) if whole < 85 => {
                    text = format!("{text}[{}]", self.index(*length, scope, 1));
                    ty = (**element).clone();
                }
                Type::Struct(_, members) if whole < 90 => {
                    let member = self.of(members);
                    text = format!("{text}.{}", member.name);
                    ty = member.ty;
                }
                Type::Matrix(columns, rows) if whole < 50 => {
                    text = format!("{text}[{}]", self.index(*columns, scope, 1));
                    ty = Type::Vector(Kind::Float, *rows);
                }
                Type::Vector(kind, of) if *of > 1 && whole < 40 => {
                    let count = self.of(&[1, 1, 2, 3]).min(*of);
                    let part = Type::Vector(*kind, count);
                    let text = match self.reach(&text, &ty, &part, (scope, 1), true) {
                        Some(part) => part,
                        None => text,
                    };
                    return Some(Written {
                        text,
                        ty: part,
                        root,
                    });
                }
                _ => return Some(Written { text, ty, root }),
            }
        }
    }
}
