//! Records what the model tells while it runs: instructions, messages and busy units, by job and by draw.
//!
//! Needs: a model that is traced by instructions.  Guarantees: what is told within the turn of a job is that job's; within a pass, what
//! is done for a draw is the draw's.

use super::figures::{SLOTS, Seen};
use crate::reports::timeline::JobNames;
use eitri_model::{Event, JobKind, Nanoseconds, Sink, UnitParts};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// A job.
#[derive(Clone, Debug)]
pub(super) struct RecordedJob {
    pub(super) number: u64,
    pub(super) kind: JobKind,
    pub(super) name: String,
    pub(super) begun: Nanoseconds,
    /// `None`: it never ended.
    pub(super) ended: Option<Nanoseconds>,
}

/// What was done for a job, or within a pass for one draw.
#[derive(Clone, Debug, Default)]
pub(super) struct Share {
    /// Number of the job.
    pub(super) job: u64,
    /// Within a pass, number of the draw's job; 0: no draw.
    pub(super) draw: u64,
    /// Instructions by address.
    pub(super) seen: HashMap<u64, Seen>,
    /// By core.
    pub(super) busy: BTreeMap<u8, UnitParts>,
    pub(super) external_bytes: u64,
}

/// All that was told.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub(super) jobs: Vec<RecordedJob>,
    pub(super) shares: Vec<Share>,
    places: HashMap<(u64, u64), usize>,
    /// The share that what is told belongs to.
    now: Option<usize>,
    known: BTreeMap<u8, UnitParts>,
    known_bytes: u64,
    names: JobNames,
}

impl Recorded {
    fn turn_to(&mut self, job: u64, draw: u64) {
        let next = self.shares.len();
        let place = *self.places.entry((job, draw)).or_insert(next);
        if place == next {
            self.shares.push(Share {
                job,
                draw,
                ..Share::default()
            });
        }
        self.now = Some(place);
    }

    fn share(&mut self) -> Option<&mut Share> {
        self.now.and_then(|now| self.shares.get_mut(now))
    }

    fn job(&mut self, number: u64) -> Option<&mut RecordedJob> {
        // It is among the last.
        let mut jobs = self.jobs.iter_mut().rev();
        jobs.find(|job| job.number == number)
    }

    fn record(&mut self, time: Nanoseconds, event: &Event) {
        match *event {
            Event::Shader {
                address,
                word,
                lanes,
                live,
                waits,
            } => {
                let Some(share) = self.share() else { return };
                let seen = share.seen.entry(address).or_default();
                seen.word = word;
                seen.warps += 1;
                seen.lanes += u64::from(lanes.count_ones());
                seen.live += u64::from(live.count_ones());
                seen.diverged += u64::from(lanes != live);
                if waits != 0 {
                    for slot in (0..SLOTS).filter(|slot| waits >> slot & 1 != 0) {
                        seen.waits[slot] += 1;
                    }
                }
            }
            Event::Message {
                address,
                read,
                written,
                lines,
            } => {
                let Some(share) = self.share() else { return };
                let seen = share.seen.entry(address).or_default();
                seen.messages += 1;
                seen.read += read;
                seen.written += written;
                seen.lines += lines;
            }
            Event::Waited { address, slots } => {
                let Some(share) = self.share() else { return };
                let seen = share.seen.entry(address).or_default();
                for (all, parts) in seen.waited.iter_mut().zip(slots) {
                    *all += u64::from(parts);
                }
            }
            Event::Turn { number: 0 } => self.now = None,
            Event::Turn { number } => self.turn_to(number, 0),
            Event::Drawing { job } => {
                if let Some(pass) = self.share().map(|share| share.job) {
                    self.turn_to(pass, job);
                }
            }
            Event::Units {
                core,
                busy,
                external_bytes,
            } => {
                let before = self.known.insert(core, busy).unwrap_or_default();
                let moved = external_bytes.saturating_sub(self.known_bytes);
                self.known_bytes = external_bytes;
                let Some(share) = self.share() else { return };
                *share.busy.entry(core).or_default() += busy.since(&before);
                share.external_bytes += moved;
            }
            Event::JobStarted {
                number, kind, size, ..
            } => {
                let name = self.names.begin(number, kind, size);
                if self.job(number).is_none() {
                    self.jobs.push(RecordedJob {
                        number,
                        kind,
                        name,
                        begun: time,
                        ended: None,
                    });
                }
            }
            Event::JobEnded { number, .. } => {
                if let Some(job) = self.job(number) {
                    job.ended = Some(time);
                }
            }
            _ => {}
        }
    }
}

/// Records while a model runs.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Rc<RefCell<Recorded>>);

/// The end of a recorder that the model holds.
struct Listener(Rc<RefCell<Recorded>>);

impl Sink for Listener {
    fn event(&mut self, time: Nanoseconds, event: Event) {
        self.0.borrow_mut().record(time, &event);
    }
}

impl Recorder {
    /// What the model is to tell its events.
    pub(crate) fn sink(&self) -> Box<dyn Sink> {
        Box::new(Listener(Rc::clone(&self.0)))
    }

    /// What was told so far.
    pub(super) fn recorded(&self) -> std::cell::Ref<'_, Recorded> {
        self.0.borrow()
    }
}
