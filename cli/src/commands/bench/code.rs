//! `eitri bench code`: the compiler's code on compute kernels, against what it was and against other compilers.

use crate::commands::kernel::read_cases;
use crate::input::buffer_source;
use crate::input::check_arguments::Wanted;
use crate::input::gpu_choice::GpuChoice;
use crate::input::job_arguments::RobustArgument;
use crate::outcome::{Failure, Status};
use crate::output::streams;
use crate::output::whole_file;
use crate::reports::code_quality::{Change, Peers, Table, measure, robust_cost};
use crate::runs::case_run::Setting;
use crate::runs::dispatch::Place;
use crate::runs::parallel;
use crate::workspace::Workspace;
use eitri_compute_cases::Module;
use eitri_shaderc::Robust;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

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
    /// Kernels at once; as many as the machine has processors if not given.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// Write the figures to this file.
    #[arg(long, value_name = "FILE")]
    save: Option<String>,
    /// Say what changed since this file was written: helped, hurt, lost, gained.
    #[arg(long, value_name = "FILE")]
    compare: Option<String>,
    /// Say how the figures stand to those of other compilers.
    #[arg(long, value_name = "peers.json")]
    against: Option<String>,
    /// Whether accesses outside of a buffer do no harm; off as in the code of the peers, where `compile` has it on.
    #[arg(long, value_name = "on|off", default_value = "off")]
    robust: RobustArgument,
    /// Say what it costs that accesses outside of a buffer do no harm.
    #[arg(long, conflicts_with = "robust")]
    robust_cost: bool,
    /// Print the figures as JSON; with `--against`, what the model executed over PanVK's, too.
    #[arg(long, conflicts_with_all = ["compare", "robust_cost"])]
    json: bool,
}

/// Longest that one job may take.
const LIMIT: Duration = Duration::from_secs(300);

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    // What can be refused is refused before the long work.
    let before = args.compare.as_deref().map(read_table).transpose()?;
    let peers = args.against.as_deref().map(read_peers).transpose()?;
    let paths = match args.cases.as_slice() {
        [] => vec![Workspace::find()?.root().join("../shared/kernels")],
        paths => paths.to_vec(),
    };
    let cases = read_cases(&paths, args.filter.as_deref())?;
    let module = match args.opt {
        true => Module::Optimised,
        false => Module::Plain,
    };
    let setting = Setting {
        keep: None,
        module,
        place: Place::Host,
        gpu: GpuChoice::default(),
        timelines: None,
        robust: args.robust.into(),
        limit: LIMIT,
        counts: true,
        check: &Wanted::Nothing,
        check_code: &Wanted::Nothing,
    };
    let jobs = args.jobs.unwrap_or_else(parallel::available);
    let table = measure(&cases, setting, jobs)?;
    if let Some(path) = &args.save {
        whole_file::write(path, table.write().as_bytes())?;
    }
    if args.json {
        let mut value = table.json();
        if let Some(peers) = &peers {
            value["panvk"] = peers.json(&table, module);
        }
        streams::print(format_args!("{value}\n"))?;
        return Ok(table.status());
    }
    if let Some(before) = &before {
        streams::print(format_args!("{}", Change::between(before, &table)))?;
    }
    if let Some(peers) = &peers {
        streams::print(format_args!("{}", peers.compare(&table, module)))?;
    }
    if args.robust_cost {
        let robust = Setting {
            robust: Robust::On,
            ..setting
        };
        let robust = measure(&cases, robust, jobs)?;
        streams::print(format_args!("{}", robust_cost(&robust, &table)))?;
        if robust.has_failed() {
            return Ok(Status::CheckFailed);
        }
    }
    let asked = before.is_some() || peers.is_some() || args.robust_cost;
    if args.save.is_none() && !asked {
        streams::print(format_args!("{}", table.write()))?;
    }
    Ok(table.status())
}

fn read_table(path: &str) -> Result<Table, Failure> {
    let bytes = buffer_source::read(path)?;
    Table::read(path, &String::from_utf8_lossy(&bytes)).map_err(Failure::refused)
}

fn read_peers(path: &str) -> Result<Peers, Failure> {
    let bytes = buffer_source::read(path)?;
    Peers::read(path, &bytes).map_err(Failure::refused)
}
