#include "format/safetensors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "files.h"

namespace tessera::format {
namespace {

using test::as_bytes;
using test::safetensors;
using ::testing::HasSubstr;

const std::string kEntry = R"({"dtype":"U8","shape":[4],"data_offsets":[0,4]})";

Status parse(std::string_view bytes) { return SafetensorsFile::parse(as_bytes(bytes), "x.safetensors").status(); }

/// A file of two tensors and metadata; unaligned on purpose.
std::string small_file() {
  return safetensors(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2,1],"data_offsets":[3,11]},)"
                     R"("a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})",
                     std::string("abc\0\0\x80\x3f\0\0\0\x40", 11));
}

TEST(Safetensors, ReadsASmallFile) {
  const std::string bytes = small_file();
  const auto file = SafetensorsFile::parse(as_bytes(bytes), "x");
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_EQ((*file)->tensors().size(), 2U);
  const TensorView& a = (*file)->tensors().at("a");
  EXPECT_EQ(a.dtype, DType::u8);
  EXPECT_EQ(a.shape, std::vector<int64_t>{3});
  EXPECT_EQ(std::memcmp(a.bytes.data(), "abc", 3), 0);
  const TensorView& b = (*file)->tensors().at("b");
  EXPECT_EQ(b.dtype, DType::f32);
  EXPECT_EQ(b.shape, (std::vector<int64_t>{2, 1}));
  float values[2];
  std::memcpy(values, b.bytes.data(), sizeof values);
  EXPECT_EQ(values[0], 1.0F);
  EXPECT_EQ(values[1], 2.0F);
  EXPECT_EQ((*file)->metadata().at("format"), "pt");
}

TEST(Safetensors, ReadsScalarsEmptyTensorsAndPadding) {
  EXPECT_TRUE(parse(safetensors("{}   ", "")).ok());
  EXPECT_TRUE(parse(safetensors(R"({"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", "1234")).ok());
  EXPECT_TRUE(
      parse(safetensors(R"({"e":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]},"a":)" + kEntry + "}", "1234"))
          .ok());
  // In whatever order the header names them.
  EXPECT_TRUE(
      parse(safetensors(R"({"a":)" + kEntry + R"(,"e":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]}})", "1234"))
          .ok());
  // A key that this version does not know is not an error.
  EXPECT_TRUE(parse(safetensors(R"({"a":{"x":[1],"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "1")).ok());
}

TEST(Safetensors, KeepsForeignDTypesApart) {
  const std::string bytes = safetensors(R"({"m":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]},)"
                                        R"("q":{"dtype":"F4","shape":[4],"data_offsets":[2,4]},)"
                                        R"("w":{"dtype":"U8","shape":[1],"data_offsets":[4,5]}})",
                                        "12345");
  const auto file = SafetensorsFile::parse(as_bytes(bytes), "x");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ((*file)->tensors().size(), 1U);
  EXPECT_EQ((*file)->foreign_tensors().at("m"), "BOOL");
  EXPECT_EQ((*file)->foreign_tensors().at("q"), "F4");
}

TEST(Safetensors, ForeignDTypesHaveTheirSizes) {
  const std::pair<const char*, int> dtypes[] = {
      {"BOOL", 8}, {"I8", 8}, {"I16", 16},    {"U16", 16},    {"U32", 32},    {"U64", 64},        {"F64", 64},
      {"C64", 64}, {"F4", 4}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F8_E5M2", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}};
  for (const auto& [name, bits] : dtypes) {
    const std::string header =
        fmt::format(R"({{"a":{{"dtype":"{}","shape":[4],"data_offsets":[0,{}]}}}})", name, bits / 2);
    const std::string bytes = safetensors(header, std::string(static_cast<size_t>(bits / 2), 'x'));
    const auto file = SafetensorsFile::parse(as_bytes(bytes), "x");
    ASSERT_TRUE(file.ok()) << name << file.status().message();
    EXPECT_EQ((*file)->foreign_tensors().at("a"), name);
  }
}

struct Corruption {
  const char* what;
  std::string bytes;
  const char* message;
};

class SafetensorsCorruption : public ::testing::TestWithParam<Corruption> {};

TEST_P(SafetensorsCorruption, IsRefusedWithAClearMessage) {
  const Status status = parse(GetParam().bytes);
  ASSERT_FALSE(status.ok()) << GetParam().what;
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  EXPECT_THAT(status.message(), HasSubstr(GetParam().message));
  EXPECT_THAT(status.message(), HasSubstr("x.safetensors"));
}

std::string with_length(uint64_t length, const std::string& rest) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(length >> (8 * i) & 0xff);
  return file + rest;
}

std::string tensor_a(const std::string& dtype, const std::string& shape, const std::string& offsets,
                     const std::string& data = "1234") {
  return safetensors(
      std::string(R"({"a":{"dtype":)") + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}", data);
}

std::string tensors_ab(const std::string& b, const std::string& data) {
  return safetensors(R"({"a":)" + kEntry + R"(,"b":)" + b + "}", data);
}

INSTANTIATE_TEST_SUITE_P(
    Safetensors, SafetensorsCorruption,
    ::testing::Values(
        Corruption{"seven bytes", "1234567", "too few"},
        Corruption{"header longer than the file", with_length(100, "{}"), "cut short"},
        Corruption{"header padding cut off", with_length(5, "{}  "), "cut short"},
        Corruption{"header above the limit", with_length(100'000'001, "{}"), "above the limit"},
        Corruption{"header length 2^64 - 1", with_length(UINT64_MAX, "{}"), "above the limit"},
        Corruption{"empty header", safetensors("", ""), "start with '{'"},
        Corruption{"leading space", safetensors(" {}", ""), "start with '{'"},
        Corruption{"not JSON", safetensors("{,}", ""), "not valid JSON"},
        Corruption{"unclosed JSON", safetensors("{\"a\":", ""), "not valid JSON"},
        Corruption{"text after the JSON", safetensors("{} x", ""), "not valid JSON"},
        Corruption{"invalid UTF-8", safetensors("{\"\xff\":1}", ""), "not valid JSON"},
        Corruption{"deep nesting",
                   safetensors(std::string("{\"a\":") + std::string(5000, '[') + std::string(5000, ']') + "}", ""),
                   "not valid JSON"},
        Corruption{"a tensor that is a number", safetensors(R"({"a":1})", ""), "not an object"},
        Corruption{"the same name twice", safetensors(R"({"a":)" + kEntry + R"(,"a":)" + kEntry + "}", "1234"),
                   "there twice"},
        Corruption{"the same name twice, once foreign",
                   safetensors(R"({"a":{"dtype":"BOOL","shape":[0],"data_offsets":[0,0]},"a":)" + kEntry + "}", "1234"),
                   "there twice"},
        Corruption{"unknown dtype", tensor_a(R"("F3")", "[4]", "[0,4]"), "unknown dtype 'F3'"},
        Corruption{"dtype is a number", tensor_a("8", "[4]", "[0,4]"), "dtype is not a string"},
        Corruption{"no dtype", safetensors(R"({"a":{"shape":[4],"data_offsets":[0,4]}})", "1234"), "each once"},
        Corruption{"no shape", safetensors(R"({"a":{"dtype":"U8","data_offsets":[0,4]}})", "1234"), "each once"},
        Corruption{"no offsets", safetensors(R"({"a":{"dtype":"U8","shape":[4]}})", "1234"), "each once"},
        Corruption{"dtype twice", tensor_a(R"("U8","dtype":"U8")", "[4]", "[0,4]"), "each once"},
        Corruption{"shape is a number", tensor_a(R"("U8")", "4", "[0,4]"), "shape is not an array"},
        Corruption{"negative dimension", tensor_a(R"("U8")", "[-4]", "[0,4]"), "shape[0]"},
        Corruption{"fractional dimension", tensor_a(R"("U8")", "[2,2.0]", "[0,4]"), "shape[1]"},
        Corruption{"dimension of 2^63", tensor_a(R"("U8")", "[9223372036854775808]", "[0,4]"), "shape[0]"},
        Corruption{"dimension of 2^64", tensor_a(R"("U8")", "[18446744073709551616]", "[0,4]"), "not valid JSON"},
        Corruption{"product of 2^64", tensor_a(R"("U8")", "[4294967296,4294967296]", "[0,0]", ""), "overflows"},
        Corruption{"product of 2^64 bits", tensor_a(R"("F32")", "[2147483648,268435456]", "[0,0]", ""), "overflows"},
        Corruption{"half a byte", tensor_a(R"("F4")", "[7]", "[0,4]"), "overflows"},
        Corruption{"begin after end", tensor_a(R"("U8")", "[4]", "[4,0]"), "outside"},
        Corruption{"end after the file", tensor_a(R"("U8")", "[5]", "[0,5]"), "outside the 4 bytes"},
        Corruption{"end of 2^64 - 1", tensor_a(R"("U8")", "[4]", "[0,18446744073709551615]"), "outside"},
        Corruption{"negative offset", tensor_a(R"("U8")", "[4]", "[-1,3]"), "not a pair"},
        Corruption{"three offsets", tensor_a(R"("U8")", "[4]", "[0,4,4]"), "not a pair"},
        Corruption{"offsets as strings", tensor_a(R"("U8")", "[4]", R"(["0","4"])"), "not a pair"},
        Corruption{"too few bytes for the shape", tensor_a(R"("F32")", "[2]", "[0,4]"), "needs 8 bytes"},
        Corruption{"too many bytes for the shape", tensor_a(R"("U8")", "[3]", "[0,4]"), "needs 3 bytes"},
        Corruption{"overlap", tensors_ab(R"({"dtype":"U8","shape":[4],"data_offsets":[2,6]})", "123456"),
                   "tensor 'b' starts at 2, overlapping"},
        Corruption{"one inside the other", tensors_ab(R"({"dtype":"U8","shape":[1],"data_offsets":[1,2]})", "1234"),
                   "overlapping"},
        Corruption{"hole", tensors_ab(R"({"dtype":"U8","shape":[1],"data_offsets":[5,6]})", "123456"), "hole"},
        Corruption{"hole at the start", tensor_a(R"("U8")", "[3]", "[1,4]"), "hole"},
        Corruption{"bytes behind the last tensor", tensor_a(R"("U8")", "[4]", "[0,4]", "12345"), "end at 4 of the 5"},
        Corruption{"metadata is a list", safetensors(R"({"__metadata__":[]})", ""), "__metadata__ is not an object"},
        Corruption{"metadata value is a number", safetensors(R"({"__metadata__":{"a":1}})", ""), "not a string"},
        Corruption{"metadata twice", safetensors(R"({"__metadata__":{},"__metadata__":{}})", ""), "twice"},
        Corruption{"metadata key twice", safetensors(R"({"__metadata__":{"a":"","a":""}})", ""), "twice"},
        Corruption{"PyTorch zip", std::string("PK\x03\x04") + std::string(100, 'x'), "zip archive"},
        Corruption{"GGUF", std::string("GGUF") + std::string(100, 'x'), "GGUF"},
        Corruption{"web page", "<!DOCTYPE html><html></html>", "web page"}),
    [](const auto& test_case) { return std::to_string(test_case.index); });

TEST(Safetensors, MessagesEscapeHostileNames) {
  const Status status = parse(safetensors(R"({"\u001b[31m)" + std::string(1000, 'n') + R"(":1})", ""));
  EXPECT_THAT(status.message(), HasSubstr("\\x1b[31m"));
  EXPECT_LT(status.message().size(), 400U);
  EXPECT_EQ(status.message().find('\x1b'), std::string::npos);
}

TEST(Safetensors, EveryTruncationIsAnError) {
  const std::string bytes = small_file();
  ASSERT_TRUE(parse(bytes).ok());
  for (size_t length = 0; length < bytes.size(); ++length) {
    // A fresh copy each time, so that an out-of-bounds read is seen by a sanitizer.
    EXPECT_FALSE(parse(std::string(bytes.data(), length)).ok()) << length;
  }
}

/// Whatever a damaged header says, tensors lie in the file.
bool tensors_lie_in(const std::string& bytes) {
  const auto file = SafetensorsFile::parse(as_bytes(bytes), "x");
  return !file.ok() || std::ranges::all_of((*file)->tensors(), [&](const auto& tensor) {
    const auto& view = tensor.second;
    return view.bytes.data() >= as_bytes(bytes).data() &&
           view.bytes.data() + view.bytes.size() <= as_bytes(bytes).data() + bytes.size();
  });
}

TEST(Safetensors, SurvivesEveryByteFlip) {
  const std::string good = small_file();
  for (size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      EXPECT_TRUE(tensors_lie_in(bytes)) << "byte " << i << ", bit " << bit;
    }
  }
}

RC_GTEST_PROP(Safetensors, SurvivesRandomDamage, ()) {
  std::string bytes = small_file();
  const auto edits = *rc::gen::inRange(1, 6);
  for (int i = 0; i < edits; ++i) {
    const auto at = *rc::gen::inRange<size_t>(0, bytes.size());
    bytes[at] = *rc::gen::element('{', '}', '[', ']', '"', ',', ':', '-', '9', '0', ' ', '\\', 'e', '\xff', '\0');
  }
  RC_ASSERT(tensors_lie_in(bytes));
}

TEST(SafetensorsOpen, ReadsFromTheFile) {
  const test::TempDirectory directory;
  const std::string data(3 * 65536 + 17, 'd');
  const auto path =
      directory.write("m.safetensors", safetensors({{"a", "U8", {1, static_cast<int64_t>(data.size())}, data}}));
  const auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto bytes = (*file)->tensors().at("a").bytes;
  EXPECT_TRUE((*file)->contains(bytes));
  std::vector<std::byte> copy(bytes.size());
  EXPECT_FALSE((*file)->contains(copy));
  ASSERT_TRUE((*file)->file().read(bytes, copy.data()).ok());
  EXPECT_EQ(copy, std::vector<std::byte>(bytes.size(), std::byte{'d'}));
  EXPECT_TRUE((*file)->file().check_unchanged().ok());
}

TEST(SafetensorsOpen, AFileThatChangesIsNoticed) {
  const test::TempDirectory directory;
  const auto path = directory.write("m.safetensors", safetensors({{"a", "U8", {5000}, std::string(5000, 'd')}}));
  const auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto bytes = (*file)->tensors().at("a").bytes;
  std::vector<std::byte> copy(bytes.size());
  // Another file under its name is no change of this one.
  std::filesystem::rename(path, directory / "moved");
  directory.write("m.safetensors", "something else");
  EXPECT_TRUE((*file)->file().read(bytes, copy.data()).ok());
  EXPECT_TRUE((*file)->file().check_unchanged().ok());
  // Written over, with the same size.
  const auto before = std::filesystem::last_write_time(directory / "moved");
  std::filesystem::last_write_time(directory / "moved", before + std::chrono::milliseconds(10));
  const Status written = (*file)->file().check_unchanged();
  EXPECT_EQ(written.code(), StatusCode::unavailable);
  EXPECT_THAT(written.message(), testing::HasSubstr("m.safetensors: has been written while it was read"));
  std::filesystem::last_write_time(directory / "moved", before);
  EXPECT_TRUE((*file)->file().check_unchanged().ok());
  // Cut short.
  std::filesystem::resize_file(directory / "moved", 4000);
  EXPECT_EQ((*file)->file().check_unchanged().code(), StatusCode::unavailable);
  EXPECT_THAT((*file)->file().read(bytes, copy.data()).message(),
              testing::HasSubstr("m.safetensors: cannot read 5000 bytes at"));
  EXPECT_TRUE((*file)->file().read(bytes.first(1000), copy.data()).ok());
}

TEST(SafetensorsOpen, APathThroughAFileIsNotThere) {
  const test::TempDirectory directory;
  const auto file = directory.write("m.safetensors", "x");
  EXPECT_EQ(SafetensorsFile::open(file / "m.safetensors").status().code(), StatusCode::not_found);
}

TEST(SafetensorsOpen, NamesWhatIsWrongWithTheFile) {
  const test::TempDirectory directory;
  const auto message = [&](const std::string& file) {
    return SafetensorsFile::open(directory / file).status().message();
  };
  EXPECT_THAT(message("missing"), HasSubstr("No such file"));
  EXPECT_EQ(SafetensorsFile::open(directory / "missing").status().code(), StatusCode::not_found);

  directory.write("empty", "");
  EXPECT_THAT(message("empty"), HasSubstr("is empty"));

  std::filesystem::create_directory(directory / "folder");
  EXPECT_THAT(message("folder"), HasSubstr("is a directory"));

  ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(message("fifo"), HasSubstr("not a regular file"));

  directory.write("pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 4999\n");
  EXPECT_THAT(message("pointer"), HasSubstr("git lfs pull"));

  std::filesystem::create_symlink("../../blobs/0123", directory / "dangling");
  EXPECT_THAT(message("dangling"), HasSubstr("dangles"));
  EXPECT_THAT(message("dangling"), HasSubstr("download the model again"));
  EXPECT_EQ(SafetensorsFile::open(directory / "dangling").status().code(), StatusCode::not_found);
}

}  // namespace
}  // namespace tessera::format
