//! Programs of the graphics pipeline: what is written can be read, and nothing else can.

use eitri_program::{
    Access, Arch, Attribute, Axis, Binding, BindingKind, ColorOutput, DescriptorSlot, DrawWord,
    EntryKind, EntryParts, Facts, FauOp, FauOperand, FauStep, FauWord, FragmentFacts,
    GraphicsParts, GraphicsProgram, Interpolation, NumberKind, Program, PushRange, RegisterFile,
    Stage, Varying, VaryingSize, VertexFacts,
};
use eitri_program_file::seal;
use proptest::prelude::*;

const NOP_END: u64 = 0x7800_C000_0000_0000;

const SCALE: FauWord = FauWord::Draw(DrawWord::ViewportScale(Axis::Y));
const BLEND: [FauWord; 4] = [
    FauWord::Draw(DrawWord::BlendConstant(0)),
    FauWord::Draw(DrawWord::BlendConstant(1)),
    FauWord::Draw(DrawWord::BlendConstant(2)),
    FauWord::Draw(DrawWord::BlendConstant(3)),
];
const STEP: FauStep = FauStep {
    word: 1,
    op: FauOp::Add,
    operand: FauOperand::Constant(3),
};

const fn entry<'a>(kind: EntryKind, code: &'a [u64], fau: &'a [FauWord]) -> EntryParts<'a> {
    EntryParts {
        kind,
        code,
        registers: RegisterFile::Half,
        preload: 0x3800,
        fau,
        fau_steps: &[],
    }
}

const VERTEX_ENTRIES: [EntryParts<'static>; 3] = [
    entry(EntryKind::Position, &[NOP_END; 14], &[SCALE]),
    entry(EntryKind::PositionWithPoints, &[NOP_END; 15], &[]),
    EntryParts {
        registers: RegisterFile::Full,
        fau_steps: &[STEP],
        ..entry(
            EntryKind::Varying,
            &[1, NOP_END],
            &[SCALE, FauWord::PushConstant { offset: 0 }],
        )
    },
];

fn storage(binding: u32) -> Binding {
    Binding {
        set: 0,
        binding,
        kind: BindingKind::StorageBuffer,
        access: Access::ReadWrite,
        count: 1,
        slot: DescriptorSlot {
            table: 1,
            index: binding,
        },
        min_bytes: 4,
    }
}

const VARYINGS: [Varying; 2] = [
    Varying {
        location: 0,
        components: 3,
        size: VaryingSize::Word,
        interpolation: Interpolation::Smooth,
        offset: 0,
    },
    Varying {
        location: 5,
        components: 2,
        size: VaryingSize::Half,
        interpolation: Interpolation::NoPerspective,
        offset: 12,
    },
];

fn vertex<'a>(entry_points: &'a [EntryParts<'a>], bindings: &'a [Binding]) -> GraphicsParts<'a> {
    GraphicsParts {
        arch: Arch::V10,
        entry: "main",
        entry_points,
        data: &[0x0123_4567_89AB_CDEF],
        scratch_bytes: 16,
        push_constant_bytes: 8,
        bindings,
        push_ranges: &[PushRange {
            offset: 4,
            bytes: 4,
        }],
        facts: Facts::Vertex(VertexFacts {
            writes_point_size: true,
            ..VertexFacts::default()
        }),
        tile_reads: 0,
        attributes: &[
            Attribute {
                location: 0,
                components: 3,
                kind: NumberKind::Float,
            },
            Attribute {
                location: 15,
                components: 1,
                kind: NumberKind::Uint,
            },
        ],
        outputs: &[],
        varyings: &VARYINGS,
        record_bytes: 16,
    }
}

fn fragment<'a>(entry_points: &'a [EntryParts<'a>]) -> GraphicsParts<'a> {
    GraphicsParts {
        facts: Facts::Fragment(FragmentFacts {
            needs_helpers: true,
            wait_before_test: true,
            ..FragmentFacts::default()
        }),
        tile_reads: 0x81,
        attributes: &[],
        outputs: &[
            ColorOutput {
                target: 0,
                kind: NumberKind::Half,
                blended: false,
            },
            ColorOutput {
                target: 7,
                kind: NumberKind::Int,
                blended: false,
            },
        ],
        varyings: &VARYINGS[1..],
        ..vertex(entry_points, &[])
    }
}

fn encoded(parts: &GraphicsParts<'_>) -> Vec<u8> {
    let mut bytes = vec![0; parts.encoded_len().unwrap()];
    parts.encode(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_vertex_program_is_read_back() {
    let bindings = [storage(0), storage(3)];
    let bytes = encoded(&vertex(&VERTEX_ENTRIES, &bindings));
    let program = GraphicsProgram::parse(&bytes).unwrap();
    let common = program.common();
    assert_eq!((common.stage(), common.entry()), (Stage::Vertex, "main"));
    assert_eq!(common.scratch_bytes(), 16);
    assert_eq!(common.bindings().collect::<Vec<_>>(), bindings);
    assert_eq!(common.data_bytes()[0], 0xEF);
    let entries: Vec<_> = program.entry_points().collect();
    let kinds: Vec<_> = entries.iter().map(|entry| entry.kind()).collect();
    assert_eq!(kinds, VERTEX_ENTRIES.map(|entry| entry.kind));
    // 14 words and two of padding take a line; 15 take two.
    let offsets: Vec<_> = entries.iter().map(|entry| entry.code_offset()).collect();
    assert_eq!(offsets, [0, 128, 384]);
    assert_eq!(common.code_bytes().len(), 512);
    for (entry, parts) in entries.iter().zip(&VERTEX_ENTRIES) {
        assert_eq!(entry.code().collect::<Vec<_>>(), parts.code);
        assert_eq!(entry.fau().collect::<Vec<_>>(), parts.fau);
        assert_eq!(entry.fau_steps().collect::<Vec<_>>(), parts.fau_steps);
        assert_eq!(entry.registers(), parts.registers);
        assert_eq!(entry.preload(), parts.preload);
    }
    assert_eq!(program.varyings().collect::<Vec<_>>(), VARYINGS);
    assert_eq!(program.record_bytes(), 16);
    assert_eq!(program.attributes().count(), 2);
    let facts = program.vertex_facts().unwrap();
    assert_eq!(
        [true, false].map(|points| facts.extended(points)),
        [true, false]
    );
    let position = |points| program.position(points).unwrap().kind();
    assert_eq!(position(true), EntryKind::PositionWithPoints);
    assert_eq!(position(false), EntryKind::Position);
}

#[test]
fn a_fragment_program_is_read_back_and_knows_what_it_needs_of_a_vertex_program() {
    let entries = [entry(EntryKind::Fragment, &[NOP_END], &BLEND)];
    let parts = fragment(&entries);
    let bytes = encoded(&parts);
    let program = GraphicsProgram::parse(&bytes).unwrap();
    assert_eq!(program.stage(), Stage::Fragment);
    let facts = program.fragment_facts().unwrap();
    assert_eq!(
        facts.names().collect::<Vec<_>>(),
        ["needs_helpers", "wait_before_test"]
    );
    assert!(facts.can_be_killed());
    assert_eq!(program.tile_reads(), 0x81);
    assert_eq!(program.outputs().collect::<Vec<_>>(), parts.outputs);
    assert!(program.position(true).is_none());
    assert_eq!(
        program
            .entry_point(EntryKind::Fragment)
            .unwrap()
            .fau()
            .count(),
        4
    );

    let writer = encoded(&vertex(&VERTEX_ENTRIES, &[]));
    let writer = GraphicsProgram::parse(&writer).unwrap();
    assert_eq!(program.missing_input(&writer), None);
    let moved = [Varying {
        offset: 14,
        components: 1,
        ..VARYINGS[1]
    }];
    let reader = encoded(&GraphicsParts {
        varyings: &moved,
        ..parts
    });
    let reader = GraphicsProgram::parse(&reader).unwrap();
    assert_eq!(reader.missing_input(&writer), Some(moved[0]));
}

#[test]
fn a_program_of_one_stage_is_none_of_another() {
    let bytes = encoded(&vertex(&VERTEX_ENTRIES, &[]));
    assert_eq!(
        Program::parse(&bytes).unwrap_err().to_string(),
        "not an Eitri program of this kind: the first eight bytes are \"EITRIGFX\", not \"EITRIPRG\"",
    );
}

#[track_caller]
fn refused(parts: &GraphicsParts<'_>, message: &str) {
    let mut bytes = vec![0; parts.encoded_len().unwrap()];
    let error = parts.encode(&mut bytes).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn what_has_no_meaning_is_refused_by_name() {
    let entries = "the program's table of entry points is";
    let [position, points, varying] = VERTEX_ENTRIES;
    refused(
        &vertex(&[varying], &[]),
        &format!("record 0 of {entries} 0x2 0x2, which means nothing there"),
    );
    refused(
        &vertex(&[position, varying, points], &[]),
        &format!("record 2 of {entries} 0x1 0xf, which means nothing there"),
    );
    refused(
        &GraphicsParts {
            arch: Arch::V12,
            ..vertex(&[position], &[])
        },
        &format!("record 0 of {entries} 0x0 0xe, which means nothing there"),
    );
    refused(
        &fragment(&[entry(EntryKind::Fragment, &[NOP_END], &BLEND[1..])]),
        &format!("record 0 of {entries} 0x5 0x1, which means nothing there"),
    );
    refused(&vertex(&[], &[]), "program without code");
    refused(
        &vertex(&[entry(EntryKind::Position, &[NOP_END], &BLEND)], &[]),
        "record 0 of the program's FAU table is 0xb 0x8, which means nothing there",
    );
    refused(
        &GraphicsParts {
            record_bytes: 15,
            ..vertex(&VERTEX_ENTRIES, &[])
        },
        "record 1 of the program's table of varyings is 0x2010205 0xc, which means nothing there",
    );
    refused(
        &GraphicsParts {
            varyings: &[VARYINGS[1], VARYINGS[0]],
            ..vertex(&VERTEX_ENTRIES, &[])
        },
        "record 1 of the program's table of varyings is 0x300 0x0, which means nothing there",
    );
    refused(
        &GraphicsParts {
            outputs: fragment(&[]).outputs,
            ..vertex(&VERTEX_ENTRIES, &[])
        },
        "program header word at 0x2c is 0x2, which means nothing there",
    );
}

/// What a program says of itself, written again.
fn again(program: &GraphicsProgram<'_>) -> Vec<u8> {
    let common = program.common();
    let words = common.data_bytes().chunks_exact(8);
    let data: Vec<_> = words
        .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
        .collect();
    type Lists = (Vec<u64>, Vec<FauWord>, Vec<FauStep>);
    let lists: Vec<Lists> = program
        .entry_points()
        .map(|entry| {
            (
                entry.code().collect(),
                entry.fau().collect(),
                entry.fau_steps().collect(),
            )
        })
        .collect();
    let entry_points: Vec<_> = program
        .entry_points()
        .zip(&lists)
        .map(|(entry, (code, fau, fau_steps))| EntryParts {
            kind: entry.kind(),
            code,
            registers: entry.registers(),
            preload: entry.preload(),
            fau,
            fau_steps,
        })
        .collect();
    let facts = match program.fragment_facts() {
        Some(facts) => Facts::Fragment(facts),
        None => Facts::Vertex(program.vertex_facts().unwrap()),
    };
    encoded(&GraphicsParts {
        arch: common.arch(),
        entry: common.entry(),
        entry_points: &entry_points,
        data: &data,
        scratch_bytes: common.scratch_bytes(),
        push_constant_bytes: common.push_constant_bytes(),
        bindings: &common.bindings().collect::<Vec<_>>(),
        push_ranges: &common.push_ranges().collect::<Vec<_>>(),
        facts,
        tile_reads: program.tile_reads(),
        attributes: &program.attributes().collect::<Vec<_>>(),
        outputs: &program.outputs().collect::<Vec<_>>(),
        varyings: &program.varyings().collect::<Vec<_>>(),
        record_bytes: program.record_bytes(),
    })
}

proptest! {
    /// Damage that the sum does not show: an error, or a program of which nothing is lost or made up.
    #[test]
    fn what_is_read_is_what_is_there(
        of_fragment: bool,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)
    ) {
        let mut bytes = match of_fragment {
            true => encoded(&fragment(&[entry(EntryKind::Fragment, &[NOP_END; 3], &BLEND)])),
            false => encoded(&vertex(&VERTEX_ENTRIES, &[storage(1)])),
        };
        for (at, value) in damage {
            // Behind magic, version, length and sum.
            let at = 0x14 + at.index(bytes.len() - 0x14);
            bytes[at] = value;
        }
        seal(&mut bytes);
        if let Ok(program) = GraphicsProgram::parse(&bytes) {
            prop_assert_eq!(again(&program), bytes);
        }
    }

    /// Bytes of the header and the tables alone, where damage does most.
    #[test]
    fn small_numbers_anywhere_in_the_tables_do_no_harm(
        damage in prop::collection::vec((0x14_usize..0x58, 0_u8..16), 0..3),
        late in prop::collection::vec((1_usize..200, 0_u8..16), 0..3),
    ) {
        let mut bytes = encoded(&vertex(&VERTEX_ENTRIES, &[storage(1)]));
        let length = bytes.len();
        for (at, value) in damage {
            bytes[at] = value;
        }
        for (back, value) in late {
            bytes[length - back] = value;
        }
        seal(&mut bytes);
        if let Ok(program) = GraphicsProgram::parse(&bytes) {
            prop_assert_eq!(again(&program), bytes);
        }
    }
}
