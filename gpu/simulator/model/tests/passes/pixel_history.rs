//! The history of a pixel: what whoever asks for one pixel hears of its fragments.

use super::{Pass, Rectangle, STORE};
use eitri_model::{Event, PixelStep, PixelStepKind, Sink};
use std::sync::{Arc, Mutex};

/// Hears of a pixel.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<Vec<PixelStep>>>);

impl Sink for Steps {
    fn event(&mut self, _: u64, _: Event) {}

    fn pixel(&self) -> Option<[u32; 2]> {
        Some([5, 6])
    }

    fn pixel_step(&mut self, step: PixelStep) {
        self.0.lock().expect("nobody panics with it").push(step);
    }
}

#[test]
fn each_step_of_a_fragment_is_told_with_the_samples_before_and_behind_it() {
    let [store, format] = STORE;
    let steps = Steps::default();
    let pass = Pass {
        samples: 4,
        uniforms: vec![store, format, 0, 1.0_f32.to_bits()],
        draws: vec![Rectangle {
            // ATEST takes the coverage that the program gives: the first two samples.
            program: "
                IADD_IMM.i32 r0, 0x0, #0x7
                IADD_IMM.i32 r4, 0x0, #0x3
                ATEST.wait0126 @r60, r4, u3, atest_datum.w0
                OUTPUT",
            ..Rectangle::default()
        }],
        ..Pass::default()
    };
    pass.run_with(|bench| bench.gpu.trace_to(Some(Box::new(steps.clone()))));
    let told = steps.0.lock().expect("nobody panics with it");
    let told: Vec<(PixelStepKind, [u16; 2])> =
        told.iter().map(|step| (step.kind, step.coverage)).collect();
    let [early, begins, late, colour] = &told[..] else {
        panic!("four steps: {told:?}");
    };
    assert_eq!(*early, (PixelStepKind::EarlyTests, [0b1111, 0b1111]));
    assert_eq!(*begins, (PixelStepKind::Begins, [0b1111, 0b1111]));
    assert_eq!(*late, (PixelStepKind::LateTests, [0b1111, 0b0011]));
    assert!(
        matches!(
            colour,
            (PixelStepKind::Colour { target: 0, .. }, [0b0011, _])
        ),
        "{colour:?}"
    );
}
