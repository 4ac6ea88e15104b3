//! What is written can be read, and nothing else can.

use eitri_program::{
    Access, AddressHalf, Arch, Axis, Binding, BindingKind, DescriptorSlot, EncodeError, FauWord,
    Program, ProgramError, ProgramParts, PushRange, RegisterFile, Stage, WorkgroupSize,
};
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

#[test]
fn foreign_and_damaged_bytes_are_told_apart() {
    let good = encoded(&parts(&[], &[]));
    assert!(matches!(
        Program::parse(b"\x7fELF"),
        Err(ProgramError::Magic { .. })
    ));
    assert!(matches!(
        Program::parse(&good[..good.len() - 1]),
        Err(ProgramError::Length { .. })
    ));
    let mut newer = good.clone();
    newer[8] = 9;
    assert_eq!(
        Program::parse(&newer).unwrap_err().to_string(),
        "program layout version 9, but this build reads version 2: compile the shader again",
    );
    let mut damaged = good;
    *damaged.last_mut().unwrap() ^= 1;
    assert!(matches!(
        Program::parse(&damaged),
        Err(ProgramError::Sum { .. })
    ));
}

proptest! {
    #[test]
    fn any_single_damage_is_noticed(at in 0usize..100, bit in 0u8..8) {
        let mut bytes = encoded(&parts(&[], &[]));
        bytes[at] ^= 1 << bit;
        prop_assert!(Program::parse(&bytes).is_err(), "bit {bit} of byte {at} went unnoticed");
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Program::parse(&bytes);
        let mut with_magic = b"EITRIPRG\x02\0\0\0".to_vec();
        with_magic.extend(&bytes);
        let _ = Program::parse(&with_magic);
    }
}
