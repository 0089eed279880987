#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace parley::config {

/// A YAML document as it is written: aliases resolved, keys in the file's order, lines counted from 1.
struct Tree {
  enum class Kind { null, scalar, sequence, map };
  struct Item {
    std::string key;  ///< of a map's entry
    int line = 0;     ///< of the key, or of the element
    std::shared_ptr<const Tree> value;
  };

  Kind kind = Kind::null;
  bool plain = false;  ///< a scalar without quotes
  std::string text;    ///< of a scalar, before replacement
  std::vector<Item> items;
};

/// Throws Failure(Errc::configuration) that starts with `NAME:LINE: `: not UTF-8, control characters, broken
/// YAML, nothing in it, more than one document, duplicate keys, keys that are not text, nesting over 64
/// levels, an anchor that holds itself.
std::shared_ptr<const Tree> parse_yaml(std::string_view text, const std::string& name);

}  // namespace parley::config
