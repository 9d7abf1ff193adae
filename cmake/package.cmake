# What scripts/package.sh makes with CPack: a .deb and a tarball that runs from anywhere (docs/packaging.md).
#
# Component program: what both have. service: files of systemd, in the .deb alone. libraries: what the .deb gets from
# the distribution and the tarball brings along.
include(GNUInstallDirs)

# Written by the program itself: a flag that exists is in its manual and completed by shells.
set(manual ${PROJECT_BINARY_DIR}/manual)
add_custom_target(tessera_manual
  COMMAND ${CMAKE_COMMAND} -E make_directory ${manual}/man1
  COMMAND tessera manual ${manual}/man1
  COMMAND tessera completion bash > ${manual}/tessera
  COMMAND tessera completion zsh > ${manual}/_tessera
  COMMAND tessera completion fish > ${manual}/tessera.fish
  COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${manual}/CHANGELOG.md
  # As Debian wants them. -n: no time, so that the same sources give the same bytes.
  COMMAND sh -c "gzip -9nf *.1 ../CHANGELOG.md"
  WORKING_DIRECTORY ${manual}/man1 VERBATIM)
file(MAKE_DIRECTORY ${manual}/man1)

# Libraries whose names change from one release of a distribution to the next come along in both, so that a package
# made on Debian 12 also runs on 13. DT_RPATH, not RUNPATH: it also holds for what these libraries need.
set_target_properties(tessera PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/tessera")
target_link_options(tessera PRIVATE -Wl,--disable-new-dtags)
set(renamed_libraries "lib(fmt|spdlog|simdjson|hwy|utf8proc|prometheus-cpp-core|cudart)\\.so")
set(system_libraries "lib(c|m|dl|rt|pthread|resolv|stdc\\+\\+|gcc_s)\\.so" "ld-linux")

install(TARGETS tessera RUNTIME_DEPENDENCY_SET needed DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(RUNTIME_DEPENDENCY_SET needed PRE_INCLUDE_REGEXES ${renamed_libraries} PRE_EXCLUDE_REGEXES "."
  DESTINATION lib/tessera COMPONENT program)
install(RUNTIME_DEPENDENCY_SET needed PRE_EXCLUDE_REGEXES ${system_libraries}
  DESTINATION lib/tessera COMPONENT libraries)
# Not stripped of its symbols: they are where `tessera plan` and `tessera doctor` find the names of kernels.
install(CODE "execute_process(COMMAND ${CMAKE_STRIP} --strip-debug
  \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/tessera COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
install(DIRECTORY models/demo DESTINATION share/tessera/models COMPONENT program)
install(DIRECTORY ${manual}/man1 DESTINATION share/man COMPONENT program FILE_PERMISSIONS OWNER_READ OWNER_WRITE
  GROUP_READ WORLD_READ)
install(FILES ${manual}/tessera DESTINATION share/bash-completion/completions COMPONENT program)
install(FILES ${manual}/_tessera DESTINATION share/zsh/vendor-completions COMPONENT program)
install(FILES ${manual}/tessera.fish DESTINATION share/fish/vendor_completions.d COMPONENT program)

if(TESSERA_CUDA)
  set(package tessera-cuda)
else()
  set(package tessera)
endif()
set(doc share/doc/${package})
install(FILES ${manual}/CHANGELOG.md.gz DESTINATION ${doc} COMPONENT program RENAME changelog.gz)
install(FILES LICENSE README.md deploy/serve.env DESTINATION ${doc} COMPONENT libraries)
# Ours and those of the libraries that come along or are compiled in; again once the tarball's are there.
foreach(component program libraries)
  install(CODE "execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/package_copyright.sh ${PROJECT_BINARY_DIR}
    \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/tessera
    OUTPUT_FILE \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${doc}/copyright COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT ${component})
endforeach()
install(FILES deploy/tessera.service DESTINATION lib/systemd/system COMPONENT program)
if(TESSERA_CUDA)
  install(FILES deploy/gpu.conf DESTINATION lib/systemd/system/tessera.service.d COMPONENT program)
endif()
install(FILES deploy/serve.env DESTINATION /etc/tessera COMPONENT service)

set(CPACK_PACKAGE_NAME ${package})
set(CPACK_PACKAGE_VENDOR Tessera)
set(CPACK_PACKAGE_CONTACT "Tessera maintainers <maintainers@tessera.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "inference engine and server for 4-bit language models")
set(CPACK_PACKAGE_FILE_NAME ${package}-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES OFF)
set(CPACK_BUILD_DIR ${PROJECT_BINARY_DIR})
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_kind.cmake)
set(CPACK_ARCHIVE_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS /usr/lib/tessera)
# Chat templates are rendered by Jinja2.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3, python3-jinja2")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Runs Qwen3.5 models (MoE and dense) in NVFP4, MXFP4 and other formats, and serves
them by the APIs of OpenAI and Anthropic and on a web page. A small model, \"demo\", comes along.")
foreach(script postinst prerm postrm conffiles)
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/deploy/debian/${script})
endforeach()
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
if(TESSERA_CUDA)
  set(CPACK_DEBIAN_PACKAGE_PROVIDES tessera)
  set(CPACK_DEBIAN_PACKAGE_CONFLICTS tessera)
  set(CPACK_DEBIAN_PACKAGE_REPLACES tessera)
else()
  set(CPACK_DEBIAN_PACKAGE_CONFLICTS tessera-cuda)
  set(CPACK_DEBIAN_PACKAGE_REPLACES tessera-cuda)
endif()
include(CPack)
