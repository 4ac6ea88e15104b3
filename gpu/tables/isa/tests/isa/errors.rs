//! Errors: each is provoked, and its message and the text that it points at are held as a person sees them.

use eitri_isa::values::{AtomicOp, Clamp, Condition, RoundMode, Slot};
use eitri_isa::{Arch, Dest, Flag, ImmId, Instr, Mask, Op, Reg, RegRange, Select, Src, Syntax};

/// The line, marks under what the error points at, and the message.
fn refusal(line: &str, arch: Arch, syntax: Syntax) -> String {
    match Instr::assemble(line, arch, syntax) {
        Ok(word) => format!("assembles to {word:016x}"),
        Err(error) => format!("{}: {error}", &line[error.span.start..error.span.end]),
    }
}

#[track_caller]
fn refused(line: &str, expected: &str) {
    assert_eq!(refusal(line, Arch::V10, Syntax::Mesa24), expected, "{line}");
}

#[track_caller]
fn refused26(line: &str, expected: &str) {
    assert_eq!(refusal(line, Arch::V10, Syntax::Mesa26), expected, "{line}");
}

#[test]
fn heads() {
    refused("", ": no instruction");
    refused("BRANCH #0", "BRANCH: no instruction of this name");
    refused(
        "TEX.computed.2d.slot0 @r2, @r4:r5:r6:r7",
        "TEX: no instruction of this name",
    );
    refused("FADD.f32x r0, r1, r2", "FADD: no instruction of this name");
    refused(
        "FROUND.f32.rtn.clamp_m1_1 r2, r2.neg",
        "clamp_m1_1: not a modifier of this instruction",
    );
    refused(
        "FADD.f32. r0, r1, r2",
        ": not a modifier of this instruction",
    );
    refused(
        "MOV.i32.wait01.return r0, r1",
        "return: not a modifier of this instruction",
    );
    refused(
        "MOV.i32.wait01.end r0, r1",
        "end: flow control is given twice",
    );
    refused("MOV.i32.end.end r0, r1", "end: flow control is given twice");
    refused(
        "FADD.f32.clamp_0_1.clamp_0_1 r0, r1, r2",
        "clamp_0_1: modifier clamp is given twice",
    );
    refused(
        "FADD.f32.clamp_0_1.clamp_0_inf r0, r1, r2",
        "clamp_0_inf: modifier clamp is given twice",
    );
    refused(
        "RSHIFT_OR.i32.signed.signed r0, r1, r2.b00, r3",
        "signed: modifier signed is given twice",
    );
    refused(
        "LOAD.i32.unsigned @r0, r2, offset:0",
        "LOAD.i32.unsigned: modifier slot is missing",
    );
    refused(
        "CSEL.u32.gtlt r0, r1, r2, r3, r4",
        "gtlt: not a modifier of this instruction",
    );
    refused(
        "ICMP_OR.u32.ne.u1 r0, r1, r2, r3",
        "u1: not a modifier of this instruction",
    );
    refused(
        "MOV.i32.wait_resource r0, r1",
        "assembles to 6091c00000000001",
    );
    refused(
        "MOV.i32.continue r0, r1",
        "MOV.i32.continue: flow control has no value 14 on v10",
    );
    refused(
        "AND_IMM.i32 r0, r1, #0x1",
        "AND_IMM.i32: AND_IMM.i32 exists on v11-v14, not on v10",
    );
    refused("DOORBELL ", "assembles to 0004c00000000000");
}

#[test]
fn operands() {
    refused(
        "FADD.f32 r0, r1",
        "FADD.f32 r0, r1: 3 operand(s) expected, 2 found",
    );
    refused(
        "FADD.f32 r0, r1, r2, r3",
        "r3: 3 operand(s) expected, 4 found",
    );
    refused("NOP r0", "r0: 0 operand(s) expected, 1 found");
    refused("FADD.f32 r0,, r1, r2,", "assembles to 00a4c00000000201");
    refused(
        "MOV.i32 r64, r1",
        "r64: a register, or a half of one such as r0.h0, expected",
    );
    refused(
        "MOV.i32 r0.h2, r1",
        "h2: a register, or a half of one such as r0.h0, expected",
    );
    refused(
        "MOV.i32 r0.h01, r1",
        "h01: a register, or a half of one such as r0.h0, expected",
    );
    refused(
        "MOV.i32 u0, r1",
        "u0: a register, or a half of one such as r0.h0, expected",
    );
    refused("MOV.i32 r0, r64", "r64: a register, r0 to r63, expected");
    refused("MOV.i32 r0, u256", "u256: a uniform expected");
    refused(
        "MOV.i32 r0, `r1",
        "`r1: a register, uniform, constant or special value expected",
    );
    refused(
        "IADD.u32 r0, tls_ptr, wls_ptr",
        "tls_ptr: a register, uniform, constant or special value expected",
    );
    refused(
        "MOV.i32 r0, 0x12345678",
        "0x12345678: 0x12345678 is not in the constant table",
    );
    refused(
        "MOV.i32 r0, i__32",
        "i__32: a register, uniform, constant or special value expected",
    );
    refused("MOV.i32 r0, i__21", "assembles to 0091c000000000d5");
    refused(
        "FADD.v2f16 r0, r1, r0.h0",
        "h0: not a modifier of this source",
    );
    refused("MOV.i32 r0, r1.neg", "neg: not a modifier of this source");
    refused("MOV.i32 r0, r1.", ": not a modifier of this source");
    refused(
        "FADD.f32 r0, r1.h0.h1, r2",
        "h1: this source is modified twice in the same way",
    );
    refused(
        "FADD.f32 r0, r1.neg.neg, r2",
        "neg: this source is modified twice in the same way",
    );
    refused(
        "S8_TO_S32 r0, r1",
        "r1: this source must say which lanes it reads: byte",
    );
    refused(
        "LSHIFT_OR.i32 r0, r1, r2, r3",
        "r2: this source must say which lanes it reads: shift amount",
    );
    refused("IADD_IMM.i32 r0, r1, 0x5", "0x5: #value expected");
    refused(
        "LOAD.i32.slot0 @r0, r2, index:0",
        "index:0: offset:value expected",
    );
    refused(
        "LOAD.i32.slot0 @r0, r2, offset:32768",
        "32768: 32768 is outside -32768..=32767",
    );
    refused(
        "LOAD.i32.slot0 @r0, r2, offset:four",
        "four: a number (decimal, 0x, 0o or 0b) expected",
    );
    refused(
        "IADD_IMM.i32 r0, r1, #99999999999999999999",
        "99999999999999999999: 9223372036854775807 is outside 0..=4294967295",
    );
    refused(
        "LOAD.i32.slot0 r0, r2, offset:0",
        "r0: a staging range such as @r0:r1 expected",
    );
    refused(
        "LOAD.i32.slot0 @r0:r2, r2, offset:0",
        "@r0:r2: the registers of a staging range must follow each other",
    );
    refused(
        "LOAD.i32.slot0 @u0, r2, offset:0",
        "u0: a register, r0 to r63, expected",
    );
}

#[test]
fn rules_of_the_hardware() {
    refused(
        "LOAD.i64.slot0 @r1:r2, r4, offset:0",
        "@r1:r2: staging range of LOAD.i64: 2 registers must start at an even one, not r1",
    );
    refused(
        "LOAD.i64.slot0 @r0:r1:r2:r3:r4:r5:r6:r7, r4, offset:0",
        "@r0:r1:r2:r3:r4:r5:r6:r7: staging range of LOAD.i64: it can't have 8 register(s) from r0 on",
    );
    refused(
        "LOAD.i32.slot0 @r0, r3, offset:0",
        "r3: source 0 of LOAD.i32 has 64 bits and must start at an even register or word",
    );
    refused(
        "IADD.u64 r1, r2, r4",
        "r1: the destination of IADD.u64 has 64 bits and must be an even register",
    );
    refused(
        "IADD.u64 r0.h1, r2, r4",
        "r0.h1: IADD.u64 can't write its destination that way: the mask is 2",
    );
    refused(
        "FRCP.f16 r0.h01, r2",
        "r0.h01: FRCP.f16 can't write its destination that way: the mask is 0",
    );
    refused(
        "FADD.f32 r0, u0, u4",
        "u0, u4: FADD.f32 reads uniforms or special values of more than one 64-bit slot",
    );
    refused(
        "FMA.f32 r0, u0, u64, r1",
        "u0, u64, r1: FMA.f32 reads uniforms or special values of pages 0 and 1; an instruction has one page",
    );
    refused(
        "FMA.f32 r0, u0, u1, 0x0",
        "u0, u1, 0x0: FMA.f32 reads more than two different uniforms, constants or special values",
    );
    refused(
        "LD_ATTR.f32.slot0 @r0, u0, u2, u4",
        "u0, u2, u4: LD_ATTR reads more than two different uniforms, constants or special values",
    );
    refused(
        "ATOM.i32.slot0.aadd @r0, r2, offset:0x2",
        "offset:0x2: the offset 2 of ATOM.i32 is not a multiple of 4 bytes",
    );
    refused(
        "MOV.i32 r0, shader_output",
        "shader_output: page 3 has no special value 4 on v10",
    );
    refused(
        "BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1",
        "assembles to 002fc1100000f1c0",
    );
}

#[test]
fn lines_of_the_newer_dialect() {
    refused26(
        "LD_BUFFER.i32.slot0 @r0, r1, r2",
        "LD_BUFFER: no instruction of this name",
    );
    refused26(
        "MOV.i32 r0, ^r1",
        "^r1: a register, uniform, constant or special value expected",
    );
    refused26("MOV.i32 r0, u1", "u1: a uniform expected");
    refused26(
        "IADD.u64 r0, [r2:r3], [r4:r5]",
        "r0: a pair of registers such as [r0:r1] expected",
    );
    refused26(
        "IADD.u64 [r0:r1], [r2^:r3], [r4:r5]",
        "[r2^:r3]: a pair of registers such as [r0:r1] expected",
    );
    refused26(
        "IADD.u64 [r0:r1], r2, [r4:r5]",
        "r2: a register, uniform, constant or special value expected",
    );
    refused26(
        "LSHIFT_OR.v2i16 r0, r1, r2.reserved, r3",
        "reserved: reserved stands for values that this dialect does not tell apart",
    );
    refused26(
        "LD_GCLK_U64.slot0 @r2:r3",
        "LD_GCLK_U64.slot0: modifier source is missing",
    );
    refused26(
        "FADD.f32.rtp.rtn r0, r1, r2",
        "rtn: modifier round_mode is given twice",
    );
}

fn reg(index: u8) -> Reg {
    Reg::new(index).expect("below 64")
}

#[track_caller]
fn unbuilt(instr: Instr, expected: &str) {
    let message = instr.encode(Arch::V10).map_or_else(
        |error| error.to_string(),
        |word| format!("encodes as {word:016x}"),
    );
    assert_eq!(message, expected);
}

#[test]
fn what_was_never_given_is_missed() {
    let two = [Src::reg(reg(1)), Src::reg(reg(2))];
    let add = Instr::new(Op::FaddF32);
    unbuilt(add, "FADD.f32 lacks destination");
    unbuilt(add.with_dest(reg(0)), "FADD.f32 lacks source 0");
    unbuilt(
        add.with_dest(reg(0))
            .with_sources(&two[..1])
            .expect("one source"),
        "FADD.f32 lacks source 1",
    );
    let load = Instr::new(Op::LoadI32);
    unbuilt(load, "LOAD.i32 lacks modifier slot");
    let load = load.with(Slot::Slot0).expect("a slot");
    unbuilt(load, "LOAD.i32 lacks immediate offset");
    unbuilt(
        load.with_imm(ImmId::Offset, 4).expect("an offset"),
        "LOAD.i32 lacks staging range to write",
    );
    unbuilt(
        Instr::new(Op::Nop).with_dest(reg(0)),
        "NOP has no destination",
    );
    unbuilt(
        Instr::new(Op::Nop).with_read(RegRange::one(reg(0))),
        "NOP has no staging range to read",
    );
    let negated = Instr::new(Op::MovI32)
        .with_dest(reg(0))
        .with_sources(&[Src::reg(reg(1)).neg()])
        .expect("a source");
    unbuilt(negated, "source 0 of MOV.i32 can't be modified by neg");
    let lanes = Instr::new(Op::FaddV2f16).with_dest(Dest {
        reg: reg(0),
        mask: Mask::H0,
    });
    let lanes = lanes
        .with_sources(&[two[0].select(Select::H0), two[1]])
        .expect("two sources");
    unbuilt(
        lanes,
        "source 0 of FADD.v2f16 can't be modified by that lane selection",
    );
}

#[test]
fn what_an_instruction_lacks_can_not_be_given() {
    #[track_caller]
    fn refused(result: Result<Instr, eitri_isa::EncodeError>, expected: &str) {
        assert_eq!(
            result.map_err(|error| error.to_string()),
            Err(expected.to_owned())
        );
    }
    let new = Instr::new;
    refused(
        new(Op::MovI32).with(Clamp::ZeroOne),
        "MOV.i32 has no modifier Clamp",
    );
    refused(
        new(Op::MovI32).with_flag(Flag::Saturate),
        "MOV.i32 has no modifier Flag(Saturate)",
    );
    refused(
        new(Op::MovI32).with_imm(ImmId::Offset, 0),
        "MOV.i32 has no immediate offset",
    );
    refused(
        new(Op::MovI32).with_sources(&[Src::ZERO; 2]),
        "MOV.i32 has no source 1",
    );
    refused(
        new(Op::CselU32).with(Condition::Gtlt),
        "condition of CSEL.u32 has no such value",
    );
    refused(
        new(Op::FaddF32).with(RoundMode::Rtna),
        "round_mode of FADD.f32 has no such value",
    );
    refused(
        new(Op::AtomI32).with(AtomicOp::Aaddu),
        "atomic_operation of ATOM.i32 has no such value",
    );
    refused(
        new(Op::LoadI32).with_imm(ImmId::Offset, 40_000),
        "offset of LOAD.i32 is 40000, outside -32768..=32767",
    );
}

/// What text can say and no hardware takes.
#[test]
fn words_that_text_alone_knows() {
    #[track_caller]
    fn check(text: &str, arch: Arch, expected: &str) {
        let (word, refusal) = Instr::assemble_text(text, arch, Syntax::Mesa24)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let refusal = refusal.map(|error| error.to_string());
        assert_eq!(refusal.as_deref(), Some(expected), "{text}: {word:016x}");
        let instr = Instr::decode_text(word, arch).expect("text can say it");
        assert_eq!(instr.display(arch, Syntax::Mesa24).to_string(), text);
        let refused = Instr::decode(word, arch).map_err(|error| error.to_string());
        assert_eq!(refused, Err(expected.to_owned()), "{text}: {word:016x}");
    }
    check(
        "CLPER.u64.subgroup4.xor r0, r2, r4.b0",
        Arch::V10,
        "no hardware has CLPER.u64: only the text of Mesa 24.1 knows it",
    );
    check(
        "BLEND.slot0.f32 @r0, r2, r60, target:0x0",
        Arch::V10,
        "vector_size of BLEND has no value 0 on v10",
    );
    check(
        "LD_VAR_SPECIAL.f32.center.clobber.slot0 @r0, r61, index:0x1",
        Arch::V10,
        "index of LD_VAR_SPECIAL has no value 1 on v10",
    );
    check(
        "S32_TO_F32 r0, r1.h0",
        Arch::V10,
        "source 0 of S32_TO_F32: the lane selection has no value 2",
    );
    check(
        "FRCP.f16 r0, r1",
        Arch::V10,
        "source 0 of FRCP.f16: the lane selection has no value 2",
    );
    check(
        "FREXPM.f32.sqrt.log r0, r1",
        Arch::V10,
        "special of FREXPM.f32 has no value 3 on v10",
    );
    check(
        "LOAD.i64.slot0 @r0:r1:r2:r3, r4, offset:0",
        Arch::V10,
        "unsigned of LOAD.i64 has no value 0 on v10",
    );
    check(
        "LOAD.i64.unsigned.slot0 @r0:r1:r2:r3, r4, offset:0",
        Arch::V10,
        "staging range of LOAD.i64: it can't have 4 register(s) from r0 on",
    );
    check(
        "ATOM1_RETURN.i32.slot0.ainc @, r2, offset:0x0",
        Arch::V10,
        "staging range of ATOM1_RETURN.i32: it can't have 0 register(s) from r0 on",
    );
    check(
        "ATOM_RETURN.i32.slot0.compare.aadd @r0, @r2:r3, r4, offset:0x0",
        Arch::V10,
        "ATOM_RETURN.i32 compares only when it exchanges (axchg)",
    );
    check(
        "FROUND.f32 r0.h0, r1",
        Arch::V11,
        "FROUND.f32 can't write its destination that way: the mask is 1",
    );
    check(
        "MMUL.f32 r0, r1, u2, r3",
        Arch::V11,
        "source 1 of MMUL.f32 must be a register",
    );
    check(
        "LSHIFT_OR.i64 r0, r2, r5.b00, r6",
        Arch::V10,
        "source 1 of LSHIFT_OR.i64 has 64 bits and must start at an even register or word",
    );
}

#[test]
fn what_other_generations_lay_out_otherwise() {
    #[track_caller]
    fn check(text: &str, arch: Arch, expected: Result<u64, &str>) {
        let word = Instr::assemble(text, arch, Syntax::Mesa24);
        let word = word.map_err(|error| error.to_string());
        assert_eq!(word, expected.map_err(str::to_owned), "{text} on {arch}");
        if let Ok(word) = word {
            let instr = Instr::decode(word, arch).expect("what assembles decodes");
            assert_eq!(instr.display(arch, Syntax::Mesa24).to_string(), text);
        }
    }
    let varying = "LD_VAR_BUF_IMM.f32.slot0.src_f32.center.store @r0, r61, index:0x90";
    check(varying, Arch::V10, Ok(0x005c_8002_0290_003d));
    check(varying, Arch::V11, Ok(0x005c_8002_0200_903d));
    let far = "LD_VAR_BUF_IMM.f32.slot0.src_f32.center.store @r0, r61, index:0x400";
    check(far, Arch::V11, Ok(0x005c_8002_0204_003d));
    check(
        far,
        Arch::V10,
        Err("index of LD_VAR_BUF_IMM.f32 is 1024, outside 0..=255"),
    );
    let wide = "LD_CHECKED.i96.slot0 @r0:r1:r2, r4, r6, r7";
    check(wide, Arch::V12, Ok(0x0172_8006_3007_0604));
    check(wide, Arch::V14, Ok(0x0172_8006_1007_0604));
    let free = "LD_CHECKED.i32.oob_ignore.slot0 @r0, r4, r6, r7";
    check(free, Arch::V14, Ok(0x0172_8002_3807_0604));
    check(
        free,
        Arch::V13,
        Err("oob_ignore of LD_CHECKED has no value 1 on v13"),
    );
    check(
        "LD_CHECKED.i32.slot0 @r0:r1, r4, r6, r7",
        Arch::V14,
        Err("LD_CHECKED: 2 register(s) can't hold an access of that width on v14"),
    );
}

#[track_caller]
fn no_word(word: u64, expected: &str) {
    let message = Instr::decode(word, Arch::V10)
        .map_or_else(|error| error.to_string(), |instr| format!("{instr:?}"));
    assert_eq!(message, expected, "{word:016x}");
}

#[test]
fn words_that_are_no_instruction() {
    no_word(0, "a zero word marks the end of a program");
    no_word(0x8091_c000_0000_0001, "bit 63 is set");
    no_word(
        0x01ff_c000_0000_0001,
        "opcode 0x1ff with these secondary opcodes is no instruction",
    );
    no_word(
        0x0091_c000_0011_0001,
        "opcode 0x91 with these secondary opcodes is no instruction",
    );
    no_word(
        0x0091_c000_0000_0101,
        "MOV.i32: bits 0x0000000000000100 belong to no field and must be 0",
    );
    no_word(
        0x0000_0000_0000_0001,
        "NOP: bits 0x0000000000000001 belong to no field and must be 0",
    );
    no_word(
        0x0800_0000_0000_0000,
        "NOP: bits 0x0000ff0000000000 must hold 0xc00000000000",
    );
    no_word(
        0x0060_4018_0000_0080,
        "LOAD.i8: bits 0x0000c00000000000 must hold 0x800000000000",
    );
    no_word(
        0x0069_8100_1800_0032,
        "ATOM1_RETURN.i32: bits 0x0000010000000000 mean nothing here and must be 0",
    );
    no_word(0x5891_c000_0000_0001, "flow control has no value 11 on v10");
    no_word(
        0x0091_c000_0000_00e0,
        "page 0 has no special value 0 on v10",
    );
    no_word(
        0x00a0_c010_0000_0201,
        "source 0 of IADD.u32: the lane selection has no value 1",
    );
    no_word(
        0x0060_8002_d800_0080,
        "slot of LOAD.i32 has no value 3 on v10",
    );
    no_word(
        0x0091_0000_0000_0001,
        "MOV.i32 can't write its destination that way: the mask is 0",
    );
    no_word(
        0x00d0_0000_0000_0000,
        "opcode 0xd0 with these secondary opcodes is no instruction",
    );
}
