//! Step: the model works when the machine's monitor asks for it, and while the machine stands still.

use crate::bell::Bell;
use crate::memory::MachineMemory;
use crate::serve::{Watcher, access, gpu};
use eitri_mailbox::{Mailbox, Next, Request, State, Stepped};
use eitri_model::diagnosis::Teller;
use eitri_model::{Budget, Config, Gpu, Progress};

/// Is the GPU of the machine until the bell is stopped; its timestamp is that of the machine's counter, whatever `config` says. What
/// happens is told to `watcher` before the machine goes on.
pub fn serve_steps(
    config: Config,
    memory: &MachineMemory,
    mailbox: &Mailbox,
    bell: &Bell,
    watcher: &mut dyn Watcher,
) {
    // Also when it panics.
    let _farewell = Farewell(bell);
    if !bell.wait() {
        return;
    }
    let mut gpu = gpu(config, mailbox);
    gpu.trace_to(watcher.sink());
    let mut teller = Teller::default();
    loop {
        match mailbox.request() {
            Some(Request::Step { time, instructions }) => {
                let budget = Budget {
                    time,
                    instructions: instructions.into(),
                };
                let mut seen = memory;
                let next = next(gpu.run(&mut seen, budget));
                watcher.worked(&mut gpu, memory, false);
                teller.tell(&gpu, |news| watcher.report(&gpu, memory, news));
                tell(&gpu, mailbox);
                let now = gpu.now();
                mailbox.reply_to_step(Stepped { next, now });
            }
            Some(request) => {
                let value = access(&mut gpu, memory, request, watcher);
                teller.tell(&gpu, |news| watcher.report(&gpu, memory, news));
                tell(&gpu, mailbox);
                mailbox.reply(value);
            }
            // Rung for nothing.
            None => {}
        }
        bell.ring();
        if !bell.wait() {
            break;
        }
    }
    watcher.ended(&mut gpu, memory);
}

fn next(progress: Progress) -> Next {
    match progress {
        Progress::Interrupt => Next::Interrupt,
        Progress::Busy => Next::Busy,
        Progress::Waiting(moment) => Next::Waiting(moment),
        Progress::Idle => Next::Idle,
    }
}

fn tell(gpu: &Gpu, mailbox: &Mailbox) {
    let lines = gpu.lines();
    mailbox.tell(State {
        job: lines.job,
        mmu: lines.mmu,
        gpu: lines.gpu,
        ..State::default()
    });
}

/// Says farewell to the machine when it is dropped.
struct Farewell<'b>(&'b Bell);

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        self.0.say_farewell();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Part;
    use eitri_model::diagnosis::News;
    use std::fs::File;
    use std::io::{Read, Write};

    const GPU_ID: u32 = 0x0;
    const GPU_IRQ_MASK: u32 = 0x28;
    const GPU_COMMAND: u32 = 0x30;
    const SOFT_RESET: u32 = 0x101;
    const NOWHERE: u32 = 0x3_0000;
    const SHORT: u64 = 1000;
    const MOST_STEPS: u64 = 100_000;

    #[derive(Default)]
    struct Heard {
        said: Vec<String>,
        /// The model breaks at the first diagnosis.
        panics: bool,
    }

    impl Watcher for Heard {
        fn report(&mut self, _: &Gpu, _: &MachineMemory, news: News<'_>) {
            assert!(!self.panics, "as was asked");
            self.said.push(news.to_string());
        }
    }

    /// The monitor's side.
    struct Monitor<'m> {
        mailbox: &'m Mailbox,
        ask: File,
        answer: File,
    }

    impl Monitor<'_> {
        /// Tells whether there is an answer.
        fn ask(&mut self, request: Request) -> bool {
            self.mailbox.ask(request);
            self.ask.write_all(b"!").unwrap();
            let mut byte = [0];
            self.answer.read_exact(&mut byte).unwrap();
            byte == *b"!"
        }

        fn read(&mut self, offset: u32) -> u32 {
            assert!(self.ask(Request::Read { offset, pc: 0 }));
            self.mailbox.answer().unwrap()
        }

        fn write(&mut self, offset: u32, value: u32) -> bool {
            let pc = 0;
            self.ask(Request::Write { offset, value, pc })
        }

        fn step(&mut self) -> Stepped {
            let (time, instructions) = (SHORT, 1000);
            assert!(self.ask(Request::Step { time, instructions }));
            self.mailbox.stepped().unwrap()
        }
    }

    /// Ends the model however the test ends.
    struct Stop<'b>(&'b Bell);

    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.stop();
        }
    }

    /// Lets a monitor play with a model.
    fn play(heard: &mut Heard, monitor: impl FnOnce(Monitor<'_>)) {
        let seen = Part {
            address: 0,
            offset: 0,
            bytes: 0x1000,
        };
        let memory = MachineMemory::new(0x2000, &[seen]).unwrap();
        let mailbox = memory.mailbox(0x1000).unwrap();
        let bell = Bell::new().unwrap();
        std::thread::scope(|scope| {
            let (memory, bell) = (&memory, &bell);
            let model = scope.spawn(move || {
                serve_steps(Config::default(), memory, mailbox, bell, heard);
            });
            let stop = Stop(bell);
            let [ask, answer] = bell.paths();
            monitor(Monitor {
                mailbox,
                ask: File::options().write(true).open(ask).unwrap(),
                answer: File::open(answer).unwrap(),
            });
            drop(stop);
            // What became of the model the test knows.
            let _ = model.join();
        });
    }

    #[test]
    fn the_models_clock_is_the_steps_that_were_asked_for() {
        let mut heard = Heard::default();
        play(&mut heard, |mut monitor| {
            assert_eq!(monitor.read(GPU_ID), 0xA867_0005);
            assert!(monitor.write(GPU_IRQ_MASK, u32::MAX));
            assert!(monitor.write(GPU_COMMAND, SOFT_RESET));
            let mut before = 0;
            let reset = (0..MOST_STEPS).find(|_| {
                let Stepped { now, .. } = monitor.step();
                assert!(now >= before && now < before + 10 * SHORT, "{before} {now}");
                before = now;
                monitor.mailbox.state().gpu
            });
            assert!(reset.is_some(), "the reset has ended, and says so");
            assert!(monitor.write(NOWHERE, 1));
        });
        assert_eq!(heard.said.len(), 1, "{:?}", heard.said);
        assert!(heard.said[0].contains("0x30000"), "{:?}", heard.said);
    }

    #[test]
    fn a_machine_whose_model_breaks_is_told() {
        let mut heard = Heard {
            panics: true,
            ..Heard::default()
        };
        play(&mut heard, |mut monitor| {
            assert_eq!(monitor.read(GPU_ID), 0xA867_0005);
            assert!(!monitor.write(NOWHERE, 1), "nobody answers");
        });
    }

    #[test]
    fn a_model_that_nobody_asks_for_ends() {
        play(&mut Heard::default(), |_| {});
    }
}
