#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "format/checkpoint.h"
#include "format/mapped_file.h"
#include "format/printable.h"

// The Hugging Face cache: <hub>/models--OWNER--NAME/refs/REVISION holds a commit id, and snapshots/COMMIT the files,
// as links into blobs/.
namespace tessera::format {
namespace {

namespace fs = std::filesystem;

/// The small model that comes with the program, by the name that users give it.
constexpr const char* kBundledModel = "demo";

const char* environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

/// Empty if there is no home directory either.
fs::path hub_directory() {
  if (const char* hub = environment("HF_HUB_CACHE")) return hub;
  if (const char* home = environment("HF_HOME")) return fs::path(home) / "hub";
  if (const char* cache = environment("XDG_CACHE_HOME")) return fs::path(cache) / "huggingface" / "hub";
  if (const char* home = environment("HOME")) return fs::path(home) / ".cache" / "huggingface" / "hub";
  return {};
}

struct CacheName {
  std::string repository;  // "owner/name", or "name" for the few repositories without an owner
  std::string revision = "main";
};

bool is_plain(std::string_view text) {
  return !text.empty() && !text.starts_with('.') && !text.starts_with('-') &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
                  c == '.';
         });
}

bool is_plain_path(std::string_view text) {
  for (;;) {
    const size_t slash = text.find('/');
    if (!is_plain(text.substr(0, slash))) return false;
    if (slash == text.npos) return true;
    text.remove_prefix(slash + 1);
  }
}

/// nullopt if `name` cannot be the name of a repository.
std::optional<CacheName> parse_cache_name(const std::string& name) {
  CacheName parsed;
  const size_t at = name.find('@');
  parsed.repository = name.substr(0, at);
  if (at != name.npos) parsed.revision = name.substr(at + 1);
  const bool at_most_one_slash = std::count(parsed.repository.begin(), parsed.repository.end(), '/') <= 1;
  if (!at_most_one_slash || !is_plain_path(parsed.repository) || !is_plain_path(parsed.revision)) return {};
  return parsed;
}

std::string directory_of(std::string repository) {
  if (const size_t slash = repository.find('/'); slash != repository.npos) repository.replace(slash, 1, "--");
  return "models--" + repository;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// The models in the cache, the nearest to `wanted` first, at most 5; as a sentence for an error.
std::string nearest_models(const fs::path& hub, const std::string& wanted) {
  std::vector<std::pair<size_t, std::string>> found;
  std::error_code failed;
  for (fs::directory_iterator entry(hub, failed), end; !failed && entry != end; entry.increment(failed)) {
    std::string name = entry->path().filename().string();
    if (!name.starts_with("models--") || name.size() > 300) continue;
    name.erase(0, 8);
    if (const size_t dashes = name.find("--"); dashes != name.npos) name.replace(dashes, 2, "/");
    found.emplace_back(edit_distance(name, wanted.substr(0, 300)), printable(name));
  }
  if (found.empty()) return "the cache holds no models";
  std::sort(found.begin(), found.end());
  std::string list = "the cache holds ";
  for (size_t i = 0; i < found.size() && i < 5; ++i) list += (i == 0 ? "" : ", ") + found[i].second;
  return found.size() > 5 ? fmt::format("{} and {} more", list, found.size() - 5) : list;
}

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end; entry.increment(failed)) {
    if (names.size() < 5) names.push_back(printable(entry->path().filename().string()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Expected<fs::path> check_model_directory(const fs::path& directory) {
  const fs::path config = directory / "config.json";
  std::error_code failed;
  if (fs::exists(config, failed)) return directory;
  if (failed) {
    return error(StatusCode::not_found, "{}: cannot be read: {}", printable(directory.string()), failed.message());
  }
  if (fs::is_symlink(config, failed)) return MappedFile::open(config).status();
  const std::vector<std::string> names = names_in(directory);
  return error(StatusCode::not_found, "{}: has no config.json, so it is not a model directory; it holds {}",
               printable(directory.string()), names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", ")));
}

Expected<fs::path> find_snapshot(const fs::path& repository, const CacheName& name) {
  std::error_code ignored;
  std::string commit = name.revision;
  const fs::path ref = repository / "refs" / name.revision;
  if (fs::is_regular_file(ref, ignored)) {
    TESSERA_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(ref));
    const auto text = file.bytes().first(std::min<size_t>(file.bytes().size(), 100));
    commit.assign(text.size(), '\0');
    TESSERA_RETURN_IF_ERROR(file.read(text, reinterpret_cast<std::byte*>(commit.data())));
    commit.erase(commit.find_last_not_of(" \r\n") + 1);
    if (!is_plain(commit)) {
      return error(StatusCode::corrupt_data, "{}: '{}' is not a commit id; download the model again",
                   printable(ref.string()), printable(commit));
    }
  }
  const fs::path snapshot = repository / "snapshots" / commit;
  if (is_plain(commit) && fs::is_directory(snapshot, ignored)) return check_model_directory(snapshot);
  return error(StatusCode::not_found,
               "{} is in the cache, but not its revision '{}': looked for {} and {}; snapshots there: {}. Download it, "
               "or name a snapshot: {}@COMMIT",
               name.repository, name.revision, printable(ref.string()), printable(snapshot.string()),
               fmt::join(names_in(repository / "snapshots"), ", "), name.repository);
}

fs::path bundled_model() {
  // Beside the program as it is installed, wherever that is: bin/tessera, share/tessera/models/demo.
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return failed ? fs::path() : program.parent_path().parent_path() / "share" / "tessera" / "models" / kBundledModel;
}

}  // namespace

Expected<fs::path> find_model(const std::string& name) {
  std::error_code ignored;
  if (name.empty()) return Status(StatusCode::invalid_argument, "the model's name is empty");
  if (fs::is_directory(name, ignored)) return check_model_directory(name);
  if (fs::exists(name, ignored)) {
    return error(StatusCode::invalid_argument, "{}: is a file; name the directory that holds config.json",
                 printable(name));
  }
  if (name == kBundledModel && fs::is_directory(bundled_model(), ignored)) {
    return check_model_directory(bundled_model());
  }
  const std::optional<CacheName> cache_name = parse_cache_name(name);
  if (!cache_name) {
    return error(StatusCode::not_found,
                 "'{}': no such directory, and not a name of the form owner/name or owner/name@revision",
                 printable(name));
  }
  const fs::path hub = hub_directory();
  if (hub.empty()) {
    return error(StatusCode::not_found,
                 "'{}': no such directory, and no Hugging Face cache to look in: set HF_HUB_CACHE, HF_HOME or HOME",
                 printable(name));
  }
  const fs::path repository = hub / directory_of(cache_name->repository);
  if (fs::is_directory(repository, ignored)) return find_snapshot(repository, *cache_name);
  return error(StatusCode::not_found,
               "'{}': no such directory, and not in the Hugging Face cache: looked for {}; {}. Tessera downloads "
               "nothing: fetch the model first, for example with `hf download {}`",
               printable(name), printable(repository.string()), nearest_models(hub, cache_name->repository),
               cache_name->repository);
}

}  // namespace tessera::format
