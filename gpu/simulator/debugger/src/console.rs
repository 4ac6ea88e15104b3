//! Text commands: a line in, text out. The same session always gives the same text.
//!
//! In reading order: this file (who is chosen, what a stop looks like), `commands` (the table and what each does).
mod commands;
mod memory;
mod pictures;

use std::collections::HashMap;

use crate::execution::{Execution, LaneState};
use crate::picture::Picture;
use crate::program::Line;
use crate::session::Session;
use crate::stops::{Location, Stop};

pub use commands::HELP;
pub(crate) use commands::NO_DEVICE;
pub(crate) use pictures::save as save_picture;

/// The most steps of one command.
const MAX_STEPS: u64 = 1 << 32;

/// What became of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It was carried out.
    Text(String),
    /// It can't be: why.
    Wrong(String),
    /// What was asserted does not hold: where, and what is there.
    Failed(String),
    /// The end of the session is asked for.
    Quit,
}

/// A session with what a person has chosen.
pub struct Console<E> {
    session: Session<E>,
    /// By file name: the lines.
    sources: HashMap<String, Vec<String>>,
    thread: usize,
    lane: Option<usize>,
    frame: usize,
    save: Option<SavePicture>,
}

/// What writes a picture to a file.
pub type SavePicture = Box<dyn Fn(&str, &Picture) -> Result<(), String>>;

impl<E: Execution> Console<E> {
    /// A console on a session. `read` gives the text of a source file, if it can be had.
    pub fn new(session: Session<E>, read: impl Fn(&str) -> Option<String>) -> Console<E> {
        let files = session.program().files.iter();
        let lines = |text: String| text.lines().map(str::to_owned).collect();
        let sources = files.filter_map(|file| Some((file.clone(), lines(read(file)?))));
        Console {
            sources: sources.collect(),
            session,
            thread: 0,
            lane: None,
            frame: 0,
            save: None,
        }
    }

    /// The same where `save` writes pictures to files; without it there are none.
    #[must_use]
    pub fn saving(
        self,
        save: impl Fn(&str, &Picture) -> Result<(), String> + 'static,
    ) -> Console<E> {
        Console {
            save: Some(Box::new(save)),
            ..self
        }
    }

    /// The session.
    pub fn session(&self) -> &Session<E> {
        &self.session
    }

    /// Where the execution stands, as after a stop.
    pub fn show_start(&mut self) -> String {
        let stop = self.session.enter();
        self.show_stop(&stop)
    }

    /// Carries out a command.
    pub fn execute(&mut self, line: &str) -> Answer {
        commands::execute(self, line)
    }

    /// The lane that expressions are for: the chosen one, else the first that runs.
    fn lane(&self) -> usize {
        let running = self.session.running(self.thread);
        let first = match running {
            0 => 0,
            _ => running.trailing_zeros() as usize,
        };
        self.lane.unwrap_or(first)
    }

    /// The call path of the chosen frame.
    fn path(&self) -> usize {
        let frames = self.session.frames(self.thread);
        frames.get(self.frame).map_or(0, |frame| frame.path)
    }

    /// A stop, and what is there: the thread that runs is chosen.
    fn show_stop(&mut self, stop: &Stop) -> String {
        let now = self.session.now();
        if let Some(ahead) = now.ahead() {
            self.thread = ahead.thread;
        }
        self.thread = self.thread.min(now.threads().saturating_sub(1));
        self.lane = None;
        self.frame = 0;
        let reason = match stop {
            Stop::Entry => "start".to_owned(),
            Stop::Failure(why) => format!("the next step fails: {why}"),
            Stop::Beginning => "start: no step is before it".to_owned(),
            Stop::Step => "step".to_owned(),
            Stop::Breakpoint(ids, lanes) => {
                let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
                let condition = match *lanes == self.session.running(self.thread) {
                    true => String::new(),
                    false => {
                        // It holds for these: values are theirs.
                        self.lane = Some(lanes.trailing_zeros() as usize);
                        format!(" for lanes {}", lane_list(*lanes))
                    }
                };
                format!("breakpoint {}{condition}", ids.join(", "))
            }
            Stop::Device(ids, text, lanes) => {
                if *lanes != 0 {
                    self.lane = Some(lanes.trailing_zeros() as usize);
                }
                let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
                format!("breakpoint {}: {text}", ids.join(", "))
            }
            Stop::Watch(id, text) => format!("watch {id}: {text}"),
            Stop::End(why) => return format!("end: {why} after {} steps", self.session.time()),
            Stop::Pause => "paused".to_owned(),
        };
        format!("{reason}\n{}", self.show_place())
    }

    /// Where the chosen thread and frame are.
    fn show_place(&self) -> String {
        let (now, thread) = (self.session.now(), self.thread);
        let lanes = match self.session.running(thread) {
            0 if now.lanes(thread) == 0 => String::new(),
            running => format!(", lanes {}", lane_list(running)),
        };
        let (name, time) = (now.thread_name(thread), self.session.time());
        let mut text = format!("{name}{lanes}, step {time}");
        let runs = now.ahead().is_some_and(|ahead| ahead.thread == thread);
        if let Some(next) = now.next_step().filter(|_| runs) {
            text.push_str(&format!("\nnext: {next}"));
        }
        let frames = self.session.frames(thread);
        let Some(frame) = frames.get(self.frame) else {
            return text;
        };
        text.push_str(&format!("\n{}", self.show_frame(frame)));
        // Where there is no line, the instruction is all that there is to see.
        if frame.line.is_none()
            && let Some(address) = self.session.address(thread)
            && let Some(instruction) = self.session.program().at(address)
        {
            text.push_str(&format!("\n@{address:#x}  {}", instruction.text));
        }
        text
    }

    fn show_frame(&self, frame: &crate::program::Frame) -> String {
        let Some(line) = &frame.line else {
            return format!("in {}, no line", frame.function);
        };
        let place = self.session.program().show(line);
        match self.source_line(line) {
            Some(text) => format!("{place} in {}\n{:5}  {text}", frame.function, line.line),
            None => format!("{place} in {}", frame.function),
        }
    }

    fn source_line(&self, line: &Line) -> Option<&str> {
        let file = self.session.program().files.get(line.file)?;
        let lines = self.sources.get(file)?;
        let text = lines.get((line.line as usize).checked_sub(1)?)?;
        Some(text.trim_end())
    }

    fn show_location(&self, location: &Location) -> String {
        match location {
            Location::Line(file, line) => {
                let files = &self.session.program().files;
                let file = files.get(*file).map_or("?", String::as_str);
                format!("{file}:{line}")
            }
            Location::Address(address) => format!("@{address:#x}"),
            Location::Function(name) => name.clone(),
        }
    }

    fn show_lane(&self, lane: usize) -> String {
        let now = self.session.now();
        let name = now.lane_name(self.thread, lane);
        let program = self.session.program();
        let place = |address: u64| {
            let line = program.at(address).and_then(|own| own.line.as_ref());
            line.map_or(format!("@{address:#x}"), |line| program.show(line))
        };
        let state = match now.lane_state(self.thread, lane) {
            Some(LaneState::At(at)) => format!("at {}", place(at)),
            Some(LaneState::Barrier(at)) => format!("waits at the barrier at {}", place(at)),
            Some(LaneState::Ended) | None => "ended".to_owned(),
        };
        format!("{name}: {state}")
    }
}

/// Numbers of lanes: `0-3,7`.
pub(crate) fn lane_list(lanes: u64) -> String {
    let mut parts = vec![];
    let mut lane = 0;
    while lane < 64 {
        if lanes >> lane & 1 == 0 {
            lane += 1;
            continue;
        }
        let first = lane;
        while lane < 64 && lanes >> lane & 1 != 0 {
            lane += 1;
        }
        parts.push(match lane - first {
            1 => first.to_string(),
            _ => format!("{first}-{}", lane - 1),
        });
    }
    match parts.is_empty() {
        true => "none".to_owned(),
        false => parts.join(","),
    }
}
