//! A second CPU: it submits to a queue of its own, while the first one does, on the same device.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use core::time::Duration;
use eitri_kernel::{cpus, time};
use eitri_on_board::MmioPlatform;
use eitri_runtime::{Device, Instant, Options, Storage};
use eitri_validation::{Trouble, User, Verdict};
use spin::Mutex;

/// Jobs that each CPU submits.
const ROUNDS: u32 = 32;
/// Longest that they may take: far more than they should.
const LIMIT: Duration = Duration::from_secs(10);

type OnBoard = Device<'static, 'static, MmioPlatform>;

/// The device, which one CPU has at a time.
struct Shared(Mutex<OnBoard>);

// SAFETY: what keeps a device to one CPU are pointers to registers and memory, which all CPUs have mapped in the same way; the lock
// lets one of them use it at a time, and orders what they do.
unsafe impl Send for Shared {}
// SAFETY: the same.
unsafe impl Sync for Shared {}

impl Shared {
    /// Drives a user until its rounds are done.
    fn drive(&self, user: &mut User) -> Verdict {
        let end = time::now() + LIMIT;
        loop {
            let now = time::now();
            let rounds = user.turn(&mut self.0.lock(), Instant(now))?;
            match rounds {
                ROUNDS.. => return user.check(&mut self.0.lock()),
                _ if now > end => {
                    let why = format!("{rounds} of {ROUNDS} jobs were done in {LIMIT:?}");
                    return Err(Trouble::Failed(why));
                }
                _ => core::hint::spin_loop(),
            }
        }
    }
}

/// Runs the test, and gives the platform back.
pub(crate) fn run(platform: MmioPlatform, firmware: &'static [u8]) -> (MmioPlatform, Verdict) {
    let Some(cpu) = cpus::others().first().copied() else {
        let why = "this machine has one CPU".to_string();
        return (platform, Err(Trouble::Skipped(why)));
    };
    let storage = Box::leak(Box::new(Storage::<2, 8, 32>::new()));
    let up = Device::bring_up(platform, firmware, storage, Options::default(), &mut ());
    let device = match up {
        Ok(device) => device,
        Err(failed) => {
            let why = failed.to_string();
            return (failed.platform, Err(Trouble::Failed(why)));
        }
    };
    let shared = Arc::new(Shared(Mutex::new(device)));
    let verdict = on_both(&shared, cpu);
    // The other CPU is done, or was never asked: what it had of it went with what it was given.
    let device = Arc::into_inner(shared).expect("nobody else has it any more");
    match device.0.into_inner().shutdown(&mut ()) {
        Ok(platform) => (platform, verdict),
        Err(failed) => {
            let why = format!("the device did not stop: {failed}");
            (failed.platform, verdict.and(Err(Trouble::Failed(why))))
        }
    }
}

fn on_both(shared: &Arc<Shared>, cpu: cpus::Cpu) -> Verdict {
    let arch = shared.0.lock().properties().arch;
    let program = User::program(arch).map_err(|error| Trouble::Skipped(error.to_string()))?;
    let program: &'static [u8] = Box::leak(program.into_boxed_slice());
    let user = |number| User::new(&mut shared.0.lock(), program, number);
    let (mut own, mut other) = (user(3)?, user(8)?);
    let outcome = Arc::new(Mutex::new(None));
    let running = {
        let (shared, outcome) = (shared.clone(), outcome.clone());
        cpus::run(cpu, move || {
            let verdict = shared.drive(&mut other);
            *outcome.lock() = Some(verdict);
        })
    };
    let running = running.map_err(|error| Trouble::Skipped(format!("{cpu:?}: {error:?}")))?;
    let first = shared.drive(&mut own);
    running.wait();
    let second = outcome.lock().take().unwrap_or(Ok(()));
    first.and(second)
}
