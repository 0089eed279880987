#pragma once

#include <boost/asio/cancellation_signal.hpp>
#include <memory>
#include <string>

#include "parley/session/session.hpp"

namespace parley::session {

/// One reply while it runs; outlives its cancellation until its coroutine has unwound.
struct Session::RunningReply {
  turn::Generation generation = 0;
  turn::ReplyKind kind = turn::ReplyKind::answer;
  std::string text;                        ///< what the user said, or what is to be said
  std::unique_ptr<dialogue::Draft> draft;  ///< of an answer to `text`, where one was begun
  std::shared_ptr<Playout> playout;
  std::shared_ptr<dialogue::ReplyInProgress> progress = std::make_shared<dialogue::ReplyInProgress>();
  asio::cancellation_signal stop;
  bool cancelled = false;
  bool end_conversation = false;                    ///< a tool asked for it
  std::shared_ptr<mcp::ReminderBook::Claim> claim;  ///< of an announcement
};

}  // namespace parley::session
