//! Register files: fewer registers a lane means more waves, so small files are tried before larger ones, and only the
//! largest spills.
//!
//! Facts: hardware/ir3-isa.md 14 (footprint), 19 (registers of a wave).

use eitri_ir3_isa::device::{MOST_WAVES, Parts};

use super::mir::{Class, Function, Ir3};
use crate::machine::allocate::{self, Allocated, RegisterFile};
use crate::machine::{Class as _, Register as _};
use crate::pass::Runner;

/// Why there is no allocation.
pub(super) type AllocateError = allocate::AllocateError<Ir3>;

/// Vec4 that a lane can have.
const MOST_VECTORS: u32 = 48;
/// Units of a vec4 of full registers.
const VECTOR_UNITS: usize = 8;

/// Waves that run at once if each lane has so many vec4.
pub(super) fn waves(parts: &Parts, vectors: u32) -> u32 {
    let step = u32::from(parts.wave_granularity);
    (u32::from(parts.registers) / vectors.max(1) * step).clamp(step, MOST_WAVES)
}

/// Allocates registers in place; none if the runner stopped before the end. With `limit`, from so many low full registers
/// and the preloaded ones only.
pub(super) fn allocate(
    function: &mut Function,
    parts: &Parts,
    limit: Option<u32>,
    runner: &mut Runner<'_>,
) -> Result<Option<Allocated>, AllocateError> {
    let units = Class::Predicate.span().end;
    let normal = Class::Full.span().end;
    let preloaded = function.preloads.iter().map(|preload| preload.register);
    let preloaded = preloaded.map(|register| register.unit() + register.units().len());
    // What the hardware fills is there whatever the limit.
    let least = preloaded.filter(|end| *end <= normal).max().unwrap_or(0);
    let allowed = limit.map_or(normal, |count| (2 * count as usize).max(least));
    let file =
        |end: usize| RegisterFile::of(units, |unit| unit >= normal || unit < end.min(allowed));
    // The most vec4 with each number of waves.
    let steps = (1..=MOST_VECTORS).filter(|&vectors| {
        vectors == MOST_VECTORS || waves(parts, vectors) != waves(parts, vectors + 1)
    });
    let files: Vec<RegisterFile> = steps
        .map(|vectors| file(vectors as usize * VECTOR_UNITS))
        .collect();
    let options = allocate::AllocateOptions {
        files: &files,
        is_worth_spilling: Some(&|_| true),
        check: runner.checks(),
    };
    allocate::allocate(function, options, runner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_are_as_the_registers_allow() {
        let parts = |name: &str| eitri_ir3_isa::device::find(name).expect("it is one").parts;
        let counts =
            |name: &str| [1, 8, 9, 16, 17, 32, 33, 48].map(|size| waves(&parts(name), size));
        assert_eq!(counts("a660"), [16, 16, 14, 8, 6, 4, 2, 2]);
        assert_eq!(counts("a610"), [16, 6, 5, 3, 2, 1, 1, 1]);
    }
}
