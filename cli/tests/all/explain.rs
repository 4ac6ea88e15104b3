//! `eitri explain` and `eitri docs`, as a person runs them.

use crate::eitri::{command, eitri};
use serde_json::Value as Json;
use std::process::Stdio;

#[track_caller]
fn explains(arguments: &[&str], lines: &[&str]) {
    let output = eitri(&[&["explain"], arguments].concat(), b"");
    let text = String::from_utf8_lossy(&output.stdout);
    for line in lines {
        assert!(
            text.contains(line),
            "eitri explain {arguments:?}: no `{line}` in\n{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert_eq!(output.status.code(), Some(0), "eitri explain {arguments:?}");
}

#[track_caller]
fn refuses(name: &str, says: &str) {
    let output = eitri(&["explain", name], b"");
    let words = String::from_utf8_lossy(&output.stderr)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        words.contains(says),
        "eitri explain {name}: expected `{says}` in: {words}"
    );
    assert_eq!(
        (output.status.code(), output.stdout.len()),
        (Some(2), 0),
        "eitri explain {name}"
    );
}

#[test]
fn codes_of_errors_are_explained() {
    let code = "eitri-error 2 3 2 0 0 :L2_READY 160 0 0 1 1 0 1312d00 0 0 1 0 1 0 0 0 2 0 0 0 0";
    let words: Vec<&str> = code.split(' ').collect();
    let says = ["L2_READY (0x160) = 0x0, wanted 0x1, after 20ms"];
    explains(&words, &says);
    explains(&[code], &says);
    explains(&[&format!("12:00:01 {code}\r")], &says);
    refuses("eitri-error 2 3 2", "no error has such a code");
    refuses("eitri-error 99 1", "edition 0x99");
}

#[test]
fn instructions_are_explained() {
    explains(
        &["fadd.f32"],
        &["FADD.f32 (shader instruction)", "unit: Fma", "opcode"],
    );
    explains(&["fadd"], &["FADD.f32", "FADD.v2f16"]);
    explains(
        &["RUN_COMPUTE"],
        &["RUN_COMPUTE (command-stream instruction)", "task_axis"],
    );
}

#[test]
fn descriptors_are_explained() {
    explains(
        &["buffer"],
        &[
            "Buffer (descriptor)",
            "size: 32 bytes",
            "w2[0]..w3[31]  Address",
            "w5[31:0]",
            "Size hi (v11, v12, v13)",
        ],
    );
    explains(&["local", "storage"], &["WLS Instances", "stored as log2"]);
    explains(&["Wrap Mode"], &["9 Clamp to Edge"]);
    explains(&["Sampler.LOD bias"], &["LOD bias"]);
}

#[test]
fn formats_registers_and_codes_are_explained() {
    explains(
        &["VK_FORMAT_R8G8B8A8_UNORM"],
        &["pixel format: 0x0bb000", "colour target"],
    );
    explains(&["r8g8b8a8_unorm"], &["R8G8B8A8_UNORM (pixel format)"]);
    explains(&["gpu_status"], &["GPU_STATUS (register)"]);
    explains(&["GPU_STATUS.PAGE_FAULT"], &["PAGE_FAULT"]);
    explains(&["TRANSLATION_FAULT_2"], &["code: 0xc2"]);
}

#[test]
fn products_are_found_as_people_write_them() {
    for name in ["G610", "mali-g610", "Mali G610", "LODX"] {
        explains(&[name], &["Mali-G610 (product)", "architecture: v10"]);
    }
    explains(&["v10"], &["v10 (architecture)", "Mali-G610"]);
}

#[test]
fn values_are_taken_apart() {
    explains(&["GPU_ID=0xa8670005"], &["Mali-G610", "ARCH_MAJOR = 0xa"]);
    explains(&["0xa8670005"], &["Mali-G610"]);
    explains(&["0xc2"], &["TRANSLATION_FAULT_2"]);
    explains(&["MCU_STATUS=3"], &["STATE = 0x3 Fatal"]);
    explains(
        &["ESR_EL1=0x96000005"],
        &["data abort: nothing mapped on a read"],
    );
    explains(
        &["pte=0x0060000080000f47"],
        &["0x1000 bytes at 0x80000000, RW-"],
    );
    explains(
        &["00a4c0100000d001"],
        &["FADD.f32 r0, r1", "destination = 0x0"],
    );
    explains(&["0x0142004100001000"], &["MOVE48", "0x4100001000"]);
}

#[test]
fn parts_and_numbered_ones_are_found() {
    explains(&["AS3_STATUS"], &["offset: 0x24e8"]);
    explains(&["WLS Instances"], &["Local Storage (descriptor)"]);
    explains(&["lane_id"], &["special value"]);
    explains(
        &["l2_any_lookup"],
        &["performance counter", "block: memory system", "index: 25"],
    );
    explains(&["SPD_0"], &["register: d16"]);
    explains(
        &["AS_FAULTSTATUS=0x3c2"],
        &["ACCESS = 0x3 Write", "TRANSLATION_FAULT_2 (exception code)"],
    );
    explains(
        &["AS_FAULTSTATUS=0x7dc002c3", "--arch", "v12"],
        &["On v12 the source is: command-stream front end, load/store unit."],
    );
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    refuses("GPU_STATSU", "did you mean `GPU_STATUS`?");
    refuses("shader-programm", "did you mean `Shader Program`?");
    refuses("GPU_STATUS=many", "`many` is no number");
    refuses("GPU_STATSU=1", "did you mean `GPU_STATUS`?");
}

#[test]
fn json_holds_what_the_text_holds() {
    let output = eitri(&["explain", "--json", "framebuffer pointer"], b"");
    let json: Json = serde_json::from_slice(&output.stdout).expect("the output is JSON");
    assert_eq!(json["schema"], 1);
    let entry = &json["entries"][0];
    assert_eq!(
        (&entry["kind"], &entry["name"]),
        (
            &Json::from("descriptor"),
            &Json::from("Framebuffer pointer")
        )
    );
    let count = entry["fields"]
        .as_array()
        .expect("fields are a list")
        .iter()
        .find(|field| field["name"] == "Render target count");
    let count = count.expect("the field is there");
    assert_eq!(
        (&count["low"], &count["width"]),
        (&Json::from(2), &Json::from(4))
    );
}

#[test]
fn the_generated_pages_are_those_of_the_tables_and_the_marks() {
    let output = eitri(&["docs", "--check"], b"");
    let stale = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        (output.status.code(), stale.as_ref()),
        (Some(0), ""),
        "run `cargo eitri docs`"
    );
}

#[test]
fn a_reader_that_has_gone_away_is_no_error() {
    for arguments in [
        &["explain", "v10"][..],
        &["explain", "--json", "v10"],
        &["pack", "buffer"],
        &["test", "--list"],
        &["disasm", "--keep-going"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command(arguments)
            .stdin(Stdio::null())
            .stdout(writer)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), stderr.as_ref()),
            (Some(0), ""),
            "eitri {arguments:?}"
        );
    }
}
