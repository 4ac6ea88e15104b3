//! Where an execution stops: breakpoints and watches, and what a person is told of a stop.
use crate::device::DevicePlace;
use crate::execution::{Execution, Object, Touch};
use crate::expression::{Context, Expression};
use crate::program::Program;
use crate::value::Node;

/// What a breakpoint stops at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Location {
    /// A line of a file.
    Line(usize, u32),
    /// An instruction.
    Address(u64),
    /// The start of a function.
    Function(String),
}

/// A breakpoint.
#[derive(Clone, PartialEq, Debug)]
pub struct Breakpoint {
    /// Its number, from 1, never used twice.
    pub id: u32,
    /// What it stops at.
    pub location: Location,
    /// Where that is.
    pub addresses: Vec<u64>,
    /// It stops only if this holds in a lane that runs.
    pub condition: Option<Expression>,
}

/// Which accesses a watch stops at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WatchKind {
    /// Stores and atomics.
    Write,
    /// Loads and atomics.
    Read,
    /// All.
    Both,
}

/// A breakpoint on the device.
#[derive(Clone, PartialEq, Debug)]
pub struct DeviceBreakpoint {
    /// Its number, from 1, never used twice.
    pub id: u32,
    /// What it stops behind.
    pub place: DevicePlace,
    /// It stops only if this holds: in a lane of those that it is about.
    pub condition: Option<Expression>,
}

/// A part of memory that is watched.
#[derive(Clone, PartialEq, Debug)]
pub struct Watch {
    /// Its number, from 1, never used twice.
    pub id: u32,
    /// What is shown of it.
    pub node: Node,
    /// Which accesses stop.
    pub kind: WatchKind,
    /// Ranges of bytes, or elements of variables.
    pub ranges: Vec<(Object, u64, u64)>,
    /// Of a variable: of this thread, and of this lane if one is given.
    pub owner: Option<(usize, Option<usize>)>,
}

impl Watch {
    /// Whether the last step of an execution has touched it in a way that stops.
    pub fn was_touched<E: Execution>(&self, execution: &E) -> bool {
        self.ranges.iter().any(|(object, start, len)| {
            let (read, written) = execution.touched(*object, *start, *len);
            match self.kind {
                WatchKind::Write => written,
                WatchKind::Read => read,
                WatchKind::Both => read || written,
            }
        })
    }

    /// The lanes of which an access touches it.
    pub fn touched(&self, thread: usize, touches: &[Touch]) -> u64 {
        let wanted = |touch: &&Touch| {
            let of = self.owner.is_none_or(|(owner, lane)| {
                owner == thread && lane.is_none_or(|lane| lane == touch.lane)
            });
            let kind = match self.kind {
                WatchKind::Write => touch.writes,
                WatchKind::Read => !touch.writes,
                WatchKind::Both => true,
            };
            let overlaps = self.ranges.iter().any(|(object, start, len)| {
                *object == touch.object
                    && *start < touch.start.saturating_add(touch.len)
                    && touch.start < start.saturating_add(*len)
            });
            of && kind && overlaps
        };
        let lanes = touches.iter().filter(wanted);
        lanes.fold(0, |lanes, touch| lanes | 1 << (touch.lane & 63))
    }
}

/// Why an execution has stopped.
#[derive(Clone, PartialEq, Debug)]
pub enum Stop {
    /// Before the first step.
    Entry,
    /// Before the step that fails: why it does.
    Failure(String),
    /// Going back has come to the first step.
    Beginning,
    /// A step is done.
    Step,
    /// Breakpoints, and the lanes for which a condition holds.
    Breakpoint(Vec<u32>, u64),
    /// Breakpoints on the device: what has happened, and the lanes that it is about.
    Device(Vec<u32>, String, u64),
    /// A watch: its number, and what has happened.
    Watch(u32, String),
    /// There is no next step.
    End(String),
    /// Somebody asked for it.
    Pause,
}

/// All that stops an execution.
#[derive(Clone, Debug, Default)]
pub struct Stops {
    /// Breakpoints.
    pub breakpoints: Vec<Breakpoint>,
    /// Breakpoints on the device.
    pub device: Vec<DeviceBreakpoint>,
    /// Watches.
    pub watches: Vec<Watch>,
    /// By number of an instruction: whether a breakpoint is there.
    marked: Vec<bool>,
    last_id: u32,
}

impl Stops {
    /// A number that was not used before.
    pub fn next_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    /// Notes where breakpoints are, after a change.
    pub fn mark(&mut self, program: &Program) {
        self.marked = vec![false; program.instructions.len()];
        for address in self.breakpoints.iter().flat_map(|own| &own.addresses) {
            if let Some(index) = program.index(*address) {
                self.marked[index] = true;
            }
        }
    }

    /// The breakpoints that stop before the next step.
    pub fn breakpoint<E: Execution>(&self, program: &Program, execution: &E) -> Option<Stop> {
        if self.breakpoints.is_empty() || !execution.has_moved() {
            return None;
        }
        let ahead = execution.ahead()?;
        let index = program.index(ahead.address)?;
        if !self.marked.get(index).copied().unwrap_or(false) {
            return None;
        }
        let path = program.instructions[index].path;
        let (mut ids, mut lanes) = (vec![], 0);
        let own = self.breakpoints.iter();
        for breakpoint in own.filter(|own| own.addresses.contains(&ahead.address)) {
            let holds = match &breakpoint.condition {
                None => ahead.lanes,
                Some(condition) => {
                    let holds = |lane: &usize| {
                        condition.holds(Context {
                            execution,
                            thread: ahead.thread,
                            path,
                            lane: *lane,
                        })
                    };
                    let lanes = (0..64).filter(|lane| ahead.lanes >> lane & 1 != 0);
                    lanes.filter(holds).fold(0, |all, lane| all | 1 << lane)
                }
            };
            if holds != 0 {
                ids.push(breakpoint.id);
                lanes |= holds;
            }
        }
        (!ids.is_empty()).then_some(Stop::Breakpoint(ids, lanes))
    }

    /// The breakpoints on the device that stop behind the last step.
    pub fn device<E: Execution>(&self, execution: &E) -> Option<Stop> {
        if self.device.is_empty() {
            return None;
        }
        let thread = execution.ahead().map_or(0, |ahead| ahead.thread);
        let holds = |condition: &Expression, lane| {
            condition.holds(Context {
                execution,
                thread,
                path: 0,
                lane,
            })
        };
        let (mut ids, mut texts, mut all) = (vec![], vec![], 0);
        for event in execution.happened() {
            for own in &self.device {
                let Some(lanes) = own.place.meets(event) else {
                    continue;
                };
                let lanes = match &own.condition {
                    None => Some(lanes),
                    // It is about the machine.
                    Some(condition) if lanes == 0 => holds(condition, 0).then_some(0),
                    Some(condition) => {
                        let met = (0..64).filter(|lane| lanes >> lane & 1 != 0);
                        let met = met.filter(|lane| holds(condition, *lane));
                        let met = met.fold(0, |all, lane| all | 1 << lane);
                        (met != 0).then_some(met)
                    }
                };
                let Some(lanes) = lanes else {
                    continue;
                };
                all |= lanes;
                if !ids.contains(&own.id) {
                    ids.push(own.id);
                }
                let text = event.to_string();
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
        }
        (!ids.is_empty()).then(|| Stop::Device(ids, texts.join("\n"), all))
    }

    /// The first watch that the next step touches, with the lanes that do.
    pub fn watch<E: Execution>(&self, execution: &E) -> Option<(&Watch, u64)> {
        if self.watches.is_empty() {
            return None;
        }
        let ahead = execution.ahead()?;
        let touches = execution.touches();
        let mut own = self.watches.iter();
        own.find_map(|watch| {
            let lanes = watch.touched(ahead.thread, &touches);
            (lanes != 0).then_some((watch, lanes))
        })
    }
}
