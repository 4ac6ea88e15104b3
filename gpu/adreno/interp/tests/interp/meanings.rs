//! What single instructions compute, by hardware/ir3-isa.md sections 6, 10, 13, 15 and 16.

use crate::support::value;

/// The result of one instruction in all lanes, from constants: c0.x is 100, c0.y 101, ...
#[track_caller]
fn of(text: &str) -> u32 {
    let values = value(text);
    assert!(
        values.iter().all(|value| *value == values[0]),
        "{values:x?}"
    );
    values[0]
}

#[test]
fn integers() {
    let two = |a: u32, b: u32, op: &str| {
        of(&format!(
            "mov.u32u32 r2.x, {a}\nmov.u32u32 r2.y, {b}\n(rpt2)nop\n{op} r1.x, r2.x, r2.y"
        ))
    };
    assert_eq!(two(7, 5, "add.u"), 12);
    assert_eq!(two(u32::MAX, 5, "(sat)add.u"), u32::MAX);
    assert_eq!(two(0x7fff_ffff, 5, "(sat)add.s"), 0x7fff_ffff);
    assert_eq!(two(3, 5, "(sat)sub.u"), 0);
    assert_eq!(two(3, 5, "sub.u"), 0xffff_fffe);
    assert_eq!(two(0xffff_fffe, 1, "min.s"), 0xffff_fffe);
    assert_eq!(two(0xffff_fffe, 1, "min.u"), 1);
    assert_eq!(two(0x00ff_ffff, 2, "mul.u24"), 0x01ff_fffe);
    assert_eq!(two(0x00ff_ffff, 2, "mul.s24"), 0xffff_fffe);
    assert_eq!(two(0x1_ffff, 0x1_0002, "mull.u"), 0xffff * 2);
    assert_eq!(two(1, 33, "shl.b"), 2);
    assert_eq!(two(0x8000_0000, 31, "ashr.b"), 0xffff_ffff);
    assert_eq!(two(0x8000_0000, 31, "shr.b"), 1);
    assert_eq!(two(5, 5, "cmps.u.ge"), 1);
}

#[test]
fn halving_adds_do_not_overflow() {
    let text = "mov.u32u32 r2.x, 0xffffffff\n(rpt2)nop\nadd.u (ei)r1.x, r2.x, r2.x";
    assert_eq!(of(text), 0xffff_ffff);
}

#[test]
fn bits() {
    let one = |a: u32, op: &str| of(&format!("mov.u32u32 r2.x, {a}\n(rpt2)nop\n{op}"));
    assert_eq!(one(0x0000_1000, "clz.b r1.x, r2.x"), 19);
    assert_eq!(one(0, "clz.b r1.x, r2.x"), u32::MAX);
    assert_eq!(one(0xffff_0000, "clz.s r1.x, r2.x"), 16);
    assert_eq!(one(1, "bfrev.b r1.x, r2.x"), 0x8000_0000);
    assert_eq!(one(0xff00, "and.b r1.x, (neg)r2.x, 255"), 0xff);
    assert_eq!(one(5, "absneg.s r1.x, (neg)r2.x"), 0xffff_fffb);
    assert_eq!(one(0x0f, "shlg r1.x, 4, r2.x, 1"), 0xf1);
    assert_eq!(one(0xf0, "shrm r1.x, 4, r2.x, 7"), 7);
}

#[test]
fn products_of_32_bits() {
    // hardware/ir3-isa.md section 15.
    let text = "mov.u32u32 r2.x, 123456789\nmov.u32u32 r2.y, 987654321\n(rpt2)nop
        (nop3) mull.u r1.x, r2.x, r2.y
        (nop3) madsh.m16 r1.x, r2.x, r2.y, r1.x
        madsh.m16 r1.x, r2.y, r2.x, r1.x";
    assert_eq!(of(text), 123_456_789u32.wrapping_mul(987_654_321));
}

#[test]
fn floats() {
    let two = |a: f32, b: f32, op: &str| {
        let (a, b) = (a.to_bits(), b.to_bits());
        let text = format!("mov.u32u32 r2.x, {a}\nmov.u32u32 r2.y, {b}\n(rpt2)nop\n{op}");
        f32::from_bits(of(&text))
    };
    assert_eq!(two(1.5, 2.25, "add.f r1.x, r2.x, r2.y"), 3.75);
    assert_eq!(two(1.5, 2.25, "add.f r1.x, r2.x, (neg)r2.y"), -0.75);
    assert_eq!(two(1.5, 2.25, "(sat)mul.f r1.x, r2.x, r2.y"), 1.0);
    assert_eq!(two(f32::NAN, 2.0, "min.f r1.x, r2.x, r2.y"), 2.0);
    assert_eq!(two(-0.0, 0.0, "max.f r1.x, r2.x, r2.y").to_bits(), 0);
    // Denormals are zero.
    assert_eq!(
        two(f32::MIN_POSITIVE / 2.0, 0.0, "add.f r1.x, r2.x, r2.y"),
        0.0
    );
    assert_eq!(two(2.5, 0.0, "rndne.f r1.x, r2.x"), 2.0);
    assert_eq!(two(-2.5, 0.0, "floor.f r1.x, r2.x"), -3.0);
    assert_eq!(two(3.0, 4.0, "mad.f32 r1.x, r2.x, r2.y, (neg)r2.x"), 9.0);
}

#[test]
fn conversions() {
    let cov = |from: &str, bits: u32, to: &str| {
        of(&format!(
            "mov.u32u32 r2.x, {bits}\n(rpt5)nop\ncov.{from} {to}r1.x, {}",
            source(from)
        ))
    };
    fn source(types: &str) -> &'static str {
        // hr1.x is the low half of r0.z: halves of r2.x are hr4.x and hr4.y.
        if types.starts_with("f16") || types.starts_with("s16") || types.starts_with("u8") {
            "hr4.x"
        } else {
            "r2.x"
        }
    }
    assert_eq!(cov("u32f32", 3, ""), 3f32.to_bits());
    assert_eq!(cov("s32f32", u32::MAX, ""), (-1f32).to_bits());
    assert_eq!(cov("f32u32", 3.9f32.to_bits(), ""), 3);
    assert_eq!(cov("f32s32", (-3.9f32).to_bits(), ""), 0xffff_fffd);
    assert_eq!(cov("f16f32", 0x3c00, ""), 1f32.to_bits());
    assert_eq!(cov("s16s32", 0xffff, ""), 0xffff_ffff);
    assert_eq!(cov("u8u32", 0x1ff, ""), 0xff);
    // 1 + 2^-11 + 2^-20 lies between two halves, nearer to the upper one: toward zero unless the move says else.
    let between = (1.0 + 1.0 / 2048.0 + 1.0 / 1_048_576.0f32).to_bits();
    let half = |round: &str| {
        of(&format!(
            "mov.u32u32 r2.x, {between}\n(rpt5)nop\ncov.f32f16 {round}hr6.x, r2.x\n(rpt5)nop\ncov.u16u32 r1.x, hr6.x"
        ))
    };
    assert_eq!(half(""), 0x3c00);
    assert_eq!(half("(even)"), 0x3c01);
    assert_eq!(half("(pos_infinity)"), 0x3c01);
}

#[test]
fn constants_as_halves_are_converted() {
    // c0.x is 100: as a float of 16 bits a denormal of 32 is zero, as an integer it is cut off.
    let integer = "add.u hr6.x, hc0.x, h(1)\n(rpt5)nop\ncov.u16u32 r1.x, hr6.x";
    assert_eq!(of(integer), 101);
    let float = "add.f hr6.x, hc0.x, h(1.0)\n(rpt5)nop\ncov.u16u32 r1.x, hr6.x";
    assert_eq!(of(float), 0x3c00);
}

#[test]
fn moves_at_once() {
    let swap = "mov.u32u32 r2.x, 1\nmov.u32u32 r2.y, 2\n(rpt2)nop\nswz.u32u32 r2.x, r2.y, r2.y, r2.x\n(rpt2)nop\nmov.u32u32 r1.x, r2.x";
    assert_eq!(of(swap), 2);
    let gather = "mov.u32u32 r2.x, 1\nmov.u32u32 r3.x, 2\n(rpt2)nop\ngat.u32u32 r4.x, r2.x, r3.x, r2.x, r3.x\n(rpt2)nop\nadd.u r1.x, r4.y, r4.w";
    assert_eq!(of(gather), 4);
}

#[test]
fn dot_products() {
    let dot = |op: &str| {
        of(&format!(
            "mov.u32u32 r2.x, 0xff020304\nmov.u32u32 r2.y, 0x01010101\nmov.u32u32 r2.z, 10\n(rpt2)nop\n{op} r1.x, r2.x, r2.y, r2.z"
        ))
    };
    assert_eq!(dot("dp4acc.unsigned.low"), 255 + 2 + 3 + 4 + 10);
    assert_eq!(dot("dp4acc.mixed.low"), 2 + 3 + 4 + 10 - 1);
    assert_eq!(dot("dp2acc.unsigned.high"), 255 + 2 + 10);
}

#[test]
fn lanes_exchange() {
    let quad = value("quad_shuffle.diag (u32)(x)r1.x, r0.x");
    assert_eq!(quad[..4], [3, 2, 1, 0]);
    let cluster = value("mov.u32u32 r1.x, r0.x\n(rpt5)nop\nbrcst.active.w4 (u32)(x)r1.x, r0.x");
    assert_eq!(cluster[..8], [0, 1, 1, 1, 4, 5, 5, 5]);
}
