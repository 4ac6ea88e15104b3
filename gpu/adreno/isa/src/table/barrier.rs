//! Rows: barriers and caches (category 7).
//!
//! Facts: hardware/ir3-isa.md sections 1, 9, 13 and 16.

use super::fields::{DST, G, JP, L, R, SS, SY, W, at, operand, uint};
use super::{EMPTY, category};
use crate::field::{Field, Form, Kind};
use crate::layout::Layout;
use crate::values::{self, AliasKind, AliasType, CacheScope, SleepLen};

/// The opcode in bits 55 to 58, and what else tells the instruction.
pub(super) const fn cat7(opcode: u64, also: u64) -> u64 {
    category(7) | opcode << 55 | also
}

pub(super) const FENCE: Layout = Layout {
    text: "{SY}{SS}{JP}{NAME}{G}{L}{R}{W}",
    fields: &[SS, W, R, L, G, JP, SY],
    ignored: 0x0005_efff_ffff_ffff,
    ..EMPTY
};
pub(super) const SLEEP: Layout = Layout {
    text: "{SY}{SS}{JP}{NAME}{DURATION}",
    fields: &[
        SS,
        at(Field::Duration, 51, 51, Kind::Enum(SleepLen::NAMES)),
        JP,
        SY,
    ],
    ignored: 0x0077_efff_ffff_ffff,
    ..EMPTY
};
pub(super) const CODE_CACHE: Layout = Layout {
    text: "{SY}{SS}{JP}{NAME}",
    fields: &[SS, JP, SY],
    ignored: 0x007f_efff_ffff_ffff,
    ..EMPTY
};
pub(super) const DATA_CACHE: Layout = Layout {
    text: "{SY}{SS}{JP}{NAME}{TYPE}",
    fields: &[
        SS,
        at(Field::Type, 51, 51, Kind::Enum(CacheScope::NAMES)),
        JP,
        SY,
    ],
    ignored: 0x0067_efff_ffff_ffff,
    ..EMPTY
};
pub(super) const GROUP_CACHE: Layout = Layout {
    ignored: 0x0005_efff_ffff_ffff,
    ..CODE_CACHE
};
pub(super) const LOCK: Layout = Layout {
    ignored: 0x0000_0fff_ffff_ffff,
    ..CODE_CACHE
};
pub(super) const ALIAS: Layout = Layout {
    text: "{SY}{SS}{JP}{NAME}.{SCOPE}.{SRC_TYPE}.{UNK} {DST}, {SRC}",
    fields: &[
        operand(Field::Src, 0, 31, Form::AliasSrc),
        DST,
        uint(Field::Unk, 40, 43),
        SS,
        at(Field::Scope, 47, 49, Kind::Enum(values::ALIAS_SCOPES)),
        at(Field::SrcType, 50, 50, Kind::Enum(AliasType::NAMES)),
        at(Field::SrcRegType, 51, 52, Kind::Enum(AliasKind::NAMES)),
        JP,
        SY,
    ],
    ignored: 0x0020_6000_0000_0000,
    ..EMPTY
};

#[rustfmt::skip]
macro_rules! barrier {
    ($then:ident $rows:tt $rest:tt) => {
        $then! { $rows $rest barrier
            //instruction name     value                          gens layout      ? meaning
            Bar           "bar"    cat7(0x0, 0x2_0000_0000_0000)  ALL  FENCE       T "workgroup execution barrier";
            Fence         "fence"  cat7(0x1, 0x2_0000_0000_0000)  ALL  FENCE       T "memory barrier; flags: .g global, .l local side, .r reads, .w writes";
            Sleep         "sleep"  cat7(0x2, 0x0)                 ALL  SLEEP       T "short / long wait (long about 20 times short)";
            Icinv         "icinv"  cat7(0x3, 0x0)                 ALL  CODE_CACHE  I "instruction cache invalidate";
            Dccln         "dccln"  cat7(0x4, 0x0)                 ALL  DATA_CACHE  I "data cache clean";
            Dcinv         "dcinv"  cat7(0x5, 0x0)                 ALL  DATA_CACHE  I "data cache invalidate";
            Dcflu         "dcflu"  cat7(0x6, 0x0)                 ALL  DATA_CACHE  I "data cache flush";
            Ccinv         "ccinv"  cat7(0x5, 0x52_0000_0000_0000) A7XX GROUP_CACHE I "invalidates the workgroup-level cache of image/buffer data; acquire across workgroups";
            Lock          "lock"   cat7(0x7, 0x42_0000_0000_0000) A7XX LOCK        P "compute shaders of a7xx end with (ss)(sy)(jp)lock, unlock, end";
            Unlock        "unlock" cat7(0x7, 0x4a_0000_0000_0000) A7XX LOCK        P "see lock";
            Alias         "alias"  cat7(0x8, 0x40_0000_0000_0000) A7XX ALIAS       T "adds an entry to the alias table of a scope, so that the following instruction of the scope reads the constant/immediate instead of the register";
        }
    };
}
pub(crate) use barrier;
