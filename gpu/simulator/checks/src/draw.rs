//! Render passes, checked: the vertices and fragments of their draws, as whoever rasterises says which there are.
//!
//! Needs: who runs, in the order of draws; what is bound.  Guarantees: the memory is changed as the shaders do; each finding is told
//! once.  Never: rasterises, tests or blends: attachments are the affair of the caller.
use eitri_shaderc::interp::{
    Draw, Key, Resources, Shaded, ShadedWarp, ShadedWarps, Trap, interpret_warps,
};
use eitri_shaderc::ir::{BindingKind, COLOR_TARGETS, Function, Op, Output, TileLoad};
use eitri_shaderc::spirv;
use eitri_shaderc::{Options, Robust};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

use crate::check::{Error, Unwritten};
use crate::finding::{Finding, Place, Related};
use crate::invocation::Invocation;
use crate::race::Races;
use crate::watch::{Drawn, Watch};

/// The number that stands for a location, where the tile is an input: behind all locations.
pub fn tile_input(load: TileLoad) -> u8 {
    const FIRST: u8 = 128;
    match load {
        TileLoad::Color { target, .. } => FIRST.saturating_add(target),
        TileLoad::Depth => FIRST + COLOR_TARGETS,
        TileLoad::Stencil => FIRST + COLOR_TARGETS + 1,
    }
}

/// The location of the first four distances that clip.
pub const CLIP_DISTANCES: u8 = 32;

/// Instructions that all lanes of one warp may execute, on the way to a loop that does not end.
const WARP_LIMIT: u64 = 1 << 22;

/// A shader as it is checked.
#[derive(Debug)]
pub struct Shader {
    function: Function,
}

impl Shader {
    /// Translates a module.
    ///
    /// # Errors
    /// If it can't be.
    pub fn new(spirv: &[u8], options: &Options) -> Result<Shader, Error> {
        let options = Options {
            notes: true,
            robust: Robust::Off,
            printf: None,
            ..options.clone()
        };
        let translated = spirv::translate(spirv, &options).map_err(Error::Spirv)?;
        Ok(Shader {
            function: translated.function,
        })
    }

    /// Where it stores the colour of an attachment.
    pub fn color_store(&self, wanted: u8) -> Option<Related> {
        let function = &self.function;
        let stores = |op: Op| matches!(op, Op::StoreOutput(Output::Color { target, .. }) if target == wanted);
        let mut all = function.placed_insts();
        let (_, inst) = all.find(|(_, inst)| stores(function.inst(*inst).op))?;
        let position = function.position(function.inst(inst).position);
        let source = position.source.as_ref().filter(|source| source.line != 0);
        Some(Related {
            text: "the colour is stored here".to_owned(),
            place: source.map(|source| Place {
                file: source.file.clone(),
                line: source.line,
                column: source.column,
            }),
            instruction: function.show_inst(inst),
        })
    }

    /// What it was translated to.
    pub fn function(&self) -> &Function {
        &self.function
    }
}

/// What an element of a binding is, beyond one shader's view of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Placed {
    /// The memory, by a number of the caller's.
    pub object: u32,
    /// The first byte there; of an image what is added to its texels' numbers.
    pub start: u64,
    /// Whether some shader of the pass writes to the memory.
    pub written: bool,
    /// Of an image: an attachment that the draw writes to has some of its texels.
    pub attached: bool,
    /// Of an image: nobody has written any texel of it.
    pub unwritten: bool,
}

/// Why an input of an invocation holds nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Missing {
    /// It would come from outside of its buffer; how that is said.
    Outside(String),
    /// It comes from a vertex buffer that nobody wrote.
    Unwritten,
    /// It comes from an attachment to which nothing was loaded, cleared or drawn there.
    NoTexel,
    /// Components that the vertex shader has stored nothing defined to, a bit each.
    NotStored(u8),
}

/// Inputs that hold nothing: by warp, lane and location.
pub type MissingInputs = FxHashMap<(u32, usize), Vec<(u8, Missing)>>;

/// What becomes of what a shader hands on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// By colour attachment the components that are kept, a bit each.
    pub colors: [u8; 8],
    /// Whether a depth is.
    pub depth: bool,
    /// Whether a stencil value is.
    pub stencil: bool,
    /// Whether the sizes of points are.
    pub point_size: bool,
}

/// A stage of a draw.
pub struct Stage<'p, 's> {
    /// The shader.
    pub shader: &'p Shader,
    /// What all of its invocations have in common.
    pub draw: &'s Draw,
    /// Its warps, in an order in which they may have run.
    pub warps: &'s [ShadedWarp<'s>],
    /// Who their lanes are.
    pub invocations: &'s [Vec<Invocation>],
    /// By number of the warp, from 0, and lane.
    pub missing: &'s MissingInputs,
    /// What elements of bindings are.
    pub places: &'s BTreeMap<Key, Placed>,
    /// What nobody has written.
    pub unwritten: &'s [Unwritten],
    /// What is kept of its outputs.
    pub kept: Kept,
}

/// What came of a stage.
#[derive(Debug, Default)]
pub struct ShadedStage {
    /// By warp and lane.
    pub warps: Vec<Vec<Shaded>>,
    /// Outputs of vertices that hold nothing defined: by number of the warp, lane and location, the components.
    pub undefined: FxHashMap<(u32, usize), Vec<(u8, u8)>>,
    /// Of memory that nobody had written, what still is so: by element, as [`Unwritten`] has it.
    pub left: Vec<Unwritten>,
    /// Instructions of all lanes.
    pub steps: u64,
}

/// What the shaders of one pass have in common: within it nothing orders them.
#[derive(Default)]
pub struct PassChecks<'p> {
    pub(crate) races: Races,
    /// Functions by number.
    pub(crate) functions: Vec<&'p Function>,
    /// Who lanes are: so many for each warp.
    pub(crate) invocations: Vec<Invocation>,
    next_warp: u32,
    findings: Vec<Finding>,
    known: FxHashSet<FindingKey>,
}

/// By what a finding is the same as another.
type FindingKey = (
    crate::finding::Rule,
    Vec<(Option<crate::finding::Place>, String)>,
);

impl<'p> PassChecks<'p> {
    /// Runs a stage of a draw under the checkers.
    ///
    /// # Errors
    /// Why it could not be run.
    pub fn shade(
        &mut self,
        stage: &Stage<'p, '_>,
        resources: &mut Resources,
    ) -> Result<ShadedStage, Trap> {
        let function = &stage.shader.function;
        for binding in &function.bindings {
            for element in 0..binding.count {
                let key = (binding.set, binding.binding, element);
                if matches!(binding.kind, BindingKind::Storage | BindingKind::Uniform) {
                    resources.buffers.entry(key).or_default();
                }
            }
        }
        let number = self.number_of(function);
        let width = function.lanes.count() as usize;
        let nobody = Invocation::Vertex {
            draw: 0,
            vertex: 0,
            instance: 0,
        };
        for lanes in stage.invocations {
            let start = self.invocations.len();
            self.invocations.extend(lanes.iter().take(width));
            self.invocations.resize(start + width, nobody);
        }
        let first = self.next_warp;
        self.next_warp += stage.warps.len() as u32;
        let mut watch = Watch::new(function, resources, stage.unwritten);
        watch.draw(Drawn::new(self, stage, number, first));
        let shaded = ShadedWarps {
            warps: stage.warps,
            first,
            warp_limit: WARP_LIMIT,
        };
        let done = interpret_warps(function, stage.draw, &shaded, resources, &mut watch);
        watch.finish();
        let left = watch.left_unwritten(stage.unwritten);
        let undefined = watch.take_undefined();
        let mut findings = std::mem::take(&mut watch.findings);
        let order = std::mem::take(&mut watch.order);
        drop(watch);
        for finding in order.iter().filter_map(|key| findings.remove(key)) {
            self.add(finding);
        }
        let done = done?;
        Ok(ShadedStage {
            warps: done.warps,
            undefined,
            left,
            steps: done.steps,
        })
    }

    /// Adds a finding, unless it is known.
    pub fn add(&mut self, finding: Finding) {
        let places = finding.places.iter();
        let places = places.map(|related| match &related.place {
            Some(place) => (Some(place.clone()), String::new()),
            None => (None, related.instruction.clone()),
        });
        let key = (finding.rule, places.collect());
        if self.known.insert(key) {
            self.findings.push(finding);
        }
    }

    /// What was found, in the order in which it was.
    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    fn number_of(&mut self, function: &'p Function) -> u32 {
        let mut known = self.functions.iter();
        let number = known.position(|own| std::ptr::eq(*own, function));
        let number = number.unwrap_or_else(|| {
            self.functions.push(function);
            self.functions.len() - 1
        });
        number as u32
    }
}
