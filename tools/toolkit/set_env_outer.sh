# SPDX-License-Identifier: Apache-2.0
# Source this file (bash, zsh): the same as cann/set_env.sh beside it.
if [ -n "${BASH_SOURCE:-}" ]; then
    . "$(cd "$(dirname "${BASH_SOURCE:-$0}")" && pwd)/cann/set_env.sh"
elif [ -n "${ZSH_VERSION:-}" ]; then
    . "$(cd "$(dirname "$(eval 'printf %s "${(%):-%x}"')")" && pwd)/cann/set_env.sh"
else
    . "${LEO_HOME:?set LEO_HOME to the folder cann, or source this file from bash or zsh}/set_env.sh"
fi
