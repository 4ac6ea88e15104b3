//! A dump as a page: the fault first, then what was being executed, memory as a picture, streams, and all that the text has.

use super::memory_map::{self, Links};
use super::{PageError, environment, render};
use crate::outcome::Failure;
use minijinja::HtmlEscape;
use regex::Regex;
use serde_json::{Value, json};

/// The page of what `dump show --json` prints.
pub(crate) fn dump(mut value: Value) -> Result<String, Failure> {
    value["title"] = json!(format!(
        "Dump {}",
        value["file"].as_str().unwrap_or_default()
    ));
    value["spaces"] = json!(memory_map::spaces(&value));
    let told = told(&value["entries"]);
    let faults = value["faults"].as_array_mut().into_iter().flatten();
    for (fault, told) in faults.zip(told.iter().map(Some).chain(std::iter::repeat(None))) {
        let note = |name: &str| told.and_then(|told| noted(told, name));
        fault["place"] = json!(note("mapping").or_else(|| note("missed by")));
    }
    value["help"] = json!(told.iter().find_map(|told| noted(told, "help")));
    value["executing"] = json!(executing(&value["entries"]).unwrap_or_default());
    if let Some(first) = value["entries"]
        .as_array_mut()
        .and_then(|all| all.first_mut())
    {
        first["open"] = json!(true);
    }
    mark_closed(&mut value["entries"]);
    let mut environment = environment().map_err(Failure::refused)?;
    let links = Links::of(&value);
    // Four digits or more: smaller numbers are offsets.
    let address =
        Regex::new("0x[0-9a-f]{4,16}").map_err(|cause| Failure::refused(PageError::from(cause)))?;
    environment.add_filter("linked", move |text: String| {
        minijinja::Value::from_safe_string(linked(&text, &address, &links))
    });
    render(&environment, "dump.html", value)
}

/// The entries of the faults, in the order of the faults.
fn told(entries: &Value) -> Vec<Value> {
    let all = entries.as_array().into_iter().flatten();
    all.filter(|entry| entry["name"] == "fault")
        .cloned()
        .collect()
}

/// The text of a note of an entry.
fn noted(entry: &Value, name: &str) -> Option<String> {
    let mut notes = entry["entries"].as_array()?.iter();
    let note = notes.find(|note| note["name"] == name)?;
    note["text"].as_str().map(str::to_owned)
}

/// The lines of the first list of instructions that says where its stream stands.
fn executing(entries: &Value) -> Option<Vec<String>> {
    for entry in entries.as_array()? {
        let lines: Vec<String> = entry["entries"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|line| {
                let [name, text] =
                    [&line["name"], &line["text"]].map(|it| it.as_str().unwrap_or_default());
                let colon = if name.is_empty() || text.is_empty() {
                    ""
                } else {
                    ": "
                };
                line["entries"]
                    .is_null()
                    .then(|| format!("{name}{colon}{text}"))
            })
            .collect();
        if lines
            .iter()
            .any(|line| line.trim_start().starts_with("=> "))
        {
            return Some(lines);
        }
        if let Some(lines) = executing(&entry["entries"]) {
            return Some(lines);
        }
    }
    None
}

/// Says of every entry whether it is open, since a template asks for each.
fn mark_closed(entries: &mut Value) {
    for entry in entries.as_array_mut().into_iter().flatten() {
        if entry["open"].is_null() {
            entry["open"] = json!(false);
        }
        if entry.get("entries").is_some_and(Value::is_array) {
            mark_closed(&mut entry["entries"]);
        }
    }
}

/// Text as HTML, in which each address that lies in one mapping alone leads to it.
fn linked(text: &str, address: &Regex, links: &Links) -> String {
    let mut html = String::new();
    let mut done = 0;
    for found in address.find_iter(text) {
        let number = u64::from_str_radix(&found.as_str()[2..], 16).ok();
        let Some(row) = number.and_then(|number| links.row(number)) else {
            continue;
        };
        html += &HtmlEscape(&text[done..found.start()]).to_string();
        html += &format!("<a href=\"#{row}\">{}</a>", found.as_str());
        done = found.end();
    }
    html + &HtmlEscape(&text[done..]).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_links_and_text_is_escaped() {
        let mapping = json!({ "space": 1, "start": 0x1000, "end": 0x2000 });
        let links = Links::of(&json!({ "mappings": [mapping] }));
        let address = Regex::new("0x[0-9a-f]{4,16}").expect("a pattern");
        assert_eq!(
            linked("<b> 0x1010, 0x8000, 0x10", &address, &links),
            "&lt;b&gt; <a href=\"#mapping-1-1000\">0x1010</a>, 0x8000, 0x10"
        );
    }

    #[test]
    fn a_dump_without_faults_says_so() {
        let value = json!({ "file": "<a>", "entries": [{ "name": "GPU", "entries": [{ "text": "a & b" }] }], "faults": [],
            "mappings": [], "streams": [], "memory": [], "producer": null,
            "missing": { "no_room": 0, "unreadable": 0, "tables": 0, "cut": 0 } });
        let page = dump(value).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(page.contains("No fault is recorded"), "{page}");
        assert!(page.contains("<title>Dump &lt;a&gt;</title>"), "{page}");
        assert!(page.contains("a &amp; b"), "{page}");
    }
}
