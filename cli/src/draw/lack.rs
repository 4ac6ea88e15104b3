//! Why a scene can't be drawn, though nothing is wrong with it.

use std::fmt;

/// What a scene needs and does not find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// A feature that the GPU does not have, by Vulkan's name.
    Feature(String),
    /// Something that the driver, the compiler or the player does not do yet.
    NotYet(String),
}

impl Lack {
    /// Something that is not done yet.
    pub(super) fn not_yet(what: impl Into<String>) -> Lack {
        Lack::NotYet(what.into())
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lack::Feature(name) => f.write_str(name),
            Lack::NotYet(what) => write!(f, "not done yet: {what}"),
        }
    }
}

/// Features that no GPU of these architectures has, whatever driver runs it (hardware/graphics-ops-products.md 9.6).
#[rustfmt::skip]
const ABSENT: &[&str] = &[
    "depthBounds", "fillModeNonSolid", "geometryShader", "multiViewport", "pipelineStatisticsQuery", "shaderCullDistance",
    "shaderOutputViewportIndex", "smoothLines", "tessellationShader",
];

/// Features that draws may use, by what has them. What is in neither list is not done yet.
#[rustfmt::skip]
const DONE: &[&str] = &[
    // Primitives and pixels.
    "alphaToOne", "depthBiasClamp", "depthClamp", "depthClipEnable", "independentBlend", "largePoints", "occlusionQueryPrecise",
    "provokingVertexLast", "rectangularLines", "sampleRateShading", "shaderClipDistance", "shaderOutputLayer", "stencilExport", "wideLines",
    // Draws.
    "drawIndirectCount", "drawIndirectFirstInstance", "fullDrawIndexUint32", "indexTypeUint8", "shaderDrawParameters",
    "vertexAttributeInstanceRateDivisor", "vertexAttributeInstanceRateZeroDivisor",
    // Images and samplers.
    "customBorderColors", "imageCubeArray", "samplerAnisotropy", "samplerMirrorClampToEdge", "shaderImageGatherExtended",
    "shaderResourceMinLod", "shaderStorageImageExtendedFormats", "shaderStorageImageReadWithoutFormat",
    "shaderStorageImageWriteWithoutFormat", "textureCompressionASTC_LDR", "textureCompressionBC", "textureCompressionETC2",
    // Memory: each access that leaves its buffer or image is caught, asked for or not.
    "fragmentStoresAndAtomics", "robustBufferAccess", "robustImageAccess", "scalarBlockLayout", "uniformBufferStandardLayout",
    "storageBuffer16BitAccess", "storageBuffer8BitAccess", "storagePushConstant16", "storagePushConstant8",
    "uniformAndStorageBuffer16BitAccess", "uniformAndStorageBuffer8BitAccess", "vulkanMemoryModel", "vulkanMemoryModelDeviceScope",
    // Shaders.
    "shaderDemoteToHelperInvocation", "shaderFloat16", "shaderInt16", "shaderInt64", "shaderInt8", "shaderIntegerDotProduct",
    "shaderSubgroupExtendedTypes", "shaderTerminateInvocation",
    "runtimeDescriptorArray", "shaderSampledImageArrayDynamicIndexing", "shaderSampledImageArrayNonUniformIndexing",
    "shaderStorageBufferArrayDynamicIndexing", "shaderStorageBufferArrayNonUniformIndexing", "shaderStorageImageArrayDynamicIndexing",
    "shaderStorageImageArrayNonUniformIndexing", "shaderUniformBufferArrayDynamicIndexing",
    "shaderUniformBufferArrayNonUniformIndexing",
    // What is behind these is refused where a draw asks for it.
    "bresenhamLines", "dualSrcBlend", "logicOp", "multiDrawIndirect", "multiview",
];

/// What of these features there is not.
pub(super) fn lacking(features: &[String]) -> Option<Lack> {
    let is = |list: &[&str], name: &String| list.contains(&name.as_str());
    let mut absent = features.iter().filter(|name| is(ABSENT, name));
    let mut open = features.iter().filter(|name| !is(DONE, name));
    let absent = absent.next().map(|name| Lack::Feature(name.clone()));
    absent.or_else(|| open.next().map(|name| Lack::not_yet(name.as_str())))
}
