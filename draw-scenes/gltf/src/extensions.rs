//! Extensions: those that are drawn, and those that a picture can't be right without.
//!
//! Facts: glTF 2.0, "Specifying Extensions": a file says which it uses, and which must be known.

use crate::error::Fault;
use serde_json::{Map, Value};

/// What is drawn as the extension has it.
const DRAWN: &[&str] = &[
    "KHR_materials_emissive_strength",
    "KHR_materials_unlit",
    "KHR_mesh_quantization",
    "KHR_texture_transform",
];

/// The text of a document, taken apart.
pub(crate) struct Document {
    pub(crate) members: Map<String, Value>,
    /// Extensions that are used and left out.
    pub(crate) left_out: Vec<String>,
}

/// Reads the JSON of a document, and its lists of extensions.
pub(crate) fn read(json: &[u8]) -> Result<Document, Vec<Fault>> {
    let members: Map<String, Value> = serde_json::from_slice(json).map_err(|error| {
        vec![Fault::invalid(format!(
            "it is not the JSON of a glTF file: {error}"
        ))]
    })?;
    let list = |member: &str| {
        let list = members.get(member).and_then(Value::as_array);
        let names = list.into_iter().flatten().filter_map(Value::as_str);
        let unknown = names.filter(|name| !DRAWN.contains(name));
        unknown.map(str::to_owned).collect::<Vec<String>>()
    };
    let required = list("extensionsRequired");
    if !required.is_empty() {
        return Err(required.into_iter().map(Fault::Unsupported).collect());
    }
    let left_out = list("extensionsUsed");
    Ok(Document { members, left_out })
}
