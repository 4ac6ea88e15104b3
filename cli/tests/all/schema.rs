//! `eitri schema`: what the command writes is of the form that it publishes.

use crate::eitri::eitri;
use serde_json::Value;

fn json(arguments: &[&str], input: &[u8]) -> Value {
    let output = eitri(arguments, input);
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {errors}"))
}

/// What is wrong with a value by a schema: the words of JSON Schema that ours use, and no others.
fn wrong(value: &Value, schema: &Value, at: &str, found: &mut Vec<String>) {
    let mut say = |what: String| found.push(format!("{at}: {what}"));
    for word in schema.as_object().unwrap().keys() {
        const KNOWN: [&str; 11] = [
            "$schema",
            "title",
            "description",
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "const",
            "default",
        ];
        assert!(
            KNOWN.contains(&word.as_str()),
            "{at}: this test does not know `{word}`"
        );
    }
    if let Some(expected) = schema.get("const").filter(|expected| *expected != value) {
        say(format!("{value} is not {expected}"));
    }
    if let Some(all) = schema.get("enum")
        && !all.as_array().unwrap().contains(value)
    {
        say(format!("{value} is none of {all}"));
    }
    let is = |name: &Value| match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("no type {other}"),
    };
    let fits = match &schema["type"] {
        Value::Null => true,
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    };
    if !fits {
        say(format!("{value} is no {}", schema["type"]));
    }
    // What is no object has no members that could be missing.
    let required = schema["required"].as_array().filter(|_| value.is_object());
    for name in required.into_iter().flatten() {
        if value.get(name.as_str().unwrap()).is_none() {
            say(format!("no {name}"));
        }
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        let inside = format!("{at}.{name}");
        match (
            schema["properties"].get(name),
            schema.get("additionalProperties"),
        ) {
            (Some(of), _) => wrong(member, of, &inside, found),
            (None, Some(Value::Bool(false))) => {
                found.push(format!("{inside} is not in the schema"))
            }
            (None, Some(of @ Value::Object(_))) => wrong(member, of, &inside, found),
            (None, _) => {}
        }
    }
    if let Some(of) = schema.get("items") {
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            wrong(item, of, &format!("{at}[{index}]"), found);
        }
    }
}

/// Checks what a command has written by the schema of a name.
#[track_caller]
pub(crate) fn check(name: &str, value: &Value) {
    let schema = json(&["schema", name], b"");
    let mut found = Vec::new();
    wrong(value, &schema, "", &mut found);
    assert!(found.is_empty(), "{name}: {}\n{value:#}", found.join("\n"));
}

#[test]
fn what_is_written_is_of_the_published_form() {
    let saxpy = format!("{}/demo/saxpy.comp", env!("CARGO_MANIFEST_DIR"));
    check("reflect", &json(&["reflect", "--json", &saxpy], b""));
    let job = "--buffer 0=iota-f32:64 --buffer 1=zero:256 --push a=2.0,count=64 --json -";
    let profile: Vec<&str> = ["profile", &saxpy]
        .into_iter()
        .chain(job.split(' '))
        .collect();
    check("profile", &json(&profile, b""));
    let job = "--buffer 0=iota-f32:64 --buffer 1=zero:256 --push a=2.0,count=64 --fidelity=-";
    let fidelity: Vec<&str> = ["run", &saxpy].into_iter().chain(job.split(' ')).collect();
    check("fidelity", &json(&fidelity, b""));
    let stub = eitri_model::stub_firmware();
    check(
        "firmware",
        &json(&["firmware", "show", "--json", "-"], &stub),
    );
    let log = b"# EITRI-START 0.1.0 rk3588 00c0ffee\n1..2\nok 1 power.l2\n# @M power.l2.on 20 us\n# begin mmu.read\n";
    check(
        "dump",
        &json(&["dump", "show", "--json", "-"], &crate::dump::MISSED),
    );
    for arguments in [
        &["image", "--list-boards=json"][..],
        &["validate", "--list=json"],
        &["test", "--list=json"],
        &["compile", "--list-passes=json"],
    ] {
        let list = json(arguments, b"");
        assert!(list["rows"].as_array().unwrap().len() > 4, "{arguments:?}");
        check("list", &list);
    }
    check("results", &json(&["console", "-", "--results", "-"], log));
    let code = b"LOAD.i32.unsigned.slot1 @r2, r0, offset:0\nMOV.i32.end r3, r2\n";
    check("waitcheck", &json(&["waitcheck", "-", "--json"], code));
    let output = eitri(&["run", "/nowhere.comp", "--message-format", "json"], b"");
    check("messages", &serde_json::from_slice(&output.stderr).unwrap());
}

#[test]
fn tables_are_of_the_published_form() {
    let saxpy = format!("{}/demo/saxpy.comp", env!("CARGO_MANIFEST_DIR"));
    let job = "--buffer 0=iota-f32:64 --buffer 1=zero:256 --push a=2.0,count=64";
    let run = |options: &[&str]| {
        let run: Vec<&str> = ["run", &saxpy]
            .into_iter()
            .chain(job.split(' '))
            .chain(options.iter().copied())
            .collect();
        json(&run, b"")
    };
    check("counters", &run(&["--counters-json"]));
    let gpus = run(&["--gpu", "all", "--json"]);
    assert!(gpus["gpus"].as_array().unwrap().len() > 8, "{gpus}");
    check("every-gpu", &gpus);
    for target in ["v10", "v12", "a6xx"] {
        for (schema, option) in [
            ("compile-report", "--report-json"),
            ("compile-stats", "--stats-json"),
        ] {
            let compile = ["compile", &saxpy, "--target", target, option];
            check(schema, &json(&compile, b""));
        }
    }
    check("doctor", &json(&["doctor", "--json"], b""));
    for what in [
        "G610",
        "GPU_STATUS",
        "GPU_STATUS=0x1",
        "FMA.f32",
        "TEX_SINGLE",
        "RUN_COMPUTE",
        "v10",
        "0x63",
    ] {
        check("explain", &json(&["explain", "--json", what], b""));
    }
    check(
        "explain",
        &json(&["explain", "--json", "--arch", "a6xx", "add.f"], b""),
    );
    let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/data/kernels");
    for (schema, options) in [
        (
            "bench-code",
            &["code", kernel, "--filter", "haar", "--json"][..],
        ),
        (
            "bench-compile",
            &["compile", &saxpy, "--runs", "1", "--json"],
        ),
        (
            "bench-model",
            &["model", kernel, "--filter", "haar", "--runs", "1", "--json"],
        ),
        ("bench-checkpoint", &["checkpoint", "--json"]),
        ("bench-boot", &["boot", "--json"]),
    ] {
        let bench: Vec<&str> = ["bench"]
            .into_iter()
            .chain(options.iter().copied())
            .collect();
        check(schema, &json(&bench, b""));
    }
}

/// A check that finds nothing would find nothing in anything.
#[test]
fn what_is_of_another_form_is_found() {
    let log = b"1..1\nok 1 power.l2\n# EITRI-END 1 0 0\n# done: 1 passed, 0 failed, 0 skipped\n";
    let good = json(&["console", "-", "--results", "-"], log);
    let schema = json(&["schema", "results"], b"");
    for (pointer, value) in [
        ("/schema", Value::from(2)),
        ("/cases/0/status", Value::from("good")),
        ("/cases/0/name", Value::Null),
        ("/interrupted", Value::from("no")),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        let mut found = Vec::new();
        wrong(&bad, &schema, "", &mut found);
        assert_eq!(found.len(), 1, "{pointer}: {found:?}");
    }
}

#[test]
fn schemas_are_listed_and_unknown_ones_are_refused() {
    let output = eitri(&["schema"], b"");
    let list = String::from_utf8_lossy(&output.stdout).into_owned();
    for name in list.lines() {
        assert!(json(&["schema", name], b"")["title"].is_string(), "{name}");
    }
    assert_eq!(list.lines().count(), 26);
    let output = eitri(&["schema", "result"], b"");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("did you mean `results`?"), "{errors}");
}
