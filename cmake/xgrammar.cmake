# The library that guides answers by schemas and grammars (docs/dependencies.md): a static target `xgrammar`, built from
# the package's C++ sources alone. Its own CMake project forces the Python binding, -Werror and LTO.

set(TESSERA_XGRAMMAR_SOURCE "" CACHE PATH "What scripts/fetch_xgrammar.sh has made elsewhere, for machines that PyPI is out of reach of")
set(xgrammar_source ${TESSERA_XGRAMMAR_SOURCE})
if(NOT xgrammar_source)
  set(xgrammar_source ${PROJECT_SOURCE_DIR}/build/xgrammar)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/fetch_xgrammar.sh ${xgrammar_source} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "xgrammar could not be fetched from PyPI. Run scripts/fetch_xgrammar.sh FOLDER where it is in "
      "reach, copy FOLDER here and configure with -DTESSERA_XGRAMMAR_SOURCE=FOLDER")
  endif()
endif()
if(NOT EXISTS ${xgrammar_source}/stamp)
  message(FATAL_ERROR "${xgrammar_source} is not a folder that scripts/fetch_xgrammar.sh has made")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${CMAKE_CURRENT_LIST_DIR}/xgrammar.txt ${CMAKE_CURRENT_LIST_DIR}/xgrammar_changes.py)

file(GLOB_RECURSE xgrammar_files ${xgrammar_source}/cpp/*.cc)
list(FILTER xgrammar_files EXCLUDE REGEX "/cpp/tvm_ffi/")
# What fills masks; the others read schemas and grammars, once each.
set(xgrammar_matching ${xgrammar_files})
list(FILTER xgrammar_matching INCLUDE REGEX "/(compiled_grammar|earley_parser|fsm|grammar_compiler|grammar_matcher)\\.cc$")
list(REMOVE_ITEM xgrammar_files ${xgrammar_matching})
add_library(xgrammar_reading OBJECT ${xgrammar_files})
set_source_files_properties(${xgrammar_source}/cpp/json_schema_converter.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
add_library(xgrammar STATIC ${xgrammar_matching} $<TARGET_OBJECTS:xgrammar_reading>)
tessera_optimise(xgrammar -O2)
foreach(target xgrammar xgrammar_reading)
  tessera_together(${target})
  target_include_directories(${target} SYSTEM PUBLIC
    ${xgrammar_source}/include ${xgrammar_source}/3rdparty/picojson ${xgrammar_source}/3rdparty/dlpack/include)
  # Messages come to us (src/guide/xgrammar_log.cpp), not to standard error.
  target_compile_definitions(${target} PRIVATE
    XGRAMMAR_ENABLE_CPPTRACE=0 XGRAMMAR_ENABLE_INTERNAL_CHECK=0 XGRAMMAR_LOG_CUSTOMIZE=1)
  target_compile_options(${target} PRIVATE -w -include ${PROJECT_SOURCE_DIR}/src/guide/poll.h)
  # clang 16 takes the library in C++17, where libstdc++'s variant does not look at incomplete types; clang 14 in neither.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set_target_properties(${target} PROPERTIES CXX_STANDARD 17)
  endif()
  if(TESSERA_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${TESSERA_SANITIZE} -fno-omit-frame-pointer)
  endif()
  if(TESSERA_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link -fno-sanitize=function)
  endif()
endforeach()
