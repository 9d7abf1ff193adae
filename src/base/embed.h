#pragma once

// Files that are part of the program. The assembler takes each as it is, in no time and without a copy in the source.

/// Declares `symbol` and `symbol`_end around the bytes of the file `path`, a string literal. Outside of namespaces;
/// CMake has to be told that the object depends on the file.
#define TESSERA_EMBED(symbol, path)                                \
  asm(".pushsection .rodata\n"                                     \
      ".global " #symbol "\n.hidden " #symbol "\n" #symbol         \
      ":\n"                                                        \
      ".incbin \"" path                                            \
      "\"\n"                                                       \
      ".global " #symbol "_end\n.hidden " #symbol "_end\n" #symbol \
      "_end:\n"                                                    \
      ".popsection\n");                                            \
  extern "C" const char symbol[];                                  \
  extern "C" const char symbol##_end[];
