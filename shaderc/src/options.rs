//! Options of a compilation.
use std::collections::BTreeMap;

use crate::color_state::ColorState;
use crate::pass::Settings;
use crate::printf::PrintfBuffer;
use crate::target::Target;

/// What becomes of accesses outside of a buffer or of shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Robust {
    /// They do no harm: stores and atomics are dropped or go to another place of the same memory, loads give zero or
    /// another word of it. What WGSL promises, and Vulkan's robustBufferAccess.
    #[default]
    On,
    /// The shader is trusted: a store outside of a buffer may stop the queue with a fault.
    Off,
}

/// The stage of an entry point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ShaderStage {
    /// A compute shader.
    #[default]
    Compute,
    /// A vertex shader.
    Vertex,
    /// A fragment shader.
    Fragment,
}

impl ShaderStage {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            ShaderStage::Compute => "compute",
            ShaderStage::Vertex => "vertex",
            ShaderStage::Fragment => "fragment",
        }
    }
}

/// How much is done to the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Level {
    /// Only what is needed: the code is as the source says, and slow.
    None,
    /// Everything that makes the code faster.
    #[default]
    Full,
}

/// Which SpecIds values may be given for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SpecIds {
    /// Any. As in Vulkan, a value for a SpecId that the module lacks does nothing: tools that optimise modules drop
    /// constants that nothing reads.
    #[default]
    Any,
    /// Those that the module declares; another is an error. For values that somebody types.
    Declared,
}

/// Which bindings a program has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Bindings {
    /// All that a module with one entry point declares: who binds resources goes by what is declared.
    #[default]
    Declared,
    /// Those that the entry point's functions name (Vulkan's static use): who binds resources leaves the others out.
    Used,
}

/// Lengths of unsized arrays of descriptors by set and binding.
pub type DescriptorCounts = BTreeMap<(u32, u32), u32>;

/// What a caller may choose.
///
/// ```
/// let options = eitri_shaderc::Options {
///     entry: Some("main".into()),
///     spec_constants: [(0, 64)].into(),
///     ..Default::default()
/// };
/// assert!(options.print_after.is_empty());
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The machine.
    pub target: Target,
    /// Stage of the entry point.
    pub stage: ShaderStage,
    /// Name of the entry point; none if the module has only one of that stage.
    pub entry: Option<String>,
    /// Bits of specialisation constants by SpecId; others keep their defaults.
    pub spec_constants: BTreeMap<u32, u32>,
    /// Which SpecIds those may be.
    pub spec_ids: SpecIds,
    /// Which bindings the program has.
    pub bindings: Bindings,
    /// Lengths of unsized arrays of descriptors by set and binding, as the pipeline layout of Vulkan has them.
    pub descriptor_counts: DescriptorCounts,
    /// Where `debugPrintfEXT` puts what it prints; where there is no such buffer it is left out, with a warning.
    pub printf: Option<PrintfBuffer>,
    /// Whether accesses outside of their memory do no harm.
    pub robust: Robust,
    /// How much is done to the code.
    pub level: Level,
    /// A fragment shader runs once a sample, even if it doesn't ask for that itself.
    pub sample_shading: bool,
    /// What becomes of the colours that a fragment shader stores; without it all are left to the hardware.
    pub colors: ColorState,
    /// Keep notes of what the source says beyond instructions, for an interpreter that checks. The IR is no other for compilation:
    /// only that of `translate` has notes.
    pub notes: bool,
    /// Keep the IR that machine code is selected from with its listing, and which instruction comes from which line of it.
    pub representation: bool,
    /// Passes after which the IR is kept as text; `all` for every one.
    pub print_after: Vec<String>,
    /// Passes that are left out. Those that the code needs run all the same.
    pub skip: Vec<String>,
    /// Verify after each pass and check registers and waits in release builds too, as debug builds always do.
    pub check: bool,
    /// Allocate from this many low registers only, so that even small shaders spill.
    pub register_limit: Option<u32>,
    /// Give each thread 64 registers even if 32 are enough.
    pub full_registers: bool,
    /// On Valhall, let values of 16 and 8 bits share registers even if there are enough.
    pub share_registers: bool,
}

impl Options {
    /// What they ask of the passes.
    pub fn settings(&self) -> Settings<'_> {
        Settings {
            print_after: &self.print_after,
            skip: &self.skip,
            stop_after: None,
            level: self.level,
            check: self.check,
            representation: self.representation,
        }
    }
}
