//! Accesses to images: bounds, undefined texels, races. A texel is a place of four bytes, whatever its format has.
use eitri_shaderc::interp::{LaneSet, Values};
use eitri_shaderc::ir::notes::Classes;
use eitri_shaderc::ir::{ImageAction, ImageOp, Inst};

use super::Watch;
use crate::event::{Access, Kind, Reach};
use crate::finding::{Level, Rule};
use crate::origin::{Origin, Source};

const PRIVATE: Reach = Reach {
    private: true,
    coherent: None,
    atomic: None,
};

impl Watch<'_> {
    pub(super) fn image(
        &mut self,
        warp: usize,
        lanes: LaneSet,
        inst: Inst,
        image: ImageOp,
        values: Values<'_>,
    ) {
        self.define_results(warp, lanes, inst);
        self.check_resource(warp, lanes, inst, values);
        self.check_attached(warp, lanes, inst, image, values);
        let kind = match image.action {
            ImageAction::Read | ImageAction::Fetch => Kind::Read,
            ImageAction::Write(_) => Kind::Write,
            ImageAction::Atomic(_) => Kind::Update,
            _ => return,
        };
        let words = image.words();
        let data = self.function.inst(inst);
        self.decide_by_operands(warp, lanes, inst, data.args.len() - words);
        for lane in lanes.iter() {
            self.texel((warp, lane), inst, (image, kind), values);
        }
    }

    /// Whether texels of an image are read that the draw renders to, or that nobody has written.
    fn check_attached(
        &mut self,
        warp: usize,
        lanes: LaneSet,
        inst: Inst,
        image: ImageOp,
        values: Values<'_>,
    ) {
        let reads = match image.action {
            ImageAction::Sample(_) | ImageAction::Gather(_) => true,
            ImageAction::Read | ImageAction::Fetch | ImageAction::Atomic(_) => true,
            ImageAction::Write(_) => false,
            ImageAction::Levels
            | ImageAction::Samples
            | ImageAction::Size
            | ImageAction::QueryLod => return,
        };
        if self.drawn.is_none() {
            return;
        }
        let data = self.function.inst(inst);
        for lane in lanes.iter() {
            let object = self.object(values.get(data.args[0], lane));
            let place = self.placed(object);
            if place.attached {
                let does = if reads { "read" } else { "written" };
                let name = self.object_name(object, inst);
                let message = format!("{name} is {does} by a draw that renders to the same texels");
                self.tell_lane(
                    Rule::FeedbackLoop,
                    Level::Error,
                    message,
                    inst,
                    (warp, lane),
                );
            }
            if place.unwritten && reads {
                let origin = self.origins.id(Origin {
                    source: Source::Memory,
                    site: inst.index() as u32,
                    settled: true,
                });
                for result in &data.results {
                    self.warps[warp].set(*result, lane, (u32::MAX.into(), origin));
                }
            }
        }
    }

    fn texel(
        &mut self,
        (warp, lane): (usize, usize),
        inst: Inst,
        (image, kind): (ImageOp, Kind),
        values: Values<'_>,
    ) {
        let data = self.function.inst(inst);
        let words = image.words();
        let object = self.object(values.get(data.args[0], lane));
        let Some(start) = self.texel_number((warp, lane), inst, (image, object), values) else {
            return;
        };
        let site = inst.index() as u32;
        let operands = &data.args[data.args.len() - words..];
        if kind != Kind::Write && !self.shadow(object).is_defined_at(start, 4) {
            let never = self.origins.id(Origin {
                source: Source::Memory,
                site,
                settled: true,
            });
            let (bits, origin) = self.shadow(object).load(start, 4, never);
            for result in &data.results {
                let bits = if bits == 0 { 0 } else { u64::from(u32::MAX) };
                self.warps[warp].set(*result, lane, (bits, origin));
            }
        }
        if kind != Kind::Read {
            let mut stored = (0, 0);
            for value in operands {
                let (bits, origin) = self.warps[warp].get(*value, lane);
                if bits != 0 {
                    stored = (u64::from(u32::MAX), origin);
                }
            }
            self.shadow_mut(object).store(start, 4, stored, site);
        }
        if self.elements[object as usize].constant {
            return;
        }
        let note = self.note(inst);
        let value = operands.iter().fold(0u64, |all, value| {
            all.wrapping_mul(0x9e37_79b9)
                .wrapping_add(values.get(*value, lane))
        });
        let event = Access {
            agent: self.agent(warp, lane),
            object,
            class: Classes::IMAGE,
            start,
            bytes: 4,
            kind,
            reach: note.and_then(|note| note.reach).unwrap_or(PRIVATE),
            order: note.and_then(|note| note.order),
            value: value & u64::from(u32::MAX),
            fixed: operands.iter().all(|value| self.is_fixed(*value)),
            site,
        };
        self.race(&event);
    }

    /// Four times the number of a texel; none if it is outside, which is told.
    fn texel_number(
        &mut self,
        who: (usize, usize),
        inst: Inst,
        (image, object): (ImageOp, u32),
        values: Values<'_>,
    ) -> Option<u64> {
        let data = self.function.inst(inst);
        let lane = who.1;
        let count = image.shape.dim.coordinates();
        let word = |number: usize| {
            let value = data.args.get(image.resources() + number);
            value.map_or(0, |value| values.get(*value, lane) as u32)
        };
        let after = count + usize::from(image.shape.arrayed);
        let is_fetch = image.action == ImageAction::Fetch;
        let level = match is_fetch && !image.shape.multisampled {
            true => word(after) as usize,
            false => 0,
        };
        let sample = match image.shape.multisampled {
            true => word(after),
            false => 0,
        };
        let element = self.elements.get(object as usize)?;
        if element.is_buffer {
            return None;
        }
        let sizes = element.sizes.get(level).copied().unwrap_or([0; 4]);
        let mut at = [0i64; 4];
        for (number, own) in at.iter_mut().take(count).enumerate() {
            *own = i64::from(word(number).cast_signed());
            if image.offset && is_fetch {
                let offset = data.args.len() - count + number;
                let offset = data.args.get(offset).map_or(0, |it| values.get(*it, lane));
                *own += i64::from((offset as u32).cast_signed());
            }
        }
        if image.shape.arrayed {
            at[3] = i64::from(word(count).cast_signed());
        }
        let inside = at
            .iter()
            .zip(sizes)
            .all(|(at, size)| (0..i64::from(size.max(1))).contains(at))
            && sizes[0] != 0
            && sample < element.samples.max(1);
        if !inside {
            let axes = image.shape.dim.sizes();
            let message = format!(
                "texel {:?} of {}, whose size is {:?}",
                &at[..count],
                self.object_name(object, inst),
                &sizes[..axes]
            );
            self.tell_lane(Rule::OutOfBounds, Level::Warning, message, inst, who);
            return None;
        }
        let [width, height, depth, _] = sizes.map(|size| u64::from(size.max(1)));
        let [x, y, z, layer] = at.map(|at| at as u64);
        let texel = ((layer * depth + z) * height + y) * width + x;
        // Levels are few: each has its own quarter of the numbers.
        Some(
            4 * (texel * u64::from(element.samples.max(1)) + u64::from(sample))
                + ((level as u64) << 48),
        )
    }
}
