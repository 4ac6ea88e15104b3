//! Stages: what a function is run as, and what its source says of the stage as a whole.
//!
//! Needs: nothing.  Guarantees: which stages have an operation is a column of its table ([`Stages`]), which `verify` asks.
//! Facts: hardware/graphics-compiler.md 1, 5.

/// What a function is run as.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Stage {
    /// Invocations of workgroups.
    #[default]
    Compute,
    /// One invocation a vertex.
    Vertex(VertexStage),
    /// One invocation a pixel or a sample, in quads: two by two, lane 1 to the right of lane 0, lane 2 below it.
    Fragment(FragmentStage),
}

/// What is particular to a vertex shader.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct VertexStage {
    /// What the position that it stores means.
    pub position: PositionSpace,
    /// Locations that are interpolated without regard to perspective, a bit each: as long as the position is in clip
    /// coordinates they are not multiplied by w yet.
    pub noperspective: u32,
    /// How many clip distances it stores, as varyings: fragments where one is negative are not there.
    pub clip_distances: u8,
}

/// What a stored position means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PositionSpace {
    /// Clip coordinates, as the source has them.
    #[default]
    Clip,
    /// Window coordinates x, y, z and the reciprocal of w, as the tiler reads them: the lowered form.
    Window,
}

/// What is particular to a fragment shader.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FragmentStage {
    /// Depth and stencil are tested before it runs, whatever it does (EarlyFragmentTests).
    pub early_tests: bool,
    /// It runs once a sample. What is interpolated at the centre is then interpolated at the sample.
    pub sample_shading: bool,
    /// How the depth that it writes compares to that of the primitive.
    pub depth: DepthClaim,
    /// Targets whose colours it has blended itself, a bit each: what it stores replaces what is there.
    pub blended: u8,
    /// Targets whose colours go to the fixed function, a bit each: no blend shader runs for them.
    pub fixed: u8,
}

/// What a fragment shader promises of the depth that it writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DepthClaim {
    /// Nothing.
    #[default]
    Any,
    /// It isn't less.
    Greater,
    /// It isn't greater.
    Less,
    /// It is the same.
    Unchanged,
}

/// Which stages have something.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stages(u8);

impl Stages {
    /// Compute shaders.
    pub const COMPUTE: Stages = Stages(1);
    /// Vertex shaders.
    pub const VERTEX: Stages = Stages(2);
    /// Fragment shaders.
    pub const FRAGMENT: Stages = Stages(4);
    /// All but vertex shaders, whose lanes know nothing of one another (hardware/graphics-compiler.md 1.5).
    pub const TOGETHER: Stages = Stages(1 | 4);
    /// Every stage.
    pub const ALL: Stages = Stages(1 | 2 | 4);

    /// Whether that stage is one of them.
    pub const fn has(self, stage: Stage) -> bool {
        let own = match stage {
            Stage::Compute => Stages::COMPUTE,
            Stage::Vertex(_) => Stages::VERTEX,
            Stage::Fragment(_) => Stages::FRAGMENT,
        };
        self.0 & own.0 != 0
    }
}

impl DepthClaim {
    /// All of them, with their names in the text form.
    pub const ALL: [(DepthClaim, &'static str); 4] = [
        (DepthClaim::Any, ""),
        (DepthClaim::Greater, "depth_greater"),
        (DepthClaim::Less, "depth_less"),
        (DepthClaim::Unchanged, "depth_unchanged"),
    ];
}

impl Stage {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Compute => "compute",
            Stage::Vertex(_) => "vertex",
            Stage::Fragment(_) => "fragment",
        }
    }

    /// What is particular to a fragment shader, if it is one.
    pub fn fragment(self) -> Option<FragmentStage> {
        match self {
            Stage::Fragment(fragment) => Some(fragment),
            Stage::Compute | Stage::Vertex(_) => None,
        }
    }

    /// The stage in the text form: its name and then what is particular.
    pub(super) fn show(self) -> String {
        let mut text = self.name().to_owned();
        let mut add = |is: bool, word: &str| {
            if is {
                text += " ";
                text += word;
            }
        };
        match self {
            Stage::Compute => {}
            Stage::Vertex(vertex) => {
                add(vertex.position == PositionSpace::Window, "window");
                let mask = format!("noperspective={}", vertex.noperspective);
                add(vertex.noperspective != 0, &mask);
                let count = format!("clip_distances={}", vertex.clip_distances);
                add(vertex.clip_distances != 0, &count);
            }
            Stage::Fragment(fragment) => {
                add(fragment.early_tests, "early_tests");
                add(fragment.sample_shading, "sample_shading");
                let claims = DepthClaim::ALL.iter();
                for (claim, name) in claims.filter(|(claim, _)| *claim != DepthClaim::Any) {
                    add(fragment.depth == *claim, name);
                }
                let mask = format!("blended={}", fragment.blended);
                add(fragment.blended != 0, &mask);
                let mask = format!("fixed={}", fragment.fixed);
                add(fragment.fixed != 0, &mask);
            }
        }
        text
    }

    /// The stage of such a text.
    pub(super) fn parse(text: &str) -> Option<Stage> {
        let mut words = text.split_whitespace();
        match words.next()? {
            "compute" => words.next().is_none().then_some(Stage::Compute),
            "vertex" => {
                let mut vertex = VertexStage::default();
                for word in words {
                    match word {
                        "window" => vertex.position = PositionSpace::Window,
                        _ if word.starts_with("clip_distances=") => {
                            let count = word.strip_prefix("clip_distances=")?;
                            vertex.clip_distances = count.parse().ok()?;
                        }
                        _ => {
                            let mask = word.strip_prefix("noperspective=")?;
                            vertex.noperspective = mask.parse().ok()?;
                        }
                    }
                }
                Some(Stage::Vertex(vertex))
            }
            "fragment" => {
                let mut fragment = FragmentStage::default();
                for word in words {
                    match word {
                        "early_tests" => fragment.early_tests = true,
                        "sample_shading" => fragment.sample_shading = true,
                        _ if word.starts_with("blended=") => {
                            let mask = word.strip_prefix("blended=")?;
                            fragment.blended = mask.parse().ok()?;
                        }
                        _ if word.starts_with("fixed=") => {
                            let mask = word.strip_prefix("fixed=")?;
                            fragment.fixed = mask.parse().ok()?;
                        }
                        _ => {
                            let mut claims = DepthClaim::ALL.iter();
                            fragment.depth = claims.find(|(_, name)| *name == word)?.0;
                        }
                    }
                }
                Some(Stage::Fragment(fragment))
            }
            _ => None,
        }
    }
}
