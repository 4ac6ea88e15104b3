//! One compute case from its module to a verdict: compile, run, compare.

use crate::input::buffer_source::BindingName;
use crate::input::check_arguments::Wanted;
use crate::input::given::Given;
use crate::input::gpu_choice::GpuChoice;
use crate::input::image_format;
use crate::output::streams::talk;
use crate::output::whole_file;
use crate::reports::executed::{Counter, Executed};
use crate::reports::timeline::{Both, Timeline, Timelines};
use crate::runs::batches::Batches;
use crate::runs::checked::{self, Subject};
use crate::runs::checking;
use crate::runs::code_checks::CodeChecks;
use crate::runs::debugged::{DebugLevel, Prepared};
use crate::runs::dispatch::{self, Done, Place, Request, Talk};
use crate::runs::job_clock::JobClock;
use crate::runs::known_lines::KnownLines;
use eitri_compute_cases::{Case, Image, Module, Place as CasePlace, Resource, ResourceKind};
use eitri_job::{Content, CoreDump, Wants};
use eitri_model::Fidelity;
use eitri_program::Program;
use eitri_runtime::{ImageInfo, SamplerInfo};
use eitri_shaderc::{Compiled, Error, Errors, Options, Robust, Target, ir3, valhall};
use std::path::Path;
use std::time::Duration;

/// What became of a case.
pub(crate) enum Verdict {
    /// All outputs are as expected.
    Passed(Box<Passed>),
    /// They are not, or something of ours went wrong; why.
    Failed(String),
    /// The compiler refuses the shader, or a job can't carry what it uses; what.
    Skipped(String),
}

/// What is known of a case that passed.
pub(crate) struct Passed {
    pub(crate) compiled: Compiled,
    /// On the host only, if it was counted.
    pub(crate) executed: Option<Executed>,
    /// How far the outputs can be trusted, if that was followed.
    pub(crate) fidelity: Fidelity,
}

/// How a case is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'t> {
    pub(crate) module: Module,
    pub(crate) place: Place,
    pub(crate) gpu: GpuChoice,
    /// Where the timeline of the job goes.
    pub(crate) timelines: Option<&'t Timelines>,
    pub(crate) robust: Robust,
    /// Longest that the job may take.
    pub(crate) limit: Duration,
    /// The folder that gets a core dump of the GPU for each job that fails.
    pub(crate) keep: Option<&'t Path>,
    /// Whether it is counted what the model executes. Then it is told of each instruction, and executes them one by one.
    pub(crate) counts: bool,
    /// What the checkers tell: a case of which an error or a warning is told has failed.
    pub(crate) check: &'t Wanted,
    /// The same of the checkers of machine code.
    pub(crate) check_code: &'t Wanted,
}

/// Compiles and runs a case.
pub(crate) fn run(case: &Case, setting: Setting<'_>) -> Verdict {
    match try_run(case, setting) {
        Ok(passed) => Verdict::Passed(Box::new(passed)),
        Err(verdict) => verdict,
    }
}

/// What a case executes, and how long the model takes for it.
pub(crate) struct Timed {
    pub(crate) executed: Executed,
    /// Real time of a dispatch: the shortest mean of a batch of each half.
    pub(crate) shortest: [Duration; 2],
}

/// Runs a case on the host once to count what it executes, and compares its outputs; then again and again on another device, with
/// nothing counted, in `runs` batches for each half of the measurement ([`Batches`]). The outputs of the first dispatch there are compared,
/// too.
pub(crate) fn time(case: &Case, setting: Setting<'_>, runs: u32) -> Result<Timed, Verdict> {
    let failed = |error: &dyn std::fmt::Display| Verdict::Failed(error.to_string());
    let passed = try_run(case, setting)?;
    let executed = passed.executed.unwrap_or_default();
    let compiled = passed.compiled;
    let program = Program::parse(&compiled.program).map_err(|error| failed(&error))?;
    let request = request(case, &program, setting)?;
    let clock = JobClock::default();
    let mut batches = Batches::new(runs);
    let mut again = || batches.again(clock.total());
    let sink = Some(clock.sink());
    let name = &case.name;
    let done = dispatch::execute_again_while(name, &compiled, &request, sink, &mut again)
        .map_err(|failure| failed(&failure))?;
    check(case, &done)?;
    let shortest = batches.shortest;
    Ok(Timed { executed, shortest })
}

/// Compiles a case's module with its specialisation constants.
pub(crate) fn compile(
    case: &Case,
    module: Module,
    robust: Robust,
    gpu: GpuChoice,
) -> Result<Compiled, Verdict> {
    compile_for(case, module, robust, gpu.target())
}

/// The same for a machine of any family.
pub(crate) fn compile_for(
    case: &Case,
    module: Module,
    robust: Robust,
    target: Target,
) -> Result<Compiled, Verdict> {
    let failed = |error: &dyn std::fmt::Display| Verdict::Failed(error.to_string());
    let spirv = case.module(module).map_err(|error| failed(&error))?;
    let options = options(case, robust, target);
    eitri_shaderc::compile(&spirv, &options).map_err(|errors| match is_defect(&errors) {
        true => failed(&errors),
        false => Verdict::Skipped(one_line(&errors)),
    })
}

/// How a case is compiled.
fn options(case: &Case, robust: Robust, target: Target) -> Options {
    Options {
        entry: Some(case.entry.clone()),
        spec_constants: case.spec_constants.clone(),
        robust,
        target,
        ..Options::default()
    }
}

/// A case for the debugger.
pub(crate) fn prepare(case: &Case, module: Module, gpu: GpuChoice) -> Result<Prepared, String> {
    let why = |verdict| match verdict {
        Verdict::Failed(why) | Verdict::Skipped(why) => why,
        // Nothing was run.
        Verdict::Passed(_) => String::new(),
    };
    let compiled = compile(case, module, Robust::On, gpu).map_err(why)?;
    let program = Program::parse(&compiled.program).map_err(|error| error.to_string())?;
    let setting = Setting {
        module,
        place: Place::Host,
        gpu,
        timelines: None,
        robust: Robust::On,
        limit: Duration::from_secs(60),
        keep: None,
        counts: false,
        check: &Wanted::Nothing,
        check_code: &Wanted::Nothing,
    };
    let request = request(case, &program, setting).map_err(why)?;
    Ok(Prepared {
        path: case.module_path(module).display().to_string(),
        spirv: case.module(module).map_err(|error| error.to_string())?,
        options: options(case, Robust::On, gpu.target()),
        groups: request.groups,
        push_constants: request.push_constants,
        resources: request.resources,
        addresses: vec![],
        gpu,
        firmware: None,
        limit: request.limit,
        level: DebugLevel::Source,
    })
}

fn try_run(case: &Case, setting: Setting<'_>) -> Result<Passed, Verdict> {
    let failed = |error: &dyn std::fmt::Display| Verdict::Failed(error.to_string());
    let compiled = compile(case, setting.module, setting.robust, setting.gpu)?;
    let program = Program::parse(&compiled.program).map_err(|error| failed(&error))?;
    let request = request(case, &program, setting)?;
    let path = case.module_path(setting.module).display().to_string();
    let counter = Counter::default();
    let timeline = Timeline::default();
    // Instructions are told on the host alone.
    let counts = setting.counts && setting.place == Place::Host;
    let trace = match (counts, setting.timelines) {
        (true, None) => Some(counter.sink()),
        (true, Some(_)) => {
            let both: Box<dyn eitri_model::Sink> = Box::new(Both(counter.sink(), timeline.sink()));
            Some(both)
        }
        (false, None) => None,
        (false, Some(_)) => Some(timeline.sink()),
    };
    let code = CodeChecks::new(setting.check_code.clone(), setting.gpu.arch());
    let code = code.filter(|_| setting.place == Place::Host);
    let trace = match &code {
        Some(code) => Some(code.sink(trace)),
        None => trace,
    };
    let spirv = case
        .module(setting.module)
        .map_err(|error| failed(&error))?;
    let options = options(case, setting.robust, setting.gpu.target());
    let subject = Subject {
        spirv: &spirv,
        options: &options,
        groups: request.groups,
        push_constants: &request.push_constants,
        resources: &request.resources,
        unwritten: &[],
        addresses: &[],
        step_limit: checked::STEP_LIMIT,
    };
    let (done, told) = checking::collect(setting.check, &subject, || {
        dispatch::execute(&path, &compiled, &request, setting.place, trace)
    });
    if let Some(timelines) = setting.timelines {
        timelines.add(&case.name, &timeline);
    }
    let done = done.map_err(|failure| failed(&failure))?;
    if let Some(folder) = setting.keep
        && !done.result.dump.is_empty()
    {
        let path = folder.join(format!("{}.core", case.name));
        whole_file::put(&path, &done.result.dump).map_err(|failure| failed(&failure))?;
    }
    check(case, &done)?;
    if let Some(why) = told.first() {
        return Err(Verdict::Failed(format!("checks: {why}")));
    }
    if let Some(code) = &code {
        let checked = code.finish(&KnownLines::of_compute(&compiled));
        if let Some(why) = checking::loud_lines(&checked.findings, setting.check_code).first() {
            return Err(Verdict::Failed(format!("checks of machine code: {why}")));
        }
        if let Some(line) = checked.cut_line() {
            talk!("{}: {line}", case.name);
        }
    }
    for why in &told.left_out {
        talk!("{}: not checked: {why}", case.name);
    }
    let executed = counts.then(|| counter.executed(setting.gpu.arch()));
    let executed = executed.transpose().map_err(|error| failed(&error))?;
    Ok(Passed {
        compiled,
        executed,
        fidelity: done.fidelity,
    })
}

/// Whether an error is the compiler's own fault, not the shader's.
pub(crate) fn is_defect(errors: &Errors) -> bool {
    errors.0.iter().any(|error| match error {
        Error::Valhall(error) => matches!(
            error,
            valhall::Error::Broken { .. } | valhall::Error::Encode { .. }
        ),
        Error::Ir3(error) => matches!(error, ir3::Error::Broken { .. } | ir3::Error::Encode { .. }),
        Error::Broken(_) => true,
        Error::Spirv(_) | Error::Program(_) => false,
    })
}

/// All that the compiler refuses, on one line.
pub(crate) fn one_line(errors: &Errors) -> String {
    let texts: Vec<String> = errors.0.iter().map(ToString::to_string).collect();
    texts.join("; ").replace('\n', " ")
}

/// A job's name of a place.
fn name_of(place: CasePlace) -> BindingName {
    BindingName {
        set: place.set,
        binding: place.binding,
        element: place.element,
    }
}

/// The job of a case: what the program uses of its resources.
fn request(case: &Case, program: &Program<'_>, setting: Setting<'_>) -> Result<Request, Verdict> {
    let mut resources = Vec::new();
    for binding in program.bindings() {
        for element in 0..binding.count {
            let place = CasePlace {
                set: binding.set,
                binding: binding.binding,
                element,
            };
            let Some(resource) = case.resource(place) else {
                return Err(Verdict::Failed(format!(
                    "the shader uses binding {place}, which the case lacks"
                )));
            };
            let name = name_of(place);
            let content = content_of(resource)?;
            resources.push(Given::new(name, content, resource.before.clone()));
            if resource.kind == ResourceKind::CombinedImageSampler {
                resources.push(Given::sampler(name, SamplerInfo::default()));
            }
        }
    }
    let wanted = program.push_constant_bytes() as usize;
    Ok(Request {
        saves: resources.iter().map(|given| given.name).collect(),
        resources,
        push_constants: case.push_constants.iter().take(wanted).copied().collect(),
        groups: case.groups,
        gpu: setting.gpu,
        coherent: true,
        firmware: None,
        limit: setting.limit,
        wants: Wants {
            dump: match setting.keep {
                Some(_) => CoreDump::OnFailure,
                None => CoreDump::Never,
            },
            ..Wants::default()
        },
        talk: Talk::Quiet,
    })
}

/// What a resource of a case is to a job.
fn content_of(resource: &Resource) -> Result<Content, Verdict> {
    let lacking = || Verdict::Failed(format!("{} has no format", resource.name));
    let image = || resource.image.as_ref().ok_or_else(lacking);
    let format = |image: &Image| {
        let unknown = || Verdict::Failed(format!("format `{}` is not known", image.format));
        image_format::of_glsl(&image.format).ok_or_else(unknown)
    };
    Ok(match resource.kind {
        ResourceKind::StorageBuffer | ResourceKind::UniformBuffer => Content::Buffer,
        ResourceKind::UniformTexelBuffer | ResourceKind::StorageTexelBuffer => {
            Content::Texels(format(image()?)?)
        }
        ResourceKind::StorageImage | ResourceKind::CombinedImageSampler => {
            let image = image()?;
            Content::Image(ImageInfo::two_d(format(image)?, image.width, image.height))
        }
    })
}

fn check(case: &Case, done: &Done) -> Result<(), Verdict> {
    if let Some(failure) = &done.result.failure {
        return Err(Verdict::Failed(failure.text.trim_end().to_owned()));
    }
    // A wrong result is worth more than what led to it, but right results do not make a misuse good.
    let saved = &done.result.buffers;
    let after = |place: CasePlace| {
        let is_there = |buffer: &&eitri_job::result::SavedBuffer| {
            (buffer.set, buffer.binding, buffer.element)
                == (place.set, place.binding, place.element)
        };
        let buffer = saved.iter().find(is_there);
        buffer.map(|buffer| buffer.bytes.as_slice())
    };
    let told = done.diagnoses.join("; ");
    match (case.check(after), told.as_str()) {
        (Ok(()), "") => Ok(()),
        (Ok(()), told) => Err(Verdict::Failed(told.to_owned())),
        (Err(difference), "") => Err(Verdict::Failed(difference.to_string())),
        (Err(difference), told) => Err(Verdict::Failed(format!("{difference}; {told}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::thread_choice;
    use eitri_model::Workers;
    use eitri_on_model::Threads;
    use std::sync::Arc;

    /// All that a case leaves behind on one thread and on several: outputs, counters, times, diagnoses.
    fn run_on(case: &Case, numbers: &[usize]) -> Vec<String> {
        let setting = Setting {
            module: Module::Plain,
            place: Place::Host,
            gpu: GpuChoice::default(),
            timelines: None,
            robust: Robust::On,
            limit: Duration::from_secs(300),
            keep: None,
            counts: false,
            check: &Wanted::Nothing,
            check_code: &Wanted::Nothing,
        };
        let compiled = compile(case, setting.module, setting.robust, setting.gpu);
        let Ok(compiled) = compiled else {
            panic!("{} does not compile", case.name);
        };
        let program = Program::parse(&compiled.program).expect("a program");
        let Ok(mut request) = request(case, &program, setting) else {
            panic!("{} is no job", case.name);
        };
        request.wants.counters = true;
        let run = |threads: &usize| {
            let workers = (*threads > 1).then(|| {
                let seed = case.name.len() as u64 + *threads as u64;
                let workers: Arc<dyn Workers> = Arc::new(Threads::bent(*threads, seed));
                workers
            });
            thread_choice::set_for_test(workers);
            let done = dispatch::execute(&case.name, &compiled, &request, Place::Host, None);
            let done = done.unwrap_or_else(|_| panic!("{} on {threads} threads", case.name));
            assert!(check(case, &done).is_ok(), "{}", case.name);
            format!("{:?} {:?} {:?}", done.result, done.diagnoses, done.cores)
        };
        let seen = numbers.iter().map(run).collect();
        thread_choice::set_for_test(None);
        seen
    }

    #[test]
    fn kernels_do_the_same_on_any_number_of_threads() {
        // A clone without the shared folder has none.
        let Some(kernels) = eitri_testdata::shared("kernels") else {
            return;
        };
        let files = eitri_compute_cases::find(&kernels).expect("cases");
        for file in files {
            let case = Case::read(&file).expect("a case");
            let seen = run_on(&case, &[1, 2, 3]);
            // Megabytes: no need to print them.
            let same = seen.iter().all(|it| *it == seen[0]);
            assert!(same, "{} on several threads", case.name);
        }
    }
}
