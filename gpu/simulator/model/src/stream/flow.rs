//! Control flow: branches, calls, jumps.
//!
//! Facts: hardware/command-stream.md 3.3.

use super::execute::Step;
use super::registers::NoSuchRegister;
use super::{FRAMES, Frame, Stream, exception};
use crate::diagnosis::StreamMisuse;
use crate::fabric::Fabric;
use eitri_cs::enums::Condition;
use eitri_cs::{Pair, Reg};

impl Stream {
    pub(super) fn branch(
        &mut self,
        fabric: &mut Fabric,
        word: u64,
        condition: Condition,
        value: Reg,
        offset: i16,
    ) -> Result<Step, NoSuchRegister> {
        let value = match condition {
            Condition::Always => 0,
            _ => self.read32(fabric, word, value)? as i32,
        };
        let taken = match condition {
            Condition::LessEqual => value <= 0,
            Condition::Greater => value > 0,
            Condition::Equal => value == 0,
            Condition::NotEqual => value != 0,
            Condition::Less => value < 0,
            Condition::GreaterEqual => value >= 0,
            Condition::Always => true,
        };
        if !taken {
            return Ok(Step::Done);
        }
        let distance = i64::from(offset) + 1;
        let target = match self.frames.last() {
            Some(frame) => {
                let target = frame.next.wrapping_add_signed(8 * distance);
                (frame.start..=frame.end)
                    .contains(&target)
                    .then_some(target)
            }
            None => self.ring.jumped(self.ring.position, distance),
        };
        let Some(target) = target else {
            let target = self.address().wrapping_add_signed(8 * distance);
            self.report(fabric, word, StreamMisuse::BranchOutside { target });
            return Ok(Step::Fatal(exception::CS_INSTR_INVALID));
        };
        match self.frames.last_mut() {
            Some(frame) => frame.next = target,
            None => self.ring.position = target,
        }
        Ok(Step::Moved)
    }

    pub(super) fn call(
        &mut self,
        fabric: &mut Fabric,
        word: u64,
        address: Pair,
        length: Reg,
        push: bool,
    ) -> Result<Step, NoSuchRegister> {
        let start = self.read64(fabric, word, address)?;
        let length = u64::from(self.read32(fabric, word, length)?);
        if !start.is_multiple_of(64) || !length.is_multiple_of(8) {
            let misuse = StreamMisuse::BufferAlignment {
                address: start,
                length,
            };
            self.report(fabric, word, misuse);
            if !start.is_multiple_of(8) || !length.is_multiple_of(8) {
                return Ok(Step::Fatal(exception::CS_INSTR_INVALID));
            }
        }
        let frame = Frame {
            start,
            next: start,
            end: start.saturating_add(length),
        };
        self.complete_link();
        if push {
            // An exception handler has the full depth again.
            let below = self.handler_depth.unwrap_or(0);
            if self.frames.len() - below.min(self.frames.len()) + 1 >= FRAMES {
                self.report(fabric, word, StreamMisuse::CallStackOverflow);
                return Ok(Step::Fatal(exception::CS_CALL_STACK_OVERFLOW));
            }
            self.advance();
            self.frames.push(frame);
            return Ok(Step::Moved);
        }
        match self.frames.last_mut() {
            Some(current) => {
                *current = frame;
                Ok(Step::Moved)
            }
            None => {
                self.report(fabric, word, StreamMisuse::JumpInRing);
                Ok(Step::Fatal(exception::CS_INSTR_INVALID))
            }
        }
    }
}
