# SPDX-License-Identifier: Apache-2.0
"""The file custom_opp_<system>_<machine>.run: a shell script with the vendor's folder behind it, which it installs."""

import io
import tarfile

SCRIPT = r"""#!/bin/sh
# Installs custom operators: [--install-path=FOLDER] [--quiet]. Without a folder they go to $ASCEND_OPP_PATH/vendors.
vendor=@vendor@
target=
for word in "$@"; do
    case $word in
    --install-path=*) target=${word#--install-path=} ;;
    --quiet) ;;
    *) echo "unknown option $word; there are --install-path=FOLDER, --quiet" >&2; exit 1 ;;
    esac
done
if [ -z "$target" ] && [ -z "$ASCEND_OPP_PATH" ]; then
    echo "neither --install-path nor ASCEND_OPP_PATH (source set_env.sh) tells where to install" >&2
    exit 1
fi
vendors=${target:-$ASCEND_OPP_PATH}/vendors
mkdir -p "$vendors" && tail -n +@line@ "$0" | tar -xz -C "$vendors" || exit 1
if [ -n "$target" ]; then
    mkdir -p "$vendors/$vendor/bin"
    echo "export ASCEND_CUSTOM_OPP_PATH=$vendors/$vendor:\${ASCEND_CUSTOM_OPP_PATH}" >"$vendors/$vendor/bin/set_env.bash"
    echo "installed; before use: source $vendors/$vendor/bin/set_env.bash"
else
    config=$vendors/config.ini
    rest=$(sed -n 's/^load_priority=//p' "$config" 2>/dev/null | tr ',' '\n' | grep -vx "$vendor" | grep . | paste -sd, -)
    echo "load_priority=$vendor${rest:+,$rest}" >"$config"
    echo "installed in $vendors/$vendor"
fi
exit 0
"""


def write(vendors, vendor, path):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        archive.add(vendors / vendor, arcname=vendor)
    script = SCRIPT.replace("@vendor@", vendor)
    script = script.replace("@line@", str(script.count("\n") + 1))
    path.write_bytes(script.encode("ascii") + data.getvalue())
    path.chmod(0o755)
