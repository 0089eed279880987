#include "parley/core/time_zone.hpp"

#include <gtest/gtest.h>

namespace parley {
namespace {

std::tm moment(int year, int month, int day, int hour, int minute) {
  std::tm out{};
  out.tm_year = year - 1900;
  out.tm_mon = month - 1;
  out.tm_mday = day;
  out.tm_hour = hour;
  out.tm_min = minute;
  return out;
}

std::int64_t seconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

TEST(TimeZone, WhatItsClocksShowIsAMoment) {
  const TimeZone berlin("Europe/Berlin");
  EXPECT_EQ(seconds(berlin.moment(moment(2025, 3, 4, 17, 10))), 1'741'104'600);
  EXPECT_EQ(seconds(berlin.moment(moment(2025, 7, 4, 17, 10))), 1'751'641'800);
  EXPECT_EQ(seconds(TimeZone("Etc/UTC").moment(moment(1970, 1, 1, 0, 0))), 0);
  EXPECT_EQ(seconds(TimeZone("Asia/Kathmandu").moment(moment(2025, 3, 4, 17, 10))), 1'741'087'500);
  EXPECT_EQ(seconds(TimeZone("Pacific/Kiritimati").moment(moment(2025, 3, 4, 0, 30))), 1'740'997'800);
}

TEST(TimeZone, ASkippedTimeIsAsFarAfterTheGap) {
  // RFC 5545, section 3.3.5: 02:30 on 30 March 2025 is 03:30 in Berlin, and in New York on 9 March.
  EXPECT_EQ(seconds(TimeZone("Europe/Berlin").moment(moment(2025, 3, 30, 2, 30))), 1'743'298'200);
  EXPECT_EQ(TimeZone("Europe/Berlin").local(WallTime(std::chrono::seconds(1'743'298'200))).tm_hour, 3);
  EXPECT_EQ(seconds(TimeZone("America/New_York").moment(moment(2025, 3, 9, 2, 30))), 1'741'505'400);
}

TEST(TimeZone, OfATimeThatComesTwiceItIsTheFirst) {
  EXPECT_EQ(seconds(TimeZone("Europe/Berlin").moment(moment(2025, 10, 26, 2, 30))), 1'761'438'600);
  EXPECT_EQ(seconds(TimeZone("America/New_York").moment(moment(2025, 11, 2, 1, 30))), 1'762'061'400);
}

TEST(TimeZone, EveryHourOfAYearComesBack) {
  for (const auto* name : {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Tokyo", ""}) {
    const TimeZone zone(name);
    int twice = 0;
    for (std::int64_t hour = 1'735'689'600; hour < 1'735'689'600 + 366 * 86'400; hour += 1800) {
      const WallTime time{std::chrono::seconds(hour)};
      const auto back = zone.moment(zone.local(time));
      if (back == time) continue;
      EXPECT_LT(back, time) << name << " " << hour;
      ++twice;
    }
    EXPECT_LE(twice, 2) << name;
  }
}

}  // namespace
}  // namespace parley
