import type { Bound } from './bounds.ts'

/** Bounds of the responses of remote tool servers, and of connections. */
export const mcpBounds: readonly Bound[] = [
  {
    of: 'answers of a remote tool server in one piece of work',
    max: '8 MB, 64 levels, 16 pages of a list; 200,000 names, strings, objects and arrays in a message',
    beyond: 'the work fails with `answer_too_large`',
    code: ['src/actors/mcp/client/wire.ts', 'mcpLimits'],
    test: ['test/actors/mcp/client/hostile-servers.test.ts', 'are refused in a response of 100 MB'],
  },
  {
    of: 'requests to a remote tool server in one piece of work',
    max: '500; a list of messages is not read, and events are handled 4 KB a turn of the loop',
    beyond: 'the work fails with `answer_too_large`',
    code: ['src/actors/mcp/client/wire.ts', 'mcpLimits'],
    test: [
      'test/actors/mcp/client/hostile-floods.test.ts',
      'that sends 20,000 %s gets few of them answered, and does not block the event loop',
    ],
  },
  {
    of: 'answers of a remote agent in one conversation',
    max: '8 MB, 500 requests, 64 levels; 50,000 names, strings, objects and arrays in a message',
    beyond: 'its task is cancelled, and the call fails with `answer_too_large`',
    code: ['src/actors/mcp/remote-agents/agent-wire.ts', 'agentLimits'],
    test: ['test/actors/mcp/remote-agents/call-agent.test.ts', 'that sends more values than the maximum is refused'],
  },
  {
    of: 'tools of a remote tool server',
    max: '512, 2 M characters of JSON',
    beyond: 'the discovery fails with `too_many_tools` or `answer_too_large`; what was known stays',
    code: ['specs/resources/mcp/mcp-limits.ts', 'maxServerTools'],
    test: ['test/actors/mcp/client/hostile-servers.test.ts', 'are refused if there are more than the maximum'],
  },
  {
    of: 'resources, templates and prompts of a remote tool server',
    max: '500 of each',
    beyond: 'the rest is counted in `left_out`',
    code: ['specs/resources/mcp/mcp-limits.ts', 'maxListed'],
    test: ['test/actors/mcp/client/hostile-lists.test.ts', 'is cut to the maximum number of items'],
  },
  {
    of: 'a resource or prompt of a remote tool server that is passed on',
    max: '1 M characters of JSON',
    beyond: '502 `mcp_server_failed`',
    code: ['specs/resources/mcp/mcp-limits.ts', 'maxContent'],
    test: ['test/actors/mcp/client/hostile-lists.test.ts', 'is not passed on if it is too large'],
  },
  {
    of: 'an output of a remote tool',
    max: '60,000 characters',
    beyond: 'the rest is left out, and its end says so',
    code: ['src/actors/mcp/agents/tool-output.ts', 'maxOutput'],
    test: ['test/actors/mcp/client/hostile-servers.test.ts', 'gives a model a limited length of text, and no bytes'],
  },
  {
    of: 'progress of a call of a remote tool',
    max: 'one event a second, 100 a call, 512 characters each',
    beyond: 'the newest within a second stands for the others; later ones are left out',
    code: ['src/actors/mcp/agents/input/progress-reports.ts', 'progressLimits'],
    test: [
      'test/actors/mcp/agents/input/progress-reports.test.ts',
      'are the first one at once, then the latest of each interval, up to a maximum per call',
    ],
  },
  {
    of: 'connections of an owner: the project, a tenant or a user',
    max: '1,000, revoked ones for 30 days included',
    beyond: '422 `connection_limit_reached`',
    code: ['src/actors/connections/connection-limit.ts', 'maxConnections'],
    test: [
      'test/actors/connections/connection-limit.test.ts',
      'are limited for each owner, independently of other owners',
    ],
  },
  {
    of: 'responses of a discovery of an authorization server',
    max: '512 KB, 16 levels, 24 requests, 15 seconds',
    beyond: '502 `oauth_discovery_failed`',
    code: ['src/actors/connections/discovery/discover-server.ts', 'discoveryLimits'],
    test: ['test/actors/connections/discovery/discover-server.test.ts', 'if the metadata of the resource %s'],
  },
  {
    of: 'authorization servers of a connection whose clients are kept',
    max: '8',
    beyond: 'the oldest client is dropped, and its tokens can no longer be refreshed',
    code: ['src/actors/connections/discovery/known-clients.ts', 'maxKnownClients'],
    test: [
      'test/actors/connections/discovery/choose-client.test.ts',
      'is kept for a limited number of issuers, one for each',
    ],
  },
  {
    of: 'sign-ins for more scopes that a server causes, a connection',
    max: '5 a day, 100 scopes in all',
    beyond: 'the call fails with `insufficient_scope`',
    code: ['src/machines/connection/connection-data.ts', 'maxStepUps'],
    test: [
      'test/machines/connection/connection-table.test.ts',
      'is ignored after several within a day, so that a server cannot demand sign-ins without end',
    ],
  },
  {
    of: 'actions that wait for one connection',
    max: '1,000',
    beyond: 'the call fails with `connection_busy`, which the model reads',
    code: ['src/machines/connection/connection-data.ts', 'maxWaiters'],
    test: [
      'test/machines/connection/connection-table.test.ts',
      'accepts 1,000 waiting actors, and dismisses the next one at once',
    ],
  },
  {
    of: 'calls whose connection is kept for an answer of a person, a process',
    max: '200, 4 minutes each',
    beyond: 'the server hears that its question is dismissed, and is called again with the answer',
    code: ['src/actors/mcp/agents/input/held-calls.ts', 'heldCallLimits'],
    test: [
      'test/actors/mcp/agents/input/held-calls.test.ts',
      'are limited: a further question is dismissed, and its call is repeated with the answer',
    ],
  },
  {
    of: 'questions of one call of a remote tool',
    max: '8',
    beyond: 'the call fails with `too_many_questions`',
    code: ['src/actors/mcp/agents/input/call-with-input.ts', 'maxRounds'],
    test: ['test/e2e/mcp/mcp-input.e2e.test.ts', 'is abandoned with too_many_questions after eight rounds'],
  },
  {
    of: 'fields of a form that a server requests',
    max: '32, 200 choices each',
    beyond: 'the server hears an error, or the call fails with `bad_answer`',
    code: ['src/actors/mcp/agents/input/requested-input.ts', 'maxFields'],
    test: ['test/actors/mcp/agents/input/requested-input.test.ts', 'is refused with too many fields or choices'],
  },
]
