//! Misuse by a shader.

use core::fmt;

/// A fragment: what drew it, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentPlace {
    /// GPU address of the instruction of the draw; 0: a frame shader, which no draw runs.
    pub draw: u64,
    /// Number of the primitive in its draw.
    pub primitive: u32,
    /// Framebuffer coordinates of the first pixel among those that run.
    pub pixel: (u16, u16),
}

impl fmt::Display for FragmentPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FragmentPlace {
            draw,
            primitive,
            pixel: (x, y),
        } = self;
        match draw {
            0 => write!(f, "pixel ({x}, {y}) of a frame shader"),
            _ => write!(
                f,
                "pixel ({x}, {y}) of primitive {primitive} of the draw at {draw:#x}"
            ),
        }
    }
}

/// Threads of a workgroup: a warp of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpPlace {
    /// Which workgroup.
    pub workgroup: [u32; 3],
    /// Number of the warp's first thread in the workgroup.
    pub first: u32,
}

impl fmt::Display for WarpPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WarpPlace {
            workgroup: [x, y, z],
            first,
        } = self;
        write!(
            f,
            "the warp of workgroup ({x}, {y}, {z}) that begins with thread {first}"
        )
    }
}

misuses! {
    /// Misuse by a shader instruction.
    ShaderMisuse {
        Undefined { word: u64 }                     = "{word:#018x} is no instruction of this architecture", "valhall-isa.md 1";
        NotModelled { word: u64 }                   = "{word:#018x} is known but not modelled", "valhall-isa.md 17";
        GatherByTexels { word: u64 }                = "{word:#018x} is known but not modelled: which four texels a gather by integer coordinates takes is not published", "valhall-isa.md 11.10";
        YuvFormat { format: u32 }                   = "a texture of the pixel format {format:#x} is known but not modelled: how packed formats of YCbCr, and those of more than 8 bits, lie in memory is not published", "descriptors.md 10.3";
        WrongStage { word: u64 }                    = "{word:#018x} has no meaning in a program of this stage", "valhall-isa.md 11";
        FauRules { word: u64 }                      = "{word:#018x} breaks the rules for uniforms, specials and immediates", "valhall-isa.md 2.3";
        OddPair { word: u64 }                       = "{word:#018x} has a 64-bit pair or a staging range that begins with an odd register", "valhall-isa.md 4";
        HalfBits { word: u64 }                      = "{word:#018x} sets a bit above the selection of a half, of which no notice is taken (a note)", "valhall-isa.md 7.5 (10)";
        RegisterNotAllocated { register: u8 }       = "r{register} is not among the program's registers", "valhall-isa.md 13";
        OutstandingRead { register: u8, slot: u8 }  = "r{register} is read before the message on slot {slot} that writes it was waited for", "valhall-isa.md 6";
        OutstandingWrite { register: u8, slot: u8 } = "r{register} is written before the message on slot {slot} that writes it was waited for", "valhall-isa.md 6";
        ReadAfterLastUse { register: u8 }           = "r{register} is read after its last use", "valhall-isa.md 2";
        NeverWritten { register: u8 }               = "r{register} is read but was never written nor preloaded", "valhall-isa.md 13";
        UniformOutOfRange { uniform: u16 }          = "uniform word {uniform} lies beyond the uniforms of the job", "descriptors.md 12";
        MisalignedAccess { address: u64, bytes: u8 } = "an access of {bytes} bytes at {address:#x}", "valhall-isa.md 11.2";
        BufferOutOfRange { handle: u32, offset: u32 } = "an access at offset {offset:#x} is past the end of the buffer with handle {handle:#x}: a load returns 0", "descriptors.md 5";
        StaleTexel { address: u64 }                 = "the texel at {address:#x} is read as it was before it was written: the OTHER caches were not invalidated since", "command-stream.md 1.10";
        NoSuchResource { handle: u32 }              = "no descriptor has the handle {handle:#x}", "descriptors.md 4";
        UnusedAttribute { handle: u32 }             = "the attribute with handle {handle:#x} is fetched, but its descriptor says that it is unused; reads give 0", "graphics-draw.md 3.6";
        WrongDescriptor { handle: u32, kind: u8 }   = "the descriptor with handle {handle:#x}, of type {kind}, is not what the instruction takes, or breaks a rule of its own", "descriptors.md 4";
        StagingCount { word: u64 }                  = "{word:#018x} has a staging count that does not fit it", "valhall-isa.md 4";
        BarrierWithoutWait                          = "BARRIER does not carry the wait for slot 7", "valhall-isa.md 11.12";
        BarrierOutstanding { slot: u8 }             = "BARRIER with a message outstanding on slot {slot}", "valhall-isa.md 6";
        BarrierDiverged { lanes: u32 }              = "BARRIER is reached by lanes {lanes:#x} alone", "valhall-isa.md 12.3";
        BarrierDeadlock                             = "some warps wait at a barrier that the others will never reach", "valhall-isa.md 11.12";
        TestOrder { reason: &'static str }          = "the tests of a fragment are out of order: {reason}", "graphics-model.md 4.2";
        KilledInVain { reason: &'static str }       = "older fragments of the pixel were killed for one that does not replace them: {reason}", "graphics-raster.md 4.10";
        TileAccess { reason: &'static str }         = "an access to the tile buffer has no effect: {reason}", "graphics-model.md 4.4";
        BlendOperand { operand: u64 }               = "the operand {operand:#x} of a BLEND means nothing", "valhall-isa.md 11.9";
        FragmentFault { fragment: FragmentPlace }   = "fails for {fragment}", "graphics-model.md 2";
        WarpFault { warp: WarpPlace }               = "fails for {warp}", "command-stream.md 4.1";
        UnknownBranchTest { word: u64 }             = "{word:#018x} tests with a combination that is not established", "valhall-isa.md 12.1";
    }
}
