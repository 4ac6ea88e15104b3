//! What a session debugs: an execution that goes step by step, and whose clone goes on the same way.
//!
//! Two levels implement it: `source`, the IR as it was translated, with lines and variables; `machine`, the model's warps, with
//! registers.
use eitri_shaderc::ir::{BindingId, Value, Var};

use crate::device::DeviceEvent;
use crate::picture::Picture;
use crate::value::Node;

/// What the next step does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ahead {
    /// The warp that runs.
    pub thread: usize,
    /// Those of its lanes that run: bit n is lane n.
    pub lanes: u64,
    /// Where they are.
    pub address: u64,
}

/// Where a lane is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneState {
    /// It can go on there.
    At(u64),
    /// It waits at a barrier, which stands there.
    Barrier(u64),
    /// It has ended.
    Ended,
}

/// Something that is read and written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Object {
    /// An element of a binding, a buffer.
    Buffer(BindingId, u32),
    /// Shared memory of the workgroup.
    Shared,
    /// Push constants.
    Push,
    /// A variable of each lane: of the IR.
    Var(Var),
    /// Memory by the GPU's addresses.
    Memory,
}

/// Where a scalar is that has no bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScalarPlace {
    /// An element of a variable of the IR.
    Var(Var, u32),
    /// A value of the IR.
    Value(Value),
    /// A register of the machine.
    Register(u8),
    /// A word of the uniforms.
    Uniform(u8),
    /// A number of the execution itself.
    Known(u64),
    /// What a lane of a draw shades.
    Lane(LaneNumber),
}

/// Numbers of what a lane of a draw shades.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LaneNumber {
    /// The column of a fragment's pixel.
    X,
    /// Its row.
    Y,
    /// The sample that a fragment runs for, where each has a run of its own.
    Sample,
    /// The samples of a fragment that count, a bit each.
    Coverage,
    /// A vertex.
    Vertex,
    /// Its instance.
    Instance,
}

/// An access of one lane by the next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touch {
    /// The lane.
    pub lane: usize,
    /// What is touched.
    pub object: Object,
    /// The first byte; of a variable the element.
    pub start: u64,
    /// So many bytes or elements.
    pub len: u64,
    /// Whether it may be changed.
    pub writes: bool,
}

/// A deterministic execution. A clone is a checkpoint: it goes on as the original does.
pub trait Execution: Clone {
    /// Whether a person begins at the first line of the source, not before the first step.
    const STARTS_AT_LINE: bool = true;

    /// Whether it has a device with registers, firmware and draws, of which [`Execution::happened`] tells.
    const HAS_DEVICE: bool = false;

    /// Whether [`Execution::touches`] tells what the next step does; else [`Execution::touched`] tells it of the last.
    const FORESEES: bool = true;

    /// What the next step does; none at the end.
    fn ahead(&self) -> Option<Ahead>;

    /// One step. Nothing at the end.
    fn step(&mut self);

    /// How the execution has ended, for a person; none while it goes on.
    fn ending(&self) -> Option<String>;

    /// Whether it has ended as it should.
    fn ended_well(&self) -> bool;

    /// Threads (warps) there are now.
    fn threads(&self) -> usize;

    /// The name of a thread.
    fn thread_name(&self, thread: usize) -> String;

    /// Lanes of a thread.
    fn lanes(&self, thread: usize) -> usize;

    /// The name of a lane: which invocation it is.
    fn lane_name(&self, thread: usize, lane: usize) -> String;

    /// Where a lane is; none if there is no such lane.
    fn lane_state(&self, thread: usize, lane: usize) -> Option<LaneState>;

    /// The workgroup that runs.
    fn workgroup(&self) -> [u32; 3];

    /// What the next step touches.
    fn touches(&self) -> Vec<Touch>;

    /// Whether the last step has read, and whether it has written bytes of an object: of an execution that does not foresee it.
    fn touched(&self, _object: Object, _start: u64, _len: u64) -> (bool, bool) {
        (false, false)
    }

    /// Kinds of variables, the most wanted first.
    fn scopes(&self) -> &'static [&'static str];

    /// The variables of a kind, as a call path sees them.
    fn nodes(&self, scope: usize, thread: usize, path: usize) -> Vec<Node>;

    /// What a name that is no variable's means, such as `%7` or `$r3`.
    fn special(&self, name: &str) -> Option<Node>;

    /// The bits of a scalar in a lane; none if it has no value yet.
    fn scalar(&self, thread: usize, lane: usize, place: ScalarPlace) -> Option<u64>;

    /// Bytes of an object; fewer than asked for at its end, none if it has no bytes.
    fn read(&self, object: Object, start: u64, len: u64) -> Option<Vec<u8>>;

    /// How many bytes an object has.
    fn size(&self, object: Object) -> u64;

    /// Objects with bytes that a person may read by name.
    fn objects(&self) -> Vec<(String, Object)>;

    /// Whether the thread that runs next has come to where it is since it last had a turn: others may have had turns in between.
    fn has_moved(&self) -> bool {
        true
    }

    /// A number of what the thread that runs next works on, which is another one for each warp of a draw.
    fn work(&self) -> u64 {
        0
    }

    /// The number of a thread's warp.
    fn warp_number(&self, thread: usize) -> usize {
        thread
    }

    /// A few words for a thread, in what is said of a watch.
    fn thread_label(&self, thread: usize) -> String {
        format!("warp {thread}")
    }

    /// What happened at the device in the last step.
    fn happened(&self) -> &[DeviceEvent] {
        &[]
    }

    /// What the next step does, where no warp runs in it.
    fn next_step(&self) -> Option<String> {
        None
    }

    /// Names of what there is a picture of now.
    fn pictures(&self) -> Vec<String> {
        vec![]
    }

    /// A picture of a sample, by a name of [`Execution::pictures`].
    fn picture(&self, _name: &str, _sample: u32) -> Option<Picture> {
        None
    }

    /// About how many bytes a clone takes.
    fn bytes(&self) -> usize;
}
