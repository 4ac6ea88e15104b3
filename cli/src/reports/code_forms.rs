//! Machine code in the forms of other tools: the JSON of Compiler Explorer, and a graph of control flow for GraphViz.

use eitri_shaderc::Listing;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What Compiler Explorer gets from a compiler that prints its own assembly: a line each, with the line of the source.
///
/// `null` for a file is the one in its editor: the path that was given on the command line.
pub(crate) fn compiler_explorer(listing: &Listing, main: &str) -> Value {
    let rows: Vec<_> = listing.rows().collect();
    let targets: BTreeSet<u32> = rows.iter().filter_map(|row| row.to).collect();
    let mut asm = Vec::new();
    let mut begun = 0;
    for row in &rows {
        for block in (begun..=row.block).filter(|block| targets.contains(block)) {
            asm.push(json!({ "text": format!("b{block}:"), "source": null }));
        }
        begun = row.block + 1;
        let to = row.to.map_or(String::new(), |to| format!("  ; to b{to}"));
        let source = row.source.map(|(file, line)| match file == main {
            true => json!({ "file": null, "line": line, "mainsource": true }),
            false => json!({ "file": file, "line": line }),
        });
        let bytes = row.word.to_le_bytes().map(|byte| format!("{byte:02x}"));
        asm.push(json!({
            "text": format!("  {}{to}", row.text),
            "source": source,
            "opcodes": bytes.as_slice(),
        }));
    }
    json!({ "asm": asm, "labelDefinitions": {} })
}

/// The blocks of the code, and which follows which, in GraphViz's language.
pub(crate) fn graph(listing: &Listing, name: &str) -> String {
    let mut blocks: BTreeMap<u32, String> = BTreeMap::new();
    let mut last = BTreeMap::new();
    let mut edges = BTreeSet::new();
    for row in listing.rows() {
        let text = blocks.entry(row.block).or_default();
        text.push_str(&escaped(&row.text));
        text.push_str("\\l");
        if let Some(to) = row.to {
            edges.insert((row.block, to));
        }
        last.insert(row.block, row.text);
    }
    let numbers: Vec<u32> = blocks.keys().copied().collect();
    // A branch to a block without instructions goes on to the next that has some.
    let lands = |to: u32| numbers.iter().copied().find(|number| *number >= to);
    let mut text = format!(
        "digraph \"{}\" {{\n    node [shape=box, fontname=monospace];\n",
        escaped(name)
    );
    for (number, body) in &blocks {
        text += &format!("    b{number} [label=\"b{number}:\\l{body}\"];\n");
    }
    let end = "    end [label=\"end\", shape=oval];\n";
    let mut ends = String::new();
    for (from, to) in edges {
        match lands(to) {
            Some(to) => text += &format!("    b{from} -> b{to} [label=\"branch\"];\n"),
            None => ends += &format!("    b{from} -> end [label=\"branch\"];\n"),
        }
    }
    for (number, last) in &last {
        let next = lands(number + 1).filter(|_| !is_end(last));
        match next {
            _ if is_jump(last) => {}
            Some(next) => text += &format!("    b{number} -> b{next};\n"),
            None => ends += &format!("    b{number} -> end;\n"),
        }
    }
    if !ends.is_empty() {
        text += end;
        text += &ends;
    }
    text + "}\n"
}

/// Whether an instruction always goes elsewhere: Valhall's branch on a constant zero, and Adreno's jump.
pub(super) fn is_jump(text: &str) -> bool {
    (text.starts_with("BRANCHZ.eq") && text.contains(" 0x0,")) || text.starts_with("jump")
}

/// Whether the thread ends with an instruction.
pub(super) fn is_end(text: &str) -> bool {
    let name = text.split_whitespace().next().unwrap_or_default();
    name.contains(".return") || name == "end"
}

/// Text inside of quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_shaderc::build::shader_text::{Language, to_spirv};
    use eitri_shaderc::{Options, compile};

    const LOOP: &str = "@group(0) @binding(0) var<storage, read_write> d: array<u32>;\n\
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n\
        var n = d[id.x]; var s = 0u;\n\
        loop { if n == 1u { break; } n = select(3u * n + 1u, n / 2u, n % 2u == 0u); s += 1u; }\n\
        d[id.x] = s; }\n";

    fn listing() -> Listing {
        let spirv = to_spirv(Language::Wgsl, "loop.wgsl", LOOP).unwrap();
        compile(&spirv, &Options::default()).unwrap().listing
    }

    #[test]
    fn a_loop_is_a_circle_in_the_graph() {
        let text = graph(&listing(), "loop.wgsl");
        let edges: Vec<(u32, u32)> = text
            .lines()
            .filter_map(|line| {
                let (from, rest) = line.trim().strip_prefix('b')?.split_once(" -> b")?;
                let to = rest.trim_end_matches(';').split(' ').next()?;
                Some((from.parse().ok()?, to.parse().ok()?))
            })
            .collect();
        assert!(
            edges.iter().any(|(from, to)| to <= from),
            "no way back: {text}"
        );
        assert!(text.contains("-> end"), "no end: {text}");
        let nodes = text.matches("[label=\"b").count();
        for (from, to) in edges {
            assert!(
                text.contains(&format!("    b{from} [label")),
                "{from} of {nodes}"
            );
            assert!(
                text.contains(&format!("    b{to} [label")),
                "{to} of {nodes}"
            );
        }
    }

    #[test]
    fn every_instruction_is_a_line_of_compiler_explorers() {
        let listing = listing();
        let value = compiler_explorer(&listing, "loop.wgsl");
        let lines = value["asm"].as_array().unwrap();
        let instructions = lines
            .iter()
            .filter(|line| line["opcodes"].is_array())
            .count();
        assert_eq!(instructions, listing.rows().count());
        let labels = lines
            .iter()
            .filter(|line| line["text"].as_str().unwrap().ends_with(':'));
        assert!(labels.count() > 0);
    }

    #[test]
    fn jumps_and_ends_are_known() {
        assert!(is_jump("BRANCHZ.eq.reconverge 0x0, offset:3"));
        assert!(!is_jump("BRANCHZ.eq.reconverge ^r0, offset:3"));
        assert!(is_end("end"));
        assert!(is_end("NOP.return"));
        assert!(!is_end("STORE.i32.slot0 @r1, r2, offset:0"));
    }
}
