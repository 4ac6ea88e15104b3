//! How long is waited for the GPU in real time.

use std::time::{Duration, Instant};

/// A limit of real time from the last sign of progress on. Time in all is not limited: it would depend on what else the machine does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    since: Instant,
    limit: Duration,
    /// Work that had begun at `since`; more of it is progress.
    begun: u64,
}

impl Patience {
    /// So long without progress, from now on.
    pub(crate) fn new(limit: Duration, now: Instant) -> Patience {
        Patience {
            since: now,
            limit,
            begun: 0,
        }
    }

    /// Whether it is over at `now`, when so much work has begun.
    pub(crate) fn is_over(&mut self, now: Instant, begun: u64) -> bool {
        if self.begun != begun {
            (self.begun, self.since) = (begun, now);
        }
        now.duration_since(self.since) > self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    /// Seconds at which a limit is over that is looked at each second, where work begins until `last`.
    fn over_at(mut patience: Patience, start: Instant, last: u64) -> Option<u64> {
        (0..100).find(|&second| {
            let now = start + Duration::from_secs(second);
            patience.is_over(now, second.min(last))
        })
    }

    #[test]
    fn the_limit_counts_from_the_last_progress() {
        let start = Instant::now();
        let patience = Patience::new(LIMIT, start);
        assert_eq!(over_at(patience, start, 0), Some(11), "nothing has begun");
        assert_eq!(over_at(patience, start, 50), Some(61));
        assert_eq!(over_at(patience, start, 200), None, "it goes on");
    }
}
