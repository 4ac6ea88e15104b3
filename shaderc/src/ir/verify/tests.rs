//! Each rule of the verifier that a text can't break, or that no other test breaks.

use super::*;
use crate::ir::parse::parse;
use crate::ir::{Access, Alu, Builder, Space};
use crate::target::Target;

/// What the verifier reports of a function, one violation a line.
fn violations(function: &Function) -> String {
    let all = verify(function).err().unwrap_or_default();
    let lines: Vec<String> = all.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[track_caller]
fn check_text(body: &str, expected: &str) {
    let text = format!("function main\nworkgroup 4 1 1\nbinding 0 0 storage written\n{body}");
    let function = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(violations(&function), expected, "{function}");
}

/// The rules that two instructions in one block break after `change`, one a line.
#[track_caller]
fn check_changed(change: impl Fn(&mut Function, BlockId), expected: &str) {
    let text = "function main
        b0:
          %x = iadd 1, 2
          %y = iadd %x, 3
          return";
    let mut function = parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(violations(&function), "");
    let block = function.entry();
    change(&mut function, block);
    let all = verify(&function).err().unwrap_or_default();
    let rules: Vec<String> = all.iter().map(|it| it.rule.to_string()).collect();
    assert_eq!(rules.join("\n"), expected);
}

#[test]
fn a_function_has_a_block() {
    let function = Function::new("main");
    assert_eq!(violations(&function), "a function has at least one block");
}

#[test]
fn targets_are_blocks_of_the_layout() {
    // Neither the first number that no block has nor a later one may be used to index tables of blocks.
    for beyond in [1, 2, u32::MAX] {
        check_changed(
            |function, block| {
                function.block_mut(block).terminator = Terminator::Jump(BlockId(beyond));
            },
            &format!("b{beyond} is not in the layout"),
        );
    }
    check_changed(
        |function, block| {
            let detached = function.new_detached_block();
            function.block_mut(block).terminator = Terminator::Jump(detached);
        },
        "b1 is not in the layout",
    );
    check_changed(
        |function, block| function.layout.push(block),
        "the block stands in the layout twice",
    );
}

#[test]
fn alternatives_differ() {
    let ends = "
        b1:
          return
        b2:
          return";
    check_text(
        "b0:
          %c = ieq 1, 2
          branch %c, b1, b1
        b1:
          return",
        "b0: `branch %2, b1, b1`: two alternatives are the same",
    );
    check_text(
        &format!("b0:\n  %x = local_id.x\n  switch %x, 1: b1, 1: b2, default: b2{ends}"),
        "b0: `switch %0, 1: b1, 1: b2, default: b2`: two alternatives are the same",
    );
    check_text(
        &format!("b0:\n  %x = local_id.x\n  switch %x, 1: b1, 2: b1, default: b2{ends}"),
        "",
    );
}

#[test]
fn terminators_read_a_condition_or_a_word() {
    let ends = "
        b1:
          return
        b2:
          return";
    check_text(
        &format!("b0:\n  %x = local_id.x\n  branch %x, b1, b2{ends}"),
        "b0: `branch %0, b1, b2`: operand %0 must be bool",
    );
    check_text(
        &format!("b0:\n  %c = ieq 1, 2\n  switch %c, 1: b1, default: b2{ends}"),
        "b0: `switch %2, 1: b1, default: b2`: operand %2 must be w32",
    );
}

#[test]
fn edges_go_down_but_for_those_of_loops() {
    check_text(
        "b0:
          jump b2
        b1:
          return
        b2:
          jump b1",
        "b2: goes up to b1, which doesn't dominate this block",
    );
    let two_entries = parse(
        "function main
        b0:
          %c = ieq 1, 2
          branch %c, b1, b2
        b1:
          jump b2
        b2:
          branch %c, b1, b3
        b3:
          return",
    );
    let reported = violations(&two_entries.unwrap_or_else(|error| panic!("{error}")));
    assert!(reported.contains("from the side"), "{reported}");
    check_text(
        "b0:
          %c = ieq 1, 2
          jump b1
        b1:
          branch %c, b2, b3
        b2:
          return
        b3:
          jump b1",
        "b2: stands inside the loop of b1 but isn't part of it",
    );
}

#[test]
fn instructions_stand_once_and_have_their_operands_and_results() {
    check_changed(
        |function, block| {
            let second = function.block(block).insts[1];
            function.block_mut(block).insts.push(second);
        },
        "the instruction stands in two places",
    );
    check_changed(
        |function, block| {
            let first = function.block(block).insts[0];
            function.inst_mut(first).args.pop();
        },
        "needs 2 operands",
    );
    check_changed(
        |function, block| {
            let second = function.block(block).insts[1];
            function.inst_mut(second).results.pop();
        },
        "needs 1 results",
    );
    check_changed(
        |function, block| {
            let yes = function.bool(true);
            let [first, second] = function.block(block).insts[..] else {
                panic!("two instructions");
            };
            function.inst_mut(first).args[1] = yes;
            function.inst_mut(second).results[0] = yes;
        },
        "operand %5 must be w32\nresult %5 must be w32",
    );
}

#[test]
fn values_are_defined_before_they_are_read() {
    check_changed(
        |function, block| function.block_mut(block).insts.swap(0, 1),
        "%2 isn't defined on every path to here",
    );
    check_changed(
        |function, block| {
            function.block_mut(block).insts.remove(0);
        },
        "%2 is defined in no block",
    );
    check_changed(
        |function, block| {
            // An instruction that reads its own result.
            let first = function.block(block).insts[0];
            let own = function.inst(first).results[0];
            function.inst_mut(first).args[0] = own;
        },
        "%2 isn't defined on every path to here",
    );
}

#[test]
fn accesses_have_one_to_four_aligned_elements() {
    let wrong = "1 to 4 elements (an atomic: 1 of 32 or 64 bits), aligned to 1 to 16 bytes, small ones held in words";
    let word = Access::words(Space::Shared, 1);
    let with = |change: fn(&mut Access)| {
        let mut access = word;
        change(&mut access);
        access
    };
    let cases = [
        (with(|access| access.count = 4), true),
        (with(|access| access.count = 5), false),
        (with(|access| access.count = 0), false),
        (with(|access| access.align = 16), true),
        (with(|access| access.align = 32), false),
        (with(|access| access.align = 3), false),
        (with(|access| access.align = 0), false),
        (with(|access| access.held = Held::Zero), false),
        (with(|access| access.elem = Type::Bool), false),
        (
            with(|access| (access.elem, access.held) = (Type::W16, Held::Zero)),
            true,
        ),
    ];
    for (access, is_right) in cases {
        let mut function = Function::new("main");
        function.shared_bytes = 16;
        let block = function.new_block();
        let zero = function.word(0);
        Builder::new(&mut function, block).inst(Op::Load(access), &[zero]);
        function.block_mut(block).terminator = Terminator::Return;
        let reported = violations(&function);
        assert_eq!(
            !reported.contains(wrong),
            is_right,
            "{access:?}: {reported}"
        );
    }
}

#[test]
fn an_operation_has_a_width() {
    let mut function = Function::new("main");
    let block = function.new_block();
    let byte = function.constant_of(Type::W8, 1);
    Builder::new(&mut function, block).inst(Op::Alu(Alu::FAdd), &[byte, byte]);
    function.block_mut(block).terminator = Terminator::Return;
    let reported = violations(&function);
    assert!(
        reported.ends_with("the operation has no form for w8"),
        "{reported}"
    );
}

#[test]
fn elements_of_bindings_exist() {
    check_text(
        "b0:
          %x = load.buffer @0.0, 0
          return",
        "",
    );
    let text = "function main
        binding 0 0 storage written
        b0:
          %x = load.buffer @0.0, 0
          return";
    let mut function = parse(text).unwrap_or_else(|error| panic!("{error}"));
    function.bindings[0].count = 0;
    let reported = violations(&function);
    assert!(
        reported.ends_with("is no element of a binding"),
        "{reported}"
    );
    function.bindings.clear();
    let reported = violations(&function);
    assert!(
        reported.ends_with("is no element of a binding"),
        "{reported}"
    );
}

/// The rules of the lowered form that a function breaks which breaks no other, one a line.
#[track_caller]
fn check_lowered(body: &str, expected: &str) {
    let text = format!("function main\nworkgroup 4 1 1\nbinding 0 0 storage written\n{body}");
    let function = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(violations(&function), "", "{function}");
    let all = lowered(&function, &Target::default())
        .err()
        .unwrap_or_default();
    let rules: Vec<String> = all.iter().map(|it| it.rule.to_string()).collect();
    assert_eq!(rules.join("\n"), expected, "{function}");
}

#[test]
fn the_lowered_form_has_no_switch_and_no_critical_edge() {
    check_lowered(
        "b0:
          %x = local_id.x
          switch %x, 1: b1, default: b2
        b1:
          return
        b2:
          return",
        "not allowed in the lowered form",
    );
    check_lowered(
        "b0:
          %x = local_id.x
          %c = ieq %x, 1
          branch %c, b1, b2
        b1:
          jump b2
        b2:
          return",
        "the edge to b2 is critical",
    );
}

#[test]
fn the_lowered_form_has_a_constant_last() {
    for (sum, expected) in [
        ("iadd %x, 1", ""),
        ("iadd 2, 1", ""),
        ("isub 1, %x", ""),
        ("iadd 1, %x", "the constant must be the last operand"),
    ] {
        let body = format!("b0:\n  %x = local_id.x\n  %y = {sum}\n  return");
        check_lowered(&body, expected);
    }
}

#[test]
fn the_lowered_form_has_accesses_as_the_machine_does() {
    for (load, expected) in [
        ("%a = load.buffer @0.0, 0", ""),
        ("%a, %b = load.buffer.2.align8 @0.0, 0", ""),
        (
            "%a, %b = load.buffer.2 @0.0, 0",
            "not allowed in the lowered form",
        ),
        ("%a, %b, %c = load.buffer.3.align16 @0.0, 0", ""),
        (
            "%a, %b, %c = load.buffer.3.align8 @0.0, 0",
            "not allowed in the lowered form",
        ),
        ("%a = load.buffer.w8.zero @0.0, 0", ""),
        (
            "%a, %b = load.buffer.w8.2.zero.align2 @0.0, 0",
            "not allowed in the lowered form",
        ),
    ] {
        check_lowered(&format!("b0:\n  {load}\n  return"), expected);
    }
}
