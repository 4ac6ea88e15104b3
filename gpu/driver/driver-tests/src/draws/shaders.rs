//! Shaders of vertices and fragments, written in assembly, as programs.

use crate::bench::OrFail;
use alloc::vec;
use alloc::vec::Vec;
use eitri_isa::{Arch, Instr, Syntax};
use eitri_program::{
    Attribute, Axis, ColorOutput, DrawWord, EntryKind, EntryParts, Facts, FauWord, FragmentFacts,
    GraphicsParts, GraphicsProgram, Interpolation, NumberKind, RegisterFile, Varying, VaryingSize,
    VertexFacts,
};

/// Preloaded registers: bit n is r(48 + n).
const VERTEX_IDS: u16 = 1 << 11 | 1 << 12 | 1 << 13;
const FRAGMENT: u16 = 1 << 12 | 1 << 13;

/// The words of assembly: an instruction a line, and comments.
fn assemble(text: &str) -> Vec<u64> {
    let lines = text.lines().filter(|line| !line.starts_with(';'));
    let word = |line: &str| {
        let instr = Instr::parse(line, Arch::V10, Syntax::Mesa24).or_fail("it is assembly");
        instr.encode(Arch::V10).or_fail("it is legal")
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
fn parts<'a>(facts: Facts, entry_points: &'a [EntryParts<'a>]) -> GraphicsParts<'a> {
    GraphicsParts {
        arch: Arch::V10,
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
        registers: RegisterFile::Half,
        preload,
        fau,
        fau_steps: &[],
    }
}

/// Vertices with a position in attribute 0, and a colour in attribute 1.
pub(super) fn vertices() -> GraphicsProgram<'static> {
    let position = assemble(include_str!("../../shaders/draws/position.v10"));
    let varying = assemble(include_str!("../../shaders/draws/varying.v10"));
    let viewport = viewport();
    let entries = [
        entry(EntryKind::Position, &position, VERTEX_IDS, &viewport),
        entry(EntryKind::Varying, &varying, VERTEX_IDS, &[]),
    ];
    program(&GraphicsParts {
        attributes: &[attribute(0), attribute(1)],
        varyings: &[COLOR],
        record_bytes: 16,
        ..parts(Facts::Vertex(VertexFacts::default()), &entries)
    })
}

/// A fragment program that begins with the blend constants.
fn fragments(text: &str, outputs: &[u8]) -> GraphicsProgram<'static> {
    let code = assemble(text);
    let constants = [0, 1, 2, 3].map(|it| FauWord::Draw(DrawWord::BlendConstant(it)));
    let entries = [entry(EntryKind::Fragment, &code, FRAGMENT, &constants)];
    let output = |target: &u8| ColorOutput {
        target: *target,
        kind: NumberKind::Float,
    };
    let outputs: Vec<ColorOutput> = outputs.iter().map(output).collect();
    program(&GraphicsParts {
        outputs: &outputs,
        varyings: &[COLOR],
        record_bytes: 16,
        ..parts(Facts::Fragment(FragmentFacts::default()), &entries)
    })
}

/// The vertices' colour into target 0.
pub(super) fn color() -> GraphicsProgram<'static> {
    fragments(include_str!("../../shaders/draws/color.v10"), &[0])
}
