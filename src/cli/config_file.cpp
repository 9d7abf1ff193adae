#include "cli/config_file.h"

#include <yaml.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "base/read_file.h"
#include "cli/vllm_flags.h"

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kFileBytesMax = size_t{1} << 20;
constexpr int kNestingMax = 32;
constexpr size_t kValuesMax = 100'000;  // with what aliases repeat

struct DocumentDeleter {
  void operator()(yaml_document_t* document) const {
    yaml_document_delete(document);
    delete document;
  }
};
using Document = std::unique_ptr<yaml_document_t, DocumentDeleter>;

/// What a word without quotes is, as YAML 1.1 has it, which is what vllm's reader follows.
Json plain_value(const std::string& text) {
  static const std::set<std::string_view> kTrue = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"};
  static const std::set<std::string_view> kFalse = {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"};
  if (kTrue.contains(text)) return true;
  if (kFalse.contains(text)) return false;
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return nullptr;
  const Json number = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return number.is_number() ? number : Json(text);
}

/// One file's YAML as JSON.
class Reader {
 public:
  Reader(yaml_document_t* document, const std::string& file) : document_(document), file_(file) {}

  Expected<Json> read(yaml_node_t* node, int depth = 0) {
    if (depth > kNestingMax || ++values_ > kValuesMax) {
      return error(StatusCode::invalid_argument, "{}: line {}: it is nested more than {} deep, or too long", file_,
                   node->start_mark.line + 1, kNestingMax);
    }
    if (node->type == YAML_SCALAR_NODE) {
      const std::string text(reinterpret_cast<const char*>(node->data.scalar.value), node->data.scalar.length);
      return node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? plain_value(text) : Json(text);
    }
    if (node->type == YAML_SEQUENCE_NODE) {
      Json list = Json::array();
      for (auto* item = node->data.sequence.items.start; item != node->data.sequence.items.top; ++item) {
        TESSERA_ASSIGN_OR_RETURN(Json value, read(yaml_document_get_node(document_, *item), depth + 1));
        list.push_back(std::move(value));
      }
      return list;
    }
    Json object = Json::object();
    for (auto* pair = node->data.mapping.pairs.start; pair != node->data.mapping.pairs.top; ++pair) {
      const yaml_node_t* key = yaml_document_get_node(document_, pair->key);
      const std::string line = std::to_string(key->start_mark.line + 1);
      if (key->type != YAML_SCALAR_NODE) {
        return error(StatusCode::invalid_argument, "{}: line {}: a key is not a word", file_, line);
      }
      const std::string name(reinterpret_cast<const char*>(key->data.scalar.value), key->data.scalar.length);
      if (object.contains(name)) {
        return error(StatusCode::invalid_argument, "{}: line {}: {} is there twice", file_, line, name);
      }
      TESSERA_ASSIGN_OR_RETURN(object[name], read(yaml_document_get_node(document_, pair->value), depth + 1));
    }
    return object;
  }

 private:
  yaml_document_t* document_;
  const std::string& file_;
  size_t values_ = 0;
};

Expected<Json> read_yaml(const std::string& file) {
  TESSERA_ASSIGN_OR_RETURN(const std::string text, read_regular_file(file, kFileBytesMax));
  yaml_parser_t parser;
  if (yaml_parser_initialize(&parser) == 0) throw std::bad_alloc();
  const std::unique_ptr<yaml_parser_t, decltype(&yaml_parser_delete)> end(&parser, yaml_parser_delete);
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  auto raw = std::make_unique<yaml_document_t>();
  if (yaml_parser_load(&parser, raw.get()) == 0) {
    return error(StatusCode::invalid_argument, "{}: line {}: it is not YAML: {}", file, parser.problem_mark.line + 1,
                 parser.problem == nullptr ? "it cannot be read" : parser.problem);
  }
  const Document document(raw.release());
  yaml_node_t* root = yaml_document_get_root_node(document.get());
  if (root == nullptr) return Json::object();  // nothing but comments
  TESSERA_ASSIGN_OR_RETURN(Json all, Reader(document.get(), file).read(root));
  if (!all.is_object()) {
    return error(StatusCode::invalid_argument, "{}: expected lines \"flag: value\", such as \"port: 8000\"", file);
  }
  return all;
}

std::string word_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// The arguments that one key stands for.
std::vector<std::string> arguments_of(const CLI::App& command, const std::string& flag, const Json& value) {
  if (value.is_null()) return {};
  if (value.is_boolean()) {
    const std::string off = "--no-" + flag.substr(2);
    if (value.get<bool>()) return {flag};
    return command.get_option_no_throw(off) != nullptr ? std::vector{off} : std::vector<std::string>();
  }
  std::vector<std::string> words = {flag};
  if (value.is_array()) {
    for (const Json& one : value) words.push_back(word_of(one));
  } else {
    words.push_back(word_of(value));
  }
  return words;
}

/// Takes "--config FILE" or "--config=FILE" out of `args`; empty if it is not there.
std::string take_config(std::vector<std::string>& args) {
  for (size_t i = 1; i < args.size() && args[i] != "--"; ++i) {
    const bool joined = args[i].starts_with("--config=");
    if (!joined && (args[i] != "--config" || i + 1 == args.size())) continue;
    std::string file = joined ? args[i].substr(args[i].find('=') + 1) : args[i + 1];
    args.erase(args.begin() + static_cast<ptrdiff_t>(i), args.begin() + static_cast<ptrdiff_t>(i + (joined ? 1 : 2)));
    return file;
  }
  return {};
}

/// Whether there is a word that is no flag, and no flag's value: MODEL.
bool has_word(const CLI::App& command, const std::vector<std::string>& args) {
  for (size_t i = 1; i < args.size(); ++i) {
    if (args[i] == "--") return i + 1 < args.size();
    if (!args[i].starts_with("-")) return true;
    const CLI::Option* option = command.get_option_no_throw(args[i]);  // null with "=VALUE" behind it
    if (option == nullptr) continue;
    const auto least = static_cast<size_t>(option->get_items_expected_min());
    const bool many = option->get_items_expected_max() > option->get_items_expected_min();
    for (size_t n = 0; i + 1 < args.size() && (n < least || (many && !args[i + 1].starts_with("-"))); ++n) ++i;
  }
  return false;
}

}  // namespace

Expected<std::vector<std::string>> with_config_file(const CLI::App& command, std::vector<std::string> args) {
  const std::string file = take_config(args);
  if (file.empty()) return args;
  TESSERA_ASSIGN_OR_RETURN(const Json said, read_yaml(file));
  std::set<const CLI::Option*> given;
  for (size_t i = 1; i < args.size() && args[i] != "--"; ++i) {
    if (!args[i].starts_with("--")) continue;
    given.insert(command.get_option_no_throw(args[i].substr(0, args[i].find('='))));
  }
  const bool model_given = has_word(command, args);
  std::vector<std::string> from_file;
  for (const auto& [key, value] : said.items()) {
    const std::string flag = vllm_spelling("--" + key);
    const CLI::Option* option = command.get_option_no_throw(flag);
    if ((option != nullptr && given.contains(option)) || (flag == "--model" && model_given)) continue;
    const std::vector<std::string> words = arguments_of(command, flag, value);
    from_file.insert(from_file.end(), words.begin(), words.end());
  }
  // Behind the flags of the command line: a flag of several values does not take MODEL for one.
  args.insert(std::find(args.begin(), args.end(), "--"), from_file.begin(), from_file.end());
  return args;
}

}  // namespace tessera::cli
