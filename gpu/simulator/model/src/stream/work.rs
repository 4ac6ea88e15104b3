//! Work: what streams give to endpoints.
//!
//! Facts: hardware/command-stream.md 1.11 (resources), 3.6 (jobs), 4 (registers).

use alloc::boxed::Box;

/// The kinds of work that endpoints do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Compute,
    Tiling,
    Fragment,
}

impl Work {
    pub(crate) const ALL: [Work; 3] = [Work::Compute, Work::Tiling, Work::Fragment];

    /// The bits of REQ_RESOURCE that ask for its endpoints.
    pub(crate) fn resources(self) -> u8 {
        match self {
            Work::Compute => 1,
            Work::Fragment => 2,
            // The tiler itself, and index-driven vertex shading, which feeds it.
            Work::Tiling => 4 | 8,
        }
    }
}

/// How a job is cut into tasks: the pieces that are handed to a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tasks {
    /// All workgroups along the axes below this one, so many along it, one along those above.
    Along { axis: usize, increment: u32 },
    /// About so many workgroups.
    Of(u32),
}

/// A compute job as a stream issues it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dispatch {
    pub(crate) tasks: Tasks,
    /// The staging registers, r0 to r39.
    pub(crate) staging: [u32; 40],
    /// SRT, FAU, SPD, TSD select.
    pub(crate) selects: [u8; 4],
}

/// Registers that draws and render passes read: r0 to r65.
pub(crate) const DRAW_REGISTERS: usize = 66;

/// The registers that describe a shader stage of a draw: the first of each pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StageRegisters {
    pub(crate) resources: u8,
    pub(crate) uniforms: u8,
    pub(crate) program: u8,
    pub(crate) storage: u8,
}

/// The vertex programs of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VertexStages {
    /// RUN_IDVS: one program for positions, one for varyings.
    Split {
        position: StageRegisters,
        varying: StageRegisters,
    },
    /// RUN_IDVS2: one program for both.
    Merged(StageRegisters),
}

/// A draw as a stream issues it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IssuedDraw {
    /// GPU address of the instruction.
    pub(crate) instruction: u64,
    /// Number of the job, once it has one.
    pub(crate) job: u64,
    /// r0 to r65.
    pub(crate) registers: [u32; DRAW_REGISTERS],
    /// Added to the primitive flags, r56, by OR.
    pub(crate) flags_override: u32,
    pub(crate) draw_id: u32,
    /// The heap context that the stream has set.
    pub(crate) heap: u64,
    pub(crate) vertex: VertexStages,
    pub(crate) fragment: StageRegisters,
}

/// A fullscreen draw as a stream issues it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IssuedFullscreen {
    /// GPU address of the instruction.
    pub(crate) instruction: u64,
    /// Number of the job, once it has one.
    pub(crate) job: u64,
    /// r0 to r65.
    pub(crate) registers: [u32; DRAW_REGISTERS],
    pub(crate) flags_override: u32,
    /// The heap context that the stream has set.
    pub(crate) heap: u64,
    /// Address of the draw descriptor.
    pub(crate) draw: u64,
}

/// A render pass as a stream issues it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IssuedFragment {
    /// d40: the framebuffer descriptor and what follows it.
    pub(crate) framebuffer: u64,
    /// r42, r43: the corners of the box, x in the low half, y in the high one, both inside.
    pub(crate) corners: [u32; 2],
}

/// The work of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Issued {
    Compute(Dispatch),
    Draw(Box<IssuedDraw>),
    Fullscreen(Box<IssuedFullscreen>),
    FinishTiling,
    Fragment(IssuedFragment),
}

impl Issued {
    /// The kind of work, and so the endpoints that do it.
    pub(crate) fn work(&self) -> Work {
        match self {
            Issued::Compute(_) => Work::Compute,
            Issued::Draw(_) | Issued::Fullscreen(_) | Issued::FinishTiling => Work::Tiling,
            Issued::Fragment(_) => Work::Fragment,
        }
    }
}

/// A job as a stream issues it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IssuedJob {
    pub(crate) issued: Issued,
    /// The slot that counts it.
    pub(crate) slot: u8,
    /// Whether the stream's progress value grows when it completes.
    pub(crate) progress: bool,
}
