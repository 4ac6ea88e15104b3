//! `eitri asm`, `eitri disasm` and `eitri explain` with Adreno's instructions, as a person calls them.

use crate::eitri::eitri;

#[track_caller]
fn check(arguments: &[&str], input: &[u8], status: i32, stdout: &str) -> String {
    let output = eitri(arguments, input);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let seen = String::from_utf8_lossy(&output.stdout);
    assert_eq!(seen, stdout, "{arguments:?}: {stderr}");
    let code = output.status.code();
    assert_eq!(code, Some(status), "{arguments:?}: {stderr}");
    stderr
}

#[track_caller]
fn has(stderr: &str, parts: &[&str]) {
    for part in parts {
        assert!(stderr.contains(part), "no `{part}` in:\n{stderr}");
    }
}

/// The program of hardware/ir3-isa.md section 15.
const TEXT: &str = "(nop3) mul.s24 r0.y, r48.x, 64
(nop3) add.u r0.y, r0.y, r0.x
(rpt2)nop
ldib.b.untyped.1d.u32.1.imm r0.z, r0.y, 0
(sy)(nop3) cmps.u.gt p0.x, r0.z, 10
(rpt2)nop
br !p0.x, #2
(nop3) add.u r0.z, r0.z, 1
(jp)(rpt2)nop
stib.b.untyped.1d.u32.1.imm r0.z, r0.y, 1
end
";
const HEX: &str = "46380801204000c0
4218080100000001
0000020000000000
c026000201618000
529a08f8200a0002
0000020000000000
0090000000000002
4218080220010002
0800020000000000
c026020201674000
0300000000000000
";

#[test]
fn the_worked_program_goes_both_ways() {
    check(&["asm", "--arch", "a6xx"], TEXT.as_bytes(), 0, HEX);
    check(
        &["disasm", "--arch", "a6xx", "--strict"],
        HEX.as_bytes(),
        0,
        TEXT,
    );
}

#[test]
fn labels_comments_and_headers_are_read() {
    let text = "@localsize 64, 1, 1
# a loop
again: ; it comes back here
(jp)nop
br p0.x, #again
jump #done ; over the next
nop
done:
end
";
    let hex = "0800000000000000\n00800000ffffffff\n0100000000000002\n0000000000000000\n0300000000000000\n";
    check(&["asm", "--arch", "a6xx"], text.as_bytes(), 0, hex);
}

#[test]
fn generations_differ() {
    let load = "ldg.a.f32 r1.w, g[r0.z+r4.y+2], 4\n";
    let hex = "c002040704c08023\n";
    check(&["asm", "--arch", "a7xx"], load.as_bytes(), 0, hex);
    let stderr = check(&["asm", "--arch", "a6xx"], load.as_bytes(), 2, "");
    has(&stderr, &["<stdin>:1:"]);
    let stderr = check(&["asm", "--arch", "a5xx"], b"getlast.w8 #4\n", 2, "");
    has(&stderr, &["no instruction of this name"]);
}

#[test]
fn a_wrong_line_is_underlined() {
    let wrong = |line: &str, parts: &[&str]| {
        let text = format!("nop\n{line}\n");
        let stderr = check(
            &["asm", "--arch", "a6xx"],
            text.as_bytes(),
            2,
            "0000000000000000\n",
        );
        has(&stderr, parts);
    };
    wrong(
        "add.q r0.x, r0.y, r0.z",
        &["<stdin>:2:1: no instruction of this name"],
    );
    wrong(
        "add.u r0.x, r0.y",
        &["<stdin>:2:", "`,` and another operand expected"],
    );
    wrong(
        "add.u r0.x, r0.y, hr0.z",
        &["<stdin>:2:", "a full register is needed here"],
    );
    wrong(
        "add.u r0.x, r0.y, 5000",
        &["<stdin>:2:19: 5000 is outside -1024..=1023"],
    );
    wrong(
        "add.u r0.x, r0.y, r0.q",
        &["a component: x, y, z or w expected"],
    );
    wrong(
        "add.u r0.x, r0.y, r0.z, r1.x",
        &["the instruction ends before this"],
    );
    wrong("br p0.x, #nowhere", &["no such label"]);
}

#[test]
fn a_label_stands_once() {
    let stderr = check(&["asm", "--arch", "a6xx"], b"a:\nnop\na:\n", 2, "");
    has(&stderr, &["<stdin>:3:1: `a` stands twice"]);
}

#[test]
fn what_no_compiler_writes_is_noted_or_refused() {
    // Two constants.
    let text = "add.u r0.x, c0.x, c0.y\n";
    let hex = "4210000010011000\n";
    let stderr = check(&["asm", "--arch", "a6xx"], text.as_bytes(), 0, hex);
    has(
        &stderr,
        &["note: <stdin>:1:1: add.u reads two sources of constants or shared registers"],
    );
    check(
        &["asm", "--arch", "a6xx", "--strict"],
        text.as_bytes(),
        2,
        "",
    );
    // Bits that mean nothing.
    let stderr = check(
        &["disasm", "--arch", "a6xx"],
        b"0000080000000000\n",
        0,
        "nop\n",
    );
    has(
        &stderr,
        &["note: <stdin>:1:1: bits 0x0000080000000000 mean nothing"],
    );
    check(
        &["disasm", "--arch", "a6xx", "--strict"],
        b"0000080000000000\n",
        2,
        "",
    );
}

#[test]
fn a_word_that_is_no_instruction_is_shown_raw() {
    let raw = "raw 0x2600000000000000\n";
    let stderr = check(&["disasm", "--arch", "a6xx"], b"2600000000000000\n", 0, raw);
    has(&stderr, &["no instruction of a6xx has the bits"]);
    check(
        &["disasm", "--arch", "a6xx", "--strict"],
        b"2600000000000000\n",
        2,
        "",
    );
    for text in [raw, "raw 0x2600000000000000 ; a word of data\n"] {
        let hex = "2600000000000000\n";
        check(&["asm", "--arch", "a6xx"], text.as_bytes(), 0, hex);
    }
}

#[test]
fn a_dialect_is_for_mali() {
    let stderr = check(&["asm", "--arch", "a6xx", "--syntax", "mesa24"], b"", 2, "");
    has(&stderr, &["--syntax is for Mali"]);
    let stderr = check(&["asm", "--arch", "a8xx"], b"", 2, "");
    has(&stderr, &["v9 to v14 (Mali), a5xx, a6xx or a7xx (Adreno)"]);
}

#[test]
fn instructions_are_explained() {
    let explain = |name: &str, parts: &[&str]| {
        let output = eitri(&["explain", "--arch", "a6xx", name], b"");
        let text = String::from_utf8_lossy(&output.stdout);
        for part in parts {
            assert!(text.contains(part), "{name}: no `{part}` in\n{text}");
        }
    };
    explain(
        "add.f",
        &["add.f (IR3 instruction)", "a + b", "certainty: practice"],
    );
    explain("ldib.b", &["image/buffer load", "results after: (sy)"]);
    explain(
        "42180801_00000001",
        &["add.u 0x4218080100000001", "(nop3) add.u r0.y, r0.y, r0.x"],
    );
    let output = eitri(&["explain", "--arch", "a6xx", "FADD"], b"");
    assert_eq!(
        output.status.code(),
        Some(2),
        "Mali's names are not Adreno's"
    );
}
