//! Run: the loop between the image and the model, on each CPU.
//!
//! What CPUs share is behind a lock, which one holds for one thing at a time and never while the image runs or the CPU sleeps.

use crate::abort;
use crate::around::{Around, Called};
use crate::cpu_interface::CpuInterface;
use crate::distributor::Distributor;
use crate::gpu::{Gpu, Rest};
use crate::guest::{Exit, Guest};
use crate::hold::Hold;
use crate::interrupts::{self, Interrupts};
use crate::model_gpu::About;
use crate::physical_memory::GuestMemory;
use crate::report::{self, Code};
use crate::settings::Settings;
use crate::{cpu_interface, cpus, distributor, machine, redistributor};
use core::fmt;
use core::time::Duration;
use cortex_a::registers::{ESR_EL2, FAR_EL2, HPFAR_EL2, Readable};
use eitri_aarch64::{
    Access, CacheInstruction, CacheLoop, Direction, FaultPage, SoftwareInterrupt, Syndrome,
};
use eitri_boards::qemu_virt::{CONTROL, NewGpu, control};
use eitri_boards::steps::SmcCall;
use eitri_boards::{Exit as End, Region};
use eitri_kernel::time;
use eitri_model::PhysicalMemory;
use spin::{Mutex, MutexGuard, Once};

/// Exception classes of what the image may do.
#[rustfmt::skip]
mod class {
    pub(super) const WAIT:       u8 = 0x01;
    pub(super) const HVC:        u8 = 0x16;
    pub(super) const SMC:        u8 = 0x17;
    pub(super) const SYSTEM:     u8 = 0x18;
    pub(super) const DATA_ABORT: u8 = 0x24;
}

/// What stage 2 leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Window,
    Redistributor,
    Distributor,
    CpuInterface,
    /// A device that has a stand-in.
    Around,
    /// Memory that it shares with the GPU, whose caches are not coherent.
    Shared,
    /// Where an operating system says what it wants of the monitor.
    Control,
    Nothing,
}

impl Place {
    fn of(address: u64, around: &Around) -> Place {
        let board = machine::board();
        let within = |region: Region| region.contains(address as usize);
        if within(board.gpu.window) {
            Place::Window
        } else if redistributor::has(address) {
            Place::Redistributor
        } else if machine::is_qemu(board) && within(CONTROL) {
            Place::Control
        } else if !machine::is_qemu(board) && within(distributor::region()) {
            Place::Distributor
        } else if cpu_interface::has(address) {
            Place::CpuInterface
        } else if within(board.memory.shared) {
            Place::Shared
        } else if around.has(address as usize) {
            Place::Around
        } else {
            Place::Nothing
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Place::Window => "GPU window",
            Place::Redistributor => "GIC redistributor",
            Place::Distributor => "GIC distributor",
            Place::CpuInterface => "GIC CPU interface",
            Place::Around => "a device of the board",
            Place::Shared => "memory shared with the GPU",
            Place::Control => "the monitor's own registers",
            Place::Nothing => "nowhere",
        })
    }
}

/// How long a CPU that has nothing to do watches a busy GPU before it sleeps.
const WATCH: Duration = Duration::from_micros(50);
/// How long it sleeps then at most.
const NAP: Duration = Duration::from_micros(100);

/// The counter's steps are about so long.
const SHORTEST_NAP: Duration = Duration::from_micros(1);

/// Turns of a loop over lines of the cache that are done at once: interrupts wait meanwhile.
const MOST_TURNS: u64 = 256;

/// What all CPUs have in common.
struct Machine {
    shared: Mutex<Shared>,
    /// The image is an operating system.
    system: bool,
    /// The image may use the monitor's own registers.
    controls: bool,
    /// The image's clock.
    hold: Hold,
    limit: Duration,
    /// When the image must have ended.
    deadline: Duration,
}

/// What one CPU has at a time.
struct Shared {
    gpu: Gpu,
    distributor: Distributor,
    around: Around,
}

// SAFETY: it has two parts of which the compiler does not know that any CPU may use them. The model's sink is a `TraceFile`,
// which is `Send`; the stand-ins of `boards` are registers that keep values, and share nothing.
unsafe impl Send for Shared {}

const _: () = {
    const fn any_cpu_may_use<T: Send>() {}
    any_cpu_may_use::<crate::trace::TraceFile>();
};

static MACHINE: Once<Machine> = Once::new();

/// Puts together what CPUs share; the first one does.
pub(crate) fn begin(gpu: Gpu, settings: &Settings) {
    MACHINE.call_once(|| Machine {
        shared: Mutex::new(Shared {
            gpu,
            distributor: Distributor::new(),
            around: Around::new(),
        }),
        system: settings.system,
        controls: settings.system || settings.tests,
        hold: Hold::new(settings.gpu_time),
        limit: settings.limit,
        deadline: time::now().saturating_add(settings.limit),
    });
}

/// Runs the image on this CPU until it ends QEMU, or something ends it.
pub(crate) fn on_cpu(guest: Guest, interrupts: Interrupts) -> ! {
    let machine = MACHINE.wait();
    let monitor = Monitor {
        guest,
        interrupts,
        cpu_interface: CpuInterface::default(),
        machine,
    };
    monitor.run()
}

/// The loop that the image has stopped in for an instruction by a register, and how many turns are left.
fn cache_loop(guest: &Guest, register: u8) -> Option<(CacheLoop, u64)> {
    let word = |place: u64| GuestMemory.read32(guest.elr.wrapping_add(4 * place)).ok();
    let around = CacheLoop::decode(register, [word(1)?, word(2)?, word(3)?])?;
    // None would be as many as there are numbers.
    let turns = guest.register(around.count);
    (turns != 0).then_some((around, turns))
}

/// One CPU.
struct Monitor {
    guest: Guest,
    interrupts: Interrupts,
    /// Of a board whose GIC is of version 2.
    cpu_interface: CpuInterface,
    machine: &'static Machine,
}

impl Machine {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        loop {
            if let Some(shared) = self.shared.try_lock() {
                return shared;
            }
            // Another CPU has it; where CPUs take turns, as in QEMU, it is that one's.
            // SAFETY: a hint.
            unsafe { core::arch::asm!("yield", options(nomem, nostack, preserves_flags)) };
        }
    }
}

impl Monitor {
    fn run(mut self) -> ! {
        loop {
            self.present();
            // Upkeep of caches comes line by line, and changes nothing that an interrupt could tell of.
            let exit = loop {
                self.machine.hold.enter();
                let exit = self.guest.run();
                self.machine.hold.leave();
                match exit {
                    Exit::Synchronous if self.is_upkeep() => {}
                    exit => break exit,
                }
            };
            match exit {
                Exit::Synchronous => self.synchronous(),
                Exit::Interrupt => self.interrupt(),
                Exit::FastInterrupt => {
                    self.stop(format_args!("a fast interrupt came"), End::Exception)
                }
                Exit::SystemError => self.stop(format_args!("an SError came"), End::Exception),
            }
            self.say_news();
        }
    }

    /// Says what the image did wrong since the last call.
    fn say_news(&self) {
        let mut shared = self.machine.shared();
        shared.around.say_news();
        shared.gpu.say_news();
    }

    /// Brings the CPU's virtual interrupts up to date. Tells whether one waits for the image.
    fn present(&mut self) -> bool {
        let shared = self.machine.shared();
        self.interrupts
            .present(shared.gpu.lines(), &shared.distributor)
    }

    fn interrupt(&mut self) {
        if self.interrupts.take() {
            self.tick();
            interrupts::rearm_tick();
        }
    }

    /// The image runs without looking at the GPU, or hangs.
    fn tick(&mut self) {
        let mut shared = self.machine.shared();
        shared.gpu.catch_up();
        shared.gpu.show_registers();
        shared.around.now(time::now());
        drop(shared);
        let machine = self.machine;
        machine.hold.wait_for(|with| with(&machine.shared().gpu));
        if time::now() > self.machine.deadline {
            let limit = self.machine.limit.as_millis();
            self.stop(
                format_args!("the image did not end within {limit} ms"),
                End::Watchdog,
            );
        }
    }

    fn synchronous(&mut self) {
        let syndrome = Syndrome(ESR_EL2.get());
        match syndrome.class() {
            class::DATA_ABORT => self.data_abort(syndrome),
            class::WAIT => self.wait(),
            class::HVC => {
                // Nobody is here: what the SMC calling convention says for an unknown call.
                self.guest.set_register(0, u64::MAX);
            }
            class::SMC if machine::is_qemu(machine::board()) => self.firmware_of_qemu(),
            class::SMC => self.firmware(),
            class::SYSTEM => self.system_instruction(syndrome),
            _ => self.stop(format_args!("{syndrome}"), End::Exception),
        }
    }

    fn data_abort(&mut self, syndrome: Syndrome) {
        let address = FaultPage::address(HPFAR_EL2.get(), FAR_EL2.get());
        let place = match Place::of(address, &self.machine.shared().around) {
            Place::Control if !self.machine.controls => Place::Nothing,
            place => place,
        };
        if place == Place::Nothing && self.machine.system {
            return abort::take(&mut self.guest, syndrome);
        }
        if place == Place::Nothing {
            let why = format_args!("nothing at {address:#x}: {syndrome}");
            self.stop(why, End::Exception);
        }
        if place == Place::Shared && self.is_shown(address) {
            return;
        }
        let access = match Access::decode(syndrome, address) {
            Ok(access) => access,
            Err(error) => self.stop(format_args!("{place}: {error}"), End::Exception),
        };
        match place {
            Place::Window => match access.of_word() {
                Ok(access) => self.access_gpu(access),
                Err(error) => self.stop(format_args!("{place}: {error}"), End::Exception),
            },
            Place::Redistributor => redistributor::pass_on(&mut self.guest, access),
            Place::Shared => self.access_shared(access),
            Place::Control => self.control(access),
            Place::Distributor => {
                let value = self.guest.register(access.register);
                let found = self.machine.shared().distributor.access(access, value);
                self.loads(access, found);
            }
            Place::CpuInterface => {
                let value = self.guest.register(access.register);
                let interrupts = &mut self.interrupts;
                let found = self.cpu_interface.access(access, value, interrupts);
                self.loads(access, found);
            }
            Place::Around => {
                let at = access.address as usize;
                let of_byte = self.machine.shared().around.has_byte(at);
                match access.of_word() {
                    _ if of_byte && access.width.bytes() == 1 => self.access_around(access),
                    Ok(access) if !of_byte => self.access_around(access),
                    Ok(_) => self.stop(
                        format_args!("{place}: an access of a word to {at:#x}, where bytes are"),
                        End::Exception,
                    ),
                    Err(error) => self.stop(format_args!("{place}: {error}"), End::Exception),
                }
            }
            Place::Nothing => {}
        }
        self.guest.skip_instruction();
    }

    /// Gives the image what a load of it has found; nothing for a store.
    fn loads(&mut self, access: Access, found: u64) {
        if access.direction == Direction::Read {
            let value = access.loaded(found);
            self.guest.set_register(access.register, value);
        }
    }

    fn access_gpu(&mut self, access: Access) {
        let window = machine::board().gpu.window.base as u64;
        let offset = access.address.wrapping_sub(window) as u32;
        let pc = self.guest.elr;
        let mut shared = self.machine.shared();
        let answers = shared.around.gpu_answers();
        match access.direction {
            Direction::Read if !answers => {
                let value = access.loaded(u32::MAX.into());
                self.guest.set_register(access.register, value);
            }
            Direction::Write if !answers => {}
            Direction::Read => {
                let value = u64::from(shared.gpu.read(offset, pc));
                self.guest
                    .set_register(access.register, access.loaded(value));
            }
            Direction::Write => {
                let value = self.guest.register(access.register) as u32;
                shared.gpu.write(offset, value, pc);
            }
        }
    }

    /// An operating system, or a test, says how it ends, what shall go wrong, which GPU there is.
    fn control(&mut self, access: Access) {
        let word = access.address as usize - CONTROL.base;
        if access.direction == Direction::Read {
            let value = self.control_read(word);
            let value = access.loaded(value.into());
            return self.guest.set_register(access.register, value);
        }
        let value = self.guest.register(access.register) as u32;
        if word == control::END {
            self.say_news();
            report::line(format_args!("exit status {value}"));
            report::end(End::Success);
        }
        if word == control::STATUS {
            self.say_news();
            return report::line(format_args!("exit status {value}"));
        }
        let mut shared = self.machine.shared();
        match word {
            control::FAULT => return shared.gpu.fault(value, true),
            control::NO_FAULT => return shared.gpu.fault(value, false),
            _ => {}
        }
        shared.gpu.say_news();
        let Some(model) = shared.gpu.model() else {
            return;
        };
        match word {
            control::NEW_GPU => model.renew(NewGpu::of_word(value)),
            control::CUT_POWER => model.cut_power(),
            control::DIAGNOSIS => model.ask(About::Gpu, value),
            control::UPKEEP => model.ask(About::Upkeep, value),
            control::NEW_PAGES => model.memory.renew_pages(value.into()),
            _ => {}
        }
    }

    fn control_read(&mut self, word: usize) -> u32 {
        let mut shared = self.machine.shared();
        match word {
            control::LINES => {
                let lines = shared.gpu.lines();
                u32::from(lines.job) | u32::from(lines.mmu) << 1 | u32::from(lines.gpu) << 2
            }
            control::DIAGNOSIS | control::UPKEEP => {
                shared.gpu.model().map_or(0, |model| model.answer())
            }
            _ => 0,
        }
    }

    fn access_around(&mut self, access: Access) {
        let at = access.address as usize;
        match access.direction {
            Direction::Read => {
                let value = u64::from(self.machine.shared().around.read(at));
                self.guest
                    .set_register(access.register, access.loaded(value));
            }
            Direction::Write => {
                let value = self.guest.register(access.register) as u32;
                self.machine.shared().around.write(at, value);
            }
        }
    }

    /// The image calls QEMU's firmware.
    fn firmware_of_qemu(&mut self) {
        let results = cpus::call_firmware([0, 1, 2, 3].map(|number| self.guest.register(number)));
        for (number, result) in (0..).zip(results) {
            self.guest.set_register(number, result);
        }
        self.guest.skip_instruction();
    }

    /// The image calls the board's firmware.
    fn firmware(&mut self) {
        let [function, first, second] = [0, 1, 2].map(|number| self.guest.register(number));
        let call = SmcCall {
            function: function as u32,
            arguments: [first, second],
        };
        let called = self.machine.shared().around.call(call);
        match called {
            Called::Answer(answer) => self.guest.set_register(0, answer),
            Called::Reset => {
                self.say_news();
                report::end(End::Success)
            }
        }
        self.guest.skip_instruction();
    }

    /// Whether the image finds shared memory there from now on.
    fn is_shown(&mut self, address: u64) -> bool {
        let mut shared = self.machine.shared();
        shared
            .gpu
            .caches()
            .is_some_and(|caches| caches.is_shown(address))
    }

    fn access_shared(&mut self, access: Access) {
        let (code, bytes) = (Code::of(&self.guest), access.width.bytes());
        let mut shared = self.machine.shared();
        let Some(caches) = shared.gpu.caches() else {
            return;
        };
        match access.direction {
            Direction::Read => {
                let value = caches.load(access.address, bytes, code);
                self.guest
                    .set_register(access.register, access.loaded(value));
            }
            Direction::Write => {
                let value = self.guest.register(access.register);
                caches.store(access.address, bytes, value, code);
            }
        }
    }

    fn system_instruction(&mut self, syndrome: Syndrome) {
        let Some(interrupt) = SoftwareInterrupt::decode(syndrome) else {
            self.stop(format_args!("{syndrome}"), End::Exception);
        };
        let value = self.guest.register(interrupt.register);
        interrupts::send(value);
        self.guest.skip_instruction();
    }

    /// Whether the image has stopped for the upkeep of its caches; if so it is done. Its addresses are physical ones.
    fn is_upkeep(&mut self) -> bool {
        let syndrome = Syndrome(ESR_EL2.get());
        let is_system = syndrome.class() == class::SYSTEM;
        let instruction = is_system.then(|| CacheInstruction::decode(syndrome));
        let Some(instruction) = instruction.flatten() else {
            return false;
        };
        let mut shared = self.machine.shared();
        let caches = shared.gpu.caches();
        let turns = cache_loop(&self.guest, instruction.register);
        let Some((around, turns)) = turns else {
            if let Some(caches) = caches {
                let address = self.guest.register(instruction.register);
                caches.upkeep(instruction.upkeep, address, || Code::of(&self.guest));
            }
            self.guest.skip_instruction();
            return true;
        };
        let mut address = self.guest.register(around.address);
        let step = self.guest.register(around.step);
        let done = turns.min(MOST_TURNS);
        if let Some(caches) = caches {
            for _ in 0..done {
                caches.upkeep(instruction.upkeep, address, || Code::of(&self.guest));
                address = address.wrapping_add(step);
            }
        }
        self.guest.set_register(around.address, address);
        self.guest.set_register(around.count, turns - done);
        if done == turns {
            self.guest.elr = self.guest.elr.wrapping_add(CacheLoop::BYTES);
            self.guest.spsr = self.guest.spsr & !CacheLoop::FLAGS | CacheLoop::FLAGS_AT_END;
        }
        true
    }

    /// The image sleeps until an interrupt: the GPU has the machine to itself.
    fn wait(&mut self) {
        self.guest.skip_instruction();
        let begin = time::now();
        loop {
            if self.present() || interrupts::is_physical_pending() {
                return;
            }
            let rest = self.machine.shared().gpu.rest();
            match rest {
                Rest::Look => {}
                Rest::Nap if time::now().saturating_sub(begin) < WATCH => {}
                Rest::Nap => {
                    interrupts::tick_within(NAP);
                    cortex_a::asm::wfi();
                }
                Rest::For(time) => {
                    interrupts::tick_within(time.max(SHORTEST_NAP));
                    cortex_a::asm::wfi();
                }
                // The tick ends it at the latest.
                Rest::Sleep => cortex_a::asm::wfi(),
            }
        }
    }

    fn stop(&mut self, why: fmt::Arguments<'_>, exit: End) -> ! {
        self.say_news();
        self.machine.shared().gpu.show_registers();
        report::stop(&self.guest, why, exit)
    }
}
