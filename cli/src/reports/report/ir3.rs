//! Figures of shaders for Adreno: no cycles by unit, since the facts publish no rates; counts of instructions by category, of
//! waits and idle slots, and what decides how many waves run at once.
//!
//! Facts: hardware/compiler-ir3.md 9 (9), hardware/ir3-isa.md 14.

use super::ReportError;
use super::json::property;
use eitri_ir3_program::Program;
use eitri_shaderc::Compiled;
use eitri_shaderc::ir3::Statistics;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What is known of one compiled shader.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Report {
    /// The file as the user wrote it.
    file: String,
    entry: String,
    /// The device that it is for.
    device: String,
    statistics: Statistics,
    workgroup: [u32; 3],
    shared_bytes: u32,
    private_bytes: u32,
}

impl Report {
    /// Looks at a compiled shader.
    ///
    /// # Errors
    /// A program that does not read back: a defect of ours.
    pub(super) fn of(
        file: &str,
        compiled: &Compiled,
        statistics: Statistics,
        device: &str,
    ) -> Result<Report, ReportError> {
        let program = Program::parse(&compiled.program)?;
        Ok(Report {
            file: file.to_owned(),
            entry: program.entry().to_owned(),
            device: device.to_owned(),
            statistics,
            workgroup: program.workgroup().sides(),
            shared_bytes: program.shared_bytes(),
            private_bytes: program.private_bytes(),
        })
    }

    /// The figures by name: in JSON, and as people read them.
    fn properties(&self) -> Vec<(&'static str, &'static str, Value)> {
        let it = &self.statistics;
        vec![
            (
                "full_registers",
                "Full registers (vec4)",
                json!(it.full_registers),
            ),
            (
                "half_registers",
                "Half registers (vec4)",
                json!(it.half_registers),
            ),
            ("waves", "Waves at once", json!(it.waves)),
            ("branch_stack", "Branch stack", json!(it.branch_stack)),
            ("constlen", "Const file (vec4)", json!(it.constlen)),
            (
                "private_bytes",
                "Private memory of a lane, bytes",
                json!(self.private_bytes),
            ),
            (
                "shared_bytes",
                "Shared memory, bytes",
                json!(self.shared_bytes),
            ),
            (
                "instructions",
                "Instructions, repetitions counted",
                json!(it.instructions),
            ),
            ("nops", "Of those idle", json!(it.nops)),
            ("words", "Words of the program", json!(it.words)),
            ("moves", "Moves", json!(it.moves)),
            ("conversions", "Conversions", json!(it.conversions)),
            ("categories", "By category, 0 to 7", json!(it.categories)),
            ("ss", "Waits for short latency (ss)", json!(it.ss)),
            ("sy", "Waits for long latency (sy)", json!(it.sy)),
            (
                "ss_stalls",
                "Slots waited at (ss), about",
                json!(it.ss_stalls),
            ),
            (
                "sy_stalls",
                "Slots waited at (sy), about",
                json!(it.sy_stalls),
            ),
            ("loops", "Loops", json!(it.loops)),
            ("spills", "Spill stores", json!(it.spills)),
            ("fills", "Spill loads", json!(it.fills)),
        ]
    }

    /// As people read it.
    pub(super) fn text(&self) -> String {
        let [x, y, z] = self.workgroup;
        let mut text = format!(
            "{}\n\nConfiguration\n=============\n\nHardware: Adreno {}\nArchitecture: IR3 (a6xx)\nDriver: eitri {}\n\
             Shader type: Compute ({})\nWorkgroup size: {x} x {y} x {z}\n\nMain shader\n===========\n\n",
            self.file,
            self.device,
            env!("CARGO_PKG_VERSION"),
            self.entry,
        );
        for (_, display, value) in self.properties() {
            // Writing to a string can't fail.
            let _ = writeln!(text, "{display}: {value}");
        }
        text
    }

    /// One line, with the columns of Mesa's compiler for this hardware.
    pub(super) fn line(&self) -> String {
        format!("{} - compute shader: {}", self.file, self.statistics)
    }

    /// An entry of the list of reports.
    pub(super) fn json(&self) -> Value {
        let named = |(name, display, value)| property(name, display, value);
        json!({
            "filename": self.file,
            "hardware": { "architecture": "IR3", "core": format!("Adreno {}", self.device), "revision": "a6xx" },
            "driver": super::json::driver(),
            "shader": super::json::shader("Compute"),
            "warnings": [],
            "errors": [],
            "properties": [
                property("entry_point", "Entry point", json!(self.entry)),
                property("workgroup_size", "Workgroup size", json!(self.workgroup)),
            ],
            "variants": [{
                "name": "Main",
                "properties": self.properties().into_iter().map(named).collect::<Vec<_>>(),
            }],
        })
    }

    /// An entry of the list of statistics.
    pub(super) fn statistics_json(&self) -> Value {
        let mut entry = json!({ "file": self.file, "entry": self.entry, "stage": "compute" });
        for (name, _, value) in self.properties() {
            entry[name] = value;
        }
        entry
    }
}
