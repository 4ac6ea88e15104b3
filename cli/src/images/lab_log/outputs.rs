//! `--junit`, `--tap`, `--kcidb` and `--results` of one run of the suite, what ties the run to a device, a source and a log, and what its
//! numbers are held against.

use super::{Log, kcidb, write};
use crate::outcome::Failure;
use crate::output::whole_file::Pending;
use crate::pages;
use crate::results::{
    Files, MetricOptions, Metrics, Recorder, ResultOptions, Results, Shard, rfc3339,
};
use std::time::SystemTime;

/// Options of commands that read or run the suite.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct LabOutputs {
    /// Write the results as JUnit XML.
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    junit: Option<String>,
    /// Write the results as TAP.
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    tap: Option<String>,
    /// Write the results as KernelCI's database takes them.
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    kcidb: Option<String>,
    /// Write the results as JSON (`eitri schema results`).
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    results: Option<String>,
    /// Write the results as an HTML page, with the log.
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    html: Option<String>,
    /// Name of this run: part of every id, which a database takes for one object. Made of the time and the log if not given.
    #[arg(long, value_name = "ID", help_heading = "Results")]
    run_id: Option<String>,
    /// Name or serial number of the device: boards of one type differ by it.
    #[arg(long, value_name = "NAME", help_heading = "Results")]
    device: Option<String>,
    /// The git commit that the image was built from.
    #[arg(long, value_name = "HASH", help_heading = "Results")]
    commit: Option<String>,
    /// Where the whole log can be read.
    #[arg(long, value_name = "URL", help_heading = "Results")]
    log_url: Option<String>,
    #[command(flatten)]
    metrics: MetricOptions,
}

/// What was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    /// One of the files is standard output.
    pub(crate) to_stdout: bool,
    /// Numbers that are beyond what they may be, a line each.
    pub(crate) beyond: Vec<String>,
}

/// Where a run comes from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// When it began, or when its log was written.
    pub(crate) time: SystemTime,
    /// The names of all tests, in their order.
    pub(crate) known: Vec<String>,
    /// What numbers are held against.
    pub(crate) metrics: Metrics,
    /// The run was stopped from outside.
    pub(crate) interrupted: bool,
}

/// What ids and facts of one run are made of.
pub(super) struct Run<'a> {
    pub(super) id: String,
    pub(super) start: String,
    pub(super) device: Option<&'a str>,
    pub(super) commit: Option<&'a str>,
    pub(super) log_url: Option<&'a str>,
}

impl LabOutputs {
    /// Reads what the numbers of the run will be held against. `known` are the names of all tests.
    pub(crate) fn metrics(&self, known: &[String]) -> Result<Metrics, Failure> {
        self.metrics.read(known)
    }

    /// Writes what is asked for, and judges numbers.
    pub(crate) fn write(&self, text: &str, log: &Log, origin: &Origin) -> Result<Written, Failure> {
        let start = rfc3339(origin.time);
        let made = || {
            format!(
                "{}-{:08x}",
                start.replace([':', '-'], ""),
                crc32fast::hash(text.as_bytes())
            )
        };
        let run = Run {
            id: self.run_id.clone().unwrap_or_else(made),
            start: start.clone(),
            device: self.device.as_deref(),
            commit: self.commit.as_deref(),
            log_url: self.log_url.as_deref(),
        };
        let mut results = self.of(log, origin, &run);
        let judged = origin.metrics.judge(&results);
        let beyond = judged
            .iter()
            .map(|case| format!("{}: {}", case.name, case.why))
            .collect();
        results.cases.extend(judged);
        let page = match &self.html {
            Some(_) => pages::results(&results, Some(text))?,
            None => String::new(),
        };
        let outputs = [
            (&self.html, page),
            (&self.junit, results.junit()),
            (&self.tap, write::tap(log, &results)),
            (
                &self.kcidb,
                format!("{:#}\n", kcidb::kcidb(log, &results, &run)),
            ),
            (&self.results, format!("{:#}\n", results.to_json())),
        ];
        let mut files = Vec::new();
        for (path, text) in &outputs {
            if let Some(path) = path {
                files.push(Pending::write(path, text.as_bytes())?);
            }
        }
        files.into_iter().try_for_each(Pending::commit)?;
        let to_stdout = outputs.iter().any(|(path, _)| path.as_deref() == Some("-"));
        Ok(Written { to_stdout, beyond })
    }

    /// Whether anything is asked for.
    pub(crate) fn any(&self) -> bool {
        self.files().into_iter().any(Option::is_some) || self.metrics.any()
    }

    /// Whether one of the files is standard output.
    pub(crate) fn on_stdout(&self) -> bool {
        let mut files = self.files().into_iter();
        files.any(|path| path.as_deref() == Some("-"))
    }

    fn files(&self) -> [&Option<String>; 5] {
        [
            &self.junit,
            &self.tap,
            &self.kcidb,
            &self.results,
            &self.html,
        ]
    }

    /// Whether a form is asked for that only a log has.
    pub(crate) fn any_but_results(&self) -> bool {
        self.tap.is_some() || self.kcidb.is_some()
    }

    /// Begins to record the results of a list that is no log.
    pub(crate) fn record(&self, suite: &str, shard: Option<Shard>) -> Recorder {
        let files = Files {
            results: self.results.clone(),
            junit: self.junit.clone(),
            html: self.html.clone(),
        };
        ResultOptions::new(shard, files).record(suite, &[])
    }

    fn of(&self, log: &Log, origin: &Origin, run: &Run<'_>) -> Results {
        let mut results = log.results(&origin.known);
        results.start = Some(run.start.clone());
        results.interrupted = origin.interrupted;
        let facts = [
            ("run", Some(run.id.as_str())),
            ("device", run.device),
            ("commit", run.commit),
            ("log", run.log_url),
        ];
        for (name, value) in facts {
            results
                .properties
                .extend(value.map(|value| (name.to_owned(), value.to_owned())));
        }
        results
    }
}
