//! Messages: a call of the model, and what follows if it leaves the message to a single step.

use super::Translation;
use crate::blocks::Block;
use crate::context::{self, Context};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I16, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData};
use eitri_model::host_code::{Flow, Step, Warp};
use std::collections::BTreeMap;
use std::mem::offset_of;

impl Translation<'_> {
    /// Sends the message of the last step. If the model does not, leaves before it, as if the block had ended there.
    pub(super) fn write_message(&mut self, block: &Block, steps: &BTreeMap<usize, Step>) {
        let place = block.following() - 1;
        self.set_pc(place);
        let (left, sent) = (self.code.create_block(), self.code.create_block());
        self.code.set_cold_block(left);
        let address = self.address_of(steps, place);
        let done = address.and_then(|it| self.call(context::send as *const (), &[it], true));
        match done {
            Some(done) => self.code.ins().brif(done, sent, &[], left, &[]),
            None => self.code.ins().jump(left, &[]),
        };
        self.code.switch_to_block(left);
        // It was counted with the block.
        let executed = field!(self, executed);
        field!(self, executed = self.code.ins().iadd_imm_s(executed, -1));
        let lanes = of_warp!(self, I16, lanes);
        let live = of_warp!(self, I16, live);
        let apart = self.code.ins().icmp(IntCC::NotEqual, lanes, live);
        let apart = self.code.ins().uextend(I64, apart);
        let diverged = field!(self, diverged);
        field!(self, diverged = self.code.ins().isub(diverged, apart));
        if let Some((_, before)) = block.steps.split_last() {
            self.write_notes(before);
        }
        // The block has been entered, so the turn goes on where nothing ends it but its limit.
        self.leave_with(false);
        self.code.switch_to_block(sent);
    }

    /// What follows a message that was sent.
    pub(super) fn write_message_end(&mut self, block: &Block) {
        match block.steps.last().map(Step::flow) {
            Some(Flow::Reconverge) => self.write_reconverge(block),
            flow => {
                let slots = flow.map_or(0, Flow::waits_for);
                self.write_wait(slots);
                self.go_on(block.following());
            }
        }
    }
}
