//! The loop of the stream that reads the numbers of indirect draws, one draw a round.
//!
//! Needs: registers of draws loaded, but for those that the parameters are loaded to.  Guarantees: the loop stays in one block.
//! Facts: hardware/graphics-draw.md 3.5, 3.6, 3.13 and 3.14, command-stream.md 3.2 and 3.3.

use super::super::draw_state::{Stale, VARYINGS, VERTEX};
use super::super::pass::RenderPass;
use super::super::pipeline::GraphicsPipelined;
use super::super::registers::DrawRegisters;
use super::super::vertex_input::{MOST_ATTRIBUTES, MOST_BINDINGS};
use super::copies::Copies;
use super::words::EncodedIndirect;
use super::{INPUTS, Parameters};
use crate::command::{Level, Recorder, Writer};
use crate::error::Error;
use crate::platform::{PhysicalAddress, Platform};
use crate::queue::{Reach, SubQueue};
use eitri_cs::Pair;
use eitri_cs::builder::{AnyLoad, Checked, Load64, WithNumber};
use eitri_program::{DrawWord, EntryKind, FauWord, GraphicsProgram, MAX_FAU_WORDS};

const STREAM: SubQueue = SubQueue::VertexTiler;
/// Most instructions of a loop without copies, of one with copies, and of a multiplication with what it is stored to.
const PLAIN: u32 = 24;
const COPYING: u32 = 64 + 2 * MAX_FAU_WORDS as u32;
const MULTIPLICATION: u32 = 160 + 2 * MOST_ATTRIBUTES as u32;

/// What indirect draws are recorded from.
pub(in super::super) struct IndirectRun<'a> {
    pub(in super::super) parameters: &'a Parameters,
    /// The copies, and the pipeline that needs them.
    pub(in super::super) copies: Option<(&'a Copies, &'a GraphicsPipelined)>,
    /// The draws have a program of varyings.
    pub(in super::super) varies: bool,
}

impl<P: Platform> RenderPass<'_, '_, '_, '_, P> {
    /// Draws what a buffer says if the registers hold all of it, since the last draw was an indirect one without copies. Whether they do.
    pub(super) fn repeat_indirect(&mut self, parameters: &Parameters) -> Result<bool, Error> {
        let state = &*self.state;
        let kind = parameters.kind();
        let last = state.last.as_ref().filter(|last| last.kind == kind);
        let Some(last) = last.filter(|_| state.stale == Stale::NOTHING) else {
            return Ok(false);
        };
        let run = IndirectRun {
            parameters,
            copies: None,
            varies: last.varies,
        };
        self.recorder.run_indirect(&run)?;
        Ok(true)
    }
}

impl IndirectRun<'_> {
    /// Most instructions that they take.
    pub(in super::super) fn most_words(&self) -> u32 {
        let Some((copies, _)) = self.copies else {
            return PLAIN;
        };
        let strides = copies.strides().count().min(MOST_BINDINGS) as u32;
        COPYING.saturating_add(strides.saturating_mul(MULTIPLICATION))
    }

    /// There is one draw, whatever a buffer says.
    const fn is_one(&self) -> bool {
        self.parameters.draws == 1 && self.parameters.count.is_none()
    }
}

impl<'d, P: Platform> Recorder<'_, '_, 'd, P> {
    /// Draws as often as the parameters say: all registers are loaded, but for those that the parameters are loaded to.
    pub(in super::super) fn run_indirect(&mut self, run: &IndirectRun<'_>) -> Result<(), Error> {
        self.make_room_in(STREAM, run.most_words())?;
        let wait = self.words()?.wait_others();
        let copying = match run.copies {
            Some((copies, made)) => Some(self.copying(copies, made)?),
            None => None,
        };
        // There are instructions of draws.
        let (Some(drawing), Some(passes)) = (&self.device.drawing, &mut self.passes) else {
            return Ok(());
        };
        let Some((writer, loaded)) = passes.tiling_writer(&mut self.writer) else {
            return Ok(());
        };
        let Ok(words) = &self.device.words else {
            return Ok(());
        };
        let mut stream = Stream {
            platform: &mut self.device.hw.platform,
            writer,
            of: &drawing.encoded.indirect,
            any: words.any(),
            plain: drawing.encoded.run(run.varies),
            wait,
        };
        match &copying {
            Some(copying) => stream.run(run, Some(copying)),
            None => stream.run(run, None),
        }
        let registers = DrawRegisters::of(self.device.hw.properties.arch);
        for register in registers.count..=registers.instance_offset {
            loaded.forget(register);
        }
        if run.copies.is_some() {
            loaded.forget_vertices();
        }
        Ok(())
    }

    /// What a loop with copies needs besides its own instructions.
    #[inline(never)]
    fn copying<'a>(
        &self,
        copies: &'a Copies,
        made: &'a GraphicsPipelined,
    ) -> Result<Copying<'a, 'd>, Error> {
        let words = self.words()?;
        let iterators = if self.level == Level::Primary {
            self.own_iterator(STREAM)?.wait
        } else {
            // Secondary commands don't know which iterator is their caller's.
            self.encoded()?.indirect.wait_for_iterators
        };
        Ok(Copying {
            copies,
            position: made.position,
            program: if copies
                .uniforms(VERTEX)
                .or(copies.uniforms(VARYINGS))
                .is_some()
            {
                Some(*self.device.stage_program(made.vertex)?)
            } else {
                None
            },
            iterators,
            flush: [
                words.flush_always(),
                words.flush(Reach::Cores),
                words.wait_others(),
            ],
        })
    }
}

/// Copies, and what is done with them.
struct Copying<'a, 'd> {
    copies: &'a Copies,
    /// Which of the programs makes positions.
    position: EntryKind,
    /// The program of vertices, if its uniforms are copied.
    program: Option<GraphicsProgram<'d>>,
    /// Waits for the iterator that draws.
    iterators: Checked,
    /// Flushes the caches of the cores, and waits for that.
    flush: [Checked; 3],
}

/// Writes the loop into the lane of vertices, which has room for it.
struct Stream<'a, P> {
    platform: &'a mut P,
    writer: &'a mut Writer,
    of: &'a EncodedIndirect,
    any: &'a AnyLoad,
    /// A draw without a number.
    plain: Checked,
    /// Waits for loads and stores.
    wait: Checked,
}

impl<P: Platform> Stream<'_, P> {
    #[inline(always)]
    fn put(&mut self, it: Checked) {
        self.writer.put(self.platform, it);
    }

    /// Four at once: one by one they cost twice as much.
    #[inline(always)]
    fn put_four(&mut self, all: [Checked; 4]) {
        self.writer
            .put_words(self.platform, &all.map(Checked::word));
    }

    fn load(&mut self, load: Load64, value: u64) {
        let (first, second) = load.with(value);
        self.put(first);
        if let Some(second) = second {
            self.put(second);
        }
    }

    /// Loads a pair for copies, to which numbers are added, too: so it may be written.
    fn load_pair(&mut self, pair: Pair, value: u64) {
        if let Ok(load) = self.any.load64(pair) {
            self.load(load, value);
        }
    }

    /// Branches over what `record` records.
    fn unless(&mut self, branch: WithNumber, record: impl FnOnce(&mut Self)) {
        let place = self.writer.end();
        self.put(branch.with(0));
        record(self);
        let offset = distance(self.writer.end(), place).saturating_sub(1);
        self.platform.store64(place, branch.with(offset).word());
    }

    #[inline(always)]
    fn run(&mut self, run: &IndirectRun<'_>, copying: Option<&Copying<'_, '_>>) {
        let (of, parameters) = (self.of, run.parameters);
        if run.is_one() {
            self.load(of.address, parameters.at.0);
            if let Some(Copying { copies, .. }) = copying {
                self.first_copies(copies);
            }
            self.draw(run, copying, self.plain);
            return;
        }
        self.put(of.left.with(parameters.draws));
        self.put(of.first_draw);
        if let Some(count) = parameters.count {
            self.load(of.address, count.0);
            self.put(of.load_count);
            self.put(self.wait);
            self.put(of.limit);
        }
        self.load(of.address, parameters.at.0);
        if let Some(Copying { copies, .. }) = copying {
            self.put(of.copies.with(copies.count));
            self.first_copies(copies);
        }
        if parameters.count.is_some() {
            self.unless(of.unless_none, |it| it.rounds(run, copying));
        } else {
            self.rounds(run, copying);
        }
    }

    fn rounds(&mut self, run: &IndirectRun<'_>, copying: Option<&Copying<'_, '_>>) {
        let (of, parameters) = (self.of, run.parameters);
        let start = self.writer.end();
        let [plain, varying] = of.run;
        self.draw(run, copying, if run.varies { varying } else { plain });
        self.put(of.next_parameters.with(parameters.stride as i32));
        self.put(of.next_draw);
        self.put(of.one_less);
        if let Some(copying) = copying {
            self.next_copies(copying, parameters.draws);
        }
        let offset = distance(self.writer.end(), start).saturating_add(1);
        self.put(of.while_some.with(offset.saturating_neg()));
    }

    /// One draw.
    #[inline(always)]
    fn draw(&mut self, run: &IndirectRun<'_>, copying: Option<&Copying<'_, '_>>, job: Checked) {
        let of = self.of;
        let [plain, indexed] = of.load;
        self.put(if run.parameters.indexed {
            indexed
        } else {
            plain
        });
        self.put(self.wait);
        if let Some(copying) = copying {
            self.store_bases(copying);
            self.store_offsets(copying.copies);
            self.put(self.wait);
        }
        // The first instance stands in descriptors and uniforms (hardware/graphics-draw.md 3.6).
        self.put(of.no_first_instance);
        self.put(job);
    }

    /// The stream stores where the draw begins into copies of uniforms.
    fn store_bases(&mut self, copying: &Copying<'_, '_>) {
        let Some(program) = &copying.program else {
            return;
        };
        let kinds = [copying.position, EntryKind::Varying];
        let all = self.of.store_base.iter().zip(kinds);
        for (([vertex, instance], kind), copied) in all.zip(&copying.copies.of) {
            let entry = copied.and_then(|_| program.entry_point(kind));
            let Some(entry) = entry else { continue };
            for (word, offset) in entry.fau().zip((0..).step_by(4)) {
                match word {
                    FauWord::Draw(DrawWord::FirstVertex) => self.put(vertex.with(offset)),
                    FauWord::Draw(DrawWord::BaseInstance) => self.put(instance.with(offset)),
                    _ => {}
                }
            }
        }
    }

    /// The stream stores into copies of inputs where those that go on with instances begin.
    fn store_offsets(&mut self, copies: &Copies) {
        if copies.of.get(INPUTS).is_none_or(Option::is_none) {
            return;
        }
        let of = &self.of.multiply;
        self.put(of.keep_base);
        for stride in copies.strides() {
            self.put(of.zero);
            self.unless(of.unless_zero, |it| it.multiply(stride));
            for input in copies.inputs.iter().filter(|input| input.stride == stride) {
                self.put(of.offset.with(input.offset as i32));
                self.put(of.store.with(input.place));
            }
        }
    }

    /// Adds the product of the first instance and a factor, for each bit of the instance from the highest.
    fn multiply(&mut self, factor: u32) {
        let of = &self.of.multiply;
        let sum = |bit| of.add.with((factor << bit) as i32);
        self.put_four([of.begin, of.unless_negative, of.take_sign, sum(31)]);
        for bit in (0..31).rev() {
            let attempt = of.attempt.with((1_i32 << bit).wrapping_neg());
            self.put_four([attempt, of.unless_less, of.take, sum(bit)]);
        }
    }

    /// The stream begins with the first copies, whose addresses the draw's registers have.
    fn first_copies(&mut self, copies: &Copies) {
        for (of, copied) in self.of.copied.iter().zip(&copies.of) {
            if let Some(copied) = copied {
                self.load_pair(of.at, copied.at.0);
            }
        }
    }

    /// The stream goes on to the next copies; behind the last it waits until nothing uses them any more.
    fn next_copies(&mut self, copying: &Copying<'_, '_>, draws: u32) {
        let (of, copies) = (self.of, copying.copies);
        for (of, copied) in of.copied.iter().zip(&copies.of) {
            if let Some(copied) = copied {
                self.put(of.next_at.with(copied.step as i32));
                self.put(of.next_register.with(copied.register_step as i32));
            }
        }
        if draws <= copies.count {
            return;
        }
        self.put(of.one_copy_less);
        self.unless(of.while_copies, |it| {
            it.put(copying.iterators);
            for word in copying.flush {
                it.put(word);
            }
            for (of, copied) in of.copied.iter().zip(&copies.of) {
                if let Some(copied) = copied {
                    it.load_pair(of.register, copied.register);
                }
            }
            it.put(of.copies.with(copies.count));
            it.first_copies(copies);
        });
    }
}

/// Instructions from one place to a later one.
fn distance(end: PhysicalAddress, start: PhysicalAddress) -> i32 {
    let words = end.0.saturating_sub(start.0) / 8;
    i32::try_from(words).unwrap_or(i32::MAX)
}
