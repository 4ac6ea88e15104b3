//! The profile as pprof reads it: a message of protocol buffers, compressed.
//!
//! The form is `perftools.profiles.Profile` (github.com/google/pprof, proto/profile.proto): the numbers of its fields stand beside
//! what is written into them. A location is an instruction of a program; its caller is the job that it ran for.

use super::sample::millicycles;
use super::{Figures, Profile};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::HashMap;
use std::io::Write as _;

/// A value of each sample: its type, its unit, and how much.
type Measure = (&'static str, &'static str, fn(&Figures) -> u64);

/// The last is what is shown first.
#[rustfmt::skip]
const MEASURES: &[Measure] = &[
    ("instructions", "count",       |it| it.executed),
    ("lanes",        "count",       |it| it.lanes),
    ("diverged",     "count",       |it| it.diverged),
    ("read",         "bytes",       |it| it.read),
    ("written",      "bytes",       |it| it.written),
    ("cache_lines",  "count",       |it| it.lines),
    ("waits",        "count",       |it| it.waited()),
    ("waited",       "millicycles", |it| millicycles(it.waited_cycles())),
    ("cycles",       "millicycles", |it| millicycles(it.cost)),
];

/// A message of protocol buffers that is being written.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A field with a number.
    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    /// A field with bytes: a message, a string, or packed numbers.
    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u64, message: &Message) {
        self.bytes(field, &message.0);
    }

    fn packed(&mut self, field: u64, values: impl IntoIterator<Item = u64>) {
        let mut packed = Message::default();
        values.into_iter().for_each(|value| packed.varint(value));
        self.bytes(field, &packed.0);
    }
}

/// Things with numbers from 1 on, each written once.
#[derive(Default)]
struct Numbered<K> {
    numbers: HashMap<K, u64>,
}

impl<K: std::hash::Hash + Eq> Numbered<K> {
    /// The number of a thing, and whether it is new.
    fn number(&mut self, key: K) -> (u64, bool) {
        let next = self.numbers.len() as u64 + 1;
        let number = *self.numbers.entry(key).or_insert(next);
        (number, number == next)
    }
}

/// A profile that is being written.
#[derive(Default)]
struct Writer {
    message: Message,
    strings: Vec<String>,
    string_numbers: HashMap<String, u64>,
    functions: Numbered<(String, String)>,
    locations: Numbered<(u64, u64, u64)>,
}

impl Writer {
    fn string(&mut self, text: &str) -> u64 {
        if let Some(number) = self.string_numbers.get(text) {
            return *number;
        }
        let number = self.strings.len() as u64;
        self.strings.push(text.to_owned());
        self.string_numbers.insert(text.to_owned(), number);
        number
    }

    /// A type of values: field 1 is the type, field 2 the unit.
    fn value_type(&mut self, name: &str, unit: &str) -> Message {
        let mut message = Message::default();
        message.number(1, self.string(name));
        message.number(2, self.string(unit));
        message
    }

    fn function(&mut self, name: &str, file: &str) -> u64 {
        let key = (name.to_owned(), file.to_owned());
        let (id, is_new) = self.functions.number(key);
        if is_new {
            let mut function = Message::default();
            function.number(1, id);
            function.number(2, self.string(name));
            function.number(3, self.string(name));
            function.number(4, self.string(file));
            self.message.message(5, &function);
        }
        id
    }

    fn location(&mut self, address: u64, function: u64, line: u64) -> u64 {
        let (id, is_new) = self.locations.number((address, function, line));
        if is_new {
            let mut place = Message::default();
            place.number(1, function);
            place.number(2, line);
            let mut location = Message::default();
            location.number(1, id);
            location.number(2, 1);
            location.number(3, address);
            location.message(4, &place);
            self.message.message(4, &location);
        }
        id
    }

    fn finish(mut self) -> Vec<u8> {
        for text in std::mem::take(&mut self.strings) {
            self.message.bytes(6, text.as_bytes());
        }
        self.message.0
    }
}

impl Profile {
    /// The file.
    pub(crate) fn pprof(&self) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        // Writing to memory can't fail.
        let _ = encoder.write_all(&self.pprof_message());
        encoder.finish().unwrap_or_default()
    }

    /// The message, as it is before it is compressed.
    fn pprof_message(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        // The first string is the empty one.
        writer.string("");
        for (name, unit, _) in MEASURES {
            let kind = writer.value_type(name, unit);
            writer.message.message(1, &kind);
        }
        let mut mapping = Message::default();
        mapping.number(1, 1);
        mapping.number(3, (self.programs.len() as u64).max(1) << 20);
        mapping.number(5, writer.string(&self.title));
        // Functions, files and lines are known.
        (7..=9).for_each(|field| mapping.number(field, 1));
        writer.message.message(3, &mapping);
        for sample in self.samples() {
            let address = ((sample.place as u64) << 20) + 8 * sample.number as u64;
            let source = sample.instruction.source.as_ref();
            let (file, line) = source.map_or(("", 0), |(file, line)| (file.as_str(), *line));
            let function = writer.function(&sample.program.label(), file);
            let mut stack = vec![writer.location(address, function, line.into())];
            for name in sample.job.iter().rev() {
                let job = writer.function(name, "");
                stack.push(writer.location(0, job, 0));
            }
            let mut message = Message::default();
            message.packed(1, stack);
            message.packed(2, MEASURES.iter().map(|(.., of)| of(sample.figures)));
            writer.message.message(2, &message);
        }
        let nanoseconds = self.jobs.iter().filter_map(|job| job.nanoseconds).sum();
        writer.message.number(10, nanoseconds);
        let kind = writer.value_type("cycles", "millicycles");
        writer.message.message(11, &kind);
        writer.message.number(12, 1);
        let shown = writer.string("cycles");
        writer.message.number(14, shown);
        writer.finish()
    }
}
