//! Parts: the jobs of one submission on several streams of a queue.
//!
//! The last of them stands for the whole: it ends when the others have, signals for all, and its fence and its outcome are the
//! submission's. The streams of one queue take their parts in the same order, so that no two submissions wait for each other.
//! Called code finds the queue's page, and from which value on its streams count in this submission, in two register pairs.
//! Nothing here is reached by jobs that are submitted to one stream.
//! Facts: hardware/graphics.md 1.4, 1.5 and 1.11, csf-scheduling.md 4.

use super::flush::Begin;
use super::job::{Job, NewJob, fail};
use super::points::{MOST_POINTS, Points};
use super::ring::Ring;
use super::stream::{PushError, Stream};
use super::wrapper::{OWN, POINT_WORDS, TAIL, WRAPPER_WORDS, own_words, tail};
use crate::fault::{Cause, Recovery};
use crate::graphics::BASE;
use crate::platform::Platform;
use crate::slab::{Key, Slab};
use crate::vm::GpuAddress;
use eitri_cs::builder::{BuildFault, Config, Load32, Load64};
use eitri_cs::instr::Instr;
use eitri_cs::{Arch, Pair};
use heapless::Vec;

/// Other streams of a queue.
pub(crate) const MOST_JOINS: usize = 2;

/// Words of a part's wrapper at most: semaphores, joins on both sides, what the called code finds, the call and its own.
const MOST_WORDS: usize =
    (OWN + TAIL + PLACE_WORDS + 2 + 2 * (MOST_POINTS + MOST_JOINS) * POINT_WORDS)
        .next_multiple_of(WRAPPER_WORDS);
/// Words that load what the called code finds.
const PLACE_WORDS: usize = 3;

/// Loads of the registers in which called code finds its queue's page, and where counting begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartShape {
    page: Load64,
    base: [Load32; 2],
}

impl PartShape {
    /// Those that load these registers.
    ///
    /// # Errors
    /// If the streams have no such registers.
    pub(crate) fn new(config: &Config, page: Pair, base: Pair) -> Result<PartShape, BuildFault> {
        Ok(PartShape {
            page: Load64::new(config, page)?,
            base: [
                Load32::new(config, base.low())?,
                Load32::new(config, base.high())?,
            ],
        })
    }
}

/// A point of another stream's timeline that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Join {
    /// Where the queue's space has the stream's sync object.
    pub(crate) timeline: GpuAddress,
    /// The point, which is not 0.
    pub(crate) point: u64,
}

/// What the code of a part finds, and what it waits for besides semaphores.
#[derive(Clone, Debug)]
pub(crate) struct Places<'a> {
    pub(crate) shape: &'a PartShape,
    /// The queue's page.
    pub(crate) page: GpuAddress,
    /// The value from which on streams count.
    pub(crate) base: u64,
    /// Waited for before the part begins.
    pub(crate) before: &'a [Join],
    /// Waited for when its code is over.
    pub(crate) after: &'a [Join],
}

impl Stream {
    /// Whether there is room for a part in the ring.
    pub(crate) fn has_room_for_part<P: Platform>(&mut self, platform: &mut P) -> bool {
        self.ring.has_room(platform, MOST_WORDS as u64 * 8)
    }

    /// Puts a part into the ring; gives its place and its point. The doorbell is the caller's.
    pub(crate) fn push_part<P: Platform>(
        &mut self,
        platform: &mut P,
        jobs: &mut Slab<'_, Job>,
        work: &NewJob,
        begin: &Begin,
        (points, places): (Option<&Points>, &Places<'_>),
    ) -> Result<(Key, u64), PushError> {
        let mut words = Vec::new();
        self.part_words(work, begin, points, places, &mut words);
        let length = (words.len() as u64).wrapping_mul(8);
        if !self.ring.has_room(platform, length) {
            return Err(PushError::RingFull);
        }
        let added = self.add_job(jobs, work, begin, length)?;
        self.ring
            .push(platform, words.len(), |block| block.put(&words));
        Ok(added)
    }

    fn part_words(
        &self,
        work: &NewJob,
        begin: &Begin,
        points: Option<&Points>,
        places: &Places<'_>,
        words: &mut Vec<u64, MOST_WORDS>,
    ) {
        let shape = &self.shape;
        let (timeline, _) = self.places.sync;
        // There is room: MOST_WORDS counts all of them.
        let mut put = |all: &[u64]| drop(words.extend_from_slice(all));
        for point in points.into_iter().flat_map(|points| &points.waits) {
            put(&shape.wait_for(point.address, point.value));
        }
        for join in places.before.iter().take(MOST_JOINS) {
            put(&shape.wait_for(join.timeline, join.point));
        }
        put(&own_words(shape, work.code, begin));
        let [low, high] = places.shape.base;
        let loads = [
            places.shape.page.with_address(places.page.0),
            low.with(places.base as u32),
            high.with((places.base >> 32) as u32),
        ];
        put(&loads.map(|load| load.word()));
        put(&[shape.call.word()]);
        for join in places.after.iter().take(MOST_JOINS) {
            put(&shape.wait_for(join.timeline, join.point));
        }
        let signals = points.map(|points| &points.signals);
        if signals.is_some_and(|signals| !signals.is_empty()) {
            put(&[shape.wait_all.word()]);
        }
        for point in signals.into_iter().flatten() {
            put(&shape.signal_point(*point));
        }
        put(&tail(shape, timeline));
        let _ = words.resize(words.len().next_multiple_of(WRAPPER_WORDS), 0);
    }

    /// The value from which the streams of a part's submission count, as its wrapper loads it; `None` of a job that is no part.
    pub(crate) fn base_of_part<P: Platform>(
        &self,
        platform: &mut P,
        job: &Job,
        arch: Arch,
    ) -> Option<u64> {
        let (_, ring) = self.places.ring;
        let mut halves = [None; 2];
        // A wrapper has no more words.
        for offset in job.span().step_by(8).take(MOST_WORDS) {
            let word = platform.load64(ring.offset(offset % Ring::BYTES));
            let Ok(Instr::Move32(load)) = Instr::decode(word, arch) else {
                continue;
            };
            for (half, register) in halves.iter_mut().zip([BASE.low(), BASE.high()]) {
                if load.destination == register {
                    *half = Some(load.immediate);
                }
            }
        }
        let [low, high] = halves;
        Some(u64::from(high?) << 32 | u64::from(low?))
    }

    /// The last point of the stream, if not everything up to it is over.
    pub(crate) fn to_join(&self) -> Option<Join> {
        let (timeline, _) = self.places.sync;
        self.is_busy().then_some(Join {
            timeline,
            point: self.submitted,
        })
    }

    /// The point that was reached by a part.
    pub(crate) const fn join_at(&self, point: u64) -> Join {
        let (timeline, _) = self.places.sync;
        Join { timeline, point }
    }

    /// The GPU was stopped: says of the submission of the oldest job that it has begun, unless that job still waits for a
    /// semaphore.
    pub(crate) fn note_begun(&self, jobs: &mut Slab<'_, Job>) {
        if self.kept {
            return;
        }
        let Some(first) = self.first else { return };
        let whole = jobs.get(first).and_then(|job| job.part.whole());
        if let Some(job) = jobs.get_mut(whole.unwrap_or(first)) {
            job.begun = true;
        }
    }

    /// The GPU was stopped: takes the work out of the jobs behind the oldest whose submissions have begun, or ended, on other
    /// streams. They are lost; what is left of each is its end, by which others are waited for.
    pub(crate) fn void_begun<P: Platform>(&mut self, platform: &mut P, jobs: &mut Slab<'_, Job>) {
        let mut at = self.first;
        let mut oldest = !self.kept;
        // A list has no more jobs than there are.
        for _ in 0..jobs.capacity() {
            let Some((key, job)) = at.and_then(|key| Some((key, jobs.get(key)?))) else {
                break;
            };
            at = job.next;
            let (span, whole) = (job.span(), job.part.whole().unwrap_or(key));
            let begun = jobs.get(whole).is_some_and(|whole| whole.begun);
            // The oldest is taken out of the ring as a whole.
            if core::mem::take(&mut oldest) || !begun {
                continue;
            }
            self.ring.take_out(platform, span, self.shape.call.word());
            fail(jobs, whole, Cause::LostWithGpu, Recovery::Continue);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::SharedBlock;
    use crate::handle::Queue;
    use crate::platform::PhysicalAddress;
    use crate::queue::Code;
    use crate::queue::points::SyncPoint;
    use crate::queue::{CacheUse, StreamShape};
    use eitri_cs::{SubQueue, d};

    fn stream() -> Stream {
        let shape = StreamShape::new(Arch::V10, 96, 8).expect("G610");
        let at = |address| (GpuAddress(address), PhysicalAddress(address));
        let places = super::super::Places {
            ring: at(0x1000),
            sync: at(0x8000_0000_0000),
            pages: at(0x3000),
        };
        let _ = SharedBlock::new(PhysicalAddress(0));
        Stream::new(SubQueue::Fragment, places, shape, 0)
    }

    #[test]
    fn a_part_with_everything_fits() {
        let stream = stream();
        let config = Config::new(Arch::V10);
        let shape = PartShape::new(&config, d!(86), d!(84)).expect("registers");
        let join = Join {
            timeline: GpuAddress(0xFFFF_FFFF_F000),
            point: u64::MAX,
        };
        let mut points = Points::default();
        for _ in 0..MOST_POINTS {
            let point = SyncPoint {
                semaphore: Key::NONE,
                address: GpuAddress(0xFFFF_FFFF_E000),
                value: u64::MAX,
            };
            points.waits.push(point).expect("room");
            points.signals.push(point).expect("room");
        }
        let work = NewJob {
            queue: Queue(Key::NONE),
            code: Code {
                start: GpuAddress(0x40_0000),
                bytes: 64,
            },
            commands: None,
            space: Key::NONE,
            uses: CacheUse::NONE,
            points: None,
        };
        let joins = [join; MOST_JOINS];
        let places = Places {
            shape: &shape,
            page: GpuAddress(0x77_0000),
            base: 0x1_0000_0002,
            before: &joins,
            after: &joins,
        };
        let mut words = Vec::new();
        stream.part_words(&work, &Begin::NOTHING, Some(&points), &places, &mut words);
        let count = |op: u64| words.iter().filter(|word| **word >> 56 == op).count();
        let waits = MOST_POINTS + 2 * MOST_JOINS;
        // SYNC_WAIT64, SYNC_SET64, SYNC_ADD64, CALL: hardware/command-stream.md 3.3 and 3.5.
        assert_eq!([0x35, 0x34, 0x33, 0x20].map(count), [waits, 4, 1, 1]);
        assert!(words.len() <= MOST_WORDS && words.len().is_multiple_of(WRAPPER_WORDS));
        assert!(words.contains(&0x0156_0000_0077_0000), "the page");
        assert!(words.contains(&0x0254_0000_0000_0002), "the base");
        assert!(words.contains(&0x0255_0000_0000_0001), "its upper half");
    }
}
