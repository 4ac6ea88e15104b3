//! Control flow: branches, calls, jumps, the exception handler, regions.
//!
//! Facts: hardware/command-stream.md 3.3.

#[rustfmt::skip]
macro_rules! control_flow { ($next:ident $($families:ident)* { $($rows:tt)* }) => { $next! { $($families)* { $($rows)*

    /// Goes `offset` instructions on from the next one when the signed value compares with 0 as asked.
    BRANCH Branch 0x16 ALL ControlFlow Inline {
        condition:      Condition[30:28 V10, 31:28 FROM_V11] "how the value compares with 0";
        value:          Reg[47:40]  "the value; not read for ALWAYS" .reads() .unless("condition", 6);
        offset:         i16[15:0]   "instructions from the next one: -1 is the branch itself";
    } "BRANCH.{condition} r{value}, {%target}";

    /// Runs a buffer of instructions and comes back; at most 8 frames, the ring's included.
    CALL Call 0x20 ALL ControlFlow Inline {
        address;
        length;
    } "CALL d{address}, r{length}";

    /// Goes on in another buffer of instructions, in the same frame; not in the ring's.
    JUMP Jump 0x21 ALL ControlFlow Inline {
        address;
        length;
    } "JUMP d{address}, r{length}";

    /// Installs the buffer of instructions to run on an exception; address or length 0 removes it.
    SET_EXCEPTION_HANDLER SetExceptionHandler 0x19 ALL ControlFlow Inline {
        exception_type: ExceptionType[7:0] "what it handles" .default(2);
        address;
        length;
    } "SET_EXCEPTION_HANDLER d{address}, r{length}";

    /// Ends a region of error recovery: after it the error status starts clean.
    ERROR_BARRIER ErrorBarrier 0x2f ALL ControlFlow Inline {
    } "ERROR_BARRIER";

    /// Runs the next `size` bytes of instructions in protected mode.
    PROT_REGION ProtRegion 0x29 ALL ControlFlow Inline {
        size:           Bytes8[15:0] "bytes of instructions";
    } "PROT_REGION #{size}";

} } } }
pub(crate) use control_flow;
