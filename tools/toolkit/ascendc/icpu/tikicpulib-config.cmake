# SPDX-License-Identifier: Apache-2.0
# find_package(tikicpulib): targets tikicpulib::<chip> for unit tests of kernels with ICPU_RUN_KF (docs/ascend_c.md). Files with kernels in
# targets that link one of them become images.
get_filename_component(leo_test_cann ${CMAKE_CURRENT_LIST_DIR}/../../../../.. ABSOLUTE)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(CMAKE_CXX_COMPILER_LAUNCHER ${Python3_EXECUTABLE} -B ${leo_test_cann}/share/leo/icpu/compile.py)
foreach(chip Ascend910A Ascend910B1 Ascend910B2 Ascend910B3 Ascend910B4)
    if(NOT TARGET tikicpulib::${chip})
        string(TOLOWER ${chip} soc)
        add_library(tikicpulib::${chip} INTERFACE IMPORTED)
        set_target_properties(tikicpulib::${chip} PROPERTIES
            INTERFACE_INCLUDE_DIRECTORIES "${leo_test_cann}/tools/tikicpulib/include;${leo_test_cann}/include"
            INTERFACE_COMPILE_DEFINITIONS "ASCENDC_CPU_DEBUG=1;LEO_TEST_SOC=${soc}"
            INTERFACE_LINK_OPTIONS "-Wl,--no-as-needed" # nothing of a library of kernels is called by name
            INTERFACE_LINK_LIBRARIES "${leo_test_cann}/lib64/libascendcl.so")
    endif()
endforeach()
set(tikicpulib_FOUND TRUE)
