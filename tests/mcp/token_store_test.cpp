#include "parley/mcp/token_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "mcp/oauth/fixture.hpp"

namespace parley::mcp {
namespace {

using testing::HasSubstr;

struct TokenStoreTest : testing::Test {
  test::Live live;
  Folder folder;
  std::filesystem::path file = folder.path / "new" / "tokens.json";

  static OAuthCredentials some(const std::string& token) {
    OAuthCredentials credentials;
    credentials.issuer = "https://a.test";
    credentials.resource = "https://m.test";
    credentials.client = {"id", "secret", "client_secret_post", "http://127.0.0.1/c", true, 5};
    credentials.access_token = token;
    credentials.refresh_token = "r";
    credentials.scope = "a b";
    credentials.wanted_scope = "c";
    credentials.expires_at = 7;
    return credentials;
  }
  Result<> save(TokenStore& store, const std::string& url, const OAuthCredentials& credentials) {
    return live.run(store.save(url, credentials));
  }
  void write(const std::string& text, unsigned mode = 0600) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    ::chmod(file.c_str(), mode);
  }
  std::string read() {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(TokenStoreTest, KeepsEverythingForItsOwnerAlone) {
  TokenStore store(file);
  EXPECT_FALSE(store.find("https://m.test").value());
  ASSERT_TRUE(save(store, "https://m.test", some("t")));
  struct stat info {};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  ASSERT_EQ(::stat(file.parent_path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  TokenStore again(file);
  EXPECT_EQ(again.find("https://m.test").value(), some("t"));
  EXPECT_FALSE(again.find("https://m.test/other").value());
  const auto beside = std::distance(std::filesystem::directory_iterator(file.parent_path()), {});
  EXPECT_EQ(beside, 2) << "the file and its lock";
}

TEST_F(TokenStoreTest, SharesTheFileWithOtherProcesses) {
  TokenStore one(file);
  TokenStore two(file);
  ASSERT_TRUE(save(one, "https://one.test", some("1")));
  ASSERT_TRUE(save(two, "https://two.test", some("2")));
  EXPECT_EQ(one.find("https://two.test").value()->access_token, "2");
  EXPECT_EQ(two.find("https://one.test").value()->access_token, "1");
  ASSERT_TRUE(save(two, "https://one.test", some("3")));
  EXPECT_EQ(one.find("https://one.test").value()->access_token, "3");
  std::filesystem::remove(file);
  EXPECT_FALSE(one.find("https://one.test").value());
}

TEST_F(TokenStoreTest, RefusesAFileThatOthersMayUse) {
  write(R"({"version":1,"servers":{}})", 0640);
  TokenStore store(file);
  const auto found = store.find("https://m.test");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::configuration);
  EXPECT_THAT(found.error().message, HasSubstr("chmod 600"));
  EXPECT_FALSE(save(store, "https://m.test", some("t")));
  EXPECT_EQ(read(), R"({"version":1,"servers":{}})");
  ::chmod(file.c_str(), 0600);
  EXPECT_TRUE(store.find("https://m.test"));
}

TEST_F(TokenStoreTest, LeavesADamagedFileAsItIs) {
  for (const std::string bad :
       {"", "{", "[]", "{}", R"({"version":1})", R"({"version":1,"servers":[1]})",
        R"({"version":1,"servers":{"a":{"issuer":"secret-value"}}})",
        R"({"version":1,"servers":{"a":{"issuer":1,"client":{}}}})",
        R"({"version":1,"servers":{"a":{"issuer":"i","client":{},"expires_at":"secret-value"}}})"}) {
    write(bad);
    TokenStore store(file);
    const auto found = store.find("a");
    ASSERT_FALSE(found) << bad;
    EXPECT_EQ(found.error().code, Errc::invalid_input);
    EXPECT_THAT(found.error().message,
                testing::AllOf(HasSubstr("tokens.json"), testing::Not(HasSubstr("secret-value"))));
    EXPECT_FALSE(save(store, "b", some("t")));
    EXPECT_EQ(read(), bad);
  }
  write(R"({"version":2,"servers":{}})");
  EXPECT_EQ(TokenStore(file).find("a").error().code, Errc::unsupported);
}

TEST_F(TokenStoreTest, GoesOnInMemoryWhereNothingCanBeWritten) {
  write("");
  std::filesystem::remove(file);
  std::filesystem::remove(file.parent_path());
  std::ofstream(folder.path / "new") << "a file where the folder should be";
  TokenStore store(file);
  EXPECT_FALSE(save(store, "https://m.test", some("t")));
  std::filesystem::remove(folder.path / "new");
  EXPECT_EQ(store.find("https://m.test").value()->access_token, "t");
  // Written together with the next.
  ASSERT_TRUE(save(store, "https://n.test", some("u")));
  EXPECT_EQ(TokenStore(file).find("https://m.test").value()->access_token, "t");
}

TEST_F(TokenStoreTest, NeedsNoFile) {
  TokenStore store("");
  ASSERT_TRUE(save(store, "https://m.test", some("t")));
  EXPECT_EQ(store.find("https://m.test").value(), some("t"));
}

TEST_F(TokenStoreTest, TakesWritersAtTheSameTime) {
  constexpr int kEach = 20;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([this, writer] {
      test::Live own;
      TokenStore store(file);
      for (int i = 0; i < kEach; ++i) {
        const auto url = std::to_string(writer) + "/" + std::to_string(i);
        EXPECT_TRUE(own.run(store.save(url, some(url))));
      }
    });
  }
  for (auto& writer : writers) writer.join();
  TokenStore store(file);
  for (int writer = 0; writer < 3; ++writer) {
    for (int i = 0; i < kEach; ++i)
      EXPECT_TRUE(store.find(std::to_string(writer) + "/" + std::to_string(i)).value()) << writer << "/" << i;
  }
}

}  // namespace
}  // namespace parley::mcp
