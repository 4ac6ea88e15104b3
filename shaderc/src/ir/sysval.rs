//! System values: one table, one row a number that the hardware gives each invocation.
//!
//! Needs: nothing.  Guarantees: names, kinds, stages, who has a value in common and how large it can be come from here.
//! In which register a value arrives is a back end's affair.
//! Facts: hardware/graphics-compiler.md 1.1, 3.
use super::stage::Stages;
use super::{Axis, Function, Kind};

/// Who has the same value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Common {
    /// All lanes of a warp.
    Warp,
    /// All lanes of a warp, along an axis of one invocation.
    FlatAxis,
    /// Nobody.
    Nobody,
}

/// How large a value can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Most {
    /// That at most.
    Is(u32),
    /// Less than the workgroup along its axis.
    Workgroup,
    /// The number of a lane.
    Lane,
    /// Any word, or no integer.
    Any,
}

macro_rules! sysvals {
    (@pattern $variant:ident $axis:ident) => { SysVal::$variant };
    (@pattern $variant:ident $axis:ident $ty:ident) => { SysVal::$variant($axis) };
    (@value $axis:ident) => { None };
    (@value $axis:ident $ty:ident) => { Some($axis) };
    (@all $variant:ident) => { &[SysVal::$variant] };
    (@all $variant:ident $ty:ident) => {
        &[SysVal::$variant(Axis::X), SysVal::$variant(Axis::Y), SysVal::$variant(Axis::Z)]
    };
    ($( $variant:ident $(($axis:ident))? $name:literal $kind:ident $stages:ident $common:ident $most:ident $(($limit:literal))? $doc:literal; )*) => {
        /// Numbers that the hardware gives each invocation.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum SysVal { $( #[doc = $doc] $variant $(($axis))?, )* }

        impl SysVal {
            /// All of them, row by row, in the order of the table.
            const ROWS: &'static [&'static [SysVal]] = &[$( sysvals!(@all $variant $($axis)?), )*];

            /// The name of its row.
            pub fn row_name(self) -> &'static str {
                match self { $( SysVal::$variant { .. } => $name, )* }
            }

            /// The axis along which it is.
            pub fn axis(self) -> Option<Axis> {
                match self { $( sysvals!(@pattern $variant axis $($axis)?) => sysvals!(@value axis $($axis)?), )* }
            }

            /// What it is.
            pub fn kind(self) -> Kind {
                match self { $( SysVal::$variant { .. } => Kind::$kind, )* }
            }

            /// Which stages have it.
            pub fn stages(self) -> Stages {
                match self { $( SysVal::$variant { .. } => Stages::$stages, )* }
            }

            /// Who has the same.
            pub fn common(self) -> Common {
                match self { $( SysVal::$variant { .. } => Common::$common, )* }
            }

            /// How large it can be.
            pub fn most(self) -> Most {
                match self { $( SysVal::$variant { .. } => Most::$most $(($limit))?, )* }
            }
        }
    };
}

#[rustfmt::skip]
sysvals! {
    LocalId(Axis)     "local_id"          W32 COMPUTE  FlatAxis Workgroup   "Position in the workgroup.";
    WorkgroupId(Axis) "workgroup_id"      W32 COMPUTE  Warp     Any         "The workgroup's position in the dispatch.";
    GlobalId(Axis)    "global_id"         W32 COMPUTE  FlatAxis Any         "`WorkgroupId * workgroup_size + LocalId`.";
    LaneId            "lane_id"           W32 ALL      Nobody   Lane        "The number of the lane in its subgroup, less than [`super::Lanes::count`].";
    VertexIndex       "vertex_index"      W32 VERTEX   Nobody   Any         "The vertex's number, the draw's first vertex or vertex offset added.";
    InstanceIndex     "instance_index"    W32 VERTEX   Nobody   Any         "The instance's number from 0: without [`super::Uniform::BaseInstance`].";
    DrawIndex         "draw_index"        W32 VERTEX   Warp     Any         "The draw's number among those of one command.";
    OutputMask        "output_mask"       W32 VERTEX   Warp     Is(7)       "The groups of outputs that this run is to store, a bit each: [`super::OutputGroup`].";
    PixelX            "pixel_x"           W32 FRAGMENT Nobody   Is(0xffff)  "The pixel's column.";
    PixelY            "pixel_y"           W32 FRAGMENT Nobody   Is(0xffff)  "The pixel's row.";
    FragZ             "frag_z"            F32 FRAGMENT Nobody   Any         "The primitive's depth there, before the shader changes it.";
    FrontFacing       "front_facing"      B   FRAGMENT Nobody   Any         "Whether the primitive shows its front.";
    PointX            "point_x"           F32 FRAGMENT Nobody   Any         "The place in a point from its left side, 0 to 1.";
    PointY            "point_y"           F32 FRAGMENT Nobody   Any         "The place in a point from its top, 0 to 1.";
    SampleId          "sample_id"         W32 FRAGMENT Nobody   Is(31)      "The sample's number in its pixel.";
    SampleX           "sample_x"          F32 FRAGMENT Nobody   Any         "The sample's place in its pixel from its left side, 0 to 1.";
    SampleY           "sample_y"          F32 FRAGMENT Nobody   Any         "The sample's place in its pixel from its top, 0 to 1.";
    SampleMaskIn      "sample_mask_in"    W32 FRAGMENT Nobody   Is(0xffff)  "The samples that the primitive covers, a bit each; with sample shading only the own.";
    PrimitiveId       "primitive_id"      W32 FRAGMENT Nobody   Any         "The primitive's number in its draw.";
    Layer             "layer"             W32 FRAGMENT Nobody   Is(0xff)    "The layer, or the view, that is drawn to.";
    HelperInvocation  "helper_invocation" B   FRAGMENT Nobody   Any         "Whether the lane began as one that only helps its quad.";
}

impl SysVal {
    /// All of them.
    pub fn all() -> impl Iterator<Item = SysVal> {
        SysVal::ROWS.iter().copied().flatten().copied()
    }

    /// The name in the text form.
    pub fn name(self) -> String {
        let row = self.row_name();
        match self.axis() {
            Some(axis) => format!("{row}.{}", axis.name()),
            None => row.to_owned(),
        }
    }

    /// The one of that name.
    pub fn from_name(name: &str) -> Option<SysVal> {
        SysVal::all().find(|sys_val| sys_val.name() == name)
    }

    /// Whether all lanes of a warp of a function have the same.
    pub fn is_uniform(self, function: &Function) -> bool {
        match self.common() {
            Common::Warp => true,
            Common::Nobody => false,
            Common::FlatAxis => self
                .axis()
                .is_some_and(|axis| function.workgroup_size[axis.index()] == 1),
        }
    }

    /// The largest value that it can have in a function, as unsigned.
    pub fn upper_bound(self, function: &Function) -> u32 {
        match self.most() {
            Most::Is(most) => most,
            Most::Any => u32::MAX,
            Most::Lane => function.lanes.last(),
            Most::Workgroup => self.axis().map_or(u32::MAX, |axis| {
                function.workgroup_size[axis.index()].saturating_sub(1)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_names_one_value() {
        for sys_val in SysVal::all() {
            assert_eq!(SysVal::from_name(&sys_val.name()), Some(sys_val));
        }
        assert_eq!(SysVal::from_name("local_id"), None, "it lacks its axis");
    }
}
