//! What is there: threads, frames, scopes, variables, expressions.
//!
//! A scope of all lanes comes first for each kind of variable, then one for each lane. A frame's number is that of the thread and of
//! the frame in it.
use serde_json::{Value, json};

use super::Server;
use super::message::{Refused, Request};
use crate::console::save_picture;
use crate::execution::Execution;
use crate::expression::{Evaluated, ExpressionError};
use crate::value::{Form, Node, Place, type_name};

/// Frames of a thread at most: calls are not nested deeper.
const FRAMES: usize = 1 << 10;
/// Most variables of one answer: a client that wants more asks by range.
const MOST: u64 = 1 << 12;

/// What a reference to variables means.
#[derive(Clone, Debug)]
pub(super) struct Handle {
    thread: usize,
    path: usize,
    /// Of one lane; none: of all.
    lane: Option<usize>,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Scope(usize),
    /// The parts of a variable, and the expression that names it.
    Parts(Node, String),
}

/// A variable that was found: where, and the expression that names it.
pub(super) type Found = (Node, usize, usize, Option<usize>, String);

/// An address as a client has it from a reference.
pub(super) fn address(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match digits {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl<E: Execution> Server<'_, E> {
    pub(super) fn thread(&self, request: &Request) -> Result<usize, Refused> {
        let number = request.needs_count("threadId")?;
        let count = self.session.now().threads();
        let thread = number.checked_sub(1).filter(|thread| *thread < count);
        thread.ok_or_else(|| Refused::new(format!("there is no thread {number}")))
    }

    /// The thread and the call path of a frame.
    pub(super) fn frame(&self, id: i64) -> Result<(usize, usize), Refused> {
        let missing = || Refused::new(format!("there is no frame {id}"));
        let id = usize::try_from(id).map_err(|_| missing())?;
        let (thread, number) = (id / FRAMES, id % FRAMES);
        if thread >= self.session.now().threads() {
            return Err(missing());
        }
        let frames = self.session.frames(thread);
        match frames.get(number) {
            Some(frame) => Ok((thread, frame.path)),
            // Of a thread that has ended.
            None if number == 0 => Ok((thread, 0)),
            None => Err(missing()),
        }
    }

    pub(super) fn source(&self, file: usize) -> Value {
        let files = &self.session.program().files;
        let name = files.get(file).map_or("?", String::as_str);
        let short = name.rsplit(['/', '\\']).next().unwrap_or(name);
        json!({ "name": short, "path": (self.find_source)(name) })
    }

    pub(super) fn loaded_sources(&self) -> Value {
        let count = self.session.program().files.len();
        let sources: Vec<Value> = (0..count).map(|file| self.source(file)).collect();
        json!({ "sources": sources })
    }

    pub(super) fn threads(&self) -> Value {
        let now = self.session.now();
        let threads = (0..now.threads())
            .map(|thread| json!({ "id": thread + 1, "name": now.thread_name(thread) }));
        json!({ "threads": threads.collect::<Vec<_>>() })
    }

    pub(super) fn stack_trace(&self, request: &Request) -> Result<Value, Refused> {
        let thread = self.thread(request)?;
        let frames = self.session.frames(thread);
        let pointer = self.session.address(thread);
        let mut shown: Vec<Value> = vec![];
        for (number, frame) in frames.iter().enumerate() {
            let mut own = json!({
                "id": thread * FRAMES + number,
                "name": frame.function,
                "line": 0,
                "column": 0,
            });
            if let Some(line) = &frame.line {
                own["line"] = json!(line.line);
                own["column"] = json!(line.column);
                own["source"] = self.source(line.file);
            }
            if let (0, Some(pointer)) = (number, pointer) {
                own["instructionPointerReference"] = format!("{pointer:#x}").into();
            }
            shown.push(own);
        }
        if shown.is_empty() {
            let now = self.session.now();
            let runs = now.ahead().is_some_and(|ahead| ahead.thread == thread);
            let name = match E::HAS_DEVICE && now.lanes(thread) == 0 {
                true => now.next_step().filter(|_| runs).unwrap_or_default(),
                false => "(ended)".to_owned(),
            };
            shown.push(json!({
                "id": thread * FRAMES,
                "name": name,
                "line": 0,
                "column": 0,
                "presentationHint": "label",
            }));
        }
        let total = shown.len();
        let count = |name: &str| {
            let number = request.number(name)?;
            usize::try_from(number).ok()
        };
        let start = count("startFrame").unwrap_or(0);
        let levels = count("levels").filter(|levels| *levels != 0);
        let shown = shown.into_iter().skip(start);
        let shown: Vec<Value> = shown.take(levels.unwrap_or(usize::MAX)).collect();
        Ok(json!({ "stackFrames": shown, "totalFrames": total }))
    }

    fn reference(&mut self, handle: Handle) -> usize {
        self.handles.push(handle);
        self.handles.len()
    }

    pub(super) fn scopes(&mut self, request: &Request) -> Result<Value, Refused> {
        let id = request.number("frameId");
        let (thread, path) = self.frame(id.ok_or_else(|| Refused::new("`frameId` is missing"))?)?;
        let mut scopes = vec![];
        for (number, name) in self.session.now().scopes().iter().enumerate() {
            let reference = self.reference(Handle {
                thread,
                path,
                lane: None,
                what: What::Scope(number),
            });
            scopes.push(json!({
                "name": name,
                "variablesReference": reference,
                "expensive": number > 1,
                "presentationHint": if number == 0 { "locals" } else { "globals" },
            }));
        }
        for lane in 0..self.session.now().lanes(thread) {
            let reference = self.reference(Handle {
                thread,
                path,
                lane: Some(lane),
                what: What::Scope(0),
            });
            let running = self.session.running(thread) >> lane & 1 != 0;
            let name = self.session.now().lane_name(thread, lane);
            let name = if running {
                name
            } else {
                format!("{name} (elsewhere)")
            };
            // Closed until somebody opens it.
            scopes
                .push(json!({ "name": name, "variablesReference": reference, "expensive": true }));
        }
        Ok(json!({ "scopes": scopes }))
    }

    fn handle_of(&self, reference: i64) -> Result<Handle, Refused> {
        let number = usize::try_from(reference)
            .ok()
            .and_then(|it| it.checked_sub(1));
        let found = number.and_then(|number| self.handles.get(number));
        let stale = || Refused::new(format!("there are no variables {reference} any more"));
        found.cloned().ok_or_else(stale)
    }

    /// A variable as a client shows it.
    fn variable(&mut self, node: Node, expression: String, handle: &Handle, form: Form) -> Value {
        let (now, thread) = (self.session.now(), handle.thread);
        let value = match handle.lane {
            Some(lane) => node.show_as(now, thread, lane, form),
            None => {
                let running = self.session.running(thread);
                node.show_lanes_as(now, thread, running, form)
            }
        };
        let mut shown = json!({
            "name": node.name,
            "value": value,
            "type": type_name(&node.ty),
            "evaluateName": expression,
            "variablesReference": 0,
        });
        if let Place::Bytes(object, start) = node.place {
            let objects = now.objects();
            let found = objects.iter().find(|(_, own)| *own == object);
            if let Some((name, _)) = found {
                shown["memoryReference"] = format!("{name}+{start}").into();
            }
        }
        if node.has_parts() {
            let parts = node.parts(now);
            let is_list = node.ty.is_array();
            shown[if is_list {
                "indexedVariables"
            } else {
                "namedVariables"
            }] = json!(parts);
            let what = What::Parts(node, expression);
            let own = Handle {
                what,
                ..handle.clone()
            };
            shown["variablesReference"] = json!(self.reference(own));
        }
        shown
    }

    /// The variables of a reference, from one number on.
    fn nodes(&self, handle: &Handle, start: u64, count: u64) -> Vec<(Node, String)> {
        let now = self.session.now();
        let skip = usize::try_from(start).unwrap_or(usize::MAX);
        let take = usize::try_from(count.min(MOST)).unwrap_or(usize::MAX);
        match &handle.what {
            What::Scope(scope) => {
                let nodes = now.nodes(*scope, handle.thread, handle.path);
                let nodes = nodes.into_iter().skip(skip).take(take);
                nodes
                    .map(|node| {
                        let name = node.name.clone();
                        (node, name)
                    })
                    .collect()
            }
            What::Parts(node, expression) => (start..)
                .take(take)
                .map_while(|number| {
                    let part = node.part(now, number)?;
                    let dot = if part.name.starts_with('[') { "" } else { "." };
                    let name = format!("{expression}{dot}{}", part.name);
                    Some((part, name))
                })
                .collect(),
        }
    }

    pub(super) fn variables(&mut self, request: &Request) -> Result<Value, Refused> {
        let reference = request.number("variablesReference");
        let missing = || Refused::new("`variablesReference` is missing");
        let handle = self.handle_of(reference.ok_or_else(missing)?)?;
        let number = |name: &str| request.number(name).and_then(|it| u64::try_from(it).ok());
        let count = number("count").filter(|count| *count != 0).unwrap_or(MOST);
        let nodes = self.nodes(&handle, number("start").unwrap_or(0), count);
        let form = form(request);
        let shown = nodes
            .into_iter()
            .map(|(node, expression)| self.variable(node, expression, &handle, form));
        let shown: Vec<Value> = shown.collect();
        Ok(json!({ "variables": shown }))
    }

    /// What an expression names, where and in which lane.
    pub(super) fn node_named(
        &self,
        text: &str,
        (thread, path, lane): (usize, usize, Option<usize>),
    ) -> Option<Node> {
        let lane = lane.unwrap_or_else(|| self.first_lane(thread));
        match self.session.evaluate(text, (thread, path, lane)) {
            Ok(Evaluated::Node(node)) => Some(node),
            Ok(Evaluated::Scalar(_)) | Err(_) => None,
        }
    }

    /// The variable with that name among those of a reference.
    pub(super) fn part_named(&self, reference: i64, name: &str) -> Result<Option<Found>, Refused> {
        let handle = self.handle_of(reference)?;
        let nodes = self.nodes(&handle, 0, MOST);
        let mut nodes = nodes.into_iter().rev();
        let found = nodes.find(|(node, _)| node.name == name);
        Ok(found
            .map(|(node, expression)| (node, handle.thread, handle.path, handle.lane, expression)))
    }

    fn first_lane(&self, thread: usize) -> usize {
        match self.session.running(thread) {
            0 => 0,
            lanes => lanes.trailing_zeros() as usize,
        }
    }

    pub(super) fn evaluate(&mut self, request: &Request) -> Result<Value, Refused> {
        let text = request.needs_text("expression")?;
        if let Some(asked) = text.strip_prefix("picture ")
            && request.text("context") == Some("repl")
        {
            let saved = save_picture(self.session.now(), asked, self.save.as_ref());
            let result = saved.map_err(Refused::new)?;
            return Ok(json!({ "result": result, "variablesReference": 0 }));
        }
        let (thread, path) = match request.number("frameId") {
            Some(id) => self.frame(id)?,
            None => {
                let ahead = self.session.now().ahead();
                let thread = ahead.map_or(0, |ahead| ahead.thread);
                let frames = self.session.frames(thread);
                (thread, frames.first().map_or(0, |frame| frame.path))
            }
        };
        let at = (thread, path, self.first_lane(thread));
        let refused = |error: ExpressionError| Refused::new(error.to_string());
        let own = (thread, path, None);
        let result = self
            .session
            .show(text, own, form(request))
            .map_err(refused)?;
        // What can be opened is that of the first lane that runs.
        match self.session.evaluate(text, at).map_err(refused)? {
            Evaluated::Scalar(_) => Ok(json!({ "result": result, "variablesReference": 0 })),
            Evaluated::Node(node) => {
                let handle = Handle {
                    thread,
                    path,
                    lane: None,
                    what: What::Scope(0),
                };
                let mut shown = self.variable(node, text.to_owned(), &handle, form(request));
                shown["result"] = result.into();
                Ok(shown)
            }
        }
    }
}

fn form(request: &Request) -> Form {
    let format = request.arguments().get("format");
    let hex = format.and_then(|format| format.get("hex")?.as_bool());
    Form {
        hex: hex.unwrap_or(false),
    }
}
