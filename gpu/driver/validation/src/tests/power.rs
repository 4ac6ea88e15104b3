//! Power and reset, before any driver: the L2, which a host switches, and what a reset must leave behind.
//!
//! The cores and the tiler are the firmware's to switch; `power.core` tries them by jobs, one core at a time.
//! Facts: hardware/csf-mmio.md 6, 7, 10 and 16.

use crate::bench::{Bench, Grid};
use crate::cases;
use crate::raw::Raw;
use crate::result::{Trouble, Unit, Verdict, failed};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use eitri_csf::command::ResetKind;
use eitri_csf::registers::control::{GPU_FAULTSTATUS, GPU_STATUS, gpu_status};
use eitri_csf::registers::interrupts::{GPU_IRQ, gpu_irq};
use eitri_csf::registers::mcu::MCU_STATUS;
use eitri_csf::registers::power::Domain;
use eitri_runtime::Platform;

/// After a reset nothing has power, nothing runs, and nothing is set.
pub(crate) fn reset<P: Platform>(it: &mut Raw<'_, P>) -> Verdict {
    for kind in [ResetKind::Soft, ResetKind::Hard] {
        let took = it.reset(kind)?;
        let name = match kind {
            ResetKind::Soft => "soft",
            _ => "hard",
        };
        it.measure(name, took.as_micros() as u64, Unit::Microseconds);
        let mut rest = Domain::ALL
            .map(|domain| domain.ready())
            .into_iter()
            .chain([MCU_STATUS, GPU_FAULTSTATUS]);
        rest.try_for_each(|register| match it.read(register) {
            0 => Ok(()),
            value => Err(failed!(
                "{} = {value:#x} after a {name} reset, expected 0",
                register.name
            )),
        })?;
        let status = it.read(GPU_STATUS);
        if gpu_status::GPU_ACTIVE.get(status) {
            return Err(failed!(
                "GPU_STATUS = {status:#x} after a {name} reset: still active"
            ));
        }
    }
    Ok(())
}

/// The L2 goes on and off, several times, and says so by its interrupts.
pub(crate) fn l2<P: Platform>(it: &mut Raw<'_, P>) -> Verdict {
    let changed = gpu_irq::POWER_CHANGED_SINGLE.mask() | gpu_irq::POWER_CHANGED_ALL.mask();
    for round in 0..4 {
        it.prepare_l2();
        for on in [true, false] {
            it.write(GPU_IRQ.clear, changed);
            let took = it.switch_l2(on)?;
            let word = if on { "on" } else { "off" };
            let raised = it.read(GPU_IRQ.rawstat) & changed;
            if raised != changed {
                return Err(failed!(
                    "GPU_IRQ_RAWSTAT = {raised:#x} after the L2 went {word}, expected {changed:#x}"
                ));
            }
            if round == 0 {
                it.measure(word, took.as_micros() as u64, Unit::Microseconds);
            }
        }
        // What else has power would have it from nobody.
        for domain in [Domain::Shader, Domain::Tiler] {
            let ready = it.read(domain.ready());
            if ready != 0 {
                return Err(failed!(
                    "{} = {ready:#x} with the L2 off",
                    domain.ready().name
                ));
            }
        }
    }
    it.write(GPU_IRQ.clear, changed);
    Ok(())
}

/// Each core alone runs a job, and knows its number: so each was powered, and no other worked for it.
pub(crate) fn cores<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let Some(case) = cases::ALL.iter().find(|case| case.name == "core-id") else {
        return Err(failed!("the case core-id is missing"));
    };
    let program = it.program(case.name)?;
    let words: Vec<u32> = (0..case.all_threads()).map(case.before).collect();
    let grid = Grid {
        groups: case.groups,
        push: &case.push,
    };
    let mut dead = String::new();
    for core in it.cores() {
        let queue = it.queue_of(core)?;
        match it.run(queue, program, &words, grid) {
            Ok(found) => {
                if let Some(other) = found.iter().find(|word| **word != u32::from(core)) {
                    dead += &format!(" core {core}: core {other} answers.");
                }
            }
            Err(Trouble::Failed(why)) => dead += &format!(" core {core}: {why}"),
            Err(skipped) => return Err(skipped),
        }
        // The core loses its power again when its group has gone and it was idle for long enough.
        it.clear();
    }
    match dead.is_empty() {
        true => Ok(()),
        false => Err(failed!("{}", dead.trim_start())),
    }
}
