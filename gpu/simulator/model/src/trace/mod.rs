//! Tracing: what happens inside the device, told to whoever wants to know.
//!
//! Needs: nothing; without a sink nothing is formatted and little is computed.

mod accesses;
mod pixel;
mod record;
mod shading;

use crate::clock::Nanoseconds;
use crate::mmu::PageFault;
use crate::pace::UnitParts;
pub use accesses::{
    Decides, LaneAccess, MemoryAct, MemorySort, OwnMemory, UndefinedLoad, UndefinedUse, WarpAccess,
    WorkgroupPlace, WorkgroupStep,
};
use eitri_csf::interface::group::CsgState;
pub use pixel::{PixelStep, PixelStepKind};
pub use record::RECORD_BYTES;
pub use shading::{
    FragmentWarp, StartedFragment, StartedVertex, TileColor, TileContents, TileRead, VertexWarp,
};

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// Runs a compute shader.
    Compute,
    /// Shades vertices, and enters what they make in the tiler's lists.
    Draw,
    /// Enters a rectangle in the tiler's lists.
    Fullscreen,
    /// Renders the tiles of a framebuffer.
    Fragment,
}

impl JobKind {
    pub(crate) const ALL: [JobKind; 4] = [
        JobKind::Compute,
        JobKind::Draw,
        JobKind::Fullscreen,
        JobKind::Fragment,
    ];

    /// Its name, and those of the numbers that say how large it is.
    pub const fn names(self) -> (&'static str, &'static [&'static str]) {
        match self {
            JobKind::Compute => ("compute", &["x", "y", "z"]),
            JobKind::Draw => ("draw", &["vertices", "instances"]),
            JobKind::Fullscreen => ("fullscreen", &[]),
            JobKind::Fragment => ("fragment", &["tiles"]),
        }
    }
}

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// The host read a register.
    Read {
        /// Byte offset in the window.
        offset: u32,
        /// What it got.
        value: u32,
    },
    /// The host wrote a register.
    Write {
        /// Byte offset in the window.
        offset: u32,
        /// What it wrote.
        value: u32,
    },
    /// An address space refused an access.
    PageFault(PageFault),
    /// A stream is about to execute an instruction.
    Instruction {
        /// Group slot.
        group: u8,
        /// Stream number.
        stream: u8,
        /// GPU address of the instruction.
        address: u64,
        /// The instruction.
        word: u64,
    },
    /// A job began.
    JobStarted {
        /// Group slot.
        group: u8,
        /// Stream number.
        stream: u8,
        /// Number of the job, over all streams.
        number: u64,
        /// What is done.
        kind: JobKind,
        /// Workgroups of a dispatch in x, y, z; vertices and instances of a draw; tiles.
        size: [u32; 3],
    },
    /// A job ended.
    JobEnded {
        /// Group slot.
        group: u8,
        /// Stream number.
        stream: u8,
        /// Number of the job, over all streams.
        number: u64,
        /// Exception code; 0 is success.
        exception: u8,
    },
    /// The firmware looked at requests of the host that it had not answered.
    Request {
        /// Group slot; `None`: GLB_REQ.
        slot: Option<u8>,
        /// The bits of the request word.
        bits: u32,
    },
    /// The firmware answered, or raised events.
    Answer {
        /// Group slot; `None`: GLB_ACK.
        slot: Option<u8>,
        /// The bits of the answering word that changed.
        bits: u32,
    },
    /// The firmware answered for a stream, or raised events of it. It has no record.
    StreamAnswer {
        /// Group slot.
        group: u8,
        /// Stream number.
        stream: u8,
        /// The bits of CS_ACK that changed.
        bits: u32,
    },
    /// A group has reached a state.
    Group {
        /// Group slot.
        group: u8,
        /// The state.
        state: CsgState,
    },
    /// A stream does something that it did not do before.
    Stream {
        /// Group slot.
        group: u8,
        /// Stream number.
        stream: u8,
        /// What it does, in a word or two.
        doing: &'static str,
    },
    /// A stream reports a fault.
    Fault {
        /// Group slot.
        group: u8,
        /// Stream number.
        stream: u8,
        /// Exception code.
        exception: u8,
        /// Whether the stream is dead.
        fatal: bool,
    },
    /// An interrupt line has changed.
    Line {
        /// `job`, `mmu` or `gpu`.
        line: &'static str,
        /// Its level now.
        high: bool,
    },
    /// A workgroup of a compute job began or ended on a core.
    Workgroup {
        /// Group slot.
        group: u8,
        /// Stream number.
        stream: u8,
        /// The core.
        core: u8,
        /// Number of the workgroup in x, y, z.
        id: [u32; 3],
        /// Whether it began.
        begun: bool,
    },
    /// A warp is about to execute an instruction.
    Shader {
        /// GPU address of the instruction.
        address: u64,
        /// The instruction.
        word: u64,
        /// Lanes that execute it, a bit a lane.
        lanes: u16,
        /// Lanes of the warp that have not ended: more than `lanes` where the warp has diverged.
        live: u16,
        /// Slots that it waits for and on which a message of these lanes is outstanding, a bit a slot.
        waits: u8,
    },
    /// The message of the instruction before has been sent. One that stalls is sent again, and counts again.
    Message {
        /// GPU address of the instruction.
        address: u64,
        /// Bytes that lanes have read, each lane counted.
        read: u64,
        /// The same of writes.
        written: u64,
        /// Lines of the cache that the message has touched, as the load/store unit counts them.
        lines: u64,
    },
    /// The instruction before has waited for messages, by the rates of the units that work on them and for this warp alone. What it has
    /// not waited for any more is not told.
    Waited {
        /// GPU address of the instruction.
        address: u64,
        /// By slot, parts of a cycle ([`crate::CYCLE_PARTS`]), one behind the other.
        slots: [u32; 8],
    },
    /// A job has the shader cores: the instructions of shaders that follow are its own. For who wants to hear of instructions.
    Turn {
        /// Number of the job, over all streams; 0: none has them any more.
        number: u64,
    },
    /// Within the turn of a pass: what follows is done for one draw. For who wants to hear of instructions.
    Drawing {
        /// Number of the draw's own job; 0: for no draw.
        job: u64,
    },
    /// For how long the units of a core have been busy since the device got power.
    Units {
        /// The core.
        core: u8,
        /// By unit.
        busy: UnitParts,
        /// Bytes that all cores together have moved between the caches and memory.
        external_bytes: u64,
    },
}

/// Receives events as they happen.
pub trait Sink {
    /// `event` happened at `time`.
    fn event(&mut self, time: Nanoseconds, event: Event);

    /// Whether it wants to hear of every instruction of streams and warps: that is most of what happens.
    fn wants_instructions(&self) -> bool {
        true
    }

    /// Whether it wants to hear of vertices and fragments that are shaded.
    fn wants_shading(&self) -> bool {
        false
    }

    /// A warp of vertices begins. For who wants to hear of shading.
    fn vertices(&mut self, warp: VertexWarp) {
        drop(warp);
    }

    /// A warp of fragments begins. For who wants to hear of shading.
    fn fragments(&mut self, warp: FragmentWarp) {
        drop(warp);
    }

    /// A fragment of such a warp reads from the tile, each time that it does. For who wants to hear of shading.
    fn tile_read(&mut self, read: TileRead) {
        drop(read);
    }

    /// Whether it wants to hear of accesses to memory by compute jobs, and of values of memory that nobody wrote.
    fn wants_accesses(&self) -> bool {
        false
    }

    /// Something happens to a workgroup. For who wants to hear of accesses.
    fn workgroup(&mut self, workgroup: WorkgroupPlace, step: WorkgroupStep) {
        let _ = (workgroup, step);
    }

    /// A message of a warp has accessed memory. For who wants to hear of accesses.
    fn accesses(&mut self, access: &WarpAccess<'_>) {
        let _ = access;
    }

    /// A value of memory that nobody wrote decides something. For who wants to hear of accesses.
    fn undefined(&mut self, used: &UndefinedUse) {
        let _ = used;
    }

    /// The pixel whose history it wants to hear, by column and row of the framebuffer.
    fn pixel(&self) -> Option<[u32; 2]> {
        None
    }

    /// A fragment of that pixel has done something.
    fn pixel_step(&mut self, step: PixelStep) {
        drop(step);
    }
}
