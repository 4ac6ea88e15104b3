//! Forward: steps until a motion has come to its end, or something stops it.
use super::stopping::pass;
use super::{Course, Session, Spot};
use crate::execution::Execution;
use crate::stops::Stop;

/// How far a thread goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Motion {
    /// To the next breakpoint or watch.
    Continue,
    /// To another line, into calls.
    Into,
    /// To another line of the same function, or of its caller.
    Over,
    /// Out of the function.
    Out,
    /// One instruction.
    Instruction,
}

/// Most steps before the first line of the source.
const MAX_PROLOGUE: u64 = 1 << 20;

/// A motion that is being made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    motion: Motion,
    thread: usize,
    from: Option<Spot>,
    /// The workgroup, and the number of the work.
    work: ([u32; 3], u64),
}

impl<E: Execution> Session<E> {
    /// Begins a motion of a thread, which [`Session::advance`] makes.
    pub fn begin(&mut self, motion: Motion, thread: usize) {
        self.moving = Some(Course::Forward(Moving {
            motion,
            thread,
            from: self.spot(&self.now, thread),
            work: (self.now.workgroup(), self.now.work()),
        }));
    }

    /// Goes forward to the first instruction that has a line, if one is near: before it the compiler prepares things.
    pub fn go_to_first_line(&mut self) {
        let start = self.time;
        while let Some(ahead) = self.now.ahead() {
            let has_line = |at| self.program.at(at).is_some_and(|own| own.line.is_some());
            if has_line(ahead.address) {
                return;
            }
            if self.time - start > MAX_PROLOGUE {
                self.go_to(start);
                return;
            }
            self.go_to(self.time + 1);
        }
        self.go_to(start);
    }

    /// Why an execution that has not begun does not go on: a breakpoint before its first step.
    pub fn stop_at_start(&self) -> Option<Stop> {
        self.stops.breakpoint(&self.program, &self.now)
    }

    /// Whether a motion has begun and not ended.
    pub fn is_moving(&self) -> bool {
        self.moving.is_some()
    }

    /// Ends a motion where it is.
    pub fn pause(&mut self) -> Stop {
        self.moving = None;
        Stop::Pause
    }

    /// Goes on with a motion for at most so many steps; why it has ended, if it has.
    pub fn advance(&mut self, steps: u64) -> Option<Stop> {
        let mut course = self.moving.take()?;
        let stop = match &mut course {
            Course::Forward(moving) => self.advance_forward(*moving, steps),
            Course::Back(search) => self.advance_back(search, steps),
        };
        if stop.is_none() {
            self.moving = Some(course);
        }
        stop
    }

    fn advance_forward(&mut self, moving: Moving, steps: u64) -> Option<Stop> {
        (0..steps).find_map(|_| self.step(moving))
    }

    /// Makes a motion to its end, or for at most so many steps.
    pub fn go(&mut self, motion: Motion, thread: usize, steps: u64) -> Stop {
        self.begin(motion, thread);
        let stop = self.advance(steps);
        stop.unwrap_or_else(|| self.pause())
    }

    /// One step; whether something stops after it.
    fn step(&mut self, moving: Moving) -> Option<Stop> {
        if self.now.ahead().is_none() {
            return Some(Stop::End(self.now.ending().unwrap_or_default()));
        }
        let ran = self.now.ahead().map(|ahead| ahead.thread);
        let watched = pass(&self.stops, &mut self.now);
        self.time += 1;
        self.history.note(self.time, &self.now);
        if let Some(touched) = watched {
            return Some(self.watch_stop(&self.now, &touched));
        }
        if let Some(stop) = self.stops.device(&self.now) {
            return Some(stop);
        }
        if self.now.ahead().is_none() {
            return Some(Stop::End(self.now.ending().unwrap_or_default()));
        }
        let stop = self.stops.breakpoint(&self.program, &self.now);
        if stop.is_some() {
            return stop;
        }
        self.is_done(moving, ran).then_some(Stop::Step)
    }

    /// Whether a motion is done with the step that a thread has just made.
    fn is_done(&self, moving: Moving, ran: Option<usize>) -> bool {
        if moving.motion == Motion::Continue {
            return false;
        }
        // Its workgroup or warp has ended: the thread is another one from now on.
        if (self.now.workgroup(), self.now.work()) != moving.work {
            return true;
        }
        if moving.motion == Motion::Instruction {
            return ran == Some(moving.thread);
        }
        let ahead = self.now.ahead();
        if ahead.map(|ahead| ahead.thread) != Some(moving.thread) {
            return false;
        }
        let Some(spot) = self.spot(&self.now, moving.thread) else {
            return false;
        };
        self.has_left(moving.motion, moving.from, spot)
    }

    /// Whether a spot is where a motion from another one ends.
    fn has_left(&self, motion: Motion, from: Option<Spot>, (path, line): Spot) -> bool {
        let Some((from_path, from_line)) = from else {
            return true;
        };
        // What the compiler has added has no line.
        if line.is_none() {
            return false;
        }
        let is_below = self.program.is_below(path, from_path);
        match motion {
            Motion::Out => path != from_path && !is_below,
            Motion::Over => !is_below && (path, line) != (from_path, from_line),
            _ => (path, line) != (from_path, from_line),
        }
    }
}
