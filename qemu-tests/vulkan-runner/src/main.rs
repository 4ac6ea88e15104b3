//! Runs compute kernels and draws scenes through Vulkan, and compares what they leave with what is expected: `ok NAME`, `FAIL NAME: …`
//! with the first difference, or `skipped NAME: …` with the feature that the device lacks, then `N passed, N failed`, of
//! scenes also `N skipped`.
//!
//!     vulkan-runner [--opt] [--timed] [--keep FOLDER | --record FOLDER] [--lose CASE.json] CASE.json...
//!     vulkan-runner [--opt] [--timed] [--keep FOLDER | --record FOLDER] --draw SCENE.json...
//!
//! With `--timed` each scene that passes is drawn once more, and each case's dispatch is repeated in one submission of at least 5 ms,
//! with the same inputs each time; the line is `ok NAME SECONDS`: of scenes from the submission to its end, of cases what a dispatch takes.
//!
//! `--keep` leaves what differs of a scene's expectation N in `NAME-N.bin`, and of a case that differs the output at each binding, by its
//! number in the file. `--record` leaves all that is asked for so, and compares nothing: what nobody knows yet comes from a driver.
//!
//! The case after `--lose` runs first, on a device of its own, which it must lose: it never ends, and the driver takes the GPU
//! away from it. `cases/` has one.
//!
//! A guest of `eitri linux` runs it: so the kernels pass through an unmodified Vulkan driver and an unmodified kernel to the model.
//! Exit status: 0 all passed; 1 some did not; 2 there is no driver, or a case can't be read.
//!
//! `unsafe` is Vulkan's: [`device`] owns the device and all that is made on it.

mod device;
mod draw;
mod features;
mod resources;
mod run;

use device::Device;
use eitri_compute_cases::{Case, Module};
use eitri_draw_scenes::Scene;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// How often a case is measured, of which the shortest counts, and the time that the dispatches of a submission take together.
const TIMES: usize = 5;
const TOGETHER: Duration = Duration::from_millis(5);

fn main() -> ExitCode {
    match run_all(std::env::args().skip(1)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("vulkan-runner: {error}");
            ExitCode::from(2)
        }
    }
}

/// Where what comes out of scenes is left.
struct Kept {
    folder: PathBuf,
    /// All of it, and nothing is compared; else what differs.
    all: bool,
}

impl Kept {
    /// Leaves what came out as number so and so of a case or a scene.
    fn leave(&self, name: &str, number: usize, bytes: &[u8]) -> Result<(), device::Error> {
        let file = self.folder.join(format!("{name}-{number}.bin"));
        std::fs::write(&file, bytes).map_err(|error| device::Error::Unkept(file, error))
    }
}

/// What was asked for.
#[derive(Default)]
struct Request {
    optimised: bool,
    timed: bool,
    /// Where to leave what comes out.
    kept: Option<Kept>,
    /// A case that never ends.
    lost: Option<Case>,
    cases: Vec<Case>,
    scenes: Vec<Scene>,
}

impl Request {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Request, Box<dyn Error>> {
        let mut request = Request::default();
        let mut draws = false;
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--opt" => request.optimised = true,
                "--timed" => request.timed = true,
                "--draw" => draws = true,
                "--keep" | "--record" => {
                    let folder = arguments.next().ok_or("--keep, --record: which folder?")?;
                    let (folder, all) = (folder.into(), argument == "--record");
                    request.kept = Some(Kept { folder, all });
                }
                "--lose" => {
                    let path = arguments.next().ok_or("--lose: which case?")?;
                    request.lost = Some(Case::read(Path::new(&path))?);
                }
                path if draws => request.scenes.push(Scene::read(Path::new(path))?),
                path => request.cases.push(Case::read(Path::new(path))?),
            }
        }
        Ok(request)
    }
}

/// Results so far.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Tally {
    /// Prints a result, and counts it.
    fn count(&mut self, name: &str, result: Result<Option<Duration>, device::Error>) {
        match result {
            Ok(took) => {
                match took {
                    Some(took) => println!("ok {name} {}", took.as_secs_f64()),
                    None => println!("ok {name}"),
                }
                self.passed += 1;
            }
            Err(device::Error::Lacks(feature)) => {
                println!("skipped {name}: {feature}");
                self.skipped += 1;
            }
            Err(error) => {
                println!("FAIL {name}: {error}");
                self.failed += 1;
            }
        }
    }
}

/// Does what was asked, and tells how many cases failed.
fn run_all(arguments: impl Iterator<Item = String>) -> Result<usize, Box<dyn Error>> {
    let request = Request::read(arguments)?;
    let module = if request.optimised {
        Module::Optimised
    } else {
        Module::Plain
    };
    let mut device = Device::open()?;
    eprintln!("vulkan-runner: {}", device.name());
    let kept = request.kept.as_ref();
    let mut tally = Tally::default();
    if let Some(case) = &request.lost {
        let other = Device::open()?;
        let lost = run::lose(&other, case, module);
        tally.count(&case.name, lost.map(|()| None));
    }
    for case in &request.cases {
        let ran = if request.timed {
            run::run_timed(&device, case, module, (TIMES, TOGETHER)).map(Some)
        } else {
            run::run(&device, case, module, kept).map(|()| None)
        };
        tally.count(&case.name, ran);
    }
    for scene in &request.scenes {
        let drawn = draw::draw(&device, scene, request.optimised, request.timed, kept);
        let lost = drawn.as_ref().is_err_and(device::Error::is_loss);
        tally.count(&scene.file.name, drawn);
        if lost {
            device = Device::open()?;
        }
    }
    let Tally {
        passed,
        failed,
        skipped,
    } = tally;
    if request.scenes.is_empty() {
        println!("{passed} passed, {failed} failed");
    } else {
        println!("{passed} passed, {failed} failed, {skipped} skipped");
    }
    Ok(failed)
}
