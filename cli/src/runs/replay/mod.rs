//! Replay: the work of a dump once more, on the model.
//!
//! Memory lies where it lay, the address spaces are the dump's own, and the part is what its registers say. Only the firmware and
//! its address space are new: the model plays the firmware, and needs no more than a stub.  Never: names the runtime, so that
//! the work of any driver runs.

mod driver;
mod ram;
mod stopped;

use crate::input::{engine_choice, reorder_choice, thread_choice};
use crate::outcome::Failure;
use crate::output::streams::talk;
use crate::runs::known_lines::{place_among, with_place};
use driver::{Driver, Stuck, Work};
use eitri_csf::product::GpuId;
use eitri_csf::registers::identity;
use eitri_csf::table::Register;
use eitri_dump::walk::{Space, Translation};
use eitri_dump::{Dump, Memory, Region, Source, Stream, Unreadable};
use eitri_model::diagnosis::Diagnosis;
use eitri_model::{Config, Gpu, PhysicalMemory, Product, stub_firmware};
use miette::Diagnostic;
use ram::Ram;
use std::time::{Duration, Instant};
pub(crate) use stopped::{Ended, Stopped, stop};

/// Regions of memory that the dump afterwards may have.
const REGIONS: usize = 1 << 14;
/// Model's time that a replay may take, in nanoseconds.
const LIMIT: u64 = 10_000_000_000;

/// Why there is no replay.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum ReplayError {
    #[error("the dump has no GPU_ID: which part is the model to be?")]
    NoId,
    #[error("the model can't be this part: {0}")]
    Part(GpuId),
    #[error("there is nothing to run: no stream of the dump has instructions left in its ring")]
    #[diagnostic(help("`eitri dump show` lists the streams"))]
    Nothing,
    #[error("the dump has no stream {0} that can be run")]
    #[diagnostic(help("`eitri dump show` lists the streams, as group and number: 0.1"))]
    NoSuchStream(StreamName),
    #[error(
        "position {position:#x} is not one of the ring's, {first:#x} to {last:#x}, or no multiple of 8"
    )]
    Position {
        position: u64,
        first: u64,
        last: u64,
    },
    #[error(transparent)]
    Stuck(Stuck),
    #[error("the dump afterwards can't be written: {0}")]
    Dump(String),
    #[error("no stream of the dump starts a compute job: there is nothing to step through")]
    #[diagnostic(help("`eitri dump replay` runs draws too"))]
    NoDispatch,
    #[error(
        "the streams of the dump start {found} compute jobs: there is none with number {wanted}"
    )]
    FewDispatches { wanted: usize, found: usize },
}

/// A stream as people name it: `0.1` is stream 1 of group 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamName {
    pub(crate) slot: u32,
    pub(crate) number: u32,
}

impl std::fmt::Display for StreamName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.slot, self.number)
    }
}

impl std::str::FromStr for StreamName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<StreamName, &'static str> {
        let parse = |text: &str| text.parse().ok();
        let (slot, number) = text
            .split_once('.')
            .ok_or("a stream is GROUP.STREAM, such as 0.1")?;
        let both = parse(slot).zip(parse(number));
        let (slot, number) = both.ok_or("a stream is GROUP.STREAM, such as 0.1")?;
        Ok(StreamName { slot, number })
    }
}

/// What is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// This stream alone.
    pub(crate) only: Option<StreamName>,
    /// From this position of the ring.
    pub(crate) from: Option<u64>,
    /// Real time that it may take.
    pub(crate) timeout: Duration,
}

/// What became of it.
pub(crate) struct Replayed {
    /// What the model thinks of the work.
    pub(crate) diagnoses: Vec<String>,
    /// What it says besides: which fragment failed.
    pub(crate) notes: Vec<String>,
    /// Streams that were not done when it ended.
    pub(crate) unfinished: Vec<StreamName>,
    /// The GPU afterwards, as a dump.
    pub(crate) file: Vec<u8>,
}

/// The model with its memory, as what a dump is taken from.
struct After(Driver);

impl Memory for After {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        self.0
            .ram
            .read(address, bytes)
            .map_err(|_| Unreadable { address })
    }
}

impl Source for After {
    fn register(&mut self, offset: u32) -> u32 {
        self.0.gpu.read32(&mut self.0.ram, offset)
    }

    fn producer(&self) -> &str {
        concat!(
            "Eitri ",
            env!("CARGO_PKG_VERSION"),
            ", a replay on the model"
        )
    }
}

/// Runs the work of a dump.
pub(crate) fn replay(dump: &Dump<'_>, options: &Options) -> Result<Replayed, Failure> {
    run(dump, options).map_err(Failure::refused)
}

/// A model on which the streams of a dump are about to run.
fn prepare(dump: &Dump<'_>, options: &Options, product: Product) -> Result<Driver, ReplayError> {
    let works = works(dump, options)?;
    let firmware = stub_firmware();
    let config = Config {
        product,
        firmware: Some(firmware.clone()),
        engine: engine_choice::chosen(),
        workers: thread_choice::workers(),
        reorder: reorder_choice::chosen(),
        ..Config::default()
    };
    let ram = Ram::of(dump).map_err(|error| ReplayError::Stuck(error.into()))?;
    let boot = Driver::boot(Gpu::new(config), ram, &firmware);
    let mut driver = boot.map_err(ReplayError::Stuck)?;
    let mut spaces: Vec<Space> = works.iter().map(|(_, space)| *space).collect();
    spaces.dedup_by_key(|space| space.number);
    for space in &spaces {
        driver.enable_space(space).map_err(ReplayError::Stuck)?;
    }
    // What the driver of the replay does wrong is no finding about the dump.
    driver.gpu.clear_diagnoses();
    let works: Vec<Work> = works.into_iter().map(|(work, _)| work).collect();
    for group in works.chunk_by(|a, b| a.slot == b.slot) {
        driver.start_group(group).map_err(ReplayError::Stuck)?;
    }
    Ok(driver)
}

fn run(dump: &Dump<'_>, options: &Options) -> Result<Replayed, ReplayError> {
    let end = Instant::now() + options.timeout;
    let mut driver = prepare(dump, options, product(dump)?)?;
    let left = driver.run(end, LIMIT);
    if !left.is_empty() {
        let Driver { gpu, ram, .. } = &mut driver;
        gpu.explain_waits(ram);
    }
    let Driver { gpu, ram, .. } = &mut driver;
    let mut named = |diagnosis: &Diagnosis| {
        let place = place_among(dump.lines(), &diagnosis.misuse, gpu, ram);
        with_place(diagnosis, place.as_ref())
    };
    let mut diagnoses: Vec<String> = gpu.diagnoses().iter().map(&mut named).collect();
    let notes = gpu.notes().iter().map(named).collect();
    if driver.gpu.dropped_diagnoses() != 0 {
        diagnoses.push(format!(
            "{} more like these",
            driver.gpu.dropped_diagnoses()
        ));
    }
    let name = |work: &Work| StreamName {
        slot: work.slot,
        number: work.stream,
    };
    let mut file = Vec::new();
    let mut room = vec![Region::default(); REGIONS];
    eitri_dump::collect(&mut After(driver), &mut room, &mut file)
        .map_err(|error| ReplayError::Dump(error.to_string()))?;
    eitri_dump::add_lines(&mut file, dump.line_notes());
    Ok(Replayed {
        diagnoses,
        notes,
        unfinished: left.iter().map(name).collect(),
        file,
    })
}

/// The part that the dump was taken of: what the model knows of its product, and the registers of the dump.
fn product(dump: &Dump<'_>) -> Result<Product, ReplayError> {
    let id = dump.gpu_id().ok_or(ReplayError::NoId)?;
    let same = |product: &Product| {
        let part = product.part.gpu_id;
        (part.arch(), part.product_number()) == (id.arch(), id.product_number())
    };
    let arch = id.arch().filter(|arch| eitri_cs::SUPPORTED.contains(*arch));
    let known = Product::all().find(same);
    let known = known.or_else(|| Product::all().find(|product| Some(product.arch()) == arch));
    let mut product = known
        .filter(|_| arch.is_some())
        .ok_or(ReplayError::Part(id))?;
    // What only some systems on chip need is nothing of the work's.
    product.needs_hash = None;
    let mut take = |row: Register, to: &mut dyn FnMut(&mut Product, u64)| {
        if let Some(value) = dump.register(row) {
            to(&mut product, value);
        }
    };
    take(identity::GPU_ID, &mut |it, value| {
        it.part.gpu_id = GpuId(value as u32)
    });
    take(identity::L2_FEATURES, &mut |it, value| {
        it.part.l2_features = value as u32
    });
    take(identity::TILER_FEATURES, &mut |it, value| {
        it.part.tiler_features = value as u32
    });
    take(identity::MEM_FEATURES, &mut |it, value| {
        it.part.mem_features = value as u32
    });
    take(identity::MMU_FEATURES, &mut |it, value| {
        it.part.mmu_features = value as u32
    });
    take(identity::AS_PRESENT, &mut |it, value| {
        it.part.as_present = value as u32
    });
    take(identity::SHADER_PRESENT, &mut |it, value| {
        it.part.shader_present = value
    });
    take(identity::TILER_PRESENT, &mut |it, value| {
        it.part.tiler_present = value
    });
    take(identity::L2_PRESENT, &mut |it, value| {
        it.part.l2_present = value
    });
    take(identity::GPU_FEATURES, &mut |it, value| {
        it.gpu_features = value
    });
    Ok(product)
}

/// The streams to run, in order of their groups, each with its address space.
fn works(dump: &Dump<'_>, options: &Options) -> Result<Vec<(Work, Space)>, ReplayError> {
    let mut works: Vec<(Work, Space)> = Vec::new();
    for stream in dump.streams() {
        let name = StreamName {
            slot: stream.slot,
            number: stream.number,
        };
        if options.only.is_some_and(|only| only != name) {
            continue;
        }
        match work(dump, stream, options.from)? {
            Ok(found) => works.push(found),
            Err(why) => talk!("stream {name} is not run: {why}"),
        }
    }
    works.sort_by_key(|(work, _)| (work.slot, work.stream));
    works.dedup_by_key(|(work, _)| (work.slot, work.stream));
    match options.only {
        Some(only) if works.is_empty() => Err(ReplayError::NoSuchStream(only)),
        None if works.is_empty() => Err(ReplayError::Nothing),
        _ => Ok(works),
    }
}

/// What is run of a stream, or why nothing is.
fn work(
    dump: &Dump<'_>,
    stream: &Stream<'_>,
    from: Option<u64>,
) -> Result<Result<(Work, Space), &'static str>, ReplayError> {
    let ring = stream.ring;
    let Some(bytes) = u32::try_from(ring.bytes)
        .ok()
        .filter(|bytes| bytes.is_power_of_two())
    else {
        return Ok(Err("its ring has no size that a ring can have"));
    };
    let space = dump
        .group(stream.slot)
        .and_then(|group| group.address_space());
    let space = space.and_then(|space| u8::try_from(space).ok());
    let space = space.and_then(|number| dump.space(number));
    let Some(space) = space else {
        return Ok(Err("the dump has no registers of its address space"));
    };
    if !matches!(
        space.translation(),
        Translation::Tables { .. } | Translation::Identity
    ) {
        return Ok(Err("its address space maps nothing"));
    }
    let last = ring.insert & !7;
    let oldest = last.saturating_sub(ring.bytes);
    let first = match from {
        Some(position) if position % 8 != 0 || !(oldest..last).contains(&position) => {
            return Err(ReplayError::Position {
                position,
                first: oldest,
                last,
            });
        }
        Some(position) => position,
        None => begin(dump, stream, oldest),
    };
    if first >= last {
        return Ok(Err("its ring is empty"));
    }
    let work = Work {
        slot: stream.slot,
        stream: stream.number,
        space: space.number.into(),
        ring: (ring.address, bytes),
        positions: (first, last),
    };
    Ok(Ok((work, space)))
}

/// Where a stream begins: at the submission that was being consumed, if the dump tells of submissions; else everything that is
/// still in the ring, since nothing says where the unfinished work begins.
fn begin(dump: &Dump<'_>, stream: &Stream<'_>, oldest: u64) -> u64 {
    let own = dump.submissions().iter().filter(|submission| {
        (submission.slot, submission.stream) == (stream.slot, stream.number)
            && submission.position >= oldest
            && submission.position % 8 == 0
    });
    let begun = own
        .clone()
        .filter(|submission| submission.position < stream.ring.extract);
    let last_begun = begun.map(|submission| submission.position).max();
    let first = own.map(|submission| submission.position).min();
    last_begun.or(first).unwrap_or(oldest)
}
