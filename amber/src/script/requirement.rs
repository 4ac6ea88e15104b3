//! What a script asks of the device: language reference, section 4.

use alloc::string::String;

/// A statement about the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// `DEVICE_FEATURE`.
    Feature(Feature),
    /// `DEVICE_PROPERTY`.
    Property(Property),
    /// `DEVICE_EXTENSION`.
    DeviceExtension(String),
    /// `INSTANCE_EXTENSION`.
    InstanceExtension(String),
}

impl Requirement {
    /// The name that the script uses.
    pub fn name(&self) -> &str {
        match self {
            Requirement::Feature(feature) => feature.0,
            Requirement::Property(property) => property.0,
            Requirement::DeviceExtension(name) | Requirement::InstanceExtension(name) => name,
        }
    }
}

/// A feature of Vulkan that scripts may ask for, by its name there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Feature(&'static str);

/// A property of Vulkan that scripts may ask for, by its name there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Property(&'static str);

impl Feature {
    /// The feature that a script calls so.
    pub fn named(name: &str) -> Option<Feature> {
        let mut known = CORE.iter().chain(EXTENDED);
        known
            .find(|known| **known == name)
            .map(|name| Feature(name))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl Property {
    /// The property that a script calls so.
    pub fn named(name: &str) -> Option<Property> {
        let found = PROPERTIES.iter().find(|known| **known == name);
        found.map(|name| Property(name))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0
    }
}

/// The members of `VkPhysicalDeviceFeatures`.
const CORE: &[&str] = &[
    "robustBufferAccess",
    "fullDrawIndexUint32",
    "imageCubeArray",
    "independentBlend",
    "geometryShader",
    "tessellationShader",
    "sampleRateShading",
    "dualSrcBlend",
    "logicOp",
    "multiDrawIndirect",
    "drawIndirectFirstInstance",
    "depthClamp",
    "depthBiasClamp",
    "fillModeNonSolid",
    "depthBounds",
    "wideLines",
    "largePoints",
    "alphaToOne",
    "multiViewport",
    "samplerAnisotropy",
    "textureCompressionETC2",
    "textureCompressionASTC_LDR",
    "textureCompressionBC",
    "occlusionQueryPrecise",
    "pipelineStatisticsQuery",
    "vertexPipelineStoresAndAtomics",
    "fragmentStoresAndAtomics",
    "shaderTessellationAndGeometryPointSize",
    "shaderImageGatherExtended",
    "shaderStorageImageExtendedFormats",
    "shaderStorageImageMultisample",
    "shaderStorageImageReadWithoutFormat",
    "shaderStorageImageWriteWithoutFormat",
    "shaderUniformBufferArrayDynamicIndexing",
    "shaderSampledImageArrayDynamicIndexing",
    "shaderStorageBufferArrayDynamicIndexing",
    "shaderStorageImageArrayDynamicIndexing",
    "shaderClipDistance",
    "shaderCullDistance",
    "shaderFloat64",
    "shaderInt64",
    "shaderInt16",
    "shaderResourceResidency",
    "shaderResourceMinLod",
    "sparseBinding",
    "sparseResidencyBuffer",
    "sparseResidencyImage2D",
    "sparseResidencyImage3D",
    "sparseResidency2Samples",
    "sparseResidency4Samples",
    "sparseResidency8Samples",
    "sparseResidency16Samples",
    "sparseResidencyAliased",
    "variableMultisampleRate",
    "inheritedQueries",
];

/// Features of extensions.
const EXTENDED: &[&str] = &[
    "VariablePointerFeatures.variablePointers",
    "VariablePointerFeatures.variablePointersStorageBuffer",
    "Float16Int8Features.shaderFloat16",
    "Float16Int8Features.shaderInt8",
    "Storage8BitFeatures.storageBuffer8BitAccess",
    "Storage8BitFeatures.uniformAndStorageBuffer8BitAccess",
    "Storage8BitFeatures.storagePushConstant8",
    "Storage16BitFeatures.storageBuffer16BitAccess",
    "Storage16BitFeatures.uniformAndStorageBuffer16BitAccess",
    "Storage16BitFeatures.storagePushConstant16",
    "Storage16BitFeatures.storageInputOutput16",
    "VulkanMemoryModelFeatures.vulkanMemoryModel",
    "VulkanMemoryModelFeatures.vulkanMemoryModelDeviceScope",
    "ZeroInitializeWorkgroupMemoryFeatures.shaderZeroInitializeWorkgroupMemory",
    "SubgroupSizeControl.subgroupSizeControl",
    "SubgroupSizeControl.computeFullSubgroups",
    "SubgroupSupportedOperations.basic",
    "SubgroupSupportedOperations.vote",
    "SubgroupSupportedOperations.arithmetic",
    "SubgroupSupportedOperations.ballot",
    "SubgroupSupportedOperations.shuffle",
    "SubgroupSupportedOperations.shuffleRelative",
    "SubgroupSupportedOperations.clustered",
    "SubgroupSupportedOperations.quad",
    "SubgroupSupportedStages.vertex",
    "SubgroupSupportedStages.tessellationControl",
    "SubgroupSupportedStages.tessellationEvaluation",
    "SubgroupSupportedStages.geometry",
    "SubgroupSupportedStages.fragment",
    "SubgroupSupportedStages.compute",
    "DepthClampZeroOneFeatures.depthClampZeroOne",
    "IndexTypeUint8Features.indexTypeUint8",
    "ShaderSubgroupExtendedTypesFeatures.shaderSubgroupExtendedTypes",
    "CooperativeMatrixFeaturesKHR.cooperativeMatrix",
    "RayTracingPipelineFeaturesKHR.rayTracingPipeline",
    "AccelerationStructureFeaturesKHR.accelerationStructure",
    "BufferDeviceAddressFeatures.bufferDeviceAddress",
    "ShaderLongVectorFeaturesEXT.longVector",
];

const PROPERTIES: &[&str] = &[
    "FloatControlsProperties.shaderSignedZeroInfNanPreserveFloat16",
    "FloatControlsProperties.shaderSignedZeroInfNanPreserveFloat32",
    "FloatControlsProperties.shaderSignedZeroInfNanPreserveFloat64",
    "FloatControlsProperties.shaderDenormPreserveFloat16",
    "FloatControlsProperties.shaderDenormPreserveFloat32",
    "FloatControlsProperties.shaderDenormPreserveFloat64",
    "FloatControlsProperties.shaderDenormFlushToZeroFloat16",
    "FloatControlsProperties.shaderDenormFlushToZeroFloat32",
    "FloatControlsProperties.shaderDenormFlushToZeroFloat64",
    "FloatControlsProperties.shaderRoundingModeRTEFloat16",
    "FloatControlsProperties.shaderRoundingModeRTEFloat32",
    "FloatControlsProperties.shaderRoundingModeRTEFloat64",
    "FloatControlsProperties.shaderRoundingModeRTZFloat16",
    "FloatControlsProperties.shaderRoundingModeRTZFloat32",
    "FloatControlsProperties.shaderRoundingModeRTZFloat64",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_as_long_as_the_reference_says() {
        assert_eq!((CORE.len(), EXTENDED.len(), PROPERTIES.len()), (55, 38, 15));
        assert!(Feature::named("shaderInt64").is_some());
        assert!(Feature::named("shaderInt128").is_none());
    }
}
