//! The pass that a failure of a stream names, and the number of a draw that several views have.

use super::bench::{Bench, RED, SIDE, rectangle};
use super::failed::{Frame, failed};
use crate::bench::{LIMIT, OrFail, inject, withdraw};
use alloc::vec::Vec;
use eitri_model::{GraphicsUnit, Injection};
use eitri_runtime::{Draw, ImageInfo, RenderingInfo, Status};

/// Steps at which a stream is struck.
const STEPS: u32 = 16;

/// A stream that fails at an instruction of a pass names the pass, and not always the same.
pub(crate) fn a_stream_that_fails_in_a_pass_names_it() {
    let mut it = Frame::new();
    let before = it.bench.machine.time();
    it.bench.run();
    let took = it.bench.machine.time() - before;
    let injection = Injection::StreamFault { exception: 0x4B };
    let mut named = Vec::new();
    for step in 0..STEPS {
        if let Status::Failed(fault) = it.strike(injection, took * step / STEPS)
            && let Some(pass) = fault.pass
        {
            assert_eq!(pass.passes, 1, "the stream stands in one: {fault}");
            named.push(pass.pass);
        }
    }
    assert!(
        named.iter().min() < named.iter().max(),
        "passes that were named: {named:?}"
    );
}

/// A draw of several views is one draw: the one behind two of them is number 2.
pub(crate) fn a_draw_of_several_views_has_one_number() {
    let mut it = Frame::new();
    let (plain, samples, set) = (it.plain, it.samples, it.set);
    let bench = &mut it.bench;
    let format = bench.format("R8G8B8A8_UNORM");
    let info = ImageInfo {
        layers: 3,
        ..ImageInfo::two_d(format, SIDE, SIDE)
    };
    let made = bench.device.create_image(bench.space, info);
    let image = made.or_fail("there is memory");
    let all = bench.buffer(&rectangle([-1.0, -1.0], [1.0, 1.0], 0.5, RED));
    bench.record(|recorder| {
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(Bench::blue(image))],
            view_mask: 0b101,
            ..RenderingInfo::default()
        })?;
        pass.bind_descriptor_set(set)?;
        for pipeline in [plain, plain, samples] {
            pass.bind_pipeline(pipeline)?
                .bind_vertex_buffer(0, all, 0)?
                .draw(Draw::of(4))?;
        }
        pass.end_rendering()
    });
    let injection = Injection::UnitFault {
        unit: GraphicsUnit::Textures,
    };
    let fence = bench.submit();
    inject(&bench.machine, injection);
    let status = bench.device.wait(fence, LIMIT);
    withdraw(&bench.machine, injection);
    let (fault, pass) = failed(status, injection);
    let draw = pass.draws.and_then(|draws| draws.only());
    assert_eq!((pass.pass, draw), (0, Some(2)), "{fault}");
}
