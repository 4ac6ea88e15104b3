//! Registers and uniforms as vectors: loaded once, kept while a stretch of code runs, stored at its end.

use crate::context::Context;
use crate::specials;
use crate::vectors::Vectors;
use cranelift_codegen::ir::types::{I32, I32X4};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use eitri_model::host_code::{Extend, From, Half, Select, Source};
use std::collections::BTreeMap;
use std::mem::offset_of;

/// Bytes of a register: a word a lane.
const REGISTER: i32 = 64;

/// What registers hold while a stretch of code is written, 4 lanes of them.
pub(crate) struct Held {
    /// Address of the first register's word of the first of the 4 lanes.
    pub(crate) base: Value,
    /// Bytes of the words before it: 0, 16, 32 or 48.
    pub(crate) offset: Value,
    pub(crate) context: Value,
    values: BTreeMap<u8, Value>,
    written: BTreeMap<u8, ()>,
}

impl Held {
    pub(crate) fn new(context: Value, base: Value, offset: Value) -> Held {
        Held {
            base,
            offset,
            context,
            values: BTreeMap::new(),
            written: BTreeMap::new(),
        }
    }

    /// A register's value.
    pub(crate) fn get(&mut self, v: &mut Vectors<'_, '_>, register: u8) -> Value {
        let register = register & 63;
        if let Some(value) = self.values.get(&register) {
            return *value;
        }
        let value = load(v, self.base, register);
        self.values.insert(register, value);
        value
    }

    /// Sets the bits of `mask` of a register.
    pub(crate) fn set(&mut self, v: &mut Vectors<'_, '_>, register: u8, mask: u32, value: Value) {
        let register = register & 63;
        let value = match mask {
            0 => return,
            u32::MAX => value,
            _ => {
                let before = self.get(v, register);
                let mask = v.constant(mask);
                v.choose(mask, value, before)
            }
        };
        self.values.insert(register, value);
        self.written.insert(register, ());
    }

    /// Stores what was written; in the lanes of `mask`, if there is one.
    pub(crate) fn store(&self, v: &mut Vectors<'_, '_>, mask: Option<Value>) {
        for register in self.written.keys() {
            let mut value = self.values[register];
            if let Some(mask) = mask {
                let before = load(v, self.base, *register);
                value = v.choose(mask, value, before);
            }
            let flags = MemFlagsData::trusted();
            let offset = i32::from(*register) * REGISTER;
            v.code.ins().store(flags, value, self.base, offset);
        }
    }

    pub(crate) fn has_written(&self) -> bool {
        !self.written.is_empty()
    }

    /// A word that is the same in all lanes, if a source is one; before its modifiers.
    pub(crate) fn scalar(&self, v: &mut Vectors<'_, '_>, from: From) -> Option<Value> {
        match from {
            From::Uniform(index) => Some(self.uniform(v, index)),
            From::Constant(word) => Some(v.code.ins().iconst(I32, i64::from(word))),
            _ => None,
        }
    }

    fn uniform(&self, v: &mut Vectors<'_, '_>, index: u8) -> Value {
        let flags = MemFlagsData::trusted();
        let pointer = v.code.func.dfg.value_type(self.base);
        let offset = offset_of!(Context, uniforms) as i32;
        let uniforms = v.code.ins().load(pointer, flags, self.context, offset);
        v.code
            .ins()
            .load(I32, flags, uniforms, 4 * i32::from(index))
    }

    /// The bits that a source reads, before its modifiers; `None` for special values that translated code doesn't have.
    pub(crate) fn raw(&mut self, v: &mut Vectors<'_, '_>, from: From) -> Option<Value> {
        Some(match from {
            From::Nothing => v.constant(0),
            From::Register(register) => self.get(v, register),
            From::Constant(word) => v.constant(word),
            From::Uniform(index) => {
                let word = self.uniform(v, index);
                v.splat(word)
            }
            From::Special(special, half) => {
                let [low, high] = specials::words(v, self, special)?;
                match half {
                    Half::W0 => low,
                    Half::W1 => high,
                }
            }
        })
    }

    /// What a source reads; `None` if it can't be written here.
    pub(crate) fn source(&mut self, v: &mut Vectors<'_, '_>, source: &Source) -> Option<Value> {
        let value = self.raw(v, source.from)?;
        if source.is_plain {
            return Some(value);
        }
        let mut value = select(v, source.select, value)?;
        if source.keep != u32::MAX {
            value = v.and_word(value, source.keep);
        }
        if source.flip != 0 {
            let flip = v.constant(source.flip);
            value = v.xor(value, flip);
        }
        Some(value)
    }
}

/// A selection of the parts of a word.
pub(crate) fn select(v: &mut Vectors<'_, '_>, select: Select, value: Value) -> Option<Value> {
    let part = |v: &mut Vectors<'_, '_>, index: u8, bits: u32, extend: Extend| {
        let up = 32 - bits - bits * u32::from(index);
        let high = v.left(value, up);
        match extend {
            Extend::Zero => v.right(high, 32 - bits),
            Extend::Sign => v.right_signed(high, 32 - bits),
        }
    };
    Some(match select {
        Select::Identity | Select::Halves(0, 1) => value,
        Select::Byte(index, extend) => part(v, index & 3, 8, extend),
        Select::Half(index, extend) => part(v, index & 1, 16, extend),
        Select::Halves(0, 0) => {
            let (low, high) = (v.and_word(value, 0xffff), v.left(value, 16));
            v.or(low, high)
        }
        Select::Halves(1, 1) => {
            let (low, high) = (v.right(value, 16), v.and_word(value, 0xffff_0000));
            v.or(low, high)
        }
        Select::Halves(1, 0) => {
            let (low, high) = (v.right(value, 16), v.left(value, 16));
            v.or(low, high)
        }
        _ => return None,
    })
}

fn load(v: &mut Vectors<'_, '_>, base: Value, register: u8) -> Value {
    let flags = MemFlagsData::trusted();
    let offset = i32::from(register & 63) * REGISTER;
    v.code.ins().load(I32X4, flags, base, offset)
}
