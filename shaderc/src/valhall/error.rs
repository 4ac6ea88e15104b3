//! What the back end refuses, and what would be a defect of its own.

use super::registers::allocate::AllocateError;
pub use crate::machine::Unsupported;

/// Why there is no machine code.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The shader asks for something that has no code yet.
    #[error("the Valhall back end has {0}")]
    Unsupported(Unsupported),
    /// Variables and spilled values exceed what one thread can address.
    #[error(
        "the shader needs more than 32764 bytes of memory for each thread, spilled registers included"
    )]
    ScratchFull,
    /// With a limit on registers: one instruction alone needs more.
    #[error("an instruction needs more registers than the limit leaves")]
    TooFewRegisters,
    /// A stage of the graphics pipeline that is compiled alone.
    #[error("a {0} shader is compiled with the other stages of its pipeline, not alone")]
    NotCompute(&'static str),
    /// A pass broke a rule of the machine IR: a defect of the compiler.
    #[error("internal: after {pass}: {}", .rules.join("; "))]
    Broken {
        /// The pass.
        pass: &'static str,
        /// What was found.
        rules: Vec<String>,
    },
    /// The encoder refused an instruction: a defect of the compiler.
    #[error("internal: `{text}` can't be encoded: {reason}")]
    Encode {
        /// The machine instruction.
        text: String,
        /// Why not.
        reason: String,
    },
}

impl Error {
    pub(super) fn broken(pass: &'static str, rules: Vec<String>) -> Error {
        Error::Broken { pass, rules }
    }
}

impl From<Unsupported> for Error {
    fn from(unsupported: Unsupported) -> Error {
        Error::Unsupported(unsupported)
    }
}

impl From<AllocateError> for Error {
    fn from(error: AllocateError) -> Error {
        match error {
            AllocateError::TooFewRegisters | AllocateError::NoRoom => Error::TooFewRegisters,
            AllocateError::ScratchFull => Error::ScratchFull,
            AllocateError::Wrong(wrong) => Error::broken("allocate", vec![wrong.to_string()]),
        }
    }
}
