//! KCIDB: a log's results as KernelCI's database takes them, schema 5.3.
//!
//! Facts: hardware/boards-labs.md 4: every id starts with the origin, no value is null, an image that crashed has failed the
//! running test and missed the rest.

use super::{Log, Outcome};
use serde_json::{Map, Value, json};

/// Who submits, where nobody says.
const ORIGIN: &str = "eitri";

/// Letters that an id may have.
fn id(text: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || "._-".contains(c) => c,
        _ => '_',
    };
    text.chars().map(plain).collect()
}

/// The whole document.
pub(crate) fn kcidb(log: &Log) -> Value {
    let build = match log.build.as_str() {
        "" => "unknown".to_owned(),
        build => id(build),
    };
    let checkout_id = format!("{ORIGIN}:{build}");
    let build_id = format!("{ORIGIN}:{build}-aarch64");
    let test = |path: &str, status: &str, why: &str| {
        let mut test = Map::new();
        let board = id(&log.board);
        test.insert(
            "id".into(),
            json!(format!("{ORIGIN}:{build}-{board}-{}", id(path))),
        );
        test.insert("origin".into(), json!(ORIGIN));
        test.insert("build_id".into(), json!(build_id));
        test.insert(
            "path".into(),
            json!(format!("eitri.{}", path.replace('/', "."))),
        );
        test.insert("status".into(), json!(status));
        if !log.board.is_empty() {
            test.insert("environment".into(), json!({ "comment": log.board }));
        }
        if !why.is_empty() {
            test.insert("log_excerpt".into(), json!(why));
        }
        test
    };
    let mut tests = Vec::new();
    for told in &log.tests {
        let status = match told.outcome {
            Outcome::Passed => "PASS",
            Outcome::Failed => "FAIL",
            Outcome::Skipped => "SKIP",
        };
        tests.push(Value::Object(test(&told.name, status, &told.why)));
        for number in &told.numbers {
            let mut measured = test(&number.name, "DONE", "");
            let value = json!({ "value": number.value, "unit": number.unit });
            measured.insert("number".into(), value);
            tests.push(Value::Object(measured));
        }
    }
    // The running test of an image that crashed has failed; nothing is known of the rest but how many there were.
    if let (Some(crash), Some(begun)) = (&log.crash, &log.begun) {
        tests.push(Value::Object(test(begun, "FAIL", crash)));
    }
    if log.end.is_none() || log.missing() > 0 {
        let why = format!("{} tests have said nothing", log.missing());
        tests.push(Value::Object(test("rest", "MISS", &why)));
    }
    json!({
        "version": { "major": 5, "minor": 3 },
        "checkouts": [{ "id": checkout_id, "origin": ORIGIN }],
        "builds": [{
            "id": build_id,
            "origin": ORIGIN,
            "checkout_id": checkout_id,
            "architecture": "aarch64",
        }],
        "tests": tests,
    })
}
