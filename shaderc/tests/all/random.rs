//! Random functions: after every pass of the pipeline they must still give what they gave before.
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch, interpret};
use eitri_shaderc::ir::cfg::order_blocks;
use eitri_shaderc::ir::verify::{lowered, verify};
use eitri_shaderc::ir::{
    Access, Alu, Axis, BlockId, Builder, FauWord, Function, Kind, Memory, Op, Space, SysVal,
    Terminator, Type, Value, Var, VarData,
};
use eitri_shaderc::pass::Runner;
use eitri_shaderc::{Target, pipeline};

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 33) * u64::from(limit)) >> 31) as u32
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }

    fn word(&mut self) -> u32 {
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

const INPUT: u32 = 0x0100_0000;
const OUTPUT: u32 = 0x0100_0001;
const INVOCATIONS: u32 = 4;
/// Words of the output that belong to one invocation.
const SLOTS: u32 = 16;

/// Operations that mean the same before and after lowering for all operands.
fn operations() -> Vec<Alu> {
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
    ];
    let all = Alu::ALL.iter().copied();
    all.filter(|alu| !inexact.contains(alu)).collect()
}

struct Generator<'f> {
    random: Random,
    b: Builder<'f>,
    operations: Vec<Alu>,
    words: Vec<Value>,
    bools: Vec<Value>,
    vars: Vec<(Var, u32)>,
    flag: Var,
    base: Value,
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
        let booleans = alu == Alu::Select && self.random.below(3) == 0;
        let args: Vec<Value> = alu
            .operands()
            .iter()
            .map(|kind| match kind {
                Kind::B => self.bool(),
                Kind::T if booleans => self.bool(),
                _ => self.word(),
            })
            .collect();
        let result = self.b.alu(alu, &args);
        match self.b.function.ty(result) {
            Type::Bool => self.bools.push(result),
            Type::W32 => self.words.push(result),
        }
    }

    fn division(&mut self) {
        let alu = self
            .random
            .pick(&[Alu::UDiv, Alu::UMod, Alu::SDiv, Alu::SRem, Alu::SMod]);
        let (n, d) = (self.word(), self.word());
        let d = self.b.alu_word(Alu::IOr, d, 1);
        let result = self.b.alu(alu, &[n, d]);
        self.words.push(result);
    }

    fn bit_field(&mut self) {
        let (a, offset, count) = (self.word(), self.masked(15), self.masked(15));
        let result = match self.random.below(3) {
            0 => {
                let b = self.word();
                self.b.alu(Alu::BitInsert, &[a, b, offset, count])
            }
            1 => self.b.alu(Alu::UBitExtract, &[a, offset, count]),
            _ => self.b.alu(Alu::SBitExtract, &[a, offset, count]),
        };
        self.words.push(result);
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
            let value = self.word();
            self.b.store_var(var, element, value);
        } else {
            let value = self.b.load_var(var, element);
            self.words.push(value);
        }
    }

    fn memory(&mut self) {
        let count = self.random.pick(&[1u8, 1, 2, 4]);
        let load = self.random.below(2) == 0;
        let space = self.random.pick(&[Space::Buffer, Space::Shared]);
        let memory = match (space, load) {
            (Space::Buffer, true) if self.random.below(2) == 0 => Memory::Constant,
            _ => Memory::Plain,
        };
        let handle = if memory == Memory::Constant {
            INPUT
        } else {
            OUTPUT
        };
        let handle = self.b.word(handle);
        // Inside what belongs to this invocation.
        let slot = self.masked(SLOTS - u32::from(count).next_power_of_two());
        let bytes = self.b.alu_word(Alu::IShl, slot, 2);
        let mut offset = self.b.alu(Alu::IAdd, &[self.base, bytes]);
        if self.random.below(3) == 0 {
            let slot = self.random.below(SLOTS - u32::from(count) + 1);
            offset = self.b.alu_word(Alu::IAdd, self.base, 4 * slot);
        }
        let access = Access {
            space,
            count,
            align: 4,
            memory,
        };
        let mut args = vec![offset];
        if space == Space::Buffer {
            args.insert(0, handle);
        }
        if load {
            let values = self.b.load(access, &args);
            self.words.extend(values);
        } else {
            let values: Vec<Value> = (0..count).map(|_| self.word()).collect();
            self.b.store(access, &args, &values);
        }
    }

    /// Statements in a scope: what they define is forgotten afterwards.
    fn scope(&mut self, depth: u32) {
        let (words, bools) = (self.words.len(), self.bools.len());
        let count = 1 + self.random.below(6);
        self.statements(depth, count);
        self.words.truncate(words);
        self.bools.truncate(bools);
    }

    fn statements(&mut self, depth: u32, count: u32) {
        for _ in 0..count {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            match self.random.below(if depth == 0 { 12 } else { 16 }) {
                0..=5 => self.alu(),
                6 => self.division(),
                7 => self.bit_field(),
                8 | 9 => self.variable(),
                10 | 11 => self.memory(),
                12 => self.branch(depth - 1),
                13 => self.counted_loop(depth - 1),
                14 => self.open_loop(depth - 1),
                _ => self.switch(depth - 1),
            }
        }
    }

    fn jump(&mut self, to: BlockId) {
        self.b.terminate(Terminator::Jump(to));
    }

    fn branch(&mut self, depth: u32) {
        let condition = self.bool();
        let [then, otherwise, join] = [(); 3].map(|()| self.b.function.new_block());
        self.b.terminate(Terminator::Branch {
            condition,
            then,
            otherwise,
        });
        let mut sources = vec![];
        for side in [then, otherwise] {
            self.b.block = side;
            let (words, bools) = (self.words.len(), self.bools.len());
            let count = self.random.below(5);
            self.statements(depth, count);
            let (word, bool) = (self.word(), self.bool());
            sources.push((self.b.block, word, bool));
            self.words.truncate(words);
            self.bools.truncate(bools);
            self.jump(join);
        }
        self.b.block = join;
        let word = self.b.function.new_phi(join, Type::W32);
        let bool = self.b.function.new_phi(join, Type::Bool);
        let phis = &mut self.b.function.block_mut(join).phis;
        phis[0].sources = sources
            .iter()
            .map(|(from, word, _)| (*from, *word))
            .collect();
        phis[1].sources = sources
            .iter()
            .map(|(from, _, bool)| (*from, *bool))
            .collect();
        self.words.push(word);
        self.bools.push(bool);
    }

    /// A loop with a constant number of rounds.
    fn counted_loop(&mut self, depth: u32) {
        let rounds = self.random.below(6);
        let limit = self.b.word(rounds);
        self.a_loop(depth, limit);
    }

    /// A loop whose number of rounds comes from data.
    fn open_loop(&mut self, depth: u32) {
        let limit = self.masked(7);
        self.a_loop(depth, limit);
    }

    fn a_loop(&mut self, depth: u32, limit: Value) {
        let [header, body, next, exit] = [(); 4].map(|()| self.b.function.new_block());
        let entering = (self.b.block, self.word());
        self.jump(header);
        self.b.block = header;
        let counter = self.b.function.new_phi(header, Type::W32);
        let carried = self.b.function.new_phi(header, Type::W32);
        self.words.extend([counter, carried]);
        let go = self.b.alu(Alu::ULt, &[counter, limit]);
        self.b.terminate(Terminator::Branch {
            condition: go,
            then: body,
            otherwise: exit,
        });
        self.b.block = body;
        let (words, bools) = (self.words.len(), self.bools.len());
        let count = 1 + self.random.below(5);
        self.statements(depth, count);
        let value = self.word();
        let mut latches = vec![(self.b.block, value)];
        if self.random.below(2) == 0 {
            // A break, after what may be a continue.
            let condition = self.bool();
            let after = self.b.function.new_block();
            let leave = if self.random.below(2) == 0 {
                exit
            } else {
                next
            };
            self.b.terminate(Terminator::Branch {
                condition,
                then: after,
                otherwise: leave,
            });
            if leave == exit {
                latches.clear();
            }
            self.b.block = after;
            self.scope(depth);
            latches.push((self.b.block, value));
        }
        self.words.truncate(words);
        self.bools.truncate(bools);
        self.jump(next);
        self.b.block = next;
        let carry = self.b.function.new_phi(next, Type::W32);
        self.b.function.block_mut(next).phis[0].sources = latches;
        let more = self.b.alu_word(Alu::IAdd, counter, 1);
        self.jump(header);
        let zero = self.b.word(0);
        let phis = &mut self.b.function.block_mut(header).phis;
        phis[0].sources = vec![(entering.0, zero), (next, more)];
        phis[1].sources = vec![entering, (next, carry)];
        self.b.block = exit;
    }

    /// Three cases and a default; one case may fall into the next.
    fn switch(&mut self, depth: u32) {
        let selector = self.masked(3);
        let blocks = [(); 5].map(|()| self.b.function.new_block());
        let [first, second, third, default, join] = blocks;
        self.b.terminate(Terminator::Switch {
            selector,
            cases: vec![(0, first), (1, second), (5, second), (2, third)],
            default,
        });
        for (number, block) in [first, second, third, default].into_iter().enumerate() {
            self.b.block = block;
            self.scope(depth);
            let next = match self.random.below(3) {
                0 => blocks[number + 1],
                _ => join,
            };
            self.jump(next);
        }
        self.b.block = join;
    }
}

fn generate(seed: u64) -> Function {
    let mut function = Function::new("main");
    function.workgroup_size = [INVOCATIONS, 1, 1];
    function.shared_bytes = INVOCATIONS * SLOTS * 4;
    for (binding, handle) in [(0, INPUT), (1, OUTPUT)] {
        function.bindings.push(eitri_shaderc::ir::Binding {
            set: 0,
            binding,
            count: 1,
            kind: eitri_shaderc::ir::BindingKind::Storage,
            written: binding == 1,
            handle,
            min_bytes: 0,
            name: String::new(),
        });
    }
    function.push_constant_bytes = 16;
    let mut var = |ty, len| {
        function.new_var(VarData {
            ty,
            len,
            name: String::new(),
        })
    };
    let vars = [1, 4, 32].map(|len| (var(Type::W32, len), len)).to_vec();
    let flag = var(Type::Bool, 1);
    let entry = function.new_block();
    let mut b = Builder::new(&mut function, entry);
    // Floats must give the same bits.
    b.exact = true;
    let local = b.sys_val(SysVal::LocalId(Axis::X));
    let base = b.alu_word(Alu::IMul, local, SLOTS * 4);
    let mut words = vec![
        local,
        b.fau(FauWord::PushConstant(4)),
        b.num_workgroups(Axis::Y),
    ];
    let access = Access {
        space: Space::Buffer,
        count: 4,
        align: 16,
        memory: Memory::Constant,
    };
    let handle = b.word(INPUT);
    words.extend(b.load(access, &[handle, base]));
    let bools = vec![
        b.alu_word(Alu::ULt, local, 2),
        b.alu_word(Alu::SLt, words[3], 0),
    ];
    let zero = b.word(0);
    // Uninitialised elements are free; so there are none.
    for (var, len) in &vars {
        for element in 0..*len {
            let element = b.word(element);
            b.store_var(*var, element, words[4]);
        }
    }
    b.store_var(flag, zero, bools[0]);
    let mut generator = Generator {
        random: Random(seed),
        b,
        operations: operations(),
        words,
        bools,
        vars,
        flag,
        base,
        budget: 60,
    };
    generator.statements(3, 20);
    for slot in 0..4 {
        let value = generator.word();
        let bool = generator.bool();
        let bit = generator.b.alu(Alu::B2I, &[bool]);
        let value = generator.b.alu(Alu::IXor, &[value, bit]);
        let offset = generator.b.alu_word(Alu::IAdd, base, 4 * slot);
        let handle = generator.b.word(OUTPUT);
        let access = Access {
            space: Space::Buffer,
            count: 1,
            align: 4,
            memory: Memory::Plain,
        };
        generator.b.store(access, &[handle, offset], &[value]);
    }
    generator.b.inst(Op::Barrier, &[]);
    generator.b.terminate(Terminator::Return);
    order_blocks(&mut function);
    function
}

fn outputs(function: &Function) -> Result<Vec<u8>, String> {
    let mut random = Random(99);
    let words = INVOCATIONS * SLOTS;
    let input = (0..words)
        .flat_map(|_| random.word().to_le_bytes())
        .collect();
    let mut buffers = Buffers::from([
        ((0, 0, 0), Buffer { bytes: input }),
        (
            (0, 1, 0),
            Buffer {
                bytes: vec![7; 4 * words as usize],
            },
        ),
    ]);
    let dispatch = Dispatch {
        groups: [1, 3, 1],
        push_constants: (0..16).collect(),
        step_limit: 400_000,
    };
    interpret(function, &dispatch, &mut buffers).map_err(|trap| trap.to_string())?;
    Ok(buffers[&(0, 1, 0)].bytes.clone())
}

/// NaNs may change their payload: all are one.
fn canonical(bytes: &[u8]) -> Vec<u32> {
    let words = bytes
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    words
        .map(|word| {
            if f32::from_bits(word).is_nan() {
                0x7fc0_0000
            } else {
                word
            }
        })
        .collect()
}

#[test]
fn every_pass_keeps_what_random_functions_compute() {
    let count = std::env::var("EITRI_RANDOM").map_or(40, |count| count.parse().unwrap());
    let mut compared = 0;
    for seed in 0..count {
        let mut function = generate(seed);
        verify(&function).unwrap_or_else(|v| panic!("seed {seed}: {}\n{function}", v[0]));
        let Ok(expected) = outputs(&function) else {
            // Too many steps: nested loops.
            continue;
        };
        let mut before = function.to_string();
        let mut observer = |pass: &'static str, function: &Function| {
            let after = function.to_string();
            if after == before {
                return;
            }
            let got = outputs(function)
                .unwrap_or_else(|trap| panic!("seed {seed}, after {pass}: {trap}\n{after}"));
            assert!(
                canonical(&got) == canonical(&expected),
                "seed {seed}: {pass} changes the result\n{before}\nbecame\n{after}"
            );
            before = after;
        };
        let mut runner = Runner::observed(Target::default(), &mut observer);
        pipeline::lower(&mut function, &mut runner);
        lowered(&function).unwrap_or_else(|v| panic!("seed {seed}: {}\n{function}", v[0]));
        compared += 1;
    }
    assert!(compared * 10 > count * 9, "only {compared} of {count} end");
}
