//! Stages in the IR: what vertex and fragment shaders are made of is read, printed and verified.
use eitri_shaderc::ir::cfg::Cfg;
use eitri_shaderc::ir::parse::parse;
use eitri_shaderc::ir::uniformity::Uniformity;
use eitri_shaderc::ir::verify::{lowered, verify};
use eitri_shaderc::{Options, Target};

const VERTEX: &str = "function main
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
  output.point_size 2.0
  output.layer %d
  output.varying.1.3 %r, %g, %n
  output.varying.2.1.relaxed %v
  return
";

const FRAGMENT: &str = "function main
stage fragment early_tests sample_shading depth_less
binding 0 0 combined_image_sampler image 2d
b0:
  %u, %v = varying.0.0.2.center
  %f = varying.1.3.1.flat
  %s = sample_id
  %at = varying.2.0.1.at_sample.relaxed %s
  %off = varying.2.0.1.at_offset %u, %v
  %w = frag_w.centroid
  %front = front_facing
  %px = pixel_x
  %r, %g, %b, %a = image.sample_bias.2d.constant @0.0, @0.0, %u, %v, %w
  %n = quad_swap_x %r
  %d = fsub %n, %r
  demote %front
  output.color.0.0.float %d, %g, %b, %a
  output.color.0.1.float.relaxed %at, %off, %f, 1.0
  output.color.3.0.uint %px, 0, 0, 0
  output.depth %w
  output.sample_mask %s
  return
";

#[test]
fn the_text_form_has_all_of_both_stages() {
    for text in [VERTEX, FRAGMENT] {
        let function = parse(text).unwrap_or_else(|error| panic!("{error}"));
        if let Err(violations) = verify(&function) {
            panic!("{violations:?}");
        }
        let printed = function.to_string();
        let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
        assert_eq!(again.to_string(), printed);
        let lines = |text: &str| text.lines().count();
        assert_eq!(lines(&printed), lines(text), "{printed}");
        assert_eq!(lowered(&function, &Target::default()), Ok(()), "{printed}");
    }
}

#[track_caller]
fn check_rules(text: &str, expected: &[&str]) {
    let function = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let violations = verify(&function).err().unwrap_or_default();
    let rules: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert_eq!(rules, expected, "{function}");
}

#[test]
fn each_stage_has_its_own_operations() {
    check_rules(
        "function main
         stage vertex
         b0:
           %x = pixel_x
           %s = quad_swap_x %x
           demote true
           output.depth 0.0
           return",
        &[
            "b0: `%0 = pixel_x`: there is no such operation in a vertex shader",
            "b0: `%1 = quad_swap_x %0`: there is no such operation in a vertex shader",
            "b0: `demote true`: there is no such operation in a vertex shader",
            "b0: `output.depth 0.0`: there is no such operation in a vertex shader",
        ],
    );
    check_rules(
        "function main
         stage fragment
         b0:
           %x = local_id.x
           %v = attribute.0.float.0.1
           barrier
           store.shared 0, %x
           output.layer %v
           return",
        &[
            "b0: `%0 = local_id.x`: there is no such operation in a fragment shader",
            "b0: `%1 = attribute.0.float.0.1`: there is no such operation in a fragment shader",
            "b0: `barrier`: there is no such operation in a fragment shader",
            "b0: `store.shared 0, %0`: there is no such operation in a fragment shader",
            "b0: `output.layer %1`: there is no such operation in a fragment shader",
        ],
    );
    check_rules(
        "function main
         workgroup 4 1 1
         binding 0 0 combined_image_sampler image 2d
         b0:
           %r, %g, %b, %a = image.sample_implicit.2d @0.0, @0.0, 0.0, 0.0
           return",
        &[
            "b0: `%2, %3, %4, %5 = image.sample_implicit.2d @0.0, @0.0, 0.0, 0.0`: \
             there is no such operation in a compute shader",
        ],
    );
}

#[test]
fn an_output_is_stored_once_and_can_be() {
    check_rules(
        "function main
         stage fragment
         b0:
           output.color.0.0.float 0.0, 0.0, 0.0, 0.0
           output.color.0.0.uint 0, 0, 0, 0
           output.color.1.1.float 0.0, 0.0, 0.0, 0.0
           %a, %b = varying.0.3.2.center
           return",
        &[
            "b0: `output.color.0.0.uint 0, 0, 0, 0`: the output is stored a second time",
            "b0: `output.color.1.1.float 0.0, 0.0, 0.0, 0.0`: 1 to 4 components up to the fourth, targets up to 7, \
             the second colour only of target 0",
            "b0: `%1, %2 = varying.0.3.2.center`: 1 to 4 components up to the fourth, targets up to 7, \
             the second colour only of target 0",
        ],
    );
}

#[test]
fn the_lowered_form_stores_window_coordinates() {
    let text = VERTEX.replace("stage vertex window", "stage vertex");
    let function = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let violations = lowered(&function, &Options::default().target);
    let rules: Vec<String> = violations
        .err()
        .unwrap_or_default()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(rules.len(), 1, "{rules:?}");
    assert!(rules[0].contains("output.position"), "{rules:?}");
}

#[test]
fn inputs_differ_between_lanes_and_what_a_draw_has_does_not() {
    let uniform = |text: &str| -> Vec<bool> {
        let function = parse(text).unwrap_or_else(|error| panic!("{error}"));
        let uniformity = Uniformity::new(&function, &Cfg::new(&function));
        let insts = function.placed_insts();
        let results = insts.flat_map(|(_, inst)| function.inst(inst).results.clone());
        results.map(|value| uniformity.is_uniform(value)).collect()
    };
    let fragment = "function main
         stage fragment
         b0:
           %f = varying.0.0.1.flat
           %front = front_facing
           %w = frag_w.center
           %same = quad_swap_x 7
           %s = quad_swap_x %f
           return";
    assert_eq!(uniform(fragment), [false, false, false, true, false]);
    let vertex = "function main
         stage vertex
         b0:
           %a = attribute.0.float.0.1
           %i = instance_index
           %d = draw_index
           %m = output_mask
           %b = uniform.base_vertex
           return";
    assert_eq!(uniform(vertex), [false, false, true, true, true]);
}
