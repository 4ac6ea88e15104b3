//! The protocol: framing, and that each request has one response, whatever it says.

use crate::shader::{SUM, Shader};
use eitri_debugger::dap::framing::{Decoder, FramingError, encode};
use eitri_debugger::dap::{Handshake, Server, Step};
use eitri_debugger::source::SourceLevel;
use serde_json::{Value, json};

fn request(seq: u64, command: &str, arguments: Value) -> Value {
    json!({ "seq": seq, "type": "request", "command": command, "arguments": arguments })
}

/// A server that has stopped on entry.
fn server(shader: &Shader) -> Server<'_, SourceLevel<'_>> {
    let mut handshake = Handshake::default();
    let begin = handshake.handle(&request(1, "initialize", json!({})));
    assert!(matches!(begin, Step::Answer(_)), "{begin:?}");
    let arguments = json!({ "program": "x.wgsl", "stopOnEntry": true });
    let Step::Launch(launch) = handshake.handle(&request(2, "launch", arguments)) else {
        panic!("a launch");
    };
    assert_eq!(launch.program.as_deref(), Some("x.wgsl"));
    let mut server = Server::new(shader.session(), handshake, launch, str::to_owned);
    let launched = server.launched();
    assert_eq!(launched[0]["request_seq"], 2);
    assert_eq!(launched[1]["event"], "initialized");
    let done = server.handle(&request(3, "configurationDone", Value::Null));
    assert_eq!(done[1]["body"]["reason"], "entry");
    server
}

#[test]
fn nothing_comes_before_initialize_and_launch() {
    let mut handshake = Handshake::default();
    let first = |handshake: &mut Handshake, command: &str, arguments: Value| match handshake
        .handle(&request(1, command, arguments))
    {
        Step::Answer(messages) => messages[0]["success"].clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(first(&mut handshake, "threads", json!({})), false);
    assert_eq!(first(&mut handshake, "initialize", json!({})), true);
    assert_eq!(first(&mut handshake, "threads", json!({})), false);
    assert_eq!(first(&mut handshake, "attach", json!({})), false);
    let wrong = json!({ "args": [1] });
    assert_eq!(first(&mut handshake, "launch", wrong), false);
    let end = handshake.handle(&request(2, "disconnect", Value::Null));
    assert!(matches!(end, Step::End(_)), "{end:?}");
}

/// Arguments that are wrong in all ways, for every request.
fn wrong_arguments() -> Vec<Value> {
    let values = [
        json!(null),
        json!(-1),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("0xffffffffffffffff"),
        json!("shared+18446744073709551615"),
        json!([null]),
        json!([{}]),
        json!([{ "line": -1, "dataId": "9/9/9/s", "name": 3, "instructionReference": "0x" }]),
        json!({ "path": "", "name": 7 }),
        json!({ "path": "shader.wgsl" }),
        json!(true),
    ];
    let names = [
        "threadId",
        "frameId",
        "variablesReference",
        "expression",
        "memoryReference",
        "count",
        "instructionCount",
        "instructionOffset",
        "offset",
        "breakpoints",
        "source",
        "line",
        "endLine",
        "name",
        "startFrame",
        "levels",
        "start",
        "format",
        "granularity",
    ];
    let mut all = vec![json!(null), json!([]), json!(3)];
    for value in &values {
        let every = names.iter().map(|name| ((*name).to_owned(), value.clone()));
        all.push(Value::Object(every.collect()));
        for name in names {
            let mut good = json!({
                "threadId": 1, "frameId": 0, "variablesReference": 1, "expression": "s",
                "memoryReference": "shared+4", "count": 4, "instructionCount": 4, "breakpoints": [],
                "source": { "path": "shader.wgsl" }, "line": 9, "name": "s",
            });
            good[name] = value.clone();
            all.push(good);
        }
    }
    all
}

#[test]
fn each_request_has_one_response_whatever_it_says() {
    let shader = Shader::new(SUM, 1, 128);
    let mut server = server(&shader);
    let commands = [
        "threads",
        "stackTrace",
        "scopes",
        "variables",
        "evaluate",
        "setBreakpoints",
        "setFunctionBreakpoints",
        "setInstructionBreakpoints",
        "setExceptionBreakpoints",
        "dataBreakpointInfo",
        "setDataBreakpoints",
        "breakpointLocations",
        "loadedSources",
        "disassemble",
        "readMemory",
        "configurationDone",
        "initialize",
        "launch",
        "attach",
        "pause",
        "stepBack",
        "nothing",
    ];
    let mut seq = 10;
    for arguments in wrong_arguments() {
        for command in commands {
            seq += 1;
            let answers = server.handle(&request(seq, command, arguments.clone()));
            let responses = answers.iter().filter(|own| own["type"] == "response");
            let own: Vec<&Value> = responses.collect();
            assert_eq!(own.len(), 1, "{command} {arguments}: {answers:?}");
            assert_eq!(own[0]["request_seq"], seq, "{command} {arguments}");
            if own[0]["success"] == false {
                let why = own[0]["message"].as_str().unwrap();
                assert!(!why.is_empty(), "{command} {arguments}");
            }
        }
    }
    // It goes on.
    let threads = server.handle(&request(9999, "threads", Value::Null));
    assert_eq!(threads[0]["body"]["threads"].as_array().unwrap().len(), 2);
}

#[test]
fn what_is_no_request_is_left_alone() {
    let shader = Shader::new(SUM, 1, 128);
    let mut server = server(&shader);
    for message in [
        json!(null),
        json!({}),
        json!({ "type": "response", "seq": 1 }),
        json!({ "type": "request", "seq": 1 }),
        json!({ "type": 7, "command": "threads" }),
    ] {
        assert_eq!(server.handle(&message), Vec::<Value>::new(), "{message}");
    }
}

#[test]
fn references_are_stale_when_the_execution_goes_on() {
    let shader = Shader::new(SUM, 1, 128);
    let mut server = server(&shader);
    let frame = json!({ "frameId": 0 });
    let scopes = server.handle(&request(4, "scopes", frame));
    let reference = scopes[0]["body"]["scopes"][0]["variablesReference"].clone();
    let variables = json!({ "variablesReference": reference });
    let found = server.handle(&request(5, "variables", variables.clone()));
    assert_eq!(found[0]["success"], true);
    server.handle(&request(6, "next", json!({ "threadId": 1 })));
    while server.is_running() {
        server.advance();
    }
    let stale = server.handle(&request(7, "variables", variables));
    assert_eq!(stale[0]["success"], false, "{stale:?}");
}

#[test]
fn messages_are_split_wherever_bytes_are() {
    let messages = [json!({ "a": "é" }), json!([1, 2]), json!({})];
    let bytes: Vec<u8> = messages.iter().flat_map(encode).collect();
    for size in 1..bytes.len() {
        let mut decoder = Decoder::default();
        let mut got = vec![];
        for part in bytes.chunks(size) {
            decoder.feed(part);
            while let Some(message) = decoder.next_message().unwrap() {
                got.push(message.unwrap());
            }
        }
        assert_eq!(got, messages, "in parts of {size}");
    }
}

#[test]
fn headers_that_are_none_are_errors() {
    let of = |bytes: &[u8]| {
        let mut decoder = Decoder::default();
        decoder.feed(bytes);
        decoder.next_message()
    };
    assert_eq!(of(b"Length: 3\r\n\r\nabc"), Err(FramingError::Length));
    assert_eq!(of(b"Content-Length: x\r\n\r\n"), Err(FramingError::Length));
    assert_eq!(of(&[b'x'; 5000]), Err(FramingError::Length));
    let long = of(b"Content-Length: 999999999\r\n\r\n");
    assert_eq!(long, Err(FramingError::TooLong(999_999_999)));
    assert!(matches!(
        of(b"content-length:2\r\n\r\n{]"),
        Ok(Some(Err(_)))
    ));
    assert_eq!(of(b"Content-Length: 5\r\n\r\n{}"), Ok(None));
}

/// A long way back is one that a client may end, as it may end a way forward.
#[test]
fn a_search_back_can_be_paused() {
    let shader = Shader::new(SUM, 2, 256);
    let mut server = server(&shader);
    let answers = server.handle(&request(10, "continue", json!({ "threadId": 1 })));
    assert_eq!(answers[0]["success"], true, "{answers:?}");
    let paused = server.handle(&request(11, "pause", json!({ "threadId": 1 })));
    assert_eq!(paused[1]["body"]["reason"], "pause", "{paused:?}");
    for (seq, command) in [(20, "reverseContinue"), (30, "stepBack")] {
        let answers = server.handle(&request(seq, command, json!({ "threadId": 1 })));
        assert_eq!(answers.len(), 1, "only the response: {answers:?}");
        assert_eq!(answers[0]["success"], true, "{answers:?}");
        assert!(server.is_running(), "{command}");
        let paused = server.handle(&request(seq + 1, "pause", json!({ "threadId": 1 })));
        assert_eq!(paused[0]["success"], true, "{paused:?}");
        assert_eq!(paused[1]["body"]["reason"], "pause", "{paused:?}");
        assert!(!server.is_running(), "{command}");
    }
    server.handle(&request(40, "reverseContinue", json!({ "threadId": 1 })));
    let told = std::iter::from_fn(|| server.is_running().then(|| server.advance()));
    let told: Vec<Value> = told.flatten().collect();
    assert_eq!(told[0]["body"]["reason"], "entry", "{told:?}");
}
