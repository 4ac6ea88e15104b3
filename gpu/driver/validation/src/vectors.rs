//! Vectors: instructions with their registers before and after, computed from the rules and not on any GPU.
//!
//! The file is linked in as it is, one vector a line, and read where it lies: no allocation, no second copy of the numbers.
//! Facts: hardware/data/isa-semantics-vectors.json, whose `fields` explain the members.

use eitri_csf::Arch;

/// The file. A test compares what is read here with what a JSON parser reads.
const FILE: &str = include_str!("../../../../testdata/data/isa-semantics-vectors.json");

/// Most registers that a vector names before, and after.
pub const INPUTS: usize = 5;
/// Most registers that it names afterwards.
pub const OUTPUTS: usize = 2;

/// One register that a vector names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// Its number.
    pub register: u8,
    /// What it holds.
    pub bits: u32,
}

/// What of a result may differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slack {
    /// Float lanes may differ by so many units in the last place.
    pub ulp: u32,
    /// Bits of a lane in which any NaN is right; 0 if there is none.
    pub nan_width: u32,
    /// Which lanes these are, a bit each.
    pub nan_lanes: u32,
}

/// An instruction with its registers before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Its name: the operation, and a number.
    pub id: &'static str,
    /// The operation, with its type.
    pub op: &'static str,
    /// The instruction.
    pub word: u64,
    /// First and last architecture that has it, by major number.
    pub archs: (u32, u32),
    inputs: [Value; INPUTS],
    input_count: usize,
    outputs: [(Value, Slack); OUTPUTS],
    output_count: usize,
}

impl Vector {
    /// The registers before.
    pub fn inputs(&self) -> &[Value] {
        self.inputs.get(..self.input_count).unwrap_or(&[])
    }

    /// The registers after, and what of them may differ.
    pub fn outputs(&self) -> &[(Value, Slack)] {
        self.outputs.get(..self.output_count).unwrap_or(&[])
    }

    /// Whether an architecture has the instruction.
    pub fn is_in(&self, arch: Arch) -> bool {
        (self.archs.0..=self.archs.1).contains(&arch.major())
    }

    /// The mnemonic without its type.
    pub fn class(&self) -> &'static str {
        self.op.split('.').next().unwrap_or(self.op)
    }
}

/// All vectors, in the order of the file.
pub fn all() -> impl Iterator<Item = Vector> {
    FILE.lines().filter_map(line)
}

/// What stands behind `"name": ` in a line.
fn member(line: &'static str, name: &str) -> Option<&'static str> {
    let mut rest = line;
    loop {
        let (_, behind) = rest.split_once('"')?;
        let behind_name = behind.strip_prefix(name);
        if let Some(value) = behind_name.and_then(|rest| rest.strip_prefix("\": ")) {
            return Some(value);
        }
        rest = behind;
    }
}

fn text(line: &'static str, name: &str) -> Option<&'static str> {
    let behind = member(line, name)?.strip_prefix('"')?;
    behind.split_once('"').map(|(text, _)| text)
}

/// The registers of an object: `{"r2": "0x…", …}`.
fn values(object: &'static str) -> impl Iterator<Item = Value> {
    let inside = object.strip_prefix('{').unwrap_or("");
    let inside = inside.split_once('}').map_or("", |(inside, _)| inside);
    inside.split(", ").filter_map(|pair| {
        let (name, value) = pair.split_once(": ")?;
        let register = name.trim_matches('"').strip_prefix('r')?.parse().ok()?;
        let bits = value.trim_matches('"').strip_prefix("0x")?;
        let bits = u32::from_str_radix(bits, 16).ok()?;
        Some(Value { register, bits })
    })
}

/// `[width, [lanes]]` of a register in the object of NaN lanes.
fn nan_lanes(object: &'static str, register: u8) -> Option<(u32, u32)> {
    let inside = object.split_once("}")?.0;
    let mut rest = inside;
    while let Some((_, behind)) = rest.split_once("\"r") {
        let (name, value) = behind.split_once("\": [")?;
        let (width, lanes) = value.split_once(", [")?;
        let (lanes, after) = lanes.split_once(']')?;
        if name.parse() == Ok(register) {
            let lanes = lanes.split(", ").filter_map(|lane| lane.parse().ok());
            let lanes = lanes.fold(0_u32, |all, lane: u32| all | 1 << (lane & 31));
            return Some((width.parse().ok()?, lanes));
        }
        rest = after;
    }
    None
}

fn line(line: &'static str) -> Option<Vector> {
    let id = text(line, "id")?;
    let ulp = member(line, "ulp").and_then(|text| text.split([',', '}']).next());
    let ulp = ulp.and_then(|text| text.parse().ok()).unwrap_or(0);
    let archs = member(line, "arch").and_then(|text| {
        let (first, rest) = text.strip_prefix('[')?.split_once(", ")?;
        Some((first.parse().ok()?, rest.split_once(']')?.0.parse().ok()?))
    });
    let nan = member(line, "nan");
    let mut vector = Vector {
        id,
        op: text(line, "op")?,
        word: u64::from_str_radix(text(line, "word")?, 16).ok()?,
        archs: archs.unwrap_or((9, 14)),
        inputs: [Value::default(); INPUTS],
        input_count: 0,
        outputs: [(Value::default(), Slack::default()); OUTPUTS],
        output_count: 0,
    };
    for (place, value) in vector.inputs.iter_mut().zip(values(member(line, "in")?)) {
        *place = value;
        vector.input_count += 1;
    }
    for (place, value) in vector.outputs.iter_mut().zip(values(member(line, "out")?)) {
        let nan = nan.and_then(|object| nan_lanes(object, value.register));
        let (nan_width, nan_lanes) = nan.unwrap_or((0, 0));
        let slack = Slack {
            ulp,
            nan_width,
            nan_lanes,
        };
        *place = (value, slack);
        vector.output_count += 1;
    }
    Some(vector)
}

impl Slack {
    /// Whether `got` is right where `expected` was computed.
    pub fn allows(self, got: u32, expected: u32) -> bool {
        if got == expected {
            return true;
        }
        let width = if self.nan_width == 16 { 16 } else { 32 };
        let with_lanes = (0..32 / width).all(|lane| {
            let part = |word: u32| word >> (lane * width) & (u32::MAX >> (32 - width));
            let (got, expected) = (part(got), part(expected));
            match self.nan_width != 0 && self.nan_lanes >> lane & 1 != 0 {
                true => is_nan(got, width),
                false => got == expected || self.is_near(got, expected, width),
            }
        });
        let halves = || {
            [0, 16].into_iter().all(|shift| {
                let (got, expected) = (got >> shift & 0xffff, expected >> shift & 0xffff);
                got == expected || self.is_near(got, expected, 16)
            })
        };
        with_lanes || (self.nan_width == 0 && self.ulp != 0 && halves())
    }

    /// Whether two finite floats of one sign are near enough.
    fn is_near(self, got: u32, expected: u32, width: u32) -> bool {
        let sign = 1 << (width - 1);
        let finite = |bits: u32| bits & (sign - 1) < infinity(width);
        got & sign == expected & sign
            && finite(got)
            && finite(expected)
            && got.abs_diff(expected) <= self.ulp
    }
}

const fn infinity(width: u32) -> u32 {
    if width == 16 { 0x7c00 } else { 0x7f80_0000 }
}

fn is_nan(bits: u32, width: u32) -> bool {
    bits & (u32::MAX >> (33 - width)) > infinity(width)
}
