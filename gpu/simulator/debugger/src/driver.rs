//! The life of a driver: the whole device, from its start on, with what the driver did to it replayed.
//!
//! A step is an access of the driver, a store of it to memory, or a turn of the device. Thread 0 is the machine: the driver, the
//! firmware, streams and the tiler. The others are the warps of the job whose turn is next, of compute jobs, vertices or fragments.
//! Guarantees: the device goes the same way as with the driver; where it does not, the session ends and says so.
//! In reading order: this file (steps), `collect` (what happens in them), `warp` (what runs), `show` (names), `tiles` (pictures).
mod collect;
mod show;
mod tiles;
mod warp;

use std::sync::Arc;

use eitri_model::{Attachments, Gpu, HostStep, PAGE, PhysicalMemory};

use crate::device::DeviceEvent;
use crate::execution::{Ahead, Execution, LaneState, Object, ScalarPlace, Touch};
use crate::machine::{Accessors, Listed, SharedPages};
use crate::picture::Picture;
use crate::program::{Instruction, Line, Path, Program};
use crate::value::Node;
use collect::Collected;
use warp::Standing;

/// The address at which the machine is: no instruction's.
const MACHINE: u64 = u64::MAX;

/// A driver's life, recorded.
pub struct Life {
    /// The device before the first step; its memory is zero.
    pub gpu: Gpu,
    /// Where the memory starts, and how many bytes it has.
    pub memory: (u64, u64),
    /// What the driver did.
    pub steps: Vec<HostStep>,
    /// The address space of the first job: addresses of the GPU are in it until a warp runs.
    pub space: u8,
    /// The programs whose warps run.
    pub programs: Vec<ListedProgram>,
    /// What the driver failed with, if it did.
    pub failure: Option<String>,
}

/// A program with its instructions.
#[derive(Clone, Debug)]
pub struct ListedProgram {
    /// GPU address of the first instruction.
    pub entry: u64,
    /// The name of its function.
    pub function: String,
    /// Its instructions, from the first on.
    pub listing: Vec<Listed>,
}

/// A driver's life under the debugger.
#[derive(Clone)]
pub struct DriverLevel {
    gpu: Gpu,
    memory: SharedPages,
    steps: Arc<[HostStep]>,
    /// The step that is next, and turns of it that are done.
    next: usize,
    turns: u32,
    failure: Option<Arc<str>>,
    /// How it has ended before the last step, if it has.
    broken: Option<Arc<str>>,
    /// What runs, and whether it has moved since it last had a turn.
    standing: Standing,
    has_moved: bool,
    /// What the last step did.
    happened: Vec<DeviceEvent>,
    collected: Collected,
    attachments: Option<Attachments>,
}

impl DriverLevel {
    /// The state before the first step, and the programs.
    pub fn new(life: Life) -> (DriverLevel, Program) {
        let (base, bytes) = life.memory;
        let mut level = DriverLevel {
            memory: SharedPages::new(base, bytes),
            gpu: life.gpu,
            steps: life.steps.into(),
            next: 0,
            turns: 0,
            failure: life.failure.map(Arc::from),
            broken: None,
            standing: Standing::new(life.space),
            has_moved: true,
            happened: vec![],
            collected: Collected::default(),
            attachments: None,
        };
        level.standing.update(&level.gpu);
        (level, program(life.programs))
    }

    /// Whether the next step is a turn of the device.
    fn is_turn_next(&self) -> bool {
        matches!(self.steps.get(self.next), Some(HostStep::Turns { .. }))
    }

    /// Makes the step of the driver that is next, or a turn of the device.
    fn make(&mut self, step: &HostStep) {
        let memory = &mut self.memory;
        match step {
            HostStep::Read { offset, value } => {
                let read = self.gpu.read32(memory, *offset);
                if read != *value {
                    let name = crate::device::register_name(*offset);
                    let why = format!(
                        "internal error: the replay reads {read:#x} from {name}, the driver read {value:#x}"
                    );
                    self.broken = Some(why.into());
                }
            }
            HostStep::Write { offset, value } => self.gpu.write32(memory, *offset, *value),
            HostStep::Store { address, bytes } => store(memory, *address, bytes),
            HostStep::Zero { address, bytes } => {
                let end = address.saturating_add(*bytes);
                let mut at = *address;
                while at < end {
                    let length = (PAGE - at % PAGE).min(end - at);
                    // Pages that nobody has written are zero.
                    if memory.is_written(at) {
                        store(memory, at, &ZEROS[..length as usize]);
                    }
                    at += length;
                }
            }
            HostStep::Turns { end, count } => {
                self.gpu.run_turn(memory, *end);
                self.turns += 1;
                if self.turns < *count {
                    return;
                }
            }
        }
        self.turns = 0;
        self.next += 1;
    }
}

/// Zeros for a page.
const ZEROS: [u8; PAGE as usize] = [0; PAGE as usize];

/// Stores bytes page by page; what lies outside of the memory is lost, as on a bus.
fn store(memory: &mut SharedPages, address: u64, bytes: &[u8]) {
    let (mut at, mut rest) = (address, bytes);
    while !rest.is_empty() {
        let length = (PAGE - at % PAGE) as usize;
        let (now, later) = rest.split_at(length.min(rest.len()));
        let _ = memory.write(at, now);
        at = at.saturating_add(now.len() as u64);
        rest = later;
    }
}

/// All programs as one, by their addresses. Where two overlap, what lies behind the second's begin is the second's.
fn program(mut programs: Vec<ListedProgram>) -> Program {
    programs.sort_by_key(|own| own.entry);
    let ends = programs.iter().skip(1).map(|next| next.entry);
    let ends: Vec<u64> = ends.chain([MACHINE]).collect();
    let mut all = Program::default();
    for (own, end) in programs.into_iter().zip(ends) {
        let path = all.paths.len();
        all.paths.push(Path {
            function: own.function,
            caller: None,
        });
        let addresses = (0..).map(|number| own.entry.saturating_add(8 * number));
        let rows = addresses.zip(own.listing);
        for (address, row) in rows.take_while(|(address, _)| *address < end) {
            let line = row.source.map(|(file, line)| Line {
                file: all.file(&file),
                line,
                column: 0,
            });
            all.instructions.push(Instruction {
                address,
                text: row.text,
                word: Some(row.word),
                line,
                path,
            });
        }
    }
    all
}

impl Execution for DriverLevel {
    const FORESEES: bool = false;
    const STARTS_AT_LINE: bool = false;
    const HAS_DEVICE: bool = true;

    fn ahead(&self) -> Option<Ahead> {
        if self.broken.is_some() || self.next >= self.steps.len() {
            return None;
        }
        let warp = self.standing.next().filter(|_| self.is_turn_next());
        let machine = Ahead {
            thread: 0,
            lanes: 0,
            address: MACHINE,
        };
        Some(warp.map_or(machine, |next| Ahead {
            thread: 1 + next.warp,
            lanes: next.lanes,
            address: next.address,
        }))
    }

    fn step(&mut self) {
        let steps = Arc::clone(&self.steps);
        let Some(step) = steps.get(self.next).filter(|_| self.broken.is_none()) else {
            return;
        };
        self.memory.note_accesses(Accessors::All);
        let listener = self.collected.listen(&mut self.gpu);
        self.make(step);
        self.happened = self.collected.take(&mut self.gpu, listener);
        if self.collected.began_pass() {
            self.attachments = self.gpu.attachments();
        }
        let moved = self.standing.update(&self.gpu);
        let had_turn = matches!(step, HostStep::Turns { .. });
        self.has_moved = moved || self.has_moved && !had_turn;
    }

    fn ending(&self) -> Option<String> {
        if let Some(why) = &self.broken {
            return Some(why.to_string());
        }
        if self.next < self.steps.len() {
            return None;
        }
        Some(match &self.failure {
            Some(why) => format!("the driver has failed: {why}"),
            None => "the driver has ended".to_owned(),
        })
    }

    fn ended_well(&self) -> bool {
        self.broken.is_none() && self.failure.is_none()
    }

    fn threads(&self) -> usize {
        1 + self.standing.warps(&self.gpu).len()
    }

    fn thread_name(&self, thread: usize) -> String {
        self.name_of(thread)
    }

    fn warp_number(&self, thread: usize) -> usize {
        thread.saturating_sub(1)
    }

    fn thread_label(&self, thread: usize) -> String {
        match thread.checked_sub(1) {
            None => "the machine".to_owned(),
            Some(warp) => format!("warp {warp}"),
        }
    }

    fn lanes(&self, thread: usize) -> usize {
        let warp = self.warp(thread);
        warp.map_or(0, |warp| 16 - warp.started().leading_zeros() as usize)
    }

    fn lane_name(&self, thread: usize, lane: usize) -> String {
        self.name_of_lane(thread, lane)
    }

    fn lane_state(&self, thread: usize, lane: usize) -> Option<LaneState> {
        crate::warps::lane_state(self.warp(thread)?, lane)
    }

    fn workgroup(&self) -> [u32; 3] {
        self.standing.workgroup()
    }

    fn touches(&self) -> Vec<Touch> {
        vec![]
    }

    fn touched(&self, object: Object, start: u64, len: u64) -> (bool, bool) {
        let Some(address) = self.address_of(object, start) else {
            return (false, false);
        };
        let space = self.standing.space();
        self.memory.touched(&self.gpu, (space, address), len)
    }

    fn scopes(&self) -> &'static [&'static str] {
        &["Registers", "Uniforms", "Shading"]
    }

    fn nodes(&self, scope: usize, thread: usize, _: usize) -> Vec<Node> {
        let Some(warp) = self.warp(thread) else {
            return vec![];
        };
        match scope {
            0 => crate::warps::register_nodes(warp, self.registers()),
            1 => crate::warps::uniform_nodes(self.uniforms().len()),
            _ => self.shading_nodes(),
        }
    }

    fn special(&self, name: &str) -> Option<Node> {
        if name == "$value" {
            let value = self.happened.iter().rev().find_map(|event| match event {
                DeviceEvent::Register { value, .. } => Some(*value),
                _ => None,
            });
            let place = ScalarPlace::Known(value?.into());
            return Some(Node::word("value".to_owned(), place));
        }
        let own = self.shading_nodes().into_iter();
        let mut own = own.filter(|node| name.strip_prefix('$') == Some(&node.name));
        own.next()
            .or_else(|| crate::warps::named(name, self.uniforms().len()))
    }

    fn scalar(&self, thread: usize, lane: usize, place: ScalarPlace) -> Option<u64> {
        match place {
            ScalarPlace::Register(register) => {
                let bits = self.warp(thread)?.register(register, lane)?;
                Some(bits.into())
            }
            ScalarPlace::Uniform(word) => {
                let bits = self.uniforms().get(usize::from(word)).copied()?;
                Some(bits.into())
            }
            ScalarPlace::Known(bits) => Some(bits),
            ScalarPlace::Lane(number) => self.lane_number(lane, number).map(u64::from),
            ScalarPlace::Var(..) | ScalarPlace::Value(_) => None,
        }
    }

    fn read(&self, object: Object, start: u64, len: u64) -> Option<Vec<u8>> {
        let address = self.address_of(object, start)?;
        let rest = self.size(object).saturating_sub(start);
        let mut reader = self.memory.reader();
        let space = self.standing.space();
        Some(self.gpu.peek(&mut reader, space, address, len.min(rest)))
    }

    fn size(&self, object: Object) -> u64 {
        match object {
            Object::Memory => u64::MAX,
            Object::Shared => self.shared().map_or(0, |(_, bytes)| bytes),
            Object::Buffer(..) | Object::Push | Object::Var(_) => 0,
        }
    }

    fn objects(&self) -> Vec<(String, Object)> {
        let mut objects = vec![("gpu".to_owned(), Object::Memory)];
        if self.shared().is_some() {
            objects.push(("shared".to_owned(), Object::Shared));
        }
        objects
    }

    fn has_moved(&self) -> bool {
        self.has_moved
    }

    fn work(&self) -> u64 {
        self.standing.work()
    }

    fn happened(&self) -> &[DeviceEvent] {
        &self.happened
    }

    fn next_step(&self) -> Option<String> {
        self.show_next()
    }

    fn pictures(&self) -> Vec<String> {
        self.picture_names()
    }

    fn picture(&self, name: &str, sample: u32) -> Option<Picture> {
        self.picture_of(name, sample)
    }

    fn bytes(&self) -> usize {
        // Pages that are shared are not counted: a few are changed between two checkpoints.
        64 * self.memory.pages() + (1 << 17)
    }
}
