# Flags that everything is compiled with, and one function per kind of target.

add_library(tessera_flags INTERFACE)
# No contraction: a * b + c stays two roundings unless the code says fma. The numerics contract (one answer for any
# batch, split and instruction set) depends on it.
target_compile_options(tessera_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -ffp-contract=off -fno-math-errno>
  # g++ 12 warns of overlapping copies in std::string that cannot be (gcc bug 105651).
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra --fmad=false>)
if(TESSERA_SANITIZE)
  target_compile_options(tessera_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TESSERA_SANITIZE}
    -fno-omit-frame-pointer -g -fno-sanitize-recover=all>)
  target_link_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE})
endif()
if(TESSERA_FUZZ)
  # Without "function": clang 14 cannot assemble its marks in coroutines.
  target_compile_options(tessera_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link -fno-sanitize=function>)
endif()

# With TESSERA_UNITY, the sources of a library are compiled 28 at a time: most of a compiler's time goes into headers.
# Names in unnamed namespaces are therefore unique in a library.
function(tessera_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TESSERA_UNITY} UNITY_BUILD_BATCH_SIZE 28)
endfunction()

# Release builds are compiled with -O1; this is for what computes: tessera_optimise(<target> -O3).
function(tessera_optimise target level)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:${level}>)
endfunction()

# What has no part in a step of a GPU, or a level of its own.
set(TESSERA_ASIDE cli doctor format kernels loadgen plan request selftest)

# tessera_library(<folder> SOURCES ... [DEPENDS folders] [LIBRARIES external targets])
function(tessera_library folder)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_library(tessera_${folder} STATIC ${arg_SOURCES})
  add_library(tessera::${folder} ALIAS tessera_${folder})
  target_include_directories(tessera_${folder} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(tessera_${folder} PUBLIC ${arg_LIBRARIES} PRIVATE tessera_flags)
  tessera_together(tessera_${folder})
  # A GPU waits for what the host launches: as it was measured. What stands aside is compiled as without, and so found in
  # a compiler cache.
  if(TESSERA_CUDA AND NOT folder IN_LIST TESSERA_ASIDE)
    tessera_optimise(tessera_${folder} -O2)
  endif()
  foreach(dependency ${arg_DEPENDS})
    target_link_libraries(tessera_${folder} PUBLIC tessera::${dependency})
  endforeach()
endfunction()

# What most tests include, compiled once.
function(tessera_test_headers)
  add_executable(tessera_test_headers ${PROJECT_SOURCE_DIR}/tests/test_headers.cpp)  # with the flags of a test
  target_link_libraries(tessera_test_headers PRIVATE tessera_flags GTest::gtest GTest::gmock fmt::fmt nlohmann_json::nlohmann_json)
  target_precompile_headers(tessera_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <algorithm> <chrono>
    <filesystem> <fmt/format.h> <functional> <map> <memory> <nlohmann/json.hpp> <optional> <random> <span> <string>
    <thread> <vector>)
endfunction()

# tessera_test(<name> SOURCES ... DEPENDS folders): one GoogleTest binary, one ctest entry per test case.
function(tessera_test name)
  cmake_parse_arguments(arg "" "LABELS" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE TESSERA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE tessera_flags GTest::gtest_main GTest::gmock ${arg_LIBRARIES})
  target_precompile_headers(${name} REUSE_FROM tessera_test_headers)
  foreach(dependency ${arg_DEPENDS})
    target_link_libraries(${name} PRIVATE tessera::${dependency})
  endforeach()
  if(arg_LABELS)  # an empty value would make TIMEOUT the label
    set(labels LABELS "${arg_LABELS}")
  endif()
  if(arg_LABELS STREQUAL gpu)
    if(NOT TARGET gpu_tests)
      add_custom_target(gpu_tests)
    endif()
    add_dependencies(gpu_tests ${name})
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120 NO_PRETTY_VALUES PROPERTIES ${labels} TIMEOUT 600)
endfunction()

# The tests of a binary once more on each instruction set that kernels are compiled for: Simd.<target>.<test>, skipped
# where the CPU lacks it, and on its best, which they run on anyway.
function(tessera_test_simd name)
  target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/kernels/simd_environment.cpp)
  foreach(target ssse3 avx2 avx512)
    add_test(NAME Simd.${target}.${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(Simd.${target}.${name} PROPERTIES
      ENVIRONMENT TESSERA_SIMD=${target} SKIP_RETURN_CODE 77 TIMEOUT 600)
  endforeach()
endfunction()
