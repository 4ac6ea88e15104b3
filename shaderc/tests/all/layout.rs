//! The order of blocks: what is done on leaving a loop, and where.
use eitri_shaderc::ir::layout::order_blocks;
use eitri_shaderc::ir::parse::parse;
use eitri_shaderc::ir::verify::verify;
use eitri_shaderc::ir::{Alu, Function, Op};
use eitri_shaderc::pass::Runner;
use eitri_shaderc::{Robust, Target, pipeline};

/// The labels in order.
fn order(text: &str) -> String {
    let mut function = parse(text).unwrap();
    order_blocks(&mut function);
    if let Err(violations) = verify(&function) {
        panic!("{}\n{function}", violations[0]);
    }
    let names: Vec<String> = function.layout.iter().map(ToString::to_string).collect();
    names.join(" ")
}

/// A loop that does `work` on its way out.
fn leaves(merge: &str, work: &str) -> String {
    format!(
        "function main
        workgroup 4 1 1
        binding 0 0 storage written
        b0:
          %n = load.buffer @0.0, 0
          jump b1
        b1:
          {merge}
          %i = phi.w32 b0: 0, b3: %j
          %c = ieq %i, %n
          branch %c, b2, b3
        b2:
          {work}
          jump b4
        b3:
          %j = iadd %i, 1
          jump b1
        b4:
          fence
          return"
    )
}

#[test]
fn the_way_out_stands_behind_the_loop_unless_something_convergent_is_done_there() {
    let store = "store.buffer @0.0, 0, %i";
    assert_eq!(order(&leaves("merge b4", store)), "b0 b1 b3 b2 b4");
    assert_eq!(order(&leaves("merge nowhere", store)), "b0 b1 b3 b2 b4");
    assert_eq!(order(&leaves("merge b4", "barrier")), "b0 b1 b2 b3 b4");
    // Where the construct isn't known, it is the natural loop.
    assert_eq!(order(&leaves("", "barrier")), "b0 b1 b3 b2 b4");
    assert_eq!(order(&leaves("merge nowhere", "barrier")), "b0 b1 b2 b4 b3");
}

#[test]
fn what_is_convergent_in_the_loop_or_behind_its_merge_keeps_nothing_inside() {
    let text = leaves("merge b4", "store.buffer @0.0, 0, %i");
    let inside = text.replace("%j = iadd", "barrier\n          %j = iadd");
    assert_eq!(order(&inside), "b0 b1 b3 b2 b4");
    let behind = text.replace("fence", "barrier");
    assert_eq!(order(&behind), "b0 b1 b3 b2 b4");
}

#[test]
fn loops_on_the_way_out_are_in_one_piece() {
    let text = "
        b0:
          %x = local_id.x
          %c = ieq %x, 1
          jump b1
        b1:
          merge b9
          branch %c, b2, b5
        b2:
          merge b4
          branch %c, b3, b4
        b3:
          jump b2
        b4:
          barrier
          jump b9
        b5:
          merge b8
          branch %c, b6, b8
        b6:
          branch %c, b7, b8
        b7:
          jump b5
        b8:
          jump b1
        b9:
          return";
    assert_eq!(order(text), "b0 b1 b2 b3 b4 b5 b6 b7 b8 b9");
}

/// A loop that is left on two ways: over a barrier by returning, and to its merge, which `merge` names. Nothing leads there
/// if `leave` is false.
fn returns(merge: &str, leave: &str, returned: &str) -> String {
    format!(
        "function main
        workgroup 4 1 1
        binding 0 0 storage written
        b0:
          %n = load.buffer @0.0, 0
          jump b1
        b1:
          {merge}
          %i = phi.w32 b0: 0, b4: %j
          %c = ieq %i, %n
          branch %c, b2, b3
        b2:
          barrier
          {returned}
        b3:
          branch {leave}, b5, b4
        b4:
          %j = iadd %i, 1
          jump b1
        b5:
          {returned}
        b6:
          store.buffer @0.0, 4, 1
          return"
    )
}

#[test]
fn a_loop_whose_merge_is_not_reached_any_more_is_left_by_returning() {
    let after_folding = |text: &str| {
        let mut function = parse(text).unwrap();
        let pass = pipeline::passes().find(|pass| pass.name == "dead_flow");
        let pass = pass.unwrap();
        (pass.run)(&mut function, &Target::default());
        if let Err(violations) = verify(&function) {
            panic!("{}\n{function}", violations[0]);
        }
        function
    };
    let way_out = |function: &Function| place(function, |op| matches!(op, Op::Barrier));
    let next_round = |function: &Function| place(function, |op| op == Op::Alu(Alu::IAdd));
    let behind = |function: &Function| place(function, |op| matches!(op, Op::Store(_)));
    // In `main` it ends nowhere.
    let main = after_folding(&returns("merge b5", "false", "return"));
    assert!(way_out(&main) < next_round(&main), "{main}");
    // In a function that was called it ends behind the call, which all lanes reach together.
    let inlined = returns("merge b5 else b6", "false", "jump b6");
    let inlined = after_folding(&inlined);
    assert!(way_out(&inlined) < next_round(&inlined), "{inlined}");
    assert!(next_round(&inlined) < behind(&inlined), "{inlined}");
    // As long as its merge is reached, it ends there: behind the empty b5, which is the same place.
    let text = returns("merge b5 else b6", "%c", "jump b6");
    let kept = after_folding(&text).to_string();
    assert!(kept.contains("merge b6 else"), "{kept}");
    // A place that only the merge leads to is reached as long as the merge is.
    let behind = text.replace("jump b6\n        b3:", "jump b7\n        b3:");
    let behind = behind + "\n        b7:\n          return";
    let kept =
        after_folding(&behind.replace("jump b6", "store.buffer @0.0, 8, 1\n          jump b6"));
    assert!(kept.to_string().contains("merge b5 else unknown"), "{kept}");
}

/// Where the first instruction stands that `is_it`, by block of the layout.
fn place(function: &Function, is_it: impl Fn(Op) -> bool) -> usize {
    let has = |block| {
        let insts = &function.block(block).insts;
        insts.iter().any(|inst| is_it(function.inst(*inst).op))
    };
    function
        .layout
        .iter()
        .position(|block| has(*block))
        .unwrap()
}

#[test]
fn it_does_so_at_the_end_of_the_pipeline() {
    let mut function = parse(&leaves("merge b4", "barrier")).unwrap();
    pipeline::lower(
        &mut function,
        Robust::Off,
        &mut Runner::new(Target::default(), &[]),
    );
    let way_out = place(&function, |op| matches!(op, Op::Barrier));
    let next_round = place(&function, |op| op == Op::Alu(Alu::IAdd));
    assert!(way_out < next_round, "{function}");
}

#[test]
fn a_loop_in_a_loop_stays_one_where_nothing_stands_between_their_beginnings() {
    // b1 is empty, and where the outer loop ends isn't known. Without it the inner loop would be both, and end inside of
    // itself.
    let text = "function main
        workgroup 4 1 1
        binding 0 0 storage written
        b0:
          %n = load.buffer @0.0, 0
          %d = ieq %n, 3
          jump b1
        b1:
          jump b2
        b2:
          merge b4
          %i = phi.w32 b1: 0, b3: %j
          %c = ult %i, %n
          branch %c, b3, b4
        b3:
          barrier
          %j = iadd %i, 1
          jump b2
        b4:
          branch %d, b1, b5
        b5:
          store.buffer @0.0, 4, %i
          return";
    let mut function = parse(text).unwrap();
    verify(&function).unwrap();
    let pass = pipeline::passes().find(|pass| pass.name == "dead_flow");
    Runner::new(Target::default(), &[]).run(&mut function, pass.unwrap());
    let after = function.to_string();
    assert!(after.contains("merge b4"), "{after}");
    assert!(verify(&function).is_ok(), "{after}");
}

#[test]
fn a_merge_from_which_its_loop_goes_on_is_none() {
    let text = "
        b0:
          %x = local_id.x
          %c = ieq %x, 3
          jump b1
        b1:
          merge b2
          barrier
          branch %c, b3, b2
        b2:
          branch %c, b1, b4
        b3:
          jump b4
        b4:
          return";
    let text = format!("function main\nworkgroup 4 1 1\n{text}");
    assert_eq!(order(&text), "b0 b1 b2 b3 b4");
}

#[test]
fn a_merge_in_the_middle_of_a_later_loop_is_none() {
    // The loop of b4 would begin inside of the construct of b1 and go on outside of it.
    let text = "
        b0:
          %x = local_id.x
          %c = ieq %x, 3
          jump b1
        b1:
          merge b5
          branch %c, b2, b3
        b2:
          jump b1
        b3:
          barrier
          jump b4
        b4:
          merge b6
          branch %c, b5, b6
        b5:
          jump b4
        b6:
          return";
    let text = format!("function main\nworkgroup 4 1 1\n{text}");
    assert_eq!(order(&text), "b0 b1 b2 b3 b4 b5 b6");
    // One that begins such a loop is outside of it.
    let text = text.replace("merge b5", "merge b4");
    assert_eq!(order(&text), "b0 b1 b3 b2 b4 b5 b6");
    let kept = parse(&text).map(|mut function| {
        order_blocks(&mut function);
        function.to_string()
    });
    assert!(kept.unwrap().contains("merge b4"));
}
