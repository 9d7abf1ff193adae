#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/read_input.h"
#include "cli/token_ids.h"
#include "format/checkpoint.h"
#include "text/tokenizer.h"

namespace tessera::cli {
namespace {

struct TokenizeOptions {
  std::string model;
  std::vector<std::string> text;  // words, joined by spaces
  bool pieces = false;
  bool decode = false;
  bool skip_special = false;
  bool no_special = false;
};

/// MODEL may also be a tokenizer.json itself.
Expected<text::Tokenizer> open_tokenizer(const std::string& model) {
  std::error_code failure;
  if (std::filesystem::is_regular_file(model, failure)) return text::Tokenizer::load(model);
  TESSERA_ASSIGN_OR_RETURN(const auto directory, format::find_model(model));
  return text::Tokenizer::load(directory / "tokenizer.json");
}

/// Text for a terminal is made harmless; elsewhere every byte counts.
std::string harmless_in_terminal(std::string_view text) {
  return is_terminal(Stream::out) ? without_controls(text) + "\n" : std::string(text);
}

/// One line: the id, and the token's bytes with white space and control characters written as escapes.
std::string piece_line(int32_t id, std::string_view bytes) {
  std::string line = fmt::format("{}\t", id);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\\') {
      line += "\\\\";
    } else if (byte < 0x20 || byte >= 0x7F) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line + "\n";
}

Status tokenize(const TokenizeOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(const text::Tokenizer tokenizer, open_tokenizer(options.model));
  const std::string words = fmt::format("{}", fmt::join(options.text, " "));
  TESSERA_ASSIGN_OR_RETURN(const std::string given,
                           options.text.empty() || words == "-" ? read_input("-") : Expected<std::string>(words));
  std::vector<int32_t> ids;
  if (options.decode) {
    TESSERA_ASSIGN_OR_RETURN(ids, parse_token_ids(given));
    for (size_t i = 0; i < ids.size(); ++i) {
      if (!tokenizer.token_bytes(ids[i]).empty()) continue;
      return error(StatusCode::invalid_argument,
                   "token {} is {}, which this tokenizer does not know; its ids end at {}", i, ids[i],
                   tokenizer.vocab_size() - 1);
    }
  } else {
    TESSERA_ASSIGN_OR_RETURN(ids, tokenizer.encode(given, !options.no_special));
  }
  if (options.pieces) {
    std::string lines;
    for (const int32_t id : ids) lines += piece_line(id, tokenizer.token_bytes(id));
    write_out(lines);
  } else if (options.decode) {
    write_out(harmless_in_terminal(tokenizer.decode(ids, options.skip_special)));
  } else {
    write_out(fmt::format("[{}]\n", fmt::join(ids, ", ")));
  }
  return {};
}

}  // namespace

void add_tokenize(CLI::App& app, Action& action) {
  auto options = std::make_shared<TokenizeOptions>();
  CLI::App* command = app.add_subcommand("tokenize", "Turn text into token ids, or token ids into text");
  command->add_option("MODEL", options->model, "A model, or a tokenizer.json")->required();
  command->add_option("TEXT", options->text,
                      "Text, or ids with --decode; without it, or with -, standard input is read");
  command->add_flag("-d,--decode", options->decode, "TEXT holds ids (a JSON array, or numbers): print their text");
  command->add_flag("--pieces", options->pieces, "One line for each token: its id and its bytes");
  command->add_flag("--no-special", options->no_special, "Special tokens in TEXT are ordinary text");
  command->add_flag("--skip-special-tokens", options->skip_special, "Leave special tokens out of decoded text");
  command->footer(
      "Examples:\n"
      "  tessera tokenize MODEL \"To be, or not to be\"\n"
      "  tessera tokenize MODEL --decode \"[9707, 11, 1879]\"\n"
      "  tessera tokenize MODEL < book.txt | tessera tokenize MODEL --decode | cmp - book.txt");
  command->callback([options, &action] { action = [options] { return tokenize(*options); }; });
}

}  // namespace tessera::cli
