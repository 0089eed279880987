#include "mcp/spoken_time.hpp"

#include <gtest/gtest.h>

#include "parley/mcp/announcement.hpp"

namespace parley::mcp {
namespace {

using namespace std::chrono_literals;

const WallTime kNow{std::chrono::seconds(1'741'100'700)};  // Tuesday, 2025-03-04 16:05 in Berlin
const TimeZone kBerlin("Europe/Berlin");

TEST(SpokenTime, SpansAreWords) {
  EXPECT_EQ(in_words(0ms), "0 seconds");
  EXPECT_EQ(in_words(1ms), "1 second");
  EXPECT_EQ(in_words(600s), "10 minutes");
  EXPECT_EQ(in_words(3723s), "1 hour, 2 minutes and 3 seconds");
  EXPECT_EQ(in_words(90'000s), "1 day and 1 hour");
}

TEST(SpokenTime, ADayIsSaidWhereItIsNotToday) {
  EXPECT_EQ(time_and_day(kNow + 1h, kNow, kBerlin), "17:05");
  EXPECT_EQ(time_and_day(kNow + 8h, kNow, kBerlin), "00:05 tomorrow");
  EXPECT_EQ(time_and_day(kNow + 48h, kNow, kBerlin), "16:05 on Thursday 6 March 2025");
  const auto new_years_eve = kBerlin.moment({.tm_hour = 23, .tm_mday = 31, .tm_mon = 11, .tm_year = 125});
  EXPECT_EQ(time_and_day(new_years_eve + 2h, new_years_eve, kBerlin), "01:00 tomorrow");
  // The clocks change in the night between.
  const auto before_summer =
      kBerlin.moment({.tm_min = 30, .tm_hour = 23, .tm_mday = 29, .tm_mon = 2, .tm_year = 125});
  EXPECT_EQ(time_and_day(before_summer + 8h, before_summer, kBerlin), "08:30 tomorrow");
}

TEST(SpokenTime, IsoTimesAreRead) {
  const auto at = [](std::string_view text) { return parse_iso_time(text, kBerlin); };
  const WallTime ten_past_five{std::chrono::seconds(1'741'104'600)};
  EXPECT_EQ(at("2025-03-04T17:10"), ten_past_five);
  EXPECT_EQ(at("2025-03-04 17:10:00"), ten_past_five);
  EXPECT_EQ(at("2025-03-04T17:10:00.250"), ten_past_five);
  EXPECT_EQ(at("2025-03-04T16:10:00Z"), ten_past_five);
  EXPECT_EQ(at("2025-03-04T11:10:00-0500"), ten_past_five);
  EXPECT_EQ(at("2025-03-04T17:10+01"), ten_past_five);
  EXPECT_EQ(at("2025-03-30T02:30"), at("2025-03-30T03:30")) << "summer time";
}

TEST(SpokenTime, WhatIsNoTimeIsNotRead) {
  for (const auto* text : {"",
                           "tomorrow",
                           "17:10",
                           "2025-03-04",
                           "2025-02-29T10:00",
                           "2025-13-01T10:00",
                           "2025-03-04T24:00",
                           "2025-03-04T10:60",
                           "2025-03-04T1:10",
                           "2025-03-04T10:10:",
                           "2025-03-04T10:10 and more",
                           "2025-03-04T10:10+25:00",
                           "2025-03-04T10:10+01:",
                           "-025-03-04T10:10",
                           "2025-03-04T-1:10",
                           "+025-03-04T10:10",
                           "2025-03-04T10:10:60",
                           "20250304T1010",
                           "2025-00-10T10:00",
                           "2025-01-00T10:00"}) {
    EXPECT_FALSE(parse_iso_time(text, kBerlin)) << text;
  }
}

TEST(Announcement, SaysWhatIsDueAndForWhenItWas) {
  using engine::Reminder;
  config::Profile profile;
  const auto say = [&](const Reminder& one) { return announcement({one}, kNow, kBerlin, profile); };
  EXPECT_EQ(say({.kind = Reminder::Kind::timer, .due = kNow}), "Your timer is up.");
  EXPECT_EQ(say({.kind = Reminder::Kind::timer, .text = "pasta", .due = kNow - 59s}),
            "Your pasta timer is up.");
  const Reminder bread{.kind = Reminder::Kind::reminder, .text = "Take {name} out...", .due = kNow - 10min};
  EXPECT_EQ(say(bread), "This was for 15:55. Reminder: Take {name} out.");
  auto old = bread;
  old.due = kNow - 24h;
  EXPECT_EQ(say(old), "This was for 16:05 on Monday 3 March 2025. Reminder: Take {name} out.");
  profile.language = "de";
  profile.session.late_phrase = "{time} {oops} {";
  profile.session.reminder_phrase = "Erinnerung: {text}!";
  EXPECT_EQ(say(old), "2025-03-03 16:05 {oops} { Erinnerung: Take {name} out!");
  EXPECT_EQ(announcement({{.due = kNow}, {.text = "tea", .due = kNow}}, kNow, kBerlin, profile),
            "Your timer is up. Your tea timer is up.");
}

}  // namespace
}  // namespace parley::mcp
