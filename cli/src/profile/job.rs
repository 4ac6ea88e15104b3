//! Jobs of a profile: dispatches, draws and passes, how long they took, and what bounded them.
//!
//! Relies on the model's own clocks: the times of units are those that its virtual time went by.

use super::figures::Figures;
use eitri_model::UnitParts;
use std::collections::BTreeMap;

/// The GPU that ran it.
#[derive(Clone, Debug)]
pub(crate) struct Gpu {
    pub(crate) name: String,
    pub(crate) cores: u32,
    pub(crate) clock_hz: u64,
    /// Bytes that memory moves in a second.
    pub(crate) memory_bandwidth: u64,
}

/// What was done by one program of a job, or of a draw in a pass.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// The program's place in the profile; `None`: code that is none of its programs, such as what the driver draws with.
    pub(crate) program: Option<usize>,
    pub(crate) total: Figures,
    /// Figures of each of its instructions.
    pub(crate) instructions: Vec<Figures>,
}

/// What was done within a pass for one draw.
#[derive(Clone, Debug)]
pub(crate) struct DrawShare {
    /// The draw's name; `None`: for no draw, such as what begins and ends tiles.
    pub(crate) name: Option<String>,
    pub(crate) load: Load,
    pub(crate) stages: Vec<Stage>,
}

/// A dispatch, the vertices of a draw, or a pass.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) number: u64,
    /// `dispatch`, `draw` or `pass`.
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) begun_ns: u64,
    /// Time from its begin to its end; `None`: it did not end.
    pub(crate) nanoseconds: Option<u64>,
    pub(crate) load: Load,
    /// Programs that ran for it: those of all draws together.
    pub(crate) stages: Vec<Stage>,
    /// Of a pass, what was done for each draw.
    pub(crate) draws: Vec<DrawShare>,
}

/// What units and memory had to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Load {
    pub(crate) cores: BTreeMap<u8, UnitParts>,
    pub(crate) external_bytes: u64,
}

/// What held it up most.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bound {
    pub(crate) unit: &'static str,
    /// Cycles that it needs at least: on the busiest core, or for memory.
    pub(crate) cycles: u64,
    /// Share of its peak while the job ran, in percent; none where nothing is known of its time.
    pub(crate) percent: Option<f64>,
    /// The same on all cores of the GPU together.
    pub(crate) percent_of_gpu: Option<f64>,
}

impl Load {
    /// Adds what another had to do.
    pub(super) fn add(&mut self, other: &Load) {
        for (core, busy) in &other.cores {
            *self.cores.entry(*core).or_default() += *busy;
        }
        self.external_bytes += other.external_bytes;
    }

    /// Cores that worked for it.
    pub(crate) fn used_cores(&self) -> usize {
        let used = |busy: &&UnitParts| busy.times().bound().1 != 0;
        self.cores.values().filter(used).count()
    }

    /// Cycles of a unit on the busiest core, and of all cores together, in the order of `UnitTimes::named`.
    pub(crate) fn units(&self) -> Vec<(&'static str, u64, u64)> {
        let busiest = self.busiest().times().named();
        let mut all = UnitParts::default();
        self.cores.values().for_each(|busy| all += *busy);
        let all = all.times().named();
        let both = busiest.into_iter().zip(all);
        both.map(|((unit, on_core), (_, of_all))| (unit, on_core, of_all))
            .collect()
    }

    /// What the core that took longest did.
    pub(crate) fn busiest(&self) -> UnitParts {
        let longest = self.cores.values();
        let longest = longest.max_by_key(|busy| busy.times().bound().1);
        longest.copied().unwrap_or_default()
    }

    /// Cycles that memory takes to move what it was asked for.
    pub(crate) fn memory_cycles(&self, gpu: &Gpu) -> u64 {
        let cycles = u128::from(self.external_bytes) * u128::from(gpu.clock_hz);
        u64::try_from(cycles.div_ceil(u128::from(gpu.memory_bandwidth.max(1)))).unwrap_or(u64::MAX)
    }

    /// What held it up most, in so much time; `None` if it did nothing.
    pub(crate) fn bound(&self, gpu: &Gpu, nanoseconds: Option<u64>) -> Option<Bound> {
        let (mut unit, mut cycles) = self.busiest().times().bound();
        let units = self.units();
        let of_unit = units.iter().find(|(name, ..)| *name == unit);
        // Of a core on every core.
        let mut on_gpu = of_unit.map_or(0, |(_, _, all)| *all) as f64 / f64::from(gpu.cores.max(1));
        let memory = self.memory_cycles(gpu);
        if memory > cycles {
            (unit, cycles, on_gpu) = ("memory", memory, memory as f64);
        }
        let elapsed = nanoseconds.map(|time| time as f64 * gpu.clock_hz as f64 / 1e9);
        let elapsed = elapsed.filter(|cycles| *cycles > 0.0);
        let share = |cycles: f64| elapsed.map(|elapsed| (100.0 * cycles / elapsed).min(100.0));
        (cycles != 0).then(|| Bound {
            unit,
            cycles,
            percent: share(cycles as f64),
            percent_of_gpu: share(on_gpu),
        })
    }
}

impl Job {
    /// Cycles of the GPU's clock from its begin to its end.
    pub(crate) fn elapsed_cycles(&self, gpu: &Gpu) -> Option<u64> {
        let cycles = |time: u64| u128::from(time) * u128::from(gpu.clock_hz) / 1_000_000_000;
        let cycles = self.nanoseconds.map(cycles);
        cycles.map(|cycles| u64::try_from(cycles).unwrap_or(u64::MAX))
    }

    /// What all its programs did.
    pub(crate) fn total(&self) -> Figures {
        Figures::sum(self.stages.iter().map(|stage| &stage.total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu() -> Gpu {
        Gpu {
            name: "Mali-G610".to_owned(),
            cores: 4,
            clock_hz: 1_000_000_000,
            memory_bandwidth: 16_000_000_000,
        }
    }

    #[test]
    fn the_bound_is_the_busiest_unit_of_the_busiest_core_or_memory() {
        let core = |issue: u64, messages: u64| UnitParts {
            issue: 96 * issue,
            messages: 96 * messages,
            ..UnitParts::default()
        };
        let mut load = Load {
            cores: BTreeMap::from([(0, core(40, 80)), (2, core(90, 20))]),
            external_bytes: 16 * 50,
        };
        let bound = |load: &Load| load.bound(&gpu(), Some(180)).unwrap();
        assert_eq!(
            bound(&load),
            Bound {
                unit: "arithmetic",
                cycles: 90,
                percent: Some(50.0),
                percent_of_gpu: Some(100.0 * 130.0 / 4.0 / 180.0),
            }
        );
        assert_eq!(load.used_cores(), 2);
        load.external_bytes = 16 * 135;
        let memory = bound(&load);
        assert_eq!((memory.unit, memory.percent), ("memory", Some(75.0)));
        assert_eq!(Load::default().bound(&gpu(), Some(180)), None);
        assert_eq!(load.bound(&gpu(), None).unwrap().percent, None);
    }
}
