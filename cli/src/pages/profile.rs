//! A profile as a page: jobs with their bounds, the hottest lines, then source, representation and machine code with all figures,
//! linked line by line.

use super::code::register_names;
use super::{environment, render};
use crate::outcome::Failure;
use crate::profile::{
    CountedLine, Figures, Gpu, Instruction, Job, LEGEND, Load, Profile, Program, SourcePlace, Table,
};
use serde_json::{Value, json};

/// Pixels of the longest bar.
const BAR: f64 = 60.0;

/// The page.
pub(crate) fn profile(profile: &Profile) -> Result<String, Failure> {
    let total = profile.total();
    let table = Table::new(&total);
    let page = Page { profile };
    let programs = profile.programs.iter().enumerate();
    let programs = programs.filter(|(_, program)| program.total.executed != 0);
    let gpu = &profile.gpu;
    let value = json!({
        "title": format!("{}: profile", profile.title),
        "gpu": format!(
            "{}: {} cores of {} MHz, memory of {} GB/s",
            gpu.name, gpu.cores, gpu.clock_hz / 1_000_000, gpu.memory_bandwidth / 1_000_000_000
        ),
        "legend": LEGEND,
        "jobs": profile.jobs.iter().flat_map(|job| page.job(job)).collect::<Vec<_>>(),
        "columns": table.names(),
        "hottest": page.hottest(&table),
        "sources": page.sources(&table),
        "programs": programs.map(|(number, it)| page.program(number, it)).collect::<Vec<_>>(),
    });
    render(
        &environment().map_err(Failure::refused)?,
        "profile.html",
        value,
    )
}

struct Page<'p> {
    profile: &'p Profile,
}

impl Page<'_> {
    /// The anchor of a line of a source.
    fn line_id(&self, (file, line): &SourcePlace) -> Option<String> {
        let mut sources = self.profile.sources.iter();
        let number = sources.position(|source| source.path == *file)?;
        Some(format!("line-{number}-{line}"))
    }

    /// The row of a job, and of a pass one for each draw.
    fn job(&self, job: &Job) -> Vec<Value> {
        let gpu = &self.profile.gpu;
        let cycles = job.elapsed_cycles(gpu);
        let cycles = cycles.map_or("did not end".to_owned(), |cycles| cycles.to_string());
        let own = row(
            &job.heading(self.profile),
            (&job.load, gpu, job.nanoseconds),
            (cycles, false),
        );
        let draws = job.draws.iter().map(|draw| {
            let name = draw.name.as_deref().unwrap_or("begin and end of tiles");
            let load = (&draw.load, gpu, job.nanoseconds);
            row(name, load, (String::new(), true))
        });
        std::iter::once(own).chain(draws).collect()
    }

    fn hottest(&self, table: &Table) -> Vec<Value> {
        let hottest = self.profile.hottest_lines().into_iter();
        let line = |(place, text, figures): (Option<SourcePlace>, String, Figures)| {
            json!({
                "line": place.as_ref().and_then(|place| self.line_id(place)),
                "text": text,
                "cells": table.cells(Some(&figures)),
            })
        };
        hottest.map(line).collect()
    }

    fn sources(&self, table: &Table) -> Vec<Value> {
        let by_source = self.profile.by_source();
        let heat = Heat::of(by_source.values());
        let sources = self.profile.sources.iter().enumerate();
        let value = |(file, source): (usize, &crate::profile::Source)| {
            let lines = source.text.lines().zip(1u32..).map(|(text, number)| {
                let place = (source.path.clone(), number);
                let figures = by_source.get(&Some(&place));
                json!({
                    "id": format!("line-{file}-{number}"),
                    "number": number,
                    "text": text,
                    "cells": table.cells(figures),
                    "heat": heat.bar(figures),
                    "rows": self.first_row(&place),
                })
            });
            json!({ "path": source.path, "lines": lines.collect::<Vec<_>>() })
        };
        sources.map(value).collect()
    }

    /// The anchor of the first instruction of a line, in a program that ran.
    fn first_row(&self, place: &SourcePlace) -> Option<String> {
        let programs = self.profile.programs.iter().enumerate();
        let mut ran = programs.filter(|(_, program)| program.total.executed != 0);
        ran.find_map(|(program, own)| {
            let mut instructions = own.instructions.iter();
            let row = instructions.position(|it| it.source.as_ref() == Some(place))?;
            Some(format!("row-{program}-{row}"))
        })
    }

    fn program(&self, number: usize, program: &Program) -> Value {
        let table = Table::new(&program.total);
        let rows = Heat::of(program.instructions.iter().map(|it| &it.figures));
        let ir = Heat::of(program.ir.iter().filter_map(|it| it.figures.as_ref()));
        let source = |place: Option<&SourcePlace>| {
            let line = place.and_then(|place| self.line_id(place));
            (line, place.map(|(_, number)| *number))
        };
        let ir_line = |(place, line): (usize, &CountedLine)| {
            let (id, source) = source(line.source.as_ref());
            json!({
                "ir": format!("ir-{number}-{place}"),
                "line": id,
                "number": source,
                "text": line.text,
                "cells": table.cells(line.figures.as_ref()),
                "heat": ir.bar(line.figures.as_ref()),
            })
        };
        let row = |(place, own): (usize, &Instruction)| {
            let (id, source) = source(own.source.as_ref());
            let to = own.to.map_or(String::new(), |to| format!("  ; to b{to}"));
            let live = own.live.unwrap_or_default();
            json!({
                "id": format!("row-{number}-{place}"),
                "ir": own.ir.map(|line| format!("ir-{number}-{line}")),
                "line": id,
                "number": source,
                "text": format!("{}{to}", own.text),
                "cells": table.cells(Some(&own.figures)),
                "heat": rows.bar(Some(&own.figures)),
                "live": live.count_ones(),
                "live_names": register_names(live),
            })
        };
        json!({
            "name": program.label(),
            "columns": table.names(),
            "ir": program.ir.iter().enumerate().map(ir_line).collect::<Vec<_>>(),
            "rows": program.instructions.iter().enumerate().map(row).collect::<Vec<_>>(),
        })
    }
}

/// A row of the table of jobs.
fn row(
    name: &str,
    (load, gpu, nanoseconds): (&Load, &Gpu, Option<u64>),
    (cycles, of_pass): (String, bool),
) -> Value {
    let bound = load.bound(gpu, nanoseconds);
    let percent = bound.as_ref().and_then(|bound| bound.percent);
    let units = load
        .units()
        .into_iter()
        .filter(|(_, busy, _)| *busy != 0)
        .map(|(unit, busy, _)| format!("{busy} {unit}"));
    let memory = load.memory_cycles(gpu);
    let memory = (memory != 0).then(|| format!("{memory} memory"));
    json!({
        "name": name,
        "cycles": cycles,
        "cores": load.used_cores(),
        "unit": bound.map_or("", |bound| bound.unit),
        "percent": percent.map(|percent| percent.round() as u64),
        "units": units.chain(memory).collect::<Vec<_>>().join(", "),
        "of_pass": of_pass,
    })
}

/// How long bars are.
struct Heat {
    most: f64,
}

impl Heat {
    fn of<'f>(all: impl Iterator<Item = &'f Figures>) -> Heat {
        Heat {
            most: all.map(|figures| figures.cost).fold(0.0, f64::max),
        }
    }

    fn bar(&self, figures: Option<&Figures>) -> f64 {
        let cost = figures.map_or(0.0, |figures| figures.cost);
        (BAR * cost / self.most.max(f64::MIN_POSITIVE)).round()
    }
}
