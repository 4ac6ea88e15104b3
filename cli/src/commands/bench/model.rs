//! `eitri bench model`: how fast the model executes compute kernels, on one thread.
//!
//! A kernel's time is that of a dispatch of it in the model, without that of an empty one: bring-up, compilation and the driver's work
//! are not in it. Dispatches are repeated with the same inputs for 5 ms and more ([`crate::runs::batches`]). Each kernel is measured twice by the
//! same program in turn; the ratio of both is what the machine's noise is. Behind the kernels is what the model takes for nothing (`fixed_costs`).

use super::empty_case::{EMPTY, empty_case};
use super::fixed_costs::FixedCosts;
use crate::commands::kernel::read_cases;
use crate::input::check_arguments::Wanted;
use crate::input::engine_choice::{self, EngineArgument};
use crate::input::gpu_choice::GpuChoice;
use crate::input::thread_choice::ThreadsArgument;
use crate::outcome::{Failure, Status};
use crate::output::streams::{outln, talk};
use crate::runs::case_run::{self, Setting, Timed, Verdict};
use crate::runs::dispatch::Place;
use crate::runs::lavapipe;
use crate::workspace::Workspace;
use eitri_compute_cases::{Case, Module};
use eitri_shaderc::Robust;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Longest that one job may take.
const LIMIT: Duration = Duration::from_secs(300);
/// Version of the JSON's shape.
const SCHEMA: u32 = 1;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Case files, or folders of them; shared/kernels beside the clone if none is given.
    #[arg(value_name = "FILE.json|DIR")]
    cases: Vec<PathBuf>,
    /// Take the optimised module of each kernel.
    #[arg(long)]
    opt: bool,
    /// Only kernels whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Batches of dispatches, of 5 ms and more, in each of the two measurements of a kernel; the one with the shortest mean counts.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Run the kernels by lavapipe, too, on one thread; it must be installed. Status 1 if the model takes longer in the mean.
    #[arg(long)]
    against_vulkan: bool,
    #[command(flatten)]
    engine: EngineArgument,
    #[command(flatten)]
    threads: ThreadsArgument,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A measured kernel.
struct Row {
    name: String,
    timed: Timed,
    /// The time of an empty dispatch.
    empty: Duration,
    /// Seconds that lavapipe takes.
    vulkan: Option<f64>,
}

impl Row {
    /// Seconds of a dispatch by each measurement, without what an empty one takes.
    fn measured(&self) -> [f64; 2] {
        let of_kernel = |time: Duration| time.saturating_sub(self.empty);
        self.timed
            .shortest
            .map(|time| of_kernel(time).as_secs_f64().max(1e-9))
    }

    /// Seconds of a dispatch: the shorter one.
    fn seconds(&self) -> f64 {
        let [first, second] = self.measured();
        first.min(second)
    }

    /// The first measurement's time over the second's.
    fn noise(&self) -> f64 {
        let [first, second] = self.measured();
        first / second
    }

    fn lanes_a_second(&self) -> f64 {
        self.timed.executed.lane_instructions as f64 / self.seconds()
    }

    fn against_vulkan(&self) -> Option<f64> {
        Some(self.seconds() / self.vulkan?.max(1e-9))
    }

    fn json(&self) -> serde_json::Value {
        let executed = &self.timed.executed;
        json!({
            "name": self.name,
            "seconds": self.seconds(),
            "lane_instructions": executed.lane_instructions,
            "warp_instructions": executed.instructions,
            "lane_instructions_per_second": self.lanes_a_second(),
            "noise": self.noise(),
            "vulkan_seconds": self.vulkan,
        })
    }

    fn print(&self) -> Result<(), Failure> {
        let executed = &self.timed.executed;
        let seconds = self.seconds();
        let against = match (self.vulkan, self.against_vulkan()) {
            (Some(vulkan), Some(times)) => {
                format!(" {:>9.3} ms by lavapipe {times:>7.2}x", vulkan * 1e3)
            }
            _ => String::new(),
        };
        outln!(
            "{:<20} {:>8.1} M lanes/s {:>7.2} M warps/s {:>9.3} ms {:>9.0} ns a warp instruction  noise {:.3}{against}",
            self.name,
            self.lanes_a_second() / 1e6,
            executed.instructions as f64 / seconds / 1e6,
            seconds * 1e3,
            seconds * 1e9 / executed.instructions.max(1) as f64,
            self.noise(),
        )
    }
}

/// The geometric mean; `None` of nothing.
fn geometric_mean(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = figures.fold((0.0, 0u32), |(sum, count), figure| {
        (sum + figure.ln(), count + 1)
    });
    (count != 0).then(|| (sum / f64::from(count)).exp())
}

/// What all kernels came to.
struct Total {
    lanes_a_second: f64,
    /// Lane instructions of all kernels over their time.
    overall: f64,
    /// How far the two measurements of a kernel are apart, in geometric mean: at least 1.
    noise: f64,
    /// The model's time over lavapipe's.
    against_vulkan: Option<f64>,
}

impl Total {
    fn of(rows: &[Row]) -> Option<Total> {
        let lanes = rows.iter().map(|row| row.timed.executed.lane_instructions);
        let seconds: f64 = rows.iter().map(Row::seconds).sum();
        Some(Total {
            lanes_a_second: geometric_mean(rows.iter().map(Row::lanes_a_second))?,
            overall: lanes.sum::<u64>() as f64 / seconds,
            noise: geometric_mean(rows.iter().map(|row| row.noise().max(1.0 / row.noise())))?,
            against_vulkan: geometric_mean(rows.iter().filter_map(Row::against_vulkan)),
        })
    }

    fn print(&self, kernels: usize, engine: &str) -> Result<(), Failure> {
        outln!(
            "{kernels} kernels by {engine}: {:.1} M lanes/s in geometric mean, {:.1} M overall; noise {:.3}",
            self.lanes_a_second / 1e6,
            self.overall / 1e6,
            self.noise
        )?;
        match self.against_vulkan {
            Some(times) => {
                outln!("lavapipe: the model takes {times:.2} times as long in geometric mean")
            }
            None => Ok(()),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    args.engine.choose()?;
    args.threads.choose();
    let engine = engine_choice::chosen().name();
    let paths = match args.cases.as_slice() {
        [] => vec![Workspace::find()?.root().join("../shared/kernels")],
        paths => paths.to_vec(),
    };
    let cases = read_cases(&paths, args.filter.as_deref())?;
    let setting = Setting {
        keep: None,
        module: match args.opt {
            true => Module::Optimised,
            false => Module::Plain,
        },
        place: Place::Host,
        gpu: GpuChoice::default(),
        timelines: None,
        robust: Robust::Off,
        counts: true,
        limit: LIMIT,
        check: &Wanted::Nothing,
        check_code: &Wanted::Nothing,
    };
    let by_vulkan = match args.against_vulkan {
        true => by_lavapipe(&cases, args.opt)?,
        false => BTreeMap::new(),
    };
    let fixed = FixedCosts::measure()?;
    let (mut rows, mut failed) = (Vec::new(), false);
    for case in &cases {
        let name = case.name.clone();
        match case_run::time(case, setting, args.runs) {
            Ok(timed) => {
                let vulkan = by_vulkan.get(&name).copied();
                if args.against_vulkan && vulkan.is_none() {
                    talk!("{name} is not compared: lavapipe does not run it as expected");
                }
                let row = Row {
                    name,
                    timed,
                    empty: fixed.job,
                    vulkan,
                };
                if !args.json {
                    row.print()?;
                }
                rows.push(row);
            }
            Err(Verdict::Failed(why)) => {
                failed = true;
                talk!("FAIL {name}: {why}");
            }
            Err(Verdict::Skipped(why)) => talk!("{name} is not measured: {why}"),
            Err(Verdict::Passed(_)) => {}
        }
    }
    let total = Total::of(&rows);
    if args.json {
        let kernels: Vec<serde_json::Value> = rows.iter().map(Row::json).collect();
        let total = total.as_ref().map(|total| {
            json!({
                "lane_instructions_per_second": total.lanes_a_second,
                "overall_lane_instructions_per_second": total.overall,
                "noise": total.noise,
                "against_vulkan": total.against_vulkan,
            })
        });
        outln!(
            "{}",
            json!({
                "schema": SCHEMA,
                "engine": engine,
                "kernels": kernels,
                "total": total,
                "fixed": fixed.json(),
            })
        )?;
    } else {
        if let Some(total) = &total {
            total.print(rows.len(), engine)?;
        }
        fixed.print()?;
    }
    let slower = total.and_then(|total| total.against_vulkan);
    Ok(match failed || slower.is_some_and(|times| times > 1.0) {
        true => Status::CheckFailed,
        false => Status::Good,
    })
}

/// Seconds that lavapipe takes for the kernels, by name, without what it takes for an empty dispatch.
fn by_lavapipe(cases: &[Case], optimised: bool) -> Result<BTreeMap<String, f64>, Failure> {
    let empty = empty_case()?;
    let files: Vec<PathBuf> = std::iter::once(&empty)
        .chain(cases.iter().map(|case| &case.path))
        .cloned()
        .collect();
    let options: &[&str] = match optimised {
        true => &["--opt"],
        false => &[],
    };
    let mut seconds = lavapipe::seconds(options, &files)?;
    let empty = seconds.remove(EMPTY).unwrap_or(0.0);
    for of_kernel in seconds.values_mut() {
        *of_kernel = (*of_kernel - empty).max(1e-9);
    }
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reports::executed::Executed;

    const EMPTY: Duration = Duration::from_micros(3);

    /// A kernel that takes so long beyond an empty dispatch.
    fn row(milliseconds: [u64; 2], lane_instructions: u64, vulkan: Option<f64>) -> Row {
        let mut executed = Executed::default();
        executed.lane_instructions = lane_instructions;
        Row {
            name: String::new(),
            timed: Timed {
                executed,
                shortest: milliseconds.map(|time| EMPTY + Duration::from_millis(time)),
            },
            empty: EMPTY,
            vulkan,
        }
    }

    #[test]
    fn means_are_geometric_and_noise_counts_either_way() {
        let rows = [row([1, 2], 4_000, Some(0.000_5)), row([8, 4], 4_000, None)];
        let total = Total::of(&rows).expect("two kernels");
        assert!(
            (total.lanes_a_second / 2e6 - 1.0).abs() < 1e-9,
            "4 M and 1 M"
        );
        assert!((total.overall / 1.6e6 - 1.0).abs() < 1e-9, "8,000 in 5 ms");
        assert!(
            (total.noise - 2.0).abs() < 1e-9,
            "twice as long, once each way"
        );
        let against = total.against_vulkan.expect("one kernel is compared");
        assert!((against - 2.0).abs() < 1e-9, "1 ms against 0.5");
        assert!(Total::of(&[]).is_none());
    }
}
