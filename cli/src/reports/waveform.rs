//! Waveforms: what a driver does to the GPU's registers, and what the GPU does then, as a VCD file (GTKWave, Surfer, PulseView).
//!
//! Registers have the values that the driver has read or written; the interrupt lines, group slots and jobs are the model's own. A
//! logic analyser's capture of a board can stand beside it.

use crate::outcome::Failure;
use crate::output::whole_file;
use eitri_csf::registers::at_offset;
use eitri_csf::table::FieldType;
use eitri_model::{Event, Nanoseconds, Sink};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;

/// `--vcd`.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct WaveformArgument {
    /// Write registers as the driver reads and writes them, interrupt lines, group slots and jobs as a waveform: a VCD file for GTKWave,
    /// Surfer or PulseView.
    #[arg(long, value_name = "FILE")]
    vcd: Option<String>,
}

impl WaveformArgument {
    pub(crate) fn is_wanted(&self) -> bool {
        self.vcd.is_some()
    }

    /// The waveform, if one is asked for.
    pub(crate) fn start(&self) -> Option<Waveform> {
        self.is_wanted().then(Waveform::default)
    }

    /// Writes the file.
    pub(crate) fn write(&self, waveform: &Waveform) -> Result<(), Failure> {
        let path = self.vcd.as_deref().unwrap_or_default();
        whole_file::write(path, waveform.0.borrow().document().as_bytes())
    }
}

/// The waveform of one job.
#[derive(Debug, Default)]
pub(crate) struct Waveform(Rc<RefCell<Recorder>>);

impl Waveform {
    pub(crate) fn sink(&self) -> Box<dyn Sink> {
        Box::new(Listener(Rc::clone(&self.0)))
    }
}

struct Listener(Rc<RefCell<Recorder>>);

impl Sink for Listener {
    fn event(&mut self, time: Nanoseconds, event: Event) {
        self.0.borrow_mut().record(time, &event);
    }

    fn wants_instructions(&self) -> bool {
        false
    }
}

/// A signal: its scope and its name.
type Name = (&'static str, String);

#[derive(Debug, Default)]
struct Recorder {
    /// Number and width of each signal.
    signals: BTreeMap<Name, (usize, u32)>,
    /// What changed: when, which signal, to what.
    changes: Vec<(Nanoseconds, usize, u64)>,
}

impl Recorder {
    fn record(&mut self, time: Nanoseconds, event: &Event) {
        match *event {
            Event::Read { offset, value } => self.access(time, "read", offset, value),
            Event::Write { offset, value } => self.access(time, "write", offset, value),
            Event::Line { line, high } => {
                self.set(time, ("lines", line.to_owned()), 1, u64::from(high));
            }
            Event::Group { group, state } => {
                self.set(time, ("slots", format!("slot{group}")), 3, state.to_bits());
            }
            Event::JobStarted { group, stream, .. } => {
                self.set(time, ("jobs", format!("slot{group}_stream{stream}")), 1, 1);
            }
            Event::JobEnded { group, stream, .. } => {
                self.set(time, ("jobs", format!("slot{group}_stream{stream}")), 1, 0);
            }
            _ => {}
        }
    }

    /// An access of the host: what was on the bus, and what the register is known to hold.
    fn access(&mut self, time: Nanoseconds, how: &str, offset: u32, value: u32) {
        self.set(time, ("bus", how.to_owned()), 1, 1);
        self.set(time, ("bus", "offset".to_owned()), 32, offset.into());
        self.set(time, ("bus", "value".to_owned()), 32, value.into());
        // A pulse of the shortest time that there is.
        self.set(time + 1, ("bus", how.to_owned()), 1, 0);
        let name = match at_offset(offset) {
            Some(found) => {
                let number = match found.register.count {
                    1 => String::new(),
                    _ => format!("_{}", found.index),
                };
                let half = match found.high_word {
                    true => "_HI",
                    false => "",
                };
                format!("{}{number}{half}", found.register.name)
            }
            None => format!("at_{offset:x}"),
        };
        self.set(time, ("registers", name), 32, value.into());
    }

    fn set(&mut self, time: Nanoseconds, name: Name, width: u32, value: u64) {
        let next = self.signals.len();
        let (number, _) = *self.signals.entry(name).or_insert((next, width));
        self.changes.push((time, number, value));
    }

    fn document(&self) -> String {
        let mut text = format!(
            "$version eitri {} $end\n$timescale 1 ns $end\n",
            env!("CARGO_PKG_VERSION")
        );
        let mut widths = vec![1; self.signals.len()];
        let mut scope = "";
        for ((of, name), (number, width)) in &self.signals {
            if scope != *of {
                if !scope.is_empty() {
                    text.push_str("$upscope $end\n");
                }
                let _ = writeln!(text, "$scope module {of} $end");
                scope = of;
            }
            let plain = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
            let _ = writeln!(text, "$var reg {width} {} {plain} $end", id(*number));
            if let Some(place) = widths.get_mut(*number) {
                *place = *width;
            }
        }
        if !scope.is_empty() {
            text.push_str("$upscope $end\n");
        }
        text.push_str("$enddefinitions $end\n#0\n$dumpvars\n");
        for (number, width) in widths.iter().enumerate() {
            // Nothing is known before the first access.
            text.push_str(&match width {
                1 => format!("0{}\n", id(number)),
                _ => format!("bx {}\n", id(number)),
            });
        }
        text.push_str("$end\n");
        let mut changes = self.changes.clone();
        // Ends of pulses were recorded early.
        changes.sort_by_key(|(time, ..)| *time);
        let mut now = 0;
        for (time, number, value) in changes {
            if time != now {
                let _ = writeln!(text, "#{time}");
                now = time;
            }
            text.push_str(&match widths.get(number) {
                Some(1) => format!("{value}{}\n", id(number)),
                _ => format!("b{value:b} {}\n", id(number)),
            });
        }
        text
    }
}

/// The short name of a signal: printable characters, lowest digit first.
fn id(mut number: usize) -> String {
    const FIRST: u8 = b'!';
    const LETTERS: usize = 94;
    let mut text = String::new();
    loop {
        // Less than 94, so the sum is a printable character.
        text.push(char::from(FIRST + (number % LETTERS) as u8));
        number /= LETTERS;
        if number == 0 {
            return text;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_csf::interface::group::CsgState;
    use eitri_csf::registers::power::L2_READY;

    #[test]
    fn registers_lines_slots_and_jobs_are_signals() {
        let waveform = Waveform::default();
        let mut sink = waveform.sink();
        let (offset, value) = (L2_READY.offset, 5);
        sink.event(10, Event::Read { offset, value });
        sink.event(
            12,
            Event::Line {
                line: "job",
                high: true,
            },
        );
        let (group, state) = (3, CsgState::Resume);
        sink.event(13, Event::Group { group, state });
        let text = waveform.0.borrow().document();
        let id_of = |name: &str| {
            let line = text
                .lines()
                .find(|line| line.contains(&format!(" {name} $end")))
                .unwrap();
            line.split(' ').nth(3).unwrap().to_owned()
        };
        let after = |time: u32| {
            let rest = text.split(&format!("\n#{time}\n")).nth(1).unwrap();
            // A signal may be called `#`, too.
            format!("{}\n", rest.split("\n#").next().unwrap())
        };
        assert!(
            after(10).contains(&format!("b101 {}\n", id_of("L2_READY"))),
            "{text}"
        );
        assert!(
            after(10).contains(&format!("1{}\n", id_of("read"))),
            "{text}"
        );
        assert!(
            after(11).contains(&format!("0{}\n", id_of("read"))),
            "{text}"
        );
        assert!(
            after(12).contains(&format!("1{}\n", id_of("job"))),
            "{text}"
        );
        let state = format!("b{:b} {}\n", CsgState::Resume.to_bits(), id_of("slot3"));
        assert!(after(13).contains(&state), "{text}");
    }

    #[test]
    fn names_of_signals_are_short_and_different() {
        let names: Vec<String> = (0..1000).map(id).collect();
        let mut sorted = names.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), names.len());
        assert!(
            names
                .iter()
                .all(|name| name.bytes().all(|byte| (33..=126).contains(&byte)))
        );
    }
}
