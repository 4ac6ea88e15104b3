//! Messages: requests with their arguments, responses and events with their numbers.
use serde_json::{Value, json};

/// Why a request is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused(String);

impl Refused {
    pub(super) fn new(why: impl Into<String>) -> Refused {
        Refused(why.into())
    }

    fn missing(name: &str, what: &str) -> Refused {
        Refused(format!("`{name}` is missing or not {what}"))
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A request.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Request {
    seq: Value,
    command: String,
    arguments: Value,
}

impl Request {
    /// The request that a message is, if it is one.
    pub fn of(message: &Value) -> Option<Request> {
        if message.get("type")?.as_str()? != "request" {
            return None;
        }
        Some(Request {
            seq: message.get("seq").cloned().unwrap_or_else(|| 0.into()),
            command: message.get("command")?.as_str()?.to_owned(),
            arguments: message.get("arguments").cloned().unwrap_or_default(),
        })
    }

    pub fn command(&self) -> &str {
        &self.command
    }

    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// An argument that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name)?.as_str()
    }

    /// An argument that must be a text.
    pub fn needs_text(&self, name: &str) -> Result<&str, Refused> {
        self.text(name)
            .ok_or_else(|| Refused::missing(name, "a text"))
    }

    /// An argument that is a number.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.arguments.get(name)?.as_i64()
    }

    /// Whether an argument is true.
    pub fn flag(&self, name: &str) -> bool {
        self.arguments.get(name).and_then(Value::as_bool) == Some(true)
    }

    /// An argument that must be a number of something, from 0.
    pub fn needs_count(&self, name: &str) -> Result<usize, Refused> {
        let value = self.arguments.get(name).and_then(Value::as_u64);
        let value = value.and_then(|value| usize::try_from(value).ok());
        value.ok_or_else(|| Refused::missing(name, "a number"))
    }

    /// The elements of an argument that must be a list.
    pub fn needs_list(&self, name: &str) -> Result<&[Value], Refused> {
        let list = self.arguments.get(name).and_then(Value::as_array);
        list.map(Vec::as_slice)
            .ok_or_else(|| Refused::missing(name, "a list"))
    }
}

/// What numbers messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Sender {
    last: u64,
}

impl Sender {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// The response to a request.
    pub fn response(&mut self, request: &Request, done: Result<Value, Refused>) -> Value {
        let mut response = json!({
            "seq": self.next(),
            "type": "response",
            "request_seq": request.seq,
            "command": request.command,
            "success": done.is_ok(),
        });
        match done {
            Ok(Value::Null) => {}
            Ok(body) => response["body"] = body,
            Err(why) => {
                response["message"] = why.0.clone().into();
                response["body"] = json!({
                    "error": { "id": 1, "format": "{why}", "variables": { "why": why.0 }, "showUser": true },
                });
            }
        }
        response
    }

    /// An event.
    pub fn event(&mut self, name: &str, body: Value) -> Value {
        let mut event = json!({ "seq": self.next(), "type": "event", "event": name });
        if !body.is_null() {
            event["body"] = body;
        }
        event
    }
}
