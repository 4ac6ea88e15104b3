//! Built-in variables: what an invocation is told, and what of its outputs has a meaning of its own.
//!
//! Facts: hardware/compiler-ir.md 3.9; hardware/graphics-compiler.md 1.2, 3.
use rspirv::spirv::BuiltIn;

use super::error::Feature;
use super::ops::group;
use super::reader::{Instr, Result};
use super::translate::Translator;
use crate::ir::{Alu, Axis, Op, Output, Sampling, Stage, SysVal, Uniform, Value};

impl Translator<'_> {
    /// The scalars of a built-in input.
    pub(super) fn built_in_input(
        &mut self,
        instr: &Instr,
        built_in: BuiltIn,
    ) -> Result<Vec<Value>> {
        let found = match self.builder.function.stage {
            Stage::Compute => self.of_compute(built_in),
            Stage::Vertex(_) => self.of_vertex(built_in),
            Stage::Fragment(fragment) => self.of_fragment(built_in, fragment.sample_shading),
        };
        found.ok_or_else(|| instr.unsupported(Feature::BuiltIn, name(built_in)))
    }

    fn of_compute(&mut self, built_in: BuiltIn) -> Option<Vec<Value>> {
        Some(match built_in {
            BuiltIn::LocalInvocationId => self.three(SysVal::LocalId),
            BuiltIn::WorkgroupId => self.three(SysVal::WorkgroupId),
            BuiltIn::GlobalInvocationId => self.three(SysVal::GlobalId),
            BuiltIn::NumWorkgroups => {
                let words = Axis::ALL.map(|axis| self.builder.num_workgroups(axis));
                words.to_vec()
            }
            BuiltIn::WorkgroupSize => {
                let size = self.builder.function.workgroup_size;
                size.map(|size| self.builder.word(size)).to_vec()
            }
            BuiltIn::LocalInvocationIndex => vec![self.local_index()],
            BuiltIn::NumSubgroups => {
                let invocations: u32 = self.builder.function.workgroup_size.iter().product();
                let lanes = self.builder.function.lanes.count();
                vec![self.builder.word(invocations.div_ceil(lanes))]
            }
            BuiltIn::SubgroupId => {
                let index = self.local_index();
                let bits = self.builder.function.lanes.count().trailing_zeros();
                vec![self.builder.alu_word(Alu::UShr, index, bits)]
            }
            _ => return self.of_subgroup(built_in),
        })
    }

    /// What lanes are told that do something together, in whatever stage.
    fn of_subgroup(&mut self, built_in: BuiltIn) -> Option<Vec<Value>> {
        Some(match built_in {
            BuiltIn::SubgroupSize => vec![self.builder.word(self.builder.function.lanes.count())],
            BuiltIn::SubgroupLocalInvocationId => vec![self.builder.sys_val(SysVal::LaneId)],
            BuiltIn::SubgroupEqMask
            | BuiltIn::SubgroupGeMask
            | BuiltIn::SubgroupGtMask
            | BuiltIn::SubgroupLeMask
            | BuiltIn::SubgroupLtMask => group::mask(&mut self.builder, built_in),
            _ => return None,
        })
    }

    fn of_vertex(&mut self, built_in: BuiltIn) -> Option<Vec<Value>> {
        let b = &mut self.builder;
        Some(vec![match built_in {
            BuiltIn::VertexIndex => b.sys_val(SysVal::VertexIndex),
            BuiltIn::InstanceIndex => {
                let number = b.sys_val(SysVal::InstanceIndex);
                let base = b.uniform(Uniform::BaseInstance);
                b.alu(Alu::IAdd, &[number, base])
            }
            BuiltIn::BaseVertex => b.uniform(Uniform::BaseVertex),
            BuiltIn::BaseInstance => b.uniform(Uniform::BaseInstance),
            BuiltIn::DrawIndex => b.sys_val(SysVal::DrawIndex),
            BuiltIn::ViewIndex => b.uniform(Uniform::ViewIndex),
            _ => return None,
        }])
    }

    fn of_fragment(&mut self, built_in: BuiltIn, sample_shading: bool) -> Option<Vec<Value>> {
        let b = &mut self.builder;
        let samples = [SysVal::SampleX, SysVal::SampleY];
        Some(match built_in {
            BuiltIn::FragCoord => {
                let pixel = [SysVal::PixelX, SysVal::PixelY];
                let mut at: Vec<Value> = pixel
                    .into_iter()
                    .zip(samples)
                    .map(|(pixel, sample)| {
                        let pixel = b.sys_val(pixel);
                        let pixel = b.alu(Alu::U2F, &[pixel]);
                        // The centre, or the sample that the invocation is for.
                        let inside = match sample_shading {
                            true => b.sys_val(sample),
                            false => b.float(0.5),
                        };
                        b.alu(Alu::FAdd, &[pixel, inside])
                    })
                    .collect();
                at.push(b.sys_val(SysVal::FragZ));
                at.push(b.inst(Op::FragW(Sampling::Center), &[])[0]);
                at
            }
            BuiltIn::FrontFacing => vec![b.sys_val(SysVal::FrontFacing)],
            BuiltIn::PointCoord => vec![b.sys_val(SysVal::PointX), b.sys_val(SysVal::PointY)],
            BuiltIn::SampleId => vec![b.sys_val(SysVal::SampleId)],
            BuiltIn::SamplePosition => samples.map(|sample| b.sys_val(sample)).to_vec(),
            BuiltIn::SampleMask => vec![b.sys_val(SysVal::SampleMaskIn)],
            BuiltIn::PrimitiveId => vec![b.sys_val(SysVal::PrimitiveId)],
            // A view is drawn to the layer of its number.
            BuiltIn::Layer | BuiltIn::ViewIndex => vec![b.sys_val(SysVal::Layer)],
            _ => return self.of_subgroup(built_in),
        })
    }

    /// (z * size.y + y) * size.x + x
    pub(super) fn local_index(&mut self) -> Value {
        let [x, y, _] = self.builder.function.workgroup_size;
        let local = self.three(SysVal::LocalId);
        let index = self.builder.alu_word(Alu::IMul, local[2], y);
        let index = self.builder.alu(Alu::IAdd, &[index, local[1]]);
        let index = self.builder.alu_word(Alu::IMul, index, x);
        self.builder.alu(Alu::IAdd, &[index, local[0]])
    }

    fn three(&mut self, sys_val: impl Fn(Axis) -> SysVal) -> Vec<Value> {
        Axis::ALL
            .map(|axis| self.builder.sys_val(sys_val(axis)))
            .to_vec()
    }
}

/// The output that a built-in of a stage is.
pub(super) fn output(stage: Stage, built_in: BuiltIn) -> Option<Output> {
    match (stage, built_in) {
        (Stage::Vertex(_), BuiltIn::Position) => Some(Output::Position),
        (Stage::Vertex(_), BuiltIn::PointSize) => Some(Output::PointSize),
        (Stage::Vertex(_), BuiltIn::Layer) => Some(Output::Layer),
        (Stage::Fragment(_), BuiltIn::FragDepth) => Some(Output::Depth),
        (Stage::Fragment(_), BuiltIn::FragStencilRefEXT) => Some(Output::Stencil),
        (Stage::Fragment(_), BuiltIn::SampleMask) => Some(Output::SampleMask),
        _ => None,
    }
}

/// The name of a built-in, and of Vulkan's feature that allows it, if there is one.
pub(super) fn name(built_in: BuiltIn) -> String {
    let feature = match built_in {
        BuiltIn::ClipDistance => "shaderClipDistance",
        BuiltIn::CullDistance => "shaderCullDistance",
        BuiltIn::ViewportIndex => "shaderOutputViewportIndex",
        BuiltIn::BaryCoordKHR | BuiltIn::BaryCoordNoPerspKHR => "fragmentShaderBarycentric",
        BuiltIn::PrimitiveShadingRateKHR => "primitiveFragmentShadingRate",
        BuiltIn::ShadingRateKHR => "pipelineFragmentShadingRate",
        BuiltIn::FullyCoveredEXT => "conservative rasterization",
        _ => return format!("{built_in:?}"),
    };
    format!("{built_in:?} ({feature})")
}
