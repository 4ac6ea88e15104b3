//! GPUs by the names that people write: products (`G610`, `mali-g610`) and architectures (`v10`).

use crate::nearest::suggestion;
use crate::outcome::Failure;
use eitri_csf::Arch;
use eitri_csf::product::{PRODUCTS, Product};
use eitri_shaderc::Target;
use miette::Diagnostic;
use thiserror::Error;

/// What a shader is compiled for.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(multiple = false)]
pub(crate) struct TargetArguments {
    /// Compile for this architecture: v10 to v13.
    #[arg(long, value_name = "v10..v13")]
    arch: Option<String>,
    /// Compile for this GPU, such as G610; Mali-G610 if nothing is said.
    #[arg(long, value_name = "NAME")]
    gpu: Option<String>,
}

#[derive(Debug, Error, Diagnostic)]
enum GpuError {
    #[error("there is no GPU `{name}`")]
    #[diagnostic(help("{help}"))]
    Unknown { name: String, help: String },
    #[error("`{text}` is no architecture that shaders can be compiled for")]
    #[diagnostic(help("v10, v11, v12 or v13"))]
    Arch { text: String },
    #[error("{name} is of {arch}, for which no shader can be compiled yet")]
    #[diagnostic(help("those of v10 to v13 can be named"))]
    Unsupported { name: &'static str, arch: Arch },
}

impl TargetArguments {
    /// The machine.
    pub(crate) fn target(&self) -> Result<Target, Failure> {
        match (&self.arch, &self.gpu) {
            (Some(text), _) => {
                let arch = eitri_program::SUPPORTED.parse(text);
                let refused = |_| Failure::refused(GpuError::Arch { text: text.clone() });
                arch.map(Target::new).map_err(refused)
            }
            (None, Some(name)) => {
                let Product { arch, name, .. } = *product(name)?;
                match eitri_program::SUPPORTED.contains(arch) {
                    true => Ok(Target::of_product(arch, name)),
                    false => Err(Failure::refused(GpuError::Unsupported { name, arch })),
                }
            }
            (None, None) => Ok(Target::default()),
        }
    }
}

/// The product that a person means: its name with or without the family's, letters of either case.
fn product(name: &str) -> Result<&'static Product, Failure> {
    let plain = |text: &str| text.to_lowercase().replace([' ', '_'], "-");
    let wanted = plain(name);
    let is_it = |row: &&Product| {
        let own = plain(row.name);
        own == wanted
            || own
                .split_once('-')
                .is_some_and(|(_, short)| short == wanted)
    };
    PRODUCTS.iter().find(is_it).ok_or_else(|| {
        let names = PRODUCTS.iter().map(|row| row.name);
        Failure::refused(GpuError::Unknown {
            name: name.to_owned(),
            help: suggestion(
                name,
                names,
                "`eitri explain v10` names those of an architecture",
            ),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_found_by_the_names_that_people_write() {
        for name in ["G610", "mali-g610", "Mali G610", "g610"] {
            assert_eq!(product(name).unwrap().name, "Mali-G610", "{name}");
        }
        assert_eq!(product("Immortalis-G925").unwrap().arch, Arch::V13);
        let unknown = product("G6100").unwrap_err();
        assert_eq!(unknown.to_string(), "there is no GPU `G6100`");
    }

    #[test]
    fn what_no_shader_can_be_compiled_for_is_refused() {
        let target = |arch: Option<&str>, gpu: Option<&str>| {
            let arguments = TargetArguments {
                arch: arch.map(str::to_owned),
                gpu: gpu.map(str::to_owned),
            };
            arguments.target().map_err(|failure| failure.to_string())
        };
        assert_eq!(target(Some("v12"), None), Ok(Target::new(Arch::V12)));
        assert_eq!(target(None, None), Ok(Target::default()));
        let text = "`v9` is no architecture that shaders can be compiled for";
        assert_eq!(target(Some("v9"), None), Err(text.to_owned()));
        let text = "Mali-G1-Pro is of v14, for which no shader can be compiled yet";
        assert_eq!(target(None, Some("G1-Pro")), Err(text.to_owned()));
    }
}
