//! Findings: what is told to the author of a shader.
use std::fmt;

/// How bad it is, as SARIF has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// Worth knowing.
    Note,
    /// Not what the author can have meant, but defined in what it may do.
    Warning,
    /// The result may be anything.
    Error,
}

impl Level {
    /// Its name in SARIF.
    pub fn name(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// What was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rule {
    /// Two accesses that nothing orders.
    Race,
    /// A value of memory that nobody wrote decides something.
    Uninit,
    /// A value of a variable that nobody stored to decides something.
    UndefinedUse,
    /// An index or address outside.
    OutOfBounds,
    /// An address that is no multiple of what it must be.
    Misaligned,
    /// Not all invocations of a workgroup come to a barrier.
    BarrierDivergent,
    /// A value of a lane that gives none.
    Subgroup,
    /// A resource that differs between invocations without the decoration.
    NonUniform,
    /// An operation that gives nothing defined.
    Arithmetic,
    /// A loop that does not end.
    NoProgress,
    /// An image is read while the same draw renders to it.
    FeedbackLoop,
}

impl Rule {
    /// All of them, in the order of the list in the documentation.
    pub const ALL: [Rule; 11] = [
        Rule::Race,
        Rule::Uninit,
        Rule::UndefinedUse,
        Rule::OutOfBounds,
        Rule::Misaligned,
        Rule::BarrierDivergent,
        Rule::Subgroup,
        Rule::NonUniform,
        Rule::Arithmetic,
        Rule::NoProgress,
        Rule::FeedbackLoop,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Race => "race",
            Rule::Uninit => "uninit",
            Rule::UndefinedUse => "undefined-use",
            Rule::OutOfBounds => "out-of-bounds",
            Rule::Misaligned => "misaligned",
            Rule::BarrierDivergent => "barrier-divergent",
            Rule::Subgroup => "subgroup",
            Rule::NonUniform => "nonuniform",
            Rule::Arithmetic => "arithmetic",
            Rule::NoProgress => "no-progress",
            Rule::FeedbackLoop => "feedback-loop",
        }
    }

    /// In a sentence.
    pub fn text(self) -> &'static str {
        match self {
            Rule::Race => {
                "Two accesses to the same bytes that nothing orders, of which one writes."
            }
            Rule::Uninit => {
                "Memory that nobody wrote decides a branch, an address or what is stored."
            }
            Rule::UndefinedUse => {
                "A variable that nothing was stored to decides a branch, an address or what is stored."
            }
            Rule::OutOfBounds => "An access outside of a buffer, an image or an array.",
            Rule::Misaligned => {
                "An address that is no multiple of the alignment that was promised."
            }
            Rule::BarrierDivergent => "A barrier that not all invocations of the workgroup reach.",
            Rule::Subgroup => {
                "A value of a lane that does not run the operation, or that there is not."
            }
            Rule::NonUniform => "A resource that differs between invocations, without NonUniform.",
            Rule::Arithmetic => "An operation whose result is undefined for its operands.",
            Rule::NoProgress => "A loop that goes round without end.",
            Rule::FeedbackLoop => "An image is read by a draw that renders to it.",
        }
    }
}

/// A place in the source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The file, as the front compiler named it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 if unknown.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            0 => write!(f, "{}:{}", self.file, self.line),
            column => write!(f, "{}:{}:{column}", self.file, self.line),
        }
    }
}

/// A place with what happens there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Related {
    /// What.
    pub text: String,
    /// Where; none if the module has no lines.
    pub place: Option<Place>,
    /// The instruction of the IR.
    pub instruction: String,
}

/// Something that a checker has found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What sort.
    pub rule: Rule,
    /// How bad.
    pub level: Level,
    /// What, in a sentence.
    pub message: String,
    /// What is wrong, first where it is wrong.
    pub places: Vec<Related>,
    /// What else is of use: calls, what an undefined value decides.
    pub related: Vec<Related>,
    /// `shared`, `buffer`, `image` or `private`, if it is about memory.
    pub space: Option<&'static str>,
    /// The variable's name in the source.
    pub variable: Option<String>,
    /// Set and binding.
    pub binding: Option<(u32, u32)>,
    /// How often.
    pub count: u64,
}
