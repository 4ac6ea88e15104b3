//! Vertex and fragment programs: IR as text, and the code that comes of it.

use crate::ir::parse::parse;
use crate::pass::Runner;
use crate::target::Target;
use crate::valhall::{Binary, Choices, VaryingLayout, compile_stage};
use eitri_isa::Arch;

fn binary(text: &str, arch: Arch, varyings: &VaryingLayout) -> Binary {
    let ir = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let mut runner = Runner::new(Target::valhall(arch), &[]);
    let made = compile_stage(&ir, arch, Choices::default(), varyings, &mut runner);
    let made = made.unwrap_or_else(|error| panic!("{error}"));
    made.unwrap_or_else(|| panic!("the passes ended without code"))
}

/// The layout that a vertex shader with these outputs decides.
fn layout(outputs: &str) -> VaryingLayout {
    let text = format!("function main\nstage vertex window\nb0:\n{outputs}\n  return\n");
    let ir = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    VaryingLayout::of(&ir)
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

#[test]
fn dump() {
    let varyings = layout("  output.varying.0.3 1.0, 1.0, 1.0\n  output.varying.1.1 1.0");
    let flat = binary(
        "function main
stage fragment
b0:
  output.color.0.0.float 1.0, 0.5, 0.25, 1.0
  return
",
        Arch::V10,
        &varyings,
    );
    println!("{}", flat.listing);
    let two = binary(
        "function main
stage fragment
binding 0 0 combined_image_sampler image 2d
b0:
  %x, %y, %z = varying.0.0.3.center
  %f = varying.1.0.1.flat
  %o = varying.0.0.1.at_offset %x, %y
  %w = frag_w.center
  %n = quad_swap_x %x
  %c = flt %f, 0.5
  demote %c
  %r, %g, %b, %a = image.sample_bias.2d.constant @0.0, @0.0, %x, %y, %w
  %m = sample_mask_in
  output.color.0.0.float %x, %y, %z, %w
  output.color.1.0.float %n, %r, %g, %b
  output.color.2.0.float %n, %o, %g, %b
  output.depth %w
  output.sample_mask %m
  return
",
        Arch::V10,
        &varyings,
    );
    println!("{}", two.listing);
    let vertex = binary(
        "function main
stage vertex window
b0:
  %x, %y, %z, %w = attribute.0.float.0.4
  %r, %g = attribute.3.uint.2.2
  %i = instance_index
  %base = uniform.base_instance
  %n = iadd %i, %base
  %v = vertex_index
  %d = draw_index
  %s = uniform.viewport_scale.x
  %o = uniform.viewport_offset.x
  %a = ffma %x, %s, %o
  output.position %a, %y, %z, %w
  output.point_size %x
  output.layer %d
  output.varying.1.3 %r, %g, %n
  output.varying.2.1.relaxed %v
  return
",
        Arch::V10,
        &layout("  output.varying.1.3 1, 2, 3\n  output.varying.2.1 2"),
    );
    println!("{}", vertex.listing);
    check(&flat, "");
}
