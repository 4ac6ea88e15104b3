//! The registers of a wave.
//!
//! Facts: hardware/ir3-isa.md section 2.

use eitri_ir3_isa::{File, Gen, Reg, Width};

use crate::fault::{FaultKind, Named};
use crate::lanes::Lanes;

/// What registers hold before anybody writes them: nothing that a program should rely on.
const NEVER_WRITTEN: u32 = 0xdead_4bad;

/// The registers of a wave.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    generation: Gen,
    lanes: u32,
    footprint: u8,
    /// Full registers, those of a lane `lanes` words apart; with halves in them where the files are one.
    full: Vec<u32>,
    /// Half registers of generations where they are a file of their own.
    half: Vec<u32>,
    pub(crate) shared: [u32; Reg::SHARED as usize],
    pub(crate) predicates: [Lanes; 4],
    a0: Vec<i16>,
    a1: Vec<u16>,
}

impl Registers {
    pub(crate) fn new(generation: Gen, lanes: u32, footprint: u8) -> Self {
        let count = usize::from(Reg::NORMAL) * lanes as usize;
        Self {
            generation,
            lanes,
            footprint,
            full: vec![NEVER_WRITTEN; count],
            half: vec![NEVER_WRITTEN & 0xFFFF; if generation.merged() { 0 } else { count }],
            shared: [NEVER_WRITTEN; Reg::SHARED as usize],
            predicates: [Lanes::default(); 4],
            a0: vec![0; lanes as usize],
            a1: vec![0; lanes as usize],
        }
    }

    fn index(&self, number: u8, lane: u32) -> usize {
        usize::from(number) * self.lanes as usize + lane as usize
    }

    /// Checks that a register exists and is one that the program states.
    pub(crate) fn check(&self, reg: Reg) -> Result<(), FaultKind> {
        let named = Named(reg);
        if reg.file() == File::Unknown {
            return Err(FaultKind::Register(named));
        }
        if reg.file() != File::Normal {
            return Ok(());
        }
        let merged_half = reg.width().is_half() && self.generation.merged();
        let vec4 = reg.number() / if merged_half { 8 } else { 4 };
        if vec4 < self.footprint {
            Ok(())
        } else {
            Err(FaultKind::Footprint {
                reg: named,
                vec4: self.footprint,
            })
        }
    }

    /// The value of a register in a lane.
    pub(crate) fn get(&self, reg: Reg, lane: u32) -> Result<u32, FaultKind> {
        let number = reg.number();
        match (reg.file(), reg.width()) {
            (File::Normal, Width::Full) => Ok(self.full[self.index(number, lane)]),
            (File::Normal, Width::Half) if self.generation.merged() => {
                let full = self.full[self.index(number / 2, lane)];
                Ok(full >> (16 * u32::from(number % 2)) & 0xFFFF)
            }
            (File::Normal, Width::Half) => Ok(self.half[self.index(number, lane)]),
            (File::Shared, Width::Full) => Ok(self.shared[usize::from(number - Reg::NORMAL)]),
            // Shared registers have no half form; predicates and addresses are no sources.
            _ => Err(FaultKind::Register(Named(reg))),
        }
    }

    /// Writes a normal or address register of a lane.
    pub(crate) fn set(&mut self, reg: Reg, lane: u32, value: u32) -> Result<(), FaultKind> {
        let number = reg.number();
        let at = self.index(number % Reg::NORMAL, lane);
        match (reg.file(), reg.width()) {
            (File::Normal, Width::Full) => self.full[at] = value,
            (File::Normal, Width::Half) if self.generation.merged() => {
                let at = self.index(number / 2, lane);
                let shift = 16 * u32::from(number % 2);
                self.full[at] = self.full[at] & !(0xFFFF << shift) | (value & 0xFFFF) << shift;
            }
            (File::Normal, Width::Half) => self.half[at] = value & 0xFFFF,
            (File::Address, _) if reg.number() == Reg::A0.number() => {
                self.a0[lane as usize] = value as i16;
            }
            (File::Address, _) => self.a1[lane as usize] = value as u16,
            // What is written to r63.x is lost.
            (File::None, _) => {}
            _ => return Err(FaultKind::Register(Named(reg))),
        }
        Ok(())
    }

    /// The value of a0.x in a lane.
    pub(crate) fn a0(&self, lane: u32) -> i32 {
        i32::from(self.a0[lane as usize])
    }

    /// The register that a0.x and an offset lead to.
    pub(crate) fn relative(&self, lane: u32, offset: i32, width: Width) -> Result<Reg, FaultKind> {
        let number = self.a0(lane) + offset;
        let reg = u8::try_from(number)
            .ok()
            .and_then(|number| Reg::normal(number, width));
        reg.ok_or(FaultKind::Relative(number))
    }
}
