//! What a draw does with the attachments of its pass: what it reads must hold something.

use super::attachments::{Target, Targets, Use, color_use, depth_use, stencil_use};
use super::calls::Call;
use super::contents::image_name;
use super::pass::Frame;
use super::shaded::Fragments;
use eitri_checks::draw::{Kept, Missing, PassChecks, Shader, tile_input};
use eitri_checks::{Finding, Level, Related, Rule};
use eitri_drawing::View;
use eitri_shaderc::ir::{Op, Output, TileLoad};
use std::collections::{BTreeMap, BTreeSet};

/// What a fragment shader reads of the tile and nobody has written.
pub(super) fn tile_inputs(fragments: &mut Fragments, targets: &Targets<'_>, uses: &TargetUses) {
    for (input, load) in &uses.tile_reads {
        let own = match *load {
            TileLoad::Color { target, .. } => {
                let own = targets.colors.get(usize::from(target));
                own.and_then(Option::as_ref)
            }
            TileLoad::Depth => targets.depth.as_ref(),
            TileLoad::Stencil => targets.stencil.as_ref(),
        };
        let Some(own) = own else { continue };
        for (number, ((_, warp), layer)) in (0..).zip(fragments.warps.iter().zip(&fragments.layers))
        {
            for (lane, fragment) in warp.iter().enumerate() {
                if !own.holds(*layer, fragment.pixel) {
                    let missing = (*input, Missing::NoTexel);
                    fragments
                        .missing
                        .entry((number, lane))
                        .or_default()
                        .push(missing);
                }
            }
        }
    }
}

/// What a draw does with the attachments of its pass.
pub(super) struct TargetUses {
    colors: Vec<Use>,
    depth: Use,
    stencil: Use,
    pub(super) kept: Kept,
    /// What the shader reads from the tile, by the number of the input.
    tile_reads: BTreeMap<u8, TileLoad>,
}

impl TargetUses {
    pub(super) fn new(call: &Call<'_>, frame: &Frame<'_>, shader: &Shader) -> TargetUses {
        let function = shader.function();
        let (mut stored, mut tile_reads) = (BTreeSet::new(), BTreeMap::new());
        for (_, inst) in function.placed_insts() {
            match function.inst(inst).op {
                Op::StoreOutput(Output::Color { target, .. }) => {
                    stored.insert(usize::from(target));
                }
                Op::LoadTile(it) => {
                    tile_reads.insert(tile_input(it), it);
                }
                _ => {}
            }
        }
        let mut kept = Kept {
            depth: frame.pass.depth.is_some(),
            stencil: frame.pass.stencil.is_some(),
            ..Kept::default()
        };
        let mut colors = vec![];
        for (number, target) in frame.targets.colors.iter().enumerate() {
            let mut own = color_use(call.pipeline, number);
            own.writes &= target.is_some() && stored.contains(&number);
            if !own.writes {
                own.reads = None;
            }
            if let (Some(target), Some(mask), true) =
                (target, kept.colors.get_mut(number), own.writes)
            {
                let blend = call.pipeline.blend.attachments.get(number);
                let write = blend.map_or(0xf, |blend| blend.write.0);
                *mask = write & components(&target.view.format);
            }
            colors.push(own);
        }
        TargetUses {
            colors,
            depth: depth_use(call.pipeline),
            stencil: stencil_use(call.pipeline),
            kept,
            tile_reads,
        }
    }

    /// The views that are rendered to. What a shader reads from the tile is no loop.
    pub(super) fn attached<'d>(&self, targets: &Targets<'d>) -> Vec<&'d View> {
        let colors = targets.colors.iter().zip(&self.colors);
        let colors = colors
            .filter(|(_, own)| own.writes)
            .filter_map(|(target, _)| target.as_ref());
        let depth = targets.depth.iter().filter(|_| self.depth.writes);
        let stencil = targets.stencil.iter().filter(|_| self.stencil.writes);
        colors
            .chain(depth)
            .chain(stencil)
            .map(|target| target.view)
            .collect()
    }

    /// A fragment is rendered: what is read of its pixel must be there, and what is written is from here on.
    pub(super) fn rendered(
        &self,
        checks: &mut PassChecks<'_>,
        shader: &Shader,
        targets: &mut Targets<'_>,
        (layer, pixel): (u32, [u32; 2]),
        draw: u32,
    ) {
        let colors = targets.colors.iter_mut().zip(&self.colors).enumerate();
        let colors = colors.filter_map(|(number, (target, own))| {
            let name = format!("colour attachment {number}");
            Some((target.as_mut()?, own, name, Some(number as u8)))
        });
        let depth = targets.depth.as_mut();
        let depth = depth.map(|it| (it, &self.depth, "the depth attachment".to_owned(), None));
        let stencil = targets.stencil.as_mut();
        let stencil =
            stencil.map(|it| (it, &self.stencil, "the stencil attachment".to_owned(), None));
        for (target, own, name, color) in colors.chain(depth).chain(stencil) {
            if let Some(reads) = own.reads
                && !target.holds(layer, pixel)
            {
                let [x, y] = pixel;
                let image = image_name(target.view.image);
                let message = format!(
                    "{reads} {name} ({image}), which was neither loaded nor cleared nor drawn to: pixel ({x}, {y}) in draw {draw}"
                );
                checks.add(read_unwritten(shader, message, color));
                target.write(layer, pixel);
            }
            if own.writes {
                Target::write(target, layer, pixel);
            }
        }
    }
}

/// The components that a format has, a bit each.
fn components(format: &str) -> u8 {
    let letters = format.split('_').next().unwrap_or_default();
    let has = |letter: char| letters.contains(letter);
    let bits = [has('r'), has('g'), has('b'), has('a')];
    (0..)
        .zip(bits)
        .fold(0, |all, (bit, has)| all | u8::from(has) << bit)
}

/// A finding about a draw itself.
pub(super) fn finding(
    (rule, level): (Rule, Level),
    message: String,
    space: &'static str,
) -> Finding {
    Finding {
        rule,
        level,
        places: vec![Related {
            text: "here".to_owned(),
            place: None,
            instruction: message.clone(),
        }],
        message,
        related: vec![],
        space: Some(space),
        variable: None,
        binding: None,
        count: 1,
    }
}

/// An attachment is read where nobody wrote it: at the store of the colour, if it is one.
fn read_unwritten(shader: &Shader, message: String, color: Option<u8>) -> Finding {
    let mut made = finding((Rule::Uninit, Level::Error), message, "image");
    if let Some(related) = color.and_then(|color| shader.color_store(color)) {
        made.places = vec![related];
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_says_which_components_it_has() {
        assert_eq!(components("r8g8b8a8_unorm"), 0xf);
        assert_eq!(components("b10g11r11_ufloat_pack32"), 0b111);
        assert_eq!(components("r32_uint"), 1);
    }
}
