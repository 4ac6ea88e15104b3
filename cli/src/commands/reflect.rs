//! `eitri reflect`: what a shader wants from outside, as JSON.

use crate::input::shader_file;
use crate::input::specialisation::SpecConstant;
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use eitri_shaderc::reflect::{Member, Reflection, Resource, ResourceKind, Type, reflect};
use miette::Diagnostic;
use serde_json::{Value, json};
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shader: .wgsl, .comp or .glsl, .spv, .spvasm.
    shader: String,
    /// Print JSON: the only form there is, so it must be asked for.
    #[arg(long, required = true)]
    json: bool,
    /// Entry point; needed when the module has several.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Value of a specialisation constant: it may set sizes.
    #[arg(long = "spec", value_name = "ID=VALUE")]
    specialisation: Vec<SpecConstant>,
}

#[derive(Debug, Error, Diagnostic)]
#[error("{path}: {cause}")]
struct Refused {
    path: String,
    cause: eitri_shaderc::spirv::error::Error,
}

/// Version of the JSON; a member that goes or changes its meaning makes a new one.
const SCHEMA: u32 = 1;

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let shader = shader_file::load(&args.shader)?;
    let values = args.specialisation.iter();
    let values = values.map(|spec| (spec.id, spec.bits)).collect();
    let found = reflect(&shader.spirv, args.entry.as_deref(), &values).map_err(|cause| {
        let path = args.shader.clone();
        Failure::refused(Refused { path, cause })
    })?;
    outln!("{:#}", json_of(&args.shader, &found))?;
    Ok(Status::Good)
}

fn json_of(path: &str, found: &Reflection) -> Value {
    let constants = found.spec_constants.iter().map(|constant| {
        json!({
            "id": constant.id, "name": constant.name, "type": constant.ty, "default": constant.default,
        })
    });
    json!({
        "schema": SCHEMA,
        "shader": path,
        "entry": found.entry,
        "stage": "compute",
        "workgroup_size": found.workgroup_size,
        "capabilities": found.capabilities,
        "extensions": found.extensions,
        "bindings": found.resources.iter().map(resource).collect::<Vec<_>>(),
        "push_constants": found.push_constants.as_ref().map(ty),
        "spec_constants": constants.collect::<Vec<_>>(),
    })
}

/// Words for kinds: those of the kernels' case files, where these have one.
fn kind(kind: ResourceKind) -> &'static str {
    match kind {
        ResourceKind::StorageBuffer => "ssbo",
        ResourceKind::UniformBuffer => "ubo",
        ResourceKind::StorageImage => "storage_image",
        ResourceKind::SampledImage => "sampled_image",
        ResourceKind::CombinedImageSampler => "combined_image_sampler",
        ResourceKind::Sampler => "sampler",
        ResourceKind::UniformTexelBuffer => "uniform_texel_buffer",
        ResourceKind::StorageTexelBuffer => "storage_texel_buffer",
        ResourceKind::Other => "other",
    }
}

fn resource(resource: &Resource) -> Value {
    json!({
        "set": resource.set,
        "binding": resource.binding,
        "name": resource.name,
        "kind": kind(resource.kind),
        // null: an array without a length.
        "count": resource.count,
        "reads": !resource.write_only,
        "writes": !resource.read_only,
        "layout": ty(&resource.ty),
    })
}

fn ty(of: &Type) -> Value {
    let mut value = json!({ "type": of.to_string() });
    let mut set = |name: &str, member: Value| value[name] = member;
    match of {
        Type::Opaque { .. } => return value,
        Type::Scalar { .. } | Type::Vector { .. } => set("bytes", json!(of.bytes())),
        Type::Matrix {
            stride, row_major, ..
        } => {
            set("bytes", json!(of.bytes()));
            set("stride", json!(stride));
            set("row_major", json!(row_major));
        }
        Type::Array {
            element,
            count,
            stride,
        } => {
            set("bytes", json!(of.bytes()));
            set("count", json!(count));
            set("stride", json!(stride));
            set("element", ty(element));
        }
        Type::Struct { members, .. } => {
            set("bytes", json!(of.bytes()));
            set("members", members.iter().map(member).collect());
        }
    }
    value
}

fn member(of: &Member) -> Value {
    let mut value = ty(&of.ty);
    value["name"] = json!(of.name);
    value["offset"] = json!(of.offset);
    value
}
