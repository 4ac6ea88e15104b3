//! Text files of IR in `tests/passes`: passes run on a function, expectations stand beside their cause.
//!
//! The first line names the passes. Then `; => TEXT` means that the result has a line with that text, `; kept: TEXT` that
//! it was there and still is, `; gone: TEXT` that it was there and is no more. And every function must leave the
//! same in its buffers afterwards as before.
use std::collections::BTreeMap;
use std::path::Path;

use eitri_shaderc::Target;
use eitri_shaderc::interp::eval::eval;
use eitri_shaderc::interp::{
    Buffer, Dispatch, Fragment, Image, Outputs, Resources, Sampler, TexelFormat,
    interpret_vertices, interpret_with,
};
use eitri_shaderc::ir::parse::parse;
use eitri_shaderc::ir::verify::verify;
use eitri_shaderc::ir::{Alu, BindingKind, Function, Output, Stage, TexelKind, Type};
use eitri_shaderc::pass::Runner;
use eitri_shaderc::pipeline::passes;

use crate::support::drawing::{Linear, draw_to, shade, vertices};

/// What a function leaves in its bindings; of fragments also what those that count stored. Vertices store other positions
/// before they are lowered than after.
fn outputs(function: &Function) -> (Resources, BTreeMap<[u32; 2], Outputs>) {
    let mut resources = Resources::default();
    let bindings = function.bindings.iter();
    let elements = bindings.flat_map(|binding| (0..binding.count).map(move |n| (binding, n)));
    for (binding, element) in elements {
        let key = (binding.set, binding.binding, element);
        let words = (0..64u32).flat_map(|word| (word * 0x0123_4567).to_le_bytes());
        let bytes: Vec<u8> = words.collect();
        match binding.kind {
            BindingKind::Storage | BindingKind::Uniform => {
                resources.buffers.insert(key, Buffer { bytes });
            }
            kind => {
                let format = TexelFormat::of_name("R32_UINT").unwrap();
                let texels = [BindingKind::UniformTexels, BindingKind::StorageTexels];
                let size = if texels.contains(&kind) {
                    [64, 1, 1]
                } else {
                    [16, 4, 1]
                };
                let mut image = Image::new(format, size);
                image.bytes = bytes;
                // What has no texels here reads as zeros.
                image.layers = 6;
                resources.images.insert(key, image);
                resources.samplers.insert(key, Sampler::default());
            }
        }
    }
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 100_000,
    };
    let mut stored = BTreeMap::new();
    match function.stage {
        Stage::Compute => {
            interpret_with(function, &dispatch, &mut resources)
                .unwrap_or_else(|trap| panic!("{trap}\n{function}"));
        }
        Stage::Vertex(_) => {
            interpret_vertices(function, &draw_to([8, 8]), &vertices(&[]), &resources)
                .unwrap_or_else(|trap| panic!("{trap}\n{function}"));
        }
        Stage::Fragment(_) => {
            let fragments = (0..4).map(|quad| {
                [0, 1, 2, 3].map(|lane| Fragment {
                    pixel: [2 * quad + lane % 2, lane / 2],
                    helper: (quad, lane) == (1, 2),
                    ..Fragment::default()
                })
            });
            let quads: Vec<[Fragment; 4]> = fragments.collect();
            stored = shade(function, &draw_to([8, 8]), &Linear, &quads, &mut resources);
            let colors = stored.values_mut().flatten();
            colors.for_each(|(output, words)| round_relaxed(*output, words));
        }
    }
    (resources, stored)
}

/// Rounds a colour of relaxed precision to halves: passes may do that or not.
fn round_relaxed(output: Output, words: &mut [u32]) {
    let is_relaxed = matches!(
        output,
        Output::Color {
            kind: TexelKind::Float,
            relaxed: true,
            ..
        }
    );
    for word in words.iter_mut().filter(|_| is_relaxed) {
        let half = eval(Alu::PackHalf, Type::W32, [(*word).into(), 0, 0, 0]);
        *word = eval(Alu::HalfLow, Type::W32, [half, 0, 0, 0]) as u32;
    }
}

/// What is wrong with a file, line by line.
fn check(text: &str) -> Vec<String> {
    let names = text
        .lines()
        .next()
        .unwrap()
        .strip_prefix("; test ")
        .unwrap();
    let mut function = parse(text).unwrap_or_else(|error| panic!("{error}"));
    verify(&function).unwrap_or_else(|violations| panic!("{}", violations[0]));
    let (before, expected) = (function.to_string(), outputs(&function));
    let mut runner = Runner::new(Target::default(), &[]);
    for name in names.split_whitespace() {
        let pass = passes().find(|pass| pass.name == name);
        runner.run(
            &mut function,
            pass.unwrap_or_else(|| panic!("no pass {name}")),
        );
    }
    let after = function.to_string();
    let has = |text: &str, wanted: &str| text.lines().any(|line| line.contains(wanted));
    let mut wrong = vec![];
    for (number, line) in text.lines().enumerate().skip(1) {
        let Some((_, note)) = line.split_once("; ") else {
            continue;
        };
        let (was, is) = (|wanted| has(&before, wanted), |wanted| has(&after, wanted));
        let problem = if let Some(wanted) = note.strip_prefix("=> ") {
            (!is(wanted)).then_some("the result lacks this")
        } else if let Some(wanted) = note.strip_prefix("kept: ") {
            (!was(wanted) || !is(wanted)).then_some("this wasn't there or has gone")
        } else if let Some(wanted) = note.strip_prefix("gone: ") {
            (!was(wanted) || is(wanted)).then_some("this wasn't there or is still")
        } else {
            None
        };
        if let Some(problem) = problem {
            wrong.push(format!("line {}: {problem}: {note}", number + 1));
        }
    }
    if outputs(&function) != expected {
        wrong.push("the function computes something else".into());
    }
    if !wrong.is_empty() {
        wrong.push(after);
    }
    wrong
}

#[test]
fn passes_do_what_their_files_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes");
    let mut failures = vec![];
    let mut tested = vec![];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        tested.push(path.file_stem().unwrap().to_str().unwrap().to_owned());
        for problem in check(&text) {
            failures.push(format!("{}: {problem}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    // Those without a file are tested as part of others.
    let without = ["operand_order", "trivial_phis", "fold_constants"];
    for pass in passes() {
        let listed = without.contains(&pass.name);
        assert!(
            listed != tested.iter().any(|name| name == pass.name),
            "{}: one file a pass",
            pass.name
        );
    }
}

/// How many operations of a name are left where two that are equal stand so many others apart.
fn left_of(name: &str, apart: usize) -> usize {
    let mut text =
        String::from("function main\nworkgroup 1 1 1\nbinding 0 0 storage written\nb0:\n");
    text.push_str(&format!(
        "  %id = local_id.x\n  %a = {name} %id, 77\n  %x0 = ineg %a\n"
    ));
    for number in 0..apart {
        text.push_str(&format!("  %x{} = ixor %x{number}, %id\n", number + 1));
    }
    text.push_str(&format!(
        "  %b = {name} %id, 77\n  %r = ixor %x{apart}, %b\n"
    ));
    text.push_str("  store.buffer @0.0, 0, %r\n  return\n");
    let mut function = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let mut runner = Runner::new(Target::default(), &[]);
    for name in ["share_values", "dead_code"] {
        let pass = passes().find(|pass| pass.name == name).unwrap();
        runner.run(&mut function, pass);
    }
    function.to_string().matches(&format!("= {name} ")).count()
}

#[test]
fn what_is_cheap_is_made_again_far_away() {
    let left = [("iadd", 500), ("iadd", 1500), ("imul", 1500)];
    let left = left.map(|(name, apart)| left_of(name, apart));
    assert_eq!(
        left,
        [1, 2, 1],
        "an add nearby and far away, a multiplication"
    );
}
