//! Explanations as people read them.

use eitri_isa::Arch;
use eitri_isa::explain::{find, find_word, names};

#[track_caller]
fn check(name: &str, expected: &str) {
    let text = find(name)
        .unwrap_or_else(|| panic!("{name} is not found"))
        .to_string();
    assert_eq!(text, expected, "{name}");
}

#[test]
fn every_name_is_found_and_told() {
    for name in names() {
        let topic = find(name).unwrap_or_else(|| panic!("{name} is not found"));
        assert!(!topic.to_string().is_empty(), "{name}");
    }
    assert!(find("FADD.f64").is_none());
}

#[test]
fn an_instruction() {
    check(
        "clper.i32",
        "CLPER.i32: A of another lane of the subgroup
  v9-v14; unit SFU; reads other lanes
  63      must be 0x0
  59..62  flow control
  57..58  page of uniforms and special values
  48..56  opcode 0xa0
  46..47  written halves of the destination: 1 h0, 2 h1, 3 all
  40..45  destination
  36..39  subgroup_size: 0 subgroup2 1 subgroup4 2 subgroup8 3 subgroup16 (default)
  32..35  lane_operation: 0 - (default) 1 xor 2 accumulate 3 shift 4 rotate 5 low 6 low_alt 7 prefix
  30..31  must be 0x0
  26..29  source B: lane: 4 b0 5 b1 6 b2 7 b3
  22..25  inactive_result: 0 zero (default) 1 umax 2 i1 3 v2i1 4 smin 5 smax 6 v2smin 7 v2smax 8 v4smin 9 v4smax \
         10 f1 11 v2f1 12 infn 13 inf 14 v2infn 15 v2inf
  20..21  must be 0x0
  16..19  opcode 0xf
   8..15  source B (32 bits)
   0..7   source A (32 bits)
",
    );
}

#[test]
fn a_mnemonic_and_the_newer_name() {
    check(
        "fma",
        "FMA: A * B + C, rounded once\n  FMA.f32 (v9-v14)\n  FMA.v2f16 (v9-v14)\n",
    );
    let text = find("LD_PKA.i8").expect("the newer name").to_string();
    assert!(
        text.starts_with("LD_BUFFER.i8: loads from byte offset A"),
        "{text}"
    );
    assert!(
        text.contains("LD_PKA.i8 in the text of Mesa 26.2"),
        "{text}"
    );
}

#[test]
fn special_values_and_flow() {
    check(
        "sample",
        "sample: special value 6 of page 0, 64 bits, v9-v14\n",
    );
    check(
        "wait0126",
        "wait0126: flow control 8, v9-v14; waits for slots 0 1 2 6\n",
    );
    check("wait_resource", "wait_resource: flow control 12, v10-v14\n");
}

#[test]
fn a_word() {
    let text = find_word(0x0068_4c18_0280_0032, Arch::V10).map(|topic| topic.to_string());
    assert!(
        text.is_err(),
        "the direction says nothing is read: {text:?}"
    );
    let text = find_word(0x0868_4c02_1880_0032, Arch::V10)
        .expect("a legal word")
        .to_string();
    for part in [
        "08684c0218800032: ATOM.i32.slot0.aadd.wait0 @r12, r50, offset:0x0\n",
        "ATOM.i32: memory at address A + offset becomes memory op value\n",
        "  59..62  flow control = 1 wait0\n",
        "  22..25  atomic_operation: 2 aadd 8 asmin 9 asmax 10 aumin 11 aumax 12 aand 13 aor 14 axor 15 axchg = 2 aadd\n",
        "   0..7   source A (64 bits) = 0x32 r50\n",
        "   8..15  immediate offset, 0 to 255 = 0\n",
    ] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
}
