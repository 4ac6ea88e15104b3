//! Serve: the loop between the machine's monitor and the model.
//!
//! The model's time follows the process's clock, and falls behind while shaders take longer than they would on the device.

use crate::memory::MachineMemory;
use eitri_mailbox::{Mailbox, State};
use eitri_model::diagnosis::Diagnosis;
use eitri_model::{Budget, Config, Gpu, Nanoseconds, Progress};
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
/// How long an access is looked for without a pause after the last one: they come in rows.
const ALERT: Duration = Duration::from_micros(200);
/// From when on pauses are long.
const ASLEEP: Duration = Duration::from_millis(20);
const SHORT_PAUSE: Duration = Duration::from_micros(50);
const LONG_PAUSE: Duration = Duration::from_micros(200);

/// Is the GPU of the machine until `stop` is set; its timestamp is that of the machine's counter, whatever `config` says. What it
/// finds wrong with the driver is said as it comes.
pub fn serve(
    config: Config,
    memory: &MachineMemory,
    mailbox: &Mailbox,
    stop: &AtomicBool,
    mut say: impl FnMut(&Diagnosis),
) {
    while mailbox.request().is_none() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        std::thread::sleep(LONG_PAUSE);
    }
    let mut server = Server {
        gpu: Gpu::new(Config {
            timestamp_hz: mailbox.counter_hertz(),
            ..config
        }),
        memory,
        mailbox,
        told: State::default(),
        started: Instant::now(),
        last: Instant::now(),
        progress: Progress::Idle,
    };
    let mut said = 0;
    while !stop.load(Ordering::Relaxed) {
        let asked = server.answer();
        let worked = server.work();
        let diagnoses = server.gpu.diagnoses();
        diagnoses.iter().skip(said).for_each(&mut say);
        said = diagnoses.len();
        if !asked && !worked {
            server.pause();
        }
    }
}

struct Server<'m> {
    gpu: Gpu,
    memory: &'m MachineMemory,
    mailbox: &'m Mailbox,
    /// What the monitor was told last.
    told: State,
    /// When the model's time was zero.
    started: Instant,
    /// When there was something to do last.
    last: Instant,
    progress: Progress,
}

impl Server<'_> {
    /// Does an access, if one is asked for.
    fn answer(&mut self) -> bool {
        let Some(request) = self.mailbox.request() else {
            return false;
        };
        let (offset, pc) = (request.offset, Some(request.pc));
        let value = match request.write {
            Some(value) => {
                self.gpu.write32_at(&mut self.memory, offset, value, pc);
                // What comes of it is not known yet.
                self.progress = Progress::Busy;
                0
            }
            None => self.gpu.read32_at(&mut self.memory, offset, pc),
        };
        self.tell();
        self.mailbox.reply(value);
        true
    }

    /// Gives the model the time that has passed, or more if it has work. Tells whether it has.
    fn work(&mut self) -> bool {
        let passed = self.started.elapsed().as_nanos();
        let passed = Nanoseconds::try_from(passed).unwrap_or(Nanoseconds::MAX);
        let behind = passed.saturating_sub(self.gpu.now());
        let least = match self.progress {
            Progress::Busy | Progress::Interrupt => SHORTEST_SLICE,
            Progress::Waiting(_) | Progress::Idle => 0,
        };
        let budget = Budget {
            time: behind.clamp(least, LONGEST_SLICE),
            instructions: INSTRUCTIONS,
        };
        self.progress = self.gpu.run(&mut self.memory, budget);
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
    const GPU_IRQ_MASK: u32 = 0x28;
    const GPU_COMMAND: u32 = 0x30;
    const SOFT_RESET: u32 = 0x101;
    const EVERYTHING: u32 = u32::MAX;

    fn access(mailbox: &Mailbox, offset: u32, write: Option<u32>) -> u32 {
        let pc = 0;
        mailbox.ask(Request { offset, write, pc });
        wait(|| mailbox.answer())
    }

    fn wait<T>(mut found: impl FnMut() -> Option<T>) -> T {
        let begin = Instant::now();
        loop {
            if let Some(found) = found() {
                return found;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "it never came");
            std::thread::yield_now();
        }
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
        let mut said = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                serve(Config::default(), &memory, mailbox, &stop, |diagnosis| {
                    said.push(diagnosis.to_string());
                });
            });
            assert_eq!(access(mailbox, GPU_ID, None), 0xA867_0005);
            access(mailbox, GPU_IRQ_MASK, Some(EVERYTHING));
            access(mailbox, GPU_COMMAND, Some(SOFT_RESET));
            wait(|| mailbox.state().gpu.then_some(()));
            // Where no register is.
            access(mailbox, 0x3_0000, Some(1));
            stop.store(true, Ordering::Relaxed);
        });
        assert_eq!(said.len(), 1, "{said:?}");
    }
}
