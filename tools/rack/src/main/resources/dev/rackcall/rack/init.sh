#!/bin/sh
# First process of a guest, in its initramfs: loads the kernel modules, puts a root together from the machine's own folders (read-only), and
# hands over to guest.sh. Kernel command line: rackcall.seconds=N switches the guest off after that time in any case.
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev

fail() {
    echo "RACKCALL down: $1"
    poweroff -f
}

seconds=600
for word in $(cat /proc/cmdline); do
    case $word in rackcall.seconds=*) seconds=${word#*=} ;; esac
done
(sleep "$seconds"; echo "RACKCALL down: switched off after $seconds s"; echo o >/proc/sysrq-trigger) &

for module in virtio_pci 9pnet_virtio 9p virtio_net virtio_rng crc32_generic crc32_pclmul rdma_rxe ib_uverbs nfit nd_pmem dax_pmem device_dax; do
    modprobe "$module" 2>/dev/null
done

share() { # TAG FOLDER OPTIONS
    mkdir -p "$2"
    mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,$3" "$1" "$2" || fail "the machine's folder $1 cannot be mounted"
}

share host /host ro,cache=loose
mount -t tmpfs none /root
for entry in etc usr bin sbin lib lib32 lib64 libx32; do
    if [ -L /host/$entry ]; then
        cp -P /host/$entry /root/$entry
    elif [ -d /host/$entry ]; then
        mkdir /root/$entry
        mount --bind /host/$entry /root/$entry
    fi
done
share share /root/rack/share ro,cache=loose
share jdk /root/rack/jdk ro,cache=loose
share sync /root/rack/sync cache=none

mkdir /root/proc /root/sys /root/dev /root/tmp /root/run
mount --move /proc /root/proc
mount --move /sys /root/sys
mount --move /dev /root/dev
mkdir -p /root/dev/shm
mount -t tmpfs none /root/dev/shm
mount -t tmpfs none /root/tmp
mount -t tmpfs none /root/run
exec switch_root /root /bin/bash -c '
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp
    bash /rack/share/guest.sh
    echo "RACKCALL end $?"
    echo o >/proc/sysrq-trigger
    while :; do sleep 1; done'
