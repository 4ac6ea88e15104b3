//! Going back gives what was there, and the execution computes what the interpreter does.

use crate::shader::{SUM, Shader};
use eitri_debugger::execution::Execution;
use eitri_debugger::session::{Backward, Motion, Session};
use eitri_debugger::source::SourceLevel;
use eitri_debugger::stops::{Location, Stop};
use eitri_shaderc::interp::interpret_with;

/// All that a person can see of a state.
fn seen(session: &Session<SourceLevel<'_>>) -> String {
    let now = session.now();
    let mut text = format!("{:?} {:?}\n", now.ahead(), now.workgroup());
    for thread in 0..now.threads() {
        let path = session.frames(thread).first().map_or(0, |frame| frame.path);
        for scope in 0..now.scopes().len() {
            for node in now.nodes(scope, thread, path) {
                text += &format!("{} {}\n", node.name, node.show_lanes(now, thread, 0));
            }
        }
    }
    text
}

#[test]
fn a_step_is_the_same_from_wherever_it_is_reached() {
    let shader = Shader::new(SUM, 2, 256);
    let mut session = shader.session();
    let mut states = vec![];
    while session.now().ahead().is_some() {
        if session.time().is_multiple_of(37) {
            states.push((session.time(), seen(&session)));
        }
        session.go_to(session.time() + 1);
    }
    assert!(states.len() > 10);
    for (time, state) in states.iter().rev() {
        session.go_to(*time);
        assert_eq!(seen(&session), *state, "step {time}, from behind");
    }
    for (time, state) in states {
        session.go_to(time);
        assert_eq!(seen(&session), state, "step {time}, from before");
    }
}

#[test]
fn stops_on_the_way_back_are_those_of_the_way_forward() {
    let shader = Shader::new(SUM, 2, 256);
    let mut session = shader.session();
    for line in [4, 13, 21] {
        session
            .add_breakpoint(Location::Line(0, line), None)
            .unwrap();
    }
    session.add_breakpoint(Location::Address(0), None).unwrap();
    // Before the first step too.
    let mut forward = vec![(0, session.stop_at_start().unwrap())];
    loop {
        let stop = session.go(Motion::Continue, 0, u64::MAX);
        if let Stop::End(_) = stop {
            break;
        }
        forward.push((session.time(), stop));
    }
    assert!(forward.len() > 20, "{forward:?}");
    let mut back = vec![];
    loop {
        let stop = session.reverse_continue();
        if stop == Stop::Beginning {
            break;
        }
        back.push((session.time(), stop));
    }
    back.reverse();
    assert_eq!(back, forward);
}

/// A search is made in slices, and until it has found something nothing has changed.
#[test]
fn a_search_that_is_paused_has_gone_nowhere() {
    let shader = Shader::new(SUM, 1, 128);
    for way in [Backward::Continue, Backward::Line, Backward::Instruction] {
        let mut session = shader.session();
        session.add_breakpoint(Location::Line(0, 20), None).unwrap();
        session.go(Motion::Continue, 0, u64::MAX);
        session.go(Motion::Continue, 0, u64::MAX);
        let (time, address) = (session.time(), session.address(0));
        session.begin_back(way, 0);
        assert_eq!(session.advance(1), None, "{way:?}");
        assert!(session.is_moving());
        assert_eq!(session.pause(), Stop::Pause);
        assert_eq!((session.time(), session.address(0)), (time, address));
        // Step by step it comes to where it comes at once.
        let mut whole = session.clone();
        whole.begin_back(way, 0);
        let at_once = whole.advance(u64::MAX);
        session.begin_back(way, 0);
        let in_slices = (0..time * 4).find_map(|_| session.advance(1));
        assert_eq!((in_slices, session.time()), (at_once, whole.time()));
        assert!(session.time() < time);
    }
}

#[test]
fn a_line_back_is_undone_by_a_line_forward() {
    let shader = Shader::new(SUM, 1, 128);
    let mut session = shader.session();
    session.add_breakpoint(Location::Line(0, 20), None).unwrap();
    session.go(Motion::Continue, 0, u64::MAX);
    let (time, thread) = (session.time(), 0);
    assert_eq!(session.reverse_line(thread), Stop::Step);
    let line = session.frames(thread)[0].line.clone().unwrap().line;
    assert!((15..20).contains(&line), "{line}");
    while session.time() < time {
        session.go(Motion::Over, thread, u64::MAX);
    }
    assert_eq!(session.time(), time);
}

#[test]
fn what_is_stepped_through_computes_what_is_run() {
    let shader = Shader::new(SUM, 2, 256);
    let mut expected = shader.resources();
    interpret_with(&shader.function, &shader.dispatch, &mut expected).unwrap();
    let mut session = shader.session();
    let stop = session.go(Motion::Continue, 0, u64::MAX);
    assert!(matches!(stop, Stop::End(_)), "{stop:?}");
    let mut got = shader.resources();
    session.now().clone().save(&mut got);
    assert_eq!(got.buffers, expected.buffers);
    assert!(session.now().ended_well());
}

#[test]
fn many_steps_take_few_checkpoints_and_each_is_still_reached() {
    let text = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(1) fn main() {
    for (var k = 0u; k < 30000u; k++) {
        o[0] = k;
    }
}";
    let shader = Shader::new(text, 1, 4);
    let mut session = shader.session();
    session.go(Motion::Continue, 0, u64::MAX);
    let end = session.time();
    assert!(end > 300_000, "{end}: many checkpoints' distances");
    session.go_to(end / 2);
    let half = seen(&session);
    session.go_to(0);
    session.go_to(end / 2);
    assert_eq!(seen(&session), half);
}

/// A line may last over many checkpoints, and a thread may have none: each part is searched once.
#[test]
fn a_line_back_takes_as_many_steps_as_there_are() {
    let text = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
fn count() {
    for (var k = 0u; k < 3000u; k++) {
        o[0] = k;
    }
}
@compute @workgroup_size(1) fn main() {
    o[1] = 1u;
    count();
    o[2] = 1u;
}";
    let shader = Shader::new(text, 1, 12);
    let mut session = shader.session();
    session.add_breakpoint(Location::Line(0, 10), None).unwrap();
    session.go(Motion::Continue, 0, u64::MAX);
    let end = session.time();
    assert!(end > 20_000, "{end}: many checkpoints' distances");
    let no_thread = 7;
    for (thread, line) in [(0, 9), (no_thread, 8)] {
        session.go_to(end);
        session.begin_back(Backward::Line, thread);
        let stop = session.advance(end + end / 4);
        assert!(stop.is_some(), "thread {thread}: not found in {end} steps");
        let found = session.frames(0)[0].line.clone().map(|line| line.line);
        assert!(found.is_none_or(|found| found == line), "{found:?}");
    }
}

#[test]
fn a_barrier_that_not_all_reach_ends_it_and_says_so() {
    let text = "@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
    if (i < 16u) { return; }
    workgroupBarrier();
}";
    // naga refuses a barrier in divergent flow only where it sees it: behind a return it does not.
    let shader = Shader::new(text, 1, 0);
    let mut session = shader.session();
    let stop = session.go(Motion::Continue, 0, u64::MAX);
    let Stop::End(why) = stop else {
        panic!("{stop:?}");
    };
    assert!(why.contains("not all invocations reach"), "{why}");
    assert!(!session.now().ended_well());
    assert_eq!(session.reverse_instruction(1), Stop::Step);
}
