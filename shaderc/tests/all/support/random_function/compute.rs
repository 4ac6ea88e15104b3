//! Random compute functions, and what they are run with.

use super::start::{Start, begin, bytes, declare, input_words};
use super::{Abilities, Content, OUTPUT, Random, SLOTS, Together, buffer};
use eitri_shaderc::Target;
use eitri_shaderc::interp::{Buffer, Buffers, Dispatch};
use eitri_shaderc::ir::layout::order_blocks;
use eitri_shaderc::ir::{
    Access, Alu, Axis, Builder, Function, Op, Space, SysVal, Terminator, Uniform,
};

/// Invocations of a workgroup.
pub(super) const INVOCATIONS: u32 = 4;
/// Workgroups, along the second axis.
const WORKGROUPS: u32 = 3;
/// All invocations.
const ALL: u32 = INVOCATIONS * WORKGROUPS;

/// The function of a seed, for a target. What it computes depends on the seed, the content, the target's lanes and whether it
/// has scans.
pub fn generate(seed: u64, content: Content, target: &Target) -> Function {
    let mut function = Function::new("main");
    function.lanes = target.lanes;
    function.workgroup_size = [INVOCATIONS, 1, 1];
    function.shared_bytes = ALL * SLOTS * 4;
    let declared = declare(&mut function);
    let entry = function.new_block();
    let mut b = Builder::new(&mut function, entry);
    b.exact = true;
    let local = b.sys_val(SysVal::LocalId(Axis::X));
    let workgroup = b.sys_val(SysVal::WorkgroupId(Axis::Y));
    let first = b.alu_word(Alu::IMul, workgroup, INVOCATIONS);
    let number = b.alu(Alu::IAdd, &[first, local]);
    let pushed = b.uniform(Uniform::PushConstant(4));
    let workgroups = b.num_workgroups(Axis::Y);
    let start = Start {
        seed,
        content,
        abilities: Abilities {
            spaces: &[Space::Buffer, Space::Buffer, Space::Shared, Space::Scratch],
            together: Together::Subgroup(target.has_scans()),
        },
        number,
        all: ALL,
        small: local,
        uniform: workgroups,
        words: vec![local, pushed, workgroups],
    };
    let mut generator = begin(b, &declared, start);
    generator.statements(super::DEPTH, 20);
    let base = generator.base;
    for (slot, value) in generator.results(4).into_iter().enumerate() {
        let offset = generator.b.alu_word(Alu::IAdd, base, 4 * slot as u32);
        let output = buffer(generator.b.function, OUTPUT);
        let access = Access::words(Space::Buffer, 1);
        generator.b.store(access, &[output, offset], &[value]);
    }
    generator.b.inst(Op::Barrier, &[]);
    generator.b.terminate(Terminator::Return);
    order_blocks(&mut function);
    function
}

/// What the functions of [`generate`] are given.
pub fn buffers() -> Buffers {
    let buffer = |words: &[u32]| Buffer {
        bytes: bytes(words),
    };
    let output = vec![0x0707_0707; (ALL * SLOTS) as usize];
    let input = input_words(&mut Random(99), ALL);
    Buffers::from([((0, 0, 0), buffer(&input)), ((0, 1, 0), buffer(&output))])
}

/// How the functions of [`generate`] are run.
pub fn dispatch() -> Dispatch {
    Dispatch {
        groups: [1, WORKGROUPS, 1],
        push_constants: (0..16).collect(),
        step_limit: 400_000,
    }
}

/// The buffer that a function wrote.
pub fn output(buffers: &Buffers) -> &[u8] {
    &buffers[&(0, 1, 0)].bytes
}
