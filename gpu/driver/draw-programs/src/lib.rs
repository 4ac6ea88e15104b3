//! Graphics programs in assembly, that tests on a GPU draw with: those of the driver and those of the validation suite.
//!
//! Needs: `alloc`.  Guarantees: each is encoded for the generation that is asked for, with the bindings and facts that the runtime
//! wants to know.  Never: a compiler's output; what is expected of a picture is then not the compiler's affair.
//!
//! Vertices have a position in attribute 0 and a colour in attribute 1, which location 0 hands on.
//! Facts: hardware/valhall-isa.md 11 (messages), 13 (preloads); graphics-draw.md; compiler-abi.md 4.
//!
//! ```
//! use eitri_draw_programs::Shader;
//! use eitri_program::{Arch, GraphicsProgram, Stage};
//!
//! let bytes = Shader::Color.build(Arch::V10)?;
//! let program = GraphicsProgram::parse(&bytes)?;
//! assert_eq!(program.common().stage(), Stage::Fragment);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use eitri_isa::{Instr, Syntax};
use eitri_program::{
    Access, Arch, Attribute, Axis, Binding, BindingKind, ColorOutput, DescriptorSlot, DrawWord,
    EntryKind, EntryParts, Facts, FauWord, FragmentFacts, GraphicsParts, ImageDimension,
    ImageShape, Interpolation, NumberKind, RegisterFile, Varying, VaryingSize, VertexFacts,
};

/// A program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shader {
    /// Vertices: position and colour.
    Vertices,
    /// The same, with attribute 2 added to the position; of generations that shade positions apart.
    MovedVertices,
    /// Fragments: the vertices' colour into target 0.
    Color,
    /// Fragments: the vertices' colour into target 1, and its green alone into target 0.
    TwoColors,
    /// Fragments: the texel of the image of set 0, binding 0, at the pixel, into target 0.
    Fetched,
    /// Vertices as [`Shader::Vertices`], but the viewport's centre is the first and the third word of the buffer of set 0,
    /// binding 0; of generations that shade positions apart.
    PlacedVertices,
    /// Fragments: words 4 to 7 of the buffer of set 0, binding 0, into target 0.
    TableColor,
    /// Fragments: words 0 to 3 of the push constants into target 0.
    PushedColor,
    /// Vertices as [`Shader::Vertices`], but x of the viewport's centre is the number of the first instance, taken as the bits of a
    /// float; of generations that shade positions apart.
    InstancePlacedVertices,
    /// Vertices as [`Shader::Vertices`], but x of the viewport's centre is the number of the view times half the viewport's width; of
    /// generations that shade positions apart.
    ViewPlacedVertices,
    /// Fragments: the length of the buffer of set 0, binding 0, in 255ths into red, green and blue of target 0.
    LengthColor,
    /// Fragments: the vertices' colour into target 0, by way of 32 bytes of the thread's own memory.
    SpilledColor,
    /// Fragments: what target 0 holds at the pixel, red and green the other way round, into target 1.
    TileSwapped,
}

/// A program that can't be made: the generation lacks an instruction, or something that the program needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoProgram(String);

impl fmt::Display for NoProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for NoProgram {}

impl Shader {
    /// The program's bytes for a generation.
    ///
    /// # Errors
    /// If a line is no instruction of it.
    pub fn build(self, arch: Arch) -> Result<Vec<u8>, NoProgram> {
        match self {
            Shader::Vertices => vertices(arch),
            Shader::MovedVertices => moved_vertices(arch),
            Shader::Color => color(arch),
            Shader::TwoColors => two_colors(arch),
            Shader::Fetched => fetched(arch),
            Shader::PlacedVertices => placed_vertices(arch),
            Shader::TableColor => table_color(arch),
            Shader::PushedColor => pushed_color(arch),
            Shader::InstancePlacedVertices => instance_placed_vertices(arch),
            Shader::ViewPlacedVertices => view_placed_vertices(arch),
            Shader::LengthColor => length_color(arch),
            Shader::SpilledColor => spilled_color(arch),
            Shader::TileSwapped => tile_swapped(arch),
        }
    }
}

/// Preloaded registers: bit n is r(48 + n).
const VERTEX_IDS: u16 = 1 << 11 | 1 << 12 | 1 << 13;
const FRAGMENT: u16 = 1 << 11 | 1 << 12 | 1 << 13;

/// The words of assembly: an instruction a line, and comments.
fn assemble(arch: Arch, text: &str) -> Result<Vec<u64>, NoProgram> {
    let lines = text.lines().filter(|line| !line.starts_with(';'));
    let word = |line: &str| {
        let word = Instr::assemble(line, arch, Syntax::Mesa24);
        word.map_err(|error| NoProgram(format!("{line}: {error}")))
    };
    lines.map(word).collect()
}

fn viewport() -> Vec<FauWord> {
    let scales = Axis::ALL.map(DrawWord::ViewportScale);
    let offsets = Axis::ALL.map(DrawWord::ViewportOffset);
    let words = scales.into_iter().chain(offsets);
    words.map(FauWord::Draw).collect()
}

fn attribute(location: u8) -> Attribute {
    Attribute {
        location,
        components: 4,
        kind: NumberKind::Float,
    }
}

/// The varying of location 0.
const COLOR: Varying = Varying {
    location: 0,
    components: 4,
    size: VaryingSize::Word,
    interpolation: Interpolation::Smooth,
    offset: 0,
};

fn program(parts: &GraphicsParts<'_>) -> Result<Vec<u8>, NoProgram> {
    let failed = |error: &dyn fmt::Display| NoProgram(format!("{error}"));
    let length = parts.encoded_len().map_err(|error| failed(&error))?;
    let mut bytes = vec![0; length];
    parts.encode(&mut bytes).map_err(|error| failed(&error))?;
    Ok(bytes)
}

/// What all programs here have alike.
fn parts<'a>(arch: Arch, facts: Facts, entry_points: &'a [EntryParts<'a>]) -> GraphicsParts<'a> {
    GraphicsParts {
        arch,
        entry: "main",
        entry_points,
        data: &[],
        scratch_bytes: 0,
        push_constant_bytes: 0,
        bindings: &[],
        push_ranges: &[],
        facts,
        tile_reads: 0,
        attributes: &[],
        outputs: &[],
        varyings: &[],
        record_bytes: 0,
    }
}

fn entry<'a>(kind: EntryKind, code: &'a [u64], preload: u16, fau: &'a [FauWord]) -> EntryParts<'a> {
    EntryParts {
        kind,
        code,
        registers: RegisterFile::Full,
        preload,
        fau,
        fau_steps: &[],
    }
}

/// Vertices with a position in attribute 0, and a colour in attribute 1.
fn vertices(arch: Arch) -> Result<Vec<u8>, NoProgram> {
    if arch >= Arch::V12 {
        let code = assemble(arch, include_str!("../shaders/vertex.v12"))?;
        let viewport = viewport();
        return program(&GraphicsParts {
            attributes: &[attribute(0), attribute(1)],
            varyings: &[COLOR],
            record_bytes: 16,
            ..parts(
                arch,
                Facts::Vertex(VertexFacts::default()),
                &[entry(EntryKind::Vertex, &code, VERTEX_IDS, &viewport)],
            )
        });
    }
    vertices_of(arch, include_str!("../shaders/position.v10"), &[0, 1])
}

/// The same with attribute 2 added to the position.
fn moved_vertices(arch: Arch) -> Result<Vec<u8>, NoProgram> {
    vertices_of(
        arch,
        include_str!("../shaders/position_moved.v10"),
        &[0, 1, 2],
    )
}

fn vertices_of(arch: Arch, position: &str, attributes: &[u8]) -> Result<Vec<u8>, NoProgram> {
    split_vertices(arch, position, attributes, (&viewport(), &[]))
}

/// Vertices whose positions are shaded apart, with the uniforms of these and the bindings.
fn split_vertices(
    arch: Arch,
    position: &str,
    attributes: &[u8],
    (uniforms, bindings): (&[FauWord], &[Binding]),
) -> Result<Vec<u8>, NoProgram> {
    let position = assemble(arch, position)?;
    let attributes: Vec<Attribute> = attributes.iter().map(|it| attribute(*it)).collect();
    let varying = assemble(arch, include_str!("../shaders/varying.v10"))?;
    let entries = [
        entry(EntryKind::Position, &position, VERTEX_IDS, uniforms),
        entry(EntryKind::Varying, &varying, VERTEX_IDS, &[]),
    ];
    program(&GraphicsParts {
        attributes: &attributes,
        bindings,
        varyings: &[COLOR],
        record_bytes: 16,
        ..parts(arch, Facts::Vertex(VertexFacts::default()), &entries)
    })
}

/// A fragment program: its words behind the blend constants, and its bindings.
fn fragments(
    arch: Arch,
    text: &str,
    outputs: &[u8],
    words: &[FauWord],
    bindings: &[Binding],
) -> Result<Vec<u8>, NoProgram> {
    let code = FragmentCode {
        text,
        tile_reads: 0,
        scratch_bytes: 0,
    };
    fragments_of(arch, &code, outputs, words, bindings)
}

/// Assembly of a fragment program.
struct FragmentCode<'a> {
    text: &'a str,
    /// Targets that it reads from the tile, a bit each.
    tile_reads: u8,
    /// Bytes of a thread's own memory.
    scratch_bytes: u32,
}

fn fragments_of(
    arch: Arch,
    code: &FragmentCode<'_>,
    outputs: &[u8],
    words: &[FauWord],
    bindings: &[Binding],
) -> Result<Vec<u8>, NoProgram> {
    let &FragmentCode {
        text,
        tile_reads,
        scratch_bytes,
    } = code;
    let code = assemble(arch, text)?;
    let constants = [0, 1, 2, 3].map(|it| FauWord::Draw(DrawWord::BlendConstant(it)));
    let fau: Vec<FauWord> = constants.into_iter().chain(words.iter().copied()).collect();
    let entries = [entry(EntryKind::Fragment, &code, FRAGMENT, &fau)];
    let output = |target: &u8| ColorOutput {
        target: *target,
        kind: NumberKind::Float,
        blended: false,
    };
    let outputs: Vec<ColorOutput> = outputs.iter().map(output).collect();
    let pushed = words.iter().map(|word| match word {
        FauWord::PushConstant { offset } => offset + 4,
        _ => 0,
    });
    program(&GraphicsParts {
        outputs: &outputs,
        bindings,
        push_constant_bytes: pushed.max().unwrap_or(0),
        varyings: &[COLOR],
        record_bytes: 16,
        tile_reads,
        scratch_bytes,
        ..parts(arch, Facts::Fragment(FragmentFacts::default()), &entries)
    })
}

/// The vertices' colour into target 0.
fn color(arch: Arch) -> Result<Vec<u8>, NoProgram> {
    fragments(arch, include_str!("../shaders/color.v10"), &[0], &[], &[])
}

/// The vertices' colour into target 1, and its green alone into target 0.
fn two_colors(arch: Arch) -> Result<Vec<u8>, NoProgram> {
    fragments(
        arch,
        include_str!("../shaders/two_colors.v10"),
        &[0, 1],
        &[],
        &[],
    )
}

/// The texel of the image of set 0 at the pixel into target 0.
fn fetched(arch: Arch) -> Result<Vec<u8>, NoProgram> {
    let image = Binding {
        set: 0,
        binding: 0,
        kind: BindingKind::SampledImage(ImageShape::plain(ImageDimension::TwoD)),
        access: Access::Read,
        count: 1,
        slot: DescriptorSlot { table: 1, index: 0 },
        min_bytes: 0,
    };
    let text = include_str!("../shaders/fetched.v10");
    let words = [0x0800_0000, 0, 0xFFFF, 0].map(FauWord::Constant);
    fragments(arch, text, &[0], &words, &[image])
}

/// The uniform buffer of set 0, binding 0.
const TABLE: Binding = Binding {
    set: 0,
    binding: 0,
    kind: BindingKind::UniformBuffer,
    access: Access::Read,
    count: 1,
    slot: DescriptorSlot { table: 1, index: 0 },
    min_bytes: 0,
};

/// A word of it.
const fn table_word(word: u32) -> FauWord {
    FauWord::BufferWord {
        slot: TABLE.slot,
        offset: word * 4,
    }
}

/// Vertices around a centre that a buffer has.
fn placed_vertices(arch: Arch) -> Result<Vec<u8>, NoProgram> {
    let mut uniforms = viewport();
    for (place, word) in uniforms.iter_mut().skip(3).zip([0, 2]) {
        *place = table_word(word);
    }
    let position = include_str!("../shaders/position.v10");
    split_vertices(arch, position, &[0, 1], (&uniforms, &[TABLE]))
}

/// Words 4 to 7 of a buffer into target 0.
fn table_color(arch: Arch) -> Result<Vec<u8>, NoProgram> {
    let text = include_str!("../shaders/table_color.v10");
    fragments(arch, text, &[0], &[4, 5, 6, 7].map(table_word), &[TABLE])
}

/// Words 0 to 3 of the push constants into target 0.
fn pushed_color(arch: Arch) -> Result<Vec<u8>, NoProgram> {
    let text = include_str!("../shaders/table_color.v10");
    let words = [0, 4, 8, 12].map(|offset| FauWord::PushConstant { offset });
    fragments(arch, text, &[0], &words, &[])
}

/// Vertices around a centre whose x is the first instance's number.
fn instance_placed_vertices(arch: Arch) -> Result<Vec<u8>, NoProgram> {
    let mut uniforms = viewport();
    if let Some(x) = uniforms.get_mut(3) {
        *x = FauWord::Draw(DrawWord::BaseInstance);
    }
    let position = include_str!("../shaders/position.v10");
    split_vertices(arch, position, &[0, 1], (&uniforms, &[]))
}

/// Vertices around a centre that the number of the view moves to the right.
fn view_placed_vertices(arch: Arch) -> Result<Vec<u8>, NoProgram> {
    let mut uniforms = viewport();
    if let Some(x) = uniforms.get_mut(3) {
        *x = FauWord::Draw(DrawWord::ViewIndex);
    }
    let position = include_str!("../shaders/position_of_view.v10");
    split_vertices(arch, position, &[0, 1], (&uniforms, &[]))
}

/// The length of a buffer into target 0.
fn length_color(arch: Arch) -> Result<Vec<u8>, NoProgram> {
    let text = include_str!("../shaders/length_color.v10");
    let words = [
        FauWord::BufferBytes { slot: TABLE.slot },
        FauWord::Constant((1.0_f32 / 255.0).to_bits()),
        FauWord::Constant(1.0_f32.to_bits()),
    ];
    fragments(arch, text, &[0], &words, &[TABLE])
}

/// The vertices' colour into target 0, by way of the thread's own memory.
fn spilled_color(arch: Arch) -> Result<Vec<u8>, NoProgram> {
    let code = FragmentCode {
        text: include_str!("../shaders/spilled_color.v10"),
        tile_reads: 0,
        scratch_bytes: 32,
    };
    fragments_of(arch, &code, &[0], &[], &[])
}

/// What target 0 holds at the pixel, red and green the other way round, into target 1.
fn tile_swapped(arch: Arch) -> Result<Vec<u8>, NoProgram> {
    let code = FragmentCode {
        text: include_str!("../shaders/tile_swapped.v10"),
        tile_reads: 1,
        scratch_bytes: 0,
    };
    let own_pixel = FauWord::Constant(0xFF00_0000);
    fragments_of(arch, &code, &[1], &[own_pixel], &[])
}
