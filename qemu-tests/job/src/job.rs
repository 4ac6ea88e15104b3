//! A job: one dispatch, with all that it reads and writes.

use crate::content::Content;

/// When a core dump of the GPU is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CoreDump {
    /// Not at all.
    #[default]
    Never,
    /// If the job fails, as the GPU was when it did.
    OnFailure,
    /// Behind a job that ends well too.
    Always,
}

/// What is wanted of a job besides its buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// When a core dump of the GPU.
    pub dump: CoreDump,
    /// What the performance counters count meanwhile.
    pub counters: bool,
}

impl Wants {
    const DUMP: u32 = 1;
    const COUNTERS: u32 = 2;
    const DUMP_ALWAYS: u32 = 4;

    pub(crate) fn from_word(word: u32) -> Wants {
        Wants {
            dump: match (word & Wants::DUMP_ALWAYS != 0, word & Wants::DUMP != 0) {
                (true, _) => CoreDump::Always,
                (false, true) => CoreDump::OnFailure,
                (false, false) => CoreDump::Never,
            },
            counters: word & Wants::COUNTERS != 0,
        }
    }

    #[cfg(feature = "host")]
    pub(crate) fn word(self) -> u32 {
        let dump = match self.dump {
            CoreDump::Never => 0,
            CoreDump::OnFailure => Wants::DUMP,
            CoreDump::Always => Wants::DUMP_ALWAYS,
        };
        dump | if self.counters { Wants::COUNTERS } else { 0 }
    }
}

/// Everything that a dispatch needs.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The program, as `eitri-program` reads it; its checks are the program's own.
    pub program: &'a [u8],
    /// The firmware image.
    pub firmware: &'a [u8],
    /// The push constants.
    pub push_constants: &'a [u8],
    /// Workgroups along x, y and z.
    pub groups: [u32; 3],
    /// Longest that the job may take, in milliseconds.
    pub limit_ms: u32,
    /// What is wanted besides the resources.
    pub wants: Wants,
    /// The resources. A combined image and sampler is one of each at one place.
    pub resources: &'a [Resource<'a>],
}

/// What the shader sees of which memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// All of its own.
    #[default]
    Whole,
    /// A part of the memory of a resource: of itself, or of one before it, which then both are one. Of an image all of it,
    /// whatever the other numbers say.
    Of {
        /// Its place in the list of resources.
        resource: u32,
        /// The first byte: a multiple of 16.
        start: u32,
        /// How many.
        bytes: u32,
    },
}

/// One resource of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resource<'a> {
    /// Descriptor set of the shader's text.
    pub set: u32,
    /// Binding of the shader's text.
    pub binding: u32,
    /// Element, of an array of descriptors; else 0.
    pub element: u32,
    /// What it is.
    pub content: Content,
    /// Length of its memory in bytes: of an image, of all its texels without gaps; of a sampler, and of what sees the memory
    /// of another, 0.
    pub bytes: u32,
    /// What its memory starts with: at most `bytes`; the rest is zero. Of an image layer by layer, level by level, slice by
    /// slice, row by row.
    pub data: &'a [u8],
    /// Whether the content of its memory is wanted after the dispatch.
    pub save: bool,
    /// What the shader sees.
    pub part: Part,
}
