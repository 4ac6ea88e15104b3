//! Power domains: units that are off, changing or ready.
//!
//! Facts: hardware/csf-mmio.md 10, and 18 item 4.

use crate::diagnosis::RegisterMisuse;
use crate::fabric::{Due, Fabric};
use crate::injection::Injection;
use eitri_csf::registers::interrupts::gpu_irq;
use eitri_csf::registers::power::Domain;

/// The units of one domain.
#[derive(Clone, Copy, Debug, Default)]
struct Units {
    present: u64,
    ready: u64,
    rising: u64,
    falling: u64,
}

/// All domains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Power {
    units: [Units; 3],
}

impl Power {
    pub(crate) fn new(l2: u64, tiler: u64, shader: u64) -> Power {
        let with = |present| Units {
            present,
            ..Units::default()
        };
        Power {
            units: [with(l2), with(tiler), with(shader)],
        }
    }

    fn units(&mut self, domain: Domain) -> &mut Units {
        &mut self.units[domain as usize]
    }

    /// Everything off, at once.
    pub(crate) fn reset(&mut self) {
        for units in &mut self.units {
            *units = Units {
                present: units.present,
                ..Units::default()
            };
        }
    }

    /// Units that are powered and usable.
    pub(crate) fn ready(&self, domain: Domain) -> u64 {
        self.units[domain as usize].ready
    }

    /// Units that are changing state.
    pub(crate) fn changing(&self, domain: Domain) -> u64 {
        let units = self.units[domain as usize];
        units.rising | units.falling
    }

    pub(crate) fn is_l2_on(&self) -> bool {
        self.ready(Domain::L2) != 0
    }

    /// A write to PWRON or PWROFF.
    pub(crate) fn request(&mut self, fabric: &mut Fabric, domain: Domain, on: bool, mask: u64) {
        let register = if on {
            domain.power_on()
        } else {
            domain.power_off()
        };
        let changing = mask & self.changing(domain);
        if changing != 0 {
            fabric.journal.report(RegisterMisuse::PowerWhileChanging {
                name: register.name,
                units: changing,
            });
        }
        let absent = mask & !self.units(domain).present;
        if absent != 0 {
            fabric.journal.report(RegisterMisuse::AbsentUnits {
                name: register.name,
                units: absent,
            });
        }
        self.switch(fabric, domain, on, mask & !changing);
    }

    /// Starts a change of the units in `mask` that exist and are not there yet.
    pub(crate) fn switch(&mut self, fabric: &mut Fabric, domain: Domain, on: bool, mask: u64) {
        let (_, stays_on) = fabric.defects.deaf_units(domain);
        let units = self.units(domain);
        let idle = !(units.rising | units.falling);
        let started = if on {
            let started = mask & units.present & !units.ready & idle;
            units.rising |= started;
            started
        } else {
            let started = mask & units.ready & idle & !stays_on;
            units.ready &= !started;
            units.falling |= started;
            started
        };
        if started != 0 && !Power::is_stuck(fabric, domain) {
            let delay = fabric.config.latencies.power;
            match domain {
                Domain::L2 => fabric.after(delay, Due::Power(domain)),
                // The firmware's doing.
                Domain::Tiler | Domain::Shader => fabric.later(delay, Due::Power(domain)),
            }
        }
    }

    fn is_stuck(fabric: &mut Fabric, domain: Domain) -> bool {
        match domain {
            Domain::L2 => fabric.strikes(Injection::L2PowerStuck),
            Domain::Shader => fabric.strikes(Injection::ShaderPowerStuck),
            Domain::Tiler => false,
        }
    }

    /// The changes of a domain are complete.
    pub(crate) fn complete(&mut self, fabric: &mut Fabric, domain: Domain) {
        let (dead, _) = fabric.defects.deaf_units(domain);
        let units = self.units(domain);
        units.ready |= units.rising & !dead;
        (units.rising, units.falling) = (0, 0);
        fabric.irq.gpu.raise(gpu_irq::POWER_CHANGED_SINGLE.mask32());
        if Domain::ALL.iter().all(|domain| self.changing(*domain) == 0) {
            fabric.irq.gpu.raise(gpu_irq::POWER_CHANGED_ALL.mask32());
        }
    }
}
