#include "parley/mcp/own_tools.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_reminders.hpp"
#include "fakes/world.hpp"
#include "parley/engine/tool_arguments.hpp"

namespace parley::mcp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class Control final : public SessionControl {
 public:
  void end_conversation() override { ended = true; }
  void use_persona(const std::string& name) override { persona = name; }
  void use_voice(const std::string& name) override { voice = name; }
  std::shared_ptr<const engine::ToolSet> tools_at_hand() const override { return tools; }

  bool ended = false;
  std::string persona;
  std::string voice;
  std::shared_ptr<const engine::ToolSet> tools;
};

class OwnToolsTest : public testing::Test {
 protected:
  OwnToolsTest() {
    settings.profile.timezone = "Europe/Berlin";
    settings.personas["pirate"] = {"You are a pirate.", ""};
    settings.voices["John"] = "rms";
    make();
  }

  void make(const std::string& device = "aa") {
    book = ReminderBook::open(store, metrics, now, {.per_device = 3});
    OwnToolsWiring wiring;
    wiring.toolbox = std::make_shared<const OwnToolbox>(settings, settings.profile);
    wiring.reminders = book;
    wiring.control = &control;
    wiring.scheduler = world.scheduler;
    wiring.executor = world.io.get_executor();
    wiring.wall_clock = [this] { return now; };
    wiring.device = device;
    tools = make_own_tools(std::move(wiring));
    control.tools = make_tool_set({{tools->key(), tools->tools().get()}});
  }
  engine::ToolResult call(const std::string& tool, const json& arguments = json::object()) {
    const auto stream = tools->call(tool, arguments, 10s);
    const auto result = world.run(stream->next());
    return result && *result && **result ? ***result : engine::ToolResult{"nothing came", true};
  }
  std::string done(const std::string& tool, const json& arguments = json::object()) {
    const auto result = call(tool, arguments);
    EXPECT_FALSE(result.failed) << result.text;
    return result.text;
  }
  std::string refused(const std::string& tool, const json& arguments) {
    const auto result = call(tool, arguments);
    EXPECT_TRUE(result.failed) << result.text;
    EXPECT_LE(book->of("aa").size(), kept_) << "nothing is set";
    return result.text;
  }
  bool offers(const std::string& name) const { return control.tools->find("parley__" + name) != nullptr; }

  std::size_t kept_ = 0;
  test::World world;
  config::Settings settings;
  WallTime now{std::chrono::seconds(1'741'100'700)};  // Tuesday, 2025-03-04 16:05 in Berlin
  std::shared_ptr<test::FakeReminders> store = std::make_shared<test::FakeReminders>();
  std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
  std::shared_ptr<ReminderBook> book;
  Control control;
  std::shared_ptr<ToolServer> tools;
};

TEST_F(OwnToolsTest, EachCanBeSwitchedOff) {
  for (const auto name : config::kOwnTools) {
    EXPECT_TRUE(offers(std::string(name))) << name;
    settings.profile.tools.disabled = {std::string(name)};
    make();
    EXPECT_FALSE(offers(std::string(name))) << name;
    EXPECT_EQ(tools->tools()->size(), config::kOwnTools.size() - 1);
    EXPECT_TRUE(call(std::string(name)).failed);
    settings.profile.tools.disabled.clear();
    make();
  }
}

TEST_F(OwnToolsTest, WhatCannotBeChosenIsNotOffered) {
  settings.personas.clear();
  settings.voices.clear();
  make();
  EXPECT_FALSE(offers("switch_persona"));
  EXPECT_FALSE(offers("switch_voice"));
}

TEST_F(OwnToolsTest, TheTimeIsToldInAnyZone) {
  EXPECT_EQ(done("get_time"), "It is 16:05 on Tuesday 4 March 2025.");
  EXPECT_EQ(done("get_time", {{"zone", "Asia/Tokyo"}}),
            "It is 00:05 on Wednesday 5 March 2025 in Asia/Tokyo.");
  for (const auto* zone : {"Mars/Olympus", "../../etc/passwd", "/etc/passwd", "Europe", "Europe/Berlin/.."}) {
    EXPECT_THAT(refused("get_time", {{"zone", zone}}), StartsWith("There is no time zone named"));
  }
  EXPECT_THAT(refused("get_time", {{"zone", 7}}), HasSubstr("has to be text"));
  EXPECT_THAT(refused("get_time", {{"zone", std::string(5000, 'x')}}), HasSubstr("too long"));
}

TEST_F(OwnToolsTest, TimersAreSetListedAndCancelled) {
  EXPECT_EQ(done("set_timer", {{"minutes", 10}, {"name", "pasta"}}),
            "The pasta timer is set for 10 minutes.");
  EXPECT_EQ(done("set_timer", {{"hours", 1}, {"minutes", 0.5}}),
            "The timer is set for 1 hour and 30 seconds.");
  EXPECT_EQ(book->next("aa"), now + 10min);
  now += 350s;
  EXPECT_EQ(done("list_reminders"),
            "Timer 1, pasta, has 4 minutes and 10 seconds left. Timer 2 has 54 minutes and 40 seconds left.");
  kept_ = 2;
  EXPECT_THAT(refused("cancel_reminder", json::object()), StartsWith("Which one? Timer 1, pasta"));
  EXPECT_THAT(refused("cancel_reminder", {{"id", 9}}), StartsWith("There is no such one. There is: Timer 1"));
  EXPECT_THAT(refused("cancel_reminder", {{"name", "eggs"}}), StartsWith("There is no such one."));
  EXPECT_THAT(refused("cancel_reminder", {{"kind", "reminder"}}), StartsWith("There is no such one."));
  EXPECT_EQ(done("cancel_reminder", {{"name", "the Pasta timer"}}), "The pasta timer is cancelled.");
  EXPECT_EQ(done("cancel_reminder"), "The timer is cancelled.");
  EXPECT_EQ(done("list_reminders"), "There are no timers and no reminders.");
  EXPECT_EQ(refused("cancel_reminder", {{"id", 1}}), "There are no timers and no reminders.");
}

TEST_F(OwnToolsTest, ALengthThatIsNoneIsRefused) {
  const json bad[] = {json::object(),
                      {{"minutes", 0}},
                      {{"minutes", -5}},
                      {{"seconds", 0.4}},
                      {{"hours", 25}},
                      {{"hours", 1e300}},
                      {{"minutes", NAN}},
                      {{"seconds", INFINITY}},
                      {{"minutes", "five"}},
                      {{"minutes", true}},
                      {{"minutes", {5}}},
                      {{"minutes", 5}, {"name", 7}},
                      {{"minutes", 5}, {"name", std::string(61, 'x')}},
                      json::array({5}),
                      json("five minutes"),
                      json()};
  for (const auto& arguments : bad) EXPECT_FALSE(refused("set_timer", arguments).empty()) << arguments;
}

TEST_F(OwnToolsTest, RemindersAreSetInTheZoneOfTheDevice) {
  EXPECT_EQ(done("set_reminder", {{"text", " take the bread\nout "}, {"at", "2025-03-04T17:10"}}),
            "The reminder is set for 17:10.");
  const auto set = book->of("aa").at(0);
  EXPECT_EQ(set.text, "take the bread out");
  EXPECT_EQ(set.due, WallTime(std::chrono::seconds(1'741'104'600)));
  EXPECT_EQ(done("set_reminder", {{"text", "call"}, {"in_minutes", 600}}),
            "The reminder is set for 02:05 tomorrow.");
  EXPECT_EQ(done("set_reminder", {{"text", "change"}, {"at", "2025-03-30 02:30"}}),
            "The reminder is set for 03:30 on Sunday 30 March 2025.");
  EXPECT_EQ(done("list_reminders"),
            "Reminder 1, 17:10: take the bread out. Reminder 2, 02:05 tomorrow: call. "
            "Reminder 3, 03:30 on Sunday 30 March 2025: change.");
  kept_ = 3;
  EXPECT_THAT(refused("set_timer", {{"minutes", 1}}), HasSubstr("which is the most"));
}

TEST_F(OwnToolsTest, ATimeThatIsNoneIsRefusedAndTheModelIsToldTheTime) {
  const auto refuse = [&](json arguments) {
    arguments["text"] = "call";
    return refused("set_reminder", arguments);
  };
  for (const json& arguments :
       {json{{"at", "2025-03-04T16:05"}}, json{{"at", "2024-12-31T10:00"}}, json{{"at", "2027-01-01T10:00"}},
        json{{"at", "soon"}}, json::object(), json{{"at", "2025-03-05T10:00"}, {"in_minutes", 5}}}) {
    EXPECT_THAT(refuse(arguments), HasSubstr("It is 2025-03-04T16:05:00 now.")) << arguments;
  }
  EXPECT_THAT(refuse({{"at", 7}}), HasSubstr("has to be text"));
  EXPECT_THAT(refuse({{"in_minutes", -1}}), HasSubstr("not negative"));
  EXPECT_THAT(refuse({{"in_minutes", 0}}), HasSubstr("more than 0"));
  EXPECT_THAT(refuse({{"in_minutes", 1e12}}), HasSubstr("more than a year"));
  EXPECT_THAT(refused("set_reminder", {{"in_minutes", 1}}), HasSubstr("`text` is missing"));
  EXPECT_THAT(refused("set_reminder", {{"in_minutes", 1}, {"text", std::string(501, 'x')}}),
              HasSubstr("too long"));
}

TEST_F(OwnToolsTest, TheModelHearsWhatBecameOfTheStorage) {
  store->error = "database or disk is full";
  EXPECT_EQ(refused("set_timer", {{"minutes", 5}}), "It could not be kept: database or disk is full.");
  store->slow = true;
  const auto before = world.now();
  EXPECT_THAT(refused("set_timer", {{"minutes", 5}}), HasSubstr("did not answer in time"));
  EXPECT_EQ(world.now() - before, 10s);
  const auto abandoned = tools->call("set_timer", {{"minutes", 5}}, 10s);
  store->stop();
}

TEST_F(OwnToolsTest, ADeviceWithoutANameHasNoReminders) {
  make("");
  EXPECT_THAT(refused("set_timer", {{"minutes", 5}}), HasSubstr("did not say who it is"));
}

TEST_F(OwnToolsTest, TheSessionIsToldWhatItIsToDo) {
  done("end_conversation");
  EXPECT_TRUE(control.ended);
  EXPECT_THAT(refused("switch_persona", {{"name", "John"}}), HasSubstr("There are: default, pirate."));
  EXPECT_THAT(refused("switch_persona", json::object()), HasSubstr("There are: "));
  EXPECT_EQ(control.persona, "");
  done("switch_persona", {{"name", "pirate"}});
  EXPECT_EQ(control.persona, "pirate");
  done("switch_voice", {{"name", "John"}});
  EXPECT_EQ(control.voice, "John");
  EXPECT_FALSE(engine::check_arguments(*control.tools->find("parley__switch_voice"), {{"name", "pirate"}}));
  EXPECT_TRUE(engine::check_arguments(*control.tools->find("parley__switch_voice"), {{"name", "default"}}));
}

TEST_F(OwnToolsTest, ItSaysWhatItCanDo) {
  ToolList device(30, {.name = "self.audio_speaker.set_volume"});
  for (std::size_t i = 1; i < device.size(); ++i) device[i].name = "self.t" + std::to_string(i);
  const ToolList web{{.name = "search"}};
  control.tools = make_tool_set({{"", &device}, {"web", &web}, {"parley", tools->tools().get()}});
  const auto said = done("what_can_you_do");
  EXPECT_THAT(said, StartsWith("On the device: audio speaker set volume, t1,"));
  EXPECT_THAT(said, HasSubstr(", and 6 more."));
  EXPECT_THAT(said, HasSubstr("By myself: cancel reminder, end conversation, get time,"));
  EXPECT_THAT(said, HasSubstr("With web: search."));
}

}  // namespace
}  // namespace parley::mcp
