import { walkOf as actionWalk, waitsFor } from './action/action-samples.ts'
import { walk as agentVersionWalk } from './agent-version/agent-version-samples.ts'
import { walk as batchWalk } from './batch/batch-samples.ts'
import { walk as browserJobWalk } from './browser-job/browser-job-samples.ts'
import { walkOf as connectionWalk } from './connection/connection-samples.ts'
import { walkOf as erasureWalk, ofProject } from './erasure/erasure-samples.ts'
import { walk as sourceWalk } from './knowledge-source/knowledge-source-samples.ts'
import { walk as mcpServerWalk } from './mcp-server/mcp-server-samples.ts'
import { walk as memoryWriteWalk } from './memory-write/memory-write-samples.ts'
import type { Walk } from './reached.ts'
import { walk as responseWalk } from './response/response-samples.ts'
import { walk as runWalk } from './run/run-samples.ts'
import { walk as runQueueWalk } from './run-queue/run-queue-samples.ts'
import { walk as sessionWalk } from './session/session-samples.ts'
import { walkOf as callWalk } from './tool-call/tool-call-samples.ts'
import { walk as crawlWalk } from './web-crawl/web-crawl-samples.ts'
import { walk as deliveryWalk } from './webhook-delivery/webhook-delivery-samples.ts'

/** Every machine, with events that lead through all its states. */
export const walks: readonly (readonly [string, Walk])[] = [
  ['sessions', sessionWalk],
  ['actions of functions', actionWalk('function')],
  ['actions of our own tools', actionWalk('http')],
  ['actions of the caller', actionWalk('caller')],
  ['actions of agents', actionWalk('agent')],
  ['actions that wait for a connection', actionWalk('builtin', waitsFor.connection)],
  ['actions that wait for input', actionWalk('builtin', waitsFor.input)],
  ['runs', runWalk],
  ['responses', responseWalk],
  ['batches', batchWalk],
  ['queues of runs', runQueueWalk],
  ['versions of agents', agentVersionWalk],
  ['deliveries', deliveryWalk],
  ['erasures of tenants', erasureWalk({})],
  ['erasures of users', erasureWalk({ user: 'jo' })],
  ['erasures of projects', erasureWalk(ofProject)],
  ['sources of knowledge', sourceWalk],
  ['writes of memory', memoryWriteWalk],
  ['browser jobs', browserJobWalk],
  ['remote tool servers', mcpServerWalk],
  ['connections by sign-in', connectionWalk(false)],
  ['connections by key', connectionWalk(true)],
  ['tool calls', callWalk()],
  ['tool calls of the caller', callWalk({ gated: false, by: 'caller_later' })],
  ['tool calls without a gate', callWalk({ gated: false })],
  ['tool calls that never run', callWalk({ runs: false })],
  ['crawls of the web', crawlWalk],
]
