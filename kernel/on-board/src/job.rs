//! Job: from a bundle to a result on the host, and every step on the console.

use crate::{Caching, MmioPlatform, ResultFile, take_gpu};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use eitri_boards::device_tree::INFERRED;
use eitri_boards::steps::Permission;
use eitri_boards::steps::bus::Buses;
use eitri_boards::{Board, Difference, Exit, HostError, HostFiles};
use eitri_csf::image::Image;
use eitri_csf::registers::identity::{GPU_ID, SHADER_PRESENT};
use eitri_job::result::{FailureKind, Sink};
use eitri_job::{Bundle, Ended, Verdict};
use eitri_kernel::{Kernel, power, println};
use eitri_runtime::{Done, Platform as _, Reporter, Step, Warning};

/// Longest command line.
pub const LINE_BYTES: usize = 4096;
/// Bytes of a job that are read at once.
const PIECE: usize = 1 << 20;
/// The word that leaves cache upkeep out, for a test to see that it is missed.
const CARELESS: &str = "careless";

/// Runs a job bundle on the board's GPU, and hands its result to the host, to the file that the command line names. An empty bundle
/// stands for that of the host's file which the command line names.
pub fn run_job(kernel: Kernel, bundle: &[u8]) -> Exit {
    let bundle = &*given(&kernel, bundle);
    match open(bundle).and_then(|bundle| run_bundle(&kernel, &bundle)) {
        Ok(ended) => exit_of(ended.verdict),
        Err(exit) => exit,
    }
}

/// The bundle that is linked into the image or, where that is empty, that of the host's file that the word `job=` names.
pub(crate) fn given<'b>(kernel: &Kernel, linked: &'b [u8]) -> Cow<'b, [u8]> {
    let mut buffer = [0; LINE_BYTES];
    let mut words = kernel.command_line(&mut buffer).split_ascii_whitespace();
    let path = words.find_map(|word| word.strip_prefix("job="));
    let (Some(files), Some(path), true) = (kernel.board.host_files(), path, linked.is_empty())
    else {
        return Cow::Borrowed(linked);
    };
    match content(files, path) {
        Ok(bundle) => Cow::Owned(bundle),
        Err(error) => {
            println!("job {path}: {error}");
            Cow::Borrowed(linked)
        }
    }
}

/// The content of a file of the host's.
fn content(files: HostFiles, path: &str) -> Result<Vec<u8>, HostError> {
    let mut file = files.open(path)?;
    let mut bytes = Vec::new();
    let mut length = 0;
    loop {
        bytes.resize(length + PIECE, 0);
        let room = bytes.get_mut(length..).unwrap_or_default();
        let read = files.read(&mut file, room)?;
        length += read;
        if read < PIECE {
            break;
        }
    }
    bytes.truncate(length);
    files.close(file)?;
    Ok(bytes)
}

/// Reads a bundle; what is wrong with it is said on the console.
pub(crate) fn open(bundle: &[u8]) -> Result<Bundle<'_>, Exit> {
    Bundle::parse(bundle).map_err(|error| {
        println!("no job: {error}");
        Exit::Refused
    })
}

/// Runs a bundle, and hands its result to the host; gives it, or how the image has to end without one.
pub(crate) fn run_bundle(kernel: &Kernel, bundle: &Bundle<'_>) -> Result<Ended, Exit> {
    let bundle = match firmware(kernel, bundle.firmware()) {
        Some(firmware) => bundle.with_firmware(firmware),
        None => return Err(Exit::Refused),
    };
    let mut buffer = [0; LINE_BYTES];
    let line = kernel.command_line(&mut buffer);
    let platform = start_gpu(kernel, line)?;
    let mut words = line.split_ascii_whitespace();
    let path = words.find_map(|word| word.strip_prefix("result="));
    match (kernel.board.host_files(), path) {
        (Some(files), Some(path)) => {
            let done = ResultFile::create(files, path).and_then(|mut file| {
                let ended = run(platform, &bundle, &mut file)?;
                file.finish()?;
                Ok(ended)
            });
            done.map_err(|error| {
                println!("result {path}: {error}");
                Exit::Failed
            })
        }
        _ => match run(platform, &bundle, &mut Nowhere) {
            Ok(ended) => Ok(ended),
            Err(never) => match never {},
        },
    }
}

/// The GPU's firmware: the image's own, or, where it has none, what the boot loader has put beside it. The console names it, or says
/// that there is none at all.
pub fn firmware<'f>(kernel: &Kernel, own: &'f [u8]) -> Option<&'f [u8]> {
    let found = match (own, kernel.file) {
        ([], None) => {
            println!(
                "no firmware for the GPU: none is in the image, and its boot loader has put none beside it"
            );
            None
        }
        ([], Some(file)) => Some(file),
        (own, _) => Some(own),
    };
    if let Some(firmware) = found {
        announce(firmware);
    }
    found
}

/// Names the firmware on the console, before anything is done with it.
fn announce(firmware: &[u8]) {
    let image = match Image::parse(firmware) {
        Ok(image) => image,
        Err(error) => return println!("firmware: {error}"),
    };
    let build = image.build_info().unwrap_or("unknown");
    match image.version() {
        Some(version) => println!("firmware: {build}, interface {version}"),
        None => println!("firmware: {build}"),
    }
}

/// Gives the board's GPU power, and takes it; the words of the command line say what is allowed for that. What is wrong is
/// said on the console.
///
/// # Errors
/// How the image has to end, if there is no such GPU.
pub fn start_gpu(kernel: &Kernel, line: &str) -> Result<MmioPlatform, Exit> {
    start_gpu_with(kernel, line, &mut ())
}

/// The same in an image that drives buses: what they supply the GPU with is looked at first.
///
/// # Errors
/// As for [`start_gpu`].
pub fn start_gpu_with(
    kernel: &Kernel,
    line: &str,
    buses: &mut impl Buses,
) -> Result<MmioPlatform, Exit> {
    let permission = match line.split_ascii_whitespace().any(|word| word == INFERRED) {
        true => Permission::InferredToo,
        false => Permission::SourcedOnly,
    };
    let ready = power::supply(kernel.board, buses);
    if let Err(error) = ready.and_then(|()| power::on(kernel.board, permission)) {
        println!("no power for the GPU: {error}");
        return Err(Exit::Failed);
    }
    let careless = line.split_ascii_whitespace().any(|word| word == CARELESS);
    let caching = match kernel.shared_is_cached && !careless {
        true => Caching::WriteBack,
        false => Caching::None,
    };
    let mut platform = match take_gpu(kernel.board, caching) {
        Ok(platform) => platform,
        Err(error) => {
            println!("no GPU: {error:?}");
            return Err(Exit::Failed);
        }
    };
    if let Some(difference) = difference(&mut platform, kernel.board) {
        println!("{difference}");
        if let Difference::Gpu { .. } = difference {
            return Err(Exit::Failed);
        }
    }
    Ok(platform)
}

/// What of the GPU is not as the board's.
fn difference(platform: &mut MmioPlatform, board: &Board) -> Option<Difference> {
    let expected = board.gpu.expected?;
    let gpu_id = platform.read32(GPU_ID.offset);
    let low = platform.read32(SHADER_PRESENT.offset);
    let high = platform.read32(SHADER_PRESENT.offset + 4);
    expected.difference(gpu_id, u64::from(high) << 32 | u64::from(low))
}

fn run<S: Sink>(
    platform: MmioPlatform,
    bundle: &Bundle<'_>,
    sink: &mut S,
) -> Result<Ended, S::Error> {
    eitri_job::run_and_keep(platform, bundle, &mut Log, sink)
}

/// How an image ends whose job has ended so.
pub(crate) fn exit_of(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Good => Exit::Success,
        Verdict::Failed(FailureKind::Refused | FailureKind::Unsupported) => Exit::Refused,
        Verdict::Failed(FailureKind::Device) => Exit::Failed,
    }
}

/// On a board that has no way to a host, the console is all that there is.
struct Nowhere;

impl Sink for Nowhere {
    type Error = core::convert::Infallible;

    fn put(&mut self, _bytes: &[u8]) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Says each step before it begins, in plain text: a wrong one may hang the machine.
struct Log;

impl Reporter for Log {
    fn begin(&mut self, step: Step) {
        println!("{step}...");
    }

    fn done(&mut self, done: &Done<'_>) {
        defmt::info!(
            "{}: {} ({=u64:us})",
            defmt::Display2Format(&done.step),
            defmt::Display2Format(&done.found),
            done.took.as_micros() as u64
        );
    }

    fn warn(&mut self, warning: &Warning) {
        println!("warning: {warning}");
    }
}
