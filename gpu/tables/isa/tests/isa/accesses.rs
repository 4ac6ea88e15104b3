//! What instructions read and write, by their text.

use eitri_isa::row::Access;
use eitri_isa::{Arch, Instr, OperandKind, RegAccess, Syntax};

fn instr(text: &str) -> Instr {
    Instr::parse(text, Arch::V10, Syntax::Mesa24).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn shown(access: RegAccess) -> String {
    let registers: Vec<String> = access.registers.iter().map(|reg| reg.to_string()).collect();
    let mark = match access.operand {
        OperandKind::Source { last_use: true, .. } => "^",
        OperandKind::Staging => "@",
        OperandKind::Source { .. } | OperandKind::Dest => "",
    };
    format!("{mark}{}/{}", registers.join(":"), access.bits)
}

/// Reads, then writes, each with its bits; `+` if the rest of what is written is kept.
#[track_caller]
fn check(text: &str, reads: &str, writes: &str) {
    let instr = instr(text);
    let all = |accesses: &mut dyn Iterator<Item = RegAccess>| {
        accesses.map(shown).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(all(&mut instr.reads()), reads, "{text} reads");
    let kept = if instr.keeps_rest() { " +" } else { "" };
    assert_eq!(
        format!("{}{kept}", all(&mut instr.writes())),
        writes,
        "{text} writes"
    );
}

#[test]
fn arithmetic() {
    check("FADD.f32 r0, ^r1, r2.h0", "^r1/32 r2/16", "r0/32");
    check("FADD.v2f16 r0.h1, r1, 0x0", "r1/32", "r0/16 +");
    check("IADD.u64 r0, r2, r5.w0", "r2:r3/64 r5/32", "r0:r1/64");
    check("IADD.u64 r0, r2, r4.w1", "r2:r3/64 r4:r5/64", "r0:r1/64");
    check("S8_TO_S32 r0, r1.b3", "r1/8", "r0/32");
    check(
        "LSHIFT_OR.i64 r2, ^r4, r6.b00, r8",
        "^r4:r5/64 r6/8 r8:r9/64",
        "r2:r3/64",
    );
    check("BRANCHZ.eq r3, offset:1", "r3/32", "");
}

#[test]
fn messages() {
    check(
        "LOAD.i96.unsigned.slot0 @r0:r1:r2, ^r4, offset:0",
        "^r4:r5/64",
        "@r0:r1:r2/96",
    );
    check("LOAD.i8.slot0 @r0, r4, offset:0", "r4:r5/64", "@r0/8 +");
    check("LOAD.i8.w0.slot0 @r0, r4, offset:0", "r4:r5/64", "@r0/32");
    check("STORE.i64.slot0 @r2:r3, u0, offset:8", "@r2:r3/64", "");
    check(
        "ATOM_RETURN.i32.slot0.axchg.compare @r8, @r2:r3, r4, offset:0x0",
        "r4:r5/64 @r2:r3/64",
        "@r8/32",
    );
    check("ATOM1.i32.slot0.ainc r50, offset:0x0", "r50:r51/64", "");
    check("BARRIER.slot7.wait", "", "");
}

#[test]
fn natural_counts() {
    #[track_caller]
    fn check(text: &str, access: Access, expected: Option<u8>) {
        assert_eq!(instr(text).natural_count(access), expected, "{text}");
    }
    check(
        "LOAD.i48.unsigned.slot0 @r0:r1, r4, offset:0",
        Access::Write,
        Some(2),
    );
    check(
        "LOAD.i16.d0.slot0 @r0:r1, r4, offset:0",
        Access::Write,
        Some(2),
    );
    check(
        "LD_ATTR.v3.f16.slot0 @r0:r1, r4, r5, r6",
        Access::Write,
        Some(2),
    );
    check(
        "LD_ATTR.v3.f32.slot0 @r0:r1:r2, r4, r5, r6",
        Access::Write,
        Some(3),
    );
    check(
        "ATOM_RETURN.i64.slot0.axchg.compare @r8:r9, @r0:r1:r2:r3, r4, offset:0x0",
        Access::Read,
        Some(4),
    );
    check(
        "ATOM.i64.slot0.aadds @r0, r4, offset:0x0",
        Access::Read,
        Some(1),
    );
    check(
        "TEX_SINGLE.slot0.f.16.rgb.2d.zero @r0:r1, @r4:r5, u0",
        Access::Write,
        Some(2),
    );
    check(
        "TEX_SINGLE.slot0.f.16.rgb.2d.zero @r0:r1, @r4:r5, u0",
        Access::Read,
        None,
    );
    check("MOV.i32 r0, r1", Access::Read, None);
}
