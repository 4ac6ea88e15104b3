//! Breakpoints of all kinds. Each request replaces what the last one of its kind has set.
use serde_json::{Value, json};

use super::Server;
use super::inspect::address;
use super::message::{Refused, Request};
use crate::console::NO_DEVICE;
use crate::device::DevicePlace;
use crate::execution::{Execution, Object};
use crate::expression::Expression;
use crate::stops::{Breakpoint, Location, WatchKind};
use crate::value::Node;

/// Most bytes that are watched at once.
const MOST_BYTES: i64 = 4096;

/// The condition of a breakpoint, if it has one.
fn condition(asked: &Value) -> Result<Option<Expression>, String> {
    let condition = asked.get("condition").and_then(Value::as_str);
    let condition = condition.filter(|text| !text.trim().is_empty());
    let condition = condition.map(Expression::parse).transpose();
    condition.map_err(|error| error.to_string())
}

impl<E: Execution> Server<'_, E> {
    /// A breakpoint that a client asks for, or why there is none.
    fn set(&mut self, location: Location, asked: &Value) -> Result<Breakpoint, String> {
        let condition = condition(asked)?;
        let set = self.session.add_breakpoint(location, condition);
        set.ok_or_else(|| "no code stands there".to_owned())
    }

    fn shown(&self, set: &Result<Breakpoint, String>) -> Value {
        match set {
            Err(why) => json!({ "verified": false, "message": why }),
            Ok(own) => {
                let mut shown = json!({ "id": own.id, "verified": true });
                if let Location::Line(file, line) = &own.location {
                    shown["line"] = json!(line);
                    shown["source"] = self.source(*file);
                }
                if let Some(address) = own.addresses.first() {
                    shown["instructionReference"] = format!("{address:#x}").into();
                }
                shown
            }
        }
    }

    pub(super) fn set_breakpoints(&mut self, request: &Request) -> Result<Value, Refused> {
        let source = request.arguments().get("source");
        let path = source.and_then(|source| {
            let text = |name: &str| source.get(name).and_then(Value::as_str);
            text("path").or_else(|| text("name"))
        });
        let path = path.ok_or_else(|| Refused::new("`source` has no path"))?;
        let asked = match request.arguments().get("breakpoints") {
            None => vec![],
            Some(_) => request.needs_list("breakpoints")?.to_vec(),
        };
        let Some(file) = self.session.program().find_file(path) else {
            let none =
                json!({ "verified": false, "message": "the shader has no line of this file" });
            return Ok(json!({ "breakpoints": vec![none; asked.len()] }));
        };
        for (own, id) in std::mem::take(&mut self.of_lines) {
            match own == file {
                true => {
                    self.session.remove(id);
                }
                false => self.of_lines.push((own, id)),
            }
        }
        let mut shown = vec![];
        for own in &asked {
            let line = own.get("line").and_then(Value::as_u64);
            let line = line.and_then(|line| u32::try_from(line).ok());
            let set = match line {
                Some(line) => self.set(Location::Line(file, line), own),
                None => Err("`line` is missing or not a number".to_owned()),
            };
            if let Ok(set) = &set {
                self.of_lines.push((file, set.id));
            }
            shown.push(self.shown(&set));
        }
        Ok(json!({ "breakpoints": shown }))
    }

    pub(super) fn set_function_breakpoints(&mut self, request: &Request) -> Result<Value, Refused> {
        let asked = request.needs_list("breakpoints")?.to_vec();
        for id in std::mem::take(&mut self.of_functions) {
            self.session.remove(id);
        }
        let mut shown = vec![];
        for own in &asked {
            let name = own.get("name").and_then(Value::as_str);
            if let Some(place) = name.and_then(|name| DevicePlace::parse(name.trim())) {
                shown.push(self.set_on_device(place, own));
                continue;
            }
            let set = match name {
                Some(name) => self.set(Location::Function(name.to_owned()), own),
                None => Err("`name` is missing".to_owned()),
            };
            self.of_functions.extend(set.as_ref().map(|set| set.id));
            shown.push(self.shown(&set));
        }
        Ok(json!({ "breakpoints": shown }))
    }

    /// A breakpoint on the device, which clients have no request for: its name is that of a function.
    fn set_on_device(&mut self, place: Result<DevicePlace, String>, asked: &Value) -> Value {
        let set = place.and_then(|place| {
            let set = self.session.add_device_breakpoint(place, condition(asked)?);
            set.ok_or_else(|| NO_DEVICE.to_owned())
        });
        match set {
            Ok(set) => {
                self.of_functions.push(set.id);
                json!({ "id": set.id, "verified": true })
            }
            Err(why) => json!({ "verified": false, "message": why }),
        }
    }

    pub(super) fn set_instruction_breakpoints(
        &mut self,
        request: &Request,
    ) -> Result<Value, Refused> {
        let asked = request.needs_list("breakpoints")?.to_vec();
        for id in std::mem::take(&mut self.of_instructions) {
            self.session.remove(id);
        }
        let mut shown = vec![];
        for own in &asked {
            let at = own.get("instructionReference").and_then(Value::as_str);
            let offset = own.get("offset").and_then(Value::as_i64).unwrap_or(0);
            let at = at.and_then(address);
            let set = match at.and_then(|at| at.checked_add_signed(offset)) {
                Some(at) => self.set(Location::Address(at), own),
                None => Err("`instructionReference` is no address".to_owned()),
            };
            self.of_instructions.extend(set.as_ref().map(|set| set.id));
            shown.push(self.shown(&set));
        }
        Ok(json!({ "breakpoints": shown }))
    }

    /// A name by which `setDataBreakpoints` finds a variable again: thread, call path, lane, and the expression.
    pub(super) fn data_breakpoint_info(&mut self, request: &Request) -> Result<Value, Refused> {
        let name = request.needs_text("name")?;
        if request.flag("asAddress") {
            return self.memory_breakpoint_info(request, name);
        }
        let reference = request.number("variablesReference").unwrap_or(0);
        let found = match reference {
            0 => {
                let (thread, path) = self.frame(request.number("frameId").unwrap_or(0))?;
                self.node_named(name, (thread, path, None))
                    .map(|node| (node, thread, path, None, name.to_owned()))
            }
            _ => self.part_named(reference, name)?,
        };
        let Some((node, thread, path, lane, expression)) = found else {
            return Ok(
                json!({ "dataId": null, "description": format!("`{name}` is no variable") }),
            );
        };
        if self.session.ranges(&node).is_none() {
            let why = format!("`{name}` is a value: nothing stores to it");
            return Ok(json!({ "dataId": null, "description": why }));
        }
        let lane_text = lane.map_or("-".to_owned(), |lane| lane.to_string());
        Ok(json!({
            "dataId": format!("{thread}/{path}/{lane_text}/{expression}"),
            "description": expression,
            "accessTypes": ["read", "write", "readWrite"],
            "canPersist": false,
        }))
    }

    /// The same of bytes by the GPU's address.
    fn memory_breakpoint_info(&self, request: &Request, name: &str) -> Result<Value, Refused> {
        let none = |why: &str| Ok(json!({ "dataId": null, "description": why }));
        let objects = self.session.now().objects();
        if !objects.iter().any(|(_, own)| *own == Object::Memory) {
            return none("this level has no addresses of the GPU");
        }
        let Some(start) = address(name) else {
            return Err(Refused::new("`name` is no address"));
        };
        let bytes = request.number("bytes").unwrap_or(4).clamp(1, MOST_BYTES);
        Ok(json!({
            "dataId": format!("memory/{start:#x}/{bytes}"),
            "description": format!("{bytes} bytes at {start:#x}"),
            "accessTypes": ["read", "write", "readWrite"],
            "canPersist": false,
        }))
    }

    fn watched(&self, data: &str) -> Option<(Node, usize, Option<usize>)> {
        if let Some((start, bytes)) = data
            .strip_prefix("memory/")
            .and_then(|it| it.split_once('/'))
        {
            let bytes: i64 = bytes.parse().ok()?;
            let bytes = bytes.clamp(1, MOST_BYTES) as u64;
            let name = format!("gpu+{start}");
            let node = Node::memory(name, Object::Memory, address(start)?, bytes);
            return Some((node, 0, None));
        }
        let mut parts = data.splitn(4, '/');
        let thread = parts.next()?.parse().ok()?;
        let path = parts.next()?.parse().ok()?;
        let lane = match parts.next()? {
            "-" => None,
            lane => Some(lane.parse().ok()?),
        };
        let node = self.node_named(parts.next()?, (thread, path, lane))?;
        Some((node, thread, lane))
    }

    pub(super) fn set_data_breakpoints(&mut self, request: &Request) -> Result<Value, Refused> {
        let asked = request.needs_list("breakpoints")?.to_vec();
        for id in std::mem::take(&mut self.of_data) {
            self.session.remove(id);
        }
        let mut shown = vec![];
        for own in &asked {
            let kind = match own.get("accessType").and_then(Value::as_str) {
                Some("read") => WatchKind::Read,
                Some("readWrite") => WatchKind::Both,
                _ => WatchKind::Write,
            };
            let data = own.get("dataId").and_then(Value::as_str);
            let found = data.and_then(|data| self.watched(data));
            let set = found.and_then(|(node, thread, lane)| {
                self.session.add_watch(&node, kind, (thread, lane))
            });
            shown.push(match set {
                Some(set) => {
                    self.of_data.push(set.id);
                    json!({ "id": set.id, "verified": true })
                }
                None => json!({ "verified": false, "message": "nothing is there to watch" }),
            });
        }
        Ok(json!({ "breakpoints": shown }))
    }

    /// The lines of a range that have code.
    pub(super) fn breakpoint_locations(&mut self, request: &Request) -> Result<Value, Refused> {
        let source = request.arguments().get("source");
        let path = source.and_then(|source| source.get("path")?.as_str());
        let path = path.ok_or_else(|| Refused::new("`source` has no path"))?;
        let first = request.needs_count("line")?;
        let last = request.number("endLine");
        let last = last.and_then(|line| usize::try_from(line).ok());
        let last = last.unwrap_or(first);
        let program = self.session.program();
        let file = program.find_file(path);
        let lines = program.instructions.iter();
        let lines = lines.filter_map(|own| own.line.as_ref());
        let mut lines: Vec<u32> = lines
            .filter(|line| Some(line.file) == file)
            .map(|line| line.line)
            .filter(|line| (first..=last).contains(&(*line as usize)))
            .collect();
        lines.sort_unstable();
        lines.dedup();
        let lines = lines.iter().map(|line| json!({ "line": line }));
        Ok(json!({ "breakpoints": lines.collect::<Vec<_>>() }))
    }
}
