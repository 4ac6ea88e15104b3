//! Bundles and results survive the way, or are found damaged.

use eitri_job::result::{FailureKind, JobResult, ResultError, Sink, Writer};
use eitri_job::{Bundle, BundleError, Content, CoreDump, Job, Part, Resource, Wants};
use proptest::prelude::*;

const WANTS: Wants = Wants {
    dump: CoreDump::OnFailure,
    counters: false,
};

struct Bytes(Vec<u8>);

impl Sink for Bytes {
    type Error = std::convert::Infallible;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

fn bundle(buffers: &[Resource<'_>]) -> Vec<u8> {
    Job {
        program: b"program",
        firmware: b"fw",
        push_constants: &[1, 2, 3, 4],
        groups: [4, 5, 6],
        limit_ms: 77,
        wants: WANTS,
        resources: buffers,
    }
    .encode()
}

fn two_buffers() -> [Resource<'static>; 2] {
    let first = Resource {
        set: 0,
        binding: 2,
        element: 0,
        content: Content::Buffer,
        data: b"abc",
        bytes: 16,
        save: false,
        part: Part::Whole,
    };
    [
        first,
        Resource {
            set: 1,
            binding: 0,
            element: 0,
            content: Content::Buffer,
            data: &[],
            bytes: 4,
            save: true,
            part: Part::Whole,
        },
    ]
}

fn stream() -> Vec<u8> {
    let mut bytes = Bytes(Vec::new());
    let Ok(mut writer) = Writer::start(&mut bytes);
    let Ok(()) = writer.step("reset", "clean", 12);
    let Ok(()) = writer.buffer((1, 2, 0), 3);
    let Ok(()) = writer.data(b"ab");
    let Ok(()) = writer.data(b"c");
    let Ok(()) = writer.counter("GPU_ACTIVE", 1 << 40);
    let Ok(()) = writer.dump(b"core");
    let Ok(()) = writer.dump(b" dump");
    let Ok(()) = writer.no_dump(format_args!("full"));
    let Ok(()) = writer.failure(FailureKind::Device, format_args!("L2 at {:#x}", 0x160));
    let Ok(()) = writer.finish();
    bytes.0
}

#[test]
fn a_bundle_gives_its_parts_back() {
    let bytes = bundle(&two_buffers());
    let read = Bundle::parse(&bytes).unwrap();
    assert_eq!(read.program(), b"program");
    assert_eq!(read.firmware(), b"fw");
    assert_eq!(read.push_constants(), [1, 2, 3, 4]);
    assert_eq!((read.groups(), read.limit_ms()), ([4, 5, 6], 77));
    assert_eq!(read.wants(), WANTS);
    let buffers: Vec<_> = read.resources().collect();
    assert_eq!(
        (buffers[0].set, buffers[0].binding, buffers[0].data),
        (0, 2, &b"abc"[..])
    );
    assert_eq!((buffers[1].bytes, buffers[1].save), (4, true));
}

#[test]
fn a_buffer_with_too_much_data_is_named() {
    let buffer = Resource {
        set: 3,
        binding: 1,
        element: 0,
        content: Content::Buffer,
        data: &[0; 5],
        bytes: 4,
        save: false,
        part: Part::Whole,
    };
    assert_eq!(
        Bundle::parse(&bundle(&[buffer])).unwrap_err(),
        BundleError::Data {
            set: 3,
            binding: 1,
            bytes: 4,
            data: 5
        },
    );
}

#[test]
fn a_resource_may_see_a_part_of_its_own_memory_or_of_one_before_it() {
    let [first, second] = two_buffers();
    let part = |resource| Part::Of {
        resource,
        start: 16,
        bytes: 4,
    };
    let own = Resource {
        part: part(0),
        ..first
    };
    let other = Resource {
        part: part(0),
        bytes: 0,
        save: false,
        ..second
    };
    let bytes = bundle(&[own, other]);
    let read = Bundle::parse(&bytes).unwrap();
    let parts: Vec<Part> = read.resources().map(|resource| resource.part).collect();
    assert_eq!(parts, [part(0), part(0)]);
    // Of one behind it, and with memory of its own besides.
    let behind = Resource {
        part: part(1),
        ..first
    };
    let both = Resource { bytes: 4, ..other };
    for bad in [[behind, second], [own, both]] {
        let error = Bundle::parse(&bundle(&bad)).unwrap_err();
        assert!(matches!(error, BundleError::Part { .. }), "{error}");
    }
}

#[test]
fn a_result_gives_its_records_back() {
    let result = JobResult::parse(&stream()).unwrap();
    assert_eq!(
        (result.steps[0].name.as_str(), result.steps[0].microseconds),
        ("reset", 12)
    );
    assert_eq!(result.steps[0].found, "clean");
    assert_eq!((result.buffers[0].set, result.buffers[0].binding), (1, 2));
    assert_eq!(result.buffers[0].bytes, b"abc");
    assert_eq!(result.counters, [("GPU_ACTIVE".to_owned(), 1 << 40)]);
    assert_eq!(result.dump, b"core dump");
    assert_eq!(result.no_dump.as_deref(), Some("full"));
    assert_eq!(result.failure.unwrap().text, "L2 at 0x160");
}

#[test]
fn an_image_that_died_is_noticed_wherever_it_did() {
    let whole = stream();
    for length in 8..whole.len() {
        let cut = JobResult::parse(&whole[..length]).unwrap_err();
        assert_eq!(cut, ResultError::CutShort { at: length });
    }
}

proptest! {
    #[test]
    fn damage_is_noticed(at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let mut job = bundle(&two_buffers());
        let place = at.index(job.len());
        job[place] ^= 1 << bit;
        prop_assert!(Bundle::parse(&job).is_err(), "bundle byte {place} bit {bit}");
        let mut result = stream();
        let place = at.index(result.len());
        result[place] ^= 1 << bit;
        prop_assert!(JobResult::parse(&result).is_err(), "result byte {place} bit {bit}");
    }

    #[test]
    fn no_bytes_make_them_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Bundle::parse(&bytes);
        let _ = JobResult::parse(&[b"EITRIRE1", bytes.as_slice()].concat());
    }
}
