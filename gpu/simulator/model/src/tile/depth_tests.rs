//! Depth and stencil against the vectors, and by hand.

use super::*;
use crate::tile::tests::{bits_of_hex, vectors};

#[test]
fn depth_codes_are_those_of_the_vectors() {
    for case in &vectors("graphics-vectors.json", "depth_quantise") {
        let z = f64::from(f32::from_bits(bits_of_hex(&case["z"])));
        let d16 = quantised(ZInternalFormat::D16, z);
        let d24 = quantised(ZInternalFormat::D24, z);
        assert_eq!(Some(u64::from(d16)), case["d16"].as_u64(), "{case}");
        assert_eq!(Some(u64::from(d24)), case["d24"].as_u64(), "{case}");
        assert_eq!(quantised(ZInternalFormat::D32, z), (z as f32).to_bits());
        assert_eq!(
            quantised(ZInternalFormat::D24, depth_of(ZInternalFormat::D24, d24)),
            d24
        );
    }
    assert_eq!(quantised(ZInternalFormat::D32, f64::NAN), 0);
}

#[test]
fn stencil_operations_are_those_of_the_vectors() {
    for case in &vectors("graphics-vectors.json", "stencil_op") {
        let number = |name: &str| case[name].as_u64().expect("a number");
        let op = StencilOp::from_number(number("code") as u32).expect("an operation");
        let [old, reference, mask] = ["old", "ref", "write_mask"].map(|name| number(name) as u8);
        let new = stencil_after(op, old, reference, mask);
        assert_eq!(u64::from(new), number("new"), "{case}");
    }
}

fn state() -> DepthStencil {
    DepthStencil {
        front_compare_function: Func::Equal,
        front_stencil_fail: StencilOp::Invert,
        front_depth_fail: StencilOp::IncrSat,
        front_depth_pass: StencilOp::Replace,
        front_write_mask: 0xff,
        front_value_mask: 0x0f,
        front_reference_value: 0x25,
        back_compare_function: Func::Always,
        stencil_test_enable: true,
        depth_write_enable: true,
        depth_function: Func::Less,
        ..DepthStencil::default()
    }
}

/// The result of a front-facing sample of depth 100 against a tile's sample.
#[track_caller]
fn check(descriptor: &DepthStencil, stored: (u32, u8), left: (u32, u8), passes: bool) {
    let state = ZsState::of(descriptor, true);
    let stored = StoredZs {
        depth: stored.0,
        stencil: stored.1,
    };
    let expected = StoredZs {
        depth: left.0,
        stencil: left.1,
    };
    let found = state.tested(ZInternalFormat::D24, stored, 100, None);
    assert_eq!(found, (expected, passes));
}

#[test]
fn stencil_is_tested_before_depth_and_each_outcome_has_its_operation() {
    let both = state();
    // Only the low four bits are compared.
    check(&both, (200, 0xf5), (100, 0x25), true);
    check(&both, (100, 0xf5), (100, 0xf6), false);
    check(&both, (50, 0x04), (50, 0xfb), false);
    let read_only = DepthStencil {
        depth_write_enable: false,
        ..both
    };
    check(&read_only, (200, 0x05), (200, 0x25), true);
    let no_stencil = DepthStencil {
        stencil_test_enable: false,
        ..both
    };
    check(&no_stencil, (200, 0x07), (100, 0x07), true);
}

#[test]
fn faces_and_shader_values_are_told_apart() {
    let descriptor = state();
    let stored = StoredZs {
        depth: 200,
        stencil: 3,
    };
    let back = ZsState::of(&descriptor, false);
    // The back face keeps stencil.
    let (left, passes) = back.tested(ZInternalFormat::D24, stored, 100, None);
    assert_eq!((left.stencil, passes), (3, true));
    let given = ZsState::of(
        &DepthStencil {
            stencil_from_shader: true,
            ..descriptor
        },
        true,
    );
    let (left, passes) = given.tested(ZInternalFormat::D24, stored, 100, Some(0x13));
    assert_eq!((left.stencil, passes), (0x13, true));
    // A value that nobody asked for does not count.
    let front = ZsState::of(&descriptor, true);
    assert!(
        !front
            .tested(ZInternalFormat::D24, stored, 100, Some(0x13))
            .1
    );
}

#[test]
fn floats_are_compared_as_floats() {
    let descriptor = DepthStencil {
        stencil_test_enable: false,
        depth_function: Func::Lequal,
        ..state()
    };
    let state = ZsState::of(&descriptor, true);
    let stored = StoredZs {
        depth: 0.0_f32.to_bits(),
        stencil: 0,
    };
    let tested = |z: f32| {
        state
            .tested(ZInternalFormat::D32, stored, z.to_bits(), None)
            .1
    };
    // -1 has the greater bits.
    assert!(tested(-1.0) && tested(-0.0) && !tested(0.5));
}

#[test]
fn depth_comes_from_its_source_and_is_clamped() {
    let bounds = DepthBounds {
        low: 0.25,
        high: 0.75,
    };
    let depth = |source, clamp, emitted| {
        let descriptor = DepthStencil {
            depth_source: source,
            depth_clamp_mode: clamp,
            ..state()
        };
        ZsState::of(&descriptor, true).tested_depth(1.5, emitted, bounds)
    };
    use DepthClampMode::{Bounds, Zero1};
    use DepthSource::{FixedFunction, Maximum, Minimum, Shader};
    assert_eq!(depth(FixedFunction, Zero1, Some(0.5)), 1.0);
    assert_eq!(depth(FixedFunction, Bounds, None), 0.75);
    assert_eq!(depth(Shader, Zero1, Some(0.5)), 0.5);
    assert_eq!(depth(Shader, Bounds, Some(-3.0)), 0.25);
    assert_eq!(depth(Shader, Zero1, Some(f32::NAN)), 0.0);
    assert_eq!(depth(Minimum, Zero1, None), 0.0);
    assert_eq!(depth(Maximum, Zero1, None), 1.0);
}

/// All samples of a pixel at once leave what they leave one by one.
#[test]
fn samples_at_once_are_tested_as_one_by_one() {
    let mut random = 1_u32;
    let mut next = |below: u32| {
        random = random.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
        (random >> 8) % below
    };
    for round in 0..4000 {
        let descriptor = DepthStencil {
            stencil_test_enable: round % 2 == 0,
            depth_write_enable: next(4) != 0,
            depth_function: Func::from_number(next(8)).expect("a function"),
            front_compare_function: Func::from_number(next(8)).expect("a function"),
            ..state()
        };
        let state = ZsState::of(&descriptor, true);
        let format = [
            ZInternalFormat::D16,
            ZInternalFormat::D24,
            ZInternalFormat::D32,
        ][next(3) as usize];
        // Few values, so that many are equal; of D32 also no number and both zeros.
        let mut code = || match format {
            ZInternalFormat::D32 => {
                [0, 0x8000_0000, 0x3f00_0000, 0x3f80_0000, 0x7fc0_0000][next(5) as usize]
            }
            _ => next(4),
        };
        let codes: DepthCodes = core::array::from_fn(|_| code());
        let depths: [u32; 16] = core::array::from_fn(|_| code());
        let stored = depths.map(|depth| StoredZs {
            depth,
            stencil: next(3) as u8 + 4,
        });
        let count = 1 << next(5);
        let coverage = next(1 << 16) as u16;
        let emitted = (next(2) == 0).then_some(5);
        let (mut left, mut passing) = (stored, 0);
        for sample in (0..count).filter(|sample| coverage >> sample & 1 != 0) {
            let (after, passes) = state.tested(format, stored[sample], codes[sample], emitted);
            left[sample] = after;
            passing |= u16::from(passes) << sample;
        }
        let mut held = stored;
        let only = &stored[..count];
        let asked = state.passing_samples(format, only, &codes, emitted) & coverage;
        let found = state.update_samples(format, &mut held[..count], &codes, (coverage, emitted));
        assert_eq!((asked, found), (passing, passing), "{state:?}, {format:?}");
        assert_eq!(held, left, "{state:?}, {format:?}, {codes:?}, {stored:?}");
    }
}
