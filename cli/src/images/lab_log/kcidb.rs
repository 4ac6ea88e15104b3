//! KCIDB: a log's results as KernelCI's database takes them, schema 5.3.
//!
//! An id names the run and the device: objects of one id are one object there, so that neither runs nor boards overwrite each other.
//! Facts: hardware/boards-labs.md 4: every id starts with the origin, no value is null, an image that crashed has failed the
//! running test and missed the rest.

use super::Log;
use super::outputs::Run;
use crate::results::{Case, Results, Status};
use serde_json::{Map, Value, json};

/// Who submits.
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
pub(super) fn kcidb(log: &Log, results: &Results, run: &Run<'_>) -> Value {
    let build = match log.build.as_str() {
        "" => "unknown".to_owned(),
        build => id(build),
    };
    // What was told of the run counts; else what the image says of itself, unless its sources were changed since.
    let is_commit =
        |revision: &&str| revision.len() >= 7 && revision.chars().all(|c| c.is_ascii_hexdigit());
    let own = Some(log.revision.as_str()).filter(is_commit);
    let source = run.commit.or(own).map_or_else(|| build.clone(), id);
    let checkout_id = format!("{ORIGIN}:{source}");
    let build_id = format!("{ORIGIN}:{build}-aarch64");
    let names = [Some(log.board.as_str()), run.device, Some(&run.id)];
    let names = names.into_iter().flatten().filter(|name| !name.is_empty());
    let prefix = names.map(id).collect::<Vec<_>>().join("-");
    let document = Document {
        prefix,
        build_id: &build_id,
        log,
        run,
    };
    let mut tests = Vec::new();
    for case in &results.cases {
        tests.extend(document.tests(case));
    }
    let mut image = Map::new();
    for (name, value) in [
        ("version", &log.version),
        ("revision", &log.revision),
        ("image", &log.image),
        ("features", &log.features),
    ] {
        if !value.is_empty() {
            image.insert(name.to_owned(), json!(value));
        }
    }
    let mut checkout = json!({ "id": checkout_id, "origin": ORIGIN });
    if let Some(commit) = run.commit {
        checkout["git_commit_hash"] = json!(commit);
    }
    json!({
        "version": { "major": 5, "minor": 3 },
        "checkouts": [checkout],
        "builds": [{
            "id": build_id,
            "origin": ORIGIN,
            "checkout_id": checkout_id,
            "architecture": "aarch64",
            "misc": image,
        }],
        "tests": tests,
    })
}

/// What every test of a document has.
struct Document<'a> {
    prefix: String,
    build_id: &'a str,
    log: &'a Log,
    run: &'a Run<'a>,
}

impl Document<'_> {
    /// A test, and one more for each number that it has measured.
    fn tests(&self, case: &Case) -> Vec<Value> {
        let status = match case.status {
            Status::Pass => "PASS",
            // A test that hangs or crashes the image has failed.
            Status::Fail | Status::Error => "FAIL",
            Status::Skip => "SKIP",
            Status::Missing => "MISS",
        };
        let mut test = self.test(&case.name, status, &case.why);
        if let Some(seconds) = case.seconds {
            test.insert("duration".into(), json!(seconds));
        }
        let mut tests = vec![Value::Object(test)];
        for number in &case.numbers {
            let mut measured = self.test(&number.name, "DONE", "");
            let value = json!({ "value": number.value, "unit": number.unit });
            measured.insert("number".into(), value);
            tests.push(Value::Object(measured));
        }
        tests
    }

    fn test(&self, path: &str, status: &str, why: &str) -> Map<String, Value> {
        let mut test = Map::new();
        let mut set = |name: &str, value: Value| test.insert(name.to_owned(), value);
        set(
            "id",
            json!(format!("{ORIGIN}:{}-{}", self.prefix, id(path))),
        );
        set("origin", json!(ORIGIN));
        set("build_id", json!(self.build_id));
        let dotted = path.replace(['/', ' '], ".");
        set("path", json!(format!("eitri.{dotted}")));
        set("status", json!(status));
        set("start_time", json!(self.run.start));
        let mut environment = Map::new();
        if !self.log.board.is_empty() {
            environment.insert("comment".to_owned(), json!(self.log.board));
        }
        let of_machine = [
            ("device", self.run.device.unwrap_or_default()),
            ("model", &self.log.model),
            ("serial", &self.log.serial),
            ("loader", &self.log.loader),
            ("interface", &self.log.interface),
        ];
        let known = of_machine.iter().filter(|(_, value)| !value.is_empty());
        let misc: Map<_, _> = known
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        if !misc.is_empty() {
            environment.insert("misc".to_owned(), Value::Object(misc));
        }
        if !environment.is_empty() {
            set("environment", Value::Object(environment));
        }
        if let Some(url) = self.run.log_url {
            set("log_url", json!(url));
        }
        if !why.is_empty() {
            set("log_excerpt", json!(why));
        }
        set("misc", json!({ "run": self.run.id }));
        test
    }
}
