//! The pieces of a template that are several fields together.

use super::{Labels, Parser, is_label};
use crate::field::{FieldInfo, FieldKind};
use crate::instr::{DecodeError, EncodeError};
use crate::text::cursor::Fault;
use crate::text::error::TextFault;
use crate::text::template::Base;

/// Registers that the text names one by one.
#[derive(Clone, Copy)]
pub(super) struct Run {
    first: i128,
    /// Counted from the first.
    mask: i128,
    /// The register from which the mask of the word counts.
    pub(super) base: i128,
    /// Where the text that says so begins and ends.
    pub(super) at: (usize, usize),
}

impl<L: Labels> Parser<'_, L> {
    /// Reads `{%special}`.
    pub(super) fn special(&mut self, special: &str) -> Result<(), Fault> {
        match special {
            "regs" => self.registers(),
            "mem" => self.memory(),
            "last_reg" => {
                let start = self.cursor.at();
                let Some(last) = self.cursor.take_number(false) else {
                    return Err(self.cursor.fault(TextFault::ExpectedRegisters));
                };
                let first = self.info.field_bits("base_register", self.word, self.arch);
                self.set_named("register_count", last + 1 - i128::from(first), start)
            }
            "imm32" => self.immediate32(),
            "wait_list" => self.wait_list(),
            _ => self.target(),
        }
    }

    fn register_number(&mut self, class: &str) -> Option<i128> {
        let start = self.cursor;
        let number = self
            .cursor
            .take(class)
            .then(|| self.cursor.take_number(false));
        if number.flatten().is_none() {
            self.cursor = start;
        }
        number.flatten()
    }

    /// `r66:r67`, or `_`.
    fn registers(&mut self) -> Result<(), Fault> {
        let start = self.cursor.at();
        if self.cursor.take("_") {
            return self.set_named("mask", 0, start);
        }
        let Some(first) = self.register_number("r") else {
            return Err(self.cursor.fault(TextFault::ExpectedRegisters));
        };
        let (mut mask, mut last) = (1, first);
        while self.cursor.take(":") {
            let at = self.cursor.at();
            let Some(next) = self.register_number("r") else {
                return Err(self.cursor.fault(TextFault::ExpectedRegisters));
            };
            if next <= last || next > first + 15 {
                return Err(self.cursor.fault_since(at, TextFault::RegistersOutOfOrder));
            }
            mask |= 1 << (next - first);
            last = next;
        }
        self.run = Some(Run {
            first,
            mask,
            base: first,
            at: (start, self.cursor.at()),
        });
        Ok(())
    }

    /// Puts the registers that were named into the word, now that their base is known.
    pub(super) fn place_run(&mut self) -> Result<(), Fault> {
        let Some(Run {
            first,
            mask,
            base,
            at: (start, end),
        }) = self.run
        else {
            return Ok(());
        };
        let in_front = u32::try_from(first - base).ok().filter(|&by| by < 16);
        let moved = in_front.map(|by| mask << by).filter(|mask| mask >> 16 == 0);
        let placed = match moved {
            Some(mask) => {
                let base = self.set_named("base_register", base, start);
                base.and_then(|()| self.set_named("mask", mask, start))
            }
            None => Err(self.cursor.fault_since(start, TextFault::BaseOutOfReach)),
        };
        placed.map_err(|fault| Fault {
            at: start..end,
            ..fault
        })
    }

    /// `[d66]`, `[d66 + 8]`, `[d66 - 8]`.
    fn memory(&mut self) -> Result<(), Fault> {
        self.cursor.take_literal("[")?;
        self.cursor.skip_spaces();
        self.cursor.take_literal("d")?;
        if let Some(field) = self.info.field("address") {
            self.value(field, Base::Decimal)?;
        }
        self.cursor.skip_spaces();
        let start = self.cursor.at();
        let sign = if self.cursor.take("+") {
            Some(1)
        } else {
            self.cursor.take("-").then_some(-1)
        };
        if let Some(sign) = sign {
            self.cursor.skip_spaces();
            let Some(offset) = self.cursor.take_number(false) else {
                let field = "offset";
                return Err(self.cursor.fault(TextFault::ExpectedNumber { field }));
            };
            self.set_named("offset", sign * offset, start)?;
            self.cursor.skip_spaces();
        }
        self.cursor.take_literal("]")
    }

    /// Bits 31:0 as one number, for all the fields there.
    fn immediate32(&mut self) -> Result<(), Fault> {
        let start = self.cursor.at();
        let Some(value) = self.cursor.take_number(false) else {
            let field = "immediate";
            return Err(self.cursor.fault(TextFault::ExpectedNumber { field }));
        };
        let here = |field: &&FieldInfo| field.bits(self.arch).is_some_and(|bits| bits.high < 32);
        let mut fields = self.info.fields.iter().filter(here);
        if let (Some(only), None) = (fields.next(), fields.next())
            && (value >= 0 || only.kind == FieldKind::Signed)
        {
            return self.set(only, value, start);
        }
        // Unsigned numbers, and fields side by side, print as the signed number of the same bits.
        let signed = i32::try_from(value).map(i32::cast_unsigned);
        let Ok(bits) = u32::try_from(value).or(signed) else {
            let error = EncodeError::OutOfRange {
                instruction: self.info.name,
                field: "immediate",
                value,
                min: i32::MIN.into(),
                max: u32::MAX.into(),
            };
            let fault = TextFault::Encode(error);
            return Err(self.cursor.fault_since(start, fault));
        };
        let mut reserved = u64::from(bits);
        for field in self.info.fields {
            if let Some(place) = field.bits(self.arch).filter(|place| place.high < 32) {
                self.set(field, place.of(bits.into()).into(), start)?;
                reserved &= !place.mask();
            }
        }
        if reserved == 0 {
            return Ok(());
        }
        let fault = TextFault::Decode(DecodeError::ReservedBits {
            instruction: self.info.name,
            bits: reserved,
        });
        Err(self.cursor.fault_since(start, fault))
    }

    /// `0,1,3`, or nothing.
    fn wait_list(&mut self) -> Result<(), Fault> {
        let start = self.cursor.at();
        let mut mask = 0;
        while let Some(slot) = self.cursor.take_number(false) {
            if !(0..16).contains(&slot) {
                let field = "wait_mask";
                return Err(self
                    .cursor
                    .fault_since(start, TextFault::ExpectedNumber { field }));
            }
            mask |= 1 << slot;
            let mut probe = self.cursor;
            probe.skip_spaces();
            if !probe.take(",") {
                break;
            }
            probe.skip_spaces();
            self.cursor = probe;
        }
        self.set_named("wait_mask", mask, start)
    }

    /// `#-7`, or a label.
    fn target(&mut self) -> Result<(), Fault> {
        let start = self.cursor.at();
        if self.cursor.take("#") {
            return match self.info.field("offset") {
                Some(field) => self.value(field, Base::Decimal),
                None => Ok(()),
            };
        }
        let label = self.cursor.take_while(is_label);
        if label.is_empty() {
            return Err(self.cursor.fault(TextFault::Expected { text: "#" }));
        }
        match self.labels.offset_to(label) {
            Ok(offset) if i16::try_from(offset).is_err() => {
                let fault = TextFault::BranchTooFar { offset };
                Err(self.cursor.fault_since(start, fault))
            }
            Ok(offset) => self.set_named("offset", offset.into(), start),
            Err(fault) => Err(self.cursor.fault_since(start, fault)),
        }
    }
}
