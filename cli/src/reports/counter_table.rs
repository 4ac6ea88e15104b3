//! What performance counters have counted, as a table and as JSON.
//!
//! Names, units and meanings are those of `eitri explain` and docs/reference/counters.md.

use eitri_csf::Arch;
use eitri_csf::counters::{Counter, find};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Version of the JSON's shape.
const SCHEMA: u32 = 1;

/// Counters by name, as a job gives them, with their rows.
fn rows(counted: &[(String, u64)], arch: Arch) -> Vec<(&'static Counter, u64)> {
    let row = |(name, value): &(String, u64)| Some((find(name, arch)?, *value));
    counted.iter().filter_map(row).collect()
}

/// A table of those that counted something, by block.
pub(crate) fn text(counted: &[(String, u64)], arch: Arch) -> String {
    let all = rows(counted, arch);
    let shown: Vec<_> = all.iter().filter(|(_, value)| *value != 0).collect();
    let name_width = shown.iter().map(|(row, _)| row.name.len()).max();
    let name_width = name_width.unwrap_or(0);
    let values: Vec<String> = shown.iter().map(|(_, value)| value.to_string()).collect();
    let width = values.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    let mut block = None;
    for ((row, _), value) in shown.iter().zip(&values) {
        if block != Some(row.block) {
            block = Some(row.block);
            // A String never refuses.
            let _ = writeln!(text, "{}", row.block);
        }
        let (name, about) = (row.name, row.about);
        let _ = writeln!(text, "  {name:<name_width$}  {value:>width$}  {about}");
    }
    let _ = writeln!(text, "{} other counters are 0", all.len() - shown.len());
    text
}

/// All of them.
pub(crate) fn json(counted: &[(String, u64)], arch: Arch, gpu: &str) -> Value {
    let all = rows(counted, arch);
    let counters = all.iter().map(|(row, value)| {
        json!({
            "block": row.block.to_string(),
            "name": row.name,
            "value": value,
            "unit": row.unit.text(),
            "about": row.about,
        })
    });
    json!({ "schema": SCHEMA, "gpu": gpu, "counters": counters.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted() -> Vec<(String, u64)> {
        let counted = [
            ("GPU_ACTIVE", 1200),
            ("MCU_ACTIVE", 0),
            ("COMPUTE_WARPS", 4),
        ];
        counted
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec()
    }

    #[test]
    fn what_counted_nothing_is_only_counted() {
        let expected = "front end\n  GPU_ACTIVE     1200  GPU active cycles\n\
                        shader core\n  COMPUTE_WARPS     4  Non-fragment warps\n\
                        1 other counters are 0\n";
        assert_eq!(text(&counted(), Arch::V10), expected);
    }

    #[test]
    fn the_json_has_all() {
        let value = json(&counted(), Arch::V10, "Mali-G610");
        assert_eq!(value["counters"].as_array().unwrap().len(), 3);
        assert_eq!(value["counters"][0]["unit"], "cycles");
    }
}
