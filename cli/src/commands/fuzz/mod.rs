//! `eitri fuzz`: random words against the decoders, and damaged files against what reads them.
//!
//! A word is refused, or it is legal: then it encodes again as itself, and so does its text unless the dialect leaves
//! something out. Which word is tried depends on seed and number alone, not on the machine.

mod dump;
mod firmware;
mod ir3;
mod program;

use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use eitri_isa::{EncodeError, Instr, Op, Rule, Syntax};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Exit status 1 if a decoder fails; the words at fault are printed, at most ten of each decoder.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Words for each decoder.
    #[arg(long, default_value_t = 10_000_000, value_name = "WORDS")]
    count: u64,
    /// Where the random numbers start.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this decoder.
    #[arg(long)]
    only: Option<Decoder>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Decoder {
    /// Shader instructions of Mali.
    Isa,
    /// Those of Adreno, in every generation.
    Ir3,
    /// Command-stream instructions, on every architecture.
    Cs,
    /// Core dumps that were damaged.
    Dump,
    /// Program binaries that were damaged.
    Program,
    /// Firmware images that were damaged.
    Firmware,
}

impl Decoder {
    pub(crate) const ALL: [Decoder; 6] = [
        Decoder::Isa,
        Decoder::Ir3,
        Decoder::Cs,
        Decoder::Dump,
        Decoder::Program,
        Decoder::Firmware,
    ];

    /// As the command line has it.
    pub(crate) fn name(self) -> &'static str {
        self.target().name
    }

    fn target(self) -> &'static Target {
        match self {
            Decoder::Isa => &ISA,
            Decoder::Ir3 => &IR3,
            Decoder::Cs => &CS,
            Decoder::Dump => &DUMP,
            Decoder::Program => &PROGRAM,
            Decoder::Firmware => &FIRMWARE,
        }
    }
}

/// A decoder under test.
struct Target {
    name: &'static str,
    /// A word to try.
    word: fn(&mut Dice) -> u64,
    /// True if the word is legal; what is wrong if the decoder contradicts itself.
    check: fn(u64) -> Result<bool, String>,
    /// How to look at one word; `{}` stands for it.
    again: &'static str,
    /// Of how many words one is tried: what takes as much longer than an instruction is tried as much less often.
    share: u64,
}

const ISA: Target = Target {
    name: "isa",
    word: isa_word,
    check: isa_check,
    again: "echo {} | cargo eitri disasm",
    share: 1,
};

const IR3: Target = Target {
    name: "ir3",
    word: ir3::word,
    check: ir3::check,
    again: "echo {} | cargo eitri disasm --arch a6xx",
    share: 200,
};

const CS: Target = Target {
    name: "cs",
    word: cs_word,
    check: cs_check,
    again: "echo {} | cargo eitri cs disasm",
    share: 50,
};

const DUMP: Target = Target {
    name: "dump",
    word: Dice::next,
    check: dump::check,
    again: "the word is the seed that `dump::check` of cli/src/commands/fuzz takes: {}",
    share: 2000,
};

const PROGRAM: Target = Target {
    name: "program",
    word: Dice::next,
    check: program::check,
    again: "the word is the seed that `program::check` of cli/src/commands/fuzz takes: {}",
    share: 200,
};

const FIRMWARE: Target = Target {
    name: "firmware",
    word: Dice::next,
    check: firmware::check,
    again: "the word is the seed that `firmware::check` of cli/src/commands/fuzz takes: {}",
    share: 200,
};

impl Target {
    /// How many words are tried where `count` are asked for.
    fn count(&self, count: u64) -> u64 {
        count.div_ceil(self.share)
    }
}

/// Words that one thread takes at a time.
const CHUNK: u64 = 1_000;
/// Faults that are printed of a decoder.
const SHOWN: usize = 10;

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let mut status = Status::Good;
    for decoder in Decoder::ALL {
        if args.only.is_some_and(|only| only != decoder) {
            continue;
        }
        let target = decoder.target();
        let started = Instant::now();
        let count = target.count(args.count);
        let tally = fuzz(target, args.seed, count);
        let seconds = started.elapsed().as_secs_f64();
        for line in tally.shown(target) {
            outln!("{line}")?;
        }
        outln!(
            "{:<8} {} words: {} legal, {} refused, {} faults ({seconds:.1} s, seed {})",
            target.name,
            count,
            tally.legal,
            count - tally.legal - tally.faults.len() as u64,
            tally.faults.len(),
            args.seed
        )?;
        if !tally.faults.is_empty() {
            status = Status::CheckFailed;
        }
    }
    Ok(status)
}

/// What is wrong with a decoder, as lines; at most those of the first ten words.
pub(crate) fn faults(decoder: Decoder, seed: u64, count: u64) -> Vec<String> {
    let target = decoder.target();
    fuzz(target, seed, target.count(count)).shown(target)
}

#[derive(Default)]
struct Tally {
    legal: u64,
    faults: Vec<(u64, String)>,
}

impl Tally {
    /// The first faults, each with how to look at its word.
    fn shown(&self, target: &Target) -> Vec<String> {
        let lines = |(word, what): &(u64, String)| {
            [
                format!("FAIL {} {word:016x}: {what}", target.name),
                format!(
                    "again: {}",
                    target.again.replace("{}", &format!("{word:016x}"))
                ),
            ]
        };
        self.faults.iter().take(SHOWN).flat_map(lines).collect()
    }
}

/// Tries `count` words of a decoder, on every core.
fn fuzz(target: &Target, seed: u64, count: u64) -> Tally {
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut tally = Tally::default();
        loop {
            let first = next.fetch_add(CHUNK, Ordering::Relaxed);
            if first >= count {
                return tally;
            }
            for number in first..count.min(first + CHUNK) {
                try_word(target, seed, number, &mut tally);
            }
        }
    };
    let mut total = Tally::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            // A panic of a decoder is caught at its word; another one is a bug of this command.
            let tally = worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            total.legal += tally.legal;
            total.faults.extend(tally.faults);
        }
    });
    // Threads finish in any order.
    total.faults.sort();
    total
}

fn try_word(target: &Target, seed: u64, number: u64, tally: &mut Tally) {
    let mut dice = Dice(
        seed.wrapping_mul(0xD134_2543_DE82_EF95)
            .wrapping_add(number),
    );
    let word = (target.word)(&mut dice);
    match catch_unwind(AssertUnwindSafe(|| (target.check)(word))) {
        Ok(Ok(legal)) => tally.legal += u64::from(legal),
        Ok(Err(what)) => tally.faults.push((word, what)),
        Err(_) => tally.faults.push((word, "panics".to_owned())),
    }
}

/// Random numbers (splitmix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn high(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }
}

/// Most words that damage changes.
const CHANGES: u64 = 6;

/// Changes some 32-bit words of a file: to any, to one of the file's own, or by a bit.
fn damage(dice: &mut Dice, bytes: &mut [u8]) {
    let (words, _) = bytes.as_chunks_mut::<4>();
    if words.is_empty() {
        return;
    }
    for _ in 0..dice.next() % CHANGES {
        let other = words[dice.next() as usize % words.len()];
        let word = &mut words[dice.next() as usize % words.len()];
        *word = match dice.next() % 4 {
            0 => dice.high().to_le_bytes(),
            1 => other,
            2 => (u32::from_le_bytes(*word) ^ 1 << (dice.next() % 32)).to_le_bytes(),
            _ => (dice.high() % 64).to_le_bytes(),
        };
    }
}

const ISA_ARCH: eitri_isa::Arch = eitri_isa::Arch::V10;

/// Half of the words are any word at all; the others a legal instruction, every second of them with a bit inverted.
fn isa_word(dice: &mut Dice) -> u64 {
    let choice = dice.next();
    if choice & 1 == 0 {
        return dice.next();
    }
    let op = Op::ALL[(choice >> 32) as usize % Op::ALL.len()];
    let instr = Instr::random(op, ISA_ARCH, &mut || dice.high());
    let word = instr.and_then(|instr| instr.encode(ISA_ARCH).ok());
    let flipped = if choice & 2 == 0 {
        0
    } else {
        1 << (choice >> 8 & 63)
    };
    word.unwrap_or_else(|| dice.next()) ^ flipped
}

fn isa_check(word: u64) -> Result<bool, String> {
    let Ok(instr) = Instr::decode(word, ISA_ARCH) else {
        return Ok(false);
    };
    let again = match instr.encode(ISA_ARCH) {
        // The one thing that hardware takes and no assembler writes: a message that reads three uniforms or constants.
        Err(EncodeError::Rule(Rule::TooManyConstants { .. })) => return Ok(true),
        again => again.map_err(|error| format!("decodes, but does not encode: {error}"))?,
    };
    // What the hardware ignores is dropped: some bits of the row, and a page that no source reads.
    let ignored = instr.row().ignored | 0b11 << 57;
    if (again ^ word) & !ignored != 0 || again & ignored & !word != 0 {
        return Err(format!("encodes again as {again:016x}"));
    }
    for syntax in Syntax::ALL {
        let text = instr.display(ISA_ARCH, syntax).to_string();
        if instr.loss(ISA_ARCH, syntax).is_some() {
            continue;
        }
        match Instr::assemble(&text, ISA_ARCH, syntax) {
            Ok(read) if read == again => {}
            Ok(read) => return Err(format!("{syntax}: `{text}` assembles to {read:016x}")),
            Err(error) => return Err(format!("{syntax}: `{text}` does not assemble: {error}")),
        }
    }
    Ok(true)
}

/// As [`isa_word`], of any architecture.
fn cs_word(dice: &mut Dice) -> u64 {
    let choice = dice.next();
    if choice & 1 == 0 {
        return dice.next();
    }
    let archs = eitri_cs::SUPPORTED;
    let Some(arch) = archs.iter().nth((choice >> 32) as usize % archs.len()) else {
        return choice;
    };
    let word = eitri_cs::random_word(arch, || dice.next());
    match choice & 2 {
        0 => word,
        _ => word ^ 1 << (choice >> 8 & 63),
    }
}

fn cs_check(word: u64) -> Result<bool, String> {
    let mut legal = false;
    for arch in eitri_cs::SUPPORTED.iter() {
        let Ok(instr) = eitri_cs::Instr::decode(word, arch) else {
            continue;
        };
        legal = true;
        match instr.encode(arch) {
            Ok(again) if again == word => {}
            Ok(again) => return Err(format!("{arch}: encodes again as {again:016x}")),
            Err(error) => {
                return Err(format!("{arch}: decodes, but does not encode: {error}"));
            }
        }
        let text = eitri_cs::text::disassemble(word, arch, eitri_cs::text::Syntax::Eitri)
            .map_err(|error| format!("{arch}: decodes, but has no text: {error}"))?
            .to_string();
        match eitri_cs::text::assemble_line(&text, arch) {
            Ok(read) if read == word => {}
            Ok(read) => return Err(format!("{arch}: `{text}` assembles to {read:016x}")),
            Err(error) => return Err(format!("{arch}: `{text}` does not assemble: {error}")),
        }
    }
    Ok(legal)
}
