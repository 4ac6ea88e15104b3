//! How staging registers are laid out: the words that are more than one number, packed and unpacked.
//!
//! Facts: hardware/command-stream.md 4 (bits) and 4.7.

use crate::arch::Arch;
use crate::enums::{
    DrawMode, IndexType, PointSizeFormat, PositionFifoFormat, ShadingRate, ShadingRateCombiner,
};
use crate::field::FieldInfo;
use crate::instr::{DecodeError, EncodeError, codec};
use crate::table::define::{field_info, field_note, field_type};

/// The layout of a staging register.
#[derive(Debug, PartialEq, Eq)]
pub struct WordInfo {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub note: &'static str,
    /// Its fields; bits in no field are 0.
    pub fields: &'static [FieldInfo],
}

macro_rules! words {
    ($(
        $(#[doc = $note:literal])* $ty:ident {
            $( $field:ident : $field_ty:ident [$($bits:tt)*] $field_note:literal $(. $column:ident ($($argument:expr),*))* ; )*
        }
    )*) => {
        $(
            $(#[doc = $note])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $ty {
                $(
                    #[doc = field_note!($field : $field_ty [$($bits)*] $field_note)]
                    pub $field: field_type!($field : $field_ty),
                )*
            }

            impl $ty {
                /// Its layout.
                pub const INFO: WordInfo = WordInfo {
                    name: stringify!($ty),
                    note: concat!($($note),*).trim_ascii(),
                    fields: &[$( field_info!($field : $field_ty [$($bits)*] $field_note $(. $column($($argument),*))*) ),*],
                };

                /// The bits of the register, or of the pair.
                ///
                /// # Errors
                /// A field's bits can't hold its value.
                pub fn pack(&self, arch: Arch) -> Result<u64, EncodeError> {
                    let mut word = 0;
                    $(
                        let field = const { &field_info!($field : $field_ty [$($bits)*] $field_note $(. $column($($argument),*))*) };
                        word |= codec::put(stringify!($ty), field, self.$field, arch)?;
                    )*
                    Ok(word)
                }

                /// What the bits of the register, or of the pair, say. Bits in no field are not looked at.
                ///
                /// # Errors
                /// A field holds an undefined value.
                pub fn unpack(word: u64, arch: Arch) -> Result<Self, DecodeError> {
                    Ok($ty {$(
                        $field: {
                            let field = const { &field_info!($field : $field_ty [$($bits)*] $field_note $(. $column($($argument),*))*) };
                            codec::get(stringify!($ty), field, word, arch)?
                        },
                    )*})
                }
            }

            impl Default for $ty {
                fn default() -> Self {
                    $ty {$(
                        $field: codec::default(const {
                            field_info!($field : $field_ty [$($bits)*] $field_note $(. $column($($argument),*))*).columns.default
                        }),
                    )*}
                }
            }
        )*

        /// Every layout.
        pub const WORDS: &[&WordInfo] = &[$( &$ty::INFO ),*];
    };
}

#[rustfmt::skip]
words! {
    /// WG_SIZE: the size of a workgroup.
    WorkgroupSize {
        x_minus_1:                   u16[9:0]              "threads along X, minus 1";
        y_minus_1:                   u16[19:10]            "threads along Y, minus 1";
        z_minus_1:                   u16[29:20]            "threads along Z, minus 1";
        allow_merging_workgroups:    bool[31]              "workgroups may be merged: neither barriers nor shared memory";
    }

    /// FBD_POINTER: where the framebuffer descriptor is, and what follows it.
    FramebufferPointer {
        is_framebuffer:              bool[0]               "the type bit, 1" .default(1);
        zs_crc_extension_present:    bool[1]               "the depth/stencil/CRC extension follows";
        render_target_count_minus_1: u8[5:2]               "number of render targets, minus 1";
        address_shr_6:               u64[63:6]             "the address, divided by 64";
    }

    /// BBOX_MIN and BBOX_MAX: a pixel.
    PixelPoint {
        x:                           u16[15:0]             "X";
        y:                           u16[31:16]            "Y";
    }

    /// SCISSOR_BOX and VIEWPORT_HIGH: a rectangle of pixels, both corners inside.
    PixelRect {
        min_x:                       u16[15:0]             "left";
        min_y:                       u16[31:16]            "top";
        max_x:                       u16[47:32]            "right";
        max_y:                       u16[63:48]            "bottom";
    }

    /// VIEWPORT_LOW: a range of depth.
    DepthViewport {
        min_depth_f32:               u32[31:0]             "least depth, the bits of a float";
        max_depth_f32:               u32[63:32]            "largest depth, the bits of a float";
    }

    /// TILER_FLAGS, and flags_override: how primitives are put together.
    PrimitiveFlags {
        draw_mode:                   DrawMode[7:0 TO_V11, 3:0 FROM_V12] "the kind of primitive";
        index_type:                  IndexType[10:8]       "the kind of indices";
        point_size_array_format:     PointSizeFormat[12:11] "the kind of point sizes";
        primitive_index_enable:      bool[13]              "shaders see the primitive's index";
        primitive_index_writeback:   bool[14]              "the primitive's index is written back";
        allow_rotating_primitives:   bool[15]              "vertices of a primitive may rotate";
        low_depth_cull:              bool[16]              "culls in front of the least depth";
        high_depth_cull:             bool[17]              "culls behind the largest depth";
        secondary_shader:            bool[18]              "there is a varying shader";
        primitive_restart:           bool[19]              "the largest index ends a primitive";
        layer_index_enable:          bool[20]              "vertices choose their layer";
        scissor_array_enable:        bool[21]              "SCISSOR_BOX is an array";
        position_fifo_format:        PositionFifoFormat[23:22] "what a vertex's position record holds";
        view_mask:                   u8[31:24]             "layers, relative to the tiler context";
    }

    /// TILER_FLAGS2: variable-rate shading.
    PrimitiveFlags2 {
        vrs_draw_rate:               ShadingRate[3:0 FROM_V11]         "the draw's shading rate";
        vrs_combiner_0:              ShadingRateCombiner[6:4 FROM_V11] "combines the draw's rate with the primitive's";
        vrs_combiner_1:              ShadingRateCombiner[9:7 FROM_V11] "combines that with the attachment's";
    }

    /// DCD1: draw flags 1.
    DrawFlags1 {
        sample_mask:                 u16[15:0]             "samples that are written";
        render_target_mask:          u16[23:16 TO_V11, 27:16 FROM_V12] "render targets that are written";
    }

    /// DCD2: draw flags 2.
    DrawFlags2 {
        read_mask:                   u16[11:0]             "render targets that are read";
        write_mask:                  u16[23:12]            "render targets that are written";
        no_shader_stencil_read:      bool[24 FROM_V12]     "the shader does not read stencil";
        no_shader_depth_read:        bool[25 FROM_V12]     "the shader does not read depth";
    }
}
