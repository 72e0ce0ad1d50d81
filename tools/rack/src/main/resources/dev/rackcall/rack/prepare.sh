#!/bin/bash
# Prepares what guests boot from, with Debian's own tools: the kernel's ELF file, the modules that init.sh loads, and the initramfs.
#   prepare.sh CACHE WORK
# Unpacks the current kernel package into CACHE/PACKAGE/ready, once for each version; without a network it takes the newest one there. Writes
# WORK/initramfs.cpio. Its last lines are kernel=VERSION, vmlinux=FILE and ticks=NUMBER; the others are progress, or the reason of a failure.
here=$(dirname "${BASH_SOURCE[0]}")
PATH=$PATH:/usr/sbin:/sbin

fail() {
    printf '%s\n' "$1"
    exit 1
}

# The package that the meta package depends on, in the output of apt-cache depends.
current() {
    sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -1
}

# The package with the highest version among the complete ones in the cache.
newest() { # CACHE
    local ready
    for ready in "$1"/linux-image-*/ready; do
        [[ -d $ready ]] && basename "$(dirname "$ready")"
    done | sort -V | tail -1
}

# The ELF file in a bzImage. QEMU starts it by its PVH note, which saves the guest 9 s of unpacking under emulation.
# Offsets are those of the kernel's Documentation/arch/x86/boot.rst.
extract() { # BZIMAGE ELF
    local image=$1 elf=$2 size sectors start length unpack
    number() { od -An -v -t u"$2" -j "$1" -N "$2" "$image" | tr -d ' '; }
    size=$(stat -c %s "$image")
    [[ $size -gt 592 && $(tail -c +515 "$image" | head -c 4) == HdrS ]] || fail "the package's vmlinuz is no bzImage"
    sectors=$(number $((0x1f1)) 1)
    start=$((((sectors ? sectors : 4) + 1) * 512 + $(number $((0x248)) 4)))
    length=$(($(number $((0x24c)) 4) - 4)) # the payload ends with the length of the unpacked file
    ((length > 4 && start + length <= size)) ||
        fail "the package's vmlinuz is cut off: it should have $((start + length)) bytes and has $size"
    case $(number "$start" 4) in
        1484404733) unpack=xz ;;
        4247762216) unpack=zstd ;;
        *) fail "the kernel is packed in an unknown way (it begins with $(number "$start" 4))" ;;
    esac
    tail -c +$((start + 1)) "$image" | head -c "$length" | $unpack -dc 2>/dev/null >"$elf"
    [[ $(head -c 4 "$elf") == $'\x7fELF' ]] || fail "$unpack did not make an ELF file of the kernel"
}

# The files of the modules that init.sh loads and of those that they need. What a kernel has built in needs no file.
needed() { # TREE VERSION
    local module
    for module in $(sed -n 's/^for module in \(.*\); do$/\1/p' "$here/init.sh"); do
        # An empty configuration, since this machine's has rules of its own for some modules.
        modprobe -C /dev/null -d "$1" -S "$2" --show-depends "$module" 2>/dev/null | sed -n 's/^insmod *//p'
    done | tr -d ' ' | sort -u
}

unpack() { # CACHE PACKAGE
    local folder=$1/$2 version=${2#linux-image-} from file target
    rm -rf "$folder"
    mkdir -p "$folder/tree" "$folder/staged"
    (cd "$folder" && apt-get -o APT::Sandbox::User=root download -qq "$2") || return 1
    dpkg-deb -x "$folder"/*.deb "$folder/tree" || return 1
    extract "$folder/tree/boot/vmlinuz-$version" "$folder/staged/vmlinux"
    from=$folder/tree/lib/modules/$version
    depmod -b "$folder/tree" "$version"
    needed "$folder/tree" "$version" | while read -r file; do
        target=$folder/staged/lib/modules/$version/${file#"$from"/}
        mkdir -p "$(dirname "$target")"
        if [[ $file == *.xz ]]; then xz -dc "$file" >"${target%.xz}"; else cp "$file" "$target"; fi
    done
    cp "$from"/modules.{builtin,builtin.modinfo,order} "$folder/staged/lib/modules/$version/" || return 1
    depmod -b "$folder/staged" "$version"
    rm -rf "$folder/tree" "$folder"/*.deb
    mv "$folder/staged" "$folder/ready" # a folder of this name is complete
}

# The initramfs is not packed, since unpacking would be emulated.
initramfs() { # READY FILE
    local root applet busybox
    busybox=$(type -P busybox)
    ! ldd "$busybox" >/dev/null 2>&1 ||
        fail "$busybox needs shared libraries, which a guest does not have yet when it starts; install busybox-static"
    root=$(mktemp -d)
    mkdir "$root"/{bin,proc,sys,dev,root,host,tmp}
    cp "$busybox" "$root/bin/busybox"
    for applet in sh mount modprobe switch_root cat cp echo mkdir sleep poweroff; do ln -s busybox "$root/bin/$applet"; done
    install -m 755 "$here/init.sh" "$root/init"
    cp -r "$1/lib" "$root/lib"
    (cd "$root" && find . -mindepth 1 | sort | cpio -o -H newc -R 0:0 --quiet) >"$2"
    rm -rf "$root"
}

# The speed of the time-stamp counter, in thousands a second.
ticks() { # FOLDER
    cc -O1 -o "$1/time-stamps" "$here/time-stamps.c" && "$1/time-stamps"
}

prepare() { # CACHE WORK
    local package cached
    mkdir -p "$1" "$2"
    package=$(apt-cache depends linux-image-amd64 | current)
    cached=$(newest "$1")
    [[ $package || $cached ]] ||
        fail "apt knows no package linux-image-amd64 and none was unpacked before; run apt-get update on a Debian with this package"
    if [[ $package && ! -d $1/$package/ready ]]; then
        echo "downloading $package into $1"
        if ! (unpack "$1" "$package"); then
            [[ $cached ]] || fail "$package cannot be downloaded and unpacked"
            echo "$package cannot be downloaded and unpacked; taking $cached"
            package=$cached
        fi
    fi
    package=${package:-$cached}
    initramfs "$1/$package/ready" "$2/initramfs.cpio" || fail "cpio cannot write $2/initramfs.cpio"
    printf 'kernel=%s\nvmlinux=%s\nticks=%s\n' "${package#linux-image-}" "$1/$package/ready/vmlinux" "$(ticks "$2")"
}

[[ ${BASH_SOURCE[0]} != "$0" ]] || prepare "$@"
