//! `eitri reduce`, as a person runs it.

use crate::eitri::eitri;

const SHADER: &str = "\
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(1)
fn main() {
    var needle = 0u;
    for (var i = 0u; i < data[0]; i++) { needle += data[i]; }
    if data[1] > 7u { data[2] = needle; }
    data[0] = needle * 3u;
}
";

fn reduce(keep_if: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shader.wgsl");
    std::fs::write(&path, SHADER).unwrap();
    let path = path.to_string_lossy();
    let output = eitri(&["reduce", &path, "--keep-if", keep_if], b"");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn what_the_command_looks_for_is_all_that_is_left() {
    // OpLoopMerge, of four words.
    let find = "LC_ALL=C grep -qaP '\\xf6\\x00\\x04\\x00'";
    for keep_if in [format!("{find} {{}}"), find.to_owned()] {
        let (status, out, err) = reduce(&keep_if);
        assert_eq!(status, Some(0), "{err}");
        assert!(out.contains("OpLoopMerge"), "{out}");
        assert!(!out.contains("OpStore") && !out.contains("OpIMul"), "{out}");
        assert!(out.lines().count() < 30, "{out}");
        assert!(err.contains("instructions have become"), "{err}");
    }
}

#[test]
fn a_command_that_does_not_keep_the_shader_itself_is_refused() {
    let (status, out, err) = reduce("false");
    assert_eq!((status, out.as_str()), (Some(2), ""));
    assert!(err.contains("does not keep"), "{err}");
}
