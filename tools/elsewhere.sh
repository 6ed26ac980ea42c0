#!/bin/sh
# Runs a command on this tree in another Debian: tools/elsewhere.sh SUITE ARCHITECTURE COMMAND
#
# The system is made once, in build/SUITE-ARCHITECTURE, and nothing is installed on this machine. The tests' packages are
# Debian's, and serve each Python of that Debian; nvidia-ml-py is laid beside them.
set -eu
suite=$1 architecture=$2 command=$3
root=build/$suite-$architecture
packages=gcc,g++,make,libc6-dev,git,procps,python3-venv,python3-pip,python3-setuptools,python3-wheel,python3-pytest
packages=$packages,python3-pytest-timeout,python3-hypothesis,python3-markdown-it,python3-yaml,python3-hatchling

needs() {
    echo "tools/elsewhere.sh needs $1" >&2
    exit 1
}
[ "$(id -u)" = 0 ] || needs "root, for chroot"
command -v debootstrap >/dev/null || needs "debootstrap (Debian: apt-get install debootstrap)"
# What is mounted below the root, /proc and /sys among it, is mounted for this process only: nothing that removes the
# folder, now or later, can reach into the machine's own.
[ -n "${ELSEWHERE_MOUNTS:-}" ] || exec env ELSEWHERE_MOUNTS=private unshare --mount --propagation private "$0" "$@"
if [ "$architecture" != "$(dpkg --print-architecture)" ]; then
    grep -qs enabled "/proc/sys/fs/binfmt_misc/qemu-$(echo "$architecture" | sed 's/arm64/aarch64/')" ||
        needs "an emulator that the kernel knows (Debian: apt-get install qemu-user-static)"
fi

if [ ! -e "$root/.complete" ]; then
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase --arch="$architecture" --include="$packages" "$suite" "$root" >"$root.log" 2>&1 ||
        needs "what debootstrap says at the end of $root.log"
    genuine=$(sed -n 's/.*"\(nvidia-ml-py==[0-9.]*\).*/\1/p' pyproject.toml | head -1)
    .venv/bin/python -m pip download --quiet --no-deps --dest "$root/tmp" "$genuine"
    .venv/bin/python -m zipfile -e "$root"/tmp/nvidia_ml_py-*.whl "$root/usr/lib/python3/dist-packages"
    touch "$root/.complete"
fi
rm -rf --one-file-system "$root/tree"
mkdir "$root/tree"
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory="$root/tree"
mount --bind /proc "$root/proc"
chroot "$root" env -i PATH=/usr/bin:/bin HOME=/root LANG=C.UTF-8 sh -c "cd /tree && $command"
