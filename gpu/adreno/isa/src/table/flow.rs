//! Rows: flow (category 0).
//!
//! Facts: hardware/ir3-isa.md sections 1, 7 and 16.

use super::fields::{COMP1, COMP2, EQ, INV1, INV2, JP, REPEAT5, SS, SY, TARGET, uint};
use super::{EMPTY, ONE, category, reads};
use crate::field::Field;
use crate::layout::{Layout, OperandSpec, Wide};

/// The opcode: bits 55 to 58, and bit 49 above them.
pub(super) const fn cat0(opcode: u64) -> u64 {
    category(0) | (opcode & 0xF) << 55 | (opcode >> 4) << 49
}

/// The kind of a branch: bits 37 to 39.
pub(super) const fn branch(kind: u64) -> u64 {
    cat0(1) | kind << 37
}

const READS1: OperandSpec = reads(Field::Comp1, ONE, Wide::Full);
const READS2: OperandSpec = reads(Field::Comp2, ONE, Wide::Full);

pub(super) const PLAIN: Layout = Layout {
    text: "{SY}{SS}{EQ}{JP}{REPEAT}{NAME}",
    fields: &[TARGET, REPEAT5, SS, EQ, JP, SY],
    ignored: 0x000c_081f_0000_0000,
    ..EMPTY
};
pub(super) const CONDITION: Layout = Layout {
    text: "{SY}{SS}{EQ}{JP}{NAME} {INV1}p0.{COMP1}",
    fields: &[TARGET, REPEAT5, SS, EQ, INV1, COMP1, JP, SY],
    ignored: 0x000c_0800_0000_0000,
    operands: &[READS1],
    ..EMPTY
};
pub(super) const JUMP: Layout = Layout {
    text: "{SY}{SS}{JP}{NAME} #{IMMED}",
    fields: &[TARGET, REPEAT5, SS, EQ, JP, SY],
    ignored: 0x007c_e8ff_0000_0000,
    ..EMPTY
};
pub(super) const GETLAST: Layout = Layout {
    text: "{SY}{SS}{JP}{NAME}.w{CLUSTER_SIZE} #{IMMED}",
    fields: &[TARGET, REPEAT5, SS, EQ, uint(Field::W, 52, 54), JP, SY],
    ignored: 0x000c_e8ff_0000_0000,
    ..EMPTY
};
pub(super) const BRANCH_CONST: Layout = Layout {
    text: "{SY}{SS}{EQ}{JP}{NAME}.{INDEX} #{IMMED}",
    fields: &[TARGET, uint(Field::Index, 32, 36), REPEAT5, SS, EQ, JP, SY],
    ignored: 0x007c_e800_0000_0000,
    ..EMPTY
};
pub(super) const BRANCH_BARE: Layout = Layout {
    text: "{SY}{SS}{EQ}{JP}{NAME} #{IMMED}",
    fields: &[TARGET, REPEAT5, SS, EQ, JP, SY],
    ignored: 0x007c_e81f_0000_0000,
    ..EMPTY
};
pub(super) const BRANCH: Layout = Layout {
    text: "{SY}{SS}{EQ}{JP}{NAME} {INV1}p0.{COMP1}, #{IMMED}",
    fields: &[TARGET, REPEAT5, SS, EQ, INV1, COMP1, JP, SY],
    ignored: 0x000c_e81f_0000_0000,
    operands: &[READS1],
    ..EMPTY
};
pub(super) const BRANCH2: Layout = Layout {
    text: "{SY}{SS}{EQ}{JP}{NAME} {INV1}p0.{COMP1}, {INV2}p0.{COMP2}, #{IMMED}",
    fields: &[TARGET, REPEAT5, SS, INV2, COMP2, EQ, INV1, COMP1, JP, SY],
    ignored: 0x000c_081f_0000_0000,
    operands: &[READS1, READS2],
    ..EMPTY
};

#[rustfmt::skip]
macro_rules! flow {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest flow
            //instruction name       value      gens    layout       ? meaning
            Nop           "nop"      cat0(0x00) ALL     PLAIN        T "nothing; repeat N makes it last N+1 slots; carrier for (ss), (sy), (eq), (jp)";
            End           "end"      cat0(0x06) ALL     PLAIN        P "ends the invocation";
            Ret           "ret"      cat0(0x04) ALL     PLAIN        I "return from call; takes the address pushed by the last call";
            Emit          "emit"     cat0(0x07) ALL     PLAIN        I "geometry stage of old generations: emit vertex; not used for compute";
            Cut           "cut"      cat0(0x08) ALL     PLAIN        I "geometry stage of old generations: end primitive; not used for compute";
            Chmask        "chmask"   cat0(0x09) ALL     PLAIN        P "chained geometry stages: selects lanes for the next stage; graphics only";
            Chsh          "chsh"     cat0(0x0a) ALL     PLAIN        P "chained geometry stages: continue with the next stage shader instead of end; graphics only";
            FlowRev       "flow_rev" cat0(0x0b) ALL     PLAIN        U "unknown";
            Shpe          "shpe"     cat0(0x18) ALL     PLAIN        P "prologue end; needs (ss)(sy) so that all const writes are finished";
            Prede         "prede"    cat0(0x1f) ALL     PLAIN        I "end of predicated regions, all lanes of the region start active again";
            Kill          "kill"     cat0(0x05) ALL     CONDITION    P "lanes with condition (p0.c xor !) true stop (fragment: become helper or dead); not used in compute";
            Predt         "predt"    cat0(0x1d) ALL     CONDITION    P "start of a predicated region: lanes whose condition is true stay active, others idle until predf/prede; the next instruction carries (ss)";
            Predf         "predf"    cat0(0x1e) ALL     CONDITION    I "start of the complementary region (lanes whose condition is false); text prints the condition again";
            Jump          "jump"     cat0(0x02) ALL     JUMP         T "pc = pc + imm for all active lanes";
            Call          "call"     cat0(0x03) ALL     JUMP         I "call: pushes the next instruction and jumps to pc + imm";
            Bkt           "bkt"      cat0(0x10) ALL     JUMP         U "unknown (takes a target)";
            Getlast       "getlast"  cat0(0x14) A6XX_ON GETLAST      T "in the first 8-lane cluster that has active lanes, all active lanes but the last one jump to pc + imm; that last lane and all lanes of later clusters fall through. The cluster size field has no visible effect, encode 2 (w8)";
            Getone        "getone"   cat0(0x15) ALL     JUMP         P "one active lane (the lowest) falls through, all other active lanes jump to pc + imm";
            Shps          "shps"     cat0(0x17) ALL     JUMP         P "prologue (preamble) start: the one wave that executes the preamble falls through, all others jump to pc + imm";
            Brac          "brac"     branch(3)  ALL     BRANCH_CONST I "branch on a per-draw constant condition number INDEX (driver state); not for compute";
            Brax          "brax"     branch(6)  ALL     BRANCH_BARE  U "unknown branch form with a target only";
            Br            "br"       branch(0)  ALL     BRANCH       T "lanes with condition (p0.c xor !) true jump to pc + imm";
            Bany          "bany"     branch(4)  ALL     BRANCH       P "wave-wide: all active lanes jump if the condition is true in at least one active lane";
            Ball          "ball"     branch(5)  ALL     BRANCH       P "wave-wide: all active lanes jump if the condition is true in all active lanes";
            Brao          "brao"     branch(1)  ALL     BRANCH2      T "jump if cond1 or cond2 (each after its own inversion)";
            Braa          "braa"     branch(2)  ALL     BRANCH2      T "jump if cond1 and cond2";
        }
    };
}
pub(crate) use flow;
