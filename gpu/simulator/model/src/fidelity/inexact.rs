//! What is not exact: a row for each place where the model's result rests on less than an established fact.
//!
//! Facts: each row names its section. A row with a mark rests on a `FACT:` in this crate's source; a test holds that each of those
//! marks has a row here or stands among those that change no value ([`WITHOUT_VALUE`]).

/// Why a result is not exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The facts bound the error of the hardware's result; the model's is the nearest value.
    Accuracy,
    /// The facts infer it, or are silent: the model has chosen.
    Choice,
}

impl Kind {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Accuracy => "accuracy",
            Kind::Choice => "choice",
        }
    }
}

/// All that is known of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name, for people and reports.
    pub name: &'static str,
    /// Why it is not exact.
    pub kind: Kind,
    /// What is not established.
    pub what: &'static str,
    /// The section of the facts.
    pub fact: &'static str,
    /// File and item of its `FACT:` mark in this crate; `None`: the section's own tag says it.
    pub mark: Option<(&'static str, &'static str)>,
}

macro_rules! rows {
    ($($name:ident $text:literal $kind:ident $what:literal $fact:literal $(mark $file:literal $item:literal)?;)*) => {
        /// One thing that is not exact.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Inexact { $(#[doc = $what] $name,)* }

        impl Inexact {
            /// All rows, in their order.
            pub const ALL: &'static [Inexact] = &[$(Inexact::$name),*];

            /// What is known of it.
            pub const fn row(self) -> Row {
                match self {
                    $(Inexact::$name => Row {
                        name: $text,
                        kind: Kind::$kind,
                        what: $what,
                        fact: $fact,
                        mark: rows!(@mark $($file $item)?),
                    },)*
                }
            }
        }
    };
    (@mark) => { None };
    (@mark $file:literal $item:literal) => { Some(($file, $item)) };
}

#[rustfmt::skip]
rows! {
    // Arithmetic of shaders.
    ReciprocalAccuracy  "reciprocal"            Accuracy "reciprocals and reciprocal square roots are right to about one unit in the last place"       "valhall-isa.md 8.5";
    TableAccuracy       "function-table"        Accuracy "what the tables of logarithm, exponential, sine and cosine hold is not established"         "valhall-isa.md 9.7";
    FunctionAccuracy    "function"              Accuracy "the accuracy of whole functions (FSQRT, FLOG, FEXPF, FSINCOS, FPOW) is not established"      "valhall-isa.md 8.5";
    ScaledRounding      "scaled-rounding"       Choice   "that a scaled product rounds once, to a subnormal result, is inferred"                      "valhall-isa.md 9.6";
    SpecialMantissa     "mantissa-of-specials"  Choice   "mantissa and exponent of zero, infinity and NaN are inferred from what compilers need"      "valhall-isa.md 9.6";
    NanPayload          "nan-payload"           Choice   "which NaN an operation gives is not established"                                            "valhall-isa.md 8.2";
    HalfOverflow        "half-overflow"         Choice   "integers that no half holds follow the rounding mode, which is inferred"                    "valhall-isa.md 9.2";
    CubeNumerators      "cube-numerators"       Choice   "the numerators of cube coordinates are those of the API"                                    "valhall-isa.md 9.8";
    CarryIn             "carry-in"              Choice   "that source C is the carry or borrow in is inferred"                                        "valhall-isa.md 9.3" mark "src/shader/alu/integer.rs" "Integer::AddCarry";
    NullSegment         "null-segment"          Choice   "which address counts as null is not established"                                            "valhall-isa.md 9.3" mark "src/shader/alu/wide.rs" "Wide::SegmentAdd";
    BitsAboveHalves     "bits-above-halves"     Choice   "whether the hardware takes notice of bits above the selection of a half is not established" "valhall-isa.md 7.5" mark "src/shader/decode.rs" "without_half_bits";
    WarpId              "warp-id"               Choice   "how warp_id is split is not established"                                                    "valhall-isa.md 2.2" mark "src/shader/environment.rs" "Environment::special";
    FlushMode           "flush-mode"            Choice   "of flush mode 3 only the name is known"                                                     "valhall-isa.md 8.2" mark "src/shader/float.rs" "FloatPolicy";
    // Messages to memory.
    LaneOrder           "atomic-lane-order"     Choice   "the order of lanes of a warp in atomics on one word is not established"                     "valhall-isa.md 11.11";
    Clocks              "clock"                 Accuracy "cycles and time are those of the cost model"                                                "compiler-optimization.md 3" mark "src/pace.rs" "LATENCY";
    Conversion          "stored-conversion"     Choice   "that converting stores clamp and round as the API asks is inferred"                         "valhall-isa.md 11.6";
    TexelOutside        "texel-outside"         Choice   "what a fetch or load outside of an image gives is the API's rule"                           "valhall-isa.md 11.5";
    // Textures.
    ThirdsOfColour      "bc-colour"             Choice   "how thirds of BC1 to BC3 colours are rounded is not established"                            "graphics-compression.md 4" mark "src/blocks/bc.rs" "colour";
    AlphaOfBc3          "bc3-alpha"             Choice   "whether alpha between the ends of a BC3 block is rounded or cut off"                        "graphics-compression.md 4" mark "src/blocks/bc.rs" "Ratio::byte";
    ComponentsOfRrra    "rrra"                  Choice   "which component of two is the A of RRRA is not stated"                                      "descriptors.md 10.1" mark "src/shader/format/codes.rs" "order";
    BorderComponents    "border"                Choice   "what the border gives for components that a format lacks is the API's rule"                 "graphics-model.md 5.1" mark "src/shader/format.rs" "PixelFormat::border";
    GatherOrder         "gather-order"          Choice   "sheets and a driver differ on the order of gathered texels"                                 "valhall-isa.md 11.10" mark "src/shader/sampling.rs" "Sampler::each_gathered";
    FilterOfLevel       "level-filter"          Choice   "whether a texture's greatest level counts before its filter is chosen is not known"         "graphics-model.md 5.1" mark "src/shader/sampling.rs" "Sampler::filter_is_open";
    CubeCorner          "cube-corner"           Choice   "what a tap beyond a corner of a cube gives is not published"                                "graphics-texture.md 7.6" mark "src/shader/cube.rs" "texels_across_edges";
    Anisotropy          "anisotropy"            Choice   "where the probes of an anisotropic sample lie is not published"                             "graphics-texture.md 7.6" mark "src/shader/sampling.rs" "";
    GradientDescriptor  "gradient-descriptor"   Choice   "what a gradient descriptor holds beside the level is not published"                         "valhall-isa.md 11.10" mark "src/shader/detail.rs" "Probes::descriptor";
    ChromaSiting        "chroma-siting"         Choice   "what the siting of chroma changes is not published"                                         "descriptors.md 10.3" mark "src/shader/yuv.rs" "Yuv::chroma_at";
    ClumpParts          "clump-parts"           Choice   "which end the parts of a clump's name begin at is not stated"                               "graphics-formats.md 3" mark "src/shader/plane.rs" "element_of";
    SampleOffset        "sample-offset"         Choice   "that the third offset of a fetch is the sample is inferred"                                 "valhall-isa.md 11.10" mark "src/shader/typed.rs" "Fetch::target";
    DepthOfImage        "image-depth"           Choice   "which half of the second word has the depth of a 3D image differs between sources"          "valhall-isa.md 11.5" mark "src/shader/typed.rs" "image_texel";
    // Rasterising and fragments.
    CornerVaryings      "corner-varyings"       Choice   "that vertices of a frame shader are corners of the framebuffer is inferred from a driver"   "graphics-framebuffer.md 5.10" mark "src/shader/messages/varying.rs" "in_rectangle";
    Centroid            "centroid"              Choice   "which covered sample centroid interpolation takes is not known"                             "graphics-raster.md 4.7" mark "src/raster/interpolate.rs" "Evaluation::Centroid";
    AlphaToCoverage     "alpha-to-coverage"     Choice   "the order in which alpha covers 2, 8 or 16 samples is inferred"                             "graphics-model.md 4.3" mark "src/fragment/alpha_to_coverage.rs" "Pattern";
    OneOfManySamples    "single-sampling"       Choice   "what a draw without multisampling covers of several samples is inferred"                    "graphics-raster.md 4.5" mark "src/raster/samples.rs" "Sampling";
    TieRule             "tie-rule"              Choice   "which edges a sample on them belongs to is inferred"                                        "graphics-raster.md 4.4" mark "src/raster/tie.rs" "INCLUSIVE";
    GuardBand           "guard-band"            Choice   "where the guard band of the hardware ends is not known"                                     "graphics-draw.md 3.24" mark "src/raster/fixed.rs" "SNAP_LIMIT";
    WideRamp            "wide-ramp"             Accuracy "how ramps over wide primitives drift was measured on two alone"                             "graphics-model.md 3.1" mark "src/raster/primitive.rs" "WIDEST_EXACT";
    // Streams and firmware.
    StreamShifts        "stream-shifts"         Choice   "shift counts and fields beyond the width are not established"                               "command-stream.md 10" mark "src/stream/arithmetic.rs" "";
    FlushIds            "flush-ids"             Choice   "how flush ids are compared is not published"                                                "command-stream.md 10" mark "src/stream/deferred.rs" "Stream::perform";
    SlotChoice          "slot-choice"           Choice   "the order in which NEXT_SB_ENTRY chooses slots is not established"                          "command-stream.md 10" mark "src/stream/waits.rs" "Stream::choose_slot";
    FreeChunks          "free-chunks"           Choice   "at which end of the free list chunks are put is not known"                                  "csf-scheduling.md 7.1" mark "src/stream/heap.rs" "Stream::give_back";
    HandlerStream       "handler-stream"        Choice   "which stream runs the handler when the blocked one has none is not established"             "command-stream.md 10" mark "src/firmware/heap.rs" "Group::handler";
    LateRefusal         "late-refusal"          Choice   "what firmware makes of a refusal behind chunks that came back is not said"                  "csf-scheduling.md 7.2" mark "src/firmware/heap.rs" "Slot::take_heap_memory";
    HaltStatus          "halt-status"           Choice   "sources disagree about the numbers of HALT_STATUS"                                          "csf-firmware.md 8" mark "src/firmware/mod.rs" "Mcu::panic";
    // Registers.
    CoreFeatures        "core-features"         Choice   "CORE_FEATURES was not dumped on any part"                                                   "csf-mmio.md 5" mark "src/config.rs" "Product::core_features";
    StandIn             "stand-in"              Choice   "no registers of this product are published but parts of its id"                             "csf-mmio.md 5" mark "src/config.rs" "Product::stand_in";
    CoherencyReset      "coherency-reset"       Choice   "the reset value of COHERENCY_ENABLE is not published"                                       "csf-mmio.md 4" mark "src/control.rs" "Control::coherency";
}

impl Inexact {
    /// Whether it is what a register holds that the host has read: a driver meets it at each start, whatever it runs then.
    pub const fn is_register(self) -> bool {
        matches!(
            self,
            Inexact::CoreFeatures | Inexact::StandIn | Inexact::CoherencyReset
        )
    }
}

/// Marks that no value of a program's results, no control flow and no register but counters, times and status words for people rest
/// on, and why each is one of them.
#[rustfmt::skip]
pub const WITHOUT_VALUE: &[(&str, &str, &str)] = &[
    ("src/activity.rs", "Activity::slice", "counters of slices"),
    ("src/config.rs", "Product::stream_interfaces", "how many streams run at once"),
    ("src/config.rs", "Latencies::pub", "time"),
    ("src/fabric/caches.rs", "Fabric::cores_lose_power", "lines that no driver leaves behind"),
    ("src/firmware/group.rs", "Group::endpoints_for", "which cores work"),
    ("src/firmware/interfaces.rs", "Interfaces::share", "the order of streams that nothing orders"),
    ("src/first_level.rs", "FirstLevel", "which stale reads are told"),
    ("src/l2_tags.rs", "", "counters of the L2"),
    ("src/mmu/mod.rs", "Source::id", "the source that a fault names"),
    ("src/mmu/space.rs", "Space::drains", "a second fault of a space that has failed"),
    ("src/shader/decode.rs", "cross_lane", "refused"),
    ("src/shader/message.rs", "texture_request", "refused"),
    ("src/shader/messages/mod.rs", "count", "counters of the load/store unit"),
    ("src/shader/yuv.rs", "Yuv::of", "refused"),
    ("src/tile/framebuffer.rs", "FramebufferError::field", "refused"),
    ("src/tile/framebuffer.rs", "Framebuffer::ignored", "which tiles are written again though nothing has changed"),
    ("src/stream/draw.rs", "Stream::draw", "refused"),
    ("src/stream/jobs.rs", "Stream::start_jobs", "a fault"),
    ("src/stream/mod.rs", "Stream::blocked_reason", "the reason that a status word shows"),
    ("src/tiler/assemble.rs", "Topology::new", "refused"),
    ("src/work/endpoints.rs", "share", "which cores work"),
    ("src/work/job.rs", "Job::queue", "counters of jobs"),
    ("src/work/mod.rs", "Cores::take_progressed", "when a progress timer ends"),
    ("src/work/mod.rs", "Cores::grants", "which cores work"),
    ("src/work/tiling/primitives.rs", "Tiling::takes_point_sizes", "points of v13 that no driver draws so"),
    ("src/work/tiling/vertices.rs", "is_extended", "the layout of memory between two units of the model"),
    ("src/work/tiling.rs", "topology", "arrays that no driver has"),
];

/// Some of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InexactSet(u64);

const _: () = assert!(Inexact::ALL.len() <= 64, "a set has a bit for each");

impl InexactSet {
    /// None.
    pub const EMPTY: InexactSet = InexactSet(0);

    /// One alone.
    pub const fn of(one: Inexact) -> InexactSet {
        InexactSet(1 << one as u8)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `one` is among them.
    pub const fn contains(self, one: Inexact) -> bool {
        self.0 >> one as u8 & 1 != 0
    }

    /// These and those.
    #[must_use]
    pub const fn union(self, other: InexactSet) -> InexactSet {
        InexactSet(self.0 | other.0)
    }

    pub(crate) fn add(&mut self, other: InexactSet) {
        self.0 |= other.0;
    }

    /// Each of them, in the order of the rows.
    pub fn iter(self) -> impl Iterator<Item = Inexact> {
        let rows = Inexact::ALL.iter().copied();
        rows.filter(move |one| self.contains(*one))
    }
}
