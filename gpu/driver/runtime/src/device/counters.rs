//! Performance counters: a ring of samples that the hardware fills when it is asked to, added up by name.
//!
//! Needs: a running device.  Guarantees: every sample is added once, those too that the firmware takes by itself, such as before
//! a power-off; a sum has 64 bits.  Facts: hardware/csf-perfcnt.md sections 1 to 3.

use super::Device;
use crate::access::{RegisterAccess, SharedBlock};
use crate::error::Error;
use crate::firmware::{ANSWER, Channel, PendingRequest, RequestIgnored};
use crate::platform::{Lines, Platform};
use crate::vm::{Mapping, Protection};
use crate::wait::{Pace, finish, ms, poll};
use eitri_csf::Arch;
use eitri_csf::counters::{BlockKind, Counter, HEADER_WORDS, SampleLayout, header};
use eitri_csf::interface::control::{GLB_PRFCNT_SIZE, glb_prfcnt_size};
use eitri_csf::interface::global::{
    GLB_ACK_IRQ_MASK, GLB_PRFCNT_BASE, GLB_PRFCNT_CONFIG, GLB_PRFCNT_CSF_EN, GLB_PRFCNT_EXTRACT,
    GLB_PRFCNT_INSERT, GLB_PRFCNT_JASID, GLB_PRFCNT_MMU_L2_EN, GLB_PRFCNT_SHADER_EN,
    GLB_PRFCNT_STATUS, GLB_PRFCNT_TILER_EN, glb_req, prfcnt_config, prfcnt_jasid, prfcnt_status,
};
use eitri_csf::registers::identity::{PRFCNT_FEATURES, SHADER_PRESENT, mem_features};
use thiserror::Error;

/// Samples of the ring: a power of two. One is asked for at a time; the rest is for those that the firmware takes by itself.
const SAMPLES: u32 = 8;
/// Words of the largest block whose counters have names.
const WORDS: usize = 128;
/// Every group of four counters: whoever wants few looks at few.
const ALL: u64 = 0xFFFF_FFFF;

const ENABLE: u32 = glb_req::PRFCNT_ENABLE.mask32();
const SAMPLE: u32 = glb_req::PRFCNT_SAMPLE.mask32();
const OVERFLOW: u32 = glb_req::PRFCNT_OVERFLOW.mask32();

/// Why nothing is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CountersError {
    /// Registers and firmware disagree about the size of a sample.
    #[error(
        "GLB_PRFCNT_SIZE = {found:#x}: {firmware} and {hardware} times 256 bytes a sample; registers say {wanted} for the hardware"
    )]
    Size {
        /// `GLB_PRFCNT_SIZE`.
        found: u32,
        /// Its firmware part.
        firmware: u32,
        /// Its hardware part.
        hardware: u32,
        /// What the hardware part is by the registers.
        wanted: u32,
    },
    /// The firmware does not answer.
    #[error(transparent)]
    Ignored(#[from] RequestIgnored),
    /// They were not switched on, or not again after the device was started again.
    #[error("the counters are off")]
    Off,
    /// The hardware could not write a sample.
    #[error("sampling has failed: {}", GLB_PRFCNT_STATUS.decode(u64::from(*.status)))]
    Failed {
        /// `GLB_PRFCNT_STATUS`.
        status: u32,
    },
}

/// What was counted: sums over samples, and over the instances of each block.
///
/// ```
/// use eitri_runtime::Counts;
/// use eitri_csf::Arch;
///
/// let counts = Counts::new(Arch::V10);
/// assert_eq!(counts.get("GPU_ACTIVE"), Some(0));
/// assert_eq!(counts.get("COFFEES"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    arch: Arch,
    /// A sum for each word of each kind of block.
    sums: [[u64; WORDS]; BlockKind::ALL.len()],
    samples: u32,
    lost: bool,
}

impl Counts {
    /// Nothing was counted on a GPU of this architecture ([`crate::Properties::arch`]).
    pub const fn new(arch: Arch) -> Counts {
        Counts {
            arch,
            sums: [[0; WORDS]; BlockKind::ALL.len()],
            samples: 0,
            lost: false,
        }
    }

    /// The sum of a counter, by its name in any case; `None` if the architecture has none of this name.
    pub fn get(&self, name: &str) -> Option<u64> {
        let mut all = self.iter();
        all.find_map(|(counter, sum)| counter.name.eq_ignore_ascii_case(name).then_some(sum))
    }

    /// Every counter that has a name, with its sum, in the order of the blocks.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Counter, u64)> + '_ {
        let rows = BlockKind::ALL.into_iter().zip(&self.sums);
        let rows = rows.flat_map(|(kind, sums)| kind.counters().iter().map(move |row| (row, sums)));
        let rows = rows.filter(|(row, _)| row.archs.contains(self.arch));
        rows.map(|(row, sums)| {
            let sum = sums.get(usize::from(row.index)).copied().unwrap_or(0);
            (row, sum.saturating_mul(1 << (row.shift & 31)))
        })
    }

    /// How many samples were added.
    pub const fn samples(&self) -> u32 {
        self.samples
    }

    /// Whether the firmware took more samples by itself than the ring holds: then the sums are too small.
    pub const fn lost(&self) -> bool {
        self.lost
    }
}

/// The ring, where the hardware finds it.
#[derive(Debug)]
pub(crate) struct CounterRing {
    pub(crate) mapping: Mapping,
    layout: SampleLayout,
    on: bool,
    /// The next sample to be read.
    extract: u32,
    overflowed: bool,
}

impl CounterRing {
    /// Whether they count.
    pub(crate) const fn is_on(&self) -> bool {
        self.on
    }

    /// A reset, or the end of power, has switched them off.
    pub(crate) const fn forget(&mut self) {
        self.on = false;
    }

    /// Takes note of global events.
    const fn note(&mut self, events: u32) {
        self.overflowed |= events & OVERFLOW != 0;
    }
}

impl<P: Platform> Device<'_, '_, P> {
    /// Switches the performance counters on; waits for the firmware for 100 ms at most. They start at zero.
    ///
    /// # Errors
    /// If there is no memory for the samples, or the firmware does not offer them as the registers say.
    pub fn start_counters(&mut self) -> Result<(), Error> {
        self.powered()?;
        self.stop_counters()?;
        if self.counters.is_none() {
            let layout = self.sample_layout()?;
            let bytes = u64::from(layout.bytes()).saturating_mul(SAMPLES.into());
            let mapping = self.map(None, "counter samples", bytes, Protection::Shared)?;
            self.counters = Some(CounterRing {
                mapping,
                layout,
                on: false,
                extract: 0,
                overflowed: false,
            });
        }
        let requests = self.hw.interface.global.requests;
        let Some(ring) = &mut self.counters else {
            return Err(CountersError::Off.into());
        };
        let (it, memory) = (&mut self.hw.platform, &ring.mapping);
        // A block that is off is not written: the mark of the last time must not stay.
        it.zero(memory.memory(), memory.bytes());
        it.clean(memory.memory().span(memory.bytes()));
        let input = requests.input;
        input.write(it, GLB_PRFCNT_JASID, prfcnt_jasid::JASID.set(0, 0));
        input.write(it, GLB_PRFCNT_BASE, memory.address().0);
        input.write(it, GLB_PRFCNT_EXTRACT, 0);
        let enables = [
            GLB_PRFCNT_CSF_EN,
            GLB_PRFCNT_TILER_EN,
            GLB_PRFCNT_MMU_L2_EN,
            GLB_PRFCNT_SHADER_EN,
        ];
        for enable in enables {
            input.write(it, enable, ALL);
        }
        input.write(
            it,
            GLB_PRFCNT_CONFIG,
            prfcnt_config::SAMPLES.set(0, SAMPLES),
        );
        let interrupts = input.read(it, GLB_ACK_IRQ_MASK);
        let events = glb_req::PRFCNT_THRESHOLD.mask() | glb_req::PRFCNT_OVERFLOW.mask();
        let interrupts = interrupts | events | u64::from(ENABLE | SAMPLE);
        input.write(it, GLB_ACK_IRQ_MASK, interrupts);
        (ring.extract, ring.overflowed) = (0, false);
        requests.set(it, ENABLE, ENABLE);
        self.hw.interface.global.ring(it);
        self.answered_counters(&requests, "counters to be switched on", ENABLE)?;
        if let Some(ring) = &mut self.counters {
            ring.on = true;
        }
        Ok(())
    }

    /// Switches them off. Whoever wants what was counted takes a sample before.
    ///
    /// # Errors
    /// If the firmware does not answer.
    pub fn stop_counters(&mut self) -> Result<(), Error> {
        let on = self
            .counters
            .as_mut()
            .map(|ring| core::mem::replace(&mut ring.on, false));
        if on != Some(true) || !self.is_running() {
            return Ok(());
        }
        let requests = self.hw.interface.global.requests;
        requests.set(&mut self.hw.platform, ENABLE, 0);
        self.hw.interface.global.ring(&mut self.hw.platform);
        self.answered_counters(&requests, "counters to be switched off", ENABLE)
    }

    /// Takes a sample and adds it to `counts`: what was counted since the last one. Waits for the firmware for 100 ms at
    /// most.
    ///
    /// # Errors
    /// If the counters are off, the firmware does not answer, or the hardware could not write.
    pub fn sample_counters(&mut self, counts: &mut Counts) -> Result<(), Error> {
        self.request_sample()?;
        let limit = self.hw.scaled(ANSWER);
        let taken = poll(
            self,
            |device| &mut device.hw.platform,
            |device| device.due,
            Pace::new(Lines::ALL, limit),
            |device, now| {
                device.poll(now);
                let taken = device.take_sample(counts)?;
                Ok::<_, Error>(taken.then_some(()))
            },
        )?;
        match taken {
            Some(()) => Ok(()),
            None => {
                let requests = self.hw.interface.global.requests;
                let it = &mut self.hw.platform;
                let ignored = requests.ignored(it, "a request for a sample", SAMPLE, limit);
                Err(CountersError::from(ignored).into())
            }
        }
    }

    /// Asks for a sample, and returns at once: for those who sample at an interval. [`Device::take_sample`] gets it.
    ///
    /// # Errors
    /// If the counters are off.
    pub fn request_sample(&mut self) -> Result<(), Error> {
        self.alive()?;
        if !self.counters.as_ref().is_some_and(|ring| ring.on) {
            return Err(CountersError::Off.into());
        }
        let requests = self.hw.interface.global.requests;
        // One at a time.
        if requests.is_answered(&mut self.hw.platform, SAMPLE) {
            requests.toggle(&mut self.hw.platform, SAMPLE);
            self.hw.interface.global.ring(&mut self.hw.platform);
        }
        Ok(())
    }

    /// Answers the firmware's global events, and notes those about counters.
    pub(super) fn take_global_events(&mut self) {
        let events = self.hw.interface.global.take_events(&mut self.hw.platform);
        if let Some(ring) = &mut self.counters {
            ring.note(events);
        }
    }

    /// Adds what there is of samples to `counts`; whether the one that was asked for is among it.
    ///
    /// # Errors
    /// If the counters are off, or the hardware could not write.
    pub fn take_sample(&mut self, counts: &mut Counts) -> Result<bool, Error> {
        self.alive()?;
        let requests = self.hw.interface.global.requests;
        let answered = requests.is_answered(&mut self.hw.platform, SAMPLE);
        // The answer may be seen before its interrupt, and an overflow with it.
        self.take_global_events();
        let it = &mut self.hw.platform;
        let ring = self.counters.as_mut().filter(|ring| ring.on);
        let ring = ring.ok_or(CountersError::Off)?;
        let insert = requests.output.read_word(it, GLB_PRFCNT_INSERT);
        it.observe();
        counts.lost |= ring.overflowed;
        // A ring has no more samples than that, whatever the firmware says.
        for _ in 0..SAMPLES {
            if ring.extract == insert {
                break;
            }
            ring.add(it, counts);
            ring.extract = ring.extract.wrapping_add(1);
        }
        // Cleared samples are in memory before they are given back.
        it.publish();
        let extract = u64::from(ring.extract);
        requests.input.write(it, GLB_PRFCNT_EXTRACT, extract);
        let status = requests.output.read_word(it, GLB_PRFCNT_STATUS);
        if prfcnt_status::FAILED.get(status) {
            return Err(CountersError::Failed { status }.into());
        }
        Ok(answered)
    }

    /// How a sample is laid out, if registers and firmware agree.
    fn sample_layout(&mut self) -> Result<SampleLayout, CountersError> {
        let (control, _) = self.image.shared();
        let it = &mut self.hw.platform;
        let found = SharedBlock::new(control).read_word(it, GLB_PRFCNT_SIZE);
        let arch = self.hw.properties.arch;
        let features = if arch >= Arch::V11 {
            it.read_word(PRFCNT_FEATURES)
        } else {
            0
        };
        let slices = mem_features::L2_SLICES_MINUS_1.get(self.hw.properties.mem_features);
        let present = it.read(SHADER_PRESENT);
        let of =
            |blocks| SampleLayout::new(arch, features, blocks, slices.wrapping_add(1), present);
        let hardware = glb_prfcnt_size::HARDWARE.get(found);
        let firmware = glb_prfcnt_size::FIRMWARE.get(found);
        let units = of(0).block_bytes / 256;
        let wanted = of(0).hardware_bytes() / 256;
        match firmware.checked_rem(units) {
            Some(0) if wanted == hardware => Ok(of(firmware.checked_div(units).unwrap_or(0))),
            _ => Err(CountersError::Size {
                found,
                firmware,
                hardware,
                wanted,
            }),
        }
    }

    /// Waits until the firmware has done what was asked for.
    fn answered_counters(
        &mut self,
        requests: &Channel,
        what: &'static str,
        mask: u32,
    ) -> Result<(), Error> {
        let now = self.hw.platform.now();
        let asked = PendingRequest::new(&self.hw.platform, now, *requests, what, mask, ANSWER);
        // What slots report meanwhile stands in their words.
        self.restless = true;
        let answered = finish(&mut self.hw.platform, Lines::JOB, ms(1), |it, now| {
            asked.poll(it, now)
        });
        Ok(answered.map_err(CountersError::Ignored)?)
    }
}

impl CounterRing {
    /// Adds sample number `extract`, and clears it for its next use.
    fn add<P: Platform>(&self, platform: &mut P, counts: &mut Counts) {
        let number = u64::from(self.extract % SAMPLES);
        let start = number.wrapping_mul(self.layout.bytes().into());
        let start = self.mapping.memory().offset(start);
        platform.invalidate(start.span(self.layout.bytes().into()));
        for (kind, sums) in BlockKind::ALL.into_iter().zip(&mut counts.sums) {
            for instance in 0..self.layout.count(kind) {
                let Some(offset) = self.layout.offset(kind, instance) else {
                    continue;
                };
                let block = start.offset(offset.into());
                let word = |index: u32| block.offset(u64::from(index).wrapping_mul(4));
                let mark = word(header::ENABLE_MASK);
                // A block that was off, or is not there.
                if platform.load32(mark) == 0 {
                    continue;
                }
                let words = (self.layout.block_bytes / 4).min(WORDS as u32);
                for (index, sum) in (0..words).zip(sums.iter_mut()) {
                    if index >= HEADER_WORDS {
                        let value = platform.load32(word(index));
                        *sum = sum.saturating_add(value.into());
                    }
                }
                platform.store32(mark, 0);
                platform.clean(mark.span(4));
            }
        }
        counts.samples = counts.samples.saturating_add(1);
    }
}
