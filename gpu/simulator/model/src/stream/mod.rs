//! A command stream: registers, frames, scoreboards, and what it is waiting for.
//!
//! State apart from behaviour: this module holds what a stream *is*; `execute` holds what its instructions do, `deferred`
//! what happens when scoreboards drain.  Guarantees: bounded, whatever the instructions: frames, deferred operations and
//! outstanding transfers have limits, and a stream that reaches one waits.
//!
//! Facts: hardware/command-stream.md 1.

mod access;
mod arithmetic;
mod control_flow;
mod deferred;
mod draw;
mod execute;
mod flow;
mod heap;
mod jobs;
mod kernel_registers;
mod progress;
mod protected;
mod registers;
mod ring;
mod scoreboards;
mod snapshot;
mod synchronise;
mod transfer;
mod waits;
mod work;

use crate::diagnosis::{StreamMisuse, StreamPlace};
use crate::fabric::{Access, Fabric};
use crate::mmu::{Source, Stall};
use alloc::vec::Vec;

use deferred::{Deferred, Transfer};
use eitri_csf::interface::control::Version;
use eitri_csf::interface::stream::{
    BlockedReason, SyncCondition, WaitSource, blocked_reason, cs_config, req_resource,
    status_scoreboards, status_wait,
};
use heap::HeapMoves;
pub(crate) use heap::HeapWait;
use protected::Region;
pub(crate) use registers::Registers;
pub(crate) use ring::Ring;
pub(crate) use work::{
    DRAW_REGISTERS, Dispatch, Issued, IssuedDraw, IssuedFragment, IssuedFullscreen, IssuedJob,
    StageRegisters, Tasks, VertexStages, Work,
};

/// Frames of a call stack, the ring included.
pub(crate) const FRAMES: usize = 8;

/// Scoreboard slots that a field can name.
pub(crate) const SLOTS: usize = 16;

/// Instructions that a stream may execute without blocking or touching memory before it counts as stuck.
///
/// The model's own number: larger than any loop that only computes has a reason to be.
const LOOP_LIMIT: u32 = 10_000_000;

/// A run of instructions other than the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) start: u64,
    pub(crate) next: u64,
    pub(crate) end: u64,
}

/// A wait for a sync object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyncWait {
    pub(crate) address: u64,
    pub(crate) reference: u64,
    pub(crate) wide: bool,
    /// Goes on when the object compares so with the reference.
    pub(crate) condition: SyncCondition,
    pub(crate) inherit: bool,
}

/// Why a stream does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocked {
    /// It does.
    No,
    /// Nothing in the ring, as far as it has been told.
    Empty,
    /// Scoreboard slots must drain.
    Scoreboards(u16),
    /// A deferred operation or transfer must finish before another fits.
    Full,
    /// A slot of SB_MASK_STREAM must drain.
    SlotChoice,
    /// A sync object.
    Sync(SyncWait),
    /// A shared scoreboard of the group must not be 0.
    Shared(u8),
    /// The progress value of a stream of the group.
    Progress { queue: u8, value: u64 },
    /// An access waits for its address space.
    Memory(Stall),
    /// Protected mode.
    Protected,
    /// Memory for the tiler, where an injection says that there is none though nothing is drawn.
    Heap,
    /// A recoverable fault, to be acknowledged.
    Fault,
    /// For good.
    Fatal,
}

/// What streams are said to do: every answer of [`Blocked::name`].
#[rustfmt::skip]
pub(crate) const NAMES: [&str; 12] = [
    "runs", "empty", "waits for scoreboards", "waits for room", "waits for a sync object", "waits for a shared scoreboard",
    "waits for progress", "waits for memory", "waits for protected mode", "waits for heap memory", "faulted", "dead",
];

impl Blocked {
    /// What the stream is doing, in a word or two.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Blocked::No => "runs",
            Blocked::Empty => "empty",
            Blocked::Scoreboards(_) | Blocked::SlotChoice => "waits for scoreboards",
            Blocked::Full => "waits for room",
            Blocked::Sync(_) => "waits for a sync object",
            Blocked::Shared(_) => "waits for a shared scoreboard",
            Blocked::Progress { .. } => "waits for progress",
            Blocked::Memory(_) => "waits for memory",
            Blocked::Protected => "waits for protected mode",
            Blocked::Heap => "waits for heap memory",
            Blocked::Fault => "faulted",
            Blocked::Fatal => "dead",
        }
    }
}

/// A fault to be reported to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamFault {
    pub(crate) fatal: bool,
    pub(crate) exception: u8,
    pub(crate) info: u64,
}

/// Exceptions that streams raise themselves; their table is `eitri_csf::fault`.
pub(crate) mod exception {
    pub(crate) const CS_CONFIG_FAULT: u8 = 0x40;
    pub(crate) const CS_ENDPOINT_FAULT: u8 = 0x44;
    pub(crate) const CS_BUS_FAULT: u8 = 0x48;
    pub(crate) const CS_INSTR_INVALID: u8 = 0x49;
    pub(crate) const CS_CALL_STACK_OVERFLOW: u8 = 0x4A;
    pub(crate) const CS_INHERIT_FAULT: u8 = 0x4B;
    pub(crate) const OOM: u8 = 0x60;
}

/// Which stream of which group, and through which address space it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) group: u8,
    pub(crate) stream: u8,
    pub(crate) space: u8,
}

/// What executing an instruction asks of the rest of the device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) job: Option<IssuedJob>,
    pub(crate) effects: Effects,
}

/// Effects beyond the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// A sync object was written with group scope or wider: streams of the group look again.
    pub(crate) wake_group: bool,
    /// A sync object was written with system scope: all streams look again, and the host is told.
    pub(crate) wake_all: bool,
    /// A cache flush was started.
    pub(crate) flush_started: bool,
    /// EXTRACT has moved.
    pub(crate) extract_moved: bool,
    /// How much the shared scoreboards of the group go up.
    pub(crate) shared: [u8; SLOTS],
}

impl Effects {
    pub(crate) fn join(&mut self, other: Effects) {
        self.wake_group |= other.wake_group;
        self.wake_all |= other.wake_all;
        self.flush_started |= other.flush_started;
        self.extract_moved |= other.extract_moved;
        for (mine, theirs) in self.shared.iter_mut().zip(other.shared) {
            *mine = mine.saturating_add(theirs);
        }
    }
}

/// A stream of a group on a slot.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) identity: Identity,
    /// The stream's own doorbell; 0 is none.
    pub(crate) doorbell: u32,
    /// Priority inside the group, 15 highest.
    pub(crate) priority: u32,
    /// How many endpoints the group may have for each kind of work.
    pub(crate) permits: [u32; Work::ALL.len()],
    pub(crate) ring: Ring,
    pub(crate) registers: Registers,
    pub(crate) frames: Vec<Frame>,
    counters: [u16; SLOTS],
    /// Slots that anything was ever counted on.
    used_slots: u16,
    slots: u8,
    endpoint_slot: u8,
    other_slot: u8,
    deferred_slot: u8,
    mask_stream: u16,
    mask_wait: u16,
    last_choice: u8,
    deferred: Vec<Deferred>,
    transfers: Vec<Transfer>,
    /// Slots of cache flushes in progress.
    flushing: Vec<u8>,
    pub(crate) resources: u8,
    /// How much this stream has moved the counters of heap contexts.
    heaps: Vec<HeapMoves>,
    heap_context: u64,
    /// Its tiling iterator waits for memory.
    pub(crate) heap_wait: Option<HeapWait>,
    /// Whether it has issued work for the tiler.
    pub(crate) draws: bool,
    /// The error status since the last barrier: an exception word.
    pub(crate) error: u32,
    pub(crate) progress: u64,
    pub(crate) blocked: Blocked,
    /// The recoverable faults that the host has not heard of, oldest first.
    pub(crate) faults: Vec<StreamFault>,
    /// Whether the host was told of the oldest.
    pub(crate) reported: bool,
    /// Whether the host was told that the stream waits for protected mode.
    pub(crate) protected_reported: bool,
    /// A sync object may have changed since the last look.
    pub(crate) look_at_sync: bool,
    /// A register of the ring's code that called code has written, for a link it may be: the instruction, and the register.
    link: Option<(StreamPlace, u32)>,
    /// Instructions since the last one that blocked or touched memory.
    idle_instructions: u32,
    /// Loads, stores and operations on memory so far.
    pub(crate) accesses: u64,
    /// What whoever traces was told that it does.
    pub(crate) shown: &'static str,
    /// The exception handler, if one is installed: address and length.
    pub(crate) handler: Option<(u64, u64)>,
    /// The frames below the exception handler, while it runs.
    pub(crate) handler_depth: Option<usize>,
    /// The part of the ring or of a called buffer that runs in protected mode.
    pub(crate) region: Option<Region>,
}

/// Most faults that wait to be reported; more than jobs can be outstanding adds nothing.
const KEPT_FAULTS: usize = 16;

impl Stream {
    /// A stream as START makes it.
    pub(crate) fn new(fabric: &Fabric, identity: Identity, config: u32, ring: Ring) -> Stream {
        let product = &fabric.config.product;
        Stream {
            identity,
            doorbell: cs_config::DOORBELL.get(config),
            priority: cs_config::PRIORITY.get(config),
            permits: [0; Work::ALL.len()],
            ring,
            registers: Registers::new(product.stream_registers()),
            frames: Vec::new(),
            counters: [0; SLOTS],
            used_slots: 0,
            slots: product.scoreboards() as u8,
            endpoint_slot: 0,
            other_slot: 0,
            deferred_slot: 0,
            mask_stream: 0,
            mask_wait: 0,
            last_choice: 0,
            deferred: Vec::new(),
            transfers: Vec::new(),
            flushing: Vec::new(),
            resources: 0,
            heaps: Vec::new(),
            heap_context: 0,
            heap_wait: None,
            draws: false,
            error: 0,
            progress: 0,
            blocked: Blocked::Empty,
            faults: Vec::new(),
            reported: false,
            protected_reported: false,
            look_at_sync: false,
            link: None,
            idle_instructions: 0,
            accesses: 0,
            shown: "",
            handler: None,
            handler_depth: None,
            region: None,
        }
    }

    /// Whether it could execute an instruction now.
    pub(crate) fn can_step(&self) -> bool {
        self.blocked == Blocked::No
    }

    /// The address of the current instruction.
    pub(crate) fn address(&self) -> u64 {
        self.frames
            .last()
            .map_or_else(|| self.ring.address(), |frame| frame.next)
    }

    fn place(&self, word: u64) -> StreamPlace {
        StreamPlace {
            group: self.identity.group,
            stream: self.identity.stream,
            depth: self.frames.len() as u8 + 1,
            address: self.address(),
            word,
        }
    }

    fn report(&self, fabric: &mut Fabric, word: u64, misuse: StreamMisuse) {
        let place = self.place(word);
        fabric
            .journal
            .report(crate::diagnosis::Misuse::Stream { place, misuse });
    }

    fn access(&self, address: u64) -> Access {
        Access {
            space: self.identity.space,
            address,
            source: Source::Stream {
                group: self.identity.group,
                stream: self.identity.stream,
            },
        }
    }

    fn fetch_access(&self, address: u64) -> Access {
        Access {
            source: Source::StreamFetch {
                group: self.identity.group,
                stream: self.identity.stream,
            },
            ..self.access(address)
        }
    }

    /// A recoverable fault: its operation is dropped, the error status set, the stream waits for the host.
    pub(crate) fn fault(&mut self, exception: u8, info: u64) {
        self.error = exception.into();
        if self.faults.len() < KEPT_FAULTS {
            self.faults.push(StreamFault {
                fatal: false,
                exception,
                info,
            });
        }
        if self.blocked != Blocked::Fatal {
            self.blocked = Blocked::Fault;
        }
    }

    /// The stream never runs again in this activation.
    pub(crate) fn fatal(&mut self, exception: u8, info: u64) {
        if self.blocked == Blocked::Fatal {
            return;
        }
        self.reported = false;
        self.error = exception.into();
        self.faults.clear();
        self.faults.push(StreamFault {
            fatal: true,
            exception,
            info,
        });
        self.blocked = Blocked::Fatal;
    }

    /// Takes over what a suspended stream was, but for the interface words, which the host has written again.
    pub(crate) fn restore(&mut self, saved: Stream) {
        let Stream {
            identity,
            doorbell,
            priority,
            permits,
            ring,
            ..
        } = *self;
        let position = saved.ring.position;
        *self = saved;
        self.identity = identity;
        (self.doorbell, self.priority, self.permits) = (doorbell, priority, permits);
        self.ring = Ring {
            position,
            insert: position,
            ..ring
        };
        // Whatever it waited for may have come meanwhile.
        self.look_at_sync = true;
        self.protected_reported = false;
        if matches!(self.heap_wait, Some(HeapWait::Asked(_))) {
            self.heap_wait = Some(HeapWait::Wanted);
        }
        // A fault that the host was told of counts as acknowledged; a fatal one lasts.
        if self.reported && self.blocked == Blocked::Fault {
            self.faults.remove(0);
            if self.faults.is_empty() {
                self.blocked = Blocked::No;
            }
        }
        self.reported = false;
        if let Blocked::Memory(_) = self.blocked {
            self.blocked = Blocked::No;
        }
    }

    /// Slots that are not empty, a bit a slot.
    pub(crate) fn busy_slots(&self) -> u16 {
        let bits = self.counters.iter().enumerate();
        bits.fold(0, |mask, (slot, count)| {
            mask | u16::from(*count != 0) << slot
        })
    }

    fn count_up(&mut self, slot: u8) {
        let slot = usize::from(slot) % SLOTS;
        self.counters[slot] = self.counters[slot].saturating_add(1);
        self.used_slots |= 1 << slot;
    }

    /// One operation counted on `slot` has ended.
    pub(crate) fn count_down(&mut self, slot: u8) {
        let slot = usize::from(slot) % SLOTS;
        self.counters[slot] = self.counters[slot].saturating_sub(1);
    }

    /// CS_STATUS_BLOCKED_REASON.
    pub(crate) fn blocked_reason(&self) -> u32 {
        let reason = match self.blocked {
            // FACT: the reason shown for SHARED_SB_DEC is not known (hardware/command-stream.md 10, 8); a scoreboard wait
            // is the nearest. Settled by STATUS_UPDATE on a v11 board while a stream waits there.
            Blocked::Scoreboards(_) | Blocked::SlotChoice | Blocked::Shared(_) => {
                BlockedReason::Scoreboard
            }
            Blocked::Full => BlockedReason::Deferred,
            Blocked::Sync(_) => BlockedReason::Sync,
            Blocked::Progress { .. } => BlockedReason::Progress,
            // FACT: the reason shown while tiler memory is awaited is not known (hardware/command-stream.md 1.14); it is an
            // iterator that waits. Settled by STATUS_UPDATE on a board whose tiler is out of memory.
            Blocked::Protected | Blocked::Heap => BlockedReason::Resource,
            Blocked::No | Blocked::Empty | Blocked::Memory(_) | Blocked::Fault | Blocked::Fatal => {
                BlockedReason::Unblocked
            }
        };
        blocked_reason::REASON.word(reason)
    }

    /// CS_STATUS_WAIT, as firmware of this interface version reports it.
    pub(crate) fn wait_status(&self, interface: Version) -> u32 {
        match self.blocked {
            Blocked::Scoreboards(mask) => {
                let word = status_wait::SCOREBOARDS.word(mask.into());
                if interface.has_wait_source() {
                    status_wait::SOURCE.set32(word, WaitSource::Wait)
                } else {
                    word
                }
            }
            Blocked::Sync(wait) => {
                let word = status_wait::CONDITION.word(wait.condition);
                let word = status_wait::SYNC_64.set32(word, wait.wide);
                status_wait::SYNC.set32(word, true)
            }
            Blocked::Progress { .. } => status_wait::PROGRESS.word(true),
            Blocked::Protected => status_wait::PROTECTED.word(true),
            _ => 0,
        }
    }

    /// SHARED_SB_DEC has got what it waited for: the stream goes on behind it.
    pub(crate) fn take_shared(&mut self) {
        self.blocked = Blocked::No;
        self.advance();
    }

    /// CS_STATUS_SCOREBOARDS.
    pub(crate) fn scoreboard_status(&self) -> u32 {
        status_scoreboards::NONZERO.word(self.busy_slots().into())
    }

    /// CS_STATUS_REQ_RESOURCE: what is asked for is granted.
    pub(crate) fn resource_status(&self) -> u32 {
        let asked = u32::from(self.resources & 0xf);
        debug_assert_eq!(req_resource::COMPUTE_GRANTED.mask32(), 1 << 16);
        asked | asked << 16
    }

    /// HEAP_ADDRESS.
    pub(crate) fn heap_address(&self) -> u64 {
        self.heap_context
    }

    /// Whether nothing that it started is outstanding.
    pub(crate) fn is_drained(&self) -> bool {
        self.busy_slots() == 0
    }
}
