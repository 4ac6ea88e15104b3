//! Images and buffers over memory that is not the device's: a display's picture that passes render to and shaders read.

use super::super::bench::{BLUE_WORD, Bench, SIDE, check};
use super::flat;
use super::views::drawn;
use crate::bench::OrFail;
use alloc::string::ToString;
use alloc::vec;
use core::ops::Range;
use eitri_runtime::{
    DmaRegion, Error, ImageInfo, ImageSubresource, PhysicalAddress, Placement, Platform,
    RenderingInfo, Tiling, ViewInfo,
};

const ROW: u32 = 512;
const OFFSET: u32 = 64;
const BYTES: u64 = 10 * 4096;

/// Memory of somebody else's, with a word in every place.
fn display(it: &Bench) -> DmaRegion {
    let mut platform = it.machine.platform();
    let region = platform.allocate(BYTES, 4096).or_fail("there is memory");
    for place in (0..BYTES).step_by(4) {
        platform.store32(region.start().offset(place), 0x1234_5678);
    }
    platform.clean(region.span());
    platform.publish();
    region
}

fn picture(it: &Bench, tiling: Tiling) -> ImageInfo {
    ImageInfo {
        placed: Some(Placement {
            offset: OFFSET,
            row_bytes: ROW,
        }),
        ..flat(it, "R8G8B8A8_UNORM", [SIDE, SIDE], tiling)
    }
}

/// A pass writes rows where the display has them, and nothing beside them.
pub(crate) fn a_displays_picture_is_rendered_where_it_lies() {
    let mut it = Bench::new();
    let region = display(&it);
    let info = picture(&it, Tiling::Linear);
    let image = it.device.import_image(it.space, region.span(), info);
    let image = image.or_fail("it is lent");
    it.record(|recorder| {
        let pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.end_rendering()
    });
    it.run();
    let rows = it.device.scan_out(image).or_fail("it is there");
    let rows = rows.or_fail("its rows lie one behind the other");
    assert_eq!(rows.memory, region.start().offset(OFFSET.into()));
    assert_eq!((rows.row_bytes, rows.width), (ROW.into(), SIDE));
    let mut platform = it.machine.platform();
    for place in (0..BYTES).step_by(4) {
        let found = platform.load32(region.start().offset(place));
        let inside = place.checked_sub(OFFSET.into()).is_some_and(|place| {
            place / u64::from(ROW) < SIDE.into() && place % u64::from(ROW) < u64::from(4 * SIDE)
        });
        let wanted = if inside { BLUE_WORD } else { 0x1234_5678 };
        assert_eq!(found, wanted, "byte {place}");
    }
    it.device.destroy_image(image).or_fail("no job uses it");
    let taken = it.machine.memory_in_use();
    let again = it.device.import_image(it.space, region.span(), info);
    let again = again.or_fail("the platform has had it back");
    it.device.destroy_image(again).or_fail("no job uses it");
    assert_eq!(it.machine.memory_in_use(), taken, "nothing is left of it");
}

/// Shaders see what the memory's owner has written, and what it writes later; commands copy from a buffer there.
pub(crate) fn shaders_read_what_somebody_else_writes() {
    let mut it = Bench::new();
    let region = display(&it);
    let info = picture(&it, Tiling::Linear);
    let image = it.device.import_image(it.space, region.span(), info);
    let image = image.or_fail("it is lent");
    let view = ViewInfo::of(&info);
    for seed in [1_u32, 2] {
        let value = |x: u32, y: u32| (y * SIDE + x).wrapping_mul(seed * 0x0101_0305);
        it.device.scan_out(image).or_fail("it is there");
        let mut platform = it.machine.platform();
        for (x, y) in (0..SIDE * SIDE).map(|number| (number % SIDE, number / SIDE)) {
            let place = OFFSET + y * ROW + 4 * x;
            platform.store32(region.start().offset(place.into()), value(x, y));
        }
        platform.clean(region.span());
        platform.publish();
        it.device
            .imported_image_changed(image)
            .or_fail("it is there");
        let found = drawn(&mut it, image, &view);
        check(&found, 0, value);
    }
    it.device.destroy_image(image).or_fail("no job uses it");
    let changed = it.device.imported_image_changed(image);
    assert!(changed.is_err(), "the image is gone");
    let source = it.device.import_buffer(it.space, region.span());
    let source = source.or_fail("it is lent");
    let target = it.bytes_buffer(&[0; 4096]);
    it.record(|recorder| {
        recorder.copy_buffer((source, 8 * 4096), (target, 0), 4096)?;
        Ok(())
    });
    it.run();
    let mut bytes = vec![0; 4096];
    it.device
        .read_buffer(target, 0, &mut bytes)
        .or_fail("it is there");
    let last = bytes.last_chunk().map(|word| u32::from_le_bytes(*word));
    assert_eq!(last, Some(0x1234_5678));
    it.device.destroy_buffer(source).or_fail("no job uses it");
}

/// Tiles lie where the caller says, too.
pub(crate) fn tiles_in_memory_of_somebody_else_are_copied() {
    let mut it = Bench::new();
    let region = display(&it);
    let mut info = picture(&it, Tiling::UInterleaved);
    info.placed = Some(Placement {
        offset: OFFSET,
        row_bytes: 5 * 1024,
    });
    let image = it.device.import_image(it.space, region.span(), info);
    let image = image.or_fail("it is lent");
    let texels = super::noise((SIDE * SIDE * 4) as usize, 4);
    let buffer = it.bytes_buffer(&texels);
    it.record(|recorder| {
        let copy = eitri_runtime::BufferImageCopy {
            subresource: ImageSubresource::default(),
            extent: [SIDE, SIDE, 1],
            ..Default::default()
        };
        recorder.copy_buffer_to_image(buffer, image, &copy)?;
        Ok(())
    });
    it.run();
    let found = drawn(&mut it, image, &ViewInfo::of(&info));
    let wanted = super::words(&texels);
    check(&found, 0, |x, y| wanted[(y * SIDE + x) as usize]);
    let mut platform = it.machine.platform();
    // Behind the four tiles of the first row.
    let gap = platform.load32(region.start().offset(u64::from(OFFSET) + 4 * 1024));
    assert_eq!(gap, 0x1234_5678);
}

/// Each refusal says what is wrong with the memory, or with the image.
pub(crate) fn imports_that_can_not_be_are_refused() {
    let mut it = Bench::new();
    let region = display(&it);
    let info = picture(&it, Tiling::Linear);
    let (start, end) = (region.span().start.0, region.span().end.0);
    let mut refused = |memory: Range<u64>, info: ImageInfo| {
        let memory = PhysicalAddress(memory.start)..PhysicalAddress(memory.end);
        let made = it.device.import_image(it.space, memory, info);
        made.err().or_fail("it is refused")
    };
    let offset = start + 64;
    assert_eq!(refused(offset..end, info), Error::Misaligned { offset });
    let small = refused(start..start + 4096, info);
    let bytes = u64::from(ROW * SIDE);
    let outside = Error::Outside {
        offset: 64,
        bytes,
        size: 4096,
    };
    assert_eq!(small, outside);
    let nowhere = 0xFFFF_0000_0000..0xFFFF_0010_0000;
    let text = refused(nowhere, info).to_string();
    assert!(text.contains("which the platform does not lend"), "{text}");
    let unplaced = ImageInfo {
        placed: None,
        ..info
    };
    let text = refused(start..end, unplaced).to_string();
    assert!(text.contains("ImageInfo::placed says it"), "{text}");
    let made = it.device.create_image(it.space, info);
    let text = made.err().or_fail("it is refused").to_string();
    assert!(text.contains("Device::import_image makes it"), "{text}");
    let image = it.device.import_image(it.space, region.span(), info);
    let image = image.or_fail("it is lent");
    let mut bytes = vec![0; (SIDE * SIDE * 4) as usize];
    let read = it.device.read_image(image, Default::default(), &mut bytes);
    let text = read.err().or_fail("it is refused").to_string();
    assert!(text.contains("Device::scan_out"), "{text}");
}
