//! What generated code sees of a warp, and what it calls.

use eitri_model::host_code::{Running, Step, Warp};

/// The memory that generated code is given. Offsets of its fields are in the code.
#[repr(C)]
pub(crate) struct Context {
    pub(crate) registers: *mut u32,
    pub(crate) warp: *mut Warp,
    pub(crate) valid: *mut u16,
    pub(crate) uniforms: *const u32,
    pub(crate) uniform_count: u64,
    /// Where the workgroup's memory begins, and that of the thread in lane 0; the bytes of a thread.
    pub(crate) workgroup_memory: u64,
    pub(crate) thread_memory: u64,
    pub(crate) thread_bytes: u64,
    pub(crate) page: u64,
    /// Registers that the program does not have, a bit a register.
    pub(crate) absent: u64,
    pub(crate) wanted: u64,
    pub(crate) most: u64,
    pub(crate) executed: u64,
    pub(crate) diverged: u64,
    pub(crate) issued: u64,
    pub(crate) running: *mut (),
}

impl Context {
    /// The context of a warp. It is good as long as `running` is not used otherwise.
    pub(crate) fn of(running: &mut Running<'_>) -> Context {
        let uniforms = running.uniforms();
        let (thread_memory, thread_bytes) = running.thread_memory();
        Context {
            uniforms: uniforms.as_ptr(),
            uniform_count: uniforms.len() as u64,
            workgroup_memory: running.workgroup_memory(),
            thread_memory,
            thread_bytes,
            page: running.page,
            absent: !running.allocated(),
            wanted: running.wanted,
            most: running.most,
            executed: running.executed,
            diverged: running.diverged,
            issued: running.issued,
            registers: running.warp.registers.as_mut_ptr().cast(),
            valid: running.warp.valid.as_mut_ptr(),
            warp: &raw mut *running.warp,
            running: (&raw mut *running).cast(),
        }
    }

    /// The warp's handle.
    ///
    /// # Safety
    /// The context is one that [`Context::of`] made of a `Running` that is still borrowed for it, and no other reference to it exists.
    unsafe fn running(&mut self) -> &mut Running<'_> {
        // SAFETY: the pointer was made of a `&mut Running` in `Context::of`, whose borrow lasts while generated code runs; generated
        // code, which calls this, holds no reference itself.
        unsafe { &mut *self.running.cast() }
    }
}

/// A call by generated code. The functions below are its only callees.
macro_rules! calls {
    ($($(#[$doc:meta])* fn $name:ident($running:ident $(, $argument:ident: $type:ty)*) $(-> $result:ty)? $body:block)*) => {
        $($(#[$doc])*
        ///
        /// # Safety
        /// Generated code alone calls it, with the context that it was given.
        pub(crate) unsafe extern "C" fn $name(context: *mut Context $(, $argument: $type)*) $(-> $result)? {
            // SAFETY: generated code passes the pointer that `Code::run` gave it, which is to a context that nobody else uses.
            let $running = unsafe { (*context).running() };
            $body
        })*
    };
}

calls! {
    /// Whether the running lanes may use the registers in `used`, of which they read those in `read` first.
    fn may_use(running, used: u64, read: u64) -> u32 {
        running.may_use(used, read).into()
    }

    /// Notes what a block left of registers.
    fn note_registers(running, written: u64, dead: u64) {
        running.note_registers(written, dead);
    }

    /// The running lanes wait.
    fn wait(running, slots: u32) {
        running.wait(slots as u8);
    }

    /// The lanes in `taken` go to `target`; whether lanes can run.
    fn branch(running, taken: u32, target: u64, others_end: u32) -> u32 {
        running.branch(taken as u16, target, others_end != 0).into()
    }

    /// Decides who runs; whether lanes can.
    fn choose(running) -> u32 {
        running.choose().into()
    }
}

/// Sends a step's message; whether that was done.
///
/// # Safety
/// Generated code alone calls it, with the context that it was given and one of its own steps.
pub(crate) unsafe extern "C" fn send(context: *mut Context, step: *const Step) -> u32 {
    // SAFETY: as for the other calls.
    let running = unsafe { (*context).running() };
    // SAFETY: the address is that of a step that the code owns, which lives as long as the code (`Code::steps`).
    running.send(unsafe { &*step }).into()
}

/// Computes a step that is not in generated code.
///
/// # Safety
/// Generated code alone calls it, with the context that it was given and one of its own steps.
pub(crate) unsafe extern "C" fn compute(context: *mut Context, step: *const Step) {
    // SAFETY: as for the other calls.
    let running = unsafe { (*context).running() };
    // SAFETY: the address is that of a step that the code owns, which lives as long as the code (`Code::steps`).
    running.compute(unsafe { &*step });
}
