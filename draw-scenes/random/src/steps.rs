//! Steps: passes with draws, and what is done between them.

use crate::draws::{Drawable, clear_attachments, clear_colour, rectangle};
use crate::parts::Parts;
use crate::random::Random;
use crate::targets::Targets;
use serde_json::{Value, json};

/// Steps; what they name is added to `scene`.
pub(crate) fn choose(random: &mut Random, targets: &Targets, scene: &mut Parts) -> Vec<Value> {
    let mut steps = Vec::new();
    let mut drawables: Vec<Drawable> = Vec::new();
    for number in 0..random.between(1, 3) {
        let mut draws = Vec::new();
        let area = (number > 0 && random.once_in(3)).then(|| rectangle(random, targets));
        for _ in 0..random.between(1, 5) {
            if drawables.is_empty() || !random.once_in(3) {
                drawables.push(Drawable::choose(random, targets, scene));
            }
            // The last one, or one of those before it.
            let place = match random.once_in(3) {
                true => random.between(0, drawables.len() as u32 - 1) as usize,
                false => drawables.len() - 1,
            };
            let mut draw = drawables[place].draw(random, targets, scene);
            if let Some(area) = area {
                // What is drawn outside of the area nobody says.
                draw["scissors"] = json!([area]);
            }
            draws.push(draw);
            if area.is_none() && random.once_in(8) {
                draws.push(clear_attachments(random, targets));
            }
        }
        steps.push(pass(random, targets, number == 0, (draws, area)));
        if random.once_in(3) {
            steps.extend(between(random, targets));
        }
    }
    let first = if targets.is_resolved() { "r0" } else { "c0" };
    steps.push(last(random, targets, first));
    steps
}

/// A pass; the first one clears all.
fn pass(
    random: &mut Random,
    targets: &Targets,
    first: bool,
    (draws, area): (Vec<Value>, Option<[u32; 4]>),
) -> Value {
    let mut colours = Vec::new();
    for index in 0..targets.colours.len() {
        let mut attachment = json!({"view": format!("c{index}")});
        if first || random.once_in(3) {
            attachment["load"] = json!("clear");
            attachment["clear"] = clear_colour(random, targets);
        }
        if targets.is_resolved() {
            attachment["resolve"] = json!(format!("r{index}"));
            attachment["resolve_mode"] = json!(targets.resolve_mode());
        }
        colours.push(attachment);
    }
    let mut pass = json!({"op": "pass", "color": colours, "draws": draws});
    for (there, aspect) in [
        (targets.has_depth(), "depth"),
        (targets.has_stencil(), "stencil"),
    ] {
        if !there {
            continue;
        }
        let mut attachment = json!({"view": "d"});
        if first || random.once_in(3) {
            attachment["load"] = json!("clear");
            attachment["clear_depth"] = json!(random.eighths());
            attachment["clear_stencil"] = json!(random.between(0, 255));
        }
        pass[aspect] = attachment;
    }
    if let Some(area) = area {
        pass["area"] = json!(area);
    }
    pass
}

/// What is done between passes.
fn between(random: &mut Random, targets: &Targets) -> Option<Value> {
    let index = random.between(0, targets.colours.len() as u32 - 1);
    let depth = targets.depth.is_some() && targets.samples == 1;
    Some(match random.between(0, 2) {
        0 if !targets.is_resolved() => {
            json!({"op": "clear_color", "image": format!("c{index}"), "clear": clear_colour(random, targets)})
        }
        1 if depth => {
            let mut clear = json!({"op": "clear_depth_stencil", "image": "d"});
            if targets.has_depth() {
                clear["depth"] = json!(random.eighths());
            }
            if targets.has_stencil() {
                clear["stencil"] = json!(random.between(0, 255));
            }
            clear
        }
        _ => return None,
    })
}

/// What fills the spare image: a copy, or a blit that mirrors or scales.
fn last(random: &mut Random, targets: &Targets, from: &str) -> Value {
    let (width, height) = (targets.width, targets.height);
    if random.once_in(2) {
        return json!({"op": "copy_image", "src": from, "dst": "spare",
            "regions": [{"src": {"offset": [0, 0, 0]}, "dst": {"offset": [0, 0, 0]}, "extent": [width, height, 1]}]});
    }
    let to = random.of(&[
        [[0, 0, 0], [width, height, 1]],
        [[width, 0, 0], [0, height, 1]],
        [[width, height, 0], [0, 0, 1]],
    ]);
    let part = random.of(&[1, 1, 2]);
    json!({"op": "blit", "src": from, "dst": "spare", "filter": "nearest",
        "regions": [{"src": {"from": [0, 0, 0], "to": [width / part, height / part, 1]}, "dst": {"from": to[0], "to": to[1]}}]})
}
