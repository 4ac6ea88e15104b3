//! Shader text, WGSL or GLSL, to SPIR-V by naga: for build scripts, and for the command.
//!
//! Guarantees: a barrier of the source holds up at least the invocations that it holds up in the source's language; what naga is
//! known to misread is refused; an error carries the position in the user's own text.
//! Facts: none of the hardware; barriers, arrays of arrays and layouts are those of GLSL 4.50 (8.16, 4.1.9), of Vulkan's GLSL
//! (push constants are std430), and of WGSL.

use super::name_lets::name_lets;
use naga::back::spv;
use naga::proc::Layouter;
use naga::valid::{Capabilities, ValidationError, ValidationFlags, Validator};
use naga::{AddressSpace, Barrier, Block, Handle, Module, Statement, Type, TypeInner, WithSpan};
use std::fmt;

/// Language of a shader's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// WebGPU's.
    Wgsl,
    /// Vulkan's GLSL, a compute shader.
    Glsl,
    /// Vulkan's GLSL, a vertex shader.
    VertexGlsl,
    /// Vulkan's GLSL, a fragment shader.
    FragmentGlsl,
}

/// Reason why a text could not be turned into SPIR-V.
#[derive(Debug)]
pub enum ShaderTextError {
    /// The text is no WGSL.
    Wgsl(naga::front::wgsl::ParseError),
    /// The text is no GLSL that naga reads.
    Glsl(naga::front::glsl::ParseErrors),
    /// The text breaks a rule of its language.
    Rule(Box<WithSpan<ValidationError>>),
    /// naga reads this as something else than it is.
    Misread(Misread),
    /// The module has something that naga can't write as SPIR-V.
    Write(spv::Error),
}

/// Something that naga reads as something else than it is, in GLSL.
#[derive(Clone, PartialEq, Debug)]
pub struct Misread {
    what: &'static str,
    span: naga::Span,
}

impl Misread {
    /// The position in the text, if naga kept it.
    pub fn location(&self, text: &str) -> Option<naga::SourceLocation> {
        let known = self.span.to_range().is_some();
        known.then(|| self.span.location(text))
    }
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "naga misreads {}: give a SPIR-V module that glslangValidator makes of this",
            self.what
        )
    }
}

impl ShaderTextError {
    /// naga's own report, with the lines of `text`, which is that of the file `name`.
    pub fn report(&self, name: &str, text: &str) -> String {
        match self {
            ShaderTextError::Wgsl(error) => error.emit_to_string_with_path(text, name),
            ShaderTextError::Glsl(errors) => errors.emit_to_string_with_path(text, name),
            ShaderTextError::Rule(error) => error.emit_to_string_with_path(text, name),
            ShaderTextError::Misread(misread) => match misread.location(text) {
                Some(at) => format!("{name}:{}:{}: {misread}", at.line_number, at.line_position),
                None => format!("{name}: {misread}"),
            },
            ShaderTextError::Write(error) => error.to_string(),
        }
    }
}

impl fmt::Display for ShaderTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShaderTextError::Wgsl(error) => f.write_str(error.message()),
            ShaderTextError::Glsl(errors) => errors.fmt(f),
            ShaderTextError::Rule(error) => error.as_inner().fmt(f),
            ShaderTextError::Misread(misread) => misread.fmt(f),
            ShaderTextError::Write(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ShaderTextError {}

/// The SPIR-V of `text`, little endian. `name` is the file's, for debug information.
///
/// # Errors
/// What is wrong with the text, or beyond naga.
pub fn to_spirv(language: Language, name: &str, text: &str) -> Result<Vec<u8>, ShaderTextError> {
    to_spirv_with(language, name, text, Names::Variables)
}

/// What has a name in the SPIR-V.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Names {
    /// Variables and functions.
    #[default]
    Variables,
    /// What a debugger shows: values of `let` and arguments of the entry point too, each stored into a variable of its own.
    All,
}

/// As [`to_spirv`], with more names.
///
/// # Errors
/// As [`to_spirv`].
pub fn to_spirv_with(
    language: Language,
    name: &str,
    text: &str,
    names: Names,
) -> Result<Vec<u8>, ShaderTextError> {
    let mut module = match language {
        Language::Wgsl => naga::front::wgsl::parse_str(text).map_err(ShaderTextError::Wgsl)?,
        Language::Glsl | Language::VertexGlsl | Language::FragmentGlsl => {
            let options = naga::front::glsl::Options::from(match language {
                Language::VertexGlsl => naga::ShaderStage::Vertex,
                Language::FragmentGlsl => naga::ShaderStage::Fragment,
                Language::Glsl | Language::Wgsl => naga::ShaderStage::Compute,
            });
            let module = naga::front::glsl::Frontend::default()
                .parse(&options, text)
                .map_err(ShaderTextError::Glsl)?;
            refuse_misread(&module).map_err(ShaderTextError::Misread)?;
            module
        }
    };
    widen_barriers(&mut module);
    let validate = |module: &Module| {
        Validator::new(ValidationFlags::all(), Capabilities::all())
            .validate(module)
            .map_err(|error| ShaderTextError::Rule(Box::new(error)))
    };
    let mut info = validate(&module)?;
    if names == Names::All {
        let mut named = module.clone();
        name_lets(&mut named, &info);
        // A debugger that lacks names is better than none.
        if let Ok(named_info) = validate(&named) {
            (module, info) = (named, named_info);
        }
    }
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::DEBUG,
        zero_initialize_workgroup_memory: match language {
            // WGSL promises zeroed workgroup memory.
            Language::Wgsl => spv::ZeroInitializeWorkgroupMemoryMode::Polyfill,
            Language::Glsl | Language::VertexGlsl | Language::FragmentGlsl => {
                spv::ZeroInitializeWorkgroupMemoryMode::None
            }
        },
        // A shader that never ends is the user's to see, not naga's to hide.
        force_loop_bounding: false,
        debug_info: Some(spv::DebugInfo {
            source_code: text,
            file_name: name,
            language: match language {
                Language::Wgsl => spv::SourceLanguage::WGSL,
                Language::Glsl | Language::VertexGlsl | Language::FragmentGlsl => {
                    spv::SourceLanguage::GLSL
                }
            },
        }),
        ..spv::Options::default()
    };
    let words = spv::write_vec(&module, &info, &options, None).map_err(ShaderTextError::Write)?;
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// Refuses what naga 30 gives another meaning than GLSL does: `float a[2][3]` becomes three arrays of two, and push constants lie
/// as std140 has them.
fn refuse_misread(module: &Module) -> Result<(), Misread> {
    for (handle, ty) in module.types.iter() {
        let TypeInner::Array { base, size, .. } = ty.inner else {
            continue;
        };
        // Where both are as long, it is the same whichever comes first.
        if let TypeInner::Array { size: inner, .. } = module.types[base].inner
            && inner != size
        {
            return Err(Misread {
                what: "the order of an array's dimensions",
                span: module.types.get_span(handle),
            });
        }
    }
    let mut natural = Layouter::default();
    if natural.update(module.to_ctx()).is_err() {
        // The validator says more of such a type.
        return Ok(());
    }
    let push_constants = module
        .global_variables
        .iter()
        .filter(|(_, variable)| variable.space == AddressSpace::Immediate);
    for (handle, variable) in push_constants {
        if let TypeInner::Struct { members, .. } = &module.types[variable.ty].inner
            && members
                .iter()
                .any(|member| is_std140_alone(module, &natural, member.ty))
        {
            return Err(Misread {
                what: "the layout of push constants with arrays or structures in them",
                span: module.global_variables.get_span(handle),
            });
        }
    }
    Ok(())
}

/// Whether a type may lie in another way by std140 than by std430.
fn is_std140_alone(module: &Module, natural: &Layouter, ty: Handle<Type>) -> bool {
    match module.types[ty].inner {
        TypeInner::Array { base, stride, .. } => {
            stride != natural[base].to_stride() || is_std140_alone(module, natural, base)
        }
        // Its alignment is not to be seen any more.
        TypeInner::Struct { .. } => true,
        // Two rows are as far apart as four by std140, which naga refuses by itself.
        _ => false,
    }
}

/// Makes each barrier that names the memory of the workgroup, buffers or images one of the workgroup.
///
/// naga's reader of GLSL gives `barrier()` all flags, and its writer of SPIR-V takes the flag of subgroups to mean that only
/// a subgroup waits. Neither language has a barrier of a subgroup that naga gives another flag besides.
fn widen_barriers(module: &mut Module) {
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    let entry_points = module.entry_points.iter_mut();
    for function in functions.chain(entry_points.map(|entry_point| &mut entry_point.function)) {
        widen_barriers_of(&mut function.body);
    }
}

fn widen_barriers_of(block: &mut Block) {
    for statement in block.iter_mut() {
        match statement {
            Statement::ControlBarrier(flags) | Statement::MemoryBarrier(flags) => {
                if *flags != Barrier::SUB_GROUP {
                    flags.remove(Barrier::SUB_GROUP);
                }
            }
            Statement::Block(block) => widen_barriers_of(block),
            Statement::If { accept, reject, .. } => {
                widen_barriers_of(accept);
                widen_barriers_of(reject);
            }
            Statement::Switch { cases, .. } => {
                cases
                    .iter_mut()
                    .for_each(|case| widen_barriers_of(&mut case.body));
            }
            Statement::Loop {
                body, continuing, ..
            } => {
                widen_barriers_of(body);
                widen_barriers_of(continuing);
            }
            // Each by name: a later naga's statement with blocks in it must not be passed over.
            Statement::Emit(_)
            | Statement::Break
            | Statement::Continue
            | Statement::Return { .. }
            | Statement::Kill
            | Statement::Store { .. }
            | Statement::ImageStore { .. }
            | Statement::Atomic { .. }
            | Statement::ImageAtomic { .. }
            | Statement::WorkGroupUniformLoad { .. }
            | Statement::Call { .. }
            | Statement::RayQuery { .. }
            | Statement::RayPipelineFunction(_)
            | Statement::SubgroupBallot { .. }
            | Statement::SubgroupGather { .. }
            | Statement::SubgroupCollectiveOperation { .. }
            | Statement::CooperativeStore { .. } => {}
        }
    }
}
