//! Coverage: ATEST and ZS_EMIT.
//!
//! Facts: hardware/valhall-isa.md 11.9; graphics-model.md 4.2.

use super::super::instruction::Instruction;
use super::super::lanes::WARP;
use super::super::message::Message;
use super::super::stage::Stage;
use super::super::stopped::Stopped;
use super::super::warp::{Warp, bits};
use super::{Memory, Sender, set_registers};
use crate::diagnosis::ShaderMisuse;
use crate::fidelity::Inexact;
use crate::fragment::{Emitted, OrderMisuse};
use crate::trace::PixelStepKind;

impl Memory {
    /// ATEST: coverage, alpha and a datum that is ours and empty; gives the coverage that survives.
    pub(super) fn atest(
        &mut self,
        sender: &mut Sender<'_>,
        warp: &mut Warp,
        message: &Message,
        instruction: &Instruction,
    ) -> Result<(), Stopped> {
        let coverage = sender.source(warp, &instruction.sources[0]);
        let alpha = sender.source(warp, &instruction.sources[1]);
        let Stage::Fragment(stage) = &mut self.stage else {
            return Err(sender.wrong_stage(instruction));
        };
        if stage.draw.infers_alpha_coverage() {
            sender
                .fabric
                .fidelity
                .meet_for_pixels(Inexact::AlphaToCoverage);
        }
        let mut registers = [[0; 4]; WARP];
        for lane in bits(warp.lanes) {
            let (x, y) = stage.lanes[lane].pixel;
            let at = (f32::from_bits(alpha[lane]), [x.into(), y.into()]);
            let coverage = coverage[lane] as u16;
            let before = stage.before(sender.fabric, lane);
            let tested = stage.with_tests(lane, |order, fragment, tests| {
                order.atest(fragment, coverage, at, tests)
            });
            if let Some(before) = before {
                stage.tell_step(sender.fabric, before, None, PixelStepKind::LateTests);
            }
            // A helper lane beyond the tile has no coverage.
            let survives = tested.unwrap_or(Ok(0));
            registers[lane][0] = sender.in_order(survives).into();
        }
        set_registers(warp, message.write, &registers);
        Ok(())
    }

    /// ZS_EMIT: the late tests with the program's depth or stencil.
    pub(super) fn zs_emit(
        &mut self,
        sender: &mut Sender<'_>,
        warp: &mut Warp,
        message: &Message,
        instruction: &Instruction,
        (depth, stencil): (bool, bool),
    ) -> Result<(), Stopped> {
        let [depths, stencils, coverage] =
            [0, 1, 2].map(|index: usize| sender.source(warp, &instruction.sources[index]));
        let Stage::Fragment(stage) = &mut self.stage else {
            return Err(sender.wrong_stage(instruction));
        };
        let mut registers = [[0; 4]; WARP];
        for lane in bits(warp.lanes) {
            let emitted = Emitted {
                depth: depth.then(|| f32::from_bits(depths[lane])),
                stencil: stencil.then_some(stencils[lane] as u8),
            };
            let coverage = coverage[lane] as u16;
            let before = stage.before(sender.fabric, lane);
            let tested = stage.with_tests(lane, |order, fragment, tests| {
                order.zs_emit(fragment, coverage, emitted, tests)
            });
            if let Some(before) = before {
                stage.tell_step(sender.fabric, before, None, PixelStepKind::LateTests);
            }
            registers[lane][0] = sender.in_order(tested.unwrap_or(Ok(0))).into();
        }
        set_registers(warp, message.write, &registers);
        Ok(())
    }
}

impl Sender<'_> {
    /// The coverage that a test gives; a test out of order is reported and gives none.
    fn in_order(&mut self, tested: Result<u16, OrderMisuse>) -> u16 {
        tested.unwrap_or_else(|misuse| {
            self.report(ShaderMisuse::TestOrder {
                reason: reason_of(misuse),
            });
            0
        })
    }
}

fn reason_of(misuse: OrderMisuse) -> &'static str {
    match misuse {
        OrderMisuse::SecondAtest => "a second ATEST",
        OrderMisuse::ZsEmitAfterTests => "a ZS_EMIT after the tests were made",
        OrderMisuse::NoLateTest => "no ATEST or ZS_EMIT makes the late tests",
    }
}
