//! A driver's life: breakpoints on registers and on the firmware, forward and back, and a replay that is the driver's own run.

use eitri_debugger::console::{Answer, Console};
use eitri_debugger::dap::{Handshake, Server, Step};
use eitri_debugger::device::DevicePlace;
use eitri_debugger::driver::{DriverLevel, Life};
use eitri_debugger::execution::Execution;
use eitri_debugger::expression::Expression;
use eitri_debugger::session::{Motion, Session};
use eitri_debugger::stops::Stop;
use eitri_model::{Config, HostStep, stub_firmware};
use eitri_on_model::Machine;
use eitri_runtime::{Device, Options, Storage};
use serde_json::json;

/// A driver that brings the device up and shuts it down.
fn life() -> Life {
    let machine = Machine::new(Config::default());
    machine.record();
    let firmware = stub_firmware();
    let mut storage: Storage = Storage::new();
    let options = Options::default();
    let device = Device::bring_up(machine.clone(), &firmware, &mut storage, options, &mut ());
    device.unwrap().shutdown(&mut ()).unwrap();
    let recording = machine.recording().unwrap();
    Life {
        gpu: recording.gpu,
        memory: recording.memory,
        steps: recording.steps,
        space: 0,
        programs: vec![],
        failure: None,
    }
}

fn session() -> Session<DriverLevel> {
    let (level, program) = DriverLevel::new(life());
    Session::new(level, program)
}

fn place(text: &str) -> DevicePlace {
    DevicePlace::parse(text).unwrap().unwrap()
}

/// All stops on the way to the end, with their times.
fn stops(session: &mut Session<DriverLevel>) -> Vec<(u64, String)> {
    let mut stops = vec![];
    while let Stop::Device(_, text, 0) = session.go(Motion::Continue, 0, u64::MAX) {
        stops.push((session.time(), text));
    }
    stops
}

#[test]
fn the_replay_is_the_drivers_own_run() {
    let mut session = session();
    session.go_to(u64::MAX);
    assert_eq!(session.now().ending().unwrap(), "the driver has ended");
    assert!(session.now().ended_well());
}

#[test]
fn a_replay_that_goes_another_way_ends_and_says_so() {
    let mut life = life();
    let mut reads = life.steps.iter_mut().filter_map(|step| match step {
        HostStep::Read { value, .. } => Some(value),
        _ => None,
    });
    *reads.next().unwrap() ^= 1;
    let (level, program) = DriverLevel::new(life);
    let mut session = Session::new(level, program);
    session.go_to(u64::MAX);
    assert!(!session.now().ended_well());
    let ending = session.now().ending().unwrap();
    assert!(ending.contains("the replay reads"), "{ending}");
}

#[test]
fn accesses_of_a_register_stop_and_are_found_again_on_the_way_back() {
    let mut session = session();
    let set = session.add_device_breakpoint(place("register GPU_COMMAND write"), None);
    assert!(set.is_some());
    let forward = stops(&mut session);
    assert!(forward.len() > 1, "{forward:?}");
    for (_, text) in &forward {
        assert!(text.starts_with("write of GPU_COMMAND ("), "{text}");
    }
    assert!(
        forward[0].1.contains("COMMAND"),
        "its fields: {}",
        forward[0].1
    );
    for (time, text) in forward.iter().rev() {
        let stop = session.reverse_continue();
        assert_eq!(session.time(), *time);
        assert!(
            matches!(&stop, Stop::Device(_, own, _) if own == text),
            "{stop:?}"
        );
    }
    assert_eq!(session.reverse_continue(), Stop::Beginning);
}

#[test]
fn a_condition_is_asked_of_the_value() {
    let values = |condition: &str| {
        let mut session = session();
        let condition = Expression::parse(condition).unwrap();
        session.add_device_breakpoint(place("register JOB_IRQ_RAWSTAT read"), Some(condition));
        stops(&mut session).len()
    };
    let all = values("1");
    let (zero, other) = (values("$value == 0"), values("$value != 0"));
    assert_eq!(zero + other, all);
    assert!(other > 0 && other <= all, "{other} of {all}");
}

#[test]
fn requests_are_taken_before_they_are_answered() {
    let mut session = session();
    for word in ["GLB_REQ", "GLB_ACK"] {
        let name = format!("firmware {word}.CFG_ALLOC_EN");
        session.add_device_breakpoint(place(&name), None);
    }
    let forward: Vec<String> = stops(&mut session)
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    let text = forward.join("\n");
    let taken = text.find("the firmware takes the request GLB_REQ.CFG_ALLOC_EN");
    let answered = text.find("the firmware answers GLB_ACK.CFG_ALLOC_EN");
    assert!(taken.is_some() && taken < answered, "{text}");
}

#[test]
fn a_state_is_the_same_however_it_was_reached() {
    let mut session = session();
    let shown = |session: &Session<DriverLevel>| {
        let now = session.now();
        (now.happened().to_vec(), now.next_step(), now.threads())
    };
    let mut times = vec![];
    for time in (0..4000).step_by(333) {
        session.go_to(time);
        times.push((session.time(), shown(&session)));
    }
    for (time, expected) in times.into_iter().rev() {
        session.go_to(time);
        assert_eq!(shown(&session), expected, "step {time}");
    }
}

#[test]
fn the_prompt_names_what_happened_and_what_comes_next() {
    let mut console = Console::new(session(), |_| None);
    let start = console.show_start();
    assert!(
        start.starts_with("start\nthe machine, step 0\nnext: the driver "),
        "{start}"
    );
    let mut answer = |command: &str| match console.execute(command) {
        Answer::Text(text) => text,
        other => panic!("{command}: {other:?}"),
    };
    assert_eq!(
        answer("break register gpu_id"),
        "breakpoint 1 at register GPU_ID"
    );
    let stop = answer("continue");
    assert!(
        stop.starts_with("breakpoint 1: read of GPU_ID (0x000) = "),
        "{stop}"
    );
    assert!(answer("info events").starts_with("read of GPU_ID"));
    assert!(answer("print/x $value").starts_with("$value = 0x"));
    assert_eq!(
        answer("info breakpoints"),
        "breakpoint 1 at register GPU_ID"
    );
    let wrong = console.execute("break register GPU_IDD");
    assert!(
        matches!(&wrong, Answer::Wrong(why) if why.contains("no register")),
        "{wrong:?}"
    );
    let picture = console.execute("picture tile t.png");
    assert!(matches!(&picture, Answer::Wrong(_)), "{picture:?}");
}

#[test]
fn an_editor_sets_them_as_function_breakpoints() {
    let request = |seq: u64, command: &str, arguments: serde_json::Value| json!({ "seq": seq, "type": "request", "command": command, "arguments": arguments });
    let mut handshake = Handshake::default();
    handshake.handle(&request(1, "initialize", json!({})));
    let Step::Launch(launch) = handshake.handle(&request(2, "launch", json!({}))) else {
        panic!("a launch");
    };
    let mut server = Server::new(session(), handshake, launch, str::to_owned);
    server.launched();
    let names = ["register GPU_ID", "register NOTHING"].map(|name| json!({ "name": name }));
    let set = server.handle(&request(
        3,
        "setFunctionBreakpoints",
        json!({ "breakpoints": names }),
    ));
    let shown = &set[0]["body"]["breakpoints"];
    assert_eq!(shown[0]["verified"], true, "{shown}");
    assert_eq!(shown[1]["verified"], false, "{shown}");
    server.handle(&request(4, "configurationDone", json!({})));
    let mut told = vec![];
    while server.is_running() {
        told.extend(server.advance());
    }
    let stop = &told[0]["body"];
    assert_eq!(stop["reason"], "function breakpoint", "{stop}");
    assert_eq!(stop["hitBreakpointIds"], json!([1]));
    assert!(stop["text"].as_str().unwrap().contains("GPU_ID"), "{stop}");
    let frames = server.handle(&request(5, "stackTrace", json!({ "threadId": 1 })));
    let name = &frames[0]["body"]["stackFrames"][0]["name"];
    assert!(name.as_str().unwrap().starts_with("the driver "), "{name}");
}
