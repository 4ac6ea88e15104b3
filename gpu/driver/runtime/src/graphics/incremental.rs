//! Incremental rendering: what a pass does when the tiler's heap is exhausted and may not grow.
//!
//! The stream of fragments waits until its pass is tiled. While it waits it has an exception handler, which the firmware runs if the
//! host has refused memory and no fragments are left that would free some. The handler renders what is binned so far, gives the
//! chunks back and empties the list; then the tiler goes on. Such a render stores all that the tiles hold in the attachments: samples,
//! depth and stencil that the pass does not keep, too. Each render after the first begins with loading that. Every attachment is an
//! image with memory of its own, so nothing is left that could not be stored. Resolves are done by the last render alone, and counts
//! of queries are sums in memory.
//!
//! For each layer of a pass three more framebuffer descriptors stand in the commands: of the first render (loads and clears as the
//! pass says, stores all), of those in the middle (loads all, stores all), and of the last (loads all, stores and resolves as the pass
//! says). They and the handler are made once for all passes of a template: only the tiler context differs, which the handler writes
//! into them.
//! Never: changes the descriptor of the whole pass, so that commands can be submitted again.
//! Facts: hardware/graphics.md 2.8, command-stream.md 1.12, 3.3 (SET_EXCEPTION_HANDLER) and 6.18.

use super::batch::Batch;
use super::error::Attachment;
use super::framebuffer::{DepthTarget, Framebuffer, MOST_LAYERS};
use super::framebuffer_words::Around;
use super::lane::all_iterators;
use super::load::FrameShaders;
use super::pass::FRAMEBUFFER;
use super::surface::surface;
use super::tiling::{CHUNKS, COMPLETED, CONTEXT};
use crate::command::Recorder;
use crate::device::Device;
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::{Reach, SubQueue};
use crate::vm::GpuAddress;
use eitri_cs::builder::{BuildFault, Checked, Config, Load32, Load64, WithNumber};
use eitri_cs::enums::Condition;
use eitri_cs::instr::{Branch, FinishFragment, SetExceptionHandler, StoreMultiple, Wait};
use eitri_cs::{Pair, Reg, RegMask, d, r};
use heapless::Vec;

/// Registers of the stream of fragments that nothing but incremental rendering uses: how many renders there were, at most 1; the
/// handler and its length; an address; and words that are 0.
const RENDERED: Reg = r!(0);
const HANDLER: Pair = d!(2);
const LENGTH: Reg = r!(4);
const DESCRIPTOR: Pair = d!(6);
const ZEROS: Reg = r!(8);
/// The words of a tiler context that are 0 when its list is empty: where they begin, and how many there are. They are the list's
/// address, and the chunks that are used up.
const LIST_WORDS: [(i16, u8); 2] = [(0, 2), (COMPLETED, 4)];
/// Where a framebuffer descriptor has its tiler context.
const TILER: i16 = 56;
/// Instructions of a handler at most: a driver's has at most 256 (hardware/graphics.md 2.8).
const MOST_CODE: usize = 128;

/// What of a pass's attachments a render loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Render {
    First,
    Middle,
    Last,
}

const RENDERS: [Render; 3] = [Render::First, Render::Middle, Render::Last];

/// The descriptors of a layer, by [`RENDERS`].
type OfLayer = [GpuAddress; RENDERS.len()];

/// What passes of a template do if the tiler's heap is exhausted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Increments {
    /// The handler, and its bytes.
    handler: (GpuAddress, u32),
    /// The descriptors of the last render, by layers.
    last: [GpuAddress; MOST_LAYERS as usize],
    /// What the descriptors were made with.
    locations: GpuAddress,
    last_provokes: bool,
}

impl Increments {
    /// The handler, and its bytes.
    pub(super) const fn handler(&self) -> (GpuAddress, u32) {
        self.handler
    }

    /// The table of sample positions that the descriptors name.
    pub(super) const fn locations(&self) -> GpuAddress {
        self.locations
    }

    /// The descriptor with which a layer is rendered last.
    pub(super) fn last(&self, layer: u32) -> GpuAddress {
        let last = self.last.get(layer as usize);
        last.copied().unwrap_or(GpuAddress(0))
    }
}

/// Instructions of all passes that may be rendered in increments, and of their handlers.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfIncrements {
    rendered: Load32,
    handler: Load64,
    length: Load32,
    set_handler: Checked,
    /// Passes over the next instruction if nothing was rendered before the pass was tiled.
    unless_rendered: Checked,
    wait_for_iterators: Checked,
    finish: Checked,
    /// Empty the list of the tiler context.
    empty_list: [Checked; 6],
    /// Loads the address of a descriptor, and stores into it where the tiler context is.
    descriptor: Load64,
    store_context: Checked,
    /// Stores there into the descriptor that is rendered; and branches over renders, which are as many as there are layers.
    store_rendered: WithNumber,
    to_middle: WithNumber,
    to_end: WithNumber,
}

impl OfIncrements {
    pub(super) fn new(config: &Config) -> Result<OfIncrements, BuildFault> {
        let [first_heap_chunk, last_heap_chunk] = CHUNKS;
        let zero = |number| {
            let register = Reg::new(ZEROS.number().wrapping_add(number));
            Ok::<_, BuildFault>(Load32::new(config, register)?.with(0))
        };
        let empty = |(offset, count)| {
            config.checked(StoreMultiple {
                base_register: ZEROS,
                mask: RegMask::first(count),
                address: CONTEXT,
                offset,
            })
        };
        let [list, chunks] = LIST_WORDS;
        Ok(OfIncrements {
            rendered: Load32::new(config, RENDERED)?,
            handler: Load64::new(config, HANDLER)?,
            length: Load32::new(config, LENGTH)?,
            set_handler: config.checked(SetExceptionHandler {
                address: HANDLER,
                length: LENGTH,
                ..SetExceptionHandler::default()
            })?,
            unless_rendered: config.checked(branch(Condition::Equal, 1))?,
            wait_for_iterators: config.checked(Wait {
                wait_mask: all_iterators(),
                ..Wait::default()
            })?,
            finish: config.checked(FinishFragment {
                first_heap_chunk,
                last_heap_chunk,
                ..FinishFragment::default()
            })?,
            empty_list: [
                zero(0)?,
                zero(1)?,
                zero(2)?,
                zero(3)?,
                empty(list)?,
                empty(chunks)?,
            ],
            descriptor: Load64::new(config, DESCRIPTOR)?,
            store_context: config.checked(store_context(DESCRIPTOR, TILER))?,
            store_rendered: WithNumber::new(config, |at| store_context(FRAMEBUFFER, at))?,
            to_middle: WithNumber::new(config, |behind| branch(Condition::NotEqual, behind))?,
            to_end: WithNumber::new(config, |behind| branch(Condition::Always, behind))?,
        })
    }

    /// Loads the pointer of a framebuffer: `last` in place of `whole` if something was rendered before.
    pub(super) fn choose(&self, pointer: Load64, whole: u64, last: u64) -> [Checked; 3] {
        [
            pointer.with_address(whole),
            self.unless_rendered,
            pointer.with_address(last),
        ]
    }
}

impl Framebuffer {
    /// Turns what a pass loads and stores into what a render of it does. Renders come in order, each from the one before. `false` if
    /// it is the same.
    fn become_render<P: Platform>(
        &mut self,
        device: &Device<'_, '_, P>,
        render: Render,
        whole: &Framebuffer,
    ) -> Result<bool, Error> {
        let stores_all = whole.stores_all();
        match render {
            Render::First if stores_all => return Ok(false),
            Render::First => self.store_all(device)?,
            Render::Middle => self.load_all(),
            Render::Last if stores_all => return Ok(false),
            Render::Last => self.store_as(whole),
        }
        self.note_loads_and_clears();
        Ok(true)
    }

    /// Whether the pass stores all that its tiles hold, as they hold it.
    fn stores_all(&self) -> bool {
        let mut colors = self.colors.iter().flatten();
        let mut others = [self.depth, self.stencil].into_iter().flatten();
        colors.all(|color| color.written.is_some() && color.resolves.is_none())
            && others.all(|target| target.store)
    }

    fn store_all<P: Platform>(&mut self, device: &Device<'_, '_, P>) -> Result<(), Error> {
        for (color, location) in self.colors.iter_mut().zip(0..) {
            if let Some(color) = color {
                let surface = surface(device, color.view, Attachment::Color(location))?;
                color.written = Some(surface.target());
                color.resolves = None;
            }
        }
        for target in [&mut self.depth, &mut self.stencil].into_iter().flatten() {
            target.store = true;
        }
        Ok(())
    }

    fn load_all(&mut self) {
        // Renders before have filled what was to be cleared.
        self.border = None;
        for color in self.colors.iter_mut().flatten() {
            color.clear = None;
            color.loaded = Some(color.view);
        }
        for target in [&mut self.depth, &mut self.stencil].into_iter().flatten() {
            (target.clear, target.load) = (false, true);
        }
    }

    fn store_as(&mut self, whole: &Framebuffer) {
        for (color, of_whole) in self.colors.iter_mut().zip(&whole.colors) {
            if let (Some(color), Some(of_whole)) = (color, of_whole) {
                (color.written, color.resolves) = (of_whole.written, of_whole.resolves);
            }
        }
        let stores = |target: Option<DepthTarget>| target.is_some_and(|target| target.store);
        if let Some(depth) = &mut self.depth {
            depth.store = stores(whole.depth);
        }
        if let Some(stencil) = &mut self.stencil {
            stencil.store = stores(whole.stencil);
        }
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// What the pass does if the heap is exhausted while it is tiled, once [`Recorder::find_increments`] has found it out.
    pub(super) fn increments(&self) -> Option<&Increments> {
        let passes = self.passes.as_ref()?;
        passes.targets.last().template.increments.as_ref()
    }

    /// Finds out what the pass does if the heap is exhausted while it is tiled: as for the last pass of its template, or made now.
    /// `shaders` load what the pass itself does, by layers.
    #[inline]
    pub(super) fn find_increments(
        &mut self,
        around: &Around,
        layers: &[(u32, Option<FrameShaders>)],
    ) -> Result<(), Error> {
        let wanted = (around.locations, around.last_provokes);
        let is_same = |known: &Increments| (known.locations, known.last_provokes) == wanted;
        if self.increments().is_some_and(is_same) {
            return Ok(());
        }
        self.make_increments(around, layers)
    }

    #[cold]
    #[inline(never)]
    fn make_increments(
        &mut self,
        around: &Around,
        layers: &[(u32, Option<FrameShaders>)],
    ) -> Result<(), Error> {
        let whole = self.framebuffer().clone();
        let mut rendered = whole.clone();
        let mut loads = [None; MOST_LAYERS as usize];
        let mut all = Vec::<OfLayer, { MOST_LAYERS as usize }>::new();
        for _ in layers {
            // There is room: passes have no more layers.
            let _ = all.push([GpuAddress(0); RENDERS.len()]);
        }
        for (number, render) in RENDERS.into_iter().enumerate() {
            let is_new = rendered.become_render(self.device, render, &whole)?;
            if !is_new {
                self.take_over(&mut all, render, around, layers)?;
                continue;
            }
            for (((layer, own), loads), place) in layers.iter().zip(&mut loads).zip(&mut all) {
                let frame_shaders = match (render, *loads) {
                    (Render::First, _) => *own,
                    // Those of the middle.
                    (Render::Last, loads) => loads,
                    (Render::Middle, _) => {
                        *loads = self.load_shaders(&rendered.loaded(), *layer)?;
                        *loads
                    }
                };
                let around = Around {
                    frame_shaders,
                    tiler: None,
                    ..*around
                };
                if let Some(place) = place.get_mut(number) {
                    *place = self.place_render(&rendered, *layer, &around)?;
                }
            }
        }
        let code = self.handler_code(whole.tag(), &all)?;
        let mut last = [GpuAddress(0); MOST_LAYERS as usize];
        for ((layer, _), [_, _, of_layer]) in layers.iter().zip(&all) {
            if let Some(place) = last.get_mut(*layer as usize) {
                *place = *of_layer;
            }
        }
        let made = Increments {
            handler: self.place_handler(&code)?,
            last,
            locations: around.locations,
            last_provokes: around.last_provokes,
        };
        if let Some(passes) = &mut self.passes {
            passes.targets.last_mut().template.increments = Some(made);
        }
        Ok(())
    }

    /// Descriptors of a render that does what is described already: the first what the whole pass does, the last what the middle does.
    fn take_over(
        &mut self,
        all: &mut [OfLayer],
        render: Render,
        around: &Around,
        layers: &[(u32, Option<FrameShaders>)],
    ) -> Result<(), Error> {
        for ([first, middle, last], (layer, frame_shaders)) in all.iter_mut().zip(layers) {
            let around = Around {
                frame_shaders: *frame_shaders,
                ..*around
            };
            match render {
                // A copy: commands that are submitted again need the pass's own.
                Render::First => *first = self.place_framebuffer(*layer, &around)?,
                Render::Middle | Render::Last => *last = *middle,
            }
        }
        Ok(())
    }

    /// Writes the descriptor of a layer for a render, where the handler can write its tiler context into it.
    fn place_render(
        &mut self,
        render: &Framebuffer,
        layer: u32,
        around: &Around,
    ) -> Result<GpuAddress, Error> {
        let bytes = (render.words() as u32).saturating_mul(4);
        let (memory, at) = self.written_room(bytes)?;
        let arch = self.arch();
        let platform = &mut self.device.hw.platform;
        let mut place = memory;
        render.write(arch, layer, around, |words| {
            platform.write_words(place, words);
            place = place.offset((words.len() as u64).saturating_mul(8));
        })?;
        platform.clean(memory.span(bytes.into()));
        Ok(at)
    }

    /// The handler of passes whose layers have these descriptors, with `tag` below their addresses.
    fn handler_code(&self, tag: u64, layers: &[OfLayer]) -> Result<Vec<u64, MOST_CODE>, Error> {
        let (words, encoded) = (self.words()?, self.encoded()?);
        let of = &encoded.increments;
        let mut code = Vec::<u64, MOST_CODE>::new();
        let mut put = |it: Checked| {
            // There is room: MOST_CODE counts what handlers of the most layers have.
            let _ = code.push(it.word());
        };
        // What the last pass has on the slot that this handler's jobs count on is over before they begin.
        put(of.wait_for_iterators);
        if !layers.is_empty() {
            let per_layer = 4;
            let of_render = i16::try_from(layers.len().saturating_mul(per_layer));
            let of_render = of_render.unwrap_or(i16::MAX);
            // The tag is below 64.
            let tiler = i32::from(TILER).saturating_sub(tag as i32);
            let store_context = of.store_rendered.with(tiler);
            let render = |descriptor: GpuAddress| {
                [
                    encoded.framebuffer.with_address(descriptor.0 | tag),
                    store_context,
                    words.wait_others(),
                    encoded.run_fragment,
                ]
            };
            let behind = of_render.saturating_add(1);
            put(of.to_middle.with(behind.into()));
            for [first, _, _] in layers {
                render(*first).into_iter().for_each(&mut put);
            }
            put(of.to_end.with(of_render.into()));
            for [_, middle, _] in layers {
                render(*middle).into_iter().for_each(&mut put);
            }
            put(of.wait_for_iterators);
        }
        put(encoded.tiling.load_completed);
        put(words.wait_others());
        put(of.finish);
        of.empty_list.into_iter().for_each(&mut put);
        for [_, _, last] in layers {
            put(of.descriptor.with_address(last.0));
            put(of.store_context);
        }
        put(of.rendered.with(1));
        // What was stored is loaded through caches that nothing keeps coherent.
        put(words.flush_always());
        put(words.flush(Reach::ReadOnly));
        put(words.wait_others());
        Ok(code)
    }

    fn place_handler(&mut self, code: &[u64]) -> Result<(GpuAddress, u32), Error> {
        let bytes = (code.len() as u32).saturating_mul(8);
        let (memory, at) = self.in_lane(SubQueue::Fragment, |it| it.room(bytes))?;
        self.device.hw.platform.write_words(memory, code);
        Ok((at, bytes))
    }

    /// Waits in the lane of fragments until the pass of a tiler context is tiled. The handler is installed meanwhile.
    #[inline(always)]
    pub(super) fn add_wait_until_tiled(
        &mut self,
        context: GpuAddress,
        (handler, bytes): (GpuAddress, u32),
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let wait = self.wait_words(SubQueue::Fragment, SubQueue::VertexTiler)?;
        let encoded = self.encoded()?;
        let of = &encoded.increments;
        batch.put_all([
            encoded.tiling.context.with_address(context.0),
            of.rendered.with(0),
            of.handler.with_address(handler.0),
            of.length.with(bytes),
            of.set_handler,
        ]);
        if let Some(wait) = wait {
            batch.put_all(wait);
        }
        batch.put_all([of.length.with(0), of.set_handler]);
        Ok(())
    }

    /// The same for a pass that was dropped: nothing of it is rendered.
    pub(super) fn wait_until_dropped_is_tiled(
        &mut self,
        context: GpuAddress,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let code = self.handler_code(0, &[])?;
        let handler = self.place_handler(&code)?;
        self.add_wait_until_tiled(context, handler, batch)
    }
}

/// Goes on so many instructions further, by whether something was rendered.
const fn branch(condition: Condition, offset: i16) -> Branch {
    Branch {
        condition,
        value: RENDERED,
        offset,
    }
}

/// Stores where the tiler context is.
const fn store_context(address: Pair, offset: i16) -> StoreMultiple {
    StoreMultiple {
        base_register: CONTEXT.low(),
        mask: RegMask::first(2),
        address,
        offset,
    }
}
