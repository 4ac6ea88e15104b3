//! First-level caches: what a core has read stays until the right caches are told to forget it.
//!
//! A job stores a texel by LEA_TEX and ST_CVT, another fetches it; all run on the same core.
//! Facts: hardware/command-stream.md 1.10, 3.7 (FLUSH_CACHE2) and 6.8, csf-mmio.md 6, graphics.md 1.7.

use super::bench::EACH;
use super::typed::{FREE, LINEAR, texture, uniforms};
use super::{BUFFER, Bench, CODE, DESCRIPTORS, DONE, Dispatch, assemble, command, set32, set64};
use eitri_cs::enums::{FlushMode, OtherFlushMode};
use eitri_cs::instr::{FlushCache2, ReqResource, RunFragment, Wait};
use eitri_cs::{Reg, Slot, SlotMask};
use eitri_csf::command::{CacheFlush, FlushMode as Mode, GpuCommand};
use eitri_csf::registers::control::GPU_COMMAND;
use eitri_model::Config;

/// Fetches the texel at 0, 0 and stores it in the buffer's first word.
const FETCH: &str = "
    IADD_IMM.i32 r4, 0x0, #0x0
    IADD_IMM.i32 r5, 0x0, #0x0
    TEX_FETCH.slot0.reserved.32.2d.wait0 @r8:r9:r10:r11, @r4:r5, u2
    MOV.i32 r0, u0
    MOV.i32 r1, u1
    STORE.i32.slot0.wait0 @r8, r0, offset:0
    NOP.end";

/// Reads the texel as a storage image, by the load/store unit.
const LOAD: &str = "
    IADD_IMM.i32 r2, 0x0, #0x0
    LD_TEX_IMM.u32.slot0.wait0 @r8, r2, 0x0, index:0x2, table:0x1
    MOV.i32 r0, u0
    MOV.i32 r1, u1
    STORE.i32.slot0.wait0 @r8, r0, offset:0
    NOP.end";

/// Stores the word that is the last uniform as the texel at 0, 0.
const WRITE: &str = "
    IADD_IMM.i32 r2, 0x0, #0x0
    MOV.i32 r8, u4
    LEA_TEX_IMM.slot0.wait0 @r12:r13:r14, r2, 0x0, table:0x1, index:0x2
    ST_CVT.auto.slot0.wait0 @r8, r12, r14, offset:0x0
    NOP.end";

/// A bench with a texture of which the texel at 0, 0 is 1, and a dispatch of one thread.
struct Scene {
    bench: Bench,
    dispatch: Dispatch,
    jobs: u64,
}

impl Scene {
    fn new(config: Config) -> Scene {
        let dispatch = Dispatch {
            size: [1, 1, 1],
            uniforms: uniforms(&[1 << 27 | FREE.1 << 16, 0, 2, 0]),
            ..Dispatch::default()
        };
        let mut bench = dispatch.prepare_in(Bench::booted_with(config), "NOP.end");
        texture(&mut bench, 0, 2, LINEAR, 128);
        bench.put(1, LINEAR, &1u32.to_le_bytes());
        Scene {
            bench,
            dispatch,
            jobs: 0,
        }
    }

    fn with_caches() -> Scene {
        Scene::new(Config {
            first_level_caches: Some(true),
            ..Config::default()
        })
    }

    #[track_caller]
    fn run(&mut self, text: &str) {
        let code = assemble(text, self.bench.arch());
        self.bench.put_words(1, CODE, &code);
        self.dispatch.submit(&mut self.bench);
        self.bench.drain(0);
        self.jobs += 1;
        let done = self.bench.get64(1, DONE);
        assert_eq!(done, self.jobs, "\n{}", self.bench.report());
        self.bench.expect_no_diagnoses();
    }

    /// The texel, as the last uniform is not: read by a job.
    #[track_caller]
    fn read(&mut self, text: &str) -> u32 {
        self.run(text);
        self.bench.get32(1, BUFFER)
    }

    /// Executes FLUSH_CACHE2 and waits for it.
    fn flush(&mut self, l2: FlushMode, lsc: FlushMode, other: OtherFlushMode) {
        let words = [
            set32(6, 0),
            command(FlushCache2 {
                l2_flush_mode: l2,
                lsc_flush_mode: lsc,
                other_flush_mode: other,
                latest_flush_id: Reg::new(6),
                signal_slot: Slot::new(1).expect("a slot of v10"),
                ..FlushCache2::default()
            }),
            command(Wait {
                wait_mask: SlotMask::new(2),
                ..Wait::default()
            }),
        ];
        self.bench.submit(0, &words);
        self.bench.drain(0);
    }

    /// Executes a RUN_FRAGMENT that renders one pixel to nowhere, and waits for it.
    fn fragment_job(&mut self) {
        // R8G8B8A8, and written nowhere.
        self.render([1 << 26, 19 << 3 | 1 << 8 | 0x688 << 16], 0, 0);
    }

    /// Executes a RUN_FRAGMENT that clears the texel at 0, 0 to `value`, and waits for it.
    fn clear_texel(&mut self, value: u32) {
        // RAW32 to linear memory, of clean tiles too.
        let raw = [34 << 26, 1 | 3 << 3 | 2 << 8 | 0x688 << 16 | 1 << 31];
        self.render(raw, LINEAR, value);
    }

    /// Executes a RUN_FRAGMENT of one pixel whose target begins with two words, and has a base and a clear value.
    fn render(&mut self, target: [u64; 2], base: u64, clear: u32) {
        const FRAMEBUFFER: u64 = DESCRIPTORS + 0x1000;
        // One pixel; tiles of 256 in a kibibyte; depth of 24 bits.
        let high = |word: u64| word << 32;
        let mut framebuffer = [0; 24];
        framebuffer[5] = high(2 << 6 | 8 << 9 | 1 << 24);
        framebuffer[6] = 1 << 16;
        framebuffer[16] = target[0] | high(target[1]);
        framebuffer[20] = base;
        framebuffer[21] = 128;
        framebuffer[22] = clear.into();
        self.bench.put_words(1, FRAMEBUFFER, &framebuffer);
        let request = |fragment| ReqResource {
            fragment,
            ..ReqResource::default()
        };
        let words = [
            set64(40, FRAMEBUFFER | 1),
            set32(42, 0),
            set32(43, 0),
            command(request(true)),
            command(RunFragment::default()),
            command(request(false)),
            command(Wait {
                wait_mask: SlotMask::new(0xff),
                ..Wait::default()
            }),
        ];
        self.bench.submit(0, &words);
        self.bench.drain(0);
        self.bench.expect_no_diagnoses();
    }

    fn command(&mut self, flush: CacheFlush) {
        self.bench
            .write(GPU_COMMAND, GpuCommand::FlushCaches(flush).word());
        self.bench.wait(100);
    }
}

#[test]
fn a_fetched_texel_stays_as_it_was_until_the_other_caches_are_invalidated() {
    let mut scene = Scene::with_caches();
    assert_eq!(scene.read(FETCH), 1);
    scene.run(WRITE);
    assert_eq!(scene.read(FETCH), 1, "the core has read it before");
    assert_eq!(scene.bench.get32(1, LINEAR), 2, "it is in memory");
    scene.flush(
        FlushMode::CleanAndInvalidate,
        FlushMode::CleanAndInvalidate,
        OtherFlushMode::None,
    );
    assert_eq!(scene.read(FETCH), 1, "other caches were flushed");
    scene.flush(FlushMode::None, FlushMode::None, OtherFlushMode::Invalidate);
    assert_eq!(scene.read(FETCH), 2, "the OTHER caches were invalidated");
}

#[test]
fn a_fragment_job_invalidates_them_from_v13_on() {
    for (gpu, expected) in EACH.into_iter().zip([1, 1, 1, 2]) {
        let mut scene = Scene::new(Config {
            first_level_caches: Some(true),
            ..Config::named(gpu).expect("a product")
        });
        assert_eq!(scene.read(FETCH), 1);
        scene.run(WRITE);
        scene.fragment_job();
        assert_eq!(scene.read(FETCH), expected, "{gpu}");
    }
}

#[test]
fn without_such_caches_it_is_new_at_once() {
    let mut scene = Scene::new(Config::default());
    assert_eq!(scene.read(FETCH), 1);
    scene.run(WRITE);
    assert_eq!(scene.read(FETCH), 2);
}

#[test]
fn a_storage_image_is_read_through_the_load_store_cache() {
    let mut scene = Scene::with_caches();
    assert_eq!(scene.read(LOAD), 1);
    scene.run(WRITE);
    assert_eq!(scene.read(LOAD), 2);
}

#[test]
fn commands_invalidate_them_too() {
    let mut scene = Scene::with_caches();
    assert_eq!(scene.read(FETCH), 1);
    scene.run(WRITE);
    scene.command(CacheFlush {
        other: Mode::None,
        ..CacheFlush::ALL
    });
    assert_eq!(scene.read(FETCH), 1, "all but the OTHER caches");
    scene.command(CacheFlush::ALL);
    assert_eq!(scene.read(FETCH), 2);
}

#[test]
fn cores_that_lose_their_power_lose_what_they_have() {
    let mut scene = Scene::with_caches();
    assert_eq!(scene.read(FETCH), 1);
    scene.run(WRITE);
    // Longer than PWROFF_TIMER.
    scene.bench.wait(200_000);
    assert_eq!(scene.read(FETCH), 2);
}

#[test]
fn a_descriptor_that_was_read_stays_too() {
    let mut scene = Scene::with_caches();
    assert_eq!(scene.read(FETCH), 1);
    scene.bench.put(1, LINEAR + 0x100, &7u32.to_le_bytes());
    texture(&mut scene.bench, 0, 2, LINEAR + 0x100, 128);
    assert_eq!(scene.read(FETCH), 1, "the old plane");
    scene.flush(FlushMode::None, FlushMode::None, OtherFlushMode::Invalidate);
    assert_eq!(scene.read(FETCH), 7);
}

#[test]
fn a_clean_of_the_l2_alone_leaves_what_the_load_store_caches_have() {
    use FlushMode::{Clean, None};
    for (l2, lsc, expected) in [(Clean, None, 1), (None, Clean, 1), (Clean, Clean, 2)] {
        let mut scene = Scene::new(Config {
            l2: true,
            ..Config::default()
        });
        scene.run(WRITE);
        assert_eq!(scene.bench.get32(1, LINEAR), 1, "nothing was flushed");
        scene.flush(l2, lsc, OtherFlushMode::None);
        let got = scene.bench.get32(1, LINEAR);
        assert_eq!(got, expected, "L2 {l2:?}, load/store caches {lsc:?}");
    }
}

#[test]
fn a_texel_that_is_read_stale_is_told() {
    // One program, so that the L2 has no old code: it fetches the texel, and then stores another.
    let text = format!("{}{WRITE}", FETCH.trim_end().trim_end_matches("NOP.end"));
    for invalidates in [false, true] {
        let mut scene = Scene::new(Config {
            l2: true,
            ..Config::default()
        });
        scene.run(&text);
        let other = match invalidates {
            true => OtherFlushMode::Invalidate,
            false => OtherFlushMode::None,
        };
        scene.flush(FlushMode::Clean, FlushMode::Clean, other);
        scene.dispatch.submit(&mut scene.bench);
        scene.bench.drain(0);
        scene.flush(FlushMode::Clean, FlushMode::Clean, OtherFlushMode::None);
        let fetched = scene.bench.get32(1, BUFFER);
        if invalidates {
            scene.bench.expect_no_diagnoses();
            assert_eq!(fetched, 2);
        } else {
            let told = "is read as it was before it was written";
            scene.bench.expect_diagnosis(told);
            assert_eq!(fetched, 1);
        }
    }
}

#[test]
fn a_target_that_is_sampled_without_an_invalidation_behind_its_pass_is_told() {
    for (invalidates, wanted) in [(false, 1), (true, 7)] {
        let mut scene = Scene::new(Config {
            l2: true,
            ..Config::default()
        });
        scene.run(FETCH);
        scene.clear_texel(7);
        let other = match invalidates {
            true => OtherFlushMode::Invalidate,
            false => OtherFlushMode::None,
        };
        scene.flush(FlushMode::Clean, FlushMode::Clean, other);
        // The same program, which is in memory already.
        scene.dispatch.submit(&mut scene.bench);
        scene.bench.drain(0);
        scene.flush(FlushMode::Clean, FlushMode::Clean, OtherFlushMode::None);
        assert_eq!(scene.bench.get32(1, BUFFER), wanted, "{invalidates}");
        if invalidates {
            scene.bench.expect_no_diagnoses();
        } else {
            let told = format!("the texel at {LINEAR:#x} is read as it was before it was written");
            scene.bench.expect_diagnosis(&told);
        }
    }
}
