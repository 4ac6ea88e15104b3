//! The profile in the format of callgrind: costs by file, program, line and instruction, for kcachegrind and callgrind_annotate.
//!
//! Costs are whole numbers there, so cycles are thousandths. A program is a function; what it has of another file stands under that.

use super::sample::millicycles;
use super::{Figures, Profile, Program, SourcePlace};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A cost: its name, what it is, and how much of it.
type Cost = (&'static str, &'static str, fn(&Figures) -> u64);

/// The columns.
#[rustfmt::skip]
const COSTS: &[Cost] = &[
    ("Mcycles",  "cycles / 1000, each instruction by its unit", |it| millicycles(it.cost)),
    ("Warps",    "instructions, once a warp",                   |it| it.executed),
    ("Lanes",    "instructions, once a lane",                   |it| it.lanes),
    ("Diverged", "instructions of a part of the warp",          |it| it.diverged),
    ("FMA",      "cycles / 1000 of FMA",                        |it| millicycles(it.cycles.fma)),
    ("CVT",      "cycles / 1000 of CVT",                        |it| millicycles(it.cycles.cvt)),
    ("SFU",      "cycles / 1000 of SFU",                        |it| millicycles(it.cycles.sfu)),
    ("LS",       "cycles / 1000 of load/store",                 |it| millicycles(it.cycles.load_store)),
    ("Varying",  "cycles / 1000 of the varying unit",           |it| millicycles(it.cycles.varying)),
    ("Texture",  "cycles / 1000 of the texture unit",           |it| millicycles(it.cycles.texture)),
    ("Read",     "bytes that lanes read",                       |it| it.read),
    ("Written",  "bytes that lanes write",                      |it| it.written),
    ("Lines",    "lines of the cache that messages touch",      |it| it.lines),
    ("Waits",    "waits for messages",                          |it| it.waited()),
    ("Waited",   "thousandths of a cycle in such waits",        |it| millicycles(it.waited_cycles())),
];

/// The file of what comes from none.
const NO_FILE: &str = "???";

impl Profile {
    /// The file.
    pub(crate) fn callgrind(&self) -> String {
        let mut text = String::new();
        // Writing to a string can't fail.
        let _ = write!(
            text,
            "# callgrind format\nversion: 1\ncreator: eitri {}\ncmd: {}\npositions: instr line\n",
            env!("CARGO_PKG_VERSION"),
            self.title
        );
        for (name, what, _) in COSTS {
            let _ = writeln!(text, "event: {name} : {what}");
        }
        let names: Vec<&str> = COSTS.iter().map(|(name, ..)| *name).collect();
        let _ = writeln!(text, "events: {}", names.join(" "));
        let _ = writeln!(text, "summary: {}", costs(&self.known()));
        for (number, program) in self.programs.iter().enumerate() {
            if program.total.executed != 0 {
                write_program(&mut text, number, program);
            }
        }
        let _ = writeln!(text, "\ntotals: {}", costs(&self.known()));
        text
    }

    /// What was counted of the programs.
    fn known(&self) -> Figures {
        Figures::sum(self.programs.iter().map(|program| &program.total))
    }
}

fn write_program(text: &mut String, number: usize, program: &Program) {
    let mut by_file: BTreeMap<&str, Vec<(usize, u32)>> = BTreeMap::new();
    for (number, instruction) in program.instructions.iter().enumerate() {
        if instruction.figures.executed == 0 {
            continue;
        }
        let place = instruction.source.as_ref();
        let (file, line) = place.map_or((NO_FILE, 0), |(file, line): &SourcePlace| (file, *line));
        by_file.entry(file).or_default().push((number, line));
    }
    // Programs lie one behind the other, so that no address is another's.
    let base = (number as u64) << 20;
    for (file, places) in by_file {
        let _ = write!(text, "\nfl={file}\nfn={}\n", program.label());
        for (number, line) in places {
            let address = base + 8 * number as u64;
            let figures = &program.instructions[number].figures;
            let _ = writeln!(text, "{address:#x} {line} {}", costs(figures));
        }
    }
}

fn costs(figures: &Figures) -> String {
    let numbers = COSTS.iter().map(|(.., cost)| cost(figures).to_string());
    numbers.collect::<Vec<_>>().join(" ")
}
