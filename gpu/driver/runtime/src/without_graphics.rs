//! Graphics of a build without the feature `draw`: the names that the rest of the crate uses, and nothing behind them.
//!
//! Stands in the place of `graphics/mod.rs`. What only graphics makes has a type without values, so that its place has no size
//! and the compiler leaves out what would be done with it.

use crate::access::SharedBlock;
use crate::command::{Accesses, CommandError, CompressedCopy, NO_DRAWING, Recorder};
use crate::device::{Device, NoSuchHeap, SubmitParts};
use crate::error::Error;
use crate::error_code::{Coded, Source, Words};
use crate::platform::Platform;
use crate::resource::ImageInfo;
use crate::slab::Key;
use core::cell::RefCell;
use core::convert::Infallible;
use core::fmt;
use core::marker::PhantomData;

#[path = "graphics/failed/news.rs"]
mod news;

pub(crate) use news::{FailedAccess, News};

pub(crate) type DrawStatePlace = RefCell<Option<Infallible>>;
pub(crate) type FailedPass = Infallible;
pub(crate) type GraphicsPipelined = Infallible;
pub(crate) type GraphicsError = Infallible;
pub(crate) type Heap = Infallible;
pub(crate) type InheritedPass = Infallible;
pub(crate) type PassParts = Infallible;
pub(crate) type PipelineColors = Infallible;
pub(crate) type TilerBinding = Infallible;
pub(crate) type TilerHeap = Infallible;
pub(crate) type TilerHeapConfig = Infallible;

/// No device draws.
#[derive(Debug)]
pub(crate) struct Drawing<'s, 'd, P>(Infallible, PhantomData<fn(&mut Device<'s, 'd, P>)>);

impl<'s, 'd, P> Drawing<'s, 'd, P> {
    pub(crate) const fn submit(&self) -> SubmitParts<'s, 'd, P> {
        match self.0 {}
    }
}

/// Every job is a whole submission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobPart;

impl JobPart {
    pub(crate) const WHOLE: JobPart = JobPart;

    pub(crate) const fn whole(self) -> Option<Key> {
        None
    }
}

/// No commands have render passes.
#[derive(Debug)]
pub(crate) struct Passes<'r, 's, 'd, P>(Infallible, PhantomData<fn(&mut Recorder<'r, 's, 'd, P>)>);

impl<P: Platform> Device<'_, '_, P> {
    pub(crate) const fn lose_begun_parts(&mut self, _: Key) {}

    pub(crate) const fn failed_passes(&self) -> &[(Key, FailedPass)] {
        &[]
    }

    pub(crate) const fn has_named(&self) -> bool {
        false
    }

    pub(crate) const fn name_failed(&mut self, _: News) {}

    pub(crate) const fn grow_tiler_heap(
        &mut self,
        _: Key,
        _: SharedBlock,
    ) -> Result<Option<u64>, NoSuchHeap> {
        Err(NoSuchHeap)
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    pub(crate) const fn order_streams(&mut self, _: Accesses, _: Accesses) -> Result<(), Error> {
        Ok(())
    }

    pub(crate) const fn finish_lanes(&mut self) -> Result<Option<PassParts>, Error> {
        Ok(None)
    }

    pub(crate) fn copy_compressed(
        &mut self,
        info: &ImageInfo,
        _: &CompressedCopy,
    ) -> Result<(), Error> {
        Err(info.refused(NO_DRAWING).into())
    }
}

/// No commands are recorded for render passes, so that none are refused for it.
pub(crate) const fn only_draws() -> Error {
    Error::Command(CommandError::NotSecondary)
}

pub(crate) fn fmt_refused_heap(
    config: &TilerHeapConfig,
    _: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    match *config {}
}

/// Errors of graphics have no codes.
impl Coded for Infallible {
    fn put(&self, _: &mut Words<'_, '_>) {
        match *self {}
    }

    fn take(_: &mut dyn Source) -> Option<Self> {
        None
    }
}
