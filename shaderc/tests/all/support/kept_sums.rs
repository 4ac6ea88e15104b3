//! Sums of programs, kept in a file: it shows which programs a change of the compiler changes, and that it leaves the others alone.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Programs by name: how many bytes, and their sum.
#[derive(Default)]
pub struct Sums(BTreeMap<String, (usize, u32)>);

impl Sums {
    /// Adds a program.
    pub fn add(&mut self, name: String, program: &[u8]) {
        let before = self.0.insert(name, (program.len(), sum(program)));
        assert!(before.is_none(), "two programs of a name");
    }

    /// Whether there is any program.
    pub fn any(&self) -> bool {
        !self.0.is_empty()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (name, (bytes, sum)) in &self.0 {
            writeln!(text, "{name} {bytes} {sum:08x}").expect("a string takes all");
        }
        text
    }

    /// Compares with a file below `testdata/data/kept-code`.
    #[track_caller]
    pub fn compare(&self, file: &str) {
        let path = eitri_testdata::kept("kept-code").join(file);
        let now = self.text();
        if std::env::var_os("EITRI_BLESS").is_some() {
            std::fs::write(&path, now)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            return;
        }
        let kept = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let lines = |of: &str, other: &str, sign| -> Vec<String> {
            let there: std::collections::BTreeSet<&str> = other.lines().collect();
            let only = of.lines().filter(|line| !there.contains(line));
            only.map(|line| format!("{sign} {line}")).collect()
        };
        let mut changes = lines(&kept, &now, '-');
        changes.extend(lines(&now, &kept, '+'));
        assert!(
            changes.is_empty(),
            "programs have other machine code than {} says (name, bytes, sum); if that is meant, EITRI_BLESS=1 writes it anew, and \
             `eitri bench code` and `eitri bench graphics` say what the change costs:\n{}",
            path.display(),
            changes.join("\n")
        );
    }
}

/// FNV-1a of 32 bits: the same on every host.
fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811C_9DC5, |sum: u32, byte| {
        (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}
