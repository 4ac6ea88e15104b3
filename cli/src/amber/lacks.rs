//! What a script asks for that no GPU of this family has, or that Eitri has not.
//!
//! Only what is sure before compiling stands here: whatever else a shader needs, the compiler says.

use eitri_amber::Word;
use eitri_amber::script::{
    Language, Pipeline, PipelineKind, Requirement, Resource, Script, Stage, SubgroupSize,
};

/// Invocations of a subgroup: a warp of Valhall (hardware/compiler-optimization.md).
const SUBGROUP_SIZE: u32 = 16;

/// Requirements that the hardware can't meet: no 64-bit floats, no rays, no cooperative matrices.
const HARDWARE: &[&str] = &[
    "shaderFloat64",
    "rayTracingPipeline",
    "accelerationStructure",
    "cooperativeMatrix",
    "longVector",
    "shaderSignedZeroInfNanPreserveFloat64",
    "shaderDenormPreserveFloat64",
    "shaderDenormFlushToZeroFloat64",
    "shaderRoundingModeRTEFloat64",
    "shaderRoundingModeRTZFloat64",
    "VK_KHR_ray_tracing_pipeline",
    "VK_KHR_acceleration_structure",
];

/// The first thing that is lacking, by the name that Vulkan or Amber has for it.
pub(super) fn lacks(script: &Script) -> Option<String> {
    let of_kind = |kind| {
        script
            .pipelines
            .iter()
            .any(|pipeline| pipeline.kind == kind)
    };
    if of_kind(PipelineKind::RayTracing) {
        return Some("rayTracingPipeline".to_owned());
    }
    let lacking = script.requirements.iter().filter_map(hardware).next();
    if lacking.is_some() {
        return lacking;
    }
    script
        .pipelines
        .iter()
        .find_map(|pipeline| in_pipeline(script, pipeline))
}

fn hardware(requirement: &Requirement) -> Option<String> {
    let name = requirement.name();
    let short = name.rsplit('.').next().unwrap_or(name);
    HARDWARE.contains(&short).then(|| short.to_owned())
}

fn in_pipeline(script: &Script, pipeline: &Pipeline) -> Option<String> {
    for attached in &pipeline.shaders {
        match attached.stage {
            Stage::Compute | Stage::Vertex | Stage::Fragment => {}
            other => return Some(format!("graphics: {} shaders", other.text())),
        }
    }
    let has = |stage| pipeline.shaders.iter().any(|it| it.stage == stage);
    if has(Stage::Vertex) && !has(Stage::Fragment) {
        return Some("graphics: no fragment shader".to_owned());
    }
    for attached in &pipeline.shaders {
        let language = script.shader(attached.shader).map(|shader| shader.language);
        if language == Some(Language::OpenClC) {
            return Some("OPENCL-C: no compiler is packaged".to_owned());
        }
        match attached.subgroup.size {
            Some(SubgroupSize::Exactly(size)) if size != SUBGROUP_SIZE => {
                return Some(format!("subgroups of {size}"));
            }
            _ => {}
        }
    }
    pipeline
        .descriptors
        .iter()
        .find_map(|descriptor| match &descriptor.resource {
            Resource::Buffers { .. } | Resource::Samplers(_) => None,
            Resource::AccelerationStructure(_) => Some("accelerationStructure".to_owned()),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rest: &str, expected: Option<&str>) {
        let text = format!(
            "#!amber\nSHADER compute s GLSL\nx\nEND\nIMAGE i FORMAT R8_UINT WIDTH 1 HEIGHT 1\nSAMPLER t\n{rest}"
        );
        let script = eitri_amber::parse(&text).unwrap();
        assert_eq!(lacks(&script).as_deref(), expected, "{rest}");
    }

    #[test]
    fn what_is_lacking_has_a_name() {
        check("", None);
        check("DEVICE_FEATURE shaderFloat64\n", Some("shaderFloat64"));
        check("DEVICE_FEATURE Float16Int8Features.shaderFloat16\n", None);
        check(
            "DEVICE_FEATURE RayTracingPipelineFeaturesKHR.rayTracingPipeline\n",
            Some("rayTracingPipeline"),
        );
        check(
            "SHADER vertex v PASSTHROUGH\nPIPELINE graphics p\nATTACH v\nEND\n",
            Some("graphics: no fragment shader"),
        );
        let compute = |line: &str| format!("PIPELINE compute p\nATTACH s\n{line}\nEND\n");
        check(
            &compute("BIND BUFFER i AS storage_image DESCRIPTOR_SET 0 BINDING 0"),
            None,
        );
        check(&compute("BIND SAMPLER t DESCRIPTOR_SET 0 BINDING 0"), None);
        check(
            &compute("BIND BUFFER i AS storage DESCRIPTOR_SET 0 BINDING 0"),
            None,
        );
    }
}
