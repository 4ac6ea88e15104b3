//! What the back end refuses, and what would be a defect of its own.

pub use crate::machine::Unsupported;

/// Why there is no machine code.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The shader asks for things that have no code yet: each of them, in the order of the program.
    #[error("{}", refusals(.0))]
    Unsupported(Vec<Unsupported>),
    /// Push constants, driver parameters and constants exceed the const file.
    #[error(
        "the shader needs more than {} vec4 of constants",
        eitri_ir3_program::MAX_CONSTANTS
    )]
    ConstantsFull,
    /// Variables and spilled values exceed what one lane can address.
    #[error(
        "the shader needs more memory for each lane, spilled registers included, than an access can address"
    )]
    PrivateFull,
    /// With a limit on registers: one instruction alone needs more.
    #[error("an instruction needs more registers than the limit leaves")]
    TooFewRegisters,
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

fn refusals(all: &[Unsupported]) -> String {
    let lines = all.iter().map(|one| format!("the IR3 back end has {one}"));
    lines.collect::<Vec<_>>().join("\n")
}

impl Error {
    pub(super) fn broken(pass: &'static str, rules: Vec<String>) -> Error {
        Error::Broken { pass, rules }
    }
}
