//! Numbers of a run against limits and against an earlier run; lines against their checksums.

use crate::eitri;
use std::path::Path;

/// What the suite prints on the model, one test of it.
fn transcript(folder: &Path) -> String {
    let results = folder.join("results.json");
    let results = results.to_str().unwrap();
    let (text, errors, status) = told(
        &["validate", "--only", "power.l2", "--results", results],
        "",
    );
    assert_eq!(status, 0, "{errors}");
    assert!(text.contains("\n# @C "), "no checksum in\n{text}");
    text
}

fn told(arguments: &[&str], input: &str) -> (String, String, i32) {
    let output = eitri::eitri(arguments, input.as_bytes());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = output.status.code().unwrap();
    (text(&output.stdout), text(&output.stderr), status)
}

/// At 1.5 Mbaud a serial line changes a byte now and then: a verdict or a number that was changed must not be taken for one.
#[test]
fn a_byte_that_changed_on_the_line_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let good = transcript(folder.path());
    let (text, _, status) = told(&["console", "-"], &good);
    assert_eq!(status, 0, "{text}");

    let number = good
        .lines()
        .find(|line| line.starts_with("# @M power.l2.on "))
        .expect("a number");
    let changed = number.replace("power.l2.on ", "power.l2.on 9");
    let (text, _, status) = told(&["console", "-"], &good.replace(number, &changed));
    assert_eq!(status, 1, "{text}");
    assert!(
        text.contains("power.l2: the checksum of its lines is wrong"),
        "{text}"
    );

    let renamed = good.replace("ok 1 power.l2\n", "ok 1 power.l3\n");
    let (text, _, status) = told(&["console", "-"], &renamed);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("checksum"), "{text}");

    let lines = good.lines().filter(|line| *line != number);
    let (text, _, status) = told(&["console", "-"], &lines.collect::<Vec<_>>().join("\n"));
    assert_eq!(status, 1, "a number was lost: {text}");

    let sum = good.lines().find(|line| line.starts_with("# @C ")).unwrap();
    let (text, _, status) = told(&["console", "-"], &good.replacen(sum, "", 1));
    assert_eq!(status, 1, "{text}");
    assert!(
        text.contains("power.l2: its lines have no checksum"),
        "{text}"
    );
}

#[test]
fn numbers_beyond_their_limits_fail_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let log = transcript(folder.path());
    let limits = folder.path().join("limits.toml");
    let limits = limits.to_str().unwrap();
    let console = |text: &str, more: &[&str]| {
        std::fs::write(limits, text).unwrap();
        told(
            &[&["console", "-", "--limits", limits], more].concat(),
            &log,
        )
    };
    let (text, _, status) = console("\"power.l2.on\" = { most = 100000 }\n", &[]);
    assert_eq!(status, 0, "{text}");

    let wrong = "\"power.l2.on\" = { most = 0 }\n";
    let (text, _, status) = console(wrong, &[]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("bad: limit.power.l2.on: "), "{text}");
    assert!(text.contains("at most 0 are allowed"), "{text}");
    let (text, _, _) = console(wrong, &["--junit", "-"]);
    assert!(text.contains("failures=\"1\""), "{text}");
    let (text, _, _) = console(wrong, &["--tap", "-"]);
    assert!(text.contains(" limit.power.l2.on # "), "{text}");

    // The suite itself is held against them too.
    let (text, errors, status) = told(&["validate", "--only", "power.l2", "--limits", limits], "");
    assert_eq!(status, 1, "{text}");
    assert!(errors.contains("limit.power.l2.on"), "{errors}");

    for (text, said) in [
        (
            "\"no.such.test\" = { most = 1 }",
            "no number `no.such.test`",
        ),
        ("\"power.l2.on\" = { max = 1 }", "unknown key `max`"),
        (
            "power.l2.on = { most = 1 }",
            "a name with dots stands in quotes",
        ),
        ("\"power.l2.on\" = {", "limits.toml"),
    ] {
        let (_, errors, status) = console(text, &[]);
        assert_eq!(status, 2, "{text}");
        assert!(errors.contains(said), "{text}: {errors}");
    }
}

#[test]
fn numbers_are_held_against_an_earlier_run() {
    let folder = tempfile::tempdir().unwrap();
    let log = transcript(folder.path());
    let old = folder.path().join("results.json");
    let compare = |log: &str, more: &[&str]| {
        let path = old.to_str().unwrap();
        told(&[&["console", "-", "--compare", path], more].concat(), log)
    };
    let (text, _, status) = compare(&log, &[]);
    assert_eq!(status, 0, "{text}");

    // The same run, ten times as fast before.
    let before = std::fs::read_to_string(&old).unwrap();
    let number = before
        .lines()
        .position(|line| line.contains("\"power.l2.on\""))
        .unwrap();
    let lines: Vec<&str> = before.lines().collect();
    let value = (number - 2..number + 3)
        .find(|at| lines[*at].contains("\"value\""))
        .unwrap();
    let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
    lines[value] = lines[value].split(':').next().unwrap().to_owned()
        + ": 1"
        + if lines[value].ends_with(',') { "," } else { "" };
    std::fs::write(&old, lines.join("\n")).unwrap();
    let (text, _, status) = compare(&log, &[]);
    assert_eq!(status, 1, "{text}");
    assert!(
        text.contains("bad: compare.power.l2.on: ") && text.contains("was 1 us"),
        "{text}"
    );
    let (text, _, status) = compare(&log, &["--tolerance", "1000000"]);
    assert_eq!(status, 0, "{text}");

    std::fs::write(&old, "{}").unwrap();
    let (_, errors, status) = compare(&log, &[]);
    assert_eq!(status, 2, "{errors}");
}
