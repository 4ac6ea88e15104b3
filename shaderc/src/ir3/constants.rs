//! The const file: which of its words uniform values are.
//!
//! What stands where is `eitri_ir3_program`'s to say. Immediates come last, so all other words are known before selection.
//! Words of uniform buffers whose place is known stand there too, as far as there is room: a word of the const file is read
//! by an instruction in passing, a load takes long.
//! Facts: hardware/ir3-isa.md 14.

use std::collections::BTreeMap;

use eitri_ir3_program::{ConstLayout, ConstNeeds, DriverParam, UniformRange};

use super::mir::Extra;
use crate::ir::uniform_load::UniformLoad;
use crate::ir::{self, BindingId, SysVal, Uniform};

/// Most vec4 of uniform buffers in the const file: half of it, so that other constants have room.
const MOST_UNIFORMS: u32 = 128;
/// Bytes of a vec4.
const VEC4_BYTES: u32 = 16;

/// A word of a uniform buffer that is known before the program runs: its binding, and its bytes' offset there.
pub(super) fn uniform_word(function: &ir::Function, value: ir::Value) -> Option<(BindingId, u32)> {
    let ir::ValueDef::Result(inst, number) = function.def(value) else {
        return None;
    };
    let load = uniform_load(function, function.inst(inst))?;
    Some((load.binding, load.offset + 4 * u32::from(number)))
}

/// What is loaded from the first buffer of a binding at a place that is known.
pub(super) fn uniform_load(function: &ir::Function, data: &ir::InstData) -> Option<UniformLoad> {
    let load = function.uniform_load(data)?;
    (load.element == 0).then_some(load)
}

/// What of uniform buffers goes into the const file: of each the vec4 from the first to the last that is read, as far as
/// there is room.
fn uniforms(function: &ir::Function) -> Vec<UniformRange> {
    let mut read: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for (_, inst) in function.placed_insts() {
        let data = function.inst(inst);
        let Some(load) = uniform_load(function, data) else {
            continue;
        };
        let last = load.offset + 4 * load.words.max(1) - 1;
        let (from, to) = (load.offset / VEC4_BYTES, last / VEC4_BYTES);
        let known = read.entry(load.binding.0).or_insert((from, to));
        *known = (known.0.min(from), known.1.max(to));
    }
    let mut room = MOST_UNIFORMS;
    let mut ranges = vec![];
    for (binding, (first, last)) in read {
        let (data, count) = (&function.bindings[binding as usize], last - first + 1);
        if count <= room {
            room -= count;
            ranges.push(UniformRange {
                set: data.set,
                binding: data.binding,
                first,
                count,
            });
        }
    }
    ranges
}

/// What a function needs of the const file, but for its immediates.
pub(super) fn needs(function: &ir::Function) -> Extra {
    let mut extra = Extra {
        data_words: function.data.len() as u32,
        uniforms: uniforms(function),
        ..Extra::default()
    };
    for (_, inst) in function.placed_insts() {
        match function.inst(inst).op {
            ir::Op::Uniform(Uniform::PushConstant(offset)) => {
                extra.push_words = extra.push_words.max(offset / 4 + 1);
            }
            ir::Op::Uniform(Uniform::NumWorkgroups(axis)) => {
                extra.need(DriverParam::WORKGROUPS[axis.index()]);
            }
            ir::Op::SysVal(SysVal::WorkgroupId(axis) | SysVal::GlobalId(axis)) => {
                extra.need(DriverParam::BASE[axis.index()]);
            }
            _ => {}
        }
    }
    extra
}

impl Extra {
    fn need(&mut self, param: DriverParam) {
        self.driver_params |= 1 << param.component();
    }

    /// What stands where; none if it is too much.
    pub(super) fn layout(&self) -> Option<ConstLayout> {
        ConstLayout::new(ConstNeeds {
            push_words: self.push_words,
            uniform_vec4: self.uniforms.iter().map(|range| range.count).sum(),
            data_words: self.data_words,
            driver_params: self.driver_params,
            immediates: self.immediates.len() as u32,
        })
    }

    /// The word of the const file that holds a word of a uniform buffer; none if that is not there.
    pub(super) fn uniform_place(&self, set: u32, binding: u32, offset: u32) -> Option<u32> {
        let mut start = self.layout()?.uniform_start() * 4;
        for range in &self.uniforms {
            let first = range.first * VEC4_BYTES;
            let bytes = range.count * VEC4_BYTES;
            let inside = (range.set, range.binding) == (set, binding)
                && (first..first + bytes).contains(&offset);
            if inside {
                return Some((start + (offset - first)) / 4);
            }
            start += bytes;
        }
        None
    }

    /// The word that holds a constant, which is added if there is room.
    pub(super) fn immediate(&mut self, bits: u32) -> Option<u16> {
        let known = self.immediates.iter().position(|word| *word == bits);
        let number = match known {
            Some(number) => number,
            None => {
                self.immediates.push(bits);
                if self.layout().is_none() {
                    self.immediates.pop();
                    return None;
                }
                self.immediates.len() - 1
            }
        };
        let (first, _) = self.layout()?.immediates();
        u16::try_from(first as usize + number).ok()
    }
}
