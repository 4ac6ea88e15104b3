//! Which GPU a job is for: the option `--gpu`, the same for every command that runs jobs.

use crate::nearest;
use eitri_model::{Config, Product};
use eitri_shaderc::Target;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// `--gpu`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct GpuArgument {
    /// The GPU that the model is, by its marketing name, such as G610, G615, G720 or Immortalis-G925. The shader is
    /// compiled for its generation.
    #[arg(long, value_name = "NAME", default_value_t)]
    gpu: GpuChoice,
}

impl GpuArgument {
    pub(crate) fn choice(self) -> GpuChoice {
        self.gpu
    }
}

/// A GPU that the model can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GpuChoice(Product);

impl Default for GpuChoice {
    fn default() -> GpuChoice {
        GpuChoice(Product::g610())
    }
}

impl GpuChoice {
    /// The model's configuration.
    pub(crate) fn config(self) -> Config {
        Config {
            product: self.0,
            ..Config::default()
        }
    }

    /// What shaders are compiled for.
    pub(crate) fn target(self) -> Target {
        let arch = self.0.arch();
        let named = self.0.name();
        named.map_or(Target::new(arch), |name| Target::of_product(arch, name))
    }
}

impl fmt::Display for GpuChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name().unwrap_or(self.0.part.soc))
    }
}

/// There is no such GPU, or none that the model can be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the model can't be a `{name}`: {hint}")]
pub(crate) struct UnknownGpu {
    name: String,
    hint: String,
}

impl FromStr for GpuChoice {
    type Err = UnknownGpu;

    fn from_str(name: &str) -> Result<GpuChoice, UnknownGpu> {
        let found = Product::find(name).map(GpuChoice);
        found.ok_or_else(|| {
            let all: Vec<GpuChoice> = Product::all().map(GpuChoice).collect();
            let names: Vec<String> = all.iter().map(ToString::to_string).collect();
            let otherwise = format!("it can be {}", names.join(", "));
            let short = names.iter().map(|name| short(name));
            UnknownGpu {
                name: name.to_owned(),
                hint: nearest::suggestion(short_of(name), short, &otherwise),
            }
        })
    }
}

/// A name without its family.
fn short(name: &str) -> &str {
    name.split_once('-').map_or(name, |(_, model)| model)
}

fn short_of(name: &str) -> &str {
    match name.split_once('-') {
        Some((family, model)) if family.chars().all(char::is_alphabetic) => model,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_named_as_people_write_it() {
        let arch = |name: &str| {
            let choice: Result<GpuChoice, UnknownGpu> = name.parse();
            choice.map(|choice| choice.target().arch.major())
        };
        assert_eq!(arch("g610"), Ok(10));
        assert_eq!(arch("Mali-G615"), Ok(11));
        assert_eq!(arch("immortalis-g720"), Ok(12));
        assert_eq!(arch("G925"), Ok(13));
        assert_eq!(GpuChoice::default().to_string(), "Mali-G610");
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let told = |name: &str| {
            let choice: Result<GpuChoice, UnknownGpu> = name.parse();
            choice.unwrap_err().to_string()
        };
        assert_eq!(
            told("G611"),
            "the model can't be a `G611`: did you mean `G610`?"
        );
        assert!(told("teapot").contains("it can be Mali-G610, Mali-G310"));
    }
}
