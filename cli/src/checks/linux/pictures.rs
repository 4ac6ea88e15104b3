//! Pictures of the same programs by the driver of the GPU and by that of the CPU, drawn and compared in one guest.
//!
//! The exit status of a program is no test: OpenGL says nothing of a lost device.

use super::{boot, described};
use crate::checks::Case;
use crate::outcome::Failure;
use crate::runs::screen::Pixmap;
use std::collections::BTreeSet;
use std::path::Path;

/// Programs that draw, and the comparison.
const FOLDER: &str = "qemu-tests/guest-pictures";
/// Programs of the facts' worked examples, which other people may have and this repository does not.
const WORKED: &str = "../shared/hardware/worked/source";

/// Pictures by one interface.
struct Pictures {
    what: &'static str,
    /// Debian packages of both drivers and of the program.
    packages: &'static [&'static str],
    script: &'static str,
    /// The name of each driver's device in the output: if one is missing, nothing was compared.
    drivers: [&'static str; 2],
    /// Number of pictures that agree.
    count: usize,
}

const GL: Pictures = Pictures {
    what: "OpenGL ES draws what it draws on the CPU",
    packages: &[
        "python3",
        "libegl1",
        "libgles2",
        "libegl-mesa0",
        "libgl1-mesa-dri",
    ],
    script: "python3 gl.py draw /tmp/gpu
LIBGL_ALWAYS_SOFTWARE=1 python3 gl.py draw /tmp/cpu
python3 gl.py compare /tmp/gpu /tmp/cpu",
    drivers: ["Panfrost", "llvmpipe"],
    count: 7,
};

/// No pictures, but sums: compute by the two other interfaces.
const COMPUTE: Pictures = Pictures {
    what: "OpenCL and OpenGL ES compute what Python does",
    packages: &[
        "python3",
        "libegl1",
        "libgles2",
        "libegl-mesa0",
        "libgl1-mesa-dri",
        "mesa-opencl-icd",
        "ocl-icd-libopencl1",
    ],
    script: "RUSTICL_ENABLE=panfrost python3 compute.py opencl && python3 compute.py gles",
    drivers: ["Mali-G610", "Panfrost"],
    count: 2,
};

/// Images compressed as the driver likes, and again without.
const VULKAN: Pictures = Pictures {
    what: "the worked examples draw what they draw on the CPU",
    packages: &[
        "python3",
        "gcc",
        "libc6-dev",
        "libvulkan-dev",
        "glslang-tools",
        "mesa-vulkan-drivers",
    ],
    script: "python3 vulkan.py build worked /tmp/built
export VK_DRIVER_FILES=/usr/share/vulkan/icd.d/panfrost_icd.json
python3 vulkan.py draw /tmp/built /tmp/gpu
PANVK_DEBUG=noafbc python3 vulkan.py draw /tmp/built /tmp/plain
export VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd.json
python3 vulkan.py draw /tmp/built /tmp/cpu
python3 vulkan.py compare /tmp/gpu /tmp/cpu && python3 vulkan.py compare /tmp/plain /tmp/cpu",
    drivers: ["Mali-G610", "llvmpipe"],
    count: 40,
};

/// Programs that move what they draw; weston shows them.
const FRAMES: Pictures = Pictures {
    what: "glmark2, vkmark and vkcube draw what they draw on the CPU",
    packages: &[
        "python3",
        "gcc",
        "libc6-dev",
        "weston",
        "glmark2-es2-wayland",
        "glmark2-data",
        "vkmark",
        "libegl-mesa0",
        "libgl1-mesa-dri",
        "mesa-vulkan-drivers",
    ],
    script: "export VK_DRIVER_FILES=/usr/share/vulkan/icd.d/panfrost_icd.json
python3 frames.py draw /tmp/gpu
export VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd.json LIBGL_ALWAYS_SOFTWARE=1
export GALLIVM_PERF=no_filter_hacks,no_aos_sampling
python3 frames.py draw /tmp/cpu
python3 frames.py compare /tmp/gpu /tmp/cpu",
    drivers: ["Panfrost", "llvmpipe"],
    count: 18,
};

/// A compositor that the GPU draws for, on the guest's screen, and a window in it.
const SCREEN_SCRIPT: &str = "printf '[core]\nrequire-input=false\nidle-time=0\n' >/tmp/weston.ini
MESA_LOADER_DRIVER_OVERRIDE=kmsro LIBSEAT_BACKEND=noop weston --config=/tmp/weston.ini --backend=drm --drm-device=card1 \
    --renderer=gl --socket=screen >/tmp/weston.log 2>&1 &
until [ -e /run/screen ]; do sleep 1; done
WAYLAND_DISPLAY=screen vkcube --wsi wayland --width 200 --height 150 &
sleep 20
grep 'GL renderer' /tmp/weston.log";
/// Packages that it needs.
const SCREEN_PACKAGES: &[&str] = &["weston", "libegl-mesa0", "libgl1-mesa-dri"];
/// Colours of the screen with vkcube in it, at least: the cube's lit faces have more.
const LEAST_COLOURS: usize = 300;

/// Pictures of OpenGL ES and of Vulkan, frames of programs, and the screen.
pub(super) fn run(root: &Path, suite: &str) -> Result<Vec<Case>, Failure> {
    let mut cases = still(root, suite)?;
    cases.push(drawn(root, suite, &FRAMES, &root.join(FOLDER))?);
    cases.push(screen(root, suite)?);
    Ok(cases)
}

/// vkcube in a window on the guest's screen.
fn screen(root: &Path, suite: &str) -> Result<Case, Failure> {
    let unwritable = |cause| Failure::unwritable(std::env::temp_dir(), cause);
    let folder = tempfile::tempdir().map_err(unwritable)?;
    let file = folder.path().join("screen.ppm");
    let path = file.display().to_string();
    let mut words = vec!["--gpu-time", "--memory", "4096", "--screen", &path];
    words.extend(SCREEN_PACKAGES.iter().flat_map(|name| ["--package", name]));
    words.extend(["--", "sh", "-c", SCREEN_SCRIPT]);
    let output = boot(root, suite, &words)?;
    let picture = std::fs::read(&file).unwrap_or_default();
    let colours: BTreeSet<&[u8]> = match Pixmap::parse(&picture) {
        Ok(pixmap) => pixmap.pixels.chunks(3).collect(),
        Err(_) => BTreeSet::new(),
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let good = output.status.success()
        && said.contains("Selected GPU 0: Mali-")
        && said.contains("(Panfrost)")
        && colours.len() >= LEAST_COLOURS;
    let name = format!("{suite}: the screen shows vkcube, drawn and composed on the GPU");
    let told = || format!("{} colours; {}", colours.len(), described(&output));
    Ok(Case::ran(name, (!good).then(told)))
}

/// Programs that draw one picture.
fn still(root: &Path, suite: &str) -> Result<Vec<Case>, Failure> {
    let unwritable = |cause| Failure::unwritable(std::env::temp_dir(), cause);
    let compute = drawn(root, suite, &COMPUTE, &root.join(FOLDER))?;
    let gl = drawn(root, suite, &GL, &root.join(FOLDER))?;
    let worked = root.join(WORKED);
    if !worked.is_dir() {
        let name = format!("{suite}: {}", VULKAN.what);
        return Ok(vec![
            compute,
            gl,
            Case::skipped(name, format!("no {WORKED}")),
        ]);
    }
    let share = tempfile::tempdir().map_err(unwritable)?;
    copy(&root.join(FOLDER), share.path())?;
    copy(&worked, &share.path().join("worked"))?;
    copy(
        &worked.join("shaders"),
        &share.path().join("worked/shaders"),
    )?;
    Ok(vec![
        compute,
        gl,
        drawn(root, suite, &VULKAN, share.path())?,
    ])
}

fn drawn(root: &Path, suite: &str, pictures: &Pictures, share: &Path) -> Result<Case, Failure> {
    let share = share.display().to_string();
    let mut words = vec!["--gpu-time", "--memory", "4096", "--share", &share];
    words.extend(
        pictures
            .packages
            .iter()
            .flat_map(|name| ["--package", name]),
    );
    words.extend(["--", "sh", "-c", pictures.script]);
    let output = boot(root, suite, &words)?;
    let said = String::from_utf8_lossy(&output.stdout);
    let same = said.lines().filter(|line| line.starts_with("ok ")).count();
    let both = pictures.drivers.iter().all(|name| said.contains(name));
    let good = output.status.success() && both && same == pictures.count;
    let name = format!("{suite}: {}", pictures.what);
    Ok(Case::ran(name, (!good).then(|| described(&output))))
}

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(to).map_err(|cause| Failure::unwritable(to, cause))?;
    let unreadable = |cause| Failure::unreadable(from, cause);
    for entry in std::fs::read_dir(from).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if let (true, Some(name)) = (file.is_file(), file.file_name()) {
            std::fs::copy(&file, to.join(name)).map_err(|cause| Failure::unwritable(to, cause))?;
        }
    }
    Ok(())
}
