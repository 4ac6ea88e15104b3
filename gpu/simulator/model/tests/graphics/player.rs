//! Plays a capture on the model: memory as recorded, registers as recorded, the job, then the next.

use super::bench::Bench;
use super::capture::{Capture, Job, Object};
use eitri_cs::enums::SyncScope;
use eitri_cs::instr::{
    HeapSet, Instr as Command, Move32, ReqResource, SetSbEntry, SyncAdd64, Wait,
};
use eitri_cs::{Pair, Reg, SlotMask};
use eitri_csf::page_table::Attributes;
use eitri_model::{Config, Product};
use std::collections::BTreeSet;

const PAGE: u64 = 4096;

/// Bytes of an image or buffer of a capture: 64 x 64 texels of at most 16 bytes, and headers.
const IMAGE_BYTES: u64 = 0x2_0000;

/// The sync object that each job signals.
const DONE: u64 = 0x2100_0000;

/// The address space of the group.
const SPACE: usize = 1;

/// Registers that jobs read: those above count what streams have been given.
const JOB_REGISTERS: u8 = 84;

/// A machine that plays a capture.
pub struct Player {
    pub bench: Bench,
    mapped: BTreeSet<u64>,
    /// Tiler contexts that a draw has written since they were recorded.
    used_contexts: BTreeSet<u64>,
    jobs_done: u64,
}

fn attributes(object: &Object) -> Attributes {
    if object.structure == "code" {
        Attributes::CODE
    } else {
        Attributes::CACHED
    }
}

impl Player {
    /// A machine of the capture's product, with its tiler heap.
    pub fn new(capture: &Capture) -> Player {
        let product = Product::find(&capture.gpu)
            .unwrap_or_else(|| panic!("{} is no product of the model", capture.gpu));
        let mut bench = Bench::booted_with(Config {
            product,
            ..Config::default()
        });
        bench.start_group(0);
        bench.map(SPACE, DONE, PAGE, Attributes::UNCACHED);
        let mut player = Player {
            bench,
            mapped: BTreeSet::new(),
            used_contexts: BTreeSet::new(),
            jobs_done: 0,
        };
        if let Some(heap) = &capture.heap {
            player.map(heap.context, 64, Attributes::CACHED);
            for chunk in 0..heap.chunks {
                let address = heap.first_chunk + chunk * heap.chunk_bytes;
                player.map(address, heap.chunk_bytes, Attributes::CACHED);
                let next = (address + heap.chunk_bytes) | heap.chunk_bytes >> 12;
                let last = chunk + 1 == heap.chunks;
                let header = if last { 0 } else { next };
                player.bench.put_words(SPACE, address, &[header]);
            }
        }
        player
    }

    /// Maps the pages of a range that are not mapped yet.
    fn map(&mut self, address: u64, bytes: u64, attributes: Attributes) {
        for page in address / PAGE..(address + bytes).div_ceil(PAGE) {
            if self.mapped.insert(page) {
                self.bench.map(SPACE, page * PAGE, PAGE, attributes);
            }
        }
    }

    /// Writes the texels that an upload reads, which captures do not hold: `side` texels a row.
    ///
    /// Contents: hardware/worked/README.md, table of what is to be supplied.
    fn put_upload(&mut self, job: &Job, side: u64) {
        let fullscreen = job.text.starts_with("RUN_FULLSCREEN");
        let (register, word) = if fullscreen { (12, 6) } else { (8, 4) };
        let source = uniform_address(job, register, word);
        self.map(source, IMAGE_BYTES, Attributes::CACHED);
        let scale = 256 / side;
        for (x, y) in (0..side).flat_map(|y| (0..side).map(move |x| (x, y))) {
            let blue = if (x >> 2 ^ y >> 2) & 1 != 0 { 255 } else { 0 };
            let step = if side == 16 { 17 } else { scale };
            let texel = [(step * x) as u8, (step * y) as u8, blue, 255];
            self.bench.put(SPACE, source + 4 * (side * y + x), &texel);
        }
    }

    /// Writes the 16 x 16 texture that an upload would make, in the model's form of AFBC with its colour transform: its header, and
    /// behind 128 bytes its one superblock.
    ///
    /// For captures whose upload can't be run, because its program was not recorded (hardware/worked/README.md).
    pub fn put_compressed_texture(&mut self, image: u64) {
        self.map(image, IMAGE_BYTES, Attributes::CACHED);
        let sizes = (0..16).fold(0_u128, |bits, subblock| bits | 1 << (32 + 6 * subblock));
        let header = (sizes | 0x80).to_le_bytes();
        self.bench.put(SPACE, image, &header);
        for (x, y) in (0..16_u64).flat_map(|y| (0..16).map(move |x| (x, y))) {
            let (red, green) = (17 * x as i32, 17 * y as i32);
            let blue = if (x >> 2 ^ y >> 2) & 1 != 0 { 255 } else { 0 };
            // Differences of 8 bits that wrap, and green with a quarter of both.
            let [red, blue] = [red - green, blue - green].map(|it| i32::from(it as i8));
            let luma = green + ((red + blue) >> 2);
            let texel = [red as u8, luma as u8, blue as u8, 255];
            let subblock = y / 4 * 4 + x / 4;
            let place = 16 * subblock + 4 * (y % 4) + x % 4;
            self.bench.put(SPACE, image + 0x80 + 4 * place, &texel);
        }
    }

    /// Maps zeroed data.
    pub fn map_data(&mut self, address: u64, bytes: u64) {
        self.map(address, bytes, Attributes::CACHED);
    }

    /// Runs all jobs; the 64 x 64 pixels that the last one read back, if it is a compute job.
    pub fn play(&mut self, capture: &Capture) -> Option<Vec<[u8; 4]>> {
        let is_upload = |job: &&Job| {
            ["RUN_COMPUTE", "RUN_FULLSCREEN"]
                .iter()
                .any(|name| job.text.starts_with(name))
        };
        let upload = capture.upload.zip(capture.jobs.iter().find(is_upload));
        for job in &capture.jobs {
            if let Some((side, _)) = upload.filter(|(_, first)| core::ptr::eq(*first, job)) {
                self.bench.flush();
                self.put_upload(job, side);
            }
            self.run(capture, job);
        }
        let last = capture.jobs.last()?;
        last.text
            .starts_with("RUN_COMPUTE")
            .then(|| self.picture(last))
    }

    /// Puts a job's memory in place and runs it.
    pub fn run(&mut self, capture: &Capture, job: &Job) {
        self.start(capture, job);
        self.finish(job);
    }

    /// Puts a job's memory in place and submits it.
    pub fn start(&mut self, capture: &Capture, job: &Job) {
        self.bench.flush();
        self.load(job);
        self.submit(capture, job);
    }

    /// As [`Player::start`], with words of the job's objects changed.
    pub fn start_damaged(&mut self, capture: &Capture, job: &Job, damage: &[(u64, u32)]) {
        self.bench.flush();
        self.load(job);
        for (address, word) in damage {
            self.bench.put(SPACE, *address, &word.to_le_bytes());
        }
        self.submit(capture, job);
    }

    fn submit(&mut self, capture: &Capture, job: &Job) {
        let words = self.commands(capture, job);
        self.bench.submit(0, &words);
    }

    /// Whether the job that was submitted has ended.
    pub fn is_done(&mut self) -> bool {
        self.bench.get64(SPACE, DONE) > self.jobs_done
    }

    /// Waits for the job that was submitted.
    #[track_caller]
    pub fn finish(&mut self, job: &Job) {
        self.bench.drain(0);
        self.jobs_done += 1;
        let done = self.bench.get64(SPACE, DONE);
        assert_eq!(
            done,
            self.jobs_done,
            "{} did not end\n{}",
            job.text,
            self.bench.report()
        );
    }

    /// Maps what a job reaches and writes its objects, but for what earlier jobs have written.
    fn load(&mut self, job: &Job) {
        let tables: Vec<&Object> = job.objects.iter().filter(|it| it.address != 0).collect();
        for object in &tables {
            let bytes = 4 * object.words.len() as u64;
            self.map(object.address, bytes.max(256), attributes(object));
        }
        for object in tables {
            self.map_images(object);
            let context = object.structure == "Tiler Context";
            if context && !self.used_contexts.insert(object.address) {
                continue;
            }
            let bytes: Vec<u8> = object
                .words
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect();
            self.bench.put(SPACE, object.address, &bytes);
        }
        if job.text.starts_with("RUN_COMPUTE") {
            let (target, _) = read_back(job);
            self.map(target, IMAGE_BYTES, Attributes::CACHED);
        }
        if job.text.starts_with("RUN_FRAGMENT") {
            self.used_contexts.clear();
        }
    }

    /// Maps the images that a descriptor names.
    fn map_images(&mut self, object: &Object) {
        let address = |at: usize| {
            let word = |at: usize| u64::from(object.words.get(at).copied().unwrap_or(0));
            word(at + 1) << 32 | word(at)
        };
        let images = match object.structure.as_str() {
            "RGB Render Target" | "AFBC RGB Render Target" => vec![address(8)],
            "Generic Plane" | "AFBC Plane" => vec![address(2)],
            "ZS CRC Extension" => vec![address(8), address(12)],
            "Buffer" => vec![address(2)],
            _ => Vec::new(),
        };
        for image in images.into_iter().filter(|image| *image != 0) {
            self.map(image, IMAGE_BYTES, Attributes::CACHED);
        }
    }

    /// The instructions that run a job: its registers, resources, the job, and a signal behind it.
    fn commands(&self, capture: &Capture, job: &Job) -> Vec<u64> {
        let arch = self.bench.arch();
        let mut words = Vec::new();
        let mut push = |instr: Command| words.push(instr.encode(arch).expect("legal"));
        push(
            ReqResource {
                compute: true,
                fragment: true,
                tiler: true,
                idvs: true,
                ..ReqResource::default()
            }
            .into(),
        );
        if let Some(heap) = &capture.heap {
            for (register, value) in [(66, heap.context as u32), (67, (heap.context >> 32) as u32)]
            {
                push(set32(register, value));
            }
            push(
                HeapSet {
                    address: Pair::new(66).expect("even"),
                }
                .into(),
            );
        }
        select_slots(&mut push);
        for (register, value) in (0..JOB_REGISTERS).zip(&job.registers) {
            push(set32(register, *value));
        }
        words.push(job.word);
        let mut push = |instr: Command| words.push(instr.encode(arch).expect("legal"));
        push(
            Wait {
                wait_mask: SlotMask::new(0xff),
                ..Wait::default()
            }
            .into(),
        );
        for (register, value) in [(66, DONE as u32), (67, 0), (68, 1), (69, 0)] {
            push(set32(register, value));
        }
        push(
            SyncAdd64 {
                address: Pair::new(66).expect("even"),
                data: Pair::new(68).expect("even"),
                scope: SyncScope::System,
                error_propagate: true,
                ..SyncAdd64::default()
            }
            .into(),
        );
        words
    }

    /// A 64-bit word of the GPU's memory.
    pub fn read64(&mut self, address: u64) -> u64 {
        self.bench.flush();
        self.bench.get64(SPACE, address)
    }

    /// The picture that a read-back has written.
    pub fn picture(&mut self, job: &Job) -> Vec<[u8; 4]> {
        self.bench.flush();
        let (target, stride) = read_back(job);
        let mut pixels = Vec::new();
        for y in 0..64 {
            for x in 0..64 {
                let word = self.bench.get32(SPACE, target + y * stride + 4 * x);
                pixels.push(word.to_le_bytes());
            }
        }
        pixels
    }
}

/// The uniforms that a pair of registers points to.
fn uniforms(job: &Job, register: usize) -> &[u32] {
    let uniforms = job.pair(register) & 0x00ff_ffff_ffff_ffff;
    let object = job.objects.iter().find(|it| it.address == uniforms);
    &object.expect("uniforms of the job").words
}

/// The address in two words of a job's uniforms.
fn uniform_address(job: &Job, register: usize, word: usize) -> u64 {
    let words = uniforms(job, register);
    u64::from(words[word + 1]) << 32 | u64::from(words[word])
}

/// Where a read-back writes, and the bytes of a row: words 4 and 5, and 6, of its uniforms.
fn read_back(job: &Job) -> (u64, u64) {
    (uniform_address(job, 8, 4), uniforms(job, 8)[6].into())
}

fn set32(register: u8, immediate: u32) -> Command {
    Move32 {
        destination: Reg::new(register),
        immediate,
    }
    .into()
}

/// Counts jobs on slot 3 and other work on slot 0.
fn select_slots(push: &mut impl FnMut(Command)) {
    push(
        SetSbEntry {
            endpoint_entry: eitri_cs::Slot::new(3).expect("a slot"),
            ..SetSbEntry::default()
        }
        .into(),
    );
}
