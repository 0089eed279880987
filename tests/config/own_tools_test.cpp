#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parley/config/settings.hpp"

namespace parley::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string complaint(std::string_view text) {
  try {
    load_text(text, "p.yaml");
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "no complaint";
}

TEST(OwnTools, CanBeDisabledForEverybodyAndForOneDevice) {
  const auto settings = load_text(
      "tools: {disabled: [get_time, set_timer]}\n"
      "devices: {aa: {tools: {disabled: []}}, bb: {tools: {disabled: end_conversation}}, cc: {}}\n",
      "p.yaml");
  EXPECT_THAT(settings.profile_for("cc").tools.disabled, ElementsAre("get_time", "set_timer"));
  EXPECT_THAT(settings.profile_for("aa").tools.disabled, IsEmpty());
  EXPECT_THAT(settings.profile_for("bb").tools.disabled, ElementsAre("end_conversation"));
  EXPECT_THAT(complaint("tools: {disabled: [set_timers]}"), HasSubstr("did you mean set_timer?"));
  EXPECT_THAT(complaint("tools: {disabled: {set_timer: true}}"), HasSubstr("tools.disabled"));
}

TEST(OwnTools, RemindersHaveAFileAndALimit) {
  EXPECT_EQ(load_text("reminders: {file: r.db, max_per_device: 7}", "/etc/p.yaml").reminders,
            (ReminderSettings{"/etc/r.db", 7}));
  EXPECT_THAT(complaint("reminders: {max_per_device: 0}"), HasSubstr("reminders.max_per_device"));
  EXPECT_THAT(complaint("reminders: {fille: x}"), HasSubstr("did you mean file?"));
}

TEST(OwnTools, PersonasAndVoicesHaveNames) {
  const auto settings = load_text(
      "personas: {pirate: {persona: You are a pirate., voice: rms}, John: {voice: rms}}\nvoices: {Anna: "
      "slt}\n",
      "p.yaml");
  EXPECT_EQ(settings.personas.at("pirate"), (PersonaChoice{"You are a pirate.", "rms"}));
  EXPECT_EQ(settings.personas.at("John"), (PersonaChoice{"", "rms"}));
  EXPECT_EQ(settings.voices.at("Anna"), "slt");
  EXPECT_THAT(complaint("personas: {x: {}}"), HasSubstr("personas.x: this persona is empty"));
  EXPECT_THAT(complaint("personas: {x: {persona: 'It is {tme}'}}"), HasSubstr("personas.x.persona: "));
  EXPECT_THAT(complaint("personas: {default: {voice: rms}}"), HasSubstr("the device's own"));
  EXPECT_THAT(complaint("voices: {default: rms}"), HasSubstr("the device's own"));
  EXPECT_THAT(complaint("voices: {" + std::string(41, 'x') + ": rms}"), HasSubstr("this is no name"));
  EXPECT_THAT(complaint("voices: {Anna: [slt]}"), HasSubstr("voices.Anna"));
}

}  // namespace
}  // namespace parley::config
