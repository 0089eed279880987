#include "parley/mcp/http_link.hpp"

#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <map>
#include <set>
#include <utility>

#include "mcp/dialect.hpp"
#include "mcp/http_wire.hpp"
#include "parley/core/async_event.hpp"
#include "parley/core/deadline.hpp"
#include "parley/core/log.hpp"
#include "parley/core/text.hpp"
#include "parley/mcp/mirrored_headers.hpp"

namespace parley::mcp {
namespace {

using nlohmann::json;

constexpr int kMaxPages = 64;
constexpr std::size_t kMaxTools = 512;
constexpr std::size_t kMaxSchema = std::size_t{64} * 1024;
constexpr std::size_t kMaxName = 256;
constexpr std::size_t kMaxDescription = std::size_t{8} * 1024;

using Mirrored = std::map<std::string, std::vector<MirroredHeader>>;  // by tool

/// When a request was last heard of.
struct Patience {
  TimePoint until;  ///< without progress
  TimePoint at_most;
};

/// A dialect that is not abandoned with a stream of its own still open.
class Candidate {
 public:
  explicit Candidate(std::shared_ptr<Dialect> dialect) : dialect_(std::move(dialect)) {}
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;
  Candidate(Candidate&&) = delete;
  Candidate& operator=(Candidate&&) = delete;
  ~Candidate() {
    if (dialect_) dialect_->abort();
  }
  Dialect* operator->() const { return dialect_.get(); }
  std::shared_ptr<Dialect> take() { return std::exchange(dialect_, nullptr); }

 private:
  std::shared_ptr<Dialect> dialect_;
};

/// Whether a status is about the moment, and says nothing of how the server is spoken to.
bool is_passing(int status) {
  return status == 408 || status == 429 || (status >= 502 && status <= 504);
}

/// A tool with what is worth keeping of it; an error says why it is left out.
Result<Tool> admit(const json& item, Mirrored& mirrored) {
  auto tool = read_tool(item);
  if (!tool) return tool.error();
  if (tool->name.size() > kMaxName) return Error(Errc::limit, "its name is longer than 256 bytes");
  if (tool->input_schema.dump(-1, ' ', false, json::error_handler_t::replace).size() > kMaxSchema)
    return Error(Errc::limit, "its schema is longer than 64 KiB");
  auto declared = mirrored_headers(tool->input_schema);
  if (!declared) return declared.error();
  tool->description = head(tool->description, kMaxDescription);
  mirrored.emplace(tool->name, std::move(*declared));
  return tool;
}

/// Tools that a list goes without: one line in the log for all of them.
class LeftOut {
 public:
  explicit LeftOut(std::string url) : url_(std::move(url)) {}
  LeftOut(const LeftOut&) = delete;
  LeftOut& operator=(const LeftOut&) = delete;
  LeftOut(LeftOut&&) = delete;
  LeftOut& operator=(LeftOut&&) = delete;
  ~LeftOut() {
    if (count_ > 0)
      log::warn("tools of an MCP server are left out", {{"url", url_}, {"tools", count_}, {"why", first_}});
  }
  void add(const std::string& why) {
    if (count_++ == 0) first_ = why;
  }

 private:
  std::string url_;
  std::size_t count_ = 0;
  std::string first_;
};

Task<> wait_out(Scheduler& clock, std::shared_ptr<const Patience> patience) {
  while (true) {
    const auto due = std::min(patience->until, patience->at_most);
    if (clock.now() >= due) co_return;
    co_await sleep_until(clock, due);
  }
}

}  // namespace

std::string_view to_string(Era era) {
  switch (era) {
    case Era::automatic:
      return "auto";
    case Era::modern:
      return "modern";
    case Era::legacy:
      return "legacy";
    case Era::sse:
      return "sse";
  }
  return "";
}

struct HttpLink::State : std::enable_shared_from_this<HttpLink::State> {
  State(asio::any_io_executor on, std::shared_ptr<Scheduler> by, HttpLinkSettings with,
        std::shared_ptr<Authorization> authorization)
      : executor(std::move(on)),
        scheduler(std::move(by)),
        settings(std::move(with)),
        wire(std::make_shared<HttpWire>(executor, scheduler, settings, std::move(authorization))),
        freed(executor) {}

  /// A place among the requests at the same time.
  class Place {
   public:
    explicit Place(std::shared_ptr<State> state) : state_(std::move(state)) { ++state_->running; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    Place(Place&&) = delete;
    Place& operator=(Place&&) = delete;
    ~Place() {
      --state_->running;
      state_->freed.notify();
    }

   private:
    std::shared_ptr<State> state_;
  };

  std::shared_ptr<Dialect> make(Era which) const {
    switch (which) {
      case Era::legacy:
        return make_legacy(executor, wire);
      case Era::sse:
        return make_sse(executor, wire);
      case Era::automatic:
      case Era::modern:
        break;
    }
    return make_modern(wire);
  }

  Task<Result<ServerInfo>> open(Era which, std::shared_ptr<OpenFailure> failure) {
    *failure = {};
    Candidate candidate(make(which));
    auto info =
        co_await with_deadline(*scheduler, scheduler->now() + settings.connect_timeout + settings.timeout,
                               "the MCP server did not answer in time", candidate->open(failure));
    if (info) {
      era = info->era;
      dialect = candidate.take();
    } else {
      co_await candidate->close();
      if (is_passing(failure->status)) *failure = {};
    }
    co_return info;
  }

  Task<Result<ServerInfo>> detect() {
    const auto failure = std::make_shared<OpenFailure>();
    if (settings.era != Era::automatic) co_return co_await open(settings.era, failure);
    auto info = co_await open(known == Era::automatic ? Era::modern : known, failure);
    if (!info && failure->status != 0) {
      // It is not what it was.
      const auto before = std::exchange(known, Era::automatic);
      if (before == Era::legacy || before == Era::sse) info = co_await open(Era::modern, failure);
    }
    if (!info && failure->status != 0) {
      info = co_await open(Era::legacy, failure);
      const auto status = failure->status;
      if (!info && (status == 400 || status == 404 || status == 405)) {
        const auto why = info.error();
        info = co_await open(Era::sse, failure);
        // What the more usual transport said is of more use.
        if (!info) info = why;
      }
    }
    if (info) known = info->era;
    co_return info;
  }

  Task<Result<RpcReply>> send(DialectCall call, RequestOptions options) {
    using asio::experimental::awaitable_operators::operator||;
    const auto self = shared_from_this();
    const auto began = scheduler->now();
    const auto timeout = options.timeout.count() > 0 ? options.timeout : settings.timeout;
    const auto at_most = options.max_timeout.count() > 0 ? options.max_timeout : settings.max_timeout;
    auto patience = std::make_shared<Patience>(Patience{began + timeout, began + std::max(at_most, timeout)});
    call.on_progress = [self, patience, timeout, tell = std::move(options.on_progress)](const json& params) {
      patience->until = self->scheduler->now() + timeout;
      if (!tell || !params.is_object()) return;
      const auto progress = params.find("progress");
      const auto message = params.find("message");
      tell(progress != params.end() && progress->is_number() ? progress->get<double>() : 0,
           message != params.end() && message->is_string() ? message->get<std::string>() : "");
    };
    call.idempotent = options.idempotent;
    const auto late = [](Millis limit) {
      return Error(Errc::timeout,
                   "the MCP server did not answer within " + std::to_string(limit.count()) + " ms", true);
    };
    auto outcome = co_await (contained(take_turn(std::move(call))) || wait_out(*scheduler, patience));
    if (outcome.index() == 0) co_return std::move(std::get<0>(outcome));
    co_return late(std::chrono::duration_cast<Millis>(scheduler->now() - began));
  }

  Task<Result<RpcReply>> take_turn(DialectCall call) {
    const auto self = shared_from_this();
    while (running >= settings.max_requests) co_await freed.wait();
    const Place place(self);
    if (!dialect) co_return Error(Errc::closed, "the MCP server is not connected", true);
    co_return co_await dialect->request(std::move(call));
  }

  asio::any_io_executor executor;
  std::shared_ptr<Scheduler> scheduler;
  HttpLinkSettings settings;
  std::shared_ptr<HttpWire> wire;
  std::shared_ptr<Dialect> dialect;
  Era era = Era::automatic;    ///< of the dialect
  Era known = Era::automatic;  ///< what detection found
  Mirrored mirrored;
  std::size_t running = 0;
  AsyncEvent freed;
};

HttpLink::HttpLink(asio::any_io_executor executor, std::shared_ptr<Scheduler> scheduler,
                   HttpLinkSettings settings, std::shared_ptr<Authorization> authorization)
    : state_(std::make_shared<State>(std::move(executor), std::move(scheduler), std::move(settings),
                                     std::move(authorization))) {
}

HttpLink::~HttpLink() {
  if (state_->dialect) state_->dialect->abort();
}

Task<Result<ServerInfo>> HttpLink::connect() {
  const auto state = state_;
  if (const auto before = std::exchange(state->dialect, nullptr)) co_await before->close();
  auto info = co_await contained(state->detect());
  co_return info;
}

Task<Result<ToolPage>> HttpLink::list_tools() {
  const auto state = state_;
  ToolPage list;
  std::set<std::string> cursors;
  json params = json::object();
  Mirrored mirrored;
  LeftOut left_out(state->settings.url);
  const auto listed = [&]() -> ToolPage {
    // Only now: calls may run meanwhile.
    state->mirrored = std::move(mirrored);
    return std::move(list);
  };
  for (int page = 0; page < kMaxPages; ++page) {
    DialectCall call;
    call.method = "tools/list";
    call.params = params;
    RequestOptions options;
    options.idempotent = true;
    const auto reply = co_await state->send(std::move(call), std::move(options));
    if (!reply) co_return reply.error();
    if (reply->error) {
      // Servers without tools do not know the method.
      if (reply->error->code == code::kMethodNotFound && page == 0) co_return listed();
      co_return Error(Errc::invalid_input, "the MCP server lists no tools: " + describe(*reply->error));
    }
    const auto& result = reply->result;
    const auto tools = result.is_object() ? result.find("tools") : result.end();
    if (!result.is_object() || tools == result.end() || !tools->is_array())
      co_return Error(Errc::invalid_input, "the MCP server's list of tools is malformed");
    for (const auto& item : *tools) {
      if (list.tools.size() == kMaxTools) {
        log::warn("an MCP server has more tools than are taken", {{"url", state->settings.url}});
        co_return listed();
      }
      auto tool = admit(item, mirrored);
      if (tool) {
        list.tools.push_back(std::move(*tool));
      } else {
        left_out.add(tool.error().message);
      }
    }
    if (const auto ttl = result.find("ttlMs"); ttl != result.end() && ttl->is_number_unsigned())
      list.ttl = Millis(std::min<std::uint64_t>(ttl->get<std::uint64_t>(), 86'400'000));
    const auto cursor = result.find("nextCursor");
    if (cursor == result.end() || cursor->is_null()) co_return listed();
    if (!cursor->is_string())
      co_return Error(Errc::invalid_input, "the MCP server's list of tools has a malformed cursor");
    if (!cursors.insert(cursor->get<std::string>()).second) {
      log::warn("an MCP server repeats a page of tools", {{"url", state->settings.url}});
      co_return listed();
    }
    params["cursor"] = *cursor;
  }
  log::warn("an MCP server has more pages of tools than are read", {{"url", state->settings.url}});
  co_return listed();
}

Task<Result<json>> HttpLink::call_tool(std::string name, json arguments, RequestOptions options) {
  const auto state = state_;
  for (bool again = true;; again = false) {
    DialectCall call;
    call.method = "tools/call";
    call.params = {{"name", name}, {"arguments", arguments}};
    call.name = name;
    if (const auto found = state->mirrored.find(name); found != state->mirrored.end())
      call.headers = headers_for(found->second, arguments);
    auto reply = co_await state->send(std::move(call), options);
    if (!reply) co_return reply.error();
    if (!reply->error) co_return std::move(reply->result);
    // The tool wants other headers than the schema we know says. To older servers the number means nothing.
    if (reply->error->code == code::kHeaderMismatch && again && state->era == Era::modern) {
      if (const auto listed = co_await list_tools(); listed) continue;
    }
    co_return Error(Errc::invalid_input, describe(*reply->error));
  }
}

Task<Result<RpcReply>> HttpLink::request(std::string method, json params, std::string name,
                                         RequestOptions options) {
  const auto state = state_;
  DialectCall call;
  call.method = std::move(method);
  call.params = std::move(params);
  call.name = std::move(name);
  co_return co_await state->send(std::move(call), std::move(options));
}

Task<Result<>> HttpLink::listen(std::function<void()> changed) {
  const auto state = state_;
  if (!state->dialect) co_return Error(Errc::closed, "the MCP server is not connected", true);
  const auto dialect = state->dialect;
  co_return co_await contained(dialect->listen(std::move(changed)));
}

Task<> HttpLink::close() {
  const auto state = state_;
  if (const auto dialect = std::exchange(state->dialect, nullptr)) co_await dialect->close();
}

}  // namespace parley::mcp
