//! Access sizes: accesses that aren't aligned to their size are split.
//!
//! Needs: nothing.  Guarantees: every access is aligned to the power of two not less than its size, so none straddles
//! 16 bytes.  Facts: hardware/compiler-lowering.md 5.3.
use crate::ir::rewrite::rewrite;
use crate::ir::verify::aligned;
use crate::ir::{Access, Alu, Builder, Function, Op, Value};
use crate::pass::{Changed, Pass};
use crate::target::Target;

pub(crate) const PASS: Pass = Pass {
    name: "access_sizes",
    what: "accesses not aligned to their size are split",
    run,
};

fn run(function: &mut Function, _: &Target) -> Changed {
    let changed = rewrite(function, |b, data| {
        let access = match data.op {
            Op::Load(access) | Op::Store(access) if !aligned(access) => access,
            _ => return None,
        };
        let operands = access.address_operands();
        let (address, words) = data.args.split_at(operands);
        let mut results = vec![];
        let mut at = 0;
        for piece in pieces(access) {
            let address = further(b, address, u32::from(at) * access.elem.bytes());
            let count = piece.count;
            if matches!(data.op, Op::Load(_)) {
                results.extend(b.load(piece, &address));
            } else {
                let words = &words[at.into()..(at + count).into()];
                b.store(piece, &address, words);
            }
            at += count;
        }
        Some(results)
    });
    Changed::from_bool(changed)
}

/// The largest aligned pieces.
fn pieces(access: Access) -> Vec<Access> {
    let mut pieces = vec![];
    let mut at = 0;
    while at < access.count {
        let rest = access.count - at;
        // What is known of the alignment here.
        let bytes = access.elem.bytes() * u32::from(at);
        let align = match bytes {
            0 => access.align,
            bytes => access.align.min(1 << bytes.trailing_zeros()),
        };
        let largest = (1..=rest).rev().find(|count| {
            let piece = Access {
                count: *count,
                align,
                ..access
            };
            aligned(piece)
        });
        let count = largest.unwrap_or(1);
        pieces.push(Access {
            count,
            align,
            ..access
        });
        at += count;
    }
    pieces
}

/// The address so many bytes further.
pub(super) fn further(b: &mut Builder<'_>, address: &[Value], bytes: u32) -> Vec<Value> {
    let mut address = address.to_vec();
    if bytes != 0
        && let Some(offset) = address.last_mut()
    {
        *offset = b.alu_bits(Alu::IAdd, *offset, bytes.into());
    }
    address
}
