//! The order of blocks: what is done on leaving a loop stands inside of it.
use eitri_shaderc::ir::layout::order_blocks;
use eitri_shaderc::ir::parse::parse;
use eitri_shaderc::ir::verify::verify;
use eitri_shaderc::ir::{Function, Op, Terminator};
use eitri_shaderc::{Options, Robust, front_end};

use crate::support::wgsl;

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

#[test]
fn the_way_out_stands_before_the_next_round() {
    let text = |merge: &str| {
        format!(
            "function main
            workgroup 4 1 1
            binding 0 0 storage handle 0x1000000 written
            b0:
              jump b1
            b1:
              {merge}
              %i = phi.w32 b0: 0, b3: %j
              %c = ieq %i, 7
              branch %c, b2, b3
            b2:
              store.buffer 0x1000000, 0, %i
              jump b4
            b3:
              %j = iadd %i, 1
              jump b1
            b4:
              fence
              return"
        )
    };
    assert_eq!(order(&text("merge b4")), "b0 b1 b2 b3 b4");
    // Where the construct isn't known, it is the natural loop.
    assert_eq!(order(&text("")), "b0 b1 b3 b2 b4");
    assert_eq!(order(&text("merge nowhere")), "b0 b1 b2 b4 b3");
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
          fence
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
    // A round of the loop has a barrier of memory, so that it can be told.
    let source = "
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(16) fn main(@builtin(local_invocation_id) l: vec3u) {
            var i = 0u;
            let n = o[0];
            loop { if (i == (l.x & n)) { o[l.x] = i * 10u; break; } i++; storageBarrier(); }
        }";
    let options = Options {
        robust: Robust::Off,
        ..Default::default()
    };
    let function = front_end(&wgsl::compile(source), &options)
        .unwrap()
        .function;
    let store = place(&function, |op| matches!(op, Op::Store(_)));
    let next = place(&function, |op| matches!(op, Op::Barrier | Op::Fence));
    assert!(store < next, "{function}");
    let end = function
        .layout
        .iter()
        .position(|block| function.block(*block).terminator == Terminator::Return);
    assert!(end.unwrap() > next, "{function}");
}
