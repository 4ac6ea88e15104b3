//! Rows of graphics in the codes of errors: see `error_code/rows.rs`.

use super::error::{Attachment, GraphicsError, Inherited, Unsupported};
use super::failed::read_failed_pass;
use super::failed_pass::FailedPass;
use super::tiler_heap::TilerHeapConfig;
use crate::error_code::{Coded, Source, Words, values, variants};
use crate::handle::TilerHeap;

#[rustfmt::skip]
variants! {
    GraphicsError {
        0 Unsupported { what, target };
        1 Attachments { found, most };
        2 Mismatch { attachment };
        3 Format { attachment, format };
        4 NoPart { attachment, level, layer };
        5 TileBuffer { bytes };
        6 Samples { samples };
        7 Area;
        8 Stage { wanted };
        9 Input { location };
        0xA NoAttribute { location };
        0xB Attribute { location };
        0xC Binding { binding, most };
        0xD NoPipeline;
        0xE NoVertexBuffer { binding };
        0xF NoIndexBuffer;
        0x10 Compatible;
        0x11 ProvokingVertex;
        0x12 NotResumed;
        0x13 PassLeaked;
        0x20 QueryBegun;
        0x21 NoQueryBegun;
        0x22 Topology;
        0x23 NotDraws;
        0x24 NotInherited { what };
        0x25 BarrierInPass;
        0x26 OnlyDraws;
    }
    Attachment {
        0 Color(location);
        1 Depth;
        2 Stencil;
    }
    Inherited {
        0 Attachment(attachment);
        1 Samples;
        2 Size;
        3 Layers;
        4 Views;
    }
    Unsupported {
        2 Blend;
        3 BlendConstants;
        4 Layers;
        5 Secondary;
        0x20 ResolveMode;
        0x21 LinearBlit;
        0x22 SecondaryQuery;
    }
}

values! {
    TilerHeapConfig { chunk_bytes, initial, most, reserve, passes }
}

impl Coded for TilerHeap {
    fn put(&self, to: &mut Words<'_, '_>) {
        to.number(self.to_bits());
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        TilerHeap::from_bits(from.number()?)
    }
}

/// Its numbers are written where passes are: an image that has none does without.
impl Coded for FailedPass {
    fn put(&self, to: &mut Words<'_, '_>) {
        (self.words.code)(self, &mut |number| to.number(number));
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        read_failed_pass(&mut || from.number())
    }
}
