//! The images that a scene draws to and reads, and how what they hold is compared.

use crate::random::Random;
use serde_json::{Value, json};

/// What a colour's components are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Real,
    Signed,
    Unsigned,
}

/// A format of a colour target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    pub(crate) name: &'static str,
    /// Whether logical operations are defined for it, and lavapipe makes them right.
    pub(crate) has_logic: bool,
    tolerance: Tolerance,
}

impl Format {
    /// Whether its numbers have no bounds.
    pub(crate) fn is_float(&self) -> bool {
        self.name.contains("float")
    }
}

/// How far two pictures of a format may be apart.
#[derive(Clone, Copy, Debug)]
enum Tolerance {
    Exact,
    /// Steps of the format.
    Steps(u32),
    /// A part of the value, and as much beside.
    Part(f64),
}

use Tolerance::{Exact, Part, Steps};

#[rustfmt::skip]
const REAL: &[Format] = &[
    Format { name: "r8g8b8a8_unorm",           has_logic: true, tolerance: Steps(2) },
    Format { name: "r8g8b8a8_unorm",           has_logic: true, tolerance: Steps(2) },
    Format { name: "b8g8r8a8_unorm",           has_logic: true, tolerance: Steps(2) },
    Format { name: "r8g8b8a8_srgb",            has_logic: false, tolerance: Steps(3) },
    Format { name: "r8_unorm",                 has_logic: true, tolerance: Steps(2) },
    Format { name: "r8g8_unorm",               has_logic: true, tolerance: Steps(2) },
    Format { name: "a2b10g10r10_unorm_pack32", has_logic: true, tolerance: Steps(3) },
    Format { name: "r5g6b5_unorm_pack16",      has_logic: true, tolerance: Steps(1) },
    Format { name: "r16g16b16a16_sfloat",      has_logic: false, tolerance: Part(0.01) },
    Format { name: "r16_sfloat",               has_logic: false, tolerance: Part(0.01) },
    Format { name: "r16g16_sfloat",            has_logic: false, tolerance: Part(0.01) },
    Format { name: "r32_sfloat",               has_logic: false, tolerance: Part(0.01) },
    Format { name: "r32g32b32a32_sfloat",      has_logic: false, tolerance: Part(0.01) },
    Format { name: "b10g11r11_ufloat_pack32",  has_logic: false, tolerance: Part(0.05) },
];

#[rustfmt::skip]
const SIGNED: &[Format] = &[
    Format { name: "r8g8b8a8_sint",     has_logic: true, tolerance: Exact },
    Format { name: "r16g16_sint",       has_logic: true, tolerance: Exact },
    Format { name: "r32_sint",          has_logic: true, tolerance: Exact },
    Format { name: "r32g32b32a32_sint", has_logic: true, tolerance: Exact },
];

#[rustfmt::skip]
const UNSIGNED: &[Format] = &[
    Format { name: "r8g8b8a8_uint",           has_logic: true, tolerance: Exact },
    Format { name: "r8_uint",                 has_logic: true, tolerance: Exact },
    Format { name: "r16g16b16a16_uint",       has_logic: true, tolerance: Exact },
    Format { name: "r32g32_uint",             has_logic: true, tolerance: Exact },
    // Lavapipe makes them of 32 bits, and limits what comes out to what 10 hold.
    Format { name: "a2b10g10r10_uint_pack32", has_logic: false, tolerance: Exact },
];

const DEPTHS: &[&str] = &[
    "d32_sfloat_s8_uint",
    "d24_unorm_s8_uint",
    "d16_unorm",
    "d32_sfloat",
    "s8_uint",
];
const TEXTURES: &[&str] = &[
    "r8g8b8a8_unorm",
    "r8_unorm",
    "r8g8_snorm",
    "a2b10g10r10_unorm_pack32",
    "r5g6b5_unorm_pack16",
    "b8g8r8a8_unorm",
];

/// The images of a scene.
pub(crate) struct Targets {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) samples: u32,
    pub(crate) class: Class,
    pub(crate) colours: Vec<Format>,
    pub(crate) depth: Option<&'static str>,
    /// The format of the image that shaders read.
    texture: &'static str,
}

impl Targets {
    pub(crate) fn choose(random: &mut Random) -> Targets {
        let class = random.of(&[
            Class::Real,
            Class::Real,
            Class::Real,
            Class::Signed,
            Class::Unsigned,
        ]);
        let formats = match class {
            Class::Real => REAL,
            Class::Signed => SIGNED,
            Class::Unsigned => UNSIGNED,
        };
        let count = random.of(&[1, 1, 1, 2, 3, 4]);
        Targets {
            width: random.of(&[16, 32, 64, 64, 128]),
            height: random.of(&[16, 32, 64, 64]),
            samples: random.of(&[1, 1, 1, 4]),
            class,
            colours: (0..count).map(|_| random.of(formats)).collect(),
            depth: (!random.once_in(3)).then(|| random.of(DEPTHS)),
            texture: random.of(TEXTURES),
        }
    }

    /// Whether targets have samples that are resolved.
    pub(crate) fn is_resolved(&self) -> bool {
        self.samples > 1
    }

    pub(crate) fn has_depth(&self) -> bool {
        self.depth.is_some_and(|format| format.starts_with('d'))
    }

    pub(crate) fn has_stencil(&self) -> bool {
        self.depth.is_some_and(|format| format.contains("s8"))
    }

    /// How samples become one.
    pub(crate) fn resolve_mode(&self) -> &'static str {
        match self.class {
            Class::Real => "average",
            Class::Signed | Class::Unsigned => "sample_zero",
        }
    }

    pub(crate) fn description(&self) -> String {
        let colours: Vec<&str> = self.colours.iter().map(|format| format.name).collect();
        let depth = self.depth.unwrap_or("no depth");
        format!(
            "{} x {}, {} samples, {}, {depth}",
            self.width,
            self.height,
            self.samples,
            colours.join(" ")
        )
    }

    /// The largest whole number that each colour holds, in each component.
    pub(crate) fn largest_number(&self) -> u32 {
        let largest = self.colours.iter().map(|format| match format.name {
            name if name.starts_with("a2") => 3,
            name if name.starts_with("r8") => 0x7F,
            name if name.starts_with("r16") => 0x7FFF,
            _ => i32::MAX.cast_unsigned(),
        });
        largest.min().unwrap_or(0)
    }

    /// The images, with what is in them at first.
    pub(crate) fn images(&self, random: &mut Random) -> Vec<Value> {
        let extent = [self.width, self.height, 1];
        let image = |name: String, format: &str, samples: u32, usage: &[&str]| {
            json!({"name": name, "type": "2d", "format": format, "extent": extent, "levels": 1, "layers": 1,
                "samples": samples, "usage": usage})
        };
        let mut images = Vec::new();
        for (index, format) in self.colours.iter().enumerate() {
            images.push(image(
                format!("c{index}"),
                format.name,
                self.samples,
                &["color"],
            ));
            if self.is_resolved() {
                images.push(image(format!("r{index}"), format.name, 1, &["color"]));
            }
        }
        let first = self.colours[0].name;
        images.push(image("spare".to_owned(), first, 1, &["color", "sampled"]));
        if let Some(format) = self.depth {
            images.push(image(
                "d".to_owned(),
                format,
                self.samples,
                &["depth_stencil"],
            ));
        }
        let levels = (0..4).map(|level| {
            let seed = random.between(1, 99);
            json!({"level": level, "data": {"pcg32": {"seed": seed, "as": "u32"}}})
        });
        let levels: Vec<Value> = levels.collect();
        images.push(
            json!({"name": "texture", "type": "2d", "format": self.texture, "extent": [16, 16, 1],
            "levels": 4, "layers": 1, "samples": 1, "usage": ["sampled"], "init": levels}),
        );
        images
    }

    pub(crate) fn views(&self) -> Vec<Value> {
        let view = |name: String| json!({"name": name, "image": name});
        let mut views = Vec::new();
        for index in 0..self.colours.len() {
            views.push(view(format!("c{index}")));
            if self.is_resolved() {
                views.push(view(format!("r{index}")));
            }
        }
        if self.depth.is_some() {
            views.push(view("d".to_owned()));
        }
        views.push(json!({"name": "texture", "image": "texture", "levels": 4}));
        views.push(json!({"name": "turned", "image": "texture", "levels": 4, "swizzle": "bg1r"}));
        views
    }

    /// What is compared: each colour, as it is or resolved, the spare image, depth and stencil.
    pub(crate) fn expectations(&self) -> Vec<Value> {
        let prefix = if self.is_resolved() { 'r' } else { 'c' };
        let mut all = Vec::new();
        for (index, format) in self.colours.iter().enumerate() {
            all.push(expectation(
                &format!("{prefix}{index}"),
                "color",
                format.tolerance,
                self,
            ));
        }
        all.push(expectation(
            "spare",
            "color",
            self.colours[0].tolerance,
            self,
        ));
        if self.samples == 1 {
            if self.has_depth() {
                let tolerance = match self.depth {
                    Some("d16_unorm") => Steps(1),
                    Some("d24_unorm_s8_uint") => Steps(16),
                    _ => Part(1e-6),
                };
                all.push(expectation("d", "depth", tolerance, self));
            }
            if self.has_stencil() {
                all.push(expectation("d", "stencil", Exact, self));
            }
        }
        all
    }
}

/// What is expected of an image; its pixels on edges that are free may differ, a few.
fn expectation(image: &str, aspect: &str, tolerance: Tolerance, targets: &Targets) -> Value {
    let mut compare = match tolerance {
        Exact => json!({"rule": "exact"}),
        Steps(steps) => {
            json!({"rule": "units", "max": steps, "why": "interpolation, filtering and blending round"})
        }
        Part(part) => {
            json!({"rule": "float", "abs": part, "rel": part, "why": "interpolation, filtering and blending round"})
        }
    };
    // Lavapipe's resolves take samples of neighbours, errors of blends add up, and depths that are interpolated may cross.
    let part = match tolerance {
        Exact if targets.samples == 1 => 64,
        _ => 10,
    };
    compare["allow_pixels"] = json!(targets.width * targets.height / part);
    json!({"image": image, "aspect": aspect, "data": "zero", "compare": compare})
}
