# SPDX-License-Identifier: Apache-2.0
# Projects of custom operators (docs/ascend_c.md): add_ops_compile_options(ALL OPTIONS ...), then custom_op_package().
include_guard(GLOBAL)
set(LEO_CUSTOM_OP ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "what builds custom operators")
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# add_ops_compile_options(ALL|<Operator> OPTIONS options...): for the kernels. Options of one operator are those of all.
function(add_ops_compile_options operator)
    cmake_parse_arguments(PARSE_ARGV 1 one "" "" "COMPUTE_UNIT;OPTIONS")
    set_property(GLOBAL APPEND PROPERTY LEO_CUSTOM_OP_OPTIONS ${one_OPTIONS})
endfunction()

# custom_op_package(): the target `package`, which makes the vendor's folder and the file that installs it.
function(custom_op_package)
    if(NOT ASCEND_COMPUTE_UNIT)
        message(FATAL_ERROR "custom_op_package: set ASCEND_COMPUTE_UNIT (CMakePresets.json), for example ascend910b")
    endif()
    get_property(options GLOBAL PROPERTY LEO_CUSTOM_OP_OPTIONS)
    set(words)
    foreach(option ${options})
        list(APPEND words --kernel-option=${option})
    endforeach()
    foreach(unit ${ASCEND_COMPUTE_UNIT})
        list(APPEND words --soc ${unit})
    endforeach()
    set(system linux)
    if(EXISTS /etc/os-release)
        file(STRINGS /etc/os-release line REGEX "^ID=")
        string(REGEX REPLACE "^ID=|\"" "" system "${line}")
    endif()
    add_custom_target(package COMMAND ${Python3_EXECUTABLE} -B ${LEO_CUSTOM_OP}/build.py --host ${CMAKE_SOURCE_DIR}/op_host
        --kernel ${CMAKE_SOURCE_DIR}/op_kernel --out ${CMAKE_BINARY_DIR} --vendor ${vendor_name} --cxx ${CMAKE_CXX_COMPILER} ${words}
        --run custom_opp_${system}_${CMAKE_SYSTEM_PROCESSOR}.run VERBATIM)
endfunction()
