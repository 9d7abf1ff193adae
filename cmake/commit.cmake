# Writes HEADER with the commit of SOURCE, or with COMMIT if that is given. A header that says so already keeps its
# time, so that nothing is compiled anew.
cmake_minimum_required(VERSION 3.25)
if(NOT COMMIT)
  execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=12 --dirty --exclude=*
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT COMMIT)
  set(COMMIT unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define TESSERA_COMMIT \"@COMMIT@\"\n" @ONLY)
