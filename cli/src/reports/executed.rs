//! What a program executed on the model, in the figures of `shared/kernels/README.md`, "Executed figures".
//!
//! Needs: a model that is traced.  Guarantees: each instruction counts once a warp that executes it, however many of its
//! lanes take part.  Facts: the units and their rates are those of the compiler's statistics
//! (hardware/compiler-optimization.md 3 and 4).

use eitri_isa::row::{Kind, Unit};
use eitri_isa::{Arch, DecodeError, Instr};
use eitri_model::{Event, Nanoseconds, Sink};
use eitri_shaderc::valhall::rates;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::rc::Rc;

/// Lanes of a warp.
const WARP: f64 = 16.0;

/// How often an instruction at one address was executed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    word: u64,
    warps: u64,
    lanes: u64,
}

impl Place {
    /// A warp executes `word` here, with a bit for each lane that takes part.
    pub(crate) fn note(&mut self, word: u64, lanes: u16) {
        self.word = word;
        self.warps += 1;
        self.lanes += u64::from(lanes.count_ones());
    }

    /// The same instruction, executed by one lane of one warp.
    pub(crate) fn once(&self) -> Place {
        Place {
            word: self.word,
            warps: 1,
            lanes: 1,
        }
    }

    /// Warps that executed it.
    pub(crate) fn warps(&self) -> u64 {
        self.warps
    }

    /// Counts what `other` counted, of the same instruction.
    pub(crate) fn join(&mut self, other: Place) {
        self.word = other.word;
        self.warps += other.warps;
        self.lanes += other.lanes;
    }
}

/// What is counted while a model runs.
#[derive(Debug, Default)]
struct Counts {
    places: HashMap<u64, Place>,
    stream: StreamWork,
}

/// What command streams executed beside shaders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StreamWork {
    /// Instructions of command streams.
    pub(crate) instructions: u64,
    /// Those of them that clean or invalidate caches.
    pub(crate) flushes: u64,
}

/// Counts while a model runs.
#[derive(Debug, Default)]
pub(crate) struct Counter(Rc<RefCell<Counts>>);

/// The end of a counter that the model holds.
struct Listener(Rc<RefCell<Counts>>);

impl Sink for Listener {
    fn event(&mut self, _: Nanoseconds, event: Event) {
        match event {
            Event::Shader {
                address,
                word,
                lanes,
                ..
            } => {
                let places = &mut self.0.borrow_mut().places;
                places.entry(address).or_default().note(word, lanes);
            }
            Event::Instruction { word, .. } => {
                let stream = &mut self.0.borrow_mut().stream;
                stream.instructions += 1;
                stream.flushes += u64::from(is_flush(word));
            }
            _ => {}
        }
    }
}

/// Whether an instruction of a command stream cleans or invalidates caches. Its opcode is the same in all architectures.
fn is_flush(word: u64) -> bool {
    let instr = eitri_cs::instr::Instr::decode(word, eitri_cs::Arch::V10);
    matches!(instr, Ok(eitri_cs::instr::Instr::FlushCache2(_)))
}

impl Counter {
    /// What the model is to tell its events.
    pub(crate) fn sink(&self) -> Box<dyn Sink> {
        Box::new(Listener(Rc::clone(&self.0)))
    }

    /// What has been executed of each program, known by its code wherever that lies, and how many warps began it. Programs with
    /// the same code count with the first of them.
    ///
    /// # Errors
    /// For a word that is no instruction.
    pub(crate) fn by_program(
        &self,
        programs: &[&[u64]],
        arch: Arch,
    ) -> Result<Vec<Ran>, DecodeError> {
        let places: BTreeMap<u64, Place> = self
            .0
            .borrow()
            .places
            .iter()
            .map(|(address, place)| (*address, *place))
            .collect();
        let words = places.iter().map(|(at, place)| (*at, place.word)).collect();
        let mut ran = vec![Ran::default(); programs.len()];
        for (address, number) in located(programs, &words) {
            let end = address + bytes(programs[number]);
            for (_, place) in places.range(address..end) {
                ran[number].executed.add(place, arch)?;
            }
            ran[number].warps += places.get(&address).map_or(0, |place| place.warps);
        }
        Ok(ran)
    }

    /// What has been executed so far.
    ///
    /// # Errors
    /// For a word that is no instruction.
    pub(crate) fn executed(&self, arch: Arch) -> Result<Executed, DecodeError> {
        let counts = self.0.borrow();
        Ok(Executed {
            stream: counts.stream,
            ..Executed::of(counts.places.values(), arch)?
        })
    }
}

/// What was executed of a program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ran {
    /// Warps that began it.
    pub(crate) warps: u64,
    pub(crate) executed: Executed,
}

/// Bytes of machine code.
fn bytes(code: &[u64]) -> u64 {
    8 * code.len() as u64
}

/// Where programs lie, and which they are: known by the words that were executed, by address. Of several that it can be it is the
/// longest, and of those the first.
pub(crate) fn located(programs: &[&[u64]], words: &BTreeMap<u64, u64>) -> Vec<(u64, usize)> {
    let mut found = vec![];
    let mut next = 0;
    for &address in words.keys() {
        if address < next {
            continue;
        }
        let is_it = |code: &&[u64]| begins_at(code, address, words);
        let longest = (0..programs.len())
            .filter(|number| programs.get(*number).is_some_and(is_it))
            .max_by_key(|number| (programs[*number].len(), Reverse(*number)));
        if let Some(number) = longest {
            next = address + bytes(programs[number]);
            found.push((address, number));
        }
    }
    found
}

/// Whether all that was executed from an address on is that code.
fn begins_at(code: &[u64], address: u64, words: &BTreeMap<u64, u64>) -> bool {
    let mut own = words.range(address..address + bytes(code));
    words.get(&address) == code.first()
        && own.all(|(at, word)| {
            let number = usize::try_from((at - address) / 8).unwrap_or(usize::MAX);
            code.get(number) == Some(word)
        })
}

/// Cycles of issue by unit: 64-bit arithmetic takes two, all else one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Issued {
    fma: u64,
    cvt: u64,
    sfu: u64,
}

/// Messages by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Messages {
    /// Loads, of texels too.
    pub(crate) load: u64,
    pub(crate) store: u64,
    pub(crate) atomic: u64,
    /// Computations of an address from a descriptor.
    pub(crate) address: u64,
    pub(crate) texture: u64,
}

impl Messages {
    pub(crate) fn total(&self) -> u64 {
        self.load + self.store + self.atomic + self.address + self.texture
    }
}

/// What was executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Executed {
    /// Once a warp.
    pub(crate) instructions: u64,
    /// Once a lane.
    pub(crate) lane_instructions: u64,
    issued: Issued,
    load_store: u64,
    texture: u64,
    /// Components of 16 bits that were interpolated.
    interpolated: u64,
    pub(crate) messages: Messages,
    pub(crate) barriers: u64,
    pub(crate) branches: u64,
    pub(crate) nops: u64,
    pub(crate) stream: StreamWork,
}

impl Executed {
    /// The figures of some instructions.
    ///
    /// # Errors
    /// For a word that is no instruction.
    pub(crate) fn of<'p>(
        places: impl IntoIterator<Item = &'p Place>,
        arch: Arch,
    ) -> Result<Executed, DecodeError> {
        let mut executed = Executed::default();
        for place in places {
            executed.add(place, arch)?;
        }
        Ok(executed)
    }

    fn add(&mut self, place: &Place, arch: Arch) -> Result<(), DecodeError> {
        let instr = Instr::decode(place.word, arch)?;
        let (unit, cycles) = instr.issue(arch);
        let (warps, issued) = (place.warps, place.warps * u64::from(cycles));
        self.instructions += warps;
        self.lane_instructions += place.lanes;
        match unit {
            Unit::Fma => self.issued.fma += issued,
            Unit::Cvt => self.issued.cvt += issued,
            Unit::Sfu => self.issued.sfu += issued,
            Unit::Ls => self.load_store += warps,
            Unit::T | Unit::Vt => self.texture += warps,
            Unit::V => self.interpolated += warps * u64::from(instr.interpolated()),
            Unit::None => {}
        }
        match instr.row().kind {
            Kind::Load | Kind::Attribute => self.messages.load += warps,
            Kind::Store => self.messages.store += warps,
            Kind::Atomic => self.messages.atomic += warps,
            Kind::Address => self.messages.address += warps,
            Kind::Texture => self.messages.texture += warps,
            Kind::Barrier => self.barriers += warps,
            Kind::Branch => self.branches += warps,
            Kind::Nop => self.nops += warps,
            Kind::Alu
            | Kind::CrossLane
            | Kind::Discard
            | Kind::Varying
            | Kind::VaryingTexture
            | Kind::TileLoad
            | Kind::TileStore
            | Kind::Coverage
            | Kind::Blend
            | Kind::Clock
            | Kind::System => {}
        }
        Ok(())
    }

    /// Counts by unit, as `by_unit` in figures of peers: cycles of issue, messages, and components interpolated.
    pub(crate) fn json(&self) -> Value {
        let Issued { fma, cvt, sfu } = self.issued;
        json!({
            "instructions": self.instructions, "fma": fma, "cvt": cvt, "sfu": sfu,
            "load_store": self.load_store, "texture": self.texture, "varying": self.interpolated,
        })
    }

    /// Cycles of the arithmetic units together.
    fn alu(&self) -> f64 {
        let Issued { fma, cvt, sfu } = self.issued;
        rates::alu(
            fma as f64 / rates::FMA_LANES,
            cvt as f64 / rates::CVT_LANES,
            sfu as f64 / rates::SFU_LANES,
        )
    }

    /// The bound when the static rule is summed over what runs.
    pub(crate) fn cycles(&self) -> f64 {
        let load_store = self.load_store as f64 / rates::MESSAGES;
        let texture = self.texture as f64 / rates::TEXELS;
        let varying = self.interpolated as f64 / rates::COMPONENTS;
        self.alu().max(load_store).max(texture).max(varying)
    }

    /// The bound when a warp counts as its lanes in arithmetic and textures, and a message of a warp as one: what one core
    /// needs at least.
    pub(crate) fn clocks(&self) -> f64 {
        let load_store = self.load_store as f64 / rates::MESSAGES;
        let texture = WARP * self.texture as f64 / rates::TEXELS;
        let varying = WARP * self.interpolated as f64 / rates::COMPONENTS;
        let messages = load_store.max(texture).max(varying);
        (WARP * self.alu()).max(messages)
    }
}

impl fmt::Display for Executed {
    /// One line, with the columns of the static figures as far as they are executed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Issued { fma, cvt, sfu } = self.issued;
        write!(
            f,
            "{} instrs, {} cycles, {} fma, {} cvt, {} sfu, {} alu, {} t, {} ls, {} clocks, {} lane instrs, {} barriers, \
             {} branches, {} nops",
            self.instructions,
            self.cycles(),
            fma as f64 / rates::FMA_LANES,
            cvt as f64 / rates::CVT_LANES,
            sfu as f64 / rates::SFU_LANES,
            self.alu(),
            self.texture as f64 / rates::TEXELS,
            self.load_store as f64 / rates::MESSAGES,
            self.clocks(),
            self.lane_instructions,
            self.barriers,
            self.branches,
            self.nops
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(places: &[(&str, u64, u64)]) -> Executed {
        let counter = Counter::default();
        for (index, (text, warps, lanes)) in places.iter().enumerate() {
            let instr = Instr::parse(text, Arch::V10, eitri_isa::Syntax::Mesa24).unwrap();
            let place = Place {
                word: instr.encode(Arch::V10).unwrap(),
                warps: *warps,
                lanes: *lanes,
            };
            counter
                .0
                .borrow_mut()
                .places
                .insert(8 * index as u64, place);
        }
        counter.executed(Arch::V10).unwrap()
    }

    #[test]
    fn a_message_outweighs_arithmetic_in_cycles_but_not_in_clocks() {
        let executed = count(&[
            ("FADD.f32 r0, r1, r2", 64, 1000),
            ("NOP.wait0", 1, 16),
            ("LOAD.i32.unsigned.slot0 @r0, ^r2, offset:0", 4, 64),
        ]);
        assert_eq!(executed.instructions, 69);
        assert_eq!(executed.lane_instructions, 1080);
        assert_eq!(executed.messages.total(), 4);
        assert_eq!(executed.nops, 1);
        assert_eq!(executed.cycles(), 4.0);
        assert_eq!(executed.clocks(), 16.0 * 65.0 / 64.0);
    }

    #[test]
    fn programs_are_known_by_their_code() {
        let counter = Counter::default();
        let word = |text: &str| {
            let instr = Instr::parse(text, Arch::V10, eitri_isa::Syntax::Mesa24).unwrap();
            instr.encode(Arch::V10).unwrap()
        };
        let [add, multiply, nop] =
            ["FADD.f32 r0, r1, r2", "FMA.f32 r0, r1, r2, r3", "NOP"].map(word);
        let ran = |address: u64, word: u64, warps: u64| {
            let lanes = 16 * warps;
            let place = Place { word, warps, lanes };
            counter.0.borrow_mut().places.insert(address, place);
        };
        // The same code twice, a way past its second instruction, and the beginning of a longer program.
        ran(0x1000, add, 2);
        ran(0x1010, nop, 2);
        ran(0x2000, add, 3);
        ran(0x2008, multiply, 3);
        ran(0x2010, nop, 3);
        ran(0x3000, multiply, 1);
        ran(0x3008, add, 1);
        let first = [add, multiply, nop];
        let programs = [&first[..], &[multiply, add, nop]];
        let ran = counter.by_program(&programs, Arch::V10).unwrap();
        let counts = ran.iter().map(|it| (it.warps, it.executed.instructions));
        assert_eq!(counts.collect::<Vec<_>>(), [(5, 13), (1, 2)]);
    }

    #[test]
    fn the_model_is_listened_to() {
        let counter = Counter::default();
        let mut sink = counter.sink();
        let word = Instr::parse("NOP", Arch::V10, eitri_isa::Syntax::Mesa24)
            .unwrap()
            .encode(Arch::V10)
            .unwrap();
        for lanes in [0xffff, 0x1] {
            let address = 0x1000;
            sink.event(
                0,
                Event::Shader {
                    address,
                    word,
                    lanes,
                    live: 0xffff,
                    waits: 0,
                },
            );
        }
        let executed = counter.executed(Arch::V10).unwrap();
        assert_eq!((executed.instructions, executed.lane_instructions), (2, 17));
        assert_eq!(executed.stream, StreamWork::default());
    }

    #[test]
    fn streams_are_counted_beside_shaders() {
        let counter = Counter::default();
        let mut sink = counter.sink();
        let flush = eitri_cs::instr::FlushCache2::default();
        for instr in [
            eitri_cs::instr::Instr::from(flush),
            eitri_cs::instr::Instr::from(eitri_cs::instr::Wait::default()),
        ] {
            let word = instr.encode(eitri_cs::Arch::V10).unwrap();
            sink.event(
                0,
                Event::Instruction {
                    group: 0,
                    stream: 0,
                    address: 0,
                    word,
                },
            );
        }
        let stream = counter.executed(Arch::V10).unwrap().stream;
        assert_eq!((stream.instructions, stream.flushes), (2, 1));
    }
}
