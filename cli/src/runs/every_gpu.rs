//! One job on every GPU that the model can be: a table of what it takes there.

use crate::input::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use crate::reports::spent::longest;
use crate::runs::dispatch::{Ran, finished};
use eitri_model::UnitTimes;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Version of the JSON's shape.
const SCHEMA: u32 = 1;

/// What a job took of one GPU.
pub(crate) struct Row {
    gpu: String,
    arch: String,
    cores: usize,
    cycles: u64,
    bound: &'static str,
}

impl Row {
    /// The row of a job that ran.
    fn of(gpu: GpuChoice, times: &[UnitTimes]) -> Row {
        let (cores, (bound, cycles)) = match longest(times) {
            Some((core, count)) => (count, core.bound()),
            None => (0, ("nothing", 0)),
        };
        Row {
            gpu: gpu.to_string(),
            arch: gpu.arch().to_string(),
            cores,
            cycles,
            bound,
        }
    }
}

/// Runs a job on each GPU by `execute`.
///
/// # Errors
/// Those of the first GPU on which it fails.
pub(crate) fn run(
    execute: impl Fn(GpuChoice) -> Result<crate::runs::dispatch::Done, Failure>,
) -> Result<Vec<Row>, Failure> {
    let row = |gpu| {
        let Ran { cores, .. } = finished(execute(gpu)?)?;
        Ok(Row::of(gpu, &cores))
    };
    GpuChoice::all().map(row).collect()
}

/// The rows as JSON (`eitri schema every-gpu`).
pub(crate) fn json(rows: &[Row]) -> Value {
    let rows = rows.iter().map(|row| {
        json!({ "gpu": row.gpu, "arch": row.arch, "cores": row.cores, "cycles": row.cycles, "bound_by": row.bound })
    });
    json!({ "schema": SCHEMA, "gpus": rows.collect::<Vec<_>>() })
}

/// The rows as a table, with each time against the first.
pub(crate) fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.gpu.len()).max().unwrap_or(0);
    let first = rows.first().map_or(0, |row| row.cycles);
    let mut text = format!(
        "{:width$}  {:>4} {:>5} {:>12} {:>7}  bound by\n",
        "GPU", "arch", "cores", "cycles", "ratio"
    );
    for row in rows {
        let ratio = match first {
            0 => "-".to_owned(),
            first => format!("{:.3}", row.cycles as f64 / first as f64),
        };
        // Writing to a string can't fail.
        let _ = writeln!(
            text,
            "{:width$}  {:>4} {:>5} {:>12} {ratio:>7}  {}",
            row.gpu, row.arch, row.cores, row.cycles, row.bound
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_tells_the_core_that_took_longest() {
        let times = [0, 40, 30].map(|arithmetic| UnitTimes {
            arithmetic,
            ..UnitTimes::default()
        });
        let rows = [
            Row::of(GpuChoice::default(), &times),
            Row::of(GpuChoice::default(), &times[2..]),
        ];
        let text = table(&rows);
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(
            lines[1],
            ["Mali-G610", "v10", "2", "40", "1.000", "arithmetic"]
        );
        assert_eq!(
            lines[2],
            ["Mali-G610", "v10", "1", "30", "0.750", "arithmetic"]
        );
    }
}
