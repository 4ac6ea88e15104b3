//! Instructions of draws and passes, encoded and checked once for a device.
//!
//! Those of a lane that name a slot of its iterators are there for each of the slots.
//! Facts: hardware/graphics.md 1.4 and 1.5, graphics-draw.md 3.1.

use super::conditional::EncodedConditional;
use super::incremental::OfIncrements;
use super::indirect::EncodedIndirect;
use super::lane::{self, DEFERRED, OTHERS, iterators};
use super::lane_begin::LaneBegin;
use super::pass::FRAMEBUFFER;
use super::registers::{BOUND_PAIRS, COUNT, DrawRegisters};
use super::tiler_page::{BASE, PAGE, count_of};
use super::tiling;
use crate::queue::SubQueue;
use eitri_cs::builder::{
    AddNumber, AnyLoad, BuildFault, Checked, Config, FirstLoads, Load32, Load64,
};
use eitri_cs::enums::{Condition, ErrorReject, HeapOperationKind, StreamState, SyncScope};
use eitri_cs::instr::{
    AddImm64, Call, FinishFragment, FinishTiling, HeapOperation, RunFragment, RunIdvs, RunIdvs2,
    SetSbEntry, SetStateImm32, SyncAdd64, SyncWait64, Wait,
};
use eitri_cs::{Arch, Reg, Slot};

/// Slots of the iterators of a lane.
pub(super) const ITERATORS: usize = 5;

/// The instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodedDraws {
    /// Loads of the registers of draws, and of the pairs that what is bound decides.
    pub(super) loads: FirstLoads,
    pub(super) bound: [HalfLoads; BOUND_PAIRS],
    /// A draw without a program of varyings, and one with.
    run: [Checked; 2],
    /// By the number of the slot, from the first iterator's on.
    pub(super) iterators: [OfIterator; ITERATORS],
    /// The first instructions of the vertex lane and of the fragment lane.
    begin: [LaneBegin; 2],
    /// Those of a tiling.
    pub(super) tiling: OfTiling,
    /// Those of indirect draws, and of conditional ones.
    pub(super) indirect: EncodedIndirect,
    pub(super) conditional: EncodedConditional,
    /// Those of passes that are rendered in increments.
    pub(super) increments: OfIncrements,
    /// A fragment job, and the load of its framebuffer pointer.
    pub(super) run_fragment: Checked,
    pub(super) framebuffer: Load64,
    /// Loads of where code stands that a lane calls, and of its length; and the call.
    pub(super) call_address: Load64,
    pub(super) call_length: Load32,
    pub(super) call: Checked,
    /// Loads of the address of a stream's count, by the stream; of the count that is waited for; and the wait.
    pub(super) count_of: [Checked; 3],
    pub(super) count: AddNumber,
    pub(super) wait_count: Checked,
}

/// Loads of the halves of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct HalfLoads {
    pub(super) low: Load32,
    pub(super) high: Load32,
}

/// Instructions of a lane that name the slot of an iterator.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfIterator {
    /// Lets the iterator count on the slot.
    pub(super) select: Checked,
    /// Waits until the slot has drained.
    pub(super) wait: Checked,
    /// Counts one more behind the work on the slot.
    pub(super) count_up: Checked,
    /// The tiling on the slot is done.
    pub(super) tiled: Checked,
    /// Gives chunks back behind the work on the slot, counted on the next one.
    pub(super) finish_fragments: Checked,
}

/// Instructions of a tiling that are always the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfTiling {
    /// Loads the register of contexts.
    pub(super) context: Load64,
    /// Load the words of a context, and in them those of the heap.
    pub(super) load_words: Checked,
    pub(super) load_heap: Checked,
    /// Store them.
    pub(super) store: [Checked; 3],
    pub(super) started: Checked,
    pub(super) finish: Checked,
    /// Loads the chunks that a pass has used up.
    pub(super) load_completed: Checked,
}

/// A draw with what the registers hold; `varies`: it has a program of varyings of its own.
pub(super) fn split_draw(varies: bool) -> RunIdvs {
    RunIdvs {
        malloc_enable: true,
        varying_fau_select: varies,
        fragment_srt_select: true,
        ..RunIdvs::default()
    }
}

/// The same where one program makes all of a vertex.
pub(super) fn merged_draw() -> RunIdvs2 {
    RunIdvs2 {
        malloc_enable: true,
        ..RunIdvs2::default()
    }
}

impl EncodedDraws {
    /// For streams of a configuration.
    ///
    /// # Errors
    /// If a stream does not have them.
    pub(crate) fn new(config: &Config) -> Result<EncodedDraws, BuildFault> {
        let run = |varies| {
            if config.arch < Arch::V12 {
                config.checked(split_draw(varies))
            } else {
                config.checked(merged_draw())
            }
        };
        let [first, second, third, fourth, fifth] = iterators();
        let iterator = |slot, next| OfIterator::new(config, slot, next);
        let count = |stream| {
            config.checked(AddImm64 {
                destination: lane::TEMPORARY,
                source: PAGE,
                immediate: i32::try_from(count_of(stream)).unwrap_or(i32::MAX),
            })
        };
        let registers = DrawRegisters::of(config.arch);
        let halves = |register: u8| {
            let load = |register| Load32::new(config, Reg::new(register));
            let (low, high) = (load(register)?, load(register.wrapping_add(1))?);
            Ok::<_, BuildFault>(HalfLoads { low, high })
        };
        // Without a program of varyings nothing loads the second.
        let varyings = registers.varying_uniforms;
        let iterators = [
            iterator(first, second)?,
            iterator(second, third)?,
            iterator(third, fourth)?,
            iterator(fourth, fifth)?,
            iterator(fifth, first)?,
        ];
        let [first, ..] = &iterators;
        Ok(EncodedDraws {
            begin: [
                LaneBegin::new(config, SubQueue::VertexTiler, first)?,
                LaneBegin::new(config, SubQueue::Fragment, first)?,
            ],
            loads: AnyLoad::new(config)?.first(COUNT as u8)?,
            bound: [
                halves(registers.vertex_resources)?,
                halves(registers.fragment_resources)?,
                halves(registers.vertex_uniforms)?,
                halves(varyings.unwrap_or(registers.vertex_uniforms))?,
                halves(registers.fragment_uniforms)?,
            ],
            run: [run(false)?, run(true)?],
            iterators,
            tiling: OfTiling::new(config)?,
            indirect: EncodedIndirect::new(config)?,
            conditional: EncodedConditional::new(config)?,
            increments: OfIncrements::new(config)?,
            run_fragment: config.checked(RunFragment::default())?,
            framebuffer: Load64::new(config, FRAMEBUFFER)?,
            call_address: Load64::new(config, lane::TEMPORARY)?,
            call_length: Load32::new(config, lane::VALUE.low())?,
            call: config.checked(Call {
                address: lane::TEMPORARY,
                length: lane::VALUE.low(),
            })?,
            count_of: [
                count(SubQueue::ALL[0])?,
                count(SubQueue::ALL[1])?,
                count(SubQueue::ALL[2])?,
            ],
            count: AddNumber::new(config, lane::VALUE, BASE)?,
            wait_count: config.checked(SyncWait64 {
                address: lane::TEMPORARY,
                data: lane::VALUE,
                condition: Condition::Greater,
                // Whose work failed is told by its own status.
                error_reject: ErrorReject::Reject,
            })?,
        })
    }

    /// The first instructions of a stream's lane.
    pub(super) const fn begin(&self, stream: SubQueue) -> &LaneBegin {
        let [vertices, fragments] = &self.begin;
        match stream {
            SubQueue::Fragment => fragments,
            SubQueue::VertexTiler | SubQueue::Compute => vertices,
        }
    }

    /// A draw with what the registers hold.
    pub(super) const fn run(&self, varies: bool) -> Checked {
        let [plain, varying] = self.run;
        if varies { varying } else { plain }
    }
}

impl OfIterator {
    fn new(config: &Config, slot: Slot, next: Slot) -> Result<OfIterator, BuildFault> {
        let select = if config.arch < Arch::V11 {
            config.checked(SetSbEntry {
                endpoint_entry: slot,
                other_entry: OTHERS,
            })
        } else {
            config.checked(SetStateImm32 {
                state: StreamState::SelectEndpoint,
                value: slot.number().into(),
            })
        };
        let [first, last] = tiling::CHUNKS;
        Ok(OfIterator {
            select: select?,
            wait: config.checked(Wait {
                wait_mask: slot.mask(),
                ..Wait::default()
            })?,
            count_up: config.checked(SyncAdd64 {
                address: lane::OWN,
                data: lane::ONE,
                scope: SyncScope::Csg,
                // So that the host sees which passes ended after a failure: those who wait do not look at it.
                error_propagate: true,
                wait_mask: slot.mask(),
                signal_slot: DEFERRED,
                ..SyncAdd64::default()
            })?,
            tiled: config.checked(HeapOperation {
                operation: HeapOperationKind::VertexTilerCompleted,
                wait_mask: slot.mask(),
                signal_slot: DEFERRED,
                ..HeapOperation::default()
            })?,
            finish_fragments: config.checked(FinishFragment {
                increment_fragment_completed: true,
                first_heap_chunk: first,
                last_heap_chunk: last,
                wait_mask: slot.mask(),
                signal_slot: next,
                ..FinishFragment::default()
            })?,
        })
    }
}

impl OfTiling {
    fn new(config: &Config) -> Result<OfTiling, BuildFault> {
        let [words, heap, completed] = tiling::loads();
        let [said, zeros, more_zeros] = tiling::stores();
        Ok(OfTiling {
            context: Load64::new(config, tiling::CONTEXT)?,
            load_words: config.checked(words)?,
            load_heap: config.checked(heap)?,
            store: [
                config.checked(said)?,
                config.checked(zeros)?,
                config.checked(more_zeros)?,
            ],
            started: config.checked(HeapOperation {
                operation: HeapOperationKind::VertexTilerStarted,
                ..HeapOperation::default()
            })?,
            finish: config.checked(FinishTiling::default())?,
            load_completed: config.checked(completed)?,
        })
    }
}
