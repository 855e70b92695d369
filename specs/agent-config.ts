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
import { guardrailNames } from './resources/gateway/guardrails.ts'
import { agentPrompt } from './resources/gateway/shapes/prompt-shapes.ts'
import { runLimits } from './run-limits.ts'
import { approver, tools } from './tools.ts'

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

/**
 * Fields of the agent's config that a turn may override. Callers in a browser may only set those that the agent's
 * `turn_overrides` lists.
 */
export const turnOverrides = ['model', 'instructions', 'tools'] as const

/** Prerequisites of an agent other than its tools: ids, or objects with an id. */
const needs = optional(array(json(), { maxItems: 100 }))

/** Parameters of the model's requests, named as in the chat completions API. */
const sampling = {
  top_p: described(
    optional(number({ min: 0, max: 1 })),
    'Nucleus sampling: only the most likely tokens whose probabilities add up to this value are considered.',
  ),
  stop: described(
    optional(
      union([
        string({ minLength: 1, maxLength: 256 }),
        array(string({ minLength: 1, maxLength: 256 }), { maxItems: 4 }),
      ]),
    ),
    'Stop sequences: the answer ends before the first one that occurs.',
  ),
  response_format: described(
    optional(jsonObject()),
    'Format of the answer: `{"type": "json_object"}`, or `{"type": "json_schema", "json_schema": {…}}`.',
  ),
  reasoning_effort: described(
    optional(oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh')),
    'Amount of reasoning before the answer.',
  ),
  seed: described(optional(integer()), 'Seed for reproducible answers, where the provider supports it.'),
  tool_choice: described(
    optional(union([oneOf('auto', 'none', 'required'), jsonObject()])),
    'Which tool the model calls: `auto`, `none`, `required` or `{"type": "function", "function": {"name": …}}`. A choice that forces a call applies to the first model call of a turn or run; later calls use `auto`.',
  ),
  parallel_tool_calls: described(optional(boolean()), 'Whether one answer may call several tools.'),
  models: described(
    optional(array(model, { maxItems: 8 })),
    'Fallback models, tried in order when `model` fails. They do not apply to a turn that sets its own model.',
  ),
}

/** What happens to a conversation that no longer fits into its model's context window. */
export const contextPolicy = object(
  {
    strategy: described(
      optional(oneOf('truncate', 'summarize')),
      'What replaces the oldest turns: nothing (`truncate`), or a summary written by a model. Default: `truncate`.',
    ),
    max_tokens: optional(
      integer({
        min: 256,
        description:
          "Maximum estimated number of tokens of a conversation. Default: the space available in the model's context window.",
      }),
    ),
    keep_turns: optional(
      integer({
        min: 1,
        max: 1000,
        description: 'Number of latest turns to keep, if they fit. Default: as many as fit.',
      }),
    ),
    model: described(optional(model), 'Model that writes the summaries. Default: the model of the turn.'),
  },
  { title: 'ContextPolicy', description: "What to do when a conversation exceeds the model's context window." },
)

const onInterrupted = oneOf('retry', 'restart', 'fail')

/** Configuration of an agent (`agents.create`). Undeclared fields are refused, since they would have no effect. */
export const agentConfig = object(
  {
    model: described(model, 'Model of the agent: a model id, or `provider/model`.'),
    system_prompt: described(optional(string()), 'System prompt of every conversation.'),
    instructions: described(optional(string()), 'Text that is appended to `system_prompt`.'),
    prompts: described(
      optional(array(agentPrompt, { maxItems: 16 })),
      'Stored prompts, whose system and developer messages follow the instructions.',
    ),
    tools: described(optional(tools), 'Tools that the model may call.'),
    temperature: described(optional(temperature), 'Sampling temperature.'),
    max_tokens: described(optional(maxTokens), 'Maximum number of tokens in one model answer.'),
    ...sampling,
    pause_on_tool_calls: described(
      optional(boolean()),
      'Whether tool calls require approval. When any tool has `needsApproval`, only calls of those tools do.',
    ),
    on_interrupted: described(
      optional(onInterrupted),
      'What happens to a turn of a session whose server stops while the model is answering: `retry` makes the model call again, `fail` ends the turn with `interrupted`. `restart` is another name of `retry`. Default: `retry`.',
    ),
    show_reasoning: described(
      optional(boolean()),
      'Whether streams and messages of sessions have what the model reasons (`reasoning.delta`), where the provider shows it. It may repeat the instructions. Default: `false`.',
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
      'Agents to which runs of this agent may delegate.',
    ),
    connectors: needs,
    mcp_servers: needs,
    remote_agents: described(
      needs,
      'Agents of others to which the agent may delegate: ids of remote tool servers with the transport `a2a`, or objects with `server_id` and `require_approval`.',
    ),
    skills: needs,
    knowledge: needs,
    knowledge_bases: needs,
    guardrails: described(
      guardrailNames,
      'Names or ids of guardrails that check the model calls of sessions and runs, in addition to those of the project. An agent whose guardrail was deleted does not run.',
    ),
    web: described(
      optional(array(oneOf('search', 'fetch', 'browse'), { maxItems: 3 })),
      'Web tools that the model may call: `search` searches the pages that the project has indexed (`web_search`), `fetch` reads public pages (`web_fetch`), and `browse` opens a page in a browser and acts on it. Calls of `browse` require approval unless a policy states otherwise.',
    ),
  },
  { title: 'AgentConfig', description: 'Configuration of an agent.' },
)

/** Changes of an installation to its version's config. Tools and limits replace those of the same name. */
export const overlays = object(
  {
    system_prompt_append: described(optional(string()), "Text that is appended to the version's system prompt."),
    model: optional(model),
    tools: optional(tools),
    temperature: optional(temperature),
    max_tokens: optional(maxTokens),
    ...sampling,
    pause_on_tool_calls: optional(boolean()),
    on_interrupted: optional(onInterrupted),
    show_reasoning: optional(boolean()),
    context: optional(contextPolicy),
    limits: optional(runLimits),
  },
  { title: 'AgentOverlays', description: "Changes of an installation to its version's config." },
)

const approval = oneOf('require', 'auto', 'deny')

/** Named, since openapi-generator's Java gives the values of two maps of words in one object the same name. */
const toolApprover = { ...approver, json: { ...approver.json, title: 'ToolApprover' } }

/** Approval policy of an installation: which tool calls require approval, run at once, or never run. */
export const approvalPolicy = object(
  {
    default: described(approval, 'Applies to tools that `tools` does not name.'),
    tools: described(defaulted(record(approval, { maxProperties: 128 }), {}), 'Policy by name of the tool.'),
    approvers: described(
      optional(record(toolApprover, { maxProperties: 128 })),
      'Who may decide about calls, by name of the tool. It takes precedence over `approver` of the tool.',
    ),
  },
  {
    title: 'ApprovalPolicy',
    description: '`require` makes a tool call wait for an approval, `auto` runs it at once, `deny` never runs it.',
  },
)
