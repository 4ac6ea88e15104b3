//! The programs of a vertex shader: together they store what the shader does, each the same as it.
use std::collections::BTreeMap;

use eitri_isa::Arch;
use eitri_program::EntryKind;

use crate::interp::{Draw, Outputs, Resources, Vertex, interpret_vertices};
use crate::ir::parse::parse;
use crate::ir::verify::lowered;
use crate::ir::{Function, Output, OutputGroup};
use crate::pass::Runner;
use crate::target::Target;
use crate::valhall::split_vertex::split;

/// It stores something of each group, from a loop and from both sides of a branch.
const SHADER: &str = "function main
stage vertex window
b0:
  %x, %y, %z, %w = attribute.0.float.0.4
  %r, %g = attribute.1.float.0.2
  %h = attribute.1.float.3.1
  %i = vertex_index
  %c = ult %i, 5
  branch %c, b1, b2
b1:
  %s = fmul %r, 3.0
  jump b3
b2:
  %t = fadd %g, %h
  jump b3
b3:
  %u = phi.w32 b1: %s, b2: %t
  jump b4
b4:
  %n = phi.w32 b3: 0, b5: %m
  %sum = phi.w32 b3: 0, b5: %next
  %more = ult %n, %i
  branch %more, b5, b6
b5:
  %next = iadd %sum, %n
  %m = iadd %n, 1
  jump b4
b6:
  %a = uniform.viewport_scale.x
  %px = fmul %x, %a
  %size = fadd %u, 1.0
  %twice = fmul %u, 2.0
  output.position %px, %y, %z, %w
  output.point_size %size
  output.layer %sum
  output.varying.0.2 %twice, %u
  output.varying.3.1 %sum
  return
";

fn shader() -> Function {
    parse(SHADER).unwrap_or_else(|error| panic!("{error}"))
}

fn outputs(function: &Function, mask: u32) -> Vec<Outputs> {
    let vertices = (0..9u32).map(|index| {
        let word = |number: u32| ((index * 7 + number) as f32).to_bits();
        Vertex {
            index,
            output_mask: mask,
            attributes: BTreeMap::from([(0, [0, 1, 2, 3].map(word)), (1, [4, 5, 6, 7].map(word))]),
            ..Vertex::default()
        }
    });
    let vertices: Vec<Vertex> = vertices.collect();
    let draw = Draw {
        viewport_scale: [32.0, 32.0, 1.0],
        step_limit: 1 << 20,
        ..Draw::default()
    };
    interpret_vertices(function, &draw, &vertices, &Resources::default())
        .unwrap_or_else(|trap| panic!("{trap}\n{function}"))
}

/// The outputs of the whole shader that are wanted.
fn expected(wanted: impl Fn(Output) -> bool) -> Vec<Outputs> {
    let mut all = outputs(&shader(), 0);
    for own in &mut all {
        own.retain(|(output, _)| wanted(*output));
    }
    all
}

fn programs(arch: Arch) -> BTreeMap<EntryKind, Function> {
    let target = Target::valhall(arch);
    let mut runner = Runner::new(target, &[]);
    let programs = split(&shader(), arch, &mut runner);
    for program in &programs {
        if let Err(violations) = lowered(&program.function, &target) {
            panic!("{:?}: {violations:?}\n{}", program.kind, program.function);
        }
    }
    let programs = programs.into_iter();
    programs
        .map(|program| (program.kind, program.function))
        .collect()
}

#[test]
fn positions_and_varyings_are_computed_apart() {
    let programs = programs(Arch::V10);
    let kinds: Vec<EntryKind> = programs.keys().copied().collect();
    let [position, points, varying] = [
        EntryKind::Position,
        EntryKind::PositionWithPoints,
        EntryKind::Varying,
    ];
    assert_eq!(kinds, [position, points, varying]);
    let is_varying = |output: Output| output.group() == Some(OutputGroup::Varyings);
    let of = |kind| outputs(&programs[&kind], 0);
    let plain = expected(|output| !is_varying(output) && output != Output::PointSize);
    assert_eq!(of(position), plain);
    assert_eq!(of(points), expected(|output| !is_varying(output)));
    assert_eq!(of(varying), expected(is_varying));
    // What only points and varyings need is not in the position program.
    let text = programs[&position].to_string();
    assert!(!text.contains("attribute.1"), "{text}");
    let text = programs[&varying].to_string();
    assert!(!text.contains("attribute.0"), "{text}");
}

#[test]
fn what_is_not_asked_for_is_not_stored() {
    let programs = programs(Arch::V12);
    for (kind, program) in &programs {
        for mask in 0..8 {
            let wanted = |output: Output| {
                let asked = output.group().is_some_and(|group| group.bit() & mask != 0);
                asked && (kind.has_points() || output != Output::PointSize)
            };
            assert_eq!(
                outputs(program, mask),
                expected(wanted),
                "{kind:?}, mask {mask}\n{program}"
            );
        }
    }
    assert_eq!(programs.len(), 2);
    // Behind the test of its group stands what the group alone needs.
    let text = programs[&EntryKind::Vertex].to_string();
    let twice = text.find(", 2.0").expect("the product is there");
    let position = text.find("output.position").expect("it is stored");
    assert!(twice > position, "{text}");
}
