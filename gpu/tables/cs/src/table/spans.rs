//! A word from its highest bit to its lowest: for bit diagrams and documentation.

use super::{Info, SubOpcode};
use crate::arch::Arch;
use crate::field::FieldInfo;

/// Neighbouring bits of a word that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The highest bit.
    pub high: u8,
    /// The lowest bit.
    pub low: u8,
    /// What they are.
    pub what: SpanKind,
}

/// What bits of a word are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// The opcode.
    Opcode(u8),
    /// The second opcode.
    SubOpcode(SubOpcode),
    /// A field.
    Field(&'static FieldInfo),
    /// Reserved: written 0.
    Reserved,
}

impl Info {
    /// The spans of the word on `arch`, from bit 63 down to bit 0; none is missing.
    pub fn spans(&'static self, arch: Arch) -> impl Iterator<Item = Span> {
        let mut next = Some(63);
        core::iter::from_fn(move || {
            let high = next?;
            let span = self.span_at(high, arch);
            next = span.low.checked_sub(1);
            Some(span)
        })
    }

    /// The span whose highest bit is `high`.
    fn span_at(&'static self, high: u8, arch: Arch) -> Span {
        self.span_from(high, arch).unwrap_or_else(|| {
            let begins = |&bit: &u8| self.span_from(bit, arch).is_some();
            let low = (0..high).rev().find(begins).map_or(0, |bit| bit + 1);
            let what = SpanKind::Reserved;
            Span { high, low, what }
        })
    }

    fn span_from(&'static self, high: u8, arch: Arch) -> Option<Span> {
        if high == 63 {
            return Some(Span {
                high,
                low: 56,
                what: SpanKind::Opcode(self.opcode),
            });
        }
        if let Some(sub) = self.sub_opcode.filter(|_| arch >= Arch::V13)
            && sub.high == high
        {
            return Some(Span {
                high,
                low: sub.low,
                what: SpanKind::SubOpcode(sub),
            });
        }
        let at = |field: &'static FieldInfo| Some((field, field.bits(arch)?));
        let mut fields = self.fields.iter().filter_map(at);
        let (field, bits) = fields.find(|(_, bits)| bits.high == high)?;
        Some(Span {
            high,
            low: bits.low,
            what: SpanKind::Field(field),
        })
    }

    /// The instruction that is called `name` on `arch`, in any case: by its name, or by the word that opens its text.
    pub fn named(name: &str, arch: Arch) -> Option<&'static Info> {
        let is_it = |info: &&&Info| {
            let names = [info.name, info.mnemonic(arch)];
            info.archs.contains(arch) && names.iter().any(|n| n.eq_ignore_ascii_case(name))
        };
        crate::instr::INSTRUCTIONS.iter().find(is_it).copied()
    }
}
