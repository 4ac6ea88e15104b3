//! Timelines: what happened inside of the model, as JSON that Perfetto and Chrome open.
//!
//! A job is a process; its groups, streams, cores, interrupt lines and the firmware are its tracks. Time is the model's own.
//! The form is the "trace event format": a list of events, each with a phase, a time in microseconds, a process, a track.

mod counters;
mod jobs;
mod track;

use crate::outcome::Failure;
use crate::output::whole_file;
use counters::Counters;
use eitri_csf::interface::global::glb_req;
use eitri_csf::interface::group::{CsgState, csg_req};
use eitri_csf::table::FieldRow;
use eitri_model::{
    Event, FragmentWarp, Nanoseconds, PageFault, Sink, UndefinedUse, VertexWarp, WarpAccess,
    WorkgroupPlace, WorkgroupStep,
};
pub(crate) use jobs::JobNames;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Mutex;
use track::Track;

/// A workgroup on a core: its group, its stream, its id.
type Workgroup = (u8, u8, [u32; 3]);

/// What was recorded of one job.
#[derive(Debug, Default)]
struct Recorder {
    events: Vec<Value>,
    tracks: BTreeSet<Track>,
    /// Tracks on which something is going on.
    open: BTreeSet<Track>,
    /// Workgroups on each core, by lane, with when they began.
    workgroups: BTreeMap<u8, Vec<Option<(Workgroup, Nanoseconds)>>>,
    jobs: JobNames,
    /// What jobs do, where somebody knows more than their names: by number.
    titles: BTreeMap<u64, String>,
    counters: Counters,
    last: Nanoseconds,
}

fn microseconds(time: Nanoseconds) -> f64 {
    time as f64 / 1000.0
}

/// The names of the fields that have a bit in `bits`.
fn bits_named(fields: &[FieldRow], bits: u32) -> String {
    let named = fields
        .iter()
        .filter(|field| field.mask() as u32 & bits != 0);
    let names: Vec<&str> = named.map(|field| field.name).collect();
    names.join(" ")
}

impl Recorder {
    fn add(&mut self, track: Track, time: Nanoseconds, phase: &str, name: &str, more: Value) {
        self.tracks.insert(track);
        let mut event = json!({
            "ph": phase, "ts": microseconds(time), "tid": track.number(), "name": name,
        });
        if let (Value::Object(event), Value::Object(more)) = (&mut event, more) {
            event.extend(more);
        }
        self.events.push(event);
    }

    fn instant(&mut self, track: Track, time: Nanoseconds, name: &str, args: &Value) {
        self.add(track, time, "i", name, json!({"s": "t", "args": args}));
    }

    fn begin(&mut self, track: Track, time: Nanoseconds, name: &str) {
        self.end(track, time);
        self.add(track, time, "B", name, json!({}));
        self.open.insert(track);
    }

    fn end(&mut self, track: Track, time: Nanoseconds) {
        if self.open.remove(&track) {
            self.add(track, time, "E", "", json!({}));
        }
    }

    fn begin_workgroup(&mut self, core: u8, workgroup: Workgroup, time: Nanoseconds) {
        let lanes = self.workgroups.entry(core).or_default();
        match lanes.iter_mut().find(|lane| lane.is_none()) {
            Some(lane) => *lane = Some((workgroup, time)),
            None => lanes.push(Some((workgroup, time))),
        }
    }

    fn end_workgroup(&mut self, core: u8, workgroup: Workgroup, time: Nanoseconds) {
        let Some(lanes) = self.workgroups.get_mut(&core) else {
            return;
        };
        let is = |lane: &Option<(Workgroup, Nanoseconds)>| {
            lane.is_some_and(|(other, _)| other == workgroup)
        };
        let Some(lane) = lanes.iter().position(is) else {
            return;
        };
        let Some((_, begun)) = lanes[lane].take() else {
            return;
        };
        self.add_workgroup((core, lane), workgroup, begun, time);
    }

    fn add_workgroup(
        &mut self,
        (core, lane): (u8, usize),
        (slot, stream, id): Workgroup,
        begun: Nanoseconds,
        ended: Nanoseconds,
    ) {
        let name = format!("workgroup {} {} {}", id[0], id[1], id[2]);
        let took = microseconds(ended.saturating_sub(begun));
        let more = json!({"dur": took, "args": {"slot": slot, "stream": stream}});
        self.add(Track::Core(core, lane), begun, "X", &name, more);
    }

    fn record(&mut self, time: Nanoseconds, event: &Event) {
        self.last = self.last.max(time);
        match *event {
            Event::Request { slot, bits } => match slot {
                None => {
                    let name = format!("request: {}", bits_named(glb_req::FIELDS, bits));
                    self.instant(Track::Firmware, time, &name, &json!({"bits": bits}));
                }
                Some(slot) => {
                    let name = format!("request: {}", bits_named(csg_req::FIELDS, bits));
                    self.instant(Track::Group(slot), time, &name, &json!({"bits": bits}));
                }
            },
            Event::Answer { slot, bits } => match slot {
                None => {
                    let name = format!("acknowledge: {}", bits_named(glb_req::FIELDS, bits));
                    self.instant(Track::Firmware, time, &name, &json!({"bits": bits}));
                }
                Some(slot) => {
                    let name = format!("acknowledge: {}", bits_named(csg_req::FIELDS, bits));
                    self.instant(Track::Group(slot), time, &name, &json!({"bits": bits}));
                }
            },
            Event::Group { group, state } => match state {
                CsgState::Start | CsgState::Resume => {
                    self.begin(Track::Group(group), time, "resident");
                }
                CsgState::Suspend | CsgState::Terminate => self.leave_slot(group, time),
            },
            Event::Stream {
                group,
                stream,
                doing,
            } => self.begin(Track::Stream(group, stream), time, doing),
            Event::Fault {
                group,
                stream,
                exception,
                fatal,
            } => {
                let kind = if fatal { "FATAL" } else { "FAULT" };
                let name = format!("{kind} {exception:#04x}");
                let args = json!({"exception": exception});
                self.instant(Track::Stream(group, stream), time, &name, &args);
            }
            Event::PageFault(PageFault {
                space,
                address,
                kind,
                exception,
                ..
            }) => {
                let name = format!("{kind:?} of {address:#x} in space {space}");
                let args = json!({"exception": exception});
                self.instant(Track::Faults, time, &name, &args);
            }
            Event::Line { line, high } => match high {
                true => self.begin(Track::Line(line), time, "asserted"),
                false => self.end(Track::Line(line), time),
            },
            Event::JobStarted {
                group,
                stream,
                number,
                kind,
                size,
            } => {
                let name = self.jobs.begin(number, kind, size);
                self.counters.begin(time);
                let (kind, names) = kind.names();
                let mut args = json!({"kind": kind, "job": number});
                for (name, size) in names.iter().zip(size) {
                    args[*name] = json!(size);
                }
                let more = json!({"cat": "job", "id": number, "args": args});
                self.add(Track::Stream(group, stream), time, "b", &name, more);
            }
            Event::JobEnded {
                group,
                stream,
                number,
                exception,
            } => {
                let counted = self.counters.end();
                self.events.extend(counted);
                let name = self.jobs.of(number);
                let more = json!({"cat": "job", "id": number, "args": {"exception": exception}});
                self.add(Track::Stream(group, stream), time, "e", &name, more);
            }
            Event::Workgroup {
                group,
                stream,
                core,
                id,
                begun,
            } => match begun {
                true => self.begin_workgroup(core, (group, stream, id), time),
                false => self.end_workgroup(core, (group, stream, id), time),
            },
            Event::Units {
                core,
                busy,
                external_bytes,
            } => {
                let events = self.counters.record((time, core), busy, external_bytes);
                self.events.extend(events);
            }
            Event::Read { .. }
            | Event::Write { .. }
            | Event::StreamAnswer { .. }
            | Event::Instruction { .. }
            | Event::Shader { .. }
            | Event::Message { .. }
            | Event::Waited { .. }
            | Event::Turn { .. }
            | Event::Drawing { .. } => {}
        }
    }

    /// A group has left its slot, and its streams with it.
    fn leave_slot(&mut self, slot: u8, time: Nanoseconds) {
        self.end(Track::Group(slot), time);
        let streams: Vec<Track> = self
            .open
            .iter()
            .copied()
            .filter(|track| matches!(track, Track::Stream(other, _) if *other == slot))
            .collect();
        for track in streams {
            self.end(track, time);
        }
    }

    /// All events of the job as a process with this number and name; what is going on ends here.
    fn finish(&mut self, process: usize, name: &str) -> Vec<Value> {
        let last = self.last;
        let counted = self.counters.end();
        self.events.extend(counted);
        for track in std::mem::take(&mut self.open) {
            self.add(track, last, "E", "", json!({}));
        }
        for (core, lanes) in std::mem::take(&mut self.workgroups) {
            for (lane, workgroup) in lanes.into_iter().enumerate() {
                if let Some((workgroup, begun)) = workgroup {
                    self.add_workgroup((core, lane), workgroup, begun, last);
                }
            }
        }
        let label = |what: &str, track: u64, args: Value| json!({"ph": "M", "ts": 0, "name": what, "tid": track, "args": args});
        let mut events = vec![label("process_name", 0, json!({"name": name}))];
        for track in &self.tracks {
            let number = track.number();
            events.push(label("thread_name", number, json!({"name": track.name()})));
            let order = json!({"sort_index": number});
            events.push(label("thread_sort_index", number, order));
        }
        for event in &mut self.events {
            let title = event["id"].as_u64().and_then(|id| self.titles.get(&id));
            if let (Some(title), Some(name)) = (title, event["name"].as_str()) {
                event["name"] = format!("{name}, {title}").into();
            }
        }
        events.append(&mut self.events);
        for event in &mut events {
            event["pid"] = json!(process);
        }
        events
    }
}

/// The end of a timeline that a model holds.
struct Listener(Rc<RefCell<Recorder>>);

impl Sink for Listener {
    fn event(&mut self, time: Nanoseconds, event: Event) {
        self.0.borrow_mut().record(time, &event);
    }

    fn wants_instructions(&self) -> bool {
        false
    }
}

/// The timeline of one job.
#[derive(Debug, Default)]
pub(crate) struct Timeline(Rc<RefCell<Recorder>>);

impl Timeline {
    /// What the model is to tell its events.
    pub(crate) fn sink(&self) -> Box<dyn Sink> {
        Box::new(Listener(Rc::clone(&self.0)))
    }

    /// Says of a job, by its number, what it does: its name is followed by that.
    pub(crate) fn set_title(&self, job: u64, title: &str) {
        self.0.borrow_mut().titles.insert(job, title.to_owned());
    }
}

/// The timelines of several jobs, which may run at the same time.
#[derive(Debug, Default)]
pub(crate) struct Timelines(Mutex<Recorded>);

#[derive(Debug, Default)]
struct Recorded {
    processes: usize,
    events: Vec<Value>,
}

impl Timelines {
    /// Takes the timeline of a job that has ended.
    pub(crate) fn add(&self, name: &str, timeline: &Timeline) {
        let mut recorded = self.recorded();
        recorded.processes += 1;
        let process = recorded.processes;
        let mut events = timeline.0.borrow_mut().finish(process, name);
        recorded.events.append(&mut events);
    }

    /// Takes the timelines of a file that [`Timelines::write`] made; anything else is left alone.
    pub(crate) fn add_document(&self, text: &str) {
        let Ok(mut document) = serde_json::from_str::<Value>(text) else {
            return;
        };
        let mut recorded = self.recorded();
        let before = recorded.processes;
        let events = document["traceEvents"].as_array_mut();
        for mut event in events.map(std::mem::take).unwrap_or_default() {
            let process = before + event["pid"].as_u64().unwrap_or(0) as usize;
            event["pid"] = json!(process);
            recorded.processes = recorded.processes.max(process);
            recorded.events.push(event);
        }
    }

    /// Writes them all to a file.
    pub(crate) fn write(&self, path: &str) -> Result<(), Failure> {
        let events = std::mem::take(&mut self.recorded().events);
        let document = json!({"displayTimeUnit": "ns", "traceEvents": events});
        whole_file::write(path, document.to_string().as_bytes())
    }

    fn recorded(&self) -> std::sync::MutexGuard<'_, Recorded> {
        // A job that panicked while it was added has lost its own timeline at most.
        let guard = self.0.lock();
        guard.unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Two that want to hear the same events.
pub(crate) struct Both(pub(crate) Box<dyn Sink>, pub(crate) Box<dyn Sink>);

impl Sink for Both {
    fn event(&mut self, time: Nanoseconds, event: Event) {
        self.0.event(time, event);
        self.1.event(time, event);
    }

    fn wants_instructions(&self) -> bool {
        self.0.wants_instructions() || self.1.wants_instructions()
    }

    fn wants_shading(&self) -> bool {
        self.0.wants_shading() || self.1.wants_shading()
    }

    fn vertices(&mut self, warp: VertexWarp) {
        self.0.vertices(warp.clone());
        self.1.vertices(warp);
    }

    fn fragments(&mut self, warp: FragmentWarp) {
        self.0.fragments(warp.clone());
        self.1.fragments(warp);
    }

    fn wants_accesses(&self) -> bool {
        self.0.wants_accesses() || self.1.wants_accesses()
    }

    fn workgroup(&mut self, place: WorkgroupPlace, step: WorkgroupStep) {
        for sink in [&mut self.0, &mut self.1] {
            if sink.wants_accesses() {
                sink.workgroup(place, step);
            }
        }
    }

    fn accesses(&mut self, access: &WarpAccess<'_>) {
        for sink in [&mut self.0, &mut self.1] {
            if sink.wants_accesses() {
                sink.accesses(access);
            }
        }
    }

    fn undefined(&mut self, used: &UndefinedUse) {
        for sink in [&mut self.0, &mut self.1] {
            if sink.wants_accesses() {
                sink.undefined(used);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(events: &[(Nanoseconds, Event)]) -> Vec<Value> {
        let timeline = Timeline::default();
        let mut sink = timeline.sink();
        for (time, event) in events {
            sink.event(*time, *event);
        }
        let timelines = Timelines::default();
        timelines.add("a job", &timeline);
        timelines.recorded().events.clone()
    }

    fn phases(events: &[Value], name: &str) -> Vec<(String, f64)> {
        let named = events.iter().filter(|event| event["name"] == name);
        named
            .map(|event| {
                let phase = event["ph"].as_str().unwrap_or_default().to_owned();
                (phase, event["ts"].as_f64().unwrap_or_default())
            })
            .collect()
    }

    #[test]
    fn a_stream_does_one_thing_after_another() {
        let doing = |doing| Event::Stream {
            group: 1,
            stream: 2,
            doing,
        };
        let events = document(&[
            (1000, doing("runs")),
            (3000, doing("waits for a sync object")),
            (4500, doing("runs")),
        ]);
        assert_eq!(
            phases(&events, "runs"),
            [("B".to_owned(), 1.0), ("B".to_owned(), 4.5)]
        );
        assert_eq!(
            phases(&events, ""),
            [
                ("E".to_owned(), 3.0),
                ("E".to_owned(), 4.5),
                ("E".to_owned(), 4.5)
            ],
            "what goes on at the end ends there"
        );
    }

    #[test]
    fn workgroups_that_share_a_core_have_lanes() {
        let workgroup = |x, begun| Event::Workgroup {
            group: 0,
            stream: 0,
            core: 3,
            id: [x, 0, 0],
            begun,
        };
        let events = document(&[
            (1000, workgroup(0, true)),
            (2000, workgroup(1, true)),
            (3000, workgroup(0, false)),
            (4000, workgroup(2, true)),
            (5000, workgroup(1, false)),
        ]);
        let lane = |x: u32| {
            let name = format!("workgroup {x} 0 0");
            let event = events.iter().find(|event| event["name"] == name);
            let event = event.unwrap_or_else(|| panic!("no {name}"));
            (event["tid"].as_u64(), event["dur"].as_f64())
        };
        assert_eq!(lane(0), (Some(10_300), Some(2.0)));
        assert_eq!(lane(1), (Some(10_301), Some(3.0)));
        assert_eq!(lane(2), (Some(10_300), Some(1.0)), "it goes on at the end");
    }

    #[test]
    fn documents_of_other_processes_keep_theirs_apart() {
        let timelines = Timelines::default();
        timelines.add("here", &Timeline::default());
        let other = json!({"traceEvents": [{"ph": "i", "pid": 1}, {"ph": "i", "pid": 2}]});
        timelines.add_document(&other.to_string());
        timelines.add_document("no document");
        timelines.add("here again", &Timeline::default());
        let recorded = timelines.recorded();
        let processes: Vec<u64> = recorded
            .events
            .iter()
            .filter_map(|event| event["pid"].as_u64())
            .collect();
        assert_eq!(processes, [1, 2, 3, 4]);
    }
}
