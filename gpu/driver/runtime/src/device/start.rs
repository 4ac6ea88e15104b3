//! Start: from whatever the GPU is in to firmware that answers, one step after the other, each a state with its own deadline.
//!
//! Bring-up and restart loop until it is through and report each step; recovery and power-on look at it in `poll`.
//! Facts: hardware/csf-mmio.md sections 16.1 to 16.7.

use super::BringUpError;
use crate::firmware::{
    Filling, Global, Interface, InterfaceError, LoadedImage, Notice, PendingRequest,
};
use crate::gpu::Properties;
use crate::gpu::interrupts::unmask;
use crate::gpu::power::{self, Switch, prepare_l2};
use crate::gpu::reset::Reset;
use crate::mmu::{self, AddressSpace};
use crate::platform::{Instant, Lines, Platform, PowerChange};
use crate::report::{Reporter, Step, Steps};
use crate::wait::{Pace, ms, poll};
use core::time::Duration;
use eitri_csf::command::ResetKind;
use eitri_csf::registers::control::Coherency;
use eitri_csf::registers::interrupts::{GPU_IRQ, gpu_irq};

/// The firmware's own space, which it has for good.
pub(super) const FIRMWARE_SPACE: u32 = 0;

/// Sources of the GPU line that are always let through.
const GPU_SOURCES: u32 = gpu_irq::GPU_FAULT.mask32()
    | gpu_irq::GPU_PROTECTED_FAULT.mask32()
    | gpu_irq::RESET_COMPLETED.mask32()
    | gpu_irq::CLEAN_CACHES_COMPLETED.mask32();

/// From anything: a reset, and the firmware is loaded anew.
const SLOW: [Step; 8] = [
    Step::Reset,
    Step::PowerOn,
    Step::LoadFirmware,
    Step::EnableFirmwareSpace,
    Step::StartFirmware,
    Step::CheckInterface,
    Step::Configure,
    Step::Ping,
];

/// From a GPU without power, whose firmware has halted in order and is as it left itself in memory.
const FAST: [Step; 6] = [
    Step::PowerOn,
    Step::EnableFirmwareSpace,
    Step::StartFirmware,
    Step::CheckInterface,
    Step::Configure,
    Step::Ping,
];

/// To nothing.
const STOP: [Step; 1] = [Step::Reset];

/// What a GPU is started with.
pub(super) struct Ground<'a, 'd, P> {
    pub(super) platform: &'a mut P,
    pub(super) properties: &'a Properties,
    pub(super) coherency: Coherency,
    pub(super) space: &'a mut AddressSpace,
    pub(super) image: &'a LoadedImage<'d>,
}

impl<'d, P> Ground<'_, 'd, P> {
    /// The same, for a shorter time.
    pub(super) fn again(&mut self) -> Ground<'_, 'd, P> {
        Ground {
            platform: self.platform,
            properties: self.properties,
            coherency: self.coherency,
            space: self.space,
            image: self.image,
        }
    }
}

/// A start under way.
#[derive(Debug)]
pub(super) struct Start {
    steps: &'static [Step],
    work: StepState,
    /// The requests of the firmware that has booted.
    global: Option<Global>,
}

/// State of the first step.
#[derive(Debug)]
enum StepState {
    NotBegun,
    Reset(Reset),
    Power(Switch),
    Fill(Filling),
    Space,
    Notice(Notice),
    Interface,
    Answer(PendingRequest),
}

/// What a look has found.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the interface is handed over once, and there is no heap to put it on"
)]
pub(super) enum Looked {
    /// Nothing new; look again after this time, or when a line rises.
    Waits(Duration),
    /// A step is through.
    Passed(Passed),
}

/// A step that is through.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the interface is handed over once, and there is no heap to put it on"
)]
pub(super) enum Passed {
    /// The GPU was reset: it reaches no memory.
    Reset(ResetKind),
    /// The interface is known.
    Interface(Interface),
    /// Another.
    Other,
}

impl Start {
    /// A start from anything.
    pub(super) const fn slow() -> Start {
        Start {
            steps: &SLOW,
            work: StepState::NotBegun,
            global: None,
        }
    }

    /// A start of firmware that is still in memory; its request to halt was taken back.
    pub(super) const fn fast() -> Start {
        Start {
            steps: &FAST,
            work: StepState::NotBegun,
            global: None,
        }
    }

    /// A reset and nothing else: the GPU is to be stopped.
    pub(super) const fn stop() -> Start {
        Start {
            steps: &STOP,
            work: StepState::NotBegun,
            global: None,
        }
    }

    /// The step that is to be done, or being done; none if all are through.
    pub(super) fn step(&self) -> Option<Step> {
        self.steps.first().copied()
    }

    /// Whether the GPU may still reach what it was given before this start.
    pub(super) fn is_before_reset(&self) -> bool {
        self.step() == Some(Step::Reset)
    }

    /// Does what is to be done now. Never waits.
    ///
    /// # Errors
    /// That of the step that failed.
    pub(super) fn poll<P: Platform>(
        &mut self,
        ground: Ground<'_, '_, P>,
        now: Instant,
    ) -> Result<Looked, BringUpError> {
        let Some(step) = self.step() else {
            return Ok(Looked::Waits(Duration::ZERO));
        };
        let Ground {
            platform: it,
            properties,
            coherency,
            space,
            image,
        } = ground;
        if let StepState::NotBegun = self.work {
            self.work = match (step, self.global) {
                (Step::Reset, _) => StepState::Reset(Reset::begin(it, now)),
                (Step::PowerOn, _) => {
                    unmask(it, GPU_IRQ, GPU_SOURCES);
                    prepare_l2(it, coherency);
                    StepState::Power(Switch::begin(it, now, PowerChange::On))
                }
                (Step::LoadFirmware, _) => StepState::Fill(Filling::new()),
                (Step::EnableFirmwareSpace, _) => {
                    space.begin_enter(it, now, FIRMWARE_SPACE)?;
                    StepState::Space
                }
                (Step::StartFirmware, _) => StepState::Notice(Notice::begin(it, now)),
                (Step::Configure, Some(global)) => StepState::Answer(global.begin_configure(
                    it,
                    now,
                    properties.cores,
                    properties.timers,
                )),
                (Step::Ping, Some(global)) => StepState::Answer(global.begin_ping(it, now)),
                _ => StepState::Interface,
            };
        }
        let mut passed = Passed::Other;
        let (done, again) = match &mut self.work {
            StepState::NotBegun => (false, Duration::ZERO),
            StepState::Reset(reset) => match reset.poll(it, now)? {
                Some(kind) => {
                    passed = Passed::Reset(kind);
                    (true, Duration::ZERO)
                }
                None => (false, ms(1)),
            },
            StepState::Power(switch) => (switch.poll(it, now)?, power::LOOK),
            // The rest is to be written at once: the time is the memory's.
            StepState::Fill(filling) => (filling.step(it, image), Duration::ZERO),
            StepState::Space => (space.step(it, now)?, mmu::LOOK),
            StepState::Notice(notice) => (notice.poll(it, now, space, properties.arch)?, ms(1)),
            StepState::Interface => {
                let interface = Interface::discover(it, image.shared())?;
                self.global = Some(interface.global);
                passed = Passed::Interface(interface);
                (true, Duration::ZERO)
            }
            StepState::Answer(asked) => (asked.poll(it, now)?, ms(1)),
        };
        if !done {
            return Ok(Looked::Waits(again));
        }
        self.steps = self.steps.get(1..).unwrap_or(&[]);
        self.work = StepState::NotBegun;
        Ok(Looked::Passed(passed))
    }
}

/// Goes through all steps that are left of a start, and waits for each.
#[inline(never)]
pub(super) fn start<P: Platform, R: Reporter>(
    steps: &mut Steps<'_, R>,
    mut start: Start,
    mut ground: Ground<'_, '_, P>,
) -> Result<Interface, BringUpError> {
    let mut found = None;
    while start.step().is_some() {
        let passed = pass(steps, &mut start, ground.again())?;
        if let Some(Passed::Interface(interface)) = passed {
            found = Some(interface);
        }
    }
    found.ok_or(BringUpError::Interface(InterfaceError::NotBooted))
}

/// A step of a start that is waited for.
struct Passing<'a, 'd, P> {
    ground: Ground<'a, 'd, P>,
    due: Option<Instant>,
}

/// Goes through the next step of a start, and waits for it.
pub(super) fn pass<P: Platform, R: Reporter>(
    steps: &mut Steps<'_, R>,
    start: &mut Start,
    ground: Ground<'_, '_, P>,
) -> Result<Option<Passed>, BringUpError> {
    let Some(step) = start.step() else {
        return Ok(None);
    };
    let (image, coherency) = (ground.image, ground.coherency);
    let cores = ground.properties.cores;
    let mut passing = Passing { ground, due: None };
    let passed: Result<_, BringUpError> = steps.take_with(
        &mut passing,
        |it| it.ground.platform,
        step,
        |passing| {
            poll(
                passing,
                |it| it.ground.platform,
                |it| it.due,
                Pace::new(Lines::ALL, Duration::MAX),
                |it, now| match start.poll(it.ground.again(), now)? {
                    Looked::Passed(passed) => Ok(Some(passed)),
                    Looked::Waits(time) => {
                        it.due = Some(now.after(time));
                        Ok(None)
                    }
                },
            )
        },
        |passed, say| match (step, passed) {
            (_, Some(Passed::Reset(kind))) => {
                say(format_args!("{} reset completed", reset_name(*kind)));
            }
            (_, Some(Passed::Interface(interface))) => say(format_args!("{interface}")),
            (Step::PowerOn, _) => say(format_args!("coherency: {}", coherency.about())),
            (Step::LoadFirmware, _) => {
                let (sections, bytes) = image.size();
                let build = image.image().build_info().unwrap_or("unknown");
                say(format_args!(
                    "{sections} sections, {bytes:#x} bytes, build {build}"
                ));
            }
            (Step::EnableFirmwareSpace, _) => {
                say(format_args!("address space {FIRMWARE_SPACE}"));
            }
            (Step::StartFirmware, _) => say(format_args!("boot notice received")),
            (Step::Configure, _) => say(format_args!("cores {cores:#x}")),
            _ => say(format_args!("answered")),
        },
    );
    let passed = passed?;
    if let Some(Passed::Interface(interface)) = &passed {
        interface.warnings.iter().for_each(|it| steps.warn(it));
    }
    Ok(passed)
}

pub(super) const fn reset_name(kind: ResetKind) -> &'static str {
    match kind {
        ResetKind::Fast => "fast",
        ResetKind::Soft => "soft",
        ResetKind::Hard => "hard",
    }
}
