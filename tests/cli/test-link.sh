#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# limn-cli needs neither GTK nor GL nor a display, and one BLAS only. (librsvg, which draws
# SVG, brings gdk-pixbuf with it; nothing of ours uses it.)
. "$(dirname "$0")/lib.sh"
ldd "$cli" >libraries
check "libraries can be listed" grep -q libglib libraries
for name in libgtk libgdk- libGL libEGL libGLX libepoxy libwayland libadwaita; do
    check "no $name" bash -c "! grep -q '$name' libraries"
done
if command -v readelf >/dev/null; then
    readelf -d "$cli" >needed
    check "none is needed directly" bash -c '! grep -E "NEEDED.*(gtk|gdk|GL|epoxy)" needed'
    check "no symbols of GTK or GL" bash -c '! readelf --dyn-syms -W "$1" | grep -E " (gtk_|gdk_|gl[A-Z]|epoxy_)"' - "$cli"
fi
is "one BLAS" 1 "$(grep -Eo 'lib(openblas|blas|atlas|mkl)[^ ]*' libraries | sort -u | grep -v '/' | wc -l)"
env -u DISPLAY -u WAYLAND_DISPLAY "$cli" list >out 2>err
is "runs without a display" 0 $?
strings -a "$cli" 2>/dev/null | grep -E 'TODO|FIXME' >marks
check "no unfinished marks" test ! -s marks
finish
