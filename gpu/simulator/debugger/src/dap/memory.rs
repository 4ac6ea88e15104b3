//! Instructions and bytes.
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::Server;
use super::inspect::address;
use super::message::{Refused, Request};
use crate::execution::Execution;

/// Most instructions and bytes of one answer.
const MOST_INSTRUCTIONS: usize = 1 << 14;
const MOST_BYTES: u64 = 1 << 20;

impl<E: Execution> Server<'_, E> {
    /// As many instructions as are asked for, some of them before the reference; what lies outside of the program is none.
    pub(super) fn disassemble(&mut self, request: &Request) -> Result<Value, Refused> {
        let reference = request.needs_text("memoryReference")?;
        let at = address(reference);
        let offset = request.number("offset").unwrap_or(0);
        let at = at.and_then(|at| at.checked_add_signed(offset));
        let at = at.ok_or_else(|| Refused::new("`memoryReference` is no address"))?;
        let count = request.needs_count("instructionCount")?;
        let count = count.min(MOST_INSTRUCTIONS);
        let before = request.number("instructionOffset").unwrap_or(0);
        let program = self.session.program();
        let base = program.instructions.partition_point(|own| own.address < at);
        let first = (base as i64).saturating_add(before);
        let shown = (0..count as i64).map(|number| {
            let index = first.saturating_add(number);
            let own = usize::try_from(index).ok();
            let Some(own) = own.and_then(|index| program.instructions.get(index)) else {
                return json!({
                    "address": outside(index),
                    "instruction": "outside of the program",
                    "presentationHint": "invalid",
                });
            };
            let mut shown = json!({
                "address": format!("{:#x}", own.address),
                "instruction": own.text,
            });
            if let Some(word) = own.word {
                shown["instructionBytes"] = format!("{word:016x}").into();
            }
            if let Some(line) = &own.line {
                shown["location"] = self.source(line.file);
                shown["line"] = json!(line.line);
                if line.column != 0 {
                    shown["column"] = json!(line.column);
                }
            }
            shown
        });
        Ok(json!({ "instructions": shown.collect::<Vec<_>>() }))
    }

    /// Bytes of a buffer or of shared memory, by a reference that a variable has.
    pub(super) fn read_memory(&mut self, request: &Request) -> Result<Value, Refused> {
        let reference = request.needs_text("memoryReference")?;
        let (name, start) = reference.split_once('+').unwrap_or((reference, "0"));
        let objects = self.session.now().objects();
        let found = objects.iter().find(|(own, _)| own == name);
        let start: Option<u64> = start.parse().ok();
        let offset = request.number("offset").unwrap_or(0);
        let start = start.and_then(|start| start.checked_add_signed(offset));
        let (Some((name, object)), Some(start)) = (found, start) else {
            let why = format!("`{reference}` is no memory of the shader");
            return Err(Refused::new(why));
        };
        let count = request.needs_count("count")? as u64;
        let read = self
            .session
            .now()
            .read(*object, start, count.min(MOST_BYTES));
        let bytes = read.unwrap_or_default();
        let mut body = json!({ "address": format!("{name}+{start}") });
        let missing = count - bytes.len() as u64;
        if missing != 0 {
            body["unreadableBytes"] = json!(missing);
        }
        if !bytes.is_empty() {
            body["data"] = STANDARD.encode(&bytes).into();
        }
        Ok(body)
    }
}

/// An address for what is no instruction: each has another one.
fn outside(index: i64) -> String {
    match u64::try_from(index) {
        Ok(index) => format!("{:#x}", (1u64 << 62).saturating_add(index)),
        Err(_) => format!("{:#x}", (1u64 << 63).wrapping_add_signed(index)),
    }
}
