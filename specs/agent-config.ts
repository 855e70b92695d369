import { runLimits } from './run-limits.ts'
import {
  array,
  boolean,
  defaulted,
  integer,
  json,
  number,
  object,
  oneOf,
  optional,
  record,
  string,
  union,
} from './schema.ts'
import { tools } from './tools.ts'

const model = string({ minLength: 1, maxLength: 256 })
const temperature = number({ min: 0, max: 2 })
const maxTokens = integer({ min: 1 })
const reference = string({ minLength: 1, maxLength: 128 })

/** Another agent that a run of this one may hand work to: its id, or its id with a fixed version. */
const subagent = union([
  reference,
  object({
    agent_id: reference,
    version: optional(string({ minLength: 1, maxLength: 128 })),
    description: optional(string({ maxLength: 4096 })),
  }),
])

/** Names of what an agent needs beside its tools: ids, or objects with more to say. */
const needs = optional(array(json(), { maxItems: 100 }))

/** What an agent runs on (interface-additions "Shapes"). Open: fields that are not declared are kept as they are. */
export const agentConfig = object(
  {
    model,
    system_prompt: optional(string()),
    instructions: optional(string()),
    tools: optional(tools),
    temperature: optional(temperature),
    max_tokens: optional(maxTokens),
    pause_on_tool_calls: optional(boolean()),
    limits: optional(runLimits),
    subagents: optional(array(subagent, { maxItems: 100 })),
    connectors: needs,
    mcp_servers: needs,
    skills: needs,
    knowledge: needs,
  },
  { title: 'AgentConfig', open: true },
)

/** What an installation changes of its version's config; a tool replaces the version's of the same name, a limit the version's own. */
export const overlays = object(
  {
    system_prompt_append: optional(string()),
    model: optional(model),
    tools: optional(tools),
    temperature: optional(temperature),
    max_tokens: optional(maxTokens),
    pause_on_tool_calls: optional(boolean()),
    limits: optional(runLimits),
  },
  { title: 'AgentOverlays' },
)

const approval = oneOf('require', 'auto', 'deny')

/** Which tool calls of an installation wait for a person, which run at once, and which never run. */
export const approvalPolicy = object(
  { default: approval, tools: defaulted(record(approval, { maxProperties: 128 }), {}) },
  { title: 'ApprovalPolicy' },
)
