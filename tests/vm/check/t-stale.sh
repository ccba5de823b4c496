#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-stale.sh - old tables are not used after an address, a file or a device
# number is reused
#
# Two ext4 images differ only in the code of one file, which has the same inode
# number, generation, size and times in both. First they are on two devices at
# the same time, then one after the other on one device.
# timeout: 150

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need mkfs.ext4
progs=$PWD/build/vm-progs-device
make -s -C tests/vm/fixtures/device all >/dev/null || exit 1
work=$KUNWIND_TMP

check "the module loads" modprobe kunwind

adopt() { # COMMAND...
	local status
	"$@" >"$work/out" 2>&1
	status=$?
	tap_from "$work/out"
	is "$status" 0 "$2: exits with status 0"
}
adopt "$progs/stale" moves "$progs"
if [ -x "$progs/i386/stale" ]; then
	adopt "$progs/i386/stale" moves "$progs/i386"
else
	skip "32-bit code: mremap() of several pages" "the compiler does not support -m32"
fi
adopt "$progs/stale" file "$work/changes.so" "$progs/small.so" "$progs/large.so"

# the same size, so that one can replace the other in the image
for size in small large; do
	cp "$progs/$size.so" "$work/$size.so"
	truncate -s 40000 "$work/$size.so"
done
modprobe loop
dd if=/dev/zero of="$work/image1" bs=1M count=8 status=none
mkfs.ext4 -q -b 4096 -O ^metadata_csum,^has_journal "$work/image1"
mkdir "$work/mnt1" "$work/mnt2"
# cat writes the zeros at the end, which cp would leave out: the file must be in
# one piece
mount -o loop "$work/image1" "$work/mnt1" && cat "$work/small.so" >"$work/mnt1/library.so" && sync
check "the first image with a library is made" umount "$work/mnt1"
# A reused inode number: ext4 uses the first free one.
cp "$work/image1" "$work/image3"
mount -o loop "$work/image3" "$work/mnt1"
adopt "$progs/stale" reused "$work/mnt1/reused.so" "$progs/small.so" "$progs/large.so"
umount "$work/mnt1"
rm "$work/image3"
/usr/bin/python3 - "$work" <<-'END'
	import sys
	work = sys.argv[1]
	small, large, image = (open(work + "/" + name, "rb").read() for name in ("small.so", "large.so", "image1"))
	at = image.index(small)
	open(work + "/image2", "wb").write(image[:at] + large + image[at + len(large):])
END
is "$(cmp -l "$work/image1" "$work/image2" | wc -l)" "$(cmp -l "$work/small.so" "$work/large.so" | wc -l)" \
	"the second image differs only in the library's bytes"

mount -o loop,ro "$work/image1" "$work/mnt1"
mount -o loop,ro "$work/image2" "$work/mnt2"
is "$(stat -c '%i %s %.9Z' "$work/mnt1/library.so")" "$(stat -c '%i %s %.9Z' "$work/mnt2/library.so")" \
	"both libraries have the same inode number, size and time"
check "a stack through the first device's library is right" "$progs/stale" call "$work/mnt1/library.so"
check "a stack through the second device's library is right" "$progs/stale" call "$work/mnt2/library.so"
umount "$work/mnt1" "$work/mnt2"

device=$(losetup -f)
losetup "$device" "$work/image1" && mount -o ro "$device" "$work/mnt1"
check "a stack through the first library on one device is right" "$progs/stale" call "$work/mnt1/library.so"
umount "$work/mnt1"
losetup -d "$device"
losetup "$device" "$work/image2" && mount -o ro "$device" "$work/mnt1"
check "another file system on the same device: the old one's table is not used" \
	"$progs/stale" call "$work/mnt1/library.so"
umount "$work/mnt1"
losetup -d "$device"
check "the module is unloaded" rmmod kunwind
done_testing
