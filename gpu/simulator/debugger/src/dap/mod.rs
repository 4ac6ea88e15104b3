//! The Debug Adapter Protocol: requests in, responses and events out.
//!
//! Guarantees: each request gets one response; one that is wrong gets an error response that says what; none panics. While the
//! execution runs, requests are answered between slices of it.
//! Never: reads or writes a stream; `framing` splits bytes into messages, callers move them.
//! In reading order: `framing`, `message`, `handshake`; this file (what makes the execution go); `breakpoints`, `inspect`, `memory`.
mod breakpoints;
pub mod framing;
mod handshake;
mod inspect;
mod memory;
mod message;

use serde_json::{Value, json};

use crate::console::{SavePicture, lane_list};
use crate::execution::Execution;
use crate::picture::Picture;
use crate::session::{Backward, Motion, Session};
use crate::stops::Stop;
pub use handshake::{Handshake, Launch, Step};
use inspect::Handle;
use message::{Refused, Request, Sender};

/// Steps between two looks at what the client says.
const SLICE: u64 = 20_000;

/// Where source files are, for the client.
type FindSource<'f> = Box<dyn Fn(&str) -> String + 'f>;

/// A session as a client drives it.
pub struct Server<'f, E> {
    session: Session<E>,
    sender: Sender,
    launch: Launch,
    find_source: FindSource<'f>,
    /// What references to variables mean until the execution goes on.
    handles: Vec<Handle>,
    /// Numbers of breakpoints by the request that sets them, which replaces them all.
    of_lines: Vec<(usize, u32)>,
    of_functions: Vec<u32>,
    of_instructions: Vec<u32>,
    of_data: Vec<u32>,
    is_configured: bool,
    has_ended: bool,
    save: Option<SavePicture>,
}

impl<'f, E: Execution> Server<'f, E> {
    /// A server behind a handshake that has come to a launch. `find_source` gives the path of a source file.
    pub fn new(
        session: Session<E>,
        handshake: Handshake,
        launch: Launch,
        find_source: impl Fn(&str) -> String + 'f,
    ) -> Server<'f, E> {
        Server {
            session,
            sender: handshake.into_sender(),
            launch,
            find_source: Box::new(find_source),
            handles: vec![],
            of_lines: vec![],
            of_functions: vec![],
            of_instructions: vec![],
            of_data: vec![],
            is_configured: false,
            has_ended: false,
            save: None,
        }
    }

    /// The same where `save` writes pictures to files; without it there are none.
    #[must_use]
    pub fn saving(
        self,
        save: impl Fn(&str, &Picture) -> Result<(), String> + 'static,
    ) -> Server<'f, E> {
        Server {
            save: Some(Box::new(save)),
            ..self
        }
    }

    /// The messages after a launch: its response, and that breakpoints can be set.
    pub fn launched(&mut self) -> Vec<Value> {
        let request = self.launch.request.clone();
        vec![
            self.sender.response(&request, Ok(Value::Null)),
            self.sender.event("initialized", Value::Null),
        ]
    }

    /// Whether the execution runs: [`Server::advance`] goes on with it.
    pub fn is_running(&self) -> bool {
        self.session.is_moving()
    }

    /// Whether the client has ended the session.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Lets the execution run for a while. What there is to tell of it.
    pub fn advance(&mut self) -> Vec<Value> {
        match self.session.advance(SLICE) {
            Some(stop) => self.stopped(&stop),
            None => vec![],
        }
    }

    /// Answers a message of the client.
    pub fn handle(&mut self, message: &Value) -> Vec<Value> {
        let Some(request) = Request::of(message) else {
            return vec![];
        };
        let mut after = vec![];
        let done = self.dispatch(&request, &mut after);
        let mut messages = vec![self.sender.response(&request, done)];
        for what in after {
            match what {
                After::Stop(stop) => messages.extend(self.stopped(&stop)),
                After::End => messages.push(self.sender.event("terminated", Value::Null)),
            }
        }
        messages
    }

    fn dispatch(&mut self, request: &Request, after: &mut Vec<After>) -> Result<Value, Refused> {
        match request.command() {
            "configurationDone" => self.configured(after),
            "threads" => Ok(self.threads()),
            "stackTrace" => self.stack_trace(request),
            "scopes" => self.scopes(request),
            "variables" => self.variables(request),
            "evaluate" => self.evaluate(request),
            "continue" => {
                self.begin(request, Motion::Continue)?;
                Ok(json!({ "allThreadsContinued": true }))
            }
            "next" => self.begin(request, Motion::Over),
            "stepIn" => self.begin(request, Motion::Into),
            "stepOut" => self.begin(request, Motion::Out),
            "stepBack" => {
                let thread = self.stopped_thread(request)?;
                let way = match by_instruction(request) {
                    true => Backward::Instruction,
                    false => Backward::Line,
                };
                self.handles.clear();
                self.session.begin_back(way, thread);
                Ok(Value::Null)
            }
            "reverseContinue" => {
                let thread = self.stopped_thread(request)?;
                self.handles.clear();
                self.session.begin_back(Backward::Continue, thread);
                Ok(Value::Null)
            }
            "pause" => {
                if self.session.is_moving() {
                    after.push(After::Stop(self.session.pause()));
                }
                Ok(Value::Null)
            }
            "setBreakpoints" => self.set_breakpoints(request),
            "setFunctionBreakpoints" => self.set_function_breakpoints(request),
            "setInstructionBreakpoints" => self.set_instruction_breakpoints(request),
            "setExceptionBreakpoints" => Ok(json!({ "breakpoints": [] })),
            "dataBreakpointInfo" => self.data_breakpoint_info(request),
            "setDataBreakpoints" => self.set_data_breakpoints(request),
            "breakpointLocations" => self.breakpoint_locations(request),
            "loadedSources" => Ok(self.loaded_sources()),
            "disassemble" => self.disassemble(request),
            "readMemory" => self.read_memory(request),
            "terminate" | "disconnect" => {
                self.session.pause();
                self.has_ended = true;
                after.push(After::End);
                Ok(Value::Null)
            }
            "initialize" | "launch" | "attach" => {
                Err(Refused::new("the session has been launched already"))
            }
            other => Err(Refused::new(format!("`{other}` is not supported"))),
        }
    }

    fn configured(&mut self, after: &mut Vec<After>) -> Result<Value, Refused> {
        if self.is_configured {
            return Err(Refused::new("the configuration was done already"));
        }
        self.is_configured = true;
        if self.launch.stop_on_entry || self.session.is_at_failure() {
            after.push(After::Stop(self.session.enter()));
        } else if let Some(stop) = self.session.stop_at_start() {
            after.push(After::Stop(stop));
        } else {
            self.session.begin(Motion::Continue, 0);
        }
        Ok(Value::Null)
    }

    /// The thread that a request names, while nothing runs.
    fn stopped_thread(&self, request: &Request) -> Result<usize, Refused> {
        if !self.is_configured {
            return Err(Refused::new("the configuration is not done"));
        }
        if self.session.is_moving() {
            return Err(Refused::new("the shader runs"));
        }
        self.thread(request)
    }

    fn begin(&mut self, request: &Request, motion: Motion) -> Result<Value, Refused> {
        let thread = self.stopped_thread(request)?;
        let motion = match by_instruction(request) {
            true if motion != Motion::Continue && motion != Motion::Out => Motion::Instruction,
            _ => motion,
        };
        self.handles.clear();
        self.session.begin(motion, thread);
        Ok(Value::Null)
    }

    /// Tells of a stop.
    fn stopped(&mut self, stop: &Stop) -> Vec<Value> {
        self.handles.clear();
        let (reason, ids, text) = match stop {
            Stop::Entry => ("entry", vec![], String::new()),
            Stop::Failure(why) => ("exception", vec![], why.clone()),
            Stop::Beginning => ("entry", vec![], "no step is before this one".to_owned()),
            Stop::Step => ("step", vec![], String::new()),
            Stop::Breakpoint(ids, lanes) => {
                let of = |id: &u32| self.of_instructions.contains(id);
                let reason = match ids.iter().all(of) {
                    true => "instruction breakpoint",
                    false if ids.iter().all(|id| self.of_functions.contains(id)) => {
                        "function breakpoint"
                    }
                    false => "breakpoint",
                };
                (reason, ids.clone(), format!("lanes {}", lane_list(*lanes)))
            }
            Stop::Device(ids, text, _) => ("function breakpoint", ids.clone(), text.clone()),
            Stop::Watch(id, text) => ("data breakpoint", vec![*id], text.clone()),
            Stop::Pause => ("pause", vec![], String::new()),
            Stop::End(why) => return self.ended(why),
        };
        let ahead = self.session.now().ahead();
        let thread = ahead.map_or(0, |ahead| ahead.thread);
        let mut body = json!({
            "reason": reason,
            "threadId": thread + 1,
            "allThreadsStopped": true,
        });
        if !ids.is_empty() {
            body["hitBreakpointIds"] = json!(ids);
        }
        if !text.is_empty() {
            body["text"] = text.into();
        }
        vec![self.sender.event("stopped", body)]
    }

    /// Tells that the execution has ended. A client that wants to go back from there stops instead.
    fn ended(&mut self, why: &str) -> Vec<Value> {
        let output = json!({ "category": "console", "output": format!("{why}\n") });
        let mut messages = vec![self.sender.event("output", output)];
        if self.launch.stop_on_exit {
            let body = json!({
                "reason": "exit",
                "description": "ended",
                "text": why,
                "threadId": 1,
                "allThreadsStopped": true,
            });
            messages.push(self.sender.event("stopped", body));
            return messages;
        }
        let ended_well = self.session.now().ended_well();
        let body = json!({ "exitCode": i32::from(!ended_well) });
        messages.push(self.sender.event("exited", body));
        messages.push(self.sender.event("terminated", Value::Null));
        messages
    }
}

/// What comes after a response.
enum After {
    Stop(Stop),
    End,
}

fn by_instruction(request: &Request) -> bool {
    request.text("granularity") == Some("instruction")
}
