//! A machine that remembers what was done: plain registers, or a board's stand-in.

use eitri_boards::device_tree::Machine as Read;
use eitri_boards::stand_in::{SharedMemory, StandIn};
use eitri_boards::steps::bus::{BusError, Buses, Device};
use eitri_boards::steps::{Action, Found, Log, Machine, Permission, SmcCall, StepError, run};
use eitri_boards::{ALL, Board, Outline, Region, mt8196, qemu_virt};
use embedded_hal::delay::DelayNs;
use std::collections::BTreeMap;

/// What is behind the registers.
pub trait Chip {
    /// A register is read; `kept` is what was written there last.
    fn read(&mut self, at: usize, kept: u32) -> u32 {
        let _ = at;
        kept
    }

    /// A register is written.
    fn write(&mut self, at: usize, value: u32) {
        let _ = (at, value);
    }

    /// The firmware is called.
    fn smc(&mut self, call: SmcCall) -> u64;

    /// The memory that a power controller may be given.
    fn shared_memory(&self) -> Option<Region> {
        None
    }
}

/// The machine.
pub struct Fake<C> {
    pub chip: C,
    pub registers: BTreeMap<usize, u32>,
    /// Every write, in order.
    pub writes: Vec<(usize, u32)>,
    pub nanoseconds: u64,
    /// What is behind the buses.
    pub buses: Box<dyn Buses>,
}

impl<C: Chip> Fake<C> {
    pub fn new(chip: C) -> Fake<C> {
        Fake {
            chip,
            registers: BTreeMap::new(),
            writes: Vec::new(),
            nanoseconds: 0,
            buses: Box::new(()),
        }
    }
}

impl<C> Buses for Fake<C> {
    fn transfer(&mut self, to: Device, send: &[u8], reply: &mut [u8]) -> Result<(), BusError> {
        self.buses.transfer(to, send, reply)
    }
}

impl<C> DelayNs for Fake<C> {
    fn delay_ns(&mut self, nanoseconds: u32) {
        self.nanoseconds += u64::from(nanoseconds);
    }
}

impl<C: Chip> Machine for Fake<C> {
    fn read(&mut self, at: usize) -> u32 {
        let kept = self.registers.get(&at).copied().unwrap_or(0);
        self.chip.read(at, kept)
    }

    fn write(&mut self, at: usize, value: u32) {
        self.writes.push((at, value));
        self.registers.insert(at, value);
        self.chip.write(at, value);
    }

    fn smc(&mut self, call: SmcCall) -> u64 {
        self.chip.smc(call)
    }

    fn shared_memory(&self) -> Option<Region> {
        self.chip.shared_memory()
    }
}

/// Words of memory; elsewhere there is none.
struct Memory {
    region: Option<Region>,
    words: BTreeMap<usize, u32>,
}

impl Memory {
    fn has(&self, at: usize) -> bool {
        self.region.is_some_and(|region| region.contains(at))
    }
}

impl SharedMemory for Memory {
    fn read(&mut self, at: u64) -> Option<u32> {
        let at = usize::try_from(at).ok().filter(|at| self.has(*at))?;
        Some(self.words.get(&at).copied().unwrap_or(0))
    }

    fn write(&mut self, at: u64, value: u32) -> bool {
        let at = usize::try_from(at).ok().filter(|at| self.has(*at));
        at.map(|at| self.words.insert(at, value)).is_some()
    }
}

/// An outline on a machine that has QEMU's console and interrupt controller.
pub fn on_a_machine(outline: &Outline) -> &'static Board {
    let qemu = qemu_virt::BOARD;
    let machine = Read {
        image: Region::new(0x8000_0000, 0x20_0000),
        heap: Region::new(0x9000_0000, 0x20_0000),
        shared: Region::new(0xA000_0000, 0x20_0000),
        controller: Some(Region::new(0xB000_0000, outline.controller_bytes)),
        console: qemu.console,
        gic: qemu.gic,
        virtual_timer_ppi: qemu.virtual_timer_ppi,
        physical_timer_ppi: qemu.physical_timer_ppi,
        devices: [Region::new(0x0900_0000, 0x1000); 3],
    };
    let devices = [outline.devices, qemu.memory.devices].concat();
    // SAFETY: nothing of it is a pointer here: steps are carried out on a fake.
    let board = unsafe { outline.on(&machine, devices.leak()) };
    Box::leak(Box::new(
        board.expect("a machine that agrees with its outline"),
    ))
}

/// Every board whose GPU has to be given power.
pub fn boards() -> Vec<&'static Board> {
    let boards = ALL.iter().copied();
    let boards = boards.filter(|board| !board.gpu.power_on.is_empty());
    boards.chain([on_a_machine(&mt8196::OUTLINE)]).collect()
}

/// The one of that name.
pub fn named(name: &str) -> &'static Board {
    let found = boards().into_iter().find(|board| board.name == name);
    found.unwrap_or_else(|| panic!("no board {name}"))
}

/// A board's stand-in, with a GPU of which two registers can be read.
pub struct OnBoard<S> {
    pub stand_in: S,
    pub gpu_id: u32,
    window: Region,
    cores: u64,
    memory: Memory,
}

impl<S: StandIn> OnBoard<S> {
    /// With the GPU that the board has.
    pub fn new(board: &Board, stand_in: S) -> OnBoard<S> {
        let expected = board.gpu.expected.expect("the board says which GPU it has");
        OnBoard {
            stand_in,
            gpu_id: expected.gpu_id.value,
            window: board.gpu.window,
            memory: Memory {
                region: board.memory.controller,
                words: BTreeMap::new(),
            },
            cores: expected.shader_present.unwrap_or(1),
        }
    }
}

impl<S: StandIn> Chip for OnBoard<S> {
    fn read(&mut self, at: usize, _: u32) -> u32 {
        if self.memory.has(at) {
            return self.memory.read(at as u64).unwrap_or(0);
        }
        if !self.window.contains(at) {
            let word = self.stand_in.read(at);
            self.stand_in.work(&mut self.memory);
            return word;
        }
        match (self.stand_in.gpu_answers(), at - self.window.base) {
            (false, _) => u32::MAX,
            (true, 0) => self.gpu_id,
            (true, 0x100) => self.cores as u32,
            (true, _) => (self.cores >> 32) as u32,
        }
    }

    fn write(&mut self, at: usize, value: u32) {
        assert!(!self.window.contains(at), "nothing of the GPU is written");
        if !self.memory.write(at as u64, value) {
            self.stand_in.write(at, value);
            self.stand_in.work(&mut self.memory);
        }
    }

    fn smc(&mut self, call: SmcCall) -> u64 {
        self.stand_in.smc(call).unwrap_or(u64::MAX)
    }

    fn shared_memory(&self) -> Option<Region> {
        self.memory.region
    }
}

/// Carries steps out on a board's machine: how they ended, and what was wrong with them.
pub fn carry_out<S: StandIn>(
    board: &Board,
    steps: &[Action],
    permission: Permission,
    fake: &mut Fake<OnBoard<S>>,
) -> (Result<(), StepError>, Vec<String>) {
    let channels = board.power_controllers;
    let ran = run(steps, channels, permission, fake, &mut Said::default());
    (ran, fake.chip.stand_in.take_news())
}

/// What was said: each action before it is done, and what it found.
#[derive(Default)]
pub struct Said(pub Vec<String>);

impl Log for Said {
    fn begin(&mut self, action: &Action) {
        self.0.push(action.what.to_owned());
    }

    fn done(&mut self, action: &Action, found: Found) {
        self.0.push(format!("{}: {found}", action.what));
    }

    fn left_out(&mut self, action: &Action) {
        self.0.push(format!("{}: left out", action.what));
    }
}
