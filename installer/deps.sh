#!/bin/sh
# Sees to it that what a make target needs is on the machine.
#
#   sh installer/deps.sh run     a C compiler, for SQLite
#   sh installer/deps.sh test    and what the tests drive: tmux, a session bus, a browser ...
#   sh installer/deps.sh e2e     and what runs the real agents in real terminals: node, npm, Xvfb, kitty ...
#
# What is missing is installed when that needs no question (root, on a system with apt), or after one
# question (a terminal, and sudo). Otherwise the one command that installs it is named, and the exit
# code is 1 when something required is missing. What is optional is named and gone without.
# It changes nothing when nothing is missing, and never asks when CI is set.
set -u

case ${1:-} in
run | test | e2e) goal=$1 ;;
*)
	sed -n '2,12s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac

# have COMMAND...: any one of them is there
have() {
	for c in "$@"; do command -v "$c" >/dev/null 2>&1 && return 0; done
	return 1
}

# A compiler without the C library's headers is there and of no use: try both at once.
have_cc() {
	cc=${CC:-}
	[ -n "$cc" ] || { have gcc && cc=gcc; } || cc=clang
	# CC may carry flags, so it is split into words on purpose.
	# shellcheck disable=SC2086
	$cc -E -x c - >/dev/null 2>&1 <<-C
		#include <stdlib.h>
	C
}

have_browser() {
	have chromium chromium-browser google-chrome google-chrome-stable chrome chrome-headless-shell && return 0
	[ -d '/Applications/Google Chrome.app' ] || [ -d '/Applications/Chromium.app' ]
}

system=$(uname -s)
manager=none
for m in apt-get dnf apk brew; do
	have $m && manager=$m && break
done

# pick APT DNF APK BREW: the packages' names on this system
pick() {
	case $manager in
	apt-get) echo "$1" ;;
	dnf) echo "$2" ;;
	apk) echo "$3" ;;
	brew) echo "$4" ;;
	*) echo "$1" ;;
	esac
}

required='' optional='' packages='' notes=''

# need WHAT PACKAGES: required
need() { required="${required:+$required, }$1" packages="$packages $2"; }

# want WHAT PACKAGES WHAT-IS-LEFT-OUT: optional
want() {
	optional="${optional:+$optional, }$1" packages="$packages $2"
	notes="${notes}optional: $1 is missing, so $3 is left out
"
}

look() {
	required='' optional='' packages='' notes=''
	have_cc || need "a C compiler${CC:+ (CC is $CC)}" "$(pick 'gcc libc6-dev' 'gcc glibc-devel' 'gcc musl-dev' '')"
	[ "$goal" != run ] || return 0

	# The end-to-end gate is about these very programs; the tests can do without.
	ask=want
	[ "$goal" != e2e ] || ask=need
	have tmux || $ask tmux tmux 'what drives a terminal'
	have ps || $ask ps "$(pick procps procps-ng procps '')" 'what compares with ps'
	if [ "$system" = Linux ]; then
		have dbus-daemon || $ask dbus-daemon "$(pick dbus-daemon dbus-daemon dbus '')" 'the tray on a private session bus'
		have gdbus || want gdbus "$(pick libglib2.0-bin glib2 glib '')" 'looking at the bus from outside'
		have Xvfb || $ask Xvfb "$(pick xvfb xorg-x11-server-Xvfb xvfb '')" 'what opens windows'
		have openbox || $ask openbox openbox 'what brings windows to the front'
		have xterm || $ask xterm xterm 'what opens a terminal'
	fi
	have git || want git git 'what looks into repositories'
	have python3 || $ask python3 "$(pick python3 python3 python3 python)" 'the made transcript corpus'
	have_browser || want chromium "$(pick chromium chromium chromium '--cask chromium')" 'the page in a browser'
	[ "$goal" = e2e ] || return 0

	have node || need node "$(pick nodejs nodejs nodejs node)"
	have npm || need npm "$(pick npm npm npm '')"
	[ "$system" = Linux ] || return 0
	have xdotool || need xdotool xdotool
	# kitty draws by OpenGL, which a display without a graphics card has from Mesa's software alone.
	have kitty || need kitty "$(pick 'kitty libgl1-mesa-dri' 'kitty mesa-dri-drivers' 'kitty mesa-dri-gallium' '')"
	have alacritty || need alacritty "$(pick 'alacritty libgl1-mesa-dri' 'alacritty mesa-dri-drivers' 'alacritty mesa-dri-gallium' '')"
	have xfce4-terminal || need xfce4-terminal xfce4-terminal
	# gnome-terminal keeps its settings in dconf and starts with nothing without it.
	have gnome-terminal || need gnome-terminal "$(pick 'gnome-terminal dconf-service' 'gnome-terminal dconf' 'gnome-terminal dconf' '')"
}

if ! have go; then
	echo 'required: Go 1.26 or newer is missing: https://go.dev/dl/' >&2
	exit 1
fi
look
[ -n "$required$optional" ] || exit 0

# apt PREFIX: one update, one install; a package this release does not know must not cost the others
apt() {
	echo "installing:$packages"
	# shellcheck disable=SC2086
	{
		$1 apt-get update -qq
		$1 env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages ||
			for p in $packages; do
				$1 env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$p"
			done
	} </dev/null >&2
}

# Where there is no sudo, the one command is for whoever is root here.
sudo='' by=''
if [ "$manager" != brew ] && [ "$(id -u)" != 0 ]; then
	if have sudo; then sudo='sudo '; else by=' (as root)'; fi
fi
command=''
case $manager in
apt-get) command="${sudo}apt-get update && ${sudo}apt-get install --no-install-recommends$packages" ;;
dnf) command="${sudo}dnf install$packages" ;;
apk) command="${sudo}apk add$packages" ;;
brew) command="brew install$packages" ;;
esac
[ "$system" != Darwin ] || [ -n "$(echo "$packages" | tr -d ' ')" ] || command='xcode-select --install' sudo='' by=''

if [ "$manager" = apt-get ] && [ "$(id -u)" = 0 ]; then
	apt ''
	look
elif [ "$manager" = apt-get ] && [ -z "${CI:-}" ] && [ -t 0 ] && [ -t 2 ] && have sudo; then
	printf 'missing: %s\nrun: %s ? [y/N] ' "$required${required:+${optional:+, }}$optional" "$command" >&2
	read -r answer
	case $answer in
	[yY]*)
		apt sudo
		look
		;;
	esac
fi

printf '%s' "$notes"
if [ -n "$required" ]; then
	echo "required: $required missing" >&2
	[ "$manager" = none ] || echo "install with$by: $command" >&2
	exit 1
fi
[ -z "$optional" ] || [ "$manager" = none ] || echo "to have it all$by: $command"
exit 0
