//! The driver of a replay: from power-off to rings that run, and nothing that a replay does not need.
//!
//! Address space 0 is its own, with the stub firmware; the others are the dump's, tables and all. It waits by letting the model's
//! time pass.  Facts: hardware/csf-mmio.md 16, gpu-mmu.md 6, csf-firmware.md 3 and 6 to 11, csf-scheduling.md 2 and 3.

use super::ram::{Ram, TooMuch};
use eitri_csf::command::{AsCommand, GpuCommand, ResetKind};
use eitri_csf::image::{Image, section_flags};
use eitri_csf::interface::control::{
    GLB_GROUP_NUM, GLB_GROUP_STRIDE, GLB_INPUT_VA, GLB_OUTPUT_VA, GROUP_CONTROL_OFFSET,
    GROUP_INPUT_VA, GROUP_OUTPUT_VA, GROUP_STREAM_NUM, GROUP_STREAM_STRIDE, GROUP_SUSPEND_SIZE,
    SHARED_VA, STREAM_CONTROL_OFFSET, STREAM_INPUT_VA, STREAM_OUTPUT_VA,
};
use eitri_csf::interface::global::{
    GLB_ACK, GLB_ALLOC_EN, GLB_DB_ACK, GLB_DB_REQ, GLB_REQ, glb_req,
};
use eitri_csf::interface::group::{
    CSG_ACK, CSG_ALLOW_COMPUTE, CSG_ALLOW_FRAGMENT, CSG_ALLOW_OTHER, CSG_CONFIG, CSG_DB_ACK,
    CSG_DB_REQ, CSG_EP_REQ, CSG_EP_REQ2, CSG_REQ, CSG_SUSPEND_BUF, CsgState, csg_config, csg_req,
    ep_req,
};
use eitri_csf::interface::handshake;
use eitri_csf::interface::stream::{
    CS_ACK, CS_BASE, CS_CONFIG, CS_REQ, CS_SIZE, CS_USER_INPUT, CS_USER_OUTPUT, CsState, cs_config,
    cs_req,
};
use eitri_csf::interface::user_pages::{CS_EXTRACT, CS_EXTRACT_INIT, CS_INSERT};
use eitri_csf::page_table::{Attributes, Entry, Level, MEMATTR, transcfg_4k};
use eitri_csf::registers::address_space::{
    AS_COMMAND, AS_MEMATTR, AS_STATUS, AS_TRANSCFG, AS_TRANSTAB, as_status,
};
use eitri_csf::registers::control::{COHERENCY_ENABLE, Coherency, GPU_COMMAND, coherency_enable};
use eitri_csf::registers::doorbell::{DOORBELL, KERNEL_DOORBELL, doorbell};
use eitri_csf::registers::identity::{L2_PRESENT, MMU_FEATURES, SHADER_PRESENT, mmu_features};
use eitri_csf::registers::interrupts::{GPU_IRQ, JOB_IRQ, MMU_IRQ, gpu_irq, job_irq};
use eitri_csf::registers::mcu::{MCU_CONTROL, McuRequest, mcu_control};
use eitri_csf::registers::power::Domain;
use eitri_csf::table::{Register, Width};
use eitri_dump::walk::Space;
use eitri_model::{Budget, Gpu, PhysicalMemory};
use std::collections::BTreeMap;

/// A stream to run, and where in its ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub(super) slot: u32,
    pub(super) stream: u32,
    pub(super) space: u32,
    /// GPU address and bytes of the ring.
    pub(super) ring: (u64, u32),
    /// Positions: the first and the one behind the last.
    pub(super) positions: (u64, u64),
}

/// What the model could not be brought to.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(crate) enum Stuck {
    #[error("the dump holds more memory than a replay can")]
    Memory,
    #[error("the model never answered: {0}")]
    Silent(&'static str),
    #[error("the firmware for the replay lacks group {slot}, stream {stream}")]
    NoStream { slot: u32, stream: u32 },
}

impl From<TooMuch> for Stuck {
    fn from(_: TooMuch) -> Stuck {
        Stuck::Memory
    }
}

/// How long one answer may take, in nanoseconds of the model's time, and how long between two looks.
const PATIENCE: u64 = 500_000_000;
const LOOK: u64 = 10_000;
/// Where user pages and suspend buffers begin in the firmware's address space; each has 1 MiB of its own.
const USER_PAGES: u64 = 0x0500_0000;
const SUSPEND: u64 = 0x0600_0000;

/// The blocks of a stream that runs.
#[derive(Clone, Copy, Debug)]
struct Running {
    input: u64,
    output: u64,
    user_output: u64,
}

pub(super) struct Driver {
    pub(super) gpu: Gpu,
    pub(super) ram: Ram,
    root: u64,
    /// Pages of address space 0: virtual, physical.
    pages: BTreeMap<u64, u64>,
    running: Vec<(Work, Running)>,
}

impl Driver {
    /// The GPU with the firmware booted.
    pub(super) fn boot(gpu: Gpu, mut ram: Ram, firmware: &[u8]) -> Result<Driver, Stuck> {
        let root = ram.fresh()?;
        let mut driver = Driver {
            gpu,
            ram,
            root,
            pages: BTreeMap::new(),
            running: Vec::new(),
        };
        let done = gpu_irq::RESET_COMPLETED.mask();
        driver.write(
            GPU_COMMAND,
            GpuCommand::Reset(ResetKind::Soft).word().into(),
        );
        driver.wait("a reset", |driver| driver.read(GPU_IRQ.rawstat) & done != 0)?;
        driver.write(GPU_IRQ.clear, done);
        let coherency = coherency_enable::PROTOCOL.word(Coherency::None);
        driver.write(COHERENCY_ENABLE, coherency.into());
        let slices = driver.read(L2_PRESENT);
        driver.write(Domain::L2.power_on(), slices);
        driver.wait("power of the L2", |driver| {
            driver.read(Domain::L2.ready()) == slices
        })?;
        driver.load(firmware)?;
        let bits = mmu_features::VA_BITS
            .get(driver.read(MMU_FEATURES))
            .clamp(25, 48);
        let transcfg = transcfg_4k(bits, false).ok_or(Stuck::Silent("address space 0"))?;
        driver.enable(0, [driver.root, transcfg, MEMATTR])?;
        driver.write(JOB_IRQ.clear, JOB_IRQ.clear.width.mask());
        driver.write(JOB_IRQ.mask, JOB_IRQ.mask.width.mask());
        let auto = mcu_control::REQUEST.word(McuRequest::Auto);
        driver.write(MCU_CONTROL, auto.into());
        let booted = job_irq::GLOBAL.mask();
        driver.wait("the firmware's boot", |driver| {
            driver.read(JOB_IRQ.rawstat) & booted != 0
        })?;
        driver.configure()?;
        Ok(driver)
    }

    /// Puts the dump's address space `space` to work.
    pub(super) fn enable_space(&mut self, space: &Space) -> Result<(), Stuck> {
        let registers = [space.transtab, space.transcfg, space.memattr];
        self.enable(space.number.into(), registers)
    }

    // Registers.

    fn read(&mut self, row: Register) -> u64 {
        let low = self.gpu.read32(&mut self.ram, row.offset);
        let high = match row.width {
            Width::Bits32 => 0,
            Width::Bits64 => self.gpu.read32(&mut self.ram, row.offset + 4),
        };
        u64::from(high) << 32 | u64::from(low)
    }

    fn write(&mut self, row: Register, value: u64) {
        self.gpu.write32(&mut self.ram, row.offset, value as u32);
        if row.width == Width::Bits64 {
            let high = (value >> 32) as u32;
            self.gpu.write32(&mut self.ram, row.offset + 4, high);
        }
    }

    /// Lets `time` nanoseconds pass, in steps of what one call may take.
    fn pass(&mut self, time: u64) {
        let budget = Budget {
            time,
            instructions: 1_000_000,
        };
        self.gpu.run(&mut self.ram, budget);
    }

    fn wait(
        &mut self,
        what: &'static str,
        mut done: impl FnMut(&mut Driver) -> bool,
    ) -> Result<(), Stuck> {
        let end = self.gpu.now().saturating_add(PATIENCE);
        while !done(self) {
            if self.gpu.now() >= end {
                return Err(Stuck::Silent(what));
            }
            self.pass(LOOK);
        }
        Ok(())
    }

    fn enable(
        &mut self,
        number: u32,
        [transtab, transcfg, memattr]: [u64; 3],
    ) -> Result<(), Stuck> {
        self.write(MMU_IRQ.clear, 0x1_0001 << number);
        self.write(AS_TRANSTAB.at(number), transtab);
        self.write(AS_MEMATTR.at(number), memattr);
        self.write(AS_TRANSCFG.at(number), transcfg);
        self.write(AS_COMMAND.at(number), AsCommand::Update.number().into());
        let active = as_status::ACTIVE.mask();
        self.wait("an update of an address space", |driver| {
            driver.read(AS_STATUS.at(number)) & active == 0
        })
    }

    // Address space 0.

    fn map(&mut self, address: u64, bytes: u64, attributes: Attributes) -> Result<(), Stuck> {
        for page in (address..address + bytes).step_by(4096) {
            let physical = self.ram.fresh()?;
            self.pages.insert(page, physical);
            let entry = |level, to, leaf: bool| match leaf {
                // Pages are aligned, so that each is an entry.
                true => Entry::leaf(level, to, attributes).unwrap_or(Entry::INVALID),
                false => Entry::table(level, to).unwrap_or(Entry::INVALID),
            };
            let bits = mmu_features::VA_BITS
                .get(self.read(MMU_FEATURES))
                .clamp(25, 48);
            let mut level = Level::start(bits).unwrap_or(Level::L0);
            let mut table = self.root;
            while let Some(below) = level.next() {
                let at = table + 8 * level.index(page) as u64;
                let found = self.ram.read64(at).unwrap_or(0);
                table = match Entry(found).decode(level) {
                    eitri_csf::page_table::Decoded::Table { address } => address,
                    _ => {
                        let made = self.ram.fresh()?;
                        self.put_physical(at, &entry(level, made, false).0.to_le_bytes());
                        made
                    }
                };
                level = below;
            }
            let at = table + 8 * level.index(page) as u64;
            self.put_physical(at, &entry(level, physical, true).0.to_le_bytes());
        }
        Ok(())
    }

    /// Writes to a page of the driver's own, which is always there.
    fn put_physical(&mut self, address: u64, bytes: &[u8]) {
        let written = self.ram.write(address, bytes);
        debug_assert!(written.is_ok(), "a page of the driver's own");
    }

    fn load(&mut self, firmware: &[u8]) -> Result<(), Stuck> {
        // The stub is ours, and its tests hold that it is an image.
        let image = Image::parse(firmware).map_err(|_| Stuck::Silent("the stub firmware"))?;
        for section in image.sections() {
            let mut attributes = Attributes::UNCACHED;
            if !section.flags.has(section_flags::WRITE) {
                attributes = attributes.read_only();
            }
            if section.flags.has(section_flags::EXECUTE) {
                attributes = attributes.execute();
            }
            let start = u64::from(section.va.start);
            self.map(start, u64::from(section.va.end) - start, attributes)?;
            for (page, bytes) in (start..).step_by(4096).zip(section.data.chunks(4096)) {
                if let Some(physical) = self.pages.get(&page).copied() {
                    self.put_physical(physical, bytes);
                }
            }
        }
        Ok(())
    }

    /// The physical address of a word in address space 0; 0, where nothing is, if it is not mapped.
    fn physical(&self, address: u64) -> u64 {
        let page = self.pages.get(&(address & !4095));
        page.map_or(0, |page| page + address % 4096)
    }

    fn get(&mut self, block: u64, row: Register) -> u64 {
        let at = self.physical(block + u64::from(row.offset));
        let word = match row.width {
            Width::Bits32 => self.ram.read32(at).map(u64::from),
            Width::Bits64 => self.ram.read64(at),
        };
        word.unwrap_or(0)
    }

    fn set(&mut self, block: u64, row: Register, value: u64) {
        let at = self.physical(block + u64::from(row.offset));
        let bytes = value.to_le_bytes();
        self.put_physical(at, &bytes[..row.width.bytes() as usize]);
    }

    // The firmware's interface.

    fn ring(&mut self, number: u32) {
        self.write(DOORBELL.at(number), doorbell::RING.word(true).into());
    }

    fn configure(&mut self) -> Result<(), Stuck> {
        let shared = u64::from(SHARED_VA);
        let (input, output) = (
            self.get(shared, GLB_INPUT_VA),
            self.get(shared, GLB_OUTPUT_VA),
        );
        let cores = self.read(SHADER_PRESENT);
        self.set(input, GLB_ALLOC_EN, cores);
        let ack = self.get(output, GLB_ACK) as u32;
        let mask = glb_req::CFG_ALLOC_EN.mask32();
        let req = handshake::request(self.get(input, GLB_REQ) as u32, ack, mask);
        self.set(input, GLB_REQ, req.into());
        self.ring(KERNEL_DOORBELL);
        self.wait("the global configuration", |driver| {
            let ack = driver.get(output, GLB_ACK) as u32;
            !handshake::pending(req, ack, mask)
        })
    }

    /// Starts the streams of one group; all have one slot and one address space.
    pub(super) fn start_group(&mut self, works: &[Work]) -> Result<(), Stuck> {
        let Some(first) = works.first() else {
            return Ok(());
        };
        let shared = u64::from(SHARED_VA);
        let missing = |work: &Work| Stuck::NoStream {
            slot: work.slot,
            stream: work.stream,
        };
        if u64::from(first.slot) >= self.get(shared, GLB_GROUP_NUM) {
            return Err(missing(first));
        }
        let stride = self.get(shared, GLB_GROUP_STRIDE);
        let control = shared + u64::from(GROUP_CONTROL_OFFSET) + u64::from(first.slot) * stride;
        let input = self.get(control, GROUP_INPUT_VA);
        let output = self.get(control, GROUP_OUTPUT_VA);
        let streams = self.get(control, GROUP_STREAM_NUM);
        let mut doorbells = 0;
        for work in works {
            if u64::from(work.stream) >= streams {
                return Err(missing(work));
            }
            self.prepare_stream(control, *work)?;
            doorbells |= 1u32 << work.stream;
        }
        let suspend = SUSPEND + u64::from(first.slot) * 0x10_0000;
        let bytes = self
            .get(control, GROUP_SUSPEND_SIZE)
            .next_multiple_of(4096)
            .min(0x10_0000);
        self.map(suspend, bytes, Attributes::CACHED)?;
        let cores = self.read(SHADER_PRESENT);
        self.set(input, CSG_ALLOW_COMPUTE, cores);
        self.set(input, CSG_ALLOW_FRAGMENT, cores);
        self.set(input, CSG_ALLOW_OTHER, 1);
        let count = u64::from(cores.count_ones());
        let endpoints = ep_req::COMPUTE.word(count as u32);
        let endpoints = ep_req::FRAGMENT.set32(endpoints, count as u32);
        let endpoints = ep_req::TILER.set32(endpoints, 1);
        // Priorities of slots must differ.
        let endpoints = ep_req::PRIORITY.set32(endpoints, 15u32.saturating_sub(first.slot));
        self.set(input, CSG_EP_REQ, endpoints.into());
        self.set(input, CSG_EP_REQ2, endpoints.into());
        self.set(
            input,
            CSG_CONFIG,
            csg_config::JASID.word(first.space).into(),
        );
        self.set(input, CSG_SUSPEND_BUF, suspend);
        let seen = self.get(output, CSG_DB_ACK) as u32;
        self.set(input, CSG_DB_REQ, u64::from(seen ^ doorbells));
        let ack = self.get(output, CSG_ACK) as u32;
        let req = handshake::request(
            self.get(input, CSG_REQ) as u32,
            ack,
            csg_req::EP_CFG.mask32(),
        );
        let req = csg_req::STATE.set32(req, CsgState::Start);
        self.set(input, CSG_REQ, req.into());
        let (global_input, global_output) = (
            self.get(shared, GLB_INPUT_VA),
            self.get(shared, GLB_OUTPUT_VA),
        );
        let seen = self.get(global_output, GLB_DB_ACK) as u32;
        self.set(global_input, GLB_DB_REQ, u64::from(seen ^ 1 << first.slot));
        self.ring(KERNEL_DOORBELL);
        let state = csg_req::STATE.mask();
        self.wait("the start of a group", |driver| {
            (driver.get(output, CSG_ACK) ^ u64::from(req)) & state == 0
        })
    }

    fn prepare_stream(&mut self, group: u64, work: Work) -> Result<(), Stuck> {
        let stride = self.get(group, GROUP_STREAM_STRIDE);
        let control = group + u64::from(STREAM_CONTROL_OFFSET) + u64::from(work.stream) * stride;
        let input = self.get(control, STREAM_INPUT_VA);
        let output = self.get(control, STREAM_OUTPUT_VA);
        let number = u64::from(work.slot * 32 + work.stream);
        let user_input = USER_PAGES + number * 0x2000;
        let user_output = user_input + 0x1000;
        self.map(user_input, 0x2000, Attributes::UNCACHED)?;
        self.set(user_input, CS_INSERT, work.positions.1);
        self.set(user_input, CS_EXTRACT_INIT, work.positions.0);
        self.set(user_output, CS_EXTRACT, work.positions.0);
        self.set(input, CS_BASE, work.ring.0);
        self.set(input, CS_SIZE, work.ring.1.into());
        self.set(input, CS_USER_INPUT, user_input);
        self.set(input, CS_USER_OUTPUT, user_output);
        // Nobody rings a doorbell of its own: the group's start is what lets it run.
        let config = cs_config::PRIORITY.word(1);
        self.set(
            input,
            CS_CONFIG,
            cs_config::DOORBELL.set32(config, 1).into(),
        );
        let req = cs_req::STATE.word(CsState::Start);
        let req = cs_req::IDLE_EMPTY.set32(req, true);
        self.set(
            input,
            CS_REQ,
            cs_req::IDLE_SYNC_WAIT.set32(req, true).into(),
        );
        let running = Running {
            input,
            output,
            user_output,
        };
        self.running.push((work, running));
        Ok(())
    }

    /// Lets time pass until every ring is consumed and nothing works, or one has failed; at most until `end` of real time, and
    /// `limit` nanoseconds of the model's. Gives the streams that are not done.
    pub(super) fn run(&mut self, end: std::time::Instant, limit: u64) -> Vec<Work> {
        let stop = self.gpu.now().saturating_add(limit);
        loop {
            let late = self.gpu.now() >= stop || std::time::Instant::now() >= end;
            let left = self.left();
            if late || self.has_failed() || self.is_done() {
                return left;
            }
            self.pass(LOOK);
        }
    }

    /// The same until a compute job is about to start: whether one is.
    pub(super) fn run_to_dispatch(&mut self, end: std::time::Instant, limit: u64) -> bool {
        let stop = self.gpu.now().saturating_add(limit);
        while self.gpu.dispatch().is_none() {
            let late = self.gpu.now() >= stop || std::time::Instant::now() >= end;
            if late || self.has_failed() || self.is_done() {
                return false;
            }
            let look = self.gpu.now().saturating_add(LOOK);
            while self.gpu.now() < look {
                let budget = Budget {
                    time: look - self.gpu.now(),
                    instructions: 1,
                };
                self.gpu.run(&mut self.ram, budget);
                if self.gpu.dispatch().is_some() {
                    return true;
                }
            }
        }
        true
    }

    /// Streams that have not consumed their rings.
    fn left(&mut self) -> Vec<Work> {
        let mut left = Vec::new();
        for (work, running) in self.running.clone() {
            if self.get(running.user_output, CS_EXTRACT) < work.positions.1 {
                left.push(work);
            }
        }
        left
    }

    /// Whether all rings are consumed and nothing works.
    fn is_done(&mut self) -> bool {
        self.left().is_empty() && self.read(Domain::Shader.active()) == 0
    }

    /// Whether a stream, an address space or the GPU reports a fault.
    pub(super) fn has_failed(&mut self) -> bool {
        let failed = cs_req::FATAL.mask() | cs_req::FAULT.mask();
        let of_stream = self.running.clone().into_iter().any(|(_, running)| {
            let req = self.get(running.input, CS_REQ);
            (self.get(running.output, CS_ACK) ^ req) & failed != 0
        });
        of_stream
            || self.read(MMU_IRQ.rawstat) & 0xFFFF != 0
            || self.read(GPU_IRQ.rawstat) & gpu_irq::GPU_FAULT.mask() != 0
    }
}
