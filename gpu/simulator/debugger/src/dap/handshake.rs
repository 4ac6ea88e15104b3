//! The start of a session: what the adapter can do, and what is launched. There is no execution yet.
use serde_json::{Value, json};

use super::message::{Refused, Request, Sender};

/// The start of a session.
#[derive(Clone, Debug, Default)]
pub struct Handshake {
    sender: Sender,
    is_initialized: bool,
}

/// What is launched.
#[derive(Clone, PartialEq, Debug)]
pub struct Launch {
    pub(super) request: Request,
    /// The shader, if the client names one.
    pub program: Option<String>,
    /// More arguments, as `eitri run` has them.
    pub args: Vec<String>,
    /// The folder in which relative names are.
    pub cwd: Option<String>,
    /// Stop at the first line.
    pub stop_on_entry: bool,
    /// Stop when the dispatch has ended, so that one can go back from there.
    pub stop_on_exit: bool,
}

/// What comes of a message before the launch.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Messages to the client.
    Answer(Vec<Value>),
    /// A launch, which is answered when there is a session: [`super::Server::launched`] or [`Handshake::refuse`].
    Launch(Launch),
    /// The client has ended it, with this answer.
    End(Vec<Value>),
}

impl Handshake {
    /// Answers a message of the client.
    pub fn handle(&mut self, message: &Value) -> Step {
        let Some(request) = Request::of(message) else {
            return Step::Answer(vec![]);
        };
        let answer = match request.command() {
            "initialize" => {
                self.is_initialized = true;
                Ok(capabilities())
            }
            _ if !self.is_initialized => Err(Refused::new("`initialize` comes first")),
            "launch" => match launch(&request) {
                Ok(launch) => return Step::Launch(launch),
                Err(why) => Err(why),
            },
            "attach" => Err(Refused::new("there is nothing to attach to: use `launch`")),
            "disconnect" | "terminate" => {
                let response = self.sender.response(&request, Ok(Value::Null));
                let event = self.sender.event("terminated", Value::Null);
                return Step::End(vec![response, event]);
            }
            other => Err(Refused::new(format!("`{other}` before `launch`"))),
        };
        Step::Answer(vec![self.sender.response(&request, answer)])
    }

    /// Answers a launch that does not succeed.
    pub fn refuse(&mut self, launch: &Launch, why: &str) -> Vec<Value> {
        let refused = Refused::new(why);
        let response = self.sender.response(&launch.request, Err(refused));
        vec![response, self.sender.event("terminated", Value::Null)]
    }

    pub(super) fn into_sender(self) -> Sender {
        self.sender
    }
}

fn launch(request: &Request) -> Result<Launch, Refused> {
    let arguments = request.arguments();
    let args = match arguments.get("args") {
        None | Some(Value::Null) => vec![],
        Some(Value::Array(args)) => {
            let texts = args.iter().map(|arg| arg.as_str().map(str::to_owned));
            let texts: Option<Vec<String>> = texts.collect();
            texts.ok_or_else(|| Refused::new("`args` is not a list of texts"))?
        }
        Some(_) => return Err(Refused::new("`args` is not a list of texts")),
    };
    let flag = |name: &str| {
        arguments
            .get(name)
            .and_then(Value::as_bool)
            .unwrap_or(false)
    };
    Ok(Launch {
        program: request.text("program").map(str::to_owned),
        cwd: request.text("cwd").map(str::to_owned),
        args,
        stop_on_entry: flag("stopOnEntry"),
        stop_on_exit: flag("stopOnExit"),
        request: request.clone(),
    })
}

fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsConditionalBreakpoints": true,
        "supportsFunctionBreakpoints": true,
        "supportsInstructionBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsDataBreakpointBytes": true,
        "supportsBreakpointLocationsRequest": true,
        "supportsLoadedSourcesRequest": true,
        "supportsStepBack": true,
        "supportsSteppingGranularity": true,
        "supportsEvaluateForHovers": true,
        "supportsDisassembleRequest": true,
        "supportsReadMemoryRequest": true,
        "supportsTerminateRequest": true,
        "supportsValueFormattingOptions": true,
    })
}
