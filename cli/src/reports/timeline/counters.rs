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

/// Something that only grows.
#[derive(Clone, Copy, Debug, Default)]
struct Growing<T> {
    /// When it was told of last, and what it was.
    told: (Nanoseconds, T),
    /// What it is now.
    now: (Nanoseconds, T),
}

impl<T: Copy> Growing<T> {
    /// How much it has grown since it was told of, and the time of that; none before so much time has passed.
    fn take(&mut self, shortest: Nanoseconds) -> Option<[(Nanoseconds, T); 2]> {
        let both = [self.told, self.now];
        (self.now.0 >= self.told.0 + shortest).then(|| {
            self.told = self.now;
            both
        })
    }

    /// Nothing happened until then.
    fn idle_until(&mut self, time: Nanoseconds) {
        self.told.0 = self.told.0.max(time);
        self.now.0 = self.now.0.max(time);
    }
}

/// The counters of a job.
#[derive(Debug)]
pub(super) struct Counters {
    clock_hz: u64,
    memory_bandwidth: u64,
    cores: BTreeMap<u8, Growing<UnitParts>>,
    memory: Growing<u64>,
    /// When the last job began.
    begun: Nanoseconds,
    /// Tracks that have begun, by name.
    tracks: BTreeSet<String>,
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
            memory: Growing::default(),
            begun: 0,
            tracks: BTreeSet::new(),
        }
    }
}

impl Counters {
    /// A job begins: what was idle until now does not count with it.
    pub(super) fn begin(&mut self, time: Nanoseconds) {
        self.begun = time;
        self.cores.values_mut().for_each(|it| it.idle_until(time));
        self.memory.idle_until(time);
    }

    /// Takes note of what a core has done so far; the events that tell of it.
    pub(super) fn record(
        &mut self,
        (time, core): (Nanoseconds, u8),
        busy: UnitParts,
        external_bytes: u64,
    ) -> Vec<Value> {
        let begun = (self.begun, UnitParts::default());
        let own = self.cores.entry(core).or_insert(Growing {
            told: begun,
            now: begun,
        });
        own.now = (time.max(own.now.0), busy);
        self.memory.now = (time.max(self.memory.now.0), external_bytes);
        let mut events = self.core(core, SHORTEST);
        events.extend(self.moved(SHORTEST));
        events
    }

    /// A job has ended: what was not told yet is, however short the time.
    pub(super) fn end(&mut self) -> Vec<Value> {
        let cores: Vec<u8> = self.cores.keys().copied().collect();
        let mut events: Vec<Value> = cores.into_iter().flat_map(|it| self.core(it, 1)).collect();
        events.extend(self.moved(1));
        events
    }

    fn core(&mut self, core: u8, shortest: Nanoseconds) -> Vec<Value> {
        let taken = self.cores.get_mut(&core).and_then(|it| it.take(shortest));
        let Some([(from, before), (to, busy)]) = taken else {
            return vec![];
        };
        let cycles = (to - from) as f64 * self.clock_hz as f64 / 1e9;
        let units = busy.since(&before).times().named();
        let values = units.map(|(unit, busy)| {
            // Parts of a cycle count as one.
            let percent = ((1000.0 * busy as f64 / cycles).round() / 10.0).min(100.0);
            (format!("core {core}: {unit} (% of peak)"), [percent, 100.0])
        });
        self.values(20_000 + u64::from(core), (from, to), &values)
    }

    fn moved(&mut self, shortest: Nanoseconds) -> Vec<Value> {
        let Some([(from, before), (to, bytes)]) = self.memory.take(shortest) else {
            return vec![];
        };
        let peak = self.memory_bandwidth as f64 / 1e6;
        let moved = bytes.saturating_sub(before) as f64 * 1000.0 / (to - from) as f64;
        // A core that is ahead may have asked for what comes later.
        let value = [moved.round().min(peak), peak];
        self.values(MEMORY, (from, to), &[("memory (MB/s)".to_owned(), value)])
    }

    /// Values that hold for some time, and nothing behind them; nothing of what has never been more.
    fn values(
        &mut self,
        track: u64,
        (from, to): (Nanoseconds, Nanoseconds),
        values: &[(String, [f64; 2])],
    ) -> Vec<Value> {
        let values = values.iter();
        let shown: Vec<_> = values
            .filter(|(name, [used, _])| *used != 0.0 || self.tracks.contains(name))
            .collect();
        let event = |time, name: &str, used: f64, peak: f64| {
            json!({
                "ph": "C", "ts": microseconds(time), "tid": track, "name": name,
                "args": {"used": used, "peak": peak},
            })
        };
        let begin = shown.iter();
        let begin = begin.map(|(name, [used, peak])| event(from, name, *used, *peak));
        let end = shown.iter();
        let end = end.map(|(name, [_, peak])| event(to, name, 0.0, *peak));
        let events = begin.chain(end).collect();
        self.tracks
            .extend(shown.iter().map(|(name, _)| name.clone()));
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
        let mut events = counters.record((2000, 3), busy(250), 2700);
        // The rest is told when the job ends.
        assert_eq!(
            counters.record((2100, 3), busy(300), 2700),
            [] as [Value; 0]
        );
        events.extend(counters.end());
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
                (core, 2.0, 50.0, 100.0),
                (core, 2.1, 0.0, 100.0),
                ("memory (MB/s)", 2.0, 0.0, 27000.0),
                ("memory (MB/s)", 2.1, 0.0, 27000.0),
            ]
        );
    }
}
