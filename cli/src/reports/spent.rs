//! What a job took of the cores: a line of cycles by unit, from the model's own clocks.

use eitri_model::UnitTimes;
use std::fmt;

/// The core that took longest, and how many have worked; `None` if none has.
pub(crate) fn longest(cores: &[UnitTimes]) -> Option<(&UnitTimes, usize)> {
    let used = cores.iter().filter(|core| core.bound().1 != 0);
    let core = used.clone().max_by_key(|core| core.bound().1)?;
    Some((core, used.count()))
}

/// The units of the core that took longest.
pub(crate) struct Spent<'a>(pub(crate) &'a [UnitTimes]);

impl fmt::Display for Spent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((core, count)) = longest(self.0) else {
            return f.write_str("no core has worked");
        };
        let (name, cycles) = core.bound();
        let plural = if count == 1 { "" } else { "s" };
        write!(
            f,
            "{cycles} cycles on {count} core{plural}, bound by {name}:"
        )?;
        for (index, (name, cycles)) in core.named().into_iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma} {cycles} {name}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_that_took_longest_is_told_with_its_bound() {
        let core = |arithmetic, load_store| UnitTimes {
            arithmetic,
            load_store,
            ..UnitTimes::default()
        };
        let cores = [core(0, 0), core(30, 20), core(10, 40), core(5, 5)];
        assert_eq!(
            Spent(&cores).to_string(),
            "40 cycles on 3 cores, bound by load/store: 10 arithmetic, 0 special functions, 40 load/store, 0 texture, 0 varying, \
             0 pixels, 0 latency"
        );
        assert_eq!(Spent(&cores[..1]).to_string(), "no core has worked");
    }
}
