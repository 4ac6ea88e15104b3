//! Drawing: what a device has from the first tiler heap on that a queue gets.

use super::compressed_copies::copy_compressed;
use super::draw_uniforms::StateWords;
use super::encoded::EncodedDraws;
use super::failed::{FailedPasses, News};
use super::failed_pass::FailedPass;
use super::part_shapes::PartShapes;
use super::tile::TileLimits;
use super::tiler_page::{BASE, PAGE};
use crate::command::{CommandError, CompressedCopy, NO_DRAWING, Recorder};
use crate::device::{Device, SubmitParts};
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::PartShape;
use crate::resource::ImageInfo;
use crate::slab::Key;
use core::fmt;

/// The parts that only a device with graphics needs. They are reached by pointers, so that an image that never draws has none of their code.
pub(crate) struct Drawing<'s, 'd, P> {
    submit: SubmitParts<'s, 'd, P>,
    /// Answers that the GPU was stopped with jobs of a group in it.
    lose: fn(&mut Device<'s, 'd, P>, Key),
    /// Copies texels to or from an image that is compressed without loss.
    copy_compressed: CopyCompressed<'s, 'd, P>,
    /// Names what failed of passes.
    name_failed: fn(&mut Device<'s, 'd, P>, News),
    /// Failed passes of jobs whose faults are not there yet.
    pub(super) failed: FailedPasses,
    pub(crate) part_shape: PartShape,
    /// Instructions of draws.
    pub(super) encoded: EncodedDraws,
    /// Descriptors that draws write.
    pub(super) shapes: PartShapes,
    /// Words of uniforms that draws said last.
    pub(super) state_words: StateWords,
    /// What a pass has of tile buffers.
    pub(super) tiles: TileLimits,
}

impl<'s, 'd, P> Drawing<'s, 'd, P> {
    /// Submits commands with parts.
    pub(crate) const fn submit(&self) -> SubmitParts<'s, 'd, P> {
        self.submit
    }
}

type CopyCompressed<'s, 'd, P> =
    for<'a, 'r> fn(&'a mut Recorder<'r, 's, 'd, P>, &'a CompressedCopy) -> Result<(), Error>;

impl<P> fmt::Debug for Drawing<'_, '_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Drawing")
    }
}

impl<P: Platform> Device<'_, '_, P> {
    /// Lets the device draw from here on.
    pub(super) fn enable_drawing(&mut self) -> Result<(), Error> {
        if self.drawing.is_some() {
            return Ok(());
        }
        let words = self.words.as_ref();
        let config = words.map_err(|fault| CommandError::Build(*fault))?.config();
        let part_shape = PartShape::new(config, PAGE, BASE).map_err(CommandError::Build)?;
        let encoded = EncodedDraws::new(config).map_err(CommandError::Build)?;
        let shapes = PartShapes::new(self.hw.properties.arch).map_err(CommandError::from)?;
        let properties = &self.hw.properties;
        let tiles = TileLimits::of(properties.arch, properties.name());
        self.drawing = Some(Drawing {
            submit: Self::submit_parts,
            lose: Self::lose_parts,
            copy_compressed,
            name_failed: Self::name_failed_passes,
            failed: FailedPasses::new(),
            part_shape,
            encoded,
            shapes,
            state_words: StateWords::NOTHING,
            tiles,
        });
        Ok(())
    }

    /// The GPU was stopped with jobs of a group in it: what has begun of a submission takes the rest of it along.
    pub(crate) fn lose_begun_parts(&mut self, key: Key) {
        if let Some(lose) = self.drawing.as_ref().map(|drawing| drawing.lose) {
            lose(self, key);
        }
    }

    /// Failed passes of jobs whose faults are not there yet.
    pub(crate) fn failed_passes(&self) -> &[(Key, FailedPass)] {
        let failed = self.drawing.as_ref().map(|drawing| &*drawing.failed);
        failed.unwrap_or_default()
    }

    /// Whether failed passes are kept whose faults are not there yet.
    pub(crate) fn has_named(&self) -> bool {
        let kept = self.drawing.as_ref().map(|drawing| drawing.failed.len());
        kept.is_some_and(|kept| kept > 0)
    }

    /// Names what failed of the passes that the news is about, if there are passes.
    #[inline(never)]
    pub(crate) fn name_failed(&mut self, news: News) {
        if let Some(name) = self.drawing.as_ref().map(|drawing| drawing.name_failed) {
            name(self, news);
        }
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Copies texels to or from an image that is compressed without loss.
    ///
    /// # Errors
    /// If no queue of the device draws: it has not the code of that then.
    pub(crate) fn copy_compressed(
        &mut self,
        info: &ImageInfo,
        copy: &CompressedCopy,
    ) -> Result<(), Error> {
        let drawing = self.device.drawing.as_ref();
        let copy_compressed = drawing.map(|drawing| drawing.copy_compressed);
        let missing = || info.refused(NO_DRAWING);
        copy_compressed.ok_or_else(missing)?(self, copy)
    }
}
