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
    if(release IN_LIST T_LABELS)
        add_dependencies(leo_release_tests ${name})
    endif()
endfunction()

# leo_chip_test(NAME SOC PROGRAM [names...] [ENVIRONMENT ...]): a program on a chip, or on that of a chip file whose name ends NAME. make
# test runs it under sanitizers on the 910B1 and in the release build on the others and on chips of files (label further_chip); make
# nightly runs all under sanitizers.
function(leo_chip_test name soc program)
    cmake_parse_arguments(T "" "" "ENVIRONMENT" ${ARGN})
    set(labels unit)
    if(NOT soc STREQUAL "ascend910b1")
        list(APPEND labels further_chip)
        add_dependencies(leo_release_tests ${program})
    endif()
    if(NOT soc MATCHES "\\.ini$")
        string(APPEND name _${soc})
    endif()
    add_test(NAME ${name} COMMAND ${program} ${T_UNPARSED_ARGUMENTS})
    set_tests_properties(${name} PROPERTIES TIMEOUT 900 LABELS "${labels}" ENVIRONMENT "LEO_SOC=${soc};${T_ENVIRONMENT}")
endfunction()

# leo_order_tests(FILE): the first run of ctest in a build begins with the entries that take longest, as every later one does.
function(leo_order_tests file)
    set(known ${CMAKE_BINARY_DIR}/Testing/Temporary/CTestCostData.txt)
    if(NOT EXISTS ${known})
        file(STRINGS ${file} lines REGEX "^[^#]")
        list(TRANSFORM lines REPLACE " " " 1 ")
        list(JOIN lines "\n" text)
        file(WRITE ${known} "${text}\n---\n")
    endif()
endfunction()
