//! Beginnings of lanes: what all commands of a stream need, encoded and checked once for a device.
//!
//! Facts: hardware/graphics.md 1.3 to 1.5 and 1.11, command-stream.md 6.7 to 6.9.

use super::encoded::OfIterator;
use super::lane::{ONE, OTHERS, OWN, TEMPORARY};
use super::tiler_page::{BASE, HEAP_CONTEXT, PAGE, count_of};
use crate::queue::SubQueue;
use eitri_cs::builder::{BuildFault, Checked, Config, Load64};
use eitri_cs::enums::{StreamState, SyncScope};
use eitri_cs::instr::{
    AddImm64, HeapSet, LoadMultiple, ReqResource, SetStateImm32, SyncSet64, Wait,
};
use eitri_cs::{Arch, RegMask};
use heapless::Vec;

/// Instructions at most.
const MOST: usize = 9;

/// The instructions that a lane begins with.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneBegin {
    words: [u64; MOST],
    count: usize,
}

impl LaneBegin {
    /// Those of a stream, which begins with the first of its iterators.
    ///
    /// # Errors
    /// If the stream does not have them.
    pub(super) fn new(
        config: &Config,
        stream: SubQueue,
        first: &OfIterator,
    ) -> Result<LaneBegin, BuildFault> {
        let resources = match stream {
            SubQueue::Fragment => ReqResource {
                fragment: true,
                ..ReqResource::default()
            },
            _ => ReqResource {
                tiler: true,
                idvs: true,
                ..ReqResource::default()
            },
        };
        let mut all = Vec::<Checked, MOST>::new();
        // There is room for all of them.
        let _ = all.push(config.checked(resources)?);
        if config.arch >= Arch::V11 {
            let select = config.checked(SetStateImm32 {
                state: StreamState::SelectOther,
                value: OTHERS.number().into(),
            });
            let _ = all.push(select?);
        }
        let (one, _) = Load64::new(config, ONE)?.with(1);
        let _ = all.extend_from_slice(&[
            first.select,
            config.checked(AddImm64 {
                destination: OWN,
                source: PAGE,
                immediate: i32::try_from(count_of(stream)).unwrap_or(i32::MAX),
            })?,
            config.checked(SyncSet64 {
                address: OWN,
                data: BASE,
                scope: SyncScope::Csg,
                ..SyncSet64::default()
            })?,
            one,
            config.checked(LoadMultiple {
                base_register: TEMPORARY.low(),
                mask: RegMask::first(2),
                address: PAGE,
                offset: HEAP_CONTEXT,
            })?,
            config.checked(Wait {
                wait_mask: OTHERS.mask(),
                ..Wait::default()
            })?,
            config.checked(HeapSet { address: TEMPORARY })?,
        ]);
        let mut words = [0; MOST];
        for (word, it) in words.iter_mut().zip(&all) {
            *word = it.word();
        }
        let count = all.len();
        Ok(LaneBegin { words, count })
    }

    /// Them.
    pub(super) fn words(&self) -> &[u64] {
        self.words.get(..self.count).unwrap_or_default()
    }
}
