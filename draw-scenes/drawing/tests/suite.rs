//! Suites: what was put in comes out, and what was cut short or damaged is an error.

use eitri_drawing::state::{Aspect, BlendEquation, BlendFactor, BlendOp, WriteMask};
use eitri_drawing::suite::{SuiteError, encode, read};
use eitri_drawing::*;

fn drawing<'a>(name: &'a str, data: &'a [u8]) -> Drawing<'a> {
    let mut blend = state::Blend::default();
    let one = BlendEquation(BlendFactor::One, BlendFactor::Zero, BlendOp::Add);
    blend.attachments.push(state::BlendAttachment {
        color: Some(one),
        alpha: None,
        write: WriteMask(0b1010),
    });
    let view = View {
        image: ImageId(0),
        kind: state::ViewType::D2Array,
        format: "r8g8b8a8_unorm".to_owned(),
        aspect: None,
        level: 0,
        levels: 1,
        layer: 0,
        layers: 1,
        swizzle: state::Swizzle::try_from("b=01".to_owned()).unwrap(),
    };
    let viewport = state::Viewport::from([0.0, 1.0, 2.0, -3.0, 0.25, 1.0]);
    let using = Using {
        pipeline: PipelineId(0),
        sets: vec![SetId(3)],
        push: data,
    };
    Drawing {
        name,
        limit_ms: 1000,
        dump: true,
        programs: vec![data, &[]],
        buffers: vec![Buffer {
            bytes: 1 << 40,
            data,
        }],
        images: Vec::new(),
        views: vec![view],
        samplers: Vec::new(),
        sets: Vec::new(),
        pipelines: vec![Pipeline::Graphics(Box::new(GraphicsPipeline {
            vertex: ProgramId(0),
            fragment: Some(ProgramId(1)),
            colors: vec![None, Some("r8_uint".to_owned())],
            depth_format: None,
            stencil_format: None,
            vertex_bindings: Vec::new(),
            attributes: Vec::new(),
            topology: state::Topology::TriangleFan,
            restart: true,
            raster: state::Raster::default(),
            multisample: state::Multisample::default(),
            depth: None,
            stencil: None,
            blend,
        }))],
        queries: Vec::new(),
        steps: vec![Step::Pass(Box::new(Pass {
            colors: vec![None],
            depth: None,
            stencil: None,
            area: state::Rect::from((-1, 2, 3, 4)),
            layers: 1,
            view_mask: 0,
            samples: 1,
            part: eitri_drawing::PassPart {
                resuming: false,
                suspending: true,
            },
            commands: vec![PassCommand::Draw(Box::new(Draw {
                using,
                viewports: vec![viewport],
                scissors: Vec::new(),
                vertex_buffers: Vec::new(),
                instances: 1,
                first_instance: 0,
                vertices: Vertices::Plain { count: 3, first: 0 },
                repeat: 2,
                repeat_push_offset: Some(4),
            }))],
        }))],
        results: vec![Readback::Image {
            image: ImageId(0),
            aspect: Aspect::Color,
            level: 0,
            layer: 0,
            layers: 1,
        }],
        wanted: Vec::new(),
        frames: vec![Frame {
            buffer: BufferId(0),
            data,
        }],
    }
}

#[test]
fn what_was_put_in_comes_out() {
    let drawings = [drawing("one", &[1, 2, 3]), drawing("two", &[])];
    let bytes = encode(b"firmware", &drawings).unwrap();
    let suite = read::<Drawing<'_>>(&bytes).unwrap();
    assert_eq!(suite.firmware, b"firmware");
    assert_eq!(suite.entries.len(), 2);
    let found: Vec<_> = suite.entries.map(Result::unwrap).collect();
    assert_eq!(found, drawings);
}

#[test]
fn a_suite_that_was_cut_short_is_an_error() {
    let bytes = encode(b"firmware", &[drawing("one", &[1, 2, 3])]).unwrap();
    for length in 0..bytes.len() {
        let all = read(&bytes[..length]).and_then(|suite| suite.entries.collect());
        let all: Result<Vec<Drawing<'_>>, SuiteError> = all;
        assert!(all.is_err(), "{length} bytes of {}", bytes.len());
    }
    assert_eq!(
        read::<Drawing<'_>>(b"EITRIAM1 is another").unwrap_err(),
        SuiteError::Magic
    );
}
