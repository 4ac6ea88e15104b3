//! Memory: loads, stores, and the addresses that they and atomics need.
//!
//! A buffer is loaded from by handle and offset. To store, its address is among the uniform words, or comes from LEA_PKA
//! where the handle isn't constant. Addresses that differ by a constant share one where it was made on every way and not far away,
//! since each is known to lie in the buffer. Constants of the program are found through uniform words as well. Workgroup and
//! scratch memory are the hardware's pointer plus a signed offset.  Facts: hardware/compiler-abi.md 2, 3.6, 3.8; hardware/compiler-isel.md 9.

use super::Selector;
use crate::ir::range::{self, Tested};
use crate::ir::{self, Access, Alu, Held, InstData, Memory, Type};
use crate::valhall::error::Unsupported;
use crate::valhall::mir::{
    AddressHalf, FauWord, Half, Instr, Modifier, Op, Operand, Select, Source, Sources, Space,
    Special, Word, Words,
};
use smallvec::smallvec;

/// A 64-bit address and the constant part of the offset that is already in it.
#[derive(Clone, Copy)]
pub(super) struct Address {
    pub(super) source: Source,
    included: i64,
}

/// An address, and where it was made.
#[derive(Clone, Copy)]
pub(super) struct Made<T> {
    address: T,
    block: ir::BlockId,
    /// IR instructions that had been selected by then.
    selected: usize,
}

/// IR instructions beyond which an address is made again, not kept: it takes two registers.
const FAR: usize = 48;

/// An index below this is shifted without loss by any shift that an address takes in.
const SMALL: u32 = 1 << 24;

/// What an access needs: its address, and the constant that is still to be added.
pub(super) struct Location {
    pub(super) address: Source,
    pub(super) offset: i64,
}

/// Which constants fit in a message's offset.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Signed 16 bits: loads and stores.
    Plain,
    /// Unsigned 8 bits, multiples of 4: atomics.
    Atomic,
    /// The same in multiples of 8: atomics of 64 bits.
    AtomicWide,
}

impl Reach {
    pub(super) fn contains(self, offset: i64) -> bool {
        match self {
            Reach::Plain => i16::try_from(offset).is_ok(),
            Reach::Atomic => (0..=255).contains(&offset) && offset % 4 == 0,
            Reach::AtomicWide => (0..=255).contains(&offset) && offset % 8 == 0,
        }
    }
}

/// The memory of an access.
pub(super) fn space_of(access: Access) -> Space {
    match (access.space, access.memory) {
        (ir::Space::Buffer, Memory::Constant) | (ir::Space::Data, _) => Space::Constant,
        // Buffers lie in the memory that has addresses.
        (ir::Space::Buffer | ir::Space::Global, _) => Space::Buffer,
        (ir::Space::Shared, _) => Space::Shared,
        (ir::Space::Scratch, _) => Space::Scratch,
    }
}

impl Selector<'_> {
    pub(super) fn load(&mut self, access: Access, data: &InstData) -> Result<(), Unsupported> {
        let dests: Words = data
            .results
            .iter()
            .map(|&result| Word::Value(self.word(result)))
            .collect();
        let space = Some(space_of(access));
        let volatile = access.memory.is_volatile();
        let atomic = access.memory == Memory::Atomic;
        if access.space == ir::Space::Buffer {
            let (handle, offset) = (self.plain(data.args[0]), self.plain(data.args[1]));
            let op = match (access.elem, access.count) {
                (Type::W8, 1) => Op::LdBuffer8,
                (Type::W16, 1) => Op::LdBuffer16,
                (_, 1) => Op::LdBuffer32,
                (_, 2) => Op::LdBuffer64,
                (_, 3) => Op::LdBuffer96,
                (_, 4) => Op::LdBuffer128,
                _ => return Err(self.unsupported("load of more than four words")),
            };
            let load = Instr {
                dests,
                sources: smallvec![offset, handle],
                space,
                volatile,
                atomic,
                ..Instr::new(op)
            };
            self.emit(extended(load, access));
            return Ok(());
        }
        let op = match (access.elem, access.count) {
            (Type::W8, 1) => Op::Load8,
            (Type::W16, 1) => Op::Load16,
            (_, 1) => Op::Load32,
            (_, 2) => Op::Load64,
            (_, 3) => Op::Load96,
            (_, 4) => Op::Load128,
            _ => return Err(self.unsupported("load of more than four words")),
        };
        let Location { address, offset } = self.locate(access, data, Reach::Plain)?;
        let load = Instr {
            dests,
            sources: smallvec![address],
            immediate: Some(offset),
            space,
            volatile,
            atomic,
            ..Instr::new(op)
        };
        self.emit(forced(extended(load, access)));
        Ok(())
    }

    pub(super) fn store(&mut self, access: Access, data: &InstData) -> Result<(), Unsupported> {
        let op = match (access.elem, access.count) {
            (Type::W8, 1) => Op::Store8,
            (Type::W16, 1) => Op::Store16,
            (_, 1) => Op::Store32,
            (_, 2) => Op::Store64,
            (_, 3) => Op::Store96,
            (_, 4) => Op::Store128,
            _ => return Err(self.unsupported("store of more than four words")),
        };
        let staging = data.args[access.address_operands()..]
            .iter()
            .map(|&value| self.in_register(value))
            .collect();
        let Location { address, offset } = self.locate(access, data, Reach::Plain)?;
        let space = Some(space_of(access));
        let volatile = access.memory.is_volatile();
        let sources = smallvec![address];
        self.emit(forced(Instr {
            staging,
            sources,
            immediate: Some(offset),
            space,
            volatile,
            ..Instr::new(op)
        }));
        Ok(())
    }

    /// Where an access goes.
    ///
    /// # Errors
    /// If there is no uniform word left that constants of the program need.
    pub(super) fn locate(
        &mut self,
        access: Access,
        data: &InstData,
        reach: Reach,
    ) -> Result<Location, Unsupported> {
        let (handle, offset) = match access.space {
            ir::Space::Buffer => (Some(data.args[0]), data.args[1]),
            ir::Space::Global => return Ok(self.locate_global(data.args[0], reach)),
            ir::Space::Shared | ir::Space::Scratch | ir::Space::Data => (None, data.args[0]),
        };
        let (base, constant) = self.split_offset(offset);
        Ok(match access.space {
            ir::Space::Buffer => {
                self.locate_buffer(handle.unwrap_or(offset), base, constant, reach)
            }
            ir::Space::Shared | ir::Space::Global => self.locate_shared(base, constant, reach),
            ir::Space::Scratch => self.locate_scratch(base, constant),
            ir::Space::Data => self.locate_data(base, constant)?,
        })
    }

    /// An offset as a value plus a constant; no value when it is constant.
    fn split_offset(&self, offset: ir::Value) -> (Option<ir::Value>, i64) {
        if let Some(bits) = self.ir.as_word(offset) {
            return (None, i64::from(bits as i32));
        }
        match self.alu_of(offset) {
            Some((Alu::IAdd, data)) => match self.ir.as_word(data.args[1]) {
                Some(bits) => (Some(data.args[0]), i64::from(bits as i32)),
                None => (Some(offset), 0),
            },
            _ => (Some(offset), 0),
        }
    }

    fn locate_buffer(
        &mut self,
        handle: ir::Value,
        base: Option<ir::Value>,
        constant: i64,
        reach: Reach,
    ) -> Location {
        if let Some(known) = self.known_address(Some(handle), base, constant, reach) {
            return known;
        }
        let pointer = self.known_handle(handle).and_then(|handle| {
            self.pointer(AddressHalf::ALL.map(|half| FauWord::BufferAddress(handle, half)))
        });
        let Some(pointer) = pointer else {
            let handle_source = self.plain(handle);
            let offset = self.offset_in_32_bits(base, constant);
            let address = self.compute_pair(Op::LeaPka, smallvec![offset, handle_source], None);
            return self.remember(Some(handle), base, address, constant);
        };
        self.locate_from(pointer, Some(handle), base, constant, reach)
    }

    /// Constants of the program.
    fn locate_data(
        &mut self,
        base: Option<ir::Value>,
        constant: i64,
    ) -> Result<Location, Unsupported> {
        if let Some(known) = self.known_address(None, base, constant, Reach::Plain) {
            return Ok(known);
        }
        let Some(pointer) = self.pointer(AddressHalf::ALL.map(FauWord::DataAddress)) else {
            return Err(self.unsupported("constant data beside so many uniform words"));
        };
        Ok(self.locate_from(pointer, None, base, constant, Reach::Plain))
    }

    /// An address beyond a pointer among the uniform words. Offsets of the IR are 32 bits and wrap.
    fn locate_from(
        &mut self,
        pointer: Source,
        handle: Option<ir::Value>,
        base: Option<ir::Value>,
        constant: i64,
        reach: Reach,
    ) -> Location {
        let Some(index) = base else {
            // A constant offset is unsigned.
            let constant = i64::from(constant as u32);
            if reach.contains(constant) {
                return Location {
                    address: pointer,
                    offset: constant,
                };
            }
            let rest = self.compute(Op::Mov, &[Source::constant(constant as u32)]);
            let sources = smallvec![pointer, rest.select(Select::W0)];
            let address = self.compute_pair(Op::ShAddXU, sources, Some(0));
            return Location { address, offset: 0 };
        };
        // Where the sum does not wrap, its constant part can be left to the message.
        let most = u64::from(self.upper_bound(index));
        let apart = constant >= 0 && most + constant as u64 <= u64::from(u32::MAX);
        let (included, index) = match apart && reach.contains(constant) {
            true => (0, Some(index)),
            false => (constant, None),
        };
        let shifted = index.and_then(|index| self.shifted_index(index, u64::from(u32::MAX)));
        let (word, shift) = match (shifted, index) {
            (Some((inner, shift)), _) => (self.in_register(inner), shift),
            (None, Some(index)) => (self.in_register(index), 0),
            (None, None) => {
                let offset = self.offset_in_32_bits(base, constant);
                let word = match offset.operand {
                    Operand::Word(word) => word,
                    _ => self.moved(offset),
                };
                (word, 0)
            }
        };
        let index = Source::plain(Operand::Word(word)).select(Select::W0);
        let address = self.compute_pair(Op::ShAddXU, smallvec![pointer, index], Some(shift));
        let location = self.remember(handle, base, address, included);
        Location {
            offset: constant - included,
            ..location
        }
    }

    /// The pair of uniform words that make a pointer; none if there is no room for them.
    pub(super) fn pointer(&mut self, words: [FauWord; 2]) -> Option<Source> {
        let fau = &mut self.function.extra.fau;
        let found = fau.chunks(2).position(|pair| pair == words);
        let index = match found {
            Some(pair) => 2 * pair,
            None => {
                let index = fau.len().next_multiple_of(2);
                if index + 2 > self.target.limits.uniform_words as usize {
                    return None;
                }
                fau.resize(index, FauWord::Constant(0));
                fau.extend(words);
                index
            }
        };
        let index = u8::try_from(index).ok()?;
        Some(Source::plain(Operand::Fau(index)))
    }

    /// `index << shift` that loses no bits below `most`, with a shift that an address can take in.
    fn shifted_index(&mut self, value: ir::Value, most: u64) -> Option<(ir::Value, i64)> {
        let (Alu::IShl, data) = self.alu_of(value)? else {
            return None;
        };
        let shift = self.ir.as_word(data.args[1]).filter(|shift| *shift <= 7)?;
        let index = data.args[0];
        let bound = u64::from(self.upper_bound(index)) << shift;
        (bound <= most).then_some((index, i64::from(shift)))
    }

    /// The largest value that a word can have in this block, as unsigned.
    fn upper_bound(&mut self, value: ir::Value) -> u32 {
        let most = range::upper_bound(self.ir, value);
        if most < SMALL {
            return most;
        }
        let here = self.ir.layout[self.block.index()];
        let tested = match self.tested.take() {
            Some((block, tested)) if block == here => tested,
            _ => Tested::at(self.ir, &self.cfg, here),
        };
        let most = tested.upper_bound(self.ir, value);
        self.tested = Some((here, tested));
        most
    }

    /// The sum as the IR computes it.
    fn offset_in_32_bits(&mut self, base: Option<ir::Value>, constant: i64) -> Source {
        match base {
            None => Source::constant(constant as u32),
            Some(base) if constant == 0 => self.plain(base),
            Some(base) => {
                let base = self.plain(base);
                self.compute(Op::IAdd, &[base, Source::constant(constant as u32)])
            }
        }
    }

    /// An address that is there by now, if the constant is near enough.
    fn known_address(
        &mut self,
        handle: Option<ir::Value>,
        base: Option<ir::Value>,
        constant: i64,
        reach: Reach,
    ) -> Option<Location> {
        let made = *self.addresses.get(&(handle, base))?;
        let known = self.still_there(made)?;
        let offset = constant - known.included;
        reach.contains(offset).then_some(Location {
            address: known.source,
            offset,
        })
    }

    fn made_here<T>(&self, address: T) -> Made<T> {
        Made {
            address,
            block: self.ir.layout[self.block.index()],
            selected: self.selected,
        }
    }

    /// An address that was made on every way to this place, and not too long ago.
    fn still_there<T: Copy>(&mut self, made: Made<T>) -> Option<T> {
        let here = self.ir.layout[self.block.index()];
        if made.block == here {
            return Some(made.address);
        }
        let is_near = self.selected - made.selected <= FAR;
        if !self.may_keep_addresses || !is_near || !self.cfg.dominates(made.block, here) {
            return None;
        }
        self.keeps_addresses = true;
        Some(made.address)
    }

    fn remember(
        &mut self,
        handle: Option<ir::Value>,
        base: Option<ir::Value>,
        source: Source,
        included: i64,
    ) -> Location {
        let address = self.made_here(Address { source, included });
        self.addresses.insert((handle, base), address);
        Location {
            address: source,
            offset: 0,
        }
    }

    fn locate_shared(&mut self, base: Option<ir::Value>, constant: i64, reach: Reach) -> Location {
        let pointer = Source::plain(Operand::Special(Special::WorkgroupLocalPointer, Half::Low));
        let offset = if reach.contains(constant) {
            constant
        } else {
            0
        };
        let key = (base, constant - offset);
        let known = self.shared_addresses.get(&key).copied();
        if let Some(address) = known.and_then(|known| self.still_there(known)) {
            return Location { address, offset };
        }
        let Some(base) = base else {
            if offset == constant {
                return Location {
                    address: pointer,
                    offset,
                };
            }
            let rest = self.compute(Op::Mov, &[Source::constant(constant as u32)]);
            return Location {
                address: self.compute_pair(
                    Op::IAdd64S,
                    smallvec![pointer, rest.select(Select::W0)],
                    None,
                ),
                offset,
            };
        };
        let shifted = self.shifted_index(base, i32::MAX as u64);
        let address = match shifted.filter(|_| offset == constant) {
            // The machine shifts in 64 bits: nothing may fall out at the top, as it would in 32.
            Some((index, shift)) => {
                let index = Source::plain(Operand::Word(self.in_register(index)));
                let sources = smallvec![pointer, index.select(Select::W0)];
                self.compute_pair(Op::ShAddXS, sources, Some(shift))
            }
            None => {
                let mut index = Source::plain(Operand::Word(self.in_register(base)));
                if offset != constant {
                    index = self.compute(Op::IAdd, &[index, Source::constant(constant as u32)]);
                }
                let sources = smallvec![pointer, index.select(Select::W0)];
                self.compute_pair(Op::IAdd64S, sources, None)
            }
        };
        let made = self.made_here(address);
        self.shared_addresses.insert(key, made);
        Location { address, offset }
    }

    /// Packed thread-local memory: only the low word of the pointer takes the offset.
    fn locate_scratch(&mut self, base: Option<ir::Value>, constant: i64) -> Location {
        let pointer = Source::plain(Operand::Special(Special::ThreadLocalPointer, Half::Low));
        let high = Source::plain(Operand::Special(Special::ThreadLocalPointer, Half::High));
        let offset = if Reach::Plain.contains(constant) {
            constant
        } else {
            0
        };
        let rest = Source::constant(if offset == constant {
            0
        } else {
            constant as u32
        });
        let key = (base, constant - offset);
        let known = self.scratch_addresses.get(&key).copied();
        if let Some(address) = known.and_then(|known| self.still_there(known)) {
            return Location { address, offset };
        }
        let base = match base {
            None if offset == constant => {
                return Location {
                    address: pointer,
                    offset,
                };
            }
            None => rest,
            Some(base) if offset == constant => self.plain(base),
            Some(base) => {
                let base = self.plain(base);
                self.compute(Op::IAdd, &[base, rest])
            }
        };
        let low = self.compute(Op::IAdd, &[base, pointer]);
        let high = self.compute(Op::Mov, &[high]);
        let address = match (low.operand, high.operand) {
            (Operand::Word(low), Operand::Word(high)) => Source::plain(Operand::Pair(low, high)),
            _ => pointer,
        };
        let made = self.made_here(address);
        self.scratch_addresses.insert(key, made);
        Location { address, offset }
    }

    /// An operation with a 64-bit result.
    pub(super) fn compute_pair(
        &mut self,
        op: Op,
        sources: Sources,
        immediate: Option<i64>,
    ) -> Source {
        let [low, high] = [(); 2].map(|()| Word::Value(self.function.new_value()));
        self.emit(Instr {
            dests: smallvec![low, high],
            sources,
            immediate,
            ..Instr::new(op)
        });
        Source::plain(Operand::Pair(low, high))
    }
}

/// A load as its elements are held: small ones are extended to words.
fn extended(load: Instr, access: Access) -> Instr {
    match access.held {
        Held::Own => load.with(Modifier::Unsigned),
        Held::Zero => load.with(Modifier::ToWord).with(Modifier::Unsigned),
        Held::Sign => load.with(Modifier::ToWord),
    }
}

/// Thread-local memory is accessed for discarded lanes too.
fn forced(instr: Instr) -> Instr {
    if instr.space == Some(Space::Scratch) {
        instr.with(Modifier::Force)
    } else {
        instr
    }
}
