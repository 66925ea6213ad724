# SPDX-License-Identifier: Apache-2.0
# find_package(ASC) before project(.. LANGUAGES ASC CXX): from then on CMake knows files in Ascend C (.asc), which `bisheng` compiles.
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
set(ASC_FOUND TRUE)
