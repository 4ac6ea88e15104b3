//! The stepper: dispatches that run one instruction of one warp at a time.
use crate::interp::{
    Buffer, CodePlace, Dispatch, End, LanePlace, LaneSet, Object, Resources, Stepper, Touch, Trap,
};
use crate::ir::parse::parse;
use crate::ir::{BindingId, FragmentStage, Function, Op, Stage, Value, Var};

fn dispatch(groups: [u32; 3]) -> Dispatch {
    Dispatch {
        groups,
        push_constants: vec![],
        step_limit: 100_000,
    }
}

/// Words of zero at binding 0 of set 0.
fn zeros(words: usize) -> Resources {
    let bytes = vec![0; 4 * words];
    Resources {
        buffers: [((0, 0, 0), Buffer { bytes })].into(),
        ..Resources::default()
    }
}

fn word(stepper: &Stepper<'_>, number: usize) -> u32 {
    let bytes = stepper.buffer(BindingId(0), 0).unwrap();
    u32::from_le_bytes(bytes[4 * number..][..4].try_into().unwrap())
}

/// Runs to the end, of which it must come to one; the warp of each step and what it executed.
#[track_caller]
fn run(function: &Function, stepper: &mut Stepper<'_>) -> Vec<(usize, Option<Op>)> {
    let mut steps = vec![];
    while let Some(ahead) = stepper.ahead() {
        let op = match ahead.place {
            CodePlace::Inst(inst) => Some(function.inst(inst).op),
            CodePlace::End(_) => None,
        };
        steps.push((ahead.warp, op));
        assert!(steps.len() < 100_000, "it does not end");
        stepper.step();
    }
    steps
}

/// Two warps: lanes of the second one take more steps before the barrier.
const BARRIER: &str = "
function main
workgroup 32 1 1
shared 128
binding 0 0 storage written
b0:
  %id = local_id.x
  %at = ishl %id, 2
  %late = ult 15, %id
  branch %late, b1, b2
b1:
  %mine = imul %id, 3
  store.shared %at, %mine
  jump b3
b2:
  store.shared %at, %id
  jump b3
b3:
  barrier
  %from = isub 124, %at
  %other = load.shared %from
  store.buffer @0.0, %at, %other
  return
";

/// A warp has its turn until it waits or ends.
#[test]
fn warps_run_one_after_the_other_up_to_each_barrier() {
    let function = parse(BARRIER).unwrap();
    let dispatch = dispatch([1; 3]);
    let mut stepper = Stepper::new(&function, &dispatch, &zeros(32)).unwrap();
    assert_eq!(
        (stepper.warps(), stepper.lanes(0), stepper.lanes(2)),
        (2, 16, 0)
    );
    let steps = run(&function, &mut stepper);
    assert_eq!(stepper.end(), Some(&End::Done));
    let mut turns: Vec<(usize, usize)> = vec![];
    for (warp, _) in &steps {
        match turns.last_mut() {
            Some((last, count)) if last == warp => *count += 1,
            _ => turns.push((*warp, 1)),
        }
    }
    // Up to the barrier and with it: the start has four steps, then two or three and the jump. Behind it are four.
    assert_eq!(turns, [(0, 7), (1, 8), (0, 4), (1, 4)]);
    let barriers = steps.iter().filter(|(_, op)| *op == Some(Op::Barrier));
    assert_eq!(barriers.count(), 2);
    for number in 0..32 {
        let from = 31 - number;
        let expected = if from > 15 { 3 * from } else { from };
        assert_eq!(word(&stepper, number as usize), expected);
    }
}

/// A warp that goes round until another one has stored gives way to it.
#[test]
fn a_warp_that_waits_for_another_in_a_loop_gives_way() {
    let text = |first: &str| {
        format!(
            "
function main
workgroup 32 1 1
binding 0 0 storage written
b0:
  %id = local_id.x
  %waits = {first}
  branch %waits, b1, b2
b1:
  %word = atomic.add.buffer @0.0, 0, 0
  %on = ieq %word, 0
  branch %on, b1, b3
b2:
  %old = atomic.add.buffer @0.0, 0, 1
  jump b3
b3:
  return
"
        )
    };
    for first in ["ult %id, 16", "ult 15, %id"] {
        let function = parse(&text(first)).unwrap_or_else(|error| panic!("{error}"));
        let dispatch = dispatch([1; 3]);
        let mut stepper = Stepper::new(&function, &dispatch, &zeros(1)).unwrap();
        run(&function, &mut stepper);
        assert_eq!((stepper.end(), word(&stepper, 0)), (Some(&End::Done), 16));
    }
}

#[test]
fn lanes_that_miss_a_barrier_are_told() {
    let text = BARRIER
        .replace("jump b3\nb2", "barrier\n  jump b3\nb2")
        .replace("ult 15", "ult 3");
    let function = parse(&text).unwrap();
    let dispatch = dispatch([1; 3]);
    let mut stepper = Stepper::new(&function, &dispatch, &zeros(32)).unwrap();
    run(&function, &mut stepper);
    assert_eq!(stepper.end(), Some(&End::Diverged));
    let waits: Vec<Op> = [0, 4, 20]
        .map(|lane| match stepper.lane_place(lane / 16, lane % 16) {
            Some(LanePlace::Barrier(inst)) => function.inst(inst).op,
            other => panic!("lane {lane}: {other:?}"),
        })
        .into();
    assert_eq!(waits, [Op::Barrier; 3]);
    assert_ne!(stepper.lane_place(0, 0), stepper.lane_place(0, 4));
    assert_eq!(stepper.lane_place(0, 4), stepper.lane_place(1, 4));
    // There is nothing to execute.
    let before = stepper.clone();
    stepper.step();
    assert_eq!((stepper.ahead(), stepper.end()), (None, before.end()));
}

/// Workgroups run one after the other, the first number quickest, each with shared memory of zeros.
#[test]
fn workgroups_run_in_order() {
    let function = parse(
        "
function main
workgroup 2 1 1
shared 8
binding 0 0 storage written
b0:
  %id = local_id.x
  %at = ishl %id, 2
  %x = global_id.x
  %y = global_id.y
  %z = global_id.z
  %old = load.shared %at
  store.shared %at, 77
  %sum = iadd %x, %old
  %row = imul %y, 4
  %plane = imul %z, 12
  %in_row = iadd %sum, %row
  %number = iadd %in_row, %plane
  %to = ishl %number, 2
  %more = iadd %number, 100
  store.buffer @0.0, %to, %more
  return
",
    )
    .unwrap();
    let dispatch = dispatch([2, 3, 2]);
    let mut stepper = Stepper::new(&function, &dispatch, &zeros(24)).unwrap();
    let mut groups: Vec<[u32; 3]> = vec![];
    while stepper.ahead().is_some() {
        if groups.last() != Some(&stepper.workgroup()) {
            groups.push(stepper.workgroup());
            let [x, y, z] = stepper.workgroup();
            assert_eq!(stepper.shared(), [0; 8]);
            assert_eq!(
                stepper.invocation(0, 1),
                Some(([1, 0, 0], [2 * x + 1, y, z]))
            );
        }
        stepper.step();
    }
    let order = (0..12).map(|number| [number % 2, number / 2 % 3, number / 6]);
    assert_eq!(groups, order.collect::<Vec<_>>());
    assert_eq!(stepper.end(), Some(&End::Done));
    assert_eq!(stepper.invocation(0, 2), None);
    for number in 0..24 {
        assert_eq!(word(&stepper, number), 100 + number as u32);
    }
    // No workgroup at all is the end at once.
    let none = self::dispatch([2, 0, 2]);
    let stepper = Stepper::new(&function, &none, &zeros(24)).unwrap();
    assert_eq!((stepper.ahead(), stepper.end()), (None, Some(&End::Done)));
}

/// Values, variables and memory as they are between two steps.
#[test]
fn between_steps_all_can_be_seen() {
    let function = parse(
        "
function main
workgroup 4 1 1
shared 16
binding 0 0 storage written
var v0 w32 3
b0:
  %id = local_id.x
  %at = ishl %id, 2
  %small = ult %id, 2
  branch %small, b1, b2
b1:
  store.v0 2, %at
  %more = iadd %id, 7
  store.shared %at, %more
  jump b3
b2:
  jump b3
b3:
  %kept = load.v0 2
  store.buffer @0.0, %at, %kept
  return
",
    )
    .unwrap();
    let dispatch = dispatch([1; 3]);
    let mut stepper = Stepper::new(&function, &dispatch, &zeros(4)).unwrap();
    let value = |wanted: Op, stepper: &Stepper<'_>, lane: usize| {
        let mut insts = function
            .layout
            .iter()
            .flat_map(|block| &function.block(*block).insts);
        let inst = insts
            .find(|inst| function.inst(**inst).op == wanted)
            .unwrap();
        stepper.value(0, lane, function.inst(*inst).results[0])
    };
    let add = Op::Alu(crate::ir::Alu::IAdd);
    let shift = Op::Alu(crate::ir::Alu::IShl);
    let op_ahead = |stepper: &Stepper<'_>| match stepper.ahead().unwrap().place {
        CodePlace::Inst(inst) => Some(function.inst(inst).op),
        CodePlace::End(_) => None,
    };
    let all = LaneSet(0b1111);
    assert_eq!(stepper.ahead().unwrap().lanes, all);
    assert_eq!(value(shift, &stepper, 3), None, "it was not executed");
    stepper.step();
    stepper.step();
    assert_eq!(
        [0, 3].map(|lane| value(shift, &stepper, lane)),
        [Some(0), Some(12)]
    );
    assert_eq!(value(shift, &stepper, 4), None, "there is no such lane");
    assert_eq!(stepper.value(1, 0, Value(0)), None, "there is no such warp");
    assert_eq!(stepper.touches(), []);
    // The lower half of the lanes comes first.
    while op_ahead(&stepper) != Some(Op::StoreVar(Var(0))) {
        stepper.step();
    }
    let ahead = stepper.ahead().unwrap();
    assert_eq!(ahead.lanes, LaneSet(0b0011));
    assert_eq!(stepper.lane_place(0, 1), Some(LanePlace::At(ahead.place)));
    assert_ne!(stepper.lane_place(0, 2), Some(LanePlace::At(ahead.place)));
    let checkpoint = stepper.clone();
    let of_var = |lane: usize, writes: bool| Touch {
        lane,
        object: Object::Var(Var(0)),
        start: 2,
        len: 1,
        writes,
    };
    assert_eq!(stepper.touches(), [of_var(0, true), of_var(1, true)]);
    assert_eq!(stepper.var(0, 1, Var(0), 2), Some(0));
    stepper.step();
    assert_eq!(
        [0, 1, 2].map(|lane| stepper.var(0, lane, Var(0), 2)),
        [Some(0), Some(4), Some(0)]
    );
    assert_eq!(stepper.var(0, 1, Var(0), 1), Some(0));
    assert_eq!(stepper.var(0, 1, Var(0), 3), None, "it has three elements");
    stepper.step();
    assert_eq!(
        [1, 2].map(|lane| value(add, &stepper, lane)),
        [Some(8), None],
        "the others have not come there"
    );
    let shared = stepper.touches();
    let of_shared = |lane: usize| Touch {
        lane,
        object: Object::Shared,
        start: 4 * lane as u64,
        len: 4,
        writes: true,
    };
    assert_eq!(shared, [of_shared(0), of_shared(1)]);
    stepper.step();
    assert_eq!(stepper.shared()[..8], [7, 0, 0, 0, 8, 0, 0, 0]);
    while op_ahead(&stepper) != Some(Op::LoadVar(Var(0))) {
        stepper.step();
    }
    let lanes = stepper.ahead().unwrap().lanes;
    assert!(stepper.touches().iter().all(|touch| !touch.writes));
    assert_eq!(stepper.touches().len(), lanes.iter().count());
    stepper.step();
    let of_buffer: Vec<Touch> = lanes
        .iter()
        .map(|lane| Touch {
            lane,
            object: Object::Buffer(BindingId(0), 0),
            start: 4 * lane as u64,
            len: 4,
            writes: true,
        })
        .collect();
    assert_eq!(stepper.touches(), of_buffer);
    let steps = run(&function, &mut stepper);
    assert!(!steps.is_empty());
    assert_eq!(stepper.lane_place(0, 3), Some(LanePlace::Ended));
    // A checkpoint goes on as if nothing had been since.
    let mut again = checkpoint.clone();
    assert_eq!(
        (again.ahead(), again.var(0, 1, Var(0), 2)),
        (Some(ahead), Some(0))
    );
    run(&function, &mut again);
    let [mut first, mut second] = [zeros(4), zeros(4)];
    assert_eq!(
        [0, 1, 2, 3].map(|number| word(&again, number)),
        [0, 4, 0, 0]
    );
    stepper.save(&mut first);
    again.save(&mut second);
    assert_eq!(first.buffers, second.buffers);
}

#[test]
fn a_dispatch_that_cannot_begin_is_refused() {
    let function = parse(BARRIER).unwrap();
    let dispatch = dispatch([1; 3]);
    let unbound = Stepper::new(&function, &dispatch, &Resources::default());
    assert_eq!(unbound.err(), Some(Trap::Unbound(0, 0, 0)));
    let mut vertices = parse("function main\nworkgroup 1 1 1\nb0:\n  return\n").unwrap();
    vertices.stage = Stage::Fragment(FragmentStage::default());
    let refused = Stepper::new(&vertices, &dispatch, &Resources::default());
    assert_eq!(refused.err(), Some(Trap::Stage("fragment".to_owned())));
}

/// Bindings are found by set, number and element.
#[test]
fn elements_of_bindings_have_names() {
    let text = BARRIER.replace(
        "binding 0 0 storage written",
        "binding 0 0 storage written\nbinding 1 3 storage count 2",
    );
    let function = parse(&text).unwrap();
    let dispatch = dispatch([1; 3]);
    let mut resources = zeros(32);
    for (element, bytes) in [(0, 8), (1, 12)] {
        let bytes = vec![element as u8; bytes];
        resources.buffers.insert((1, 3, element), Buffer { bytes });
    }
    let stepper = Stepper::new(&function, &dispatch, &resources).unwrap();
    assert_eq!(stepper.element((0, 0, 0)), Some((BindingId(0), 0)));
    assert_eq!(stepper.element((1, 3, 1)), Some((BindingId(1), 1)));
    assert_eq!(
        [(0, 0, 1), (1, 3, 2), (1, 0, 0)].map(|key| stepper.element(key)),
        [None; 3]
    );
    assert_eq!(stepper.buffer(BindingId(1), 1), Some(&[1; 12][..]));
    assert_eq!(stepper.buffer(BindingId(1), 2), None);
}

/// What lies outside of memory is left out, and the dispatch goes on.
#[test]
fn accesses_outside_give_zero() {
    let function = parse(BARRIER).unwrap();
    let dispatch = dispatch([1; 3]);
    let mut stepper = Stepper::new(&function, &dispatch, &zeros(4)).unwrap();
    run(&function, &mut stepper);
    assert_eq!(stepper.end(), Some(&End::Done));
    assert_eq!(word(&stepper, 3), 3 * 28);
}
