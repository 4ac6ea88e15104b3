//! Records: what each group is given to run, with the memory that it reaches, as core dumps that `eitri dump` reads.
//!
//! A record is taken when the driver rings a doorbell, before the GPU sees it: so nothing of the new work has begun. What a stream
//! holds from earlier work (registers, resources) stands in the record as instructions in front of the new ones, in the part of the
//! ring that was consumed already.  Facts: hardware/csf-scheduling.md 2 and 3, csf-firmware.md 9 to 11.

use super::now::Now;
use crate::outcome::Failure;
use crate::output::sparse_file::SparseFile;
use eitri_csf::interface::group::CsgState;
use eitri_csf::interface::user_pages::{CS_EXTRACT, CS_INSERT};
use eitri_csf::table::Register;
use eitri_dump::note::Submission;
use eitri_dump::walk::Space;
use eitri_dump::{Extent, Region, Source, StreamNow, collect_part, streams};
use eitri_host_gpu::MachineMemory;
use eitri_model::Gpu;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Runs of physical memory that a record may have.
const REGIONS: usize = 1 << 14;
/// What records say of their producer.
const PRODUCER: &str = ", a record of work before it runs";
/// Bytes of an instruction.
const WORD: u64 = 8;

/// What a stream is known by while its group moves from slot to slot: its page tables, and its ring's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    tables: u64,
    ring: u64,
}

/// What was seen of a stream.
#[derive(Clone, Debug, Default)]
struct Known {
    /// INSERT: everything before it was recorded.
    recorded: u64,
    /// Where the stream last had nothing to do.
    idle_at: u64,
    /// Instructions that bring a new stream to the state that this one had there.
    state: Vec<u64>,
    /// Whether its group has not started yet.
    starting: bool,
}

impl Known {
    /// Takes note of where a stream is; `state` is `None` where its group is on no slot.
    fn observe(&mut self, now: &StreamNow, state: Option<Vec<u64>>) {
        let begins = now.requested == Some(CsgState::Start) && now.reached != Some(CsgState::Start);
        if begins && !self.starting {
            // Another group, at the addresses of one that is gone.
            *self = Known {
                starting: true,
                recorded: now.ring.extract,
                ..Known::default()
            };
        }
        self.starting = begins;
        // Whatever it was given it has consumed.
        if now.ring.extract == self.recorded {
            self.idle_at = self.recorded;
            if let Some(state) = state {
                self.state = state;
            }
        }
    }
}

/// Writes records.
#[derive(Debug)]
pub(super) struct Recorder {
    path: PathBuf,
    count: u32,
    known: HashMap<Key, Known>,
    failure: Option<Failure>,
}

impl Recorder {
    /// One that writes to files beside `path`; those of an earlier run are removed.
    pub(super) fn new(path: &Path) -> Recorder {
        let recorder = Recorder {
            path: path.to_owned(),
            count: 0,
            known: HashMap::new(),
            failure: None,
        };
        let old = (1..).map(|number| recorder.file(number));
        // What can't be removed is told when it is to be written.
        let removed = old.map(std::fs::remove_file).take_while(Result::is_ok);
        removed.for_each(drop);
        recorder
    }

    /// The file of record `number`.
    fn file(&self, number: u32) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!("-{number:04}"));
        name.into()
    }

    /// What was written, in words; or why something was not.
    pub(super) fn finish(mut self) -> Result<String, Failure> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let [first, last] = [1, self.count].map(|number| self.file(number).display().to_string());
        Ok(match self.count {
            0 => "nothing was recorded: no group was given work".to_owned(),
            1 => format!("recorded {first}"),
            count => format!("recorded {count} files, {first} to {last}"),
        })
    }

    /// A doorbell rings: records each group that has new work.
    pub(super) fn doorbell(&mut self, gpu: &mut Gpu, memory: &MachineMemory) {
        if self.failure.is_some() {
            return;
        }
        let found = streams(&mut Now::new(gpu, memory, PRODUCER));
        let found: Vec<(StreamNow, Key)> = found.into_iter().filter_map(with_key).collect();
        for (now, key) in &found {
            let state = gpu.stream_snapshot(now.slot, now.stream);
            self.known.entry(*key).or_default().observe(now, state);
        }
        for group in found.chunk_by(|(a, _), (b, _)| a.slot == b.slot) {
            if group.iter().any(|(now, key)| self.is_new(now, *key))
                && let Err(failure) = self.record(Now::new(gpu, memory, PRODUCER), group)
            {
                self.failure = Some(failure);
                return;
            }
        }
    }

    /// Whether a stream will run what was not recorded.
    fn is_new(&self, now: &StreamNow, key: Key) -> bool {
        let runs = matches!(now.requested, Some(CsgState::Start | CsgState::Resume));
        let recorded = self.known.get(&key).map_or(0, |known| known.recorded);
        runs && now.ring.insert > recorded
    }

    /// Writes the record of one group.
    fn record(&mut self, mut now: Now<'_>, group: &[(StreamNow, Key)]) -> Result<(), Failure> {
        let Some((first, _)) = group.first() else {
            return Ok(());
        };
        let number = self.count + 1;
        for (stream, key) in group {
            let known = self.known.entry(*key).or_default();
            if stream.ring.insert > known.idle_at {
                let submission = prepare(&mut now, stream, known, number);
                now.submissions.push(submission);
            }
            known.recorded = stream.ring.insert;
        }
        let extent = Extent {
            spaces: 1 << first.space.number,
            groups: 1 << first.slot,
        };
        let path = self.file(number);
        let mut file = SparseFile::create(&path)?;
        let mut room = vec![Region::default(); REGIONS];
        let written = collect_part(&mut now, extent, &mut room, &mut file);
        file.finish(written)?;
        self.count = number;
        Ok(())
    }
}

/// A stream with what it is known by; `None` where its group has no page tables yet.
fn with_key(now: StreamNow) -> Option<(StreamNow, Key)> {
    let key = Key {
        tables: now.space.transtab,
        ring: now.ring.address,
    };
    (now.space.number != 0 && key.tables != 0).then_some((now, key))
}

/// Puts the stream's state in front of the work that it has, and gives the whole as a submission.
fn prepare(now: &mut Now<'_>, stream: &StreamNow, known: &Known, number: u32) -> Submission {
    let ring = stream.ring;
    let pending = ring.insert - known.idle_at;
    let bytes = WORD * known.state.len() as u64;
    let fits = ring.bytes.is_power_of_two() && pending.saturating_add(bytes) <= ring.bytes;
    // A ring that is full of work has no room for the state: then the work begins with what a new stream has.
    let state = if fits { known.state.as_slice() } else { &[] };
    let bytes = WORD * state.len() as u64;
    // Positions count on for ever: in a record they may be a whole ring further, so that there is room in front.
    let shift = if known.idle_at < bytes { ring.bytes } else { 0 };
    let begin = known.idle_at + shift - bytes;
    let inside = |position: u64| {
        ring.address
            .wrapping_add(position & ring.bytes.wrapping_sub(1))
    };
    for (position, word) in (begin..).step_by(WORD as usize).zip(state) {
        now.patch(&stream.space, inside(position), &word.to_le_bytes());
    }
    if shift != 0 {
        let firmware = firmware_space(now);
        let [input, output] = stream.user_pages;
        let pages = [
            (input, CS_INSERT, ring.insert),
            (output, CS_EXTRACT, ring.extract),
        ];
        for (page, row, position) in pages {
            let at = page.wrapping_add(row.offset.into());
            now.patch(&firmware, at, &(position + shift).to_le_bytes());
        }
    }
    Submission {
        slot: stream.slot,
        stream: stream.stream,
        sequence: number.into(),
        position: begin,
        bytes: pending + bytes,
        start: inside(known.idle_at),
    }
}

/// The firmware's address space.
fn firmware_space(now: &mut Now<'_>) -> Space {
    Space::read(0, &mut |row: Register| {
        let [low, high] =
            [row.offset, row.offset + 4].map(|offset| u64::from(now.register(offset)));
        high << 32 | low
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_dump::note::Ring;

    /// A stream of a group that is asked to be in one state and is in another.
    fn stream(states: [CsgState; 2], insert: u64, extract: u64) -> StreamNow {
        StreamNow {
            slot: 0,
            stream: 0,
            space: Space::read(1, &mut |_| 0x1000),
            requested: Some(states[0]),
            reached: Some(states[1]),
            ring: Ring {
                address: 0x10_0000,
                bytes: 0x1000,
                insert,
                extract,
            },
            user_pages: [0; 2],
        }
    }

    const RUNS: [CsgState; 2] = [CsgState::Start; 2];
    const STARTS: [CsgState; 2] = [CsgState::Start, CsgState::Terminate];
    const SUSPENDS: [CsgState; 2] = [CsgState::Suspend, CsgState::Start];
    const RESUMES: [CsgState; 2] = [CsgState::Resume, CsgState::Suspend];

    fn recorder() -> (Recorder, tempfile::TempDir, Key) {
        let folder = tempfile::tempdir().unwrap();
        let recorder = Recorder::new(&folder.path().join("job"));
        let (_, key) = with_key(stream(RUNS, 0, 0)).expect("it has tables");
        (recorder, folder, key)
    }

    impl Recorder {
        fn see(&mut self, key: Key, now: StreamNow, state: Option<Vec<u64>>) -> bool {
            let known = self.known.entry(key).or_default();
            known.observe(&now, state);
            let is_new = self.is_new(&now, key);
            if is_new {
                self.known.entry(key).or_default().recorded = now.ring.insert;
            }
            is_new
        }
    }

    #[test]
    fn work_is_new_once() {
        let (mut recorder, _folder, key) = recorder();
        assert!(recorder.see(key, stream(STARTS, 64, 0), None));
        assert!(
            !recorder.see(key, stream(STARTS, 64, 0), None),
            "not started yet"
        );
        assert!(!recorder.see(key, stream(RUNS, 64, 0), Some(vec![1])));
        assert!(recorder.see(key, stream(RUNS, 128, 64), Some(vec![2])));
        assert_eq!(
            (recorder.known[&key].idle_at, &recorder.known[&key].state),
            (64, &vec![2])
        );
        // More while it works: the record begins with what it works at.
        assert!(recorder.see(key, stream(RUNS, 192, 96), Some(vec![3])));
        assert_eq!(
            (recorder.known[&key].idle_at, &recorder.known[&key].state),
            (64, &vec![2])
        );
    }

    #[test]
    fn a_suspended_group_keeps_its_state_and_a_new_one_has_none() {
        let (mut recorder, _folder, key) = recorder();
        assert!(recorder.see(key, stream(STARTS, 64, 0), None));
        assert!(!recorder.see(key, stream(SUSPENDS, 64, 64), Some(vec![7])));
        assert!(recorder.see(key, stream(RESUMES, 128, 64), None));
        assert_eq!(
            (recorder.known[&key].idle_at, &recorder.known[&key].state),
            (64, &vec![7])
        );
        // Another process, whose pages and ring lie where those of the first did.
        assert!(recorder.see(key, stream(STARTS, 64, 0), None));
        assert_eq!(recorder.known[&key].state, Vec::<u64>::new());
    }

    #[test]
    fn files_are_numbered_and_old_ones_go() {
        let folder = tempfile::tempdir().unwrap();
        for old in ["job-0001", "job-0002", "job-0004", "job"] {
            std::fs::write(folder.path().join(old), b"").unwrap();
        }
        let recorder = Recorder::new(&folder.path().join("job"));
        assert!(recorder.file(12).ends_with("job-0012"));
        let mut left: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .flatten()
            .collect();
        left.sort_by_key(std::fs::DirEntry::file_name);
        let left: Vec<_> = left.iter().map(std::fs::DirEntry::file_name).collect();
        assert_eq!(
            left,
            ["job", "job-0004"],
            "what an earlier run wrote is in a row"
        );
        assert!(recorder.finish().unwrap().contains("nothing was recorded"));
    }
}
