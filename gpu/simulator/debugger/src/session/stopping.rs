//! What stops a session: breakpoints, and watches with what a step does to them.
use super::Session;
use crate::device::DevicePlace;
use crate::execution::{Execution, Object, ScalarPlace};
use crate::expression::Expression;
use crate::stops::{Breakpoint, DeviceBreakpoint, Location, Stop, Stops, Watch, WatchKind};
use crate::value::{Node, Place, bytes_of};

/// What a step touches of what is watched, and its value before.
#[derive(Clone, Debug)]
pub(super) struct Touched {
    id: u32,
    thread: usize,
    /// The lane, where the execution tells it.
    lane: Option<usize>,
    address: u64,
    before: String,
}

impl<E: Execution> Session<E> {
    /// Sets a breakpoint; none if nothing is there.
    pub fn add_breakpoint(
        &mut self,
        location: Location,
        condition: Option<Expression>,
    ) -> Option<Breakpoint> {
        let (location, addresses) = match location {
            Location::Line(file, line) => {
                let (line, addresses) = self.program.addresses_of_line(file, line)?;
                (Location::Line(file, line), addresses)
            }
            Location::Address(address) => {
                self.program.index(address)?;
                (Location::Address(address), vec![address])
            }
            Location::Function(name) => {
                let addresses = self.program.addresses_of_function(&name);
                (Location::Function(name), addresses)
            }
        };
        if addresses.is_empty() {
            return None;
        }
        let breakpoint = Breakpoint {
            id: self.stops.next_id(),
            location,
            addresses,
            condition,
        };
        self.stops.breakpoints.push(breakpoint.clone());
        self.stops.mark(&self.program);
        Some(breakpoint)
    }

    /// Sets a breakpoint on the device; none if there is no device.
    pub fn add_device_breakpoint(
        &mut self,
        place: DevicePlace,
        condition: Option<Expression>,
    ) -> Option<DeviceBreakpoint> {
        if !E::HAS_DEVICE {
            return None;
        }
        let breakpoint = DeviceBreakpoint {
            id: self.stops.next_id(),
            place,
            condition,
        };
        self.stops.device.push(breakpoint.clone());
        Some(breakpoint)
    }

    /// Watches a variable or a part of one: of the thread and lane, if it is a lane's own. None if it is not in memory.
    pub fn add_watch(
        &mut self,
        node: &Node,
        kind: WatchKind,
        (thread, lane): (usize, Option<usize>),
    ) -> Option<Watch> {
        let ranges = self.ranges(node)?;
        let is_own = matches!(node.place, Place::Scalars(_));
        let watch = Watch {
            id: self.stops.next_id(),
            node: node.clone(),
            kind,
            ranges,
            owner: is_own.then_some((thread, lane)),
        };
        self.stops.watches.push(watch.clone());
        Some(watch)
    }

    /// Where a variable is in memory; none if it is a value that nothing stores.
    pub fn ranges(&self, node: &Node) -> Option<Vec<(Object, u64, u64)>> {
        match &node.place {
            Place::Bytes(object, start) => {
                let rest = self.now.size(*object).saturating_sub(*start);
                Some(vec![(*object, *start, bytes_of(&node.ty, rest))])
            }
            Place::Scalars(scalars) => {
                let range = |scalar: &ScalarPlace| match scalar {
                    ScalarPlace::Var(var, element) => {
                        Some((Object::Var(*var), u64::from(*element), 1))
                    }
                    _ => None,
                };
                let ranges: Option<Vec<_>> = scalars.iter().map(range).collect();
                ranges.filter(|ranges| !ranges.is_empty())
            }
        }
    }

    /// Removes a breakpoint or a watch; false if there is none with that number.
    pub fn remove(&mut self, id: u32) -> bool {
        let count =
            |stops: &Stops| stops.breakpoints.len() + stops.device.len() + stops.watches.len();
        let before = count(&self.stops);
        self.stops.breakpoints.retain(|own| own.id != id);
        self.stops.device.retain(|own| own.id != id);
        self.stops.watches.retain(|own| own.id != id);
        self.stops.mark(&self.program);
        count(&self.stops) != before
    }

    /// The stop after a step that has touched what is watched.
    pub(super) fn watch_stop(&self, execution: &E, touched: &Touched) -> Stop {
        let watch = self.stops.watches.iter().find(|own| own.id == touched.id);
        let Some(watch) = watch else {
            return Stop::Watch(touched.id, String::new());
        };
        let line = self.program.at(touched.address);
        let line = line.and_then(|own| own.line.as_ref());
        let line = line.map_or("no line".to_owned(), |line| self.program.show(line));
        let after = watch
            .node
            .show(execution, touched.thread, touched.lane.unwrap_or(0));
        let change = match after == touched.before {
            true => after,
            false => format!("{} -> {after}", touched.before),
        };
        let lane = touched
            .lane
            .map_or_else(String::new, |lane| format!(" of lane {lane}"));
        let (name, thread) = (&watch.node.name, execution.thread_label(touched.thread));
        let text = format!("{name}{lane} of {thread} at {line}: {change}");
        Stop::Watch(touched.id, text)
    }
}

/// Makes a step of an execution; what it touches of what is watched.
pub(super) fn pass<E: Execution>(stops: &Stops, execution: &mut E) -> Option<Touched> {
    let ahead = execution.ahead();
    let Some(ahead) = ahead.filter(|_| !stops.watches.is_empty()) else {
        execution.step();
        return None;
    };
    let touched = |watch: &Watch, lane: Option<usize>, execution: &E| Touched {
        id: watch.id,
        thread: ahead.thread,
        lane,
        address: ahead.address,
        before: watch.node.show(execution, ahead.thread, lane.unwrap_or(0)),
    };
    let foreseen = stops.watch(execution);
    let foreseen = foreseen.map(|(watch, lanes)| {
        let lane = lanes.trailing_zeros() as usize;
        touched(watch, Some(lane), execution)
    });
    let own = stops.watches.iter().filter(|_| !E::FORESEES);
    let all: Vec<(&Watch, Touched)> = own
        .map(|watch| (watch, touched(watch, None, execution)))
        .collect();
    execution.step();
    let mut seen = all
        .into_iter()
        .filter(|(watch, _)| watch.was_touched(execution));
    foreseen.or_else(|| Some(seen.next()?.1))
}
