//! Mailbox: register accesses and interrupt lines of a GPU, in memory that the monitor and a process of the host share.
//!
//! The monitor asks one thing at a time and waits for its answer; the host may tell new levels of the lines at any time, unless the
//! monitor asks for each step of the model ([`Request::Step`]): then they change with answers alone. Whoever
//! has seen a request has seen all that was stored to memory before it, and whoever has seen an answer, or new levels, all that the
//! model stored before.
//!
//! ```
//! use eitri_mailbox::{Mailbox, Request, State};
//!
//! let mailbox = Mailbox::default();
//! mailbox.set_counter_hertz(62_500_000);
//! mailbox.ask(Request::Read { offset: 0x20, pc: 0x4000 });
//! assert_eq!(mailbox.request(), Some(Request::Read { offset: 0x20, pc: 0x4000 }));
//! assert_eq!(mailbox.answer(), None);
//! mailbox.tell(State { job: true, ..State::default() });
//! mailbox.reply(7);
//! assert_eq!((mailbox.answer(), mailbox.state().job), (Some(7), true));
//! assert_eq!(mailbox.request(), None);
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bytes of memory that are set aside for it.
pub const BYTES: usize = 4096;

const _: () = assert!(size_of::<Mailbox>() <= BYTES);
// Both sides see the same words.
const _: () = assert!(cfg!(target_endian = "little"));

/// What the monitor asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A load of a register word.
    Read {
        /// Bytes from the begin of the GPU's window.
        offset: u32,
        /// The code that loads.
        pc: u64,
    },
    /// A store.
    Write {
        /// Bytes from the begin of the GPU's window.
        offset: u32,
        /// What is stored.
        value: u32,
        /// The code that stores.
        pc: u64,
    },
    /// Something goes wrong from now on, or does no longer.
    Fault {
        /// Its number in the list that the host has of them.
        number: u32,
        /// Whether it goes wrong.
        strikes: bool,
    },
    /// The model works for a while: the machine's clock is its clock.
    Step {
        /// Nanoseconds that the model's clock goes on by at most.
        time: u64,
        /// Instructions that it executes at most.
        instructions: u32,
    },
}

/// What follows a [`Request::Step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A line has risen.
    Interrupt,
    /// The model could go on at once.
    Busy,
    /// The model does nothing before its clock shows so many nanoseconds.
    Waiting(u64),
    /// The model does nothing until a register is written.
    Idle,
}

impl Next {
    fn number(self) -> u32 {
        match self {
            Next::Interrupt => next::INTERRUPT,
            Next::Busy => next::BUSY,
            Next::Waiting(_) => next::WAITING,
            Next::Idle => next::IDLE,
        }
    }

    fn of(number: u32, moment: u64) -> Next {
        match number {
            next::INTERRUPT => Next::Interrupt,
            next::BUSY => Next::Busy,
            next::WAITING => Next::Waiting(moment),
            _ => Next::Idle,
        }
    }
}

#[rustfmt::skip]
mod next {
    pub(super) const IDLE:      u32 = 0;
    pub(super) const WAITING:   u32 = 1;
    pub(super) const BUSY:      u32 = 2;
    pub(super) const INTERRUPT: u32 = 3;
}

/// What came of a [`Request::Step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stepped {
    /// What follows.
    pub next: Next,
    /// What the model's clock shows, in nanoseconds.
    pub now: u64,
}

#[rustfmt::skip]
mod kind {
    pub(super) const READ:      u32 = 0;
    pub(super) const WRITE:     u32 = 1;
    pub(super) const STRIKES:   u32 = 2;
    pub(super) const WITHDRAWN: u32 = 3;
    pub(super) const STEP:      u32 = 4;
}

/// What the GPU shows of itself between accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The level of the line of jobs.
    pub job: bool,
    /// The level of the line of the MMU.
    pub mmu: bool,
    /// The level of the line of everything else.
    pub gpu: bool,
    /// It works: a line may rise soon.
    pub busy: bool,
    /// It works, and its time is behind the machine's.
    pub behind: bool,
}

#[rustfmt::skip]
mod bit {
    pub(super) const JOB:    u32 = 1 << 0;
    pub(super) const MMU:    u32 = 1 << 1;
    pub(super) const GPU:    u32 = 1 << 2;
    pub(super) const BUSY:   u32 = 1 << 3;
    pub(super) const BEHIND: u32 = 1 << 4;
}

impl State {
    fn bits(self) -> u32 {
        let bit = |set: bool, bit: u32| if set { bit } else { 0 };
        bit(self.job, bit::JOB)
            | bit(self.mmu, bit::MMU)
            | bit(self.gpu, bit::GPU)
            | bit(self.busy, bit::BUSY)
            | bit(self.behind, bit::BEHIND)
    }

    fn of(bits: u32) -> State {
        State {
            job: bits & bit::JOB != 0,
            mmu: bits & bit::MMU != 0,
            gpu: bits & bit::GPU != 0,
            busy: bits & bit::BUSY != 0,
            behind: bits & bit::BEHIND != 0,
        }
    }
}

/// How the guest's clock differs from the machine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// It stands still.
    pub is_stopped: bool,
    /// Nanoseconds that it stood still before.
    pub nanoseconds: u64,
}

/// The mailbox. Memory of zeros is an empty one.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Mailbox {
    asked: Asked,
    told: Told,
}

/// What the monitor writes.
#[derive(Debug, Default)]
#[repr(C, align(64))]
struct Asked {
    /// Of the last request. Written last.
    number: AtomicU32,
    kind: AtomicU32,
    offset: AtomicU32,
    value: AtomicU32,
    /// Of an access.
    pc: AtomicU64,
    /// Of a step.
    time: AtomicU64,
    counter_hertz: AtomicU64,
    /// Whether the guest's clock stands still. Written after `held`.
    holding: AtomicU32,
    /// Nanoseconds that it stood still before.
    held: AtomicU64,
}

/// What the host writes.
#[derive(Debug, Default)]
#[repr(C, align(64))]
struct Told {
    /// Of the last request that has its answer. Written last.
    number: AtomicU32,
    value: AtomicU32,
    state: AtomicU32,
    /// Of the last step: when something happens next.
    moment: AtomicU64,
    /// Of the last step: what the model's clock shows.
    now: AtomicU64,
}

impl Mailbox {
    /// The monitor says how fast the machine's counter counts, before it asks for anything.
    pub fn set_counter_hertz(&self, hertz: u64) {
        self.asked.counter_hertz.store(hertz, Ordering::Relaxed);
    }

    /// How fast the machine's counter counts, once something was asked.
    pub fn counter_hertz(&self) -> u64 {
        self.asked.counter_hertz.load(Ordering::Relaxed)
    }

    /// The monitor stops the guest's clock.
    pub fn hold(&self) {
        self.asked.holding.store(1, Ordering::Release);
    }

    /// The guest's clock goes on; it has stood still for so many nanoseconds in all.
    pub fn go_on(&self, held: u64) {
        self.asked.held.store(held, Ordering::Relaxed);
        self.asked.holding.store(0, Ordering::Release);
    }

    /// Nanoseconds that the guest's clock has stood still, without the time since it was stopped last; and whether it is stopped.
    pub fn held(&self) -> Held {
        let is_stopped = self.asked.holding.load(Ordering::Acquire) != 0;
        Held {
            is_stopped,
            nanoseconds: self.asked.held.load(Ordering::Relaxed),
        }
    }

    /// The monitor asks, after the answer to what it asked before.
    pub fn ask(&self, request: Request) {
        let asked = &self.asked;
        let (kind, offset, value, pc) = match request {
            Request::Read { offset, pc } => (kind::READ, offset, 0, pc),
            Request::Write { offset, value, pc } => (kind::WRITE, offset, value, pc),
            Request::Fault { number, strikes } => match strikes {
                true => (kind::STRIKES, 0, number, 0),
                false => (kind::WITHDRAWN, 0, number, 0),
            },
            Request::Step { time, instructions } => {
                asked.time.store(time, Ordering::Relaxed);
                (kind::STEP, 0, instructions, 0)
            }
        };
        asked.kind.store(kind, Ordering::Relaxed);
        asked.offset.store(offset, Ordering::Relaxed);
        asked.value.store(value, Ordering::Relaxed);
        asked.pc.store(pc, Ordering::Relaxed);
        let number = asked.number.load(Ordering::Relaxed).wrapping_add(1);
        asked.number.store(number, Ordering::Release);
    }

    /// The answer to what was asked last, once it is there; after a load it is what was loaded.
    pub fn answer(&self) -> Option<u32> {
        let number = self.asked.number.load(Ordering::Relaxed);
        let answered = self.told.number.load(Ordering::Acquire) == number;
        answered.then(|| self.told.value.load(Ordering::Relaxed))
    }

    /// What the host told last.
    pub fn state(&self) -> State {
        State::of(self.told.state.load(Ordering::Acquire))
    }

    /// What was asked and has no answer yet.
    pub fn request(&self) -> Option<Request> {
        let asked = &self.asked;
        let number = asked.number.load(Ordering::Acquire);
        if self.told.number.load(Ordering::Relaxed) == number {
            return None;
        }
        let offset = asked.offset.load(Ordering::Relaxed);
        let value = asked.value.load(Ordering::Relaxed);
        let pc = asked.pc.load(Ordering::Relaxed);
        let fault = |strikes| Request::Fault {
            number: value,
            strikes,
        };
        Some(match asked.kind.load(Ordering::Relaxed) {
            kind::WRITE => Request::Write { offset, value, pc },
            kind::STRIKES => fault(true),
            kind::WITHDRAWN => fault(false),
            kind::STEP => Request::Step {
                time: asked.time.load(Ordering::Relaxed),
                instructions: value,
            },
            _ => Request::Read { offset, pc },
        })
    }

    /// The host tells how things are; before an answer, that the access has changed them.
    pub fn tell(&self, state: State) {
        self.told.state.store(state.bits(), Ordering::Release);
    }

    /// The host answers a step.
    pub fn reply_to_step(&self, stepped: Stepped) {
        if let Next::Waiting(moment) = stepped.next {
            self.told.moment.store(moment, Ordering::Relaxed);
        }
        self.told.now.store(stepped.now, Ordering::Relaxed);
        self.reply(stepped.next.number());
    }

    /// What came of the step that was asked for last, once it is there.
    pub fn stepped(&self) -> Option<Stepped> {
        let number = self.answer()?;
        Some(Stepped {
            next: Next::of(number, self.told.moment.load(Ordering::Relaxed)),
            now: self.told.now.load(Ordering::Relaxed),
        })
    }

    /// The host answers what was asked last.
    pub fn reply(&self, value: u32) {
        self.told.value.store(value, Ordering::Relaxed);
        let number = self.asked.number.load(Ordering::Relaxed);
        self.told.number.store(number, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn each_request_has_its_own_answer_from_another_thread() {
        const ASKED: u32 = 100;
        let mailbox = Mailbox::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut answered = 0;
                while answered < ASKED {
                    let Some(request) = mailbox.request() else {
                        std::thread::yield_now();
                        continue;
                    };
                    let Request::Write { offset, value, .. } = request else {
                        panic!("nobody asked for {request:?}");
                    };
                    mailbox.reply(offset + value);
                    answered += 1;
                }
            });
            for number in 0..ASKED {
                mailbox.ask(Request::Write {
                    offset: 4 * number,
                    value: number,
                    pc: 0,
                });
                let answer = loop {
                    match mailbox.answer() {
                        Some(answer) => break answer,
                        None => std::thread::yield_now(),
                    }
                };
                assert_eq!(answer, 5 * number);
            }
        });
    }

    #[test]
    fn what_is_asked_arrives_as_it_is() {
        let mailbox = Mailbox::default();
        let fault = |strikes| Request::Fault {
            number: 11,
            strikes,
        };
        let read = Request::Read { offset: 8, pc: 3 };
        let step = Request::Step {
            time: 1 << 40,
            instructions: 7,
        };
        for request in [fault(true), read, step, fault(false)] {
            mailbox.ask(request);
            assert_eq!(mailbox.request(), Some(request));
            mailbox.reply(0);
        }
    }

    #[test]
    fn what_came_of_a_step_arrives_as_it_is() {
        let mailbox = Mailbox::default();
        let nexts = [
            Next::Interrupt,
            Next::Busy,
            Next::Waiting(1 << 33),
            Next::Idle,
        ];
        for (now, next) in (5..).zip(nexts) {
            mailbox.ask(Request::Step {
                time: 1,
                instructions: 1,
            });
            assert_eq!(mailbox.stepped(), None);
            let stepped = Stepped { next, now };
            mailbox.reply_to_step(stepped);
            assert_eq!(mailbox.stepped(), Some(stepped));
        }
    }

    #[test]
    fn the_clock_is_stopped_and_goes_on() {
        let mailbox = Mailbox::default();
        let held = |is_stopped, nanoseconds| Held {
            is_stopped,
            nanoseconds,
        };
        assert_eq!(mailbox.held(), held(false, 0));
        mailbox.hold();
        assert_eq!(mailbox.held(), held(true, 0));
        mailbox.go_on(70);
        assert_eq!(mailbox.held(), held(false, 70));
        mailbox.hold();
        assert_eq!(mailbox.held(), held(true, 70));
    }

    #[test]
    fn a_state_is_told_as_it_is() {
        let mailbox = Mailbox::default();
        for bits in 0..32u32 {
            let state = State::of(bits);
            mailbox.tell(state);
            assert_eq!((mailbox.state(), state.bits()), (state, bits));
        }
    }
}
