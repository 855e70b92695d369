import { consoleBounds } from './console-bounds.ts'
import { mcpBounds } from './mcp-bounds.ts'
import { requestBounds } from './request-bounds.ts'
import { runtimeBounds } from './runtime-bounds.ts'
import { webBounds } from './web-bounds.ts'

/** A bound: its subject, its limit, and what happens beyond it. */
export interface Bound {
  readonly of: string
  readonly max: string
  /** Effect on a caller, a sender or the data beyond the limit. */
  readonly beyond: string
  /** Where the bound is implemented: a file and a name in it. */
  readonly code: readonly [path: string, name: string]
  /** Test of the bound: a file and the title of a test in it. */
  readonly test: readonly [path: string, title: string]
}

/** Bounds of queues, mailboxes, buffers, documents, responses (specs/decisions/0096-nothing-grows-without-bound.md). */
export const bounds: readonly Bound[] = [
  {
    of: 'a conversation of responses',
    max: '2,000 items, 4 MB of JSON',
    beyond: '400 `bad_request`; a response that does not fit has `conversation: null`',
    code: ['src/gateway/apis/conversations/conversations.ts', 'maxChars'],
    test: [
      'test/gateway/apis/conversations.test.ts',
      'holds at most 4 MB, and a response that does not fit has conversation: null',
    ],
  },
  {
    of: 'a thread of messages',
    max: '4 MB of JSON',
    beyond: 'it is not kept: the next request is 404 `thread_not_found`, at which SDKs send the whole conversation',
    code: ['src/gateway/apis/messages/threads/thread-store.ts', 'maxThreadChars'],
    test: ['test/gateway/apis/message-threads.test.ts', 'is not stored when it is longer than 4 MB'],
  },
  {
    of: 'files of a skill in an archive',
    max: '200 files, 20 MB unpacked, 5 MB packed',
    beyond: '422 `invalid_field`',
    code: ['src/actors/skills/scanner/skill-archive.ts', 'archiveLimits'],
    test: ['test/actors/skills/skill-scanner.test.ts', 'is refused with %s'],
  },
  {
    of: 'a text of a skill that is scanned',
    max: '1 M characters',
    beyond: 'a finding `too_large`, which blocks its publication',
    code: ['src/skill-scan/file-rules.ts', 'maxScannedCharacters'],
    test: ['test/skill-scan/scan-skill.test.ts', 'blocks a text that is too long to scan'],
  },
  {
    of: 'stored answers of models',
    max: '64 MiB, in the memory of a process or in Redis',
    beyond: 'the least recently used one of the project and tenant that have the most is deleted',
    code: ['src/storage/answer-store.ts', 'maxAnswerBytes'],
    test: [
      'test/storage/contract/answers.ts',
      'of one tenant that stores ten thousand take no room from other projects and tenants',
    ],
  },
  {
    of: 'one stored answer of a model',
    max: '256 K characters, for a request of 512 K characters',
    beyond: 'it is not stored',
    code: ['src/gateway/caching/call-cache.ts', 'maxStoredChars'],
    test: ['test/gateway/chat/stored-answers.test.ts', 'an answer that %s is not stored'],
  },
  {
    of: 'texts of a request that are redacted on the loop',
    max: '64 K characters',
    beyond: 'a worker reads them; 503 `redaction_unavailable` after 20 s, or when 64 requests wait for it',
    code: ['src/gateway/redaction/redacted.ts', 'maxOnLoop'],
    test: [
      'test/gateway/redaction/chat-redaction.test.ts',
      'is read in a worker: the loop goes on meanwhile, and the result is the same',
    ],
  },
  {
    of: 'failures that a project sees counted',
    max: 'the newest 1,000 of 24 hours, kept for 7 days',
    beyond: 'older ones are not in the counts',
    code: ['src/actors/observation/failure-groups.ts', 'maxFailures'],
    test: [
      'test/actors/observation/observation.test.ts',
      'contains failures, one row per code with its count and the latest message',
    ],
  },
  {
    of: 'metadata of a resource',
    max: '16 KB of JSON',
    beyond: '422 `invalid_field`',
    code: ['specs/tools.ts', 'maxMetadataBytes'],
    test: ['test/specs/bounds.test.ts', 'takes metadata of 16 KB, and no byte more'],
  },
  {
    of: 'a memory',
    max: '32,768 characters, of which 10 KB are searched',
    beyond: '422 `invalid_field`',
    code: ['specs/memory-objects.ts', 'maxMemoryLength'],
    test: [
      'test/e2e/memory/memory.e2e.test.ts',
      'accepts contents of up to 32,768 characters with a warning, and refuses longer ones',
    ],
  },
  {
    of: 'a batch of memories',
    max: '50 memories',
    beyond: '422 `invalid_field`',
    code: ['specs/memory-objects.ts', 'maxMemoryBatch'],
    test: [
      'test/e2e/memory/memory.e2e.test.ts',
      'answers a batch in order with duplicates marked, and refuses more than 50 memories',
    ],
  },
  {
    of: 'a commit that has the deltas of others',
    max: '64 KB of events as JSON, or those of one commit',
    beyond: 'another commit takes the next ones',
    code: ['src/storage/merged-parts.ts', 'mergedLength'],
    test: ['test/storage/merged-parts.test.ts', 'merging parts leaves few rows of bounded length'],
  },
  {
    of: 'the answer of a model in a turn or run',
    max: '128 calls and 4 MB',
    beyond: 'the turn fails with `answer_too_large`',
    code: ['src/gateway/turns/turn-answer.ts', 'maxAnswerLength'],
    test: [
      'test/gateway/turns/turn-answer.test.ts',
      'ends as too large beyond 128 calls or 4 MB, and hands on nothing more',
    ],
  },
  {
    of: 'model calls of a turn',
    max: '16',
    beyond: 'the turn fails with `too_many_steps`',
    code: ['src/machines/session/session-steps.ts', 'maxModelCalls'],
    test: [
      'test/machines/session/session-paths.test.ts',
      'a session ends every turn once, calls the model at most sixteen times, and leaves no action waiting',
    ],
  },
  {
    of: 'delegations of a run',
    max: '5 deep, 32 open',
    beyond: '422 `delegation_too_deep`, `too_many_children`',
    code: ['src/machines/run/run-steps.ts', 'maxOpenChildren'],
    test: ['test/machines/run/run-paths.test.ts', 'is refused at the deepest level, and with too many open children'],
  },
  {
    of: 'the answer of an HTTP tool',
    max: '64 KB',
    beyond: 'the tool call fails',
    code: ['src/actors/sessions/tools/http-tool.ts', 'maxToolAnswerBytes'],
    test: ['test/actors/sessions/http-tool.test.ts', 'may answer with 64 KB, and not one byte more'],
  },
  ...runtimeBounds,
  ...requestBounds,
  {
    of: 'a WebSocket frame',
    max: 'per connection',
    beyond: 'closed with 1009',
    code: ['src/outgoing/websocket/websocket-frames.ts', 'maxBytes'],
    test: [
      'test/outgoing/websocket/websocket-frames.test.ts',
      'are refused by the head alone of a frame over the limit',
    ],
  },
  {
    of: 'events of a realtime session in one turn of the event loop',
    max: '256',
    beyond: 'closed with 1008',
    code: ['src/transport/streams/realtime-socket.ts', 'ofTurn'],
    test: [
      'test/e2e/gateway/realtime/relay.e2e.test.ts',
      'refuses what is no event of the protocol, and does not end by it',
    ],
  },
  {
    of: 'frames of a WebSocket in one turn of the event loop',
    max: '256',
    beyond: 'closed with 1008',
    code: ['src/transport/streams/session-socket.ts', 'ofTurn'],
    test: [
      'test/transport/streams/session-socket.test.ts',
      'closes with 1008 on a client that sends more than 256 frames in a turn of the loop, and not on a slower one',
    ],
  },
  {
    of: 'data that is sent to a WebSocket and not read by its client',
    max: '8 MB of events and errors, 32 MB with answers to pings',
    beyond: 'closed with 1013, cut',
    code: ['src/transport/http/wire-limits.ts', 'socketMaxBytes'],
    test: ['test/transport/http/websocket-suite.ts', 'is cut off when a client pings without end and reads no answer'],
  },
  {
    of: 'a stream whose reader takes nothing',
    max: 'one minute',
    beyond: 'ended, resumable',
    code: ['src/transport/streams/sse.ts', ''],
    test: ['test/transport/streams/sse.test.ts', 'is aborted and stopped if its reader takes nothing for a minute'],
  },
  {
    of: 'events of a live actor in memory',
    max: '12 events, 64 KB',
    beyond: 'older ones are read from the store',
    code: ['src/actors/runtime/log/log-tail.ts', 'maxInTail'],
    test: [
      'test/actors/runtime/log/log-tail.test.ts',
      'returns nothing if earlier, later or evicted events are missing',
    ],
  },
  {
    of: 'password checks',
    max: '2 running, 16 of one address and 2,048 in all waiting',
    beyond: '429',
    code: ['src/actors/accounts/passwords.ts', 'passwordTurns'],
    test: [
      'test/actors/accounts/passwords.test.ts',
      'are refused if too many from one origin wait, and work again afterwards',
    ],
  },
  {
    of: 'an OpenAPI document of a connection',
    max: '2,000,000 characters, 200 operations, 5 seconds and 256 MB to read',
    beyond: '422 `invalid_field`; further operations are left out',
    code: ['specs/resources/connections/connections.ts', 'maxOpenApiLength'],
    test: ['test/parsing/read-openapi-document.test.ts', 'is read up to the maximum number of operations'],
  },
  {
    of: 'credentials in memory',
    max: '50,000',
    beyond: 'the store is read again',
    code: ['src/actors/accounts/key-ring.ts', 'maxCached'],
    test: [
      'test/actors/records/caches/recheck-cache.test.ts',
      'keeps no unknown credential, and known ones only up to its limit',
    ],
  },
  {
    of: 'counters of limits on one node',
    max: '100,000 keys',
    beyond: 'the one that was used longest ago is dropped',
    code: ['src/storage/local-limits.ts', 'maxKeys'],
    test: [
      'test/storage/local-limits.test.ts',
      'keep at most a hundred thousand keys and drop the least recently used one',
    ],
  },
  {
    of: 'copies of model calls for `shadow_model` in progress',
    max: '16 in a process',
    beyond: 'a call is not copied',
    code: ['src/gateway/chat/rules/shadow-calls.ts', 'maxShadows'],
    test: [
      'test/gateway/chat/routing-rules.test.ts',
      'no shadow gets a copy of a call with tools, or while sixteen are in progress',
    ],
  },
  {
    of: 'an image that is fetched',
    max: '64 MB in all',
    beyond: '422 `image_too_large`',
    code: ['src/gateway/vision/image-bytes.ts', 'maxFetchedBytes'],
    test: ['test/gateway/vision/remote-image.test.ts', 'that is too large is aborted early'],
  },
  {
    of: 'a parse of foreign bytes, such as audio',
    max: '2 seconds and 128 MB, 64 waiting',
    beyond: 'the worker is ended; what the parser would have said is not known',
    code: ['src/parsing/parser-pool.ts', 'parserLimits'],
    test: ['test/parsing/parser-pool.test.ts', 'leaves the event loop free and ends at its deadline'],
  },
  {
    of: 'the test answer of an agent version',
    max: '2,000 characters',
    beyond: 'cut off',
    code: ['src/actors/agents/version-test.ts', 'maxOutput'],
    test: ['test/actors/agents/agent-versions.test.ts', 'stores at most 2000 characters of the answer'],
  },
  {
    of: 'checkpoints of a session',
    max: '1',
    beyond: 'the earlier one is removed',
    code: ['src/actors/sessions/conversations.ts', 'sessionCheckpoints'],
    test: ['test/actors/sessions/checkpoints.test.ts', 'keeps only one checkpoint, however many were written'],
  },
  {
    of: 'deliveries of webhooks in the log',
    max: '30 days',
    beyond: 'removed',
    code: ['src/machines/webhook-delivery/webhook-delivery.ts', 'deliveryRetentionMs'],
    test: ['test/actors/webhooks/deliveries.test.ts', 'removes a delivery after 30 days'],
  },
  {
    of: 'a hit of a knowledge search',
    max: '1,200 characters',
    beyond: 'cut at a paragraph, a sentence or a word',
    code: ['specs/resources/knowledge/knowledge-limits.ts', 'maxChunkLength'],
    test: ['test/parsing/documents/chunk.test.ts', 'are at most 1,200 characters long and never cross a page'],
  },
  {
    of: 'a document of a knowledge base',
    max: '20 MB, 20,000,000 characters, 64 MB unpacked, 1,000,000 cells, 20 seconds and 768 MB to read',
    beyond: '413 `body_too_large`; the source fails with `unreadable`, `too_many_cells`, `too_slow` or `too_complex`',
    code: ['src/parsing/documents/document-parser.ts', 'documentLimits'],
    test: ['test/parsing/documents/hostile-documents.test.ts', '(%s) ends, and does not block the event loop'],
  },
  {
    of: 'documents of knowledge bases in memory',
    max: '8 stored and 16 of URLs a process; half of them of one project, a quarter of one tenant',
    beyond: 'the others wait without their content, and owners take turns',
    code: ['src/parsing/documents/document-parser.ts', 'openDocumentTurns'],
    test: [
      'test/parsing/documents/document-turns.test.ts',
      'are limited for each tenant and project, so that another project starts at once',
    ],
  },
  {
    of: 'a knowledge base',
    max: '10,000 sources, 200,000 chunks, 10,000 grants',
    beyond: '422 `knowledge_limit_reached`; the source fails with `too_many_chunks`',
    code: ['specs/resources/knowledge/knowledge-limits.ts', 'maxChunks'],
    test: [
      'test/actors/knowledge/sync-source.test.ts',
      'fails sources beyond the maximum number of chunks of a base, even when they are read at the same time',
    ],
  },
  {
    of: 'indexes of pages, knowledge bases and memories in a process',
    max: 'INDEX_MEMORY_MB together, 384 by default',
    beyond: 'those whose last use is longest ago are dropped, and read again when they are needed',
    code: ['src/retrieval/index-cache.ts', 'defaultBytes'],
    test: [
      'test/retrieval/index-cache.test.ts',
      'shares its size with other caches, by what each index takes when it is used',
    ],
  },
  {
    of: 'memories that wait for their vectors',
    max: '10,000 jobs a process',
    beyond: "those beyond are embedded when their user's memories are next read",
    code: ['src/actors/memory/embedding/embedding-queue.ts', 'maxWaitingJobs'],
    test: ['test/actors/memory/memory-bounds.test.ts', 'has a limited number of memories that wait for vectors'],
  },
  {
    of: 'questions whose vectors a local embedder keeps',
    max: '256 of 4,096 characters',
    beyond: 'the one that was put longest ago is dropped, and embedded again',
    code: ['src/retrieval/embedding/local-embedder.ts', 'maxKeptQuestions'],
    test: [
      'test/retrieval/embedder.test.ts',
      'keeps the vectors of the questions that were put last, and of no others',
    ],
  },
  {
    of: 'notes of the day on which memories were found',
    max: '2,000 a second',
    beyond: 'they are left out: the next search of the day makes them',
    code: ['src/actors/memory/last-used-recorder.ts', 'maxPendingUses'],
    test: [
      'test/actors/memory/last-used-recorder.test.ts',
      'is noted for a limited number of memories, and for none after closing',
    ],
  },
  {
    of: 'searches that a node does for others at a time',
    max: '64, 16 of them of one index',
    beyond: 'the node that got the request searches itself, for half a minute',
    code: ['src/actors/runtime/messages/placed-work.ts', 'maxServed'],
    test: [
      'test/actors/runtime/cluster/placed-work.test.ts',
      'is bounded on each node: those that send more do it themselves, of one key sooner than of all',
    ],
  },
  {
    of: 'arrays that searches of indexes use again',
    max: '4 sets, each of 200,000 passages',
    beyond: 'a search makes its own, and they are garbage afterwards',
    code: ['src/retrieval/search-buffers.ts', 'maxIdleBuffers'],
    test: ['test/retrieval/search-buffers.test.ts', 'are kept up to a maximum number and size'],
  },
  ...consoleBounds,
  ...mcpBounds,
  ...webBounds,
]
