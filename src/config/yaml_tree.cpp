#include "config/yaml_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "parley/core/error.hpp"

namespace parley::config {
namespace {

constexpr std::size_t kMaxDepth = 64;

[[noreturn]] void complain(const std::string& name, int line, const std::string& message) {
  throw Failure(Error(Errc::configuration, name + ":" + std::to_string(line) + ": " + message));
}

/// The length of the UTF-8 sequence at the front of `text` (RFC 3629), or 0.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const auto first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) > 0x9f;
  const bool beyond = first == 0xf4 && byte(1) > 0x8f;
  return overlong || surrogate || beyond ? 0 : length;
}

// yaml-cpp takes some control characters for the end of the file, and lets invalid UTF-8 pass.
void check_characters(std::string_view text, const std::string& name) {
  int line = 1;
  while (!text.empty()) {
    const auto length = utf8_length(text);
    if (length == 0) complain(name, line, "the file is not UTF-8 text; expected YAML in UTF-8");
    const auto first = static_cast<std::uint8_t>(text.front());
    if (first == '\n') ++line;
    if (first < 0x20 && first != '\n' && first != '\r' && first != '\t') {
      complain(name, line, "there is a control character here; expected YAML text");
    }
    text.remove_prefix(length);
  }
}

class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(const std::string& name) : name_(name) {}

  std::shared_ptr<const Tree> take_root() { return std::exchange(root_, nullptr); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) complain(name_, line_of(mark), "a second document begins here; expected only one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!awaits_value())
      complain(name_, line_of(mark), "a key is missing here; expected text before the colon");
    add(mark, anchor, std::make_shared<Tree>());
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!awaits_value()) complain(name_, line_of(mark), "an alias cannot be a key; expected text");
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end())
      complain(name_, line_of(mark), "this alias refers to what it is itself a part of");
    add(mark, YAML::NullAnchor, found->second);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!awaits_value()) {
      set_key(mark, value);
      return;
    }
    auto scalar = std::make_shared<Tree>();
    scalar->kind = Tree::Kind::scalar;
    scalar->plain = tag == "?";
    scalar->text = value;
    add(mark, anchor, std::move(scalar));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, anchor, Tree::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, anchor, Tree::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    std::shared_ptr<Tree> tree;
    YAML::Mark mark;
    YAML::anchor_t anchor;
    std::optional<Tree::Item> key;  // of a map: the entry that waits for its value
  };

  static int line_of(const YAML::Mark& mark) { return mark.line + 1; }

  bool awaits_value() const {
    return open_.empty() || open_.back().tree->kind != Tree::Kind::map || open_.back().key;
  }

  void set_key(const YAML::Mark& mark, const std::string& key) {
    const auto line = line_of(mark);
    for (const auto& item : open_.back().tree->items) {
      if (item.key == key) {
        complain(name_, line,
                 "the key \"" + key + "\" is already there in line " + std::to_string(item.line) +
                     "; expected each key once");
      }
    }
    open_.back().key = Tree::Item{.key = key, .line = line, .value = nullptr};
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Tree::Kind kind) {
    if (!awaits_value()) complain(name_, line_of(mark), "a map or a list cannot be a key; expected text");
    if (open_.size() >= kMaxDepth) {
      complain(name_, line_of(mark),
               "nested too deeply; expected at most " + std::to_string(kMaxDepth) + " levels");
    }
    auto tree = std::make_shared<Tree>();
    tree->kind = kind;
    open_.push_back({.tree = std::move(tree), .mark = mark, .anchor = anchor, .key = std::nullopt});
  }

  void close() {
    auto done = std::move(open_.back());
    open_.pop_back();
    add(done.mark, done.anchor, std::move(done.tree));
  }

  void add(const YAML::Mark& mark, YAML::anchor_t anchor, std::shared_ptr<const Tree> value) {
    if (anchor != YAML::NullAnchor) anchors_[anchor] = value;
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    auto& parent = open_.back();
    Tree::Item item{.key = {}, .line = line_of(mark), .value = nullptr};
    if (parent.key) {
      item = std::move(*parent.key);
      parent.key.reset();
    }
    item.value = std::move(value);
    parent.tree->items.push_back(std::move(item));
  }

  const std::string& name_;
  int documents_ = 0;
  std::shared_ptr<const Tree> root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, std::shared_ptr<const Tree>> anchors_;
};

}  // namespace

std::shared_ptr<const Tree> parse_yaml(std::string_view text, const std::string& name) {
  check_characters(text, name);
  // yaml-cpp takes a quote that is never closed for closed when the file ends with a line's end; so it never
  // does.
  std::istringstream stream(std::string(text) + "\n#");
  Builder builder(name);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    complain(name, std::max(error.mark.line, 0) + 1, "this is not valid YAML: " + error.msg);
  }
  auto root = builder.take_root();
  if (!root || root->kind == Tree::Kind::null) {
    complain(name, 1, "there is nothing in this file; expected a map of settings");
  }
  return root;
}

}  // namespace parley::config
