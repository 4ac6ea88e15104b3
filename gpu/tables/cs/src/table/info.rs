//! What the tables say of one instruction.
//!
//! Facts: hardware/command-stream.md 1.6 (timing), 1.11 (resources), 2, 3.

use core::fmt;
use core::ops::BitOr;

use crate::arch::{Arch, ArchSet};
use crate::field::{FieldInfo, Sentence};
use crate::staging::StagingMap;

/// What an instruction is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// Nothing.
    NoOp,
    /// Loading registers with constants.
    Move,
    /// Computing in registers.
    Arithmetic,
    /// Memory to registers and back.
    Memory,
    /// Where the stream goes on.
    ControlFlow,
    /// Scoreboard slots and the stream's state.
    Scoreboard,
    /// Sync objects in memory.
    Sync,
    /// Work for shader cores and tiler.
    Job,
    /// Which hardware the stream holds.
    Resource,
    /// Caches.
    Cache,
    /// The tiler heap.
    Heap,
    /// Progress values.
    Progress,
    /// Tracing.
    Trace,
}

/// When an instruction is done, and where it is counted until then (hardware/command-stream.md 1.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timing {
    /// Finished before the next one starts.
    Inline,
    /// Stops the stream until its condition holds.
    Blocking,
    /// Always asynchronous, counted on the selected endpoint slot.
    Endpoint,
    /// Always asynchronous, counted on the selected other slot.
    Other,
    /// Always asynchronous, counted on `signal_slot` (DEFER_INDIRECT: on SB_SEL_DEFERRED).
    SignalSlot,
    /// In line when `wait_mask` is 0 and it is not DEFER_INDIRECT, else as `SignalSlot` (1.8).
    Deferrable,
    /// As `Deferrable`, without a slot of its own: it counts up the group's shared counter `shared_entry`.
    DeferrableShared,
}

/// A set of the hardware that a stream must hold to run jobs, with the bits of REQ_RESOURCE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Resources(u8);

impl Resources {
    /// Nothing.
    pub const NONE: Resources = Resources(0);
    /// Compute endpoints.
    pub const COMPUTE: Resources = Resources(1);
    /// Fragment endpoints.
    pub const FRAGMENT: Resources = Resources(1 << 1);
    /// The tiler.
    pub const TILER: Resources = Resources(1 << 2);
    /// Index-driven vertex shading.
    pub const IDVS: Resources = Resources(1 << 3);
    /// Ray tracing (v11 and later).
    pub const RAY_TRACING: Resources = Resources(1 << 4);

    /// The bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all of `other` is in this set.
    pub const fn contains(self, other: Resources) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Resources {
    type Output = Resources;

    fn bitor(self, other: Resources) -> Resources {
        Resources(self.0 | other.0)
    }
}

/// A second opcode: bits that tell apart the instructions of one opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubOpcode {
    /// The opcode that they share.
    pub group: SubGroup,
    /// The highest bit.
    pub high: u8,
    /// The lowest bit.
    pub low: u8,
    /// What they hold.
    pub value: u8,
}

impl SubOpcode {
    const fn of(&self, word: u64) -> u64 {
        word >> self.low & (u64::MAX >> (63 - (self.high - self.low)))
    }

    const fn mask(&self) -> u64 {
        (u64::MAX >> (63 - (self.high - self.low))) << self.low
    }
}

/// An opcode that several instructions share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubGroup {
    /// Arithmetic of 32 bits with a constant.
    Imm32,
    /// Arithmetic of 64 bits with a constant.
    Imm64,
    /// Arithmetic of 32 bits with a register.
    Reg32,
    /// Arithmetic of 64 bits with a register.
    Reg64,
}

impl SubGroup {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            SubGroup::Imm32 => "ARITH_IMM32",
            SubGroup::Imm64 => "ARITH_IMM64",
            SubGroup::Reg32 => "ARITH_REG32",
            SubGroup::Reg64 => "ARITH_REG64",
        }
    }
}

/// The templates of an instruction's text; `text::template` says how they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// As Mesa 26 prints it.
    pub mesa26: Sentence,
    /// As Mesa 26 prints it on some architectures, where that differs.
    pub mesa26_on: Option<(ArchSet, Sentence)>,
    /// As Mesa 24.1 prints it, where that differs.
    pub mesa24: Option<Sentence>,
    /// Whether Mesa 26 prints it as unknown.
    pub unknown_to_mesa26: bool,
}

/// An instruction: one row of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Its name.
    pub name: &'static str,
    /// Bits 63:56.
    pub opcode: u8,
    /// Bits that tell it from others of the same opcode (v13 only: before, they are reserved and 0).
    pub sub_opcode: Option<SubOpcode>,
    /// Where it exists.
    pub archs: ArchSet,
    /// What it is about.
    pub category: Category,
    /// When it is done.
    pub timing: Timing,
    /// What the stream must hold to run it.
    pub needs: Resources,
    /// The registers that the hardware reads beside those in fields.
    pub staging: Option<StagingMap>,
    /// Its fields.
    pub fields: &'static [FieldInfo],
    /// Its text.
    pub text: Text,
    /// What it does.
    pub note: Sentence,
}

impl Info {
    #[allow(clippy::too_many_arguments)] // called by the table macro only, with the columns of a row
    pub(crate) const fn new(
        name: &'static str,
        note: &'static str,
        opcode: u8,
        archs: ArchSet,
        category: Category,
        timing: Timing,
        fields: &'static [FieldInfo],
        text: &'static str,
    ) -> Info {
        Info {
            name,
            opcode,
            sub_opcode: None,
            archs,
            category,
            timing,
            needs: Resources::NONE,
            staging: None,
            fields,
            text: Text {
                mesa26: Sentence::new(text),
                mesa26_on: None,
                mesa24: None,
                unknown_to_mesa26: false,
            },
            note: Sentence::new(note),
        }
    }

    const fn sub(mut self, group: SubGroup, high: u8, low: u8, value: u8) -> Info {
        self.sub_opcode = Some(SubOpcode {
            group,
            high,
            low,
            value,
        });
        self
    }

    pub(crate) const fn arith_imm32(self, value: u8) -> Info {
        self.sub(SubGroup::Imm32, 39, 32, value)
    }

    pub(crate) const fn arith_imm64(self, value: u8) -> Info {
        self.sub(SubGroup::Imm64, 39, 32, value)
    }

    pub(crate) const fn arith_reg32(self, value: u8) -> Info {
        self.sub(SubGroup::Reg32, 31, 24, value)
    }

    pub(crate) const fn arith_reg64(self, value: u8) -> Info {
        self.sub(SubGroup::Reg64, 31, 24, value)
    }

    pub(crate) const fn needs(mut self, resources: Resources) -> Info {
        self.needs = resources;
        self
    }

    pub(crate) const fn stages(mut self, map: StagingMap) -> Info {
        self.staging = Some(map);
        self
    }

    pub(crate) const fn text_on(mut self, archs: ArchSet, text: &'static str) -> Info {
        self.text.mesa26_on = Some((archs, Sentence::new(text)));
        self
    }

    pub(crate) const fn text24(mut self, text: &'static str) -> Info {
        self.text.mesa24 = Some(Sentence::new(text));
        self
    }

    pub(crate) const fn unknown_to_mesa26(mut self) -> Info {
        self.text.unknown_to_mesa26 = true;
        self
    }

    /// Whether `word` is this instruction on `arch`, reserved bits and field values aside.
    #[inline]
    pub const fn selects(&self, word: u64, arch: Arch) -> bool {
        let sub_matches = match &self.sub_opcode {
            Some(sub) if matches!(arch, Arch::V13) => sub.of(word) == sub.value as u64,
            _ => true,
        };
        word >> 56 == self.opcode as u64 && sub_matches && self.archs.contains(arch)
    }

    /// The bits that no field of `arch` can change: opcode and second opcode.
    pub const fn fixed_bits(&self) -> u64 {
        let sub = match &self.sub_opcode {
            Some(sub) => (sub.value as u64) << sub.low,
            None => 0,
        };
        (self.opcode as u64) << 56 | sub
    }

    /// The bits of a word that mean something on `arch`; the others are reserved, and written 0.
    pub const fn defined_bits(&self, arch: Arch) -> u64 {
        let mut defined = 0xff << 56;
        if let (Some(sub), Arch::V13) = (&self.sub_opcode, arch) {
            defined |= sub.mask();
        }
        let mut i = 0;
        while i < self.fields.len() {
            if let Some(bits) = self.fields[i].bits(arch) {
                defined |= bits.mask();
            }
            i += 1;
        }
        defined
    }

    /// The field called `name`.
    pub fn field(&self, name: &str) -> Option<&'static FieldInfo> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The word that opens its text on `arch`: its name, but for ADD_IMMEDIATE32 and ADD_IMMEDIATE64 before v13.
    pub fn mnemonic(&self, arch: Arch) -> &'static str {
        let text = match self.text.mesa26_on {
            Some((archs, text)) if archs.contains(arch) => text,
            _ => self.text.mesa26,
        };
        let text = text.text();
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        &text[..end.unwrap_or(text.len())]
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
