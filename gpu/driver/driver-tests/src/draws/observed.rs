//! What somebody who looks on sees of a pass: counters, and a dump.

use super::bench::{BLUE_WORD, Bench, RED, RED_WORD, SIDE, check_triangle, vertices};
use crate::bench::{LIMIT, OrFail, inject, machine};
use crate::machine::Machine;
use alloc::string::{String, ToString};
use alloc::vec;
use eitri_dump::{Dump, Region, show};
use eitri_model::{Config, Injection};
use eitri_runtime::{
    ClearAttachment, ClearColor, ClearRect, ColorAttachment, Counts, Draw, Error, ImageInfo,
    LoadOp, Platform, Rect, RenderPass, RenderingInfo, Status, Tiling,
};

/// Two triangles, of which the second lies beside the picture; gives the pixels of the first's corners.
fn record(it: &mut Bench) -> (eitri_runtime::Image, [[f32; 2]; 3]) {
    let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
    let info = it.info();
    let pipeline = it.pipeline(&info);
    let corner = |x, y| ([x, y, 0.5, 1.0], RED);
    let seen = [corner(-0.8, -0.75), corner(0.75, -0.5), corner(-0.25, 0.8)];
    let beside = seen.map(|([x, y, z, w], color)| ([x + 4.0, y, z, w], color));
    let buffer = it.buffer(&vertices(&[seen, beside].concat()));
    it.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?
            .bind_vertex_buffer(0, buffer, 0)?
            .draw(Draw::of(6))?;
        pass.end_rendering()
    });
    let pixel = |([x, y, ..], _): ([f32; 4], [f32; 4])| [(x + 1.0) * 32.0, (y + 1.0) * 32.0];
    (image, seen.map(pixel))
}

pub(crate) fn what_a_pass_does_is_counted() {
    let mut it = Bench::new();
    let (image, corners) = record(&mut it);
    it.device
        .start_counters()
        .or_fail("the counters can be had");
    it.run();
    let mut counts = Counts::new(it.device.properties().arch);
    it.device
        .sample_counters(&mut counts)
        .or_fail("the counters are on");
    let texels = it.texels(image);
    check_triangle(&texels, corners, RED_WORD, BLUE_WORD);
    let count = |name: &str| counts.get(name).or_fail("every GPU has it");
    let exactly = [
        ("ITER_TILER_JOB_COMPLETED", 1),
        ("ITER_FRAG_JOB_COMPLETED", 1),
        ("ITER_COMP_JOB_COMPLETED", 0),
        ("TRIANGLES", 2),
        ("POINTS", 0),
        ("PRIM_VISIBLE", 1),
        ("PRIM_CULLED", 1),
        ("PRIM_CLIPPED", 0),
        // Of both triangles, and of what is seen by them: a warp asks for the varyings of all its vertices.
        ("IDVS_POS_SHAD_REQ", 6),
        ("IDVS_VAR_SHAD_REQ", 6),
        ("ITER_FRAG_TASK_COMPLETED", count("FRAG_PTILES")),
    ];
    for (name, expected) in exactly {
        assert_eq!(count(name), expected, "{name}");
    }
    // A tile is no larger than 32 by 32 pixels and no smaller than 16 by 16.
    let tiles = count("FRAG_PTILES");
    assert!((4..=16).contains(&tiles), "{tiles} tiles");
    let covered = texels.iter().filter(|texel| **texel == RED_WORD).count() as u64;
    let (quads, partial) = (count("FRAG_QUADS_RAST"), count("FRAG_PARTIAL_QUADS_RAST"));
    assert!(partial > 0 && partial < quads, "{partial} of {quads} quads");
    // Whole quads have four pixels, others one to three.
    let least = (quads - partial) * 4 + partial;
    let most = (quads - partial) * 4 + partial * 3;
    assert!(
        (least..=most).contains(&covered),
        "{covered} pixels in {quads} quads, {partial} of them in part"
    );
    assert!(quads < u64::from(SIDE * SIDE) / 4);
    assert!(
        count("FRAG_WARPS") * 4 >= quads,
        "four quads a warp at most"
    );
    assert!(count("VARY_INSTR") > 0 && count("ATTR_INSTR") > 0);
    assert!(count("FRAG_ACTIVE") > 0 && count("COMPUTE_ACTIVE") > 0);
    it.device.stop_counters().or_fail("they are on");
}

/// Warps of fragments, and arithmetic instructions of shaders, where a pass to an image of so many samples begins so and clears a pixel.
fn work_of_pass(samples: u32, load: LoadOp<ClearColor>) -> [u64; 2] {
    let mut it = Bench::new();
    let info = ImageInfo {
        samples,
        tiling: Tiling::UInterleaved,
        ..ImageInfo::two_d(it.format("R8G8B8A8_UNORM"), SIDE, SIDE)
    };
    let image = it.device.create_image(it.space, info);
    let image = image.or_fail("there is memory");
    it.record(|recorder| {
        let color = ColorAttachment {
            load,
            ..Bench::blue(image)
        };
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(color)],
            ..RenderingInfo::default()
        })?;
        clear_corner(&mut pass, 1)?;
        pass.end_rendering()
    });
    it.device
        .start_counters()
        .or_fail("the counters can be had");
    it.run();
    let mut counts = Counts::new(it.device.properties().arch);
    it.device
        .sample_counters(&mut counts)
        .or_fail("the counters are on");
    let count = |name: &str| counts.get(name).or_fail("every GPU has it");
    let units = ["EXEC_INSTR_FMA", "EXEC_INSTR_CVT", "EXEC_INSTR_SFU"];
    [count("FRAG_WARPS"), units.map(count).iter().sum()]
}

/// Clears so many pixels, squared, to red.
fn clear_corner<P: Platform>(
    pass: &mut RenderPass<'_, '_, '_, '_, P>,
    side: u32,
) -> Result<(), Error> {
    let color = ClearAttachment::Color {
        location: 0,
        color: ClearColor::Float(RED),
    };
    let rect = ClearRect {
        rect: Rect {
            width: side,
            height: side,
            ..Rect::default()
        },
        layer: 0,
        layers: 1,
    };
    pass.clear_attachments(&[color], &[rect]).map(drop)
}

/// The code that loads texels works out the number of its sample only where there are several: two instructions.
pub(crate) fn texels_of_one_sample_are_loaded_without_its_number() {
    let [one, four] = [1, 4].map(|samples| {
        let clear = LoadOp::Clear(ClearColor::Float(RED));
        let [begun, loaded] = [clear, LoadOp::Load].map(|load| work_of_pass(samples, load));
        let [warps, all] = [0, 1].map(|it| loaded[it] - begun[it]);
        assert!(
            warps > 0 && all.is_multiple_of(warps),
            "{all}, {warps} warps"
        );
        all / warps
    });
    assert_eq!(one + 2, four, "instructions of a warp that loads");
}

/// The dump of a machine on which the first job of what is recorded has failed, as text.
fn failed(record: impl FnOnce(&mut Bench)) -> String {
    failed_on(machine(), record)
}

/// The same of another machine.
fn failed_on(machine: Machine, record: impl FnOnce(&mut Bench)) -> String {
    let mut it = Bench::on(machine);
    record(&mut it);
    inject(&it.machine, Injection::JobFault { exception: 0x58 });
    let fence = it.submit();
    assert_eq!(it.device.wait_or_fault(fence, LIMIT), None);
    let (mut room, mut file) = (vec![Region::default(); 512], vec![]);
    let summary = it.device.dump(None, &mut room, &mut file);
    let summary = summary.or_fail("it makes a file");
    assert!(summary.incomplete.is_complete(), "{summary:?}");
    assert!(matches!(it.device.wait(fence, LIMIT), Status::Failed(_)));
    let dump = Dump::parse(&file).or_fail("it reads as a dump");
    let entries = show::entries(&dump, &show::Options::default());
    entries.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check_shown(text: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(text.contains(wanted), "no `{wanted}` in\n{text}");
    }
}

pub(crate) fn a_dump_shows_a_draw_down_to_its_descriptors() {
    let text = failed(|it| {
        record(it);
    });
    let wanted = [
        "RUN_IDVS",
        "the driver concludes: job 1 of the vertex-tiler stream of queue 0: in the vertices of pass 0: draw 0, with pipeline",
        "INDEX_COUNT: r33 = 0x6",
        "draw_mode: 0x8",
        "BLEND_DESC",
        "target 0:",
        "ZSD",
        "TILER_CTX",
        "heap:",
    ];
    check_shown(&text, &wanted);
}

pub(crate) fn a_dump_shows_a_pass_down_to_its_targets() {
    let text = failed(|it| {
        let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
        it.record(|recorder| {
            let pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(Bench::blue(image))],
                ..RenderingInfo::default()
            })?;
            pass.end_rendering()
        });
    });
    let wanted = [
        "RUN_FRAGMENT",
        "FBD_POINTER",
        "framebuffer:",
        "target 0:",
        "BBOX_MAX",
    ];
    check_shown(&text, &wanted);
}

/// From v11 on a draw says whether its program reads depth or stencil: that of a clear reads neither.
pub(crate) fn clears_read_no_depth_and_say_so() {
    for name in ["G615", "G720"] {
        let named = Config::named(name).or_fail("it is in the table");
        let text = failed_on(Machine::new(named), |it| {
            let image = it.image("R8G8B8A8_UNORM", Tiling::Linear);
            it.record(|recorder| {
                let mut pass = recorder.begin_rendering(&RenderingInfo {
                    colors: &[Some(Bench::blue(image))],
                    ..RenderingInfo::default()
                })?;
                clear_corner(&mut pass, 8)?;
                pass.end_rendering()
            });
        });
        let wanted = [
            "RUN_FULLSCREEN",
            "No Shader Stencil Read: true",
            "No Shader Depth Read: true",
        ];
        check_shown(&text, &wanted);
    }
}
