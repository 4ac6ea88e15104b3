//! `--fidelity`: how far the results of a job can be trusted, as text and as JSON.
//!
//! The model says what was executed and which of its rules rest on less than an established fact (`eitri_model::Inexact`); here that
//! becomes lines with names and places in the source.

use eitri_csf::registers::at_offset;
use eitri_isa::{Arch, Instr};
use eitri_model::{Fidelity, Inexact, Met};
use eitri_shaderc::Listing;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Where the row of a mark has its `FACT:`.
const MODEL: &str = "gpu/simulator/model";

/// What was executed, by name.
#[derive(Default)]
struct Kinds {
    executed: u64,
    exact: u64,
    /// How often each name was executed, and whether all of it is exact.
    names: BTreeMap<String, (u64, bool)>,
}

impl Kinds {
    fn add(&mut self, name: String, count: u64, is_exact: bool) {
        self.executed += count;
        self.exact += if is_exact { count } else { 0 };
        let entry = self.names.entry(name).or_insert((0, true));
        entry.0 += count;
        entry.1 &= is_exact;
    }

    fn inexact(&self) -> Vec<&str> {
        let names = self.names.iter();
        let names = names.filter(|(_, (_, exact))| !exact);
        names.map(|(name, _)| name.as_str()).collect()
    }
}

/// The report of a job.
pub(crate) struct Report<'a> {
    fidelity: &'a Fidelity,
    arch: Arch,
    gpu: String,
    listing: Option<&'a Listing>,
}

impl<'a> Report<'a> {
    /// Of a job on a GPU; `listing` is that of the program that ran, for places in the source.
    pub(crate) fn new(
        fidelity: &'a Fidelity,
        (arch, gpu): (Arch, String),
        listing: Option<&'a Listing>,
    ) -> Report<'a> {
        Report {
            fidelity,
            arch,
            gpu,
            listing,
        }
    }

    fn shader(&self) -> Kinds {
        let mut kinds = Kinds::default();
        for (word, count, rests_on) in self.fidelity.words() {
            let name = match Instr::decode(word, self.arch) {
                Ok(instr) => instr.op().name().to_owned(),
                Err(_) => format!("{word:#018x}"),
            };
            kinds.add(name, count, rests_on.is_empty());
        }
        kinds
    }

    fn streams(&self) -> Kinds {
        let mut kinds = Kinds::default();
        for (name, count) in self.fidelity.streams() {
            kinds.add(name.to_owned(), count, true);
        }
        kinds
    }

    /// Accesses of registers by name: reads and writes.
    fn registers(&self) -> [Kinds; 2] {
        let mut all = [Kinds::default(), Kinds::default()];
        let accesses = [
            self.fidelity.reads().collect::<Vec<_>>(),
            self.fidelity.writes().collect::<Vec<_>>(),
        ];
        for (kinds, accesses) in all.iter_mut().zip(accesses) {
            for (offset, count) in accesses {
                let name = match at_offset(offset) {
                    Some(found) => found.register.name.to_owned(),
                    None => format!("{offset:#07x}"),
                };
                kinds.add(name, count, true);
            }
        }
        all
    }

    /// The first line of the source that has met a row.
    fn source(&self, met: &Met) -> Option<(&'a str, u32)> {
        let (_, word) = met.first?;
        let mut rows = self.listing?.rows();
        let row = rows.find(|row| row.word == word && row.source.is_some())?;
        row.source
    }

    /// What inexact values have reached, in all.
    fn reached(&self) -> Vec<&'static str> {
        let mut names: Vec<&str> = Vec::new();
        for (_, met) in self.fidelity.met() {
            for name in met.reached.names() {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// Lines for people.
    pub(crate) fn text(&self, name: &str) -> String {
        let mut text = format!("{name} - fidelity on {}\n", self.gpu);
        let mut line = |line: String| {
            // Writing to a string can't fail.
            let _ = writeln!(text, "  {line}");
        };
        let shader = self.shader();
        line(format!(
            "shader instructions: {} executed, {} of them exact; kinds: {}{}",
            shader.executed,
            shader.exact,
            shader.names.len(),
            match shader.inexact().as_slice() {
                [] => String::new(),
                names => format!(", not exact: {}", names.join(", ")),
            },
        ));
        let streams = self.streams();
        line(format!(
            "stream instructions: {} executed; kinds: {}",
            streams.executed,
            streams.names.len(),
        ));
        let [reads, writes] = self.registers();
        line(format!(
            "registers: {} read, {} written",
            reads.names.len(),
            writes.names.len(),
        ));
        match self.fidelity.not_modelled() {
            0 => line("not modelled: nothing that was asked for".to_owned()),
            count => line(format!(
                "not modelled: {count} instructions, each diagnosed"
            )),
        }
        let (registers, others): (Vec<_>, Vec<_>) =
            self.fidelity.met().partition(|(one, _)| one.is_register());
        let reached = self.reached();
        line(match reached.as_slice() {
            [] if others.is_empty() => "all that was executed is exact by the facts".to_owned(),
            [] => "no value that is not exact has reached a branch, an address, memory or a pixel"
                .to_owned(),
            reached => format!(
                "values that are not exact have reached: {}",
                reached.join(", ")
            ),
        });
        for (one, met) in others.iter().chain(&registers) {
            let [what, why] = self.row(*one, met);
            line(what);
            line(format!("    {why}"));
        }
        text
    }

    /// A row that was met, in two lines.
    fn row(&self, one: Inexact, met: &Met) -> [String; 2] {
        let row = one.row();
        let at = match (self.source(met), met.first) {
            (Some((file, line)), _) => format!(", first at {file}:{line}"),
            (None, Some((address, _))) => format!(", first at {address:#x}"),
            (None, None) => String::new(),
        };
        let reached: Vec<&str> = met.reached.names().collect();
        let reached = match reached.as_slice() {
            [] => String::new(),
            reached => format!(", has reached: {}", reached.join(", ")),
        };
        let mark = match row.mark {
            None => String::new(),
            Some((file, item)) => format!(", FACT in {MODEL}/{file} {item}"),
        };
        [
            match met.count {
                1 => format!("{}: once{at}{reached}", row.name),
                count => format!("{}: {count} times{at}{reached}", row.name),
            },
            format!("{} ({}; {}{mark})", row.what, row.kind.name(), row.fact),
        ]
    }

    /// The same as JSON, schema version 1.
    pub(crate) fn json(&self, name: &str) -> Value {
        let kinds = |kinds: &Kinds| -> Vec<Value> {
            let rows = kinds.names.iter();
            rows.map(|(name, (count, exact))| json!({"name": name, "count": count, "exact": exact}))
                .collect()
        };
        let [reads, writes] = self.registers();
        let met = self.fidelity.met().map(|(one, met)| {
            let row = one.row();
            let source = self.source(&met);
            let source = source.map(|(file, line)| json!({"file": file, "line": line}));
            json!({
                "name": row.name,
                "kind": row.kind.name(),
                "what": row.what,
                "facts": row.fact,
                "mark": row.mark.map(|(file, item)| json!({"file": format!("{MODEL}/{file}"), "item": item})),
                "count": met.count,
                "address": met.first.map(|(address, _)| format!("{address:#x}")),
                "source": source,
                "reached": met.reached.names().collect::<Vec<_>>(),
            })
        });
        json!({
            "schema": 1,
            "name": name,
            "gpu": self.gpu,
            "shader": kinds(&self.shader()),
            "streams": kinds(&self.streams()),
            "registers": {"read": kinds(&reads), "written": kinds(&writes)},
            "not_modelled": self.fidelity.not_modelled(),
            "inexact": met.collect::<Vec<_>>(),
            "reached": self.reached(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reports::open_facts;
    use eitri_model::WITHOUT_VALUE;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// A mark without a row would be missing from every report, and a row without a mark would tell what no longer holds.
    #[test]
    fn each_mark_of_the_model_has_a_row_or_changes_no_value() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let sources = open_facts::collect(&root).unwrap();
        let marks: BTreeSet<(String, String)> =
            open_facts::marks(&sources, "eitri-model").collect();
        let rows = Inexact::ALL.iter().filter_map(|one| one.row().mark);
        let others = WITHOUT_VALUE.iter().map(|(file, item, _)| (*file, *item));
        let told: BTreeSet<(String, String)> = rows
            .chain(others)
            .map(|(file, item)| (file.to_owned(), item.to_owned()))
            .collect();
        let missing: Vec<_> = marks.difference(&told).collect();
        let stale: Vec<_> = told.difference(&marks).collect();
        assert!(
            missing.is_empty() && stale.is_empty(),
            "gpu/simulator/model/src/fidelity/inexact.rs: marks without a row: {missing:#?}, rows without a mark: {stale:#?}"
        );
    }
}
