//! Instructions by name: what a driver writes most, with arguments in the order in which one says them.
//!
//! Whatever is not here goes through [`Builder::push`].  Facts: hardware/command-stream.md 3.

use super::Builder;
use super::chunk::ChunkSource;
use super::error::BuildFault;
use crate::enums::{
    Condition, DeferMode, ErrorReject, FlushMode, HeapOperationKind, LogicIndex, LogicOp,
    OtherFlushMode, StoredState, StreamState, SyncScope,
};
use crate::instr::{
    AddImm32, AddImm64, Call, ErrorBarrier, FinishFragment, FinishTiling, FlushCache2,
    HeapOperation, HeapSet, Jump, LoadMultiple, LogicOp32, Move32, Move48, Nop, ProgressLoad,
    ProgressStore, ProgressWait, ReqResource, RunCompute, SetSbEntry, SetStateImm32, StoreMultiple,
    StoreState, SyncAdd32, SyncAdd64, SyncSet32, SyncSet64, SyncWait32, SyncWait64, Umin32, Wait,
};
use crate::register::{Pair, Reg, RegMask};
use crate::scoreboard::{Slot, SlotMask};
use crate::table::Resources;
use crate::usage::Usage;

/// When an operation that can be deferred is done (hardware/command-stream.md 1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defer {
    /// In line.
    Now,
    /// When the slots of `wait` have drained; `count` counts it until then, and is not one of them.
    Until {
        /// The slots to wait for.
        wait: SlotMask,
        /// The slot that counts the operation.
        count: Slot,
    },
    /// When the slots of SB_MASK_WAIT have drained; SB_SEL_DEFERRED counts it. v11 and later.
    Indirect,
}

impl Defer {
    fn fields(self) -> (SlotMask, Slot, DeferMode) {
        match self {
            Defer::Now => (SlotMask::NONE, Slot::default(), DeferMode::Immediate),
            Defer::Until { wait, count } => (wait, count, DeferMode::Immediate),
            Defer::Indirect => (SlotMask::NONE, Slot::default(), DeferMode::Indirect),
        }
    }
}

/// What FLUSH_CACHE2 does with each kind of cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flush {
    /// The L2.
    pub l2: FlushMode,
    /// The load/store caches.
    pub lsc: FlushMode,
    /// The read-only first-level caches.
    pub other: OtherFlushMode,
}

/// `name: Instruction { fields }` for operations that can be deferred.
macro_rules! deferred {
    ($instr:ident { $($field:ident $(: $value:expr)?),* $(,)? }, $defer:expr) => {{
        let (wait_mask, signal_slot, defer_mode) = $defer.fields();
        $instr { $($field $(: $value)?,)* wait_mask, signal_slot, defer_mode }
    }};
}

impl<'m, S: ChunkSource<'m>> Builder<'m, S> {
    /// Does nothing.
    pub fn nop(&mut self) -> &mut Self {
        self.push(Nop::default())
    }

    /// `to = value`.
    pub fn move32(&mut self, to: Reg, value: u32) -> &mut Self {
        self.push(Move32 {
            destination: to,
            immediate: value,
        })
    }

    /// `to = value`: one MOVE48, or two MOVE32 for a value from 2^48 on.
    pub fn move64(&mut self, to: Pair, value: u64) -> &mut Self {
        if value >> 48 == 0 {
            self.push(Move48 {
                destination: to,
                immediate: value,
            })
        } else {
            self.move32(to.low(), value as u32)
                .move32(to.high(), (value >> 32) as u32)
        }
    }

    /// `to = from`.
    pub fn copy32(&mut self, to: Reg, from: Reg) -> &mut Self {
        self.add32(to, from, 0)
    }

    /// `to = from`.
    pub fn copy64(&mut self, to: Pair, from: Pair) -> &mut Self {
        self.add64(to, from, 0)
    }

    /// `to = from + value`.
    pub fn add32(&mut self, to: Reg, from: Reg, value: i32) -> &mut Self {
        self.push(AddImm32 {
            destination: to,
            source: from,
            immediate: value,
        })
    }

    /// `to = from + value`.
    pub fn add64(&mut self, to: Pair, from: Pair, value: i32) -> &mut Self {
        self.push(AddImm64 {
            destination: to,
            source: from,
            immediate: value,
        })
    }

    /// `to = min(a, b)`, unsigned.
    pub fn umin32(&mut self, to: Reg, a: Reg, b: Reg) -> &mut Self {
        self.push(Umin32 {
            destination: to,
            source_0: a,
            source_1: b,
        })
    }

    /// `to = a op b`, bit by bit. v11 and later.
    pub fn logic32(&mut self, op: LogicOp, to: Reg, a: Reg, b: Reg) -> &mut Self {
        self.push(LogicOp32 {
            destination: to,
            source_0: a,
            source_1: b,
            mode: op,
            index: LogicIndex::Direct,
        })
    }

    /// `to = from`, and the bit that `bit` numbers set. v11 and later.
    pub fn bit_set32(&mut self, to: Reg, from: Reg, bit: Reg) -> &mut Self {
        self.bit_op32(LogicOp::Or, to, from, bit)
    }

    /// `to = from`, and the bit that `bit` numbers cleared. v11 and later.
    pub fn bit_clear32(&mut self, to: Reg, from: Reg, bit: Reg) -> &mut Self {
        self.bit_op32(LogicOp::AndANb, to, from, bit)
    }

    fn bit_op32(&mut self, op: LogicOp, to: Reg, from: Reg, bit: Reg) -> &mut Self {
        self.push(LogicOp32 {
            destination: to,
            source_0: from,
            source_1: bit,
            mode: op,
            index: LogicIndex::Index,
        })
    }

    /// Loads the registers of `mask`, counted from `base`, from packed words at `address + offset`.
    pub fn load(&mut self, base: Reg, mask: RegMask, address: Pair, offset: i16) -> &mut Self {
        self.push(LoadMultiple {
            base_register: base,
            mask,
            address,
            offset,
        })
    }

    /// Loads a pair from `address + offset`.
    pub fn load64(&mut self, to: Pair, address: Pair, offset: i16) -> &mut Self {
        self.load(to.low(), RegMask::first(2), address, offset)
    }

    /// Stores the registers of `mask`, counted from `base`, to packed words at `address + offset`.
    pub fn store(&mut self, base: Reg, mask: RegMask, address: Pair, offset: i16) -> &mut Self {
        self.push(StoreMultiple {
            base_register: base,
            mask,
            address,
            offset,
        })
    }

    /// Stores a pair to `address + offset`.
    pub fn store64(&mut self, from: Pair, address: Pair, offset: i16) -> &mut Self {
        self.store(from.low(), RegMask::first(2), address, offset)
    }

    /// Stores a 64-bit value of the stream or the GPU to `address + offset`.
    pub fn store_state(
        &mut self,
        state: StoredState,
        address: Pair,
        offset: i16,
        defer: Defer,
    ) -> &mut Self {
        self.push(deferred!(
            StoreState {
                state,
                address,
                offset
            },
            defer
        ))
    }

    /// Blocks until the slots have drained.
    pub fn wait(&mut self, slots: impl Into<SlotMask>) -> &mut Self {
        self.push(Wait {
            wait_mask: slots.into(),
            ..Wait::default()
        })
    }

    /// Selects the slots of jobs (`endpoint`) and of loads and stores (`other`): by SET_SB_ENTRY on v10, else by
    /// SET_STATE_IMM32, as drivers do.
    pub fn select_slots(&mut self, endpoint: Slot, other: Slot) -> &mut Self {
        if self.config.arch < crate::Arch::V11 {
            return self.push(SetSbEntry {
                endpoint_entry: endpoint,
                other_entry: other,
            });
        }
        self.set_state(StreamState::SelectEndpoint, endpoint.number().into())
            .set_state(StreamState::SelectOther, other.number().into())
    }

    /// Sets an item of the stream's state. v11 and later.
    pub fn set_state(&mut self, state: StreamState, value: u32) -> &mut Self {
        self.push(SetStateImm32 { state, value })
    }

    /// Holds exactly these resources; blocks until they are granted.
    pub fn request(&mut self, resources: Resources) -> &mut Self {
        self.push(ReqResource {
            compute: resources.contains(Resources::COMPUTE),
            fragment: resources.contains(Resources::FRAGMENT),
            tiler: resources.contains(Resources::TILER),
            idvs: resources.contains(Resources::IDVS),
            rt: resources.contains(Resources::RAY_TRACING),
        })
    }

    /// Runs a compute job; the registers of [`crate::staging`] say which.
    pub fn run_compute(&mut self, job: RunCompute) -> &mut Self {
        self.push(job)
    }

    /// Flushes the tiler.
    pub fn finish_tiling(&mut self) -> &mut Self {
        self.push(FinishTiling::default())
    }

    /// Gives the heap chunks `first` to `last` back, and counts the render pass as done if `ends_pass`.
    pub fn finish_fragment(
        &mut self,
        first: Pair,
        last: Pair,
        ends_pass: bool,
        defer: Defer,
    ) -> &mut Self {
        self.push(deferred!(
            FinishFragment {
                increment_fragment_completed: ends_pass,
                first_heap_chunk: first,
                last_heap_chunk: last,
            },
            defer
        ))
    }

    /// Flushes caches when the slots of `wait` have drained, unless one has happened since the flush id in `id` was read
    /// (0: never skip); always counted on `count`.
    pub fn flush_caches(
        &mut self,
        flush: Flush,
        id: Reg,
        wait: SlotMask,
        count: Slot,
    ) -> &mut Self {
        self.push(FlushCache2 {
            l2_flush_mode: flush.l2,
            lsc_flush_mode: flush.lsc,
            other_flush_mode: flush.other,
            latest_flush_id: id,
            wait_mask: wait,
            signal_slot: count,
            defer_mode: DeferMode::Immediate,
        })
    }

    /// Binds the stream to the heap context at `address`.
    pub fn set_heap(&mut self, address: Pair) -> &mut Self {
        self.push(HeapSet { address })
    }

    /// Adds 1 to a counter of the heap context.
    pub fn heap_operation(&mut self, operation: HeapOperationKind, defer: Defer) -> &mut Self {
        self.push(deferred!(HeapOperation { operation }, defer))
    }

    /// Adds `data` to the sync32 at `address`; the stream's error state goes into its error word.
    pub fn sync_add32(
        &mut self,
        address: Pair,
        data: Reg,
        scope: SyncScope,
        defer: Defer,
    ) -> &mut Self {
        self.push(deferred!(
            SyncAdd32 {
                address,
                data,
                scope,
                error_propagate: true
            },
            defer
        ))
    }

    /// Adds `data` to the sync64 at `address`; the stream's error state goes into its error word.
    pub fn sync_add64(
        &mut self,
        address: Pair,
        data: Pair,
        scope: SyncScope,
        defer: Defer,
    ) -> &mut Self {
        self.push(deferred!(
            SyncAdd64 {
                address,
                data,
                scope,
                error_propagate: true
            },
            defer
        ))
    }

    /// Sets the sync32 at `address` to `data`; the stream's error state goes into its error word.
    pub fn sync_set32(
        &mut self,
        address: Pair,
        data: Reg,
        scope: SyncScope,
        defer: Defer,
    ) -> &mut Self {
        self.push(deferred!(
            SyncSet32 {
                address,
                data,
                scope,
                error_propagate: true
            },
            defer
        ))
    }

    /// Sets the sync64 at `address` to `data`; the stream's error state goes into its error word.
    pub fn sync_set64(
        &mut self,
        address: Pair,
        data: Pair,
        scope: SyncScope,
        defer: Defer,
    ) -> &mut Self {
        self.push(deferred!(
            SyncSet64 {
                address,
                data,
                scope,
                error_propagate: true
            },
            defer
        ))
    }

    /// Blocks until the sync32 at `address` is above `data`, unsigned; takes its error over.
    pub fn sync_wait32(&mut self, address: Pair, data: Reg) -> &mut Self {
        self.push(SyncWait32 {
            address,
            data,
            condition: Condition::Greater,
            error_reject: ErrorReject::Inherit,
        })
    }

    /// Blocks until the sync64 at `address` is above `data`, unsigned; takes its error over.
    pub fn sync_wait64(&mut self, address: Pair, data: Pair) -> &mut Self {
        self.push(SyncWait64 {
            address,
            data,
            condition: Condition::Greater,
            error_reject: ErrorReject::Inherit,
        })
    }

    /// Runs the `length` bytes of instructions at `address` and comes back.
    pub fn call(&mut self, address: Pair, length: Reg) -> &mut Self {
        self.push(Call { address, length })
    }

    /// Goes on with the `length` bytes of instructions at `address`.
    pub fn jump(&mut self, address: Pair, length: Reg) -> &mut Self {
        self.push(Jump { address, length })
    }

    /// Ends a region of error recovery.
    pub fn error_barrier(&mut self) -> &mut Self {
        self.push(ErrorBarrier::default())
    }

    /// `progress = from`.
    pub fn progress_store(&mut self, from: Pair) -> &mut Self {
        self.push(ProgressStore { source: from })
    }

    /// `to = progress`.
    pub fn progress_load(&mut self, to: Pair) -> &mut Self {
        self.push(ProgressLoad { destination: to })
    }

    /// Blocks until the progress of stream `queue` of the group has reached `value`.
    pub fn progress_wait(&mut self, queue: u8, value: Pair) -> &mut Self {
        self.push(ProgressWait {
            queue,
            source: value,
        })
    }

    /// NOPs until the number of words in the chunk is a multiple of 8, 64 bytes, as entries of a ring are.
    pub fn pad_to_64_bytes(&mut self) -> &mut Self {
        while self.error.is_none() && !self.output.position().is_multiple_of(8) {
            self.nop();
        }
        self
    }

    /// `to =` the address of the instruction that follows. Not in a block: that may still move.
    pub fn load_next_address(&mut self, to: Pair) -> &mut Self {
        if self.blocks.is_open() {
            self.fail("MOVE48", BuildFault::InsideBlock);
        }
        let in_flight = self.in_flight.must_wait(&Usage {
            writes: to.into(),
            ..Usage::default()
        });
        if let (Some(slot), true) = (self.config.load_store_slot, in_flight) {
            self.wait(slot);
        }
        if self.error.is_some() {
            return self;
        }
        // Room for the load, which may take two words, and what follows it.
        match self.output.next_address(3, &self.config) {
            Ok(here) if (here + 8) >> 48 == 0 => self.move64(to, here + 8),
            Ok(here) => self.move64(to, here + 16),
            Err(fault) => {
                self.fail("MOVE48", fault);
                self
            }
        }
    }
}
