//! `eitri console`.

use crate::eitri;
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A log as a lab has it: with the boot loader's lines, time stamps, and a result of each kind.
const LOG: &str = "U-Boot 2024.07\r
=> booti 0x2000000 - 0x3000000\r
[    1.000000] eitri 0.1.0 on Radxa ROCK 5B, build 00c0ffee\r
[    1.200000] TAP version 14\r
[    1.200000] 1..4\r
[    1.200000] # EITRI-START 0.1.0 rk3588 00c0ffee\r
ok 1 registers.identity\r
ok 2 power.l2\r
# @M power.l2.on 20 us\r
not ok 3 shader.alu.fma # core 16: 3 wrong, 1 < 2\r
ok 4 mmu.blocks # SKIP no memory\r
# EITRI-END 2 1 1\r
# done: 2 passed, 1 failed, 1 skipped\r
exit status 1\r
";

fn told(arguments: &[&str], log: &str) -> (String, String, i32) {
    let output = eitri::eitri(arguments, log.as_bytes());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().unwrap(),
    )
}

#[test]
fn a_log_is_judged() {
    let (text, _, status) = told(&["console", "-"], LOG);
    assert_eq!(status, 1, "{text}");
    for part in [
        "0.1.0 rk3588 00c0ffee",
        "FAILED   shader.alu.fma: core 16: 3 wrong, 1 < 2",
        "power.l2.on = 20 us",
        "bad: 1 test failed",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    let good = LOG
        .replace(
            "not ok 3 shader.alu.fma # core 16: 3 wrong, 1 < 2",
            "ok 3 shader.alu.fma",
        )
        .replace("2 passed, 1 failed", "3 passed, 0 failed");
    let (text, _, status) = told(&["console", "-"], &good);
    assert_eq!(
        (status, text.contains("good: 3 tests passed")),
        (0, true),
        "{text}"
    );
}

/// Whatever of a log is missing, it is never good.
#[test]
fn what_is_cut_off_is_bad() {
    let lines: Vec<&str> = LOG
        .lines()
        .filter(|line| !line.contains("not ok"))
        .collect();
    let without = |part: &str| {
        let kept = lines.iter().filter(|line| !line.contains(part));
        kept.map(|line| format!("{line}\n")).collect::<String>()
    };
    for (part, why) in [
        ("# done", "bad: the log does not end with `# done`"),
        ("1..4", "bad: no plan"),
        ("ok 2 power", "of 4 planned tests have no result"),
    ] {
        let (text, _, status) = told(&["console", "-"], &without(part));
        assert_eq!(status, 1, "{part}: {text}");
        assert!(text.contains(why), "{part}: {text}");
    }
    let crash = format!("{}EITRI-CRASH panic\r\n", without("# done"));
    let (text, _, status) = told(&["console", "-"], &crash);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("bad: the image crashed: panic"), "{text}");
    let (_, errors, status) = told(&["console", "-"], "U-Boot 2024.07\n=> \n");
    assert_eq!(status, 2, "{errors}");
    assert!(errors.contains("holds nothing of Eitri's"), "{errors}");
}

#[test]
fn results_are_written_for_those_who_collect_them() {
    let (text, errors, status) = told(&["console", "-", "--junit", "-"], LOG);
    assert_eq!(status, 1, "{errors}");
    for part in [
        "<testsuite name=\"eitri.rk3588\" tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\"",
        "<testcase classname=\"eitri.shader.alu\" name=\"fma\" time=\"0.000\">\n<failure type=\"Fail\" message=\"core 16: 3 wrong, 1 &lt; 2\">",
        "<testcase classname=\"eitri.power\" name=\"l2\" time=\"0.000\">\n<properties><property name=\"power.l2.on\" value=\"20 us\"/>",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    let (text, _, _) = told(&["console", "-", "--tap", "-"], LOG);
    assert!(
        text.starts_with("TAP version 14\n1..4\nok 1 registers.identity\n"),
        "{text}"
    );
    let (text, _, _) = told(&["console", "-", "--kcidb", "-"], LOG);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["version"]["major"], 5);
    let tests = json["tests"].as_array().unwrap();
    let statuses: Vec<&str> = tests
        .iter()
        .map(|it| it["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["PASS", "PASS", "DONE", "FAIL", "SKIP"]);
    assert_eq!(tests[2]["number"]["value"], 20);
    for test in tests {
        for member in ["id", "build_id"] {
            assert!(
                test[member].as_str().unwrap().starts_with("eitri:"),
                "{test}"
            );
        }
        assert!(
            test.as_object()
                .unwrap()
                .values()
                .all(|value| !value.is_null())
        );
    }
}

/// A hang is what a lab wants to know first: which test, since when, and what did not run behind it.
#[test]
fn a_test_that_hung_is_named_with_those_behind_it() {
    let log = "\
[    1.000000] # EITRI-START 0.1.0 rk3588 00c0ffee
[    1.100000] 1..3
[    1.200000] # begin registers.identity
[    1.700000] ok 1 registers.identity
[    2.000000] # begin mmu.unmapped-read
[   63.000000] some other line
";
    let (text, _, status) = told(&["console", "-"], log);
    assert_eq!(status, 1, "{text}");
    assert!(
        text.contains("the log ends in mmu.unmapped-read, begun 61 s before the end"),
        "{text}"
    );
    let (text, _, _) = told(&["console", "-", "--junit", "-"], log);
    for part in [
        "tests=\"3\" failures=\"0\" errors=\"2\"",
        "name=\"identity\" time=\"0.500\"",
        "name=\"unmapped-read\" time=\"0.000\">\n<error type=\"Crash\"",
        "name=\"test 3 of 3\" time=\"0.000\">\n<error type=\"Missing\"",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    let (text, _, _) = told(&["console", "-", "--kcidb", "-"], log);
    let json: Value = serde_json::from_str(&text).unwrap();
    let tests = json["tests"].as_array().unwrap().iter();
    let statuses: Vec<&str> = tests.map(|it| it["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["PASS", "FAIL", "MISS"]);
}

/// With the plan of the whole suite, what did not run has its name.
#[test]
fn what_did_not_run_has_its_name() {
    let (list, _, _) = told(&["validate", "--list"], "");
    let names: Vec<&str> = list
        .lines()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    let log = format!(
        "# EITRI-START 0.1.0 rk3588 00c0ffee\n1..{}\nok 1 {}\n# begin {}\n",
        names.len(),
        names[0],
        names[1]
    );
    let (text, _, _) = told(&["console", "-", "--tap", "-"], &log);
    for name in &names[2..] {
        assert!(
            text.contains(&format!(" {name} # it did not run")),
            "no {name} in\n{text}"
        );
    }
}

#[test]
fn ids_tell_runs_and_devices_apart() {
    let ids = |more: &[&str]| {
        let (text, _, _) = told(&[&["console", "-", "--kcidb", "-"], more].concat(), LOG);
        let json: Value = serde_json::from_str(&text).unwrap();
        let tests = json["tests"].as_array().unwrap().clone();
        let ids = tests
            .iter()
            .map(|test| test["id"].as_str().unwrap().to_owned());
        (ids.collect::<Vec<_>>(), json)
    };
    let (first, json) = ids(&["--run-id", "17", "--device", "rock-3", "--commit", "abc123"]);
    assert_eq!(first[0], "eitri:rk3588-rock-3-17-registers.identity");
    assert_eq!(json["checkouts"][0]["git_commit_hash"], "abc123");
    assert_eq!(json["tests"][0]["environment"]["misc"]["device"], "rock-3");
    let (other_run, _) = ids(&["--run-id", "18", "--device", "rock-3"]);
    let (other_board, _) = ids(&["--run-id", "17", "--device", "rock-4"]);
    for ids in [&other_run, &other_board] {
        assert!(ids.iter().all(|id| !first.contains(id)), "{ids:?}");
    }
}

/// The first lines of an image are fields of every report.
#[test]
fn an_image_says_what_it_is() {
    let about = "image: revision 0123456789ab, eitri-validation-image, with firmware+scripts\r\n";
    let log = LOG.replacen(
        "[    1.200000] TAP",
        &format!("{about}[    1.200000] TAP"),
        1,
    );
    let (text, _, _) = told(&["console", "-", "--kcidb", "-"], &log);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["checkouts"][0]["id"], "eitri:0123456789ab");
    assert_eq!(json["builds"][0]["misc"]["revision"], "0123456789ab");
    assert_eq!(json["builds"][0]["misc"]["version"], "0.1.0");
    let (text, _, _) = told(&["console", "-", "--results", "-"], &log);
    let json: Value = serde_json::from_str(&text).unwrap();
    for (name, value) in [
        ("version", "0.1.0"),
        ("revision", "0123456789ab"),
        ("image", "eitri-validation-image"),
        ("features", "firmware+scripts"),
        ("build", "00c0ffee"),
    ] {
        assert_eq!(json["properties"][name], value, "{json}");
    }
    // What was told of the run counts for more, and sources that were changed are no commit.
    let (text, _, _) = told(
        &["console", "-", "--kcidb", "-", "--commit", "abc123"],
        &log,
    );
    assert!(text.contains("eitri:abc123"), "{text}");
    let (text, _, _) = told(
        &["console", "-", "--kcidb", "-"],
        &log.replace("89ab,", "89ab-dirty,"),
    );
    assert!(text.contains("eitri:00c0ffee"), "{text}");
}

#[test]
fn a_machine_says_what_it_is() {
    let machine = "machine: model Radxa ROCK 5B; serial 1a2b3c; loader U-Boot 2024.07\r\n";
    let interface = "# check interface: interface 1.5.0, features 0x0, 8 group slots\r\n";
    let log = LOG.replacen(
        "[    1.200000] TAP",
        &format!("{machine}{interface}[    1.200000] TAP"),
        1,
    );
    let wanted = [
        ("model", "Radxa ROCK 5B"),
        ("serial", "1a2b3c"),
        ("loader", "U-Boot 2024.07"),
        ("interface", "1.5.0"),
    ];
    let (text, _, _) = told(&["console", "-", "--results", "-"], &log);
    let json: Value = serde_json::from_str(&text).unwrap();
    for (name, value) in wanted {
        assert_eq!(json["properties"][name], value, "{json}");
    }
    let (text, _, _) = told(&["console", "-", "--kcidb", "-"], &log);
    let json: Value = serde_json::from_str(&text).unwrap();
    for (name, value) in wanted {
        assert_eq!(
            json["tests"][0]["environment"]["misc"][name], value,
            "{json}"
        );
    }
    let (text, _, _) = told(&["console", "-", "--junit", "-"], &log);
    assert!(text.contains("U-Boot 2024.07"), "{text}");
}

/// What comes over a pipe is shown while it comes, and the end of the suite is the end, though the pipe stays open.
#[test]
fn a_pipe_is_listened_to_until_the_suite_is_done() {
    let mut child = eitri::command(&["console", "-", "--silence", "30"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(LOG.as_bytes()).unwrap();
    let begun = Instant::now();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
    drop(input);
}

#[test]
fn what_never_ends_is_refused_in_bounded_memory() {
    let line = "x".repeat(1 << 20);
    let (_, errors, status) = told(&["console", "-"], &line);
    assert_eq!(status, 2, "{errors}");
    assert!(errors.contains("has a line of more than"), "{errors}");
}

/// Each form that the suite writes is read back.
#[test]
fn every_form_of_the_suite_is_read() {
    for form in ["tap", "lava", "plain"] {
        let arguments = ["validate", "--only", "registers.", "--console", form];
        let (log, errors, _) = told(&arguments, "");
        let (text, _, status) = told(&["console", "-"], &log);
        assert_eq!(status, 0, "{form}: {text}{errors}\n{log}");
        assert!(text.contains("good: "), "{form}: {text}");
    }
}
