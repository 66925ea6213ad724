#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what building and testing needs, from Debian 12's own packages. Says and does nothing when all is there.
set -eu

# A command that is there will do, wherever it comes from; else this package.
commands="gcc:gcc g++:g++ make:make cmake:cmake ninja:ninja-build python3:python3 pkg-config:pkg-config
clang-19:clang-19 ld.lld-19:lld-19 llvm-objdump-19:llvm-19 clang-format-19:clang-format-19 qemu-riscv64:qemu-user protoc-c:protobuf-c-compiler protoc:protobuf-compiler
gdb-multiarch:gdb-multiarch"
libraries="libc6-dev libelf-dev libdw-dev libcunit1-dev libopenblas-pthread-dev libinih-dev libjansson-dev libucx-dev
libjpeg-dev libpng-dev libmpfr-dev libprotobuf-c-dev libprotobuf-dev zlib1g-dev libzstd-dev
libclang-rt-19-dev"
# Only decoding videos needs it: without it that is an error, and nothing else is missing.
optional="libavcodec-dev"

missing=""
for entry in $commands; do
    command -v "${entry%%:*}" >/dev/null 2>&1 || missing="$missing ${entry##*:}"
done
if ! command -v dpkg-query >/dev/null 2>&1; then
    if [ -n "$missing" ]; then
        echo "setup: not a Debian system; please install:$missing, and the development files of" \
            "elfutils (libelf, libdw), CUnit, OpenBLAS, UCX, libjpeg-turbo, libpng, MPFR, protobuf, protobuf-c, zstd, inih and jansson" >&2
        exit 1
    fi
    exit 0
fi
for package in $libraries; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
    echo "setup: packages are missing and only root can install them:" >&2
    echo "    apt-get install$missing" >&2
    exit 1
fi

echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
install_missing() {
    # shellcheck disable=SC2086 # a list of words
    apt-get install -y -qq --no-install-recommends $missing
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! install_missing >"$log" 2>&1; then
    # The package lists may be absent (fresh system) or stale.
    if ! { apt-get update -qq && install_missing; } >"$log" 2>&1; then
        cat "$log" >&2
        echo "setup: apt-get could not install:$missing" >&2
        exit 1
    fi
fi

for package in $optional; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] && continue
    apt-get install -y -qq --no-install-recommends "$package" >"$log" 2>&1 ||
        echo "setup: $package could not be installed: videos will not be decoded" >&2
done
