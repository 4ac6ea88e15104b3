//! Seats: a few places of the hardware, and more who want one. One manager for group slots and for address spaces.
//!
//! Who has a seat keeps it until another needs it: then the one that was used longest ago gives way, unless it is pinned.
//! Pure: it moves nobody, it says who is where and who should go.  Facts: hardware/gpu-mmu.md section 6 (assigning),
//! csf-scheduling.md section 3.

/// Somebody who wants a seat, by its place in a table.
pub(crate) type Who = usize;

/// A seat that somebody has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Taken {
    who: Who,
    /// How many need it to stay there.
    pins: u32,
    /// When it was used last, in uses.
    used: u64,
}

/// How somebody comes to a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It has this one.
    Has(usize),
    /// This one is free.
    Free(usize),
    /// This one is free when its owner has gone.
    Evict {
        /// The seat.
        seat: usize,
        /// Who has to go.
        whom: Who,
    },
    /// Everybody is pinned.
    None,
}

/// At most `N` seats, of which some exist.
#[derive(Debug)]
pub(crate) struct Seats<const N: usize> {
    seats: [Option<Taken>; N],
    /// A bit for each seat that exists.
    exist: u32,
    /// A bit for each seat that somebody has.
    taken: u32,
    uses: u64,
}

impl<const N: usize> Seats<N> {
    /// The seats that `exist` has a bit for.
    pub(crate) const fn new(exist: u32) -> Seats<N> {
        Seats {
            seats: [None; N],
            exist,
            taken: 0,
            uses: 0,
        }
    }

    fn exists(&self, seat: usize) -> bool {
        self.exist & bit(seat) != 0
    }

    /// The first seat from `seat` on that somebody has.
    #[inline]
    pub(crate) fn next_taken(&self, seat: usize) -> Option<usize> {
        let left = self.taken.checked_shr(seat as u32).unwrap_or(0);
        (left != 0).then(|| seat.saturating_add(left.trailing_zeros() as usize))
    }

    /// How many seats exist.
    pub(crate) const fn count(&self) -> usize {
        self.exist.count_ones() as usize
    }

    /// The seat of somebody.
    pub(crate) fn of(&self, who: Who) -> Option<usize> {
        let has = |taken: &Option<Taken>| taken.is_some_and(|taken| taken.who == who);
        self.seats.iter().position(has)
    }

    /// Who has a seat.
    pub(crate) fn who(&self, seat: usize) -> Option<Who> {
        let taken = self.seats.get(seat)?.as_ref()?;
        Some(taken.who)
    }

    /// Whether a seat is somebody's.
    pub(crate) fn has(&self, seat: usize, who: Who) -> bool {
        let taken = self.seats.get(seat).and_then(|taken| taken.as_ref());
        taken.is_some_and(|taken| taken.who == who)
    }

    /// How somebody would come to a seat.
    pub(crate) fn claim(&self, who: Who) -> Claim {
        if let Some(seat) = self.of(who) {
            return Claim::Has(seat);
        }
        let all = || {
            (0..)
                .zip(&self.seats)
                .filter(|(seat, _)| self.exists(*seat))
        };
        if let Some((seat, _)) = all().find(|(_, taken)| taken.is_none()) {
            return Claim::Free(seat);
        }
        let movable = all().filter_map(|(seat, taken)| Some((seat, (*taken)?)));
        let movable = movable.filter(|(_, taken)| taken.pins == 0);
        match movable.min_by_key(|(_, taken)| taken.used) {
            Some((seat, taken)) => Claim::Evict {
                seat,
                whom: taken.who,
            },
            None => Claim::None,
        }
    }

    /// Gives somebody a seat.
    pub(crate) fn take(&mut self, seat: usize, who: Who) {
        self.uses = self.uses.wrapping_add(1);
        let used = self.uses;
        if let Some(place) = self.seats.get_mut(seat) {
            *place = Some(Taken { who, pins: 0, used });
            self.taken |= bit(seat);
        }
    }

    /// Frees the seat of somebody.
    pub(crate) fn leave(&mut self, who: Who) {
        for (place, seat) in self.seats.iter_mut().zip(0..) {
            if place.is_some_and(|taken| taken.who == who) {
                *place = None;
                self.taken &= !bit(seat);
            }
        }
    }

    /// Frees all seats.
    pub(crate) fn clear(&mut self) {
        self.seats = [None; N];
        self.taken = 0;
    }

    /// Somebody's seat must stay until it is unpinned as often.
    pub(crate) fn pin(&mut self, who: Who) {
        self.uses = self.uses.wrapping_add(1);
        let used = self.uses;
        for taken in self
            .seats
            .iter_mut()
            .flatten()
            .filter(|taken| taken.who == who)
        {
            taken.pins = taken.pins.saturating_add(1);
            taken.used = used;
        }
    }

    /// One needs somebody's seat no more.
    pub(crate) fn unpin(&mut self, who: Who) {
        self.uses = self.uses.wrapping_add(1);
        let used = self.uses;
        for taken in self
            .seats
            .iter_mut()
            .flatten()
            .filter(|taken| taken.who == who)
        {
            taken.pins = taken.pins.saturating_sub(1);
            taken.used = used;
        }
    }

    /// How many need somebody's seat to stay.
    pub(crate) fn pins(&self, who: Who) -> u32 {
        let mut taken = self.seats.iter().flatten();
        taken
            .find(|taken| taken.who == who)
            .map_or(0, |taken| taken.pins)
    }
}

/// The bit of a seat.
fn bit(seat: usize) -> u32 {
    let seat = u32::try_from(seat).unwrap_or(u32::MAX);
    1_u32.checked_shl(seat).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seats 1, 2 and 4.
    fn seats() -> Seats<8> {
        Seats::new(0b1_0110)
    }

    #[test]
    fn only_seats_that_exist_are_given() {
        let mut seats = seats();
        assert_eq!(seats.count(), 3);
        for (who, seat) in [(10, 1), (11, 2), (12, 4)] {
            assert_eq!(seats.claim(who), Claim::Free(seat));
            seats.take(seat, who);
            assert_eq!(seats.claim(who), Claim::Has(seat));
        }
        let taken = [0, 2, 3, 5, 40].map(|seat| seats.next_taken(seat));
        assert_eq!(taken, [Some(1), Some(2), Some(4), None, None]);
        seats.leave(11);
        assert_eq!(seats.next_taken(2), Some(4));
    }

    #[test]
    fn the_least_recently_used_goes_and_the_pinned_stays() {
        let mut seats = seats();
        for (who, seat) in [(10, 1), (11, 2), (12, 4)] {
            seats.take(seat, who);
        }
        assert_eq!(seats.claim(13), Claim::Evict { seat: 1, whom: 10 });
        // Use counts: 10 is in use, 11 was used just now.
        seats.pin(10);
        seats.pin(11);
        seats.unpin(11);
        assert_eq!(seats.claim(13), Claim::Evict { seat: 4, whom: 12 });
        seats.pin(12);
        assert_eq!(seats.claim(13), Claim::Evict { seat: 2, whom: 11 });
        seats.pin(11);
        assert_eq!(seats.claim(13), Claim::None);
        seats.pin(11);
        seats.unpin(11);
        assert_eq!((seats.pins(11), seats.claim(13)), (1, Claim::None));
        seats.leave(11);
        assert_eq!((seats.of(11), seats.claim(13)), (None, Claim::Free(2)));
        seats.clear();
        assert_eq!(seats.claim(13), Claim::Free(1));
    }

    /// Whatever is asked for in whatever order: nobody has two seats, no seat two owners, and nobody pinned is moved.
    #[test]
    fn nobody_sits_on_another() {
        let mut random = 7_u64;
        let mut roll = |sides: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) % sides
        };
        let mut seats = seats();
        let mut pins = [0_u32; 6];
        for _ in 0..20_000 {
            let who = roll(6) as usize;
            match roll(3) {
                0 => match seats.claim(who) {
                    Claim::Has(seat) => assert_eq!(seats.of(who), Some(seat)),
                    Claim::Free(seat) => seats.take(seat, who),
                    Claim::Evict { seat, whom } => {
                        assert_eq!(pins[whom], 0, "{whom} is in use");
                        assert_eq!(seats.of(whom), Some(seat));
                        seats.leave(whom);
                        seats.take(seat, who);
                    }
                    Claim::None => assert_eq!(pins.iter().filter(|pins| **pins > 0).count(), 3),
                },
                1 if seats.of(who).is_some() => {
                    seats.pin(who);
                    pins[who] += 1;
                }
                _ if pins[who] > 0 => {
                    seats.unpin(who);
                    pins[who] -= 1;
                }
                _ => {}
            }
            let seated = (0..6).filter(|who| seats.of(*who).is_some());
            assert!(seated.count() <= 3);
            assert!((0..6).all(|who| seats.pins(who) == pins[who]));
        }
    }
}
