//! Passes of several parts as one: each part's colours are some of the pass's, and what it reads of others is in the tile.
//!
//! Facts: shared/scenes/README.md ("subpasses"); hardware/graphics-compiler.md 7.

use super::super::lack::Lack;
use super::Pipelines;
use super::passes::{Colors, Targets, attachment, command, format, size};
use super::resources::view_id;
use eitri_descriptors::attachment_formats::DepthStencilFormat;
use eitri_draw_scenes::{self as scenes, Color, Rect, SceneFile};
use eitri_drawing::state::ResolveMode;
use eitri_drawing::{ClearValue, Pass, PassCommand, PassPart, Step};
use eitri_shaderc::color_state::InputPlace;
use std::collections::BTreeMap;

/// The attachments of a pass by what they are.
struct Attachments<'s> {
    colors: Vec<&'s scenes::Attachment>,
    /// By colour, where its samples become one.
    resolves: Vec<Option<&'s scenes::Attachment>>,
    depth: Option<&'s scenes::Attachment>,
    /// By number, the place that an attachment has in the pass; none where there are too many colours.
    places: Vec<Option<InputPlace>>,
}

impl<'s> Attachments<'s> {
    fn of(scene: &SceneFile, pass: &'s scenes::Subpasses) -> Result<Attachments<'s>, Lack> {
        let depths = pass.subpasses.iter().filter_map(|part| part.depth);
        // One that is only read has a format that says what it is.
        let read = (0..pass.attachments.len()).filter(|number| {
            let attachment = pass.attachments.get(*number);
            attachment.is_some_and(|it| row(scene, it).is_some())
        });
        let mut depths = depths.chain(read);
        let depth = depths.next();
        if depths.any(|it| Some(it) != depth) {
            return Err(Lack::not_yet("passes with several depth attachments"));
        }
        let resolved = resolved(pass)?;
        let mut colors = vec![];
        let mut resolves = vec![];
        let places = pass.attachments.iter().enumerate().map(|(number, it)| {
            if depth == Some(number) {
                return Some(InputPlace::DepthStencil);
            }
            if resolved.values().any(|to| *to == number) {
                return None;
            }
            colors.push(it);
            let to = resolved.get(&number);
            resolves.push(to.and_then(|to| pass.attachments.get(*to)));
            u8::try_from(colors.len() - 1).ok().map(InputPlace::Color)
        });
        let places = places.collect();
        Ok(Attachments {
            colors,
            resolves,
            depth: depth.and_then(|number| pass.attachments.get(number)),
            places,
        })
    }

    /// The format of depth and stencil, if it has that plane.
    fn plane(
        &self,
        scene: &SceneFile,
        of: fn(&DepthStencilFormat) -> Option<&'static str>,
    ) -> Option<String> {
        of(row(scene, self.depth?)?)?;
        format(scene, self.depth?)
    }

    /// Attachments that the draws of a subpass see.
    fn of_part(&self, scene: &SceneFile, part: &scenes::Subpass) -> Targets {
        let place = |number: &usize| self.places.get(*number).copied().flatten();
        let target = |number: &usize| match place(number)? {
            InputPlace::Color(target) => Some(target),
            InputPlace::DepthStencil => None,
        };
        let mut all = self.colors.iter().copied().chain(self.depth);
        Targets {
            colors: Colors {
                formats: self.colors.iter().map(|it| format(scene, it)).collect(),
                locations: part.colors.iter().map(target).collect(),
                inputs: part.inputs.iter().map(place).collect(),
            },
            depth: self.plane(scene, DepthStencilFormat::depth_plane),
            stencil: self.plane(scene, DepthStencilFormat::stencil_plane),
            has_tests: part.depth.is_some(),
            samples: 1,
            size: all.find_map(|it| size(scene, it)).unwrap_or_default(),
        }
    }
}

/// By attachment, the one that its samples become one in. All of them do at the end of the pass: so nothing may see them before.
fn resolved(pass: &scenes::Subpasses) -> Result<BTreeMap<usize, usize>, Lack> {
    let mut all = BTreeMap::new();
    for (number, part) in pass.subpasses.iter().enumerate() {
        for (color, to) in part.colors.iter().zip(&part.resolves) {
            let later = pass.subpasses.get(number + 1..).unwrap_or_default();
            if later.iter().any(|part| part.colors.contains(color)) {
                return Err(Lack::not_yet(
                    "resolves of what a later part of the pass draws to",
                ));
            }
            all.insert(*color, *to);
        }
    }
    let used = |to: &usize| {
        pass.subpasses.iter().any(|part| {
            part.colors.contains(to) || part.inputs.contains(to) || part.depth == Some(*to)
        })
    };
    match all.values().any(used) {
        true => Err(Lack::not_yet(
            "parts of a pass that read what one before has resolved",
        )),
        false => Ok(all),
    }
}

/// The row of an attachment's format, if it is one of depth or stencil.
fn row(scene: &SceneFile, it: &scenes::Attachment) -> Option<&'static DepthStencilFormat> {
    DepthStencilFormat::of_name(&format(scene, it)?.to_uppercase())
}

/// A pass of several parts as a step of a drawing.
pub(super) fn pass<'s>(
    pipelines: &mut Pipelines<'s>,
    pass: &'s scenes::Subpasses,
) -> Result<Step<'s>, Lack> {
    let scene = pipelines.scene;
    let attachments = Attachments::of(scene, pass)?;
    let mut commands: Vec<PassCommand<'s>> = vec![];
    let mut whole = [0; 2];
    for part in &pass.subpasses {
        let targets = attachments.of_part(scene, part);
        whole = targets.size;
        for it in &part.draws {
            commands.extend(command(pipelines, it, &targets)?);
        }
    }
    let color = |(it, to): (&&scenes::Attachment, &Option<&scenes::Attachment>)| {
        let clear = it.clear.unwrap_or(Color::Float([0.0; 4]));
        let mut color = attachment(scene, it, ClearValue::Color(clear))?;
        if let Some(to) = to {
            color.resolve = Some((view_id(scene, &to.view)?, ResolveMode::Average));
        }
        Ok(Some(color))
    };
    let depth = |it: &scenes::Attachment| {
        let clear = it.clear_depth.unwrap_or(0.0);
        attachment(scene, it, ClearValue::Depth(clear))
    };
    let stencil = |it: &scenes::Attachment| {
        let clear = it.clear_stencil.unwrap_or(0);
        attachment(scene, it, ClearValue::Stencil(clear))
    };
    let has = |plane| {
        let plane = attachments.plane(scene, plane);
        attachments.depth.filter(|_| plane.is_some())
    };
    let [width, height] = whole;
    Ok(Step::Pass(Box::new(Pass {
        colors: attachments
            .colors
            .iter()
            .zip(&attachments.resolves)
            .map(color)
            .collect::<Result<_, _>>()?,
        depth: has(DepthStencilFormat::depth_plane)
            .map(depth)
            .transpose()?,
        stencil: has(DepthStencilFormat::stencil_plane)
            .map(stencil)
            .transpose()?,
        area: pass.area.unwrap_or(Rect {
            x: 0,
            y: 0,
            width,
            height,
        }),
        layers: 1,
        view_mask: 0,
        samples: 1,
        part: PassPart::default(),
        commands,
    })))
}

/// The pipelines that draw in the parts of a pass, with their colours.
pub(super) fn drawn<'s>(scene: &SceneFile, pass: &'s scenes::Subpasses) -> Vec<(&'s str, Colors)> {
    let Ok(attachments) = Attachments::of(scene, pass) else {
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
