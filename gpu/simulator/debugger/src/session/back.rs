//! Back: from a checkpoint forward, to the last state before now that is looked for.
//!
//! A search goes in slices, as motions forward do, and changes nothing until it has found its state: it can be paused.
use super::stopping::{Touched, pass};
use super::{Course, Session, Spot};
use crate::execution::Execution;
use crate::stops::Stop;

/// How far a thread goes back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backward {
    /// To the last breakpoint or watch.
    Continue,
    /// To the start of the line that it is in, or of the one before if it is there already. Calls are gone over.
    Line,
    /// By one instruction.
    Instruction,
}

/// A search for the last state before now that is wanted: part by part, from checkpoint to checkpoint.
#[derive(Clone, Debug)]
pub(super) struct Search<E> {
    way: Backward,
    thread: usize,
    /// The call path that the thread is in now.
    path: Option<usize>,
    /// The number of the checkpoint, and the steps from which and to which it is searched.
    number: usize,
    start: u64,
    end: u64,
    /// The state that is looked at next, and what the step to it has touched.
    time: u64,
    state: E,
    watched: Option<Touched>,
    found: Option<(u64, Stop)>,
    /// When the thread came to the last line that it is in within the part, and that line.
    run: Option<(u64, Spot)>,
    /// The line that it is in all through the parts behind this one, and where these begin to be in it.
    behind: Option<(u64, Spot)>,
}

impl<E: Execution> Session<E> {
    /// Goes to a time: to the end if it is beyond.
    pub fn go_to(&mut self, time: u64) {
        self.moving = None;
        if time < self.time {
            let (_, at, state) = self.history.before(time);
            (self.now, self.time) = (state.clone(), at);
        }
        while self.time < time && self.now.ahead().is_some() {
            self.now.step();
            self.time += 1;
            self.history.note(self.time, &self.now);
        }
    }

    /// Begins to go back, which [`Session::advance`] does.
    pub fn begin_back(&mut self, way: Backward, thread: usize) {
        let (number, start, state) = self.history.before(self.time.saturating_sub(1));
        let search = Search {
            way,
            thread,
            path: self.spot(&self.now, thread).map(|(path, _)| path),
            number,
            start,
            end: self.time,
            time: start,
            state: state.clone(),
            watched: None,
            found: None,
            run: None,
            behind: None,
        };
        self.moving = Some(Course::Back(Box::new(search)));
    }

    /// Goes back to the end of the search.
    fn go_back(&mut self, way: Backward, thread: usize) -> Stop {
        self.begin_back(way, thread);
        loop {
            if let Some(stop) = self.advance(u64::MAX) {
                return stop;
            }
        }
    }

    /// Goes back to the last breakpoint or watch before now, else to the start.
    pub fn reverse_continue(&mut self) -> Stop {
        self.go_back(Backward::Continue, 0)
    }

    /// Goes back by an instruction of a thread.
    pub fn reverse_instruction(&mut self, thread: usize) -> Stop {
        self.go_back(Backward::Instruction, thread)
    }

    /// Goes back to the start of the line that a thread is in, or of the one before if it is there already. Calls are gone over.
    pub fn reverse_line(&mut self, thread: usize) -> Stop {
        self.go_back(Backward::Line, thread)
    }

    /// Goes on with a search for at most so many steps; why it has ended, if it has.
    pub(super) fn advance_back(&mut self, search: &mut Search<E>, steps: u64) -> Option<Stop> {
        for _ in 0..steps {
            if search.time < search.end {
                self.examine(search);
                search.watched = pass(&self.stops, &mut search.state);
                search.time += 1;
            } else if let Some(stop) = self.end_part(search) {
                return Some(stop);
            }
        }
        None
    }

    /// Looks at the state that a search has come to.
    fn examine(&self, search: &mut Search<E>) {
        if search.way == Backward::Line {
            return self.note_line(search);
        }
        // The state at a checkpoint came of a step before it, which is replayed with the checkpoint before.
        if search.time != search.start || search.start == 0 {
            self.note_stop(search);
        }
    }

    /// Whether the state is one to stop at.
    fn note_stop(&self, search: &mut Search<E>) {
        let stop = match search.way {
            Backward::Instruction => {
                let ahead = search.state.ahead();
                ahead
                    .is_some_and(|ahead| ahead.thread == search.thread)
                    .then_some(Stop::Step)
            }
            Backward::Continue | Backward::Line => {
                let watched = search.watched.as_ref();
                let watched = watched.map(|touched| self.watch_stop(&search.state, touched));
                watched
                    .or_else(|| self.stops.device(&search.state))
                    .or_else(|| self.stops.breakpoint(&self.program, &search.state))
            }
        };
        if let Some(stop) = stop {
            search.found = Some((search.time, stop));
        }
    }

    /// Whether the thread has come to another line.
    fn note_line(&self, search: &mut Search<E>) {
        let is_below = |path| {
            search
                .path
                .is_some_and(|own| self.program.is_below(path, own))
        };
        if let Some(ahead) = search.state.ahead()
            && ahead.thread == search.thread
            && let Some(spot @ (path, Some(_))) = self.spot(&search.state, search.thread)
            && !is_below(path)
            && search.run.is_none_or(|(_, last)| last != spot)
        {
            search.run = Some((search.time, spot));
        }
    }

    /// A part is searched: goes to what was found, or on with the part before.
    fn end_part(&mut self, search: &mut Search<E>) -> Option<Stop> {
        if search.way == Backward::Line {
            let found = match (search.run, search.behind) {
                // The thread came to the line behind at once as that part began.
                (Some((_, own)), Some((time, line))) if own != line => Some(time),
                // A line that the thread is in at the checkpoint may have begun before it.
                (Some((time, _)), _) => (time > search.start).then_some(time),
                (None, _) => None,
            };
            search.behind = search.run.take().or(search.behind);
            let first = || search.behind.map(|(time, _)| time);
            let found = found.or_else(|| if search.number == 0 { first() } else { None });
            if found.is_some() || search.number == 0 {
                return Some(self.arrive_back(found.map(|time| (time, Stop::Step))));
            }
            search.end = search.start;
            self.before(search);
            return None;
        }
        // The state at the end of the part, if that is not now.
        if search.end != self.time {
            self.note_stop(search);
        }
        if search.found.is_some() || search.start == 0 {
            return Some(self.arrive_back(search.found.take()));
        }
        search.end = search.start;
        self.before(search);
        None
    }

    /// Begins again at the checkpoint before.
    fn before(&self, search: &mut Search<E>) {
        let (number, start, state) = self.history.before(search.start.saturating_sub(1));
        (search.number, search.start, search.time) = (number, start, start);
        search.state = state.clone();
        search.watched = None;
    }

    fn arrive_back(&mut self, found: Option<(u64, Stop)>) -> Stop {
        match found {
            Some((time, stop)) => {
                self.go_to(time);
                match stop {
                    Stop::Step if time == 0 => Stop::Beginning,
                    stop => stop,
                }
            }
            None => {
                self.go_to(0);
                Stop::Beginning
            }
        }
    }
}
