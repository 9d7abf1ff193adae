# The page is part of the binary: our files, and the libraries that it uses, which come from the distribution's packages
# (docs/dependencies.md) as scripts/install_packages.sh installs them. Makes ${web_files_source}.

set(TESSERA_WEB_LIBRARIES /usr/share CACHE PATH "Where the packages of the web page's libraries put their files")

# Package, its file under TESSERA_WEB_LIBRARIES, and where the page finds it; files with one place become one.
set(web_libraries
  "libjs-marked|javascript/marked/marked.umd.min.js|lib/marked.js"
  "node-dompurify|nodejs/dompurify/dist/purify.min.js|lib/purify.js"
  "libjs-katex|javascript/katex/katex.min.js|lib/katex.js"
  "libjs-katex|javascript/katex/katex.min.css|lib/katex.css")
foreach(font AMS-Regular Caligraphic-Bold Caligraphic-Regular Fraktur-Bold Fraktur-Regular Main-Bold Main-BoldItalic
    Main-Italic Main-Regular Math-BoldItalic Math-Italic SansSerif-Bold SansSerif-Italic SansSerif-Regular
    Script-Regular Size1-Regular Size2-Regular Size3-Regular Size4-Regular Typewriter-Regular)
  list(APPEND web_libraries
    "fonts-katex|fonts/truetype/katex/KaTeX_${font}.woff2|lib/fonts/KaTeX_${font}.woff2")
endforeach()
# Languages that code is coloured in, each behind those that it is made of.
foreach(part core markup css clike javascript typescript jsx tsx python bash c cpp csharp rust go java kotlin swift
    markup-templating php ruby lua r haskell json yaml toml ini sql graphql protobuf diff markdown latex makefile cmake
    docker nginx powershell)
  list(APPEND web_libraries "node-prismjs|nodejs/prismjs/components/prism-${part}.min.js|lib/prism.js")
endforeach()

foreach(package libjs-marked node-dompurify node-prismjs libjs-katex)  # whoever gets the binary gets these too
  list(APPEND web_libraries "${package}|doc/${package}/copyright|lib/licenses.txt")
endforeach()

set(web_paths app.js answer.js api.js composer.js dom.js engine.js index.html icon.svg list.js markdown.js notice.js
  settings.js shortcuts.js store.js style.css text.css theme.js thread.js view.js)
list(TRANSFORM web_paths PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/web/ OUTPUT_VARIABLE web_sources)
set(missing "")
set(joined prism.js licenses.txt)
foreach(name ${joined})
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}.new "")
endforeach()
foreach(library ${web_libraries})
  string(REPLACE "|" ";" library ${library})
  list(GET library 0 package)
  list(GET library 1 file)
  list(GET library 2 path)
  set(file ${TESSERA_WEB_LIBRARIES}/${file})
  if(NOT EXISTS ${file})
    list(APPEND missing ${package})
  elseif(path MATCHES "^lib/(.*)$" AND CMAKE_MATCH_1 IN_LIST joined)
    file(READ ${file} text)
    file(APPEND ${CMAKE_CURRENT_BINARY_DIR}/${CMAKE_MATCH_1}.new "${text}\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  else()
    list(APPEND web_paths ${path})
    list(APPEND web_sources ${file})
  endif()
endforeach()
if(missing)
  list(REMOVE_DUPLICATES missing)
  list(JOIN missing " " missing)
  message(FATAL_ERROR "The web page's libraries are not under ${TESSERA_WEB_LIBRARIES}. Install them with\n"
    "  apt-get install --no-install-recommends ${missing}\n"
    "(scripts/build.sh does so), or say with -DTESSERA_WEB_LIBRARIES=FOLDER where they are.")
endif()
foreach(name ${joined})
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${name})
  configure_file(${file}.new ${file} COPYONLY)  # only where it has changed
  list(APPEND web_paths lib/${name})
  list(APPEND web_sources ${file})
endforeach()

set(TESSERA_WEB_FILES "")
set(number 0)
foreach(path source IN ZIP_LISTS web_paths web_sources)
  string(APPEND TESSERA_WEB_FILES " \\\n  FILE(${number}, \"/${path}\", \"${source}\")")
  math(EXPR number "${number} + 1")
endforeach()
set(web_files_source ${CMAKE_CURRENT_BINARY_DIR}/web_files.cpp)
configure_file(web_files.cpp.in ${web_files_source} @ONLY)
# By itself: of a source that is compiled with others CMake forgets what its object depends on.
set_source_files_properties(${web_files_source} PROPERTIES
  OBJECT_DEPENDS "${web_sources}" SKIP_UNITY_BUILD_INCLUSION ON)
