//! `eitri dump`: dumps of the runtime's work on the model, decoded and run again.

#![allow(
    clippy::result_large_err,
    reason = "the runtime's errors carry what was seen"
)]

mod drawn;
mod lines;
mod stopped;
mod taken;

use crate::eitri::eitri;
use eitri_model::Injection;
use serde_json::Value;
use std::sync::LazyLock;
use taken::{WILD, taken};

/// A store that missed its buffer by far.
pub(crate) static MISSED: LazyLock<Vec<u8>> = LazyLock::new(|| taken(WILD, |_| {}));

/// What `eitri dump show` prints of a dump.
#[track_caller]
fn show(options: &[&str], file: &[u8]) -> String {
    let arguments = [&["dump", "show", "-"], options].concat();
    let output = eitri(&arguments, file);
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    assert_eq!(err, "");
    out
}

/// All of `lines` stand in `text`, in this order.
#[track_caller]
fn expect_lines(text: &str, lines: &[&str]) {
    let mut rest = text;
    for line in lines {
        let Some((_, behind)) = rest.split_once(line) else {
            panic!("no {line:?} behind what comes before it:\n{text}");
        };
        rest = behind;
    }
}

#[test]
fn a_dump_is_shown_from_the_fault_down_to_instructions_and_descriptors() {
    let text = show(&[], &MISSED);
    let first = "fault: TRANSLATION_FAULT_2 (0xc2): the address is not mapped\n";
    assert!(text.starts_with(first), "{text}");
    let lines = [
        "  who: group 0\n",
        " in address space 1\n",
        "  access: a write\n",
        "  source: shader core 0, load/store cache\n",
        // Sixteen MiB away: whatever is there has nothing to do with it.
        "  missed by: nothing is near: the nearest mapping is 0x",
        " bytes away\n",
        "\nGPU: Mali-G610, arch 10.8.6",
        "power of L2: present 0x1, ready 0x1, in transition 0x0, active 0x1\n",
        "MCU_STATUS (0x704) = 0x1: STATE 1 Enabled\n",
        "\ngroup 0: address space 1\n",
        "  stream 2: ",
        " RUN_COMPUTE.",
        "      => 0x",
        " WAIT #ff",
        "    job at 0x",
        "workgroups: 1 x 1 x 1\n",
        "threads of a workgroup: 64 x 1 x 1\n",
        "Stage: Compute (1)\n",
        " STORE.i32.slot2.end ",
        "resource tables: d0 = 0x",
        "Size: 256 (0x100)\n",
        "thread storage: d24 = 0x",
        "CS_BASE (0x010) = 0x",
        "\nmemory map:\n",
        "address space 1: tables at 0x",
    ];
    expect_lines(&text, &lines);
}

/// The fault stands first wherever it is reported: here by the stream, whose command pointer is then known.
#[test]
fn a_fault_of_a_job_is_its_streams() {
    let good = WILD.replace("+ 0x1000000u", "");
    let file = taken(&good, |machine| {
        machine.gpu(|gpu| gpu.inject(Injection::JobFault { exception: 0x58 }));
    });
    let text = show(&[], &file);
    let lines = [
        "fault: DATA_INVALID_FAULT (0x58): a descriptor is not valid\n",
        "  from: CS_FAULT; its event is pending\n",
        "  who: group 0, stream 2\n",
        "command pointer: 0x",
        "=> ",
        "job at 0x",
    ];
    expect_lines(&text, &lines);
}

#[test]
fn everything_is_shown_if_asked_for() {
    let text = show(&["--all"], &MISSED);
    let lines = [
        "  registers:\n",
        "L2_FEATURES (0x004) = 0x",
        "AS_TRANSTAB (0x2400) = 0x",
        "REQ_RESOURCE\n",
    ];
    expect_lines(&text, &lines);
    assert!(text.len() > show(&[], &MISSED).len());
}

/// Names and texts of a JSON tree, in order.
fn words(value: &Value, found: &mut Vec<String>) {
    for key in ["name", "text"] {
        if let Some(text) = value[key].as_str() {
            found.push(text.to_owned());
        }
    }
    for entry in value["entries"].as_array().into_iter().flatten() {
        words(entry, found);
    }
}

#[test]
fn the_json_holds_all_that_the_text_holds() {
    let value: Value = serde_json::from_str(&show(&["--json"], &MISSED)).unwrap();
    assert_eq!(value["schema"], 2);
    let mut found = Vec::new();
    words(&value, &mut found);
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    expect_lines(&show(&[], &MISSED), &found);
    assert!(found.len() > 200, "only {} words", found.len());
}

#[track_caller]
fn check_refused(file: &[u8], parts: &[&str]) {
    let output = eitri(&["dump", "show", "-"], file);
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert_eq!(output.stdout, b"");
    for part in parts {
        assert!(err.contains(part), "no {part:?}: {err}");
    }
}

/// A copy that ended early still tells the fault.
#[test]
fn a_dump_that_was_cut_short_is_shown_as_far_as_it_goes() {
    let text = show(&[], &MISSED[..MISSED.len() - 1]);
    expect_lines(
        &text,
        &[
            "fault: TRANSLATION_FAULT_2 (0xc2)",
            "  cut short: 0x1 bytes that the headers promise are not in the file\n",
        ],
    );
}

/// A stream that nothing was ever written to takes a line.
#[test]
fn streams_that_were_never_used_take_a_line() {
    let text = show(&[], &MISSED);
    let unused = text.matches("  stream 0: was never used\n").count();
    assert_eq!(unused, 1, "{text}");
    let all = show(&["--all"], &MISSED);
    assert!(!all.contains("was never used"), "{all}");
}

#[test]
fn programs_find_the_fault_by_its_values() {
    let value: Value = serde_json::from_str(&show(&["--json"], &MISSED)).unwrap();
    let fault = &value["faults"][0];
    for (name, wanted) in [
        ("reporter", Value::from("address-space")),
        ("code", Value::from(0xC2)),
        ("space", Value::from(1)),
        ("access", Value::from("a write")),
        ("mapped", Value::from(false)),
    ] {
        assert_eq!(fault[name], wanted, "{name} of {fault}");
    }
    // The shader stores once.
    let candidates = fault["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 1, "{candidates:?}");
    let text = candidates[0]["text"].as_str().unwrap();
    assert!(text.starts_with("STORE"), "{text}");
    let address = fault["address"].as_u64().unwrap();
    let mappings = value["mappings"].as_array().unwrap();
    let numbers =
        |mapping: &Value| [&mapping["start"], &mapping["end"]].map(|it| it.as_u64().unwrap());
    assert!(mappings.len() > 3, "{mappings:?}");
    for mapping in mappings.iter().filter(|it| it["space"] == 1) {
        let [start, end] = numbers(mapping);
        assert!(start < end && !(start..end).contains(&address), "{mapping}");
    }
    let streams = value["streams"].as_array().unwrap();
    let used = streams.iter().filter(|it| it["ring"]["insert"] != 0);
    let used: Vec<&Value> = used.collect();
    assert_eq!(used.len(), 1, "{streams:?}");
    assert!(used[0]["submissions"].is_array());
    let ring = used[0]["ring"]["address"].as_u64().unwrap();
    let labelled = mappings.iter().find(|it| {
        let [start, end] = numbers(it);
        it["space"] == 1 && (start..end).contains(&ring)
    });
    assert!(
        labelled.unwrap()["label"]
            .as_str()
            .unwrap()
            .starts_with("ring of stream 0.")
    );
}

#[test]
fn the_instruction_that_may_have_failed_is_shown_below_the_fault() {
    let text = show(&[], &MISSED);
    let line = text.lines().find(|line| line.contains("instruction: "));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    assert!(
        line.contains(" STORE.") && line.contains("of the program at 0x"),
        "{line}"
    );
}

#[test]
fn ranges_have_the_names_that_the_driver_has_for_them() {
    let dump = taken::taken_by_the_driver(WILD);
    let value: Value = serde_json::from_str(&show(&["--json"], &dump)).unwrap();
    let labels = value["labels"].as_array().unwrap();
    let named = |name: &str| labels.iter().find(|it| it["name"] == name);
    let buffer = labels
        .iter()
        .find(|it| it["name"].as_str().unwrap().starts_with("buffer "));
    let buffer = buffer.unwrap_or_else(|| panic!("{labels:?}"));
    let [start, end] = [&buffer["start"], &buffer["end"]].map(|it| it.as_u64().unwrap());
    assert_eq!(end - start, 256, "as it was asked for");
    assert!(named("rings of queue 0").is_some(), "{labels:?}");
    let text = show(&[], &dump);
    let name = buffer["name"].as_str().unwrap();
    let line = format!("{start:#x}: {name}, 0x100 bytes");
    assert!(text.contains(&line), "no {line} in {text}");
}

#[test]
fn what_is_no_dump_is_refused_by_name() {
    check_refused(b"", &["not an ELF file", "the file is empty"]);
    check_refused(
        b"**** GPU coredump ****\n",
        &["not an ELF file", "devcoredump"],
    );
    check_refused(&MISSED[..100], &["cut short", "was the dump copied whole?"]);
    let output = eitri(&["dump", "show", "/nowhere/at/all"], b"");
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("can't read /nowhere/at/all"), "{err}");
}

/// What `eitri dump replay` does with a dump: its status, what it prints, and the dump afterwards.
#[track_caller]
fn replay(options: &[&str], file: &[u8]) -> (Option<i32>, String, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("after.core");
    let arguments = [
        &["dump", "replay", "-", "-o", path.to_str().unwrap()],
        options,
    ]
    .concat();
    let output = eitri(&arguments, file);
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let after = std::fs::read(&path).unwrap_or_default();
    (output.status.code(), out + &err, after)
}

#[test]
fn what_failed_for_a_reason_fails_again() {
    let (status, text, after) = replay(&[], &MISSED);
    assert_eq!(status, Some(1), "{text}");
    let address = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("  address: "));
        line.unwrap_or_default().to_owned()
    };
    let before = show(&[], &MISSED);
    assert!(!address(&before).is_empty());
    assert_eq!(address(&text), address(&before), "{text}");
    assert_eq!(address(&show(&[], &after)), address(&before));
}

/// The fault was the model's own whim: without it the work is done, where the dump has its memory.
#[test]
fn sound_work_comes_to_its_end() {
    let good = WILD.replace("+ 0x1000000u", "");
    let file = taken(&good, |machine| {
        machine.gpu(|gpu| gpu.inject(Injection::JobFault { exception: 0x58 }));
    });
    let expected: Vec<u8> = (0..64u32).flat_map(|id| (id * 3).to_le_bytes()).collect();
    let has_result = |file: &[u8]| file.windows(expected.len()).any(|bytes| bytes == expected);
    assert!(!has_result(&file), "the job was not to do its work");
    let (status, text, after) = replay(&[], &file);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.starts_with("fault: none"), "{text}");
    assert!(has_result(&after));
    // A part of the work is run if it is asked for.
    let (status, text, _) = replay(&["--stream", "0.2", "--from", "0x28"], &file);
    assert_ne!(status, Some(2), "{text}");
}

#[test]
fn what_can_not_be_replayed_is_refused() {
    let mut file = Vec::new();
    eitri_dump::write(
        &mut file,
        &[],
        |notes| notes.registers(&mut |tell| tell(0, 0xA867_0005)),
        |_, _| Ok(()),
    )
    .unwrap();
    for (options, part) in [
        (&[][..], "there is nothing to run"),
        (&["--stream", "3.1"], "no stream 3.1"),
        (&["--stream", "3"], "GROUP.STREAM"),
        (&["--from", "8"], "--stream"),
    ] {
        let (status, text, after) = replay(options, &file);
        assert_eq!(status, Some(2), "{options:?}: {text}");
        assert!(text.contains(part), "{options:?}: {text}");
        assert!(after.is_empty());
    }
    let (status, text, _) = replay(&["--stream", "0.2", "--from", "0x29"], &MISSED);
    assert_eq!(status, Some(2), "{text}");
    assert!(
        text.contains("position 0x29 is not one of the ring's"),
        "{text}"
    );
}

/// A shader beside a dump in a folder of its own; what `eitri run` says with these options.
fn run(folder: &std::path::Path, source: &str, options: &[&str]) -> (Option<i32>, String, String) {
    std::fs::write(folder.join("a.wgsl"), source).unwrap();
    let arguments = ["run", "a.wgsl", "--on", "host", "--buffer", "0=zero:256"];
    let mut command = crate::eitri::command(&[&arguments, options].concat());
    let output = command.current_dir(folder).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), out, err)
}

/// From a job that fails to a dump, what it shows, and the same failure once more.
#[test]
fn a_job_that_fails_leaves_a_dump_that_fails_again() {
    let folder = tempfile::tempdir().unwrap();
    for coherency in [&[][..], &["--non-coherent"]] {
        // Nothing here takes long, but the machine may be busy.
        let patient = ["--timeout", "120"];
        let options = ["--dump", "a.core", "--robust", "off"];
        let options = [&options[..], &patient, coherency].concat();
        let (status, _, err) = run(folder.path(), WILD, &options);
        assert_eq!(status, Some(2), "{err}");
        let file = std::fs::read(folder.path().join("a.core")).unwrap();
        let text = show(&[], &file);
        let lines = [
            "fault: TRANSLATION_FAULT_2 (0xc2): the address is not mapped\n",
            "\ngroup 0: address space 1\n",
            " STORE.i32.slot2.end ",
        ];
        expect_lines(&text, &lines);
        let (status, again, _) = replay(&patient, &file);
        assert_eq!(status, Some(1), "{again}");
        assert!(again.contains("TRANSLATION_FAULT_2 (0xc2)"), "{again}");
        std::fs::remove_file(folder.path().join("a.core")).unwrap();
    }
}

#[test]
fn a_job_that_does_not_end_is_dumped_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let endless = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(1)
        fn main() { loop { data[0] += 1u; if (data[1] == 1u) { break; } } }";
    let (status, _, err) = run(
        folder.path(),
        endless,
        &["--dump", "a.core", "--timeout", "1", "--check", "none"],
    );
    assert_eq!(status, Some(2), "{err}");
    let file = std::fs::read(folder.path().join("a.core")).unwrap();
    let lines = ["fault: timeout: work took longer", "RUN_COMPUTE", "=> "];
    let text = show(&[], &file);
    assert!(text.starts_with(lines[0]), "{text}");
    assert!(text.contains(lines[1]), "{text}");
}

#[test]
fn a_job_that_goes_well_leaves_no_dump_and_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let good = WILD.replace("+ 0x1000000u", "");
    let options = ["--dump", "a.core", "--counters", "--gpu", "G615"];
    let (status, out, err) = run(folder.path(), &good, &options);
    assert_eq!(status, Some(0), "{err}");
    assert!(!folder.path().join("a.core").exists());
    let has = |name: &str, value: &str| {
        let mut rows = out.lines().map(str::split_whitespace);
        rows.any(|mut row| (row.next(), row.next()) == (Some(name), Some(value)))
    };
    assert!(has("COMPUTE_WARPS", "4"), "{out}");
    assert!(has("ITER_COMP_JOB_COMPLETED", "1"), "{out}");
    let (status, out, err) = run(folder.path(), &good, &["--counters-json"]);
    assert_eq!(status, Some(0), "{err}");
    let value: Value = serde_json::from_str(&out).unwrap();
    let counters = value["counters"].as_array().unwrap();
    let warps = counters.iter().find(|it| it["name"] == "COMPUTE_WARPS");
    assert_eq!(warps.unwrap()["value"], 4);
    assert_eq!(value["gpu"], "Mali-G610");
}
