#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/model_directory.h"
#include "cli/process.h"

namespace tessera::cli {
namespace {

using Json = nlohmann::json;

const std::string kTrees = TESSERA_SOURCE_DIR "/tests/doctor/trees/";

class Doctor : public ModelDirectoryTest {};

Json finding(const Json& report, const std::string& check) {
  for (const Json& found : report["findings"]) {
    if (found["check"] == check) return found;
  }
  return {};
}

TEST_F(Doctor, ThisMachineAndAModel) {
  const Finished run = run_tessera({"doctor", model(), "--json", "--port", "0"});
  const Json report = Json::parse(run.out, nullptr, false);
  ASSERT_TRUE(report.is_object()) << run.out << run.err;
  EXPECT_EQ(run.exit_code, report["level"] == "fail" ? 1 : 0);
  EXPECT_EQ(finding(report, "model-files")["level"], "ok");
  EXPECT_EQ(finding(report, "model-fit")["level"], "ok") << finding(report, "model-fit");
  EXPECT_FALSE(finding(report, "memory").is_null());
  EXPECT_TRUE(finding(report, "port").is_null());
}

TEST_F(Doctor, AModelThatIsCutShortFails) {
  std::filesystem::resize_file(model_file("model.safetensors"), 1000);
  const Finished run = run_tessera({"doctor", model(), "--no-measure"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.out.find("FAIL  model-files"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("hf download"), std::string::npos);
  EXPECT_NE(run.err.find("1 of "), std::string::npos) << run.err;
}

TEST_F(Doctor, AModelThatIsNowhereFails) {
  const Finished run = run_tessera({"doctor", path("none"), "--no-measure", "--json"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(finding(Json::parse(run.out), "model-files")["level"], "fail");
}

TEST_F(Doctor, ARecordedMachineWithAModel) {
  const Finished run = run_tessera({"doctor", model(), "--root", kTrees + "rtx-pro-6000-x4", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json report = Json::parse(run.out);
  EXPECT_EQ(report["level"], "warn");
  EXPECT_EQ(finding(report, "acs")["level"], "warn");
  EXPECT_NE(finding(report, "acs")["mend"].get<std::string>().find("setpci"), std::string::npos);
  EXPECT_EQ(finding(report, "model-fit")["level"], "ok");
  EXPECT_NE(finding(report, "expected-speed")["found"].get<std::string>().find("on cuda:0 at 1.61 TB/s, measured"),
            std::string::npos);
  EXPECT_TRUE(finding(report, "port").is_null());  // of this machine
  std::map<std::string, int> counts;
  for (const Json& found : report["findings"]) {
    ++counts[found["level"]];
    EXPECT_FALSE(found["why"].get<std::string>().empty()) << found;
  }
  const std::string text = run_tessera({"doctor", model(), "--root", kTrees + "rtx-pro-6000-x4"}).out;
  EXPECT_NE(text.find("\n" + std::to_string(counts["ok"]) + " ok, " + std::to_string(counts["warn"]) + " to look at, " +
                      std::to_string(counts["fail"]) + " to mend; "),
            std::string::npos)
      << text;
}

TEST_F(Doctor, ItsRecordIsReadBack) {
  const Finished recorded = run_tessera({"doctor", "--no-measure", "--record", path("machine"), "--json"});
  EXPECT_NE(recorded.err.find("recorded in"), std::string::npos) << recorded.err;
  const Finished read = run_tessera({"doctor", "--root", path("machine"), "--json"});
  const Json before = Json::parse(recorded.out), after = Json::parse(read.out);
  EXPECT_EQ(finding(after, "cpu-cores"), finding(before, "cpu-cores"));
  EXPECT_EQ(finding(after, "gpu-driver"), finding(before, "gpu-driver"));
  const Finished again = run_tessera({"doctor", "--no-measure", "--record", path("machine")});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.err.find("not empty"), std::string::npos) << again.err;
  const Finished nowhere = run_tessera({"doctor", "--no-measure", "--record", model_file("config.json") + "/machine"});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_NE(nowhere.err.find("the record is not complete: cannot write "), std::string::npos) << nowhere.err;
  EXPECT_EQ(nowhere.err.find("recorded in"), std::string::npos) << nowhere.err;
}

TEST_F(Doctor, WrongDirectories) {
  const Finished none = run_tessera({"doctor", "--root", path("none")});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("--record"), std::string::npos) << none.err;
  EXPECT_EQ(run_tessera({"doctor", "--root", kTrees + "laptop", "--record", path("x")}).exit_code, 2);
}

}  // namespace
}  // namespace tessera::cli
