//! The const file: which of its words uniform values are.
//!
//! What stands where is `eitri_ir3_program`'s to say. Immediates come last, so all other words are known before selection.
//! Facts: hardware/ir3-isa.md 14.

use eitri_ir3_program::{ConstLayout, DriverParam};

use super::mir::Extra;
use crate::ir::{self, SysVal, Uniform};

/// What a function needs of the const file, but for its immediates.
pub(super) fn needs(function: &ir::Function) -> Extra {
    let mut extra = Extra {
        data_words: function.data.len() as u32,
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
        ConstLayout::new(
            self.push_words,
            self.data_words,
            self.driver_params,
            self.immediates.len() as u32,
        )
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
