//! Virtual time, and what is due at which moment.
//!
//! Time advances with every register access and with `Gpu::run`, never by itself. An effect is due when its time has come
//! *and* the host has looked at the device once since its cause: so a driver that does not wait sees that it should have.
//!
//! Facts: hardware/csf-mmio.md 9 (counters); hardware/csf-host-interface.md 6 (nothing is instant).

use alloc::vec::Vec;

/// Nanoseconds of virtual time.
pub type Nanoseconds = u64;

/// The model's clock.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    now: Nanoseconds,
    /// Register accesses and runs so far.
    observations: u64,
    cycle_hz: u64,
    timestamp_hz: u64,
    /// What the host wrote to TIMESTAMP_OFFSET.
    pub(crate) timestamp_offset: u64,
    /// Cycles counted while the counter was enabled before.
    counted: u64,
    /// When the cycle counter was last enabled.
    counting_since: Option<Nanoseconds>,
}

impl Clock {
    pub(crate) fn new(cycle_hz: u64, timestamp_hz: u64) -> Clock {
        Clock {
            now: 0,
            observations: 1,
            cycle_hz: cycle_hz.max(1),
            timestamp_hz: timestamp_hz.max(1),
            timestamp_offset: 0,
            counted: 0,
            counting_since: None,
        }
    }

    pub(crate) fn now(&self) -> Nanoseconds {
        self.now
    }

    pub(crate) fn advance(&mut self, by: Nanoseconds) {
        self.now = self.now.saturating_add(by);
    }

    pub(crate) fn observe(&mut self) {
        self.observations += 1;
    }

    /// The system counter plus the host's offset.
    pub(crate) fn timestamp(&self) -> u64 {
        ticks(self.now, self.timestamp_hz).wrapping_add(self.timestamp_offset)
    }

    /// What the system counter and the offset will be after `cycles` GPU cycles.
    pub(crate) fn timestamp_after(&self, cycles: u64) -> u64 {
        let then = self.now.saturating_add(self.time_of_cycles(cycles));
        ticks(then, self.timestamp_hz).wrapping_add(self.timestamp_offset)
    }

    /// GPU cycles that passed while the counter was enabled.
    pub(crate) fn cycles(&self) -> u64 {
        let running = self
            .counting_since
            .map_or(0, |since| ticks(self.now - since, self.cycle_hz));
        self.counted.wrapping_add(running)
    }

    pub(crate) fn is_counting(&self) -> bool {
        self.counting_since.is_some()
    }

    pub(crate) fn count_cycles(&mut self, enable: bool) {
        if enable == self.is_counting() {
            return;
        }
        self.counted = self.cycles();
        self.counting_since = enable.then_some(self.now);
    }

    /// The GPU cycles of a time.
    pub(crate) fn cycles_of_time(&self, time: Nanoseconds) -> u64 {
        ticks(time, self.cycle_hz)
    }

    /// The time that `cycles` GPU cycles take.
    pub(crate) fn time_of_cycles(&self, cycles: u64) -> Nanoseconds {
        scale(cycles, 1_000_000_000, self.cycle_hz)
    }

    /// The time that `parts` of a GPU cycle take, of which it has `of`.
    pub(crate) fn time_of_parts(&self, parts: u64, of: u64) -> Nanoseconds {
        scale(parts, 1_000_000_000, self.cycle_hz.saturating_mul(of))
    }

    /// The time that `ticks` of the system counter take.
    pub(crate) fn time_of_ticks(&self, ticks: u64) -> Nanoseconds {
        scale(ticks, 1_000_000_000, self.timestamp_hz)
    }
}

fn ticks(time: Nanoseconds, hz: u64) -> u64 {
    scale(time, hz, 1_000_000_000)
}

fn scale(value: u64, by: u64, over: u64) -> u64 {
    // Nearly always: a division of 64 bits is one instruction.
    if let Some(product) = value.checked_mul(by) {
        return product / over;
    }
    let exact = u128::from(value) * u128::from(by) / u128::from(over);
    u64::try_from(exact).unwrap_or(u64::MAX)
}

/// Events that wait for their time, at most one of a kind.
#[derive(Clone, Debug)]
pub(crate) struct Agenda<E> {
    entries: Vec<Entry<E>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    due: Nanoseconds,
    /// The observations there were when the event was caused.
    caused_at: u64,
    event: E,
}

impl<E: Copy + PartialEq> Agenda<E> {
    pub(crate) const fn new() -> Agenda<E> {
        Agenda {
            entries: Vec::new(),
        }
    }

    /// Puts `event` on the agenda, `delay` from now; an equal one that waits already stays as it is.
    pub(crate) fn add(&mut self, clock: &Clock, delay: Nanoseconds, event: E) {
        if !self.holds(event) {
            self.entries.push(Entry {
                due: clock.now().saturating_add(delay),
                caused_at: clock.observations,
                event,
            });
        }
    }

    /// As [`Agenda::add`], for an event that the host did not cause.
    pub(crate) fn add_internal(&mut self, clock: &Clock, delay: Nanoseconds, event: E) {
        if !self.holds(event) {
            self.entries.push(Entry {
                due: clock.now().saturating_add(delay),
                caused_at: 0,
                event,
            });
        }
    }

    pub(crate) fn holds(&self, event: E) -> bool {
        self.entries.iter().any(|entry| entry.event == event)
    }

    pub(crate) fn remove(&mut self, unwanted: impl Fn(E) -> bool) {
        self.entries.retain(|entry| !unwanted(entry.event));
    }

    /// Takes the earliest event that is due and was caused before the latest observation.
    pub(crate) fn take_due(&mut self, clock: &Clock) -> Option<E> {
        let (index, _) = self
            .entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.due <= clock.now && entry.caused_at < clock.observations)
            .min_by_key(|(_, entry)| entry.due)?;
        Some(self.entries.swap_remove(index).event)
    }

    /// The time of the earliest event.
    pub(crate) fn next(&self) -> Option<Nanoseconds> {
        self.entries.iter().map(|entry| entry.due).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_waits_for_its_time_and_for_an_observation() {
        let mut clock = Clock::new(1_000_000_000, 24_000_000);
        let mut agenda = Agenda::new();
        agenda.add(&clock, 100, 'a');
        clock.advance(200);
        assert_eq!(agenda.take_due(&clock), None, "nobody has looked yet");
        clock.observe();
        assert_eq!(agenda.take_due(&clock), Some('a'));
        agenda.add(&clock, 100, 'b');
        clock.observe();
        assert_eq!(agenda.take_due(&clock), None, "its time has not come");
        assert_eq!(agenda.next(), Some(300));
    }

    #[test]
    fn the_cycle_counter_runs_only_while_enabled() {
        let mut clock = Clock::new(500_000_000, 24_000_000);
        clock.advance(1000);
        assert_eq!(clock.cycles(), 0);
        clock.count_cycles(true);
        clock.advance(1000);
        clock.count_cycles(false);
        clock.advance(1000);
        assert_eq!(clock.cycles(), 500);
        assert_eq!(clock.timestamp(), 72);
        assert_eq!(clock.time_of_cycles(500), 1000);
    }
}
