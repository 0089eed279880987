#include "parley/mcp/consent.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace parley::mcp {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMaxWords = 6;

constexpr std::array kYes = {
    "yes"sv,       "yeah"sv,    "yep"sv,    "yup"sv,     "sure"sv,      "ok"sv,         "okay"sv,
    "please"sv,    "correct"sv, "right"sv,  "confirm"sv, "confirmed"sv, "absolutely"sv, "definitely"sv,
    "go"sv,        "do"sv,      "ja"sv,     "jawohl"sv,  "genau"sv,     "gerne"sv,      "klar"sv,
    "natürlich"sv, "bitte"sv,   "oui"sv,    "ouais"sv,   "d'accord"sv,  "sí"sv,         "si"sv,
    "claro"sv,     "vale"sv,    "certo"sv,  "sim"sv,     "prego"sv,     "graag"sv,      "да"sv,
    "конечно"sv,   "давай"sv,   "хорошо"sv, "vâng"sv,    "có"sv,        "ừ"sv,          "dạ"sv,
    "はい"sv,      "うん"sv,    "ええ"sv,   "네"sv,      "예"sv,        "응"sv};

/// What may stand beside a yes and add nothing to it.
constexpr std::array kBeside = {
    "it"sv,      "that"sv,       "this"sv,   "so"sv,     "ahead"sv,    "on"sv,      "for"sv,
    "it's"sv,    "that's"sv,     "fine"sv,   "course"sv, "of"sv,       "thanks"sv,  "thank"sv,
    "you"sv,     "now"sv,        "then"sv,   "good"sv,   "all"sv,      "i"sv,       "agree"sv,
    "das"sv,     "es"sv,         "mach"sv,   "danke"sv,  "gut"sv,      "merci"sv,   "bien"sv,
    "plaît"sv,   "s'il"sv,       "vous"sv,   "te"sv,     "sûr"sv,      "gracias"sv, "por"sv,
    "favor"sv,   "bene"sv,       "grazie"sv, "va"sv,     "obrigado"sv, "goed"sv,    "dank"sv,
    "спасибо"sv, "пожалуйста"sv, "ạ"sv,      "ơi"sv,     "được"sv,     "đồng"sv,    "ý"sv};
constexpr std::array kNo = {"no"sv,    "not"sv,  "don't"sv, "dont"sv, "never"sv, "stop"sv, "cancel"sv,
                            "wait"sv,  "nope"sv, "nah"sv,   "nein"sv, "nicht"sv, "non"sv,  "pas"sv,
                            "nunca"sv, "não"sv,  "nee"sv,   "niet"sv, "нет"sv,   "не"sv,   "không"sv,
                            "đừng"sv,  "but"sv,  "aber"sv,  "mais"sv, "pero"sv,  "però"sv, "но"sv};

/// Written without blanks: what such an answer may begin with.
constexpr std::array kYesBegins = {"是"sv,   "好"sv,   "对"sv,     "可以"sv, "行"sv,   "嗯"sv,   "确认"sv,
                                   "确定"sv, "同意"sv, "没问题"sv, "はい"sv, "うん"sv, "ええ"sv, "お願い"sv};
constexpr std::array kNoWithin = {"不"sv,   "别"sv,     "没有"sv, "取消"sv,
                                  "算了"sv, "いいえ"sv, "ない"sv, "やめ"sv};
/// Characters of the longest such answer, at three bytes each.
constexpr std::size_t kMaxUnspaced = 10 * 3;

/// Lower case for ASCII and for the letters of the lists above; punctuation parts words.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 'A' && c <= 'Z') {
      words.back() += static_cast<char>(c - 'A' + 'a');
    } else if (c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '\'') {
      words.back() += text[i];
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// "Да" and "Vâng" begin a sentence with a capital that is not ASCII, or end before "。".
std::string plain(std::string word) {
  for (const auto& [from, to] : {std::pair("Д"sv, "д"sv), std::pair("К"sv, "к"sv), std::pair("Х"sv, "х"sv),
                                 std::pair("Н"sv, "н"sv), std::pair("Đ"sv, "đ"sv), std::pair("Ừ"sv, "ừ"sv),
                                 std::pair("。"sv, ""sv), std::pair("，"sv, ""sv), std::pair("！"sv, ""sv)}) {
    for (auto at = word.find(from); at != std::string::npos; at = word.find(from, at + to.size()))
      word.replace(at, from.size(), to);
  }
  return word;
}

}  // namespace

bool agrees(std::string_view text) {
  auto words = words_of(text);
  if (words.empty() || words.size() > kMaxWords) return false;
  std::ranges::transform(words, words.begin(), plain);
  const auto any = [&](const auto& list, auto test) { return std::ranges::any_of(list, test); };
  if (any(words, [](const std::string& word) { return std::ranges::find(kNo, word) != kNo.end(); }))
    return false;
  if (any(kNoWithin, [&](std::string_view no) { return text.find(no) != std::string_view::npos; }))
    return false;
  const auto is_yes = [](const std::string& word) { return std::ranges::find(kYes, word) != kYes.end(); };
  const auto adds_nothing = [&](const std::string& word) {
    return is_yes(word) || std::ranges::find(kBeside, word) != kBeside.end();
  };
  if (is_yes(words.front())) {
    const bool weak = words.size() == 1 && (words.front() == "do" || words.front() == "go");
    return !weak && std::ranges::all_of(words, adds_nothing);
  }
  return text.size() <= kMaxUnspaced &&
         any(kYesBegins, [&](std::string_view yes) { return words.front().starts_with(yes); });
}

}  // namespace parley::mcp
