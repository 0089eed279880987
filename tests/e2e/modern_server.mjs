// An MCP server of 2026-07-28, and of nothing older, made with the reference SDK: modern_server.mjs PACKAGES PORT
// Says what happens to it on standard output, one JSON object a line.
import { AsyncLocalStorage } from "node:async_hooks";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

const [packages, port] = process.argv.slice(2);
const { McpServer, acceptedContent, createMcpHandler, fromJsonSchema, inputRequired } =
  createRequire(`${packages}/`)("@modelcontextprotocol/server");

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const say = (event) => console.log(JSON.stringify(event));
const text = (words) => ({ content: [{ type: "text", text: words }] });
const object = (properties, required = Object.keys(properties)) =>
  fromJsonSchema({ type: "object", properties, required });

// The HTTP exchange that a tool answers in.
const exchange = new AsyncLocalStorage();
const calls = {};
let grown = false;

function dropFirst(tool) {
  calls[tool] = (calls[tool] ?? 0) + 1;
  if (calls[tool] % 2 === 1) exchange.getStore().response.destroy();
  return text(`call ${calls[tool]}`);
}

function makeServer() {
  const server = new McpServer({ name: "modern", version: "1.2.3" });
  const safe = { annotations: { readOnlyHint: true } };
  server.registerTool("add", { description: "Adds two numbers.", ...safe,
    inputSchema: object({ a: { type: "number" }, b: { type: "number" } }) },
    ({ a, b }) => text(`The sum is ${a + b}.`));
  server.registerTool("picture", { description: "A picture." }, () =>
    ({ content: [{ type: "text", text: "One pixel." }, { type: "image", data: PIXEL, mimeType: "image/png" }] }));
  server.registerTool("weather", { description: "The weather, as data.",
    outputSchema: object({ celsius: { type: "number" } }) },
    () => ({ content: [], structuredContent: { celsius: 21 } }));
  server.registerTool("fail", { description: "Fails." }, () => ({ ...text("The oven is on fire."), isError: true }));
  server.registerTool("where", { description: "Says which region it was asked in, twice.",
    inputSchema: object({ region: { type: "string", "x-mcp-header": "Region" } }) }, ({ region }) =>
    text(`${region} and ${exchange.getStore().request.headers["mcp-param-region"]}`));
  server.registerTool("drop", { description: "Loses its answer, each first time." }, () => dropFirst("drop"));
  server.registerTool("drop_safely", { description: "The same, harmless.", ...safe }, () => dropFirst("drop_safely"));
  server.registerTool("slow", { description: "Takes its time and tells how far it is.",
    inputSchema: object({ steps: { type: "integer" }, pause: { type: "number" } }) },
    async ({ steps, pause }, { mcpReq }) => {
      say({ event: "begun", tool: "slow" });
      mcpReq.signal.addEventListener("abort", () => say({ event: "aborted", tool: "slow" }));
      for (let step = 1; step <= steps; ++step) {
        await sleep(pause * 1000, undefined, { signal: mcpReq.signal });
        await mcpReq.notify({ method: "notifications/progress",
          params: { progressToken: mcpReq._meta?.progressToken, progress: step, message: `step ${step}` } });
      }
      return text(`Done in ${steps} steps.`);
    });
  server.registerTool("ask", { description: "Asks for a size first." }, (...given) => {
    const { mcpReq } = given.at(-1);
    const answer = acceptedContent(mcpReq.inputResponses, "size");
    if (answer) return text(`${answer.size}, ${mcpReq.requestState()}`);
    const requestedSchema = { type: "object", properties: { size: { type: "string", default: "large" } } };
    return inputRequired({ requestState: "state \"1\" ✓",
      inputRequests: { size: inputRequired.elicit({ message: "Which size?", requestedSchema }) } });
  });
  server.registerTool("grow", { description: "Makes another tool." }, () => {
    grown = true;
    handler.notify.toolsChanged();
    return text("There is one more.");
  });
  if (grown) server.registerTool("grown", { description: "The new one." }, () => text("Here I am."));
  return server;
}

const handler = createMcpHandler(makeServer, { legacy: "reject" });

createServer((request, response) => exchange.run({ request, response }, async () => {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const body = request.method === "GET" ? undefined : request;
  const answer = await handler.fetch(new Request(`http://localhost${request.url}`,
    { method: request.method, headers: request.headers, body, duplex: "half", signal: gone.signal }));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  for await (const chunk of answer.body ?? []) response.write(chunk);
  response.end();
}).catch(() => response.destroy())).listen(Number(port), "127.0.0.1", () => say({ event: "ready" }));
