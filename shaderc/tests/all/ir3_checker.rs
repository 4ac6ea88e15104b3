//! Flags and idle slots that are removed from code for Adreno: the checker complains, or the interpreter of the instructions,
//! which knows the facts alone, runs the program without a fault.

use std::collections::BTreeMap;

use crate::support::random_function::{Content, buffers, dispatch, generate};
use crate::support::{on_ir3, subgroups, wgsl};
use eitri_ir3_isa::{Gen, Instr};
use eitri_ir3_program::Program;
use eitri_shaderc::interp::{Buffers, Dispatch};
use eitri_shaderc::ir3::check::check;
use eitri_shaderc::pass::Runner;
use eitri_shaderc::{Options, Robust, Target, compile, compile_lowered, pipeline};

fn options() -> Options {
    Options {
        target: Target::ir3_named("a6xx").expect("it is one"),
        ..Options::default()
    }
}

/// What is removed: how text has it, and what stands there then.
const REMOVED: &[(&str, &str)] = &[
    ("(ss)", ""),
    ("(sy)", ""),
    ("(jp)", ""),
    ("(rpt1)nop", "nop"),
    ("(rpt2)nop", "(rpt1)nop"),
    ("(rpt3)nop", "(rpt2)nop"),
    ("(rpt4)nop", "(rpt3)nop"),
    ("(rpt5)nop", "(rpt4)nop"),
    ("(nop1) ", ""),
    ("(nop2) ", "(nop1) "),
    ("(nop3) ", "(nop2) "),
];

/// How often the checker complained for each kind of removal, and how often nothing was wrong.
type Counts = BTreeMap<&'static str, (u32, u32)>;

/// Removes each flag and slot of a program in turn.
fn remove_each(binary: &[u8], dispatch: &Dispatch, buffers: &Buffers, counts: &mut Counts) {
    let program = Program::parse(binary).expect("the compiler made it");
    let stack = program.branch_stack();
    let words: Vec<u64> = program.code().collect();
    let end = words
        .iter()
        .position(|word| is_end(*word))
        .expect("it ends");
    let words = &words[..=end];
    assert_eq!(check(words, stack), Ok(()));
    for (at, word) in words.iter().enumerate() {
        let instr = Instr::decode(*word, Gen::A6xx).expect("it is an instruction");
        let text = instr.display(Gen::A6xx).to_string();
        for (flag, instead) in REMOVED.iter().filter(|(flag, _)| text.contains(flag)) {
            let changed = text.replace(flag, instead);
            let changed = Instr::parse(&changed, Gen::A6xx).expect("flags are free");
            let mut without = words.to_vec();
            without[at] = changed.encode(Gen::A6xx).expect("it was one of a6xx");
            let (missed, idle) = counts.entry(flag).or_default();
            if check(&without, stack).is_err() {
                *missed += 1;
                continue;
            }
            *idle += 1;
            if let Some(fault) = on_ir3::fault_with(binary, &without, dispatch, buffers) {
                panic!("the checker does not miss {flag} of {at} `{text}`: {fault}");
            }
        }
    }
    if stack > 0 {
        let (missed, idle) = counts.entry("stack").or_default();
        match check(words, stack - 1) {
            Ok(()) => *idle += 1,
            Err(_) => *missed += 1,
        }
    }
}

fn is_end(word: u64) -> bool {
    let decoded = Instr::decode(word, Gen::A6xx);
    decoded.is_ok_and(|instr| instr.display(Gen::A6xx).to_string().ends_with("end"))
}

#[test]
fn each_flag_and_slot_that_is_removed_is_missed_or_was_not_needed() {
    let mut counts = Counts::new();
    for seed in 0..if eitri_testdata::long() { 200 } else { 4 } {
        let mut function = generate(seed, Content::SameBits, &options().target);
        let mut runner = Runner::new(options().target, &[]);
        pipeline::lower(&mut function, Robust::Off, &mut runner);
        let compiled = compile_lowered(&function, &options()).expect("it compiles");
        remove_each(&compiled.program, &dispatch(), &buffers(), &mut counts);
    }
    let module = wgsl::compile(&subgroups::source(64));
    let compiled = compile(&module, &options()).expect("it compiles");
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: vec![],
        step_limit: 1 << 22,
    };
    remove_each(
        &compiled.program,
        &dispatch,
        &subgroups::buffers(),
        &mut counts,
    );
    for (flag, (missed, idle)) in &counts {
        assert!(
            missed > idle,
            "{flag}: {missed} missed, {idle} not needed: {counts:?}"
        );
    }
    assert!(counts.len() > 6, "{counts:?}");
}
