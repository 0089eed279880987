#include "providers/funasr/transcript.hpp"

#include <nlohmann/json.hpp>

namespace parley::providers::funasr {
namespace {

using nlohmann::json;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_ascii_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '\'';
}

/// Pieces of English come without the blank between them; Chinese has none.
void append(std::string& text, std::string_view piece) {
  if (!text.empty() && !piece.empty() && is_ascii_word(piece.front()) &&
      (is_ascii_word(text.back()) || text.back() == '.' || text.back() == ',' || text.back() == '?' ||
       text.back() == '!')) {
    text += ' ';
  }
  text += piece;
}

std::string trimmed(const std::string& text) {
  std::size_t begin = 0;
  auto end = text.size();
  while (begin < end && is_blank(text[begin])) ++begin;
  while (end > begin && is_blank(text[end - 1])) --end;
  return text.substr(begin, end - begin);
}

Error malformed(std::string_view what) {
  return {Errc::invalid_input, "the recogniser sent " + std::string(what), true};
}

}  // namespace

Result<Transcript::Update> Transcript::take(std::string_view message) {
  const auto result = json::parse(message, nullptr, false);
  if (!result.is_object()) return malformed("what is no JSON object");
  const auto text_at = result.find("text");
  if (text_at == result.end() || !text_at->is_string()) return malformed("a result without a text");
  const auto& text = text_at->get_ref<const std::string&>();
  const auto mode_at = result.find("mode");
  const auto mode = mode_at != result.end() && mode_at->is_string() ? mode_at->get<std::string>() : "";
  const bool is_increment = mode == "2pass-online" || mode == "online";
  const bool is_segment = mode == "2pass-offline" || mode == "offline";
  if (!is_increment && !is_segment && !text.empty()) return malformed("a result of an unknown mode");

  Update update;
  const auto before = this->text();
  if (is_increment) {
    append(increments_, text);
  } else if (is_segment) {
    append(segments_, text);
    increments_.clear();
    segment_since_finish_ = finished_;
  }
  update.changed = this->text() != before;
  const auto final_at = result.find("is_final");
  if (final_at == result.end() || !final_at->is_boolean()) return update;
  const bool is_final = final_at->get<bool>();
  learn(is_final, is_increment, text.empty());
  marked_since_finish_ = finished_ && is_final;
  if (flag_ == FinalFlag::last) update.complete = finished_ && is_final;
  if (flag_ == FinalFlag::speaking) update.complete = finished_ && !is_final && is_segment;
  return update;
}

void Transcript::learn(bool is_final, bool is_increment, bool is_empty) {
  if (!finished_) {
    flag_ = is_final ? FinalFlag::speaking : FinalFlag::last;
  } else if (flag_ != FinalFlag::unknown) {
    return;
  } else if ((is_empty && is_final) || (is_increment && !is_final)) {
    // The server in Python has no word about nothing, and no increments after the end.
    flag_ = FinalFlag::last;
  } else if (is_empty && !is_increment) {
    // The whole answer of the offline server in C++, which marks it as that in Python marks its last one.
    flag_ = FinalFlag::speaking;
  }
}

void Transcript::settle() {
  if (flag_ == FinalFlag::unknown && segment_since_finish_)
    flag_ = marked_since_finish_ ? FinalFlag::last : FinalFlag::speaking;
}

bool Transcript::may_be_complete() const {
  if (!finished_ || flag_ == FinalFlag::last) return false;
  if (mode_ == Mode::online) return true;
  return !segments_.empty() && increments_.empty() && (mode_ == Mode::two_pass || segment_since_finish_);
}

std::string Transcript::text() const {
  auto text = segments_;
  append(text, increments_);
  return trimmed(text);
}

}  // namespace parley::providers::funasr
