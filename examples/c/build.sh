#!/bin/sh
# Builds example.elf here. EITRI: a checkout of Eitri whose library was built. CC: a C compiler for aarch64.
set -eu
cd "$(dirname "$0")"
eitri=${EITRI:-../..}
library=${EITRI_LIBRARY:-$eitri/target/aarch64-unknown-none/release/libeitri.a}
# With the MMU off no access may be unaligned.
${CC:-aarch64-linux-gnu-gcc} -std=c11 -Wall -Wextra -Werror -O2 -ffreestanding -mstrict-align -fno-pic -no-pie -nostdlib -static \
    -I "$eitri/gpu/driver/c-interface" -T link.ld -Wl,--gc-sections -Wl,--build-id=none \
    start.S main.c "$library" -o example.elf
