//! The check of an instruction before it is executed: flags, slots, and registers that exist.
//!
//! Facts: hardware/ir3-isa.md sections 6, 8 and 9.

use eitri_ir3_isa::{Access, Gen, Instr, Op, Place, Reg};

use crate::fault::FaultKind;
use crate::hazards::{Hazards, Reader, SharedHazards, is_read, registers};
use crate::wave::Wave;

/// A fault, and the lane if it is about one.
type Found = (Option<u32>, FaultKind);

/// One operand in one step of an instruction that is checked.
struct Check<'a> {
    instr: &'a Instr,
    pc: u32,
    generation: Gen,
    access: Access,
    step: u8,
}

impl Wave {
    /// Checks flags, slots and registers of the instruction that the running group is at, and notes what it writes.
    pub(crate) fn check(&mut self, instr: &Instr, generation: Gen) -> Result<(), Found> {
        let Wave {
            groups,
            registers: file,
            shared_hazards: shared,
            ..
        } = self;
        let Some(group) = groups.last_mut() else {
            return Ok(());
        };
        let (pc, lanes) = (group.pc, group.lanes);
        let hazards = &mut group.hazards;
        hazards.wait(shared, instr).map_err(|kind| (None, kind))?;
        for (step, access) in order(instr) {
            let check = Check {
                instr,
                pc,
                generation,
                access,
                step,
            };
            for reg in touched(instr, &access, step) {
                let checked = file
                    .check(reg)
                    .and_then(|()| check.register(hazards, shared, reg));
                checked.map_err(|kind| (None, kind))?;
            }
            let Place::Relative { width } = access.place else {
                continue;
            };
            // Each lane may mean another register.
            let advance = if access.advances { i32::from(step) } else { 0 };
            let offset = crate::execute::relative_offset(instr, &access) + advance;
            for lane in lanes.iter() {
                let of_lane = |kind| (Some(lane), kind);
                let reg = file.relative(lane, offset, width).map_err(of_lane)?;
                file.check(reg).map_err(of_lane)?;
                check.register(hazards, shared, reg).map_err(of_lane)?;
            }
        }
        if instr.holds_sources() {
            for access in instr.reads() {
                for reg in registers(&access, 0) {
                    hazards.holds(shared, reg, pc);
                }
            }
        }
        Ok(())
    }
}

impl Check<'_> {
    /// Checks that the register may be read or written now; notes that it is written.
    fn register(
        &self,
        hazards: &mut Hazards,
        shared: &mut SharedHazards,
        reg: Reg,
    ) -> Result<(), FaultKind> {
        if is_read(&self.access) {
            let reader = Reader {
                consumer: self.instr.consumer(self.access.field),
                step: self.step,
                relative: matches!(self.access.place, Place::Relative { .. }),
                arithmetic: matches!(self.instr.category(), 1..=3),
            };
            return hazards.read(shared, reg, reader, self.generation);
        }
        hazards.may_write(shared, reg, self.generation)?;
        let by = (self.instr, &self.access, self.pc);
        hazards.wrote(shared, reg, self.step, by, self.generation);
        Ok(())
    }
}

/// The operands of an instruction in the order in which they are read and written, with their steps: a step reads before it
/// writes; multiple moves read everything before they write anything.
fn order(instr: &Instr) -> Vec<(u8, Access)> {
    let steps = 0..instr.steps();
    let accesses: Vec<Access> = instr.reads().chain(instr.writes()).collect();
    let multiple = matches!(instr.op(), Op::Swz | Op::Gat | Op::Sct);
    if multiple {
        let of_access = |access: &Access| {
            let access = *access;
            steps.clone().map(move |step| (step, access))
        };
        accesses.iter().flat_map(of_access).collect()
    } else {
        let in_step = |step| accesses.iter().map(move |access| (step, *access));
        steps.flat_map(in_step).collect()
    }
}

/// The registers of an operand that a step of the instruction touches.
fn touched(instr: &Instr, access: &Access, step: u8) -> impl Iterator<Item = Reg> + use<> {
    let multiple = matches!(instr.op(), Op::Swz | Op::Gat | Op::Sct | Op::Movmsk);
    let first = instr.first_step(access.field);
    let regs = registers(access, step).enumerate();
    // Multiple moves and masks touch one register of each side in a step.
    regs.filter(move |(index, _)| !multiple || first as usize + index == usize::from(step))
        .map(|(_, reg)| reg)
}
