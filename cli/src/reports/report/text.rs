//! Reports as text.

use super::{Cycles, MAX_UNIFORM_WORDS, PIPELINES, Path, Report, StageFigures, Variant};
use eitri_shaderc::valhall::Statistics;
use std::fmt::Write as _;

/// What the words of a report mean; printed once, after the last.
pub(crate) const NOTES: &str = "\
Cycles are those that a warp of 16 threads takes of each unit of one core, counted in the machine code: A is FMA, CVT and SFU
together, LS load and store (a message that touches one line), V varyings, T textures. Bound is the busiest unit. The shortest and the longest path are not measured: they are the ways through the program
with the fewest and the most cycles, whether or not any input takes them. Each instruction counts once, in a loop too; a path with
a loop on it has no longest.
";

/// A report.
pub(crate) fn write(report: &Report) -> String {
    let mut text = String::new();
    line(&mut text, format_args!("{}", report.file));
    heading(&mut text, "Configuration");
    line(&mut text, format_args!("Hardware: Mali-G610"));
    line(&mut text, format_args!("Architecture: Valhall (v10)"));
    line(
        &mut text,
        format_args!("Driver: eitri {}", env!("CARGO_PKG_VERSION")),
    );
    line(
        &mut text,
        format_args!("Shader type: {} ({})", report.stage.name(), report.entry),
    );
    for variant in &report.variants {
        write_variant(&mut text, report, variant);
    }
    heading(&mut text, "Shader properties");
    match report.stage {
        StageFigures::Compute {
            workgroup: [x, y, z],
            ..
        } => line(&mut text, format_args!("Workgroup size: {x} x {y} x {z}")),
        StageFigures::Vertex { varying_bytes } => {
            line(&mut text, format_args!("Varyings: {varying_bytes} bytes"));
        }
        StageFigures::Fragment {
            varying_bytes,
            by_sample,
            helpers,
        } => {
            line(&mut text, format_args!("Varyings: {varying_bytes} bytes"));
            line(&mut text, format_args!("Runs for each sample: {by_sample}"));
            line(&mut text, format_args!("Needs helper lanes: {helpers}"));
        }
    }
    let any = |is: fn(&Variant) -> bool| report.variants.iter().any(is);
    if let [only] = report.variants.as_slice() {
        code_lines(&mut text, &only.statistics);
    }
    let side_effects = any(|variant| variant.side_effects);
    line(&mut text, format_args!("Has side-effects: {side_effects}"));
    if let StageFigures::Compute { .. } = report.stage {
        let barriers = any(|variant| variant.barriers);
        line(&mut text, format_args!("Has barriers: {barriers}"));
    }
    text
}

/// What only the code of one program says.
fn code_lines(text: &mut String, statistics: &Statistics) {
    line(
        text,
        format_args!("Instructions: {}", statistics.instructions),
    );
    line(
        text,
        format_args!("Code size: {} bytes", statistics.code_bytes),
    );
    line(text, format_args!("Loops: {}", statistics.loops));
}

/// One of the programs of a shader.
fn write_variant(text: &mut String, report: &Report, variant: &Variant) {
    let statistics = &variant.statistics;
    match report.stage {
        StageFigures::Vertex { .. } => heading(text, &format!("Variant: {}", variant.name)),
        _ => heading(text, "Main shader"),
    }
    line(
        text,
        format_args!(
            "Work registers: {} ({}% used of {})",
            statistics.registers,
            100 * statistics.registers / variant.registers_given.max(1),
            variant.registers_given
        ),
    );
    line(
        text,
        format_args!(
            "Uniform registers: {} ({}% used of {MAX_UNIFORM_WORDS})",
            variant.uniform_words,
            100 * variant.uniform_words / MAX_UNIFORM_WORDS
        ),
    );
    line(
        text,
        format_args!("Thread occupancy: {}%", variant.occupancy_percent()),
    );
    let spills = statistics.spills + statistics.fills;
    match spills {
        0 => line(text, format_args!("Stack spilling: false")),
        _ => line(
            text,
            format_args!(
                "Stack spilling: true ({} stores, {} loads)",
                statistics.spills, statistics.fills
            ),
        ),
    }
    line(
        text,
        format_args!("Thread storage: {} bytes", variant.stack_bytes),
    );
    if let StageFigures::Compute { shared_bytes, .. } = report.stage {
        line(text, format_args!("Shared storage: {shared_bytes} bytes"));
    }
    match variant.fp16 {
        Some(share) => line(
            text,
            format_args!("16-bit arithmetic: {:.0}%", 100.0 * share),
        ),
        None => line(text, format_args!("16-bit arithmetic: N/A")),
    }
    if report.variants.len() > 1 {
        code_lines(text, statistics);
    }
    text.push('\n');
    let mut head = format!("{:28}", "");
    for unit in PIPELINES {
        let _ = write!(head, " {:>7}", unit.short);
    }
    line(text, format_args!("{head}    Bound"));
    row(
        text,
        "Total instruction cycles:",
        Path::Cycles(variant.total),
    );
    row(text, "Shortest path cycles:", variant.shortest);
    row(text, "Longest path cycles:", variant.longest);
}

fn heading(text: &mut String, title: &str) {
    line(
        text,
        format_args!("\n{title}\n{}\n", "=".repeat(title.len())),
    );
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string can't fail.
    let _ = writeln!(text, "{line}");
}

fn row(text: &mut String, title: &str, path: Path) {
    let cycles = match path {
        Path::Cycles(cycles) => cycles,
        Path::Unbounded => return line(text, format_args!("{title:28}     N/A: unbounded loop")),
        Path::Unknown => return line(text, format_args!("{title:28}     N/A: no end in sight")),
    };
    let mut cells = format!("{title:28}");
    for unit in PIPELINES {
        let _ = write!(cells, " {:7.2}", (unit.cycles)(&cycles));
    }
    line(text, format_args!("{cells}    {}", bound(&cycles)));
}

fn bound(cycles: &Cycles) -> String {
    let names: Vec<&str> = cycles.bound().iter().map(|unit| unit.short).collect();
    match names.as_slice() {
        [] => "N/A".to_owned(),
        names => names.join(", "),
    }
}

/// A line of statistics for each program, with the columns of Mesa's later compiler for this hardware.
pub(crate) fn statistics_lines(report: &Report) -> String {
    let lines = report.variants.iter().map(|variant| {
        let it = &variant.statistics;
        format!(
            "{} - {} shader: {} instrs, {} cycles, {} fma, {} cvt, {} sfu, {} alu, {} v, {} t, {} ls, {} code size, \
             {} threads, {} loops, {} spills, {} fills, {} spill cost, {} registers, {} uniforms",
            report.file,
            report.stage_of(variant),
            it.instructions,
            it.cycles,
            it.fma,
            it.cvt,
            it.sfu,
            it.alu,
            it.varying,
            it.texture,
            it.load_store,
            it.code_bytes,
            it.threads,
            it.loops,
            it.spills,
            it.fills,
            it.spill_cost,
            it.registers,
            it.uniforms,
        )
    });
    lines.collect::<Vec<String>>().join("\n")
}
