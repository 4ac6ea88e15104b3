#!/bin/sh
# The first process: mounts what programs expect, lets the drivers find their devices, runs what was asked for, and tells the
# host how that ended. Made by `eitri linux`; what is particular to a run stands in /eitri.
export PATH=/bin:/usr/bin:/usr/sbin HOME=/root TERM="${TERM:-linux}" XDG_RUNTIME_DIR=/run
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts pts /dev/pts
for folder in /dev/shm /tmp /run; do mount -t tmpfs tmp "$folder"; done
hostname eitri

# Tells the host the exit status, and ends the machine.
finish() {
    devmem "$(cat /eitri/ending)" 32 "$1"
    # With a screen, the host ends the machine when it has read the picture.
    [ -e /eitri/screen ] && sleep 60
    # Without a sync of its own: after a suspend that does not end while a share is there.
    poweroff -n -f
}

while read -r module; do modprobe "$module"; done </eitri/modules
if [ -e /eitri/share ]; then
    mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 share /share && cd /share
fi
if [ -e /eitri/disk ]; then
    if mount -t ext4 /dev/vda /disk 2>/dev/null || mount -t squashfs -o ro /dev/vda /disk; then
        for folder in proc sys dev dev/pts tmp run share; do
            # A file system that is read only must have them already.
            [ -d "/disk/$folder" ] || mkdir -p "/disk/$folder"
            mount --bind "/$folder" "/disk/$folder"
        done
    else
        echo "eitri: the disk has neither ext4 nor squashfs, or this kernel lacks them" >&2
        finish 2
    fi
fi
if ! [ -e /dev/dri/renderD128 ]; then
    if [ -d /sys/bus/platform/drivers/panthor ]; then
        echo "eitri: Linux's driver has found no GPU; what it said:" >&2
        dmesg | grep -iE 'panthor|gpu' >&2
    else
        echo "eitri: this kernel has no panthor: an Image needs it inside (CONFIG_DRM_PANTHOR=y), a package as a module" >&2
    fi
fi

if [ -e /eitri/command ]; then
    # Lines end as the command ends them.
    stty -onlcr </dev/console
    # Programs of packages come before those of busybox.
    if [ -e /eitri/disk ]; then
        cp /eitri/command /run/command
        PATH=/usr/bin:/usr/sbin:/bin chroot /disk /bin/sh /run/command
    else
        PATH=/usr/bin:/usr/sbin:/bin sh /eitri/command
    fi
    status=$?
elif [ -e /eitri/disk ]; then
    PATH=/usr/bin:/usr/sbin:/bin setsid cttyhack chroot /disk /bin/sh -l
    status=$?
else
    PATH=/usr/bin:/usr/sbin:/bin setsid cttyhack sh -l
    status=$?
fi
cd /
# Beside us, and not waited for for ever: after a suspend the share never answers again, and the guest has to end nevertheless.
# Lazily, since what the command left running may still be in there.
(
    [ -e /eitri/share ] && umount -l /share
    sync
    : >/run/synced
) &
waits=0
until [ -e /run/synced ] || [ "$waits" -ge 100 ]; do
    usleep 20000
    waits=$((waits + 1))
done
finish "$status"
