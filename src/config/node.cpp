#include "parley/config/node.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "config/scalar.hpp"
#include "config/wording.hpp"
#include "config/yaml_tree.hpp"

namespace parley::config {
namespace {

constexpr std::size_t kMaxFile = std::size_t{1024} * 1024;
constexpr std::size_t kMaxJsonValues = 100'000;

struct Document {
  std::string name;
  std::filesystem::path directory;
};

std::string load_bytes(const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& why) -> void {
    throw Failure(Error(Errc::configuration, file.string() + ": " + why));
  };
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    refuse("there is no such file; expected a configuration in YAML");
  }
  if (status.type() == std::filesystem::file_type::directory) {
    refuse("this is a directory; expected a file of YAML");
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text(kMaxFile + 1, '\0');
  if (stream) stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.is_open() || stream.bad())
    refuse("the file cannot be read; expected one that this user may read");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kMaxFile) refuse("the file is too large; expected at most 1MB");
  return text;
}

}  // namespace

struct Node::Impl {
  std::shared_ptr<const Document> document;
  std::shared_ptr<const Tree> tree;
  std::string path;
  int line = 1;

  std::set<std::string, std::less<>> known;
  std::map<std::string, std::shared_ptr<Impl>, std::less<>> places;  // those handed out, by key or [index]
  bool all_known = false;
  bool deferred = false;

  std::string path_of(std::string_view key) const {
    if (path.empty() || key.starts_with('[')) return path + std::string(key);
    return path + "." + std::string(key);
  }

  [[noreturn]] void complain(int at, const std::string& where, std::string_view message) const {
    throw Failure(
        Error(Errc::configuration, printable(document->name + ":" + std::to_string(at) + ": " +
                                             (where.empty() ? "" : where + ": ") + std::string(message))));
  }
  [[noreturn]] void expect(std::string_view expected) const {
    complain(line, path, "this is " + shown() + "; expected " + std::string(expected));
  }

  std::string shown() const {
    switch (tree->kind) {
      case Tree::Kind::null:
        return "nothing";
      case Tree::Kind::scalar:
        return in_quotes(expanded());
      case Tree::Kind::sequence:
        return "a list";
      case Tree::Kind::map:
        return "a map";
    }
    return "something else";
  }

  std::string expanded() const {
    auto text = expand(tree->text);
    if (!text) complain(line, path, text.error().message);
    return std::move(*text);
  }

  const Tree::Item* entry(std::string_view key) const {
    if (tree->kind != Tree::Kind::map) expect("a map of settings");
    const auto found = std::ranges::find(tree->items, key, &Tree::Item::key);
    return found == tree->items.end() ? nullptr : &*found;
  }

  std::shared_ptr<Impl> place(const std::string& key, const Tree::Item& item) {
    auto& made = places[key];
    if (!made) {
      made = std::make_shared<Impl>();
      made->document = document;
      made->tree = item.value;
      made->path = path_of(key);
      made->line = item.line;
    }
    return made;
  }

  /// The value of a key, which becomes known; null when it is absent or null.
  std::shared_ptr<Impl> find(std::string_view key) {
    const auto* item = entry(key);
    known.emplace(key);
    if (item == nullptr || item->value->kind == Tree::Kind::null) return nullptr;
    return place(item->key, *item);
  }

  std::string scalar(std::string_view expected) const {
    if (tree->kind != Tree::Kind::scalar) expect(expected);
    return expanded();
  }

  std::vector<std::shared_ptr<Impl>> sequence() {
    if (tree->kind != Tree::Kind::sequence) expect("a list");
    std::vector<std::shared_ptr<Impl>> out;
    for (const auto& item : tree->items) out.push_back(place("[" + std::to_string(out.size()) + "]", item));
    return out;
  }

  nlohmann::json json(const Tree& from, std::size_t& values) const {
    if (++values > kMaxJsonValues) expect("at most 100000 values when aliases are written out");
    switch (from.kind) {
      case Tree::Kind::null:
        return nullptr;
      case Tree::Kind::scalar:
        return json_scalar(from);
      case Tree::Kind::sequence: {
        auto out = nlohmann::json::array();
        for (const auto& item : from.items) out.push_back(json(*item.value, values));
        return out;
      }
      case Tree::Kind::map: {
        auto out = nlohmann::json::object();
        for (const auto& item : from.items) out[item.key] = json(*item.value, values);
        return out;
      }
    }
    return nullptr;
  }

  nlohmann::json json_scalar(const Tree& from) const {
    auto text = expand(from.text);
    if (!text) complain(line, path, text.error().message);
    if (!from.plain) return *text;
    if (is_null(*text)) return nullptr;
    if (const auto value = parse_bool(*text)) return *value;
    if (const auto value = parse_integer(*text)) return *value;
    if (const auto value = parse_number(*text)) return *value;
    return *text;
  }

  void finish() const {
    if (all_known) return;
    std::string others;
    const Tree::Item* first = nullptr;
    for (const auto& item : tree->items) {
      if (tree->kind != Tree::Kind::map || known.contains(item.key)) continue;
      if (first == nullptr) {
        first = &item;
      } else {
        others += (others.empty() ? "" : ", ") + item.key + " (line " + std::to_string(item.line) + ")";
      }
    }
    if (first != nullptr) {
      const std::vector<std::string> candidates(known.begin(), known.end());
      const auto close = nearest(first->key, candidates);
      std::string message = "this key is not known here";
      if (!others.empty()) message += ", nor is " + others;
      if (!close.empty()) {
        message += "; did you mean " + close + "?";
      } else if (!candidates.empty()) {
        message += "; expected " + either(candidates);
      } else {
        message += "; expected nothing here";
      }
      complain(first->line, path_of(first->key), message);
    }
    for (const auto& [key, below] : places) {
      if (!below->deferred) below->finish();
    }
  }

  void collect_absent(std::vector<std::string>& out) const {
    if (tree->kind == Tree::Kind::map) {
      for (const auto& key : known) {
        if (entry(key) == nullptr) out.push_back(path_of(key));
      }
    }
    for (const auto& [key, below] : places) below->collect_absent(out);
  }
};

Node::Node(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {
}
Node::Node(const Node&) = default;
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(const Node&) = default;
Node& Node::operator=(Node&&) noexcept = default;
Node::~Node() = default;

Node Node::load(const std::filesystem::path& file) {
  return parse(load_bytes(file), file.string());
}

Node Node::parse(std::string_view text, std::string name) {
  auto impl = std::make_shared<Impl>();
  impl->tree = parse_yaml(text, name);
  auto directory = std::filesystem::path(name).parent_path();
  if (directory.empty()) directory = ".";
  impl->document =
      std::make_shared<Document>(Document{.name = std::move(name), .directory = std::move(directory)});
  if (impl->tree->kind != Tree::Kind::map) impl->expect("a map of settings");
  return Node(std::move(impl));
}

bool Node::has(std::string_view key) const {
  return impl_->find(key) != nullptr;
}

bool Node::get(std::string_view key, bool fallback) const {
  const auto place = impl_->find(key);
  if (!place) return fallback;
  constexpr std::string_view expected = "true or false";
  const auto value = parse_bool(place->scalar(expected));
  if (!value) place->expect(expected);
  return *value;
}

std::int64_t Node::get_integer(std::string_view key, std::int64_t fallback, std::int64_t min,
                               std::int64_t max) const {
  const auto place = impl_->find(key);
  if (!place) return fallback;
  const auto expected = "a whole number, " + range(std::to_string(min), std::to_string(max),
                                                   max >= std::numeric_limits<std::int32_t>::max());
  const auto value = parse_integer(place->scalar(expected));
  if (!value || *value < min || *value > max) place->expect(expected);
  return *value;
}

double Node::get(std::string_view key, double fallback, double min, double max) const {
  const auto place = impl_->find(key);
  if (!place) return fallback;
  const auto expected = "a number, " + range(format_number(min), format_number(max), max > 1e12);
  const auto value = parse_number(place->scalar(expected));
  if (!value || *value < min || *value > max) place->expect(expected);
  return *value;
}

std::string Node::get(std::string_view key, std::string_view fallback) const {
  const auto place = impl_->find(key);
  return place ? place->scalar("text") : std::string(fallback);
}

std::string Node::get_choice(std::string_view key, std::string_view fallback,
                             std::initializer_list<std::string_view> allowed) const {
  const auto place = impl_->find(key);
  if (!place) return std::string(fallback);
  const auto expected = either({allowed.begin(), allowed.end()});
  auto value = place->scalar(expected);
  if (std::ranges::find(allowed, value) == allowed.end()) place->expect(expected);
  return value;
}

Millis Node::get(std::string_view key, Millis fallback, Millis min, Millis max) const {
  const auto place = impl_->find(key);
  if (!place) return fallback;
  const auto expected = "a duration with its unit (ms, s, m, h or d), " +
                        range(format_duration(min), format_duration(max), max == Millis::max());
  const auto value = parse_duration(place->scalar(expected));
  if (!value || *value < min || *value > max) place->expect(expected);
  return *value;
}

std::size_t Node::get_bytes(std::string_view key, std::size_t fallback, std::size_t min,
                            std::size_t max) const {
  const auto place = impl_->find(key);
  if (!place) return fallback;
  const auto signed_of = [](std::size_t n) {
    return static_cast<std::int64_t>(
        std::min(n, static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())));
  };
  const auto expected =
      "a size such as 512B, 64KB or 4MB, " + range(format_bytes(signed_of(min)), format_bytes(signed_of(max)),
                                                   max == std::numeric_limits<std::size_t>::max());
  const auto value = parse_bytes(place->scalar(expected));
  if (!value || *value < signed_of(min) || *value > signed_of(max)) place->expect(expected);
  return static_cast<std::size_t>(*value);
}

std::vector<std::string> Node::get_strings(std::string_view key, std::vector<std::string> fallback) const {
  const auto place = impl_->find(key);
  if (!place) return fallback;
  if (place->tree->kind == Tree::Kind::scalar) return {place->expanded()};
  if (place->tree->kind == Tree::Kind::map) place->expect("text or a list of texts");
  std::vector<std::string> out;
  for (const auto& element : place->sequence()) out.push_back(element->scalar("text"));
  return out;
}

std::string Node::require(std::string_view key) const {
  const auto place = impl_->find(key);
  if (!place) fail(key, "this key is missing; expected text");
  auto value = place->scalar("text");
  if (value.empty()) place->expect("text that is not empty");
  return value;
}

std::optional<Node> Node::child(std::string_view key) const {
  auto place = impl_->find(key);
  if (!place) return std::nullopt;
  return Node(std::move(place));
}

std::vector<Node> Node::items(std::string_view key) const {
  const auto sequence = child(key);
  return sequence ? sequence->elements() : std::vector<Node>();
}

std::vector<std::pair<std::string, Node>> Node::entries() const {
  if (!is_map()) impl_->expect("a map");
  std::vector<std::pair<std::string, Node>> out;
  for (const auto& item : impl_->tree->items) {
    impl_->known.insert(item.key);
    out.emplace_back(item.key, Node(impl_->place(item.key, item)));
  }
  return out;
}

bool Node::is_scalar() const {
  return impl_->tree->kind == Tree::Kind::scalar;
}
bool Node::is_map() const {
  return impl_->tree->kind == Tree::Kind::map;
}
bool Node::is_sequence() const {
  return impl_->tree->kind == Tree::Kind::sequence;
}
std::string Node::text() const {
  return impl_->scalar("text");
}
bool Node::has_variables() const {
  return is_scalar() && impl_->tree->text.find("${") != std::string::npos;
}

std::vector<Node> Node::elements() const {
  std::vector<Node> out;
  for (auto& element : impl_->sequence()) out.push_back(Node(std::move(element)));
  return out;
}

nlohmann::json Node::json() const {
  std::size_t values = 0;
  impl_->all_known = true;
  return impl_->json(*impl_->tree, values);
}

void Node::finish() const {
  impl_->finish();
}
void Node::defer() const {
  impl_->deferred = true;
}

std::vector<std::string> Node::absent_keys() const {
  std::vector<std::string> out;
  impl_->collect_absent(out);
  return out;
}

void Node::fail(std::string_view message) const {
  impl_->complain(impl_->line, impl_->path, message);
}

void Node::fail(std::string_view key, std::string_view message) const {
  const auto* item = is_map() ? impl_->entry(key) : nullptr;
  impl_->complain(item == nullptr ? impl_->line : item->line, impl_->path_of(key), message);
}

const std::string& Node::path() const {
  return impl_->path;
}
int Node::line() const {
  return impl_->line;
}
std::filesystem::path Node::directory() const {
  return impl_->document->directory;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = word.size() / 3 + 1;
  for (const auto& candidate : candidates) {
    // Optimal string alignment: swapped neighbours count once. Three rows of the table are enough.
    std::vector<std::size_t> before(candidate.size() + 1);
    std::vector<std::size_t> last(candidate.size() + 1);
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j <= candidate.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= word.size(); ++i) {
      before = std::exchange(last, row);
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const bool same = word[i - 1] == candidate[j - 1];
        row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
        if (i > 1 && j > 1 && word[i - 1] == candidate[j - 2] && word[i - 2] == candidate[j - 1]) {
          row[j] = std::min(row[j], before[j - 2] + 1);
        }
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace parley::config
