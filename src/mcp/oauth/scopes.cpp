#include "mcp/oauth/scopes.hpp"

#include <algorithm>

namespace parley::mcp::oauth {
namespace {

std::vector<std::string> split(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<std::string> names;
  while (true) {
    const auto begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return names;
    text.remove_prefix(begin);
    const auto length = std::min(text.find_first_of(kBlanks), text.size());
    names.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
}

}  // namespace

void Scopes::add(std::string_view text) {
  add(split(text));
}

void Scopes::add(const std::vector<std::string>& names) {
  for (const auto& name : names) {
    if (!name.empty() && !has(name)) names_.push_back(name);
  }
}

void Scopes::remove(std::string_view name) {
  std::erase(names_, name);
}

bool Scopes::has(std::string_view name) const {
  return std::ranges::find(names_, name) != names_.end();
}

bool Scopes::cover(std::string_view other) const {
  return std::ranges::all_of(split(other), [this](const std::string& name) { return has(name); });
}

std::string Scopes::text() const {
  std::string text;
  for (const auto& name : names_) text += (text.empty() ? "" : " ") + name;
  return text;
}

}  // namespace parley::mcp::oauth
