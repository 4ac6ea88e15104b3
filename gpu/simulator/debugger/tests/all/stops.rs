//! Breakpoints, watches and steps.

use crate::shader::{SUM, Shader};
use eitri_debugger::execution::Execution;
use eitri_debugger::expression::{Evaluated, Expression};
use eitri_debugger::session::{Motion, Session};
use eitri_debugger::source::SourceLevel;
use eitri_debugger::stops::{Location, Stop, WatchKind};

fn line(session: &Session<SourceLevel<'_>>) -> u32 {
    let thread = session.now().ahead().unwrap().thread;
    let frames = session.frames(thread);
    frames[0].line.as_ref().unwrap().line
}

#[test]
fn a_line_without_code_stands_for_the_next_one() {
    let shader = Shader::new(SUM, 1, 128);
    let mut session = shader.session();
    let set = session.add_breakpoint(Location::Line(0, 7), None).unwrap();
    assert!(matches!(set.location, Location::Line(0, 8..=9)), "{set:?}");
    assert_eq!(session.add_breakpoint(Location::Line(0, 99), None), None);
    assert_eq!(
        session.add_breakpoint(Location::Address(1 << 40), None),
        None
    );
    let nothing = Location::Function("cube".to_owned());
    assert_eq!(session.add_breakpoint(nothing, None), None);
}

#[test]
fn a_function_stops_at_each_call() {
    let shader = Shader::new(SUM, 1, 128);
    let mut session = shader.session();
    let square = Location::Function("square".to_owned());
    session.add_breakpoint(square, None).unwrap();
    let mut callers = vec![];
    while let Stop::Breakpoint(..) = session.go(Motion::Continue, 0, u64::MAX) {
        let thread = session.now().ahead().unwrap().thread;
        let frames = session.frames(thread);
        assert_eq!(frames[0].function, "square");
        callers.push((thread, frames[1].line.as_ref().unwrap().line));
    }
    callers.sort_unstable();
    assert_eq!(callers, [(0, 9), (0, 18), (1, 9), (1, 18)]);
}

#[test]
fn a_condition_is_asked_in_each_lane() {
    let shader = Shader::new(SUM, 2, 256);
    let mut session = shader.session();
    let condition = Expression::parse("i == 21 && g.x == 1").unwrap();
    session
        .add_breakpoint(Location::Line(0, 21), Some(condition))
        .unwrap();
    let stop = session.go(Motion::Continue, 0, u64::MAX);
    assert!(matches!(stop, Stop::Breakpoint(_, 0b10_0000)), "{stop:?}");
    assert_eq!(session.now().workgroup(), [1, 0, 0]);
    let stop = session.go(Motion::Continue, 0, u64::MAX);
    assert!(matches!(stop, Stop::End(_)), "{stop:?}");
}

#[test]
fn steps_go_into_over_and_out_of_calls() {
    let shader = Shader::new(SUM, 1, 128);
    let mut session = shader.session();
    session.add_breakpoint(Location::Line(0, 9), None).unwrap();
    session.go(Motion::Continue, 0, u64::MAX);
    let mut go = |motion| {
        session.go(motion, 0, u64::MAX);
        line(&session)
    };
    assert_eq!(go(Motion::Into), 4);
    assert_eq!(go(Motion::Out), 9);
    assert_eq!(go(Motion::Over), 10);
}

#[test]
fn an_instruction_is_one_of_the_thread() {
    let shader = Shader::new(SUM, 1, 128);
    let mut session = shader.session();
    session.go(Motion::Instruction, 0, u64::MAX);
    assert_eq!(session.time(), 1);
    // The other warp has its turn first.
    session.go(Motion::Instruction, 1, u64::MAX);
    let executed = session.now().lane_state(1, 0);
    assert_ne!(executed, shader.session().now().lane_state(1, 0));
}

#[track_caller]
fn node(session: &Session<SourceLevel<'_>>, text: &str) -> eitri_debugger::value::Node {
    let thread = session.now().ahead().unwrap().thread;
    let path = session.frames(thread)[0].path;
    match session.evaluate(text, (thread, path, 0)).unwrap() {
        Evaluated::Node(node) => node,
        Evaluated::Scalar(scalar) => panic!("{text} is {scalar}"),
    }
}

#[test]
fn a_watch_sees_the_accesses_of_its_kind() {
    let shader = Shader::new(SUM, 1, 128);
    let count = |what: &str, kind| {
        let mut session = shader.session();
        session.add_breakpoint(Location::Line(0, 9), None).unwrap();
        session.go(Motion::Continue, 0, u64::MAX);
        session.remove(1);
        let node = node(&session, what);
        session.add_watch(&node, kind, (0, None)).unwrap();
        let mut stops = vec![];
        while let Stop::Watch(_, text) = session.go(Motion::Continue, 0, u64::MAX) {
            stops.push(text);
        }
        stops
    };
    let writes = count("s[20]", WatchKind::Write);
    assert_eq!(
        writes,
        ["s[20] of lane 4 of warp 1 at shader.wgsl:9: 0 -> 400"]
    );
    // Four lanes of the one warp and its neighbour read it, one at a time of the loop.
    assert_eq!(count("s[20]", WatchKind::Read).len(), 4);
    assert_eq!(count("s[20]", WatchKind::Both).len(), 5);
    // A variable of the thread's own lanes: each store of the warp is one stop.
    let own = count("sum", WatchKind::Write);
    assert!(
        own.len() >= 6 && own.iter().all(|text| text.contains("warp 0")),
        "{own:?}"
    );
}

#[test]
fn a_run_is_paused_between_slices() {
    let text = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(1) fn main() { while (o[0] == 0u) { o[0] = 0u; } }";
    let shader = Shader::new(text, 1, 4);
    let mut session = shader.session();
    session.begin(Motion::Continue, 0);
    assert_eq!(session.advance(1000), None);
    assert!(session.is_moving());
    assert_eq!(session.pause(), Stop::Pause);
    assert_eq!(session.time(), 1000);
}
