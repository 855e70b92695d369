import type { Bound } from './bounds.ts'

/** Bounds of the responses of remote tool servers, and of connections. */
export const mcpBounds: readonly Bound[] = [
  {
    of: 'answers of a remote tool server in one piece of work',
    most: '8 MB, 64 levels, 16 pages of a list',
    beyond: 'the work fails with `answer_too_large`',
    code: ['src/actors/mcp/client/mcp-connection.ts', 'mcpLimits'],
    test: ['test/actors/mcp/client/hostile-servers.test.ts', 'are not read in 100 MB'],
  },
  {
    of: 'requests to a remote tool server in one piece of work',
    most: '500; a list of messages is not read, and events are handled 4 KB a turn of the loop',
    beyond: 'the work fails with `answer_too_large`',
    code: ['src/actors/mcp/client/mcp-connection.ts', 'mcpLimits'],
    test: [
      'test/actors/mcp/client/hostile-floods.test.ts',
      'that sends 20,000 %s has few of them answered, and holds the loop up for moments',
    ],
  },
  {
    of: 'tools of a remote tool server',
    most: '512, 2 M characters of JSON',
    beyond: 'the discovery fails with `too_many_tools` or `answer_too_large`; what was known stays',
    code: ['specs/resources/mcp/mcp-limits.ts', 'maxServerTools'],
    test: ['test/actors/mcp/client/hostile-servers.test.ts', 'are not read when there are more than are kept'],
  },
  {
    of: 'resources, templates and prompts of a remote tool server',
    most: '500 of each',
    beyond: 'the rest is counted in `left_out`',
    code: ['specs/resources/mcp/mcp-limits.ts', 'maxListed'],
    test: ['test/actors/mcp/client/hostile-lists.test.ts', 'is no more than is kept'],
  },
  {
    of: 'a resource or prompt of a remote tool server that is passed on',
    most: '1 M characters of JSON',
    beyond: '502 `mcp_server_failed`',
    code: ['specs/resources/mcp/mcp-limits.ts', 'maxContent'],
    test: ['test/actors/mcp/client/hostile-lists.test.ts', 'is not passed on where it is longer than that'],
  },
  {
    of: 'an output of a remote tool',
    most: '60,000 characters',
    beyond: 'the rest is left out, and its end says so',
    code: ['src/actors/mcp/agents/tool-output.ts', 'maxOutput'],
    test: ['test/actors/mcp/client/hostile-servers.test.ts', 'gives a model no more than it may read, and no bytes'],
  },
  {
    of: 'progress of a call of a remote tool',
    most: 'one event a second, 100 a call, 512 characters each',
    beyond: 'the newest within a second stands for the others; later ones are left out',
    code: ['src/actors/mcp/agents/input/progress-reports.ts', 'progressLimits'],
    test: [
      'test/actors/mcp/agents/input/progress-reports.test.ts',
      'are the first at once, then the newest of each while, and so many of a call',
    ],
  },
  {
    of: 'connections of an owner: the project, a tenant or a user',
    most: '1,000, revoked ones for 30 days included',
    beyond: '422 `connection_limit_reached`',
    code: ['src/actors/connections/connection-limit.ts', 'maxConnections'],
    test: [
      'test/actors/connections/connection-limit.test.ts',
      'are so many of each owner, and no other owner has fewer for it',
    ],
  },
  {
    of: 'actions that wait for one connection',
    most: '1,000',
    beyond: 'the call fails with `connection_busy`, which the model reads',
    code: ['src/machines/connection/connection-data.ts', 'maxWaiters'],
    test: [
      'test/machines/connection/connection-table.test.ts',
      'accepts 1,000 waiting actors, and dismisses the next one at once',
    ],
  },
  {
    of: 'calls whose connection is kept for an answer of a person, a process',
    most: '200, 4 minutes each',
    beyond: 'the server hears that its question is dismissed, and is called again with the answer',
    code: ['src/actors/mcp/agents/input/held-calls.ts', 'heldCallLimits'],
    test: [
      'test/actors/mcp/agents/input/held-calls.test.ts',
      'are so many and no more: the question of the next is dismissed, and it is called again with its answer',
    ],
  },
  {
    of: 'questions of one call of a remote tool',
    most: '8',
    beyond: 'the call fails with `too_many_questions`',
    code: ['src/actors/mcp/agents/input/call-with-input.ts', 'maxRounds'],
    test: ['test/e2e/mcp/mcp-input.e2e.test.ts', 'is abandoned with too_many_questions after eight rounds'],
  },
  {
    of: 'fields of a form that a server requests',
    most: '32, 200 choices each',
    beyond: 'the server hears an error, or the call fails with `bad_answer`',
    code: ['src/actors/mcp/agents/input/requested-input.ts', 'maxFields'],
    test: [
      'test/actors/mcp/agents/input/requested-input.test.ts',
      'is refused with more fields or choices than a person fills in',
    ],
  },
]
