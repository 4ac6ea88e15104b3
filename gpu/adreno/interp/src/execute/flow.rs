//! Flow and barriers (categories 0 and 7).
//!
//! Facts: hardware/ir3-isa.md sections 7, 13 and 16.

use eitri_ir3_isa::{Field, Op};

use super::{Flow, Step};
use crate::fault::FaultKind;
use crate::lanes::Lanes;

/// Lanes of a cluster, as `getlast` has them.
const CLUSTER: u32 = 8;

impl Step<'_> {
    pub(super) fn flow(&mut self) -> Result<Flow, FaultKind> {
        let offset = self.instr.target().unwrap_or(0);
        let active = self.lanes;
        let all_if = |condition: bool| if condition { active } else { Lanes::default() };
        let first = self.condition(Field::Comp1, Field::Inv1);
        let second = self.condition(Field::Comp2, Field::Inv2);
        let taken = match self.instr.op() {
            Op::Nop => return Ok(Flow::Next),
            Op::End => return Ok(Flow::End),
            Op::Jump => active,
            Op::Br => first,
            Op::Bany => all_if(!first.is_empty()),
            Op::Ball => all_if(first == active),
            Op::Brao => first.with(second),
            Op::Braa => first.and(second),
            Op::Getone => active.without(Lanes::one(active.lowest())),
            Op::Getlast => {
                // The first cluster that has active lanes: all of them but the last one jump.
                let start = active.lowest() / CLUSTER * CLUSTER;
                let cluster = active.and(Lanes(0xFF << start));
                let last = 127 - cluster.0.leading_zeros();
                cluster.without(Lanes::one(last))
            }
            Op::Call | Op::Ret => return Err(FaultKind::NotModelled("calls")),
            Op::Shps | Op::Shpe => return Err(FaultKind::NotModelled("a preamble")),
            Op::Predt | Op::Predf | Op::Prede => {
                return Err(FaultKind::NotModelled("predicated regions"));
            }
            Op::Kill | Op::Emit | Op::Cut | Op::Chmask | Op::Chsh | Op::Brac => {
                return Err(FaultKind::NotModelled("what only graphics uses"));
            }
            _ => return Err(FaultKind::Unknown("this kind of flow")),
        };
        Ok(Flow::Branch { taken, offset })
    }

    /// The active lanes for which a condition of a branch holds.
    fn condition(&self, comp: Field, invert: Field) -> Lanes {
        let comp = self.instr.bits(comp).unwrap_or(0) as usize;
        let set = self.wave.registers.predicates[comp & 3];
        if self.instr.flag(invert) {
            self.lanes.without(set)
        } else {
            self.lanes.and(set)
        }
    }

    /// Barriers wait; everything else of category 7 is about caches, which memory here has none of.
    pub(super) fn barrier(&mut self) -> Result<Flow, FaultKind> {
        match self.instr.op() {
            Op::Bar => Ok(Flow::Barrier),
            Op::Alias => Err(FaultKind::NotModelled("aliases")),
            _ => Ok(Flow::Next),
        }
    }
}
