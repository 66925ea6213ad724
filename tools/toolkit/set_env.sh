# SPDX-License-Identifier: Apache-2.0
# Source this file: programs for the chip then find Leonardo's libraries and commands. bash and zsh know where a sourced file
# lies; for other shells say it first: LEO_HOME=/path/of/cann . /path/of/cann/set_env.sh
if [ -n "${BASH_SOURCE:-}" ]; then
    _leo_home=$(cd "$(dirname "${BASH_SOURCE:-$0}")" && pwd)
elif [ -n "${ZSH_VERSION:-}" ]; then
    _leo_home=$(cd "$(dirname "$(eval 'printf %s "${(%):-%x}"')")" && pwd)
else
    _leo_home=${LEO_HOME:-}
fi
if [ ! -e "$_leo_home/lib64/libascendcl.so" ]; then
    echo "set_env.sh: no lib64/libascendcl.so in '$_leo_home': set LEO_HOME to the folder of set_env.sh" >&2
    unset _leo_home
    return 1 2>/dev/null || exit 1
fi
# Puts a folder in front of a list once, so that sourcing twice changes nothing.
_leo_front() {
    case ":$2:" in
    *":$1:"*) printf '%s' "$2" ;;
    *) printf '%s' "$1${2:+:$2}" ;;
    esac
}
export ASCEND_HOME_PATH="$_leo_home"
export ASCEND_TOOLKIT_HOME="$_leo_home"
export ASCEND_OPP_PATH="$_leo_home/opp"
export ASCEND_AICPU_PATH="$_leo_home"
LD_LIBRARY_PATH=$(_leo_front "$_leo_home/lib64" "${LD_LIBRARY_PATH:-}")
PATH=$(_leo_front "$_leo_home/bin" "$PATH")
PATH=$(_leo_front "$_leo_home/tools/profiler/bin" "$PATH")
PYTHONPATH=$(_leo_front "$_leo_home/opp/built-in/op_impl/ai_core/tbe" "${PYTHONPATH:-}")
PYTHONPATH=$(_leo_front "$_leo_home/python/site-packages" "$PYTHONPATH")
CMAKE_PREFIX_PATH=$(_leo_front "$_leo_home" "${CMAKE_PREFIX_PATH:-}")
export LD_LIBRARY_PATH PATH PYTHONPATH CMAKE_PREFIX_PATH
unset _leo_home
unset -f _leo_front
