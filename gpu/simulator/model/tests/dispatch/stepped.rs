//! A dispatch that is stepped through, an instruction at a time: what is seen between two instructions, and that it does what it does
//! without.

use super::bench::Bench;
use super::{BUFFER, Dispatch};
use eitri_model::{Budget, Event, Nanoseconds, Sink};
use std::cell::RefCell;
use std::rc::Rc;

/// A workgroup's number, and whether it began.
type Step = ([u32; 3], bool);

/// Workgroups that began and ended, in order.
#[derive(Clone, Default)]
struct Workgroups(Rc<RefCell<Vec<Step>>>);

impl Sink for Workgroups {
    fn event(&mut self, _: Nanoseconds, event: Event) {
        if let Event::Workgroup { id, begun, .. } = event {
            self.0.borrow_mut().push((id, begun));
        }
    }
}

/// A barrier between two stores.
const TEXT: &str = "
    SHADDX.u64 r0, u0, r60.w0, shift:0x2
    BARRIER.slot7.wait
    STORE.i32.slot0 @r60, r0, offset:0
    NOP.wait0
    NOP.end";

#[test]
fn between_two_instructions_a_warp_is_next_and_every_workgroup_begins_and_ends() {
    // More workgroups than cores, of two warps each.
    let dispatch = Dispatch {
        size: [32, 1, 1],
        groups: [6, 1, 1],
        ..Dispatch::default()
    };
    let mut bench = dispatch.prepare(TEXT);
    let told = Workgroups::default();
    bench.gpu.trace_to(Some(Box::new(told.clone())));
    dispatch.submit(&mut bench);
    let one = Budget {
        time: 1000,
        instructions: 1,
    };
    for _ in 0..10_000 {
        if bench.gpu.dispatch().is_some() {
            break;
        }
        bench.gpu.run(&mut bench.memory, one);
    }
    assert!(bench.gpu.dispatch().is_some(), "the job does not begin");
    let mut steps = 0;
    // Fourteen instructions of each of twelve warps are less.
    while steps < 1000 {
        bench.gpu.settle_dispatch();
        if let Some(view) = bench.gpu.dispatch()
            && let Some(group) = view.workgroup
        {
            assert!(
                group.next.is_some(),
                "step {steps}: no warp of workgroup {:?} can go on",
                group.id
            );
        }
        let Bench { gpu, memory, .. } = &mut bench;
        if !gpu.step_dispatch(memory) {
            break;
        }
        steps += 1;
    }
    bench.drain(0);
    bench.gpu.trace_to(None);
    for thread in 0..192 {
        let found = bench.get32(1, BUFFER + 4 * u64::from(thread));
        assert_eq!(found, thread, "the word of the thread");
    }
    let mut told = told.0.take();
    told.sort_unstable();
    let wanted: Vec<_> = (0..6)
        .flat_map(|x| [false, true].map(|begun| ([x, 0, 0], begun)))
        .collect();
    assert_eq!(
        told, wanted,
        "workgroups that began (true) and ended (false)"
    );
    bench.expect_no_diagnoses();
}
