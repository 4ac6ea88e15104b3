//! Counters of a timeline: how busy the units of each core are, and how much memory moves, each beside its ceiling.
//!
//! Guarantees: a value stands at the beginning of the time that it is the mean of; a track begins when its unit first does something.

use super::microseconds;
use eitri_model::{Config, Nanoseconds, UnitParts};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Shortest time that a value is the mean of: cores are asked after each task, which may be short.
const SHORTEST: Nanoseconds = 500;

/// The number of the track of memory, behind those of the cores.
const MEMORY: u64 = 20_099;

/// What was last told of something that only grows.
#[derive(Clone, Copy, Debug)]
struct Known<T> {
    time: Nanoseconds,
    value: T,
}

/// The counters of a job.
#[derive(Debug)]
pub(super) struct Counters {
    clock_hz: u64,
    memory_bandwidth: u64,
    cores: BTreeMap<u8, Known<UnitParts>>,
    memory: Known<u64>,
    /// Tracks that have begun, by name.
    begun: BTreeSet<String>,
}

impl Default for Counters {
    fn default() -> Counters {
        let Config {
            clock_hz,
            memory_bandwidth,
            ..
        } = Config::default();
        Counters {
            clock_hz,
            memory_bandwidth,
            cores: BTreeMap::new(),
            memory: Known { time: 0, value: 0 },
            begun: BTreeSet::new(),
        }
    }
}

impl Counters {
    /// A job begins: what was idle until now does not count with it.
    pub(super) fn begin(&mut self, time: Nanoseconds) {
        for known in self.cores.values_mut() {
            known.time = known.time.max(time);
        }
        self.memory.time = self.memory.time.max(time);
    }

    /// Takes note of what a core has done so far; the events that tell of it.
    pub(super) fn record(
        &mut self,
        (time, core): (Nanoseconds, u8),
        busy: UnitParts,
        external_bytes: u64,
    ) -> Vec<Value> {
        let mut events = vec![];
        let begun = self.memory.time;
        let known = self.cores.entry(core).or_insert(Known {
            time: begun,
            value: UnitParts::default(),
        });
        if time >= known.time + SHORTEST {
            let cycles = (time - known.time) as f64 * self.clock_hz as f64 / 1e9;
            let done = busy.since(&known.value).times();
            let at = std::mem::replace(known, Known { time, value: busy }).time;
            for (unit, busy) in done.named() {
                let name = format!("core {core}: {unit} (% of peak)");
                // Parts of a cycle count as one.
                let percent = ((1000.0 * busy as f64 / cycles).round() / 10.0).min(100.0);
                let track = 20_000 + u64::from(core);
                events.extend(self.value(track, (at, time), name, [percent, 100.0]));
            }
        }
        if time >= self.memory.time + SHORTEST {
            let moved = external_bytes.saturating_sub(self.memory.value);
            let next = Known {
                time,
                value: external_bytes,
            };
            let at = std::mem::replace(&mut self.memory, next).time;
            let megabytes = moved as f64 * 1000.0 / (time - at) as f64;
            let peak = self.memory_bandwidth as f64 / 1e6;
            let name = "memory (MB/s)".to_owned();
            events.extend(self.value(MEMORY, (at, time), name, [megabytes.round(), peak]));
        }
        events
    }

    /// A value that holds for some time, and none behind it; nothing as long as it has always been none.
    fn value(
        &mut self,
        track: u64,
        (from, to): (Nanoseconds, Nanoseconds),
        name: String,
        [used, peak]: [f64; 2],
    ) -> Vec<Value> {
        if used == 0.0 && !self.begun.contains(&name) {
            return vec![];
        }
        let event = |time, used: f64| {
            json!({
                "ph": "C", "ts": microseconds(time), "tid": track, "name": name,
                "args": {"used": used, "peak": peak},
            })
        };
        let events = vec![event(from, used), event(to, 0.0)];
        self.begun.insert(name);
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_share_of_the_peak_and_stands_where_its_time_begins() {
        let mut counters = Counters::default();
        let busy = |cycles: u64| UnitParts {
            messages: 96 * cycles,
            ..UnitParts::default()
        };
        counters.begin(1000);
        assert_eq!(counters.record((1100, 3), busy(50), 0), [] as [Value; 0]);
        let events = counters.record((2000, 3), busy(250), 2700);
        let told: Vec<(&str, f64, f64, f64)> = events
            .iter()
            .map(|event| {
                let number = |value: &Value| value.as_f64().unwrap();
                let args = &event["args"];
                let name = event["name"].as_str().unwrap();
                let (used, peak) = (number(&args["used"]), number(&args["peak"]));
                (name, number(&event["ts"]), used, peak)
            })
            .collect();
        let core = "core 3: load/store (% of peak)";
        assert_eq!(
            told,
            [
                (core, 1.0, 25.0, 100.0),
                (core, 2.0, 0.0, 100.0),
                ("memory (MB/s)", 1.0, 2700.0, 27000.0),
                ("memory (MB/s)", 2.0, 0.0, 27000.0),
            ]
        );
    }
}
