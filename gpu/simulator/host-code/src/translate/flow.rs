//! Where a block ends: what it left of registers, waits, branches, and who runs on.

use super::Translation;
use crate::blocks::{Block, target};
use crate::context::{self, Context};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I16, I32, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use eitri_model::host_code::{Does, PAGE_WORDS, Step, Warp};
use std::mem::offset_of;

impl Translation<'_> {
    /// Notes which registers hold something.
    pub(super) fn write_notes(&mut self, steps: &[Step]) {
        let (mut written, mut dead) = (0u64, 0u64);
        for step in steps {
            dead = (dead | step.last_use()) & !step.writes();
            written |= step.writes();
        }
        if written | dead == 0 {
            return;
        }
        if written != 0 {
            let before = of_warp!(self, I64, written);
            let mask = self.word(written);
            of_warp!(self, written = self.code.ins().bor(before, mask));
        }
        let (whole, partly) = (self.code.create_block(), self.code.create_block());
        let noted = self.code.create_block();
        let lanes = of_warp!(self, I16, lanes);
        let all = of_warp!(self, I16, all);
        let is_all = self.code.ins().icmp(IntCC::Equal, lanes, all);
        self.code.ins().brif(is_all, whole, &[], partly, &[]);
        self.code.switch_to_block(whole);
        let before = of_warp!(self, I64, valid_everywhere);
        let (kept, set) = (self.word(!dead), self.word(written & !dead));
        let after = self.code.ins().band(before, kept);
        of_warp!(self, valid_everywhere = self.code.ins().bor(after, set));
        if dead != 0 {
            let pointer = self.pointer();
            let valid = self.code.ins().load(
                pointer,
                MemFlagsData::trusted(),
                self.context,
                offset_of!(Context, valid) as i32,
            );
            let none = self.code.ins().iconst(I16, 0);
            for register in (0..64).filter(|register| dead >> register & 1 != 0) {
                let flags = MemFlagsData::trusted();
                self.code.ins().store(flags, none, valid, 2 * register);
            }
        }
        self.code.ins().jump(noted, &[]);
        self.code.switch_to_block(partly);
        let ask = self.code.create_block();
        if dead == 0 {
            // What holds a value everywhere holds one in these lanes, too.
            let everywhere = of_warp!(self, I64, valid_everywhere);
            let mask = self.word(written);
            let new = self.code.ins().band_not(mask, everywhere);
            self.code.ins().brif(new, ask, &[], noted, &[]);
        } else {
            self.code.ins().jump(ask, &[]);
        }
        self.code.switch_to_block(ask);
        let (written, dead) = (self.word(written), self.word(dead));
        self.call(
            context::note_registers as *const (),
            &[written, dead],
            false,
        );
        self.code.ins().jump(noted, &[]);
        self.code.switch_to_block(noted);
    }

    pub(super) fn write_wait(&mut self, slots: u8) {
        if slots == 0 {
            return;
        }
        let open = self.code.ins().uload8(
            I32,
            MemFlagsData::trusted(),
            self.warp,
            offset_of!(Warp, slots) as i32,
        );
        let awaited = self.code.ins().band_imm_s(open, i64::from(slots));
        let (wait, waited) = (self.code.create_block(), self.code.create_block());
        self.code.ins().brif(awaited, wait, &[], waited, &[]);
        self.code.switch_to_block(wait);
        let slots = self.code.ins().iconst(I32, i64::from(slots));
        self.call(context::wait as *const (), &[slots], false);
        self.code.ins().jump(waited, &[]);
        self.code.switch_to_block(waited);
    }

    /// Lanes that could run, all 32 bits of it.
    fn candidates(&mut self) -> Value {
        let live = of_warp!(self, I16, live);
        let waiting = of_warp!(self, I16, waiting);
        let candidates = self.code.ins().band_not(live, waiting);
        self.code.ins().uextend(I32, candidates)
    }

    fn lanes(&mut self) -> Value {
        let lanes = of_warp!(self, I16, lanes);
        self.code.ins().uextend(I32, lanes)
    }

    pub(super) fn jump_to(&mut self, place: usize) {
        match self.labels.get(&place) {
            Some(label) => {
                let label = *label;
                self.code.ins().jump(label, &[]);
            }
            None => {
                self.set_pc(place);
                self.leave_with(true);
            }
        }
    }

    /// The same lanes go on at a place of the page, behind which the turn may end.
    pub(super) fn go_on(&mut self, place: usize) {
        let (over, on) = (self.code.create_block(), self.code.create_block());
        let (executed, wanted) = (field!(self, executed), field!(self, wanted));
        let enough = self
            .code
            .ins()
            .icmp(IntCC::UnsignedGreaterThanOrEqual, executed, wanted);
        self.code.ins().brif(enough, over, &[], on, &[]);
        self.code.switch_to_block(over);
        self.set_pc(place);
        self.leave_with(true);
        self.code.switch_to_block(on);
        self.jump_to(place);
    }

    /// Other lanes may go on elsewhere: where the warp is, if lanes can run and the turn is not over.
    fn go_on_elsewhere(&mut self, can_run: Value) {
        let (stop, on) = (self.code.create_block(), self.code.create_block());
        let (executed, wanted) = (field!(self, executed), field!(self, wanted));
        let less = self
            .code
            .ins()
            .icmp(IntCC::UnsignedLessThan, executed, wanted);
        let less = self.code.ins().uextend(I32, less);
        let goes_on = self.code.ins().band(can_run, less);
        let dispatch = self.dispatch;
        self.code.ins().brif(goes_on, on, &[], stop, &[]);
        self.code.switch_to_block(on);
        self.code.ins().jump(dispatch, &[]);
        self.code.switch_to_block(stop);
        self.leave_with(true);
    }

    pub(super) fn write_reconverge(&mut self, block: &Block) {
        let (candidates, lanes) = (self.candidates(), self.lanes());
        let alone = self.code.ins().icmp(IntCC::Equal, candidates, lanes);
        let (on, meet) = (self.code.create_block(), self.code.create_block());
        self.code.ins().brif(alone, on, &[], meet, &[]);
        self.code.switch_to_block(meet);
        self.set_pc(block.following());
        if let Some(can_run) = self.call(context::choose as *const (), &[], true) {
            self.go_on_elsewhere(can_run);
        }
        self.code.switch_to_block(on);
        self.go_on(block.following());
    }

    pub(super) fn write_branch(&mut self, block: &Block, holds: Option<Value>) {
        let place = block.following() - 1;
        let Some((step, holds)) = block.steps.last().zip(holds) else {
            // The model has not said what is tested: single steps go on.
            self.set_pc(place);
            self.leave_with(true);
            return;
        };
        let Does::Branch {
            if_zero, offset, ..
        } = step.does()
        else {
            self.set_pc(place);
            self.leave_with(true);
            return;
        };
        let lanes = self.lanes();
        let taken = if if_zero {
            self.code.ins().band_not(lanes, holds)
        } else {
            self.code.ins().band(lanes, holds)
        };
        self.write_wait(step.flow().waits_for());
        let candidates = self.candidates();
        let ends = step.flow().ends_thread();
        let (alone, apart) = (self.code.create_block(), self.code.create_block());
        let (all, none) = (self.code.create_block(), self.code.create_block());
        let maybe_none = self.code.create_block();
        let is_alone = self.code.ins().icmp(IntCC::Equal, candidates, lanes);
        self.code.ins().brif(is_alone, alone, &[], apart, &[]);
        self.code.switch_to_block(alone);
        let is_all = self.code.ins().icmp(IntCC::Equal, taken, lanes);
        self.code.ins().brif(is_all, all, &[], maybe_none, &[]);
        self.code.switch_to_block(maybe_none);
        if ends {
            self.code.ins().jump(apart, &[]);
        } else {
            self.code.ins().brif(taken, apart, &[], none, &[]);
            self.code.switch_to_block(none);
            self.go_on(block.following());
        }
        if ends {
            self.code.switch_to_block(none);
            self.leave_with(true);
        }
        self.code.switch_to_block(all);
        let delta = (block.following() as i64 + i64::from(offset)) * 8;
        match target(place, step).filter(|target| *target < PAGE_WORDS) {
            Some(target) => self.go_on(target),
            None => {
                let page = field!(self, page);
                of_warp!(self, pc = self.code.ins().iadd_imm_s(page, delta));
                self.leave_with(true);
            }
        }
        self.code.switch_to_block(apart);
        self.set_pc(place);
        let page = field!(self, page);
        let target = self.code.ins().iadd_imm_s(page, delta);
        let ends = self.code.ins().iconst(I32, i64::from(ends));
        let arguments = [taken, target, ends];
        if let Some(can_run) = self.call(context::branch as *const (), &arguments, true) {
            self.go_on_elsewhere(can_run);
        }
    }
}
