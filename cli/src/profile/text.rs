//! The profile as text: jobs with their bounds, the hottest lines, and figures beside source, IR and machine code.

use super::{CountedLine, Figures, Gpu, Instruction, Job, Load, Profile, Program, SourcePlace};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum View {
    /// Dispatches, draws and passes: time, what bounded them, units.
    Jobs,
    /// The lines that cost most, most first.
    Hot,
    /// Every line of the source.
    Source,
    /// Every line of the compiler's representation.
    Ir,
    /// Every instruction of the machine code.
    Code,
}

/// How many of the hottest lines are shown.
const HOTTEST: usize = 10;

/// A column: its heading, its width, and its text; no text where there is nothing to tell.
struct Column {
    name: &'static str,
    width: usize,
    text: fn(&Figures) -> String,
    /// Whether it is shown, by what was counted of the whole program.
    shown: fn(&Figures) -> bool,
}

const fn always(_: &Figures) -> bool {
    true
}

/// The columns behind the share.
#[rustfmt::skip]
const COLUMNS: &[Column] = &[
    Column { name: "times",  width: 8, text: |it| count(it.times),                  shown: always },
    Column { name: "lanes",  width: 6, text: |it| fixed(it.mean_lanes(), 1),        shown: always },
    Column { name: "div%",   width: 5, text: |it| percent(it.diverged_percent()),   shown: always },
    Column { name: "FMA",    width: 8, text: |it| cycles(it.cycles.fma),            shown: |all| all.cycles.fma > 0.0 },
    Column { name: "CVT",    width: 8, text: |it| cycles(it.cycles.cvt),            shown: |all| all.cycles.cvt > 0.0 },
    Column { name: "SFU",    width: 8, text: |it| cycles(it.cycles.sfu),            shown: |all| all.cycles.sfu > 0.0 },
    Column { name: "LS",     width: 8, text: |it| cycles(it.cycles.load_store),     shown: |all| all.cycles.load_store > 0.0 },
    Column { name: "V",      width: 8, text: |it| cycles(it.cycles.varying),        shown: |all| all.cycles.varying > 0.0 },
    Column { name: "T",      width: 8, text: |it| cycles(it.cycles.texture),        shown: |all| all.cycles.texture > 0.0 },
    Column { name: "read",   width: 8, text: |it| bytes(it.read),                   shown: |all| all.read > 0 },
    Column { name: "write",  width: 8, text: |it| bytes(it.written),                shown: |all| all.written > 0 },
    Column { name: "lines",  width: 7, text: |it| count(it.lines),                  shown: |all| all.lines > 0 },
    Column { name: "waits",  width: 7, text: |it| count(it.waited()),               shown: |all| all.waited() > 0 },
    Column { name: "waited", width: 8, text: |it| cycles(it.waited_cycles()),       shown: |all| all.waited_cycles() > 0.0 },
    Column { name: "regs",   width: 4, text: |it| count(it.registers.into()),       shown: always },
];

/// What the headings mean.
pub(crate) const LEGEND: &str = "\
%      share of the cycles of all instructions, each in the unit that executes it
times  how often a warp executed it; of several instructions the most
lanes  lanes that took part, of 16; div%: instructions that not all live lanes of the warp executed
FMA … T  cycles of a core's units; they work side by side
read, write  bytes of all lanes; lines: lines of the cache (64 bytes) that messages touched
waits  how often a warp waited for a message; waited: for how many cycles, by the rates of the unit that works on it and as if
       the warp were alone (no latency of memory: no source has one)
regs   most registers that hold a value which is read later
";

/// A number, or nothing for 0.
fn count(number: u64) -> String {
    match number {
        0 => String::new(),
        1..10_000_000 => number.to_string(),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

fn fixed(number: f64, digits: usize) -> String {
    match number {
        0.0 => String::new(),
        _ => format!("{number:.digits$}"),
    }
}

fn percent(number: f64) -> String {
    match number {
        0.0 => String::new(),
        ..1.0 => "<1".to_owned(),
        _ => format!("{number:.0}"),
    }
}

/// Cycles: parts of one only where there are few.
fn cycles(number: f64) -> String {
    match number {
        0.0 => String::new(),
        ..100.0 => format!("{}", (number * 100.0).round() / 100.0),
        ..1e7 => format!("{number:.0}"),
        _ => format!("{:.1}M", number / 1e6),
    }
}

/// Bytes, with the unit where they are many.
fn bytes(number: u64) -> String {
    match number {
        0..100_000 => count(number),
        100_000..100_000_000 => format!("{:.0}K", number as f64 / 1024.0),
        _ => format!("{:.0}M", number as f64 / 1_048_576.0),
    }
}

/// The columns of a table.
pub(crate) struct Table {
    columns: Vec<&'static Column>,
    /// What all shares are parts of.
    cost: f64,
}

impl Table {
    /// A table of parts of what was counted.
    pub(crate) fn new(all: &Figures) -> Table {
        Table {
            columns: COLUMNS.iter().filter(|it| (it.shown)(all)).collect(),
            cost: all.cost,
        }
    }

    /// The headings.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let names = self.columns.iter().map(|column| column.name);
        std::iter::once("%").chain(names).collect()
    }

    /// What stands below the headings; nothing of what was not executed.
    pub(crate) fn cells(&self, figures: Option<&Figures>) -> Vec<String> {
        let ran = figures.filter(|it| it.executed != 0);
        let share = ran.map_or(String::new(), |it| self.share(it));
        let cells = self.columns.iter();
        let cells = cells.map(|column| ran.map_or(String::new(), column.text));
        std::iter::once(share).chain(cells).collect()
    }

    fn head(&self, behind: &str) -> String {
        let mut text = format!("{:>5}", "%");
        for Column { name, width, .. } in &self.columns {
            let _ = write!(text, " {name:>width$}");
        }
        format!("{text}  {behind}\n")
    }

    /// A line; of what has no figures only what stands behind them.
    fn line(&self, figures: Option<&Figures>, behind: &str) -> String {
        let mut cells = self.cells(figures).into_iter();
        let share = cells.next().unwrap_or_default();
        let mut text = format!("{share:>5}");
        for (Column { width, .. }, shown) in self.columns.iter().zip(cells) {
            let _ = write!(text, " {shown:>width$}");
        }
        format!("{}\n", format!("{text}  {behind}").trim_end())
    }

    fn share(&self, figures: &Figures) -> String {
        let percent = 100.0 * figures.cost / self.cost.max(f64::MIN_POSITIVE);
        match percent {
            0.0 => "-".to_owned(),
            _ => format!("{percent:.1}"),
        }
    }
}

impl Profile {
    /// The text of some views.
    pub(crate) fn text(&self, views: &[View]) -> String {
        let mut text = format!("{} on {}\n\n", self.title, self.gpu.name);
        let has = |view: View| views.contains(&view);
        if has(View::Jobs) {
            text += &table_of_jobs(self);
        }
        if has(View::Hot) {
            text += &self.hottest();
        }
        if has(View::Source) {
            text += &self.annotated_sources();
        }
        for program in self.programs.iter().filter(|it| it.total.executed != 0) {
            if has(View::Ir) {
                text += &annotated_ir(program);
            }
            if has(View::Code) {
                text += &annotated_code(program);
            }
        }
        if views.iter().any(|view| *view != View::Jobs) {
            text += LEGEND;
        }
        text
    }

    /// What was counted of each line of the sources, of all programs together.
    pub(crate) fn by_source(&self) -> BTreeMap<Option<&SourcePlace>, Figures> {
        let mut lines: BTreeMap<Option<&SourcePlace>, Figures> = BTreeMap::new();
        for program in &self.programs {
            for (place, figures) in program.by_source() {
                lines.entry(place).or_default().add(&figures);
            }
        }
        lines
    }

    /// The lines of sources that cost most, and their texts; where no line is known, the instructions.
    pub(crate) fn hottest_lines(&self) -> Vec<(Option<SourcePlace>, String, Figures)> {
        let by_source = self.by_source();
        let mut lines: Vec<(Option<SourcePlace>, String, Figures)> = vec![];
        if by_source.keys().any(Option::is_some) {
            lines.extend(by_source.into_iter().map(|(place, figures)| {
                let name = place.map_or("(no line)".to_owned(), |place| {
                    let text = self.line(place).unwrap_or_default().trim();
                    format!("{}:{}: {text}", place.0, place.1)
                });
                (place.cloned(), name, figures)
            }));
        } else {
            for program in &self.programs {
                let rows = program.instructions.iter().enumerate();
                lines.extend(rows.map(|(number, row)| {
                    let name = format!("{} {number}: {}", program.label(), row.text);
                    (None, name, row.figures)
                }));
            }
        }
        if self.unknown.executed != 0 {
            lines.push((None, "(code of the driver)".to_owned(), self.unknown));
        }
        lines.retain(|(.., figures)| figures.executed != 0);
        lines.sort_by(|one, other| other.2.cost.total_cmp(&one.2.cost));
        lines.truncate(HOTTEST);
        lines
    }

    fn hottest(&self) -> String {
        let table = Table::new(&self.total());
        let lines = self.hottest_lines();
        let what = match lines.iter().any(|(place, ..)| place.is_some()) {
            true => "lines",
            false => "instructions (the module does not name lines)",
        };
        let mut text = format!("Hottest {what}\n{}", table.head(""));
        for (_, name, figures) in &lines {
            text += &table.line(Some(figures), name);
        }
        text + "\n"
    }

    fn annotated_sources(&self) -> String {
        let table = Table::new(&self.total());
        let by_source = self.by_source();
        let mut text = String::new();
        for source in &self.sources {
            text += &table.head(&source.path);
            for (line, number) in source.text.lines().zip(1u32..) {
                let place = (source.path.clone(), number);
                let figures = by_source.get(&Some(&place));
                text += &table.line(figures, &format!("{number:4} {line}"));
            }
            text += "\n";
        }
        text
    }
}

/// Every line of the IR of a program.
fn annotated_ir(program: &Program) -> String {
    let table = Table::new(&program.total);
    let mut text = table.head(&format!("IR of {}", program.label()));
    for CountedLine {
        text: line,
        source,
        figures,
    } in &program.ir
    {
        let from = source.as_ref();
        let from = from.map_or(String::new(), |(_, line)| format!("  ; line {line}"));
        text += &table.line(figures.as_ref(), &format!("{line}{from}"));
    }
    let added = program.added();
    if added.executed != 0 {
        text += &table.line(Some(&added), "(added by passes over machine code)");
    }
    text + "\n"
}

/// Every instruction of a program, under its source lines.
fn annotated_code(program: &Program) -> String {
    let table = Table::new(&program.total);
    let mut text = table.head(&program.label());
    let mut source = None;
    let targets: Vec<u32> = program.instructions.iter().filter_map(|it| it.to).collect();
    let mut next = 0;
    for (number, instruction) in program.instructions.iter().enumerate() {
        for block in next..=instruction.block {
            if targets.contains(&block) {
                text += &table.line(None, &format!("b{block}:"));
            }
        }
        next = instruction.block + 1;
        if instruction.source.is_some() && instruction.source != source {
            source.clone_from(&instruction.source);
            let (file, line) = source.as_ref().map_or(("", 0), |it| (it.0.as_str(), it.1));
            text += &table.line(None, &format!("    ; {file}:{line}"));
        }
        text += &table.line(Some(&instruction.figures), &shown(number, instruction));
    }
    text + "\n"
}

/// An instruction with where it goes and which slots it waited for.
fn shown(number: usize, instruction: &Instruction) -> String {
    let to = instruction.to;
    let to = to.map_or(String::new(), |to| format!("  ; to b{to}"));
    let waits = slots(&instruction.figures);
    format!("{number:5}  {}{to}{waits}", instruction.text)
}

/// The slots that were waited for, with how often.
fn slots(figures: &Figures) -> String {
    let waits = figures.waits.iter().enumerate();
    let waits = waits.filter(|(_, times)| **times != 0);
    let waited = |slot: usize| match figures.wait_cycles[slot] {
        0.0 => String::new(),
        waited => format!(" {} cycles", cycles(waited)),
    };
    let waits: Vec<String> = waits
        .map(|(slot, times)| format!("slot {slot} {times}x{}", waited(slot)))
        .collect();
    match waits.is_empty() {
        true => String::new(),
        false => format!("  ; waits: {}", waits.join(", ")),
    }
}

/// Jobs with their bounds and the units of their busiest core.
fn table_of_jobs(profile: &Profile) -> String {
    let gpu = &profile.gpu;
    let mut text = String::new();
    for job in &profile.jobs {
        let title = profile.title_of(job);
        let title = if title.is_empty() {
            title
        } else {
            format!(", {title}")
        };
        let time = job.elapsed_cycles(gpu).zip(job.nanoseconds);
        let time = time.map_or("did not end".to_owned(), |(cycles, time)| {
            format!("{cycles} cycles, {:.3} us", time as f64 / 1000.0)
        });
        let cores = job.load.used_cores();
        let _ = writeln!(
            text,
            "{}{title}\n  {time}; {cores} of {} cores used",
            job.name, gpu.cores
        );
        text += &bound_line(&job.load, gpu, job.nanoseconds, Whole::Job);
        text += &units_line(&job.load, gpu);
        text += &stage_lines(profile, &job.stages, "  ");
        for draw in &job.draws {
            let name = draw
                .name
                .as_deref()
                .unwrap_or("(no draw: begin and end of tiles)");
            let _ = writeln!(text, "  {name}");
            for line in [
                bound_line(&draw.load, gpu, job.nanoseconds, Whole::Pass),
                units_line(&draw.load, gpu),
            ] {
                if !line.is_empty() {
                    let _ = write!(text, "  {line}");
                }
            }
            text += &stage_lines(profile, &draw.stages, "    ");
        }
        text += "\n";
    }
    text
}

/// What time a share is of.
#[derive(Clone, Copy)]
enum Whole {
    /// The job's own.
    Job,
    /// That of the pass which a draw is a part of.
    Pass,
}

/// What held it up most.
fn bound_line(load: &Load, gpu: &Gpu, nanoseconds: Option<u64>, whole: Whole) -> String {
    let Some(bound) = load.bound(gpu, nanoseconds) else {
        return String::new();
    };
    let name = match bound.unit {
        "latency" => "latency (too few warps side by side)",
        other => other,
    };
    let shares = bound.percent.zip(bound.percent_of_gpu);
    let shares = shares.map_or(String::new(), |(percent, of_gpu)| match whole {
        Whole::Job => {
            format!(", {percent:.0} % of its peak; {of_gpu:.0} % of that of the whole GPU")
        }
        Whole::Pass => format!(", {percent:.0} % of the time of the pass"),
    });
    format!("  bound by {name}: {} cycles{shares}\n", bound.cycles)
}

/// Cycles of all units that did something, on the busiest core.
fn units_line(load: &Load, gpu: &Gpu) -> String {
    let units = load.units().into_iter();
    let mut parts: Vec<String> = units
        .filter(|(_, busy, _)| *busy != 0)
        .map(|(unit, busy, _)| format!("{busy} {unit}"))
        .collect();
    if load.external_bytes != 0 {
        let (cycles, moved) = (load.memory_cycles(gpu), bytes(load.external_bytes));
        parts.push(format!("{cycles} memory ({moved} bytes)"));
    }
    match parts.is_empty() {
        true => String::new(),
        false => format!("  cycles of the busiest core: {}\n", parts.join(", ")),
    }
}

/// A line for each program that ran.
fn stage_lines(profile: &Profile, stages: &[super::Stage], indent: &str) -> String {
    let mut text = String::new();
    for stage in stages {
        let program = stage.program.and_then(|it| profile.programs.get(it));
        let name = program.map_or("code of the driver".to_owned(), Program::label);
        let total = &stage.total;
        let _ = writeln!(
            text,
            "{indent}{name}: {} instructions, {:.1} lanes, {:.0} % diverged, {} bytes in {} lines, {} waits",
            total.executed,
            total.mean_lanes(),
            total.diverged_percent(),
            total.bytes(),
            total.lines,
            total.waited()
        );
    }
    text
}

impl Job {
    /// What stands before its figures in a list.
    pub(crate) fn heading(&self, profile: &Profile) -> String {
        match profile.title_of(self) {
            title if title.is_empty() => self.name.clone(),
            title => format!("{}, {title}", self.name),
        }
    }
}
