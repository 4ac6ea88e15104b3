//! What is written can be read, and nothing else can.

use eitri_ir3_program::{
    Access, Binding, BindingKind, ConstLayout, ConstNeeds, DriverParam, EncodeError, Gen, Launch,
    Program, ProgramParts, PushRange, UniformRange, WaveSize, WorkgroupSize,
};
use eitri_program_file::seal;
use proptest::prelude::*;

const END: u64 = 0x0300_0000_0000_0000;
const DATA: [u32; 2] = [0x89AB_CDEF, 0x0123_4567];

fn layout(immediates: u32) -> ConstLayout {
    let params = 1 << DriverParam::WorkgroupsY.component() | 1 << DriverParam::BaseX.component();
    ConstLayout::new(ConstNeeds {
        push_words: 4,
        uniform_vec4: 0,
        data_words: 2,
        driver_params: params,
        immediates,
    })
    .unwrap()
}

fn parts<'a>(immediates: &'a [u32], bindings: &'a [Binding]) -> ProgramParts<'a> {
    ProgramParts {
        generation: Gen::A6xx,
        entry: "main",
        code: &[0, END],
        data: &DATA,
        constants: layout(immediates.len() as u32),
        immediates,
        uniforms: &[],
        full_registers: 3,
        half_registers: 0,
        branch_stack: 2,
        wave: WaveSize::Double,
        local_id: Some(1),
        workgroup_id: Some(192),
        workgroup: WorkgroupSize::new(8, 8, 2).unwrap(),
        shared_bytes: 1024,
        private_bytes: 16,
        push_constant_bytes: 8,
        bindings,
        push_ranges: &[PushRange {
            offset: 4,
            bytes: 4,
        }],
    }
}

fn storage(set: u32, binding: u32) -> Binding {
    Binding {
        set,
        binding,
        kind: BindingKind::StorageBuffer,
        access: Access::ReadWrite,
        count: 2,
        descriptor: binding,
        min_bytes: 4,
    }
}

fn encoded(parts: &ProgramParts<'_>) -> Vec<u8> {
    let mut bytes = vec![0; parts.encoded_len().unwrap()];
    parts.encode(&mut bytes).unwrap();
    bytes
}

#[test]
fn everything_written_is_read_back() {
    let uniform = Binding {
        kind: BindingKind::UniformBuffer,
        access: Access::Read,
        ..storage(4, 3)
    };
    let bindings = [storage(0, 0), uniform];
    let bytes = encoded(&parts(&[5, 6, 7], &bindings));
    let program = Program::parse(&bytes).unwrap();
    assert_eq!(program.entry(), "main");
    assert_eq!(program.code().collect::<Vec<_>>(), [0, END]);
    assert_eq!(program.data_bytes()[..4], [0xEF, 0xCD, 0xAB, 0x89]);
    assert_eq!(program.constants(), &layout(3));
    assert_eq!(program.immediates().collect::<Vec<_>>(), [5, 6, 7]);
    assert_eq!((program.full_registers(), program.half_registers()), (3, 0));
    assert_eq!((program.branch_stack(), program.wave().lanes()), (2, 128));
    assert_eq!(
        (program.local_id(), program.workgroup_id()),
        (Some(1), Some(192))
    );
    assert_eq!(program.workgroup().invocations(), 128);
    assert_eq!(
        (program.shared_bytes(), program.private_bytes()),
        (1024, 16)
    );
    assert_eq!(program.bindings().collect::<Vec<_>>(), bindings);
    assert_eq!(program.push_ranges().count(), 1);
}

#[test]
fn the_const_file_has_its_parts_in_order() {
    let bytes = encoded(&parts(&[5, 6, 7], &[]));
    let program = Program::parse(&bytes).unwrap();
    let launch = Launch {
        push_constants: &[1, 0, 0, 0, 2],
        workgroups: [10, 11, 12],
        base: [13, 14, 15],
        data_address: 0x1234_5678_9abc_def0,
        ..Launch::default()
    };
    // c0: push constants; c1: data; c4 to c7: driver parameters; c8: immediates. Uploads are 4 vec4 long.
    let mut file = [0; 64];
    assert_eq!(program.write_constants(&launch, &mut file), 48);
    assert_eq!(file[..6], [1, 2, 0, 0, 0x9abc_def0, 0x1234_5678]);
    let constants = program.constants();
    assert_eq!(constants.driver_param(DriverParam::WorkgroupsY), Some(17));
    assert_eq!(constants.driver_param(DriverParam::WorkgroupsX), None);
    assert_eq!((file[17], file[20]), (11, 13));
    assert_eq!(constants.immediates(), (32, 3));
    assert_eq!(file[32..36], [5, 6, 7, 0xd0d0_d0d0]);
}

#[test]
fn a_const_file_without_parameters_wastes_nothing() {
    let layout = |driver_params, immediates| {
        ConstLayout::new(ConstNeeds {
            driver_params,
            immediates,
            ..ConstNeeds::default()
        })
    };
    let five = layout(0, 5).unwrap();
    assert_eq!((five.immediates(), five.length()), ((0, 5), 4));
    assert_eq!(layout(0, 0).unwrap().length(), 0);
    assert_eq!(layout(0, 1025), None);
    assert_eq!(layout(1 << 3, 0), None);
}

/// Two ranges of one buffer and one of another, behind the push constants.
#[test]
fn uniform_buffers_are_copied_into_the_const_file() {
    let uniform = |set, binding| Binding {
        kind: BindingKind::UniformBuffer,
        access: Access::Read,
        count: 1,
        ..storage(set, binding)
    };
    let bindings = [uniform(0, 1), uniform(3, 2)];
    let range = |set, binding, first, count| UniformRange {
        set,
        binding,
        first,
        count,
    };
    let uniforms = [range(0, 1, 0, 1), range(3, 2, 5, 2), range(0, 1, 2, 1)];
    let needs = ConstNeeds {
        push_words: 2,
        uniform_vec4: 4,
        immediates: 1,
        ..ConstNeeds::default()
    };
    let parts = ProgramParts {
        constants: ConstLayout::new(needs).unwrap(),
        data: &[],
        uniforms: &uniforms,
        ..parts(&[9], &bindings)
    };
    let bytes = encoded(&parts);
    let program = Program::parse(&bytes).unwrap();
    assert_eq!(program.uniforms().collect::<Vec<_>>(), uniforms);
    let words = |from: u32| {
        (from..from + 32)
            .flat_map(u32::to_le_bytes)
            .collect::<Vec<u8>>()
    };
    let (one, two) = (words(100), words(200));
    let launch = Launch {
        push_constants: &[7, 0, 0, 0],
        uniforms: &[&one, &two, &one],
        ..Launch::default()
    };
    let mut file = [0; 32];
    assert_eq!(program.write_constants(&launch, &mut file), 32);
    assert_eq!(file[..2], [7, 0]);
    assert_eq!(file[4..8], [100, 101, 102, 103]);
    assert_eq!(file[8..16], [220, 221, 222, 223, 224, 225, 226, 227]);
    assert_eq!(file[16..21], [108, 109, 110, 111, 9]);

    let wrong = [range(0, 1, 0, 1), range(3, 2, 5, 3), range(0, 1, 2, 1)];
    let parts = ProgramParts {
        uniforms: &wrong,
        ..parts
    };
    refused(
        &parts,
        "the program's parts of the const file don't fit each other",
    );
    let nobody = [range(0, 2, 0, 4)];
    let parts = ProgramParts {
        uniforms: &nobody,
        ..parts
    };
    refused(
        &parts,
        "record 0 of the program's table of uniform ranges is 0x0 0x2, which means nothing there",
    );
}

#[track_caller]
fn refused(parts: &ProgramParts<'_>, message: &str) {
    let mut bytes = vec![0; parts.encoded_len().unwrap()];
    let error = parts.encode(&mut bytes).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn what_has_no_meaning_is_refused_by_name() {
    refused(
        &parts(&[], &[storage(0, 1), storage(0, 1)]),
        "binding 0:1 stands twice in the program",
    );
    refused(
        &parts(&[], &[storage(5, 1)]),
        "record 0 of the program's binding table is 0x5 0x1, which means nothing there",
    );
    let code = ProgramParts {
        code: &[],
        ..parts(&[], &[])
    };
    refused(&code, "program without code");
    let data = ProgramParts {
        data: &[],
        ..parts(&[], &[])
    };
    refused(
        &data,
        "the program's parts of the const file don't fit each other",
    );
    let register = ProgramParts {
        workgroup_id: Some(222),
        ..parts(&[], &[])
    };
    refused(
        &register,
        "program header word at 0x2c is 0xde, which means nothing there",
    );
    assert_eq!(
        parts(&[], &[]).encode(&mut [0; 16]).unwrap_err(),
        EncodeError::BufferTooSmall {
            available: 16,
            needed: 148
        },
    );
}

/// A program with all kinds of tables.
fn with_uniforms() -> Vec<u8> {
    let uniform = Binding {
        kind: BindingKind::UniformBuffer,
        access: Access::Read,
        ..storage(4, 3)
    };
    let constants = ConstNeeds {
        push_words: 4,
        uniform_vec4: 2,
        data_words: 2,
        driver_params: 1,
        immediates: 2,
    };
    encoded(&ProgramParts {
        constants: ConstLayout::new(constants).unwrap(),
        uniforms: &[UniformRange {
            set: 4,
            binding: 3,
            first: 1,
            count: 2,
        }],
        ..parts(&[5, 6], &[storage(0, 0), uniform])
    })
}

/// What a program says of itself, written again.
fn again(program: &Program<'_>) -> Vec<u8> {
    let words = program.data_bytes().chunks_exact(4);
    encoded(&ProgramParts {
        generation: program.generation(),
        entry: program.entry(),
        code: &program.code().collect::<Vec<_>>(),
        data: &words
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect::<Vec<_>>(),
        constants: *program.constants(),
        immediates: &program.immediates().collect::<Vec<_>>(),
        uniforms: &program.uniforms().collect::<Vec<_>>(),
        full_registers: program.full_registers(),
        half_registers: program.half_registers(),
        branch_stack: program.branch_stack(),
        wave: program.wave(),
        local_id: program.local_id(),
        workgroup_id: program.workgroup_id(),
        workgroup: program.workgroup(),
        shared_bytes: program.shared_bytes(),
        private_bytes: program.private_bytes(),
        push_constant_bytes: program.push_constant_bytes(),
        bindings: &program.bindings().collect::<Vec<_>>(),
        push_ranges: &program.push_ranges().collect::<Vec<_>>(),
    })
}

proptest! {
    /// Damage that the sum does not show: an error, or a program of which nothing is lost or made up.
    #[test]
    fn what_is_read_is_what_is_there(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)
    ) {
        let mut bytes = with_uniforms();
        for (at, value) in damage {
            // Behind magic, version, length and sum.
            let at = 0x14 + at.index(bytes.len() - 0x14);
            bytes[at] = value;
        }
        seal(&mut bytes);
        if let Ok(program) = Program::parse(&bytes) {
            let mut file = [0; 1024];
            let length = program.write_constants(&Launch::default(), &mut file);
            prop_assert!(length <= file.len());
            prop_assert_eq!(again(&program), bytes);
        }
    }
}
