#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/core/error.hpp"

namespace YAML {
class Node;
}

namespace parley::config {

/// A place in a YAML document, read strictly: every key that is read becomes a known key, and finish()
/// refuses the others. Every complaint is a Failure(Errc::configuration) whose message starts with
/// `FILE:LINE: PATH: ` and ends with what was expected (and the nearest known key).
/// `${NAME}` and `${NAME:-default}` are replaced in every scalar, from the environment, at reading.
/// `$${` stands for a literal `${`. An unset name without a default is a complaint.
/// Copies share the record of known keys.
class Node {
 public:
  /// Reads and parses a whole file; the root must be a map.
  static Node load(const std::filesystem::path& file);
  /// The same from text; `name` stands for the file in messages.
  static Node parse(std::string_view text, std::string name);

  Node(const Node&);
  Node(Node&&) noexcept;
  Node& operator=(const Node&);
  Node& operator=(Node&&) noexcept;
  ~Node();

  // --- maps: reading a key marks it as known -----------------------------------------------------
  bool has(std::string_view key) const;
  bool get(std::string_view key, bool fallback) const;
  std::int64_t get(std::string_view key, std::int64_t fallback, std::int64_t min, std::int64_t max) const;
  double get(std::string_view key, double fallback, double min, double max) const;
  std::string get(std::string_view key, std::string_view fallback) const;
  /// One of `allowed`, exactly.
  std::string get_choice(std::string_view key, std::string_view fallback,
                         std::initializer_list<std::string_view> allowed) const;
  /// `250ms`, `1.5s`, `2m`, `1h`, `7d`; a number alone is refused (its unit is not said).
  Millis get(std::string_view key, Millis fallback, Millis min, Millis max) const;
  /// Bytes: `64KB`, `4MB`, `512B`, or a plain number of bytes (K = 1024).
  std::size_t get_bytes(std::string_view key, std::size_t fallback, std::size_t min, std::size_t max) const;
  /// A sequence of strings, or one string alone.
  std::vector<std::string> get_strings(std::string_view key, std::vector<std::string> fallback) const;
  /// The text of a key that must be there and not empty.
  std::string require(std::string_view key) const;

  /// The value of a key, when it is there (and not null).
  std::optional<Node> child(std::string_view key) const;
  /// The elements of a sequence; none when the key is absent. Not a sequence: a complaint.
  std::vector<Node> items(std::string_view key) const;
  /// The entries of this map, in the file's order; all become known.
  std::vector<std::pair<std::string, Node>> entries() const;

  // --- this place itself ---------------------------------------------------------------------------
  bool is_scalar() const;
  bool is_map() const;
  bool is_sequence() const;
  /// The scalar's text after replacement.
  std::string text() const;
  /// The elements of this sequence.
  std::vector<Node> elements() const;
  /// Everything below as JSON (plain scalars become numbers, booleans and null as YAML 1.2 has them, quoted
  /// ones stay strings; replacement applies). For blocks that are passed on as they are.
  nlohmann::json json() const;

  /// Complains about every key of this map that nobody read, with the nearest known one. Recurses into the
  /// children that were read.
  void finish() const;
  /// Throws the complaint about this place.
  [[noreturn]] void fail(std::string_view message) const;
  /// The same about one key of this map (its line, where it is there).
  [[noreturn]] void fail(std::string_view key, std::string_view message) const;

  /// `engines.sphinx.threshold`
  const std::string& path() const;
  int line() const;
  /// The directory of the file, to which relative file names in it refer.
  std::filesystem::path directory() const;

 private:
  struct Impl;
  explicit Node(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

/// The candidate closest to `word` (edit distance at most a third of its length), or empty.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace parley::config
