"""Writes src/text/unicode_tables.h: what the tokenizer must know of Unicode beside what its libraries know.

Token ids are defined by Hugging Face `tokenizers`, whose normalizer follows Unicode 10 and whose regular expressions
follow Unicode 16. The utf8proc and PCRE2 of a distribution follow other versions, so the differences are tables here,
read from the reference library itself. Run with Python 3.11 (Unicode 14, as PCRE2 10.42) and tools/requirements.txt:

    python3.11 tools/make_unicode_tables.py > src/text/unicode_tables.h
"""

import unicodedata

from tokenizers import Regex, normalizers, pre_tokenizers

CATEGORIES = ("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co").split()
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
nfc = normalizers.NFC().normalize_str
nfd = normalizers.NFD().normalize_str


def moved_by_marks(c: int) -> bool:
    """True if the reference gives c a non-zero combining class: it trades places with some neighbour."""
    char = chr(c)
    return any(nfd(before + char + after) != before + nfd(char) + after
               for before, after in (("x", "\u0334"), ("x\u0345", ""), ("x", "\u0316"), ("x\u0301", "")))


def composes_with_previous() -> set[int]:
    """The code points whose NFC quick check is Maybe in the reference."""
    second = set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))  # Hangul vowels and final consonants
    for c in CODE_POINTS:
        parts = unicodedata.decomposition(chr(c)).split()
        if len(parts) == 2 and not parts[0].startswith("<") and nfc(nfd(chr(c))) == chr(c) and len(nfd(chr(c))) > 1:
            second.add(int(parts[1], 16))
    return second


def reference_categories() -> dict[int, str]:
    category = {}
    for name in CATEGORIES:
        splitter = pre_tokenizers.Split(Regex(rf"\p{{{name}}}"), "removed")
        for i in range(0, len(CODE_POINTS), 4096):
            chunk = CODE_POINTS[i:i + 4096]
            kept = set()
            for _, (begin, end) in splitter.pre_tokenize_str("".join(map(chr, chunk))):
                kept.update(range(begin, end))
            category.update((c, name) for j, c in enumerate(chunk) if j not in kept)
    return category


def utf8_length(c: int) -> int:
    return len(chr(c).encode())


def stand_ins(category: dict[int, str]) -> dict[int, int]:
    """Code points whose category PCRE2 may not know -> one of equal category and UTF-8 length that it does know."""
    first = {}
    for c in CODE_POINTS:
        if c >= 0x800 and unicodedata.category(chr(c)) == category.get(c):
            first.setdefault((category[c], utf8_length(c)), c)
    differing = [c for c in CODE_POINTS if unicodedata.category(chr(c)) != category.get(c, "Cn")]
    return {c: first[category[c], utf8_length(c)] for c in differing} | {0x180E: 0x200B}


def ranges(values: dict[int, int]):
    out = []
    for c in sorted(values):
        if out and out[-1][1] == c - 1 and out[-1][2] == values[c]:
            out[-1][1] = c
        else:
            out.append([c, c, values[c]])
    return out


def rows(values: dict[int, int], third) -> str:
    cells = [f"{{{a:#07x}, {b:#07x}, {third(v)}}}," for a, b, v in ranges(values)]
    return "\n".join("    " + " ".join(cells[i:i + 4]) for i in range(0, len(cells), 4))


def main() -> None:
    assert unicodedata.unidata_version == "14.0.0", "run with Python 3.11"
    maybe = composes_with_previous()
    check = {}
    for c in CODE_POINTS:
        if nfc(chr(c)) != chr(c) or c in maybe:
            check[c] = 1
        elif unicodedata.combining(chr(c)) and moved_by_marks(c):
            check[c] = 0
    print(f"""#pragma once

#include <array>
#include <cstdint>

// Written by tools/make_unicode_tables.py, which says why these tables exist. Do not edit.
namespace tessera::text {{

struct NfcRange {{
  uint32_t first, last;
  bool may_change;  // NFC quick check No or Maybe; otherwise the range holds marks that only need to be in order
}};

/// Every code point that normalization form C may touch. All others are starters that stay as they are.
inline constexpr auto kNfcRanges = std::to_array<NfcRange>({{
    // clang-format off
{rows(check, lambda v: "true" if v else "false")}
    // clang-format on
}});

struct StandIn {{
  uint32_t first, last;
  uint32_t stand_in;  // of the same category and UTF-8 length
}};

/// Code points newer than Unicode 14, and U+180E, which PCRE2 counts as white space and the reference does not.
inline constexpr auto kStandIns = std::to_array<StandIn>({{
    // clang-format off
{rows(stand_ins(reference_categories()), lambda v: f"{v:#07x}")}
    // clang-format on
}});

}}  // namespace tessera::text""")


if __name__ == "__main__":
    main()
