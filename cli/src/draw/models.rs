//! glTF models among scenes: the options that they are drawn by, and their shaders.

use crate::outcome::Failure;
use crate::output::streams::talk;
use eitri_draw_scenes::Scene;
use eitri_gltf_scenes::{CameraChoice, Model, ModelError, Shot};
use eitri_shaderc::build::shader_text::{Language, to_spirv};
use miette::Diagnostic;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use thiserror::Error;

/// Most pixels along a side.
const MAX_SIDE: u32 = 8192;

/// How glTF models are drawn.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of glTF models")]
pub(crate) struct ModelArguments {
    /// Pixels of the picture; 640x480 if not given.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size)]
    size: Option<[u32; 2]>,
    /// Samples of a pixel.
    #[arg(long, value_name = "1|4|8|16", value_parser = samples)]
    samples: Option<u32>,
    /// The camera: the name or number of one of the file's, or `fit`, which sees all of the model, from the front right unless
    /// degrees to the right of the front and upwards are given. If not given, the first of the file's scene, or `fit`.
    #[arg(long, value_name = "NAME|fit|fit:YAW,PITCH")]
    camera: Option<CameraChoice>,
    /// The direction towards the light; 0.4,0.8,0.6 if not given.
    #[arg(long, value_name = "X,Y,Z", value_parser = direction, allow_hyphen_values = true)]
    light: Option<[f32; 3]>,
    /// The light's colour, linear: a white surface that faces light of 1 is white.
    #[arg(long, value_name = "RED,GREEN,BLUE", value_parser = color)]
    light_color: Option<[f32; 3]>,
    /// The light that comes from everywhere, linear, which is seen behind the model, too; 0.2,0.2,0.2 if not given.
    #[arg(long, value_name = "RED,GREEN,BLUE", value_parser = color)]
    environment: Option<[f32; 3]>,
}

/// What is wrong with a model, or with what is asked of it.
#[derive(Debug, Error, Diagnostic)]
enum ModelFailure {
    #[error(transparent)]
    #[diagnostic(help("what is drawn of glTF: docs/drawing.md"))]
    Unsupported(ModelError),
    #[error(transparent)]
    Model(ModelError),
    #[error("--{option} is for glTF models, and there is none")]
    NoModel { option: &'static str },
}

impl ModelArguments {
    /// Those that ask for nothing but so many pixels.
    pub(crate) fn of_size(size: [u32; 2]) -> ModelArguments {
        ModelArguments {
            size: Some(size),
            ..ModelArguments::default()
        }
    }

    /// The scene of a model, which says what it leaves out.
    pub(crate) fn scene(&self, path: &Path) -> Result<Scene, Failure> {
        self.scene_with_texts(path).map(|(scene, _)| scene)
    }

    /// The same with the texts of its shaders, which are in no file, by the names that debug information has for them.
    pub(crate) fn scene_with_texts(
        &self,
        path: &Path,
    ) -> Result<(Scene, BTreeMap<String, String>), Failure> {
        let failed = |error| {
            Failure::refused(match error {
                ModelError::Unsupported { .. } => ModelFailure::Unsupported(error),
                error => ModelFailure::Model(error),
            })
        };
        let model = Model::read(path).map_err(failed)?;
        let texts = RefCell::new(BTreeMap::new());
        let scene = model.scene(&self.shot(), &|name, text| {
            texts.borrow_mut().insert(name.to_owned(), text.to_owned());
            to_spirv(Language::Wgsl, name, text).map_err(|error| error.report(name, text))
        });
        let scene = scene.map_err(failed)?;
        if !model.notes().is_empty() {
            let notes = model.notes().join(", ");
            talk!("{}: left out of the picture: {notes}", path.display());
        }
        Ok((scene, texts.into_inner()))
    }

    /// Refuses options that nothing is drawn by.
    pub(crate) fn refuse_without_model(&self) -> Result<(), Failure> {
        let given = [
            ("size", self.size.is_some()),
            ("samples", self.samples.is_some()),
            ("camera", self.camera.is_some()),
            ("light", self.light.is_some()),
            ("light-color", self.light_color.is_some()),
            ("environment", self.environment.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Failure::refused(ModelFailure::NoModel { option })),
            None => Ok(()),
        }
    }

    fn shot(&self) -> Shot {
        let usual = Shot::default();
        Shot {
            size: self.size.unwrap_or(usual.size),
            samples: self.samples.unwrap_or(usual.samples),
            camera: self.camera.clone().unwrap_or(usual.camera),
            light: self.light.unwrap_or(usual.light),
            light_color: self.light_color.unwrap_or(usual.light_color),
            environment: self.environment.unwrap_or(usual.environment),
        }
    }
}

/// Whether a file is a glTF model, by its name.
pub(crate) fn is_model(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|it| it.eq_ignore_ascii_case("glb") || it.eq_ignore_ascii_case("gltf"))
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let sides = text.split_once('x');
    let side = |text: &str| {
        text.parse()
            .ok()
            .filter(|side| (1..=MAX_SIDE).contains(side))
    };
    let sides = sides.and_then(|(width, height)| Some([side(width)?, side(height)?]));
    sides.ok_or_else(|| format!("write WIDTHxHEIGHT, each from 1 to {MAX_SIDE}"))
}

fn samples(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(samples @ (1 | 4 | 8 | 16)) => Ok(samples),
        _ => Err("write 1, 4, 8 or 16".to_owned()),
    }
}

fn three(text: &str) -> Option<[f32; 3]> {
    let numbers = text.split(',').map(|number| number.trim().parse::<f32>());
    let numbers = numbers.collect::<Result<Vec<f32>, _>>().ok()?;
    let numbers: [f32; 3] = numbers.try_into().ok()?;
    numbers.iter().all(|it| it.is_finite()).then_some(numbers)
}

fn direction(text: &str) -> Result<[f32; 3], String> {
    let numbers = three(text).filter(|numbers| *numbers != [0.0; 3]);
    numbers.ok_or_else(|| "write three numbers, which are not all 0".to_owned())
}

fn color(text: &str) -> Result<[f32; 3], String> {
    let numbers = three(text).filter(|numbers| numbers.iter().all(|part| *part >= 0.0));
    numbers.ok_or_else(|| "write three numbers, none of them negative".to_owned())
}
