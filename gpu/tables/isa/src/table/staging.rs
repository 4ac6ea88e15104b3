//! Staging ranges that rows share: `R` is read, `W` is written.
//!
//! Facts: hardware/valhall-isa.md section 4.

use crate::row::{Access, Natural, Staging};

/// The counts from `least` to `greatest`, one bit a count.
const fn counts(least: u8, greatest: u8) -> u16 {
    (2 << greatest) - (1 << least)
}

/// First register at 40, direction at 46, count at 33.
const fn plain(access: Access, natural: Natural, legal: u16) -> Staging {
    let control = match access {
        Access::Read => 1,
        Access::Write => 2,
    };
    Staging {
        access,
        pos: 40,
        count: Some(33),
        count_width: 3,
        legal,
        bias: 0,
        zero_is_eight: false,
        control: Some(control),
        natural,
    }
}

/// First register at 16, count minus one at 36: the written range of a message that reads another.
const fn second(natural: Natural, legal: u16) -> Staging {
    Staging {
        pos: 16,
        count: Some(36),
        bias: 1,
        control: None,
        ..plain(Access::Write, natural, legal)
    }
}

const fn read(count: u8) -> Staging {
    plain(Access::Read, Natural::Memory, counts(count, count))
}

const fn written(count: u8) -> Staging {
    plain(Access::Write, Natural::Memory, counts(count, count))
}

/// One register, or two for a value widened to 64 bits.
pub const W_MEMORY12: Staging = plain(Access::Write, Natural::Memory, counts(1, 2));
pub const W_MEMORY1: Staging = written(1);
pub const W_MEMORY2: Staging = written(2);
pub const W_MEMORY3: Staging = written(3);
pub const W_MEMORY4: Staging = written(4);
pub const R_MEMORY1: Staging = read(1);
pub const R_MEMORY2: Staging = read(2);
pub const R_MEMORY3: Staging = read(3);
pub const R_MEMORY4: Staging = read(4);
/// Of checked accesses, whose width is a modifier.
pub const W_CHECKED: Staging = plain(Access::Write, Natural::Memory, counts(0, 7));
pub const R_CHECKED: Staging = plain(Access::Read, Natural::Memory, counts(0, 7));
pub const R_CHECKED_IMM: Staging = plain(Access::Read, Natural::Memory, counts(1, 4));
/// One to 64 registers.
pub const W_MULTI: Staging = multi(Access::Write);
pub const R_MULTI: Staging = multi(Access::Read);

pub const R_VECTOR: Staging = plain(Access::Read, Natural::Vector, counts(1, 4));
pub const R_BLEND: Staging = plain(Access::Read, Natural::Vector, counts(2, 2) | counts(4, 4));
pub const W_VECTOR: Staging = plain(Access::Write, Natural::Vector, counts(1, 4));
pub const W_VECTOR2: Staging = plain(Access::Write, Natural::Vector, counts(1, 2));
pub const W_VECTOR_F32: Staging = plain(Access::Write, Natural::VectorOfType, counts(1, 4));
pub const W_VECTOR_F16: Staging = plain(Access::Write, Natural::VectorOfType, counts(1, 2));
pub const W_VECTOR_FLAT: Staging = plain(Access::Write, Natural::VectorOfFormat, counts(1, 4));
pub const W1: Staging = plain(Access::Write, Natural::Fixed(1), counts(1, 1));
pub const W2: Staging = plain(Access::Write, Natural::Fixed(2), counts(2, 2));
pub const W3: Staging = plain(Access::Write, Natural::Fixed(3), counts(3, 3));

pub const ATOM_OPERAND_I32: Staging = plain(Access::Read, Natural::AtomicOperand, counts(1, 1));
pub const ATOM_OPERAND_I64: Staging = plain(Access::Read, Natural::AtomicOperand, counts(1, 2));
/// Twice as many if it compares.
pub const ATOM_OPERAND_RW_I32: Staging = both(counts(1, 2));
pub const ATOM_OPERAND_RW_I64: Staging = both(counts(1, 2) | counts(4, 4));
pub const ATOM_RESULT_I32: Staging = second(Natural::AtomicResult, counts(1, 1));
pub const ATOM_RESULT_I64: Staging = second(Natural::AtomicResult, counts(2, 2));
/// The direction is a part of the opcode.
pub const ATOM1_RESULT_I32: Staging = Staging {
    control: None,
    ..plain(Access::Write, Natural::AtomicResult, counts(1, 1))
};
pub const ATOM1_RESULT_I64: Staging = Staging {
    legal: counts(2, 2),
    ..ATOM1_RESULT_I32
};

pub const TEX_RESULT: Staging = second(Natural::TextureResult, counts(1, 8));
pub const TEX_PAYLOAD: Staging = Staging {
    control: None,
    zero_is_eight: true,
    ..plain(Access::Read, Natural::TexturePayload, counts(1, 8))
};
pub const VAR_TEX_RESULT: Staging = Staging {
    count: Some(36),
    bias: 1,
    ..plain(Access::Write, Natural::Unknown, counts(1, 4))
};
pub const VAR_TEX_DUAL_RESULT: Staging = Staging {
    legal: counts(3, 8),
    ..VAR_TEX_RESULT
};

const fn both(legal: u16) -> Staging {
    Staging {
        control: Some(3),
        legal,
        ..ATOM_OPERAND_I32
    }
}

/// Count minus one in six bits.
const fn multi(access: Access) -> Staging {
    Staging {
        count_width: 6,
        bias: 1,
        ..plain(access, Natural::Unknown, u16::MAX)
    }
}
