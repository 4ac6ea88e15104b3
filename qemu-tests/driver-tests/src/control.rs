//! Control: the registers by which the monitor is told what GPU there is, and asked what it has to say.

use alloc::string::String;
use alloc::vec::Vec;
use core::ptr;
use eitri_boards::qemu_virt::{CONTROL, NewGpu, control};
use eitri_model::{Config, Injection, Product};
use eitri_runtime::Lines;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// The monitor's own registers.
pub(crate) struct Control(());

impl Control {
    /// The registers.
    ///
    /// # Safety
    /// The map proper is in use, the board is QEMU's under the monitor, and this is called once.
    pub(crate) unsafe fn open() -> Control {
        // SAFETY: the page is the monitor's, and nothing else is there.
        unsafe { eitri_kernel::memory::device(CONTROL.base) };
        Control(())
    }

    fn write(&mut self, word: usize, value: u32) {
        let at = (CONTROL.base + word) as *mut u32;
        // SAFETY: `open` has mapped the page, and `word` is one of its words.
        unsafe { ptr::write_volatile(at, value) };
    }

    fn read(&mut self, word: usize) -> u32 {
        let at = (CONTROL.base + word) as *const u32;
        // SAFETY: as in `write`.
        unsafe { ptr::read_volatile(at) }
    }

    /// Another GPU, without power.
    ///
    /// # Panics
    /// When the monitor can't be asked for such a one.
    pub(crate) fn new_gpu(&mut self, config: &Config) {
        let product = Product::all().position(|product| product == config.product);
        let asked = NewGpu {
            product: product.expect("one of the list") as u8,
            l2: config.l2,
            interface: config
                .interface
                .map(|version| (version.major, version.minor)),
        };
        self.write(control::NEW_GPU, asked.word());
    }

    pub(crate) fn inject(&mut self, injection: Injection) {
        self.write(control::FAULT, fault(injection));
    }

    pub(crate) fn withdraw(&mut self, injection: Injection) {
        self.write(control::NO_FAULT, fault(injection));
    }

    pub(crate) fn cut_power(&mut self) {
        self.write(control::CUT_POWER, 1);
    }

    /// Pages of memory have a new owner: what caches hold of the last one's is of no interest. On a board it would be overwritten; the
    /// monitor, which sees stores only by what they change (`coherent=pages`), has to be told.
    pub(crate) fn new_pages(&mut self, mut address: u64, mut count: u64) {
        const MOST: u64 = 4096;
        while count != 0 {
            let now = count.min(MOST);
            self.write(control::NEW_PAGES, (address | (now - 1)) as u32);
            address += now * PAGE;
            count -= now;
        }
    }

    pub(crate) fn lines(&mut self) -> Lines {
        let lines = self.read(control::LINES);
        Lines {
            job: lines & 1 != 0,
            mmu: lines & 2 != 0,
            gpu: lines & 4 != 0,
        }
    }

    /// What the GPU has to say of its driver.
    pub(crate) fn diagnoses(&mut self) -> Vec<String> {
        self.texts(control::DIAGNOSIS)
    }

    /// What was wrong with the upkeep of caches.
    pub(crate) fn upkeep(&mut self) -> Vec<String> {
        self.texts(control::UPKEEP)
    }

    fn texts(&mut self, word: usize) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            self.write(word, all.len() as u32);
            let mut bytes = Vec::new();
            while !bytes.ends_with(&[0]) {
                bytes.extend(self.read(word).to_le_bytes());
            }
            let text = String::from_utf8_lossy(&bytes);
            match text.trim_end_matches('\0') {
                "" => return all,
                text => all.push(String::from(text)),
            }
        }
    }
}

/// An injection as a word.
///
/// # Panics
/// When its kind is not in the model's list.
fn fault(injection: Injection) -> u32 {
    let subject = injection.subject();
    let is_kind = |other: &Injection| other.about(subject.unwrap_or(0)) == injection;
    let number = Injection::ALL.iter().position(is_kind);
    let number = number.expect("the list has one of each kind") as u32;
    subject.map_or(number, |subject| number | u32::from(subject) << 8 | 1 << 16)
}
