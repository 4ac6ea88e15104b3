//! Case files that are good, and what is said of others.
use super::*;

const GOOD: &str = r#"{
        "format": 1, "name": "one", "shader": {"spirv": "a.spv", "spirv_opt": "b.spv", "entry": "main"},
        "local_size": [1, 1, 1], "groups": [1, 1, 1], "push_constants": "0100", "spec_constants": [{"id": 3, "value": 9}],
        "bindings": [
            {"set": 0, "binding": 1, "name": "in", "kind": "ssbo", "bytes": 4, "init": "zero", "output": false},
            {"set": 0, "binding": 2, "name": "out", "kind": "ssbo", "bytes": 4, "init": "zero", "output": true,
             "expected": "expected.bin", "compare": {"rule": "exact"}}
        ]}"#;

/// Reads `text` as a case whose expected contents are `[1, 0, 0, 0]`.
fn read(text: &str) -> Result<Case, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("expected.bin"), [1, 0, 0, 0]).unwrap();
    let path = folder.path().join("one.json");
    std::fs::write(&path, text).unwrap();
    let root = format!("{}/", folder.path().display());
    Case::read(&path).map_err(|error| error.to_string().replace(&root, ""))
}

#[track_caller]
fn refused(from: &str, to: &str, message: &str) {
    assert!(GOOD.contains(from), "no {from:?} in the good case");
    assert_eq!(read(&GOOD.replacen(from, to, 1)).unwrap_err(), message);
}

#[test]
fn a_case_is_read_and_checked() {
    let case = read(GOOD).unwrap();
    assert_eq!(case.push_constants, [1, 0]);
    assert_eq!(case.spec_constants, [(3, 9)].into());
    let out = Place {
        set: 0,
        binding: 2,
        element: 0,
    };
    let after = |bytes: &'static [u8]| move |place| (place == out).then_some(bytes);
    assert_eq!(case.check(after(&[1, 0, 0, 0])), Ok(()));
    assert_eq!(
        case.check(after(&[0; 4])).unwrap_err().to_string(),
        "out (0:2): element 0 (byte 0x0, u32): got 0, expected 1; 1 of 1 elements differ"
    );
    assert_eq!(
        case.check(after(&[0; 3])).unwrap_err().to_string(),
        "out (0:2): 3 bytes, expected 4"
    );
    assert_eq!(
        case.check(|_| Some(&[1, 0, 0, 0])).unwrap_err().to_string(),
        "in (0:1) is no output, but has changed: element 0 (byte 0x0, u32): got 1, expected 0; 1 of 1 elements differ"
    );
}

#[test]
fn bad_cases_are_refused() {
    refused(
        "\"format\": 1",
        "\"format\": 2",
        "one.json: format 2 is not known; this version reads format 1",
    );
    refused(
        "\"groups\": [1, 1, 1], ",
        "",
        "one.json:8:10: missing field `groups`",
    );
    refused(
        "\"0100\"",
        "\"010\"",
        "one.json:3:77: `010` is not an even number of hex digits",
    );
    refused(
        "\"binding\": 2",
        "\"binding\": 1",
        "one.json: binding 0:1 stands there twice",
    );
    refused(
        "\"bytes\": 4",
        "\"bytes\": 99999999999",
        "one.json: the bindings have 100000000003 bytes; the most is 268435456",
    );
    refused(
        "\"output\": true",
        "\"output\": false",
        "one.json: out (0:2): it is no output, but has `expected` or `compare`",
    );
    refused(
        "\"expected\": \"expected.bin\", ",
        "",
        "one.json: out (0:2): an output needs `expected` and `compare`",
    );
    refused(
        "\"rule\": \"exact\"",
        "\"rule\": \"ulp\", \"type\": \"u32\", \"ulp\": 1",
        "one.json:7:93: rule `ulp` needs a real `type` and `ulp`",
    );
    refused(
        "expected.bin",
        "other.bin",
        "can't read other.bin: No such file or directory (os error 2)",
    );
    refused(
        "\"bytes\": 4, \"init\": \"zero\", \"output\": true",
        "\"bytes\": 8, \"init\": \"zero\", \"output\": true",
        "expected.bin: 4 bytes, but out (0:2) of one.json has 8",
    );
    refused(
        "\"ssbo\"",
        "\"storage_image\"",
        "one.json: in (0:1): it needs a `format`",
    );
    refused(
        "\"ssbo\"",
        "\"storage_image\", \"format\": \"rgba8\", \"width\": 2, \"height\": 1",
        "one.json: in (0:1): 2 times 1 texels of rgba8 are not 4 bytes",
    );
    refused(
        "[1, 1, 1], \"groups\"",
        "[1, 0, 1], \"groups\"",
        "one.json: local_size [1, 0, 1] has a 0",
    );
}

#[test]
fn texel_buffers_have_a_width() {
    let texels = "\"uniform_texel_buffer\", \"format\": \"rgba8\"";
    let case = read(&GOOD.replacen("\"ssbo\"", texels, 1)).unwrap();
    let image = case.resources[0].image.as_ref().unwrap();
    assert_eq!((image.width, image.height), (1, 1));
}
