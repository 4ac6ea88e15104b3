//! A session: an execution with its program, that goes forward and back.
//!
//! Time is the number of steps since the start. Each stop depends on the state alone, so going back is: from a checkpoint forward,
//! to the last stop before now. Guarantees: [`Session::advance`] returns after as many steps as it is given; state at a time is the
//! same however it was reached.
use crate::execution::{Execution, LaneState, Object};
use crate::expression::{Context, Evaluated, Expression, ExpressionError};
use crate::history::History;
use crate::program::{Frame, Program};
use crate::stops::{Breakpoint, Location, Stop, Stops, Watch, WatchKind};
use crate::value::{Form, Node, Place, bytes_of, join_lanes};

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

/// Where a thread is: the call path, and file and line.
type Spot = (usize, Option<(usize, u32)>);

/// A motion that is being made.
#[derive(Clone, Copy, Debug)]
struct Moving {
    motion: Motion,
    thread: usize,
    from: Option<Spot>,
    workgroup: [u32; 3],
}

/// A session.
#[derive(Clone, Debug)]
pub struct Session<E> {
    program: Program,
    now: E,
    time: u64,
    history: History<E>,
    stops: Stops,
    moving: Option<Moving>,
    /// Why the step fails at which the session begins, if it begins there.
    failure: Option<String>,
}

impl<E: Execution> Session<E> {
    /// A session before the first step.
    pub fn new(execution: E, program: Program) -> Session<E> {
        let mut stops = Stops::default();
        stops.mark(&program);
        Session {
            program,
            history: History::new(&execution),
            now: execution,
            time: 0,
            stops,
            moving: None,
            failure: None,
        }
    }

    /// The same before the step that fails, if one does within so many; else before the first.
    #[must_use]
    pub fn at_failure(mut self, steps: u64) -> Session<E> {
        self.go_to(steps);
        let ending = self.now.ending().filter(|_| !self.now.ended_well());
        self.go_to(match ending {
            Some(_) => self.time.saturating_sub(1),
            None => 0,
        });
        self.failure = ending;
        self
    }

    /// Whether the session begins before a step that fails.
    pub fn is_at_failure(&self) -> bool {
        self.failure.is_some()
    }

    /// Goes to where a person begins, and says what is there.
    pub fn enter(&mut self) -> Stop {
        match &self.failure {
            Some(why) => Stop::Failure(why.clone()),
            None => {
                self.go_to_first_line();
                Stop::Entry
            }
        }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The state now.
    pub fn now(&self) -> &E {
        &self.now
    }

    /// Steps since the start.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// Breakpoints and watches.
    pub fn stops(&self) -> &Stops {
        &self.stops
    }

    // Where things are.

    /// Where a thread is: that of the lanes that run, else of those that stand first; none if all have ended.
    pub fn address(&self, thread: usize) -> Option<u64> {
        address(&self.now, thread)
    }

    /// The lanes of a thread that are where it is.
    pub fn running(&self, thread: usize) -> u64 {
        if let Some(ahead) = self.now.ahead()
            && ahead.thread == thread
        {
            return ahead.lanes;
        }
        let here = self.address(thread);
        let lanes = 0..self.now.lanes(thread);
        let is_here = |lane: &usize| match self.now.lane_state(thread, *lane) {
            Some(LaneState::At(at) | LaneState::Barrier(at)) => Some(at) == here,
            Some(LaneState::Ended) | None => false,
        };
        lanes.filter(is_here).fold(0, |all, lane| all | 1 << lane)
    }

    /// The frames of a thread, innermost first.
    pub fn frames(&self, thread: usize) -> Vec<Frame> {
        self.address(thread)
            .map_or(vec![], |address| self.program.frames(address))
    }

    fn spot(&self, execution: &E, thread: usize) -> Option<Spot> {
        let instruction = self.program.at(address(execution, thread)?)?;
        let line = instruction.line.as_ref().map(|line| (line.file, line.line));
        Some((instruction.path, line))
    }

    /// Evaluates an expression in a frame and a lane.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn evaluate(
        &self,
        text: &str,
        (thread, path, lane): (usize, usize, usize),
    ) -> Result<Evaluated, ExpressionError> {
        Expression::parse(text)?.evaluate(Context {
            execution: &self.now,
            thread,
            path,
            lane,
        })
    }

    /// The value of an expression as text, evaluated in each lane: once if all agree. In one lane if one is given.
    ///
    /// # Errors
    /// What is wrong with it in the first lane that runs.
    pub fn show(
        &self,
        text: &str,
        (thread, path, lane): (usize, usize, Option<usize>),
        form: Form,
    ) -> Result<String, ExpressionError> {
        let expression = Expression::parse(text)?;
        let running = self.running(thread);
        let show = |lane: usize| {
            let evaluated = expression.evaluate(Context {
                execution: &self.now,
                thread,
                path,
                lane,
            });
            Ok(match evaluated? {
                Evaluated::Scalar(scalar) => scalar.to_string(),
                Evaluated::Node(node) => node.show_as(&self.now, thread, lane, form),
            })
        };
        if let Some(lane) = lane {
            return show(lane);
        }
        let first = if running == 0 {
            0
        } else {
            running.trailing_zeros()
        };
        show(first as usize)?;
        // Elsewhere a part may be missing: an index that is not one yet.
        let lanes = 0..self.now.lanes(thread);
        let texts =
            lanes.map(|lane| show(lane).unwrap_or_else(|_: ExpressionError| "-".to_owned()));
        Ok(join_lanes(&texts.collect::<Vec<_>>(), running))
    }

    // Breakpoints.

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
        use crate::execution::ScalarPlace;
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
        let count = |stops: &Stops| stops.breakpoints.len() + stops.watches.len();
        let before = count(&self.stops);
        self.stops.breakpoints.retain(|own| own.id != id);
        self.stops.watches.retain(|own| own.id != id);
        self.stops.mark(&self.program);
        count(&self.stops) != before
    }

    // Forward.

    /// Begins a motion of a thread, which [`Session::advance`] makes.
    pub fn begin(&mut self, motion: Motion, thread: usize) {
        self.moving = Some(Moving {
            motion,
            thread,
            from: self.spot(&self.now, thread),
            workgroup: self.now.workgroup(),
        });
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
        let moving = self.moving?;
        for _ in 0..steps {
            if let Some(stop) = self.step(Some(moving)) {
                self.moving = None;
                return Some(stop);
            }
        }
        None
    }

    /// Makes a motion to its end, or for at most so many steps.
    pub fn go(&mut self, motion: Motion, thread: usize, steps: u64) -> Stop {
        self.begin(motion, thread);
        let stop = self.advance(steps);
        stop.unwrap_or_else(|| self.pause())
    }

    /// One step; whether something stops after it.
    fn step(&mut self, moving: Option<Moving>) -> Option<Stop> {
        if self.now.ahead().is_none() {
            return Some(Stop::End(self.now.ending().unwrap_or_default()));
        }
        let watched = self.watched(&self.now);
        let ran = self.now.ahead().map(|ahead| ahead.thread);
        self.now.step();
        self.time += 1;
        self.history.note(self.time, &self.now);
        if let Some(touched) = watched {
            return Some(self.watch_stop(&self.now, &touched));
        }
        if self.now.ahead().is_none() {
            return Some(Stop::End(self.now.ending().unwrap_or_default()));
        }
        let stop = self.stops.breakpoint(&self.program, &self.now);
        if stop.is_some() {
            return stop;
        }
        let moving = moving?;
        self.is_done(moving, ran).then_some(Stop::Step)
    }

    /// What the next step touches of what is watched.
    fn watched(&self, execution: &E) -> Option<Touched> {
        let (watch, lanes) = self.stops.watch(execution)?;
        let ahead = execution.ahead()?;
        let lane = lanes.trailing_zeros() as usize;
        Some(Touched {
            id: watch.id,
            thread: ahead.thread,
            lane,
            address: ahead.address,
            before: watch.node.show(execution, ahead.thread, lane),
        })
    }

    /// The stop after a step that has touched what is watched.
    fn watch_stop(&self, execution: &E, touched: &Touched) -> Stop {
        let watch = self.stops.watches.iter().find(|own| own.id == touched.id);
        let Some(watch) = watch else {
            return Stop::Watch(touched.id, String::new());
        };
        let line = self.program.at(touched.address);
        let line = line.and_then(|own| own.line.as_ref());
        let line = line.map_or("no line".to_owned(), |line| self.program.show(line));
        let after = watch.node.show(execution, touched.thread, touched.lane);
        let change = match after == touched.before {
            true => after,
            false => format!("{} -> {after}", touched.before),
        };
        let text = format!(
            "{} of lane {} of warp {} at {line}: {change}",
            watch.node.name, touched.lane, touched.thread
        );
        Stop::Watch(touched.id, text)
    }

    /// Whether a motion is done with the step that a thread has just made.
    fn is_done(&self, moving: Moving, ran: Option<usize>) -> bool {
        if moving.motion == Motion::Continue {
            return false;
        }
        // Its workgroup has ended: the thread is another one from now on.
        if self.now.workgroup() != moving.workgroup {
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

    // Back.

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

    /// Goes back to the last breakpoint or watch before now, else to the start.
    pub fn reverse_continue(&mut self) -> Stop {
        let found = self.search_back(|session, replayed| {
            let watched = replayed.watched.as_ref();
            let watched = watched.map(|touched| session.watch_stop(&replayed.state, touched));
            watched.or_else(|| session.stops.breakpoint(&session.program, &replayed.state))
        });
        match found {
            Some((time, stop)) => {
                self.go_to(time);
                stop
            }
            None => {
                self.go_to(0);
                Stop::Beginning
            }
        }
    }

    /// Goes back by an instruction of a thread.
    pub fn reverse_instruction(&mut self, thread: usize) -> Stop {
        let found = self.search_back(|_, replayed| {
            let ahead = replayed.state.ahead();
            ahead
                .is_some_and(|ahead| ahead.thread == thread)
                .then_some(())
        });
        self.arrive_back(found.map(|(time, ())| time))
    }

    /// Goes back to the start of the line that a thread is in, or of the one before if it is there already. Calls are gone over.
    pub fn reverse_line(&mut self, thread: usize) -> Stop {
        let here = self.spot(&self.now, thread);
        let own = here.map(|(path, _)| path);
        // The time at which the thread came to the line that it is in during the search, and that line.
        let mut run: Option<(u64, Spot)> = None;
        let (mut number, _, _) = self.history.before(self.time.saturating_sub(1));
        while let Some((start, state)) = self.history.get(number) {
            run = None;
            let (mut time, mut state) = (start, state.clone());
            while time < self.time {
                if let Some(ahead) = state.ahead()
                    && ahead.thread == thread
                    && let Some(spot @ (path, Some(_))) = self.spot(&state, thread)
                    && !own.is_some_and(|own| self.program.is_below(path, own))
                    && run.is_none_or(|(_, last)| last != spot)
                {
                    run = Some((time, spot));
                }
                state.step();
                time += 1;
            }
            // A line that the thread is in at the checkpoint may have begun before it.
            if number == 0 || run.is_some_and(|(time, _)| time > start) {
                break;
            }
            number -= 1;
        }
        self.arrive_back(run.map(|(time, _)| time))
    }

    fn arrive_back(&mut self, time: Option<u64>) -> Stop {
        self.go_to(time.unwrap_or(0));
        match time {
            Some(time) if time != 0 => Stop::Step,
            _ => Stop::Beginning,
        }
    }

    /// The last time before now at which a state is one that is looked for.
    fn search_back<T>(
        &self,
        mut wanted: impl FnMut(&Self, &Replayed<E>) -> Option<T>,
    ) -> Option<(u64, T)> {
        let mut end = self.time;
        while end != 0 {
            let (_, start, state) = self.history.before(end - 1);
            let mut replayed = Replayed {
                state: state.clone(),
                watched: None,
            };
            let mut found = None;
            // The state at a checkpoint came of a step before it, which is replayed with the checkpoint before.
            for time in start..end {
                if (time != start || start == 0)
                    && let Some(stop) = wanted(self, &replayed)
                {
                    found = Some((time, stop));
                }
                replayed.watched = self.watched(&replayed.state);
                replayed.state.step();
            }
            // The state at the end of the part, if that is not now.
            if end != self.time
                && let Some(stop) = wanted(self, &replayed)
            {
                found = Some((end, stop));
            }
            if found.is_some() {
                return found;
            }
            end = start;
        }
        None
    }
}

/// What a step touches of what is watched, and its value before.
struct Touched {
    id: u32,
    thread: usize,
    lane: usize,
    address: u64,
    before: String,
}

/// A state on the way back, and what the step to it has touched.
struct Replayed<E> {
    state: E,
    watched: Option<Touched>,
}

fn address<E: Execution>(execution: &E, thread: usize) -> Option<u64> {
    if let Some(ahead) = execution.ahead()
        && ahead.thread == thread
    {
        return Some(ahead.address);
    }
    let states = (0..execution.lanes(thread)).map(|lane| execution.lane_state(thread, lane));
    let places = states.filter_map(|state| match state? {
        LaneState::At(address) | LaneState::Barrier(address) => Some(address),
        LaneState::Ended => None,
    });
    places.min()
}
