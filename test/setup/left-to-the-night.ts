import { shareOf } from './at-night.ts'
import { seedOf } from './seed.ts'

/**
 * Files that a whole run in CI leaves to the night, where `npm run nightly -- stores` runs them, as `npm test -- <path>`
 * does at any time. Each is the expensive one of several that test its subject
 * (specs/decisions/0329-what-ci-leaves-to-the-night.md names those by day).
 */
const files: readonly string[] = [
  'test/e2e/browser/many-jobs.e2e.test.ts',
  'test/e2e/crash/crash-storm.e2e.test.ts',
  'test/e2e/knowledge/vector-search.e2e.test.ts',
  'test/e2e/load/socket-frames-at-once.e2e.test.ts',
  'test/e2e/pages/console-long-names.e2e.test.ts',
  'test/packages/python/types.e2e.test.ts',
]

/**
 * Files of which a whole run in CI has a quarter, others at each run, and each night all: each takes seconds of CPU for what
 * the tests beside it show in parts in every run (specs/decisions/0329-what-ci-leaves-to-the-night.md). Neighbours take
 * about as long, and a run has one of four in a row.
 */
export const drawn: Readonly<Record<string, readonly string[]>> = {
  // several nodes and shards: e2e/cluster/cluster, chaos and the simulation have them in each run
  'e2e/cluster/cluster-kill.e2e': ['actors/runtime/cluster/takeover', 'simulation/sessions-cluster'],
  'e2e/cluster/cluster-rolling.e2e': ['actors/runtime/cluster/versions', 'simulation/upgrade'],
  'e2e/cluster/sharded.e2e': ['storage/sharded/sharding.int', 'storage/mongo.int'],
  'e2e/cluster/cluster-outage.e2e': ['actors/runtime/cluster/outage', 'e2e/crash/mongo-outage.e2e'],
  'e2e/cluster/cluster-alone.e2e': ['open-cluster', 'actors/runtime/cluster/hand-over'],
  'e2e/cluster/redis-failover.e2e': ['storage/redis/sentinel.int', 'storage/redis/cluster.int'],
  'e2e/cluster/nodes.e2e': ['console/nodes', 'actors/runtime/cluster/directory'],
  'e2e/browser/live-view-cluster.e2e': ['e2e/browser/live-view.e2e', 'actors/runtime/cluster/forwarding'],
  'e2e/memory/two-nodes.e2e': ['actors/memory/memory.int', 'actors/memory/writes/shared-turns'],
  'e2e/connections/connections-cluster.e2e': ['e2e/connections/connections.e2e', 'e2e/cluster/cluster.e2e'],
  'storage/sharded/contract.int': ['storage/mongo.int', 'storage/sharded/sharding.int'],
  'storage/mongo-replica-set.int': ['storage/mongo.int', 'storage/mongo-failures.int'],
  // kills at moments that no run has twice
  'e2e/crash/rows-last.e2e': ['simulation/sessions', 'actors/runtime/commit/settler'],
  'e2e/tenant-deletion.e2e': ['e2e/agents/project-deletion.e2e', 'actors/runtime/erasure/kills'],
  'e2e/keys/master-key.e2e': ['actors/backup/secrets', 'storage/secrets'],
  'e2e/connections/refresh-crash.e2e': ['actors/connections/oauth/grant-effects', 'e2e/connections/connections.e2e'],
  'e2e/knowledge/knowledge-crash.e2e': ['actors/knowledge/sync-source', 'actors/knowledge/index/base-segments.int'],
  'e2e/crash/skill-publication.e2e': ['actors/skills/kills/skill-kills.int'],
  'e2e/memory/crash-memory.e2e': ['actors/memory/memory.int', 'actors/memory/embedding-rounds'],
  'e2e/mcp/mcp-input.e2e': ['actors/mcp/agents/input/requested-input', 'e2e/mcp/mcp-agents.e2e'],
  // memory, knowledge and pages with vectors
  'e2e/memory/embedded-anew.e2e': ['actors/memory/memory.int', 'actors/memory/embedding-rounds'],
  'e2e/knowledge/provider-embedder.e2e': ['actors/knowledge/vector-rounds', 'e2e/knowledge/knowledge.e2e'],
  'e2e/knowledge/lance-search.e2e': ['storage/lance/lance-search', 'e2e/knowledge/knowledge.e2e'],
  'e2e/memory/packaged-embedder.e2e': ['retrieval/embedder', 'e2e/memory/memory.e2e'],
  'actors/web/search/page-tables': ['storage/lance/lance-search', 'actors/web/search/page-indexes'],
  'actors/web/search/large-tables': ['storage/lance/lance-search', 'actors/web/search/page-indexes'],
  // loads
  'e2e/load/many-streams.e2e': ['e2e/load/few-files.e2e', 'transport/streams/sse'],
  'e2e/load/kept-by-collections.e2e': ['e2e/load/answers-at-once.e2e', 'transport/api/body-memory'],
  'e2e/load/bodies-at-once.e2e': ['e2e/load/answers-at-once.e2e', 'transport/api/body-memory'],
  'e2e/documents/large-skills.e2e': ['actors/skills/hostile-archives', 'e2e/gateway/long-forms.e2e'],
  'e2e/gateway/long-usage.e2e': ['actors/usage/usage-sums', 'actors/usage/invoice'],
  'e2e/backup/live-backup.e2e': ['e2e/backup/backup.e2e', 'actors/backup/backup'],
  // packages, clients, and programs of the documentation
  'start/bundle.e2e': ['start/bundle', 'e2e/start.e2e'],
  'packages/client/bridges.e2e': ['packages/client/bridges', 'e2e/protocols/ui-messages.e2e'],
  'e2e/documents/gateway-walkthrough.e2e': ['e2e/gateway/model-timeouts.e2e', 'gateway/chat/completions-over-http'],
  'e2e/gateway/openai-python.e2e': ['gateway/chat/completions-over-http', 'gateway/apis/responses'],
  'e2e/documents/platform-walkthrough.e2e': ['e2e/runs.e2e', 'e2e/agents.e2e'],
  'e2e/documents/frontends.e2e': ['packages/client/session.e2e', 'e2e/protocols/ui-messages.e2e'],
  'packages/client/tabs.e2e': ['packages/client/session.e2e', 'packages/client/functions'],
  'packages/examples/chat.e2e': ['packages/client/session.e2e', 'packages/client/resume.e2e'],
  'e2e/connections/oauth-checks.e2e': ['e2e/connections/connections.e2e', 'e2e/connections/sign-ins.e2e'],
  'e2e/protocols/remote-agents.e2e': ['actors/mcp/remote-agents/call-agent', 'e2e/protocols/a2a.e2e'],
  // pages in Chromium
  'e2e/browser/composed-pages.e2e': ['e2e/browser/visits.e2e', 'e2e/browser/browser-jobs.e2e'],
  'e2e/browser/private-addresses.e2e': ['e2e/browser/visits.e2e', 'actors/web/address-probes'],
  'e2e/web/rendered-pages.e2e': ['e2e/browser/visits.e2e', 'actors/web/fetch/page-fetcher'],
  'e2e/browser/hand-over.e2e': ['actors/browser/handover/hand-overs', 'e2e/browser/live-view.e2e'],
  'e2e/pages/console-troubles.e2e': ['e2e/pages/stuck.e2e', 'actors/runtime/stuck/stuck'],
  'e2e/pages/console-keyboard.e2e': ['e2e/pages/console.e2e', 'e2e/pages/console-pages.e2e'],
  'e2e/pages/console-playground.e2e': ['console/playground/request-model', 'e2e/pages/console.e2e'],
  'e2e/pages/console-resources.e2e': ['console/resources/form-values', 'e2e/pages/console-pages.e2e'],
  'e2e/pages/console-attacks.e2e': ['e2e/pages/hostile-pages.e2e', 'e2e/pages/console-member.e2e'],
  'e2e/pages/console-explorers.e2e': ['e2e/pages/console-pages.e2e', 'console/format'],
  'e2e/pages/console-waterfall.e2e': ['console/steps-model', 'console/compare/compare-model'],
  'e2e/browser/agent-browse.e2e': ['actors/browser/agents/agent-browser', 'e2e/browser/submitted-once.e2e'],
  // models, guardrails, pages of logs, and the second store of the sweeps
  'e2e/sweep/available-models.e2e': ['e2e/gateway/available-models.e2e'],
  'e2e/gateway/guardrails/guarded-work.e2e': ['gateway/guardrails/guarded-chats', 'gateway/guardrails/turn-findings'],
  'storage/mongo/slow-start.int': ['e2e/crash/start-stalled.e2e', 'start-failure'],
  'e2e/pages/console-log.e2e': ['console/event-log', 'console/row-window'],
  'e2e/sweep/mongo.e2e': ['e2e/sweep/sqlite.e2e', 'storage/mongo.int'],
}
const drawnEach = 4

/** Path of a test by its name in the lists above. */
export const pathOf = (name: string): string => `test/${name}.test.ts`

/** Every file that some run by day leaves out. */
export const notEachDay: readonly string[] = [...files, ...Object.keys(drawn).map(pathOf)]

/** The files that a run with this environment leaves out: none that has changed. */
export const leftToTheNight = ({
  BY_DAY,
  TEST_SEED,
  CHANGED = '',
}: Readonly<Record<string, string | undefined>>): readonly string[] => {
  if (BY_DAY === undefined) return []
  const share = shareOf(Object.keys(drawn), drawnEach, seedOf(TEST_SEED)).map(pathOf)
  const runs = [...share, ...CHANGED.split('\n')]
  return notEachDay.filter((file) => !runs.includes(file))
}
