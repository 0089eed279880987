#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "parley/core/clock.hpp"
#include "parley/core/error.hpp"

namespace parley::config {

/// A place in a YAML document, read strictly: every key that is read becomes a known key, and finish()
/// refuses the others. Every complaint is a Failure(Errc::configuration) whose message starts with
/// `FILE:LINE: PATH: ` and ends with what was expected (and the nearest known key).
/// `${NAME}` and `${NAME:-default}` are replaced in every scalar, from the environment, at reading.
/// `$${` stands for a literal `${`. An unset name without a default is a complaint.
/// A key whose value is null (nothing after the colon, or `~`) counts as absent.
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
  /// A whole number of the fallback's type.
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  T get(std::string_view key, T fallback, std::type_identity_t<T> min, std::type_identity_t<T> max) const {
    constexpr auto clamped = [](T value) {
      constexpr auto top = std::numeric_limits<std::int64_t>::max();
      return std::cmp_greater(value, top) ? top : static_cast<std::int64_t>(value);
    };
    return static_cast<T>(get_integer(key, clamped(fallback), clamped(min), clamped(max)));
  }
  double get(std::string_view key, double fallback, double min, double max) const;
  std::string get(std::string_view key, std::string_view fallback) const;
  /// Without this one, a literal would become a bool.
  std::string get(std::string_view key, const char* fallback) const {
    return get(key, std::string_view(fallback));
  }
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
  /// Whether the scalar, as it is written, holds `${…}`.
  bool has_variables() const;
  /// The elements of this sequence.
  std::vector<Node> elements() const;
  /// Everything below as JSON (plain scalars become numbers, booleans and null as YAML 1.2 has them, quoted
  /// ones stay strings; replacement applies). For blocks that are passed on as they are.
  nlohmann::json json() const;

  /// Complains about every key of this map that nobody read, with the nearest known one. Recurses into the
  /// children that were read.
  void finish() const;
  /// Leaves this place out of the finish() of those above it; whoever reads it later finishes it.
  void defer() const;
  /// The paths of the keys that were asked for, here and below, and that the document does not have.
  std::vector<std::string> absent_keys() const;
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
  explicit Node(std::shared_ptr<Impl> impl);
  std::int64_t get_integer(std::string_view key, std::int64_t fallback, std::int64_t min,
                           std::int64_t max) const;
  std::shared_ptr<Impl> impl_;
};

/// The candidate closest to `word` (edit distance at most a third of its length), or empty.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace parley::config
