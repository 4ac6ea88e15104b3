//! Power of the L2 cache: the only domain that a host of a CSF GPU switches. Architectures 10 to 13.
//!
//! Facts: hardware/csf-mmio.md sections 10, 16.3 and 16.4.

use super::ProbeError;
use crate::access::RegisterAccess;
use crate::platform::{Instant, Lines, Platform, PowerChange, SystemCoherency};
use crate::wait::{Condition, RegisterWait, TimedOut, finish, ms, us};
use core::fmt;
use core::time::Duration;
use eitri_csf::registers::control::{
    ASN_HASH, COHERENCY_ENABLE, Coherency, L2_CONFIG, coherency_enable, l2_config,
};
use eitri_csf::registers::identity::coherency_features;
use eitri_csf::registers::mcu::MCU_STATUS;
use eitri_csf::registers::power::{Domain, L2_PWROFF, L2_PWRON, L2_PWRTRANS, L2_READY};
use eitri_csf::table::Register;
use thiserror::Error;

/// How long the L2 may take to change state, and how often one looks.
const LIMIT: Duration = ms(20);
pub(crate) const LOOK: Duration = us(100);

/// The one L2 cache that is used, also where there are more.
const FIRST_L2: u64 = 1;

/// The registers of one domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainState {
    /// Which domain.
    pub domain: Domain,
    /// Units that are powered.
    pub ready: u64,
    /// Units that are changing state.
    pub transition: u64,
    /// Units that are executing.
    pub active: u64,
}

/// Everything there is to see about power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerState {
    /// The three domains.
    pub domains: [DomainState; 3],
    /// `MCU_STATUS`.
    pub mcu_status: u32,
}

impl PowerState {
    /// Reads it.
    pub(crate) fn read<P: Platform>(platform: &mut P) -> PowerState {
        let domains = Domain::ALL.map(|domain| DomainState {
            domain,
            ready: platform.read(domain.ready()),
            transition: platform.read(domain.transition()),
            active: platform.read(domain.active()),
        });
        PowerState {
            domains,
            mcu_status: platform.read_word(MCU_STATUS),
        }
    }
}

impl fmt::Display for PowerState {
    /// One indented line a domain, and one for the microcontroller.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for DomainState {
            domain,
            ready,
            transition,
            active,
        } in &self.domains
        {
            let (a, b, c) = (domain.ready(), domain.transition(), domain.active());
            write!(f, "  {} ({:#x}) = {ready:#x}", a.name, a.offset)?;
            write!(f, ", {} ({:#x}) = {transition:#x}", b.name, b.offset)?;
            writeln!(f, ", {} ({:#x}) = {active:#x}", c.name, c.offset)?;
        }
        write!(f, "  {}", MCU_STATUS.decode(u64::from(self.mcu_status)))
    }
}

/// A domain that did not change its state in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "{domain} did not power {change}: {timed_out}\n{state}\n  help: is the GPU's clock running? `eitri explain {}` tells more",
    timed_out.register.name
)]
pub struct PowerStuck {
    /// The domain.
    pub domain: Domain,
    /// What was asked of it.
    pub change: PowerChange,
    /// What was waited for.
    pub timed_out: TimedOut,
    /// All of power at that time.
    pub state: PowerState,
}

/// The bus protocol to use. It is decided here once: for `COHERENCY_ENABLE`, for the address spaces, and by what the
/// platform does in [`Platform::clean`].
///
/// # Errors
/// If the platform counts on ACE-Lite and the GPU does not speak it (hardware/boards-others.md has such a SoC): nobody
/// would keep the caches.
pub(crate) fn choose_coherency(
    system: SystemCoherency,
    features: u32,
) -> Result<Coherency, ProbeError> {
    match system {
        SystemCoherency::None => Ok(Coherency::None),
        SystemCoherency::AceLite if coherency_features::ACE_LITE.get(features) => {
            Ok(Coherency::AceLite)
        }
        SystemCoherency::AceLite => Err(ProbeError::NotCoherent { system, features }),
    }
}

/// Writes what must stand before the L2 has power: it is lost with a reset.
pub(crate) fn prepare_l2<P: Platform>(platform: &mut P, coherency: Coherency) {
    // Read-modify-write: from 12.0.1 the register has a bit that is not ours.
    let enable = platform.read_word(COHERENCY_ENABLE);
    let enable = coherency_enable::PROTOCOL.set(u64::from(enable), coherency);
    platform.write(COHERENCY_ENABLE, enable);
    if let Some(hash) = platform.slice_hash() {
        for (number, word) in (0..).zip(hash) {
            platform.write(ASN_HASH.at(number), u64::from(word));
        }
        let config = platform.read(L2_CONFIG);
        platform.write(L2_CONFIG, l2_config::ASN_HASH_ENABLE.set(config, true));
    }
}

/// What holds, in order, after the command that switches power on, and after that which switches it off.
const AFTER_ON: [(&Register, Condition); 1] = [(&L2_READY, Condition::set(FIRST_L2))];
const AFTER_OFF: [(&Register, Condition); 2] = [
    (&L2_PWRTRANS, Condition::clear(FIRST_L2)),
    (&L2_READY, Condition::clear(FIRST_L2)),
];

/// A change of the L2's power under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Switch {
    change: PowerChange,
    /// What is waited for now.
    awaited: RegisterWait,
    /// What comes after it, once the command is given; at first that nothing else changes.
    next: Option<usize>,
}

impl Switch {
    /// Begins to switch power on, after [`prepare_l2`], or off: then the microcontroller must be stopped and the address
    /// spaces unmapped.
    pub(crate) fn begin<P: Platform>(
        platform: &mut P,
        now: Instant,
        change: PowerChange,
    ) -> Switch {
        let awaited = RegisterWait::new(
            platform,
            now,
            &L2_PWRTRANS,
            Condition::clear(FIRST_L2),
            LIMIT,
        );
        Switch {
            change,
            awaited,
            next: None,
        }
    }

    /// Whether it is done.
    ///
    /// # Errors
    /// If it is not in time.
    pub(crate) fn poll<P: Platform>(
        &mut self,
        platform: &mut P,
        now: Instant,
    ) -> Result<bool, PowerStuck> {
        let (command, after) = match self.change {
            PowerChange::On => (L2_PWRON, AFTER_ON.as_slice()),
            PowerChange::Off => (L2_PWROFF, AFTER_OFF.as_slice()),
        };
        loop {
            let looked = self.awaited.poll(platform, now);
            let holds = looked.map_err(|timed_out| PowerStuck {
                domain: Domain::L2,
                change: self.change,
                timed_out,
                state: PowerState::read(platform),
            })?;
            if !holds {
                return Ok(false);
            }
            if self.next.is_none() {
                platform.write(command, FIRST_L2);
            }
            let next = self.next.unwrap_or(0);
            let Some((register, wanted)) = after.get(next) else {
                return Ok(true);
            };
            self.awaited = RegisterWait::new(platform, now, register, *wanted, LIMIT);
            self.next = Some(next.saturating_add(1));
        }
    }
}

/// Switches the L2's power and waits until it has changed.
///
/// # Errors
/// If it does not in time.
pub(crate) fn switch<P: Platform>(platform: &mut P, change: PowerChange) -> Result<(), PowerStuck> {
    let now = platform.now();
    let mut switch = Switch::begin(platform, now, change);
    finish(platform, Lines::NONE, LOOK, |it, now| switch.poll(it, now))
}
