//! Amber scripts that draw to levels of an image.

use std::process::Command;

/// The second level is cleared to another colour than the first; what the first pixel of `picture` shows is that of level `LEVEL`.
const SCRIPT: &str = "#!amber
SHADER vertex pass PASSTHROUGH
SHADER fragment plain GLSL
#version 430
layout(location = 0) out vec4 color;
void main() { color = vec4(1.0); }
END
SHADER fragment sampled GLSL
#version 430
layout(set = 0, binding = 0) uniform sampler2D image;
layout(location = 0) out vec4 color;
void main() { color = textureLod(image, vec2(0.5), LEVEL); }
END
BUFFER texture FORMAT R8G8B8A8_UNORM MIP_LEVELS 2
BUFFER picture FORMAT R8G8B8A8_UNORM
SAMPLER sampler MAX_LOD 2.0
PIPELINE graphics first
  ATTACH pass
  ATTACH plain
  BIND BUFFER texture AS color LOCATION 0 BASE_MIP_LEVEL 0
  FRAMEBUFFER_SIZE 8 8
END
PIPELINE graphics second
  ATTACH pass
  ATTACH plain
  BIND BUFFER texture AS color LOCATION 0 BASE_MIP_LEVEL 1
  FRAMEBUFFER_SIZE 4 4
END
PIPELINE graphics shows
  ATTACH pass
  ATTACH sampled
  BIND BUFFER texture AS combined_image_sampler SAMPLER sampler DESCRIPTOR_SET 0 BINDING 0
  BIND BUFFER picture AS color LOCATION 0
  FRAMEBUFFER_SIZE 2 2
END
CLEAR_COLOR first 255 0 0 255
CLEAR first
CLEAR_COLOR second 0 255 0 255
CLEAR second
RUN second DRAW_RECT POS 0 0 SIZE 2 4
RUN shows DRAW_RECT POS 0 0 SIZE 2 2
EXPECT picture IDX 0 0 SIZE 2 2 EQ_RGBA EXPECTED
EXPECT texture IDX 0 0 SIZE 8 8 EQ_RGBA 255 0 0 255
";

#[test]
fn what_is_drawn_to_a_level_is_sampled_there() {
    let folder = tempfile::tempdir().unwrap();
    // The middle of the second level is right of what was drawn there.
    for (level, expected) in [("0.0", "255 0 0 255"), ("1.0", "0 255 0 255")] {
        let script = SCRIPT
            .replace("LEVEL)", &format!("{level})"))
            .replace("EXPECTED", expected);
        let file = folder.path().join("levels.amber");
        std::fs::write(&file, script).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_eitri"))
            .arg("amber")
            .arg(&file)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(told.contains("1 passed"), "level {level}: {told}");
    }
}
