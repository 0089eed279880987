#include "parley/core/child_process.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "fakes/live.hpp"

namespace parley {
namespace {

using test::Live;

Result<std::unique_ptr<ChildProcess>> shell(Live& live, const std::string& script) {
  return ChildProcess::spawn(live.io.get_executor(), {"/bin/sh", "-c", script});
}

Task<std::string> output_of(ChildProcess& child) {
  std::string all;
  std::array<std::uint8_t, 100> buffer{};
  while (true) {
    const auto size = co_await child.read(buffer);
    if (!size) co_return "error: " + size.error().message;
    if (*size == 0) co_return all;
    all.append(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*size));
  }
}

/// Whether the process is neither running nor a zombie.
bool is_gone(int pid) {
  return ::kill(pid, 0) != 0 && errno == ESRCH;
}

TEST(ChildProcess, FeedsAndReads) {
  Live live;
  auto child = shell(live, "cat; echo done");
  ASSERT_TRUE(child) << child.error().message;
  const std::string input(1'000'000, 'x');
  (*child)->feed(input);
  EXPECT_EQ(live.run(output_of(**child)), input + "done\n") << "more than a pipe holds";
  EXPECT_TRUE(live.run((*child)->exited()).ok());
  EXPECT_TRUE(is_gone((*child)->pid()));
}

TEST(ChildProcess, TellsHowItEnded) {
  Live live;
  auto child = shell(live, "echo words; echo 'it broke' >&2; exit 3");
  EXPECT_EQ(live.run(output_of(**child)), "words\n");
  const auto exit = live.run((*child)->exited());
  EXPECT_EQ(exit.status, 3);
  EXPECT_FALSE(exit.ok());
  EXPECT_EQ(describe("talk", exit, (*child)->complaint()), "talk ended with status 3: it broke");

  auto killed = shell(live, "kill -9 $$");
  EXPECT_EQ(live.run((*killed)->exited()).signal, SIGKILL);
}

TEST(ChildProcess, KeepsTheEndOfALongComplaint) {
  Live live;
  auto child = shell(live, "i=0; while [ $i -lt 3000 ]; do echo \"line $i\" >&2; i=$((i+1)); done; exit 1");
  EXPECT_FALSE(live.run((*child)->exited()).ok());
  EXPECT_LE((*child)->complaint().size(), 1024U);
  EXPECT_TRUE((*child)->complaint().ends_with("line 2999\n"));
}

TEST(ChildProcess, DoesNotMindAProgramThatReadsNothing) {
  Live live;
  auto child = shell(live, "exec 0<&-; echo deaf");
  (*child)->feed(std::string(1'000'000, 'x'));
  EXPECT_EQ(live.run(output_of(**child)), "deaf\n");
  EXPECT_TRUE(live.run((*child)->exited()).ok()) << "and SIGPIPE kills nobody";
}

TEST(ChildProcess, EndsWithItsOwner) {
  Live live;
  auto child = shell(live, "echo up; sleep 1000");
  std::array<std::uint8_t, 10> buffer{};
  ASSERT_TRUE(live.run((*child)->read(buffer)));
  const int pid = (*child)->pid();
  child->reset();
  EXPECT_TRUE(live.until([&] { return is_gone(pid); }));
}

TEST(ChildProcess, KillsWhatIgnoresTermAndWhatItStarted) {
  Live live;
  auto child = shell(live, "trap '' TERM; sleep 1000 & echo $!; while true; do sleep 1000; done");
  std::array<std::uint8_t, 20> buffer{};
  const auto size = live.run((*child)->read(buffer));
  ASSERT_TRUE(size);
  const int grandchild = std::stoi(std::string(buffer.begin(), buffer.begin() + static_cast<int>(*size)));
  const int pid = (*child)->pid();
  EXPECT_FALSE(is_gone(grandchild));
  child->reset();
  EXPECT_TRUE(live.until([&] { return is_gone(pid); }));
  // Orphans are reaped by init, or stay as zombies where there is none that reaps.
  EXPECT_TRUE(live.until([&] {
    const auto stat = std::filesystem::path("/proc") / std::to_string(grandchild) / "exe";
    std::error_code none;
    return !std::filesystem::exists(std::filesystem::read_symlink(stat, none), none);
  }));
}

TEST(ChildProcess, EndsWithTheIoContext) {
  int pid = 0;
  {
    Live live;
    auto child = shell(live, "trap '' TERM; while true; do sleep 1000; done");
    pid = (*child)->pid();
  }
  EXPECT_TRUE(is_gone(pid));
}

TEST(ChildProcess, StopsAReadWhenItIsKilled) {
  Live live;
  auto child = shell(live, "sleep 1000");
  std::array<std::uint8_t, 10> buffer{};
  const auto reading = live.start((*child)->read(buffer));
  EXPECT_FALSE(live.until([&, polls = 0]() mutable { return reading->done() || ++polls > 3; }) &&
               reading->done());
  (*child)->kill();
  ASSERT_TRUE(live.until([&] { return reading->done(); }));
  EXPECT_EQ(reading->result->error().code, Errc::cancelled);
  EXPECT_EQ(live.run((*child)->exited()).signal, SIGTERM);
}

TEST(ChildProcess, InheritsNoDescriptorAndNoIgnoredSignal) {
  Live live;
  const int leak = ::socket(AF_INET, SOCK_STREAM, 0);
  auto child = shell(live, "ls /proc/self/fd | wc -l; kill -PIPE $$; echo survived");
  const auto said = live.run(output_of(**child));
  ::close(leak);
  EXPECT_EQ(said, "4\n") << "three streams, and ls's own directory";
}

TEST(ChildProcess, FindsPrograms) {
  EXPECT_EQ(find_program("/bin/sh")->string(), "/bin/sh");
  EXPECT_TRUE(find_program("sh")->string().ends_with("/sh"));
  EXPECT_NE(find_program("no-such-program").error().message.find("no-such-program"), std::string::npos);
  EXPECT_FALSE(find_program(""));
  EXPECT_FALSE(find_program("/etc/passwd")) << "not executable";
  EXPECT_FALSE(find_program("/bin")) << "a directory";
  Live live;
  const auto missing = ChildProcess::spawn(live.io.get_executor(), {"/no/such/program"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::unavailable);
  EXPECT_FALSE(ChildProcess::spawn(live.io.get_executor(), {}));
}

}  // namespace
}  // namespace parley
