//! `eitri bench graphics`: the compiler's code on the shaders of drawn scenes, stage by stage, against PanVK's, and how long it
//! takes to compile a pipeline.

use crate::commands::draw::read_scenes;
use crate::draw::ModelArguments;
use crate::draw::{Made, Manner, PipelineCode, Run, Verdict, pipeline_codes};
use crate::input::buffer_source;
use crate::input::gpu_choice::GpuArgument;
use crate::outcome::{Failure, Status};
use crate::output::streams::{self, outln, talk};
use crate::reports::executed::Counter;
use crate::reports::graphics_quality::{Measured, PeerExecuted, Peers, Program, Table};
use crate::runs::dispatch::Place;
use crate::workspace::Workspace;
use eitri_draw_scenes::Scene;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

/// The file with the executed counts of PanVK's programs, in the clone.
const EXECUTED: &str = "testdata/data/panvk-executed.json";
/// Longest that one scene may take.
const LIMIT: Duration = Duration::from_secs(300);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Scene files, or folders of them; shared/scenes beside the clone if none is given.
    #[arg(value_name = "SCENE.json|DIR")]
    scenes: Vec<PathBuf>,
    #[command(flatten)]
    gpu: GpuArgument,
    /// Take the optimised modules.
    #[arg(long)]
    opt: bool,
    /// Only scenes whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Figures of PanVK; peers.json beside the scenes if not given.
    #[arg(long, value_name = "peers.json")]
    against: Option<PathBuf>,
    /// What PanVK's programs executed for each scene on the model; testdata/data/panvk-executed.json if not given.
    #[arg(long, value_name = "FILE")]
    executed: Option<PathBuf>,
    /// How often each pipeline is compiled: the best time counts.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Only compile: nothing is drawn, and nothing executed.
    #[arg(long)]
    no_draw: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let paths = match args.scenes.as_slice() {
        [] => vec![Workspace::find()?.root().join("../shared/scenes")],
        paths => paths.to_vec(),
    };
    let peers = match &args.against {
        Some(path) => Some(path.clone()),
        None => paths
            .iter()
            .map(|path| path.join("peers.json"))
            .find(|path| path.is_file()),
    };
    let peers = match peers {
        Some(path) => {
            let path = path.to_string_lossy().into_owned();
            let bytes = buffer_source::read(&path)?;
            Peers::read(&path, &bytes).map_err(Failure::refused)?
        }
        None => Peers::default(),
    };
    let executed = match &args.executed {
        Some(path) => Some(path.clone()),
        None => Workspace::find()
            .ok()
            .map(|workspace| workspace.root().join(EXECUTED))
            .filter(|path| path.is_file()),
    };
    let executed = match executed {
        Some(path) => {
            let path = path.to_string_lossy().into_owned();
            let bytes = buffer_source::read(&path)?;
            PeerExecuted::read(&path, &bytes).map_err(Failure::refused)?
        }
        None => PeerExecuted::default(),
    };
    let scenes = read_scenes(&paths, &ModelArguments::default(), args.filter.as_deref())?;
    let mut table = Table::default();
    let mut failed = false;
    for scene in &scenes {
        let name = &scene.file.name;
        match measure(scene, args) {
            Ok(measured) => {
                table.add(name, measured, &peers, args.opt);
                table.add_executed(name, &executed, &peers, args.opt);
            }
            Err(Verdict::Failed(why)) => {
                failed = true;
                talk!("{name} is not measured: {why}");
            }
            Err(Verdict::Skipped(why)) => talk!("{name} is not measured: {why}"),
            Err(Verdict::Passed) => {}
        }
    }
    match args.json {
        true => outln!("{:#}", table.json())?,
        false => streams::print(format_args!("{}", table.text()))?,
    }
    Ok(match failed {
        false => Status::Good,
        true => Status::CheckFailed,
    })
}

/// Compiles a scene's pipelines, draws it, and counts.
fn measure(scene: &Scene, args: &Args) -> Result<Vec<Measured>, Verdict> {
    let gpu = args.gpu.choice();
    let manner = Manner {
        optimised: args.opt,
        target: gpu.target(),
        representation: false,
    };
    let codes = pipeline_codes(scene, manner, args.runs)?;
    let mut programs: Vec<Measured> = codes.iter().flat_map(programs).collect();
    if args.no_draw {
        return Ok(programs);
    }
    let how = Run {
        place: Place::Host,
        gpu,
        optimised: args.opt,
        limit: LIMIT,
        dump: false,
        jobs: NonZero::<usize>::MIN,
        check: false,
        timelines: None,
        pixel: None,
    };
    let counter = Counter::default();
    how.measure_traced(scene, Some(counter.sink()))?;
    let words: Vec<&[u64]> = programs.iter().map(|it| it.code.as_slice()).collect();
    let ran = counter.by_program(&words, gpu.arch());
    let ran = ran.map_err(|error| Verdict::Failed(error.to_string()))?;
    for (program, ran) in programs.iter_mut().zip(ran) {
        program.ran = Some(ran);
    }
    Ok(programs)
}

/// The programs of some pipelines.
fn programs(code: &PipelineCode) -> Vec<Measured> {
    let mut all = Vec::new();
    let mut add = |shader: usize, stage: &'static str, words: &[u64], statistics| {
        let shader = code.shaders.get(shader).cloned().unwrap_or_default();
        if let Some(statistics) = statistics {
            all.push(Measured {
                program: Program {
                    shader,
                    stage,
                    pipelines: code.pipelines.clone(),
                },
                statistics,
                code: words.to_vec(),
                ran: None,
                took: None,
            });
        }
    };
    match &code.made {
        Made::Compute(it) => {
            add(0, "compute", &it.code, it.statistics.valhall().copied());
        }
        Made::Graphics(compiled) => {
            let stages = std::iter::once(&compiled.vertex).chain(&compiled.fragment);
            for (shader, stage) in stages.enumerate() {
                for entry in &stage.entry_points {
                    let statistics = entry.statistics.valhall().copied();
                    add(shader, entry.kind.name(), &entry.code, statistics);
                }
            }
        }
    }
    if let Some(first) = all.first_mut() {
        first.took = Some(code.took);
    }
    all
}
