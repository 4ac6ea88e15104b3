//! Loop inversion: a loop that tests at its top and jumps back from its bottom tests at its bottom too, and needs no jump.
//!
//! Needs: registers, no phis.  Guarantees: the test at the top is short, and is run once more by nobody: where the loop
//! jumped to it, a copy of it stands.  Never: copies a barrier.
//! Facts: hardware/compiler-optimization.md 2 (23).

use super::mir::{BlockId, Function, Instr, Message, Terminator};

/// Most instructions that are copied to save one a round.
const MOST: usize = 6;

/// Inverts loops. True when there was one.
pub(crate) fn rotate_loops(function: &mut Function) -> bool {
    let mut changed = false;
    for latch in function.block_ids() {
        let Terminator::Jump(header) = function.block(latch).terminator else {
            continue;
        };
        if header >= latch {
            continue;
        }
        let top = function.block(header);
        let copied = |instr: &Instr| {
            !matches!(instr.op.message(), Message::Barrier | Message::Fence)
                && !instr.op.is_cross_lane()
        };
        let tests = matches!(top.terminator, Terminator::Branch { .. });
        if !tests || top.instrs.len() > MOST || !top.instrs.iter().all(copied) {
            continue;
        }
        let (instrs, terminator) = (top.instrs.clone(), top.terminator.clone());
        let bottom = block_mut(function, latch);
        bottom.instrs.extend(instrs);
        bottom.terminator = terminator;
        changed = true;
    }
    changed
}

fn block_mut(function: &mut Function, id: BlockId) -> &mut super::mir::Block {
    &mut function.blocks[id.index()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotated(text: &str) -> String {
        let mut function = Function::parse(text).expect("text is MIR");
        rotate_loops(&mut function);
        function.to_string()
    }

    #[test]
    fn a_loop_tests_at_its_bottom() {
        let text = rotated(
            "b0:
              jump b1
            b1:
              r1 = ICMP_OR.u32.lt r0, u0, t0
              branch r1, b2, b3
            b2:
              r0 = IADD.u32 r0, u1
              jump b1
            b3:
              end",
        );
        assert!(
            text.ends_with(
                "b2:\n  r0 = IADD.u32 r0, u1\n  r1 = ICMP_OR.u32.lt r0, u0, t0\n  branch r1, b2, b3\nb3:\n  end\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_barrier_stays_alone() {
        let text = "b0:
              jump b1
            b1:
              BARRIER
              branch r1, b2, b3
            b2:
              jump b1
            b3:
              end";
        assert!(rotated(text).contains("b2:\n  jump b1\n"));
    }
}
