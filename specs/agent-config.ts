import {
  array,
  boolean,
  defaulted,
  described,
  integer,
  json,
  jsonObject,
  number,
  object,
  oneOf,
  optional,
  record,
  string,
  union,
} from './dsl/schema.ts'
import { conversationMemory } from './memory-field.ts'
import { runLimits } from './run-limits.ts'
import { tools } from './tools.ts'

const model = string({ minLength: 1, maxLength: 256 })
const temperature = number({ min: 0, max: 2 })
const maxTokens = integer({ min: 1 })
const reference = string({ minLength: 1, maxLength: 128 })

/** An agent that runs of this agent may delegate to: its id, or its id with a fixed version. */
const subagent = union([
  reference,
  object({
    agent_id: reference,
    version: optional(
      string({ minLength: 1, maxLength: 128, description: 'Version to run. Default: the newest published one.' }),
    ),
    description: optional(string({ maxLength: 4096, description: 'Tells the model when to delegate.' })),
  }),
])

/** What a turn may set beside its agent's own; browsers only as far as the agent's `turn_overrides` name it. */
export const turnOverrides = ['model', 'instructions', 'tools'] as const

/** Prerequisites of an agent beside its tools: ids, or objects with an id. */
const needs = optional(array(json(), { maxItems: 100 }))

/** How a model is requested, beside its messages and tools: as the chat completions API has it. Named as they are sent. */
const sampling = {
  top_p: described(optional(number({ min: 0, max: 1 })), 'Share of the likeliest tokens that are sampled from.'),
  stop: described(
    optional(
      union([
        string({ minLength: 1, maxLength: 256 }),
        array(string({ minLength: 1, maxLength: 256 }), { maxItems: 4 }),
      ]),
    ),
    'Texts at which an answer ends.',
  ),
  response_format: described(
    optional(jsonObject()),
    'Form of the answer: `{"type": "json_object"}`, or `{"type": "json_schema", "json_schema": {…}}`.',
  ),
  reasoning_effort: described(
    optional(oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh')),
    'Amount of reasoning before the answer.',
  ),
  seed: described(optional(integer()), 'Makes answers repeatable where the provider supports it.'),
  tool_choice: described(
    optional(union([oneOf('auto', 'none', 'required'), jsonObject()])),
    'Which tool the model calls: `auto`, `none`, `required` or `{"type": "function", "function": {"name": …}}`. A choice that forces a call is for the first model call of a turn or run; then it is `auto`.',
  ),
  parallel_tool_calls: described(optional(boolean()), 'Whether one answer may call several tools.'),
  models: described(
    optional(array(model, { maxItems: 8 })),
    'Models that answer when `model` fails, in order. They do not apply to a turn that names a model.',
  ),
}

/** What happens to a conversation that no longer fits into its model's context window. */
export const contextPolicy = object(
  {
    strategy: described(
      optional(oneOf('truncate', 'summarize')),
      'What stands for the oldest turns: nothing, or a summary that a model writes. Default: `truncate`.',
    ),
    max_tokens: optional(
      integer({
        min: 256,
        description: 'Most tokens of a conversation, estimated. Default: what the context window of the model leaves.',
      }),
    ),
    keep_turns: optional(
      integer({ min: 1, max: 1000, description: 'Newest turns that stay, where they fit. Default: as many as fit.' }),
    ),
    model: described(optional(model), 'Model that writes summaries. Default: the model of the turn.'),
  },
  { title: 'ContextPolicy', description: 'What happens to a conversation that outgrows its model.' },
)

/** Configuration of an agent (`agents.create`). A field that is not declared is refused: it would do nothing. */
export const agentConfig = object(
  {
    model: described(model, 'Model of the agent: a model id, or `provider/model`.'),
    system_prompt: described(optional(string()), 'System prompt of every conversation.'),
    instructions: described(optional(string()), 'Text that follows `system_prompt`.'),
    tools: described(optional(tools), 'Tools that the model may call.'),
    temperature: described(optional(temperature), 'Sampling temperature.'),
    max_tokens: described(optional(maxTokens), 'Most tokens of one model answer.'),
    ...sampling,
    pause_on_tool_calls: described(
      optional(boolean()),
      'Tool calls wait for an approval. When a tool has `needsApproval`, only calls of such tools wait.',
    ),
    turn_overrides: described(
      optional(array(oneOf(...turnOverrides), { maxItems: 3 })),
      'Fields of a turn that client tokens and public keys may set for this agent. None by default.',
    ),
    context: optional(contextPolicy),
    memory: described(optional(conversationMemory), 'Memory of the end users of sessions and runs.'),
    limits: optional(runLimits),
    subagents: described(
      optional(array(subagent, { maxItems: 100 })),
      'Agents that runs of this agent may delegate to.',
    ),
    connectors: needs,
    mcp_servers: needs,
    skills: needs,
    knowledge: needs,
    knowledge_bases: needs,
    web: described(
      optional(array(oneOf('search', 'fetch', 'browse'), { maxItems: 3 })),
      'Tools of the web that the model may call: `search` of the pages that the project has indexed (`web_search`), `fetch` of public pages (`web_fetch`), and `browse`, which opens a page in a browser and acts on it; its calls wait for an approval unless a policy says otherwise.',
    ),
  },
  { title: 'AgentConfig', description: 'Configuration of an agent.' },
)

/** Changes of an installation to its version's config. A tool replaces the version's tool of the same name, a limit the version's limit. */
export const overlays = object(
  {
    system_prompt_append: described(optional(string()), "Text after the version's system prompt."),
    model: optional(model),
    tools: optional(tools),
    temperature: optional(temperature),
    max_tokens: optional(maxTokens),
    ...sampling,
    pause_on_tool_calls: optional(boolean()),
    context: optional(contextPolicy),
    limits: optional(runLimits),
  },
  { title: 'AgentOverlays', description: "Changes of an installation to its version's config." },
)

const approval = oneOf('require', 'auto', 'deny')

/** Approval policy of an installation: tool calls that wait for a person, run at once, or never run. */
export const approvalPolicy = object(
  {
    default: described(approval, 'Applies to tools that `tools` does not name.'),
    tools: described(defaulted(record(approval, { maxProperties: 128 }), {}), 'Policy by name of the tool.'),
  },
  {
    title: 'ApprovalPolicy',
    description: '`require` makes a tool call wait for an approval, `auto` runs it at once, `deny` never runs it.',
  },
)
