//! Vectors of 4 lanes: the few shapes that translated operations are made of.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32X4, I32, I32X4};
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, Type, Value};
use cranelift_frontend::FunctionBuilder;

/// Writes vector code. Values are words unless said otherwise.
pub(crate) struct Vectors<'a, 'f> {
    pub(crate) code: &'a mut FunctionBuilder<'f>,
}

impl Vectors<'_, '_> {
    /// The same word in all lanes.
    pub(crate) fn constant(&mut self, word: u32) -> Value {
        let bytes = word.to_le_bytes().repeat(4);
        self.bytes(&bytes)
    }

    /// A word for each lane.
    pub(crate) fn words(&mut self, words: [u32; 4]) -> Value {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.bytes(&bytes)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Value {
        let data = self.code.func.dfg.constants.insert(bytes.into());
        self.code.ins().vconst(I32X4, data)
    }

    /// The bits of a vector as another type.
    pub(crate) fn cast(&mut self, ty: Type, value: Value) -> Value {
        if self.code.func.dfg.value_type(value) == ty {
            return value;
        }
        let flags = MemFlagsData::new().with_endianness(Endianness::Little);
        self.code.ins().bitcast(ty, flags, value)
    }

    pub(crate) fn floats(&mut self, value: Value) -> Value {
        self.cast(F32X4, value)
    }

    pub(crate) fn bits(&mut self, value: Value) -> Value {
        self.cast(I32X4, value)
    }

    /// A scalar word in all lanes.
    pub(crate) fn splat(&mut self, word: Value) -> Value {
        self.code.ins().splat(I32X4, word)
    }

    pub(crate) fn and(&mut self, a: Value, b: Value) -> Value {
        self.code.ins().band(a, b)
    }

    pub(crate) fn or(&mut self, a: Value, b: Value) -> Value {
        self.code.ins().bor(a, b)
    }

    pub(crate) fn xor(&mut self, a: Value, b: Value) -> Value {
        self.code.ins().bxor(a, b)
    }

    pub(crate) fn not(&mut self, a: Value) -> Value {
        self.code.ins().bnot(a)
    }

    pub(crate) fn and_word(&mut self, a: Value, word: u32) -> Value {
        let word = self.constant(word);
        self.and(a, word)
    }

    /// Shifted to the left by a constant below 32.
    pub(crate) fn left(&mut self, a: Value, by: u32) -> Value {
        if by == 0 {
            return a;
        }
        let by = self.code.ins().iconst(I32, i64::from(by));
        self.code.ins().ishl(a, by)
    }

    /// Shifted to the right by a constant below 32.
    pub(crate) fn right(&mut self, a: Value, by: u32) -> Value {
        if by == 0 {
            return a;
        }
        let by = self.code.ins().iconst(I32, i64::from(by));
        self.code.ins().ushr(a, by)
    }

    /// The same with copies of the sign.
    pub(crate) fn right_signed(&mut self, a: Value, by: u32) -> Value {
        if by == 0 {
            return a;
        }
        let by = self.code.ins().iconst(I32, i64::from(by));
        self.code.ins().sshr(a, by)
    }

    /// All ones in the lanes where integers compare so.
    pub(crate) fn compares(&mut self, condition: IntCC, a: Value, b: Value) -> Value {
        self.code.ins().icmp(condition, a, b)
    }

    /// All ones in the lanes where floats compare so.
    pub(crate) fn compares_floats(&mut self, condition: FloatCC, a: Value, b: Value) -> Value {
        let (a, b) = (self.floats(a), self.floats(b));
        let mask = self.code.ins().fcmp(condition, a, b);
        self.bits(mask)
    }

    /// All ones in the lanes that are 0.
    pub(crate) fn is_zero(&mut self, a: Value) -> Value {
        let zero = self.constant(0);
        self.compares(IntCC::Equal, a, zero)
    }

    /// `a` where the mask is ones, else `b`.
    pub(crate) fn choose(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.code.ins().bitselect(mask, a, b)
    }

    pub(crate) fn add(&mut self, a: Value, b: Value) -> Value {
        self.code.ins().iadd(a, b)
    }

    pub(crate) fn sub(&mut self, a: Value, b: Value) -> Value {
        self.code.ins().isub(a, b)
    }
}
