//! Copies of texels and bytes, by kernels of the runtime's own on the compute stream.
//!
//! Between buffers and images, and between images, one region after the other: of every aspect, level, layer, slice and sample, and
//! of compressed formats block by block. Regions that are recorded without a barrier between them may overlap in time, as Vulkan has
//! it. Barriers order them as [`super::Accesses::TRANSFER_READ`] and [`super::Accesses::TRANSFER_WRITE`].
//! Facts: hardware/command-stream.md 4.1 and 6.12, hardware/graphics-framebuffer.md 5.8.

mod kernel;
mod region;
mod side;

pub(crate) use kernel::{CLAMP, Element, Order, SIDE_UNIFORMS, UNIFORMS, element_place};
pub use region::{BufferImageCopy, ImageCopy, ImageSubresource};
pub(crate) use side::{CompressedRegion, Side};

use super::dispatch::{COUNT_SHIFT, MOST_WORDS};
use super::emitter::PipelineState;
use super::own_code::{OwnCode, descriptors_of};
use super::recorder::Recorder;
use super::task::task_shape;
use super::words::{Grid, Wide};
use crate::error::{Error, Thing};
use crate::handle::{Buffer, Image};
use crate::platform::Platform;
use crate::resource::{ImageError, ImageInfo};
use crate::resource::{local_storage, pack};
use crate::vm::GpuAddress;
use eitri_descriptors::Address;
use eitri_descriptors::shader::{
    ComputeSizeWorkgroup, Preload, ShaderProgram, ShaderRegisterAllocation, ShaderStage,
};
use eitri_program::ImageDimension;
use kernel::Kernel;
use side::Region;

/// Registers of a thread: the kernels use fewer than 32.
const REGISTERS: u32 = 32;
/// Threads of a workgroup along x and y: of regions, and of a single row.
const REGION_GROUP: [u32; 2] = [16, 4];
const ROW_GROUP: [u32; 2] = [64, 1];
/// Most elements of a single row: their numbers stay far below 2^32.
const MOST_ELEMENTS: u64 = 1 << 30;
/// What [`kernel::TILES`](kernel) spreads bits with.
pub(crate) const SPREAD: [u32; 2] = [0x33, 0x55];

/// Elements that are copied.
struct Copy {
    element: Element,
    from: Side,
    to: Side,
    /// Elements along x and y, and slices.
    count: [u32; 3],
}

/// Texels that are copied to or from an image that is compressed without loss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompressedCopy {
    pub(crate) how: CompressedSides,
    pub(crate) element: Element,
    /// Texels along x and y, and layers.
    pub(crate) count: [u32; 3],
}

/// Which sides of a copy are compressed without loss.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CompressedSides {
    From(CompressedRegion, Side),
    To(Side, CompressedRegion),
    Both(CompressedRegion, CompressedRegion),
}

/// Message of the refusal of copies of compressed images where no queue draws.
pub(crate) const NO_DRAWING: &str =
    "is compressed (AFBC), so that its copies need a device that draws: no queue has a tiler heap";

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Copies texels from a buffer into an image.
    ///
    /// # Errors
    /// If the region is not in the image or not in the buffer, is misaligned or no whole blocks; if something was destroyed or is in
    /// another space; or if there is no memory for more commands.
    pub fn copy_buffer_to_image(
        &mut self,
        source: Buffer,
        target: Image,
        region: &BufferImageCopy,
    ) -> Result<&mut Self, Error> {
        self.copy_with_buffer((source, target), region, true)?;
        self.writes_texels = true;
        Ok(self)
    }

    /// Copies texels from an image into a buffer.
    ///
    /// # Errors
    /// As [`Recorder::copy_buffer_to_image`].
    pub fn copy_image_to_buffer(
        &mut self,
        source: Image,
        target: Buffer,
        region: &BufferImageCopy,
    ) -> Result<&mut Self, Error> {
        self.copy_with_buffer((target, source), region, false)?;
        Ok(self)
    }

    fn copy_with_buffer(
        &mut self,
        (buffer, image): (Buffer, Image),
        it: &BufferImageCopy,
        is_upload: bool,
    ) -> Result<(), Error> {
        let (info, address) = self.image_of(image)?;
        let region = Region::of(&info, it.subresource, it.offset, it.extent)?;
        if info.samples > 1 {
            return Err(incompatible(&info, &info).into());
        }
        let element = element_of(&info, region.element())?;
        let [across, down] = info.format.block();
        let or_all = |given: u32, block: u32, all: u32| match given {
            0 => all,
            given => given.div_ceil(block.max(1)),
        };
        let [width, height, slices] = region.count;
        let row = or_all(it.row_length, across, width);
        let rows = or_all(it.image_height, down, height);
        let bytes = |elements: u32| u64::from(elements).saturating_mul(element.bytes().into());
        let (row, rows) = (bytes(row), u64::from(rows));
        let slice = row.saturating_mul(rows);
        let before =
            |count: u32, stride: u64| u64::from(count).saturating_sub(1).saturating_mul(stride);
        let end = before(slices, slice)
            .saturating_add(before(height, row))
            .saturating_add(bytes(width));
        let base = self.bytes_of(buffer, it.buffer_offset, end, element.alignment())?;
        let of_buffer = Side {
            base: base.0,
            first: [0; 2],
            row: u32::try_from(row).unwrap_or(u32::MAX),
            slice,
            order: Order::Rows,
            tile_log2: 0,
        };
        if info.is_afbc() {
            let image = region.compressed(image, it.subresource);
            let how = if is_upload {
                CompressedSides::To(of_buffer, image)
            } else {
                CompressedSides::From(image, of_buffer)
            };
            let count = region.count;
            return self.copy_compressed(
                &info,
                &CompressedCopy {
                    how,
                    element,
                    count,
                },
            );
        }
        let of_image = region.side(address.0, 0);
        let (from, to) = if is_upload {
            (of_buffer, of_image)
        } else {
            (of_image, of_buffer)
        };
        self.copy_elements(&Copy {
            element,
            from,
            to,
            count: region.count,
        })
    }

    /// Copies texels between images, bit by bit: their formats have texels, or blocks, of as many bytes. Slices of an image of three
    /// dimensions are copied to layers, and the reverse. Regions of one image must not overlap.
    ///
    /// # Errors
    /// As [`Recorder::copy_buffer_to_image`]; or if the images' texels or samples differ in size or number.
    pub fn copy_image(
        &mut self,
        source: Image,
        target: Image,
        it: &ImageCopy,
    ) -> Result<&mut Self, Error> {
        let (of, from) = self.image_of(source)?;
        let (to_info, to) = self.image_of(target)?;
        let is_deep = |info: &ImageInfo| info.dimension == ImageDimension::ThreeD;
        let [width, height, depth] = it.extent;
        // The depth is one of layers where slices become layers, or the reverse.
        let depth = if is_deep(&of) || !is_deep(&to_info) {
            depth
        } else {
            1
        };
        let first = Region::of(&of, it.from, it.from_offset, [width, height, depth])?;
        let [width, height, slices] = first.count;
        // In texels of the destination, of which there may be fewer in its last blocks.
        let [across, down] = to_info.format.block();
        let [wide, high, _] = to_info.level_size(it.to.level);
        let [x, y, _] = it.to_offset;
        let fit = |count: u32, block: u32, first: u32, size: u32| {
            let texels = count.saturating_mul(block);
            if block > 1 {
                texels.min(size.saturating_sub(first))
            } else {
                texels
            }
        };
        let extent = [
            fit(width, across, x, wide),
            fit(height, down, y, high),
            if is_deep(&to_info) { slices } else { 1 },
        ];
        let second = Region::of(&to_info, it.to, it.to_offset, extent)?;
        let same = first.element() == second.element()
            && of.samples == to_info.samples
            && first.count == second.count;
        if !same {
            return Err(incompatible(&of, &to_info).into());
        }
        let element = element_of(&of, first.element())?;
        let (of_first, of_second) = (
            first.compressed(source, it.from),
            second.compressed(target, it.to),
        );
        let how = match (of.is_afbc(), to_info.is_afbc()) {
            (true, true) => Some((&of, CompressedSides::Both(of_first, of_second))),
            (true, false) => Some((&of, CompressedSides::From(of_first, second.side(to.0, 0)))),
            (false, true) => Some((
                &to_info,
                CompressedSides::To(first.side(from.0, 0), of_second),
            )),
            (false, false) => None,
        };
        if let Some((info, how)) = how {
            let count = first.count;
            self.copy_compressed(
                info,
                &CompressedCopy {
                    how,
                    element,
                    count,
                },
            )?;
            self.writes_texels = true;
            return Ok(self);
        }
        for sample in 0..of.samples {
            self.copy_elements(&Copy {
                element,
                from: first.side(from.0, sample),
                to: second.side(to.0, sample),
                count: first.count,
            })?;
        }
        self.writes_texels = true;
        Ok(self)
    }

    /// Copies `bytes` from one buffer, at `from`, into another, at `to`, whatever they are multiples of. Parts of one buffer must
    /// not overlap. [`Recorder::copy_buffer`] needs no shader cores, and copies words.
    ///
    /// # Errors
    /// If that is not inside the buffers, or there is no memory for more commands.
    pub fn copy_bytes(
        &mut self,
        (source, from): (Buffer, u64),
        (target, to): (Buffer, u64),
        bytes: u64,
    ) -> Result<&mut Self, Error> {
        let from = self.bytes_of(source, from, bytes, 1)?;
        let to = self.bytes_of(target, to, bytes, 1)?;
        let multiple = |of: Element| {
            let wanted = of.alignment();
            [from.0, to.0, bytes]
                .iter()
                .all(|it| it.is_multiple_of(wanted))
        };
        let sizes = [
            Element::Sixteen,
            Element::Eight,
            Element::Four,
            Element::Two,
        ];
        let element = sizes.into_iter().find(|it| multiple(*it));
        let element = element.unwrap_or(Element::One);
        let size = u64::from(element.bytes());
        let all = bytes.checked_div(size).unwrap_or(0);
        let mut done = 0_u64;
        while done < all {
            let now = all.saturating_sub(done).min(MOST_ELEMENTS);
            let skipped = done.saturating_mul(size);
            let side = |base: GpuAddress| Side {
                base: base.offset(skipped).0,
                first: [0; 2],
                row: 0,
                slice: 0,
                order: Order::Rows,
                tile_log2: 0,
            };
            self.copy_elements(&Copy {
                element,
                from: side(from),
                to: side(to),
                count: [now as u32, 1, 1],
            })?;
            done = done.saturating_add(now);
        }
        Ok(self)
    }

    /// An image that the commands refer to from here on, and where it is.
    fn image_of(&mut self, image: Image) -> Result<(ImageInfo, GpuAddress), Error> {
        let info = self.device.image_info(image)?;
        self.refer(image.0, Thing::Image)?;
        let object = self.device.object(image.0, Thing::Image)?;
        Ok((info, object.mapping.address()))
    }

    /// Where `bytes` of a buffer from `offset` on are, which the commands refer to from here on.
    fn bytes_of(
        &mut self,
        buffer: Buffer,
        offset: u64,
        bytes: u64,
        alignment: u64,
    ) -> Result<GpuAddress, Error> {
        self.device.check_part(buffer, offset, bytes)?;
        if !offset.is_multiple_of(alignment) {
            return Err(Error::Misaligned { offset });
        }
        self.refer(buffer.0, Thing::Buffer)?;
        Ok(self.device.buffer_address(buffer)?.offset(offset))
    }

    /// Copies elements: all slices at once, unless they lie too far apart.
    fn copy_elements(&mut self, copy: &Copy) -> Result<(), Error> {
        let [width, height, slices] = copy.count;
        let strides = [copy.from.slice, copy.to.slice];
        let near = strides.iter().all(|it| u32::try_from(*it).is_ok());
        let at_once = if near { slices } else { 1 };
        let mut slice = 0;
        while slice < slices {
            self.dispatch_copy(&Copy {
                element: copy.element,
                from: copy.from.at_slice(slice),
                to: copy.to.at_slice(slice),
                count: [width, height, at_once],
            })?;
            slice = slice.saturating_add(at_once.max(1));
        }
        Ok(())
    }

    fn dispatch_copy(&mut self, copy: &Copy) -> Result<(), Error> {
        let kernel = Kernel {
            element: copy.element,
            from: copy.from.order,
            to: copy.to.order,
        };
        let own = OwnCode::Copy(kernel.key());
        self.dispatch_kernel((own, &kernel.code()), (0, &uniforms(copy)), copy.count)
    }

    /// Runs a kernel of a copy, once for each element, with a resource table and uniforms.
    pub(crate) fn dispatch_kernel(
        &mut self,
        (own, words): (OwnCode, &[u64]),
        (resources, uniforms): (u64, &[u32; UNIFORMS]),
        [width, height, slices]: [u32; 3],
    ) -> Result<(), Error> {
        let arch = self.arch();
        let code = self.own_code(own, words, |code| {
            let program = pack(
                arch,
                ShaderProgram {
                    stage: ShaderStage::Compute,
                    register_allocation: ShaderRegisterAllocation::ThirtyTwoPerThread,
                    preload: Preload {
                        r48_r63: kernel::PRELOAD,
                        ..Preload::default()
                    },
                    binary: Address(code.0),
                    ..ShaderProgram::default()
                },
            )?;
            Ok([program, local_storage(arch, None, None)?])
        })?;
        let [program, storage] = descriptors_of(code);
        let uniforms = self.place(uniforms)?;
        let uniforms = uniforms.0 | (UNIFORMS as u64 / 2) << COUNT_SHIFT;
        let [across, down] = if height == 1 { ROW_GROUP } else { REGION_GROUP };
        let [workgroup] = pack(
            arch,
            ComputeSizeWorkgroup {
                workgroup_size_x: across,
                workgroup_size_y: down,
                workgroup_size_z: 1,
                allow_merging_workgroups: true,
            },
        )?;
        let grid = [width.div_ceil(across), height.div_ceil(down), slices];
        let at_once = self.device.hw.properties.threads_at_once(REGISTERS);
        let task = task_shape(across.saturating_mul(down), grid, at_once);
        let state = PipelineState {
            shader: program,
            storage,
            workgroup,
        };
        // The next dispatch loads what this one changes.
        self.made.forget_state();
        let run = self.words()?.run.with(task.axis, task.increment);
        self.emit(MOST_WORDS, |it| {
            it.wide(Wide::Resources, resources);
            it.wide(Wide::Uniforms, uniforms);
            it.state(&state);
            it.grid(Grid::First, [0; 3]);
            it.grid(Grid::Count, grid);
            it.put(run);
        })?;
        self.running.jobs = true;
        self.running.copies = true;
        self.unflushed = true;
        Ok(())
    }
}

/// The uniforms of a copy, as [`kernel`] reads them: limits, the two sides, and what bits are spread with.
fn uniforms(copy: &Copy) -> [u32; UNIFORMS] {
    let [width, height, _] = copy.count;
    let side = |side: &Side| side_uniforms(side, copy.element);
    let limits = [width.saturating_sub(1), height.saturating_sub(1)];
    let mut words = [0; UNIFORMS];
    let all = limits.into_iter().chain(side(&copy.from));
    let all = all.chain(side(&copy.to)).chain(SPREAD);
    for (word, value) in words.iter_mut().zip(all) {
        *word = value;
    }
    words
}

/// The uniforms of a side.
pub(crate) fn side_uniforms(side: &Side, element: Element) -> [u32; SIDE_UNIFORMS] {
    let [x, y] = side.first;
    let log2 = side.tile_log2;
    [
        side.base as u32,
        (side.base >> 32) as u32,
        side.row,
        x,
        // Slices that lie further apart are copied one by one.
        side.slice as u32,
        y,
        element.bytes(),
        log2,
        (1_u32 << log2).wrapping_sub(1),
        log2.saturating_add(log2),
    ]
}

/// The kernel's element for texels, or blocks, of so many bytes.
fn element_of(info: &ImageInfo, bytes: u32) -> Result<Element, ImageError> {
    let format = info.format.name;
    Element::of(bytes).ok_or(ImageError::Format { format })
}

fn incompatible(from: &ImageInfo, to: &ImageInfo) -> ImageError {
    ImageError::Incompatible {
        from: from.format.name,
        to: to.format.name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program takes addresses as two words each, wherever memory is.
    #[test]
    fn a_side_lies_anywhere_in_the_address_space() {
        let side = Side {
            base: 0x1234_5678_9ABC,
            first: [3, 5],
            row: 64,
            slice: 4096,
            order: Order::Tiles,
            tile_log2: 2,
        };
        let expected = [0x5678_9ABC, 0x1234, 64, 3, 4096, 5, 8, 2, 3, 4];
        assert_eq!(side_uniforms(&side, Element::Eight), expected);
        let copy = Copy {
            from: side,
            to: Side {
                base: 0x8765_0000_0000,
                tile_log2: 0,
                ..side
            },
            element: Element::Four,
            count: [7, 1, 1],
        };
        let words = uniforms(&copy);
        assert_eq!(words[..2], [6, 0], "the last column and row");
        assert_eq!(words[2..4], [0x5678_9ABC, 0x1234]);
        let to = 2 + SIDE_UNIFORMS;
        assert_eq!(words[to..to + 2], [0, 0x8765]);
        assert_eq!(words[to + 7..to + 10], [0, 0, 0], "elements in rows");
    }
}
