//! What is wrong with a script's text, and where.

use alloc::string::String;
use core::fmt;
use core::ops::Range;
use thiserror::Error;

/// A place in a script's text, as people count: from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Character within the line.
    pub column: usize,
}

impl Position {
    /// The position of a byte of `source`; of its end, for what lies beyond.
    pub fn of(source: &str, byte: usize) -> Position {
        let before = source.get(..byte).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or("").chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The first thing that is wrong with a script's text.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{position}: {problem}")]
pub struct SyntaxError {
    /// Where it starts.
    pub position: Position,
    /// Bytes of the source that are to blame; an empty range is a place between two.
    pub span: Range<usize>,
    /// What is wrong.
    pub problem: Problem,
}

/// A problem with the bytes that are to blame.
#[cfg(feature = "host")]
pub(crate) type Located = (Range<usize>, Problem);

/// What can be wrong with a script's text.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// Another token was expected.
    #[error("expected {wanted}, found {found}")]
    Expected {
        /// What may stand here.
        wanted: String,
        /// What stands here.
        found: String,
    },
    /// A word that begins no statement or option.
    #[error("`{word}` is no {what}")]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// The word.
        word: String,
    },
    /// A name that nothing declares before this place.
    #[error("no {what} is called `{name}` so far")]
    Undeclared {
        /// Kind of thing.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name or slot that is taken.
    #[error("{what} {name} is there already")]
    Duplicate {
        /// Kind of thing.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A block or text without its end.
    #[error("this {what} has no END")]
    NoEnd {
        /// The statement.
        what: &'static str,
    },
    /// A hexadecimal number that is too large, or has no digits.
    #[error("`{text}` is no hexadecimal number of at most 64 bits")]
    Hexadecimal {
        /// The number.
        text: String,
    },
    /// A number outside of its range.
    #[error("{what} must be {range}, not {found}")]
    Range {
        /// What the number is.
        what: &'static str,
        /// What it may be.
        range: &'static str,
        /// The number.
        found: String,
    },
    /// A floating-point number where the type is an integer.
    #[error("{found} is no integer, but the type has integer components")]
    NotAnInteger {
        /// The number.
        found: f64,
    },
    /// Values that do not make whole elements.
    #[error("{values} values do not make whole elements of {components} components")]
    PartOfElement {
        /// Values that are there.
        values: usize,
        /// Components of an element.
        components: usize,
    },
    /// Values for an image of another size.
    #[error("{values} elements for an image of {texels} texels")]
    ImageData {
        /// Elements that are there.
        values: u64,
        /// Texels of the image.
        texels: u64,
    },
    /// More bytes than a buffer or an element may have.
    #[error("too large: {what} of more than {most} bytes")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The most bytes.
        most: u64,
    },
    /// Something does not fit the pipeline's kind.
    #[error("{what} does not fit a {pipeline} pipeline")]
    WrongPipeline {
        /// What does not fit.
        what: String,
        /// The pipeline's kind.
        pipeline: &'static str,
    },
    /// A pipeline without a shader that it needs.
    #[error("pipeline {name} has no {stage} shader")]
    NoShader {
        /// The pipeline.
        name: String,
        /// The stage.
        stage: &'static str,
    },
    /// An option that needs another statement before it.
    #[error("{what} needs {needed}")]
    Needs {
        /// The option.
        what: &'static str,
        /// What it needs.
        needed: &'static str,
    },
    /// Locations of color attachments with a gap.
    #[error(
        "the color attachments of pipeline {name} are not at locations 0, 1, 2 ... without gaps"
    )]
    LocationGap {
        /// The pipeline.
        name: String,
    },
    /// Attachments whose size is not the framebuffer's.
    #[error(
        "attachment {buffer} of pipeline {name} is {found:?}, but the framebuffer is {wanted:?}: pipelines that share an attachment need the same FRAMEBUFFER_SIZE"
    )]
    AttachmentSize {
        /// The buffer.
        buffer: String,
        /// The pipeline.
        name: String,
        /// Size that the last pipeline gave it.
        found: (u32, u32),
        /// Size of the framebuffer.
        wanted: (u32, u32),
    },
    /// A type that can't be used so.
    #[error("{what} can't have the type {found}")]
    WrongType {
        /// What it is for.
        what: &'static str,
        /// The type.
        found: String,
    },
    /// Two buffers that can't be compared.
    #[error("{a} and {b} can't be compared: {difference}")]
    NotComparable {
        /// One.
        a: String,
        /// The other.
        b: String,
        /// What differs.
        difference: &'static str,
    },
    /// An access outside of a buffer.
    #[error("{what} reaches beyond the end of {buffer}, which has {length}")]
    OutOfBounds {
        /// What reaches.
        what: String,
        /// The buffer.
        buffer: String,
        /// What it has.
        length: String,
    },
    /// An offset that is no multiple of the stride.
    #[error("offset {offset} is no multiple of the element's stride, {stride}")]
    Misaligned {
        /// The offset.
        offset: u64,
        /// The stride.
        stride: u64,
    },
    /// A shader or a file without text.
    #[error("the {what} is empty")]
    Empty {
        /// What is empty.
        what: &'static str,
    },
    /// Two things that must differ.
    #[error("{what} must be two different buffers")]
    Same {
        /// The statement.
        what: &'static str,
    },
    /// VkScript text before the first section.
    #[error("only comments may stand before the first [section]")]
    OutsideSection,
}
