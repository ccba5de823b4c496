# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# LTTng's kernel modules, from the source in Debian's package
# lttng-modules-dkms. scripts/setup and kunwind-lttng-modules source this file
# after lib.sh.
#
# On Debian 12 and 13, an update of the kernel changed the prototype of a
# tracepoint. A probe of LTTng does not compile since, and the package stays half
# configured. Here, a probe that does not compile is left out and named.
#
#   lttng_prepare RELEASE [HEADERS]   builds them for one kernel, in the cache
#   lttng_install                     builds and installs them, and kunwind's modules
#                                     that are missing, for each kernel that has
#                                     headers; also after a kernel update
#   lttng_update                      builds and installs them for kernels that lack
#                                     them, if another kernel has them. Uses the
#                                     source in /usr/src, and no network
#   lttng_undo                        removes them and their source
#
# The modules go to /lib/modules/RELEASE/updates/lttng. The file "left-out" there
# names in one line the probes that do not compile; kunwind doctor reads it. The
# source goes to /usr/src/lttng-modules-VERSION, which is also the package's path:
# DKMS builds lttng-probe-kunwind.ko against its headers.

# What a user runs to get LTTng's modules, and kunwind's.
lttng_command=${lttng_command:-scripts/setup lttng}
kunwind_command=${kunwind_command:-make install}

lttng_unpack() {
	local dir=$1
	rm -rf "$dir.new"
	fetch_deb lttng-modules-dkms "" "$dir.new/deb"
	dpkg -x "$dir.new"/deb/*.deb "$dir.new/deb/x"
	mv "$dir.new"/deb/x/usr/src/lttng-modules-* "$dir.new/src"
	rm -rf "$dir.new/deb"
	rm -rf "$dir"
	mv "$dir.new" "$dir"
}

# Fails if anything else than a probe does not compile. The modules are not
# compressed: sign-file signs only such, and each kernel loads them.
lttng_build() {
	local release=$1 dir=$2 headers=$3 try bad object
	local kbuild=(make -C "$headers" "M=$dir/src/src" CONFIG_LTTNG=m
		CONFIG_LTTNG_CLOCK_PLUGIN_TEST=m)
	: >"$dir/left-out"
	cp "$dir/src/src/probes/Kbuild" "$dir/Kbuild"	# the next kernel may need what this one leaves out
	for try in 1 2 3 4; do
		echo "try $try"
		if "${kbuild[@]}" -k -j"$(nproc)" modules >"$dir/build.log" 2>&1; then
			cat "$dir/build.log"
			"${kbuild[@]}" INSTALL_MOD_PATH="$dir/root/usr" INSTALL_MOD_DIR=updates/lttng INSTALL_MOD_STRIP=1 \
				CONFIG_MODULE_COMPRESS_GZIP= CONFIG_MODULE_COMPRESS_XZ= CONFIG_MODULE_COMPRESS_ZSTD= \
				DEPMOD=true modules_install
			touch "$dir/built"
			return 0
		fi
		cat "$dir/build.log"
		bad=$(grep -o '\*\*\* \[[^]]*/probes/lttng-probe-[a-z0-9-]*\.o\]' "$dir/build.log" |
			grep -o 'lttng-probe-[a-z0-9-]*\.o' | sort -u) || return 1
		for object in $bad; do
			sed -i "s/\\b${object//./\\.}//" "$dir/src/src/probes/Kbuild"
			echo "${object%.o}" >>"$dir/left-out"
		done
	done
	return 1
}

lttng_source_version() { sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$(vm_lttng_dir "$1")/src/dkms.conf"; }

# Returns whether version A is at least B.
at_least() { [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]; }

# Returns whether LTTng's modules of that version fit the kernel (as fits() in
# tools/doctor_lttng.c): from Linux 6.13 on, tracepoints of system calls run with
# preemption on.
lttng_fits() { # RELEASE VERSION
	at_least "${1%%[-+]*}" 6.13 || return 0
	case $2 in
	2.13.*) at_least "$2" 2.13.21 ;;
	2.14.*) at_least "$2" 2.14.2 ;;
	*) at_least "$2" 2.15.0 ;;
	esac
}

lttng_fetch() { # RELEASE
	[ -d "$(vm_lttng_dir "$1")/src" ] ||
		stage setup-lttng-fetch.log "fetch the source of LTTng's kernel modules" \
			lttng_unpack "$(vm_lttng_dir "$1")"
}

# The source that lttng_install has put into /usr/src for another kernel.
lttng_reuse() { # RELEASE SOURCE
	local dir
	dir=$(vm_lttng_dir "$1")
	[ ! -d "$dir/src" ] || return 0
	mkdir -p "$dir"
	cp -r "$2" "$dir/src"
}

lttng_prepare() { # RELEASE [HEADERS]
	local release=$1 headers=${2:-$(vm_headers_dir "$1")} dir
	dir=$(vm_lttng_dir "$release")
	lttng_fetch "$release"
	[ ! -e "$dir/built" ] || return 0
	stage setup-lttng.log "build LTTng's kernel modules for $release (1 to 4 min)" \
		lttng_build "$release" "$dir" "$headers"
	[ ! -s "$dir/left-out" ] ||
		say "  left out, because they do not compile for $release: $(xargs <"$dir/left-out")"
}

# Signs modules with the key of DKMS, if there is one: with Secure Boot, the kernel
# loads only signed modules. DKMS makes the key when it first builds a module.
lttng_sign() { # RELEASE
	local key=/var/lib/dkms/mok.key module
	as_root test -e "$key" || return 0
	for module in "/lib/modules/$1/updates/lttng"/*.ko "/lib/modules/$1/updates/lttng"/*/*.ko; do
		[ -z "$(modinfo -F signer "$module")" ] || continue
		as_root "/lib/modules/$1/build/scripts/sign-file" sha256 "$key" "${key%.key}.pub" "$module"
	done
}

lttng_install_one() { # RELEASE DIRECTORY-IN-CACHE
	local release=$1 dir=$2 version source
	local to=/lib/modules/$release/updates/lttng
	as_root rm -rf "$to"
	as_root mkdir -p "$to"
	as_root cp -r "$dir/root/usr/lib/modules/$release/updates/lttng/." "$to/"
	[ ! -s "$dir/left-out" ] || xargs <"$dir/left-out" | as_root tee "$to/left-out"
	as_root chmod -R a+rX "$to"
	lttng_sign "$release"
	as_root depmod "$release"
	version=$(modinfo -k "$release" -F version lttng-tracer)
	source=/usr/src/lttng-modules-$version
	if [ ! -e "$source" ]; then
		as_root mkdir "$source"
		(cd "$dir/src" && find . -type f ! -name '*.o' ! -name '*.ko' ! -name '*.mod*' \
			! -name '*.cmd' -print0 | tar -cf - --null -T -) |
			as_root tar -C "$source" --no-same-owner -xf -
		[ ! -e "$dir/Kbuild" ] || as_root cp "$dir/Kbuild" "$source/src/probes/Kbuild"
		as_root chmod -R a+rX "$source"
	fi
	# Of 240 MB in the cache, 20 are left.
	find "$dir/src" -type f \( -name '*.o' -o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' -o -name '.*.cmd' \) -delete
}

# Has DKMS build what it has not built for this kernel. DKMS did so when the kernel
# was installed, except that kunwind's events need LTTng's modules first, and that
# headers may have come later.
dkms_complete() { # RELEASE
	local package version module
	for package in kunwind:kunwind kunwind-lttng:lttng-probe-kunwind; do
		module=${package#*:} package=${package%:*}
		modinfo -k "$1" "$module" >/dev/null 2>&1 && continue
		version=$(dkms_versions "$package" | tail -n 1)
		[ -n "$version" ] || continue
		as_root dkms install --force -m "$package" -v "$version" -k "$1"
	done
}

lttng_supported() { # RELEASE
	(
		unset kernelver action
		# shellcheck source=scripts/dkms-kernels.conf
		. "$KUNWIND_TREE/scripts/dkms-kernels.conf"
		[[ $1 =~ $BUILD_EXCLUSIVE_KERNEL ]]
	)
}

# A package that does not compile also stops apt from installing others.
lttng_package_state() {
	# shellcheck disable=SC2016
	dpkg-query -W -f '${db:Status-Status}' lttng-modules-dkms 2>/dev/null || true
}

lttng_check_package() {
	case $(lttng_package_state) in
	'' | not-installed | config-files | installed) ;;
	*) die "lttng-modules-dkms is installed in part, because it does not compile here:" \
		"apt purge lttng-modules-dkms, then $lttng_command" ;;
	esac
}

# Without LTTng's modules, kunwind's own events cannot be loaded. DKMS keeps their
# source, and builds them again after the next lttng_install.
lttng_undo_one() { # RELEASE
	local version
	for version in $(dkms_versions kunwind-lttng); do
		[ ! -d "/var/lib/dkms/kunwind-lttng/$version/$1" ] ||
			as_root dkms unbuild -m kunwind-lttng -v "$version" -k "$1"
	done
	as_root rm -rf "/lib/modules/$1/updates/lttng"
	as_root rmdir --ignore-fail-on-non-empty "/lib/modules/$1/updates"
	[ ! -e "/lib/modules/$1/modules.order" ] || as_root depmod "$1"
	as_root rmdir --ignore-fail-on-non-empty "/lib/modules/$1"
}

# A kernel's package leaves this directory when it is removed, because it does not own it.
lttng_drop_gone_kernels() {
	local dir release
	for dir in /lib/modules/*/updates/lttng; do
		release=${dir#/lib/modules/}
		release=${release%/updates/lttng}
		[ ! -d "$dir" ] || has_kernel "$release" || [ -e "/lib/modules/$release/build" ] || lttng_undo_one "$release"
	done
}

# Adds the kernel to "complete" if LTTng's modules fit it. SOURCE: reuse it, and fetch
# none; whoever gives it has DKMS build kunwind's modules afterwards.
lttng_for_kernel() { # RELEASE [SOURCE]
	local release=$1 dir
	dir=$(vm_lttng_dir "$release")
	if ! has_lttng "$release"; then
		if [ -n "${2-}" ]; then lttng_reuse "$release" "$2"; else lttng_fetch "$release"; fi
		if ! lttng_fits "$release" "$(lttng_source_version "$release")"; then
			warn "LTTng's modules $(lttng_source_version "$release") must not be used on $release, and are not built for it"
			return 0
		fi
		lttng_prepare "$release" "/lib/modules/$release/build"
		stage setup-lttng-install.log "install LTTng's modules in /lib/modules/$release/updates/lttng" \
			lttng_install_one "$release" "$dir"
	elif [ -d "/lib/modules/$release/updates/lttng" ]; then
		lttng_sign "$release"
	fi
	[ -n "${2-}" ] || [ -z "$(dkms_versions kunwind)" ] ||
		stage setup-lttng-dkms.log "have DKMS complete kunwind's modules for $release" dkms_complete "$release"
	complete+=" $release"
}

lttng_install() {
	local release in_use complete=
	in_use=$(kernel_in_use)
	lttng_drop_gone_kernels
	for release in $(kernels_with_headers); do
		! lttng_supported "$release" || lttng_for_kernel "$release"
	done
	[ -n "$complete" ] ||
		die "no headers of a kernel that kunwind supports:" \
			"$(headers_advice "$in_use" "$lttng_command")"
	say "LTTng's modules are installed for:$complete"
	for release in $complete; do
		[ ! -s "/lib/modules/$release/updates/lttng/left-out" ] ||
			say "  without these, which do not compile for $release: $(cat "/lib/modules/$release/updates/lttng/left-out")"
	done
	if [ -n "$in_use" ] && [[ "$complete " != *" $in_use "* ]]; then
		die "not for $(kernel_role "$in_use") $in_use: $(headers_advice "$in_use" "scripts/setup lttng")"
	elif [ "$in_use" != "$(uname -r)" ]; then
		say "Next: boot one of these kernels; $(uname -r), which runs, is not one of this system's"
	elif [ -z "$(dkms_versions kunwind)" ]; then
		say "Next: $kunwind_command"
	else
		say "Next: modprobe kunwind; kunwind doctor"
	fi
}

# apt runs this when headers were installed. A kernel for which it fails is named, and
# does not keep others from getting their modules.
lttng_update() {
	local release source complete status failed=0
	lttng_drop_gone_kernels
	source=$(printf '%s\n' /usr/src/lttng-modules-*/ | sort -V | tail -n 1)
	[ -d "$source" ] && compgen -G "/lib/modules/*/updates/lttng" >/dev/null || return 0
	for release in $(kernels_with_headers); do
		lttng_supported "$release" && ! has_lttng "$release" || continue
		set +e
		(set -e; lttng_for_kernel "$release" "${source%/}")
		status=$?
		set -e
		[ "$status" -eq 0 ] || { warn "$release has no modules of LTTng. Try: $lttng_command"; failed=1; }
	done
	return "$failed"
}

lttng_undo() {
	local dir release source undone=
	for dir in /lib/modules/*/updates/lttng; do
		[ -d "$dir" ] || continue
		release=${dir#/lib/modules/}
		release=${release%/updates/lttng}
		stage setup-lttng-undo.log "remove LTTng's modules from $dir" lttng_undo_one "$release"
		undone=1
	done
	# The package's own directory stays.
	for source in /usr/src/lttng-modules-*; do
		[ -d "$source" ] || continue
		dpkg-query -S "$source/dkms.conf" >/dev/null 2>&1 && continue
		as_root rm -rf "$source"
		say "  removed $source"
		undone=1
	done
	[ -n "$undone" ] || say "$lttng_command has installed no modules of LTTng: nothing to undo"
}
