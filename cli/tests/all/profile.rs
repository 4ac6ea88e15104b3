//! `eitri profile`: what is counted is what the shader does, and each form says the same.

use crate::eitri::command;
use flate2::read::GzDecoder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

/// Eight warps; what each line does can be counted by hand.
const SHADER: &str = "\
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> c: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let rounds = a[4096];
    for (var k = 0u; k < rounds; k++) {
        atomicAdd(&b[k], id.x);
    }
    let row = a[id.x];
    let column = a[id.x * 16u];
    var sum = row + column;
    if (id.x % 4u == 0u) {
        for (var k = 0u; k < rounds; k++) {
            sum = sum * sum + atomicLoad(&b[k]);
        }
    }
    c[id.x] = sum;
}
";

/// Rounds of the loops: the word 4096 of a buffer that counts up.
const ROUNDS: u64 = 10;
const WARPS: u64 = 8;
const LANES: u64 = 16;

/// The words behind the command that profile this shader in a folder.
fn job(folder: &Path) -> Vec<String> {
    std::fs::write(folder.join("s.wgsl"), SHADER).unwrap();
    let mut words: Vec<u8> = (0..4096u32).flat_map(u32::to_le_bytes).collect();
    words.extend((ROUNDS as u32).to_le_bytes());
    std::fs::write(folder.join("a.bin"), words).unwrap();
    let words = "s.wgsl --buffer 0=a.bin --buffer 1=zero:64 --buffer 2=zero:512 --groups 2";
    words.split(' ').map(str::to_owned).collect()
}

#[track_caller]
fn run(folder: &Path, first: &str, more: &[&str]) -> String {
    let words = job(folder);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let arguments = [&[first], &words[..], more].concat();
    let output = command(&arguments).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn profile(folder: &Path) -> Value {
    let text = run(folder, "profile", &["--json", "-"]);
    serde_json::from_str(&text).unwrap()
}

/// What was counted of the line on which a text stands.
#[track_caller]
fn line<'p>(profile: &'p Value, text: &str) -> &'p Value {
    let number = SHADER.lines().position(|line| line.contains(text)).unwrap() + 1;
    let lines = profile["lines"].as_array().unwrap();
    let found = lines.iter().find(|line| line["source"]["line"] == number);
    &found.unwrap_or_else(|| panic!("no line {number}"))["figures"]
}

#[track_caller]
fn number(figures: &Value, name: &str) -> u64 {
    figures[name]
        .as_u64()
        .unwrap_or_else(|| panic!("no {name} in {figures}"))
}

#[test]
fn a_loop_with_a_known_count_is_counted_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let profile = profile(folder.path());
    let atomics = line(&profile, "atomicAdd");
    assert_eq!(number(atomics, "messages"), ROUNDS * WARPS);
    assert_eq!(number(atomics, "diverged"), 0);
    assert_eq!(
        number(atomics, "lanes"),
        LANES * number(atomics, "executed")
    );
    let store = line(&profile, "c[id.x] = sum");
    assert_eq!(number(store, "messages"), WARPS);
    assert_eq!(number(store, "written"), 4 * LANES * WARPS);
    assert_eq!(number(store, "read"), 0);
    assert_eq!(profile["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(profile["jobs"][0]["kind"], "dispatch");
}

#[test]
fn neighbours_touch_a_line_and_strides_one_a_lane() {
    let folder = tempfile::tempdir().unwrap();
    let profile = profile(folder.path());
    let [row, column] = ["let row", "let column"].map(|text| line(&profile, text));
    for load in [row, column] {
        assert_eq!(number(load, "messages"), WARPS);
        assert_eq!(number(load, "read"), 4 * LANES * WARPS);
    }
    assert_eq!(
        number(row, "cache_lines"),
        WARPS,
        "64 bytes of a warp are a line"
    );
    assert_eq!(number(column, "cache_lines"), LANES * WARPS);
    let cycles = |figures: &Value| figures["cycles"]["load_store"].as_f64().unwrap();
    assert_eq!(cycles(column), 16.0 * cycles(row));
}

#[test]
fn a_branch_that_diverges_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let profile = profile(folder.path());
    let inside = line(&profile, "sum * sum");
    let executed = number(inside, "executed");
    assert_eq!(number(inside, "messages"), ROUNDS * WARPS);
    assert_eq!(
        number(inside, "diverged"),
        executed,
        "one lane of four runs"
    );
    assert_eq!(number(inside, "lanes"), 4 * executed);
    assert_eq!(number(inside, "live_lanes"), LANES * executed);
    let waits: Vec<u64> = inside["waits"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_u64)
        .collect();
    assert!(
        waits.iter().sum::<u64>() >= WARPS,
        "what is loaded is waited for: {waits:?}"
    );
}

#[test]
fn lines_instructions_and_the_devices_counters_have_the_same_sums() {
    let folder = tempfile::tempdir().unwrap();
    let profile = profile(folder.path());
    let program = &profile["programs"][0];
    let sum = |all: &Value, name: &str| -> f64 {
        let figures = all.as_array().unwrap().iter().map(|it| &it["figures"]);
        figures.filter_map(|it| it.pointer(name)?.as_f64()).sum()
    };
    let total = |name: &str| profile["total"].pointer(name).unwrap().as_f64().unwrap();
    for name in [
        "/executed",
        "/lanes",
        "/diverged",
        "/read",
        "/written",
        "/cache_lines",
        "/cost",
    ] {
        assert_eq!(sum(&profile["lines"], name), total(name), "{name} of lines");
        let instructions = sum(&program["instructions"], name);
        assert_eq!(instructions, total(name), "{name} of instructions");
    }
    // Alone, a warp waits no longer than the units work.
    let waited: f64 = profile["total"]["wait_cycles"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_f64)
        .sum();
    let worked = total("/cycles/load_store") + total("/cycles/texture");
    assert!(waited > 0.0 && waited <= worked, "{waited} of {worked}");
    // The same job again, with the hardware's counters.
    let text = run(folder.path(), "run", &["--counters-json"]);
    let counted: Value = serde_json::from_str(&text).unwrap();
    let counter = |name: &str| -> f64 {
        let all = counted["counters"].as_array().unwrap().iter();
        let own = all.filter(|it| it["name"] == name);
        let values: Vec<f64> = own.filter_map(|it| it["value"].as_f64()).collect();
        assert!(!values.is_empty(), "no counter {name}");
        values.iter().sum()
    };
    // A warp takes four cycles of FMA or CVT and one of SFU a quarter and a whole cycle of the core.
    assert_eq!(counter("EXEC_INSTR_FMA"), 4.0 * total("/cycles/arith_fma"));
    assert_eq!(counter("EXEC_INSTR_CVT"), 4.0 * total("/cycles/arith_cvt"));
    assert_eq!(counter("EXEC_INSTR_SFU"), total("/cycles/arith_sfu"));
    assert_eq!(counter("EXEC_INSTR_DIVERGED"), total("/diverged"));
    // And with the model's own clocks.
    let units = profile["jobs"][0]["units"].as_array().unwrap();
    let unit = |name: &str| {
        let own = units.iter().find(|it| it["unit"] == name);
        own.and_then(|it| it["all_cores"].as_f64()).unwrap()
    };
    assert_eq!(unit("load/store"), total("/cycles/load_store"));
    assert_eq!(unit("special functions"), total("/cycles/arith_sfu").ceil());
    assert_eq!(unit("arithmetic"), total("/cycles/arith_total").ceil());
}

#[test]
fn code_leads_to_the_representation_and_that_to_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let profile = profile(folder.path());
    let program = &profile["programs"][0];
    let instructions = program["instructions"].as_array().unwrap();
    let ir_of = |text: &str| {
        let own = instructions
            .iter()
            .find(|it| it["text"].as_str().unwrap().starts_with(text));
        let own = own.unwrap_or_else(|| panic!("no {text}"));
        let line = own["ir"]
            .as_u64()
            .unwrap_or_else(|| panic!("{own} comes from nothing"));
        (&program["ir"][line as usize], own)
    };
    let (store, instruction) = ir_of("STORE");
    assert!(
        store["text"].as_str().unwrap().contains("store.buffer"),
        "{store}"
    );
    assert_eq!(store["source"], instruction["source"]);
    let (branch, _) = ir_of("BRANCHZ");
    assert!(
        branch["text"].as_str().unwrap().contains("branch"),
        "{branch}"
    );
}

#[test]
fn the_text_has_the_jobs_the_hottest_lines_and_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let text = run(folder.path(), "profile", &[]);
    let place = |part: &str| {
        text.find(part)
            .unwrap_or_else(|| panic!("no `{part}` in\n{text}"))
    };
    let parts = [
        "dispatch 1: 2x1x1 workgroups, main",
        "bound by ",
        "Hottest lines",
        "s.wgsl\n",
        "   5 fn main(",
    ];
    let places = parts.map(place);
    assert!(places.is_sorted(), "{places:?} in\n{text}");
    let code = run(folder.path(), "profile", &["--view", "code,ir"]);
    assert!(
        code.contains("LD_BUFFER") && code.contains("load.buffer"),
        "{code}"
    );
    assert!(!code.contains("Hottest"), "{code}");
}

#[test]
fn speedscope_and_callgrind_and_perfetto_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let files = "--speedscope s.json --callgrind c.out --trace t.json --json p.json";
    run(path, "profile", &files.split(' ').collect::<Vec<_>>());
    let read = |name: &str| std::fs::read_to_string(path.join(name)).unwrap();
    let profile: Value = serde_json::from_str(&read("p.json")).unwrap();
    let cost = profile["total"]["cost"].as_f64().unwrap();
    let executed = number(&profile["total"], "executed");

    let speedscope: Value = serde_json::from_str(&read("s.json")).unwrap();
    let frames = speedscope["shared"]["frames"].as_array().unwrap().len() as u64;
    let profiles = speedscope["profiles"].as_array().unwrap();
    for own in profiles {
        let weights = own["weights"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_f64);
        let samples = own["samples"].as_array().unwrap();
        assert_eq!(weights.clone().count(), samples.len());
        assert_eq!(weights.sum::<f64>(), own["endValue"].as_f64().unwrap());
        let numbers = samples.iter().flat_map(|stack| stack.as_array().unwrap());
        assert!(
            numbers
                .filter_map(Value::as_u64)
                .all(|frame| frame < frames)
        );
    }
    assert_eq!(profiles[0]["endValue"].as_f64(), Some(cost));
    assert_eq!(profiles[1]["endValue"].as_f64(), Some(executed as f64));

    // What stands before the first cost of a line is its place: an address and a line.
    let callgrind = read("c.out");
    let events = callgrind
        .lines()
        .find_map(|line| line.strip_prefix("events: "))
        .unwrap();
    let names: Vec<&str> = events.split(' ').collect();
    let totals = callgrind
        .lines()
        .find_map(|line| line.strip_prefix("totals: "))
        .unwrap();
    let numbers =
        |text: &str| -> Vec<u64> { text.split(' ').map(|it| it.parse().unwrap()).collect() };
    let mut sums = vec![0; names.len()];
    for line in callgrind.lines().filter(|line| line.starts_with("0x")) {
        let costs = numbers(line.splitn(3, ' ').nth(2).unwrap());
        sums.iter_mut()
            .zip(costs)
            .for_each(|(sum, cost)| *sum += cost);
    }
    assert_eq!(sums, numbers(totals));
    let of = |name: &str| sums[names.iter().position(|it| *it == name).unwrap()];
    assert_eq!(of("Warps"), executed);
    assert_eq!(of("Mcycles"), (1000.0 * cost) as u64);
    annotated(path, &of("Warps").to_string());

    let trace: Value = serde_json::from_str(&read("t.json")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let named = |name: &str| events.iter().filter(|it| it["name"] == name).count();
    assert_eq!(
        named("dispatch 1: 2x1x1 workgroups, main"),
        2,
        "it begins and ends"
    );
    assert!(named("core 0: load/store (% of peak)") > 0);
}

/// Valgrind's own reader takes the file, where there is one.
fn annotated(folder: &Path, warps: &str) {
    let output = Command::new("callgrind_annotate")
        .args(["--show=Warps", "--threshold=100", "c.out"])
        .current_dir(folder)
        .output();
    let Ok(output) = output else {
        return eitri_testdata::report_skipped("callgrind_annotate");
    };
    let text = String::from_utf8_lossy(&output.stdout).replace(',', "");
    assert!(output.status.success(), "{text}");
    assert!(
        text.contains(warps) && text.contains("main (compute)"),
        "{text}"
    );
}

/// The fields of a message of protocol buffers: numbers, and bytes.
fn fields(mut bytes: &[u8]) -> BTreeMap<u64, Vec<Field>> {
    let mut fields: BTreeMap<u64, Vec<Field>> = BTreeMap::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (own, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(own.to_vec())
            }
            other => panic!("wire type {other}"),
        };
        fields.entry(key >> 3).or_default().push(field);
    }
    fields
}

#[derive(Debug)]
enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

impl Field {
    fn number(&self) -> u64 {
        match self {
            Field::Number(number) => *number,
            Field::Bytes(_) => panic!("{self:?} is no number"),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Field::Bytes(bytes) => bytes,
            Field::Number(_) => panic!("{self:?} is no bytes"),
        }
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().expect("the end of a number");
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return value;
        }
    }
    panic!("a number that does not end")
}

#[test]
fn pprof_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    run(path, "profile", &["--pprof", "p.pb.gz", "--json", "p.json"]);
    let json: Value =
        serde_json::from_str(&std::fs::read_to_string(path.join("p.json")).unwrap()).unwrap();
    let packed = std::fs::read(path.join("p.pb.gz")).unwrap();
    let mut bytes = vec![];
    GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    let profile = fields(&bytes);
    let strings: Vec<String> = profile[&6]
        .iter()
        .map(|it| String::from_utf8(it.bytes().to_vec()).unwrap())
        .collect();
    assert_eq!(strings[0], "");
    let types: Vec<&str> = profile[&1]
        .iter()
        .map(|it| strings[fields(it.bytes())[&1][0].number() as usize].as_str())
        .collect();
    let mut sums = vec![0; types.len()];
    let locations: Vec<u64> = profile[&4]
        .iter()
        .map(|it| fields(it.bytes())[&1][0].number())
        .collect();
    for sample in &profile[&2] {
        let sample = fields(sample.bytes());
        let packed = |field: u64| {
            let mut bytes = sample[&field][0].bytes();
            let mut numbers = vec![];
            while !bytes.is_empty() {
                numbers.push(varint(&mut bytes));
            }
            numbers
        };
        assert!(
            packed(1)
                .iter()
                .all(|location| locations.contains(location))
        );
        let values = packed(2);
        assert_eq!(values.len(), sums.len());
        sums.iter_mut()
            .zip(values)
            .for_each(|(sum, value)| *sum += value);
    }
    let of = |name: &str| sums[types.iter().position(|it| *it == name).unwrap()];
    assert_eq!(of("instructions"), number(&json["total"], "executed"));
    assert_eq!(of("lanes"), number(&json["total"], "lanes"));
    assert_eq!(
        of("cycles"),
        (1000.0 * json["total"]["cost"].as_f64().unwrap()) as u64
    );
    // Lines of the source are known: a location of each has its file and number.
    let functions: BTreeMap<u64, String> = profile[&5]
        .iter()
        .map(|it| {
            let function = fields(it.bytes());
            let file = strings[function[&4][0].number() as usize].clone();
            (function[&1][0].number(), file)
        })
        .collect();
    let lines = profile[&4].iter().map(|it| {
        let line = fields(fields(it.bytes())[&4][0].bytes());
        (
            functions[&line[&1][0].number()].clone(),
            line[&2][0].number(),
        )
    });
    let store = SHADER
        .lines()
        .position(|line| line.contains("c[id.x]"))
        .unwrap() as u64
        + 1;
    assert!(
        lines
            .into_iter()
            .any(|(file, line)| file == "s.wgsl" && line == store)
    );
}

#[test]
fn the_page_stands_alone_and_links_code_representation_and_source() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "profile", &["--html", "p.html"]);
    let page = std::fs::read_to_string(folder.path().join("p.html")).unwrap();
    assert!(page.starts_with("<!doctype html>"));
    for outside in ["src=\"http", "href=\"http", "<link", "@import", "url("] {
        assert!(!page.contains(outside), "it asks for `{outside}`");
    }
    let store = SHADER
        .lines()
        .position(|line| line.contains("c[id.x]"))
        .unwrap()
        + 1;
    assert!(
        page.contains(&format!("<tr id=\"line-0-{store}\"")),
        "the source"
    );
    let row = page
        .split("<tr id=\"row-0-")
        .find(|row| row.contains("STORE"));
    let row = row.expect("the instruction");
    assert!(
        row.contains(&format!("data-line=\"line-0-{store}\"")),
        "{row}"
    );
    let ir = row
        .split("data-ir=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let ir = ir.expect("a line of the representation");
    let line = page
        .split(&format!("<tr id=\"{ir}\""))
        .nth(1)
        .expect("that line");
    assert!(
        line.split("</tr>").next().unwrap().contains("store.buffer"),
        "{ir}"
    );
}

/// A triangle.
const TRIANGLE: &str = r#"{
  "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
  "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
  "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [-1, -1, 0], "max": [1, 1, 0]}],
  "bufferViews": [{"buffer": 0, "byteLength": 36}],
  "buffers": [{"byteLength": 36, "uri": "data:application/octet-stream;base64,AACAvwAAgL8AAAAAAACAPwAAgL8AAAAAAAAAAAAAgD8AAAAA"}]
}"#;

#[test]
fn draws_of_a_pass_have_their_vertex_and_fragment_programs() {
    let folder = tempfile::tempdir().unwrap();
    let triangle = folder.path().join("t.gltf");
    std::fs::write(&triangle, TRIANGLE).unwrap();
    let arguments = [
        "profile",
        triangle.to_str().unwrap(),
        "--size",
        "64x64",
        "--json",
        "-",
    ];
    let output = command(&arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let profile: Value = serde_json::from_slice(&output.stdout).unwrap();
    let jobs = profile["jobs"].as_array().unwrap();
    let draw = jobs
        .iter()
        .find(|job| job["kind"] == "draw")
        .expect("a draw");
    let pass = jobs
        .iter()
        .find(|job| job["kind"] == "pass")
        .expect("a pass");
    let stage = |of: &Value| -> Vec<String> {
        let stages = of["stages"].as_array().unwrap().iter();
        let numbers = stages.filter_map(|stage| stage["program"].as_u64());
        let stage = |number: u64| profile["programs"][number as usize]["stage"].clone();
        numbers
            .map(|number| stage(number).as_str().unwrap().to_owned())
            .collect()
    };
    assert!(stage(draw).contains(&"position".to_owned()), "{draw}");
    let name = draw["name"].as_str().unwrap().split(", ").next().unwrap();
    let draws = pass["draws"].as_array().unwrap();
    let own = draws
        .iter()
        .find(|own| own["name"] == name)
        .expect("the draw's fragments");
    assert_eq!(stage(own), ["fragment"]);
    assert!(own["bound"]["cycles"].as_u64().unwrap() > 0, "{own}");
}

#[test]
fn what_can_not_be_profiled_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let status = |words: &[&str]| {
        let output = command(words).current_dir(folder.path()).output().unwrap();
        output.status.code()
    };
    std::fs::write(folder.path().join("bad.wgsl"), "fn").unwrap();
    assert_eq!(status(&["profile", "bad.wgsl"]), Some(2));
    assert_eq!(status(&["profile", "nowhere.json"]), Some(2));
    assert_eq!(status(&["profile"]), Some(2));
}
