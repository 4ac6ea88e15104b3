//! Random functions: straight code, branches, switches, loops, variables and memory, ready to be run.
//!
//! Every invocation touches only what belongs to it, so that no order among invocations is right and another wrong;
//! every function ends or runs into the interpreter's limit.

mod flow;
mod halves;
mod memory;
mod uniforms;

use eitri_shaderc::Target;
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch};
use eitri_shaderc::ir::layout::order_blocks;
use eitri_shaderc::ir::{
    Access, Alu, Axis, Binding, BindingKind, Builder, Function, Kind, Memory, Op, Space, SysVal,
    Terminator, Type, Uniform, Value, Var, VarData,
};

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
/// Invocations of a workgroup.
const INVOCATIONS: u32 = 4;
/// Workgroups, along the second axis.
const WORKGROUPS: u32 = 3;
/// All invocations.
const ALL: u32 = INVOCATIONS * WORKGROUPS;
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
    has_scans: bool,
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

/// The function of a seed, for a target. What it computes depends on the seed, the content, the target's lanes and whether it
/// has scans.
pub fn generate(seed: u64, content: Content, target: &Target) -> Function {
    let mut function = Function::new("main");
    function.lanes = target.lanes;
    function.workgroup_size = [INVOCATIONS, 1, 1];
    function.shared_bytes = ALL * SLOTS * 4;
    function.scratch_bytes = SLOTS * 4;
    for binding in [INPUT, OUTPUT] {
        function.bindings.push(Binding {
            set: 0,
            binding,
            count: 1,
            kind: BindingKind::Storage,
            written: binding == OUTPUT,
            restrict: false,
            non_uniform: false,
            min_bytes: 0,
            image: None,
            name: String::new(),
        });
    }
    function.push_constant_bytes = 16;
    function.data = (0..SLOTS)
        .map(|word| word.wrapping_mul(0x9e37_79b9))
        .collect();
    let mut var = |ty, len| {
        function.new_var(VarData {
            ty,
            len,
            name: String::new(),
        })
    };
    let vars = [
        (Type::W32, 1),
        (Type::W32, 4),
        (Type::W32, 32),
        (Type::W8, 4),
        (Type::W16, 32),
        (Type::W64, 4),
        (Type::W64, 32),
    ];
    let vars = vars.map(|(ty, len)| (var(ty, len), len)).to_vec();
    let flag = var(Type::Bool, 1);
    let half = var(Type::W16, 1);
    let entry = function.new_block();
    let mut b = Builder::new(&mut function, entry);
    // Floats must give the same bits.
    b.exact = true;
    let local = b.sys_val(SysVal::LocalId(Axis::X));
    let workgroup = b.sys_val(SysVal::WorkgroupId(Axis::Y));
    let first = b.alu_word(Alu::IMul, workgroup, INVOCATIONS);
    let number = b.alu(Alu::IAdd, &[first, local]);
    let base = b.alu_word(Alu::IMul, number, SLOTS * 4);
    let mut words = vec![
        local,
        b.uniform(Uniform::PushConstant(4)),
        b.num_workgroups(Axis::Y),
    ];
    let uniforms = uniforms::uniforms(&mut b, seed);
    let access = Access {
        align: 16,
        memory: Memory::Constant,
        ..Access::words(Space::Buffer, 4)
    };
    let input = buffer(b.function, INPUT);
    words.extend(b.load(access, &[input, base]));
    let behind = b.alu_word(Alu::IShl, number, 4);
    let behind = b.alu_word(Alu::IAdd, behind, ALL * SLOTS * 4);
    let folded = b.load(access, &[input, behind]);
    let bools = vec![
        b.alu_word(Alu::ULt, local, 2),
        b.alu_word(Alu::SLt, words[3], 0),
    ];
    let others = [
        vec![b.alu(Alu::U2U8, &[words[3]]), b.alu(Alu::U2U8, &[words[5]])],
        vec![
            b.alu(Alu::U2U16, &[words[4]]),
            b.alu(Alu::U2U16, &[words[6]]),
        ],
        vec![
            b.alu(Alu::Pack64, &[words[3], words[4]]),
            b.alu(Alu::S2S64, &[words[5]]),
        ],
    ];
    let zero = b.word(0);
    // Uninitialised elements are free; so there are none.
    for (var, len) in &vars {
        for element in 0..*len {
            let element = b.word(element);
            let ty = b.function.var(*var).ty;
            let initial = match OTHERS.iter().position(|other| *other == ty) {
                Some(number) => others[number][0],
                None => words[4],
            };
            b.store_var(*var, element, initial);
        }
    }
    b.store_var(flag, zero, bools[0]);
    let nothing = b.function.constant_of(Type::W16, 0);
    b.store_var(half, zero, nothing);
    // Nor is memory that the machine doesn't set to zero.
    for space in [Space::Shared, Space::Scratch] {
        for row in 0..SLOTS / 4 {
            let place = match space {
                Space::Shared => b.alu_word(Alu::IAdd, base, 16 * row),
                _ => b.word(16 * row),
            };
            let access = Access {
                align: 16,
                ..Access::words(space, 4)
            };
            b.store(access, &[place], &words[3..7]);
        }
    }
    words.extend(uniforms);
    let mut generator = Generator {
        random: Random(seed),
        b,
        operations: operations(content),
        words,
        bools,
        others,
        vars,
        flag,
        base,
        folded: folded[..3].to_vec(),
        halves: halves::Halves::new(seed, half),
        has_scans: target.has_scans(),
        budget: 60,
    };
    generator.statements(DEPTH, 20);
    let halves = generator.joined_halves();
    for slot in 0..4 {
        let value = generator.word();
        let bool = generator.bool();
        let bit = generator.b.alu(Alu::B2I, &[bool]);
        let mut value = generator.b.alu(Alu::IXor, &[value, bit]);
        for ty in OTHERS {
            let other = generator.value(ty);
            let parts = match ty {
                Type::W64 => vec![
                    generator.b.alu(Alu::Low64, &[other]),
                    generator.b.alu(Alu::High64, &[other]),
                ],
                _ => vec![generator.b.alu(Alu::U2U32, &[other])],
            };
            for part in parts {
                let rotated = generator.b.alu_word(Alu::RotL, value, 7);
                value = generator.b.alu(Alu::IXor, &[rotated, part]);
            }
        }
        value = generator.b.alu(Alu::IXor, &[value, halves]);
        let offset = generator.b.alu_word(Alu::IAdd, base, 4 * slot);
        let output = buffer(generator.b.function, OUTPUT);
        let access = Access::words(Space::Buffer, 1);
        generator.b.store(access, &[output, offset], &[value]);
    }
    generator.b.inst(Op::Barrier, &[]);
    generator.b.terminate(Terminator::Return);
    order_blocks(&mut function);
    function
}

/// What the functions of [`generate`] are given.
pub fn buffers() -> Buffers {
    let mut random = Random(99);
    let words = ALL * SLOTS;
    let mut input: Vec<u32> = (0..words).map(|_| random.word()).collect();
    for invocation in 0..ALL {
        for shift in 2..6 {
            let slot = random.pick(&[0, 4, SLOTS - WINDOW]);
            let place = 4 * (invocation * SLOTS + slot);
            let above = random.word() << (32 - shift);
            // A shift by 5 isn't used: a place is only a multiple of 16.
            input.push(place >> shift | above);
        }
    }
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let buffer = |words: &[u32]| Buffer {
        bytes: bytes(words),
    };
    let output = vec![0x0707_0707; words as usize];
    Buffers::from([((0, 0, 0), buffer(&input)), ((0, 1, 0), buffer(&output))])
}

/// How the functions of [`generate`] are run.
pub fn dispatch() -> Dispatch {
    Dispatch {
        groups: [1, WORKGROUPS, 1],
        push_constants: (0..16).collect(),
        step_limit: 400_000,
    }
}

/// The buffer that a function wrote.
pub fn output(buffers: &Buffers) -> &[u8] {
    &buffers[&(0, 1, 0)].bytes
}
