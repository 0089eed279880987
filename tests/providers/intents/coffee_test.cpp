#include <gtest/gtest.h>

#include "parley/engine/llm.hpp"
#include "providers/intents/dialogue.hpp"
#include "support.hpp"

// config/examples/coffee-intents.yaml: orders by their tool calls.
namespace parley::providers::intents {
namespace {

using nlohmann::json;

class Coffee : public ::testing::Test {
 protected:
  Outcome ask(std::vector<engine::Message> messages) const {
    engine::ChatRequest request;
    request.messages = std::move(messages);
    request.tools = tools_;
    return dialogue_.respond(request, {});
  }
  static engine::Message user(std::string text) {
    return {.role = engine::Message::Role::user, .text = std::move(text)};
  }

  std::shared_ptr<const engine::ToolSet> tools_ = std::make_shared<engine::ToolSet>(test::coffee_tools());
  Dialogue dialogue_{test::coffee_catalog(), TimeZone("")};
};

TEST_F(Coffee, OrdersExactly) {
  const std::vector<std::pair<std::string, json>> cases{
      {"can i get a single shot light roast house coffee with a lot of skim milk",
       {{"number_of_shots", "single shot"},
        {"roast", "light roast"},
        {"coffee_drink", "house coffee"},
        {"milk_amount", "a lot of skim milk"}}},
      {"I'd like a 12-ounce dark roast double shot Mocha with some almond milk and brown sugar, please.",
       {{"size", "twelve ounce"},
        {"roast", "dark roast"},
        {"number_of_shots", "double shot"},
        {"coffee_drink", "mocha"},
        {"milk_amount", "some almond milk"},
        {"sugar_amount", "brown sugar"}}},
      {"get me an iced mocha with a little bit of brown sugar and cream",
       {{"coffee_drink", "iced mocha"},
        {"sugar_amount", "a little bit of brown sugar"},
        {"milk_amount", "cream"}}},
      {"brew an espresso", {{"coffee_drink", "espresso"}}},
      {"make me a medium medium roast latte",
       {{"size", "medium"}, {"roast", "medium roast"}, {"coffee_drink", "latte"}}},
      {"give me a medium roast iced coffee with lots of sweetener",
       {{"roast", "medium roast"}, {"coffee_drink", "iced coffee"}, {"sugar_amount", "lots of sweetener"}}},
      {"may i have a triple shot small dark roast drip coffee",
       {{"number_of_shots", "triple shot"},
        {"size", "small"},
        {"roast", "dark roast"},
        {"coffee_drink", "drip coffee"}}},
      {"could i have coffee", {{"coffee_drink", "coffee"}}},
  };
  for (const auto& [text, expected] : cases) {
    const Outcome outcome = ask({user(text)});
    ASSERT_TRUE(outcome.call) << text << ": " << outcome.text;
    EXPECT_EQ(outcome.call->name, "self_coffee_order_drink");
    EXPECT_EQ(outcome.call->arguments, expected) << text;
    EXPECT_TRUE(outcome.text.empty());
  }
}

TEST_F(Coffee, DoesNotOrderWhatWasNotSaid) {
  for (const char* text :
       {"can i get a tea", "can i get a", "latte", "i want a small large latte", "i want a latte with",
        "i want a latte with milk and cream", "i want a latte with sugar and sugar", "i don't want a latte",
        "i want two lattes", "make me a light roast", "i want a single latte", "he said i want a latte",
        "can i get a latte with milk or sugar", "what is a latte"}) {
    const Outcome outcome = ask({user(text)});
    EXPECT_FALSE(outcome.call) << text;
    EXPECT_FALSE(outcome.understood) << text;
    EXPECT_FALSE(outcome.text.empty()) << text;
  }
}

TEST_F(Coffee, ReadsTheOrderBack) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"i want a small dark roast latte with some milk and sugar",
       "One small dark roast latte with some milk and sugar, coming up."},
      {"i want a latte with sweetener", "One latte with sweetener, coming up."},
      {"i want a double shot mocha", "One double shot mocha, coming up."},
  };
  for (const auto& [text, expected] : cases) {
    const Outcome call = ask({user(text)});
    ASSERT_TRUE(call.call);
    const engine::Message asked{.role = engine::Message::Role::assistant, .calls = {*call.call}};
    engine::Message result{.role = engine::Message::Role::tool, .text = "true", .call_id = call.call->id};
    EXPECT_EQ(ask({user(text), asked, result}).text, expected);
    result.failed = true;
    result.text = "Out of beans.";
    EXPECT_EQ(ask({user(text), asked, result}).text, "Sorry, I can't make that: Out of beans.");
  }
}

}  // namespace
}  // namespace parley::providers::intents
