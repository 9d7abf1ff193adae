#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "cli/process.h"

namespace tessera::cli {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << text;
}

/// A tiny random model, made by `tessera synth` for each test, in a directory that goes away with it.
class ModelDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(::testing::TempDir()) / ("tessera_cli_" + std::to_string(::getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    const Finished made = run_tessera({"synth", model(), "--seed", "7"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (directory_ / name).string(); }
  [[nodiscard]] std::string model() const { return path("model"); }
  [[nodiscard]] std::string model_file(const std::string& name) const { return path("model/" + name); }

 private:
  std::filesystem::path directory_;
};

}  // namespace tessera::cli
