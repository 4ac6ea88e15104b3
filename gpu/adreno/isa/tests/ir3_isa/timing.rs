//! Delays are those of hardware/ir3-isa.md section 18, and what follows from sections 8 and 9.

use eitri_ir3_isa::{Builder, ConstReg, Field, Gen, Instr, Op, Operand, Reg, Src, Type, Width};

fn r(number: u8) -> Reg {
    Reg::full(number).expect("below 192")
}

fn hr(number: u8) -> Reg {
    Reg::half(number).expect("below 192")
}

fn c(number: u16) -> Src {
    Operand::Const(ConstReg::new(number).expect("below 2048"), Width::Full).into()
}

fn made(builder: Builder) -> Instr {
    builder.finish().expect("it is whole")
}

fn mov(dst: u8, src: Src, repeat: u8) -> Instr {
    made(Instr::mov(Type::F32, Type::F32, r(dst), src).repeat(repeat))
}

fn add(dst: u8, a: Src, b: Src, repeat: u8) -> Instr {
    made(
        Instr::build(Op::AddF)
            .dst(r(dst))
            .src(a)
            .src(b)
            .repeat(repeat),
    )
}

fn reg(number: u8) -> Src {
    r(number).into()
}

/// The slots that are missing before the last instruction, by looking back from it.
fn missing(program: &[Instr]) -> u8 {
    let (last, before) = program.split_last().expect("some instructions");
    let mut between = 0;
    let mut most = 0;
    for instr in before.iter().rev() {
        most = most.max(instr.slots_before(last, Gen::A6xx).saturating_sub(between));
        between += instr.issue_slots();
    }
    most
}

#[test]
fn delays_are_those_of_the_facts() {
    let rsq = made(Instr::build(Op::Rsq).dst(r(0)).src(r(0)));
    let rcp = made(Instr::build(Op::Rcp).dst(r(0)).src(r(1)));
    let mad = made(
        Instr::build(Op::MadF32)
            .dst(r(0))
            .src(r(0))
            .src(r(1))
            .src(r(2)),
    );
    let (c0, c1, c2) = (c(0), c(1), c(2));
    let rr = |src: Src| src.repeated();
    #[rustfmt::skip]
    let rows: &[(u8, &[Instr])] = &[
        (6, &[add(0, reg(8), reg(9), 0), rsq]),
        (3, &[mov(0, c0, 0), mov(1, c1, 0), add(0, reg(0), reg(1), 0)]),
        (2, &[mov(0, c0, 0), mov(1, c1, 0), mov(2, c2, 0), mad]),
        (0, &[mov(0, c0, 0), rcp, add(0, reg(0), c0, 0)]),
        (2, &[mov(0, c0, 0), mov(1, c1, 0), add(0, rr(reg(0)), rr(c0), 1)]),
        (2, &[mov(0, c0, 1), add(0, rr(reg(0)), rr(c0), 1)]),
        (3, &[mov(1, c1, 0), mov(0, c0, 0), add(0, rr(reg(0)), rr(c0), 1)]),
        (1, &[mov(0, rr(c0), 2), add(0, reg(0), c0, 0)]),
        (2, &[mov(0, rr(c0), 2), add(0, reg(0), reg(1), 0)]),
        (2, &[mov(0, rr(c0), 1), add(0, rr(reg(0)), c0, 1)]),
        (1, &[mov(1, rr(c0), 1), add(0, rr(reg(0)), c0, 1)]),
        (3, &[mov(0, rr(c0), 1), add(0, rr(reg(1)), c0, 1)]),
    ];
    for (index, (slots, program)) in rows.iter().enumerate() {
        // What a rcp waits for is no matter of slots: a pending result hides what was written before it.
        let pending = program.iter().any(|instr| instr.op() == Op::Rcp);
        let found = if pending {
            missing(&program[1..])
        } else {
            missing(program)
        };
        assert_eq!(found, *slots, "row {index} of section 18");
    }
}

#[test]
fn halves_of_a_full_register_take_longer() {
    let narrow = made(Instr::build(Op::AddU).dst(hr(4)).src(hr(1)).src(hr(0)));
    assert_eq!(missing(&[mov(0, c(0), 0), narrow]), 6);
    let mad = made(
        Instr::build(Op::MadF16)
            .dst(hr(4))
            .src(hr(8))
            .src(hr(9))
            .src(hr(1)),
    );
    assert_eq!(missing(&[mov(0, c(0), 0), mad]), 4);
    // a5xx has separate files.
    assert_eq!(mov(0, c(0), 0).slots_before(&narrow, Gen::A5xx), 0);
    // hr2 lies in r1.
    let other = made(Instr::build(Op::AddU).dst(hr(4)).src(hr(2)).src(hr(3)));
    assert_eq!(missing(&[mov(0, c(0), 0), other]), 0);
}

#[test]
fn a_write_of_a_shared_register_asks_for_no_slots() {
    let shared = Reg::shared(0).expect("below 32");
    let write = made(Instr::mov(Type::U32, Type::U32, shared, r(0)));
    let read = made(Instr::mov(Type::U32, Type::U32, r(1), shared));
    assert_eq!(missing(&[write, read]), 0);
}

#[test]
fn who_reads_a_vector_waits_for_the_last_of_it() {
    let store = made(
        Instr::build(Op::Stl)
            .ty(Type::U32)
            .set(Field::Size, 4)
            .set(Field::Off, 0)
            .operand(Field::Dst, r(20))
            .operand(Field::Src, r(0)),
    );
    // Four registers are written one after the other; the last one has not waited at all.
    assert_eq!(missing(&[mov(0, c(0), 3), store]), 6);
    // Where only the first of them is part of the vector it has waited for the others.
    assert_eq!(missing(&[mov(3, c(0), 3), store]), 3);
}

#[test]
fn an_address_register_takes_six_slots() {
    let write = made(Instr::mov(Type::S16, Type::S16, Reg::A0, hr(8)));
    let read = made(Instr::mov(
        Type::U32,
        Type::U32,
        r(1),
        Operand::RelConst(0, Width::Full),
    ));
    assert_eq!(missing(&[write, read]), 6);
}

#[test]
fn multiple_moves_go_step_by_step() {
    let gat = |dst: u8| {
        let types = Instr::build(Op::Gat)
            .types(Type::U32, Type::U32)
            .dst(r(dst));
        made(types.src(r(20)).src(r(21)).src(r(22)).src(r(23)))
    };
    // The first register of four was written three steps before the end.
    assert_eq!(missing(&[gat(0), add(8, reg(0), c(0), 0)]), 0);
    assert_eq!(missing(&[gat(0), add(8, reg(3), c(0), 0)]), 3);
    // The last source is read three steps after the start.
    assert_eq!(missing(&[mov(23, c(0), 0), gat(0)]), 0);
    assert_eq!(missing(&[mov(20, c(0), 0), gat(0)]), 3);
}
