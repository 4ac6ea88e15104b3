//! Registers of a draw, found in the command-stream table by their names when this is compiled, for the two register files that
//! there are.
//!
//! Facts: hardware/graphics-draw.md 3.1, through [`eitri_cs::staging`].

use super::encoded::EncodedDraws;
use crate::command::Writer;
use crate::platform::Platform;
use eitri_cs::Arch;
use eitri_cs::builder::Checked;
use eitri_cs::staging::StagingMap;
use heapless::Vec;

/// Numbers of the registers of a draw; of pairs those of their low halves.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawRegisters {
    pub(super) vertex_resources: u8,
    pub(super) fragment_resources: u8,
    pub(super) vertex_uniforms: u8,
    /// Of the program of varyings, where it is one of its own.
    pub(super) varying_uniforms: Option<u8>,
    pub(super) fragment_uniforms: u8,
    pub(super) vertex_program: u8,
    pub(super) varying_program: Option<u8>,
    pub(super) fragment_program: u8,
    pub(super) vertex_storage: u8,
    /// Of fragments, where it is not the vertices'.
    pub(super) fragment_storage: Option<u8>,
    pub(super) attribute_offset: u8,
    pub(super) count: u8,
    pub(super) instances: u8,
    pub(super) first_index: u8,
    pub(super) vertex_offset: u8,
    pub(super) instance_offset: u8,
    pub(super) context: u8,
    pub(super) scissor: u8,
    /// Two words of depths; behind them, where there is one, the viewport's box comes before.
    pub(super) depths: u8,
    pub(super) viewport: Option<u8>,
    pub(super) index_buffer: u8,
    pub(super) index_bytes: u8,
    pub(super) varying_bytes: u8,
    /// Where samples that pass are counted.
    pub(super) occlusion: u8,
    pub(super) tests: u8,
    pub(super) blends: u8,
    pub(super) primitive: u8,
    pub(super) flags_0: u8,
    pub(super) flags_1: u8,
    pub(super) flags_2: u8,
    pub(super) size: u8,
    pub(super) primitive_2: Option<u8>,
}

impl DrawRegisters {
    /// Those of a generation.
    pub(super) const fn of(arch: Arch) -> &'static DrawRegisters {
        match arch {
            Arch::V10 => &V10,
            Arch::V11 => &V11,
            Arch::V12 => &V12,
            _ => &V13,
        }
    }

    /// The pairs that a pipeline decides alone: its programs, local storage, tests, blending.
    pub(super) const fn pairs_of_pipeline(&self) -> [Option<u8>; 7] {
        [
            Some(self.vertex_program),
            self.varying_program,
            Some(self.fragment_program),
            Some(self.vertex_storage),
            self.fragment_storage,
            Some(self.tests),
            Some(self.blends),
        ]
    }

    /// The words that a pipeline decides, those of a primitive with what kind of indices there are.
    pub(super) const fn words_of_pipeline(&self) -> [u8; 6] {
        [
            self.varying_bytes,
            self.primitive,
            self.flags_0,
            self.flags_1,
            self.flags_2,
            self.size,
        ]
    }
}

static V10: DrawRegisters = DrawRegisters {
    primitive_2: None,
    ..split(Arch::V10)
};
static V11: DrawRegisters = DrawRegisters {
    primitive_2: Some(number(Arch::V11, "TILER_FLAGS2")),
    ..split(Arch::V11)
};
static V12: DrawRegisters = DrawRegisters {
    size: number(Arch::V12, "PRIMITIVE_SIZE"),
    ..merged(Arch::V12)
};
static V13: DrawRegisters = DrawRegisters {
    size: number(Arch::V13, "LINE_WIDTH"),
    ..merged(Arch::V13)
};

/// Where positions and varyings have programs of their own.
const fn split(arch: Arch) -> DrawRegisters {
    DrawRegisters {
        vertex_resources: number(arch, "SRT_0"),
        fragment_resources: number(arch, "SRT_2"),
        vertex_uniforms: number(arch, "FAU_0"),
        varying_uniforms: Some(number(arch, "FAU_1")),
        fragment_uniforms: number(arch, "FAU_2"),
        vertex_program: number(arch, "SPD_0"),
        varying_program: Some(number(arch, "SPD_1")),
        fragment_program: number(arch, "SPD_2"),
        vertex_storage: number(arch, "TSD_0"),
        fragment_storage: None,
        depths: number(arch, "LOW_DEPTH_CLAMP"),
        viewport: None,
        size: number(arch, "PRIMITIVE_SIZE"),
        primitive_2: None,
        ..common(arch)
    }
}

/// Where one program makes all of a vertex.
const fn merged(arch: Arch) -> DrawRegisters {
    DrawRegisters {
        vertex_resources: number(arch, "VERTEX_SRT"),
        fragment_resources: number(arch, "FRAGMENT_SRT"),
        vertex_uniforms: number(arch, "VERTEX_FAU"),
        varying_uniforms: None,
        fragment_uniforms: number(arch, "FRAGMENT_FAU"),
        vertex_program: number(arch, "VERTEX_SPD"),
        varying_program: None,
        fragment_program: number(arch, "FRAGMENT_SPD"),
        vertex_storage: number(arch, "VERTEX_TSD"),
        fragment_storage: Some(number(arch, "FRAGMENT_TSD")),
        depths: number(arch, "VIEWPORT_LOW"),
        viewport: Some(number(arch, "VIEWPORT_HIGH")),
        primitive_2: Some(number(arch, "TILER_FLAGS2")),
        ..common(arch)
    }
}

/// What has the same name everywhere.
const fn common(arch: Arch) -> DrawRegisters {
    DrawRegisters {
        vertex_resources: 0,
        fragment_resources: 0,
        vertex_uniforms: 0,
        varying_uniforms: None,
        fragment_uniforms: 0,
        vertex_program: 0,
        varying_program: None,
        fragment_program: 0,
        vertex_storage: 0,
        fragment_storage: None,
        attribute_offset: number(arch, "GLOBAL_ATTRIBUTE_OFFSET"),
        count: number(arch, "INDEX_COUNT"),
        instances: number(arch, "INSTANCE_COUNT"),
        first_index: number(arch, "INDEX_OFFSET"),
        vertex_offset: number(arch, "VERTEX_OFFSET"),
        instance_offset: number(arch, "INSTANCE_OFFSET"),
        context: number(arch, "TILER_CTX"),
        scissor: number(arch, "SCISSOR_BOX"),
        depths: 0,
        viewport: None,
        index_buffer: number(arch, "INDEX_BUFFER"),
        index_bytes: number(arch, "INDEX_BUFFER_SIZE"),
        varying_bytes: number(arch, "VARY_SIZE"),
        occlusion: number(arch, "OQ"),
        tests: number(arch, "ZSD"),
        blends: number(arch, "BLEND_DESC"),
        primitive: number(arch, "TILER_FLAGS"),
        flags_0: number(arch, "DCD0"),
        flags_1: number(arch, "DCD1"),
        flags_2: number(arch, "DCD2"),
        size: 0,
        primitive_2: None,
    }
}

/// The number of a register of a draw.
const fn number(arch: Arch, name: &str) -> u8 {
    let rows = StagingMap::Idvs.rows();
    let mut i = 0;
    while i < rows.len() {
        if rows[i].archs.contains(arch) && same(rows[i].name.as_bytes(), name.as_bytes()) {
            return rows[i].register.number();
        }
        i += 1;
    }
    panic!("the table of command-stream registers has no such name")
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Registers that a draw reads: below this.
pub(super) const COUNT: usize = 66;

/// A pair of registers that what is bound decides.
#[derive(Clone, Copy, Debug)]
pub(super) enum BoundPair {
    VertexResources,
    FragmentResources,
    VertexUniforms,
    VaryingUniforms,
    FragmentUniforms,
}

/// How many there are.
pub(super) const BOUND_PAIRS: usize = 5;

/// Values of a draw's registers that a lane has loaded.
#[derive(Debug)]
pub(super) struct Loaded {
    /// [`UNKNOWN`] where the value is not known. Those of [`BoundPair`] are not there: they are in `bound`.
    values: [u64; COUNT],
    bound: [u64; BOUND_PAIRS],
    /// Those of a pipeline were loaded by words of its own ([`super::prepared_words`]): `values` has them wrong.
    of_pipeline: bool,
}

/// The value of no register.
const UNKNOWN: u64 = u64::MAX;

impl Loaded {
    /// Nothing.
    pub(super) const NOTHING: Loaded = Loaded {
        values: [UNKNOWN; COUNT],
        bound: [UNKNOWN; BOUND_PAIRS],
        of_pipeline: false,
    };

    /// The registers of a pipeline were loaded by words of its own.
    #[inline(always)]
    pub(super) const fn pipeline_loaded(&mut self) {
        self.of_pipeline = true;
    }

    /// What the registers of a pipeline hold is not known any more, if they were loaded so.
    pub(super) fn forget_pipeline(&mut self, registers: &DrawRegisters) {
        if core::mem::take(&mut self.of_pipeline) {
            let pairs = registers.pairs_of_pipeline();
            let pairs = pairs.into_iter().flatten();
            for register in pairs.flat_map(|register| [register, register.wrapping_add(1)]) {
                self.forget(register);
            }
            for register in registers.words_of_pipeline() {
                self.forget(register);
            }
        }
    }

    /// Whether a register must be loaded for `value`; records it as loaded.
    #[inline(always)]
    pub(super) fn change(&mut self, register: u8, value: u32) -> bool {
        match self.values.get_mut(usize::from(register)) {
            Some(known) => core::mem::replace(known, value.into()) != u64::from(value),
            None => true,
        }
    }

    /// What the pairs of uniforms of vertices and of their resources hold is not known any more.
    pub(super) fn forget_vertices(&mut self) {
        let [resources, _, vertices, varyings, _] = &mut self.bound;
        (*resources, *vertices, *varyings) = (UNKNOWN, UNKNOWN, UNKNOWN);
    }

    /// What registers hold is another's, but for the tiler's context, which commands that are called don't change.
    pub(super) fn forget_all_but_context(&mut self, registers: &DrawRegisters) {
        let context = [registers.context, registers.context.wrapping_add(1)].map(usize::from);
        let kept = context.map(|register| self.values.get(register).copied());
        self.values.fill(UNKNOWN);
        for (register, value) in context.into_iter().zip(kept) {
            if let (Some(known), Some(value)) = (self.values.get_mut(register), value) {
                *known = value;
            }
        }
        self.bound = [UNKNOWN; BOUND_PAIRS];
        self.of_pipeline = false;
    }

    /// What a register holds is not known any more.
    pub(super) fn forget(&mut self, register: u8) {
        if let Some(known) = self.values.get_mut(usize::from(register)) {
            *known = UNKNOWN;
        }
    }
}

/// Loads registers of draws into a lane, where room was made, as far as their values change. They are written together by
/// [`DrawLoads::write`].
pub(super) struct DrawLoads<'a> {
    encoded: &'a EncodedDraws,
    loaded: &'a mut Loaded,
    words: Vec<u64, MOST_WORDS>,
}

impl<'a> DrawLoads<'a> {
    /// None yet.
    pub(super) const fn new(encoded: &'a EncodedDraws, loaded: &'a mut Loaded) -> DrawLoads<'a> {
        let words = Vec::new();
        DrawLoads {
            encoded,
            loaded,
            words,
        }
    }

    /// Writes all of it behind what a writer has, which has room for it.
    #[inline(always)]
    pub(super) fn write<P: Platform>(&self, platform: &mut P, writer: &mut Writer) {
        platform.write_words(writer.end(), &self.words);
        writer.skip(self.words.len() as u32);
    }

    /// Appends an instruction.
    #[inline(always)]
    pub(super) fn put(&mut self, it: Checked) {
        // There is room for a load of each register and a job.
        let fits = self.words.push(it.word());
        debug_assert!(fits.is_ok(), "each register is loaded once");
    }

    /// What a register of a pipeline holds is not known if words of its own have loaded it.
    pub(super) fn forget_if_of_pipeline(&mut self, register: u8) {
        if self.loaded.of_pipeline {
            self.loaded.forget(register);
        }
    }

    /// Loads a pair that what is bound decides, if its value changes: of an address near the last only the low half.
    #[inline(always)]
    pub(super) fn bound(&mut self, which: BoundPair, value: u64) {
        let (place, loads) = (which as usize, &self.encoded.bound);
        let (Some(known), Some(load)) = (self.loaded.bound.get_mut(place), loads.get(place)) else {
            return;
        };
        let different = core::mem::replace(known, value) ^ value;
        if different as u32 != 0 {
            self.put(load.low.with(value as u32));
        }
        if different >> u32::BITS != 0 {
            self.put(load.high.with((value >> u32::BITS) as u32));
        }
    }

    /// Loads a register, if its value changes: one instruction at most.
    #[inline(always)]
    pub(super) fn word(&mut self, register: u8, value: u32) {
        if self.loaded.change(register, value) {
            self.load(register, value);
        }
    }

    /// Loads a pair: two instructions at most.
    #[inline(always)]
    pub(super) fn pair(&mut self, register: u8, value: u64) {
        self.word(register, value as u32);
        self.word(register.wrapping_add(1), (value >> 32) as u32);
    }

    /// Loads a pair with another address: of one that is near the last only the low half changes.
    #[inline(always)]
    pub(super) fn address(&mut self, register: u8, value: u64) {
        if self.loaded.change(register, value as u32)
            && let Some(load) = self.encoded.loads.with(register, value as u32)
        {
            self.put(load);
        }
        self.word(register.wrapping_add(1), (value >> 32) as u32);
    }

    #[inline]
    fn load(&mut self, register: u8, value: u32) {
        // Each register of a draw is one of the first.
        if let Some(load) = self.encoded.loads.with(register, value) {
            self.put(load);
        }
    }
}

/// Most instructions that load registers of a draw.
pub(super) const MOST_LOADS: u32 = COUNT as u32;
/// With the job.
const MOST_WORDS: usize = COUNT + 1;

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that goes from one copy of a draw to the next changes what the vertices have, and nothing else.
    #[test]
    fn what_vertices_have_is_forgotten_on_its_own() {
        let mut loaded = Loaded {
            values: [1; COUNT],
            bound: [1; BOUND_PAIRS],
            of_pipeline: false,
        };
        loaded.forget_vertices();
        let known = |pair: BoundPair| loaded.bound[pair as usize] != UNKNOWN;
        assert!(!known(BoundPair::VertexResources));
        assert!(!known(BoundPair::VertexUniforms) && !known(BoundPair::VaryingUniforms));
        assert!(known(BoundPair::FragmentResources) && known(BoundPair::FragmentUniforms));
        assert!(!loaded.change(7, 1) && loaded.change(7, 2));
        loaded.forget(7);
        assert!(loaded.change(7, 2));
    }

    /// Commands that are called don't change the tiler's context.
    #[test]
    fn all_but_the_context_is_forgotten() {
        for arch in [Arch::V10, Arch::V11, Arch::V12, Arch::V13] {
            let registers = DrawRegisters::of(arch);
            let mut loaded = Loaded {
                values: [1; COUNT],
                bound: [1; BOUND_PAIRS],
                of_pipeline: true,
            };
            loaded.forget_all_but_context(registers);
            let context = registers.context..=registers.context + 1;
            for (register, value) in (0..).zip(loaded.values) {
                let kept = context.contains(&register);
                assert_eq!(value, if kept { 1 } else { UNKNOWN }, "{arch}: {register}");
            }
            assert!(loaded.bound == [UNKNOWN; BOUND_PAIRS] && !loaded.of_pipeline);
        }
    }

    /// Registers that a pipeline's own words have loaded are not known; all others are, and nothing is forgotten twice.
    #[test]
    fn registers_of_a_pipeline_are_forgotten() {
        for arch in [Arch::V10, Arch::V11, Arch::V12, Arch::V13] {
            let registers = DrawRegisters::of(arch);
            let mut loaded = Loaded {
                values: [1; COUNT],
                bound: [1; BOUND_PAIRS],
                of_pipeline: false,
            };
            loaded.forget_pipeline(registers);
            assert_eq!(loaded.values, [1; COUNT], "{arch}");
            loaded.pipeline_loaded();
            loaded.forget_pipeline(registers);
            let pairs = registers.pairs_of_pipeline().into_iter().flatten();
            let mut forgotten: std::vec::Vec<u8> = pairs.flat_map(|it| [it, it + 1]).collect();
            forgotten.extend(registers.words_of_pipeline());
            for (register, value) in (0..).zip(loaded.values) {
                let known = value == 1;
                assert_eq!(known, !forgotten.contains(&register), "{arch}: {register}");
            }
            assert_eq!(loaded.bound, [1; BOUND_PAIRS]);
            loaded.values = [1; COUNT];
            loaded.forget_pipeline(registers);
            assert_eq!(loaded.values, [1; COUNT], "{arch}");
        }
    }
}
