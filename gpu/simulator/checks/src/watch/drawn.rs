//! Draws: what a watch of vertices or fragments knows besides; their inputs and outputs, and races with other shaders of the pass.
use eitri_shaderc::interp::{Key as Bound, LaneSet};
use eitri_shaderc::ir::{Function, Inst, Op, Output, Type, Var};
use rustc_hash::FxHashMap;

use super::Watch;
use super::tell::Key;
use crate::check::Unwritten;
use crate::draw::{Kept, Missing, MissingInputs, PassChecks, Placed, Stage, tile_input};
use crate::event::{Access, Agent};
use crate::finding::{Finding, Level, Place, Related, Rule};
use crate::invocation::Invocation;
use crate::origin::{Origin, Source};
use crate::race::{Gravity, Party, Race};

/// Instructions that a function of a pass may have: sites are numbers of functions times this.
const SITES: u32 = 1 << 20;

/// What a watch knows of a draw.
pub(crate) struct Drawn<'w> {
    races: &'w mut crate::race::Races,
    functions: &'w [&'w Function],
    invocations: &'w [Invocation],
    missing: &'w MissingInputs,
    /// The number of the function among those.
    number: u32,
    /// The number of the first warp.
    first: u32,
    /// By element of the function's bindings.
    places: Vec<Placed>,
    by_key: &'w std::collections::BTreeMap<Bound, Placed>,
    kept: Kept,
    /// Lanes of the warp that only help.
    helpers: u64,
    undefined: FxHashMap<(u32, usize), Vec<(u8, u8)>>,
}

impl<'w> Drawn<'w> {
    fn numbered(&self, inst: u32) -> u32 {
        self.number * SITES + inst.min(SITES - 1)
    }

    pub(crate) fn new<'p: 'w>(
        pass: &'w mut PassChecks<'p>,
        stage: &Stage<'p, 'w>,
        number: u32,
        first: u32,
    ) -> Drawn<'w> {
        Drawn {
            races: &mut pass.races,
            functions: &pass.functions,
            invocations: &pass.invocations,
            missing: stage.missing,
            number,
            first,
            places: vec![],
            by_key: stage.places,
            kept: stage.kept,
            helpers: 0,
            undefined: FxHashMap::default(),
        }
    }

    pub(super) fn helpers(&self) -> LaneSet {
        LaneSet(self.helpers)
    }

    pub(super) fn begin(&mut self) {
        self.helpers = 0;
    }

    pub(super) fn help(&mut self, lanes: LaneSet) {
        self.helpers |= lanes.0;
    }

    fn who(&self, group: u32, width: u32, lane: usize) -> String {
        self.named(group.wrapping_mul(width).wrapping_add(lane as u32))
    }

    fn named(&self, lane: u32) -> String {
        let found = self.invocations.get(lane as usize);
        found.map_or_else(String::new, ToString::to_string)
    }
}

impl<'w> Watch<'w> {
    /// Watches invocations of a draw.
    pub(crate) fn draw(&mut self, mut drawn: Drawn<'w>) {
        let bindings = self.function.bindings.iter();
        for binding in bindings {
            for element in 0..binding.count {
                let key = (binding.set, binding.binding, element);
                let place = drawn.by_key.get(&key).copied().unwrap_or_default();
                drawn.places.push(place);
            }
        }
        for (element, place) in self.elements.iter_mut().zip(&drawn.places) {
            element.constant = !place.written;
        }
        // Each warp is a workgroup of its own.
        self.group_size = self.warp_size;
        self.drawn = Some(Box::new(drawn));
    }

    /// Lanes that count.
    pub(super) fn acting(&self, lanes: LaneSet) -> LaneSet {
        let helpers = self.drawn.as_ref().map_or(0, |drawn| drawn.helpers);
        LaneSet(lanes.0 & !helpers)
    }

    /// What an invocation of a draw is called.
    pub(super) fn drawn_name(&self, lane: usize) -> Option<String> {
        let drawn = self.drawn.as_ref()?;
        Some(drawn.who(self.group, self.warp_size, lane))
    }

    /// Whether an element is an image that the draw renders to, or one that nobody wrote.
    pub(super) fn placed(&self, object: u32) -> Placed {
        let drawn = self.drawn.as_ref();
        let place = drawn.and_then(|drawn| drawn.places.get(object as usize));
        place.copied().unwrap_or_default()
    }

    /// Whether a variable is the translator's own, which begins as false: whether a fragment was killed in a function.
    pub(super) fn is_translators(&self, var: Var) -> bool {
        let data = self.function.var(var);
        self.drawn.is_some() && data.ty == Type::Bool && data.len == 1 && data.name.is_empty()
    }

    /// An input is loaded: what is missing of it.
    pub(super) fn load_input(&mut self, warp: usize, lanes: LaneSet, inst: Inst) {
        self.define_results(warp, lanes, inst);
        let data = self.function.inst(inst);
        let (location, first) = match data.op {
            Op::LoadAttribute(it) => (it.location, it.first),
            Op::LoadVarying(it) => (it.location, it.first),
            Op::LoadTile(it) => (tile_input(it), 0),
            _ => return,
        };
        let Some(drawn) = &self.drawn else { return };
        if drawn.missing.is_empty() {
            return;
        }
        let (missing, number) = (drawn.missing, self.group - drawn.first);
        for lane in lanes.iter() {
            let inputs = missing.get(&(number, lane)).into_iter().flatten();
            for (_, missing) in inputs.filter(|(own, _)| *own == location) {
                self.input_is_missing((warp, lane), inst, first, missing);
            }
        }
    }

    fn input_is_missing(
        &mut self,
        (warp, lane): (usize, usize),
        inst: Inst,
        first: u8,
        missing: &Missing,
    ) {
        let (source, mask) = match missing {
            Missing::Outside(text) => {
                let (rule, level) = (Rule::OutOfBounds, Level::Warning);
                let at = self.first_use(inst);
                return self.tell_lane(rule, level, text.clone(), at, (warp, lane));
            }
            Missing::Unwritten => (Source::Attribute, u8::MAX),
            Missing::NoTexel => (Source::Attachment, u8::MAX),
            Missing::NotStored(mask) => (Source::Variable, *mask),
        };
        let origin = self.origins.id(Origin {
            source,
            site: inst.index() as u32,
            settled: false,
        });
        for (number, result) in self.function.inst(inst).results.iter().enumerate() {
            if mask
                .checked_shr(u32::from(first) + number as u32)
                .unwrap_or(0)
                & 1
                != 0
            {
                self.warps[warp].set(*result, lane, (u32::MAX.into(), origin));
            }
        }
    }

    /// Where the source first uses what an instruction loads: inputs are loaded at the start, which no line says.
    fn first_use(&self, load: Inst) -> Inst {
        let function = self.function;
        let data = function.inst(load);
        let has_line = |inst: &Inst| {
            let position = function.position(function.inst(*inst).position);
            position
                .source
                .as_ref()
                .is_some_and(|source| source.line != 0)
        };
        if has_line(&load) {
            return load;
        }
        let uses = |inst: &Inst| {
            let mut args = function.inst(*inst).args.iter();
            args.any(|value| data.results.contains(value))
        };
        let mut all = function.placed_insts().map(|(_, inst)| inst);
        all.find(|inst| uses(inst) && has_line(inst))
            .unwrap_or(load)
    }

    /// An output is stored: what undefined bits in it decide.
    pub(super) fn store_output(&mut self, warp: usize, lanes: LaneSet, inst: Inst, output: Output) {
        let Some(drawn) = &self.drawn else { return };
        if self.warps[warp].is_defined() {
            return;
        }
        let kept = drawn.kept;
        let what = match output {
            Output::Position => "it becomes the position of the vertex".to_owned(),
            Output::PointSize if kept.point_size => "it becomes the size of the point".to_owned(),
            Output::Layer => "it becomes the layer".to_owned(),
            Output::Color { target, .. } => format!("it becomes the colour in attachment {target}"),
            Output::Depth if kept.depth => "it becomes the depth".to_owned(),
            Output::Stencil if kept.stencil => "it becomes the stencil value".to_owned(),
            Output::SampleMask => "it becomes the coverage".to_owned(),
            Output::Varying { location, .. } => {
                return self.hand_on(warp, lanes, inst, location);
            }
            _ => return,
        };
        let mask = match output {
            Output::Color { target, .. } => kept.colors.get(usize::from(target)).copied(),
            _ => Some(u8::MAX),
        };
        let data = self.function.inst(inst);
        for (number, value) in data.args.iter().enumerate() {
            if mask.unwrap_or(0) >> number.min(7) & 1 == 0 {
                continue;
            }
            for lane in self.warps[warp].undefined_lanes(*value, lanes).iter() {
                let (_, origin) = self.warps[warp].get(*value, lane);
                self.decided(origin, data.position, &what, (warp, lane));
            }
        }
    }

    /// Remembers which components of a location hold nothing.
    fn hand_on(&mut self, warp: usize, lanes: LaneSet, inst: Inst, location: u8) {
        for lane in lanes.iter() {
            let args = self.function.inst(inst).args.iter().enumerate();
            let mask = args.fold(0u8, |mask, (number, value)| {
                let undefined = self.warps[warp].get(*value, lane).0 != 0;
                mask | u8::from(undefined) << number.min(7)
            });
            if let Some(drawn) = self.drawn.as_mut().filter(|_| mask != 0) {
                let place = (self.group - drawn.first, lane);
                drawn
                    .undefined
                    .entry(place)
                    .or_default()
                    .push((location, mask));
            }
        }
    }

    /// Outputs that hold nothing.
    pub(crate) fn take_undefined(&mut self) -> FxHashMap<(u32, usize), Vec<(u8, u8)>> {
        let drawn = self.drawn.as_mut();
        drawn.map_or_else(FxHashMap::default, |drawn| {
            std::mem::take(&mut drawn.undefined)
        })
    }

    /// Of what nobody had written, what nobody has written since.
    pub(crate) fn left_unwritten(&self, unwritten: &[Unwritten]) -> Vec<Unwritten> {
        let mut left = vec![];
        let keys = self.function.bindings.iter().flat_map(|binding| {
            (0..binding.count).map(move |element| (binding.set, binding.binding, element))
        });
        for (key, element) in keys.zip(&self.elements) {
            for part in unwritten.iter().filter(|part| part.key == key) {
                let bytes = part.bytes.start..part.bytes.end.min(element.bytes);
                let still = element.shadow.undefined_parts(bytes);
                left.extend(still.into_iter().map(|bytes| Unwritten { key, bytes }));
            }
        }
        left
    }

    /// An access of a draw's invocation, told to the automaton of the pass.
    pub(super) fn drawn_race(&mut self, access: &Access) {
        let Some(drawn) = &mut self.drawn else { return };
        let Some(place) = drawn.places.get(access.object as usize).copied() else {
            return;
        };
        let site = |inst: u32| drawn.numbered(inst);
        let race = drawn.races.access(&Access {
            object: place.object,
            start: access.start + place.start,
            site: site(access.site),
            ..*access
        });
        let Some(race) = race else { return };
        self.racing.extend([race.first.site, race.second.site]);
        let lines = [&race.first, &race.second].map(|party| self.site_line(party.site));
        let mut key: Key = (Rule::Race, lines[0].min(lines[1]), lines[0].max(lines[1]));
        if race.gravity < Gravity::EqualValue {
            key.1 |= 1 << 30;
        }
        let (object, start) = (access.object, place.start);
        self.keep(key, |watch| watch.drawn_race_finding(&race, object, start));
    }

    /// The number of an instruction among those of all functions that are watched.
    pub(super) fn numbered(&self, inst: u32) -> u32 {
        let drawn = self.drawn.as_ref();
        drawn.map_or(inst, |drawn| drawn.numbered(inst))
    }

    /// The function of a site, and the instruction there.
    fn site(&self, site: u32) -> (&'w Function, Inst) {
        let function = self.drawn.as_ref().map_or(self.function, |drawn| {
            let number = (site / SITES) as usize;
            drawn
                .functions
                .get(number)
                .copied()
                .unwrap_or(self.function)
        });
        (function, Inst::from_number(site % SITES))
    }

    fn site_line(&self, site: u32) -> u32 {
        let (function, inst) = self.site(site);
        let position = function.position(function.inst(inst).position);
        match &position.source {
            Some(source) if source.line != 0 => source.line,
            _ => 1 << 31 | site,
        }
    }

    fn drawn_race_finding(&self, race: &Race, object: u32, start: u64) -> Finding {
        let second = self.site(race.second.site).1;
        let local = Race {
            object,
            offset: race.offset - start,
            ..*race
        };
        let mut finding = self.race_finding(&local, second, second);
        finding.places = [&race.first, &race.second]
            .map(|it| self.drawn_party(it))
            .into();
        finding
    }

    fn drawn_party(&self, party: &Party) -> Related {
        let (function, inst) = self.site(party.site);
        let position = function.position(function.inst(inst).position);
        let source = position.source.as_ref().filter(|source| source.line != 0);
        let name = self
            .drawn
            .as_ref()
            .map(|drawn| drawn.named(party.agent.lane));
        Related {
            text: format!("{} by {}", Self::does(party), name.unwrap_or_default()),
            place: source.map(|source| Place {
                file: source.file.clone(),
                line: source.line,
                column: source.column,
            }),
            instruction: function.show_inst(inst),
        }
    }

    /// Begins a warp of a draw.
    pub(super) fn begin_drawn(&mut self, agents: Vec<Agent>) {
        if let Some(drawn) = &mut self.drawn {
            drawn.begin();
            drawn.races.begin(self.group, agents.into_iter());
        }
    }

    /// The warp before has ended.
    pub(super) fn end_drawn(&mut self) {
        if let Some(drawn) = &mut self.drawn {
            drawn.races.end(self.group);
        }
    }
}
