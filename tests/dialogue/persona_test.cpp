#include "parley/dialogue/persona.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parley::dialogue {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Persona::Facts facts() {
  Persona::Facts out;
  out.device = "aa:bb";
  out.language = "de";
  out.now = WallTime(std::chrono::seconds(1'741'100'700));  // Tuesday, 2025-03-04 15:05 UTC
  return out;
}

std::string complaint(std::string_view text) {
  const auto parsed = config::parse_persona(text);
  return parsed ? "no complaint" : parsed.error().message;
}

TEST(PersonaTest, TextWithoutVariablesIsItself) {
  const auto text = Persona("You are Parley.\n\nBe brief.", "").render(facts());
  EXPECT_EQ(text.prompt, "You are Parley.\n\nBe brief.");
  EXPECT_EQ(text.aside, "");
}

TEST(PersonaTest, NothingIsNothing) {
  const auto text = Persona("", "").render(facts());
  EXPECT_EQ(text.prompt + text.aside, "");
}

TEST(PersonaTest, LinesThatChangeAreApart) {
  const auto text =
      Persona("You speak {language} on {device}.\nIt is {time} on {date} in {timezone}.\nBe brief.",
              "Etc/UTC")
          .render(facts());
  EXPECT_EQ(text.prompt, "You speak de on aa:bb.\nBe brief.");
  EXPECT_EQ(text.aside, "It is 15:05 on Tuesday, 2025-03-04 in Etc/UTC.");
}

TEST(PersonaTest, ToolsAreNamedAndStayInFront) {
  engine::ToolSet tools;
  tools.tools = {{.name = "self_lamp", .wire_name = {}, .description = {}, .input_schema = {}},
                 {.name = "self_volume", .wire_name = {}, .description = {}, .input_schema = {}}};
  auto known = facts();
  EXPECT_EQ(Persona("Tools: {tools}.", "").render(known).prompt, "Tools: none.");
  known.tools = &tools;
  EXPECT_EQ(Persona("Tools: {tools}.", "").render(known).prompt, "Tools: self_lamp, self_volume.");
}

TEST(PersonaTest, AStatusIsUnknownUntilItIsKnown) {
  const Persona persona("The device: {status}", "");
  EXPECT_TRUE(persona.wants_status());
  EXPECT_FALSE(Persona("{time} {tools}", "").wants_status());
  auto known = facts();
  EXPECT_EQ(persona.render(known).aside, "The device: unknown");
  known.status = R"({"volume":70})";
  EXPECT_EQ(persona.render(known).aside, R"(The device: {"volume":70})") << "a value is no template";
}

TEST(PersonaTest, BracesAreEscapedByDoublingThem) {
  const auto text = Persona("Answer as {{\"mood\": \"{language}\"}}, {{time}} }", "").render(facts());
  EXPECT_EQ(text.prompt, "Answer as {\"mood\": \"de\"}, {time} }");
}

TEST(PersonaTest, WrongVariablesAreRefused) {
  EXPECT_THAT(complaint("It is {tiem}."), AllOf(HasSubstr("tiem"), HasSubstr("did you mean time?")));
  EXPECT_THAT(complaint("{Language}"), HasSubstr("language"));
  EXPECT_THAT(complaint("{gnarl}"), HasSubstr("expected date, device"));
  EXPECT_THAT(complaint("{}"), HasSubstr("there is no variable"));
  EXPECT_THAT(complaint("{ time }"), HasSubstr("time"));
  EXPECT_THAT(complaint("an open {time"), HasSubstr("never closed"));
  EXPECT_THAT(complaint("{"), HasSubstr("never closed"));
  EXPECT_THAT(complaint("{ti\nme}"), HasSubstr("never closed"));
  EXPECT_THROW(Persona("{nope}", ""), Failure);
  EXPECT_THROW(Persona("", "Europe/Atlantis"), Failure);
}

}  // namespace
}  // namespace parley::dialogue
