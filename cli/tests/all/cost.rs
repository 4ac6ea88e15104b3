//! Figures of one job from several commands: they come from one cost model, and agree.
//!
//! Facts: hardware/compiler-optimization.md 3.

use crate::eitri::eitri;
use serde_json::Value;

/// Without a loop, so that what is counted in the code is what runs; of arithmetic, so that nothing else bounds it.
const STRAIGHT: &str = "
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var a = x[id.x];
    var b = a + 1.0;
    LINES
    x[id.x] = a + b;
}
";

/// Workgroups of the job, and its warps.
const GROUPS: f64 = 64.0;
const WARPS: f64 = GROUPS * 256.0 / 16.0;

/// A shader of many multiplications and additions that depend on each other.
fn shader() -> String {
    let line = "a = fma(a, b, 0.25); b = fma(b, a, 0.5);";
    STRAIGHT.replace("LINES", &line.repeat(60))
}

#[track_caller]
fn good(arguments: &[&str]) -> String {
    let output = eitri(arguments, shader().as_bytes());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What `run` says of the job on a GPU: its line of time, and the counters.
#[track_caller]
fn run(gpu: &str) -> (String, Value) {
    let job = ["run", "-", "--language", "wgsl", "--gpu", gpu];
    let shape = ["--groups", "64", "--buffer", "0:0=zero:65536"];
    let text = good(&[&job[..], &shape, &["--stats", "--counters-json"]].concat());
    let time = text.lines().find(|line| line.contains(" - time: "));
    let time = time.unwrap_or_else(|| panic!("no line of time in {text}"));
    let at = text
        .find('{')
        .unwrap_or_else(|| panic!("no JSON in {text}"));
    let counters = serde_json::from_str(&text[at..]);
    (
        time.to_owned(),
        counters.unwrap_or_else(|error| panic!("{error} in {text}")),
    )
}

/// The number before a word in a line.
#[track_caller]
fn before(line: &str, word: &str) -> f64 {
    let (number, _) = line
        .split_once(&format!(" {word}"))
        .unwrap_or_else(|| panic!("no {word} in {line}"));
    let number = number.rsplit(' ').next().unwrap_or_default();
    number
        .parse()
        .unwrap_or_else(|_| panic!("no number before {word} in {line}"))
}

#[track_caller]
fn counter(counters: &Value, name: &str) -> f64 {
    let all = counters["counters"].as_array();
    let found = all
        .into_iter()
        .flatten()
        .find(|counter| counter["name"] == name);
    let found = found.unwrap_or_else(|| panic!("no {name} in {counters}"));
    found["value"].as_f64().unwrap_or_default()
}

#[track_caller]
fn close(what: &str, got: f64, expected: f64) {
    assert!(
        (got / expected - 1.0).abs() < 0.05,
        "{what}: {got}, and not about {expected}"
    );
}

#[test]
fn reports_statistics_and_counters_agree() {
    let report = good(&["compile", "-", "--language", "wgsl", "--report-json"]);
    let report: Value = serde_json::from_str(&report).expect("it is JSON");
    let total = &report["shaders"][0]["variants"][0]["performance"]["total_cycles"];
    let warp = total["cycle_count"][0].as_f64().expect("a number");
    assert_eq!(total["bound_pipelines"][0], "arith_total", "{total}");
    // One core does all of it.
    let (time, counters) = run("G310");
    assert!(time.contains("on 1 core, bound by arithmetic"), "{time}");
    let expected = warp * WARPS;
    close("arithmetic", before(&time, "arithmetic,"), expected);
    close("time", before(&time, "cycles"), expected);
    close(
        "EXEC_CORE_ACTIVE",
        counter(&counters, "EXEC_CORE_ACTIVE"),
        expected,
    );
}

#[test]
fn a_gpu_with_more_cores_is_faster() {
    let [one, four] = ["G310", "G610"].map(|gpu| before(&run(gpu).0, "cycles"));
    close("four cores", one / four, 4.0);
}

#[test]
fn all_gpus_are_a_table() {
    let job = ["run", "-", "--language", "wgsl", "--gpu", "all"];
    let shape = ["--groups", "64", "--buffer", "0:0=zero:65536"];
    let text = good(&[&job[..], &shape].concat());
    let row = |gpu: &str| {
        let line = text.lines().find(|line| line.starts_with(gpu));
        let line = line.unwrap_or_else(|| panic!("no {gpu} in {text}"));
        let cells: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| cells[at].parse::<f64>().expect("a number");
        (number(2), number(3))
    };
    let ((one, slow), (four, fast)) = (row("Mali-G310"), row("Mali-G610"));
    assert_eq!((one, four), (1.0, 4.0), "{text}");
    close("four cores", slow / fast, 4.0);
    let with_more = [&job[..], &shape, &["--stats"]].concat();
    let output = eitri(&with_more, shader().as_bytes());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("--stats is for one GPU"), "{stderr}");
}
