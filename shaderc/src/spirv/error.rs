//! Why a module can't be compiled, and where.
//!
//! Needs: nothing.  Guarantees: every error about an instruction carries its offset, name, id and source line.
use std::fmt;

use crate::ir::verify::Violation;
use crate::options::ShaderStage;

/// The instruction at fault.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Byte offset in the module.
    pub offset: u32,
    /// Its name, `OpIAdd`.
    pub name: String,
    /// Its result id, if it has one.
    pub id: Option<u32>,
    /// `file:line` or `file:line:column`, if OpLine gives it.
    pub source: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(source) = &self.source {
            write!(f, "{source}: ")?;
        }
        write!(f, "{}", self.name)?;
        if let Some(id) = self.id {
            write!(f, " %{id}")?;
        }
        write!(f, " (byte {})", self.offset)
    }
}

/// Why a module can't be compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// Not SPIR-V at all, or cut off: before any instruction makes sense.
    NotSpirv(Framing),
    /// Breaks a rule of SPIR-V.
    Invalid {
        /// Where.
        place: Place,
        /// Which.
        what: Invalid,
    },
    /// Valid, but not supported.
    Unsupported {
        /// Where.
        place: Place,
        /// What sort of thing.
        feature: Feature,
        /// Its name.
        name: String,
    },
    /// There is no such entry point; these are there.
    NoEntryPoint {
        /// The stage that it should be of.
        stage: ShaderStage,
        /// The name that was asked for; none if there was no wish.
        wanted: Option<String>,
        /// Names of the entry points of that stage.
        found: Vec<String>,
    },
    /// The option names a specialisation constant that the module doesn't have.
    NoSpecConstant(u32),
    /// The flow of values or control is impossible: a value is used where it isn't defined.
    BadFlow(Vec<Violation>),
}

/// What a program does without though the source has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// Where.
    pub place: Place,
    /// What.
    pub what: &'static str,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// How the words fail to be a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// Shorter than a header, or not a multiple of 4.
    Length(usize),
    /// The first word.
    Magic(u32),
    /// Of the version word: (major, minor).
    Version(u8, u8),
    /// The instruction at this byte offset has no words or leaves the file.
    WordCount(u32),
    /// No instruction has the opcode at this byte offset.
    Opcode(u32, u16),
}

/// Rules of SPIR-V that an instruction may break.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Invalid {
    /// Too few operands.
    MissingOperand,
    /// A literal has no meaning here.
    Literal(u32),
    /// A string without an end.
    String,
    /// The id is not defined (before this).
    UndefinedId(u32),
    /// The id is defined twice.
    DefinedTwice(u32),
    /// The id isn't below the bound that the header gives.
    Bound(u32, u32),
    /// The id names something else than this.
    Wanted(u32, &'static str),
    /// Types of operands and result don't go together.
    TypeMismatch,
    /// A member or element number out of range.
    Index(u32),
    /// Stands where it may not.
    Misplaced,
    /// A function, block or module ends without its last instruction.
    Unfinished,
    /// Memory that a block reaches without the decoration that says where it lies.
    NoLayout(&'static str),
    /// The function calls itself.
    Recursion,
    /// A block is entered from inside a loop or construct in a way that structured control flow forbids.
    Unstructured,
    /// The entry point has no workgroup size, or one that isn't positive.
    WorkgroupSize,
}

/// Sorts of things that aren't supported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feature {
    /// A capability.
    Capability,
    /// An extension.
    Extension,
    /// A set of extended instructions.
    InstructionSet,
    /// An instruction.
    Instruction,
    /// An addressing or memory model.
    Model,
    /// An execution model.
    ExecutionModel,
    /// An execution mode.
    ExecutionMode,
    /// A type.
    Type,
    /// A storage class.
    StorageClass,
    /// A built-in variable.
    BuiltIn,
    /// A scope.
    Scope,
    /// A use of something that is supported otherwise.
    Use,
    /// A size.
    Limit,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotSpirv(framing) => write!(f, "not a SPIR-V module: {framing}"),
            Error::Invalid { place, what } => write!(f, "{place}: {what}"),
            Error::Unsupported {
                place,
                feature,
                name,
            } => write!(f, "{place}: {feature} {name} is not supported"),
            Error::NoEntryPoint {
                stage,
                wanted,
                found,
            } => {
                let stage = stage.name();
                match wanted {
                    Some(name) => write!(f, "no {stage} entry point `{name}`")?,
                    None => write!(f, "no {stage} entry point, or more than one")?,
                }
                match found.is_empty() {
                    true => write!(f, "; the module has none"),
                    false => write!(f, "; the module has {}", found.join(", ")),
                }
            }
            Error::NoSpecConstant(id) => write!(f, "no specialisation constant has SpecId {id}"),
            Error::BadFlow(violations) => {
                write!(f, "values or control flow are impossible")?;
                for violation in violations.iter().take(8) {
                    write!(f, "\n  {violation}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Framing::Length(length) => write!(f, "{length} bytes are no whole module"),
            Framing::Magic(word) => write!(f, "it begins with {word:#010x}, not 0x07230203"),
            Framing::Version(major, minor) => write!(f, "version {major}.{minor} is unknown"),
            Framing::WordCount(offset) => {
                write!(
                    f,
                    "the instruction at byte {offset} has an impossible length"
                )
            }
            Framing::Opcode(offset, opcode) => {
                write!(
                    f,
                    "the instruction at byte {offset} has the unknown opcode {opcode}"
                )
            }
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invalid::MissingOperand => write!(f, "an operand is missing"),
            Invalid::Literal(literal) => write!(f, "the literal {literal} means nothing here"),
            Invalid::String => write!(f, "the string has no end or isn't UTF-8"),
            Invalid::UndefinedId(id) => write!(f, "%{id} is not defined before"),
            Invalid::Bound(id, bound) => {
                write!(f, "%{id} is not below {bound}, the bound in the header")
            }
            Invalid::DefinedTwice(id) => write!(f, "%{id} is defined a second time"),
            Invalid::Wanted(id, what) => write!(f, "%{id} must be {what}"),
            Invalid::TypeMismatch => write!(f, "the types don't go together"),
            Invalid::Index(index) => write!(f, "the index {index} is out of range"),
            Invalid::Misplaced => write!(f, "may not stand here"),
            Invalid::Unfinished => write!(f, "this is never ended"),
            Invalid::NoLayout(decoration) => write!(f, "the type lacks {decoration}"),
            Invalid::Recursion => write!(f, "the function calls itself"),
            Invalid::Unstructured => write!(f, "control flow here is not structured"),
            Invalid::WorkgroupSize => write!(f, "the workgroup size must be positive"),
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Feature::Capability => "capability",
            Feature::Extension => "extension",
            Feature::InstructionSet => "instruction set",
            Feature::Instruction => "instruction",
            Feature::Model => "model",
            Feature::ExecutionModel => "execution model",
            Feature::ExecutionMode => "execution mode",
            Feature::Type => "type",
            Feature::StorageClass => "storage class",
            Feature::BuiltIn => "built-in",
            Feature::Scope => "scope",
            Feature::Use => "use:",
            Feature::Limit => "size:",
        })
    }
}
