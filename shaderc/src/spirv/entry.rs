//! Entry points: which one of a module is compiled.
use rspirv::spirv::{ExecutionModel, Op};

use super::error::{Error, Feature, Invalid};
use super::reader::{Instr, Result};
use crate::options::ShaderStage;

/// The entry point that is compiled.
#[derive(Clone, Debug)]
pub(crate) struct EntryPoint {
    pub name: String,
    pub function: u32,
    pub instr: Instr,
    /// The OpExecutionModeId with LocalSizeId.
    pub(super) size: Option<Instr>,
}

/// The execution model of a stage.
fn model_of(stage: ShaderStage) -> ExecutionModel {
    match stage {
        ShaderStage::Compute => ExecutionModel::GLCompute,
        ShaderStage::Vertex => ExecutionModel::Vertex,
        ShaderStage::Fragment => ExecutionModel::Fragment,
    }
}

/// The entry point of that stage and name; the only one of that stage if none is named.
pub(super) fn choose_entry(
    instrs: &[Instr],
    stage: ShaderStage,
    wanted: Option<&str>,
) -> Result<EntryPoint> {
    let own = model_of(stage);
    let mut found = vec![];
    let mut other = None;
    for instr in instrs.iter().filter(|instr| instr.op == Op::EntryPoint) {
        let model = instr.word(0)?;
        let (name, _) = instr.string(2)?;
        if wanted.is_some_and(|wanted| wanted != name) && ExecutionModel::from_u32(model).is_some()
        {
            if model == own as u32 {
                found.push((name, None));
            }
            continue;
        }
        match ExecutionModel::from_u32(model) {
            Some(model) if model == own => {
                let entry = EntryPoint {
                    name: name.clone(),
                    function: instr.word(1)?,
                    instr: instr.clone(),
                    size: None,
                };
                found.push((name, Some(entry)));
            }
            Some(model) => {
                let refusal = instr.unsupported(Feature::ExecutionModel, format!("{model:?}"));
                other.get_or_insert(refusal);
            }
            None => return Err(instr.invalid(Invalid::Literal(model))),
        }
    }
    let names: Vec<String> = found.iter().map(|(name, _)| name.clone()).collect();
    let mut entries: Vec<EntryPoint> = found.into_iter().filter_map(|(_, entry)| entry).collect();
    match (entries.len(), other) {
        (1, _) => Ok(entries.remove(0)),
        (0, Some(refusal)) => Err(refusal),
        _ => Err(Box::new(Error::NoEntryPoint {
            stage,
            wanted: wanted.map(str::to_owned),
            found: names,
        })),
    }
}
