//! The state of a generator: what it has declared and written so far, and its random numbers.

use crate::functions::Function;
use crate::resources::Atomic;
use crate::texels::Texels;
use crate::types::{Kind, Member, Type};
use crate::variables::Variable;
use fastrand::Rng;

pub(crate) struct Generator {
    pub(crate) rng: Rng,
    names: u32,
    /// Kinds of integers that the shader has; some several times, since they are to be frequent.
    pub(crate) integers: Vec<Kind>,
    /// Whether the shader uses 16-bit floats.
    pub(crate) halves: bool,
    /// Whether both sides of a `?:` may be arrays or structures. For SPIR-V before 1.4 glslang 12 makes invalid modules of such a `?:`.
    pub(crate) chooses_wholes: bool,
    /// Whether the shader has subgroup operations.
    pub(crate) subgroups: bool,
    /// Structures, in the order in which they are declared.
    pub(crate) structs: Vec<Type>,
    pub(crate) functions: Vec<Function>,
    /// The types that `rounded` takes, in the order of their first use.
    pub(crate) rounded: Vec<Type>,
    /// Variables and constants of global scope.
    pub(crate) globals: Vec<Variable>,
    pub(crate) texels: Vec<Texels>,
    pub(crate) atomics: Vec<Atomic>,
    lines: Vec<String>,
    pub(crate) indent: usize,
    pub(crate) place: Place,
}

/// Where statements are being written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// Loops around.
    pub(crate) loops: u32,
    /// Whether `break` and `continue` of the innermost loop may stand here. Not within a switch, where `break` ends the switch.
    pub(crate) jumps: bool,
    /// How many calls there may still be.
    pub(crate) calls: u32,
    /// What the function returns; none within `main`, which returns at its end alone, since barriers wait for all invocations.
    pub(crate) returns: Option<Returns>,
}

/// Most loops around another loop, and around a call.
const LOOPS: u32 = 1;

impl Place {
    /// Whether loops and calls are forbidden here.
    pub(crate) fn is_deep(&self) -> bool {
        self.loops > LOOPS
    }

    /// Enters a loop; what is returned goes to [`leave_loop`](Place::leave_loop).
    pub(crate) fn enter_loop(&mut self) -> bool {
        self.loops += 1;
        std::mem::replace(&mut self.jumps, true)
    }

    pub(crate) fn leave_loop(&mut self, jumps: bool) {
        self.loops -= 1;
        self.jumps = jumps;
    }
}

/// What a function returns, and what may be read where it does.
#[derive(Clone, Debug)]
pub(crate) struct Returns {
    pub(crate) ty: Option<Type>,
    pub(crate) scope: Vec<Variable>,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Generator {
        let mut rng = Rng::with_seed(seed);
        let mut integers = vec![Kind::Int, Kind::Uint, Kind::Int, Kind::Uint];
        for (once_in, kinds) in [
            (4, [Kind::Int64, Kind::Uint64]),
            (5, [Kind::Int16, Kind::Uint16]),
            (8, [Kind::Int8, Kind::Uint8]),
        ] {
            if rng.u32(..once_in) == 0 {
                integers.extend(kinds);
            }
        }
        let halves = rng.u32(..5) == 0;
        Generator {
            rng,
            names: 0,
            integers,
            halves,
            chooses_wholes: true,
            subgroups: Rng::with_seed(!seed).u32(..4) == 0,
            structs: vec![],
            functions: vec![],
            rounded: vec![],
            globals: vec![],
            texels: vec![],
            atomics: vec![],
            lines: vec![],
            indent: 0,
            place: Place::default(),
        }
    }

    /// True so many times in a hundred.
    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(..100) < percent
    }

    /// One of them. There must be one.
    pub(crate) fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.rng.usize(..all.len())].clone()
    }

    /// A number from `least` to `most`.
    pub(crate) fn between(&mut self, least: u32, most: u32) -> u32 {
        self.rng.u32(least..=most)
    }

    /// A name that nothing else has.
    pub(crate) fn fresh(&mut self, what: &str) -> String {
        self.names += 1;
        format!("{what}{}", self.names)
    }

    pub(crate) fn line(&mut self, text: &str) {
        self.lines.push("    ".repeat(self.indent) + text);
    }

    /// Opens a block; [`close`](Generator::close) ends it.
    pub(crate) fn open(&mut self, text: &str) {
        self.line(&format!("{text} {{"));
        self.indent += 1;
    }

    pub(crate) fn close(&mut self, text: &str) {
        self.indent -= 1;
        self.line(text);
    }

    /// The lines since the last call.
    pub(crate) fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    pub(crate) fn integer(&mut self) -> Kind {
        let kinds = self.integers.clone();
        self.of(&kinds)
    }

    pub(crate) fn word(&mut self) -> Kind {
        self.of(&[Kind::Int, Kind::Uint])
    }

    /// A kind of numbers.
    pub(crate) fn number(&mut self) -> Kind {
        match self.between(0, 7) {
            0..3 => Kind::Float,
            3 if self.halves => Kind::Half,
            _ => self.integer(),
        }
    }

    /// A scalar, a vector or a matrix.
    pub(crate) fn plain_type(&mut self) -> Type {
        let count = self.of(&[1, 1, 2, 3, 4]);
        match self.between(0, 99) {
            0..12 => Type::Vector(Kind::Bool, count),
            12..20 => Type::Matrix(self.between(2, 4), self.between(2, 4)),
            _ => Type::Vector(self.number(), count),
        }
    }

    pub(crate) fn any_type(&mut self) -> Type {
        match self.between(0, 99) {
            0..12 => {
                let element = match self.between(0, 9) {
                    0 => Type::Array(Box::new(self.plain_type()), self.between(1, 3)),
                    1 | 2 if !self.structs.is_empty() => self.structure(),
                    _ => self.plain_type(),
                };
                Type::Array(Box::new(element), self.of(&[1, 2, 3, 4, 5, 7]))
            }
            12..24 if !self.structs.is_empty() => self.structure(),
            _ => self.plain_type(),
        }
    }

    /// A structure that there is.
    fn structure(&mut self) -> Type {
        let structs = self.structs.clone();
        self.of(&structs)
    }

    /// Declares a structure of some members.
    pub(crate) fn declare(&mut self, members: Vec<Type>) -> Type {
        let members = members.into_iter().map(|ty| Member {
            name: self.fresh("m"),
            ty,
        });
        let members = members.collect();
        let structure = Type::Struct(self.fresh("S"), members);
        self.structs.push(structure.clone());
        structure
    }

    /// Declares a structure for variables.
    pub(crate) fn declare_any(&mut self) {
        let members = (0..self.between(1, 4)).map(|_| self.any_type()).collect();
        self.declare(members);
    }
}
