//! Calls of blend shaders: two instructions behind each BLEND that may need one, which it skips where the hardware blends itself.
//!
//! Needs: final waits and flow; a BLEND that needs no call skips no instruction.  Guarantees: nothing stands between a BLEND and its call; a BLEND that ends the program has the
//! return address 0, with which a blend shader ends instead of returning.
//! Facts: hardware/compiler-abi.md 3.4 (BLEND control flow), hardware/valhall-isa.md 12.5.

use super::mir::{
    Flow, Function, Half, Instr, Modifier, Op, Operand, RETURN_ADDRESS, Register, Source, Special,
    Word,
};
use smallvec::smallvec;

/// Instructions of a call.
pub(super) const CALL: i64 = 2;
/// Bytes from the first instruction after the one that computes the return address to the one behind the call.
const BEHIND: i64 = 8;

/// Puts the calls behind all BLENDs.
pub(super) fn expand_blends(function: &mut Function) {
    for block in &mut function.blocks {
        if !block.instrs.iter().any(|instr| instr.op == Op::Blend) {
            continue;
        }
        let instrs = std::mem::take(&mut block.instrs);
        for mut instr in instrs {
            let descriptor = instr.sources.first().map(|source| source.operand);
            let ends = instr.flow == Flow::End;
            let calls = instr.op == Op::Blend && instr.immediate != Some(0);
            if let (true, Some(Operand::Special(special, _))) = (calls, descriptor) {
                instr.immediate = Some(if ends { 0 } else { CALL });
                let location = instr.location;
                block.instrs.push(instr);
                let call = call(special, ends);
                let call = call.map(|instr| Instr { location, ..instr });
                block.instrs.extend(call);
            } else {
                block.instrs.push(instr);
            }
        }
    }
}

/// Sets the return address, and goes to the blend shader.
fn call(descriptor: Special, ends: bool) -> [Instr; 2] {
    let zero = Source::plain(Operand::Table(0));
    let (from, behind) = match ends {
        true => (zero, 0),
        false => {
            let next = Operand::Special(Special::ProgramCounter, Half::Low);
            (Source::plain(next), BEHIND)
        }
    };
    let address = Register::new(RETURN_ADDRESS).map(Word::Register);
    let set = Instr {
        dests: address.into_iter().collect(),
        sources: smallvec![from],
        immediate: Some(behind),
        ..Instr::new(Op::IAddImm)
    };
    let shader = Source::plain(Operand::Special(descriptor, Half::High));
    let go = Instr {
        sources: smallvec![zero, shader],
        ..Instr::new(Op::Branchzi)
    };
    [set, go.with(Modifier::Eq).with(Modifier::Absolute)]
}
