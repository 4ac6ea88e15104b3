//! Groups and their streams: words, rings, the instructions around the command pointer, the jobs before it.

use super::View;
use super::entry::Entry;
use super::fault::Found;
use super::job;
use super::map::Map;
use super::trace::{Keep, MOST_STEPS, Registers, Step, Trace, Tracer};
use crate::note::{NONE, Ring};
use crate::read::{Group, Stream};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;
use eitri_cs::Arch;
use eitri_cs::field::{Access, Extent, FieldKind};
use eitri_cs::instr::Instr;
use eitri_cs::text::{Syntax, disassemble};
use eitri_cs::{Pair, Reg};
use eitri_csf::interface::control::{GROUP_CONTROL, STREAM_CONTROL};
use eitri_csf::interface::group::{CSG_INPUT, CSG_OUTPUT};
use eitri_csf::interface::stream::{
    BlockedReason, CS_KERNEL_INPUT, CS_KERNEL_OUTPUT, CS_STATUS_BLOCKED_REASON, CS_STATUS_CMD_PTR,
    blocked_reason,
};

/// Instructions that are shown before and behind the command pointer.
const BEFORE: usize = 12;
const BEHIND: usize = 6;
/// Instructions that are shown of what was called, if the pointer is not known.
const CALLED: usize = 48;
/// Jobs that are shown before the command pointer.
const JOBS: usize = 2;
/// The same if everything is wanted.
const ALL_JOBS: usize = 64;
/// Bytes of the ring before EXTRACT that are followed: what set registers may lie further back.
const HISTORY: u64 = 16 << 10;

/// The groups, those with a fault first.
pub(super) fn entries(view: &View<'_>, faults: &[Found]) -> Vec<Entry> {
    let is_guilty = |slot: u32, space: Option<u32>| {
        faults.iter().any(|found| {
            let fault = &found.fault;
            fault.slot == slot
                || (fault.slot == NONE && fault.space != NONE && Some(fault.space) == space)
        })
    };
    let mut groups: Vec<&Group<'_>> = view.dump.groups().iter().collect();
    groups.sort_by_key(|group| (!is_guilty(group.slot, group.address_space()), group.slot));
    let mut entries: Vec<Entry> = groups
        .iter()
        .map(|group| one(view, group, faults))
        .collect();
    // Streams of which the dump has no group.
    for stream in view.dump.streams() {
        if view.dump.group(stream.slot).is_none() {
            entries.push(of_stream(view, stream, None));
        }
    }
    entries
}

fn one(view: &View<'_>, group: &Group<'_>, faults: &[Found]) -> Entry {
    let space = group.address_space();
    let text = match (group.space, space) {
        (NONE, None) => String::from("not on its slot, address space unknown"),
        (NONE, Some(space)) => format!("not on its slot, address space {space} when it was"),
        (space, _) => format!("address space {space}"),
    };
    let mut entry = Entry::new(format!("group {}", group.slot), text);
    let is_guilty = |number: u32| {
        let wanted = (group.slot, number);
        faults
            .iter()
            .any(|found| (found.fault.slot, found.fault.stream) == wanted)
    };
    let of_group = |stream: &&Stream<'_>| stream.slot == group.slot;
    let mut streams: Vec<&Stream<'_>> = view.dump.streams().iter().filter(of_group).collect();
    // The guilty first, then those that have work.
    let is_idle = |stream: &Stream<'_>| stream.ring.insert == stream.ring.extract;
    streams.sort_by_key(|stream| (!is_guilty(stream.number), is_idle(stream), stream.number));
    for stream in streams {
        let is_unused = stream.ring.insert == 0 && !is_guilty(stream.number);
        entry.push(match is_unused && !view.options.all {
            true => Entry::new(format!("stream {}", stream.number), "was never used"),
            false => of_stream(view, stream, space),
        });
    }
    let words = Entry::heading("words").with([
        view.block(&GROUP_CONTROL, group.words.control),
        view.block(&CSG_INPUT, group.words.input),
        view.block(&CSG_OUTPUT, group.words.output),
    ]);
    entry.push(words);
    entry
}

/// Why the stream does not go on, in a few words.
fn state(stream: &Stream<'_>) -> String {
    let Some(word) = stream.words.output.get(CS_STATUS_BLOCKED_REASON) else {
        return String::from("state unknown");
    };
    match blocked_reason::REASON.get(word) {
        Some(BlockedReason::Unblocked) => {
            String::from("not blocked, when its status was last updated")
        }
        Some(reason) => String::from(reason.about()),
        None => format!("blocked for a reason that is not known ({word:#x})"),
    }
}

fn of_stream(view: &View<'_>, stream: &Stream<'_>, space: Option<u32>) -> Entry {
    let name = format!("stream {}", stream.number);
    let mut entry = Entry::new(name, state(stream));
    let Ring {
        address,
        bytes,
        insert,
        extract,
    } = stream.ring;
    let text = format!(
        "at {address:#x}, {bytes:#x} bytes; filled to {insert:#x}, consumed to {extract:#x}: {:#x} bytes wait",
        insert.saturating_sub(extract)
    );
    entry.note("ring", text);
    for submission in view.dump.submissions() {
        if (submission.slot, submission.stream) == (stream.slot, stream.number) {
            let end = submission.position.saturating_add(submission.bytes);
            let state = match (submission.position >= extract, end <= extract) {
                (true, _) => "waits",
                (_, true) => "was consumed",
                _ => "is being consumed",
            };
            let text = format!(
                "ring {:#x}..{end:#x}, instructions at {:#x}, {state}",
                submission.position, submission.start
            );
            entry.note(format!("submission {}", submission.sequence), text);
        }
    }
    let pointer = stream
        .words
        .output
        .get(CS_STATUS_CMD_PTR)
        .filter(|at| *at != 0);
    let text = match pointer {
        Some(at) => format!("{at:#x}"),
        None => String::from(
            "unknown: the stream's status was never updated; below, => is how far the ring was consumed",
        ),
    };
    entry.note("command pointer", text);
    match (view.arch, space.and_then(|space| view.map(space))) {
        (None, _) => entry.note(
            "instructions",
            "not shown: the dump does not say of which generation, or it is not known",
        ),
        (_, None) => entry.note("instructions", "not shown: the address space is not known"),
        (Some(arch), Some(map)) => instructions(view, map, arch, stream, pointer, &mut entry),
    }
    let words = Entry::heading("words").with([
        view.block(&STREAM_CONTROL, stream.words.control),
        view.block(&CS_KERNEL_INPUT, stream.words.input),
        view.block(&CS_KERNEL_OUTPUT, stream.words.output),
    ]);
    entry.push(words);
    entry
}

/// The positions of the ring that are followed, and why not all that is left of it.
fn positions(ring: Ring, all: bool) -> (u64, u64) {
    // Offsets are whole instructions; what a corrupt page says is rounded.
    let insert = ring.insert & !7;
    let oldest = insert.saturating_sub(ring.bytes);
    let extract = ring.extract.clamp(oldest, insert);
    let first = match all {
        true => oldest,
        false => oldest.max(extract.saturating_sub(HISTORY)),
    };
    (first & !7, insert)
}

fn instructions(
    view: &View<'_>,
    map: &Map,
    arch: Arch,
    stream: &Stream<'_>,
    pointer: Option<u64>,
    entry: &mut Entry,
) {
    let ring = stream.ring;
    if !ring.bytes.is_power_of_two() {
        let text = format!("not shown: a ring of {:#x} bytes is none", ring.bytes);
        return entry.note("instructions", text);
    }
    let tracer = Tracer {
        view,
        map,
        arch,
        ring: (ring.address, ring.bytes),
        positions: positions(ring, view.options.all),
    };
    let first = tracer.trace(Keep::Nothing);
    // Of several passes of one place the last that EXTRACT allows; without a pointer, the first that is not consumed.
    let next = ring.extract.min(ring.insert.saturating_sub(8));
    let is_here = |step: &Step| match pointer {
        Some(at) => step.address == at,
        None => step.depth == 0 && step.position == next,
    };
    let passed = |step: &Step| step.position < ring.extract || ring.extract == 0;
    let steps = &first.steps;
    let here = steps
        .iter()
        .rposition(|step| is_here(step) && passed(step))
        .or_else(|| steps.iter().rposition(is_here));
    // Without a pointer, what the instruction in the ring calls may have run.
    let last = here.map(|here| match pointer {
        Some(_) => here,
        None => {
            let position = steps[here].position;
            let called = steps[here..]
                .iter()
                .take_while(|step| step.position == position);
            here + called.count() - 1
        }
    });
    let jobs = if view.options.all { ALL_JOBS } else { JOBS };
    let trace = match here.zip(last) {
        Some((step, last)) => tracer.trace(Keep::Before { step, last, jobs }),
        None => first,
    };
    if trace.steps.len() >= MOST_STEPS {
        entry.note(
            "incomplete",
            format!("only {MOST_STEPS} instructions were followed"),
        );
    }
    if let (None, Some(at)) = (here, pointer) {
        entry.push(linear(view, map, arch, at));
    }
    let count = trace.steps.len();
    let range = match (here.zip(last), pointer) {
        _ if view.options.all => 0..count,
        (Some((here, last)), _) => {
            let end = last.min(here + CALLED) + 1 + BEHIND;
            here.saturating_sub(BEFORE)..end.min(count)
        }
        (None, Some(_)) => 0..0,
        // Nothing says how far it is: the newest.
        (None, None) => count.saturating_sub(BEFORE + BEHIND)..count,
    };
    if !range.is_empty() || pointer.is_none() {
        entry.push(listing(arch, &trace, range, here));
    }
    if let Some(registers) = &trace.here {
        entry.push(known(registers));
    }
    for (step, registers) in trace.jobs.iter().rev() {
        let mut job = job::entry(view, map, arch, trace.steps[*step], registers);
        if here.is_some_and(|here| *step > here) {
            job.note(
                "started",
                "unknown: the status does not say how far the stream is in what it called",
            );
        }
        entry.push(job);
    }
}

/// The registers that are known at the command pointer.
fn known(registers: &Registers) -> Entry {
    let mut text = String::new();
    for (number, value) in registers.known() {
        let separator = if text.is_empty() { "" } else { ", " };
        // Writing to a string does not fail.
        let _ = write!(text, "{separator}r{number} = {value:#x}");
    }
    if text.is_empty() {
        text.push_str("none");
    }
    Entry::new("registers known there", text)
}

/// The instructions of a trace; `=>` marks the command pointer, deeper calls are indented further.
fn listing(
    arch: Arch,
    trace: &Trace,
    range: core::ops::Range<usize>,
    here: Option<usize>,
) -> Entry {
    let mut entry = Entry::heading("instructions");
    let mut gaps = trace.gaps.iter().peekable();
    while gaps.peek().is_some_and(|(step, _)| *step < range.start) {
        gaps.next();
    }
    let mut registers = Replay::default();
    for index in range.clone() {
        let step = trace.steps[index];
        while let Some((_, why)) = gaps.next_if(|(at, _)| *at <= index && *at > range.start) {
            entry.push(Entry::line(format!("     … {why}")));
        }
        let mark = if Some(index) == here { "=>" } else { "  " };
        let indent = 2 * usize::from(step.depth);
        let values = registers.values(step.word, arch);
        entry.push(Entry::line(format!(
            "{mark} {:indent$}{:#x}: {:016x} {}{values}",
            "",
            step.address,
            step.word,
            text(step.word, arch)
        )));
    }
    for (_, why) in gaps.filter(|(at, _)| *at == range.end) {
        entry.push(Entry::line(format!("     … {why}")));
    }
    if entry.entries.is_empty() {
        entry.text = String::from("none: the ring is empty");
    }
    entry
}

/// What moves of the listing itself put into registers, shown where the next instructions read them.
#[derive(Default)]
struct Replay {
    moves: alloc::collections::BTreeMap<u8, u32>,
}

impl Replay {
    /// `  ; d92 = 0x…, r94 = 0x80`, of the registers that the instruction reads.
    fn values(&mut self, word: u64, arch: Arch) -> String {
        let mut text = String::new();
        let Ok(instr) = Instr::decode(word, arch) else {
            self.moves.clear();
            return text;
        };
        let info = instr.info();
        for field in info.fields {
            let bits = field.bits(arch).map(|bits| bits.of(word) as u8);
            let (Some(number), Access::Read, Extent::Kind) =
                (bits, field.columns.access, field.columns.extent)
            else {
                continue;
            };
            let value = match field.kind {
                FieldKind::Pair => self
                    .pair(number)
                    .map(|value| format!("d{number} = {value:#x}")),
                FieldKind::Reg => self
                    .moves
                    .get(&number)
                    .map(|value| format!("r{number} = {value:#x}")),
                _ => None,
            };
            if let Some(value) = value {
                text.push_str(if text.is_empty() { "  ; " } else { ", " });
                text.push_str(&value);
            }
        }
        match instr {
            Instr::Move32(i) => self.set(i.destination, i.immediate),
            Instr::Move48(i) => {
                self.set(i.destination.low(), i.immediate as u32);
                self.set(i.destination.high(), (i.immediate >> 32) as u32);
            }
            // Where a branch leads is not looked at here: nothing is known behind one.
            Instr::Branch(_) => self.moves.clear(),
            other => match other.usage(arch) {
                Ok(usage) => self
                    .moves
                    .retain(|number, _| !usage.writes.contains(Reg::new(*number))),
                Err(_) => self.moves.clear(),
            },
        }
        text
    }

    fn set(&mut self, register: Reg, value: u32) {
        self.moves.insert(register.number(), value);
    }

    fn pair(&self, number: u8) -> Option<u64> {
        let pair = Pair::new(number)?;
        let high = self.moves.get(&pair.high().number())?;
        let low = self.moves.get(&pair.low().number())?;
        Some(u64::from(*high) << 32 | u64::from(*low))
    }
}

/// The text of an instruction, or why it is none.
fn text(word: u64, arch: Arch) -> String {
    match disassemble(word, arch, Syntax::Eitri) {
        Ok(text) => text.to_string(),
        Err(error) => format!("error: {error}"),
    }
}

/// The words around an address that nothing in the ring leads to, as far as is known.
fn linear(view: &View<'_>, map: &Map, arch: Arch, at: u64) -> Entry {
    let why = "not reached from the ring by what is known: the words around the pointer, which may be no instructions";
    let mut entry = Entry::new("instructions", why);
    let first = at.saturating_sub(8 * BEFORE as u64);
    for address in (first..).step_by(8).take(BEFORE + 1 + BEHIND) {
        let mark = if address == at { "=>" } else { "  " };
        let (words, gap) = view.words(&map.space, address, 1);
        for word in words {
            let text = text(word, arch);
            entry.push(Entry::line(format!(
                "{mark} {address:#x}: {word:016x} {text}"
            )));
        }
        if let Some(why) = gap {
            entry.push(Entry::line(format!("{mark} {why}")));
        }
    }
    entry
}
