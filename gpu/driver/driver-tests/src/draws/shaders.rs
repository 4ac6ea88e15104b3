//! Shaders of vertices and fragments, written in assembly, as programs.

use crate::bench::OrFail;
use alloc::vec;
use alloc::vec::Vec;
use eitri_isa::{Instr, Syntax};
use eitri_program::{
    Access, Arch, Attribute, Axis, Binding, BindingKind, ColorOutput, DescriptorSlot, DrawWord,
    EntryKind, EntryParts, Facts, FauWord, FragmentFacts, GraphicsParts, GraphicsProgram,
    ImageDimension, ImageShape, Interpolation, NumberKind, RegisterFile, Varying, VaryingSize,
    VertexFacts,
};

/// Preloaded registers: bit n is r(48 + n).
const VERTEX_IDS: u16 = 1 << 11 | 1 << 12 | 1 << 13;
const FRAGMENT: u16 = 1 << 11 | 1 << 12 | 1 << 13;

/// The words of assembly: an instruction a line, and comments.
fn assemble(arch: Arch, text: &str) -> Vec<u64> {
    let lines = text.lines().filter(|line| !line.starts_with(';'));
    let word = |line: &str| {
        let instr = Instr::parse(line, arch, Syntax::Mesa24).or_fail("it is assembly");
        instr.encode(arch).or_fail("it is legal")
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

fn program(parts: &GraphicsParts<'_>) -> GraphicsProgram<'static> {
    let mut bytes = vec![0; parts.encoded_len().or_fail("few")];
    parts.encode(&mut bytes).or_fail("it is a program");
    GraphicsProgram::parse(bytes.leak()).or_fail("it was just encoded")
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
pub(super) fn vertices(arch: Arch) -> GraphicsProgram<'static> {
    if arch >= Arch::V12 {
        let code = assemble(arch, include_str!("../../shaders/draws/vertex.v12"));
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
    vertices_of(
        arch,
        include_str!("../../shaders/draws/position.v10"),
        &[0, 1],
    )
}

/// The same with attribute 2 added to the position.
pub(super) fn moved_vertices(arch: Arch) -> GraphicsProgram<'static> {
    vertices_of(
        arch,
        include_str!("../../shaders/draws/position_moved.v10"),
        &[0, 1, 2],
    )
}

fn vertices_of(arch: Arch, position: &str, attributes: &[u8]) -> GraphicsProgram<'static> {
    let position = assemble(arch, position);
    let attributes: Vec<Attribute> = attributes.iter().map(|it| attribute(*it)).collect();
    let varying = assemble(arch, include_str!("../../shaders/draws/varying.v10"));
    let viewport = viewport();
    let entries = [
        entry(EntryKind::Position, &position, VERTEX_IDS, &viewport),
        entry(EntryKind::Varying, &varying, VERTEX_IDS, &[]),
    ];
    program(&GraphicsParts {
        attributes: &attributes,
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
    words: &[u32],
    bindings: &[Binding],
) -> GraphicsProgram<'static> {
    let code = assemble(arch, text);
    let constants = [0, 1, 2, 3].map(|it| FauWord::Draw(DrawWord::BlendConstant(it)));
    let words = words.iter().map(|word| FauWord::Constant(*word));
    let fau: Vec<FauWord> = constants.into_iter().chain(words).collect();
    let entries = [entry(EntryKind::Fragment, &code, FRAGMENT, &fau)];
    let output = |target: &u8| ColorOutput {
        target: *target,
        kind: NumberKind::Float,
    };
    let outputs: Vec<ColorOutput> = outputs.iter().map(output).collect();
    program(&GraphicsParts {
        outputs: &outputs,
        bindings,
        varyings: &[COLOR],
        record_bytes: 16,
        ..parts(arch, Facts::Fragment(FragmentFacts::default()), &entries)
    })
}

/// The vertices' colour into target 0.
pub(super) fn color(arch: Arch) -> GraphicsProgram<'static> {
    fragments(
        arch,
        include_str!("../../shaders/draws/color.v10"),
        &[0],
        &[],
        &[],
    )
}

/// The vertices' colour into target 1, and its green alone into target 0.
pub(super) fn two_colors(arch: Arch) -> GraphicsProgram<'static> {
    fragments(
        arch,
        include_str!("../../shaders/draws/two_colors.v10"),
        &[0, 1],
        &[],
        &[],
    )
}

/// The texel of the image of set 0 at the pixel into target 0.
pub(super) fn fetched(arch: Arch) -> GraphicsProgram<'static> {
    let image = Binding {
        set: 0,
        binding: 0,
        kind: BindingKind::SampledImage(ImageShape::plain(ImageDimension::TwoD)),
        access: Access::Read,
        count: 1,
        slot: DescriptorSlot { table: 1, index: 0 },
        min_bytes: 0,
    };
    let text = include_str!("../../shaders/draws/fetched.v10");
    fragments(arch, text, &[0], &[0x0800_0000, 0, 0xFFFF, 0], &[image])
}
