//! Direct messages: loads and stores whose lanes lie in one page of memory that the host lends, or in a few ([`super::pages`]), atomics
//! in one page ([`super::atomics`]), textures and images ([`super::direct_texels`]), and addresses in buffers; done for all lanes at
//! once, with nothing noted lane by lane.
//!
//! Most messages of most programs are of this kind. What needs more, such as a walk of page tables, a descriptor that was not looked up
//! yet, a report or a fault, is left to [`Memory::send`] with nothing done.
//!
//! Needs: nobody observes accesses, no injections, no defects.  Guarantees: registers, memory and counters are those of
//! [`Memory::send`].

use super::access::alignment;
use super::bytes::{self, Loaded};
use super::lines::{self, Counted};
use super::places::Places;
use super::{Memory, Requester, View};
use crate::fabric::Fabric;
use crate::l2::CACHED;
use crate::memory::{PAGE, PhysicalMemory};
use crate::mmu::{AccessKind, Request};
use crate::shader::environment::{Environment, Place};
use crate::shader::instruction::{From, Instruction, Operation, Source};
use crate::shader::lanes::{Lanes, WARP, spread, uniform};
use crate::shader::message::{Action, Handle, Message, Placement};
use crate::shader::registers::{operand, write_wide, written_range};
use crate::shader::stage::OUTPUT_TABLE;
use crate::shader::typed::{Components, Conversion, Words};
use crate::shader::warp::Warp;
use eitri_isa::Flow;
use eitri_isa::row::Unit;

/// Where a direct message is sent.
pub(in crate::shader) struct Around<'a> {
    pub(in crate::shader) fabric: &'a mut Fabric,
    pub(in crate::shader) memory: &'a mut dyn PhysicalMemory,
    pub(in crate::shader) environment: &'a Environment,
    pub(in crate::shader) place: Place,
}

impl Instruction {
    /// Whether it is a message that may be a direct one.
    pub(in crate::shader) fn can_be_direct(&self) -> bool {
        let Operation::Message(message) = &self.operation else {
            return false;
        };
        let is_known = match message.action {
            Action::Load { bytes, .. }
            | Action::Store { bytes, .. }
            | Action::LoadBuffer { bytes, .. } => (1..=16).contains(&bytes),
            Action::Atomic { bytes, .. } => matches!(bytes, 4 | 8),
            Action::ElementAddress { .. } | Action::ByteAddress => true,
            Action::LoadConverted { .. } => true,
            Action::RequestTexture(_)
            | Action::FetchTexel(_)
            | Action::LoadTexel { .. }
            | Action::TexelAddress { .. } => true,
            _ => false,
        };
        let ends = matches!(self.flow, Flow::End | Flow::Discard);
        is_known && message.counts_fit && matches!(self.unit, Unit::Ls | Unit::T) && !ends
    }
}

impl Fabric {
    /// Whether messages may be direct ones.
    pub(in crate::shader) fn allows_direct_messages(&self) -> bool {
        self.injections.is_empty()
            && self.config.defects.is_empty()
            && !self.journal.observes_accesses()
            && !self.journal.traces_instructions()
            && !self.fidelity.is_on()
    }
}

impl Memory {
    /// Does what a message of the running lanes asks for, if it is a direct one, and notes that it was sent. `false`, with nothing
    /// done, if not.
    #[inline(never)]
    pub(in crate::shader) fn send_directly(
        &mut self,
        around: &mut Around<'_>,
        warp: &mut Warp,
        instruction: &Instruction,
    ) -> bool {
        let Operation::Message(message) = &instruction.operation else {
            return false;
        };
        let done = match message.action {
            Action::ElementAddress { handle } => {
                self.address(around, warp, instruction, message, Some(handle))
            }
            Action::ByteAddress => self.address(around, warp, instruction, message, None),
            Action::Atomic { .. } => Memory::atomics(around, warp, instruction, message),
            Action::RequestTexture(_)
            | Action::FetchTexel(_)
            | Action::LoadTexel { .. }
            | Action::TexelAddress { .. } => self.texels(around, warp, instruction, message),
            _ => self.access(around, warp, instruction, message),
        };
        if done.is_some() {
            warp.send(message.slot, written_range(message.write));
        }
        done.is_some()
    }

    /// Loads or stores.
    #[inline(always)]
    fn access(
        &mut self,
        around: &mut Around<'_>,
        warp: &mut Warp,
        instruction: &Instruction,
        message: &Message,
    ) -> Option<()> {
        let mut words = None;
        let (bytes, lanes, moves) = match message.action {
            Action::Load {
                bytes,
                placement,
                unsigned,
                ..
            }
            | Action::LoadBuffer {
                bytes,
                placement,
                unsigned,
            } => {
                let loaded = Loaded {
                    bytes,
                    placement,
                    unsigned,
                };
                (bytes, warp.lanes, Moves::Load(loaded))
            }
            Action::LoadConverted { components, .. } => {
                let all = self.words(around, warp, &instruction.sources[1], components)?;
                words = Some(all);
                let loaded = Loaded {
                    bytes: 4 * all.loaded,
                    placement: Placement::Registers,
                    unsigned: true,
                };
                (loaded.bytes, warp.lanes, Moves::Load(loaded))
            }
            Action::Store {
                bytes,
                skip,
                helpers,
                ..
            } => match helpers {
                true => (bytes, warp.lanes, Moves::Store { skip }),
                false => (bytes, warp.lanes & !warp.helpers, Moves::Store { skip }),
            },
            _ => return None,
        };
        let kind = moves.kind();
        let accessed = Accessed {
            request: around.request(kind),
            aligned: (bytes, alignment(kind, bytes)),
            lanes,
            moves,
        };
        let mut places = Places::new();
        let found = match message.action {
            Action::Load { offset, .. } | Action::Store { offset, .. } => {
                let way = (lanes, offset);
                around.find(&mut places, warp, instruction, way, accessed.aligned)
            }
            Action::LoadConverted { offset, .. } => {
                let way = (lanes, i32::try_from(offset).ok()?);
                around.find(&mut places, warp, instruction, way, accessed.aligned)
            }
            _ => self.find_in_buffer(&mut places, around, warp, instruction, accessed.aligned),
        };
        match found {
            Some(()) => around.access_page(warp, message, &places, &accessed)?,
            None => self.access_pages(around, warp, instruction, message, &accessed)?,
        }
        if let Some(words) = words {
            words.complete(warp, message.write.0);
        }
        Some(())
    }

    /// The words that a converting load loads, if it does nothing else, by the conversion that a source holds in all lanes alike.
    fn words(
        &mut self,
        around: &mut Around<'_>,
        warp: &Warp,
        source: &Source,
        components: Components,
    ) -> Option<Words> {
        let mut buffer = [0; WARP];
        let conversions = around.operand(warp, source, &mut buffer)?;
        let word = uniform(conversions, warp.lanes)?;
        let key = (word, components);
        if let Some((known, words)) = self.words
            && known == key
        {
            return words;
        }
        let words = Conversion::of(word).and_then(|conversion| conversion.words(components));
        self.words = Some((key, words));
        words
    }

    /// The buffer that a source names, if it is the same one in all lanes and was looked up.
    pub(super) fn known_view(
        &self,
        around: &Around<'_>,
        warp: &Warp,
        source: &Source,
    ) -> Option<View> {
        let handle = match source.from {
            From::Constant(bits) => source.modified(bits),
            From::Uniform(index) => {
                let bits = around.environment.uniforms.get(usize::from(index))?;
                source.modified(*bits)
            }
            From::Register(register) if source.is_plain => {
                uniform(&warp.registers[usize::from(register & 63)], warp.lanes)?
            }
            _ => return None,
        };
        self.known_view_of(handle)
    }

    fn known_view_of(&self, handle: u32) -> Option<View> {
        // Those of outputs are not looked up.
        if handle >> 24 == OUTPUT_TABLE {
            return None;
        }
        let mut views = self.views.iter().rev();
        let (_, view) = views.find(|(known, _)| *known == handle)?;
        Some(*view)
    }

    /// Finds the places of a load from a buffer, if each lane's is inside of it.
    #[inline(never)]
    fn find_in_buffer(
        &self,
        places: &mut Places,
        around: &mut Around<'_>,
        warp: &Warp,
        instruction: &Instruction,
        aligned: (u8, u64),
    ) -> Option<()> {
        let view = self.known_view(around, warp, &instruction.sources[1])?;
        let last = view.size.checked_sub(aligned.0.into())?;
        let mut buffer = [0; WARP];
        let offsets = around.operand(warp, &instruction.sources[0], &mut buffer)?;
        places.find((view.address, offsets), warp.lanes, aligned)?;
        // No lane's offset is beyond the end of the page.
        let most = places
            .page()
            .wrapping_add(PAGE - 1)
            .wrapping_sub(view.address);
        if most > last {
            let running = offsets.iter().zip(spread(warp.lanes));
            let furthest = running.fold(0, |most, (offset, runs)| most.max(offset & runs));
            if u64::from(furthest) > last {
                return None;
            }
        }
        Some(())
    }

    /// Addresses of bytes or elements of a buffer.
    #[inline(never)]
    fn address(
        &self,
        around: &mut Around<'_>,
        warp: &mut Warp,
        instruction: &Instruction,
        message: &Message,
        handle: Option<Handle>,
    ) -> Option<()> {
        let view = match handle {
            Some(Handle::Fixed(handle)) => self.known_view_of(handle)?,
            Some(Handle::Source(index)) => {
                let source = &instruction.sources[usize::from(index)];
                self.known_view(around, warp, source)?
            }
            None => self.known_view(around, warp, &instruction.sources[1])?,
        };
        let scale = match handle {
            Some(_) => view.stride,
            None => 1,
        };
        let mut buffer = [0; WARP];
        let index = around.operand(warp, &instruction.sources[0], &mut buffer)?;
        let addresses = index.map(|index| {
            let offset = u64::from(index) * u64::from(scale);
            view.address.wrapping_add(offset)
        });
        write_wide(warp, message.write.0, &addresses);
        // A message of the load/store unit counts as a line at least.
        around.fabric.activity.core(around.place.core).lines += 1;
        Some(())
    }
}

/// Which way bytes move, and how.
#[derive(Clone, Copy)]
pub(super) enum Moves {
    Load(Loaded),
    /// From this byte of the first register on.
    Store {
        skip: u8,
    },
}

impl Moves {
    fn kind(self) -> AccessKind {
        match self {
            Moves::Load(_) => AccessKind::Read,
            Moves::Store { .. } => AccessKind::Write,
        }
    }
}

/// What a load or a store accesses.
pub(super) struct Accessed {
    /// Without an address.
    pub(super) request: Request,
    /// Bytes of a lane, and at a multiple of how many they lie.
    pub(super) aligned: (u8, u64),
    pub(super) lanes: u16,
    pub(super) moves: Moves,
}

impl Accessed {
    /// The request for the first of these places.
    #[inline(always)]
    pub(super) fn request_of(&self, places: &Places) -> Request {
        Request {
            address: places.first,
            ..self.request
        }
    }
}

/// Moves the bytes of `lanes` between a message's registers and a page, by its frame; `None`, with nothing done, if the host does not
/// lend it.
#[inline(always)]
pub(super) fn move_bytes(
    memory: &mut dyn PhysicalMemory,
    warp: &mut Warp,
    (message, moves): (&Message, Moves),
    (frame, places, lanes): (u64, &Places, u16),
) -> Option<()> {
    let access = places.access(lanes);
    match moves {
        Moves::Store { skip } => {
            let page = memory.page_to_write(frame, &access)?;
            bytes::store(page, places, warp, message.read, (lanes, skip));
        }
        Moves::Load(loaded) => {
            let page = memory.page_to_read(frame, &access)?;
            bytes::load(page, places, warp, message.write.0, loaded);
        }
    }
    Some(())
}

impl Around<'_> {
    /// A request of the core, without an address.
    #[inline(always)]
    pub(super) fn request(&self, kind: AccessKind) -> Request {
        Request {
            space: self.environment.space,
            address: 0,
            kind,
            source: Requester::Core(self.place.core),
        }
    }

    /// The physical address of a request's page, if a cached translation answers. A page that the L2 caches is left to single steps: the
    /// host's memory may hold older bytes of it.
    #[inline(always)]
    pub(super) fn frame_of(&self, request: Request) -> Option<u64> {
        let frame = self.fabric.mmu.cached_frame(request)?;
        (frame & CACHED == 0).then_some(frame)
    }

    /// Loads or stores in one page.
    #[inline(always)]
    fn access_page(
        &mut self,
        warp: &mut Warp,
        message: &Message,
        places: &Places,
        accessed: &Accessed,
    ) -> Option<()> {
        let request = accessed.request_of(places);
        let frame = self.frame_of(request)?;
        let whole = warp.lanes == u16::MAX;
        let moved = (frame, places, accessed.lanes);
        move_bytes(self.memory, warp, (message, accessed.moves), moved)?;
        self.fabric
            .translated_by_cache(request, frame | (request.address % PAGE));
        let write = request.kind == AccessKind::Write;
        let touched = lines::request(self.fabric, frame, places, accessed.lanes, write);
        self.count(request.kind, touched, whole);
        Some(())
    }

    /// Counts a load or a store of the whole warp or of a part, and what it has touched.
    #[inline(always)]
    pub(super) fn count(&mut self, kind: AccessKind, touched: Counted, whole: bool) {
        let core = self.fabric.activity.core(self.place.core);
        core.lines += touched.lines;
        let (beats, counter) = match (kind == AccessKind::Write, whole) {
            (false, true) => (&mut core.read_beats, &mut core.full_reads),
            (false, false) => (&mut core.read_beats, &mut core.short_reads),
            (true, true) => (&mut core.write_beats, &mut core.full_writes),
            (true, false) => (&mut core.write_beats, &mut core.short_writes),
        };
        *beats += touched.beats;
        *counter += 1;
    }

    /// What a 32-bit source reads; `None` where that would be reported.
    pub(super) fn operand<'a>(
        &mut self,
        warp: &'a Warp,
        source: &Source,
        buffer: &'a mut Lanes,
    ) -> Option<&'a Lanes> {
        if let From::Uniform(index) = source.from
            && usize::from(index) >= self.environment.uniforms.len()
        {
            return None;
        }
        let (environment, place) = (self.environment, self.place);
        Some(operand(
            self.fabric,
            environment,
            place,
            warp,
            source,
            buffer,
        ))
    }

    /// Finds the places of lanes at the addresses of the message's 64-bit source, `offset` bytes further.
    pub(super) fn find(
        &mut self,
        places: &mut Places,
        warp: &Warp,
        instruction: &Instruction,
        (lanes, offset): (u16, i32),
        aligned: (u8, u64),
    ) -> Option<()> {
        let offset = i64::from(offset);
        let join = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        match instruction.wide[0].from {
            From::Register(register) => {
                let low = &warp.registers[usize::from(register & 63)];
                let high = &warp.registers[usize::from((register + 1) & 63)];
                let base = join(0, uniform(high, lanes)?).wrapping_add_signed(offset);
                places.find((base, low), lanes, aligned)
            }
            From::Uniform(index) => {
                let uniforms = &self.environment.uniforms;
                let high = *uniforms.get(usize::from(index | 1))?;
                let low = *uniforms.get(usize::from(index))?;
                let base = join(low, high).wrapping_add_signed(offset);
                places.find((base, &[0; WARP]), lanes, aligned)
            }
            from => {
                let journal = &mut self.fabric.journal;
                let environment = self.environment;
                let wide = environment.fetch_wide(journal, warp, self.place, from, false);
                let first = wide[lanes.trailing_zeros() as usize % WARP];
                // Differences of 32 bits and more are far beyond a page.
                let apart = wide.iter().any(|it| it.wrapping_sub(first) >> 31 != 0);
                if apart {
                    return None;
                }
                let offsets = wide.map(|it| it.wrapping_sub(first) as u32);
                let base = first.wrapping_add_signed(offset);
                places.find((base, &offsets), lanes, aligned)
            }
        }
    }
}
