//! Pages: HTML files that stand alone, and the site of all documentation.

use crate::eitri::{command, eitri};
use std::path::Path;

/// Runs the command in a folder; its status, and what it printed on stderr.
fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = command(arguments).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

/// A page; slashes of text are written as numbers there.
fn read(path: &Path) -> String {
    std::fs::read_to_string(path)
        .unwrap()
        .replace("&#x2f;", "/")
}

/// Nothing is fetched from elsewhere, and what is text is no markup.
#[track_caller]
fn stands_alone(page: &str) {
    assert!(page.starts_with("<!doctype html>"), "{page}");
    for outside in ["src=\"http", "href=\"http", "<link", "@import", "url("] {
        assert!(!page.contains(outside), "it asks for `{outside}`");
    }
}

#[test]
fn a_dump_is_a_page_whose_addresses_lead_to_their_mappings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(
        path.join("a.wgsl"),
        "@group(0) @binding(0) var<storage, read_write> d: array<u32>;
         @compute @workgroup_size(1) fn main() { d[0x1000000u] = 1u; }",
    )
    .unwrap();
    let run_words = [
        "run",
        "a.wgsl",
        "--on",
        "host",
        "--buffer",
        "0=zero:64",
        "--robust",
        "off",
        "--dump",
        "a.core",
    ];
    let (status, said) = run(path, &run_words);
    assert_eq!(status, Some(2), "{said}");
    let (status, said) = run(path, &["dump", "show", "a.core", "--html", "a.html"]);
    assert_eq!(status, Some(0), "{said}");
    let page = read(&path.join("a.html"));
    stands_alone(&page);
    let verdict = page.find("TRANSLATION_FAULT").expect("the fault");
    assert!(
        verdict < page.find("Memory</h2>").expect("memory"),
        "the fault is first"
    );
    // Each link leads to something of the page.
    let mut links = 0;
    for link in page.split("href=\"#").skip(1) {
        let id = link.split('"').next().unwrap();
        assert!(
            page.contains(&format!("id=\"{id}\"")),
            "nothing is called {id}"
        );
        links += 1;
    }
    assert!(links > 10, "{links} links");
    let refused = eitri(&["dump", "show", "-", "--html", "-", "--json"], b"");
    assert_eq!(refused.status.code(), Some(2), "one form at a time");
}

#[test]
fn a_compiled_shader_is_a_page_with_source_and_code_linked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(
        path.join("a.wgsl"),
        "@group(0) @binding(0) var<storage, read_write> d: array<u32>;
// a < b & c
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    d[id.x] = d[id.x] * 7u;
}
",
    )
    .unwrap();
    let (status, said) = run(
        path,
        &["compile", "a.wgsl", "--emit", "html", "-o", "a.html"],
    );
    assert_eq!(status, Some(0), "{said}");
    let page = read(&path.join("a.html"));
    stands_alone(&page);
    assert!(page.contains("// a &lt; b &amp; c"), "the source, as text");
    let line = page
        .split("<tr id=\"line-0-5\"")
        .nth(1)
        .expect("the fifth line");
    let row = line
        .split("href=\"#")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("a link to code");
    assert!(
        page.contains(&format!("<tr id=\"{row}\" data-line=\"line-0-5\"")),
        "{row} comes from it"
    );
    // The store leads to its line of the representation, which leads back to it.
    let store = page
        .split("<tr id=\"row-")
        .find(|row| row.contains("STORE"));
    let store = store.and_then(|row| row.split("data-ir=\"").nth(1));
    let ir = store
        .and_then(|rest| rest.split('"').next())
        .expect("where it comes from");
    let line = page
        .split(&format!("<tr id=\"{ir}\""))
        .nth(1)
        .expect("that line");
    let line = line.split("</tr>").next().unwrap();
    assert!(
        line.contains("store.buffer") && line.contains("href=\"#row-"),
        "{line}"
    );
    assert!(line.contains("data-line=\"line-0-5\""), "{line}");
    let (status, said) = run(
        path,
        &[
            "compile", "a.wgsl", "--emit", "html", "--target", "a6xx", "-o", "b.html",
        ],
    );
    assert_eq!(status, Some(0), "{said}");
}

#[test]
fn results_are_a_page_with_the_verdict_first_and_pictures_of_what_failed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(
        path.join("red.amber"),
        "#!amber
SHADER vertex v PASSTHROUGH
SHADER fragment f SPIRV-ASM
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main \"main\" %o
OpExecutionMode %main OriginUpperLeft
OpDecorate %o Location 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%v4 = OpTypeVector %float 4
%p = OpTypePointer Output %v4
%o = OpVariable %p Output
%one = OpConstant %float 1
%nil = OpConstant %float 0
%red = OpConstantComposite %v4 %one %nil %nil %one
%main = OpFunction %void None %fn
%l = OpLabel
OpStore %o %red
OpReturn
OpFunctionEnd
END
BUFFER frame FORMAT B8G8R8A8_UNORM
PIPELINE graphics p
  ATTACH v
  ATTACH f
  FRAMEBUFFER_SIZE 16 16
  BIND BUFFER frame AS color LOCATION 0
END
CLEAR p
RUN p DRAW_RECT POS 0 0 SIZE 8 16
EXPECT frame IDX 0 0 SIZE 16 16 EQ_RGBA 255 0 0 255
",
    )
    .unwrap();
    if command(&["doctor", "--for", "amber"])
        .output()
        .is_ok_and(|it| !it.status.success())
    {
        eprintln!("skipped: the assembler of SPIR-V is not there");
        return;
    }
    let (status, said) = run(
        path,
        &[
            "amber",
            "red.amber",
            "--html",
            "a.html",
            "--results",
            "a.json",
        ],
    );
    assert_eq!(status, Some(1), "{said}");
    let page = read(&path.join("a.html"));
    stands_alone(&page);
    assert!(page.contains("1 of 1 did not pass."), "{page}");
    assert!(
        page.find("did not pass") < page.find("<h2"),
        "the verdict is first"
    );
    for name in ["frame", "frame-difference"] {
        let figure = format!("<figcaption>{name}</figcaption>");
        assert!(page.contains(&figure), "no picture {name}");
    }
    assert!(page.matches("data:image/png;base64,iVBOR").count() >= 2);
    // The same results without pictures, made one page by `merge`.
    let (status, said) = run(path, &["merge", "a.json", "--html", "b.html"]);
    assert_eq!(status, Some(1), "{said}");
    let merged = read(&path.join("b.html"));
    assert!(merged.contains("1 of 1 did not pass."), "{merged}");
}

#[test]
fn a_boards_log_is_a_page_with_the_log_folded() {
    let folder = tempfile::tempdir().unwrap();
    let log = "eitri 0.1.0 on rk3588, build 0123\nTAP version 13\n1..2\nok 1 - bring-up.ping\nnot ok 2 - memory.atomics\n# got 1 & 2 < 3\n# done\n";
    std::fs::write(folder.path().join("a.log"), log).unwrap();
    let (status, said) = run(folder.path(), &["console", "a.log", "--html", "a.html"]);
    assert_eq!(status, Some(1), "{said}");
    let page = read(&folder.path().join("a.html"));
    stands_alone(&page);
    assert!(page.contains("got 1 &amp; 2 &lt; 3"), "{page}");
    assert!(page.contains("rk3588"), "which board it was: {page}");
    assert!(
        page.find("memory.atomics") < page.find("id=\"log\""),
        "the log is last"
    );
}

#[test]
fn all_pages_are_a_site_without_lost_links() {
    let folder = tempfile::tempdir().unwrap();
    let (status, said) = run(
        Path::new("."),
        &["docs", "--site", folder.path().to_str().unwrap()],
    );
    assert_eq!(status, Some(0), "{said}");
    let first = read(&folder.path().join("index.html"));
    for page in [
        "start/board.html",
        "cli.html",
        "reference/registers.html",
        "hardware/index.html",
    ] {
        assert!(first.contains(&format!("href=\"{page}\"")), "no {page}");
        assert!(folder.path().join(page).is_file(), "{page}");
    }
    let search = std::fs::read_to_string(folder.path().join("search.js")).unwrap();
    assert!(
        search.starts_with("var SECTIONS = [["),
        "what the search looks through"
    );
}
