# leo_optional_subdirs(dir...): adds the folders that have a CMakeLists.txt.
function(leo_optional_subdirs)
    foreach(dir ${ARGN})
        if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/CMakeLists.txt)
            add_subdirectory(${dir})
        endif()
    endforeach()
endfunction()

# leo_optimise(TARGET...): these programs compute references. Optimised in every build, for under sanitizers the plain loops of a
# reference would take longer than what they check.
function(leo_optimise)
    foreach(target ${ARGN})
        target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-O2>)
    endforeach()
endfunction()

# leo_test(NAME SOURCES... LIBS ... [TIMEOUT seconds] [LABELS ...] [ARGS names]): one CUnit program, one ctest entry, its own
# process. ARGS: the tests of the program that the entry runs; all if none is named.
function(leo_test name)
    cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;LIBS;LABELS;INCLUDES;ARGS" ${ARGN})
    add_executable(${name} ${T_SOURCES})
    target_link_libraries(${name} PRIVATE leo_flags leo_harness ${T_LIBS})
    target_include_directories(${name} PRIVATE ${T_INCLUDES})
    add_test(NAME ${name} COMMAND ${name} ${T_ARGS})
    if(NOT T_TIMEOUT)
        # Against hanging alone: a loaded machine under sanitizers takes many times as long as an idle one.
        set(T_TIMEOUT 900)
    endif()
    set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT} LABELS "${T_LABELS}")
endfunction()
