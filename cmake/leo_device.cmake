# Kernels that are compiled during the build and embedded in programs.

# What the compiler is made of. Not the program itself: the numbers of all chips are linked into it, and a changed latency
# must not compile every kernel again.
file(GLOB LEO_DEVICE_COMPILER CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/cc/*.c ${CMAKE_SOURCE_DIR}/tools/cc/*.h)

# Kernels are the same in every build: a build with sanitizers can take those of a build beside it, which must use Ninja.
set(LEO_DEVICE_FROM "" CACHE PATH "Build folder whose kernels this build takes; empty: it compiles them itself")

# leo_device_program(<name> <source> <soc> <out var> [flag...] [DEPENDS file...]): compiles a kernel during the build and
# embeds it. The files are generated ones that it includes. The out variable is what to add to a target of the same folder: a
# C file, and the kernel it depends on. The C file defines
#   extern const unsigned char <name>_elf[];   extern const size_t <name>_elf_bytes;
function(leo_device_program name source soc out)
    cmake_parse_arguments(P "" "" "DEPENDS" ${ARGN})
    get_filename_component(source ${source} ABSOLUTE)
    set(elf ${CMAKE_CURRENT_BINARY_DIR}/device/${name}.elf)
    set(embedded ${elf}.c)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/device)
    if(LEO_DEVICE_FROM)
        file(RELATIVE_PATH elf ${CMAKE_BINARY_DIR} ${elf})
        set_property(GLOBAL APPEND PROPERTY leo_device_taken ${elf})
        set(elf ${LEO_DEVICE_FROM}/${elf})
    else()
        # The prefix map keeps the build folder out of the result: lines are reported relative to the source tree.
        add_custom_command(OUTPUT ${elf}
            COMMAND leo-cc --soc ${soc} -Werror -fdebug-prefix-map=${CMAKE_SOURCE_DIR}/=
                -fdebug-compilation-dir=. ${P_UNPARSED_ARGUMENTS} --depfile ${elf}.d
                --device-root ${CMAKE_BINARY_DIR}/device ${source} -o ${elf}
            DEPENDS leo_device_files ${LEO_DEVICE_COMPILER} ${LEO_ISA_DEPENDS} ${source} ${P_DEPENDS}
                ${CMAKE_BINARY_DIR}/isa/device/leo.ld DEPFILE ${elf}.d
            VERBATIM COMMENT "Kernel ${name} for ${soc}")
    endif()
    configure_file(${CMAKE_SOURCE_DIR}/cmake/embed.c.in ${embedded} @ONLY)
    set_source_files_properties(${embedded} PROPERTIES OBJECT_DEPENDS ${elf})
    set(${out} ${embedded} ${elf} PARENT_SCOPE)
endfunction()

# leo_device_take(): after all calls of leo_device_program; brings the kernels of the other build up to date before they are taken.
function(leo_device_take)
    get_property(taken GLOBAL PROPERTY leo_device_taken)
    if(taken)
        list(TRANSFORM taken PREPEND ${LEO_DEVICE_FROM}/ OUTPUT_VARIABLE files)
        add_custom_target(leo_device_taken COMMAND ${CMAKE_COMMAND} --build ${LEO_DEVICE_FROM} --target ${taken}
            BYPRODUCTS ${files} VERBATIM COMMENT "Kernels of ${LEO_DEVICE_FROM}")
    endif()
endfunction()
