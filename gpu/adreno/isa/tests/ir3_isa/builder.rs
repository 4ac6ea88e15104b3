//! What the builder gives, and what it refuses.

use eitri_ir3_isa::{
    Cond, ConstReg, EncodeError, Field, FloatConst, Gen, Instr, Op, Operand, Reg, Src, Type, Width,
};

fn r(number: u8) -> Reg {
    Reg::full(number).expect("below 192")
}

fn hr(number: u8) -> Reg {
    Reg::half(number).expect("below 192")
}

#[track_caller]
fn check(built: eitri_ir3_isa::Builder, word: u64) {
    let instr = built.finish().expect("it is whole");
    assert_eq!(instr.encode(Gen::A6xx), Ok(word), "{instr:?}");
}

/// The program of hardware/ir3-isa.md section 15.
#[test]
fn the_worked_program() {
    let full = |value| Operand::Imm(value, Width::Full);
    let shared = Reg::shared(0).expect("below 32");
    let p0 = Reg::predicate(eitri_ir3_isa::Comp::X);
    check(
        Instr::build(Op::MulS24)
            .dst(r(1))
            .src(shared)
            .src(full(64))
            .nop(3),
        0x4638_0801_2040_00c0,
    );
    check(
        Instr::build(Op::AddU).dst(r(1)).src(r(1)).src(r(0)).nop(3),
        0x4218_0801_0000_0001,
    );
    check(Instr::build(Op::Nop).repeat(2), 0x0000_0200_0000_0000);
    check(
        Instr::build(Op::LdibB)
            .ty(Type::U32)
            .set(Field::D, 1)
            .set(Field::TypeSize, 1)
            .operand(Field::Src1, r(2))
            .operand(Field::Src2, r(1))
            .operand(Field::Ssbo, full(0)),
        0xc026_0002_0161_8000,
    );
    check(
        Instr::build(Op::CmpsU)
            .cond(Cond::Gt)
            .dst(p0)
            .src(r(2))
            .src(full(10))
            .sy()
            .nop(3),
        0x529a_08f8_200a_0002,
    );
    check(
        Instr::build(Op::Br).flag(Field::Inv1, true).target(2),
        0x0090_0000_0000_0002,
    );
    check(Instr::build(Op::Nop).repeat(2).jp(), 0x0800_0200_0000_0000);
    check(
        Instr::build(Op::StibB)
            .ty(Type::U32)
            .operand(Field::Src1, r(2))
            .operand(Field::Src2, r(1))
            .operand(Field::Ssbo, full(1)),
        0xc026_0202_0167_4000,
    );
    check(Instr::build(Op::End), 0x0300_0000_0000_0000);
}

#[test]
fn moves() {
    let c8 = ConstReg::new(32).expect("below 2048");
    check(
        Instr::mov(Type::F32, Type::F32, r(0), Operand::Const(c8, Width::Full)),
        0x2024_4000_0000_0020,
    );
    check(
        Instr::mov(Type::S16, Type::S16, Reg::A0, hr(0)),
        0x2011_00f4_0000_0000,
    );
    check(
        Instr::mov(Type::S16, Type::S16, hr(4), Operand::RelReg(0, Width::Half)),
        0x2011_0004_0000_0800,
    );
    check(
        Instr::mov(
            Type::S16,
            Type::S16,
            hr(5),
            Operand::Imm(0xffff, Width::Half),
        ),
        0x2051_0005_0000_ffff,
    );
}

#[test]
fn sources_have_modifiers() {
    let c = |number| Operand::Const(ConstReg::new(number).expect("below 2048"), Width::Full);
    check(
        Instr::build(Op::MadF32)
            .dst(r(5))
            .src(Src::new(c(48)).neg())
            .src(r(4))
            .src(c(49)),
        0x6382_0005_1031_5030,
    );
    check(
        Instr::build(Op::AddF)
            .dst(r(7))
            .src(r(8))
            .src(Src::new(Operand::Float(FloatConst::Two, Width::Full)).neg()),
        0x4010_0007_6803_0008,
    );
}

#[test]
fn widths_must_agree() {
    let mixed = Instr::build(Op::AddF)
        .dst(r(0))
        .src(r(0))
        .src(hr(0))
        .finish();
    assert_eq!(
        mixed,
        Err(EncodeError::Width {
            op: Op::AddF,
            field: Field::Src2,
            width: Width::Full
        })
    );
    let half = Instr::build(Op::MadF32)
        .dst(r(0))
        .src(hr(0))
        .src(hr(0))
        .src(hr(0))
        .finish();
    assert!(matches!(half, Err(EncodeError::Width { .. })), "{half:?}");
    let narrowing = Instr::build(Op::AddF)
        .dst(hr(0))
        .src(r(0))
        .src(r(1))
        .finish();
    assert!(narrowing.expect("a conversion").flag(Field::DstConv));
    let moved = Instr::mov(Type::F32, Type::F32, hr(0), r(0)).finish();
    assert!(matches!(moved, Err(EncodeError::Width { .. })), "{moved:?}");
}

#[test]
fn what_is_missing_is_named() {
    let add = Instr::build(Op::AddF).dst(r(0)).src(r(0)).finish();
    assert_eq!(
        add,
        Err(EncodeError::Missing {
            op: Op::AddF,
            field: Field::Src2
        })
    );
    let third = Instr::build(Op::NotB)
        .dst(r(0))
        .src(r(0))
        .src(r(1))
        .finish();
    assert!(
        matches!(third, Err(EncodeError::NoSuch { .. })),
        "{third:?}"
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let add = |value| {
        Instr::build(Op::AddU)
            .dst(r(0))
            .src(r(0))
            .src(Operand::Imm(value, Width::Full))
    };
    assert!(add(1023).finish().is_ok());
    assert!(add(-1024).finish().is_ok());
    assert!(matches!(
        add(1024).finish(),
        Err(EncodeError::Operand { .. })
    ));
    let both = add(1).repeat(1).nop(1).finish();
    assert_eq!(both, Err(EncodeError::IdleRepeat { op: Op::AddU }));
    let a5xx = Instr::build(Op::Shlg)
        .dst(r(0))
        .src(r(0))
        .src(r(0))
        .src(r(0))
        .finish();
    assert!(a5xx.expect("it is whole").encode(Gen::A5xx).is_err());
}

#[test]
fn an_edit_keeps_the_rest() {
    let add = Instr::build(Op::AddU)
        .dst(r(0))
        .src(hr(0))
        .src(hr(1))
        .finish()
        .expect("it is whole");
    let edited = add.edit().ss().nop(2).finish().expect("it is whole");
    assert_eq!(edited.nop(), 2);
    assert!(edited.flag(Field::Ss));
    assert_eq!(edited.dest(), add.dest());
    assert_eq!(edited.source(Field::Src2), add.source(Field::Src2));
}
