//! Instructions as typed values: the enum of all, a type for each, encode and decode.
//!
//! Guarantees: a word that decodes encodes to itself; an undefined value, an odd pair, a reserved bit is an error, never
//! cut or ignored.  Never: says whether a GPU has a register or a slot (that it reports itself).
//! Facts: hardware/command-stream.md 2 and 3, through [`crate::table`].

pub(crate) mod codec;
mod values;

pub use codec::{DecodeError, EncodeError, FieldFault};
pub(crate) use values::encode;
pub use values::{Instruction, Values};

use crate::arch::{Arch, on};
use crate::enums::{
    Condition, DeferMode, ErrorReject, ExceptionType, FlushMode, HeapOperationKind, LogicIndex,
    LogicOp, OtherFlushMode, PipelineStage, ShadingMode, SlotFormat, SlotSelection, StoredState,
    StreamState, SyncScope, TaskAxis, TileOrder, WaitMode,
};
use crate::field::Bytes8;
use crate::register::{Pair, Reg, RegMask};
use crate::scoreboard::{Slot, SlotMask};
use crate::staging::StagingMap;
use crate::table::arithmetic::arithmetic;
use crate::table::control_flow::control_flow;
use crate::table::define::{define_instructions, field_info, field_note, field_type};
use crate::table::jobs::jobs;
use crate::table::memory::memory;
use crate::table::moves::moves;
use crate::table::progress::progress;
use crate::table::resources::resources;
use crate::table::scoreboard::scoreboard;
use crate::table::sync::sync;
use crate::table::{Category, Info, Resources, Timing};

moves! { arithmetic memory control_flow scoreboard sync jobs resources progress define_instructions {} }

const fn defined_bits(info: &Info) -> [u64; Arch::ALL.len()] {
    let mut masks = [0; Arch::ALL.len()];
    let mut i = 0;
    while i < masks.len() {
        masks[i] = info.defined_bits(Arch::ALL[i]);
        i += 1;
    }
    masks
}

impl Instr {
    /// The instruction that `word` holds.
    ///
    /// # Errors
    /// The opcode is not one of `arch`, a field holds an undefined value or an odd pair, or a reserved bit is set.
    pub fn decode(word: u64, arch: Arch) -> Result<Instr, DecodeError> {
        let (instr, bits) = Instr::decode_ignoring_reserved(word, arch)?;
        if bits != 0 {
            let instruction = instr.info().name;
            return Err(DecodeError::ReservedBits { instruction, bits });
        }
        Ok(instr)
    }
}
