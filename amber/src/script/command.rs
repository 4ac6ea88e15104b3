//! What a script does: language reference, sections 10 and 11.

use super::{BufferId, PipelineId};
use crate::literal::Literal;
use crate::words::words;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

words! {
    /// How two numbers are compared.
    Comparator, "a comparator":
    Equal          = "EQ" | "==" | "~=",
    NotEqual       = "NE" | "!=",
    Less           = "LT" | "<",
    LessOrEqual    = "LE" | "<=",
    Greater        = "GT" | ">",
    GreaterOrEqual = "GE" | ">=",
}

words! {
    /// How vertices make primitives.
    Topology, "a topology":
    PointList                  = "POINT_LIST"                    | "GL_POINTS",
    LineList                   = "LINE_LIST"                     | "GL_LINES",
    LineStrip                  = "LINE_STRIP"                    | "GL_LINE_STRIP",
    TriangleList               = "TRIANGLE_LIST"                 | "GL_TRIANGLES",
    TriangleStrip              = "TRIANGLE_STRIP"                | "GL_TRIANGLE_STRIP",
    TriangleFan                = "TRIANGLE_FAN" | "TRIANGLE_fan" | "GL_TRIANGLE_FAN",
    LineListWithAdjacency      = "LINE_LIST_WITH_ADJACENCY"      | "GL_LINES_ADJACENCY",
    LineStripWithAdjacency     = "LINE_STRIP_WITH_ADJACENCY"     | "GL_LINE_STRIP_ADJACENCY",
    TriangleListWithAdjacency  = "TRIANGLE_LIST_WITH_ADJACENCY"  | "GL_TRIANGLES_ADJACENCY",
    TriangleStripWithAdjacency = "TRIANGLE_STRIP_WITH_ADJACENCY" | "GL_TRIANGLE_STRIP_ADJACENCY",
    PatchList                  = "PATCH_LIST"                    | "GL_PATCHES",
}

/// How far a number may be off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Tolerance {
    /// By this much.
    Absolute(f64),
    /// By this many hundredths.
    Percent(f64),
}

/// A command, and where it stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Command {
    /// What is done.
    pub action: Action,
    /// Line of the script, from 1.
    pub line: usize,
}

/// What a command does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Action {
    /// Sets the clear color, each channel from 0 to 1.
    ClearColor(PipelineId, [f32; 4]),
    /// Sets the clear depth.
    ClearDepth(PipelineId, f64),
    /// Sets the clear stencil.
    ClearStencil(PipelineId, u8),
    /// Clears all attachments.
    Clear(PipelineId),
    /// Copies the bytes of one buffer to another.
    Copy {
        /// From where.
        from: BufferId,
        /// To where.
        to: BufferId,
    },
    /// Dispatches or draws.
    Run(Run),
    /// Checks a buffer.
    Expect(Expectation),
    /// Runs commands several times.
    Repeat {
        /// How often: at least once.
        count: u64,
        /// What.
        commands: Vec<Command>,
    },
    /// Gives a buffer this many zeroed elements (VkScript).
    Resize {
        /// Which.
        buffer: BufferId,
        /// Elements.
        elements: u64,
    },
    /// Writes values, making the buffer longer where it ends before (VkScript).
    Write {
        /// Which.
        buffer: BufferId,
        /// Bytes from the start: a multiple of the stride.
        offset: u64,
        /// Whole elements.
        values: Vec<Literal>,
    },
}

/// A dispatch or a draw.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Run {
    /// Workgroups along x, y and z.
    Dispatch {
        /// The pipeline.
        pipeline: PipelineId,
        /// Workgroups.
        groups: [u32; 3],
        /// Its time is to be told.
        timed: bool,
    },
    /// A draw.
    Draw {
        /// The pipeline.
        pipeline: PipelineId,
        /// What is drawn.
        draw: Draw,
        /// Its time is to be told.
        timed: bool,
    },
    /// A launch of rays.
    Rays {
        /// The pipeline.
        pipeline: PipelineId,
        /// Width, height and depth.
        size: [u32; 3],
    },
}

impl Run {
    /// The pipeline that is run.
    pub fn pipeline(&self) -> PipelineId {
        match self {
            Run::Dispatch { pipeline, .. }
            | Run::Draw { pipeline, .. }
            | Run::Rays { pipeline, .. } => *pipeline,
        }
    }
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Draw {
    /// A rectangle, in pixels or (of VkScript) in clip space.
    Rectangle {
        /// Left and top.
        origin: [f64; 2],
        /// Width and height.
        size: [f64; 2],
        /// In pixels.
        pixels: bool,
        /// As one patch of four vertices.
        patch: bool,
    },
    /// A grid of rectangles, in pixels.
    Grid {
        /// Left and top.
        origin: [u64; 2],
        /// Width and height.
        size: [u64; 2],
        /// Columns and rows.
        cells: [u64; 2],
    },
    /// Vertex data.
    Array {
        /// How vertices make primitives.
        topology: Topology,
        /// The indices of the pipeline are used.
        indexed: bool,
        /// First vertex, or what is added to every index.
        start: u64,
        /// Vertices or indices; none for all that are left.
        count: Option<u64>,
        /// First instance.
        start_instance: u64,
        /// Instances.
        instances: u64,
    },
}

/// A rectangle of pixels that must have one color.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PixelProbe {
    /// Which buffer.
    pub buffer: BufferId,
    /// Left and top.
    pub origin: [u32; 2],
    /// Width and height.
    pub size: [u32; 2],
    /// Red, green, blue, alpha, each on the scale from 0 to 1.
    pub color: [f64; 4],
    /// Alpha counts too.
    pub alpha: bool,
    /// None: 0.002. One to three: the first counts for all. Four: one for each channel.
    pub tolerances: Vec<Tolerance>,
}

/// What a buffer must hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Expectation {
    /// Values from an offset on.
    Values {
        /// Which buffer.
        buffer: BufferId,
        /// Bytes: a multiple of the stride.
        offset: u64,
        /// How values are compared.
        comparator: Comparator,
        /// How far they may be off.
        tolerance: Option<Tolerance>,
        /// At least one.
        values: Vec<Literal>,
    },
    /// A rectangle of pixels.
    Pixels(PixelProbe),
    /// All bytes are those of another buffer.
    Same {
        /// The buffer.
        buffer: BufferId,
        /// The other.
        other: BufferId,
    },
    /// The root of the mean square difference to another buffer.
    Rmse {
        /// The buffer.
        buffer: BufferId,
        /// The other.
        other: BufferId,
        /// The most that it may be.
        most: f64,
    },
    /// The earth mover's distance between the histograms of two pictures.
    HistogramEmd {
        /// The buffer.
        buffer: BufferId,
        /// The other.
        other: BufferId,
        /// The most that it may be.
        most: f64,
    },
}
