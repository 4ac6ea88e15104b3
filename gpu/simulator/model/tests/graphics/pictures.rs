//! The table of cases that are drawn, and how exact.

use super::capture::Capture;
use super::player::Player;
use std::fs::File;
use std::io::BufReader;

/// Pixels of a picture.
const PIXELS: usize = 64 * 64;

/// The RGBA pixels of a picture of the captures.
pub fn expected(picture: &str) -> Vec<[u8; 4]> {
    let path = eitri_testdata::shared(&format!("hardware/worked/{picture}.png"));
    let file = File::open(path.expect("pictures lie beside captures")).expect("a picture");
    let mut reader = png::Decoder::new(BufReader::new(file))
        .read_info()
        .expect("a PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a small picture")];
    let info = reader.next_frame(&mut bytes).expect("one frame");
    assert_eq!(
        (info.width, info.height, info.color_type),
        (64, 64, png::ColorType::Rgba),
        "{picture}.png"
    );
    bytes
        .chunks_exact(4)
        .map(|pixel| [pixel[0], pixel[1], pixel[2], pixel[3]])
        .collect()
}

/// Largest difference of a channel.
fn difference(one: [u8; 4], other: [u8; 4]) -> u8 {
    let pairs = one.iter().zip(other);
    pairs
        .map(|(one, other)| one.abs_diff(other))
        .max()
        .unwrap_or(0)
}

/// Draws a case: every pixel within 1 of 255 of the picture, and at least so many exactly as it.
fn check(case: &str, picture: &str, exact: usize) {
    let Some(capture) = Capture::read(case) else {
        return;
    };
    let mut player = Player::new(&capture);
    let drawn = player.play(&capture).expect("the last job reads back");
    compare(case, &player, &drawn, &expected(picture), exact);
}

/// Draws a case whose upload was not recorded: its texture is put in place by hand.
fn check_without_upload(case: &str, picture: &str, exact: usize) {
    let Some(capture) = Capture::read(case) else {
        return;
    };
    let draw = capture
        .jobs
        .iter()
        .position(|job| job.text.starts_with("RUN_IDVS"));
    let jobs = &capture.jobs[draw.expect("a draw")..];
    let planes = jobs[0]
        .objects
        .iter()
        .filter(|it| it.structure == "AFBC Plane");
    let mut player = Player::new(&capture);
    for plane in planes {
        let image = u64::from(plane.words[3]) << 32 | u64::from(plane.words[2]);
        player.put_compressed_texture(image);
    }
    for job in jobs {
        player.run(&capture, job);
    }
    let drawn = player.picture(jobs.last().expect("a read-back"));
    compare(case, &player, &drawn, &expected(picture), exact);
}

#[test]
fn texdepth_g720() {
    check_without_upload("texdepth-g720", "texdepth", 4008);
}

#[test]
fn texdepth_g725() {
    check_without_upload("texdepth-g725", "texdepth", 4008);
}

/// Compares a drawn picture: no pixel is off by more than 1 of 255, and at least `exact` are the same.
#[track_caller]
pub fn compare(case: &str, player: &Player, drawn: &[[u8; 4]], wanted: &[[u8; 4]], exact: usize) {
    let differences: Vec<u8> = drawn
        .iter()
        .zip(wanted)
        .map(|(drawn, wanted)| difference(*drawn, *wanted))
        .collect();
    if let Some(at) = differences.iter().position(|difference| *difference > 1) {
        let off = differences.iter().filter(|it| **it > 1).count();
        panic!(
            "{case}: {off} pixels are off; the first at ({}, {}) is {:?}, expected {:?}\n{}",
            at % 64,
            at / 64,
            drawn[at],
            wanted[at],
            player.bench.report()
        );
    }
    let same = differences.iter().filter(|it| **it == 0).count();
    assert!(
        same >= exact && same <= PIXELS,
        "{case}: {same} pixels are exact, expected {exact}"
    );
    player.bench.expect_no_diagnoses();
}

/// One test a case: the name of the test, the capture, its picture, and how many of 4096 pixels are exact.
macro_rules! cases {
    ($($name:ident $case:literal like $picture:literal exact $exact:literal;)*) => {
        /// The captures of this table.
        const CASES: &[&str] = &[$($case),*];

        $(
            #[test]
            fn $name() {
                check($case, $picture, $exact);
            }
        )*
    };
}

cases! {
    clear_noafbc "clear-noafbc" like "clear" exact 4096;
    triangle_noafbc "triangle-noafbc" like "triangle" exact 4025;
    twopass_noafbc "twopass-noafbc" like "twopass" exact 4025;
    msaa_noafbc "msaa-noafbc" like "msaa" exact 4013;
    stencil_noafbc "stencil-noafbc" like "stencil" exact 4096;
    texdepth_noafbc "texdepth-noafbc" like "texdepth" exact 4008;
    indirect_noafbc "indirect-noafbc" like "indirect" exact 4008;
    copyimage_noafbc "copyimage-noafbc" like "copyimage" exact 4096;
    discard "discard" like "discard" exact 4058;
    clear "clear" like "clear" exact 4096;
    clearimage "clearimage" like "clearimage" exact 4096;
    triangle "triangle" like "triangle" exact 4025;
    twopass "twopass" like "twopass" exact 4025;
    msaa "msaa" like "msaa" exact 4013;
    stencil "stencil" like "stencil" exact 4096;
    texdepth "texdepth" like "texdepth" exact 4008;
    indirect "indirect" like "indirect" exact 4008;
    copyimage "copyimage" like "copyimage" exact 4096;
    clear_g720 "clear-g720" like "clear" exact 4096;
    clear_g725 "clear-g725" like "clear" exact 4096;
    triangle_g720 "triangle-g720" like "triangle" exact 4025;
    triangle_g725 "triangle-g725" like "triangle" exact 4025;
}

/// Captures that a test of their own draws.
const OTHERS: [&str; 4] = [
    "texdepth-g720",
    "texdepth-g725",
    "occlusion",
    "occlusion-noafbc",
];

#[test]
fn every_capture_is_drawn() {
    let Some(folder) = eitri_testdata::shared("hardware/worked") else {
        return;
    };
    let files = std::fs::read_dir(folder).expect("a folder");
    let names = files.map(|file| file.expect("a file").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    let mut there: Vec<String> = names
        .filter_map(|name| name.strip_suffix(".json").map(str::to_string))
        .collect();
    let tables = CASES.iter().chain(super::reference::CASES).chain(&OTHERS);
    let mut drawn: Vec<String> = tables.map(|case| case.to_string()).collect();
    there.sort_unstable();
    drawn.sort_unstable();
    assert_eq!(drawn, there);
}
