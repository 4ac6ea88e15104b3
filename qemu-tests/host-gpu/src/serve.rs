//! Serve: the loop between the machine's monitor and the model.
//!
//! The model's time follows the process's clock, and falls behind while shaders take longer than they would on the device.

use crate::memory::MachineMemory;
use eitri_csf::registers::doorbell::{DOORBELL, doorbell};
use eitri_mailbox::{Held, Mailbox, Request, State};
use eitri_model::diagnosis::{News, Teller};
use eitri_model::{Budget, Config, Gpu, Injection, Nanoseconds, Progress, Sink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What the model is given at least when its time is not behind.
const SHORTEST_SLICE: Nanoseconds = 20_000;
/// What it is given at most at once.
const LONGEST_SLICE: Nanoseconds = 2_000_000;
/// Instructions at most at once: what an access waits for at most.
const INSTRUCTIONS: u64 = 1000;
/// What is due sooner than this the monitor takes for work.
const SOON: Nanoseconds = 1_000_000;
/// How far the model's time may be behind before that is told: about what one turn of the loop takes.
const BEHIND: Nanoseconds = 1_000_000;
/// How long an access is looked for without a pause after the last one: they come in rows.
const ALERT: Duration = Duration::from_micros(200);
/// From when on pauses are long.
const ASLEEP: Duration = Duration::from_millis(20);
const SHORT_PAUSE: Duration = Duration::from_micros(50);
const LONG_PAUSE: Duration = Duration::from_micros(200);

/// Watches the GPU of a machine. What is not written does nothing.
pub trait Watcher {
    /// The model has found something to report about the driver; memory is as it was then.
    fn report(&mut self, _gpu: &Gpu, _memory: &MachineMemory, _news: News<'_>) {}

    /// The driver rings a doorbell, which the GPU has not seen yet: what the driver wants done is in memory, and nothing of it has
    /// begun.
    fn doorbell(&mut self, _gpu: &mut Gpu, _memory: &MachineMemory) {}

    /// The model has worked, or the driver is about to store to a register.
    fn worked(&mut self, _gpu: &mut Gpu, _memory: &MachineMemory, _is_store_due: bool) {}

    /// The machine has ended.
    fn ended(&mut self, _gpu: &mut Gpu, _memory: &MachineMemory) {}

    /// Receiver of the model's events; asked for once, before the first access.
    fn sink(&mut self) -> Option<Box<dyn Sink>> {
        None
    }
}

/// Is the GPU of the machine until `stop` is set; its timestamp is that of the machine's counter, whatever `config` says. What
/// happens is told to `watcher` as it comes.
pub fn serve(
    config: Config,
    memory: &MachineMemory,
    mailbox: &Mailbox,
    stop: &AtomicBool,
    watcher: &mut dyn Watcher,
) {
    while mailbox.request().is_none() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        std::thread::sleep(LONG_PAUSE);
    }
    let mut server = Server {
        gpu: gpu(config, mailbox),
        memory,
        mailbox,
        told: State::default(),
        clock: GuestClock::new(),
        is_behind: false,
        last: Instant::now(),
        progress: Progress::Idle,
    };
    server.gpu.trace_to(watcher.sink());
    let mut teller = Teller::default();
    while !stop.load(Ordering::Relaxed) {
        let asked = server.answer(watcher);
        let worked = server.work();
        watcher.worked(&mut server.gpu, server.memory, false);
        teller.tell(&server.gpu, |news| {
            watcher.report(&server.gpu, server.memory, news)
        });
        if !asked && !worked {
            server.pause();
        }
    }
    watcher.ended(&mut server.gpu, server.memory);
}

/// The GPU of a machine whose monitor has told how fast its counter counts.
pub(crate) fn gpu(config: Config, mailbox: &Mailbox) -> Gpu {
    Gpu::new(Config {
        timestamp_hz: mailbox.counter_hertz(),
        instruction_floor: Config::FLOOR_BESIDE_EMULATED_CPU,
        ..config
    })
}

/// Does an access; gives what was loaded.
pub(crate) fn access(
    gpu: &mut Gpu,
    mut memory: &MachineMemory,
    request: Request,
    watcher: &mut dyn Watcher,
) -> u32 {
    match request {
        Request::Read { offset, pc } => return gpu.read32_at(&mut memory, offset, Some(pc)),
        Request::Write { offset, value, pc } => {
            watcher.worked(gpu, memory, true);
            if rings(offset, value) {
                watcher.doorbell(gpu, memory);
            }
            gpu.write32_at(&mut memory, offset, value, Some(pc));
        }
        Request::Fault { number, strikes } => match Injection::ALL.get(number as usize) {
            Some(injection) if strikes => gpu.inject(*injection),
            Some(injection) => gpu.withdraw(*injection),
            None => {}
        },
        // No access.
        Request::Step { .. } => {}
    }
    0
}

/// Whether a store rings a doorbell.
fn rings(offset: u32, value: u32) -> bool {
    let numbers = 0..DOORBELL.count;
    doorbell::RING.get(value)
        && numbers
            .into_iter()
            .any(|number| DOORBELL.at(number).offset == offset)
}

struct Server<'m> {
    gpu: Gpu,
    memory: &'m MachineMemory,
    mailbox: &'m Mailbox,
    /// What the monitor was told last.
    told: State,
    clock: GuestClock,
    /// Whether the model works and its time is behind the guest's.
    is_behind: bool,
    /// When there was something to do last.
    last: Instant,
    progress: Progress,
}

/// The guest's clock: this process's, less the time for which the monitor stopped it.
struct GuestClock {
    /// When the model's time was zero.
    started: Instant,
    /// What it showed when it was seen to be stopped.
    stopped_at: Option<Nanoseconds>,
}

impl GuestClock {
    fn new() -> GuestClock {
        GuestClock {
            started: Instant::now(),
            stopped_at: None,
        }
    }

    fn now(&mut self, held: Held) -> Nanoseconds {
        let passed = self.started.elapsed().as_nanos();
        let passed = Nanoseconds::try_from(passed).unwrap_or(Nanoseconds::MAX);
        let now = passed.saturating_sub(held.nanoseconds);
        if held.is_stopped {
            *self.stopped_at.get_or_insert(now)
        } else {
            self.stopped_at = None;
            now
        }
    }
}

impl Server<'_> {
    /// Does an access, if one is asked for.
    fn answer(&mut self, watcher: &mut dyn Watcher) -> bool {
        let Some(request) = self.mailbox.request() else {
            return false;
        };
        let value = access(&mut self.gpu, self.memory, request, watcher);
        if let Request::Write { .. } = request {
            // What comes of it is not known yet.
            self.progress = Progress::Busy;
        }
        self.tell();
        self.mailbox.reply(value);
        true
    }

    /// Gives the model the time that has passed, or more if it has work. Tells whether it has.
    fn work(&mut self) -> bool {
        let now = self.clock.now(self.mailbox.held());
        let behind = now.saturating_sub(self.gpu.now());
        let least = match self.progress {
            Progress::Busy | Progress::Interrupt => SHORTEST_SLICE,
            Progress::Waiting(_) | Progress::Idle => 0,
        };
        let budget = Budget {
            time: behind.clamp(least, LONGEST_SLICE),
            instructions: INSTRUCTIONS,
        };
        self.progress = self.gpu.run(&mut self.memory, budget);
        let behind = now.saturating_sub(self.gpu.now());
        // Once told, until it has caught up.
        let least = if self.is_behind { 0 } else { BEHIND };
        self.is_behind = self.progress == Progress::Busy && behind > least;
        self.tell();
        matches!(self.progress, Progress::Busy | Progress::Interrupt)
    }

    /// Tells the monitor what has changed.
    fn tell(&mut self) {
        let lines = self.gpu.lines();
        let busy = match self.progress {
            Progress::Busy | Progress::Interrupt => true,
            Progress::Waiting(moment) => moment.saturating_sub(self.gpu.now()) < SOON,
            Progress::Idle => false,
        };
        let state = State {
            job: lines.job,
            mmu: lines.mmu,
            gpu: lines.gpu,
            busy,
            behind: self.is_behind,
        };
        if busy || state != self.told {
            self.last = Instant::now();
        }
        if state != self.told {
            self.mailbox.tell(state);
            self.told = state;
        }
    }

    /// Nothing is to be done: the longer that has been so, the longer it is left alone.
    fn pause(&self) {
        let quiet = self.last.elapsed();
        if quiet < ALERT {
            std::hint::spin_loop();
        } else if quiet < ASLEEP {
            std::thread::sleep(SHORT_PAUSE);
        } else {
            std::thread::sleep(LONG_PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Part;
    use eitri_mailbox::Request;
    use eitri_model::Config;

    const GPU_ID: u32 = 0x0;
    const GPU_IRQ_CLEAR: u32 = 0x24;
    const GPU_IRQ_MASK: u32 = 0x28;
    const GPU_COMMAND: u32 = 0x30;
    const GPU_FAULTSTATUS: u32 = 0x3C;
    const SOFT_RESET: u32 = 0x101;
    const NOP: u32 = 0;
    const EVERYTHING: u32 = u32::MAX;

    fn ask(mailbox: &Mailbox, request: Request) -> u32 {
        mailbox.ask(request);
        wait(|| mailbox.answer())
    }

    fn read(mailbox: &Mailbox, offset: u32) -> u32 {
        ask(mailbox, Request::Read { offset, pc: 0 })
    }

    fn write(mailbox: &Mailbox, offset: u32, value: u32) {
        let pc = 0;
        ask(mailbox, Request::Write { offset, value, pc });
    }

    /// What a watcher was told.
    #[derive(Default)]
    struct Heard {
        said: Vec<String>,
        doorbells: u32,
        stores: u32,
        ends: u32,
    }

    impl Watcher for Heard {
        fn report(&mut self, _: &Gpu, _: &MachineMemory, news: News<'_>) {
            self.said.push(news.to_string());
        }

        fn doorbell(&mut self, _: &mut Gpu, _: &MachineMemory) {
            self.doorbells += 1;
        }

        fn worked(&mut self, _: &mut Gpu, _: &MachineMemory, is_store_due: bool) {
            self.stores += u32::from(is_store_due);
        }

        fn ended(&mut self, _: &mut Gpu, _: &MachineMemory) {
            self.ends += 1;
        }
    }

    /// Stops the server however the test ends.
    struct Stop<'s>(&'s AtomicBool);

    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn number_of(wanted: Injection) -> u32 {
        let mut all = Injection::ALL.iter();
        let place = all.position(|injection| *injection == wanted);
        place.expect("it is one of them") as u32
    }

    fn wait<T>(mut found: impl FnMut() -> Option<T>) -> T {
        let begin = Instant::now();
        loop {
            if let Some(found) = found() {
                return found;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "it never came");
            std::thread::yield_now();
        }
    }

    #[test]
    fn the_clock_of_the_guest_stands_still_while_it_is_stopped() {
        let mut clock = GuestClock::new();
        let held = |is_stopped, nanoseconds| Held {
            is_stopped,
            nanoseconds,
        };
        let stopped = clock.now(held(true, 0));
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(clock.now(held(true, 0)), stopped);
        let all = clock.started.elapsed().as_nanos() as Nanoseconds;
        assert!(clock.now(held(false, all)) < Nanoseconds::MAX / 2);
        assert!(clock.now(held(false, 0)) >= all, "nothing was held");
    }

    #[test]
    fn registers_answer_and_lines_rise_by_themselves() {
        let seen = Part {
            address: 0,
            offset: 0,
            bytes: 0x1000,
        };
        let memory = MachineMemory::new(0x2000, &[seen]).expect("the system has memory");
        let mailbox = memory.mailbox(0x1000).expect("it is inside");
        let stop = AtomicBool::new(false);
        let mut heard = Heard::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                serve(Config::default(), &memory, mailbox, &stop, &mut heard);
            });
            let _stop = Stop(&stop);
            assert_eq!(read(mailbox, GPU_ID), 0xA867_0005);
            write(mailbox, GPU_IRQ_MASK, EVERYTHING);
            write(mailbox, GPU_COMMAND, SOFT_RESET);
            wait(|| mailbox.state().gpu.then_some(()));
            write(mailbox, GPU_IRQ_CLEAR, EVERYTHING);
            assert!(!mailbox.state().gpu, "what is cleared is low at once");
            let number = number_of(Injection::GpuFault { exception: 0x80 });
            let fault = |strikes| Request::Fault { number, strikes };
            ask(mailbox, fault(true));
            ask(mailbox, fault(false));
            write(mailbox, GPU_COMMAND, NOP);
            assert_eq!(read(mailbox, GPU_FAULTSTATUS) & 0xFF, 0);
            ask(mailbox, fault(true));
            write(mailbox, GPU_COMMAND, NOP);
            assert_eq!(read(mailbox, GPU_FAULTSTATUS) & 0xFF, 0x80);
            // Where no register is.
            write(mailbox, 0x3_0000, 1);
            write(mailbox, DOORBELL.at(3).offset, 1);
            write(mailbox, DOORBELL.at(3).offset, 0);
        });
        assert_eq!(heard.doorbells, 1, "one store of two rings");
        assert_eq!((heard.stores, heard.ends), (8, 1));
        let said = heard.said;
        assert!(said[0].contains("0x30000"), "{said:?}");
        assert_eq!(said.len(), 2, "nobody listens to the doorbell: {said:?}");
    }
}
