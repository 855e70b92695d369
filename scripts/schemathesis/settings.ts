import type { Operation } from '#specs/dsl/declare.ts'
import { statusIn } from '#specs/errors/wire-errors.ts'
import type { KnownIds } from './known-ids.ts'

/**
 * Operations that refuse some requests which their schema allows, for what no schema can say. Of every other one a
 * request that fits the schema must not be answered as wrong.
 */
const beyondSchema: Readonly<Record<string, string>> = {
  'webhooks.create': 'a URL may parse and still not be one that the server connects to',
  'webhooks.update': 'likewise',
  'webhooks.test': 'likewise',
  'sessions.turns': 'a turn has input or tool_results',
  'agent_keys.create': 'expires_at lies in the future',
  'project_keys.create': 'likewise',
  'provider_connections.create': 'a URL as of webhooks; a provider that nobody knows has one',
  'provider_connections.update': 'likewise',
  'provider_connections.validate': 'likewise',
  'custom_providers.create': 'a URL as of webhooks',
  'custom_providers.update': 'likewise',
  'custom_providers.test': 'it names a provider or a URL',
  'limits.create': 'it names whom it limits, and sets one limit',
  'redaction_policy.update': 'apply_to names the logs, and phone_region a country',
  'ai_chat.create': 'messages say something, and tools and formats are ones that models know',
  'responses.create': 'items are of kinds that are taken, calls have outputs, and something is said',
  'responses.cancel': 'a response that is made in the background',
  'responses.compact': 'items as of responses.create',
  'responses.input_tokens': 'likewise',
  'conversations.create': 'likewise',
  'conversation_items.add': 'likewise',
  'messages.create': 'blocks and tools are of kinds that are taken',
  'messages.count_tokens': 'likewise',
  'embeddings.create': 'a model makes vectors of so many dimensions and no more',
  'chat_completions.create': 'what a model refuses is refused in its words',
  'vision.analyze': 'an image is there, it is one, and its address is one that may be fetched',
  'vision.describe': 'likewise',
  'vision.ocr': 'likewise',
  'vision.classify': 'likewise',
  'speech.speak': 'a model is one that speaks, with that voice and in that format',
  'moderations.create': 'a provider that offers it has a key',
  'completions.create': 'likewise',
  'rerank.create': 'likewise',
  'images.generate': 'likewise',
  'actions.complete': 'it says output or error, not both',
  'knowledge_recall_sets.create': 'a question names a source or a text',
  'knowledge_sources.create': 'fields of a form are texts, and a source is a text, a file or a URL',
  'knowledge_sources.update': 'a URL as of webhooks',
  'knowledge_sources.sync': 'a source that is read from a URL takes no text',
  'connections.create': 'a connector takes the fields of its config only, over https, and a document is OpenAPI',
  'connections.update': 'likewise',
  'connections.authorize': 'a redirect_uri is a URL with a host',
  'connections.callback': 'a state is one of a sign-in that was begun',
  'connections.start': 'a link is one that was made',
  'connectors.credentials': 'a connector of the catalogue',
  'mcp_servers.create': 'a URL as of webhooks, and headers that may be set',
  'mcp_servers.update': 'likewise',
  'skill_imports.create': 'it has one of text, url and archive',
  'skill_versions.create': 'a content in base64 is base64',
  'web.fetch': 'an address is one of a page that may be read, and is',
  'web.extract': 'likewise',
  'web.crawl': 'likewise',
  'web_crawls.create': 'likewise',
  'web.takedown': 'likewise',
  'web.search': 'a freshness is a time or a duration',
  'projects.delete': 'the name is the one of the project',
  'browser_jobs.create': 'an address is one of a page that may be opened, and actions have what they need',
  'memory.export': 'a cursor is one that the list gave',
  'transcriptions.translate': 'the file is audio',
  'transcriptions.transcribe': 'the file is audio, and the model one that transcribes it to that form',
}

/** Parameters that name a place in a list: a schema cannot say which ones there are. */
const cursors = ['cursor', 'starting_after', 'ending_before']

/** What the checks take for a right answer to a right request, beside what they take anyway. */
const accepted = ['2xx', '3xx', '401', '403', '404', '409', '429', '5xx']
/** What they take for a right answer to a wrong one; 431 comes from the HTTP server, before the dispatcher. */
const refused = ['400', '401', '403', '404', '405', '406', '409', '413', '415', '422', '428', '429', '431', '5xx']

/**
 * The settings of schemathesis, as TOML: known ids for path parameters, others for what is to be deleted, and which
 * answers are right. Streams that never end are left out: test/transport holds them.
 */
export const settingsOf = (operations: readonly Operation[], known: KnownIds, doomed: KnownIds): string => {
  const endless = operations.filter(({ answer }) => answer.kind === 'events' && answer.resumable)
  const ruled = operations.filter(({ id }) => id in beyondSchema)
  const twice = operations.filter((operation) => !ruled.includes(operation) && namesTenant(operation))
  const paged = operations
    .filter(({ id, query }) => cursors.some((name) => name in query) || id.startsWith('usage.'))
    .filter((operation) => !ruled.includes(operation) && !twice.includes(operation))
  return [
    `[checks]\nnegative_data_rejection.expected-statuses = ${listOf(refused)}`,
    `[parameters]\n${assigned(known)}`,
    // what a deletion names is not what was created before it, but kept for that, and gone after the first one
    section('include-method = "DELETE"', `parameters = { ${pairs(doomed)} }`),
    section(named(endless), 'enabled = false'),
    // a cursor is opaque, and a time range has to be one
    section(named(paged), expecting('400')),
    section(named(ruled), expecting('400', '422')),
    // the tenant, or what belongs to one, is named by X-Tenant-Id too, and both have to be the same
    section(named(twice), expecting('400', '422')),
    // 502 says that a provider failed, for those who call one: generated requests make providers that do
    section(
      named(operations.filter(callsProvider)),
      `checks.not_a_server_error.expected-statuses = ${listOf(['2xx', '3xx', '4xx', '502'])}`,
    ),
    // its connection may name another server by now
    section(
      named(operations.filter(({ id }) => id === 'model_syncs.create')),
      `checks.not_a_server_error.expected-statuses = ${listOf(['2xx', '3xx', '4xx', '502', '503', '504'])}`,
    ),
    // a header that is not declared is passed over
    section(
      named(operations.filter(({ id }) => id === 'conversations.create' || id === 'conversation_items.add')),
      `checks.negative_data_rejection.expected-statuses = ${listOf(['2xx', ...refused])}`,
    ),
    section(named(operations.filter(({ id }) => id === 'auth.logout')), 'enabled = false'),
  ].join('\n\n')
}

/** Whether the declaration says that a provider's failure is answered. */
const callsProvider = ({ id, envelope, errors }: Operation): boolean =>
  id !== 'model_syncs.create' && errors.some((code) => statusIn(envelope, code) === 502)

/** Whether a path, query or body names a tenant, a user of one, or what a tenant owns. */
const namesTenant = ({ paths, query, body }: Operation): boolean =>
  /tenant_id|external_user_id|userId|installation_id|session_id|run_id/.test(
    [...paths, ...Object.keys(query), JSON.stringify(body?.json ?? null)].join(' '),
  )

const section = (...lines: readonly string[]): string => ['[[operations]]', ...lines].join('\n')

const named = (operations: readonly Operation[]): string =>
  `include-operation-id = ${listOf(operations.map(({ id }) => id))}`

const expecting = (...statuses: readonly string[]): string =>
  `checks.positive_data_acceptance.expected-statuses = ${listOf([...accepted, ...statuses])}`

const listOf = (values: readonly string[]): string => JSON.stringify(values)

const pairs = (ids: KnownIds): string =>
  Object.entries(ids)
    .map(([name, value]) => `"path.${name}" = ${JSON.stringify(value)}`)
    .join(', ')

const assigned = (ids: KnownIds): string => pairs(ids).replaceAll(', "path.', '\n"path.')
