//! The history of a pixel: which draws touched it, what each test said, and what was blended.

use eitri_model::{
    Event, JobKind, Nanoseconds, PixelStep, PixelStepKind, Sink, TileColor, TileContents,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::rc::Rc;

/// `--pixel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PixelArgument {
    at: [u32; 2],
}

impl std::str::FromStr for PixelArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<PixelArgument, String> {
        let wrong = || format!("`{text}` is no pixel: it has a column and a row, such as 12,40");
        let (x, y) = text.split_once(',').ok_or_else(wrong)?;
        let at = [x, y].map(|number| number.trim().parse::<u32>().ok());
        match at {
            [Some(x), Some(y)] => Ok(PixelArgument { at: [x, y] }),
            _ => Err(wrong()),
        }
    }
}

/// The steps of the pixel that were recorded.
#[derive(Debug, Default)]
struct Recorded {
    /// Numbers of the draws' jobs, in their order.
    draws: Vec<u64>,
    steps: Vec<PixelStep>,
}

/// Records the history of a pixel while a model draws.
#[derive(Debug)]
pub(crate) struct PixelHistory {
    at: [u32; 2],
    recorded: Rc<RefCell<Recorded>>,
}

/// The end of a history that the model holds, before another sink.
struct Listener {
    at: [u32; 2],
    recorded: Rc<RefCell<Recorded>>,
    next: Option<Box<dyn Sink>>,
}

impl Sink for Listener {
    fn event(&mut self, time: Nanoseconds, event: Event) {
        if let Event::JobStarted {
            kind: JobKind::Draw,
            number,
            ..
        } = event
        {
            self.recorded.borrow_mut().draws.push(number);
        }
        if let Some(next) = &mut self.next {
            next.event(time, event);
        }
    }

    fn wants_instructions(&self) -> bool {
        self.next
            .as_ref()
            .is_some_and(|next| next.wants_instructions())
    }

    fn pixel(&self) -> Option<[u32; 2]> {
        Some(self.at)
    }

    fn pixel_step(&mut self, step: PixelStep) {
        self.recorded.borrow_mut().steps.push(step);
    }
}

impl PixelHistory {
    pub(crate) fn new(pixel: PixelArgument) -> PixelHistory {
        PixelHistory {
            at: pixel.at,
            recorded: Rc::default(),
        }
    }

    /// What the model is to tell; `next` hears of events, too.
    pub(crate) fn sink(&self, next: Option<Box<dyn Sink>>) -> Box<dyn Sink> {
        Box::new(Listener {
            at: self.at,
            recorded: Rc::clone(&self.recorded),
            next,
        })
    }

    /// The history, for a person.
    pub(crate) fn text(&self) -> String {
        let [x, y] = self.at;
        let Recorded { draws, steps } = &*self.recorded.borrow();
        if steps.is_empty() {
            return format!("pixel ({x}, {y}): no primitive covers it\n");
        }
        let mut text = format!("pixel ({x}, {y})\n");
        // Programs of a primitive run behind its early tests, which name the job.
        let mut jobs: HashMap<(u32, &[u64]), u64> = HashMap::new();
        let mut last = None;
        for step in steps {
            let name = (step.primitive, step.corners.as_slice());
            if let Some(job) = step.job {
                jobs.insert(name, job);
            }
            let job = jobs.get(&name).copied();
            let own = (job, name, step.sample);
            if last != Some(own) {
                let draw = job.and_then(|job| draws.iter().position(|own| *own == job));
                let draw = draw.map_or("a draw".to_owned(), |draw| format!("draw {draw}"));
                let sample = step
                    .sample
                    .map_or_else(String::new, |sample| format!(", sample {sample}"));
                // Writing to a string can't fail.
                let _ = writeln!(text, "  {draw}, primitive {}{sample}", step.primitive);
            }
            last = Some(own);
            let _ = writeln!(text, "    {}", line(step));
        }
        text
    }
}

/// A step in a line.
fn line(step: &PixelStep) -> String {
    let [before, after] = step.coverage;
    let samples = match before == after {
        true => format!("samples {after:#x}"),
        false => format!("samples {before:#x} -> {after:#x}"),
    };
    let [held, holds] = &step.contents;
    match step.kind {
        PixelStepKind::EarlyTests => format!("early tests: {samples}{}", tests(held, holds)),
        PixelStepKind::LateTests => format!("late tests: {samples}{}", tests(held, holds)),
        PixelStepKind::Begins => format!("its program begins: {samples}"),
        PixelStepKind::Discarded => "its program discards it".to_owned(),
        PixelStepKind::Colour {
            target,
            source,
            blended,
        } => {
            let of = |contents: &TileContents| {
                let color = contents.colors.get(usize::from(target));
                color.map_or("nothing".to_owned(), show)
            };
            let what = if blended { "blended with" } else { "replaces" };
            format!(
                "colour {target}: {} {what} {}: {}",
                show(&source),
                of(held),
                of(holds)
            )
        }
    }
}

/// What tests have done to depth and stencil.
fn tests(held: &TileContents, holds: &TileContents) -> String {
    let mut text = format!(", depth {}", held.depth);
    if held.depth.to_bits() != holds.depth.to_bits() {
        let _ = write!(text, " -> {}", holds.depth);
    }
    let _ = write!(text, ", stencil {}", held.stencil);
    if held.stencil != holds.stencil {
        let _ = write!(text, " -> {}", holds.stencil);
    }
    text
}

fn show(color: &TileColor) -> String {
    match color {
        TileColor::Floats(components) => format!("{components:?}"),
        TileColor::Integers(components) => format!("{components:?}"),
        TileColor::Raw(bits) => format!("{bits:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_is_a_column_and_a_row() {
        let of = |text: &str| text.parse::<PixelArgument>().map(|pixel| pixel.at);
        assert_eq!(of("12,40"), Ok([12, 40]));
        assert_eq!(of("1, 2"), Ok([1, 2]));
        for bad in ["", "1", "1,", "1,2,3", "-1,2", "x,y"] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }
}
