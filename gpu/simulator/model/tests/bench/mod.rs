//! A host for tests: physical memory, page tables, and a driver of the plainest kind, written from the facts.
//!
//! It never uses the runtime: the model must accept any driver.
//! Facts: hardware/csf-mmio.md 16, gpu-mmu.md 6 and 7, csf-firmware.md 3 and 8 to 11, csf-scheduling.md 2 to 4.

#![allow(dead_code, reason = "each test binary uses another part")]

pub mod counting;

use eitri_csf::Arch;
use eitri_csf::command::{CacheFlush, GpuCommand, ResetKind};
use eitri_csf::image::{Image, section_flags};
use eitri_csf::interface::control::Version;
use eitri_csf::interface::global::glb_req;
use eitri_csf::page_table::{Attributes, Entry, Level, MEMATTR, transcfg_4k};
use eitri_csf::registers::address_space as aspace;
use eitri_csf::registers::control::{ASN_HASH, COHERENCY_ENABLE, GPU_COMMAND, L2_CONFIG};
use eitri_csf::registers::doorbell::DOORBELL;
use eitri_csf::registers::interrupts::{
    GPU_IRQ_CLEAR, GPU_IRQ_MASK, GPU_IRQ_RAWSTAT, JOB_IRQ_CLEAR, JOB_IRQ_MASK, JOB_IRQ_RAWSTAT,
    MMU_IRQ_CLEAR, MMU_IRQ_MASK,
};
use eitri_csf::registers::mcu::{MCU_CONTROL, MCU_STATUS};
use eitri_csf::registers::power::{L2_PWRON, L2_READY};
use eitri_csf::table::Register;
use eitri_model::{
    Budget, Config, Gpu, PhysicalMemory, Product, Progress, SparseMemory, stub_firmware,
};

/// A product of each generation that the model can be.
pub const EACH: [&str; 4] = ["G610", "G615", "G720", "G925"];

/// Where the shared section lies.
pub const SHARED: u32 = 0x0400_0000;

/// The host.
pub struct Bench {
    pub gpu: Gpu,
    pub memory: SparseMemory,
    next_page: u64,
    /// Root tables of the address spaces.
    pub roots: [u64; 16],
}

impl Bench {
    pub fn new(config: Config) -> Bench {
        Bench {
            gpu: Gpu::new(config),
            memory: SparseMemory::new(1 << 32),
            next_page: 0x10_0000,
            roots: [0; 16],
        }
    }

    /// A healthy G610 with booted firmware and address space 1 ready for use.
    pub fn booted() -> Bench {
        Bench::booted_as("G610")
    }

    /// As [`Bench::booted`], of another product.
    pub fn booted_as(gpu: &str) -> Bench {
        Bench::booted_with(Config {
            product: Product::find(gpu).expect("a product that the model can be"),
            ..Config::default()
        })
    }

    /// As [`Bench::booted`], set up in some way.
    pub fn booted_with(config: Config) -> Bench {
        let mut bench = Bench::new(Config {
            firmware: Some(stub_firmware()),
            ..config
        });
        bench.boot();
        bench
    }

    pub fn arch(&self) -> Arch {
        self.gpu.product().arch()
    }

    /// The shader cores that the product has.
    pub fn cores(&self) -> u64 {
        self.gpu.product().part.shader_present
    }

    // Registers.

    pub fn read(&mut self, register: Register) -> u32 {
        self.gpu.read32(&mut self.memory, register.offset)
    }

    pub fn read64(&mut self, register: Register) -> u64 {
        let low = self.gpu.read32(&mut self.memory, register.offset);
        let high = self.gpu.read32(&mut self.memory, register.offset + 4);
        u64::from(high) << 32 | u64::from(low)
    }

    pub fn write(&mut self, register: Register, value: u32) {
        self.gpu.write32(&mut self.memory, register.offset, value);
    }

    pub fn write64(&mut self, register: Register, value: u64) {
        self.gpu
            .write32(&mut self.memory, register.offset, value as u32);
        self.gpu
            .write32(&mut self.memory, register.offset + 4, (value >> 32) as u32);
    }

    /// Lets virtual time pass, whatever interrupts.
    pub fn wait(&mut self, microseconds: u64) -> Progress {
        let end = self.gpu.now() + microseconds * 1000;
        loop {
            let budget = Budget {
                time: end.saturating_sub(self.gpu.now()),
                instructions: 10_000_000,
            };
            match self.gpu.run(&mut self.memory, budget) {
                Progress::Interrupt => {}
                other => return other,
            }
        }
    }

    /// Waits until `register & mask == value`, at most 200 ms.
    #[track_caller]
    pub fn poll(&mut self, register: Register, mask: u32, value: u32) {
        for _ in 0..20_000 {
            if self.read(register) & mask == value {
                return;
            }
            self.wait(10);
        }
        panic!(
            "{} & {mask:#x} never became {value:#x}: {:#x}\n{}",
            register.name,
            self.read(register),
            self.report()
        );
    }

    /// All diagnoses, a line each.
    pub fn report(&self) -> String {
        self.gpu
            .diagnoses()
            .iter()
            .map(|diagnosis| format!("{diagnosis}\n"))
            .collect()
    }

    /// All notes, a line each.
    pub fn notes(&self) -> String {
        let notes = self.gpu.notes().iter();
        notes.map(|note| format!("{note}\n")).collect()
    }

    #[track_caller]
    pub fn expect_no_diagnoses(&self) {
        assert!(self.gpu.diagnoses().is_empty(), "{}", self.report());
    }

    #[track_caller]
    pub fn expect_diagnosis(&self, part: &str) {
        assert!(
            self.report().contains(part),
            "no diagnosis has {part:?}:\n{}",
            self.report()
        );
    }

    // Memory.

    /// A zeroed page of physical memory.
    pub fn page(&mut self) -> u64 {
        self.next_page += 4096;
        self.next_page
    }

    /// Maps a page of a space.
    pub fn map_page(&mut self, space: usize, address: u64, physical: u64, attributes: Attributes) {
        if self.roots[space] == 0 {
            self.roots[space] = self.page();
        }
        let mut table = self.roots[space];
        let mut level = Level::L0;
        while let Some(below) = level.next() {
            let at = table + 8 * level.index(address) as u64;
            let entry = self.memory.read64(at).unwrap();
            let next = if entry & 1 == 0 {
                let next = self.page();
                self.memory
                    .write64(at, Entry::table(level, next).unwrap().0)
                    .unwrap();
                next
            } else {
                entry & 0x0000_ffff_ffff_f000
            };
            (table, level) = (next, below);
        }
        let at = table + 8 * level.index(address) as u64;
        self.memory
            .write64(at, Entry::leaf(level, physical, attributes).unwrap().0)
            .unwrap();
    }

    /// Maps fresh memory and returns its physical addresses, page by page.
    pub fn map(
        &mut self,
        space: usize,
        address: u64,
        bytes: u64,
        attributes: Attributes,
    ) -> Vec<u64> {
        (0..bytes.div_ceil(4096))
            .map(|index| {
                let physical = self.page();
                self.map_page(space, address + index * 4096, physical, attributes);
                physical
            })
            .collect()
    }

    /// Where the entry of the last level is that maps an address.
    pub fn leaf(&mut self, space: usize, address: u64) -> u64 {
        let mut table = self.roots[space];
        let mut level = Level::L0;
        loop {
            let at = table + 8 * level.index(address) as u64;
            match level.next() {
                Some(below) => level = below,
                None => return at,
            }
            table = self.memory.read64(at).unwrap() & 0x0000_ffff_ffff_f000;
        }
    }

    /// The physical address of a mapped address.
    pub fn physical(&mut self, space: usize, address: u64) -> u64 {
        let mut table = self.roots[space];
        let mut level = Level::L0;
        loop {
            let at = table + 8 * level.index(address) as u64;
            let entry = self.memory.read64(at).unwrap();
            assert!(entry & 1 != 0, "{address:#x} is not mapped");
            table = entry & 0x0000_ffff_ffff_f000;
            match level.next() {
                Some(below) => level = below,
                None => return table + address % 4096,
            }
        }
    }

    pub fn put(&mut self, space: usize, address: u64, bytes: &[u8]) {
        let (mut address, mut left) = (address, bytes);
        while !left.is_empty() {
            let in_page = (4096 - address % 4096).min(left.len() as u64);
            let (now, rest) = left.split_at(in_page as usize);
            let physical = self.physical(space, address);
            self.memory.write(physical, now).unwrap();
            (address, left) = (address + in_page, rest);
        }
    }

    pub fn put_words(&mut self, space: usize, address: u64, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.put(space, address, &bytes);
    }

    pub fn get32(&mut self, space: usize, address: u64) -> u32 {
        let physical = self.physical(space, address);
        self.memory.read32(physical).unwrap()
    }

    pub fn get64(&mut self, space: usize, address: u64) -> u64 {
        let physical = self.physical(space, address);
        self.memory.read64(physical).unwrap()
    }

    // Bring-up.

    pub fn reset(&mut self) {
        self.write(GPU_IRQ_CLEAR, 1 << 8);
        self.write(GPU_COMMAND, GpuCommand::Reset(ResetKind::Soft).word());
        self.poll(GPU_IRQ_RAWSTAT, 1 << 8, 1 << 8);
        self.write(GPU_IRQ_CLEAR, 1 << 8);
    }

    pub fn power_l2(&mut self) {
        self.write(COHERENCY_ENABLE, 31);
        if let Some(hash) = self.gpu.product().needs_hash {
            for (index, word) in (0..).zip(hash) {
                self.write(ASN_HASH.at(index), word);
            }
            self.write(L2_CONFIG, 1 << 24);
        }
        self.write(L2_PWRON, 1);
        self.poll(L2_READY, 1, 1);
    }

    /// Points address space `space` at its tables.
    pub fn enable_space(&mut self, space: u32) {
        let root = self.roots[space as usize];
        self.write(MMU_IRQ_CLEAR, 0x10001 << space);
        self.write64(aspace::AS_TRANSTAB.at(space), root);
        self.write64(aspace::AS_MEMATTR.at(space), MEMATTR);
        self.write64(
            aspace::AS_TRANSCFG.at(space),
            transcfg_4k(48, false).unwrap(),
        );
        self.command(space, 1);
    }

    /// A command to an address space, with the waits around it.
    pub fn command(&mut self, space: u32, command: u32) {
        self.poll(aspace::AS_STATUS.at(space), 1, 0);
        self.write(aspace::AS_COMMAND.at(space), command);
        self.poll(aspace::AS_STATUS.at(space), 1, 0);
    }

    pub fn disable_space(&mut self, space: u32) {
        self.write64(aspace::AS_TRANSTAB.at(space), 0);
        self.write64(aspace::AS_MEMATTR.at(space), 0);
        self.write64(aspace::AS_TRANSCFG.at(space), 1);
        self.command(space, 1);
    }

    pub fn flush(&mut self) {
        self.write(GPU_COMMAND, GpuCommand::FlushCaches(CacheFlush::ALL).word());
        self.poll(GPU_IRQ_RAWSTAT, 1 << 17, 1 << 17);
        self.write(GPU_IRQ_CLEAR, 1 << 17);
    }

    /// Loads an image's sections and maps them in address space 0.
    pub fn load_firmware(&mut self, image: &[u8]) {
        let image = Image::parse(image).expect("a legal image");
        for section in image.sections() {
            let mut attributes = Attributes::UNCACHED;
            if !section.flags.has(section_flags::WRITE) {
                attributes = attributes.read_only();
            }
            if section.flags.has(section_flags::EXECUTE) {
                attributes = attributes.execute();
            }
            let bytes = u64::from(section.va.end - section.va.start);
            self.map(0, section.va.start.into(), bytes, attributes);
            self.put(0, section.va.start.into(), section.data);
        }
    }

    /// From power-off to booted firmware with its global configuration.
    pub fn boot(&mut self) {
        self.boot_with(&stub_firmware());
    }

    /// As [`Bench::boot`], with an image.
    pub fn boot_with(&mut self, image: &[u8]) {
        self.reset();
        self.write(GPU_IRQ_MASK, 0x2_0103);
        self.power_l2();
        self.load_firmware(image);
        self.write(MMU_IRQ_MASK, 0xffff);
        self.enable_space(0);
        self.start_mcu();
        self.configure();
        self.map(1, 0x1_0000, 4096, Attributes::CACHED);
        self.enable_space(1);
    }

    pub fn start_mcu(&mut self) {
        self.write(JOB_IRQ_CLEAR, u32::MAX);
        self.write(JOB_IRQ_MASK, u32::MAX);
        self.write(MCU_CONTROL, 2);
        self.poll(JOB_IRQ_RAWSTAT, 1 << 31, 1 << 31);
        assert_eq!(self.read(MCU_STATUS), 1);
        self.write(JOB_IRQ_CLEAR, 1 << 31);
    }

    /// The global configuration of csf-firmware.md 8.2.
    pub fn configure(&mut self) {
        self.shared_write64(0x2000 + 0x18, self.cores());
        self.shared_write(0x2000 + 0x10, 2_560_000);
        self.shared_write(0x2000 + 0x14, 235);
        self.shared_write(0x2000 + 0x80, 19);
        self.shared_write(0x2000 + 0x4, 0x0400_050e);
        let req = 0b1110 | glb_req::COUNTER_ENABLE.mask32() | glb_req::IDLE_ENABLE.mask32();
        self.shared_write(0x2000, req);
        self.ring(0);
        self.poll_shared(0x6000, req, req);
        self.write(JOB_IRQ_CLEAR, 1 << 31);
    }

    // The interface, by offsets of the shared section as csf-firmware.md 6 gives them for all images.

    pub fn ring(&mut self, number: u32) {
        self.write(DOORBELL.at(number), 1);
    }

    pub fn shared(&mut self, offset: u64) -> u32 {
        self.get32(0, u64::from(SHARED) + offset)
    }

    pub fn shared64(&mut self, offset: u64) -> u64 {
        self.get64(0, u64::from(SHARED) + offset)
    }

    pub fn shared_write(&mut self, offset: u64, value: u32) {
        self.put(0, u64::from(SHARED) + offset, &value.to_le_bytes());
    }

    pub fn shared_write64(&mut self, offset: u64, value: u64) {
        self.put(0, u64::from(SHARED) + offset, &value.to_le_bytes());
    }

    #[track_caller]
    pub fn poll_shared(&mut self, offset: u64, mask: u32, value: u32) {
        for _ in 0..100_000 {
            if self.shared(offset) & mask == value {
                return;
            }
            self.wait(10);
        }
        panic!(
            "shared word {offset:#x} & {mask:#x} never became {value:#x}: {:#x}\n{}",
            self.shared(offset),
            self.report()
        );
    }

    // Groups and streams.

    /// Starts a group on slot `slot` in address space 1 with one stream, whose ring lies at [`RING`].
    pub fn start_group(&mut self, slot: u64) {
        self.map(1, RING + slot * 0x1_0000, 0x1_0000, Attributes::UNCACHED);
        let (input, output) = user_pages(slot);
        self.map(0, input, 4096, Attributes::UNCACHED);
        self.map(0, output, 4096, Attributes::UNCACHED);
        self.map(0, suspend_buffer(slot), 4096, Attributes::CACHED);
        self.configure_group(slot);
        self.request_state(slot, 1);
    }

    pub fn configure_group(&mut self, slot: u64) {
        let (input, output) = user_pages(slot);
        let stream = stream_input(slot);
        let extract = self.get64(0, output);
        self.put(0, input + 8, &extract.to_le_bytes());
        self.shared_write64(stream + 0x10, RING + slot * 0x1_0000);
        self.shared_write(stream + 0x18, 0x1_0000);
        self.shared_write64(stream + 0x30, input);
        self.shared_write64(stream + 0x38, output);
        self.shared_write(stream + 0x4, 1 | (slot as u32 + 1) << 8);
        self.shared_write(stream + 0xC, u32::MAX);
        let req = self.shared(stream) & !7;
        self.shared_write(stream, req | 1 | 1 << 8 | 1 << 10);
        let group = group_input(slot);
        self.shared_write64(group + 0x20, self.cores());
        self.shared_write64(group + 0x28, self.cores());
        self.shared_write(group + 0x30, 1);
        let count = self.cores().count_ones();
        self.request_endpoints(slot, count, 15 - slot as u32);
        self.shared_write(group + 0x50, 1);
        self.shared_write64(group + 0x40, suspend_buffer(slot));
        self.shared_write(group + 0x4, u32::MAX);
        let doorbells = self.shared(group + 0x8);
        self.shared_write(group + 0x8, doorbells ^ 1);
        let req = self.shared(group);
        let ack = self.shared(group_output(slot));
        self.shared_write(group, req & !(1 << 4) | !ack & 1 << 4);
    }

    /// Sets up stream 1 of slot 0, which the next START of its group or its own request starts; where its ring and its input page lie.
    pub fn second_stream(&mut self) -> (u64, u64) {
        let ring = RING + 0x80_0000;
        self.map(1, ring, 0x1000, Attributes::UNCACHED);
        let (input, output) = user_pages(8);
        self.map(0, input, 4096, Attributes::UNCACHED);
        self.map(0, output, 4096, Attributes::UNCACHED);
        let stream = stream_input(0) + 0x80;
        self.shared_write64(stream + 0x10, ring);
        self.shared_write(stream + 0x18, 0x1000);
        self.shared_write64(stream + 0x30, input);
        self.shared_write64(stream + 0x38, output);
        self.shared_write(stream + 0x4, 1 | 1 << 8);
        self.shared_write(stream, 1 | 1 << 8 | 1 << 10);
        (ring, input)
    }

    /// Writes the endpoint request: at most `count` cores, and the priority.
    pub fn request_endpoints(&mut self, slot: u64, count: u32, priority: u32) {
        let word = count | count << 8 | 1 << 16 | priority << 28;
        let newer = self.gpu.config().interface_version() >= Version::EP_REQ2;
        let at = if newer { 0x38 } else { 0x34 };
        self.shared_write(group_input(slot) + at, word);
    }

    /// Lets the firmware take the endpoint request and the core masks of a group anew.
    #[track_caller]
    pub fn request_configuration(&mut self, slot: u64) {
        let group = group_input(slot);
        let req = self.shared(group) ^ 1 << 4;
        self.shared_write(group, req);
        self.ring_group(slot);
        self.poll_shared(group_output(slot), 1 << 4, req & 1 << 4);
    }

    /// Asks for a state of the group and waits for it.
    #[track_caller]
    pub fn request_state(&mut self, slot: u64, state: u32) {
        let group = group_input(slot);
        let req = self.shared(group);
        self.shared_write(group, req & !7 | state);
        self.ring_group(slot);
        self.poll_shared(group_output(slot), 7, state);
    }

    /// GLB_DB_REQ of a slot and doorbell 0.
    pub fn ring_group(&mut self, slot: u64) {
        let doorbells = self.shared(0x2008);
        self.shared_write(0x2008, doorbells ^ 1 << slot);
        self.ring(0);
    }

    /// The streams of a slot that want attention: CSG_IRQ_REQ differs from CSG_IRQ_ACK.
    pub fn streams_asking(&mut self, slot: u64) -> u32 {
        self.shared(group_output(slot) + 0xC) ^ self.shared(group_input(slot) + 0xC)
    }

    /// Takes note of them, as a host does before it looks at them; which they were.
    pub fn answer_streams(&mut self, slot: u64) -> u32 {
        let asking = self.streams_asking(slot);
        let irq_req = self.shared(group_output(slot) + 0xC);
        self.shared_write(group_input(slot) + 0xC, irq_req);
        self.write(JOB_IRQ_CLEAR, 1 << slot);
        asking
    }

    /// CSG_DB_REQ of the slot's stream, GLB_DB_REQ, doorbell 0.
    pub fn ring_stream(&mut self, slot: u64) {
        let group = group_input(slot);
        let doorbells = self.shared(group + 0x8);
        self.shared_write(group + 0x8, doorbells ^ 1);
        self.ring_group(slot);
    }

    /// Appends instructions to the ring, padded to 64 bytes, and rings the stream's doorbell.
    pub fn submit(&mut self, slot: u64, words: &[u64]) {
        let (input, _) = user_pages(slot);
        let insert = self.get64(0, input);
        for (index, word) in words.iter().enumerate() {
            let at = RING + slot * 0x1_0000 + (insert + 8 * index as u64) % 0x1_0000;
            self.put_words(1, at, &[*word]);
        }
        let length = (words.len() as u64 * 8).next_multiple_of(64);
        for index in words.len() as u64..length / 8 {
            let at = RING + slot * 0x1_0000 + (insert + 8 * index) % 0x1_0000;
            self.put_words(1, at, &[0]);
        }
        self.put(0, input, &(insert + length).to_le_bytes());
        self.ring(slot as u32 + 1);
    }

    /// EXTRACT of the slot's stream.
    pub fn extract(&mut self, slot: u64) -> u64 {
        let (_, output) = user_pages(slot);
        self.get64(0, output)
    }

    /// Waits until the ring is consumed.
    #[track_caller]
    pub fn drain(&mut self, slot: u64) {
        let (input, output) = user_pages(slot);
        for _ in 0..100_000 {
            if self.get64(0, output) == self.get64(0, input) {
                return;
            }
            self.wait(10);
        }
        panic!(
            "the ring of slot {slot} was not consumed: CS_ACK {:#x} FAULT {:#x} FATAL {:#x} at {:#x}\n{}",
            self.shared(stream_output(slot)),
            self.shared(stream_output(slot) + 0x80),
            self.shared(stream_output(slot) + 0x84),
            self.shared64(stream_output(slot) + 0x40),
            self.report()
        );
    }
}

/// Ring of slot 0 in address space 1; the others follow at 64 KiB.
pub const RING: u64 = 0x1000_0000;

/// Input and output page of a slot's stream in address space 0.
pub fn user_pages(slot: u64) -> (u64, u64) {
    let input = 0x0500_0000 + slot * 0x2000;
    (input, input + 0x1000)
}

pub fn suspend_buffer(slot: u64) -> u64 {
    0x0600_0000 + slot * 0x1000
}

pub fn group_input(slot: u64) -> u64 {
    0x3000 + 0x80 * slot
}

pub fn group_output(slot: u64) -> u64 {
    0x7000 + 0x40 * slot
}

pub fn stream_input(slot: u64) -> u64 {
    0x3400 + 0x80 * 8 * slot
}

pub fn stream_output(slot: u64) -> u64 {
    0x7200 + 0x100 * 8 * slot
}
