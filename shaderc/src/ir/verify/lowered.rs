//! The lowered form: what a back end takes, on top of what every function must be.

use super::{At, Rule, Verifier, Violation, verify};
use crate::ir::block::Terminator;
use crate::ir::inst::{Access, Held, Inst, Op};
use crate::ir::{Alu, Function, Level, Output, PositionSpace, Stage, Type};
use crate::target::Target;

/// Checks that a function is in the lowered form for a target, on top of [`verify`].
///
/// # Errors
/// All violations, in layout order.
pub fn lowered(function: &Function, target: &Target) -> Result<(), Vec<Violation>> {
    verify(function)?;
    let mut verifier = Verifier::new(function);
    verifier.check_lowered(target);
    verifier.finish()
}

impl Verifier<'_> {
    fn check_lowered(&mut self, target: &Target) {
        let function = self.function;
        for block in &function.layout {
            self.block = Some(*block);
            for phi in &function.block(*block).phis {
                if !is_lowered(function.ty(phi.result), target) {
                    self.at = At::Phi(phi.result);
                    self.report(Rule::NotLowered);
                }
            }
            for inst in &function.block(*block).insts {
                self.at = At::Inst(*inst);
                self.check_lowered_inst(*inst, target);
            }
            let terminator = &function.block(*block).terminator;
            self.at = At::Terminator(*block);
            if matches!(terminator, Terminator::Switch { .. }) {
                self.report(Rule::NotLowered);
            }
            let targets = terminator.targets();
            for target in &targets {
                if targets.len() > 1 && self.cfg.predecessors(*target).len() > 1 {
                    self.report(Rule::CriticalEdge(*target));
                }
            }
            self.at = At::Block;
        }
    }

    fn check_lowered_inst(&mut self, inst: Inst, target: &Target) {
        let function = self.function;
        let data = function.inst(inst);
        // Words of 64 bits are only put together and taken apart, and read by accesses.
        let values = || data.args.iter().chain(&data.results);
        let plain = || values().all(|value| is_lowered(function.ty(*value), target));
        let has_half = values().any(|value| function.ty(*value) == Type::W16);
        let low = match data.op {
            Op::Alu(alu) if function.width(data) == Type::W64 || alu == Alu::Pack64 => {
                target.has(alu, Type::W64)
            }
            Op::Alu(alu) if has_half => target.has(alu, Type::W16) && plain(),
            Op::Alu(alu) => alu.level() == Level::Low && plain(),
            Op::LoadVar(_) | Op::StoreVar(_) => false,
            Op::Load(access) | Op::Store(access) => {
                let held = access.held != Held::Own || target.has_access(access.space, access.elem);
                aligned(access) && held
            }
            Op::Atomic(_, access) => aligned(access),
            Op::Lanes(_) | Op::Ballot(_) | Op::Scan(..) => plain(),
            Op::StoreOutput(Output::Position) => match function.stage {
                Stage::Vertex(vertex) => vertex.position == PositionSpace::Window,
                Stage::Compute | Stage::Fragment(_) => false,
            },
            Op::LoadVarying(varying) => !varying.noperspective,
            Op::SysVal(_)
            | Op::Uniform(_)
            | Op::LoadAttribute(_)
            | Op::FragW(_)
            | Op::LoadTile(_)
            | Op::StoreOutput(_)
            | Op::Demote
            | Op::Resource(_)
            | Op::BufferSize
            | Op::Image(_)
            | Op::Barrier
            | Op::Fence(_) => true,
        };
        if !low {
            self.report(Rule::NotLowered);
        }
        if let Op::Alu(alu) = data.op
            && alu.commutes()
            && function.as_bits(data.args[0]).is_some()
            && function.as_bits(data.args[1]).is_none()
        {
            self.report(Rule::ConstantFirst);
        }
    }
}

/// Whether the lowered form has values of that type beside those of 64 bits.
fn is_lowered(ty: Type, target: &Target) -> bool {
    match ty {
        Type::Bool | Type::W32 | Type::Resource => true,
        Type::W16 => target.has_halves(),
        Type::W8 | Type::W64 => false,
    }
}

/// Whether the lowered form allows an access of that size and alignment. Small elements that words hold come one by one.
pub fn aligned(access: Access) -> bool {
    let small = access.held != Held::Own || access.elem == Type::W8;
    u32::from(access.align) >= access.bytes().next_power_of_two() && (!small || access.count == 1)
}
