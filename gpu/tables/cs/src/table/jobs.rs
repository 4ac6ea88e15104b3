//! Jobs: work for shader cores and tiler, described by registers (see [`crate::staging`]) that are read at issue.
//!
//! Facts: hardware/command-stream.md 1.11 (resources), 3.6, 4.

#[rustfmt::skip]
macro_rules! jobs { ($next:ident $($families:ident)* { $($rows:tt)* }) => { $next! { $($families)* { $($rows)*

    /// Runs a grid of workgroups, cut into tasks of a given shape.
    RUN_COMPUTE RunCompute 0x04 ALL Job Endpoint {
        task_increment:     u16[13:0]       "workgroups of a task along the axis, 1 to 16383";
        task_axis:          TaskAxis[15:14] "the axis along which tasks are cut";
        ep_limit; progress_increment; srt_select; spd_select; tsd_select; fau_select; stage;
    } "RUN_COMPUTE.{task_axis}.srt{srt_select}.spd{spd_select}.tsd{tsd_select}.fau{fau_select} #{task_increment}<, #{ep_limit}>"
        .text24("RUN_COMPUTE{progress_increment?.progress_inc}.{task_axis} #{task_increment}")
        .needs(Resources::COMPUTE) .stages(StagingMap::Compute);

    /// Runs a grid of workgroups, cut into tasks by the hardware.
    RUN_COMPUTE_INDIRECT RunComputeIndirect 0x2c ALL Job Endpoint {
        workgroups_per_task: u16[15:0]      "wanted workgroups of a task";
        ep_limit; progress_increment; srt_select; spd_select; tsd_select; fau_select; stage;
    } "RUN_COMPUTE_INDIRECT.srt{srt_select}.spd{spd_select}.tsd{tsd_select}.fau{fau_select} #{workgroups_per_task}<, #{ep_limit}>"
        .text24("RUN_COMPUTE_INDIRECT{progress_increment?.progress_inc} #{workgroups_per_task}")
        .needs(Resources::COMPUTE) .stages(StagingMap::Compute);

    /// Tiles primitives whose positions were shaded before.
    RUN_TILING RunTiling 0x05 V10 Job Endpoint {
        flags_override; progress_increment; srt_select; spd_select; tsd_select; fau_select;
    } "RUN_TILING.srt{srt_select}.spd{spd_select}.tsd{tsd_select}.fau{fau_select}"
        .text24("RUN_TILING{progress_increment?.progress_inc}")
        .needs(Resources::TILER) .stages(StagingMap::Tiling);

    /// Shades vertices as indices need them, position first, culls, bins, and records the draw for the fragment stage.
    RUN_IDVS RunIdvs 0x06 TO_V11 Job Endpoint {
        flags_override; progress_increment;
        malloc_enable:           bool[33]   "takes the memory of varyings from the tiler heap";
        draw_id_register_enable: bool[34]   "takes the draw index from a register, else it is 0";
        varying_srt_select:      bool[35]   "varying shader: resource table d2, else d0";
        varying_fau_select:      bool[36]   "varying shader: uniforms d10, else d8";
        varying_tsd_select:      bool[37]   "varying shader: local storage d26, else d24";
        fragment_srt_select:     bool[38]   "fragment shader: resource table d4, else d0";
        fragment_tsd_select:     bool[39]   "fragment shader: local storage d28, else d24";
        draw_id:                 Reg[47:40] "the draw index" .reads() .when("draw_id_register_enable", 1);
    } "RUN_IDVS{malloc_enable!.no_malloc}{draw_id_register_enable?.draw_id_enable}.varying_srt{varying_srt_select}.varying_fau{varying_fau_select}.varying_tsd{varying_tsd_select}.frag_srt{fragment_srt_select}.frag_tsd{fragment_tsd_select} r{draw_id}, #{flags_override:x}"
        .text24("RUN_IDVS{progress_increment?.progress_inc}{malloc_enable!.no_malloc}{draw_id_register_enable? r{draw_id}}")
        .needs(Resources::IDVS) .stages(StagingMap::Idvs);

    /// As RUN_IDVS, with one vertex shader.
    RUN_IDVS2 RunIdvs2 0x0c FROM_V12 Job Endpoint {
        flags_override; progress_increment;
        malloc_enable:           bool[33]           "takes the memory of varyings from the tiler heap";
        draw_id_register_enable: bool[34]           "takes the draw index from a register, else it is 0";
        vertex_shading_mode:     ShadingMode[36:35] "what is shaded before culling";
        draw_id:                 Reg[47:40]         "the draw index" .reads() .when("draw_id_register_enable", 1);
        stage;
    } "RUN_IDVS2{malloc_enable!.no_malloc}{draw_id_register_enable?.draw_id_enable}.{vertex_shading_mode} r{draw_id}, #{flags_override:x}"
        .needs(Resources::IDVS) .stages(StagingMap::Idvs);

    /// Adds one draw that covers a rectangle, without vertex shading.
    RUN_FULLSCREEN RunFullscreen 0x08 ALL Job Endpoint {
        flags_override; progress_increment;
        dcd:                     Pair[47:40]        "the address of the draw descriptor, 128 bytes" .reads();
        tiler_flags2_enable:     bool[55 FROM_V11]  "uses r61" .default(1);
    } "RUN_FULLSCREEN r{dcd}, #{flags_override:x}"
        .text24("RUN_FULLSCREEN{progress_increment?.progress_inc}")
        .needs(Resources::IDVS) .stages(StagingMap::Fullscreen);

    /// Flushes the tiler: when it is done, everything drawn before is in the polygon lists.
    FINISH_TILING FinishTiling 0x09 ALL Job Endpoint {
        progress_increment;
    } "FINISH_TILING" .text24("FINISH_TILING{progress_increment?.progress_inc}") .needs(Resources::TILER);

    /// Runs the fragment job of one layer.
    RUN_FRAGMENT RunFragment 0x07 ALL Job Endpoint {
        enable_tem:              bool[0]            "takes tiles from a tile enable map (d44, r46)";
        tile_order:              TileOrder[7:4]     "the order of tiles";
        progress_increment;
    } "RUN_FRAGMENT{enable_tem?.tile_enable_map_enable}.tile_order={tile_order}"
        .text24("RUN_FRAGMENT{enable_tem?.tile_enable_map_enable}.tile_order={tile_order}{progress_increment?.progress_inc}")
        .needs(Resources::FRAGMENT) .stages(StagingMap::Fragment);

    /// Gives the heap chunks of a tiler context back.
    FINISH_FRAGMENT FinishFragment 0x0b ALL Job Deferrable {
        increment_fragment_completed: bool[0]       "counts the render pass as done in the same step";
        last_heap_chunk:         Pair[39:32]        "the tail of the list: words 12 and 13 of the tiler context" .reads();
        first_heap_chunk:        Pair[47:40]        "the head of the list: words 10 and 11 of the tiler context" .reads();
        wait_mask; signal_slot; defer_mode;
    } "FINISH_FRAGMENT{increment_fragment_completed?.frag_end}<.{defer_mode}> d{last_heap_chunk}, d{first_heap_chunk}, #{wait_mask:x}, #{signal_slot}"
        .text24("FINISH_FRAGMENT.{increment_fragment_completed?.frag_end}, d{last_heap_chunk}, d{first_heap_chunk}, #{wait_mask:x}, #{signal_slot}");

} } } }
pub(crate) use jobs;
