# LEO_BUILD: what two of our libraries must share to work in one process: the version, and a hash of the interfaces between
# them (headers of the runtime, words and layouts of the chip).
file(GLOB interfaces CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/runtime/include/*/*.h ${CMAKE_SOURCE_DIR}/isa/insn/*.isa
    ${CMAKE_SOURCE_DIR}/isa/layout/*.layout)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${interfaces})
set(hashes "")
foreach(file ${interfaces})
    file(SHA256 ${file} hash)
    string(APPEND hashes ${hash})
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING ${hash} 0 12 hash)
set(LEO_BUILD ${PROJECT_VERSION}-${hash})
