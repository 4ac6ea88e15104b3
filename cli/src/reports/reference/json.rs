//! Pages as JSON: all that the text holds.

use super::{Code, Page, Part};
use serde_json::{Value, json};

/// Version of the form; grows when a key changes its meaning.
pub(crate) const SCHEMA: u32 = 1;

impl Page {
    /// The page as a JSON object.
    pub(crate) fn json(&self) -> Value {
        let facts: serde_json::Map<String, Value> = self
            .facts
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        json!({
            "kind": self.family.name(),
            "name": self.name,
            "aliases": self.aliases,
            "about": self.about,
            "facts": facts,
            "bits": self.bits,
            "fields": self.parts.iter().map(Part::json).collect::<Vec<_>>(),
            "values": self.codes.iter().map(Code::json).collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }
}

impl Part {
    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "low": self.low,
            "width": self.width,
            "about": self.about,
            "arch": self.arches,
            "value": self.value,
            "values": self.codes.iter().map(Code::json).collect::<Vec<_>>(),
        })
    }
}

impl Code {
    fn json(&self) -> Value {
        json!({ "number": self.number, "name": self.name, "about": self.about })
    }
}
