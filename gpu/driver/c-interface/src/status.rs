//! What calls answer.

use eitri_runtime::{Error, ErrorKind};

/// What a call answers. What is not EITRI_STATUS_OK or EITRI_STATUS_PENDING has a sentence: eitri_error_text().
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EitriStatus {
    /// It is done.
    Ok = 0,
    /// The job has not ended yet.
    Pending = 1,
    /// An argument can't be: a null pointer, a number that means nothing, memory that is too small.
    Argument = 2,
    /// The device is not open, or a call is made from inside of another one's callback.
    State = 3,
    /// The GPU is lost, or did not come up: close the device and open it again.
    Lost = 4,
    /// The GPU's memory, or addresses in it, are used up.
    OutOfMemory = 5,
    /// There are as many queues, jobs or objects as the device has room for.
    OutOfStorage = 6,
    /// A handle is of something that was destroyed, or of nothing.
    Gone = 7,
    /// A job in flight uses it: wait for the job.
    InUse = 8,
    /// There is no room in the queue: wait for one of its jobs.
    Busy = 9,
    /// The queue has failed: destroy it and make another.
    QueueFailed = 10,
    /// The job has failed.
    JobFailed = 11,
    /// The call asks for what can't be.
    Refused = 12,
}

impl From<&Error> for EitriStatus {
    fn from(error: &Error) -> EitriStatus {
        match error.kind() {
            ErrorKind::Lost => EitriStatus::Lost,
            ErrorKind::OutOfMemory => EitriStatus::OutOfMemory,
            ErrorKind::OutOfStorage => EitriStatus::OutOfStorage,
            ErrorKind::Gone => EitriStatus::Gone,
            ErrorKind::InUse => EitriStatus::InUse,
            ErrorKind::Busy => EitriStatus::Busy,
            ErrorKind::QueueFailed => EitriStatus::QueueFailed,
            ErrorKind::JobFailed => EitriStatus::JobFailed,
            ErrorKind::Refused => EitriStatus::Refused,
        }
    }
}

/// Why a call did not do what it was asked for.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The driver says why.
    Driver(Error),
    /// An argument that can't be: which, and what it must be.
    Argument(&'static str),
    /// What is asked for can't be done: why.
    CannotBe(&'static str),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Driver(error)
    }
}

impl From<eitri_program::ProgramError> for Refusal {
    fn from(error: eitri_program::ProgramError) -> Refusal {
        Refusal::Driver(error.into())
    }
}
