//! What is written can be read, and nothing else can.

use eitri_program::{
    Access, AddressHalf, Arch, Axis, Binding, BindingKind, DescriptorSlot, EncodeError, FauOp,
    FauOperand, FauStep, FauWord, Program, ProgramParts, PushRange, RegisterFile, Stage,
    WorkgroupSize,
};
use eitri_program_file::seal;
use proptest::prelude::*;

const NOP_END: u64 = 0x7800_C000_0000_0000;

fn parts<'a>(fau: &'a [FauWord], bindings: &'a [Binding]) -> ProgramParts<'a> {
    ProgramParts {
        arch: Arch::V10,
        stage: Stage::Compute,
        entry: "main",
        code: &[NOP_END],
        data: &[0x0123_4567_89AB_CDEF],
        registers: RegisterFile::Full,
        preload: 0x7380,
        workgroup: WorkgroupSize::new(8, 8, 1).unwrap(),
        shared_bytes: 1024,
        scratch_bytes: 16,
        push_constant_bytes: 8,
        fau,
        fau_steps: &[],
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
        count: 1,
        slot: DescriptorSlot {
            table: 1,
            index: binding,
        },
        min_bytes: 4,
    }
}

fn slot(index: u32) -> DescriptorSlot {
    DescriptorSlot { table: 1, index }
}

fn address(index: u32, half: AddressHalf) -> FauWord {
    let slot = slot(index);
    FauWord::BufferAddress { slot, half }
}

fn encoded(parts: &ProgramParts<'_>) -> Vec<u8> {
    let mut bytes = vec![0; parts.encoded_len().unwrap()];
    parts.encode(&mut bytes).unwrap();
    bytes
}

#[test]
fn everything_written_is_read_back() {
    let fau = [
        FauWord::Constant(7),
        FauWord::PushConstant { offset: 4 },
        FauWord::NumWorkgroups(Axis::Y),
        address(3, AddressHalf::Low),
        address(3, AddressHalf::High),
        FauWord::BufferBytes { slot: slot(0) },
        FauWord::BufferWord {
            slot: slot(3),
            offset: FauWord::BUFFER_REACH - 4,
        },
        FauWord::DataAddress(AddressHalf::Low),
        FauWord::DataAddress(AddressHalf::High),
    ];
    let bindings = [storage(0, 0), storage(0, 3)];
    let bytes = encoded(&parts(&fau, &bindings));
    let program = Program::parse(&bytes).unwrap();
    assert_eq!(program.entry(), "main");
    assert_eq!(program.code().collect::<Vec<_>>(), [NOP_END]);
    assert_eq!(
        program.data_bytes(),
        [0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01]
    );
    assert_eq!(program.registers(), RegisterFile::Full);
    assert_eq!(program.preload(), 0x7380);
    assert_eq!(program.workgroup().invocations(), 64);
    assert_eq!(
        (program.shared_bytes(), program.scratch_bytes()),
        (1024, 16)
    );
    assert_eq!(program.fau().collect::<Vec<_>>(), fau);
    assert_eq!(program.bindings().collect::<Vec<_>>(), bindings);
    assert_eq!(
        program.push_ranges().collect::<Vec<_>>(),
        [PushRange {
            offset: 4,
            bytes: 4
        }]
    );
    assert_eq!((program.table_length(1), program.table_length(2)), (4, 0));
}

#[test]
fn steps_are_read_back_if_they_change_what_can_be_changed() {
    let fau = [
        FauWord::NumWorkgroups(Axis::X),
        FauWord::PushConstant { offset: 4 },
        FauWord::BufferBytes { slot: slot(0) },
    ];
    let step = |word, op, operand| FauStep { word, op, operand };
    let [three, push] = [FauOperand::Constant(3), FauOperand::PushConstant(4)];
    let steps = [
        step(1, FauOp::Multiply, push),
        step(1, FauOp::Subtract, three),
        step(2, FauOp::MaxSigned, three),
    ];
    let bindings = [storage(0, 0)];
    let plain = parts(&fau, &bindings);
    let bytes = encoded(&ProgramParts {
        fau_steps: &steps,
        ..plain
    });
    let program = Program::parse(&bytes).unwrap();
    assert_eq!(program.fau().collect::<Vec<_>>(), fau);
    assert_eq!(program.fau_steps().collect::<Vec<_>>(), steps);
    let bad = |fau_steps: &[FauStep], record: &str| {
        let table = "the program's table of FAU steps";
        let message = format!("record {record}, which means nothing there");
        let message = message.replace("of it", &format!("of {table}"));
        refused(&ProgramParts { fau_steps, ..plain }, &message);
    };
    let [first, second] = [1, 2].map(|word| step(word, FauOp::Add, three));
    bad(&[step(0, FauOp::Add, three)], "0 of it is 0x0 0x3");
    let outside = FauOperand::PushConstant(8);
    bad(&[step(1, FauOp::Add, outside)], "0 of it is 0x10001 0x8");
    bad(&[second, first], "1 of it is 0x1 0x3");
    let many = ProgramParts {
        fau_steps: &[first; 33],
        ..plain
    };
    refused(
        &many,
        "program header word at 0x54 is 0x21, which means nothing there",
    );
}

#[test]
fn steps_compute_what_they_say() {
    let of = |op: FauOp| op.apply(0x8000_0003, 35);
    let expected = [
        0x8000_0026,
        0x7fff_ffe0,
        0x8000_0069,
        3,
        0x8000_0023,
        0x8000_0020,
        0x18,
        0x1000_0000,
        0xf000_0000,
        35,
        0x8000_0003,
        0x8000_0003,
        35,
    ];
    let made: Vec<u32> = FauOp::ALL.iter().map(|op| of(*op)).collect();
    assert_eq!(made, expected, "{:?}", FauOp::ALL);
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
        &parts(&[FauWord::PushConstant { offset: 8 }], &[]),
        "record 0 of the program's FAU table is 0x1 0x8, which means nothing there",
    );
    refused(
        &parts(&[address(2, AddressHalf::Low)], &[storage(0, 1)]),
        "record 0 of the program's FAU table is 0x3 0x1000002, which means nothing there",
    );
    refused(
        &parts(&[], &[storage(0, 1), storage(0, 1)]),
        "binding 0:1 stands twice in the program",
    );
    refused(
        &ProgramParts {
            code: &[],
            ..parts(&[], &[])
        },
        "program without code",
    );
    refused(
        &ProgramParts {
            push_constant_bytes: 260,
            ..parts(&[], &[])
        },
        "program header word at 0x38 is 0x104, which means nothing there",
    );
    assert_eq!(
        WorkgroupSize::new(1024, 2, 1).unwrap_err().to_string(),
        "workgroup of 1024 x 2 x 1 invocations: each side must be at least 1, and the product at most 1024",
    );
    assert_eq!(
        parts(&[], &[]).encode(&mut [0; 16]).unwrap_err(),
        EncodeError::BufferTooSmall {
            available: 16,
            needed: 116
        },
    );
}

/// A program with all kinds of tables.
fn full() -> Vec<u8> {
    let fau = [
        FauWord::PushConstant { offset: 4 },
        address(3, AddressHalf::Low),
    ];
    encoded(&parts(&fau, &[storage(0, 0), storage(0, 3)]))
}

/// What a program says of itself, written again.
fn again(program: &Program<'_>) -> Vec<u8> {
    let words = program.data_bytes().chunks_exact(8);
    encoded(&ProgramParts {
        arch: program.arch(),
        stage: program.stage(),
        entry: program.entry(),
        code: &program.code().collect::<Vec<_>>(),
        data: &words
            .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
            .collect::<Vec<_>>(),
        registers: program.registers(),
        preload: program.preload(),
        workgroup: program.workgroup(),
        shared_bytes: program.shared_bytes(),
        scratch_bytes: program.scratch_bytes(),
        push_constant_bytes: program.push_constant_bytes(),
        fau: &program.fau().collect::<Vec<_>>(),
        fau_steps: &program.fau_steps().collect::<Vec<_>>(),
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
        let mut bytes = full();
        for (at, value) in damage {
            // Behind magic, version, length and sum.
            let at = 0x14 + at.index(bytes.len() - 0x14);
            bytes[at] = value;
        }
        seal(&mut bytes);
        if let Ok(program) = Program::parse(&bytes) {
            let _ = (program.table_length(1), program.highest_table());
            prop_assert_eq!(again(&program), bytes);
        }
    }
}
