//! Accesses of random functions: loads, stores, atomics and fences, spread out and close together.

use super::{Generator, INPUT, OUTPUT, SLOTS, WINDOW, buffer};
use eitri_shaderc::ir::{Access, Alu, AtomicOp, Memory, Op, Space, Spaces, Value};

impl Generator<'_> {
    pub(super) fn memory(&mut self) {
        let load = self.random.below(2) == 0;
        let mut space = match load && self.random.below(6) == 0 {
            true => Space::Data,
            false => self.space(),
        };
        let count = self.random.pick(&[1u8, 1, 2, 4]);
        let mut constant =
            space == Space::Data || space == Space::Buffer && load && self.random.below(2) == 0;
        let only_reads_buffers = !self.abilities.spaces.contains(&Space::Buffer);
        if load && space == Space::Scratch && only_reads_buffers && self.random.below(2) == 0 {
            (space, constant) = (Space::Buffer, true);
        }
        let memory = if constant {
            Memory::Constant
        } else {
            Memory::Plain
        };
        // Inside what belongs to this invocation.
        let elem = self.width(|_| true);
        let slots = 4 * SLOTS / elem.bytes();
        let slot = self.masked(slots - u32::from(count).next_power_of_two());
        let bytes = self.b.alu_word(Alu::IMul, slot, elem.bytes());
        let base = self.base(space);
        let mut offset = self.b.alu(Alu::IAdd, &[base, bytes]);
        if self.random.below(3) == 0 {
            let slot = self.random.below(slots - u32::from(count) + 1);
            offset = self.b.alu_word(Alu::IAdd, base, elem.bytes() * slot);
        }
        let access = Access {
            elem,
            align: elem.bytes() as u8,
            memory,
            ..Access::words(space, count)
        };
        self.access(access, load, offset);
    }

    pub(super) fn space(&mut self) -> Space {
        self.random.pick(self.abilities.spaces)
    }

    /// Byte offset of what belongs to this invocation.
    pub(super) fn base(&mut self, space: Space) -> Value {
        match space {
            Space::Scratch | Space::Data => self.b.word(0),
            _ => self.base,
        }
    }

    /// A load or a store of some words.
    pub(super) fn access(&mut self, access: Access, load: bool, offset: Value) {
        let mut args = vec![offset];
        if access.space == Space::Buffer {
            let constant = access.memory == Memory::Constant;
            let binding = if constant { INPUT } else { OUTPUT };
            args.insert(0, buffer(self.b.function, binding));
        }
        if load {
            for value in self.b.load(access, &args) {
                self.keep(value);
            }
        } else {
            let values = (0..access.count).map(|_| self.value(access.value()));
            let values: Vec<Value> = values.collect();
            self.b.store(access, &args, &values);
        }
    }

    /// Byte offset of a window of `WINDOW` words, in one of the shapes that addresses have. It is a multiple of 16.
    pub(super) fn window(&mut self, space: Space) -> Value {
        let base = self.base(space);
        match self.random.below(4) {
            // Shifted out of a word that doesn't fit: only in the spaces where the invocation's place is in the word.
            0 if space != Space::Scratch => {
                let number = self.random.below(self.folded.len() as u32);
                let folded = self.folded[number as usize];
                self.b.alu_word(Alu::IShl, folded, number + 2)
            }
            1 => {
                let slot = self.masked(SLOTS - WINDOW);
                let bytes = self.b.alu_word(Alu::IShl, slot, 2);
                self.b.alu(Alu::IAdd, &[base, bytes])
            }
            _ => {
                let start = self.random.pick(&[0, 4, SLOTS - WINDOW]);
                self.b.alu_word(Alu::IAdd, base, 4 * start)
            }
        }
    }

    /// Accesses close together, that overlap, repeat and stand beside one another, at one or two places that may be
    /// the same.
    pub(super) fn neighbours(&mut self) {
        let space = self.space();
        let windows = [self.window(space), self.window(space)];
        let second = self.random.below(3) == 0;
        // Nearly always single words: they are what is merged.
        let wide = self.random.below(3) == 0;
        for _ in 0..3 + self.random.below(8) {
            if self.random.below(12) == 0 {
                let all = [Spaces::ALL, Spaces::BUFFERS, Spaces::SHARED];
                let spaces = self.random.pick(&all);
                self.b.inst(Op::Fence(spaces), &[]);
            }
            let window = windows[usize::from(second && self.random.below(3) == 0)];
            let count = if wide {
                self.random.pick(&[1u8, 2, 3, 4])
            } else {
                1
            };
            let word = self.random.below(WINDOW / 2 + 1);
            let offset = self.b.alu_word(Alu::IAdd, window, 4 * word);
            let memory = match self.random.below(10) {
                0 => Memory::Volatile,
                _ => Memory::Plain,
            };
            // The most that is true, or less.
            let align = match word % 4 {
                0 => self.random.pick(&[4, 16]),
                2 => self.random.pick(&[4, 8]),
                _ => 4,
            };
            let access = Access {
                align,
                memory,
                ..Access::words(space, count)
            };
            if self.random.below(12) == 0 && space != Space::Scratch {
                self.atomic(Access { count: 1, ..access }, offset);
                continue;
            }
            let load = self.random.below(3) == 0;
            self.access(access, load, offset);
        }
    }

    pub(super) fn atomic(&mut self, access: Access, offset: Value) {
        let all: Vec<AtomicOp> = AtomicOp::ALL.iter().map(|(op, _)| *op).collect();
        let op = self.random.pick(&all);
        let mut address = vec![offset];
        if access.space == Space::Buffer {
            address.insert(0, buffer(self.b.function, OUTPUT));
        }
        let operands: Vec<Value> = (0..op.operands()).map(|_| self.word()).collect();
        let old = self.b.atomic(op, access, &address, &operands);
        self.words.push(old);
    }
}
