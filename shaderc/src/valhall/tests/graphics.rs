//! Vertex and fragment programs: IR as text, and the code that comes of it.

use crate::ir::parse::parse;
use crate::link::{VaryingLayout, link};
use crate::pass::Runner;
use crate::target::Target;
use crate::valhall::split_vertex::split;
use crate::valhall::{Binary, Choices, FauWord, compile_stage};
use eitri_isa::Arch;
use eitri_program::{DrawWord, EntryKind};
use proptest::prelude::*;

fn binary(text: &str, arch: Arch, varyings: &VaryingLayout) -> Binary {
    let ir = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let mut runner = Runner::new(Target::valhall(arch), &[]);
    let made = compile_stage(&ir, arch, Choices::default(), varyings, &mut runner);
    let made = made.unwrap_or_else(|error| panic!("{error}"));
    made.unwrap_or_else(|| panic!("the passes ended without code"))
}

/// The layout that a vertex shader with these outputs decides for a fragment shader with these inputs.
fn layout(outputs: &str, inputs: &str) -> VaryingLayout {
    let vertex = format!("function main\nstage vertex window\nb0:\n{outputs}\n  return\n");
    let fragment = format!("function main\nstage fragment\nb0:\n{inputs}\n  return\n");
    let [mut vertex, mut fragment] =
        [vertex, fragment].map(|text| parse(&text).unwrap_or_else(|error| panic!("{error}")));
    link(&mut vertex, Some(&mut fragment))
}

/// One of the programs of a vertex shader.
fn program(text: &str, arch: Arch, kind: EntryKind, varyings: &VaryingLayout) -> Binary {
    let ir = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let mut runner = Runner::new(Target::valhall(arch), &[]);
    let mut programs = split(&ir, arch, &mut runner).into_iter();
    let wanted = programs.find(|program| program.kind == kind);
    let wanted = wanted.unwrap_or_else(|| panic!("there is no program for {}", kind.name()));
    binary(&wanted.function.to_string(), arch, varyings)
}

/// Compares the code with what is expected, an instruction a line.
#[track_caller]
fn check(binary: &Binary, expected: &str) {
    let listing = binary.listing.to_string();
    let code = listing.lines().filter(|line| !line.trim().starts_with(';'));
    let code = code.filter_map(|line| line.get(25..));
    let code: Vec<&str> = code
        .map(|line| line.split("  ;").next().unwrap_or(line))
        .collect();
    let expected: Vec<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(code, expected, "\n{}", code.join("\n"));
}

/// Fragment programs of these inputs: three components at location 0, a flat one at location 1.
fn inputs() -> VaryingLayout {
    layout(
        "  output.varying.0.3 1.0, 1.0, 1.0\n  output.varying.1.1 1.0",
        "  %a, %b, %c = varying.0.0.3.center\n  %d = varying.1.0.1.flat\n  \
         output.color.0.0.float %a, %b, %c, %d",
    )
}

/// A fragment program on v10.
fn fragment(body: &str) -> Binary {
    let text = format!(
        "function main
stage fragment
binding 0 0 combined_image_sampler image 2d
b0:
{body}
  return
"
    );
    binary(&text, Arch::V10, &inputs())
}

#[test]
fn a_flat_color_is_tested_and_blended() {
    let made = fragment("  output.color.0.0.float 1.0, 0.5, 0.25, 1.0");
    check(
        &made,
        "NOP.wait0126
         ATEST @r60, ^r60, 0x3F800000, atest_datum.w0
         MOV.i32 r0, 0x3F800000
         IADD_IMM.i32 r1, 0x0, #0x3F000000
         IADD_IMM.i32 r2, 0x0, #0x3E800000
         MOV.i32.wait r3, r0
         BLEND.slot2.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0
         IADD_IMM.i32 r48, 0x0, #0x0
         BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1",
    );
    assert_eq!(made.preload, 0b11 << 12, "r60 and r61");
    let blend = (0..4).map(|number| FauWord::Draw(DrawWord::BlendConstant(number)));
    assert_eq!(made.fau, blend.collect::<Vec<_>>());
    assert!(!made.needs_helpers);
}

#[test]
fn no_blend_shader_is_called_where_the_hardware_blends() {
    let text = "function main
stage fragment fixed=1
b0:
  %x = pixel_x
  %f = u2f %x
  output.color.0.0.float %f, %f, %f, %f
  output.color.1.0.float %f, %f, %f, %f
  return
";
    let made = binary(text, Arch::V10, &VaryingLayout::default());
    check(
        &made,
        "U16_TO_F32.wait0126 r0, ^r59.h00
         ATEST @r60, ^r60, r0, atest_datum.w0
         MOV.i32 r1, r0
         MOV.i32 r2, r0
         MOV.i32.wait r3, r0
         BLEND.slot2.v4.f32 @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0
         MOV.i32 r1, r0
         MOV.i32 r2, r0
         MOV.i32 r3, r0
         BLEND.slot2.v4.f32.end @r0:r1:r2:r3, blend_descriptor_1.w0, r60, target:0x0
         IADD_IMM.i32 r48, 0x0, #0x0
         BRANCHZI.eq.absolute 0x0, blend_descriptor_1.w1",
    );
}

#[test]
fn varyings_are_loaded_where_the_vertex_left_them() {
    let made = fragment(
        "  %x, %y, %z = varying.0.0.3.center
  %f = varying.1.0.1.flat
  output.color.0.0.float %x, %y, %z, %f",
    );
    check(
        &made,
        "LD_VAR_BUF_IMM.f32.slot0.v3.src_f32.center.store.discard @r0:r1:r2, r61, index:0x0
         LD_VAR_BUF_IMM.f32.slot0.src_flat32.center.retrieve.wait0126 @r3, r61, index:0xC
         ATEST.wait @r60, ^r60, r3, atest_datum.w0
         BLEND.slot2.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0
         IADD_IMM.i32 r48, 0x0, #0x0
         BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1",
    );
}

#[test]
fn what_lives_across_a_blend_is_where_no_blend_shader_comes() {
    let made = fragment(
        "  %x, %y, %z = varying.0.0.3.center
  %n = quad_swap_x %x
  output.color.0.0.float %x, %y, %z, %x
  output.color.1.0.float %n, %y, %z, %n
  output.depth %z",
    );
    check(
        &made,
        "LD_VAR_BUF_IMM.f32.slot0.v3.src_f32.center.store.wait0 @r48:r49:r50, r61, index:0x0
         CLPER.i32.subgroup4.xor.wait0126 r51, r48, 0x1000000.b3
         ATEST.wait0 @r60, ^r60, r48, atest_datum.w0
         ZS_EMIT.z.slot0 @r60, r50, 0x0, ^r60
         MOV.i32 r0, r48
         MOV.i32 r1, r49
         MOV.i32 r2, r50
         MOV.i32.wait r3, ^r48
         BLEND.slot2.v4.f32 @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x2
         IADD_IMM.i32 r48, program_counter.w0, #0x8
         BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1
         MOV.i32 r0, r51
         MOV.i32 r1, ^r49
         MOV.i32 r2, ^r50
         MOV.i32 r3, ^r51
         BLEND.slot2.v4.f32.end @r0:r1:r2:r3, blend_descriptor_1.w0, r60, target:0x0
         IADD_IMM.i32 r48, 0x0, #0x0
         BRANCHZI.eq.absolute 0x0, blend_descriptor_1.w1",
    );
    assert!(made.needs_helpers);
}

/// What a texture gives decides, by way of arithmetic, what another one is read at: helpers execute the first.
#[test]
fn textures_behind_coordinates_are_read_by_helpers() {
    let made = fragment(
        "  %x, %y, %z = varying.0.0.3.center
  %r, %g, %b, %a = image.sample_implicit.2d.constant @0.0, @0.0, %x, %y
  %s = fadd %r, %z
  %t = fmul %s, %g
  %k, %l, %m, %n = image.sample_implicit.2d.constant @0.0, @0.0, %s, %t
  output.color.0.0.float %k, %l, %m, %n",
    );
    let listing = made.listing.to_string();
    let skip: Vec<bool> = listing
        .lines()
        .filter(|line| line.contains("TEX_SINGLE"))
        .map(|line| line.contains(".skip"))
        .collect();
    assert_eq!(skip, [false, true], "{listing}");
}

#[test]
fn a_level_by_derivatives_needs_helpers() {
    let made = fragment(
        "  %x, %y, %z = varying.0.0.3.center
  %c = flt %z, 0.5
  demote %c
  %r, %g, %b, %a = image.sample_implicit.2d.constant @0.0, @0.0, %x, %y
  output.color.0.0.float %r, %g, %b, %a",
    );
    check(
        &made,
        "LD_VAR_BUF_IMM.f32.slot0.v3.src_f32.center.store.wait0 @r0:r1:r2, r61, index:0x0
         DISCARD.f32.lt ^r2, 0x38000000.h1
         IADD_IMM.i32 r2, 0x0, #0x1000001
         MOV.i32 r3, 0x1000000
         TEX_SINGLE.slot1.skip.reserved.32.2d.wide_indices.computed.wait0126 @r0:r1:r2:r3, @r0:r1, ^r2
         ATEST.wait @r60, ^r60, r3, atest_datum.w0
         BLEND.slot2.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0
         IADD_IMM.i32 r48, 0x0, #0x0
         BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1",
    );
    assert!(made.needs_helpers);
}

#[test]
fn a_second_color_is_held_beside_the_first() {
    let made = fragment(
        "  %x, %y, %z = varying.0.0.3.centroid
  output.color.0.0.float %x, %y, %z, %x
  output.color.0.1.float %z, %z, %x, %y",
    );
    check(
        &made,
        "LD_VAR_BUF_IMM.f32.slot0.v3.src_f32.centroid.store.wait0126 @r0:r1:r2, r61, index:0x0
         ATEST @r60, ^r60, r0, atest_datum.w0
         MOV.i32 r3, r0
         MOV.i32 r4, r2
         MOV.i32 r5, r2
         MOV.i32 r6, r0
         MOV.i32.wait r7, r1
         BLEND.slot2.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0
         IADD_IMM.i32 r48, 0x0, #0x0
         BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1",
    );
}

#[test]
fn colors_of_halves_are_loaded_tested_and_blended_as_such() {
    let body = "  %a, %b = varying.0.0.4.center.half\n  output.color.0.0.float.half %a, %b";
    check(
        &fragment(body),
        "LD_VAR_BUF_IMM.f16.slot0.v4.src_f32.center.store.wait0126 @r0:r1, r61, index:0x0
         ATEST.wait @r60, ^r60, r1.h1, atest_datum.w0
         BLEND.slot2.v4.f16.end @r0:r1, blend_descriptor_0.w0, r60, target:0x0
         IADD_IMM.i32 r48, 0x0, #0x0
         BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1",
    );
}

#[test]
fn what_is_read_flat_as_halves_alone_is_handed_on_so() {
    let outputs = "  output.varying.0.4 1.0, 2.0, 3.0, 4.0\n  output.varying.1.1 1.0";
    let halves = "  %a, %b = varying.0.0.4.flat.half\n  output.color.0.0.float.half %a, %b";
    let linked = layout(outputs, halves);
    assert!(linked.slots[0].half);
    assert_eq!(linked.record_bytes, 8);
    // Another load wants the bits.
    let words = format!("{halves}\n  %c = varying.0.0.1.flat\n  output.depth %c");
    assert!(!layout(outputs, &words).slots[0].half);
    // What is interpolated keeps its precision between the vertices.
    assert!(!layout(outputs, &halves.replace("flat", "center")).slots[0].half);
}

#[test]
fn halves_that_no_vertex_stores_are_zero() {
    let text = "function main
stage fragment
b0:
  %a, %b = varying.0.0.4.center.half
  output.color.0.0.float.half %a, %b
  return
";
    let vertex =
        "function main\nstage vertex window\nb0:\n  output.varying.0.3 1, 2, 3\n  return\n";
    let [mut vertex, mut fragment] =
        [vertex, text].map(|text| parse(text).unwrap_or_else(|error| panic!("{error}")));
    link(&mut vertex, Some(&mut fragment));
    let linked = fragment.to_string();
    for line in [
        "varying.0.0.3.center.half",
        "iand %3, 65535",
        "output.color.0.0.float.half %2, %5",
    ] {
        assert!(linked.contains(line), "{linked}");
    }
}

#[test]
fn outputs_of_vertices_go_to_the_hardware_s_buffers() {
    let varyings = layout(
        "  output.varying.1.3 1, 2, 3\n  output.varying.2.2.relaxed 2.0, 1.0",
        "  %a, %b, %c = varying.1.0.3.flat\n  %d, %e = varying.2.0.2.center.relaxed\n  \
         output.color.0.0.float %a, %b, %c, %d\n  output.color.1.0.float %a, %b, %c, %e",
    );
    let text = "function main
stage vertex window
b0:
  %x, %y, %z, %w = attribute.0.float.0.4
  %r, %g = attribute.3.uint.2.2
  %i = instance_index
  %base = uniform.base_instance
  %n = iadd %i, %base
  %d = draw_index
  %s = uniform.viewport_scale.x
  %o = uniform.viewport_offset.x
  %a = ffma %x, %s, %o
  output.position %a, %y, %z, %w
  output.point_size %x
  output.layer %d
  output.varying.1.3 %r, %g, %n
  output.varying.2.2.relaxed %x, %y
  return
";
    let expected = [
        (
            Arch::V10,
            EntryKind::Position,
            "LD_ATTR_IMM.v4.f32.slot0.wait0 @r0:r1:r2:r3, ^r60, ^r61, index:0x0, table:0x0
             FMA.f32 r0, ^r0, u0, u1
             LEA_BUF_IMM.slot1.wait1 @r4:r5, r59, table:0xD, index:0x0
             STORE.i128.istream.slot2 @r0:r1:r2:r3, ^r4, offset:0
             IADD_IMM.i32 r0, ^r59, #0x4
             LEA_BUF_IMM.slot0.wait0 @r0:r1, r0, table:0xD, index:0x0
             STORE.i8.istream.slot2.end @r62, r0, offset:2",
        ),
        (
            Arch::V10,
            EntryKind::PositionWithPoints,
            "LD_ATTR_IMM.v4.f32.slot0.wait0 @r0:r1:r2:r3, ^r60, ^r61, index:0x0, table:0x0
             FMA.f32 r4, r0, u0, u1
             LEA_BUF_IMM.slot1 @r8:r9, r59, table:0xD, index:0x0
             MOV.i32 r5, ^r1
             MOV.i32 r6, ^r2
             MOV.i32.wait1 r7, ^r3
             STORE.i128.istream.slot2 @r4:r5:r6:r7, ^r8, offset:0
             V2F32_TO_V2F16 r0, ^r0, ^r0
             IADD_IMM.i32 r1, ^r59, #0x4
             LEA_BUF_IMM.slot0.wait0 @r2:r3, ^r1, table:0xD, index:0x0
             STORE.i16.istream.slot2 @r0, r2, offset:0
             STORE.i8.istream.slot2.end @r62, ^r2, offset:2",
        ),
        (
            Arch::V10,
            EntryKind::Varying,
            "LD_ATTR_IMM.v4.f32.slot0.wait0 @r0:r1:r2:r3, r60, r61, index:0x0, table:0x0
             LD_ATTR_IMM.v4.u32.slot1 @r2:r3:r4:r5, ^r60, r61, index:0x3, table:0x0
             IADD.u32.wait1 r6, ^r61, u0
             LEA_BUF_IMM.slot0.wait0 @r2:r3, ^r59, table:0xD, index:0x0
             STORE.i96.estream.slot2 @r4:r5:r6, r2, offset:0
             V2F32_TO_V2F16 r0, ^r0, ^r1
             STORE.i32.estream.slot2.end @r0, ^r2, offset:12",
        ),
        (
            Arch::V12,
            EntryKind::VertexWithPoints,
            "LD_ATTR_IMM.v4.f32.slot0 @r0:r1:r2:r3, r60, r61, index:0x0, table:0x0
             MOV.i32 r4, shader_output.w0
             LSHIFT_AND.i32 r5, r4, 0x0.b00, u3
             LSHIFT_AND.i32 r6, r4, 0x0.b00, u4
             LSHIFT_AND.i32 r4, ^r4, 0x0.b00, u5
             BRANCHZ.eq.reconverge ^r5, offset:7
             NOP.wait0
             FMA.f32 r8, r0, u0, u1
             LEA_BUF_IMM.slot0 @r12:r13, r59, table:0xD, index:0x0
             MOV.i32 r9, r1
             MOV.i32 r10, r2
             MOV.i32.wait0 r11, ^r3
             STORE.i128.istream.slot2.reconverge @r8:r9:r10:r11, ^r12, offset:0
             BRANCHZ.eq.reconverge ^r6, offset:7
             NOP.wait0
             FADD.f32 r2.h0, r0, 0x0.neg
             MKVEC.v2i16 r2, ^r2.h00, ^r2.h00
             IADD_IMM.i32 r3, r59, #0x4
             LEA_BUF_IMM.slot1.wait1 @r6:r7, ^r3, table:0xD, index:0x0
             STORE.i16.istream.slot2 @r2, r6, offset:0
             STORE.i8.istream.slot2.reconverge @r62, ^r6, offset:2
             BRANCHZ.eq.reconverge ^r4, offset:8
             NOP.wait0
             LD_ATTR_IMM.v4.u32.slot0 @r2:r3:r4:r5, ^r60, r61, index:0x3, table:0x0
             IADD.u32.wait0 r6, ^r61, u2
             LEA_BUF_IMM.slot1.wait1 @r2:r3, ^r59, table:0xD, index:0x1
             STORE.i96.estream.slot2 @r4:r5:r6, r2, offset:0
             FADD.f32 r0.h0, r0, 0x0.neg
             FADD.f32 r0.h1, ^r1, 0x0.neg
             STORE.i32.estream.slot2.reconverge @r0, r2, offset:12
             NOP.end",
        ),
    ];
    for (arch, kind, code) in expected {
        check(&program(text, arch, kind, &varyings), code);
    }
}

/// A fragment shader with a chain of sums, and colours made of them.
fn random_fragment(sums: &[(u8, u8)], colors: &[[u8; 4]], demotes: bool, depth: bool) -> String {
    let mut body =
        String::from("  %v0, %v1, %v2 = varying.0.0.3.center\n  %v3 = varying.1.0.1.flat\n");
    let mut count = 4;
    for (a, b) in sums {
        let [a, b] = [a, b].map(|it| usize::from(*it) % count);
        body += &format!("  %v{count} = fadd %v{a}, %v{b}\n");
        count += 1;
    }
    if demotes {
        body += "  %c = flt %v1, %v2\n  demote %c\n";
    }
    for (target, color) in colors.iter().enumerate() {
        let words = color.map(|it| format!("%v{}", usize::from(it) % count));
        body += &format!("  output.color.{target}.0.float {}\n", words.join(", "));
    }
    if depth {
        body += &format!("  output.depth %v{}\n", count - 1);
    }
    format!("function main\nstage fragment\nb0:\n{body}  return\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The checkers of registers and waits agree, and nothing is left in the registers that blend shaders use.
    #[test]
    fn random_colors_reach_their_targets(
        sums in prop::collection::vec(any::<(u8, u8)>(), 0..24),
        colors in prop::collection::vec(any::<[u8; 4]>(), 0..8),
        demotes: bool,
        depth: bool,
        limit in prop::option::of(20u32..40),
    ) {
        let text = random_fragment(&sums, &colors, demotes, depth);
        let ir = parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let choices = Choices { register_limit: limit, ..Choices::default() };
        let mut runner = Runner::new(Target::valhall(Arch::V10), &[]);
        let made = compile_stage(&ir, Arch::V10, choices, &inputs(), &mut runner);
        let made = made.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let listing = made.map(|made| made.listing.to_string()).unwrap_or_default();
        prop_assert_eq!(listing.matches("BLEND.").count(), colors.len(), "{}", listing);
        prop_assert_eq!(listing.matches(".absolute").count(), colors.len(), "{}", listing);
        prop_assert_eq!(listing.matches("ATEST").count(), 1, "{}", listing);
    }
}

#[test]
fn all_that_a_fragment_can_ask_has_code() {
    for arch in [Arch::V10, Arch::V11, Arch::V12, Arch::V13] {
        let text = "function main
stage fragment sample_shading
binding 0 0 combined_image_sampler image 2d
b0:
  %px = pixel_x
  %py = pixel_y
  %z = frag_z
  %front = front_facing
  %u = point_x
  %v = point_y
  %s = sample_id
  %sx = sample_x
  %sy = sample_y
  %m = sample_mask_in
  %p = primitive_id
  %l = layer
  %h = helper_invocation
  %lane = lane_id
  %at = varying.0.0.1.at_sample %s
  %off = varying.0.0.1.at_offset %sx, %sy
  %f = select %front, %p, %l
  %level, %raw = image.query_lod.2d.constant @0.0, @0.0, %u, %v
  %g = select %h, %lane, %m
  %t0, %t1, %t2, %t3 = tile.4.float %s
  %q0, %q1, %q2, %q3 = tile.2.int 0
  %k = uniform.blend_constant.3
  %kt = fmul %k, %t0
  %z2 = fadd %z, %kt
  %f2 = iadd %f, %q3
  output.color.0.0.float %z2, %u, %v, %sx
  output.color.1.0.uint %px, %py, %s, %g
  output.color.2.0.int %f2, %f, %f, %f
  output.color.3.0.float %sy, %at, %off, %level
  output.color.4.0.float %raw, %raw, %raw, %raw
  output.stencil %s
  output.sample_mask %m
  return
";
        let made = binary(text, arch, &inputs());
        let listing = made.listing.to_string();
        assert!(listing.contains("ZS_EMIT.stencil"), "{listing}");
        let loads = listing.matches("LOAD.").count();
        assert_eq!(loads, 1, "both coordinates of the sample\n{listing}");
        assert_eq!(made.preload >> 9, 0b11_1111, "r57 to r62\n{listing}");
    }
}

#[test]
fn the_tile_is_read_at_the_lane_s_own_pixel() {
    let made = fragment(
        "  %x, %y, %z, %w = tile.1.float 0
  %a = uniform.blend_constant.0
  %s = fmul %x, %a
  output.color.1.0.float %s, %y, %z, %w",
    );
    check(
        &made,
        "NOP.wait
         LD_TILE.v4.f32.slot0.wait0 @r0:r1:r2:r3, u4, r60, blend_descriptor_1.w1
         FMA.f32 r0, ^r0, u0, 0x0.neg
         ATEST.wait0 @r60, ^r60, 0x3F800000, atest_datum.w0
         BLEND.slot2.v4.f32.end @r0:r1:r2:r3, blend_descriptor_1.w0, r60, target:0x0
         IADD_IMM.i32 r48, 0x0, #0x0
         BRANCHZI.eq.absolute 0x0, blend_descriptor_1.w1",
    );
}

#[test]
fn a_sample_of_the_tile_is_named_by_its_number() {
    let made = fragment(
        "  %n = sample_id
  %x, %y, %z, %w = tile.0.uint %n
  output.color.0.0.uint %y, %x, %w, %z",
    );
    check(
        &made,
        "RSHIFT_AND.i32.discard r0, r61, 0x13121110.b00, u4
         LSHIFT_OR.i32.wait r0, ^r0, 0x0.b00, u5
         LD_TILE.v4.u32.slot0 @r2:r3:r4:r5, ^r0, r60, blend_descriptor_0.w1
         ATEST.wait0 @r60, ^r60, 0x3F800000, atest_datum.w0
         MOV.i32 r0, ^r3
         MOV.i32 r1, ^r2
         MOV.i32 r2, ^r5
         MOV.i32 r3, ^r4
         BLEND.slot2.v4.u32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0
         IADD_IMM.i32 r48, 0x0, #0x0
         BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1",
    );
}

#[test]
fn a_place_is_computed_once() {
    let made = fragment(
        "  %x = varying.0.0.1.center
  %y = varying.0.1.1.center
  %z = varying.0.2.1.centroid
  %w = varying.0.2.1.centroid
  output.color.0.0.float %x, %y, %z, %w",
    );
    check(
        &made,
        "LD_VAR_BUF_IMM.f32.slot0.src_f32.center.store.discard @r0, r61, index:0x0
         LD_VAR_BUF_IMM.f32.slot0.src_f32.center.retrieve.wait0 @r1, r61, index:0x4
         LD_VAR_BUF_IMM.f32.slot0.src_f32.centroid.store @r2, r61, index:0x8
         LD_VAR_BUF_IMM.f32.slot0.src_f32.centroid.retrieve.wait0126 @r3, r61, index:0x8
         ATEST.wait @r60, ^r60, r3, atest_datum.w0
         BLEND.slot2.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0
         IADD_IMM.i32 r48, 0x0, #0x0
         BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1",
    );
}
