//! The memory unit: what messages do to memory.
//!
//! Every address of a message is translated before anything is read or written, so a message that stalls or fails has had
//! no effect and can be sent again. Results are written at once; that they are not used before a wait is checked elsewhere.
//!
//! Facts: hardware/valhall-isa.md 11; descriptors.md 4 and 5 (bounds).

mod access;
mod atest;
mod atomics;
mod attribute;
mod blend;
mod buffers;
mod bytes;
mod direct;
mod direct_texels;
mod filters;
mod in_page;
mod lines;
mod noted_texels;
mod observed;
mod pages;
mod places;
mod samples;
mod shared_varying;
mod texels;
mod tile;
mod touched;
mod transfer;
mod units;
mod varying;
mod vertices;

use super::environment::{Environment, Place};
use super::instruction::{Instruction, Source};
use super::lanes::{Lanes, WARP};
use super::message::{Action, Handle, Message};
use super::plane::DecodedPlanes;
use super::registers::read;
use super::sampling::Sampler;
use super::stage::{OUTPUT_TABLE, Stage};
use super::stopped::{JobFault, Stopped, exception};
use super::texture::Texture;
use super::typed::{Components, Words};
use super::warp::{Warp, bits};
use crate::activity::CoreActivity;
use crate::clock::Clock;
use crate::diagnosis::{Misuse, ShaderMisuse};
use crate::fabric::{Access, Fabric};
use crate::memory::PhysicalMemory;
use crate::mmu::{AccessKind, Source as Requester};
use crate::tile::BlendOperand;
use crate::trace::Event;
use crate::work::descriptors::{Lookup, View, look_up};
use access::alignment;
use alloc::boxed::Box;
use alloc::vec::Vec;
use attribute::Fetched;
use eitri_isa::Arch;
use eitri_isa::row::Unit;
use noted_texels::Noted;
use texels::ReadBy;
use touched::Touched;
use units::requester;

pub(super) use direct::Around;

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// It is done.
    Done,
    /// The lanes wait for the workgroup.
    Barrier,
    /// A BLEND: of these lanes no blend shader follows, so they skip instructions.
    Blended { done: u16, skip: u32 },
}

/// Handles whose descriptors are remembered: more than shaders use at a time.
const REMEMBERED: usize = 64;

/// The memory unit of a job.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// Buffers that were looked up.
    views: Vec<(u32, View)>,
    /// Textures that were looked up; `None` where there is none.
    textures: Vec<(u32, Option<Texture>)>,
    /// The same of samplers.
    samplers: Vec<(u32, Option<Sampler>)>,
    /// The same of vertex attributes.
    attributes: Vec<(u32, Option<Fetched>)>,
    /// The plane descriptors of direct messages that were decoded last.
    planes: DecodedPlanes,
    /// What the last converting load that was looked at loads, by its conversion and components; `None`: it does more.
    words: Option<((u32, Components), Option<Words>)>,
    /// The last operand of a BLEND, decoded.
    blend: Option<(u64, BlendOperand)>,
    /// What messages act on beside memory.
    pub(crate) stage: Stage,
    /// Instructions of the warp's turn so far, this one included.
    pub(crate) issued: u64,
    /// Lines of the message before, for their room; `None` while a message is sent.
    touched: Option<Box<Touched>>,
    /// Room for the accesses of a direct message of textures.
    noted: Noted,
    /// The last value of the cycle counter, and of the timestamp, that a thread read.
    clocks: [u64; 2],
}

/// Where a lane's access goes.
#[derive(Clone, Copy, Debug, Default)]
struct Target {
    virtual_address: u64,
    /// Physical address; of the first byte where the access crosses a page.
    physical: u64,
    /// Bytes that are accessed; fewer than asked for where a buffer ends.
    bytes: u8,
    crosses: bool,
}

type Targets = [Target; WARP];

/// A message in the hands of the unit.
struct Sender<'a> {
    fabric: &'a mut Fabric,
    memory: &'a mut dyn PhysicalMemory,
    environment: &'a Environment,
    place: Place,
    /// The unit that accesses memory for the message.
    requester: Requester,
    address: u64,
    arch: Arch,
    touched: Box<Touched>,
}

impl Memory {
    /// Forgets descriptors that were looked up: another draw has others.
    pub(crate) fn forget_resources(&mut self) {
        self.views.clear();
        self.textures.clear();
        self.samplers.clear();
        self.attributes.clear();
    }

    /// Does what a message of the running lanes asks for.
    pub(crate) fn send(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        (environment, place, arch): (&Environment, Place, Arch),
        warp: &mut Warp,
        instruction: &Instruction,
        message: &Message,
    ) -> Result<Sent, Stopped> {
        count(
            fabric.activity.core(place.core),
            &message.action,
            warp.lanes,
        );
        let mut touched = self.touched.take().unwrap_or_default();
        touched.begin(place.core, fabric.journal.observes_accesses());
        let mut sender = Sender {
            fabric,
            memory,
            environment,
            place,
            requester: requester(&message.action, place),
            address: warp.pc,
            arch,
            touched,
        };
        let sent = self.act(&mut sender, warp, instruction, message);
        if sender.touched.records && sent.is_ok() {
            sender.observe(warp, instruction, message);
        }
        let lines = sender.touched.settle(sender.fabric);
        let lines = match instruction.unit {
            Unit::Ls => lines.max(1),
            _ => lines,
        };
        if instruction.unit == Unit::Ls {
            sender.fabric.activity.core(place.core).lines += lines;
        }
        if let Some(times) = &mut warp.times {
            let size = (lines, instruction.interpolated);
            times.send(message.slot, instruction.unit, size, arch);
        }
        if sender.fabric.journal.traces_instructions() {
            let [read, written] = sender.touched.bytes();
            sender.fabric.journal.trace(Event::Message {
                address: sender.address,
                read,
                written,
                lines,
            });
        }
        self.touched = Some(sender.touched);
        sent
    }

    fn act(
        &mut self,
        sender: &mut Sender<'_>,
        warp: &mut Warp,
        instruction: &Instruction,
        message: &Message,
    ) -> Result<Sent, Stopped> {
        sender.strike(&message.action)?;
        match message.action {
            Action::Barrier => return Ok(Sent::Barrier),
            Action::Clock { timestamp } => {
                // No two threads read the same value, in whatever order they come.
                sender.fabric.spoil_recording();
                let reached = sender.fabric.reached(sender.place.core);
                let clock = &sender.fabric.clock;
                let ahead = clock.cycles_of_time(reached.saturating_sub(clock.now()));
                // Within a turn the core's clock knows nothing of the warp's own pace.
                let value = self.clock(clock, ahead + self.issued, timestamp);
                set_pair(warp, message.write.0, [value; WARP]);
            }
            Action::Load {
                bytes,
                placement,
                unsigned,
                offset,
            } => {
                let (first, kind) = (message.write.0, AccessKind::Read);
                let addresses = sender.addresses_at(warp, instruction, offset.into());
                let aligned = (bytes, alignment(kind, bytes));
                match sender.in_page(addresses, warp.lanes, aligned, kind)? {
                    Some(accesses) => {
                        sender.load_in_page(warp, first, &accesses, placement, unsigned)?;
                    }
                    None => {
                        let targets = sender.locate(&addresses, warp.lanes, bytes, kind)?;
                        sender.load(warp, first, &targets, placement, unsigned, bytes)?;
                    }
                }
            }
            Action::Store {
                bytes,
                skip,
                offset,
                helpers,
            } => {
                let lanes = if helpers {
                    warp.lanes
                } else {
                    warp.lanes & !warp.helpers
                };
                let kind = AccessKind::Write;
                let addresses = sender.addresses_at(warp, instruction, offset.into());
                let aligned = (bytes, alignment(kind, bytes));
                match sender.in_page(addresses, lanes, aligned, kind)? {
                    Some(accesses) => {
                        sender.store_in_page(warp, message.read, &accesses, (lanes, skip))?;
                    }
                    None => {
                        let targets = sender.locate(&addresses, lanes, bytes, kind)?;
                        sender.store(warp, message.read, &targets, (lanes, skip, bytes))?;
                    }
                }
            }
            Action::Atomic {
                bytes,
                operation,
                operand,
                offset,
            } => {
                let addresses = sender.addresses_at(warp, instruction, offset.into());
                let lanes = warp.lanes & !warp.helpers;
                let targets = sender.locate(&addresses, lanes, bytes, AccessKind::Atomic)?;
                let word = instruction.word;
                sender.atomic(warp, (message, word), &targets, (bytes, operation, operand))?;
            }
            Action::LoadBuffer {
                bytes,
                placement,
                unsigned,
            } => {
                let first = message.write.0;
                let offsets = sender.source(warp, &instruction.sources[0]);
                let handles = sender.source(warp, &instruction.sources[1]);
                let places = (&offsets, &handles);
                if let Some(accesses) = self.buffer_in_page(sender, warp, places, bytes)? {
                    sender.load_in_page(warp, first, &accesses, placement, unsigned)?;
                } else {
                    let targets = self.locate_in_buffers(sender, warp, places, bytes)?;
                    sender.load(warp, first, &targets, placement, unsigned, bytes)?;
                }
            }
            Action::ByteAddress | Action::ElementAddress { .. } => {
                let index = sender.source(warp, &instruction.sources[0]);
                let handle = match message.action {
                    Action::ElementAddress { handle } => handle,
                    _ => Handle::Source(1),
                };
                let handles = sender.handles(warp, instruction, handle);
                let mut addresses = [0; WARP];
                for lane in bits(warp.lanes) {
                    if handles[lane] >> 24 == OUTPUT_TABLE {
                        let output = self.stage.output(handles[lane], index[lane]);
                        addresses[lane] = output.unwrap_or_else(|| {
                            sender.report(ShaderMisuse::NoSuchResource {
                                handle: handles[lane],
                            });
                            0
                        });
                        continue;
                    }
                    let view = self.view(sender, handles[lane])?;
                    let index = u64::from(index[lane]);
                    let scale = match message.action {
                        Action::ElementAddress { .. } => view.stride.into(),
                        _ => 1,
                    };
                    addresses[lane] = view.address.wrapping_add(index * scale);
                }
                set_pair(warp, message.write.0, addresses);
            }
            Action::LoadConverted { components, offset } => {
                sender.load_converted(warp, message, instruction, components, offset)?;
            }
            Action::StoreConverted {
                components,
                offset,
                helpers,
            } => {
                let lanes = if helpers {
                    warp.lanes
                } else {
                    warp.lanes & !warp.helpers
                };
                let texels = (components, offset, lanes);
                sender.store_converted(warp, message, instruction, texels)?;
            }
            Action::TexelAddress { handle } => {
                self.texel_addresses(sender, warp, message, instruction, handle)?;
            }
            Action::LoadTexel { handle, components } => {
                let texels = self.image_texels(sender, warp, instruction, handle)?;
                let registers = sender.load_texels(
                    warp,
                    instruction,
                    &texels,
                    ReadBy::LoadStore,
                    |colour, texture| components.registers(colour, texture),
                )?;
                set_registers(warp, message.write, &registers);
            }
            Action::FetchTexel(fetch) => {
                let texels = self.fetched_texels(sender, warp, message, instruction, fetch)?;
                let registers = sender.load_texels(
                    warp,
                    instruction,
                    &texels,
                    ReadBy::Texture,
                    |colour, texture| fetch.registers(colour, texture),
                )?;
                set_registers(warp, message.write, &registers);
            }
            Action::LoadAttribute { handle, components } => {
                let wanted = (handle, components);
                self.load_attribute(sender, warp, message, instruction, wanted)?;
            }
            Action::LoadVarying(varying) => {
                self.load_varying(sender, warp, message, instruction, varying)?;
            }
            Action::Atest => self.atest(sender, warp, message, instruction)?,
            Action::ZsEmit { depth, stencil } => {
                self.zs_emit(sender, warp, message, instruction, (depth, stencil))?;
            }
            Action::Blend { components, skip } => {
                let done = self.blend(sender, warp, message, instruction, components)?;
                return Ok(Sent::Blended { done, skip });
            }
            Action::LoadTile(components) => {
                self.load_tile(sender, warp, message, instruction, components)?;
            }
            Action::StoreTile(components) => {
                self.store_tile(sender, warp, message, instruction, components)?;
            }
            Action::RequestTexture(request) => {
                self.request_texture(sender, warp, message, instruction, request)?;
            }
        }
        Ok(Sent::Done)
    }

    /// A counter, `ahead` cycles from now; what was read once is past.
    fn clock(&mut self, clock: &Clock, ahead: u64, timestamp: bool) -> u64 {
        if !timestamp && !clock.is_counting() {
            return clock.cycles();
        }
        let last = &mut self.clocks[usize::from(timestamp)];
        *last = if timestamp {
            clock.timestamp_after(ahead).max(*last)
        } else {
            (clock.cycles().wrapping_add(ahead)).max(last.wrapping_add(1))
        };
        *last
    }
}

impl Sender<'_> {
    fn report(&mut self, misuse: ShaderMisuse) {
        let address = self.address;
        self.fabric
            .journal
            .report(Misuse::Shader { address, misuse });
    }

    fn access(&self, address: u64) -> Access {
        Access {
            space: self.environment.space,
            address,
            source: self.requester,
        }
    }

    fn source(&mut self, warp: &Warp, source: &Source) -> Lanes {
        read(self.fabric, self.environment, self.place, warp, source)
    }

    /// The handles of all lanes.
    fn handles(&mut self, warp: &Warp, instruction: &Instruction, handle: Handle) -> Lanes {
        match handle {
            Handle::Source(index) => self.source(warp, &instruction.sources[usize::from(index)]),
            Handle::Fixed(handle) => [handle; WARP],
        }
    }

    /// What the message's 64-bit source holds in every lane.
    fn addresses(&mut self, warp: &Warp, instruction: &Instruction) -> [u64; WARP] {
        let journal = &mut self.fabric.journal;
        let from = instruction.wide[0].from;
        self.environment
            .fetch_wide(journal, warp, self.place, from, false)
    }

    /// The same, `offset` bytes further.
    fn addresses_at(&mut self, warp: &Warp, instruction: &Instruction, offset: i64) -> [u64; WARP] {
        let bases = self.addresses(warp, instruction);
        bases.map(|base| base.wrapping_add_signed(offset))
    }

    /// The instruction belongs to another stage.
    fn wrong_stage(&mut self, instruction: &Instruction) -> Stopped {
        let word = instruction.word;
        self.report(ShaderMisuse::WrongStage { word });
        self.invalid_encoding()
    }

    /// The instruction asks for something that is not modelled.
    fn not_modelled(&mut self, instruction: &Instruction) -> Stopped {
        let word = instruction.word;
        self.report(ShaderMisuse::NotModelled { word });
        self.invalid_encoding()
    }

    /// The fault of an instruction that can't be executed.
    fn invalid_encoding(&self) -> Stopped {
        JobFault {
            exception: exception::INSTR_INVALID_ENC,
            address: self.address,
        }
        .into()
    }
}

/// Counts a message of these lanes.
// FACT: what makes an issue of the load/store unit full or partial is not published (hardware/csf-perfcnt.md 4); a message
// of all 16 lanes counts as full. Settled by counters of a shader that loads in half of its lanes, on any board.
fn count(core: &mut CoreActivity, action: &Action, lanes: u16) {
    let full = lanes == u16::MAX;
    if matches!(action, Action::LoadAttribute { .. }) {
        core.fragments.attributes += 1;
    }
    let counter = match action {
        Action::Load { .. }
        | Action::LoadBuffer { .. }
        | Action::LoadConverted { .. }
        | Action::LoadAttribute { .. }
        | Action::LoadTexel { .. } => match full {
            true => &mut core.full_reads,
            false => &mut core.short_reads,
        },
        Action::Store { .. } | Action::StoreConverted { .. } => match full {
            true => &mut core.full_writes,
            false => &mut core.short_writes,
        },
        Action::Atomic { .. } => &mut core.atomics,
        Action::FetchTexel(_) | Action::RequestTexture(_) => &mut core.textures,
        Action::LoadVarying(_) => &mut core.fragments.varyings,
        // Of no counter here.
        Action::ByteAddress
        | Action::ElementAddress { .. }
        | Action::TexelAddress { .. }
        | Action::Atest
        | Action::ZsEmit { .. }
        | Action::Blend { .. }
        | Action::LoadTile(_)
        | Action::StoreTile(_)
        | Action::Barrier
        | Action::Clock { .. } => return,
    };
    *counter += 1;
}

/// The staging registers of a lane as one number, the first register lowest.
fn staged(warp: &Warp, (first, count): (u8, u8), lane: usize) -> u128 {
    (0..count.min(4)).fold(0, |value, index| {
        let register = usize::from(first.wrapping_add(index) & 63);
        value | u128::from(warp.registers[register][lane]) << (32 * u32::from(index))
    })
}

/// Sets a pair of registers in the running lanes.
fn set_pair(warp: &mut Warp, first: u8, values: [u64; WARP]) {
    for lane in bits(warp.lanes) {
        warp.registers[usize::from(first & 63)][lane] = values[lane] as u32;
        warp.registers[usize::from((first + 1) & 63)][lane] = (values[lane] >> 32) as u32;
    }
}

/// Sets a range of registers (first, count) in the running lanes.
fn set_registers(warp: &mut Warp, (first, count): (u8, u8), values: &[[u32; 4]; WARP]) {
    for lane in bits(warp.lanes) {
        for index in 0..count.min(4) {
            let register = usize::from(first.wrapping_add(index) & 63);
            warp.registers[register][lane] = values[lane][usize::from(index)];
        }
    }
}
