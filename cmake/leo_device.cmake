# leo_device_program(<name> <source> <soc> <out var> [flag...]): compiles a kernel during the build and embeds it. The out
# variable is a C file to add to a target of the same folder; it defines
#   extern const unsigned char <name>_elf[];   extern const size_t <name>_elf_bytes;
# What the compiler is made of. Not the program itself: the numbers of all chips are linked into it, and a changed latency
# must not compile every kernel again.
file(GLOB LEO_DEVICE_COMPILER CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/cc/*.c ${CMAKE_SOURCE_DIR}/tools/cc/*.h)
function(leo_device_program name source soc out)
    get_filename_component(source ${source} ABSOLUTE)
    set(elf ${CMAKE_CURRENT_BINARY_DIR}/device/${name}.elf)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/device)
    # The prefix map keeps the build folder out of the result: lines are told relative to the source tree.
    add_custom_command(OUTPUT ${elf}
        COMMAND leo-cc --soc ${soc} -Werror -fdebug-prefix-map=${CMAKE_SOURCE_DIR}/=
            -fdebug-compilation-dir=. ${ARGN} --depfile ${elf}.d
            --device-root ${CMAKE_BINARY_DIR}/device ${source} -o ${elf}
        DEPENDS leo_device_files ${LEO_DEVICE_COMPILER} ${LEO_ISA_DEPENDS} ${source}
            ${CMAKE_BINARY_DIR}/isa/device/leo.ld DEPFILE ${elf}.d
        VERBATIM COMMENT "Kernel ${name} for ${soc}")
    add_custom_command(OUTPUT ${elf}.c
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/embed.py ${name} ${elf} ${elf}.c
        DEPENDS ${elf} ${CMAKE_SOURCE_DIR}/cmake/embed.py VERBATIM)
    set(${out} ${elf}.c PARENT_SCOPE)
endfunction()
