//! Which rows of the instruction tables have a meaning here: a new row without one is found by this test.

use super::decode::decode;
use super::instruction::Operation;
use eitri_isa::{Arch, Instr, Op};
use std::collections::BTreeSet;
use std::string::{String, ToString};

/// What none of an instruction's forms means anything to: its name, and why.
#[rustfmt::skip]
const NOT_MODELLED: &[(&str, &str)] = &[
    ("DOORBELL",                "what it does is not established (hardware/valhall-isa.md 11.12)"),
    ("EUREKA",                  "what it does is not established (hardware/valhall-isa.md 11.12)"),
    ("FATAN_ASSIST.f32",        "table contents (hardware/valhall-isa.md 17)"),
    ("FLOG_TABLE.f32",          "table contents (hardware/valhall-isa.md 17)"),
    ("FMA_RSCALE_SCALE16.f32",  "exact rule of n_add (hardware/valhall-isa.md 17)"),
    ("FMUL_CSLICE",             "semantics (hardware/valhall-isa.md 9.7)"),
    ("FMUL_SLICE.f32",          "semantics (hardware/valhall-isa.md 9.7)"),
    ("FPCLASS.f16",             "layout of the word (hardware/valhall-isa.md 17)"),
    ("FPCLASS.f32",             "layout of the word (hardware/valhall-isa.md 17)"),
    ("FPOW_SC_APPLY",           "semantics (hardware/valhall-isa.md 9.7)"),
    ("FPOW_SC_DET",             "semantics (hardware/valhall-isa.md 9.7)"),
    ("FRCBRT_APPROX_A.f32",     "semantics (hardware/valhall-isa.md 9.7)"),
    ("FRCBRT_APPROX_B.f32",     "semantics (hardware/valhall-isa.md 9.7)"),
    ("FRCBRT_APPROX_C.f32",     "semantics (hardware/valhall-isa.md 9.7)"),
    ("FRCP_APPROX.f32",         "table contents (hardware/valhall-isa.md 17)"),
    ("FRSQ_APPROX.f32",         "table contents (hardware/valhall-isa.md 17)"),
    ("FSINCOS_OFFSET.u6",       "companion offset (hardware/valhall-isa.md 9.7)"),
    ("ILOGB.f32",               "special cases (hardware/valhall-isa.md 17)"),
    ("ILOGB.v2f16",             "special cases (hardware/valhall-isa.md 17)"),
    ("JUMP_EX",                 "stack depth (hardware/valhall-isa.md 17)"),
    ("LD_CHECKED",              "roles of its sources (hardware/valhall-isa.md 17)"),
    ("LD_CHECKED_IMM",          "roles of its sources (hardware/valhall-isa.md 17)"),
    ("LEA_ATTR",                "no captured driver takes addresses of attributes"),
    ("LEA_ATTR_IMM",            "no captured driver takes addresses of attributes"),
    ("LOGB.f32",                "special cases (hardware/valhall-isa.md 17)"),
    ("LOGB.v2f16",              "special cases (hardware/valhall-isa.md 17)"),
    ("MMUL.f32",                "lane layout (hardware/valhall-isa.md 17)"),
    ("MMUL.v2f16",              "lane layout (hardware/valhall-isa.md 17)"),
    ("MMUL.v4s8",               "lane layout (hardware/valhall-isa.md 17)"),
    ("MMUL.v4u8",               "lane layout (hardware/valhall-isa.md 17)"),
    ("ST_CHECKED",              "roles of its sources (hardware/valhall-isa.md 17)"),
    ("ST_CHECKED_IMM",          "roles of its sources (hardware/valhall-isa.md 17)"),
    ("TEX_DUAL",                "handle of the second texture (hardware/valhall-isa.md 11.10)"),
    ("VAR_TEX_BUF_DUAL",        "details (hardware/valhall-isa.md 11.10)"),
    ("VAR_TEX_BUF_GATHER",      "details (hardware/valhall-isa.md 11.10)"),
    ("VAR_TEX_BUF_GRADIENT",    "details (hardware/valhall-isa.md 11.10)"),
    ("VAR_TEX_BUF_SINGLE",      "details (hardware/valhall-isa.md 11.10)"),
    ("VAR_TEX_DUAL",            "details (hardware/valhall-isa.md 11.10)"),
    ("VAR_TEX_GATHER",          "details (hardware/valhall-isa.md 11.10)"),
    ("VAR_TEX_GRADIENT",        "details (hardware/valhall-isa.md 11.10)"),
    ("VAR_TEX_SINGLE",          "details (hardware/valhall-isa.md 11.10)"),
];

/// The instructions none of whose forms is executed on `arch`.
fn without_meaning(arch: Arch) -> BTreeSet<String> {
    let mut state = 0x2545_f491_u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    let mut found = BTreeSet::new();
    for &op in Op::ALL {
        let mut forms = 0;
        let mut known = false;
        for _ in 0..400 {
            let Some(word) = Instr::random(op, arch, &mut next).and_then(|it| it.encode(arch).ok())
            else {
                continue;
            };
            forms += 1;
            known |= decode(word, arch).0.operation != Operation::NotModelled;
        }
        if forms != 0 && !known {
            found.insert(op.row().name.to_string());
        }
    }
    found
}

#[test]
fn every_instruction_is_executed_or_named_as_not_modelled() {
    let mut found = BTreeSet::new();
    for arch in [Arch::V10, Arch::V11, Arch::V12, Arch::V13] {
        found.append(&mut without_meaning(arch));
    }
    let listed: BTreeSet<String> = NOT_MODELLED
        .iter()
        .map(|(name, _)| name.to_string())
        .collect();
    let new: std::vec::Vec<&String> = found.difference(&listed).collect();
    assert!(new.is_empty(), "without a meaning, and not listed: {new:?}");
    let stale: std::vec::Vec<&String> = listed.difference(&found).collect();
    assert!(stale.is_empty(), "listed, and modelled: {stale:?}");
}
