//! Reports as text.

use super::{Cycles, MAX_UNIFORM_WORDS, PIPELINES, Path, Report};
use std::fmt::Write as _;

/// What the words of a report mean; printed once, after the last.
pub(crate) const NOTES: &str = "\
Cycles are counted in the machine code with the rates of one core: A is FMA, CVT and SFU together, LS load and store, V varyings,
T textures. Bound is the busiest unit. The shortest and the longest path are not measured: they are the ways through the program
with the fewest and the most cycles, whether or not any input takes them. Each instruction counts once, in a loop too; a path with
a loop on it has no longest.
";

/// A report.
pub(crate) fn write(report: &Report) -> String {
    let mut text = String::new();
    let statistics = &report.statistics;
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
        format_args!("Shader type: Compute ({})", report.entry),
    );
    heading(&mut text, "Main shader");
    line(
        &mut text,
        format_args!(
            "Work registers: {} ({}% used of {})",
            statistics.registers,
            100 * statistics.registers / report.registers_given.max(1),
            report.registers_given
        ),
    );
    line(
        &mut text,
        format_args!(
            "Uniform registers: {} ({}% used of {MAX_UNIFORM_WORDS})",
            report.uniform_words,
            100 * report.uniform_words / MAX_UNIFORM_WORDS
        ),
    );
    line(
        &mut text,
        format_args!("Thread occupancy: {}%", report.occupancy_percent()),
    );
    let spills = statistics.spills + statistics.fills;
    match spills {
        0 => line(&mut text, format_args!("Stack spilling: false")),
        _ => line(
            &mut text,
            format_args!(
                "Stack spilling: true ({} stores, {} loads)",
                statistics.spills, statistics.fills
            ),
        ),
    }
    line(
        &mut text,
        format_args!("Thread storage: {} bytes", report.stack_bytes),
    );
    line(
        &mut text,
        format_args!("Shared storage: {} bytes", report.shared_bytes),
    );
    match report.fp16 {
        Some(share) => line(
            &mut text,
            format_args!("16-bit arithmetic: {:.0}%", 100.0 * share),
        ),
        None => line(&mut text, format_args!("16-bit arithmetic: N/A")),
    }
    text.push('\n');
    let mut head = format!("{:28}", "");
    for unit in PIPELINES {
        let _ = write!(head, " {:>7}", unit.short);
    }
    line(&mut text, format_args!("{head}    Bound"));
    row(
        &mut text,
        "Total instruction cycles:",
        Path::Cycles(report.total),
    );
    row(&mut text, "Shortest path cycles:", report.shortest);
    row(&mut text, "Longest path cycles:", report.longest);
    heading(&mut text, "Shader properties");
    let [x, y, z] = report.workgroup;
    line(&mut text, format_args!("Workgroup size: {x} x {y} x {z}"));
    line(
        &mut text,
        format_args!("Instructions: {}", statistics.instructions),
    );
    line(
        &mut text,
        format_args!("Code size: {} bytes", statistics.code_bytes),
    );
    line(&mut text, format_args!("Loops: {}", statistics.loops));
    line(
        &mut text,
        format_args!("Has side-effects: {}", report.side_effects),
    );
    line(&mut text, format_args!("Has barriers: {}", report.barriers));
    text
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

/// One line of statistics, with the columns of Mesa's later compiler for this hardware.
pub(crate) fn statistics_line(report: &Report) -> String {
    let it = &report.statistics;
    format!(
        "{} - compute shader: {} instrs, {} cycles, {} fma, {} cvt, {} sfu, {} alu, {} v, {} t, {} ls, {} code size, {} threads, \
         {} loops, {} spills, {} fills, {} spill cost, {} registers, {} uniforms",
        report.file,
        it.instructions,
        it.cycles,
        it.fma,
        it.cvt,
        it.sfu,
        it.alu,
        report.total.varying,
        report.total.texture,
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
}
