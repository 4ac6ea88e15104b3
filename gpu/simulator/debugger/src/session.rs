//! A session: an execution with its program, that goes forward and back.
//!
//! Time is the number of steps since the start. Each stop depends on the state alone, so going back is: from a checkpoint forward,
//! to the last stop before now. Guarantees: [`Session::advance`] returns after as many steps as it is given; state at a time is the
//! same however it was reached.
//! In reading order: this file (what there is), `stopping` (breakpoints and watches), `forward`, `back`.
mod back;
mod forward;
mod stopping;

use crate::execution::{Execution, LaneState};
use crate::expression::{Context, Evaluated, Expression, ExpressionError};
use crate::history::History;
use crate::program::{Frame, Program};
use crate::stops::{Stop, Stops};
use crate::value::{Form, join_lanes};
pub use back::Backward;
pub use forward::Motion;
use forward::Moving;

/// Where a thread is: the call path, and file and line.
type Spot = (usize, Option<(usize, u32)>);

/// A motion that is being made, forward or back.
#[derive(Clone, Debug)]
enum Course<E> {
    Forward(Moving),
    Back(Box<back::Search<E>>),
}

/// A session.
#[derive(Clone, Debug)]
pub struct Session<E> {
    program: Program,
    now: E,
    time: u64,
    history: History<E>,
    stops: Stops,
    moving: Option<Course<E>>,
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
                if E::STARTS_AT_LINE {
                    self.go_to_first_line();
                }
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
        // The machine has no lanes.
        let alone = (self.now.lanes(thread) == 0).then_some(0);
        if let Some(lane) = lane.or(alone) {
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
