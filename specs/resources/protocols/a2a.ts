import type { Access } from '#specs/access.ts'
import { answersEither, answersEvents, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import {
  array,
  boolean,
  constant,
  defaulted,
  described,
  integer,
  json,
  jsonObject,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '#specs/dsl/schema.ts'
import { a2aTask, a2aUpdates } from '#specs/events/a2a-events.ts'

const base = '/v1/agents/{agent_id}/a2a' as const
const pushConfigs = `${base}/tasks/{run_id}/pushNotificationConfigs` as const
const access: Access = { kinds: ['secret_key', 'agent_key'] }
const updates = answersEvents(a2aUpdates, { title: 'A2aUpdate', foreign: true })
const common = { access, unknownFields: 'ignore', idempotency: 'ignored', envelope: 'a2a' } as const

/** Extension of agents that begin one task for a message, however often it is sent. */
export const repeatedMessages = 'urn:troupe:a2a:repeated-messages'

const card = object(
  {
    name: string(),
    description: string(),
    version: string(),
    supportedInterfaces: array(
      object({
        url: string(),
        protocolBinding: oneOf('JSONRPC', 'HTTP+JSON'),
        tenant: constant(''),
        protocolVersion: constant('1.0'),
      }),
    ),
    capabilities: object({
      streaming: constant(true),
      pushNotifications: constant(true),
      extendedAgentCard: constant(false),
      extensions: array(jsonObject()),
    }),
    securitySchemes: jsonObject(),
    securityRequirements: array(jsonObject()),
    defaultInputModes: array(string()),
    defaultOutputModes: array(string()),
    skills: array(jsonObject()),
    signatures: array(jsonObject()),
  },
  { title: 'A2aAgentCard', description: 'What other agents need to call this one.' },
)

const historyLength = optional(
  integer({ min: 0, max: 1_000_000, description: 'Maximum number of messages of the history. Default: all.' }),
)

const noted = {
  id: string({ maxLength: 128, description: 'Id of the config among those of its task.' }),
  url: string({ minLength: 1, maxLength: 2048, description: 'Address to which updates are sent.' }),
  scheme: string({ minLength: 1, maxLength: 64, description: 'HTTP authentication scheme, such as `Bearer`.' }),
}

const newPushConfig = object(
  {
    id: optional(noted.id),
    url: noted.url,
    token: optional(
      string({ maxLength: 4096, description: 'Sent as `X-A2A-Notification-Token`; it also signs the request.' }),
    ),
    authentication: described(
      optional(object({ scheme: noted.scheme, credentials: optional(string({ maxLength: 4096 })) }, { open: true })),
      'Sent as `Authorization`.',
    ),
  },
  { title: 'A2aNewPushConfig', description: 'Where the updates of a task are sent.', open: true },
)

const pushConfig = object(
  {
    id: noted.id,
    taskId: string(),
    url: noted.url,
    authentication: optional(object({ scheme: noted.scheme })),
  },
  { title: 'A2aPushConfig', description: 'Where the updates of a task are sent. Its secrets are not returned.' },
)

const sending = {
  ...common,
  method: 'POST',
  body: object({
    message: described(
      jsonObject(),
      'A message of A2A with the role `ROLE_USER`: texts and JSON values. With `taskId` it answers what the task waits for: `{"approved": true}` or `{"approved": false}`, the output of a tool, or the values of a form.',
    ),
    configuration: described(
      optional(
        object(
          {
            returnImmediately: optional(boolean()),
            taskPushNotificationConfig: optional(newPushConfig),
            historyLength,
          },
          { open: true },
        ),
      ),
      '`returnImmediately`: whether to answer before the task ends or waits. `taskPushNotificationConfig`: as `a2a.set_push_config`. `historyLength`: as `a2a.task`.',
    ),
  }),
  errors: [
    ...(['agent_not_runnable', 'model_not_found', 'provider_not_configured', 'provider_not_active'] as const),
    ...(['action_already_resolved', 'tool_result_required', 'invalid_transition'] as const),
  ],
} as const

/** Agents for other agents, by A2A 1.0. */
export const a2a = defineOperations(
  { name: 'a2a', ofTenants: 'user' },
  {
    card: {
      ...common,
      summary: "Retrieve an agent's A2A card",
      description: 'The card of an agent for A2A 1.0. It needs the credential that calls need.',
      method: 'GET',
      path: `${base}/.well-known/agent-card.json`,
      answer: isJsonResponse(card),
    },
    host_card: {
      ...common,
      summary: "Retrieve the host's A2A card",
      description:
        "The card of the host's agent: with a key of an agent that agent's, otherwise that of the project's only agent. A card is of one agent, so with several of them this answers 404, and `a2a.card` has the card of each.",
      method: 'GET',
      path: '/.well-known/agent-card.json',
      answer: isJsonResponse(card),
    },
    call: {
      ...sending,
      summary: 'Call an agent with A2A over JSON-RPC',
      description:
        'The JSON-RPC binding of A2A 1.0: `SendMessage`, `SendStreamingMessage`, `GetTask`, `ListTasks`, `CancelTask`, `SubscribeToTask` and the methods of push notification configs, as the operations of the HTTP binding.',
      path: base,
      envelope: 'a2a_rpc',
      body: object({
        jsonrpc: constant('2.0'),
        id: described(json(), 'Id of the request: a text or a number.'),
        method: string({ minLength: 1, maxLength: 128, description: 'Name of the method.' }),
        params: described(optional(jsonObject()), 'Parameters of the method.'),
      }),
      answer: answersEither(
        isJsonResponse(
          object(
            { jsonrpc: constant('2.0'), id: json(), result: optional(jsonObject()), error: optional(jsonObject()) },
            { title: 'A2aRpcResponse', description: 'The response to a call over JSON-RPC.' },
          ),
        ),
        updates,
      ),
    },
    send: {
      ...sending,
      summary: 'Send an A2A message',
      description:
        'Begins a task, which is a run of the agent, or answers what a task waits for. Answers when the task has ended or waits, at the latest after five minutes. A message is sent once: with the id of an earlier one, its task is answered.',
      path: `${base}/message:send`,
      answer: isJsonResponse(object({ task: a2aTask })),
    },
    stream: {
      ...sending,
      summary: 'Send an A2A message and stream its task',
      description: 'As `a2a.send`, with the updates of the task until it has ended or waits.',
      path: `${base}/message:stream`,
      answer: updates,
    },
    tasks: {
      ...common,
      summary: 'List A2A tasks',
      description:
        'Runs of the agent, newest first; with `contextId` or `statusTimestampAfter` those whose state changed last first. Searches the newest 10,000 runs, and `totalSize` counts at most as many.',
      method: 'GET',
      path: `${base}/tasks`,
      query: {
        contextId: optional(string({ minLength: 1, maxLength: 256, description: 'Context of the tasks.' })),
        status: optional(
          oneOf(
            ...(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED'] as const),
            ...(['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED'] as const),
          ),
        ),
        pageSize: described(defaulted(integer({ min: 1, max: 100 }), 50), 'Maximum number of tasks on a page.'),
        pageToken: optional(string({ maxLength: 1024, description: '`nextPageToken` of the previous page.' })),
        statusTimestampAfter: described(optional(timestamp()), 'Time since which the state of the tasks has changed.'),
        includeArtifacts: described(optional(boolean()), 'Whether tasks have their artifacts. Default: false.'),
        historyLength,
      },
      passedOver: ['tenant'],
      answer: isJsonResponse(
        object({ tasks: array(a2aTask), nextPageToken: string(), pageSize: integer(), totalSize: integer() }),
      ),
    },
    task: {
      ...common,
      summary: 'Retrieve an A2A task',
      description: 'The state of a run of the agent as a task.',
      method: 'GET',
      path: `${base}/tasks/{run_id}`,
      query: { historyLength },
      passedOver: ['tenant'],
      answer: isJsonResponse(a2aTask),
    },
    command: {
      ...common,
      summary: 'Cancel or follow an A2A task',
      description:
        '`{run_id}:cancel` cancels the run. `{run_id}:subscribe` streams the task and its updates until it ends or waits.',
      method: 'POST',
      path: `${base}/tasks/{run_id}`,
      answer: answersEither(isJsonResponse(a2aTask), updates),
      errors: ['invalid_transition'],
    },
    set_push_config: {
      ...common,
      summary: 'Set a push notification config of an A2A task',
      description:
        'Sends updates of the task to an address as deliveries of webhooks are sent: guarded, signed, repeated until it accepts them. Replaces the config with the same id. A task has at most ten, for 30 days.',
      method: 'POST',
      path: pushConfigs,
      body: newPushConfig,
      answer: isJsonResponse(pushConfig),
    },
    push_configs: {
      ...common,
      summary: 'List push notification configs of an A2A task',
      description: 'All of them, without their secrets.',
      method: 'GET',
      path: pushConfigs,
      passedOver: ['pageSize', 'pageToken', 'tenant'],
      answer: isJsonResponse(object({ configs: array(pushConfig), nextPageToken: string() })),
    },
    push_config: {
      ...common,
      summary: 'Retrieve a push notification config of an A2A task',
      description: 'The config, without its secrets.',
      method: 'GET',
      path: `${pushConfigs}/{config_id}`,
      passedOver: ['tenant'],
      answer: isJsonResponse(pushConfig),
    },
    remove_push_config: {
      ...common,
      summary: 'Delete a push notification config of an A2A task',
      description: 'Ends what is sent to its address, also what waits to be sent again.',
      method: 'DELETE',
      path: `${pushConfigs}/{config_id}`,
      answer: isJsonResponse(object({})),
    },
  },
)

declare module '#specs/index.ts' {
  interface Resources {
    readonly a2a: typeof a2a
  }
}
