//! The tables: one file a family, one row a field.

mod macros;

pub mod blend;
pub mod framebuffer;
pub mod plane;
pub mod raster;
pub mod resource;
pub mod shader;
pub mod target;
pub mod texture;
pub mod tiler;

pub mod attachment_formats;
pub mod compressed;
pub mod compression;
pub mod formats;
pub mod names;
pub mod ycbcr;

use crate::descriptor::Descriptor;
use crate::row::{EnumTable, Layout};

/// Every structure.
#[rustfmt::skip]
pub const LAYOUTS: &[&Layout] = &[
    resource::DescriptorHeader::LAYOUT, resource::NullDescriptor::LAYOUT, resource::Resource::LAYOUT,
    resource::Buffer::LAYOUT, resource::InternalConversion::LAYOUT, resource::Attribute::LAYOUT,
    shader::Preload::LAYOUT, shader::ShaderProgram::LAYOUT, shader::ShaderEnvironment::LAYOUT,
    shader::FauPointer::LAYOUT, shader::ComputeSizeWorkgroup::LAYOUT, shader::LocalStorage::LAYOUT,
    texture::Sampler::LAYOUT, texture::Texture::LAYOUT,
    plane::PlaneHeader::LAYOUT, plane::NullPlane::LAYOUT, plane::GenericPlane::LAYOUT, plane::Astc2DPlane::LAYOUT,
    plane::Astc3DPlane::LAYOUT, plane::AfbcPlane::LAYOUT, plane::Chroma2pPlane::LAYOUT, plane::AfrcPlane::LAYOUT,
    plane::AfrcChroma2pPlane::LAYOUT,
    blend::BlendFunction::LAYOUT, blend::BlendEquation::LAYOUT, blend::BlendShader::LAYOUT,
    blend::BlendFixedFunction::LAYOUT, blend::InternalBlend::LAYOUT, blend::Blend::LAYOUT,
    raster::PrimitiveFlags::LAYOUT, raster::PrimitiveFlags2::LAYOUT, raster::Primitive::LAYOUT,
    raster::PrimitiveSize::LAYOUT, raster::Scissor::LAYOUT, raster::Viewport::LAYOUT, raster::VertexArray::LAYOUT,
    raster::DepthStencil::LAYOUT, raster::DcdFlags0::LAYOUT, raster::DcdFlags1::LAYOUT, raster::DcdFlags2::LAYOUT,
    raster::Draw::LAYOUT,
    framebuffer::FramebufferParameters::LAYOUT, framebuffer::FramebufferPadding::LAYOUT,
    framebuffer::FramebufferPointer::LAYOUT, framebuffer::FragmentJobPayload::LAYOUT, framebuffer::Crc::LAYOUT,
    framebuffer::ZsTarget::LAYOUT, framebuffer::AfbcZsTarget::LAYOUT, framebuffer::STarget::LAYOUT,
    framebuffer::AfbcSTarget::LAYOUT, framebuffer::ZsCrcExtension::LAYOUT,
    target::RtBuffer::LAYOUT, target::RtClear::LAYOUT, target::RgbRenderTarget::LAYOUT,
    target::YuvRenderTarget::LAYOUT, target::AfbcRgbRenderTarget::LAYOUT, target::AfbcYuvRenderTarget::LAYOUT,
    target::AfrcRgbRenderTarget::LAYOUT, target::AfrcYuvRenderTarget::LAYOUT, target::RenderTarget::LAYOUT,
    tiler::TilerHeap::LAYOUT, tiler::TilerWeights::LAYOUT, tiler::TilerState::LAYOUT, tiler::TilerContext::LAYOUT,
];

/// Structures that stand one behind the other, as one.
pub const AGGREGATES: &[&Layout] = &[framebuffer::Framebuffer::LAYOUT];

/// Every enumeration that a field uses.
#[rustfmt::skip]
pub const ENUMS: &[&EnumTable] = &[
    resource::DescriptorType::TABLE, resource::BufferType::TABLE, resource::AttributeType::TABLE,
    resource::AttributeFrequency::TABLE,
    shader::ShaderStage::TABLE, shader::CoverageBitmaskType::TABLE, shader::WarpLimit::TABLE,
    shader::FlushToZeroMode::TABLE, shader::ShaderRegisterAllocation::TABLE, shader::AddressMode::TABLE,
    texture::ReductionMode::TABLE, texture::WrapMode::TABLE, texture::MipmapMode::TABLE, texture::Func::TABLE,
    texture::LodAlgorithm::TABLE, texture::TextureDimension::TABLE,
    plane::PlaneType::TABLE, plane::ClumpOrdering::TABLE, plane::ClumpFormat::TABLE, plane::Astc2DDimension::TABLE,
    plane::Astc3DDimension::TABLE, plane::AfbcSuperblockSize::TABLE, plane::AfbcCompressionMode::TABLE,
    plane::AfrcBlockSize::TABLE, plane::AfrcFormat::TABLE,
    blend::BlendOperandA::TABLE, blend::BlendOperandB::TABLE, blend::BlendOperandC::TABLE, blend::BlendMode::TABLE,
    raster::DrawMode::TABLE, raster::IndexType::TABLE, raster::PointSizeArrayFormat::TABLE,
    raster::FifoFormat::TABLE, raster::VrsDrawRate::TABLE, raster::VrsCombiner::TABLE, raster::StencilOp::TABLE,
    raster::DepthClampMode::TABLE, raster::DepthSource::TABLE, raster::PixelKill::TABLE,
    raster::OcclusionMode::TABLE, raster::ConservativeRastMode::TABLE, raster::HsrUpdate::TABLE,
    raster::HsrPrepassKill::TABLE,
    framebuffer::PrePostFrameShaderMode::TABLE, framebuffer::Downscale::TABLE, framebuffer::SamplePattern::TABLE,
    framebuffer::TieBreakRule::TABLE, framebuffer::ZInternalFormat::TABLE, framebuffer::VrsImageRate::TABLE,
    framebuffer::TileRenderOrder::TABLE, framebuffer::ZsFormat::TABLE, framebuffer::BlockFormat::TABLE,
    framebuffer::Msaa::TABLE, framebuffer::SFormat::TABLE,
    target::WritebackMode::TABLE, target::ColorBufferInternalFormat::TABLE, target::ColorFormat::TABLE,
    target::FloatColorFormat::TABLE, target::RtDownscale::TABLE, target::YuvSwizzle::TABLE,
    target::YuvConversionMode::TABLE, target::YuvCrSiting::TABLE,
];
