//! Progress values and tracing; no known driver uses them.
//!
//! Facts: hardware/command-stream.md 3.8.

#[rustfmt::skip]
macro_rules! progress { ($next:ident $($families:ident)* { $($rows:tt)* }) => { $next! { $($families)* { $($rows)*

    /// Sets the stream's progress value.
    PROGRESS_STORE ProgressStore 0x2a ALL Progress Inline {
        source = from64;
    } "PROGRESS_STORE d{source}" .unknown_to_mesa26();

    /// Reads the stream's progress value.
    PROGRESS_LOAD ProgressLoad 0x2b ALL Progress Inline {
        destination = to64;
    } "PROGRESS_LOAD d{destination}" .unknown_to_mesa26();

    /// Blocks until the progress value of a stream of the group reaches the operand.
    PROGRESS_WAIT ProgressWait 0x18 ALL Progress Blocking {
        queue:          u8[4:0]    "the stream's number in its group";
        source = from64;
    } "PROGRESS_WAIT d{source}, #{queue}" .unknown_to_mesa26();

    /// Writes registers to the stream's trace buffer.
    TRACE_POINT TracePoint 0x32 ALL Trace Deferrable {
        base_register:  Reg[39:32] "the first register"     .reads() .counted_by("register_count");
        register_count: u8[47:40]  "the number of registers";
        wait_mask; signal_slot; defer_mode;
    } "TRACE_POINT<.{defer_mode}> r{base_register}:r{%last_reg}, #{wait_mask:x}, #{signal_slot}";

} } } }
pub(crate) use progress;
