//! Trials: one warp that executes some words alone, and all that it leaves behind. For tests that hold engines against each other.
//!
//! Never: used by the device.

use super::engine::Engine;
use super::environment::{Environment, Place};
use super::execute::{Executor, WarpTurn};
use super::float::FloatPolicy;
use super::lanes::Lanes;
use super::messages::Memory;
use super::program::Program;
use super::stopped::Stopped;
use super::trial_textures::{SAMPLERS, TEXTURES, descriptors, planes};
use super::warp::{REGISTERS, Warp};
use crate::config::Config;
use crate::fabric::Fabric;
use crate::memory::{BusError, PAGE, PAGE_BYTES, PhysicalMemory, SparseMemory};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use eitri_csf::registers::address_space::{TranslationMode, transcfg};
use eitri_descriptors::resource::{Buffer, Resource};
use eitri_descriptors::{Address, Descriptor};
use eitri_isa::Arch;

/// Where the words are.
const ENTRY: u64 = 0x1000;

/// Most instructions that are executed.
const MOST: u64 = 4096;

/// A warp and what it executes.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// The generation.
    pub arch: Arch,
    /// The program: it ends by itself, or is ended after 4,096 instructions.
    pub words: &'a [u64],
    /// What the first registers hold at the beginning; the others hold nothing.
    pub registers: &'a [Lanes],
    /// Lanes that take part, a bit each.
    pub lanes: u16,
    /// How floats are treated.
    pub policy: FloatPolicy,
    /// Instructions of a turn of a warp: from how many on it ends where it may, and how many it has at most.
    pub turn: (u64, u64),
    /// Whether the host lends its memory. If not, the lanes of a message access memory one by one.
    pub lends: bool,
}

/// All that a trial leaves behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// Instructions executed.
    pub used: u64,
    /// Instructions of each turn, and why the last one stopped.
    pub turns: (Vec<u64>, String),
    /// The registers.
    pub registers: Vec<Lanes>,
    /// Where the live lanes are, which those are and which wait.
    pub places: (Vec<u64>, u16, u16),
    /// For each register the lanes in which it holds a value.
    pub valid: Vec<u16>,
    /// The counters of core and slices.
    pub counters: String,
    /// What was reported.
    pub diagnoses: Vec<String>,
    /// The memory from [`Trial::DATA`] on.
    pub data: Vec<u8>,
}

/// Memory that is not lent.
struct Unlent(SparseMemory);

impl PhysicalMemory for Unlent {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        self.0.read(address, bytes)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        self.0.write(address, bytes)
    }
}

/// Where the resource tables are, and the descriptors of buffers.
const TABLES: u64 = 0x6000;
const BUFFERS: u64 = 0x6100;

/// Two resource tables, of descriptors and of nothing but the data, and two buffers: all the data, and an odd part of it.
fn resources(arch: Arch) -> [(u64, [u32; 8]); 4] {
    let tables = [
        Resource {
            address: Address(BUFFERS),
            contains_descriptors: true,
            size: 32 * (2 + TEXTURES + SAMPLERS) as u64,
        },
        Resource {
            address: Address(Trial::DATA),
            contains_descriptors: false,
            size: Trial::DATA_BYTES as u64,
        },
    ];
    let buffers = [
        Buffer {
            address: Address(Trial::DATA),
            size: Trial::DATA_BYTES as u32,
            stride: 4,
            ..Buffer::default()
        },
        Buffer {
            address: Address(Trial::DATA + 0x34),
            size: 1003,
            stride: 12,
            ..Buffer::default()
        },
    ];
    [
        (TABLES, packed(&tables[0], arch)),
        (TABLES + 16, packed(&tables[1], arch)),
        (BUFFERS, packed(&buffers[0], arch)),
        (BUFFERS + 32, packed(&buffers[1], arch)),
    ]
}

/// The words of a structure of at most 32 bytes.
pub(super) fn packed(structure: &impl Descriptor, arch: Arch) -> [u32; 8] {
    let mut words = [0; 8];
    let packed = structure.pack(arch, &mut words);
    debug_assert!(packed.is_ok(), "{packed:?}");
    words
}

/// A fabric whose space 1 maps every address to itself.
fn identity_fabric(engine: &Engine) -> Fabric {
    let mut fabric = Fabric::new(Config {
        engine: engine.clone(),
        ..Config::default()
    });
    let space = fabric.mmu.space_mut(1);
    space.programmed.transcfg = transcfg::MODE.set(0, TranslationMode::Identity);
    space.update();
    fabric
}

/// The places of lanes that have not ended; 0 for the others.
fn live_places(warp: &Warp) -> Vec<u64> {
    let lanes = warp.pcs.iter().enumerate();
    lanes
        .map(|(lane, pc)| if warp.live >> lane & 1 != 0 { *pc } else { 0 })
        .collect()
}

impl Trial<'_> {
    /// Address of the memory that programs may load from and store to: two pages, which hold numbers that look random.
    pub const DATA: u64 = 0x8000;
    /// Its bytes.
    pub const DATA_BYTES: usize = 0x2000;
    /// Handles of a buffer of all the data with elements of 4 bytes, of one that ends within a page with elements of 12 bytes, and of
    /// all the data without a descriptor.
    pub const HANDLES: [u32; 3] = [0, 1, 62 << 24 | 1];
    /// Where descriptors of textures begin in the table of the first two handles, how many there are, and behind them samplers.
    pub const TEXTURES: [u32; 3] = [2, TEXTURES as u32, SAMPLERS as u32];
    /// Addresses from here on have no memory.
    pub const LIMIT: u64 = 1 << 20;

    /// Executes the words with an engine.
    pub fn run(&self, engine: &Engine) -> Left {
        let memory = SparseMemory::new(Trial::LIMIT);
        match self.lends {
            true => self.run_in(engine, &mut { memory }),
            false => self.run_in(engine, &mut Unlent(memory)),
        }
    }

    fn run_in(&self, engine: &Engine, memory: &mut dyn PhysicalMemory) -> Left {
        let mut fabric = identity_fabric(engine);
        for (address, word) in (ENTRY..).step_by(8).zip(self.words) {
            // Programs are shorter than the memory.
            let _ = memory.write64(address, *word);
        }
        for (address, words) in resources(fabric.config.product.arch()) {
            // A resource has four words: what follows it is written later.
            for (address, word) in (address..).step_by(4).zip(words) {
                let _ = memory.write32(address, word);
            }
        }
        let arch = fabric.config.product.arch();
        let descriptors = (BUFFERS + 64..).step_by(32).zip(descriptors(arch));
        for (address, words) in descriptors.chain(planes(arch)) {
            for (address, word) in (address..).step_by(4).zip(words) {
                let _ = memory.write32(address, word);
            }
        }
        for number in 0..Trial::DATA_BYTES as u64 / 4 {
            let value = (number as u32).wrapping_mul(0x9e37_79b9);
            let _ = memory.write32(Trial::DATA + 4 * number, value);
        }
        let environment = Environment {
            space: 1,
            policy: self.policy,
            allocated: u64::MAX,
            uniforms: (1..=64).map(|word| word * 0x0101_0101).collect(),
            resources: TABLES,
            resource_count: 2,
            // Of one of the threads all low words are used up.
            tls_base: 0x1_ffff_ff80,
            tls_bytes: 0x18,
            threads_per_core: 64,
            wls_base: Trial::DATA + 0x100,
            wls_bytes: 0x100,
            wls_instances: 2,
            ..Environment::default()
        };
        let mut warp = Warp::with_lanes(0, self.lanes, ENTRY);
        for (register, lanes) in (0..REGISTERS as u8).zip(self.registers) {
            warp.preload(register, *lanes);
        }
        let mut program = Program::new(self.arch);
        let mut unit = Memory::default();
        let (mut turns, mut stopped) = (Vec::new(), Stopped::Turn);
        let (wanted, most) = self.turn;
        while turns.iter().sum::<u64>() < MOST && stopped == Stopped::Turn {
            let mut executor = Executor {
                program: &mut program,
                environment: &environment,
                memory_unit: &mut unit,
                place: Place::default(),
                fabric: &mut fabric,
                memory,
            };
            let (executed, why) = executor.run(&mut warp, WarpTurn { wanted, most });
            turns.push(executed);
            stopped = why;
        }
        // Running lanes are at the warp's place, and noted elsewhere.
        warp.park();
        let mut data = vec![0; Trial::DATA_BYTES];
        for (page, bytes) in data.chunks_mut(PAGE_BYTES).enumerate() {
            let _ = memory.read(Trial::DATA + PAGE * page as u64, bytes);
        }
        let diagnoses = fabric.journal.diagnoses();
        Left {
            used: turns.iter().sum(),
            turns: (turns, format!("{stopped:?}")),
            registers: warp.registers.to_vec(),
            places: (live_places(&warp), warp.live, warp.waiting),
            valid: (0..REGISTERS)
                .map(|register| warp.lanes_with_value(register))
                .collect(),
            counters: format!(
                "{:?} {:?}",
                fabric.activity.cores().first(),
                fabric.activity.slices()
            ),
            diagnoses: diagnoses.iter().map(ToString::to_string).collect(),
            data,
        }
    }
}
