//! `eitri bench boot`: register accesses from power-off to the first result, against the fewest that could be.

use crate::input::shader_file;
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::runs::dispatch;
use crate::workspace::Workspace;
use eitri_csf::registers::at_offset;
use eitri_model::{Config, Event, Nanoseconds, Sink, stub_firmware};
use eitri_on_model::Machine;
use eitri_program::Program;
use eitri_runtime::{Device, Done, Options, QueueConfig, Storage};
use miette::Diagnostic;
use serde_json::json;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

/// A shader with one buffer.
const SHADER: &str = "examples/embed/double.wgsl";
/// Version of the JSON's shape.
const SCHEMA: u32 = 1;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Print each access below its step, in order
    #[arg(long, conflicts_with = "json")]
    list: bool,
}

/// The driver could not do it.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("no result: {0}")]
struct NoResult(String);

/// One of them.
#[derive(Clone, Copy, Debug)]
struct Access {
    written: bool,
    offset: u32,
    value: u32,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Access {
            written,
            offset,
            value,
        } = *self;
        let direction = if written { "write" } else { "read " };
        write!(f, "{direction} {offset:#08x} {value:#010x}")?;
        let Some(found) = at_offset(offset) else {
            return Ok(());
        };
        write!(f, " {}", found.register.name)?;
        if found.register.count > 1 {
            write!(f, "[{}]", found.index)?;
        }
        if found.high_word {
            f.write_str(", high word")?;
        }
        Ok(())
    }
}

/// Accesses of one step.
#[derive(Clone, Debug, Default)]
struct Accesses {
    reads: u64,
    writes: u64,
    order: Vec<Access>,
    /// Registers that were read.
    read: BTreeSet<u32>,
    /// Registers that were written, with what.
    written: BTreeSet<(u32, u32)>,
}

impl Accesses {
    fn all(&self) -> u64 {
        self.reads + self.writes
    }

    /// Each register read once, each value written once: no driver that learns and says the same does with less.
    fn least(&self) -> u64 {
        (self.read.len() + self.written.len()) as u64
    }
}

struct Listener(Rc<RefCell<Accesses>>);

impl Sink for Listener {
    fn event(&mut self, _: Nanoseconds, event: Event) {
        let mut accesses = self.0.borrow_mut();
        match event {
            Event::Read { offset, value } => {
                let written = false;
                accesses.order.push(Access {
                    written,
                    offset,
                    value,
                });
                accesses.reads += 1;
                accesses.read.insert(offset);
            }
            Event::Write { offset, value } => {
                let written = true;
                accesses.order.push(Access {
                    written,
                    offset,
                    value,
                });
                accesses.writes += 1;
                accesses.written.insert((offset, value));
            }
            _ => {}
        }
    }

    fn wants_instructions(&self) -> bool {
        false
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let path = Workspace::find()?.root().join(SHADER);
    let shader = shader_file::load(&path.to_string_lossy())?;
    let compiled = dispatch::compile(&shader, &eitri_shaderc::Options::default())?;
    let steps = measure(&compiled.program)
        .map_err(|error| Failure::refused(NoResult(error.to_string())))?;
    if args.json {
        let steps = steps.iter().map(|(name, it)| {
            json!({ "step": name, "reads": it.reads, "writes": it.writes, "least": it.least() })
        });
        outln!(
            "{}",
            json!({ "schema": SCHEMA, "steps": steps.collect::<Vec<_>>() })
        )?;
        return Ok(Status::Good);
    }
    outln!(
        "{:<40} {:>6} {:>6} {:>6} {:>6}",
        "",
        "reads",
        "writes",
        "all",
        "least"
    )?;
    let (mut all, mut least) = (0, 0);
    for (name, it) in &steps {
        let (reads, writes) = (it.reads, it.writes);
        outln!(
            "{name:<40} {reads:>6} {writes:>6} {:>6} {:>6}",
            it.all(),
            it.least()
        )?;
        for access in it.order.iter().filter(|_| args.list) {
            outln!("    {access}")?;
        }
        all += it.all();
        least += it.least();
    }
    outln!(
        "{:<40} {:>6} {:>6} {all:>6} {least:>6}",
        "from power-off to the first result",
        "",
        ""
    )?;
    Ok(Status::Good)
}

/// The accesses of each step.
#[expect(
    clippy::result_large_err,
    reason = "the runtime's errors carry what was seen"
)]
fn measure(program: &[u8]) -> Result<Vec<(String, Accesses)>, Box<dyn Error>> {
    let accesses = Rc::new(RefCell::new(Accesses::default()));
    let machine = Machine::new(Config::default());
    machine.gpu(|gpu| gpu.trace_to(Some(Box::new(Listener(Rc::clone(&accesses))))));
    let mut steps = Vec::new();
    let mut report = |done: &Done<'_>| {
        steps.push((done.step.to_string(), accesses.take()));
    };
    let firmware = stub_firmware();
    let mut storage = Storage::<1, 4, 16>::new();
    let options = Options::default();
    let mut device = Device::bring_up(machine, &firmware, &mut storage, options, &mut report)?;
    let program = Program::parse(program)?;
    let mut bytes = [0; 256];
    let queue = device.create_queue(QueueConfig::default())?;
    let space = device.space(queue)?;
    let pipeline = device.create_pipeline(space, &program)?;
    let buffer = device.create_buffer(space, bytes.len() as u64)?;
    device.write_buffer(buffer, 0, &bytes)?;
    let set = device.create_descriptor_set(pipeline, 0)?;
    device.bind_buffer(set, 0, buffer)?;
    let commands = device.create_command_buffer(space)?;
    device.record(commands, |recorder| {
        recorder.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
        recorder.dispatch([1, 1, 1])?;
        Ok(())
    })?;
    let mut step = |name: &str| steps.push((name.to_owned(), accesses.take()));
    step("a queue, and commands for it");
    let fence = device.submit(queue, commands)?;
    step("submission");
    let status = device.wait(fence, Duration::from_secs(1));
    if status != eitri_runtime::Status::Done {
        return Err(format!("{status:?}").into());
    }
    step("until the job is done");
    device.read_buffer(buffer, 0, &mut bytes)?;
    step("its result");
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_twice_counts_once_in_the_least() {
        let accesses = Rc::new(RefCell::new(Accesses::default()));
        let mut sink = Listener(Rc::clone(&accesses));
        for value in [1, 2, 2] {
            sink.event(0, Event::Read { offset: 8, value });
            sink.event(0, Event::Write { offset: 8, value });
        }
        let accesses = accesses.borrow();
        assert_eq!((accesses.all(), accesses.least()), (6, 1 + 2));
    }

    #[track_caller]
    fn check(offset: u32, expected: &str) {
        let (written, value) = (true, 5);
        let access = Access {
            written,
            offset,
            value,
        };
        assert_eq!(access.to_string(), expected);
    }

    #[test]
    fn an_access_is_listed_with_its_register() {
        check(0x30, "write 0x000030 0x00000005 GPU_COMMAND");
        check(
            0x2444,
            "write 0x002444 0x00000005 AS_TRANSTAB[1], high word",
        );
        check(0x3F0, "write 0x0003f0 0x00000005");
    }
}
