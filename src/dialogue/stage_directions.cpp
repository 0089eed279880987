#include "dialogue/stage_directions.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "dialogue/characters.hpp"

namespace parley::dialogue {
namespace {

using namespace std::string_view_literals;

/// Words that nobody says of oneself but in a direction; others may follow ("laughs softly").
constexpr std::array kActs = {
    U"smiles"sv,     U"smiling"sv,   U"laughs"sv,     U"laughing"sv,   U"chuckles"sv, U"chuckling"sv,
    U"giggles"sv,    U"giggling"sv,  U"sighs"sv,      U"sighing"sv,    U"grins"sv,    U"grinning"sv,
    U"winks"sv,      U"winking"sv,   U"nods"sv,       U"nodding"sv,    U"shrugs"sv,   U"shrugging"sv,
    U"gasps"sv,      U"gasping"sv,   U"whispers"sv,   U"whispering"sv, U"coughs"sv,   U"coughing"sv,
    U"claps"sv,      U"clapping"sv,  U"waves"sv,      U"waving"sv,     U"blushes"sv,  U"blushing"sv,
    U"frowns"sv,     U"frowning"sv,  U"smirks"sv,     U"smirking"sv,   U"sobs"sv,     U"sobbing"sv,
    U"sniffs"sv,     U"sniffles"sv,  U"yawns"sv,      U"yawning"sv,    U"bows"sv,     U"pauses"sv,
    U"pausing"sv,    U"hums"sv,      U"humming"sv,    U"sings"sv,      U"singing"sv,  U"groans"sv,
    U"snickers"sv,   U"clears"sv,    U"lacht"sv,      U"lächelt"sv,    U"seufzt"sv,   U"zwinkert"sv,
    U"grinst"sv,     U"kichert"sv,   U"nickt"sv,      U"flüstert"sv,   U"räuspert"sv, U"gähnt"sv,
    U"schmunzelt"sv, U"ríe"sv,       U"sonríe"sv,     U"suspira"sv,    U"guiña"sv,    U"asiente"sv,
    U"susurra"sv,    U"carraspea"sv, U"rit"sv,        U"sourit"sv,     U"soupire"sv,  U"chuchote"sv,
    U"смеётся"sv,    U"смеется"sv,   U"улыбается"sv,  U"вздыхает"sv,   U"кивает"sv,   U"подмигивает"sv,
    U"хихикает"sv,   U"шепчет"sv,    U"усмехается"sv, U"кашляет"sv,    U"зевает"sv,   U"cười"sv,
    U"mỉm cười"sv,   U"thở dài"sv,   U"nháy mắt"sv,   U"gật đầu"sv,
};

/// Words that are a direction only when nothing stands beside them.
constexpr std::array kAlone = {
    U"pause"sv,
    U"long pause"sv,
    U"short pause"sv,
    U"dramatic pause"sv,
    U"beat"sv,
    U"laughter"sv,
    U"applause"sv,
    U"music"sv,
    U"silence"sv,
    U"sigh"sv,
    U"laugh"sv,
    U"smile"sv,
    U"wink"sv,
    U"chuckle"sv,
    U"giggle"sv,
    U"grin"sv,
    U"whisper"sv,
    U"cough"sv,
    U"gasp"sv,
    U"deep breath"sv,
    U"kurze pause"sv,
    U"lachen"sv,
    U"gelächter"sv,
    U"applaus"sv,
    U"musik"sv,
    U"stille"sv,
    U"pausa"sv,
    U"risas"sv,
    U"risa"sv,
    U"aplausos"sv,
    U"música"sv,
    U"silencio"sv,
    U"rires"sv,
    U"musique"sv,
    U"applaudissements"sv,
    U"пауза"sv,
    U"смех"sv,
    U"аплодисменты"sv,
    U"музыка"sv,
    U"тишина"sv,
    U"tạm dừng"sv,
    U"im lặng"sv,
    U"vỗ tay"sv,
    U"笑"sv,
    U"笑声"sv,
    U"微笑"sv,
    U"大笑"sv,
    U"轻笑"sv,
    U"偷笑"sv,
    U"苦笑"sv,
    U"笑了笑"sv,
    U"微微一笑"sv,
    U"叹气"sv,
    U"嘆氣"sv,
    U"叹了口气"sv,
    U"眨眼"sv,
    U"眨眨眼"sv,
    U"点头"sv,
    U"點頭"sv,
    U"停顿"sv,
    U"停頓"sv,
    U"鼓掌"sv,
    U"掌声"sv,
    U"害羞"sv,
    U"脸红"sv,
    U"沉默"sv,
    U"清了清嗓子"sv,
    U"笑い"sv,
    U"笑う"sv,
    U"微笑む"sv,
    U"にっこり"sv,
    U"ため息"sv,
    U"ウインク"sv,
    U"拍手"sv,
    U"沈黙"sv,
};

/// With company: at most so many words.
constexpr std::ptrdiff_t kMaxWords = 5;

std::u32string tidy(std::u32string_view content) {
  const auto begin = std::ranges::find_if_not(content, is_blank);
  std::u32string out;
  for (auto at = begin; at != content.end(); ++at) out += to_lower(is_blank(*at) ? U' ' : *at);
  return out;
}

bool begins_with_act(std::u32string_view content) {
  return std::ranges::any_of(kActs, [&](std::u32string_view act) {
    return content.starts_with(act) && (content.size() == act.size() || content[act.size()] == ' ');
  });
}

}  // namespace

bool is_stage_direction(std::u32string_view content) {
  auto text = tidy(content);
  while (!text.empty() && (text.back() == ' ' || text.back() == '.' || text.back() == '!')) text.pop_back();
  if (std::ranges::find(kAlone, text) != kAlone.end()) return true;
  return begins_with_act(text) && std::ranges::count(text, U' ') < kMaxWords;
}

bool may_become_stage_direction(std::u32string_view begun) {
  const auto text = tidy(begun);
  const auto begins = [&](std::u32string_view word) { return word.starts_with(text); };
  // A mark may still follow ("(laughs.)").
  const auto whole = [&](std::u32string_view word) {
    return text.starts_with(word) && text.find_first_not_of(U".! ", word.size()) == std::u32string::npos;
  };
  return std::ranges::any_of(kActs, begins) || std::ranges::any_of(kAlone, begins) ||
         std::ranges::any_of(kAlone, whole) || std::ranges::any_of(kActs, whole) ||
         (begins_with_act(text) && std::ranges::count(text, U' ') < kMaxWords);
}

}  // namespace parley::dialogue
