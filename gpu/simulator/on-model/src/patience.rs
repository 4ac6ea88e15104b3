//! How long is waited for the GPU in real time.

use std::time::{Duration, Instant};

/// A limit of real time, from the start on or from the last sign of progress on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    since: Instant,
    limit: Duration,
    /// Work that had begun at `since`, if more of it is progress.
    begun: Option<u64>,
}

impl Patience {
    /// So long from now on, whatever happens.
    pub(crate) fn in_all(limit: Duration, now: Instant) -> Patience {
        Patience {
            since: now,
            limit,
            begun: None,
        }
    }

    /// So long without progress.
    pub(crate) fn without_progress(limit: Duration, now: Instant) -> Patience {
        Patience {
            begun: Some(0),
            ..Patience::in_all(limit, now)
        }
    }

    /// Whether it is over at `now`, when so much work has begun.
    pub(crate) fn is_over(&mut self, now: Instant, begun: u64) -> bool {
        if self.begun.is_some_and(|known| known != begun) {
            (self.begun, self.since) = (Some(begun), now);
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
    fn a_limit_for_all_counts_from_the_start() {
        let start = Instant::now();
        let patience = Patience::in_all(LIMIT, start);
        assert_eq!(over_at(patience, start, 50), Some(11));
    }

    #[test]
    fn a_limit_without_progress_counts_from_the_last_progress() {
        let start = Instant::now();
        let patience = Patience::without_progress(LIMIT, start);
        assert_eq!(over_at(patience, start, 0), Some(11), "nothing has begun");
        assert_eq!(over_at(patience, start, 50), Some(61));
        assert_eq!(over_at(patience, start, 200), None, "it goes on");
    }
}
