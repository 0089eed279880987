#include "providers/intents/time_zone.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "parley/core/error.hpp"

namespace parley::providers::intents {
namespace {

WallTime at(std::int64_t seconds) {
  return WallTime(std::chrono::seconds(seconds));
}

void append(std::string& out, std::int64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

/// A TZif file of version 2: an hour east until 1000, then two hours.
std::string zone_file(const std::string& footer) {
  std::string out;
  for (const int bytes : {4, 8}) {
    out += "TZif2" + std::string(15, '\0');
    for (const int count : {0, 0, 0, 1, 2, 4}) append(out, count, 4);
    append(out, 1000, bytes);
    append(out, 1, 1);
    for (const int offset : {3600, 7200}) {
      append(out, offset, 4);
      append(out, 0, 2);
    }
    out += std::string("ABC\0", 4);
  }
  return out + "\n" + footer + "\n";
}

TEST(TimeZone, FollowsTheFile) {
  const auto zone = TimeZone::parse("Test", zone_file("ABC-2"));
  EXPECT_EQ(zone.local(at(-86'400)).tm_hour, 1);
  EXPECT_EQ(zone.local(at(999)).tm_hour, 1);
  EXPECT_EQ(zone.local(at(1000)).tm_hour, 2);
  EXPECT_EQ(zone.local(at(86'400)).tm_hour, 2);
}

TEST(TimeZone, RefusesDamagedFiles) {
  const std::string good = zone_file("ABC-2");
  for (std::size_t size = 0; size + 8 < good.size(); size += 3) {
    EXPECT_THROW(TimeZone::parse("Test", good.substr(0, size)), Failure) << size;
  }
  EXPECT_THROW(TimeZone::parse("Test", "TZif1" + good.substr(5)), Failure);
  EXPECT_THROW(TimeZone::parse("Test", zone_file("ABC-1DEF,M3.5.0,M10.5.0")),
               Failure);  // the years to come are missing
  std::string negative = good;
  negative[32] = '\xff';  // a count
  EXPECT_THROW(TimeZone::parse("Test", negative), Failure);
}

TEST(TimeZone, RefusesOtherNames) {
  for (const char* name : {"Europe/Atlantis", "/etc/passwd", "../../../etc/passwd", "Europe"}) {
    EXPECT_THROW(TimeZone{name}, Failure) << name;
  }
}

TEST(TimeZone, KnowsTheSystemsZones) {
  if (!std::filesystem::exists("/usr/share/zoneinfo/Europe/Berlin")) GTEST_SKIP();
  const TimeZone berlin("Europe/Berlin");
  EXPECT_EQ(describe(berlin.local(at(1'736'942'400))).at("time24"), "13:00");  // 2025-01-15 12:00 UTC
  EXPECT_EQ(describe(berlin.local(at(1'752'580'800))).at("time24"), "14:00");  // 2025-07-15 12:00 UTC
}

TEST(TimeZone, DescribesAMoment) {
  const auto zone = TimeZone::parse("Test", zone_file("ABC-2"));
  const auto said = describe(zone.local(at(1'741'093'500)));  // 2025-03-04 13:05 UTC
  EXPECT_EQ(said.at("time"), "3:05 PM");
  EXPECT_EQ(said.at("time24"), "15:05");
  EXPECT_EQ(said.at("date"), "Tuesday, March 4");
  EXPECT_EQ(said.at("year"), 2025);
  EXPECT_EQ(describe(zone.local(at(1'741'039'200 + 86'400))).at("time"), "12:00 AM");
}

}  // namespace
}  // namespace parley::providers::intents
