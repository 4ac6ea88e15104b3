#!/bin/sh
# Lets something of the GPU go wrong: `gpu-fault NAME`, and `gpu-fault off NAME` when it shall do so no longer. Without a name: what
# can go wrong. Made by `eitri linux`.
word=$(cat /eitri/fault)
if [ "$1" = off ]; then
    word=$(cat /eitri/no-fault)
    shift
fi
if [ $# = 0 ]; then
    cut -d' ' -f1 /eitri/faults
    exit
fi
number=$(sed -n "s/^$1 //p" /eitri/faults)
if [ -z "$number" ]; then
    echo "gpu-fault: there is no \`$1\`; \`gpu-fault\` alone lists what there is" >&2
    exit 2
fi
devmem "$word" 32 "$number"
