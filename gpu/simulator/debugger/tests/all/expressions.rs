//! Expressions: values of all kinds, and what is wrong.

use crate::shader::{SUM, Shader};
use eitri_debugger::session::Motion;
use eitri_debugger::stops::Location;
use eitri_debugger::value::Form;

#[test]
fn expressions_are_computed_in_each_lane() {
    let shader = Shader::new(SUM, 1, 128);
    let mut session = shader.session();
    session.add_breakpoint(Location::Line(0, 21), None).unwrap();
    session.go(Motion::Continue, 0, u64::MAX);
    let show = |text: &str, lane: Option<usize>| {
        let path = session.frames(0)[0].path;
        session
            .show(text, (0, path, lane), Form::default())
            .unwrap_or_else(|error| format!("error: {error}"))
    };
    for (text, expected) in [
        ("i", "3"),
        ("s[i]", "9"),
        ("s[i + 1] * 2", "32"),
        ("v.y", "0.1"),
        ("v.y == 0.1", "true"),
        ("v.z + 0.5", "3.5"),
        ("v.b", "3.0"),
        ("i == 3 && v.x > 1", "true"),
        ("i == 4 || !(i < 3)", "true"),
        ("1 + 2 * 3 - 4 / 2", "5"),
        ("-1 % 3", "-1"),
        ("0x10 | 1", "17"),
        ("6 & 3 ^ 1", "3"),
        ("$lane + 10 * $warp", "3"),
        ("i == 4 && missing", "false"),
        ("missing", "error: nothing here is called `missing`"),
        ("v.q", "error: `v` has no part `q`"),
        ("i.x", "error: `i` has no part `x`"),
        ("s[32]", "error: `s` has no part `32`"),
        ("s[0 - 1]", "error: `s` has no part `-1`"),
        ("s + 1", "error: `s` has no single value here"),
        ("1 / 0", "error: `/` can't be computed of these"),
        ("true + 1", "error: `+` can't be computed of these"),
        (
            "1 +",
            "error: `1 +` is no expression: something is missing at its end",
        ),
        (
            "1 2",
            "error: `1 2` is no expression: something stands behind its end",
        ),
        ("s[1", "error: `s[1` is no expression: `]` is missing"),
        (
            "v.",
            "error: `v.` is no expression: a member's name is missing",
        ),
        (
            "#",
            "error: `#` is no expression: there is a sign that means nothing",
        ),
        ("%999999", "error: nothing here is called `%999999`"),
    ] {
        assert_eq!(show(text, Some(3)), expected, "{text}");
    }
    let all = show("i", None);
    assert_eq!(all, "<0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15>");
    assert_eq!(show("g.x", None), "0", "once if all agree");
    let deep = "(".repeat(100_000);
    assert!(show(&deep, None).contains("nested too deep"), "no overflow");
    let deep = "!".repeat(100_000);
    assert!(show(&deep, None).contains("nested too deep"), "no overflow");
}
