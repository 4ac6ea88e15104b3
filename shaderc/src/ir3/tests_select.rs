//! Selection and legalisation: IR as text, and the machine IR that it becomes, beside each line.

use super::Choices;
use super::pipeline::lower;
use crate::ir::parse::parse;
use crate::machine::parse::{expect, without_numbers};
use crate::pass::{Runner, Settings};
use crate::target::{Machine, Target};

/// Compares what each line became after legalisation: the texts after `; expect:` must occur in this order, with `%`
/// standing for any value.
#[track_caller]
fn check(body: &str) {
    let mut text =
        String::from("function main\nworkgroup 64 1 1\nbinding 0 0 storage written\nb0:\n");
    text.push_str("  %x, %y, %z = load.buffer.3.align16 @0.0, 0\n");
    text.push_str("  %g = u2u16 %x\n  %h = u2u16 %y\n");
    text.push_str(body);
    if !body.contains("return") {
        text.push_str("\n  return\n");
    }
    let ir = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let settings = Settings {
        stop_after: Some("share_moves"),
        ..Settings::default()
    };
    let target = Target::ir3_named("a6xx").expect("it is one");
    let Machine::Ir3(device) = target.machine else {
        panic!("a6xx is no Adreno");
    };
    let mut runner = Runner::with(target, settings);
    if let Err(error) = lower(&ir, &device.parts, Choices::default(), &mut runner) {
        panic!("{error}");
    }
    let ended = runner.ended();
    let got = ended
        .expect("the pass has run")
        .unwrap_or_else(|broken| panic!("{broken}"));
    expect(body, &without_numbers(&got));
}

#[test]
fn halves_stay_halves_until_something_else_wants_them() {
    check(
        "  %s = iadd %g, %h            ; expect: % = add.u %, %
          %t = ixor %s, %h            ; expect: % = xor.b %, %
          %u = iadd %s, %t            ; expect: % = add.u %, %
          %r = u2u32 %u
          store.buffer @0.0, 0, %r    ; expect: stib.b.u32",
    );
}

#[test]
fn an_instruction_converts_its_own_result() {
    check(
        "  %s = ushr %x, 16            ; expect: % = shr.b %, 16
          %t = u2u16 %s
          %a = fadd %t, %g             ; expect: % = add.f %, %
          %b = f2f32 %a
          %r = fmul %b, %y             ; expect: % = mul.f %, %
          store.buffer @0.0, 0, %r     ; expect: stib.b.u32",
    );
}

#[test]
fn a_conversion_that_others_read_is_one() {
    check(
        "  %a = fadd %g, %h            ; expect: % = add.f %, %
          %b = f2f32 %a               ; expect: % = mov.f16f32 %
          %c = fmul %a, %h            ; expect: % = mul.f %, %
          %d = u2u32 %c               ; expect: % = mov.u16u32 %
          store.buffer @0.0, 0, %b
          store.buffer @0.0, 4, %d    ; expect: stib.b.u32",
    );
}

#[test]
fn halves_are_chosen_by_a_boolean_of_their_width() {
    check(
        "  %c = ult %x, %y             ; expect: % = cmps.u.lt %, %
          %s = select %c, %g, %h      ; expect: % = sel.b16 %, %, %
          %r = u2u32 %s               ; expect: % = mov.u16u32 %
          store.buffer @0.0, 0, %r",
    );
}

#[test]
fn a_branch_asks_what_two_booleans_give() {
    check(
        "  %c = ult %x, %y             ; expect: % = cmps.u.lt %, %
          %d = ult %y, %z             ; expect: % = cmps.u.lt %, %
          %e = bor %c, %d             ; expect: % = or.b.p %, %
          branch %e, b1, b2           ; expect: branch %
        b1:
          store.buffer @0.0, 0, %x
          jump b2
        b2:
          return",
    );
}

#[test]
fn elements_of_16_bits_are_accessed_as_such_by_address_and_in_words_by_descriptor() {
    check(
        "  %a, %b = load.shared.w16.2.align4 %x    ; expect: %:% = ldl.u16 %
          store.shared.w16.2.align4 %y, %b, %a    ; expect: stl.u16 %, @%:%
          %c = load.buffer.w16.zero.align2 @0.0, 2  ; expect: ldib.b.u32
          store.buffer @0.0, 0, %c                ; expect: stib.b.u32",
    );
}

#[test]
fn fences_of_one_place_are_one_of_all_their_memories() {
    check(
        "  store.shared 0, %x          ; expect: stl.u32
          fence.shared                ; expect: fence space:shared
          store.shared 0, %y          ; expect: stl.u32
          fence.buffers
          fence.shared                ; expect: fence
          store.shared 0, %z          ; expect: stl.u32
          fence.shared
          barrier                     ; expect: fence
          fence.buffers               ; expect: bar
          store.shared 0, %y          ; expect: stl.u32",
    );
}

/// What lanes have together is known of waves alone.
#[test]
fn subgroups_that_are_no_waves_are_refused() {
    let text = "
function main
workgroup 64 1 1
lanes 32
binding 0 0 storage written
b0:
  %low = ballot true
  store.buffer @0.0, 0, %low
  return
";
    let target = Target::ir3_named("a6xx").expect("it is one");
    let Machine::Ir3(device) = target.machine else {
        panic!("a6xx is no Adreno");
    };
    let ir = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let mut runner = Runner::with(target, Settings::default());
    let lowered = lower(&ir, &device.parts, Choices::default(), &mut runner);
    let refused = lowered.err().map(|error| error.to_string());
    let refused = refused.unwrap_or_default();
    assert!(refused.contains("subgroups of 32 lanes"), "{refused}");
}
