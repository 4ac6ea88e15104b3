//! `eitri bench compile`: how long the compiler takes for each shader, and how much memory.
//!
//! Each shader is compiled in a process of its own, so that memory which others have left free is not counted as good.
//! What does not depend on the load of the machine is the number of instructions that the compiler executes: [`instructions`].

#[path = "compile_instructions.rs"]
mod instructions;

use crate::commands::kernel::{KernelError, read_cases};
use crate::input::gpu_choice::machine;
use crate::input::shader_file;
use crate::outcome::{Failure, FileError, Status};
use crate::output::streams::{outln, talk};
use crate::runs::case_run;
use crate::workspace::Workspace;
use eitri_compute_cases::{Case, Growth, Module};
use eitri_shaderc::{Options, Robust, Target};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Version of the JSON's shape.
const SCHEMA: u32 = 1;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Shaders, kernels' case files, or folders of these; shared/kernels beside the clone if none is given.
    #[arg(value_name = "SHADER|FILE.json|DIR")]
    inputs: Vec<PathBuf>,
    /// Take the optimised module of each kernel.
    #[arg(long)]
    opt: bool,
    /// How often each shader is compiled: the best time counts.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Measure modules that grow in place of shaders: one kind of code (`all` for every one) at half its large size and at
    /// that, or at a size of one's own.
    #[arg(long, value_name = "NAME[:SIZE]", conflicts_with = "inputs", value_parser = parse_growth)]
    growth: Vec<Grown>,
    /// Compile for this machine: v10 to v13, a Mali such as G610, or an Adreno such as a6xx; Mali-G610 if none is given.
    #[arg(long, value_name = "MACHINE")]
    target: Option<String>,
    /// Count the instructions that the compiler executes for each one of the shader, by callgrind, in place of time and memory.
    #[arg(long, conflicts_with = "runs")]
    instructions: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Measure one shader in this process, and print its figures for the process that asked.
    #[arg(long, hide = true)]
    alone: bool,
}

/// What is compiled: a kernel with its specialisation, a shader as it is, or a module of some size.
enum Input {
    Kernel(Box<Case>),
    Shader(PathBuf),
    Grown(&'static Growth, u32),
}

/// A kind of module that grows, and the size that is wanted; every kind, or the usual sizes, where none is named.
#[derive(Clone, Copy)]
struct Grown {
    growth: Option<&'static Growth>,
    size: Option<u32>,
}

fn parse_growth(text: &str) -> Result<Grown, String> {
    let (name, size) = match text.split_once(':') {
        Some((name, size)) => (name, Some(size)),
        None => (text, None),
    };
    let size = size.map(str::parse::<u32>).transpose();
    let size = size.map_err(|error| format!("a size is a number: {error}"))?;
    if size.is_some_and(|size| size == 0 || size > 1 << 17) {
        return Err("a size is 1 to 131072".to_owned());
    }
    if name == "all" {
        return Ok(Grown { growth: None, size });
    }
    let growth = Growth::ALL.iter().find(|growth| growth.name == name);
    let names = || {
        let names = Growth::ALL.iter().map(|growth| growth.name);
        names.collect::<Vec<&str>>().join(", ")
    };
    let growth = growth.ok_or_else(|| format!("there is no such kind: all, {}", names()))?;
    Ok(Grown {
        growth: Some(growth),
        size,
    })
}

/// The figures of one shader.
#[derive(Clone, Copy)]
struct Figures {
    /// Of the best run.
    milliseconds: f64,
    /// Peak of the first run above what was there before it; where the system tells it.
    kibibytes: Option<u64>,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let module = match args.opt {
        true => Module::Optimised,
        false => Module::Plain,
    };
    let inputs = inputs(args)?;
    let target = args
        .target
        .as_deref()
        .map_or(Ok(Target::default()), machine)?;
    if args.alone {
        for input in &inputs {
            let line = match measure(input, module, target, args.runs)? {
                Some(Figures {
                    milliseconds,
                    kibibytes: Some(kibibytes),
                }) => format!("{milliseconds} {kibibytes}"),
                Some(Figures { milliseconds, .. }) => format!("{milliseconds} -"),
                None => "refused".to_owned(),
            };
            outln!("{line}")?;
        }
        return Ok(Status::Good);
    }
    if cfg!(debug_assertions) {
        talk!(
            "this build checks itself and is slow: cargo run --release -p eitri -- bench compile"
        );
    }
    if args.instructions {
        return instructions::run(&inputs, module, args);
    }
    let measured = |input: &Input| Ok((input.name(), in_child(input, args)?));
    if args.json {
        let rows = inputs.iter().map(measured);
        let rows = rows.collect::<Result<Vec<_>, Failure>>()?;
        let rows = rows.iter().map(|(name, figures)| {
            let milliseconds = figures.map(|figures| figures.milliseconds);
            let kibibytes = figures.and_then(|figures| figures.kibibytes);
            json!({ "name": name, "milliseconds": milliseconds, "kibibytes": kibibytes })
        });
        return print_json(rows.collect());
    }
    outln!("{:>10} {:>8}  shader", "ms", "KiB")?;
    let (mut times, mut refused) = (Vec::new(), 0);
    for input in &inputs {
        let (name, figures) = measured(input)?;
        match figures {
            Some(figures) => {
                let memory = figures
                    .kibibytes
                    .map_or("-".to_owned(), |kib| kib.to_string());
                outln!("{:>10.3} {memory:>8}  {name}", figures.milliseconds)?;
                times.push(figures.milliseconds);
            }
            None => {
                refused += 1;
                outln!("{:>10} {:>8}  {name}", "refused", "")?;
            }
        }
    }
    times.sort_by(f64::total_cmp);
    match times.get(times.len() / 2) {
        Some(median) => {
            let sum: f64 = times.iter().sum();
            let count = times.len();
            outln!("{count} shaders: median {median:.3} ms, sum {sum:.3} ms; {refused} refused")?;
        }
        None => outln!("no shader compiles; {refused} refused")?,
    }
    Ok(Status::Good)
}

/// Prints rows of shaders as JSON (`eitri schema bench-compile`).
fn print_json(rows: Vec<Value>) -> Result<Status, Failure> {
    outln!("{}", json!({ "schema": SCHEMA, "shaders": rows }))?;
    Ok(Status::Good)
}

impl Input {
    /// Its module.
    fn module(&self, module: Module) -> Result<Vec<u8>, Failure> {
        match self {
            Input::Kernel(case) => {
                let module = case.module(module).map_err(KernelError::from);
                module.map_err(Failure::refused)
            }
            Input::Shader(path) => Ok(shader_file::load(&path.to_string_lossy())?.spirv),
            Input::Grown(growth, size) => Ok(growth.module(*size)),
        }
    }

    /// What names it on a command line.
    fn arguments(&self) -> [OsString; 2] {
        let file = |path: &PathBuf| [OsString::from("--"), path.into()];
        match self {
            Input::Kernel(case) => file(&case.path),
            Input::Shader(path) => file(path),
            Input::Grown(growth, size) => {
                ["--growth".into(), format!("{}:{size}", growth.name).into()]
            }
        }
    }

    fn name(&self) -> String {
        match self {
            Input::Kernel(case) => case.name.clone(),
            Input::Shader(path) => path.display().to_string(),
            Input::Grown(growth, size) => format!("{}:{size} {}", growth.name, growth.what),
        }
    }
}

fn inputs(args: &Args) -> Result<Vec<Input>, Failure> {
    if !args.growth.is_empty() {
        return Ok(args.growth.iter().flat_map(Grown::inputs).collect());
    }
    let paths = match args.inputs.as_slice() {
        [] => vec![Workspace::find()?.root().join("../shared/kernels")],
        paths => paths.to_vec(),
    };
    let mut inputs = Vec::new();
    for path in paths {
        let is_shader = !path.is_dir() && path.extension().is_none_or(|end| end != "json");
        match is_shader {
            true => {
                // What can't be read is told here, not by the process that would measure it.
                shader_file::load(&path.to_string_lossy())?;
                inputs.push(Input::Shader(path));
            }
            false => {
                let cases = read_cases(&[path], None)?;
                inputs.extend(cases.into_iter().map(|case| Input::Kernel(Box::new(case))));
            }
        }
    }
    Ok(inputs)
}

impl Grown {
    fn inputs(&self) -> Vec<Input> {
        let kinds = Growth::ALL.iter().filter(|growth| {
            let wanted = self.growth.map(|wanted| wanted.name);
            wanted.is_none_or(|name| name == growth.name)
        });
        let sizes = |growth: &Growth| match self.size {
            Some(size) => vec![size],
            None => vec![growth.large / 2, growth.large],
        };
        kinds
            .flat_map(|growth| {
                sizes(growth)
                    .into_iter()
                    .map(move |size| Input::Grown(growth, size))
            })
            .collect()
    }
}

/// Measures in this process; none when the compiler refuses the shader.
fn measure(
    input: &Input,
    module: Module,
    target: Target,
    runs: u32,
) -> Result<Option<Figures>, Failure> {
    let options = Options {
        target,
        ..Options::default()
    };
    let compile: Box<dyn Fn() -> bool> = match input {
        Input::Kernel(case) => {
            Box::new(move || case_run::compile_for(case, module, Robust::On, target).is_ok())
        }
        Input::Shader(path) => {
            let shader = shader_file::load(&path.to_string_lossy())?;
            Box::new(move || eitri_shaderc::compile(&shader.spirv, &options).is_ok())
        }
        Input::Grown(growth, size) => {
            let module = growth.module(*size);
            Box::new(move || eitri_shaderc::compile(&module, &options).is_ok())
        }
    };
    let before = memory_line("VmRSS:");
    let mut best = Duration::MAX;
    let mut kibibytes = None;
    for run in 0..runs {
        let start = Instant::now();
        if !compile() {
            return Ok(None);
        }
        best = best.min(start.elapsed());
        if run == 0 {
            kibibytes = memory_line("VmHWM:").zip(before);
        }
    }
    Ok(Some(Figures {
        milliseconds: best.as_secs_f64() * 1e3,
        kibibytes: kibibytes.map(|(peak, before)| peak.saturating_sub(before)),
    }))
}

/// A figure of this process in KiB, where the system has such a file.
fn memory_line(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// What this command is given to measure one shader so many times in its process.
fn alone(input: &Input, args: &Args, runs: u32) -> Vec<OsString> {
    let mut words: Vec<OsString> = ["bench", "compile", "--alone", "--runs"]
        .map(OsString::from)
        .into();
    words.push(runs.to_string().into());
    if args.opt {
        words.push("--opt".into());
    }
    if let Some(target) = &args.target {
        words.extend(["--target".into(), target.into()]);
    }
    words.extend(input.arguments());
    words
}

/// Measures in a process of its own.
fn in_child(input: &Input, args: &Args) -> Result<Option<Figures>, Failure> {
    let failed = |cause| Failure::missing(FileError::at("run", "this command again", cause));
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.args(alone(input, args, args.runs));
    let output = command.output().map_err(failed)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut words = text.split_whitespace();
    let milliseconds = words.next().map(str::parse);
    match (output.status.success(), milliseconds) {
        (true, Some(Ok(milliseconds))) => Ok(Some(Figures {
            milliseconds,
            kibibytes: words.next().and_then(|word| word.parse().ok()),
        })),
        (true, _) => Ok(None),
        (false, _) => Err(failed(std::io::Error::other(
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ))),
    }
}
