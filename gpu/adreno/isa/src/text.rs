//! Which text an instruction has: the usual one of its layout, or one that its state asks for.
//!
//! Facts: hardware/data/ir3-isa.json, "variants".

use crate::field::Field;
use crate::instr::Instr;
use crate::layout::When;
use crate::values::Type;

impl Instr {
    /// The text template that is in force.
    pub(crate) fn text(&self) -> &'static str {
        let mut variants = self.layout().variants.iter();
        let variant = variants.find(|variant| self.is(variant.when));
        variant.map_or(self.layout().text, |variant| variant.text)
    }

    fn is(&self, when: When) -> bool {
        let types = (self.type_of(Field::SrcType), self.type_of(Field::DstType));
        let dst = self.bits(Field::Dst);
        match when {
            When::Idle => self.idle_bits() && self.repeat() == 0,
            When::NotIdle => !self.idle_bits(),
            When::ToA0 => dst == Some(244) && types == (Some(Type::S16), Some(Type::S16)),
            When::ToA1 => dst == Some(245) && types == (Some(Type::U16), Some(Type::U16)),
            When::Converts => types.0 != types.1,
            When::Shifted => self.bits(Field::Src2AddDwordShift) != Some(0),
            When::Indirect => self.flag(Field::S2enBindless),
        }
    }

    fn idle_bits(&self) -> bool {
        self.flag(Field::Src1R) || self.flag(Field::Src2R)
    }
}
