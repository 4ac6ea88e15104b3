//! Policy: who ends for what. One table, by event and by the state of each group that the event concerns.
//!
//! `docs/porting.md` shows the table; a test compares the two. Whoever sees an event asks [`outcome`].
//! Facts: hardware/csf-scheduling.md sections 3 and 6, csf-mmio.md 16.9.

use crate::fault::Recovery;

/// Something that may end jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Event {
    /// A stream reports FAULT.
    Fault,
    /// A stream reports FATAL.
    Fatal,
    /// A stream reports FATAL with an exception that only a reset helps against.
    FatalForReset,
    /// A stream wants protected mode.
    ProtectedMode,
    /// The progress timer has run out.
    NoProgress,
    /// The address space has a page fault, and the group has jobs in flight.
    SpaceFault,
    /// The GPU reports a fault of an access in the address space.
    GpuFault,
    /// The owner cancels or destroys the queue, or the device is shut down.
    Cancelled,
    /// The firmware does not answer a request in time.
    NotAnswered,
    /// A recovery, a suspend or an idle device saves what it can.
    Saving,
    /// The GPU was reset or lost its power.
    Stopped,
    /// The same, and some stream relies on what raw commands left in its registers.
    StoppedWithRegisters,
    /// The same, and the group was to end.
    StoppedWhileEnding,
    /// The group is to end.
    Ending,
}

/// State of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// On no slot, never started or saved.
    Off,
    /// On no slot; what was saved may not have reached memory.
    Uncertain,
    /// On a slot, waiting for its address space.
    Waiting,
    /// Being started or resumed.
    Starting,
    /// Running.
    Running,
    /// Being saved.
    Suspending,
    /// Being dropped.
    Terminating,
    /// Ended.
    Dead,
}

/// What becomes of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing; or it can't be.
    Nothing,
    /// The job that the stream is at fails; the queue goes on.
    JobFails,
    /// The job that each stream is at is lost; the queue goes on with the next. A job that still waits for a semaphore stays.
    JobsAreLost,
    /// The group is to end: its jobs in flight fail, and the queue takes no more.
    Ends,
    /// The same, when the streams have reported which job it was, or have had time to.
    EndsOnceNamed,
    /// The GPU is lost, and started again.
    GpuIsLost,
    /// The group gives up its slot, which it has not used.
    LeavesSlot,
    /// The firmware is asked to save the group, which is waited for.
    IsSuspended,
    /// The firmware is asked to drop the group.
    IsTerminated,
    /// The answer of the firmware is waited for.
    IsAwaited,
    /// The group is gone: its jobs in flight have failed.
    IsGone,
}

impl Outcome {
    /// What helps, for the fault of a job that ends so.
    pub(crate) const fn recovery(self) -> Recovery {
        match self {
            Outcome::GpuIsLost => Recovery::Reset,
            Outcome::Ends
            | Outcome::EndsOnceNamed
            | Outcome::IsTerminated
            | Outcome::IsGone
            | Outcome::LeavesSlot => Recovery::NewQueue,
            Outcome::Nothing
            | Outcome::JobFails
            | Outcome::JobsAreLost
            | Outcome::IsSuspended
            | Outcome::IsAwaited => Recovery::Continue,
        }
    }
}

const STATES: usize = 8;
const EVENTS: usize = 14;

use Outcome::{
    Ends, EndsOnceNamed, GpuIsLost, IsAwaited, IsGone, IsSuspended, IsTerminated, JobFails,
    JobsAreLost, LeavesSlot, Nothing,
};

/// Columns in the order of [`State`], rows in that of [`Event`].
#[rustfmt::skip]
const TABLE: [[Outcome; STATES]; EVENTS] = [
    // Off         Uncertain    Waiting        Starting       Running        Suspending     Terminating    Dead
    [Nothing,      Nothing,     JobFails,      JobFails,      JobFails,      JobFails,      JobFails,      Nothing], // Fault
    [Nothing,      Nothing,     Ends,          Ends,          Ends,          Ends,          Ends,          Nothing], // Fatal
    [Nothing,      Nothing,     GpuIsLost,     GpuIsLost,     GpuIsLost,     GpuIsLost,     GpuIsLost,     Nothing], // FatalForReset
    [Nothing,      Nothing,     Ends,          Ends,          Ends,          Ends,          Ends,          Nothing], // ProtectedMode
    [Nothing,      Nothing,     Ends,          Ends,          Ends,          Ends,          Ends,          Nothing], // NoProgress
    [Nothing,      Nothing,     EndsOnceNamed, EndsOnceNamed, EndsOnceNamed, EndsOnceNamed, EndsOnceNamed, Nothing], // SpaceFault
    [Nothing,      Nothing,     JobFails,      JobFails,      JobFails,      JobFails,      JobFails,      Nothing], // GpuFault
    [Ends,         Ends,        Ends,          Ends,          Ends,          Ends,          Ends,          Nothing], // Cancelled
    [Nothing,      Nothing,     Nothing,       GpuIsLost,     Nothing,       IsTerminated,  GpuIsLost,     Nothing], // NotAnswered
    [Nothing,      Nothing,     LeavesSlot,    IsAwaited,     IsSuspended,   IsAwaited,     Nothing,       Nothing], // Saving
    [Nothing,      JobsAreLost, JobsAreLost,   JobsAreLost,   JobsAreLost,   JobsAreLost,   JobsAreLost,   Nothing], // Stopped
    [Nothing,      IsGone,      IsGone,        IsGone,        IsGone,        IsGone,        IsGone,        Nothing], // StoppedWithRegisters
    [Nothing,      IsGone,      IsGone,        IsGone,        IsGone,        IsGone,        IsGone,        Nothing], // StoppedWhileEnding
    [IsGone,       IsGone,      LeavesSlot,    IsAwaited,     IsTerminated,  IsAwaited,     IsAwaited,     Nothing], // Ending
];

/// What becomes of a group in a state.
pub(crate) fn outcome(event: Event, state: State) -> Outcome {
    let row = TABLE.get(event as usize);
    // Every event has a row, and every state a column.
    row.and_then(|row| row.get(state as usize))
        .copied()
        .unwrap_or(Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::String;

    const STATE_NAMES: [(State, &str); STATES] = [
        (State::Off, "off"),
        (State::Uncertain, "off, save uncertain"),
        (State::Waiting, "waiting for its space"),
        (State::Starting, "starting"),
        (State::Running, "running"),
        (State::Suspending, "suspending"),
        (State::Terminating, "terminating"),
        (State::Dead, "ended"),
    ];

    const EVENT_NAMES: [(Event, &str); EVENTS] = [
        (Event::Fault, "a stream reports FAULT"),
        (Event::Fatal, "a stream reports FATAL"),
        (
            Event::FatalForReset,
            "FATAL that only a reset helps against",
        ),
        (Event::ProtectedMode, "a stream wants protected mode"),
        (Event::NoProgress, "the progress timer runs out"),
        (
            Event::SpaceFault,
            "a page fault of its space, jobs in flight",
        ),
        (Event::GpuFault, "`GPU_FAULT` of an access in its space"),
        (Event::Cancelled, "`cancel`, `destroy_queue`, `shutdown`"),
        (Event::NotAnswered, "the firmware does not answer in time"),
        (Event::Saving, "a recovery or a power-off begins"),
        (Event::Stopped, "the GPU was reset or switched off"),
        (
            Event::StoppedWithRegisters,
            "the same, after `submit_stream`",
        ),
        (
            Event::StoppedWhileEnding,
            "the same, while the queue was to end",
        ),
        (Event::Ending, "the queue is to end"),
    ];

    const fn name(outcome: Outcome) -> &'static str {
        match outcome {
            Outcome::Nothing => "–",
            Outcome::JobFails => "job fails",
            Outcome::JobsAreLost => "jobs lost",
            Outcome::Ends => "ends",
            Outcome::EndsOnceNamed => "ends once named",
            Outcome::GpuIsLost => "GPU lost",
            Outcome::LeavesSlot => "leaves its slot",
            Outcome::IsSuspended => "suspended",
            Outcome::IsTerminated => "terminated",
            Outcome::IsAwaited => "awaited",
            Outcome::IsGone => "gone",
        }
    }

    fn page_table() -> String {
        let mut table = String::from("| event |");
        for (_, name) in STATE_NAMES {
            table += &format!(" {name} |");
        }
        table += &format!("\n|---|{}\n", "---|".repeat(STATES));
        for (event, about) in EVENT_NAMES {
            table += &format!("| {about} |");
            for (state, _) in STATE_NAMES {
                table += &format!(" {} |", name(outcome(event, state)));
            }
            table += "\n";
        }
        table
    }

    #[test]
    fn the_page_shows_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/porting.md");
        let page = std::fs::read_to_string(path).expect("the page is there");
        let table = page_table();
        assert!(
            page.contains(&table),
            "docs/porting.md is to show this in \"Who ends for what\":\n{table}"
        );
    }

    #[test]
    fn rows_and_columns_stand_where_they_are_looked_up() {
        for (number, (event, about)) in EVENT_NAMES.into_iter().enumerate() {
            assert_eq!(event as usize, number, "{about}");
            let dead = outcome(event, State::Dead);
            assert_eq!(dead, Outcome::Nothing, "{about}: the group has ended");
        }
        for (number, (state, name)) in STATE_NAMES.into_iter().enumerate() {
            assert_eq!(state as usize, number, "{name}");
        }
        assert_eq!(TABLE.len(), EVENT_NAMES.len());
    }

    /// A state that has reached memory outlives a reset, whatever strikes the others.
    #[test]
    fn a_group_that_is_saved_is_not_concerned_by_a_reset() {
        for event in [
            Event::Stopped,
            Event::StoppedWithRegisters,
            Event::StoppedWhileEnding,
        ] {
            assert_eq!(outcome(event, State::Off), Outcome::Nothing);
            assert_ne!(outcome(event, State::Uncertain), Outcome::Nothing);
            assert_ne!(outcome(event, State::Suspending), Outcome::Nothing);
        }
    }
}
