//! `eitri reflect`: what a shader wants from outside.

use crate::input::shader_file::LanguageArgument;
use crate::input::specialisation::SpecConstant;
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use eitri_shaderc::reflect::{Member, Reflection, Resource, ResourceKind, Type, reflect};
use miette::Diagnostic;
use serde_json::{Value, json};
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shader: .wgsl, .comp or .glsl, .spv, .spvasm; `-` is standard input.
    shader: String,
    #[command(flatten)]
    language: LanguageArgument,
    /// Print JSON.
    #[arg(long)]
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

/// A value for a constant that is not there.
#[derive(Debug, Error, Diagnostic)]
#[error("{path}: no specialisation constant has SpecId {id}")]
struct NoSpec {
    path: String,
    id: u32,
}

/// Version of the JSON; a member that goes or changes its meaning makes a new one.
const SCHEMA: u32 = 1;

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let shader = args.language.load(&args.shader)?;
    let values = args.specialisation.iter();
    let values = values.map(|spec| (spec.id, spec.bits)).collect();
    let found = reflect(&shader.spirv, args.entry.as_deref(), &values).map_err(|cause| {
        let path = args.shader.clone();
        Failure::refused(Refused { path, cause })
    })?;
    if let Some(spec) = args.specialisation.iter().find(|spec| {
        let mut known = found.spec_constants.iter();
        !known.any(|constant| constant.id == spec.id)
    }) {
        let (path, id) = (shader.path, spec.id);
        return Err(Failure::refused(NoSpec { path, id }));
    }
    match args.json {
        true => outln!("{:#}", json_of(&args.shader, &found))?,
        false => outln!("{}", text_of(&shader.path, &found).trim_end())?,
    }
    Ok(Status::Good)
}

/// The same for people: a line a resource, a line a member.
fn text_of(path: &str, found: &Reflection) -> String {
    let [x, y, z] = found.workgroup_size;
    let mut text = format!("{path}: {}, workgroups of {x},{y},{z}\n", found.entry);
    for resource in &found.resources {
        let access = match (resource.read_only, resource.write_only) {
            (true, _) => "read",
            (_, true) => "write",
            _ => "read and write",
        };
        let count = match resource.count {
            Some(1) => String::new(),
            Some(count) => format!("[{count}]"),
            None => "[]".to_owned(),
        };
        text += &format!(
            "{}:{}  {}  {}{count}  {access}\n",
            resource.set,
            resource.binding,
            kind(resource.kind),
            resource.name
        );
        text += &members(&resource.ty);
    }
    if let Some(constants) = &found.push_constants {
        text += &format!("push constants, {} bytes\n", constants.bytes());
        text += &members(constants);
    }
    for constant in &found.spec_constants {
        text += &format!(
            "spec {}  {} {} = {}\n",
            constant.id, constant.name, constant.ty, constant.default
        );
    }
    text
}

/// The members of a struct, a line each; nothing of another type.
fn members(of: &Type) -> String {
    let Type::Struct { members, .. } = of else {
        return String::new();
    };
    let line = |member: &Member| {
        let offset = member
            .offset
            .map_or(String::new(), |offset| offset.to_string());
        format!("    {offset:>6}  {}: {}\n", member.name, member.ty)
    };
    members.iter().map(line).collect()
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
