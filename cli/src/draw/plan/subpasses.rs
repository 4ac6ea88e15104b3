//! Passes of several parts as one: each part's colours are some of the pass's, and what it reads of others is in the tile.
//!
//! Facts: shared/scenes/README.md ("subpasses"); hardware/graphics-compiler.md 7.

use super::super::lack::Lack;
use super::Pipelines;
use super::passes::{Colors, Targets, attachment, command, format, size};
use eitri_draw_scenes::{self as scenes, Color, Rect, SceneFile};
use eitri_drawing::{ClearValue, Pass, PassCommand, Step};

/// The attachments of a pass by what they are.
struct Attachments<'s> {
    colors: Vec<&'s scenes::Attachment>,
    depth: Option<&'s scenes::Attachment>,
    /// By number, the target that a colour is.
    targets: Vec<Option<u8>>,
}

impl<'s> Attachments<'s> {
    fn of(pass: &'s scenes::Subpasses) -> Result<Attachments<'s>, Lack> {
        let mut depths = pass.subpasses.iter().filter_map(|part| part.depth);
        let depth = depths.next();
        if depths.any(|it| Some(it) != depth) {
            return Err(Lack::not_yet("passes with several depth attachments"));
        }
        if pass.subpasses.iter().any(|part| !part.resolves.is_empty()) {
            return Err(Lack::not_yet("resolves between parts of a pass"));
        }
        let mut colors = vec![];
        let targets = pass.attachments.iter().enumerate().map(|(number, it)| {
            if depth == Some(number) {
                return None;
            }
            colors.push(it);
            u8::try_from(colors.len() - 1).ok()
        });
        let targets = targets.collect();
        Ok(Attachments {
            colors,
            depth: depth.and_then(|number| pass.attachments.get(number)),
            targets,
        })
    }

    /// Attachments that the draws of a subpass see.
    fn of_part(&self, scene: &SceneFile, part: &scenes::Subpass) -> Targets {
        let target = |number: &usize| self.targets.get(*number).copied().flatten();
        let mut all = self.colors.iter().copied().chain(self.depth);
        Targets {
            colors: Colors {
                formats: self.colors.iter().map(|it| format(scene, it)).collect(),
                locations: part.colors.iter().map(target).collect(),
                inputs: part.inputs.iter().map(target).collect(),
            },
            depth: self.depth.and_then(|it| format(scene, it)),
            stencil: None,
            samples: 1,
            size: all.find_map(|it| size(scene, it)).unwrap_or_default(),
        }
    }
}

/// True if a subpass reads an input attachment that is no colour attachment of the pass.
fn reads_others(attachments: &Attachments<'_>, pass: &scenes::Subpasses) -> bool {
    let mut inputs = pass.subpasses.iter().flat_map(|part| &part.inputs);
    inputs.any(|number| {
        attachments
            .targets
            .get(*number)
            .copied()
            .flatten()
            .is_none()
    })
}

/// A pass of several parts as a step of a drawing.
pub(super) fn pass<'s>(
    pipelines: &mut Pipelines<'s>,
    pass: &'s scenes::Subpasses,
) -> Result<Step<'s>, Lack> {
    let scene = pipelines.scene;
    let attachments = Attachments::of(pass)?;
    if reads_others(&attachments, pass) {
        return Err(Lack::not_yet("depth as input attachment"));
    }
    let mut commands: Vec<PassCommand<'s>> = vec![];
    let mut whole = [0; 2];
    for part in &pass.subpasses {
        let targets = attachments.of_part(scene, part);
        whole = targets.size;
        for it in &part.draws {
            commands.push(command(pipelines, it, &targets)?);
        }
    }
    let color = |it: &&scenes::Attachment| {
        let clear = it.clear.unwrap_or(Color::Float([0.0; 4]));
        attachment(scene, it, ClearValue::Color(clear)).map(Some)
    };
    let depth = |it| attachment(scene, it, ClearValue::Depth(it.clear_depth.unwrap_or(0.0)));
    let [width, height] = whole;
    Ok(Step::Pass(Box::new(Pass {
        colors: attachments
            .colors
            .iter()
            .map(color)
            .collect::<Result<_, _>>()?,
        depth: attachments.depth.map(depth).transpose()?,
        stencil: None,
        area: pass.area.unwrap_or(Rect {
            x: 0,
            y: 0,
            width,
            height,
        }),
        layers: 1,
        view_mask: 0,
        samples: 1,
        commands,
    })))
}

/// The pipelines that draw in the parts of a pass, with their colours.
pub(super) fn drawn<'s>(scene: &SceneFile, pass: &'s scenes::Subpasses) -> Vec<(&'s str, Colors)> {
    let Ok(attachments) = Attachments::of(pass) else {
        return vec![];
    };
    let mut found = vec![];
    for part in &pass.subpasses {
        let colors = attachments.of_part(scene, part).colors;
        for step in &part.draws {
            if let scenes::PassStep::Draw(draw) = step {
                found.push((draw.pipeline.as_str(), colors.clone()));
            }
        }
    }
    found
}
