//! Exchange between lanes (category 5; `texture` has the rest).
//!
//! Facts: hardware/ir3-isa.md sections 13 and 16.

use eitri_ir3_isa::{Field, Op, Type};

use super::Step;
use crate::fault::FaultKind;
use crate::number;

impl Step<'_> {
    pub(super) fn quad(&mut self) -> Result<(), FaultKind> {
        match self.instr.op() {
            // Memory has no caches here.
            Op::Tcinv => Ok(()),
            Op::QuadShuffleBrcst
            | Op::QuadShuffleHoriz
            | Op::QuadShuffleVert
            | Op::QuadShuffleDiag => self.shuffle(),
            Op::BrcstActive => self.broadcast(),
            _ => self.texture(),
        }
    }

    /// The components that are written: which register of the destination each goes to.
    pub(super) fn components(&self) -> Vec<u32> {
        let mask = self.instr.bits(Field::WrMask).unwrap_or(0);
        (0..4)
            .filter(|component| mask >> component & 1 != 0)
            .collect()
    }

    /// Moves values between lanes: `from` says where a lane's comes from, if it comes from anywhere.
    fn exchange(
        &mut self,
        from: impl Fn(&Self, u32) -> Result<Option<u32>, FaultKind>,
    ) -> Result<(), FaultKind> {
        let (dst, src) = (self.register(Field::Dst)?, self.register(Field::Src1)?);
        let ty = self.instr.type_of(Field::Type).unwrap_or(Type::U32);
        let components = self.components();
        let mut results = Vec::new();
        self.each_lane(|step, lane| {
            let Some(other) = from(step, lane)? else {
                return Ok(());
            };
            for component in &components {
                let value = step.element(src, *component, other)?;
                results.push((lane, *component, number::truncate(value, ty.width())));
            }
            Ok(())
        })?;
        for (lane, component, value) in results {
            self.set_element(dst, component, lane, value)?;
        }
        Ok(())
    }

    fn shuffle(&mut self) -> Result<(), FaultKind> {
        let op = self.instr.op();
        let active = self.lanes;
        self.exchange(|step, lane| {
            let other = match op {
                Op::QuadShuffleHoriz => lane ^ 1,
                Op::QuadShuffleVert => lane ^ 2,
                Op::QuadShuffleDiag => lane ^ 3,
                _ => {
                    let index = step.element(step.register(Field::Src2)?, 0, lane)?;
                    lane & !3 | index & 3
                }
            };
            if active.has(other) {
                Ok(Some(other))
            } else {
                Err(FaultKind::Unknown("the value of an inactive lane"))
            }
        })
    }

    /// In each cluster the upper half gets the value of the highest active lane of the lower half.
    fn broadcast(&mut self) -> Result<(), FaultKind> {
        let active = self.lanes;
        let cluster = self.instr.number(Field::ClusterSize).unwrap_or(2) as u32;
        self.exchange(|_, lane| {
            let half = cluster / 2;
            if lane % cluster < half {
                return Ok(None);
            }
            let start = lane / cluster * cluster;
            Ok((start..start + half).rev().find(|other| active.has(*other)))
        })
    }
}
