# quipu.cmake: a toolchain file. All of a project is compiled and linked by quipu:
#
#     cmake -DCMAKE_TOOLCHAIN_FILE=/usr/local/share/quipu/quipu.cmake ...
#     QUIPU_MODE=event cmake --build ...
#
# It stands in share/quipu beside bin. From elsewhere, quipu is looked for in PATH.
get_filename_component(quipu_prefix "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
find_program(QUIPU_CC quipu-cc HINTS "${quipu_prefix}/bin" REQUIRED NO_CMAKE_FIND_ROOT_PATH)
get_filename_component(quipu_bin "${QUIPU_CC}" DIRECTORY)
set(CMAKE_C_COMPILER "${quipu_bin}/quipu-cc")
set(CMAKE_CXX_COMPILER "${quipu_bin}/quipu-c++")
set(CMAKE_Fortran_COMPILER "${quipu_bin}/quipu-fortran")
