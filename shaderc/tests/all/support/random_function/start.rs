//! How random functions of every stage begin and end: what they are bound to, their variables, the values that they compute with,
//! and words made of all that they have.

use super::{
    Abilities, Content, Generator, INPUT, OTHERS, OUTPUT, Random, SLOTS, WINDOW, buffer, halves,
    operations, uniforms,
};
use eitri_shaderc::ir::{
    Access, Alu, Binding, BindingKind, Builder, Function, Memory, Space, Type, Value, Var, VarData,
};

/// Statements of a function.
const BUDGET: u32 = 60;

/// Variables of a function.
pub(super) struct Declared {
    /// With how many elements each has.
    vars: Vec<(Var, u32)>,
    flag: Var,
    half: Var,
}

/// What a function begins with.
pub(super) struct Start {
    pub(super) seed: u64,
    pub(super) content: Content,
    pub(super) abilities: Abilities,
    /// The number of the invocation, less than `all`.
    pub(super) number: Value,
    pub(super) all: u32,
    /// A number that differs between lanes.
    pub(super) small: Value,
    /// A uniform of the stage.
    pub(super) uniform: Value,
    /// Words that it computes with.
    pub(super) words: Vec<Value>,
}

/// Declares buffers, variables and constant data.
pub(super) fn declare(function: &mut Function) -> Declared {
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
    Declared {
        vars: vars.map(|(ty, len)| (var(ty, len), len)).to_vec(),
        flag: var(Type::Bool, 1),
        half: var(Type::W16, 1),
    }
}

/// Loads the invocation's words, gives variables and memory a first value, and goes on with a generator.
pub(super) fn begin<'f>(mut b: Builder<'f>, declared: &Declared, start: Start) -> Generator<'f> {
    // Floats must give the same bits.
    b.exact = true;
    let base = b.alu_word(Alu::IMul, start.number, SLOTS * 4);
    let uniforms = uniforms::uniforms(&mut b, start.seed, start.uniform);
    let access = Access {
        align: 16,
        memory: Memory::Constant,
        ..Access::words(Space::Buffer, 4)
    };
    let input = buffer(b.function, INPUT);
    let loaded = b.load(access, &[input, base]);
    let mut words = start.words;
    words.extend(&loaded);
    let behind = b.alu_word(Alu::IShl, start.number, 4);
    let behind = b.alu_word(Alu::IAdd, behind, start.all * SLOTS * 4);
    let folded = b.load(access, &[input, behind]);
    let bools = vec![
        b.alu_word(Alu::ULt, start.small, 2),
        b.alu_word(Alu::SLt, loaded[0], 0),
    ];
    let others = [
        vec![
            b.alu(Alu::U2U8, &[loaded[0]]),
            b.alu(Alu::U2U8, &[loaded[2]]),
        ],
        vec![
            b.alu(Alu::U2U16, &[loaded[1]]),
            b.alu(Alu::U2U16, &[loaded[3]]),
        ],
        vec![
            b.alu(Alu::Pack64, &[loaded[0], loaded[1]]),
            b.alu(Alu::S2S64, &[loaded[2]]),
        ],
    ];
    let zero = b.word(0);
    // Uninitialised elements are free; so there are none.
    for (var, len) in &declared.vars {
        for element in 0..*len {
            let element = b.word(element);
            let ty = b.function.var(*var).ty;
            let initial = match OTHERS.iter().position(|other| *other == ty) {
                Some(number) => others[number][0],
                None => loaded[1],
            };
            b.store_var(*var, element, initial);
        }
    }
    b.store_var(declared.flag, zero, bools[0]);
    let nothing = b.function.constant_of(Type::W16, 0);
    b.store_var(declared.half, zero, nothing);
    // Nor is memory that the machine doesn't set to zero.
    for space in [Space::Shared, Space::Scratch] {
        if !start.abilities.spaces.contains(&space) {
            continue;
        }
        for row in 0..SLOTS / 4 {
            let place = match space {
                Space::Shared => b.alu_word(Alu::IAdd, base, 16 * row),
                _ => b.word(16 * row),
            };
            let access = Access {
                align: 16,
                ..Access::words(space, 4)
            };
            b.store(access, &[place], &loaded);
        }
    }
    words.extend(uniforms);
    Generator {
        random: Random(start.seed),
        b,
        operations: operations(start.content),
        words,
        bools,
        others,
        vars: declared.vars.clone(),
        flag: declared.flag,
        base,
        folded: folded[..3].to_vec(),
        halves: halves::Halves::new(start.seed, declared.half),
        abilities: start.abilities,
        quads: None,
        budget: BUDGET,
    }
}

impl Generator<'_> {
    /// So many words in which values of all kinds are.
    pub(super) fn results(&mut self, count: u32) -> Vec<Value> {
        let halves = self.joined_halves();
        (0..count).map(|_| self.result(halves)).collect()
    }

    fn result(&mut self, halves: Value) -> Value {
        let value = self.word();
        let bool = self.bool();
        let bit = self.b.alu(Alu::B2I, &[bool]);
        let mut value = self.b.alu(Alu::IXor, &[value, bit]);
        for ty in OTHERS {
            let other = self.value(ty);
            let parts = match ty {
                Type::W64 => vec![
                    self.b.alu(Alu::Low64, &[other]),
                    self.b.alu(Alu::High64, &[other]),
                ],
                _ => vec![self.b.alu(Alu::U2U32, &[other])],
            };
            for part in parts {
                let rotated = self.b.alu_word(Alu::RotL, value, 7);
                value = self.b.alu(Alu::IXor, &[rotated, part]);
            }
        }
        self.b.alu(Alu::IXor, &[value, halves])
    }
}

/// What the input holds for so many invocations: their words, and behind all of them words that a place falls out of.
pub(super) fn input_words(random: &mut Random, all: u32) -> Vec<u32> {
    let mut input: Vec<u32> = (0..all * SLOTS).map(|_| random.word()).collect();
    for invocation in 0..all {
        for shift in 2..6 {
            let slot = random.pick(&[0, 4, SLOTS - WINDOW]);
            let place = 4 * (invocation * SLOTS + slot);
            let above = random.word() << (32 - shift);
            // A shift by 5 isn't used: a place is only a multiple of 16.
            input.push(place >> shift | above);
        }
    }
    input
}

/// Words as memory has them.
pub(super) fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
