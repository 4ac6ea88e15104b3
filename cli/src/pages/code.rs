//! A compiled shader as a page: source, machine code, the compiler's representation and SPIR-V side by side, linked line by line,
//! with cycles by line and the registers that live.

use super::{environment, render};
use crate::outcome::Failure;
use crate::reports::pressure;
use crate::reports::report::Cycles;
use eitri_isa::{Arch, Instr};
use eitri_shaderc::{IrLine, Listing, ListingRow as Row};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Pixels of the longest bar.
const BAR: f64 = 60.0;

/// A line of a text, and the file and line of the source that it comes from.
pub(crate) struct TextLine {
    pub(crate) text: String,
    pub(crate) source: Option<(String, u32)>,
}

/// What a page of code shows.
pub(crate) struct Shown<'s> {
    /// The shader's path.
    pub(crate) title: &'s str,
    /// Figures of the whole, by name.
    pub(crate) facts: Vec<(String, String)>,
    pub(crate) listing: &'s Listing,
    /// Where the code is for Valhall: its generation.
    pub(crate) arch: Option<Arch>,
    /// Source files: path and text.
    pub(crate) sources: Vec<(String, String)>,
    /// Other forms of the shader than those in the listing, by name.
    pub(crate) texts: Vec<(String, Vec<TextLine>)>,
}

/// The page.
pub(crate) fn code(shown: &Shown<'_>) -> Result<String, Failure> {
    let rows: Vec<Row<'_>> = shown.listing.rows().collect();
    let line_id = |file: &str, line: u32| {
        let number = shown.sources.iter().position(|(path, _)| path == file)?;
        Some(format!("line-{number}-{line}"))
    };
    // What each row costs a warp, and the unit.
    let cost = |row: &Row<'_>| {
        let arch = shown.arch?;
        let instr = Instr::decode(row.word, arch).ok()?;
        Some((instr.issue(arch).0, Cycles::of(&instr, arch).most()))
    };
    let costs: Vec<f64> = rows
        .iter()
        .map(|row| cost(row).map_or(1.0, |(_, cycles)| cycles))
        .collect();
    // Of each line of a source: cycles, and its first row.
    let lines = by_line(rows.iter().map(|row| row.source), &costs);
    let most = lines
        .values()
        .map(|(cycles, _)| *cycles)
        .fold(1.0, f64::max);
    let heat = |cycles: f64| (cycles * BAR / most).round();
    let sources = shown
        .sources
        .iter()
        .enumerate()
        .map(|(file, (path, text))| {
            let lines = text.lines().zip(1u32..).map(|(text, number)| {
                let found = lines.get(&(path.as_str(), number));
                let cycles = found.map(|(cycles, _)| *cycles);
                json!({
                    "id": format!("line-{file}-{number}"),
                    "number": number,
                    "text": text,
                    "cycles": cycles.map(figure),
                    "heat": cycles.map_or(0.0, heat),
                    "rows": found.map(|(_, row)| format!("row-{row}")),
                })
            });
            json!({ "path": path, "lines": lines.collect::<Vec<_>>() })
        });
    let live = shown.arch.and_then(|arch| pressure::live(&rows, arch));
    let targets: Vec<u32> = rows.iter().filter_map(|row| row.to).collect();
    let mut begun = 0;
    let machine: Vec<Value> = rows
        .iter()
        .enumerate()
        .map(|(number, row)| {
            let label = (begun..=row.block)
                .rev()
                .find(|block| targets.contains(block));
            begun = row.block + 1;
            let (unit, cycles) = cost(row)
                .map_or((String::new(), String::new()), |(unit, cycles)| {
                    (format!("{unit:?}").to_uppercase(), figure(cycles))
                });
            let live = live.as_ref().map(|live| live[number]);
            let to = row.to.map_or(String::new(), |to| format!("  ; to b{to}"));
            json!({
                "id": format!("row-{number}"),
                "label": label.map(|block| format!("b{block}")),
                "ir": row.origin.map(|line| format!("ir-{line}")),
                "line": row.source.and_then(|(file, line)| line_id(file, line)),
                "number": row.source.map(|(_, line)| line),
                "unit": unit,
                "cycles": cycles,
                "live": live.map(u64::count_ones),
                "live_names": live.map_or(String::new(), register_names),
                "text": format!("{}{to}", row.text),
            })
        })
        .collect();
    let texts = shown.texts.iter().map(|(name, lines)| {
        let lines = lines.iter().map(|line| {
            let source = line.source.as_ref();
            json!({
                "text": line.text,
                "line": source.and_then(|(file, line)| line_id(file, *line)),
                "number": source.map(|(_, line)| line),
            })
        });
        json!({ "name": name, "lines": lines.collect::<Vec<_>>() })
    });
    let facts = shown
        .facts
        .iter()
        .map(|(name, value)| json!({ "name": name, "value": value }));
    let value = json!({
        "title": shown.title,
        "facts": facts.collect::<Vec<_>>(),
        "sources": sources.collect::<Vec<_>>(),
        "rows": machine,
        "representation": representation(shown, &costs, line_id, heat),
        "texts": texts.collect::<Vec<_>>(),
    });
    render(
        &environment().map_err(Failure::refused)?,
        "code.html",
        value,
    )
}

/// Of each line that rows come from: their cycles, and the number of the first.
fn by_line<L: Ord>(
    from: impl Iterator<Item = Option<L>>,
    costs: &[f64],
) -> BTreeMap<L, (f64, usize)> {
    let mut lines = BTreeMap::new();
    for (number, (line, cycles)) in from.zip(costs).enumerate() {
        if let Some(line) = line {
            lines.entry(line).or_insert((0.0, number)).0 += cycles;
        }
    }
    lines
}

/// The lines of the representation, with the cycles of what was selected for each and where that begins.
fn representation(
    shown: &Shown<'_>,
    costs: &[f64],
    line_id: impl Fn(&str, u32) -> Option<String>,
    heat: impl Fn(f64) -> f64,
) -> Vec<Value> {
    let selected = by_line(shown.listing.rows().map(|row| row.origin), costs);
    let lines = shown.listing.representation().iter().enumerate();
    let value = |(number, line): (usize, &IrLine)| {
        let found = selected.get(&number);
        let source = line.source.as_ref();
        json!({
            "ir": format!("ir-{number}"),
            "text": line.text,
            "line": source.and_then(|(file, line)| line_id(file, *line)),
            "number": source.map(|(_, line)| line),
            "cycles": found.map(|(cycles, _)| figure(*cycles)),
            "heat": found.map_or(0.0, |(cycles, _)| heat(*cycles)),
            "rows": found.map(|(_, row)| format!("row-{row}")),
        })
    };
    lines.map(value).collect()
}

/// A figure with at most two places behind the point.
fn figure(cycles: f64) -> String {
    format!("{}", (cycles * 100.0).round() / 100.0)
}

/// The names of live registers.
pub(super) fn register_names(live: pressure::Registers) -> String {
    let numbers = (0..64).filter(|number| live >> number & 1 != 0);
    let names: Vec<String> = numbers.map(|number| format!("r{number}")).collect();
    names.join(" ")
}

/// A module's text, with what its lines come from.
pub(crate) fn spirv_lines(text: &str) -> Vec<TextLine> {
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    let mut source: Option<(String, u32)> = None;
    let mut lines = vec![];
    for text in text.lines() {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            [id, "=", "OpString", ..] => {
                let name = text
                    .split_once('"')
                    .map_or("", |(_, rest)| rest.trim_end_matches('"'));
                files.insert(id, name.to_owned());
            }
            ["OpLine", file, line, _] => {
                source = files.get(file).cloned().zip(line.parse().ok());
                continue;
            }
            ["OpNoLine"] | ["OpFunctionEnd"] => source = None,
            _ => {}
        }
        lines.push(TextLine {
            text: text.to_owned(),
            source: source.clone(),
        });
        // A line holds to the end of its block (SPIR-V 2.5, `OpLine`).
        let ends = [
            "OpBranch",
            "OpBranchConditional",
            "OpSwitch",
            "OpReturn",
            "OpReturnValue",
            "OpUnreachable",
            "OpKill",
        ];
        if words.first().is_some_and(|word| ends.contains(word)) {
            source = None;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_spirv_come_from_the_line_before_them_to_the_end_of_their_block() {
        let text = "%1 = OpString \"a.comp\"\n%2 = OpLabel\nOpLine %1 7 1\n%3 = OpIAdd %4 %5 %6\nOpBranch %8\n%8 = OpLabel\n";
        let lines = spirv_lines(text);
        let sources: Vec<Option<u32>> = lines
            .iter()
            .map(|line| line.source.as_ref().map(|it| it.1))
            .collect();
        assert_eq!(sources, [None, None, Some(7), Some(7), None]);
        assert!(lines.iter().all(|line| !line.text.contains("OpLine")));
    }
}
