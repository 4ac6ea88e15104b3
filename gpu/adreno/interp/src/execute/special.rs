//! Special functions (category 4).
//!
//! Facts: hardware/ir3-isa.md sections 4, 11, 15 and 16.

use eitri_ir3_isa::{Field, Op, Round};

use super::{Reading, Step};
use crate::fault::FaultKind;
use crate::number::{bits, float};

impl Step<'_> {
    pub(super) fn special(&mut self) -> Result<(), FaultKind> {
        let instr = self.instr;
        let (dst, src) = (self.dest()?, self.field(Field::Src)?);
        let width = instr.source_width();
        for repeat in 0..=instr.repeat() {
            self.each_lane(|step, lane| {
                let a = float(step.source(src, repeat, lane, Reading::Float)?, width);
                // FACT: how exact these are is not known (hardware/ir3-isa.md 20); the nearest value here, so tests leave the room that
                // Vulkan asks for. Settled by comparing all halves, and many full values, on a device.
                let value = match instr.op() {
                    Op::Rcp => 1.0 / a,
                    Op::Rsq | Op::Hrsq => 1.0 / libm::sqrt(a),
                    Op::Log2 | Op::Hlog2 => libm::log2(a),
                    Op::Exp2 | Op::Hexp2 => libm::exp2(a),
                    Op::Sin => libm::sin(a),
                    Op::Cos => libm::cos(a),
                    Op::Sqrt => libm::sqrt(a),
                    _ => return Err(FaultKind::Unknown("this function")),
                };
                step.write(dst, repeat, lane, bits(value, dst.width(), Round::Even))
            })?;
        }
        Ok(())
    }
}
