//! Capabilities: which are supported, and where the source needs those that aren't.

use rspirv::spirv::{Capability, Op};

use super::error::{Error, Feature};
use super::needs;
use super::reach::{Functions, Reach};
use super::reader::Instr;
use crate::options::ShaderStage;

/// Capabilities that are supported, or that ask for nothing.
const CAPABILITIES: &[Capability] = &[
    Capability::Matrix,
    Capability::Shader,
    Capability::DotProduct,
    Capability::DotProductInput4x8Bit,
    Capability::DotProductInput4x8BitPacked,
    Capability::DotProductInputAll,
    Capability::GroupNonUniform,
    Capability::GroupNonUniformVote,
    Capability::GroupNonUniformBallot,
    Capability::GroupNonUniformArithmetic,
    Capability::GroupNonUniformShuffle,
    Capability::GroupNonUniformShuffleRelative,
    Capability::GroupNonUniformClustered,
    Capability::GroupNonUniformQuad,
    Capability::GroupNonUniformRotateKHR,
    Capability::QuadControlKHR,
    Capability::SubgroupBallotKHR,
    Capability::SubgroupVoteKHR,
    Capability::WorkgroupMemoryExplicitLayoutKHR,
    Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR,
    Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR,
    Capability::AtomicFloat32AddEXT,
    Capability::AtomicFloat32MinMaxEXT,
    Capability::Int64Atomics,
    Capability::Int8,
    Capability::Int16,
    Capability::Int64,
    Capability::Float16,
    Capability::StorageBuffer8BitAccess,
    Capability::UniformAndStorageBuffer8BitAccess,
    Capability::StoragePushConstant8,
    Capability::StorageBuffer16BitAccess,
    Capability::UniformAndStorageBuffer16BitAccess,
    Capability::StoragePushConstant16,
    // A variable of a stage that is so is refused where it stands; naga asks for it wherever there are halves.
    Capability::StorageInputOutput16,
    Capability::VulkanMemoryModel,
    Capability::PhysicalStorageBufferAddresses,
    Capability::VariablePointersStorageBuffer,
    Capability::VariablePointers,
    Capability::VulkanMemoryModelDeviceScope,
    Capability::MultiView,
    // Descriptor arrays: with indices that the whole workgroup shares, and with others.
    Capability::UniformBufferArrayDynamicIndexing,
    Capability::StorageBufferArrayDynamicIndexing,
    Capability::SampledImageArrayDynamicIndexing,
    Capability::StorageImageArrayDynamicIndexing,
    Capability::UniformTexelBufferArrayDynamicIndexing,
    Capability::StorageTexelBufferArrayDynamicIndexing,
    Capability::RuntimeDescriptorArray,
    Capability::ShaderNonUniform,
    Capability::UniformBufferArrayNonUniformIndexing,
    Capability::StorageBufferArrayNonUniformIndexing,
    Capability::SampledImageArrayNonUniformIndexing,
    Capability::StorageImageArrayNonUniformIndexing,
    Capability::UniformTexelBufferArrayNonUniformIndexing,
    Capability::StorageTexelBufferArrayNonUniformIndexing,
    // Images.
    Capability::SampledBuffer,
    Capability::ImageBuffer,
    Capability::Sampled1D,
    Capability::Image1D,
    Capability::SampledCubeArray,
    Capability::ImageCubeArray,
    Capability::ImageMSArray,
    Capability::StorageImageMultisample,
    Capability::StorageImageExtendedFormats,
    Capability::StorageImageReadWithoutFormat,
    Capability::StorageImageWriteWithoutFormat,
    Capability::ImageQuery,
    Capability::ImageGatherExtended,
    Capability::ExpectAssumeKHR,
    // Any float control is what the hardware does anyway: rounding to even, denormals and NaN kept.
    Capability::DenormPreserve,
    Capability::SignedZeroInfNanPreserve,
    Capability::RoundingModeRTE,
    // They allow execution modes, and an entry point that has one is refused for it.
    Capability::DenormFlushToZero,
    Capability::RoundingModeRTZ,
    // It allows an operand, and an instruction that has it is refused for it.
    Capability::MinLod,
];

/// What belongs to some stages: an entry point of another has none of it, since the module may hold several, and what one has
/// of it that isn't supported is refused where it stands.
const OF_SOME_STAGES: &[Capability] = &[
    Capability::Geometry,
    Capability::GeometryPointSize,
    Capability::GeometryStreams,
    Capability::Tessellation,
    Capability::TessellationPointSize,
    Capability::TransformFeedback,
    Capability::MultiView,
    Capability::MultiViewport,
    Capability::DrawParameters,
    Capability::ClipDistance,
    Capability::CullDistance,
    Capability::ShaderLayer,
    Capability::ShaderViewportIndex,
    Capability::ShaderViewportIndexLayerEXT,
    Capability::InputAttachment,
    Capability::InputAttachmentArrayDynamicIndexing,
    Capability::InputAttachmentArrayNonUniformIndexing,
    Capability::InterpolationFunction,
    Capability::SampleRateShading,
    Capability::SampleMaskPostDepthCoverage,
    Capability::StencilExportEXT,
    Capability::DemoteToHelperInvocation,
    Capability::FragmentBarycentricKHR,
    Capability::FragmentShadingRateKHR,
    Capability::FragmentDensityEXT,
    Capability::FragmentFullyCoveredEXT,
    Capability::FragmentShaderSampleInterlockEXT,
    Capability::FragmentShaderPixelInterlockEXT,
    Capability::FragmentShaderShadingRateInterlockEXT,
    Capability::MeshShadingEXT,
    Capability::MeshShadingNV,
    Capability::TileImageColorReadAccessEXT,
    Capability::TileImageDepthReadAccessEXT,
    Capability::TileImageStencilReadAccessEXT,
    Capability::SampleMaskOverrideCoverageNV,
    Capability::GeometryShaderPassthroughNV,
    Capability::ShaderViewportMaskNV,
    Capability::ShaderStereoViewNV,
    Capability::PerViewAttributesNV,
    Capability::RayTracingKHR,
    Capability::RayTracingNV,
    Capability::RayTracingMotionBlurNV,
    Capability::RayTracingPositionFetchKHR,
    Capability::RayTracingOpacityMicromapEXT,
    Capability::RayTraversalPrimitiveCullingKHR,
    Capability::RayCullMaskKHR,
    Capability::RayQueryPositionFetchKHR,
    Capability::ShaderInvocationReorderNV,
    Capability::ShaderInvocationReorderEXT,
];

/// All capabilities that aren't supported: a user wants to know them at once. One that is known to be asked for only by what
/// the entry point has nothing of does no harm.
pub(super) fn refused(
    instrs: &[Instr],
    functions: &Functions<'_>,
    reach: &Reach,
    stage: ShaderStage,
) -> Vec<Error> {
    let mut errors = vec![];
    for instr in instrs {
        if instr.op != Op::Capability {
            continue;
        }
        let Ok(number) = instr.word(0) else {
            continue;
        };
        let capability = Capability::from_u32(number);
        let harmless = |capability| {
            CAPABILITIES.contains(&capability)
                || OF_SOME_STAGES.contains(&capability)
                || (stage == ShaderStage::Fragment && capability == Capability::DerivativeControl)
                || needs::nothing_asks(instrs, functions, reach, capability)
        };
        if !capability.is_some_and(harmless) {
            let name = match capability {
                Some(capability) => format!("{capability:?}"),
                None => number.to_string(),
            };
            // Where the source has it, if that is known: a capability has no line.
            let needed =
                capability.and_then(|capability| needs::find(instrs, functions, capability));
            errors.push(*match needed {
                Some((at, words)) => {
                    let at = at.as_ref().unwrap_or(instr);
                    at.unsupported(Feature::Capability, format!("{name} ({words})"))
                }
                None => instr.unsupported(Feature::Capability, name),
            });
        }
    }
    errors
}
