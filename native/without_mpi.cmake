# What uses no MPI: first the archives that every program is linked with, the list of algorithms and the check of rules; then,
# linked with these archives, what verifies and simulates.

# What all programs have in common, and what the verifier and the simulator consist of, which native tests are linked with.
# Few archives with many sources each: they are compiled as one.
file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/folders_without_mpi.txt common)
list(REMOVE_ITEM common algorithms verify simulate)
set(schedule_folders ${common})
set(algorithms_folders algorithms)
set(verifying_folders verify)
set(simulating_folders simulate)

foreach(part schedule algorithms verifying simulating)
  find_file(archive_of_${part} libtimpani-${part}.a PATHS ${TIMPANI_WITHOUT_MPI} NO_DEFAULT_PATH)
  if(archive_of_${part})
    add_library(timpani-${part} STATIC IMPORTED)
    set_target_properties(timpani-${part} PROPERTIES IMPORTED_LOCATION ${archive_of_${part}})
  else()
    sources_in(files main|list|check_rules ${${part}_folders})
    add_library(timpani-${part} STATIC EXCLUDE_FROM_ALL ${files})
  endif()
endforeach()
foreach(part algorithms verifying simulating)
  target_link_libraries(timpani-${part} INTERFACE timpani-schedule)
endforeach()

# One file an algorithm: adding one touches nothing else. Nothing names what enters itself into the registry, and a linker
# would leave it out of an archive. CMake's feature WHOLE_ARCHIVE passes --push-state, which Zig's linker does not know.
set(CMAKE_LINK_LIBRARY_USING_EVERY_MEMBER "-Wl,--whole-archive" "<LINK_ITEM>" "-Wl,--no-whole-archive")
set(CMAKE_LINK_LIBRARY_USING_EVERY_MEMBER_SUPPORTED TRUE)
add_library(timpani-every-algorithm INTERFACE)
target_link_libraries(timpani-every-algorithm INTERFACE "$<LINK_LIBRARY:EVERY_MEMBER,timpani-algorithms>")
if(TIMPANI_ALGORITHMS)
  sources_in(further_files none ${TIMPANI_ALGORITHMS})
endif()
if(further_files)
  add_library(timpani-further-algorithms OBJECT ${further_files})
  target_link_libraries(timpani-further-algorithms PUBLIC timpani-schedule)
  target_link_libraries(timpani-every-algorithm INTERFACE
    $<TARGET_OBJECTS:timpani-further-algorithms>)
endif()

if(NOT TIMPANI_MPI)
  add_executable(timpani-list verify/list.cpp)
  target_link_libraries(timpani-list PRIVATE timpani-every-algorithm)

  add_executable(timpani-rules-check interpose/rules/check_rules.cpp)
  target_link_libraries(timpani-rules-check PRIVATE timpani-every-algorithm)
endif()
if(NOT TIMPANI_MPI AND TIMPANI_WITHOUT_MPI)
  add_executable(timpani-verify verify/main.cpp)
  target_link_libraries(timpani-verify PRIVATE timpani-verifying timpani-every-algorithm)

  add_executable(timpani-simulate simulate/main.cpp)
  target_link_libraries(timpani-simulate PRIVATE timpani-simulating timpani-every-algorithm)
endif()
