//! `eitri run --on host`, as a person calls it.

mod refused;
mod results;

use std::path::PathBuf;
use std::process::{Command, Output};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), contents).unwrap();
        self.path(name).to_str().unwrap().to_owned()
    }

    fn run(&self, shader: &str, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_eitri"))
            .current_dir(self.0.path())
            .args(["run", shader, "--on", "host"])
            .args(arguments)
            .env("NO_COLOR", "1")
            .output()
            .unwrap()
    }

    /// The words that the shader leaves in `out.bin`.
    #[track_caller]
    fn words(&self, shader: &str, arguments: &[&str]) -> Vec<u32> {
        let output = self.run(shader, arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{shader}: {stderr}");
        let bytes = std::fs::read(self.path("out.bin")).unwrap();
        bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|word| u32::from_le_bytes(*word))
            .collect()
    }

    /// Runs what must be refused with status 2, with these words on stderr, and without an output file.
    #[track_caller]
    fn refused(&self, shader: &str, arguments: &[&str], parts: &[&str]) {
        let output = self.run(shader, arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{shader} {arguments:?}: {stderr}"
        );
        // Long messages are wrapped to the terminal's width.
        let flat = stderr
            .replace("│", " ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        for part in parts {
            assert!(flat.contains(part), "no {part:?} in {flat}");
        }
        assert!(
            !self.path("out.bin").exists(),
            "a partial output file was left"
        );
        assert!(output.stdout.is_empty(), "stdout is for results");
    }
}

const DOUBLE: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
    @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n\
        data[id.x] = data[id.x] * 2u;\n\
    }\n";

fn repository(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}
