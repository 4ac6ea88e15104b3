//! `eitri compile`: shaders to programs, listings and figures.

use crate::commands::compile_graphics;
use crate::input::descriptor_count::DescriptorCount;
use crate::input::gpu_choice::TargetArguments;
use crate::input::job_arguments::RobustArgument;
use crate::input::passes::{self, PassArguments, Told};
use crate::input::shader_file::{LanguageArgument, Shader};
use crate::input::specialisation::SpecConstant;
use crate::outcome::{Failure, Status};
use crate::output::line_table;
use crate::output::streams::{self, talk};
use crate::output::whole_file;
use crate::pages::{self, Shown, TextLine};
use crate::progress;
use crate::reports::code_forms;
use crate::reports::report::{self, ShaderReport};
use crate::runs::parallel;
use eitri_shaderc::{Compiled, Machine, Options, SpecIds, compile_until, front_end};
use miette::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::num::NonZero;
use std::path::Path;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shaders: .wgsl, .comp or .glsl, .spv, .spvasm; `-` is standard input. Or drawn scenes, .json, of which all pipelines
    /// are compiled.
    #[arg(required_unless_present = "list_passes", value_name = "SHADER")]
    shaders: Vec<String>,
    #[command(flatten)]
    language: LanguageArgument,
    /// The fragment shader of a graphics pipeline: the one SHADER is then its vertex shader, and both are fitted to each other.
    #[arg(long, value_name = "SHADER", conflicts_with = "stop_after")]
    fragment: Option<String>,
    /// Where the output goes: a file (`-` is standard output), or for several shaders a folder.
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    /// What is written. The default is `program` with -o, and `asm` on standard output without it.
    #[arg(long, value_enum, conflicts_with = "stop_after")]
    emit: Option<Emit>,
    /// Leave the table of source lines out of programs. They have one if the module has lines; it stands behind the program, and no
    /// driver reads it.
    #[arg(long)]
    strip: bool,
    /// Entry point; needed when a module has several.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Value of a specialisation constant.
    #[arg(long = "spec", value_name = "ID=VALUE")]
    specialisation: Vec<SpecConstant>,
    /// Length of an unsized array of descriptors.
    #[arg(long = "descriptors", value_name = "BINDING=N")]
    descriptor_counts: Vec<DescriptorCount>,
    /// Whether accesses outside of their memory do no harm; `off` trusts the shader, and makes smaller code.
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, default_value_t = RobustArgument::On)]
    robust: RobustArgument,
    #[command(flatten)]
    target: TargetArguments,
    #[command(flatten)]
    passes: PassArguments,
    #[command(flatten)]
    figures: Figures,
    /// Shaders at once; as many as the machine has processors if not given.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
}

/// What is said of the shaders on standard output.
#[derive(clap::Args)]
#[group(multiple = false)]
struct Figures {
    /// Print what each shader uses of the machine, and what bounds it.
    #[arg(long, conflicts_with = "stop_after")]
    report: bool,
    /// The same as JSON.
    #[arg(long, conflicts_with = "stop_after")]
    report_json: bool,
    /// Print one line of figures a shader.
    #[arg(long, conflicts_with = "stop_after")]
    stats: bool,
    /// The same as JSON.
    #[arg(long, conflicts_with = "stop_after")]
    stats_json: bool,
}

impl Figures {
    fn any(&self) -> bool {
        self.report || self.report_json || self.stats || self.stats_json
    }
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Emit {
    /// The compiler's own representation, as the back end receives it.
    Ir,
    /// The machine code as text, with labels and source lines.
    Asm,
    /// The machine code, a word of 16 hex digits a line, as `eitri disasm` reads it.
    Hex,
    /// The program binary, as the runtime reads it.
    Program,
    /// The machine code as Compiler Explorer's own JSON.
    Ce,
    /// The control flow of the machine code as a graph for GraphViz.
    Dot,
    /// A page for a browser: source, machine code, representation and SPIR-V side by side, with cycles and live registers.
    Html,
}

impl Emit {
    /// How the name of a file of it ends.
    fn extension(self) -> &'static str {
        match self {
            Emit::Ir => "ir",
            Emit::Asm => "asm",
            Emit::Hex => "hex",
            Emit::Program => "eprg",
            Emit::Ce => "json",
            Emit::Dot => "dot",
            Emit::Html => "html",
        }
    }
}

/// What is wrong with the request.
#[derive(Debug, Error, Diagnostic)]
pub(super) enum CompileError {
    #[error("--fragment makes a pipeline of one vertex shader, and {shaders} are given")]
    OneVertex { shaders: usize },
    #[error("{path}: a pipeline is several programs, which are not written to one file")]
    #[diagnostic(help(
        "-o with a folder that is there gets a file for each of the two shaders; --emit asm, hex or ir writes them one behind the other"
    ))]
    Programs { path: String },
    #[error("{path}: this form shows one program, and a pipeline is several")]
    #[diagnostic(help("--emit asm, hex or ir writes them one behind the other"))]
    OneProgram { path: String },
    #[error("{path}: {why}")]
    Scene { path: String, why: String },
    #[error("{path}: {errors}")]
    Refused {
        path: String,
        errors: eitri_shaderc::Errors,
    },
    #[error("{path}: {cause}")]
    Defect {
        path: String,
        cause: report::ReportError,
    },
    #[error("several shaders, but {path} is no folder")]
    NoFolder { path: String },
    #[error("{first} and {second} would both be written to {path}")]
    SameOutput {
        first: String,
        second: String,
        path: String,
    },
}

/// Where the output of a shader goes; none when only figures are wanted.
struct Output {
    path: Option<String>,
    emit: Emit,
}

/// A compiled shader, or pipelines, with what was asked for.
pub(super) struct Done {
    pub(super) bytes: Vec<u8>,
    /// The fragment shader's program, which goes to a file of its own.
    pub(super) fragment: Option<Vec<u8>>,
    /// What is known of each stage; nothing of one that was compiled to a pass only.
    pub(super) reports: Vec<ShaderReport>,
    pub(super) told: Vec<Told>,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let target = args.target.target()?;
    if let Some(form) = args.passes.list_passes {
        passes::print_list(form, &target)?;
        return Ok(Status::Good);
    }
    args.passes.check(&target)?;
    let options = args.passes.apply(Options {
        target,
        entry: args.entry.clone(),
        spec_constants: args
            .specialisation
            .iter()
            .map(|spec| (spec.id, spec.bits))
            .collect(),
        spec_ids: SpecIds::Declared,
        descriptor_counts: args
            .descriptor_counts
            .iter()
            .map(|given| ((given.name.set, given.name.binding), given.count))
            .collect(),
        robust: args.robust.into(),
        ..Options::default()
    });
    if args.fragment.is_some() && args.shaders.len() != 1 {
        let shaders = args.shaders.len();
        return Err(Failure::refused(CompileError::OneVertex { shaders }));
    }
    let outputs = outputs(args)?;
    let items: Vec<(&String, Output)> = args.shaders.iter().zip(outputs).collect();
    let (mut good, mut bad, mut compiled) = (Vec::new(), Vec::new(), 0);
    let mut status = Status::Good;
    let progress = progress::count(items.len());
    let jobs = args.jobs.unwrap_or_else(parallel::available);
    let work = |(path, output): &(&String, Output)| match args.passes.last() {
        Some(pass) => until(path, pass, args, &options),
        None => match &args.fragment {
            Some(fragment) => {
                let out = args.output.as_deref();
                let apart = out.is_some_and(|out| Path::new(out).is_dir());
                let form = (output.emit, apart, args.strip);
                compile_graphics::pair(path, fragment, form, &options)
            }
            None if path.ends_with(".json") => compile_graphics::scene(path, output.emit, &options),
            None => compile(path, output.emit, args, &options),
        },
    };
    parallel::in_order(&items, jobs, work, |(path, output), result| {
        progress.done(path, || match result {
            Ok(done) => {
                for told in &done.told {
                    args.passes.tell(path, told);
                }
                good.extend(done.reports);
                if let Some(to) = &output.path {
                    whole_file::write(to, &done.bytes)?;
                    if let (Some(bytes), Some(fragment)) = (&done.fragment, &args.fragment) {
                        let beside = Path::new(to).with_file_name(file_name(fragment, output.emit));
                        whole_file::put(&beside, bytes)?;
                    }
                }
                compiled += 1;
                Ok(())
            }
            // With one shader its failure is the command's.
            Err(failure)
                if items.len() == 1 && !args.figures.report_json && !args.figures.stats_json =>
            {
                Err(failure)
            }
            Err(failure) => {
                talk!("{}", failure.shown());
                status = failure.status();
                bad.push(((*path).clone(), failure.to_string()));
                Ok(())
            }
        })
    })?;
    drop(progress);
    if items.len() > 1 {
        talk!("{compiled} compiled, {} refused", bad.len());
    }
    let figures = figures(&args.figures, &good, &bad);
    match args.output.as_deref() {
        // Somebody's data is on standard output already.
        Some("-") => streams::say(format_args!("{figures}")),
        _ => streams::print(format_args!("{figures}"))?,
    }
    Ok(status)
}

/// Where the output of each shader goes.
fn outputs(args: &Args) -> Result<Vec<Output>, Failure> {
    let emit = match (args.emit, &args.output) {
        _ if args.passes.last().is_some() => Emit::Ir,
        (Some(emit), _) => emit,
        (None, Some(_)) => Emit::Program,
        (None, None) => Emit::Asm,
    };
    if let (Some(out), [_, _, ..]) = (args.output.as_deref(), &args.shaders[..])
        && out != "-"
        && !Path::new(out).exists()
    {
        std::fs::create_dir_all(out).map_err(|cause| Failure::unwritable(out, cause))?;
    }
    let is_folder = |path: &str| Path::new(path).is_dir();
    let path = |shader: &String| match args.output.as_deref() {
        // Figures alone leave nothing behind.
        None if args.figures.any() && args.emit.is_none() => None,
        None => Some("-".to_owned()),
        Some(out) if is_folder(out) => {
            let file = Path::new(out).join(file_name(shader, emit));
            Some(file.to_string_lossy().into_owned())
        }
        Some(out) => Some(out.to_owned()),
    };
    if let Some(out) = args.output.as_deref()
        && args.shaders.len() > 1
        && out != "-"
        && !is_folder(out)
    {
        return Err(Failure::refused(CompileError::NoFolder {
            path: out.to_owned(),
        }));
    }
    let mut taken: BTreeMap<String, &String> = BTreeMap::new();
    let mut outputs = Vec::new();
    for shader in &args.shaders {
        let path = path(shader);
        if let Some(path) = path.as_deref().filter(|path| *path != "-")
            && let Some(first) = taken.insert(path.to_owned(), shader)
        {
            return Err(Failure::refused(CompileError::SameOutput {
                first: first.clone(),
                second: shader.clone(),
                path: path.to_owned(),
            }));
        }
        outputs.push(Output { path, emit });
    }
    Ok(outputs)
}

/// The file in a folder that a shader's output goes to.
fn file_name(shader: &str, emit: Emit) -> OsString {
    let name = Path::new(shader).file_name().unwrap_or_default();
    let mut name = name.to_owned();
    name.push(".");
    name.push(emit.extension());
    name
}

/// A shader's IR, or the machine's, after a pass.
fn until(path: &str, pass: &str, args: &Args, options: &Options) -> Result<Done, Failure> {
    let shader = args.language.load(path)?;
    let text = compile_until(&shader.spirv, options, pass).map_err(|errors| {
        let path = path.to_owned();
        Failure::refused(CompileError::Refused { path, errors })
    })?;
    let text = text.ok_or_else(|| args.passes.not_reached())?;
    Ok(Done {
        bytes: format!("{}\n", text.trim_end()).into_bytes(),
        fragment: None,
        reports: vec![],
        told: vec![],
    })
}

fn compile(path: &str, emit: Emit, args: &Args, options: &Options) -> Result<Done, Failure> {
    let refused = |errors| {
        let path = path.to_owned();
        Failure::refused(CompileError::Refused { path, errors })
    };
    let defect = |cause: report::ReportError| {
        let path = path.to_owned();
        Failure::refused(CompileError::Defect { path, cause })
    };
    let shader = args.language.load(path)?;
    let options = &Options {
        representation: emit == Emit::Html,
        ..options.clone()
    };
    let compiled = eitri_shaderc::compile(&shader.spirv, options).map_err(refused)?;
    let report = ShaderReport::of(path, &compiled, &options.target).map_err(defect)?;
    let bytes = match emit {
        Emit::Asm => compiled.listing.to_string().into_bytes(),
        Emit::Program if args.strip => compiled.program.clone(),
        Emit::Program => line_table::of_compute(&compiled),
        Emit::Hex => hex(&compiled.code).into_bytes(),
        Emit::Ce => format!(
            "{}\n",
            code_forms::compiler_explorer(&compiled.listing, &shader.path)
        )
        .into_bytes(),
        Emit::Dot => code_forms::graph(&compiled.listing, path).into_bytes(),
        Emit::Ir => representation(&shader, options)?.into_bytes(),
        Emit::Html => page(&shader, &compiled, &report, options)?.into_bytes(),
    };
    let told = Told::of(&compiled);
    Ok(Done {
        bytes,
        fragment: None,
        reports: vec![report],
        told: vec![told],
    })
}

/// The compiler's own representation, as the back end receives it.
fn representation(shader: &Shader, options: &Options) -> Result<String, Failure> {
    let lowered = front_end(&shader.spirv, options).map_err(|errors| {
        let errors = errors.into_iter().map(eitri_shaderc::Error::Spirv);
        Failure::refused(CompileError::Refused {
            path: shader.path.clone(),
            errors: eitri_shaderc::Errors(errors.collect()),
        })
    })?;
    Ok(format!("{}\n", lowered.function.to_string().trim_end()))
}

/// A page of all forms of a shader.
fn page(
    shader: &Shader,
    compiled: &Compiled,
    report: &ShaderReport,
    options: &Options,
) -> Result<String, Failure> {
    let named: BTreeSet<&str> = compiled
        .listing
        .rows()
        .filter_map(|row| row.source.map(|(file, _)| file))
        .collect();
    // A file that is not there, or is no text, is left out: its lines are numbers then.
    let sources = named.into_iter().filter_map(|path| {
        let text = std::fs::read_to_string(path).ok()?;
        Some((path.to_owned(), text))
    });
    let mut texts: Vec<(String, Vec<TextLine>)> = vec![];
    if let Ok(module) = rspirv::dr::load_bytes(&shader.spirv) {
        let text = rspirv::binary::Disassemble::disassemble(&module);
        texts.push(("SPIR-V".to_owned(), pages::spirv_lines(&text)));
    }
    pages::code(&Shown {
        title: &shader.path,
        facts: vec![("figures".to_owned(), report.lines())],
        listing: &compiled.listing,
        arch: match options.target.machine {
            Machine::Valhall(arch) => Some(arch),
            Machine::Ir3(_) => None,
        },
        sources: sources.collect(),
        texts,
    })
}

/// A word a line.
pub(super) fn hex(code: &[u64]) -> String {
    let mut text = String::new();
    for word in code {
        // Writing to a string can't fail.
        let _ = writeln!(text, "{word:016x}");
    }
    text
}

/// What goes to standard output of all shaders.
fn figures(wanted: &Figures, good: &[ShaderReport], bad: &[(String, String)]) -> String {
    let json = |value: serde_json::Value| format!("{value:#}\n");
    if wanted.report_json {
        return json(report::report_json(good, bad));
    }
    if wanted.stats_json {
        return json(report::statistics_json(good, bad));
    }
    let mut text = String::new();
    if wanted.report {
        for report in good {
            text.push_str(&report.text());
            text.push('\n');
        }
        text.push_str(good.first().map_or("", ShaderReport::notes));
    }
    if wanted.stats {
        let lines = good.iter().map(ShaderReport::lines);
        lines.for_each(|line| text.push_str(&format!("{line}\n")));
    }
    text
}
