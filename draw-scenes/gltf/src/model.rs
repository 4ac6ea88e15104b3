//! A model: a document, its buffers, and the nodes of its scene.

use crate::camera::{self, CameraChoice, Eye};
use crate::error::{Fault, ModelError};
use crate::extensions;
use crate::file::{self, Buffers};
use crate::matrix::Matrix;
use crate::members;
use crate::scene;
use eitri_draw_scenes::Scene;
use std::path::{Path, PathBuf};

/// Most nodes of a scene, with what stands in several places counted each time.
const MAX_NODES: usize = 1 << 20;

/// How a model is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Shot {
    /// Pixels of a row, and rows.
    pub size: [u32; 2],
    /// Samples of a pixel.
    pub samples: u32,
    /// Which camera.
    pub camera: CameraChoice,
    /// The direction towards the light; its length does not matter.
    pub light: [f32; 3],
    /// The light's colour, linear: a white surface that faces light of 1 sends 1.
    pub light_color: [f32; 3],
    /// The light that comes from everywhere, linear: what is seen behind the model, too.
    pub environment: [f32; 3],
}

impl Default for Shot {
    fn default() -> Shot {
        Shot {
            size: [640, 480],
            samples: 1,
            camera: CameraChoice::Usual,
            light: [0.4, 0.8, 0.6],
            light_color: [1.0; 3],
            environment: [0.2; 3],
        }
    }
}

/// Makes SPIR-V of WGSL; the first text says what the shader is for, for messages.
pub type ToSpirv<'t> = dyn Fn(&str, &str) -> Result<Vec<u8>, String> + 't;

/// A model that was read.
#[derive(Clone, Debug)]
pub struct Model {
    path: PathBuf,
    bytes: Vec<u8>,
    document: gltf::Document,
    notes: Vec<String>,
}

/// A node of the scene.
pub(crate) struct Placed<'d> {
    pub(crate) node: gltf::Node<'d>,
    /// From the node's coordinates to the scene's.
    pub(crate) world: Matrix,
}

impl Model {
    /// Reads a model.
    ///
    /// # Errors
    /// A file that can't be read, is no glTF 2.0, or needs what is not drawn.
    pub fn read(path: &Path) -> Result<Model, ModelError> {
        let of = |fault: Fault| fault.of(path);
        let bytes = file::read(path).map_err(of)?;
        let json = file::container(&bytes).map_err(of)?.json;
        let mut read = extensions::read(json).map_err(|faults| all(faults, path))?;
        // Those that are required are known, and the crate knows fewer.
        read.members.remove("extensionsRequired");
        let invalid = |what: String| of(Fault::Invalid(what));
        let root = gltf::json::deserialize::from_value(read.members.into());
        let root: gltf::json::Root = root.map_err(|error| invalid(error.to_string()))?;
        if !root.asset.version.starts_with("2.") {
            let version = &root.asset.version;
            let what = format!("it is glTF of version {version}; version 2 is drawn");
            return Err(of(Fault::Unsupported(what)));
        }
        members::check(&root).map_err(of)?;
        let document = gltf::Document::from_json(root).map_err(|error| {
            invalid(match error {
                gltf::Error::Validation(all) => {
                    let first = all.into_iter().next();
                    first.map_or_else(String::new, |(place, error)| format!("{place}: {error}"))
                }
                other => other.to_string(),
            })
        })?;
        let mut notes = read.left_out;
        if document.animations().next().is_some() {
            notes.push("animations".to_owned());
        }
        Ok(Model {
            path: path.to_owned(),
            bytes,
            document,
            notes,
        })
    }

    /// What the file has and the picture leaves out, by glTF's names: extensions that it says are not needed, and animations, of
    /// which the picture is before they begin.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The model as a scene, whose one result is its picture. `to_spirv` makes SPIR-V of WGSL with the entry points `vertex_main` and
    /// `fragment_main`; its first argument says what the shader is for.
    ///
    /// # Errors
    /// What is wrong with the file or not drawn, a camera that is not there, or a shader that can't be made.
    pub fn scene(&self, shot: &Shot, to_spirv: &ToSpirv<'_>) -> Result<Scene, ModelError> {
        let of = |fault: Fault| fault.of(&self.path);
        let binary = file::container(&self.bytes).map_err(of)?.binary;
        let buffers = Buffers::read(&self.document, &self.path, binary)?;
        let nodes = self.nodes().map_err(of)?;
        let mut builder = scene::Builder::new(&self.path, &buffers, shot);
        for placed in &nodes {
            builder.add(placed).map_err(of)?;
        }
        let Some((centre, radius)) = builder.bounds() else {
            let path = self.path.clone();
            return Err(ModelError::Empty { path });
        };
        let eye = self.eye(&nodes, shot, (centre, radius))?;
        builder.finish(&eye, to_spirv)
    }

    /// The nodes of the document's scene, in the order in which they stand there.
    fn nodes(&self) -> Result<Vec<Placed<'_>>, Fault> {
        let mut scenes = self.document.scenes();
        let scene = self.document.default_scene().or_else(|| scenes.next());
        let scene = scene.ok_or_else(|| Fault::invalid("it has no scene"))?;
        let mut rest: Vec<(gltf::Node<'_>, Matrix)> = Vec::new();
        let roots: Vec<gltf::Node<'_>> = scene.nodes().collect();
        rest.extend(roots.into_iter().rev().map(|node| (node, Matrix::IDENTITY)));
        let mut nodes = Vec::new();
        while let Some((node, parent)) = rest.pop() {
            if nodes.len() >= MAX_NODES {
                return Err(Fault::invalid(
                    "its nodes are their own children, or too many",
                ));
            }
            let world = parent.after(&Matrix::of(node.transform().matrix()));
            if !world.0.iter().flatten().all(|number| number.is_finite()) {
                let what = format!("nodes[{}] has no finite place", node.index());
                return Err(Fault::invalid(what));
            }
            let children: Vec<gltf::Node<'_>> = node.children().collect();
            rest.extend(children.into_iter().rev().map(|child| (child, world)));
            nodes.push(Placed { node, world });
        }
        Ok(nodes)
    }

    fn eye(
        &self,
        nodes: &[Placed<'_>],
        shot: &Shot,
        (centre, radius): ([f64; 3], f64),
    ) -> Result<Eye, ModelError> {
        let [width, height] = shot.size.map(f64::from);
        let ratio = width / height;
        let cameras = nodes
            .iter()
            .filter_map(|placed| Some((placed, placed.node.camera()?)));
        let cameras: Vec<(&Placed<'_>, gltf::Camera<'_>)> = cameras.collect();
        let chosen = match &shot.camera {
            CameraChoice::Usual => cameras.first(),
            CameraChoice::Fitted { yaw, pitch } => {
                return Ok(camera::fitted(centre, radius, (*yaw, *pitch), ratio));
            }
            CameraChoice::Named(name) => {
                let is = |(placed, camera): &&(&Placed<'_>, gltf::Camera<'_>)| {
                    let names = [camera.name(), placed.node.name()];
                    names.contains(&Some(name.as_str())) || camera.index().to_string() == *name
                };
                let found = cameras.iter().find(is);
                Some(found.ok_or_else(|| {
                    ModelError::NoCamera {
                        path: self.path.clone(),
                        name: name.clone(),
                        cameras: cameras
                            .iter()
                            .map(|(_, camera)| {
                                let number = camera.index();
                                let name = camera.name();
                                name.map_or_else(
                                    || number.to_string(),
                                    |name| format!("{number} ({name})"),
                                )
                            })
                            .collect(),
                    }
                })?)
            }
        };
        match chosen {
            Some((placed, camera)) => {
                camera::of_file(camera, &placed.world, ratio).map_err(|fault| fault.of(&self.path))
            }
            None => Ok(camera::fitted(centre, radius, camera::USUAL, ratio)),
        }
    }
}

/// All that a file needs and is not drawn, in one error.
fn all(faults: Vec<Fault>, path: &Path) -> ModelError {
    let names: Option<Vec<String>> = faults
        .iter()
        .map(|fault| match fault {
            Fault::Unsupported(name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    match (names, faults.into_iter().next()) {
        (Some(what), _) => ModelError::Unsupported {
            path: path.to_owned(),
            what,
        },
        // A list of faults is not empty.
        (None, fault) => fault.unwrap_or_else(|| Fault::invalid("")).of(path),
    }
}
