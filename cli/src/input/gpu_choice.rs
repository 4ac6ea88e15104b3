//! Which GPU a job is for, and which one a shader is compiled for: `--gpu`, and `--arch` where nothing is run.

use crate::input::{engine_choice, nearest, reorder_choice, thread_choice};
use crate::outcome::Failure;
use eitri_csf::Arch;
use eitri_csf::product::{self as csf, GpuId, PRODUCTS, WITH_JOB_MANAGER, find_product};
use eitri_ir3_isa::Gen;
use eitri_ir3_isa::device::{DEVICES, Device};
use eitri_model::{Config, Product};
use eitri_shaderc::Target;
use miette::Diagnostic;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// `--gpu`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct GpuArgument {
    /// The GPU that the model is, by its marketing name, such as G610, G615, G720 or Immortalis-G925. The shader is
    /// compiled for its generation. `G610,drift` has the G610's erratum: varyings of very wide primitives drift.
    #[arg(long, value_name = "NAME", default_value_t)]
    gpu: GpuChoice,
}

impl GpuArgument {
    pub(crate) fn choice(self) -> GpuChoice {
        self.gpu
    }
}

/// `--gpu` of a command that can compare them.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct GpusArgument {
    /// The GPU that the model is, by its marketing name, such as G610, G615, G720 or Immortalis-G925. The shader is
    /// compiled for its generation. `G610,drift` has the G610's erratum: varyings of very wide primitives drift. `all` prints a table
    /// of what the job takes on each.
    #[arg(long, value_name = "NAME|all", default_value_t)]
    gpu: GpuOrAll,
}

impl GpusArgument {
    /// The one GPU; the usual one where all are asked for.
    pub(crate) fn choice(self) -> GpuChoice {
        match self.gpu {
            GpuOrAll::One(gpu) => gpu,
            GpuOrAll::All => GpuChoice::default(),
        }
    }

    /// Whether it is `all`.
    pub(crate) fn is_all(self) -> bool {
        matches!(self.gpu, GpuOrAll::All)
    }
}

/// One GPU, or each.
#[derive(Clone, Copy, Debug)]
enum GpuOrAll {
    One(GpuChoice),
    All,
}

impl Default for GpuOrAll {
    fn default() -> GpuOrAll {
        GpuOrAll::One(GpuChoice::default())
    }
}

impl fmt::Display for GpuOrAll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GpuOrAll::One(gpu) => gpu.fmt(f),
            GpuOrAll::All => f.write_str("all"),
        }
    }
}

impl FromStr for GpuOrAll {
    type Err = UnknownGpu;

    fn from_str(name: &str) -> Result<GpuOrAll, UnknownGpu> {
        match name {
            "all" => Ok(GpuOrAll::All),
            name => name.parse().map(GpuOrAll::One),
        }
    }
}

/// A GPU that the model can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GpuChoice {
    product: Product,
    /// Varyings of very wide primitives drift.
    drift: bool,
    /// It is followed how far results can be trusted.
    fidelity: bool,
}

impl Default for GpuChoice {
    fn default() -> GpuChoice {
        GpuChoice::exact(Product::g610())
    }
}

impl GpuChoice {
    fn exact(product: Product) -> GpuChoice {
        GpuChoice {
            product,
            drift: false,
            fidelity: false,
        }
    }

    /// Every GPU that the model can be.
    pub(crate) fn all() -> impl Iterator<Item = GpuChoice> {
        Product::all().map(GpuChoice::exact)
    }

    /// The GPU that a board has; `None` where the board does not say, or the model can't be that.
    pub(crate) fn of_board(board: eitri_boards::Target) -> Option<GpuChoice> {
        let wanted = board.gpu().expected?.gpu_id;
        let mut products = Product::all();
        let product = products.find(|product| wanted.are_in(product.part.gpu_id.0))?;
        Some(GpuChoice::exact(product))
    }

    /// The same, following how far results can be trusted.
    pub(crate) fn following(self, fidelity: bool) -> GpuChoice {
        GpuChoice { fidelity, ..self }
    }

    /// The model's configuration.
    pub(crate) fn config(self) -> Config {
        Config {
            product: self.product,
            wide_varyings_drift: self.drift,
            engine: engine_choice::chosen(),
            workers: thread_choice::workers(),
            reorder: reorder_choice::chosen(),
            fidelity: self.fidelity,
            ..Config::default()
        }
    }

    /// What its identification register says.
    pub(crate) fn id(self) -> GpuId {
        self.product.part.gpu_id
    }

    /// Its architecture.
    pub(crate) fn arch(self) -> Arch {
        self.product.arch()
    }

    /// The SoC that has it, or its name where that is not known.
    pub(crate) fn soc(self) -> &'static str {
        self.product.part.soc
    }

    /// What shaders are compiled for.
    pub(crate) fn target(self) -> Target {
        let arch = self.arch();
        let named = self.product.name();
        named.map_or(Target::valhall(arch), |name| {
            Target::valhall_product(arch, name)
        })
    }
}

impl fmt::Display for GpuChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.product.name().unwrap_or(self.product.part.soc))?;
        match self.drift {
            true => write!(f, ",{}", Config::DRIFT),
            false => Ok(()),
        }
    }
}

/// There is no such GPU, or none that the model can be.
#[derive(Clone, Debug, PartialEq, Eq, Error, Diagnostic)]
#[error("the model can't be a `{name}`: {hint}")]
pub(crate) struct UnknownGpu {
    name: String,
    hint: String,
}

impl FromStr for GpuChoice {
    type Err = UnknownGpu;

    fn from_str(name: &str) -> Result<GpuChoice, UnknownGpu> {
        let found = Config::named(name).map(|config| GpuChoice {
            product: config.product,
            drift: config.wide_varyings_drift,
            fidelity: false,
        });
        found.ok_or_else(|| {
            let all: Vec<GpuChoice> = GpuChoice::all().collect();
            let names: Vec<String> = all.iter().map(ToString::to_string).collect();
            UnknownGpu {
                name: name.to_owned(),
                hint: hint(name, names.iter().map(String::as_str)),
            }
        })
    }
}

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
    /// Compile for this machine of any family: what --arch and --gpu take, or an Adreno, such as a6xx, a650 or a660.
    #[arg(long, value_name = "MACHINE")]
    target: Option<String>,
}

#[derive(Debug, Error, Diagnostic)]
enum TargetError {
    #[error("there is no machine `{name}` that shaders can be compiled for")]
    #[diagnostic(help("v10 to v13, a Mali such as G610, a6xx, or one of {devices}"))]
    Machine { name: String, devices: String },
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
        if let Some(name) = &self.target {
            return machine(name);
        }
        match (&self.arch, &self.gpu) {
            (Some(text), _) => {
                let arch = eitri_program::SUPPORTED.parse(text);
                let refused = |_| Failure::refused(TargetError::Arch { text: text.clone() });
                arch.map(Target::valhall).map_err(refused)
            }
            (None, Some(name)) => {
                let product = find_product(name).ok_or_else(|| {
                    let (name, help) = (name.clone(), hint(name, compiled_for()));
                    Failure::refused(TargetError::Unknown { name, help })
                })?;
                of_product(product)
            }
            (None, None) => Ok(Target::default()),
        }
    }
}

fn of_product(product: &'static csf::Product) -> Result<Target, Failure> {
    let (arch, name) = (product.arch, product.name);
    match eitri_program::SUPPORTED.contains(arch) {
        true => Ok(Target::valhall_product(arch, name)),
        false => Err(Failure::refused(TargetError::Unsupported { name, arch })),
    }
}

/// The machine of any family that has this name.
///
/// # Errors
/// A name of none; the error lists what there is.
pub(crate) fn machine(name: &str) -> Result<Target, Failure> {
    if let Ok(arch) = eitri_program::SUPPORTED.parse(name) {
        return Ok(Target::valhall(arch));
    }
    if let Some(product) = find_product(name) {
        return of_product(product);
    }
    let made = |device: &&Device| device.generation == Gen::A6xx;
    Target::ir3_named(name).ok_or_else(|| {
        let devices = DEVICES.iter().filter(made);
        let devices: Vec<&str> = devices.map(|device| device.name).collect();
        Failure::refused(TargetError::Machine {
            name: name.to_owned(),
            devices: devices.join(", "),
        })
    })
}

/// The names of products that a shader can be compiled for.
fn compiled_for() -> impl Iterator<Item = &'static str> + Clone {
    PRODUCTS
        .iter()
        .filter(|row| eitri_program::SUPPORTED.contains(row.arch))
        .map(|row| row.name)
}

/// What a person may have meant by a name that no GPU has.
fn hint<'n>(name: &str, names: impl Iterator<Item = &'n str> + Clone) -> String {
    let same = |known: &&&str| short(known).eq_ignore_ascii_case(short_of(name));
    if let Some(known) = WITH_JOB_MANAGER.iter().find(same) {
        return format!(
            "{known} has a job manager and no command streams, so it is another kind of GPU for a driver; Eitri knows v10 and later"
        );
    }
    let mut all: Vec<&str> = names.clone().collect();
    all.dedup();
    let otherwise = format!("it can be {}", all.join(", "));
    nearest::suggestion(short_of(name), names.map(short), &otherwise)
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
            choice.map(|choice| choice.arch().major())
        };
        assert_eq!(arch("g610"), Ok(10));
        assert_eq!(arch("Mali-G615"), Ok(11));
        assert_eq!(arch("immortalis-g720"), Ok(12));
        assert_eq!(arch("G925"), Ok(13));
        assert_eq!(GpuChoice::default().to_string(), "Mali-G610");
        let drifting: GpuChoice = "g610,drift".parse().unwrap();
        assert_eq!(drifting.to_string(), "Mali-G610,drift");
        assert!(drifting.config().wide_varyings_drift);
        assert_eq!(drifting.to_string().parse(), Ok(drifting));
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

    #[test]
    fn a_target_is_a_machine_of_any_family() {
        let target = |name: &str| {
            let arguments = TargetArguments {
                target: Some(name.to_owned()),
                ..TargetArguments::default()
            };
            arguments.target().map_err(|failure| failure.to_string())
        };
        assert_eq!(target("v12"), Ok(Target::valhall(Arch::V12)));
        assert_eq!(target("g610"), Ok(Target::default()));
        let product = |name: &str| target(name).map(|target| target.product);
        assert_eq!(product("a6xx"), Ok(Some("a660")));
        assert_eq!(product("Adreno 650"), Ok(Some("a650")));
        for name in ["a730", "teapot"] {
            let text = format!("there is no machine `{name}` that shaders can be compiled for");
            assert_eq!(target(name), Err(text));
        }
    }

    #[test]
    fn a_gpu_with_a_job_manager_is_known_and_refused() {
        for name in ["G57", "mali-g78"] {
            let told: Result<GpuChoice, UnknownGpu> = name.parse();
            let told = told.unwrap_err().to_string();
            assert!(told.contains("has a job manager"), "{told}");
            assert!(hint(name, compiled_for()).contains("has a job manager"));
        }
        // Each name once, and none that is refused in the next step.
        let told = hint("teapot", compiled_for());
        assert_eq!(told.matches("Mali-G615").count(), 1, "{told}");
        assert!(!told.contains("G1-Pro"), "{told}");
    }

    #[test]
    fn what_no_shader_can_be_compiled_for_is_refused() {
        let target = |arch: Option<&str>, gpu: Option<&str>| {
            let arguments = TargetArguments {
                arch: arch.map(str::to_owned),
                gpu: gpu.map(str::to_owned),
                target: None,
            };
            arguments.target().map_err(|failure| failure.to_string())
        };
        assert_eq!(target(Some("v12"), None), Ok(Target::valhall(Arch::V12)));
        assert_eq!(target(None, None), Ok(Target::default()));
        let text = "`v9` is no architecture that shaders can be compiled for";
        assert_eq!(target(Some("v9"), None), Err(text.to_owned()));
        let text = "Mali-G1-Pro is of v14, for which no shader can be compiled yet";
        assert_eq!(target(None, Some("G1-Pro")), Err(text.to_owned()));
    }
}
