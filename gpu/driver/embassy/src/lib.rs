//! The runtime for embassy: one task polls the device, others submit and await fences.
//!
//! The core of the runtime has no `async fn`: [`Device::poll`] says what to sleep on. Here that becomes a future: interrupt
//! lines wake by [`LineSignal`], time by embassy's timers, and submissions by themselves.
//!
//! Needs: a platform whose clock is embassy's ([`EmbassyClock`]); interrupt handlers that tell a [`LineSignal`].  Guarantees: a
//! task that awaits a fence is woken when its job is over; nothing allocates.  Never: blocks, once the device is up.
//!
//! ```
//! use eitri_embassy::{Gpu, LineSignal};
//! use eitri_runtime::{CommandBuffer, Error, Platform, Queue, Status};
//!
//! static LINES: LineSignal = LineSignal::new();
//!
//! /// To be spawned once.
//! async fn drive<P: Platform>(gpu: &Gpu<'_, '_, P>) -> ! {
//!     // Enabling an interrupt is the interrupt controller's business; so is disabling it in the handler.
//!     gpu.run(&LINES, |_lines| ()).await
//! }
//!
//! /// As many of these as there is work.
//! async fn work<P: Platform>(gpu: &Gpu<'_, '_, P>, queue: Queue, commands: CommandBuffer) -> Result<Status, Error> {
//!     let fence = gpu.with(|device| device.submit(queue, commands))?;
//!     Ok(gpu.over(fence).await)
//! }
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

use core::cell::RefCell;
use core::future::poll_fn;
use core::task::Poll;
use eitri_mmio::{Clock, Raised};
use eitri_runtime::{Device, Fence, Instant, Lines, Next, Platform, Status};
use embassy_futures::select::select3;
use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::signal::Signal;
use embassy_sync::waitqueue::{AtomicWaker, MultiWakerRegistration};
use embassy_time::{Duration, Timer};

/// Tasks that may await fences at a time without waking each other early.
const TASKS: usize = 8;

/// Embassy's clock, for the platform: what [`Device::poll`] says of time is then embassy's.
#[derive(Clone, Copy, Debug)]
pub struct EmbassyClock {
    /// The rate of the system counter that the GPU sees too, in hertz; 0 if not known.
    pub counter_hertz: u64,
}

impl Clock for EmbassyClock {
    fn now(&mut self) -> Instant {
        now()
    }

    fn hertz(&self) -> u64 {
        self.counter_hertz
    }
}

fn now() -> Instant {
    let now = embassy_time::Instant::now().as_micros();
    Instant(core::time::Duration::from_micros(now))
}

/// The GPU's interrupt lines: a static that handlers and the task share.
pub struct LineSignal {
    raised: Raised,
    waker: AtomicWaker,
}

impl LineSignal {
    /// No line is high.
    pub const fn new() -> LineSignal {
        LineSignal {
            raised: Raised::new(),
            waker: AtomicWaker::new(),
        }
    }

    /// These lines are high: to be called by handlers, which have disabled the interrupt.
    pub fn raise(&self, lines: Lines) {
        self.raised.raise(lines);
        self.waker.wake();
    }

    /// Until one of the lines is high.
    async fn wait(&self, wanted: Lines) {
        poll_fn(|context| {
            self.waker.register(context.waker());
            match self.raised.of(wanted).any() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }
}

impl Default for LineSignal {
    fn default() -> LineSignal {
        LineSignal::new()
    }
}

/// A device that tasks of one executor share.
pub struct Gpu<'s, 'd, P> {
    device: RefCell<Device<'s, 'd, P>>,
    /// Something was asked for: it is to be polled anew.
    asked: Signal<NoopRawMutex, ()>,
    /// Tasks that await a fence.
    waiting: RefCell<MultiWakerRegistration<TASKS>>,
}

impl<'s, 'd, P: Platform> Gpu<'s, 'd, P> {
    /// A device that was brought up.
    pub fn new(device: Device<'s, 'd, P>) -> Gpu<'s, 'd, P> {
        Gpu {
            device: RefCell::new(device),
            asked: Signal::new(),
            waiting: RefCell::new(MultiWakerRegistration::new()),
        }
    }

    /// The device again, to be shut down.
    pub fn into_inner(self) -> Device<'s, 'd, P> {
        self.device.into_inner()
    }

    /// Does something with the device, at once; what was submitted is seen to soon.
    ///
    /// # Panics
    /// If `act` calls this again.
    pub fn with<T>(&self, act: impl FnOnce(&mut Device<'s, 'd, P>) -> T) -> T {
        let result = act(&mut self.device.borrow_mut());
        self.asked.signal(());
        result
    }

    /// Drives the device: for a task of its own. `enable` lets interrupt lines come again, which their handlers have
    /// disabled.
    pub async fn run(&self, lines: &LineSignal, mut enable: impl FnMut(Lines)) -> ! {
        loop {
            let next = self.poll();
            lines.raised.forget(next.lines);
            enable(next.lines);
            let due = async {
                match next.at {
                    Some(at) => Timer::after(left(at)).await,
                    None => core::future::pending().await,
                }
            };
            select3(lines.wait(next.lines), due, self.asked.wait()).await;
        }
    }

    fn poll(&self) -> Next {
        let next = self.device.borrow_mut().poll(now());
        // Whose fence is not over goes back to sleep.
        self.waiting.borrow_mut().wake();
        next
    }

    /// What became of a job, when it is over.
    pub async fn over(&self, fence: Fence) -> Status {
        poll_fn(|context| match self.device.borrow().status(fence) {
            Status::Pending => {
                self.waiting.borrow_mut().register(context.waker());
                Poll::Pending
            }
            status => Poll::Ready(status),
        })
        .await
    }
}

fn left(at: Instant) -> Duration {
    let left = at.since(now()).as_micros();
    Duration::from_micros(u64::try_from(left).unwrap_or(u64::MAX))
}
