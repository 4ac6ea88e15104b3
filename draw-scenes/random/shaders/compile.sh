#!/bin/sh
# Compiles the shaders of random scenes with glslang and the optimiser of SPIRV-Tools; the results are kept beside the sources.
set -e
cd "$(dirname "$0")"
module() { # name, source, definitions
    name=$1 source=$2
    shift 2
    glslangValidator -V --target-env vulkan1.2 "$@" -o "$name.spv" "$source" >/dev/null
    spirv-opt -O "$name.spv" -o "$name-opt.spv"
    spirv-val --target-env vulkan1.2 "$name.spv"
    spirv-val --target-env vulkan1.2 "$name-opt.spv"
}
module mesh mesh.vert
module clipped mesh.vert -DCLIP=1
module plain colour.frag
module textured colour.frag -DTEXTURED=1
module dual colour.frag -DDUAL=1
module signed colour.frag -DINTEGER=ivec4
module unsigned colour.frag -DINTEGER=uvec4
module deep colour.frag -DDEPTH=1
module masked colour.frag -DMASK=1
module sampled colour.frag -DSAMPLES=1
