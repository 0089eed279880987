#include "parley/mcp/host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/world.hpp"

namespace parley::mcp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

/// A server that does what it is told at once, and remembers it.
class FakeServer final : public ToolServer {
 public:
  explicit FakeServer(std::string key, ToolList tools)
      : list(std::make_shared<const ToolList>(std::move(tools))), key_(std::move(key)) {}
  const std::string& key() const override { return key_; }
  std::shared_ptr<const ToolList> tools() const override { return list; }
  std::unique_ptr<CallStream> call(const std::string& tool, const json& arguments,
                                   Millis /*timeout*/) override {
    called.push_back(tool + arguments.dump());
    return answered({"done", false});
  }

  std::shared_ptr<const ToolList> list;
  std::vector<std::string> called;

 private:
  std::string key_;
};

Tool tool(const std::string& name, bool confirm = false) {
  Tool out;
  out.name = name;
  out.confirm = confirm;
  return out;
}

struct HostTest : testing::Test {
  test::World world;
  Host host{world.scheduler, "aa:bb", 5s};
  std::shared_ptr<FakeServer> web =
      std::make_shared<FakeServer>("web", ToolList{tool("search"), tool("send", true)});
  std::shared_ptr<FakeServer> home = std::make_shared<FakeServer>("home", ToolList{tool("search")});

  engine::ToolResult call(const std::string& name, json arguments = json::object(), bool agreed = false) {
    engine::ToolCall what;
    what.name = name;
    what.arguments = std::move(arguments);
    what.agreed = agreed;
    const auto stream = host.call(what);
    const auto came = world.run(stream->next());
    if (came && *came && **came) return ***came;
    return {"nothing came", true};
  }
};

TEST_F(HostTest, CallsGoToTheServerThatTheNameSays) {
  host.add(web);
  host.add(home);
  EXPECT_EQ(host.tools()->tools.size(), 3U);
  EXPECT_EQ(host.where("home__search"), "home");
  EXPECT_FALSE(call("home__search", {{"q", 1}}).failed);
  EXPECT_THAT(home->called, testing::ElementsAre("search{\"q\":1}"));
  EXPECT_TRUE(web->called.empty());
  EXPECT_TRUE(call("search").failed);
}

TEST_F(HostTest, AServerThatChangesItsToolsChangesTheSet) {
  host.add(web);
  const auto before = host.tools();
  EXPECT_EQ(host.tools(), before) << "the same object while nothing changed";
  web->list = std::make_shared<const ToolList>(ToolList{tool("other")});
  EXPECT_EQ(host.where("web__search"), "web") << "as the model knows them until it is asked again";
  EXPECT_EQ(host.tools()->tools.size(), 1U);
  EXPECT_EQ(host.where("web__search"), "");
  EXPECT_EQ(host.where("web__other"), "web");
}

TEST_F(HostTest, AToolThatNeedsConsentWaitsForIt) {
  host.add(web);
  host.begin_turn("send it to bob");
  EXPECT_TRUE(call("web__send", {{"to", "bob"}}).failed);
  EXPECT_TRUE(call("web__send", {{"to", "bob"}}).failed) << "asking twice is no consent";
  EXPECT_TRUE(web->called.empty());
  host.begin_turn("yes, please");
  EXPECT_TRUE(call("web__send", {{"to", "eve"}}).failed) << "nobody agreed to that";
  EXPECT_FALSE(call("web__send", {{"to", "bob"}}).failed);
  EXPECT_TRUE(call("web__send", {{"to", "bob"}}).failed) << "once";
  EXPECT_THAT(web->called, testing::ElementsAre("send{\"to\":\"bob\"}"));
}

TEST_F(HostTest, ConsentIsForTheNextWordsOnly) {
  host.add(web);
  host.begin_turn("send it");
  EXPECT_TRUE(call("web__send").failed);
  host.begin_turn("what time is it");
  host.begin_turn("yes");
  EXPECT_TRUE(call("web__send").failed);
  EXPECT_TRUE(web->called.empty());
  EXPECT_FALSE(call("web__send", json::object(), true).failed) << "an engine that asked by itself";
}

}  // namespace
}  // namespace parley::mcp
