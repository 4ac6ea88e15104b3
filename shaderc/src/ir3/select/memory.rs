//! Memory: loads and stores of each kind.
//!
//! Storage buffers are accessed in words by number; a smaller element is cut out of its word, and stored by two atomics
//! that leave the rest of the word alone. Uniform buffers are read in vectors of four words. Shared and private memory
//! have byte addresses; what has an address of 64 bits is reached through a pair of registers.
//! Facts: hardware/ir3-isa.md 12.

use smallvec::smallvec;

use super::Selector;
use super::index::Descriptor;
use crate::ir::{self, Access, BindingKind, Held, InstData, Memory};
use crate::ir3::mir::{AtomicKind, Class, Instr, Op, Operand, Source, Space, Type, Word, Words};

/// The largest constant that is left to an access of shared or private memory: 13 bits with a sign.
const LARGEST_OFFSET: u32 = 4095;
/// Words of a vector of a uniform buffer, as bits of a byte offset.
const VECTOR_BITS: u32 = 4;
/// Deepest expression that is looked at for the component.
const DEPTH: u32 = 6;

/// The memory of an access.
pub(super) fn space_of(access: Access) -> Space {
    match (access.space, access.memory) {
        (ir::Space::Buffer, Memory::Constant) | (ir::Space::Data, _) => Space::Constant,
        // Buffers lie in the memory that has addresses.
        (ir::Space::Buffer | ir::Space::Global, _) => Space::Buffer,
        (ir::Space::Shared, _) => Space::Shared,
        (ir::Space::Scratch, _) => Space::Private,
    }
}

/// What an element is in memory, as accesses by address have it.
fn element(access: Access) -> Type {
    match (access.elem, access.held) {
        (ir::Type::W8, Held::Sign) => Type::S8,
        (ir::Type::W8, _) => Type::U8,
        (ir::Type::W16, Held::Sign) => Type::S16,
        (ir::Type::W16, _) => Type::U16,
        _ => Type::U32,
    }
}

/// Whether elements are smaller than the words that hold them.
fn is_small(access: Access) -> bool {
    access.held != Held::Own
}

impl Selector<'_> {
    pub(super) fn load(&mut self, access: Access, data: &InstData) {
        match access.space {
            ir::Space::Buffer => self.load_buffer(access, data),
            ir::Space::Global => {
                let pair = self.pair(data.args[0]);
                self.load_element(access, data, Instr::on(Op::LoadGlobal, &[pair]));
            }
            ir::Space::Data => self.load_data(access, data),
            ir::Space::Shared | ir::Space::Scratch => {
                let op = match access.space {
                    ir::Space::Shared => Op::LoadLocal,
                    _ => Op::LoadPrivate,
                };
                let (address, offset) = self.byte_address(data.args[0]);
                let instr = Instr {
                    offset,
                    ..Instr::on(op, &[address])
                };
                self.load_element(access, data, instr);
            }
        }
    }

    pub(super) fn store(&mut self, access: Access, data: &InstData) {
        let values = &data.args[access.address_operands()..];
        if access.space == ir::Space::Buffer {
            match is_small(access) {
                true => self.store_part(access, data),
                false => self.store_buffer(access, data),
            }
            return;
        }
        let words: Words = match is_small(access) {
            true => {
                let word = self.plain(values[0]);
                let half = Instr::converted(Type::U32, Type::U16, word);
                let half = self.put_in(Class::Half, half);
                half.operand.read_words().collect()
            }
            false => values
                .iter()
                .map(|&value| self.in_register(value))
                .collect(),
        };
        let (op, address, offset) = match access.space {
            ir::Space::Shared => {
                let (address, offset) = self.byte_address(data.args[0]);
                (Op::StoreLocal, address, offset)
            }
            ir::Space::Scratch => {
                let (address, offset) = self.byte_address(data.args[0]);
                (Op::StorePrivate, address, offset)
            }
            ir::Space::Global | ir::Space::Buffer | ir::Space::Data => {
                (Op::StoreGlobal, self.pair(data.args[0]), 0)
            }
        };
        let ty = element(access);
        self.emit(Instr {
            data: words,
            offset,
            types: Some((ty, ty)),
            ..accessing(access, Instr::on(op, &[address]))
        });
    }

    /// The address of 64 bits that a value is.
    pub(super) fn pair(&mut self, value: ir::Value) -> Source {
        let [low, high] = self.wide_words(value);
        Source::plain(Operand::Pair(low, high))
    }

    /// A byte address in a register, and what is added to it.
    pub(super) fn byte_address(&mut self, offset: ir::Value) -> (Source, i32) {
        match self.split_offset(offset, LARGEST_OFFSET) {
            (Some(base), constant) => (Source::word(self.in_register(base)), constant as i32),
            // All accesses of known places share a register.
            (None, constant @ ..=LARGEST_OFFSET) => {
                let zero = self.register(Source::constant(0));
                (Source::word(zero), constant as i32)
            }
            (None, constant) => {
                let word = self.register(Source::constant(constant));
                (Source::word(word), 0)
            }
        }
    }

    /// Emits a load by address; a small element becomes a word.
    fn load_element(&mut self, access: Access, data: &InstData, instr: Instr) {
        let ty = element(access);
        let mut load = Instr {
            types: Some((ty, ty)),
            ..accessing(access, instr)
        };
        if !is_small(access) {
            load.dests = self.results(data);
            self.emit(load);
            return;
        }
        let half = self.put_in(Class::Half, load);
        let to = match access.held {
            Held::Sign => Type::S32,
            Held::Zero | Held::Own => Type::U32,
        };
        self.define(data.results[0], Instr::converted(ty, to, half));
    }

    pub(super) fn results(&mut self, data: &InstData) -> Words {
        let results = data.results.iter();
        results
            .map(|&result| Word::Value(self.word(result)))
            .collect()
    }

    /// Constants of the program: by the address in the const file, and the number of the word.
    fn load_data(&mut self, access: Access, data: &InstData) {
        let first = self.constants.data_address().unwrap_or(0) as u16;
        let pair =
            [first, first + 1].map(|number| self.register(Source::plain(Operand::Const(number))));
        let index = self.word_index(data.args[0]);
        let pair = Source::plain(Operand::Pair(pair[0], pair[1]));
        let whole = is_small(access).then(|| self.new_word(Class::Full));
        let dests = match whole {
            Some(whole) => smallvec![whole],
            None => self.results(data),
        };
        let instr = Instr {
            dests,
            types: Some((Type::U32, Type::U32)),
            ..Instr::on(Op::LoadGlobalAt, &[pair, Source::word(index)])
        };
        self.emit(accessing(access, instr));
        if let Some(whole) = whole {
            self.take_part(access, whole, data.args[0], data.results[0]);
        }
    }

    fn load_buffer(&mut self, access: Access, data: &InstData) {
        let Some(descriptor) = self.descriptor(data.args[0]) else {
            return;
        };
        let offset = data.args[1];
        if is_small(access) {
            self.load_part(access, descriptor, data);
            return;
        }
        let results = self.results(data);
        self.load_words(access, &descriptor, offset, results);
    }

    /// Words of a buffer from the one at an offset.
    fn load_words(
        &mut self,
        access: Access,
        descriptor: &Descriptor,
        offset: ir::Value,
        dests: Words,
    ) {
        match descriptor.kind {
            BindingKind::Uniform => self.load_uniform(access, descriptor, offset, dests),
            _ => {
                let index = self.word_index(offset);
                let load = Instr {
                    dests,
                    set: Some(descriptor.set),
                    types: Some((Type::U32, Type::U32)),
                    ..Instr::on(Op::LoadBuffer, &[Source::word(index), descriptor.number])
                };
                self.emit(accessing(access, load));
            }
        }
    }

    /// Words of a vector. Where the first component isn't known, the whole vector is loaded and chosen from.
    fn load_uniform(
        &mut self,
        access: Access,
        descriptor: &Descriptor,
        offset: ir::Value,
        dests: Words,
    ) {
        let (vector, component) = self.vector_of(access, offset);
        let load = |dests: Words, component: i32| Instr {
            dests,
            offset: component,
            set: Some(descriptor.set),
            types: Some((Type::U32, Type::U32)),
            ..Instr::on(Op::LoadUniform, &[vector, descriptor.number])
        };
        if let Some(component) = component {
            self.emit(accessing(access, load(dests, component)));
            return;
        }
        let all: Words = (0..4).map(|_| self.new_word(Class::Full)).collect();
        self.emit(accessing(access, load(all.clone(), 0)));
        let offset = self.plain(offset);
        let [odd, upper] =
            [4, 8].map(|bit| self.compute(Op::AndB, &[offset, Source::constant(bit)]));
        let at = |number: usize| Source::word(all[number]);
        for (number, dest) in dests.iter().enumerate() {
            // An access of two words is aligned to both: then only the upper bit chooses.
            let pairs = match dests.len() {
                1 => {
                    let low = self.compute(Op::SelB32, &[at(1), odd, at(0)]);
                    let high = self.compute(Op::SelB32, &[at(3), odd, at(2)]);
                    (high, low)
                }
                _ => (at(2 + number), at(number)),
            };
            let choice = Instr::on(Op::SelB32, &[pairs.0, upper, pairs.1]);
            self.emit(choice.to(*dest));
        }
    }

    /// The vector in which an offset lies, in a register, and the component if it is known. Accesses of three or four words are aligned
    /// to a vector (`ir::verify::aligned`), so theirs is.
    fn vector_of(&mut self, access: Access, offset: ir::Value) -> (Source, Option<i32>) {
        if let Some(bytes) = self.ir.as_word(offset) {
            let vector = self.register(Source::constant(bytes >> VECTOR_BITS));
            return (Source::word(vector), Some((bytes >> 2 & 3) as i32));
        }
        let component = match self.alu_of(offset) {
            _ if access.align >= 1 << VECTOR_BITS => Some(0),
            Some((ir::Alu::IAdd, data)) => {
                let constant = self.ir.as_word(data.args[1]);
                let whole = self.zero_bits(data.args[0], DEPTH) >= VECTOR_BITS;
                constant
                    .filter(|_| whole)
                    .map(|bytes| (bytes >> 2 & 3) as i32)
            }
            _ => (self.zero_bits(offset, DEPTH) >= VECTOR_BITS).then_some(0),
        };
        let bytes = self.plain(offset);
        let vector = self.compute(Op::ShrB, &[bytes, Source::constant(VECTOR_BITS)]);
        (vector, component)
    }

    /// A byte or half of a buffer's word, extended.
    fn load_part(&mut self, access: Access, descriptor: Descriptor, data: &InstData) {
        let offset = data.args[1];
        let whole = self.new_word(Class::Full);
        self.load_words(access, &descriptor, offset, smallvec![whole]);
        self.take_part(access, whole, offset, data.results[0]);
    }

    /// What stands at an offset of a word that was loaded, extended.
    fn take_part(&mut self, access: Access, whole: Word, offset: ir::Value, result: ir::Value) {
        let by = self.bit_in_word(offset);
        let word = Source::word(whole);
        let bits = access.elem.bits();
        if access.held == Held::Sign {
            let part = self.compute(Op::ShrB, &[word, by]);
            let above = Source::constant(32 - bits);
            let top = self.compute(Op::ShlB, &[part, above]);
            self.define(result, Instr::on(Op::AshrB, &[top, above]));
            return;
        }
        let part = self.compute(Op::ShrB, &[word, by]);
        let mask = Source::constant(access.elem.mask() as u32);
        self.define(result, Instr::on(Op::AndB, &[part, mask]));
    }

    /// The number of the bit in its word at which a byte offset begins; shifts take it modulo the width.
    fn bit_in_word(&mut self, offset: ir::Value) -> Source {
        match self.ir.as_word(offset) {
            Some(bytes) => Source::constant((bytes & 3) * 8),
            None => {
                let bytes = self.plain(offset);
                self.compute(Op::ShlB, &[bytes, Source::constant(3)])
            }
        }
    }

    fn store_buffer(&mut self, access: Access, data: &InstData) {
        let Some(descriptor) = self.descriptor(data.args[0]) else {
            return;
        };
        let index = self.word_index(data.args[1]);
        let values = data.args[access.address_operands()..].iter();
        let store = Instr {
            data: values.map(|&value| self.in_register(value)).collect(),
            set: Some(descriptor.set),
            types: Some((Type::U32, Type::U32)),
            ..Instr::on(Op::StoreBuffer, &[Source::word(index), descriptor.number])
        };
        self.emit(accessing(access, store));
    }

    /// A byte or half of a buffer's word. Others may store to the rest of the word at the same time.
    fn store_part(&mut self, access: Access, data: &InstData) {
        let Some(descriptor) = self.descriptor(data.args[0]) else {
            return;
        };
        let index = self.word_index(data.args[1]);
        let by = self.bit_in_word(data.args[1]);
        let mask = Source::constant(access.elem.mask() as u32);
        let value = self.plain(data.args[2]);
        let value = self.compute(Op::AndB, &[value, mask]);
        let value = self.compute(Op::ShlB, &[value, by]);
        let mask = self.register(mask);
        let place = self.compute(Op::ShlB, &[Source::word(mask), by]);
        let rest = self.compute(Op::NotB, &[place]);
        for (kind, word) in [(AtomicKind::And, rest), (AtomicKind::Or, value)] {
            let atomic = Instr {
                dests: smallvec![self.new_word(Class::Full)],
                data: word.operand.read_words().collect(),
                atomic: Some(kind),
                set: Some(descriptor.set),
                types: Some((Type::U32, Type::U32)),
                ..Instr::on(Op::AtomicBuffer, &[Source::word(index), descriptor.number])
            };
            self.emit(accessing(access, atomic));
        }
    }

    /// The size of a buffer in bytes: the machine counts words.
    pub(super) fn buffer_size(&mut self, data: &InstData) {
        let Some(descriptor) = self.descriptor(data.args[0]) else {
            return;
        };
        if descriptor.kind != BindingKind::Storage {
            self.refuse("the size of a uniform buffer");
            return;
        }
        let words: Words = (0..3).map(|_| self.new_word(Class::Full)).collect();
        let first = Source::word(words[0]);
        self.emit(Instr {
            dests: words,
            set: Some(descriptor.set),
            space: Some(Space::Constant),
            ..Instr::on(Op::BufferSize, &[descriptor.number])
        });
        let sources = [first, Source::constant(2)];
        self.define(data.results[0], Instr::on(Op::ShlB, &sources));
    }
}

/// An access with what is known of its memory.
pub(super) fn accessing(access: Access, instr: Instr) -> Instr {
    Instr {
        space: Some(space_of(access)),
        volatile: access.memory.is_volatile(),
        ..instr
    }
}
