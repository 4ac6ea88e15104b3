//! Fields that several instructions have, each told once.
//!
//! `name key: Type[bits] "note" .more(columns);` defines what a row means by `key;` or `name = key;`.

macro_rules! shared_fields {
    ($( $name:ident $key:ident : $ty:ident [$($bits:tt)*] $note:literal $(. $column:ident ($($argument:expr),*))* ; )*) => {
        /// Their rows, by key.
        #[allow(non_upper_case_globals)] // named as rows name them
        pub(crate) mod info {
            use crate::enums::{DeferMode, ErrorReject, PipelineStage, SyncScope};
            use crate::field::FieldInfo;
            use crate::register::{Pair, Reg};
            use crate::scoreboard::{Slot, SlotMask};
            use crate::table::define::field_info;

            $( pub(crate) const $key: FieldInfo =
                field_info!($name: $ty [$($bits)*] $note $(. $column($($argument),*))*); )*
        }

        macro_rules! shared_type { $( ($key) => { $ty }; )* }
        macro_rules! shared_note { $( ($key) => { $note }; )* }
        pub(crate) use {shared_note, shared_type};
    };
}

#[rustfmt::skip]
shared_fields! {
    // Deferred execution (1.8).
    wait_mask          wait_mask:          SlotMask[31:16]              "slots that must drain before the operation; none: at once";
    signal_slot        signal_slot:        Slot[51:48]                  "slot that counts the operation while it is deferred";
    defer_mode         defer_mode:         DeferMode[52 FROM_V11]       "whether mask and slot come from here or from the stream's state";

    // Jobs (3.6).
    progress_increment progress_increment: bool[32]                     "adds 1 to the stream's progress value when it is done";
    srt_select         srt_select:         u8[41:40]                    "resource table: d(0 + 2n)";
    spd_select         spd_select:         u8[43:42]                    "shader program: d(16 + 2n)";
    tsd_select         tsd_select:         u8[45:44]                    "local storage: d(24 + 2n)";
    fau_select         fau_select:         u8[47:46]                    "uniforms: d(8 + 2n)";
    ep_limit           ep_limit:           u8[23:16 FROM_V12]           "most tasks of the job on one core";
    stage              stage:              PipelineStage[51:48 FROM_V12] "the pipeline stage that the job counts as";
    flags_override     flags_override:     u32[31:0]                    "primitive flags, added to those of r56 by OR";

    // Sync objects (3.5).
    error_propagate    error_propagate:    bool[0]                      "writes the stream's error state into the error word, else 0";
    scope              scope:              SyncScope[2:1]               "whom the write wakes";
    error_reject       error_reject:       ErrorReject[0]               "what happens when the error word is set";
    data               data32:             Reg[39:32]                   "the operand"                                      .reads();
    data               data64:             Pair[39:32]                  "the operand"                                      .reads();

    // Addresses and lengths.
    address            address:            Pair[47:40]                  "the address"                                      .reads();
    length             length:             Reg[39:32]                   "bytes of instructions, a multiple of 8"           .reads();
    offset             offset:             i16[15:0]                    "bytes added to the address";

    // Arithmetic (3.1).
    destination        to32:               Reg[55:48]                   "the result"                                       .writes();
    destination        to64:               Pair[55:48]                  "the result"                                       .writes();
    source             from32:             Reg[47:40]                   "s"                                                .reads();
    source             from64:             Pair[47:40]                  "s"                                                .reads();
    source_0           a32:                Reg[47:40]                   "a"                                                .reads();
    source_1           b32:                Reg[39:32]                   "b"                                                .reads();
    source_0           a64:                Pair[47:40]                  "a"                                                .reads();
    source_1           b64:                Pair[39:32]                  "b"                                                .reads();
    immediate          signed:             i32[31:0]                    "a signed number";
    immediate          unsigned:           u32[31:0]                    "an unsigned number";
    shift_amount       shift5:             u8[4:0]                      "bits to shift by";
    shift_amount       shift6:             u8[5:0]                      "bits to shift by";
    position           position:           u8[7:0]                      "the lowest bit of the bit field";
    width              width:              u8[15:8]                     "the number of bits of the bit field";
    imm                imm:                u16[31:16]                   "the bits to insert";
}
