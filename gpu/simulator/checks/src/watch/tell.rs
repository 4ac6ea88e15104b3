//! Findings: from what an automaton has found to what a person reads.
use eitri_shaderc::ir::{BlockId, Inst, PositionId, Space, Terminator};

use super::Watch;
use crate::event::{Access, Kind};
use crate::finding::{Finding, Level, Place, Related, Rule};
use crate::origin::{OriginId, Source};
use crate::race::{Cause, Gravity, Party, Race};

/// What makes two findings the same one: the rule and the places.
pub(crate) type Key = (Rule, u32, u32);

/// Who does something: number of a warp, and of a lane.
type Who = (usize, usize);

impl Watch<'_> {
    pub(super) fn block_of(&self, inst: Inst) -> Option<BlockId> {
        let mut placed = self.function.placed_insts();
        placed.find(|(_, own)| *own == inst).map(|(block, _)| block)
    }

    fn source(&self, position: PositionId) -> Option<Place> {
        let position = self.function.position(position);
        let source = position.source.as_ref().filter(|source| source.line != 0)?;
        Some(Place {
            file: source.file.clone(),
            line: source.line,
            column: source.column,
        })
    }

    fn related(&self, text: impl Into<String>, inst: Inst) -> Related {
        Related {
            text: text.into(),
            place: self.source(self.function.inst(inst).position),
            instruction: self.function.show_inst(inst),
        }
    }

    fn at_position(&self, text: impl Into<String>, position: PositionId) -> Related {
        Related {
            text: text.into(),
            place: self.source(position),
            instruction: String::new(),
        }
    }

    fn inst(site: u32) -> Inst {
        Inst::from_number(site)
    }

    /// The calls that an instruction was inlined by.
    fn calls(&self, position: PositionId) -> Vec<Related> {
        let mut calls = vec![];
        let mut at = self.function.position(position).call;
        while let Some(call) = at {
            calls.push(self.at_position("called from here", call));
            at = self.function.position(call).call;
        }
        calls
    }

    fn who(&self, (warp, lane): Who) -> String {
        if let Some(name) = self.drawn_name(lane) {
            return name;
        }
        let group = self.group;
        format!("lane {lane} of subgroup {warp} in workgroup {group}")
    }

    /// Keeps a finding, or counts it.
    pub(super) fn keep(&mut self, key: Key, make: impl FnOnce(&Self) -> Finding) {
        if let Some(own) = self.findings.get_mut(&key) {
            own.count += 1;
            return;
        }
        let finding = make(self);
        self.order.push(key);
        self.findings.insert(key, finding);
    }

    fn finding(&self, rule: Rule, level: Level, message: String, inst: Inst) -> Finding {
        let data = self.function.inst(inst);
        let named = self.note(inst).and_then(|note| note.named.clone());
        let space = match data.op.access().map(|access| access.space) {
            Some(Space::Shared) => Some("shared"),
            Some(Space::Buffer | Space::Global) => Some("buffer"),
            Some(Space::Scratch | Space::Data) => Some("private"),
            None => match data.op {
                eitri_shaderc::ir::Op::Image(image)
                    if image.shape.dim == eitri_shaderc::ir::Dim::Buffer =>
                {
                    Some("buffer")
                }
                eitri_shaderc::ir::Op::Image(_) => Some("image"),
                eitri_shaderc::ir::Op::LoadVar(_) | eitri_shaderc::ir::Op::StoreVar(_) => {
                    Some("private")
                }
                _ => None,
            },
        };
        Finding {
            rule,
            level,
            message,
            places: vec![self.related("here", inst)],
            related: self.calls(data.position),
            space,
            variable: named
                .as_ref()
                .map(|named| named.name.clone())
                .filter(|name| !name.is_empty()),
            binding: named.and_then(|named| named.binding),
            count: 1,
        }
    }

    /// A finding at an instruction.
    pub(super) fn tell_at(
        &mut self,
        rule: Rule,
        level: Level,
        message: String,
        inst: Inst,
        warp: usize,
    ) {
        let message = format!("{message} (subgroup {warp} of workgroup {})", self.group);
        let key = self.key(rule, inst, None);
        self.keep(key, |watch| watch.finding(rule, level, message, inst));
    }

    /// A finding at an instruction, of one invocation.
    pub(super) fn tell_lane(
        &mut self,
        rule: Rule,
        level: Level,
        message: String,
        inst: Inst,
        who: Who,
    ) {
        let message = format!("{message}: {}", self.who(who));
        let key = self.key(rule, inst, None);
        self.keep(key, |watch| watch.finding(rule, level, message, inst));
    }

    /// The same line tells a rule once, whatever its parts have become.
    fn key(&self, rule: Rule, inst: Inst, other: Option<Inst>) -> Key {
        let place = |inst: Inst| {
            let position = self.function.position(self.function.inst(inst).position);
            match &position.source {
                Some(source) if source.line != 0 => source.line,
                _ => 1 << 31 | inst.index() as u32,
            }
        };
        let (first, second) = (place(inst), other.map_or(0, place));
        (rule, first.min(second), first.max(second))
    }

    /// What is called in messages by its name or its binding.
    pub(super) fn object_name(&self, object: u32, inst: Inst) -> String {
        let name = self.note(inst).and_then(|note| note.named.as_ref());
        match name.filter(|named| !named.name.is_empty()) {
            Some(named) => format!("`{}`", named.name),
            None => {
                let mut bindings = self.function.bindings.iter().zip(&self.first_elements);
                let own = bindings.rfind(|(_, first)| **first <= object);
                match own {
                    Some((binding, _)) if !binding.name.is_empty() => format!("`{}`", binding.name),
                    Some((binding, _)) => format!("binding {}:{}", binding.set, binding.binding),
                    None => "memory".to_owned(),
                }
            }
        }
    }

    /// An access, told to the automaton of races.
    pub(super) fn race(&mut self, access: &Access) {
        if self.drawn.is_some() {
            return self.drawn_race(access);
        }
        let Some(race) = self.races.access(access) else {
            return;
        };
        self.racing.extend([race.first.site, race.second.site]);
        let (first, second) = (Self::inst(race.first.site), Self::inst(race.second.site));
        let mut key = self.key(Rule::Race, first, Some(second));
        if race.gravity < Gravity::EqualValue {
            // What does harm at the same lines is told besides.
            key.1 |= 1 << 30;
        } else if self.follows(race.object, race.offset, key) {
            return;
        }
        self.keep(key, |watch| watch.race_finding(&race, first, second));
    }

    /// Whether a race follows from one at the same place that was told before: one of its accesses was in that, too.
    fn follows(&mut self, object: u32, offset: u64, key: Key) -> bool {
        let told = self.racy.entry((object, offset)).or_insert(key);
        *told != key
            && [told.1, told.2]
                .iter()
                .any(|site| [key.1, key.2].contains(site))
    }

    pub(super) fn race_finding(&self, race: &Race, first: Inst, second: Inst) -> Finding {
        let level = match race.gravity {
            Gravity::Harmful => Level::Error,
            Gravity::EqualValue => Level::Warning,
            Gravity::SameValue | Gravity::Disputed => Level::Note,
        };
        let what = match (race.gravity, race.cause) {
            (Gravity::SameValue, _) => "nothing orders these stores, which all store the same",
            (Gravity::EqualValue, _) => {
                "nothing orders these stores, whose values are equal in this run"
            }
            (Gravity::Disputed, Cause::Private) => {
                "a barrier orders these accesses, but the memory is not coherent"
            }
            (Gravity::Disputed, _) => {
                "a fence and a barrier order these accesses, but no fence behind it"
            }
            (Gravity::Harmful, Cause::Unordered) => "nothing orders these accesses",
            (Gravity::Harmful, Cause::ScopeTooSmall) => {
                "these atomics are in no scope that has both invocations"
            }
            (Gravity::Harmful, Cause::Private) => {
                "these accesses are ordered, but one is private: the memory is not coherent"
            }
            (Gravity::Harmful, Cause::NotAvailable) => {
                "these accesses are ordered, but the write is not made available to the other invocation"
            }
            (Gravity::Harmful, Cause::NotVisible) => {
                "these accesses are ordered, but the read does not see what is available"
            }
        };
        let object = match race.object {
            super::SHARED => self
                .note(second)
                .and_then(|note| note.named.as_ref())
                .map_or_else(
                    || "shared memory".to_owned(),
                    |named| format!("shared `{}`", named.name),
                ),
            object => self.object_name(object, second),
        };
        let element = match race.object {
            super::SHARED => format!("byte {} of {object}", race.offset),
            own if self
                .elements
                .get(own as usize)
                .is_some_and(|own| own.is_buffer) =>
            {
                format!("byte {} of {object}", race.offset)
            }
            _ => format!("texel {} of {object}", race.offset / 4),
        };
        let message = format!("data race on {element}: {what}");
        let mut finding = self.finding(Rule::Race, level, message, second);
        finding.places = vec![
            self.related(self.party(&race.first), first),
            self.related(self.party(&race.second), second),
        ];
        finding
    }

    /// What one side of a race does.
    pub(super) fn does(party: &Party) -> &'static str {
        match (party.kind, party.atomic) {
            (Kind::Read, true) => "atomic load",
            (Kind::Read, false) => "read",
            (Kind::Write, true) => "atomic store",
            (Kind::Write, false) => "write",
            (Kind::Update, _) => "atomic",
        }
    }

    fn party(&self, party: &Party) -> String {
        let does = Self::does(party);
        let within = party
            .agent
            .lane
            .wrapping_sub(party.agent.group.wrapping_mul(self.group_size));
        let (warp, lane) = (within / self.warp_size, within % self.warp_size);
        let group = party.agent.group;
        format!("{does} by lane {lane} of subgroup {warp} in workgroup {group}")
    }

    /// An undefined value decides something.
    pub(super) fn decided(&mut self, origin: OriginId, at: PositionId, what: &str, who: Who) {
        let Some(origin) = self.origins.get(origin) else {
            return;
        };
        let inst = Self::inst(origin.site);
        let (rule, level, text) = match origin.source {
            Source::Variable => (
                Rule::UndefinedUse,
                Level::Error,
                "a variable is read that nothing was stored to",
            ),
            Source::Attribute => (
                Rule::Uninit,
                Level::Error,
                "an attribute comes from a vertex buffer that nobody wrote",
            ),
            Source::Attachment => (
                Rule::Uninit,
                Level::Error,
                "an input attachment is read where nothing was loaded, cleared or drawn",
            ),
            Source::Memory => (
                Rule::Uninit,
                Level::Error,
                "memory is read that nobody wrote",
            ),
            Source::Arithmetic(fault) => (Rule::Arithmetic, Level::Warning, fault.text()),
            Source::InactiveLane => (
                Rule::Subgroup,
                Level::Warning,
                "the value comes from a lane that does not run this",
            ),
            Source::NoLane => (
                Rule::Subgroup,
                Level::Warning,
                "the value comes from a lane that there is not",
            ),
        };
        let key = self.key(rule, inst, None);
        if origin.source == Source::Memory {
            let site = self.numbered(origin.site);
            self.unwritten_loads.entry(key).or_default().insert(site);
        }
        let message = format!("{text}, and {what}: {}", self.who(who));
        self.keep(key, |watch| {
            let mut finding = watch.finding(rule, level, message, inst);
            if let Some(block) = watch.missing.get(&origin.site) {
                let block = watch.function.block(*block);
                let text = "the lane has gone another way here";
                finding.places.push(watch.at_position(text, block.position));
            }
            let user = watch.at_position(what, at);
            let same = |own: &Related| own.place == user.place;
            if !finding.places.iter().any(same) {
                finding.related.push(user);
            }
            finding
        });
    }

    /// Where the lane that another one asks for has gone.
    pub(super) fn remember_missing(&mut self, inst: Inst, warp: usize, lane: usize) {
        let branches = &self.warps[warp].branches;
        if let Some(Some(block)) = branches.get(lane) {
            self.missing.entry(inst.index() as u32).or_insert(*block);
        }
    }

    pub(super) fn diverged(&mut self, waiting: &[Vec<Option<Inst>>]) {
        let barriers = waiting.iter().flatten();
        let Some(barrier) = barriers.clone().flatten().next().copied() else {
            return;
        };
        let count = barriers.clone().filter(|at| **at == Some(barrier)).count();
        let all = barriers.count();
        let group = self.group;
        let message = format!(
            "{count} of {all} invocations of workgroup {group} wait at this barrier, the others do not come"
        );
        let others: Vec<Who> = waiting
            .iter()
            .enumerate()
            .flat_map(|(warp, lanes)| {
                let away = lanes
                    .iter()
                    .enumerate()
                    .filter(|(_, at)| **at != Some(barrier));
                away.map(move |(lane, _)| (warp, lane))
            })
            .collect();
        let key = self.key(Rule::BarrierDivergent, barrier, None);
        self.keep(key, |watch| {
            let mut finding = watch.finding(Rule::BarrierDivergent, Level::Error, message, barrier);
            let went = others
                .first()
                .and_then(|(warp, lane)| watch.warps[*warp].branches[*lane]);
            if let Some(block) = went {
                let position = watch.function.block(block).position;
                let text = "the others have gone another way here";
                finding.places.push(watch.at_position(text, position));
            }
            finding
        });
    }

    pub(super) fn stalled(&mut self, proved: bool, blocks: &[BlockId]) {
        let chooses = |block: &&BlockId| {
            let terminator = &self.function.block(**block).terminator;
            matches!(
                terminator,
                Terminator::Branch { .. } | Terminator::Switch { .. }
            )
        };
        let placed = |block: &&BlockId| self.source(self.function.block(**block).position);
        let mut ways: Vec<(Place, BlockId)> = blocks
            .iter()
            .filter(chooses)
            .filter_map(|block| Some((placed(&block)?, *block)))
            .collect();
        ways.sort();
        let block = ways
            .first()
            .map(|(_, block)| *block)
            .or(blocks.first().copied());
        let Some(block) = block else { return };
        let group = self.group;
        let (level, message) = match proved {
            true => (
                Level::Error,
                format!(
                    "workgroup {group} goes round here for ever: its state comes back, and memory stays the same"
                ),
            ),
            false => (
                Level::Warning,
                format!("workgroup {group} has gone round here for very long, and was given up"),
            ),
        };
        let position = self.function.block(block).position;
        let place = self.at_position("here", position);
        let finding = Finding {
            rule: Rule::NoProgress,
            level,
            message,
            places: vec![place],
            related: self.calls(position),
            space: None,
            variable: None,
            binding: None,
            count: 1,
        };
        self.keep((Rule::NoProgress, block.index() as u32, 0), |_| finding);
    }

    /// What is stored in the end for the host to read, and is undefined.
    pub(crate) fn finish(&mut self) {
        let mut bytes = vec![];
        for element in &self.elements {
            bytes.extend(element.shadow.stored());
        }
        bytes.sort_by_key(|byte| (byte.store, byte.origin));
        bytes.dedup_by_key(|byte| (byte.store, byte.origin));
        for byte in bytes {
            if let Some(store) = byte.store {
                let position = self.function.inst(Self::inst(store)).position;
                self.store_decided(byte.origin, position);
            }
        }
        self.drop_explained();
    }

    /// Drops what a race explains: memory that a load found unwritten because nothing orders that load behind the write.
    fn drop_explained(&mut self) {
        let explained = |key: &Key| {
            let loads = self.unwritten_loads.get(key);
            loads.is_some_and(|loads| loads.is_subset(&self.racing))
        };
        self.order.retain(|key| !explained(key));
    }

    fn store_decided(&mut self, origin: OriginId, at: PositionId) {
        self.decided(origin, at, "it is stored for the host to read", (0, 0));
    }
}
