//! Staging ranges that rows share: `R` is read, `W` is written.
//!
//! Facts: hardware/valhall-isa.md section 4.

use crate::row::{Access, Natural, Staging};

/// First register at 40, direction at 46, count at 33.
const fn plain(access: Access, natural: Natural) -> Staging {
    let control = match access {
        Access::Read => 1,
        Access::Write => 2,
    };
    Staging {
        access,
        pos: 40,
        count: Some(33),
        bias: 0,
        zero_is_eight: false,
        control: Some(control),
        natural,
    }
}

/// First register at 16, count minus one at 36: the written range of a message that reads another.
const fn second(natural: Natural) -> Staging {
    Staging {
        pos: 16,
        count: Some(36),
        bias: 1,
        control: None,
        ..plain(Access::Write, natural)
    }
}

pub const R_MEMORY: Staging = plain(Access::Read, Natural::Memory);
pub const R_VECTOR: Staging = plain(Access::Read, Natural::Vector);
pub const W_MEMORY: Staging = plain(Access::Write, Natural::Memory);
pub const W_VECTOR: Staging = plain(Access::Write, Natural::Vector);
pub const W_VECTOR_TYPED: Staging = plain(Access::Write, Natural::VectorOfType);
pub const W1: Staging = plain(Access::Write, Natural::Fixed(1));
pub const W2: Staging = plain(Access::Write, Natural::Fixed(2));
pub const W3: Staging = plain(Access::Write, Natural::Fixed(3));

pub const ATOM_OPERAND: Staging = plain(Access::Read, Natural::AtomicOperand);
pub const ATOM_OPERAND_RW: Staging = Staging {
    control: Some(3),
    ..ATOM_OPERAND
};
pub const ATOM_RESULT: Staging = second(Natural::AtomicResult);
pub const ATOM1_RESULT: Staging = plain(Access::Write, Natural::AtomicResult);

pub const TEX_RESULT: Staging = second(Natural::TextureResult);
pub const TEX_PAYLOAD: Staging = Staging {
    control: None,
    zero_is_eight: true,
    ..plain(Access::Read, Natural::TexturePayload)
};
pub const VAR_TEX_RESULT: Staging = Staging {
    count: Some(36),
    bias: 1,
    ..plain(Access::Write, Natural::Unknown)
};
