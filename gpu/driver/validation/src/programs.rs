//! Programs: the shaders of the tests, assembled for the GPU that was found.
//!
//! Each has one buffer, whose address it finds in u0 and u1, some an image behind it, and up to eight words of push constants from
//! u2 on; r60 holds the number of its thread.  Facts: hardware/valhall-isa.md 6 (flow), 11 (messages), 13 (preloads); compiler-abi.md 1.2, 4.

use crate::vectors::{self, Vector};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use eitri_csf::Arch;
use eitri_draw_programs::Shader;
use eitri_isa::{ImmId, Instr, Reg, RegRange, Syntax};
use eitri_program::{
    Access, AddressHalf, Binding, BindingKind, DescriptorSlot, FauWord, ImageDimension, ImageShape,
    ProgramParts, RegisterFile, Stage, WorkgroupSize,
};

/// Words of push constants that every program has.
pub const PUSHED: usize = 8;
/// Lanes of a warp, and threads of a workgroup of a vector program.
pub const LANES: usize = 16;

/// Where the one buffer is.
const SLOT: DescriptorSlot = DescriptorSlot { table: 1, index: 0 };
/// Where the image is.
const IMAGE_SLOT: DescriptorSlot = DescriptorSlot { table: 1, index: 1 };
/// The binding of the image.
pub(crate) const IMAGE_BINDING: u32 = 1;
/// The handle of the image, as messages take it: the table from bit 24 on, and the index (hardware/valhall-isa.md 11.3).
pub(crate) const IMAGE_HANDLE: u32 = (IMAGE_SLOT.table as u32) << 24 | IMAGE_SLOT.index;
/// Registers that are filled: r55 and r56 (the place in the workgroup), r57 (its number), r60 (the number of the thread).
const PRELOAD: u16 = 1 << (55 - 48) | 1 << (56 - 48) | 1 << (57 - 48) | 1 << (60 - 48);
/// The address of the thread's own word.
pub const OWN_WORD: &str = "SHADDX.u64 r0, u0, r60.w0, shift:0x2";

/// A program that can't be made: a defect of this crate, or an architecture that lacks an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoProgram(pub(crate) String);

impl fmt::Display for NoProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for NoProgram {}

/// What a program does with its image, which has two dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageUse {
    /// It fetches texels, as a texture.
    Fetched,
    /// It stores texels.
    Stored,
}

impl ImageUse {
    fn binding(self) -> Binding {
        let shape = ImageShape::plain(ImageDimension::TwoD);
        let (kind, access) = match self {
            ImageUse::Fetched => (BindingKind::SampledImage(shape), Access::Read),
            ImageUse::Stored => (BindingKind::StorageImage(shape), Access::ReadWrite),
        };
        Binding {
            set: 0,
            binding: IMAGE_BINDING,
            kind,
            access,
            count: 1,
            slot: IMAGE_SLOT,
            min_bytes: 0,
        }
    }
}

/// What a program is made of.
#[derive(Clone, Copy, Debug)]
pub struct Source<'t> {
    /// Instructions, one a line; `name:` is a label.
    pub text: &'t str,
    /// Threads of a workgroup.
    pub threads: u32,
    /// Whether it uses all 64 registers.
    pub all_registers: bool,
    /// Bytes that the threads of a workgroup share.
    pub shared: u32,
    /// Bytes that each thread has.
    pub scratch: u32,
    /// Its image, if it has one.
    pub image: Option<ImageUse>,
}

impl<'t> Source<'t> {
    /// A program of one warp a workgroup that needs nothing more.
    pub const fn new(text: &'t str) -> Source<'t> {
        Source {
            text,
            threads: LANES as u32,
            all_registers: false,
            shared: 0,
            scratch: 0,
            image: None,
        }
    }

    /// The program's bytes for an architecture.
    ///
    /// # Errors
    /// If a line is no instruction of it.
    pub fn build(&self, arch: Arch) -> Result<Vec<u8>, NoProgram> {
        let code = assemble(self.text, arch)?;
        encode(self, arch, &code)
    }
}

/// The words of a text.
fn assemble(text: &str, arch: Arch) -> Result<Vec<u64>, NoProgram> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut labels = Vec::new();
    let mut place = 0_i64;
    for line in lines() {
        match line.strip_suffix(':') {
            Some(label) => labels.push((label, place)),
            None => place += 1,
        }
    }
    let mut words = Vec::new();
    for line in lines().filter(|line| !line.ends_with(':')) {
        let place = words.len() as i64;
        let line = match line.rsplit_once("offset:") {
            Some((head, name)) => match labels.iter().find(|(label, _)| *label == name) {
                Some((_, target)) => format!("{head}offset:{}", target - place - 1),
                None => line.to_string(),
            },
            None => line.to_string(),
        };
        words.push(self::line(&line, arch)?);
    }
    Ok(words)
}

fn encode(source: &Source<'_>, arch: Arch, code: &[u64]) -> Result<Vec<u8>, NoProgram> {
    let failed = |error: &dyn fmt::Display| NoProgram(error.to_string());
    let address = |half| FauWord::BufferAddress { slot: SLOT, half };
    let mut fau = vec![address(AddressHalf::Low), address(AddressHalf::High)];
    fau.extend((0..PUSHED as u32).map(|word| FauWord::PushConstant { offset: 4 * word }));
    let mut bindings = vec![Binding {
        set: 0,
        binding: 0,
        kind: BindingKind::StorageBuffer,
        access: Access::ReadWrite,
        count: 1,
        slot: SLOT,
        min_bytes: 0,
    }];
    bindings.extend(source.image.map(ImageUse::binding));
    let parts = ProgramParts {
        arch,
        stage: Stage::Compute,
        entry: "test",
        code,
        data: &[],
        registers: match source.all_registers {
            true => RegisterFile::Full,
            false => RegisterFile::Half,
        },
        preload: PRELOAD,
        workgroup: WorkgroupSize::new(source.threads, 1, 1).map_err(|error| failed(&error))?,
        shared_bytes: source.shared,
        scratch_bytes: source.scratch,
        push_constant_bytes: 4 * PUSHED as u32,
        fau: &fau,
        fau_steps: &[],
        bindings: &bindings,
        push_ranges: &[],
    };
    let length = parts.encoded_len().map_err(|error| failed(&error))?;
    let mut bytes = vec![0; length];
    parts.encode(&mut bytes).map_err(|error| failed(&error))?;
    Ok(bytes)
}

/// The vectors of one class of instructions, as one program that stores each result of each lane.
#[derive(Clone, Debug)]
pub struct VectorProgram {
    /// The mnemonic without its type.
    pub class: &'static str,
    /// The program.
    pub bytes: Vec<u8>,
    /// The vectors, in the order of their results.
    pub vectors: Vec<Vector>,
}

impl VectorProgram {
    /// Words that it writes.
    pub fn words(&self) -> usize {
        let results = self.vectors.iter().map(|vector| vector.outputs().len());
        results.sum::<usize>() * LANES
    }
}

/// The classes of instructions that vectors are about, in the order of the file.
pub fn classes() -> Vec<&'static str> {
    let mut classes: Vec<&'static str> = Vec::new();
    for vector in vectors::all() {
        if !classes.contains(&vector.class()) {
            classes.push(vector.class());
        }
    }
    classes
}

/// Instructions that differ in a register and a number, from one line of text each: a line takes long to read.
struct Templates {
    set: Instr,
    store: Instr,
}

impl Templates {
    /// Stores go to behind the address in `address`.
    fn new(arch: Arch, address: u8) -> Result<Templates, NoProgram> {
        let parse = |text: &str| {
            let parsed = Instr::parse(text, arch, Syntax::Mesa24);
            parsed.map_err(|error| NoProgram(format!("{text}: {error}")))
        };
        Ok(Templates {
            set: parse("IADD_IMM.i32 r0, 0x0, #0")?,
            store: parse(&format!("STORE.i32.slot0 @r0, r{address}, offset:0"))?,
        })
    }

    /// Sets a register.
    fn set(&self, register: u8, bits: u32, arch: Arch) -> Result<u64, NoProgram> {
        let wrong = |error: &dyn fmt::Display| NoProgram(format!("r{register}: {error}"));
        let none = || NoProgram(format!("there is no r{register}"));
        let instr = self.set.with_dest(Reg::new(register).ok_or_else(none)?);
        let instr = instr.with_imm(ImmId::Constant, bits.into());
        let instr = instr.map_err(|error| wrong(&error))?;
        instr.encode(arch).map_err(|error| wrong(&error))
    }

    /// Stores a register.
    fn store(&self, register: u8, offset: usize, arch: Arch) -> Result<u64, NoProgram> {
        let wrong = |error: &dyn fmt::Display| NoProgram(format!("r{register}: {error}"));
        let none = || NoProgram(format!("there is no r{register}"));
        let first = Reg::new(register).ok_or_else(none)?;
        let range = RegRange::new(first, 1).ok_or_else(none)?;
        let instr = self.store.with_read(range);
        let instr = instr.with_imm(ImmId::Offset, offset as i64);
        let instr = instr.map_err(|error| wrong(&error))?;
        instr.encode(arch).map_err(|error| wrong(&error))
    }
}

/// The word of a line.
fn line(text: &str, arch: Arch) -> Result<u64, NoProgram> {
    Instr::assemble(text, arch, Syntax::Mesa24)
        .map_err(|error| NoProgram(format!("{text}: {error}")))
}

/// The program of one class.
fn vector_program(
    class: &'static str,
    vectors: Vec<Vector>,
    arch: Arch,
) -> Result<VectorProgram, NoProgram> {
    // The results are stored from r10 on: vectors use r0 to r8.
    let templates = Templates::new(arch, 10)?;
    let wait = line("NOP.wait0", arch)?;
    let mut code = vec![line("SHADDX.u64 r10, u0, r60.w0, shift:0x2", arch)?];
    let mut place = 0;
    for vector in &vectors {
        // What was stored before may still be on its way out of its register.
        code.push(wait);
        for value in vector.inputs() {
            code.push(templates.set(value.register, value.bits, arch)?);
        }
        code.push(vector.word);
        for (value, _) in vector.outputs() {
            code.push(templates.store(value.register, place, arch)?);
            place += 4 * LANES;
        }
    }
    code.extend([wait, line("NOP.end", arch)?]);
    let bytes = encode(&Source::new(""), arch, &code)?;
    Ok(VectorProgram {
        class,
        bytes,
        vectors,
    })
}

/// What the tests draw with.
const DRAWS: [Shader; 5] = [
    Shader::Vertices,
    Shader::Color,
    Shader::TwoColors,
    Shader::Fetched,
    Shader::PushedColor,
];

/// Everything that the tests of one GPU run: made once, since a device refers to it.
#[derive(Clone, Debug)]
pub struct Programs {
    /// What they are for.
    pub arch: Arch,
    /// One a class that the architecture has.
    pub vectors: Vec<VectorProgram>,
    /// Those of cases and of tools, by name.
    pub cases: Vec<(&'static str, Vec<u8>)>,
    /// Those that draw.
    pub draws: Vec<(Shader, Vec<u8>)>,
    /// The register file, with the address in its last two registers and in its first two.
    pub registers: Vec<RegisterProgram>,
}

/// A program that fills registers with a pattern and its complement, and stores them all.
#[derive(Clone, Debug)]
pub struct RegisterProgram {
    /// The registers that it fills.
    pub registers: core::ops::Range<u8>,
    /// The program.
    pub bytes: Vec<u8>,
}

impl RegisterProgram {
    /// The program that keeps the address in `address` and the register behind it.
    fn build(
        registers: core::ops::Range<u8>,
        address: u8,
        arch: Arch,
    ) -> Result<RegisterProgram, NoProgram> {
        let templates = Templates::new(arch, address)?;
        let start = format!("SHADDX.u64 r{address}, u0, r60.w0, shift:0x2");
        let mut code = vec![line(&start, arch)?];
        for pass in 0..2 {
            for register in registers.clone() {
                let pattern = RegisterProgram::pattern(register, pass);
                code.push(templates.set(register, pattern, arch)?);
            }
            for (place, register) in registers.clone().enumerate() {
                let place = (pass * registers.len() + place) * 4 * LANES;
                code.push(templates.store(register, place, arch)?);
            }
            code.push(line("NOP.wait0", arch)?);
        }
        code.push(line("NOP.end", arch)?);
        let source = Source {
            all_registers: true,
            ..Source::new("")
        };
        Ok(RegisterProgram {
            registers,
            bytes: encode(&source, arch, &code)?,
        })
    }

    /// What a register holds in a pass: another word in each, and each bit once 0 and once 1.
    pub fn pattern(register: u8, pass: usize) -> u32 {
        let word = (u32::from(register) + 1).wrapping_mul(0x9E37_79B1);
        if pass == 0 { word } else { !word }
    }

    /// Words that it writes.
    pub fn words(&self) -> usize {
        2 * self.registers.len() * LANES
    }
}

impl Programs {
    /// The programs for an architecture.
    ///
    /// # Errors
    /// If one can't be made.
    pub fn build(arch: Arch) -> Result<Programs, NoProgram> {
        let mut of_classes: Vec<(&'static str, Vec<Vector>)> = Vec::new();
        for vector in vectors::all().filter(|vector| vector.is_in(arch)) {
            let class = vector.class();
            match of_classes.iter_mut().find(|(known, _)| *known == class) {
                Some((_, vectors)) => vectors.push(vector),
                None => of_classes.push((class, vec![vector])),
            }
        }
        let vectors = of_classes.into_iter();
        let vectors = vectors.map(|(class, vectors)| vector_program(class, vectors, arch));
        let named = |name: &'static str, built: Result<Vec<u8>, NoProgram>| {
            let built = built.map(|bytes| (name, bytes));
            built.map_err(|error| NoProgram(format!("{name}: {error}")))
        };
        let cases = crate::cases::ALL
            .iter()
            .map(|case| named(case.name, case.build(arch)));
        let tools = crate::tools::ALL
            .iter()
            .map(|tool| named(tool.name, tool.source.build(arch)));
        let draws = DRAWS.into_iter().map(|shader| {
            let built = shader.build(arch);
            let built = built.map(|bytes| (shader, bytes));
            built.map_err(|error| NoProgram(format!("{shader:?}: {error}")))
        });
        Ok(Programs {
            arch,
            draws: draws.collect::<Result<_, _>>()?,
            vectors: vectors.collect::<Result<_, _>>()?,
            cases: cases.chain(tools).collect::<Result<_, _>>()?,
            registers: vec![
                RegisterProgram::build(0..62, 62, arch)?,
                RegisterProgram::build(2..64, 0, arch)?,
            ],
        })
    }

    /// The program of a case or a tool.
    pub(crate) fn case(&self, name: &str) -> Option<&[u8]> {
        let row = self.cases.iter().find(|(case, _)| *case == name);
        row.map(|(_, bytes)| bytes.as_slice())
    }

    /// A program that draws.
    pub(crate) fn draw(&self, shader: Shader) -> Option<&[u8]> {
        let row = self.draws.iter().find(|(of, _)| *of == shader);
        row.map(|(_, bytes)| bytes.as_slice())
    }

    /// The program of a class.
    pub(crate) fn class(&self, class: &str) -> Option<&VectorProgram> {
        self.vectors.iter().find(|program| program.class == class)
    }
}
