//! Traps: why a dispatch stopped.
use std::fmt;

/// Why a dispatch stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trap {
    /// No buffer for set, binding and element.
    Unbound(u32, u32, u32),
    /// More instructions than the limit.
    StepLimit(u64),
    /// An address that names no memory, or isn't aligned as the instruction says.
    Address {
        /// The invocation.
        global_id: [u32; 3],
        /// The instruction.
        inst: String,
        /// Its address operands.
        address: Vec<u64>,
    },
    /// Some invocations of a workgroup wait at a barrier and others have ended or wait at another.
    Barrier {
        /// The workgroup.
        workgroup: [u32; 3],
    },
    /// The instruction, or the stage of the whole function, isn't one of what is run.
    Stage(String),
    /// `unreachable` was reached.
    Unreachable {
        /// The invocation.
        global_id: [u32; 3],
    },
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trap::Unbound(set, binding, element) => {
                write!(
                    f,
                    "nothing is bound at set {set}, binding {binding}, element {element}"
                )
            }
            Trap::StepLimit(limit) => write!(f, "still running after {limit} instructions"),
            Trap::Address {
                global_id,
                inst,
                address,
            } => write!(
                f,
                "invocation {global_id:?}: `{inst}` has the impossible address {address:#x?}"
            ),
            Trap::Stage(inst) => write!(f, "`{inst}` is nothing that can be run here"),
            Trap::Barrier { workgroup } => write!(
                f,
                "workgroup {workgroup:?}: not all invocations reach the same barrier"
            ),
            Trap::Unreachable { global_id } => {
                write!(f, "invocation {global_id:?} reaches `unreachable`")
            }
        }
    }
}

impl std::error::Error for Trap {}
