//! The GPU in a process of the host: its registers and lines, through memory that the two share.
//!
//! It has nothing to say of the lines but their levels, so that these are looked at whenever the monitor runs: at accesses, at the tick,
//! and more often while the image sleeps and the GPU works.
//!
//! The model's clock is the host's, and then the monitor looks for answers, which come within about a millisecond; or it is the
//! machine's ([`crate::stepped_gpu`]), and then the machine stands still until there is one.

use crate::bell::Bell;
use crate::gpu::Rest;
use crate::report::{self, say};
use core::hint::spin_loop;
use core::time::Duration;
use eitri_boards::Exit;
use eitri_boards::qemu_virt::MAILBOX;
use eitri_kernel::time;
use eitri_mailbox::{Mailbox, Request, Stepped};
use eitri_model::Lines;

/// Longest that an answer may take: the host may be very busy.
const LIMIT: Duration = Duration::from_secs(60);
/// How often an answer is looked for before the clock is.
const LOOKS: u32 = 1000;

/// The way to it.
pub(crate) struct HostGpu {
    mailbox: &'static Mailbox,
    /// What wakes the process; without it the process looks for requests.
    bell: Option<Bell>,
}

impl HostGpu {
    /// The GPU of the process that has mapped this machine's memory.
    pub(crate) fn new(bell: Option<Bell>) -> HostGpu {
        // SAFETY: the page is part of the monitor's memory and of nothing else in it, mapped, aligned, and has only zeros, or what
        // the host's process has put there, which any mailbox may hold; all of its parts are atomics.
        let mailbox = unsafe { &*(MAILBOX.base as *const Mailbox) };
        mailbox.set_counter_hertz(time::counter_hertz());
        HostGpu { mailbox, bell }
    }

    /// A load by the code at `pc`.
    pub(crate) fn read(&mut self, offset: u32, pc: u64) -> u32 {
        self.ask(Request::Read { offset, pc })
    }

    /// A store by the code at `pc`.
    pub(crate) fn write(&mut self, offset: u32, value: u32, pc: u64) {
        self.ask(Request::Write { offset, value, pc });
    }

    /// Something goes wrong from now on, or does no longer.
    pub(crate) fn fault(&mut self, number: u32, strikes: bool) {
        self.ask(Request::Fault { number, strikes });
    }

    /// The model works for a while, and the machine stands still meanwhile. `None` where its clock is the host's.
    pub(crate) fn step(&mut self, time: u64, instructions: u32) -> Option<Stepped> {
        self.ask(Request::Step { time, instructions });
        self.mailbox.stepped()
    }

    fn ask(&mut self, request: Request) -> u32 {
        self.mailbox.ask(request);
        if let Some(bell) = &mut self.bell {
            let rung = bell.ring();
            return match self.mailbox.answer() {
                Some(value) if rung => value,
                _ => gone(),
            };
        }
        let begin = time::now();
        loop {
            for _ in 0..LOOKS {
                if let Some(value) = self.mailbox.answer() {
                    return value;
                }
                spin_loop();
            }
            if time::now().saturating_sub(begin) > LIMIT {
                gone();
            }
        }
    }

    /// The levels of its lines.
    pub(crate) fn lines(&self) -> Lines {
        let state = self.mailbox.state();
        Lines {
            job: state.job,
            mmu: state.mmu,
            gpu: state.gpu,
        }
    }

    /// Whether it works and its time is behind.
    pub(crate) fn is_behind(&self) -> bool {
        self.mailbox.state().behind
    }

    /// The image's clock stands still from now on.
    pub(crate) fn hold(&self) {
        self.mailbox.hold();
    }

    /// The image's clock goes on; it has stood still for so many nanoseconds in all.
    pub(crate) fn go_on(&self, held: u64) {
        self.mailbox.go_on(held);
    }

    /// What a CPU does that has nothing to do.
    pub(crate) fn rest(&self) -> Rest {
        match self.mailbox.state().busy {
            true => Rest::Nap,
            false => Rest::Sleep,
        }
    }
}

/// The process has ended, or something else is wrong with it.
fn gone() -> ! {
    say!("the host's model does not answer");
    report::end(Exit::Monitor)
}
