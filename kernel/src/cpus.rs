//! CPUs: the ones that the image was not started on.
//!
//! The firmware keeps them off until they are wanted (PSCI, hardware/boards.md 2.2 and 3.2). One that was started runs what it is
//! given, one piece after another, and is parked in between: it sleeps until there is more. It takes no interrupts, shares the
//! map, the heap and the console, and what it is given says itself how it shares the rest.
//!
//! Guarantees: a piece is run once, by the CPU that it was given to; what it did is seen by whoever has waited for it.

use crate::interrupts;
use crate::irq_mutex::IrqMutex;
use crate::{firmware, memory};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use cortex_a::asm::{sev, wfe};
use smccc::psci::Error;

/// CPUs that can be started.
const MOST: usize = 15;
/// Bytes of a CPU's stack, of which the upper ones are for exceptions.
const STACK_BYTES: usize = 128 << 10;
/// What of it is for exceptions.
#[doc(hidden)]
pub const EXCEPTIONS_BYTES: usize = 16 << 10;
/// The mark of a slot that no CPU has.
const NOBODY: u64 = u64::MAX;

type Piece = Box<dyn FnOnce() + Send>;

/// A CPU that was started.
struct Slot {
    /// Which one, by its affinities.
    cpu: AtomicU64,
    /// What it is to do next.
    next: IrqMutex<Option<Piece>>,
    /// How many pieces it was given, and how many it has done.
    given: AtomicUsize,
    done: AtomicUsize,
}

static SLOTS: [Slot; MOST] = [const {
    Slot {
        cpu: AtomicU64::new(NOBODY),
        next: IrqMutex::new(None),
        given: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
    }
}; MOST];

/// A CPU, by its affinities as MPIDR_EL1 has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu(u64);

/// Why a CPU can't be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuError {
    /// There is no firmware that is known of.
    NoFirmware,
    /// It does not start it.
    Firmware(Error),
    /// It has something to do already.
    Busy,
    /// As many were started as can be.
    TooMany,
}

/// Something that another CPU does.
#[derive(Debug)]
pub struct Running {
    slot: &'static Slot,
    number: usize,
}

impl core::fmt::Debug for Slot {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "CPU {:#x}", self.cpu.load(Ordering::Relaxed))
    }
}

impl Running {
    /// Whether it is done.
    pub fn is_done(&self) -> bool {
        self.slot.done.load(Ordering::Acquire) >= self.number
    }

    /// Waits until it is done.
    pub fn wait(self) {
        while !self.is_done() {
            // It says when it is.
            wfe();
        }
    }
}

/// The CPUs besides this one.
pub fn others() -> Vec<Cpu> {
    let own = interrupts::affinity();
    let all = interrupts::affinities().into_iter();
    all.filter(|cpu| *cpu != own).map(Cpu).collect()
}

/// Lets a CPU do something; it is started if it was not.
///
/// # Errors
/// When it can't be started, or is not done with what it was given before.
pub fn run(cpu: Cpu, piece: impl FnOnce() + Send + 'static) -> Result<Running, CpuError> {
    let known = SLOTS
        .iter()
        .find(|slot| slot.cpu.load(Ordering::Acquire) == cpu.0);
    let slot = match known {
        Some(slot) => slot,
        None => start(cpu)?,
    };
    let given = slot.given.load(Ordering::Relaxed);
    if slot.done.load(Ordering::Acquire) != given {
        return Err(CpuError::Busy);
    }
    let number = given + 1;
    slot.given.store(number, Ordering::Relaxed);
    slot.next.with(|next| *next = Some(Box::new(piece)));
    sev();
    Ok(Running { slot, number })
}

/// Starts a CPU, which parks itself.
fn start(cpu: Cpu) -> Result<&'static Slot, CpuError> {
    let mut free = SLOTS.iter().filter(|slot| {
        let taken = slot
            .cpu
            .compare_exchange(NOBODY, cpu.0, Ordering::AcqRel, Ordering::Relaxed);
        taken.is_ok()
    });
    let slot = free.next().ok_or(CpuError::TooMany)?;
    // It is never given back: the CPU does not end.
    let stack: &'static mut [u128] = Box::leak(alloc::vec![0; STACK_BYTES / 16].into_boxed_slice());
    let top = stack.as_mut_ptr_range().end;
    // SAFETY: the symbol is the image's (`crate::image!`), and what begins there expects the top of a stack of its own.
    let started = unsafe { firmware::start_cpu(cpu.0, &raw const another_cpu as u64, top as u64) };
    match started {
        Some(Ok(())) => Ok(slot),
        failed => {
            slot.cpu.store(NOBODY, Ordering::Release);
            let refused = failed.and_then(Result::err);
            Err(refused.map_or(CpuError::NoFirmware, CpuError::Firmware))
        }
    }
}

unsafe extern "C" {
    /// Where another CPU begins: `crate::image!`.
    static another_cpu: u8;
}

/// What another CPU does, from its first stack on; what [`crate::image!`] calls.
#[doc(hidden)]
pub extern "C" fn park() -> ! {
    // SAFETY: the initial map is in use, which has all that this function and the map proper have.
    unsafe { memory::share_map() };
    interrupts::unmask_errors();
    let own = interrupts::affinity();
    let slot = SLOTS
        .iter()
        .find(|slot| slot.cpu.load(Ordering::Acquire) == own);
    loop {
        let next = slot.and_then(|slot| slot.next.with(Option::take));
        match (slot, next) {
            (Some(slot), Some(piece)) => {
                piece();
                slot.done.fetch_add(1, Ordering::Release);
                sev();
            }
            _ => wfe(),
        }
    }
}
