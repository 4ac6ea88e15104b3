//! Consistency of a scene: each name that something uses is there, once, and parts lie within their whole.

use super::{
    Aspect, Attachment, Binding, DescriptorKind, Draw, Pass, PassStep, SceneFile, Stage, Step,
    Subpasses,
};
use std::collections::BTreeSet;

/// The names of one kind of things.
struct Names<'s> {
    kind: &'static str,
    names: BTreeSet<&'s str>,
}

impl<'s> Names<'s> {
    fn of(kind: &'static str, names: impl Iterator<Item = &'s String>) -> Result<Self, String> {
        let mut known = BTreeSet::new();
        for name in names {
            if !known.insert(name.as_str()) {
                return Err(format!("{kind} `{name}` stands there twice"));
            }
        }
        Ok(Names { kind, names: known })
    }

    fn has(&self, name: &str) -> Result<(), String> {
        if self.names.contains(name) {
            return Ok(());
        }
        Err(format!("no {} is called `{name}`", self.kind))
    }
}

/// All names of a scene.
struct Checker<'s> {
    scene: &'s SceneFile,
    shaders: Names<'s>,
    buffers: Names<'s>,
    images: Names<'s>,
    views: Names<'s>,
    samplers: Names<'s>,
    texel_views: Names<'s>,
    sets: Names<'s>,
    queries: Names<'s>,
    pipelines: Names<'s>,
}

/// Checks a scene; says what is wrong with it.
pub(super) fn check(scene: &SceneFile) -> Result<(), String> {
    let checker = Checker {
        scene,
        shaders: Names::of("shader", scene.shaders.iter().map(|it| &it.name))?,
        buffers: Names::of("buffer", scene.buffers.iter().map(|it| &it.name))?,
        images: Names::of("image", scene.images.iter().map(|it| &it.name))?,
        views: Names::of("view", scene.views.iter().map(|it| &it.name))?,
        samplers: Names::of("sampler", scene.samplers.iter().map(|it| &it.name))?,
        texel_views: Names::of("texel view", scene.texel_views.iter().map(|it| &it.name))?,
        sets: Names::of("set", scene.sets.iter().map(|it| &it.name))?,
        queries: Names::of("query", scene.queries.iter().map(|it| &it.name))?,
        pipelines: Names::of("pipeline", scene.pipelines.iter().map(|it| &it.name))?,
    };
    checker.resources()?;
    checker.pipelines()?;
    scene.steps.iter().try_for_each(|step| {
        let place = |what| format!("{}: {what}", step.name());
        checker.step(step).map_err(place)
    })?;
    parts_of_passes(scene)
}

/// A pass that is suspended is resumed by the next step, which has the same attachments; and nothing else is resumed.
fn parts_of_passes(scene: &SceneFile) -> Result<(), String> {
    let mut suspended: Option<&Pass> = None;
    for step in &scene.steps {
        let pass = match step {
            Step::Pass(pass) => Some(pass),
            _ => None,
        };
        let resuming = pass.filter(|pass| pass.resuming);
        match (suspended, resuming) {
            (None, Some(_)) => return Err("pass: it resumes a pass that is not suspended".into()),
            (Some(_), None) => {
                let name = step.name();
                return Err(format!(
                    "{name}: a pass is suspended, and this does not resume it"
                ));
            }
            (Some(first), Some(pass)) if !first.has_same_targets(pass) => {
                return Err("pass: it resumes a pass with other attachments".into());
            }
            _ => {}
        }
        suspended = pass.filter(|pass| pass.suspending);
    }
    match suspended {
        Some(_) => Err("pass: it is suspended, and nothing resumes it".into()),
        None => Ok(()),
    }
}

impl Checker<'_> {
    fn resources(&self) -> Result<(), String> {
        for image in &self.scene.images {
            let name = &image.name;
            if image.extent.contains(&0) || image.levels == 0 || image.layers == 0 {
                return Err(format!("image {name} has a size of 0"));
            }
            for init in &image.init {
                let end = init.layer.saturating_add(init.layers);
                if init.level >= image.levels || end > image.layers {
                    return Err(format!(
                        "image {name} has no level {} of layers up to {end}",
                        init.level
                    ));
                }
                image.format_of(init.aspect)?;
            }
        }
        for view in &self.scene.views {
            self.images.has(&view.image)?;
            let (name, levels) = (&view.name, view.level.saturating_add(view.levels));
            let image = self.scene.image(&view.image);
            if image.is_some_and(|image| levels > image.levels) {
                return Err(format!(
                    "view {name} goes up to level {levels} of {}",
                    view.image
                ));
            }
        }
        for sampler in &self.scene.samplers {
            if !(1..=16).contains(&sampler.max_anisotropy) {
                return Err(format!(
                    "sampler {} has a `max_anisotropy` of {}, not 1 to 16",
                    sampler.name, sampler.max_anisotropy
                ));
            }
        }
        for texels in &self.scene.texel_views {
            self.buffers.has(&texels.buffer)?;
        }
        let bindings = self.scene.sets.iter().flat_map(|set| &set.bindings);
        bindings.into_iter().try_for_each(|it| self.binding(it))
    }

    /// A descriptor names what its kind takes.
    fn binding(&self, binding: &Binding) -> Result<(), String> {
        use DescriptorKind as Kind;
        let (buffer, view, sampler, texels) = match binding.kind {
            Kind::Sampler => (false, false, true, false),
            Kind::CombinedImageSampler => (false, true, true, false),
            Kind::SampledImage | Kind::StorageImage | Kind::InputAttachment => {
                (false, true, false, false)
            }
            Kind::UniformTexelBuffer | Kind::StorageTexelBuffer => (false, false, false, true),
            Kind::UniformBuffer | Kind::StorageBuffer => (true, false, false, false),
        };
        let members = [
            (buffer, &binding.buffer, &self.buffers),
            (view, &binding.view, &self.views),
            (sampler, &binding.sampler, &self.samplers),
            (texels, &binding.texels, &self.texel_views),
        ];
        for (wanted, member, names) in members {
            match member {
                Some(name) if wanted => names.has(name)?,
                None if !wanted => {}
                _ => {
                    let (number, kind) = (binding.binding, binding.kind);
                    let what = if wanted { "needs a" } else { "takes no" };
                    return Err(format!("binding {number}, {kind:?}, {what} {}", names.kind));
                }
            }
        }
        Ok(())
    }

    fn pipelines(&self) -> Result<(), String> {
        for pipeline in &self.scene.pipelines {
            let name = &pipeline.name;
            let mut stages = Vec::new();
            for stage in &pipeline.stages {
                self.shaders.has(&stage.shader)?;
                let shader = self.scene.shader(&stage.shader);
                stages.extend(shader.map(|shader| shader.stage));
            }
            let good = match stages[..] {
                [Stage::Compute] | [Stage::Vertex] => true,
                [one, other] => one != other && one != Stage::Compute && other != Stage::Compute,
                _ => false,
            };
            if !good {
                return Err(format!("pipeline {name} has the stages {stages:?}"));
            }
            pipeline
                .sets
                .iter()
                .try_for_each(|set| self.sets.has(set))?;
            for attribute in &pipeline.attributes {
                let mut bindings = pipeline.vertex_bindings.iter();
                if !bindings.any(|binding| binding.binding == attribute.binding) {
                    let (location, binding) = (attribute.location, attribute.binding);
                    return Err(format!(
                        "pipeline {name}: attribute {location} is of binding {binding}, which is missing"
                    ));
                }
            }
        }
        Ok(())
    }

    fn step(&self, step: &Step) -> Result<(), String> {
        match step {
            Step::Pass(pass) => self.pass(pass),
            Step::Subpasses(passes) => self.subpasses(passes),
            Step::Dispatch(dispatch) => {
                self.pipeline(&dispatch.pipeline, true)?;
                self.sets(dispatch.sets.as_deref())
            }
            Step::CopyBuffer(copy) => {
                self.range(&copy.src, copy.src_offset, copy.bytes)?;
                self.range(&copy.dst, copy.dst_offset, copy.bytes)
            }
            Step::FillBuffer(fill) => self.range(&fill.buffer, fill.offset, fill.bytes),
            Step::UpdateBuffer(update) => {
                self.range(&update.buffer, update.offset, update.hex.len() as u64)
            }
            Step::CopyBufferToImage(copy) | Step::CopyImageToBuffer(copy) => {
                self.buffers.has(&copy.buffer)?;
                let regions = copy.regions.iter();
                regions.into_iter().try_for_each(|region| {
                    self.part(
                        &copy.image,
                        region.aspect,
                        region.level,
                        region.layer,
                        region.layers,
                    )
                })
            }
            Step::CopyImage(copy) | Step::Resolve(copy) => {
                copy.regions.iter().try_for_each(|region| {
                    for (image, part) in [(&copy.src, region.src), (&copy.dst, region.dst)] {
                        self.part(image, part.aspect, part.level, part.layer, part.layers)?;
                    }
                    Ok(())
                })
            }
            Step::Blit(blit) => blit.regions.iter().try_for_each(|region| {
                for (image, part) in [(&blit.src, region.src), (&blit.dst, region.dst)] {
                    self.part(image, part.aspect, part.level, part.layer, part.layers)?;
                }
                Ok(())
            }),
            Step::ClearColor(clear) => self.images.has(&clear.image),
            Step::ClearDepthStencil(clear) => self.images.has(&clear.image),
            Step::BeginQuery(query) | Step::EndQuery(query) => self.queries.has(&query.query),
            Step::CopyQuery(copy) => {
                self.queries.has(&copy.query)?;
                self.range(&copy.buffer, copy.offset, 4)
            }
        }
    }

    fn pass(&self, pass: &Pass) -> Result<(), String> {
        let colors = pass.color.iter().flatten();
        let all = colors.chain(&pass.depth).chain(&pass.stencil);
        all.into_iter().try_for_each(|it| self.attachment(it))?;
        self.draws(&pass.draws, pass.color.len())
    }

    fn subpasses(&self, passes: &Subpasses) -> Result<(), String> {
        let attachments = &passes.attachments;
        attachments.iter().try_for_each(|it| self.attachment(it))?;
        for subpass in &passes.subpasses {
            let colors = subpass.colors.iter().chain(&subpass.inputs);
            let mut all = colors.chain(&subpass.resolves).chain(&subpass.depth);
            if let Some(index) = all.find(|index| **index >= attachments.len()) {
                return Err(format!("there is no attachment {index}"));
            }
            self.draws(&subpass.draws, subpass.colors.len())?;
        }
        Ok(())
    }

    fn attachment(&self, attachment: &Attachment) -> Result<(), String> {
        self.views.has(&attachment.view)?;
        let resolve = attachment.resolve.as_deref();
        resolve.map_or(Ok(()), |view| self.views.has(view))
    }

    fn draws(&self, steps: &[PassStep], colors: usize) -> Result<(), String> {
        for step in steps {
            match step {
                PassStep::Draw(draw) => self.draw(draw)?,
                PassStep::ClearAttachments(clear) => {
                    let mut all = clear.attachments.iter();
                    let missing = all.find(|it| it.aspect == Aspect::Color && it.index >= colors);
                    if let Some(missing) = missing {
                        return Err(format!("there is no colour attachment {}", missing.index));
                    }
                }
                PassStep::BeginQuery(query) | PassStep::EndQuery(query) => {
                    self.queries.has(&query.query)?;
                }
            }
        }
        Ok(())
    }

    fn draw(&self, draw: &Draw) -> Result<(), String> {
        self.pipeline(&draw.pipeline, false)?;
        self.sets(draw.sets.as_deref())?;
        for vertices in &draw.vertex_buffers {
            self.buffers.has(&vertices.buffer)?;
        }
        if let Some(index) = &draw.index {
            self.buffers.has(&index.buffer)?;
        }
        match (
            &draw.indirect,
            draw.index.is_some(),
            draw.vertices,
            draw.indices,
        ) {
            (Some(indirect), _, None, None) => {
                self.buffers.has(&indirect.buffer)?;
                let count = indirect.count_buffer.as_deref();
                count.map_or(Ok(()), |buffer| self.buffers.has(buffer))
            }
            (None, true, None, Some(_)) | (None, false, Some(_), None) => Ok(()),
            _ => Err("a draw has `vertices`, or `index` and `indices`, or `indirect`".to_owned()),
        }
    }

    /// A pipeline for draws, or for dispatches.
    fn pipeline(&self, name: &str, compute: bool) -> Result<(), String> {
        self.pipelines.has(name)?;
        let pipeline = self.scene.pipeline(name);
        let mut stages = pipeline.into_iter().flat_map(|pipeline| &pipeline.stages);
        let computes = stages.any(|stage| {
            let shader = self.scene.shader(&stage.shader);
            shader.is_some_and(|shader| shader.stage == Stage::Compute)
        });
        if computes == compute {
            return Ok(());
        }
        let wanted = if compute { "a compute" } else { "a graphics" };
        Err(format!("pipeline {name} is not {wanted} pipeline"))
    }

    fn sets(&self, names: Option<&[String]>) -> Result<(), String> {
        let mut names = names.into_iter().flatten();
        names.try_for_each(|name| self.sets.has(name))
    }

    /// Bytes lie in a buffer.
    fn range(&self, name: &str, offset: u64, bytes: u64) -> Result<(), String> {
        self.buffers.has(name)?;
        let size = self.scene.buffer(name).map_or(0, |buffer| buffer.bytes);
        let end = offset.saturating_add(bytes);
        if end <= size {
            return Ok(());
        }
        Err(format!(
            "buffer {name} has {size} bytes, and bytes up to {end} are used"
        ))
    }

    /// So many layers of a level, from `layer` on, lie in an image.
    fn part(
        &self,
        name: &str,
        aspect: Aspect,
        level: u32,
        layer: u32,
        layers: u32,
    ) -> Result<(), String> {
        self.images.has(name)?;
        let Some(image) = self.scene.image(name) else {
            return Ok(());
        };
        // Both at once have no form of their own in files: what has depth can be copied so.
        let of = if aspect == Aspect::DepthStencil {
            Aspect::Depth
        } else {
            aspect
        };
        image.format_of(of)?;
        let end = layer.saturating_add(layers);
        if level >= image.levels || end > image.layers {
            return Err(format!(
                "image {name} has no level {level} of layers up to {end}"
            ));
        }
        Ok(())
    }
}
