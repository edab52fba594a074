# What uses MPI, for one library.

add_compile_definitions(OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)  # MPI's old C++ interface, a library of its own

# What the MPI library is like: whether it has the tool interface, whether its time is SimGrid's, and which it is. One
# look at all that its mpi.h declares takes a tenth of the time of a check for each.
set(probe ${CMAKE_CURRENT_BINARY_DIR}/what_mpi_declares.cpp)
file(WRITE ${probe} "
  #include <mpi.h>
  #include <unistd.h>
  #ifdef OPEN_MPI
  int timpani_open_mpi();
  #endif
  #ifdef MPICH_VERSION
  int timpani_mpich();
  #endif
")
separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX")
execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${flags} -E ${probe}
  OUTPUT_VARIABLE declared ERROR_VARIABLE complaint RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${complaint}")
endif()
function(declares function variable)
  string(REGEX MATCH "[^A-Za-z0-9_]${function} *\\(" found "${declared}")
  if(found)
    set(${variable} ON PARENT_SCOPE)
  endif()
endfunction()
declares(MPI_T_init_thread TIMPANI_TOOL_INTERFACE)
declares(smpi_nanosleep TIMPANI_SIMULATED)
declares(timpani_open_mpi TIMPANI_OPEN_MPI)
declares(timpani_mpich TIMPANI_MPICH)
declares(MPI_Session_finalize TIMPANI_SESSIONS)
declares(MPI_Bcast_init TIMPANI_PERSISTENT)
# Intel MPI 2021.9 declares only calls with large counts that have no arrays of counts.
declares(MPI_Reduce_scatter_c TIMPANI_LARGE_COUNTS)
if(TIMPANI_OPEN_MPI)
  include(CheckCXXSourceCompiles)
  check_cxx_source_compiles("
    #include <mpi.h>
    static_assert(sizeof(MPI_Fint) == sizeof(int));
    int main() {}" TIMPANI_SAME_INTEGERS)  # as Fortran's arrays of counts are C's
endif()

sources_in(executing simulated_node|real_node execute measure/clock)
add_library(timpani-executing STATIC ${executing}
  execute/$<IF:$<BOOL:${TIMPANI_SIMULATED}>,simulated_node,real_node>.cpp)
target_link_libraries(timpani-executing PUBLIC timpani-schedule)
target_compile_definitions(timpani-executing PUBLIC TIMPANI_SIMULATED=$<BOOL:${TIMPANI_SIMULATED}>)

# Operations enter themselves into a registry.
sources_in(operation_files none composed operations operations/collective operations/messages operations/transpose)
add_library(timpani-operations OBJECT ${operation_files})
target_link_libraries(timpani-operations PUBLIC timpani-executing)
target_compile_definitions(timpani-operations PUBLIC $<$<BOOL:${TIMPANI_LARGE_COUNTS}>:TIMPANI_LARGE_COUNTS>)

sources_in(measuring main|tool_interface|no_tool_interface
  measure measure/files measure/observe measure/cell measure/launch)
add_library(timpani-measuring STATIC ${measuring}
  measure/observe/$<IF:$<BOOL:${TIMPANI_TOOL_INTERFACE}>,tool_interface,no_tool_interface>.cpp)
target_link_libraries(timpani-measuring PUBLIC timpani-executing ${CMAKE_DL_LIBS})

add_executable(timpani-measure measure/main.cpp)
target_link_libraries(timpani-measure PRIVATE timpani-measuring timpani-operations timpani-every-algorithm)

if(TIMPANI_TOOL_INTERFACE)
  add_executable(timpani-discover discover/main.cpp measure/observe/describe_places.cpp
    discover/$<IF:$<BOOL:${TIMPANI_OPEN_MPI}>,open_mpi,no>_components.cpp)
  target_link_libraries(timpani-discover PRIVATE timpani-executing)
endif()

# The library that is preloaded under a program, built when a program is run with it. A simulation has its own MPI.
if(NOT TIMPANI_SIMULATED)
  # Libraries differ in what their Fortran calls.
  if(TIMPANI_OPEN_MPI AND TIMPANI_SAME_INTEGERS)
    set(fortran interpose/entry/open_mpi_fortran.cpp interpose/entry/open_mpi_fortran_messages.cpp)
  elseif(TIMPANI_MPICH)
    set(fortran interpose/entry/mpich_fortran.cpp)
  endif()
  sources_in(interposing open_mpi_fortran|open_mpi_fortran_messages|mpich_fortran
    interpose/profile interpose/process interpose/world interpose/call interpose/communicator interpose/replace
    interpose/report interpose/entry)
  add_library(timpani SHARED EXCLUDE_FROM_ALL ${interposing} ${fortran} measure/observe/control.cpp
    measure/observe/$<IF:$<BOOL:${TIMPANI_TOOL_INTERFACE}>,tool_interface,no_tool_interface>.cpp)
  set_target_properties(timpani PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/interpose/entry/exported.map LIBRARY_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  target_compile_options(timpani PRIVATE -ftls-model=initial-exec)
  target_compile_definitions(timpani PRIVATE $<$<BOOL:${TIMPANI_SESSIONS}>:TIMPANI_SESSIONS>
    $<$<BOOL:${TIMPANI_PERSISTENT}>:TIMPANI_PERSISTENT>
    $<$<BOOL:${TIMPANI_LARGE_COUNTS}>:TIMPANI_LARGE_COUNTS>)
  target_link_libraries(timpani PRIVATE timpani-executing timpani-every-algorithm ${CMAKE_DL_LIBS})
  # Our own C++ library, so that the program's may be another; our entry points call each other whoever else has them.
  target_link_options(timpani PRIVATE -Wl,-Bsymbolic -Wl,--as-needed -static-libstdc++ -static-libgcc
    -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/interpose/entry/exported.map)
endif()

# What is built on demand only, where its sources are: an installed package may come without.
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/tests)
  sources_in(tests global_clock_test|against_library|allocations|mutate tests tests/collectives tests/composed tests/interpose
    tests/json tests/measure tests/schedule tests/simulate tests/verify)
  add_executable(timpani-native-tests EXCLUDE_FROM_ALL ${tests}
    interpose/profile/call_table.cpp interpose/report/concurrent_calls.cpp interpose/report/longest_calls.cpp)
  target_link_libraries(timpani-native-tests PRIVATE
    timpani-measuring timpani-operations timpani-verifying timpani-simulating timpani-every-algorithm)
  add_executable(timpani-mutate EXCLUDE_FROM_ALL tests/verify/mutate.cpp)
  target_link_libraries(timpani-mutate PRIVATE timpani-verifying timpani-every-algorithm)
  add_executable(timpani-clock-test EXCLUDE_FROM_ALL tests/measure/global_clock_test.cpp)
  target_link_libraries(timpani-clock-test PRIVATE timpani-measuring timpani-operations)
  add_executable(timpani-against-library EXCLUDE_FROM_ALL tests/execute/against_library.cpp tests/execute/allocations.cpp)
  set_target_properties(timpani-against-library PROPERTIES UNITY_BUILD OFF)  # one of them replaces operator new
  target_link_libraries(timpani-against-library PRIVATE timpani-operations timpani-every-algorithm)
endif()

if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/bench)
  add_executable(timpani-bench-plans EXCLUDE_FROM_ALL bench/build_plans.cpp)
  target_link_libraries(timpani-bench-plans PRIVATE timpani-executing timpani-every-algorithm)
  add_executable(timpani-bench-pass-through EXCLUDE_FROM_ALL bench/pass_through.cpp)
  add_executable(timpani-bench-ring EXCLUDE_FROM_ALL bench/ring.cpp)
  target_link_libraries(timpani-bench-ring PRIVATE timpani-executing timpani-every-algorithm)
endif()
