//! Random functions: straight code, branches, switches, loops, variables and memory, ready to be run.
//!
//! Every invocation touches only what belongs to it, so that no order among invocations is right and another wrong;
//! every function ends or runs into the interpreter's limit. Compute functions are in `compute`, vertex and fragment functions
//! that fit each other in `graphics`; all are made of the same statements.

mod compute;
mod flow;
pub mod graphics;
mod halves;
mod memory;
mod start;
mod uniforms;

pub use compute::{buffers, dispatch, generate, output};

use eitri_shaderc::ir::{Alu, Builder, Function, Kind, Space, Type, Value, Var};
use graphics::fragment::Quads;

/// Numbers from a seed.
pub struct Random(pub u64);

impl Random {
    /// Less than the limit.
    pub fn below(&mut self, limit: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 33) * u64::from(limit)) >> 31) as u32
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }

    /// Often an awkward one.
    pub fn word(&mut self) -> u32 {
        match self.below(4) {
            0 => self.below(4),
            1 => self.pick(&[
                31,
                32,
                255,
                0x7fff_ffff,
                0x8000_0000,
                0xffff_ffff,
                0x3f80_0000,
                16,
            ]),
            2 => self.below(64),
            _ => self.below(1 << 31) ^ self.below(1 << 31) << 1,
        }
    }
}

const INPUT: u32 = 0;
/// The binding of the buffer that is written.
pub const OUTPUT: u32 = 1;
/// Words of the output, of shared memory and of scratch that belong to one invocation.
const SLOTS: u32 = 16;

/// Deepest nesting of branches and loops.
const DEPTH: u32 = 3;

/// Words of a window in which accesses meet.
const WINDOW: u32 = 8;

/// What a function may compute with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// All operations; floats are exact in the IR.
    Everything,
    /// Only operations of which the machine gives the same bits as the interpreter.
    SameBits,
}

/// Operations that mean the same before and after lowering for all operands.
fn operations(content: Content) -> Vec<Alu> {
    // Bounds apply to these, not equality; division by zero and bit fields out of range are free.
    let inexact = [
        Alu::FDiv,
        Alu::FSqrt,
        Alu::FMod,
        Alu::FRem,
        Alu::FSign,
        Alu::UDiv,
        Alu::UMod,
        Alu::SDiv,
        Alu::SRem,
        Alu::SMod,
        Alu::BitInsert,
        Alu::UBitExtract,
        Alu::SBitExtract,
        // What doesn't fit is some value.
        Alu::F2S64,
        Alu::F2U64,
    ];
    let is_float = |kind: &Kind| kind.is_float() || *kind == Kind::H2;
    let float = |alu: &Alu| is_float(&alu.result()) || alu.operands().iter().any(is_float);
    let all = Alu::ALL.iter().copied();
    all.filter(|alu| !inexact.contains(alu) && !alu.operands().contains(&Kind::R))
        .filter(|alu| content == Content::Everything || !float(alu))
        .collect()
}

/// Widths of words but 32 bits.
const OTHERS: [Type; 3] = [Type::W8, Type::W16, Type::W64];

/// What lanes of a function's stage do together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Together {
    /// Nothing.
    Nothing,
    /// They read what others of their subgroup have. The flag: whether they have scans.
    Subgroup(bool),
    /// They read what others of their quad have.
    Quad,
}

/// What a function may do besides computing.
#[derive(Clone, Copy)]
struct Abilities {
    /// Memories that it stores to, some more often.
    spaces: &'static [Space],
    together: Together,
}

struct Generator<'f> {
    random: Random,
    b: Builder<'f>,
    operations: Vec<Alu>,
    words: Vec<Value>,
    bools: Vec<Value>,
    /// Values of `OTHERS`.
    others: [Vec<Value>; 3],
    vars: Vec<(Var, u32)>,
    flag: Var,
    base: Value,
    /// Words that, shifted left by their number plus 2, are a place of the invocation: ones fall out at the top.
    folded: Vec<Value>,
    halves: halves::Halves,
    abilities: Abilities,
    /// Of a fragment function: its quads and what it is given.
    quads: Option<Quads>,
    budget: u32,
}

impl Generator<'_> {
    fn word(&mut self) -> Value {
        if self.random.below(4) == 0 {
            let word = self.random.word();
            return self.b.word(word);
        }
        // Recent values more often.
        let count = self.words.len() as u32;
        let back = self.random.below(count).min(self.random.below(count));
        self.words[(count - 1 - back) as usize]
    }

    /// A word of any type.
    fn value(&mut self, ty: Type) -> Value {
        let Some(number) = OTHERS.iter().position(|other| *other == ty) else {
            return match ty {
                Type::Bool => self.bool(),
                _ => self.word(),
            };
        };
        if self.random.below(5) == 0 {
            let bits = u64::from(self.random.word()) | u64::from(self.random.word()) << 32;
            return self.b.function.constant_of(ty, bits);
        }
        let pool = self.others[number].clone();
        self.random.pick(&pool)
    }

    /// Keeps a value for what comes.
    fn keep(&mut self, value: Value) {
        let ty = self.b.function.ty(value);
        match OTHERS.iter().position(|other| *other == ty) {
            Some(number) => self.others[number].push(value),
            None if ty == Type::Bool => self.bools.push(value),
            None => self.words.push(value),
        }
    }

    /// How much of each kind there is, to forget what comes.
    fn marks(&self) -> [usize; 6] {
        let others = self.others.each_ref().map(Vec::len);
        [
            self.words.len(),
            self.bools.len(),
            others[0],
            others[1],
            others[2],
            self.halves.values.len(),
        ]
    }

    fn forget(&mut self, marks: [usize; 6]) {
        self.words.truncate(marks[0]);
        self.bools.truncate(marks[1]);
        for (pool, mark) in self.others.iter_mut().zip(&marks[2..5]) {
            pool.truncate(*mark);
        }
        self.halves.values.truncate(marks[5]);
    }

    /// One of the types that an operation has, 32 bits most often.
    fn width(&mut self, has: impl Fn(Type) -> bool) -> Type {
        let others: Vec<Type> = OTHERS.into_iter().filter(|ty| has(*ty)).collect();
        match self.random.below(2) {
            0 if !others.is_empty() => self.random.pick(&others),
            _ => Type::W32,
        }
    }

    fn bool(&mut self) -> Value {
        match self.random.below(12) {
            0 => self.b.function.bool(true),
            1 => self.b.function.bool(false),
            _ => self.random.pick(&self.bools.clone()),
        }
    }

    fn masked(&mut self, mask: u32) -> Value {
        let word = self.word();
        self.b.alu_word(Alu::IAnd, word, mask)
    }

    fn alu(&mut self) {
        let alu = self.random.pick(&self.operations.clone());
        let width = match alu {
            Alu::Select if self.random.below(3) == 0 => Type::Bool,
            Alu::Select => self.width(|_| true),
            _ => self.width(|ty| alu.widths().has(ty)),
        };
        let args: Vec<Value> = alu
            .operands()
            .iter()
            .map(|kind| {
                let ty = match kind {
                    Kind::N => self.width(|_| true),
                    _ => kind.ty().unwrap_or(width),
                };
                self.value(ty)
            })
            .collect();
        let result = self.b.alu(alu, &args);
        self.keep(result);
    }

    fn division(&mut self) {
        let alu = self
            .random
            .pick(&[Alu::UDiv, Alu::UMod, Alu::SDiv, Alu::SRem, Alu::SMod]);
        let ty = self.width(|_| true);
        let (n, d) = (self.value(ty), self.value(ty));
        let d = self.b.alu_bits(Alu::IOr, d, 1);
        let result = self.b.alu(alu, &[n, d]);
        self.keep(result);
    }

    fn bit_field(&mut self) {
        let ty = self.width(|_| true);
        let mask = ty.bits() / 2 - 1;
        let (a, offset, count) = (self.value(ty), self.masked(mask), self.masked(mask));
        let result = match self.random.below(3) {
            0 => {
                let b = self.value(ty);
                self.b.alu(Alu::BitInsert, &[a, b, offset, count])
            }
            1 => self.b.alu(Alu::UBitExtract, &[a, offset, count]),
            _ => self.b.alu(Alu::SBitExtract, &[a, offset, count]),
        };
        self.keep(result);
    }

    fn variable(&mut self) {
        if self.random.below(5) == 0 {
            let zero = self.b.word(0);
            if self.random.below(2) == 0 {
                let value = self.bool();
                self.b.store_var(self.flag, zero, value);
            } else {
                let value = self.b.load_var(self.flag, zero);
                self.bools.push(value);
            }
            return;
        }
        let (var, len) = self.random.pick(&self.vars.clone());
        let element = match self.random.below(2) {
            0 => {
                let element = self.random.below(len);
                self.b.word(element)
            }
            _ => self.masked(len - 1),
        };
        if self.random.below(2) == 0 {
            let ty = self.b.function.var(var).ty;
            let value = self.value(ty);
            self.b.store_var(var, element, value);
        } else {
            let value = self.b.load_var(var, element);
            self.keep(value);
        }
    }
}

/// The buffer that is bound as that.
fn buffer(function: &mut Function, binding: u32) -> Value {
    let binding = function.find_binding(0, binding);
    function.resource(binding.expect("both are declared"), 0)
}
