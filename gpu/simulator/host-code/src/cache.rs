//! The cache: code by what it was made of, and the thread that makes it.

use crate::code::{Code, can_translate};
use eitri_model::host_code::{Arch, FloatPolicy, HostCode, Section, Translator};
use std::collections::HashMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sections whose code is kept; with more, all are made again when they are hot.
const KEPT: usize = 1024;

/// Jobs after which a section that none of them made hot is translated all the same: it is dispatched again and again.
const JOBS: u32 = 4;

/// Translates shaders of all devices of the process.
#[derive(Debug)]
pub struct Jit {
    made: Arc<Mutex<Made>>,
    /// Requests to the thread that translates; none: translation happens at once.
    requests: Option<Sender<Request>>,
}

/// A section that outlives the program that it is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Request {
    arch: Arch,
    policy: [bool; 4],
    words: Vec<u64>,
    start: usize,
}

/// Code by the word that it begins with, and what is being translated.
#[derive(Debug, Default)]
struct Made {
    code: HashMap<u64, Vec<Arc<Code>>>,
    count: usize,
    /// Sections that were asked for; those without code, too.
    asked: HashMap<Request, ()>,
    /// How many jobs have begun with a section that has no code, by [`key`].
    begun: HashMap<u64, u32>,
}

/// A number that hardly two sections have in common; if they do, one of them is translated too soon.
fn key(section: &Section<'_>) -> u64 {
    let mix = |key: u64, word: u64| {
        (key ^ word)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    };
    section
        .words
        .iter()
        .fold(section.start as u64, |key, word| mix(key, *word))
}

impl Request {
    fn of(section: &Section<'_>) -> Request {
        let policy = section.policy;
        Request {
            arch: section.arch,
            policy: [
                policy.flush32,
                policy.flush16,
                policy.suppress_nan,
                policy.suppress_inf,
            ],
            words: section.words.to_vec(),
            start: section.start,
        }
    }

    fn section(&self) -> Section<'_> {
        let [flush32, flush16, suppress_nan, suppress_inf] = self.policy;
        Section {
            arch: self.arch,
            policy: FloatPolicy {
                flush32,
                flush16,
                suppress_nan,
                suppress_inf,
            },
            words: &self.words,
            start: self.start,
        }
    }
}

impl Made {
    fn find(&self, section: &Section<'_>) -> Option<Arc<Code>> {
        let first = section.words.get(section.start)?;
        let codes = self.code.get(first)?;
        codes.iter().find(|code| code.is_of(section)).cloned()
    }

    fn add(&mut self, section: &Section<'_>, code: Option<Code>) -> Option<Arc<Code>> {
        let first = section.words.get(section.start)?;
        let code = Arc::new(code?);
        if self.count >= KEPT {
            self.code.clear();
            self.asked.clear();
            self.count = 0;
        }
        self.count += 1;
        self.code.entry(*first).or_default().push(code.clone());
        Some(code)
    }
}

impl Made {
    /// Counts a job that begins without code; whether it is one too many.
    fn begins(&mut self, section: &Section<'_>) -> bool {
        if self.begun.len() >= KEPT {
            self.begun.clear();
        }
        let jobs = self.begun.entry(key(section)).or_default();
        *jobs += 1;
        *jobs == JOBS
    }
}

impl Jit {
    /// Translates on a thread of its own. `None` if code can't be made for the host.
    pub fn beside() -> Option<Jit> {
        if !can_translate() {
            return None;
        }
        let made: Arc<Mutex<Made>> = Arc::default();
        let (requests, receiver) = channel::<Request>();
        let to = made.clone();
        let translate = move || {
            for request in receiver {
                let section = request.section();
                let code = Code::of(&section);
                lock(&to).add(&section, code);
            }
        };
        let thread = std::thread::Builder::new().name("translation".into());
        thread.spawn(translate).ok()?;
        Some(Jit {
            made,
            requests: Some(requests),
        })
    }

    /// Translates at once, while the dispatch waits: for tests. `None` if code can't be made for the host.
    pub fn at_once() -> Option<Jit> {
        can_translate().then(|| Jit {
            made: Arc::default(),
            requests: None,
        })
    }
}

fn lock(made: &Mutex<Made>) -> MutexGuard<'_, Made> {
    // What a panic left behind is whole: entries are added in one step.
    made.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Translator for Jit {
    fn find(&self, section: &Section<'_>) -> Option<Arc<dyn HostCode>> {
        if self.requests.is_none() {
            return self.translate(section);
        }
        let mut made = lock(&self.made);
        if let Some(code) = made.find(section) {
            return Some(code);
        }
        let is_hot = made.begins(section);
        drop(made);
        if is_hot {
            return self.translate(section);
        }
        None
    }

    fn translate(&self, section: &Section<'_>) -> Option<Arc<dyn HostCode>> {
        let mut made = lock(&self.made);
        if let Some(code) = made.find(section) {
            return Some(code);
        }
        let request = Request::of(section);
        if made.asked.insert(request.clone(), ()).is_some() {
            return None;
        }
        match &self.requests {
            Some(requests) => {
                // A thread that has ended translates nothing; the model goes on without.
                let _ = requests.send(request);
                None
            }
            None => {
                drop(made);
                let code = Code::of(section);
                let code = lock(&self.made).add(section, code)?;
                Some(code)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(words: &[u64]) -> Section<'_> {
        Section {
            arch: Arch::V10,
            policy: FloatPolicy::default(),
            words,
            start: 0,
        }
    }

    #[test]
    fn the_fourth_job_of_a_section_has_it_translated() {
        let mut made = Made::default();
        let (words, others) = ([1, 2, 3], [1, 2, 4]);
        let mut begins = |words: &[u64]| made.begins(&section(words));
        let first: Vec<bool> = (0..3).map(|_| begins(&words)).collect();
        assert_eq!(first, [false; 3]);
        assert!(!begins(&others), "another section");
        assert!(begins(&words), "the fourth job");
        assert!(!begins(&words), "it was asked for already");
    }
}
