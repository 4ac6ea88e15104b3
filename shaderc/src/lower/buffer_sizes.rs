//! Buffer sizes: read from the descriptor, as data.
//!
//! Needs: nothing.  Guarantees: no `buffer_size` is left.  Facts: hardware/compiler-abi.md 1.2, 1.5;
//! hardware/compiler-lowering.md 3.4.
use crate::ir::rewrite::rewrite;
use crate::ir::{Access, Alu, Function, Memory, Op, Space};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "buffer_sizes",
    what: "buffer_size becomes a load from the descriptor",
    run,
};

/// The table that shows descriptors as data, in a handle; its index is a table.
const DESCRIPTORS: u32 = 62 << 24;
/// Bytes of a descriptor.
const DESCRIPTOR_BYTES: u32 = 32;
/// Byte offset of the size in a buffer descriptor.
const SIZE_OFFSET: u32 = 4;

fn run(function: &mut Function, _: &Target) -> Changed {
    let changed = rewrite(function, |b, data| {
        if data.op != Op::BufferSize {
            return None;
        }
        let handle = data.args[0];
        let table = b.alu_word(Alu::UShr, handle, 24);
        let descriptors = b.alu_word(Alu::IOr, table, DESCRIPTORS);
        let index = b.alu_word(Alu::IAnd, handle, 0xff_ffff);
        let descriptor = b.alu_word(Alu::IMul, index, DESCRIPTOR_BYTES);
        let offset = b.alu_word(Alu::IAdd, descriptor, SIZE_OFFSET);
        let access = Access {
            memory: Memory::Constant,
            ..Access::words(Space::Buffer, 1)
        };
        Some(b.load(access, &[descriptors, offset]))
    });
    Changed::from_bool(changed)
}
