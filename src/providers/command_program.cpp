#include "providers/command_program.hpp"

#include <filesystem>

namespace parley::providers {

std::vector<std::string> command_from_config(const config::Node& node) {
  auto command = node.get_strings("command", {});
  if (command.empty()) node.fail("command", "expected a program and its arguments, as a list");
  if (command.size() == 1 && command[0].find(' ') != std::string::npos) {
    node.fail("command", "expected a list, [program, argument, …]: there is no shell that would split it");
  }
  if (command[0].find('/') != std::string::npos) command[0] = (node.directory() / command[0]).string();
  if (const auto found = find_program(command[0]); !found) node.fail("command", found.error().message);
  return command;
}

std::vector<std::string> filled_in(std::vector<std::string> command,
                                   const std::vector<std::pair<std::string, std::string>>& values) {
  for (auto argument = command.begin() + 1; argument < command.end(); ++argument) {
    std::string filled;
    for (std::size_t at = 0; at < argument->size();) {
      bool replaced = false;
      for (const auto& [name, value] : values) {
        const auto mark = "{" + name + "}";
        if (argument->compare(at, mark.size(), mark) != 0) continue;
        if (!value.starts_with('-')) filled += value;
        at += mark.size();
        replaced = true;
        break;
      }
      if (!replaced) filled += (*argument)[at++];
    }
    *argument = std::move(filled);
  }
  return command;
}

ProgramRun::ProgramRun(std::unique_ptr<ChildProcess> process, std::string name,
                       std::shared_ptr<Scheduler> clock)
    : process_(std::move(process)),
      name_(std::move(name)),
      clock_(std::move(clock)),
      timer_(clock_->make_timer()) {
}

void ProgramRun::expect_within(Millis limit) {
  timer_->arm(clock_->now() + limit, [this] {
    late_ = true;
    process_->kill();
  });
}

Task<Result<std::size_t>> ProgramRun::read(std::span<std::uint8_t> into) {
  const auto size = co_await process_->read(into);
  if (late_) co_return Error(Errc::timeout, name_ + " took too long", true);
  if (!size || *size > 0) co_return size;
  const auto exit = co_await process_->exited();
  if (late_) co_return Error(Errc::timeout, name_ + " took too long", true);
  if (!exit.ok()) co_return Error(Errc::unavailable, describe(name_, exit, process_->complaint()));
  co_return std::size_t{0};
}

}  // namespace parley::providers
